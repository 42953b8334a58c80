"""Python loops over parts of an array, as in NumPy programs."""

from __future__ import annotations

from typing import Any

from ..table import Family, Input, Known

loops = Family("loops in Python", 1.0)


def approach(xp: Any, a: Any, b: Any) -> Any:
    """A recurrence: the previous row is a named view while its base is written to."""
    for k in range(1, 3000):
        x = a[k - 1]
        a[k] = x + 0.01 * (1 - x)
    return a[:3000]


def cheapest(xp: Any, a: Any, b: Any) -> Any:
    """Dynamic programming, the costs of the cheapest paths down through `b`: the row above is a named view."""
    for i in range(1, 500):
        above = a[i - 1]
        a[i, 1:] = b[i, 1:] + xp.minimum(above[1:], above[:-1])
    return a[:500]


for name, run, sides in (
    ("the row before, of 60000x3", approach, (60_000, 3)),
    ("a dynamic program, rows of 2000x2000", cheapest, (2000, 2000)),
):
    inputs = {"run": Known(lambda run=run: run), "a": Input(sides), "b": Input(sides, low=0)}
    loops.row(name, inputs, "run(xp, a, b)", jax=None, tolerance=1e-4, reads=0)

FAMILIES = [loops]
