"""flex over sizes, 2^8 to 2^26 elements of float32: beside the other libraries that are installed, or on one thread and on more.

    python benches/sweep.py [--rounds 3] [--threads N] [--chart FILE] [OPERATION ..]
    python benches/sweep.py --scaling [--rounds 9] [OPERATION ..]

The first prints flex's time as a share of the fastest other library's, measured as `compare.py` does, and says where there is a cliff,
a size at which flex is above 1.2 between two at which it is below 1. --chart draws the shares as an SVG. The second prints the
microseconds of a call on one thread, and the speed-up on two, four and so on, as many as there are cores; the numbers of threads
alternate, so that other load on the machine affects all of them. `benches/threads.rs` does that without Python, and times fork-joins.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent))

from compare import Peer, measure
from peers import facts, report
from peers.worker import installed, limit_threads
from peers.workloads import WORKLOADS
from peers.workloads.sizes import LEAST, MOST, ROWS, SWEPT, logs, title

import flex

if TYPE_CHECKING:
    from collections.abc import Callable

LIBRARIES = ("flex", "numpy", "torch")
ALL = range(LEAST, MOST + 1, 2)
BEHIND, AHEAD = 1.2, 1.0  # a cliff is behind, between sizes that are ahead


def shares(names: list[str], threads: int, rounds: int) -> dict[str, dict[int, float]]:
    """For each operation, flex's share of the fastest other library's time, by the logarithm of the size."""
    limit_threads(threads)
    peers = [Peer(name, threads) for name in LIBRARIES if name in installed()]
    numbers = {workload: k for k, workload in enumerate(WORKLOADS)}
    rows = {row.name: numbers[row] for row in ROWS}
    found: dict[str, dict[int, float]] = {}
    for name in names:
        found[name] = {}
        for log in logs(name):
            row = measure(rows[title(name, log)], peers, rounds)
            for library, error in row["errors"].items():
                print(f"{row['name']}: {library}: {error}", file=sys.stderr)
            if (share := report.ratio(row)) is not None:
                found[name][log] = share
        print(line(name, found[name]), flush=True)
    for peer in peers:
        peer.stop()
    return found


def line(name: str, by_size: dict[int, float]) -> str:
    """A row of the table."""
    cells = [f"{by_size[log]:.2f}" if log in by_size else "" for log in ALL]
    return f"| {name} | {' | '.join(cells)} |"


def cliffs(by_size: dict[int, float]) -> list[int]:
    """The sizes at which an operation is behind between sizes at which it is ahead."""
    logs = sorted(by_size)
    ahead = [log for log in logs if by_size[log] < AHEAD]
    behind = [log for log in logs if by_size[log] > BEHIND]
    return [log for log in behind if ahead and ahead[0] < log < ahead[-1]]


LEFT, TOP, WIDTH, HEIGHT = 46, 56, 420, 250
LOWEST, HIGHEST = 1 / 16, 4.0
COLOURS = (
    "#0969da", "#2da44e", "#bf3989", "#bc4c00", "#8250df", "#1b7c83", "#cf222e", "#9a6700", "#57606a", "#4d9fff", "#e85aad",
)  # fmt: skip


def chart(found: dict[str, dict[int, float]], threads: int) -> str:
    """A line for each operation over the sizes."""

    def x(log: float) -> float:
        return LEFT + WIDTH * (log - LEAST) / (MOST - LEAST)

    def y(share: float) -> float:
        inside = min(max(share, LOWEST), HIGHEST)
        return TOP + HEIGHT * math.log(HIGHEST / inside) / math.log(HIGHEST / LOWEST)

    cpu = facts.machine()["cpu"].split(" (")[0]
    parts = [
        report.text(8, 16, "Time of flex, the fastest of NumPy and PyTorch = 1, by elements"),
        report.text(8, 34, f"{cpu}, {threads} threads", "note"),
    ]
    share = LOWEST
    while share <= HIGHEST:
        kind = "line" if share == 1 else "grid"
        at = f'x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y(share):.1f}" y2="{y(share):.1f}"'
        parts += [
            f'<line class="{kind}" {at}/>',
            report.text(LEFT - 6, y(share) + 4, f"{share:.2g}", "note", "end"),
        ]
        share *= 2
    parts += [report.text(x(log), TOP + HEIGHT + 16, f"2^{log}", "note", "middle") for log in ALL]
    for k, ((name, by_size), colour) in enumerate(zip(found.items(), COLOURS, strict=False)):
        points = " ".join(f"{x(log):.1f},{y(by_size[log]):.1f}" for log in sorted(by_size))
        at = TOP + 12 + 20 * k
        parts += [
            f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{points}"/>',
            f'<rect fill="{colour}" x="{LEFT + WIDTH + 16}" y="{at - 9}" width="14" height="4"/>',
            report.text(LEFT + WIDTH + 36, at, name, "note"),
        ]
    return report.svg(LEFT + WIDTH + 170, TOP + HEIGHT + 28, parts)


def over_threads(call: Callable[[], object], counts: list[int], rounds: int) -> list[float]:
    """Nanoseconds of a call on each number of threads: of nine rounds the fourth fastest."""
    start = time.perf_counter_ns()
    call()
    reps = min(max(2_000_000 // max(time.perf_counter_ns() - start, 1), 1), 3000)
    times: dict[int, list[float]] = {n: [] for n in counts}
    for _ in range(rounds):
        for n, taken in times.items():
            with flex.threads(n):
                for _ in range(-(-reps // 4)):
                    call()
                start = time.perf_counter_ns()
                for _ in range(reps):
                    call()
                taken.append((time.perf_counter_ns() - start) / reps)
    return [sorted(taken)[rounds // 3] for taken in times.values()]


def scaling(names: list[str], rounds: int) -> None:
    """Prints the time on one thread and the speed-up on more, for each operation and size."""
    cores = os.cpu_count() or 1
    counts = [1 << k for k in range(cores.bit_length()) if 1 << k <= cores]
    for name in names:
        heads = " | ".join(f"{n} threads" for n in counts[1:])
        print(f"\n| {name} | us | {heads} |\n|---|{'---:|' * len(counts)}")
        expression = SWEPT[name].spellings.get("flex", SWEPT[name].expression)
        code = compile(expression, name, "eval")
        for log in logs(name):
            a = flex.linspace(0, 1, 1 << log, dtype=flex.float32)
            if SWEPT[name].square:
                a = a.reshape(math.isqrt(1 << log), -1)
            scope = {"a": a, "b": a, "xp": flex}
            one, *more = over_threads(lambda s=scope, f=code: eval(f, s), counts, rounds)
            cells = " | ".join(f"{one / taken:.2f}" for taken in more)
            print(f"| 2^{log} | {one / 1e3:.1f} | {cells} |", flush=True)


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("operations", nargs="*", help=f"some of: {', '.join(SWEPT)}")
    parser.add_argument("--scaling", action="store_true", help="threads of flex, without others")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--chart", type=Path, metavar="FILE", help="write an SVG here")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.operations if name not in SWEPT]:
        parser.error(f"no such operations: {unknown}")
    names = arguments.operations or list(SWEPT)
    if arguments.scaling:
        scaling(names, arguments.rounds or 9)
        return 0
    heads = " | ".join(f"2^{log}" for log in ALL)
    print(f"| operation | {heads} |\n|---|{'---:|' * len(ALL)}")
    found = shares(names, arguments.threads, arguments.rounds or 3)
    for name, by_size in found.items():
        for log in cliffs(by_size):
            print(f"a cliff: {name} at 2^{log} takes {by_size[log]:.2f} of the others' time")
    if arguments.chart:
        arguments.chart.write_text(chart(found, arguments.threads), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
