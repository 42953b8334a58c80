"""flex against the other libraries that are installed: NumPy, SciPy, and PyTorch, JAX, numexpr, onnxruntime, OpenVINO.

    python benches/compare.py [--only FAMILY]... [--match TEXT] [--rounds N] [--threads N] [--isa LEVEL]... [--roofline [FILE]]
                              [--facts] [--json FILE] [--markdown FILE] [--chart FILE] [--report]

Each library runs in its own process. For each workload every library's result is checked against NumPy's in float64; then the libraries
are timed in turn, round after round, so that other load on the machine affects all of them. While one is timed the others are stopped:
threads of OpenMP, OpenBLAS and XLA spin for up to 200 ms after a call, on the cores that the next library needs. The tables give medians,
and the ratio of flex's time to that of the fastest other library; a family's figure is the geometric mean of its rows. The exit status is
1 if a result of flex is wrong.

--isa avx2 limits every library to AVX2, which is what most machines have, and the ceilings too; --isa native --isa avx2 measures both, one
after the other. The record stores the levels separately, and the report shows them side by side.

--roofline also measures the ceilings of this machine (cargo bench --bench peaks, or its output in FILE) and reports the fraction that flex
reaches; --facts adds the size, import time and dtypes of each library. --json keeps a record: rows that are not measured this time stay as
they were, and --report writes --markdown and --chart from it without measuring. The page of --markdown is a summary; all rows go to a .csv
beside it.
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
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from peers import facts, levels, report, roofline
from peers.worker import installed, limit_threads, serve
from peers.workloads import FAMILIES, WORKLOADS

if TYPE_CHECKING:
    from collections.abc import Iterable


class Peer:
    """A library in its own process, which is stopped except while it handles a request."""

    def __init__(self, name: str, threads: int):
        context = multiprocessing.get_context("spawn")
        self.name = name
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, name, threads), daemon=True)
        self._process.start()
        theirs.close()

    def _signal(self, name: str) -> None:
        if hasattr(signal, name):  # not on Windows, where spinning threads disturb the next library
            os.kill(self._process.pid, getattr(signal, name))

    def begin(self, what: str, number: int) -> None:
        """Sends a request to the worker."""
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


def measure(number: int, peers: Iterable[Peer], rounds: int) -> dict[str, Any]:
    """The record of a workload: the median seconds of each library with a correct result, the errors of the others, and the amount of
    work.
    """
    workload = WORKLOADS[number]
    asked = [peer for peer in peers if workload.expression(peer.name) is not None]
    for peer in asked:
        peer.begin("prepare", number)
    answers = {peer.name: peer.end() for peer in asked}
    errors = {name: answer for name, answer in answers.items() if isinstance(answer, str)}
    taking_part = [peer for peer in asked if peer.name not in errors]
    samples: dict[str, list[float]] = {peer.name: [] for peer in taking_part}
    for turn in range(rounds):
        for peer in random.Random(turn).sample(taking_part, len(taking_part)):
            peer.begin("time", number)
            samples[peer.name].append(peer.end())
    known: dict[str, Any] = {}
    for name, answer in answers.items():
        known |= answer if name not in errors else {}
    return {
        "family": workload.family,
        "name": workload.name,
        "goal": workload.goal,
        "dtype": workload.computed_in,
        "flops": workload.flops() if callable(workload.flops) else workload.flops,
        **known,
        "seconds": {name: statistics.median(taken) for name, taken in samples.items()},
        "errors": errors,
    }


def chosen(families: Iterable[str], text: str) -> dict[str, list[int]]:
    """The numbers of the workloads of each family whose names contain the text."""
    return {
        family: [k for k, w in enumerate(WORKLOADS) if w.family == family and text in w.name]
        for family in families
    }


def update(known: dict[str, Any], family: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Puts rows into the record of a level, replacing those of the same name; returns all rows of the family."""
    families = known["families"]
    named = {row["name"]: row for row in [*families.get(family, []), *rows]}
    families[family] = [
        named[workload.name] for workload in FAMILIES[family].rows if workload.name in named
    ]
    known["families"] = {family: families[family] for family in FAMILIES if family in families}
    return families[family]


