"""Lets plain `einops` compute with tensors: a backend, registered once einops is imported, before flex or after it.

einops looks for a backend among the subclasses of its `AbstractBackend` each time it meets a new type. flex doesn't import einops; a finder
on `sys.meta_path`, which finds nothing, sees that einops imports the rest of itself after its backends.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import flex

_BACKENDS = "einops._backends"


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


class _Watch:
    """A finder that finds no module. It stays: a finder that removes itself makes the import skip the next one."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        if name.startswith("einops."):
            register()


def watch() -> None:
    """Registers the backend now if einops is imported, and when it is imported later."""
    register()
    sys.meta_path.insert(0, _Watch)


def register() -> None:
    """Defines the backend, unless it is defined, or einops' own are not imported yet."""
    backends = sys.modules.get(_BACKENDS)
    base = getattr(backends, "AbstractBackend", None)
    if backends is None or base is None or hasattr(backends, "_flex_backend"):
        return
    # __subclasses__ holds weak references
    vars(backends)["_flex_backend"] = type("FlexBackend", (_Backend, base), {})
