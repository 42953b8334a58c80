"""Makes COMPARISON-BURN.md of the rows that flex-burn-benches prints.

PYTHONPATH=benches python burn/benches/report.py RESULTS.csv PAGE.md
"""

import csv
import datetime
import math
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from peers.facts import machine

FLEX, PEERS = "flex-burn", ("burn-flex", "burn-ndarray")
# (mode, threads), and the value of each backend
Values = dict[tuple[str, str], dict[str, float]]


def read(path: Path) -> dict[str, dict[str, Values]]:
    """The values by family and row."""
    rows: dict[str, dict[str, Values]] = {}
    with path.open(newline="") as file:
        for family, row, mode, threads, backend, value in csv.reader(file):
            kind = rows.setdefault(family, {}).setdefault(row, {}).setdefault((mode, threads), {})
            if value:
                kind[backend] = float(value)
    return rows


def ratio(values: dict[str, float], peer: str) -> float | None:
    """flex's share of a peer's time."""
    return values[FLEX] / values[peer] if FLEX in values and peer in values else None


def mean(ratios: list[float]) -> str:
    """The geometric mean."""
    return f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}" if ratios else ""


def number(value: float | None, form: str = ".2f") -> str:
    return "" if value is None else format(value, form)


def duration(micros: float | None) -> str:
    return "" if micros is None else f"{micros:,.3g}" if micros < 1000 else f"{micros:,.0f}"


def mebibytes(size: float | None) -> str:
    return "" if size is None else f"{size / 2**20:.1f}"


def table(head: list[str], rows: list[list[str]]) -> str:
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def page(rows: dict[str, dict[str, Values]]) -> str:
    threads = sorted({t for r in rows.values() for v in r.values() for m, t in v if m == "time"})
    counts = [f"{t} thread{'s' if t != '1' else ''}" for t in threads]
    head = ["", *(f"{peer}, {count}" for peer in PEERS for count in counts)]
    total: dict[tuple[str, str], list[float]] = defaultdict(list)
    families = []
    for family, of in rows.items():
        line = [family]
        for peer in PEERS:
            for t in threads:
                found = [ratio(values.get(("time", t), {}), peer) for values in of.values()]
                ratios = [r for r in found if r is not None]
                total[peer, t] += ratios
                line.append(mean(ratios))
        families.append(line)
    families.append(["**all**", *(f"**{mean(total[p, t])}**" for p in PEERS for t in threads)])

    single = "1"
    slower = []
    for family, of in rows.items():
        for row, values in of.items():
            ratios = [ratio(values.get(("time", t), {}), PEERS[0]) for t in threads]
            if any(r is not None and r > 1 for r in ratios):
                slower.append([f"{family}: {row}", *map(number, ratios)])
    parts = [
        "# flex-burn beside Burn's own backends",
        "",
        "Burn 0.22.1's backend traits, called in turn on flex-burn, burn-flex 0.22.1 and burn-ndarray 0.22.1 with the same operands. "
        f"Measured on {datetime.date.today():%Y-%m-%d} by `make bench-burn` on {machine()['cpu']}, {os.cpu_count()} logical processors, "
        f"{version()}, release builds with default features.",
        "",
        "Times are minima of rounds in which the backends take turns: with one thread of the processor time of the process, with more, "
        "and for fusion, of the time that passed. Memory is what the resident set grows by while a call runs, results included. An "
        "empty field is a call that a backend lacks.",
        "",
        "## flex's time as a share of the others'",
        "",
        "Geometric means of the rows of a family; below 1 flex is faster.",
        "",
        table(head, families),
        "",
        "## Slower than burn-flex",
        "",
        table(["", *counts], slower) if slower else "No row.",
        "",
        "## Rows",
        "",
        "Microseconds of flex-burn on one thread, its share of the others' time, and MiB at the peak.",
    ]
    for family, of in rows.items():
        head = [
            family,
            "us",
            *(f"of {p}, {t}" for p in PEERS for t in threads),
            "MiB",
            *(f"MiB {p}" for p in PEERS),
        ]
        lines = []
        for row, values in of.items():
            memory = values.get(("memory", single), {})
            times = {t: values.get(("time", t), {}) for t in threads}
            lines.append(
                [
                    row,
                    duration(times[single].get(FLEX)),
                    *(number(ratio(times[t], p)) for p in PEERS for t in threads),
                    mebibytes(memory.get(FLEX)),
                    *(mebibytes(memory.get(p)) for p in PEERS),
                ]
            )
        parts += ["", table(head, lines)]
    return "\n".join(parts) + "\n"


def version() -> str:
    return (
        subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True)
        .stdout.strip()
        .split(" (")[0]
    )


if __name__ == "__main__":
    results, to = map(Path, sys.argv[1:3])
    to.write_text(page(read(results)))