def measure_level(known: dict[str, Any], arguments: argparse.Namespace, names: list[str]) -> bool:
    """Measures the requested workloads at one level, into its record; returns whether a result of flex is wrong."""
    ceiling = roofline.Ceiling.of(known)
    wrong = False
    peers = [Peer(name, arguments.threads) for name in names]
    for family, numbers in chosen(arguments.only or FAMILIES, arguments.match).items():
        rows = [measure(number, peers, arguments.rounds) for number in numbers]
        if rows:
            print(report.table(update(known, family, rows), ceiling, family) + "\n", flush=True)
        for row in rows:
            for name, error in row["errors"].items():
                print(f"{family}, {row['name']}: {name}: {error}", file=sys.stderr)
            wrong |= "flex" in row["errors"]
    for peer in peers:
        peer.stop()
    return wrong


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    parser.add_argument(
        "--only",
        metavar="FAMILY",
        action="append",
        choices=FAMILIES,
        help=f"one of: {', '.join(FAMILIES)}",
    )
    parser.add_argument(
        "--match", metavar="TEXT", default="", help="only workloads whose names contain this"
    )
    parser.add_argument(
        "--peers",
        metavar="NAME,..",
        type=lambda names: names.split(","),
        help="the libraries; by default all there are",
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=cores)
    parser.add_argument(
        "--isa",
        metavar="LEVEL",
        action="append",
        choices=levels.LEVELS,
        help=f"one of: {', '.join(levels.LEVELS)}",
    )
    parser.add_argument(
        "--roofline",
        metavar="FILE",
        type=Path,
        nargs="?",
        const=Path(),
        help="measure the ceilings, or read them",
    )
    parser.add_argument("--facts", action="store_true", help="measure size, import time and dtypes")
    parser.add_argument(
        "--json", metavar="FILE", type=Path, help="the record, added to when it is there"
    )
    parser.add_argument(
        "--markdown",
        metavar="FILE",
        type=Path,
        help="write the comparison here, and its rows beside it, as .csv",
    )
    parser.add_argument("--chart", metavar="FILE", type=Path, help="write an SVG here")
    parser.add_argument("--report", action="store_true", help="measure no workload")
    return parser.parse_args()


def main() -> int:
    """Measures, prints, and returns the exit status."""
    arguments = parse()
    record = (
        json.loads(arguments.json.read_text(encoding="utf-8"))
        if arguments.json and arguments.json.exists()
        else {"levels": {}}
    )
    names = arguments.peers or installed()
    if "flex" not in installed():
        print("flex is not installed: make build", file=sys.stderr)
        return 1
    limit_threads(arguments.threads)
    record |= {"machine": facts.machine(), "versions": facts.versions(names)}
    if arguments.facts:
        record["libraries"] = facts.libraries(names)

    wrong = False
    for level in arguments.isa or [levels.NATIVE]:
        known = record["levels"].setdefault(level, {"families": {}})
        with levels.held_to(level):
            if arguments.roofline is not None:
                known["peaks"] = roofline.peaks(arguments.roofline, arguments.threads)
            if not arguments.report:
                record |= {"threads": arguments.threads, "rounds": arguments.rounds}
                held = [name for name in names if level == levels.NATIVE or name not in levels.FREE]
                print(
                    f"{level}, {arguments.threads} threads, {arguments.rounds} rounds: {', '.join(held)}\n",
                    flush=True,
                )
                wrong |= measure_level(known, arguments, held)
    # the machine's own level first, without empty levels
    record["levels"] = {
        level: record["levels"][level]
        for level in levels.LEVELS
        if record["levels"].get(level, {}).get("families")
    }
    rows = report.figures(record)
    print(report.summary(rows))
    if arguments.json:
        arguments.json.write_text(
            json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    if arguments.markdown:
        sheet = arguments.markdown.with_suffix(".csv")
        sheet.write_text(report.rows_as_csv(rows), encoding="utf-8")
        arguments.markdown.write_text(report.document(record, rows, sheet.name), encoding="utf-8")
    if arguments.chart:
        arguments.chart.write_text(report.chart(record), encoding="utf-8")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
