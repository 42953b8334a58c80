"""The backend of plain `einops` for tensors, which `_watch.py` registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flex


class _Backend:
    """What einops' backends have, for tensors."""

    framework_name = "flex"

    def is_appropriate_type(self, tensor: object) -> bool:
        return isinstance(tensor, flex.Tensor)

    def from_numpy(self, x: Any) -> flex.Tensor:
        return flex.asarray(x)

    def to_numpy(self, x: flex.Tensor) -> Any:
        return x.numpy()

    def arange(self, start: int, stop: int) -> flex.Tensor:
        return flex.arange(start, stop)

    def transpose(self, x: flex.Tensor, axes: Sequence[int]) -> flex.Tensor:
        return flex.permute_dims(x, axes)

    def stack_on_zeroth_dimension(self, tensors: Sequence[flex.Tensor]) -> flex.Tensor:
        return flex.stack(tensors)

    def add_axis(self, x: flex.Tensor, new_position: int) -> flex.Tensor:
        return flex.expand_dims(x, new_position)

    def tile(self, x: flex.Tensor, repeats: Sequence[int]) -> flex.Tensor:
        return flex.tile(x, repeats)

    def concat(self, tensors: Sequence[flex.Tensor], axis: int) -> flex.Tensor:
        return flex.concat(tensors, axis)

    def is_float_type(self, x: flex.Tensor) -> bool:
        return flex.isdtype(x.dtype, ("real floating", "complex floating"))

    def einsum(self, pattern: str, *x: flex.Tensor) -> flex.Tensor:
        return flex.einsum(pattern, *x)


def backend(base: type) -> type:
    """The backend, given the class that einops looks for subclasses of."""
    return type("FlexBackend", (_Backend, base), {})
