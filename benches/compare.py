"""flex against the other libraries that are installed: NumPy, and PyTorch, JAX, numexpr.

    python benches/compare.py [--only FAMILY]... [--rounds N] [--threads N] [--json FILE]

Each library runs in a process of its own. For each workload every library's result is checked against NumPy's in float64, then they are
timed in turn, round after round, so that what else the machine does meets all of them. While one is timed the others are stopped: threads
of OpenMP, OpenBLAS and XLA spin for up to 200 ms after a call, on the cores that the next library needs. The table gives medians, and how
many times as long as flex the best of the others takes; a family's figure is the geometric mean of its rows. Exit status 1 when a result
of flex is wrong.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import signal
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent))

from peers.worker import installed, limit_threads, serve
from peers.workloads import FAMILIES, WORKLOADS, Workload

if TYPE_CHECKING:
    from collections.abc import Iterable


UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


class Peer:
    """A library in its process, which runs while it is asked something and is stopped otherwise."""

    def __init__(self, name: str, threads: int):
        context = multiprocessing.get_context("spawn")
        self.name = name
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, name, threads), daemon=True)
        self._process.start()
        theirs.close()

    def _signal(self, name: str) -> None:
        if hasattr(signal, name):  # not on Windows, where threads that spin on disturb the next library
            os.kill(self._process.pid, getattr(signal, name))

    def begin(self, what: str, number: int) -> None:
        """Asks the worker."""
        self._signal("SIGCONT")
        self._pipe.send((what, number))

    def end(self):
        """The worker's answer."""
        answer = self._pipe.recv()
        self._signal("SIGSTOP")
        return answer

    def stop(self) -> None:
        """Ends the process."""
        self._signal("SIGCONT")
        self._pipe.send(None)
        self._process.join()


def measure(number: int, peers: Iterable[Peer], rounds: int) -> tuple[dict[str, float], dict[str, str]]:
    """The median seconds of each library that gives a right result, and what went wrong with the others."""
    asked = [peer for peer in peers if WORKLOADS[number].expression(peer.name) is not None]
    for peer in asked:
        peer.begin("prepare", number)
    errors = {peer.name: error for peer in asked if (error := peer.end()) is not None}
    taking_part = [peer for peer in asked if peer.name not in errors]
    samples: dict[str, list[float]] = {peer.name: [] for peer in taking_part}
    for turn in range(rounds):
        for peer in random.Random(turn).sample(taking_part, len(taking_part)):
            peer.begin("time", number)
            samples[peer.name].append(peer.end())
    return {name: statistics.median(taken) for name, taken in samples.items()}, errors


def readable(seconds: float | None) -> str:
    """With three digits and a unit."""
    if seconds is None:
        return "–"
    unit, size = next((pair for pair in UNITS if seconds >= pair[1]), UNITS[-1])
    value = seconds / size
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}"


def ratio(medians: dict[str, float]) -> float | None:
    """How many times as long as flex the best of the others takes."""
    others = [seconds for name, seconds in medians.items() if name != "flex"]
    return min(others) / medians["flex"] if others and "flex" in medians else None


def table(family: str, rows: list[tuple[Workload, dict[str, float]]], names: list[str]) -> str:
    """A family as a Markdown table."""
    lines = [f"| {family} | " + " | ".join(names) + " | best other / flex |", "|---|" + "---:|" * (len(names) + 1)]
    ratios = []
    for workload, medians in rows:
        times = ratio(medians)
        if times is not None:
            ratios.append(times)
        cells = [readable(medians.get(name)) for name in names]
        lines.append(f"| {workload.name} | " + " | ".join(cells) + f" | {'–' if times is None else f'{times:.2f}'} |")
    if ratios:
        lines.append(f"| **geometric mean** |{' |' * len(names)} **{statistics.geometric_mean(ratios):.2f}** |")
    return "\n".join(lines)


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="FAMILY", action="append", choices=FAMILIES, help=f"one of: {', '.join(FAMILIES)}")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the medians, in seconds, here as well")
    return parser.parse_args()


def main() -> int:
    """Measures and prints; the exit status."""
    arguments = parse()
    limit_threads(arguments.threads)
    names = installed()
    if "flex" not in names:
        print("flex is not installed: make build", file=sys.stderr)
        return 1
    print(f"{arguments.threads} threads, {arguments.rounds} rounds: {', '.join(names)}\n", flush=True)
    peers = [Peer(name, arguments.threads) for name in names]
    wrong, record = [], []
    for family in arguments.only or FAMILIES:
        rows = []
        for number, workload in enumerate(WORKLOADS):
            if workload.family != family:
                continue
            medians, errors = measure(number, peers, arguments.rounds)
            rows.append((workload, medians))
            record.append({"family": family, "name": workload.name, "seconds": medians, "errors": errors})
            wrong += [f"{family}, {workload.name}: {name}: {error}" for name, error in errors.items()]
        print(table(family, rows, names) + "\n", flush=True)
    for peer in peers:
        peer.stop()
    print(*wrong, sep="\n", file=sys.stderr, end="\n" if wrong else "")
    if arguments.json:
        arguments.json.write_text(
            json.dumps({"threads": arguments.threads, "rounds": arguments.rounds, "workloads": record}, indent=1), encoding="utf-8"
        )
    return 1 if any(row["errors"].get("flex") for row in record) else 0


if __name__ == "__main__":
    sys.exit(main())
