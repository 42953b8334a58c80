"""The machine's ceilings for each workload, measured by benches/peaks.rs.

A workload takes at least the time of its arithmetic at the peak rate of its dtype, and at least the time to read its inputs and write its
result once, at the bandwidth for that amount of data (caches are faster than memory). Elementary functions count only as memory traffic.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# Dtypes that may be computed in others: the fastest counts.
COMPUTED_IN = {"float16": ("float32",), "bfloat16": ("bfloat16", "float32")}
FEW = 8  # if the result is this many times smaller than the inputs, or vice versa, the smaller one does not count


def peaks(file: Path, threads: int) -> list[dict[str, Any]]:
    """The ceilings from `file`, or measured now if it is the empty path."""
    if file == Path():
        environment = {**os.environ, "FLEX_NUM_THREADS": str(threads)}
        command = ["cargo", "bench", "-q", "--bench", "peaks"]
        text = subprocess.run(
            command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
        ).stdout
    else:
        text = file.read_text(encoding="utf-8")
    return json.loads(text[text.index("[") :])


class Ceiling:
    """The shortest possible times on this machine."""

    def __init__(self, rows: list[dict[str, Any]]):
        self._arithmetic: dict[str, float] = {}
        self._moved: dict[str, dict[int, float]] = {}
        self.fork_join = None
        for row in rows:
            if row["kind"] == "fork-join":
                self.fork_join = row["seconds"]
                continue
            best = self._moved.setdefault(row["kind"], {}) if "bytes" in row else self._arithmetic
            key = row.get("bytes", row["kind"])
            best[key] = max(best.get(key, 0.0), row["rate"])

    @classmethod
    def of(cls, known: dict[str, Any]) -> Ceiling | None:
        """From the record of a level; None if its ceilings were not measured."""
        return cls(known["peaks"]) if "peaks" in known else None

    def rate(self, dtype: str) -> float | None:
        """Operations per second."""
        return max(
            (
                self._arithmetic[kind]
                for kind in COMPUTED_IN.get(dtype, (dtype,))
                if kind in self._arithmetic
            ),
            default=None,
        )

    def bandwidth(self, kind: str, size: int) -> float:
        """Bytes per second, interpolated between the nearest measured sizes."""
        sizes = sorted(self._moved[kind])
        place = min(max(math.log2(max(size, 1)), math.log2(sizes[0])), math.log2(sizes[-1]))
        for low, high in pairwise(sizes):
            if place <= math.log2(high):
                part = (place - math.log2(low)) / (math.log2(high) - math.log2(low))
                return self._moved[kind][low] ** (1 - part) * self._moved[kind][high] ** part
        return self._moved[kind][sizes[-1]]

    def seconds(self, row: dict[str, Any]) -> float | None:
        """The shortest possible time of a workload, or None if unknown."""
        read, written = row.get("read", 0), row.get("written", 0)
        kind = "read" if FEW * written < read else "write" if FEW * read < written else "triad"
        times = [(read + written) / self.bandwidth(kind, read + written)]
        if row["flops"] and (rate := self.rate(row["dtype"])):
            times.append(row["flops"] / rate)
        return max(times) or None

    def fraction(self, row: dict[str, Any]) -> float | None:
        """The fraction of the ceiling that flex reaches."""
        least = self.seconds(row)
        return least / row["seconds"]["flex"] if least and "flex" in row["seconds"] else None

    def lines(self) -> list[str]:
        """The ceilings as text."""
        rates = [f"{kind} {rate / 1e9:.0f}" for kind, rate in self._arithmetic.items()]
        moved = [
            f"{kind} "
            + ", ".join(
                f"{self._moved[kind][size] / 1e9:.0f} ({readable_bytes(size)})"
                for size in sorted(self._moved[kind])[1::2]
            )
            for kind in self._moved
        ]
        lines = [f"- Arithmetic, 10⁹ operations per second, all threads: {'; '.join(rates)}"]
        lines.append(f"- Memory, 10⁹ bytes per second, by the size of the data: {'; '.join(moved)}")
        if self.fork_join:
            lines.append(
                f"- An empty job for all threads, which the caller may finish alone: {self.fork_join * 1e6:.1f} µs"
            )
        return lines


def readable_bytes(size: float) -> str:
    """The size with a unit."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
