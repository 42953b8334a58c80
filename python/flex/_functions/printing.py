"""How tensors are written as text, in a block."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from flex import _flex as fx

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flex._flex import _PrintOptions


@contextmanager
def printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    suppress: bool | None = None,
) -> Iterator[_PrintOptions]:
    """A context manager: what `set_printoptions` sets, inside its block; its value are all options. Other threads see them too.

    >>> with flex.printoptions(precision=2):
    ...     print(flex.asarray([1 / 3]))
    [0.33]
    """
    before = fx.get_printoptions()
    fx.set_printoptions(precision, threshold, edgeitems, linewidth, suppress)
    try:
        yield fx.get_printoptions()
    finally:
        fx.set_printoptions(**before)
