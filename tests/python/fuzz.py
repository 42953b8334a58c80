"""Runs random cases, one for each seed: `programs` of operations on memory next to guard pages, damaged `files`, ONNX `graphs`, or damaged
ONNX models, `onnx_files`.

    fuzz.py programs|files|graphs|onnx_files [--first SEED] [--count CASES] [--seconds S]

They run in a separate process, since a read or a write out of bounds kills it: the seed of the case that was running is then reported, and
a new process continues after it. `fuzz.py programs --first SEED --count 1` repeats one.
"""

import argparse
import faulthandler
import importlib
import math
import subprocess
import sys
import time
import traceback


def work(run, first, count, deadline):
    """Runs cases, and prints the seed at the start of each and after each failure."""
    faulthandler.enable()
    for seed in range(first, first + count):
        if time.monotonic() > deadline:
            break
        print("at", seed, flush=True)
        try:
            run(seed)
        except Exception:
            print(
                "".join("| " + line + "\n" for line in traceback.format_exc().splitlines()[-40:]),
                "failed ",
                seed,
                sep="",
                flush=True,
            )
    print("done", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=["programs", "files", "graphs", "onnx_files"])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1 << 40)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--here", action="store_true", help="run in this process, for a debugger")
    options = parser.parse_args()
    started, first, end, failures = (
        time.monotonic(),
        options.first,
        options.first + options.count,
        [],
    )
    if options.here:
        return work(
            importlib.import_module(options.kind).run,
            first,
            options.count,
            started + options.seconds,
        )
    while first < end and time.monotonic() < started + options.seconds and len(failures) < 10:
        left = started + options.seconds - time.monotonic()
        # restarted from time to time: memory that one program corrupts must not make all later ones
        # fail
        count = min(end - first, 500)
        command = [
            sys.executable,
            __file__,
            options.kind,
            "--here",
            "--first",
            str(first),
            "--count",
            str(count),
            "--seconds",
            str(left),
        ]
        process = subprocess.run(command, capture_output=True, text=True, errors="replace")
        at = first
        for line in process.stdout.splitlines():
            if line.startswith("| "):
                print(line)
            elif line.startswith("failed"):
                failures.append(line)
                print(line)
            elif line.startswith("at "):
                at = int(line[3:])
        if process.returncode or "done" not in process.stdout.splitlines()[-1:]:
            failures.append(f"died {at}: exit status {process.returncode}")
            print(process.stderr[-4000:], failures[-1], sep="\n")
        first = at + 1
    print(
        f"{first - options.first} {options.kind} from seed {options.first} in {time.monotonic() - started:.0f} s, {len(failures)} failed"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
