"""Ten operations at sizes from 256 elements to 64M, for `benches/sweep.py`; the comparison leaves them out."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ..table import Family, one, size, two

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAST, MOST = 8, 26  # logarithms of sizes


class Swept(NamedTuple):
    """An operation on 2^log elements: its operands' number, its expression by library, and the largest log."""

    operands: int
    expression: str
    spellings: Mapping[str, str | None] = MappingProxyType({})
    most: int = MOST
    tolerance: float | None = None
    square: bool = False  # operands are square matrices


SWEPT = {
    "add": Swept(2, "a + b"),
    "multiply by a number": Swept(1, "a * 2.5"),
    "exp": Swept(1, "xp.exp(a)"),
    "greater": Swept(1, "a > 0.5"),
    "to float64": Swept(
        1, "a.astype(xp.float64)", {"flex": "xp.astype(a, xp.float64)", "torch": "a.to(xp.float64)"}
    ),
    "sum": Swept(1, "xp.sum(a)", tolerance=1e-3),
    "max": Swept(1, "xp.max(a)"),
    "cumulative sum": Swept(
        1,
        "xp.cumulative_sum(a)",
        {"numpy": "xp.cumsum(a)", "torch": "xp.cumsum(a, 0)"},
        tolerance=1e-2,
    ),
    "sort": Swept(1, "xp.sort(a)", {"torch": "xp.sort(a)[0]"}, most=24),
    "transposed copy": Swept(
        1,
        "xp.asarray(a.T, copy=True)",
        {"numpy": "xp.ascontiguousarray(a.T)", "torch": "a.T.contiguous()"},
        square=True,
    ),
    "matrix product": Swept(2, "a @ b", most=22, square=True),
}


def logs(name: str) -> range:
    """The logarithms of the sizes of an operation."""
    return range(LEAST, SWEPT[name].most + 1, 2)


def title(name: str, log: int) -> str:
    """The name of a row."""
    return f"{name}, {size(1 << log)}"


_sizes = Family("sizes", 1.0)
for name, swept in SWEPT.items():
    for log in logs(name):
        side = math.isqrt(1 << log)
        shape = (side, side) if swept.square else (1 << log,)
        _sizes.row(
            title(name, log),
            {1: one, 2: two}[swept.operands](*shape),
            swept.expression,
            tolerance=swept.tolerance,
            jax=None,  # compiles each size anew
            **swept.spellings,
        )
ROWS = _sizes.rows
