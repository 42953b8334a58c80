"""Registers tensors with libraries that ask for it, when they are imported, before flex or after it.

flex imports none of them. A finder on `sys.meta_path`, which finds nothing, sees that a library imports the rest of itself after the part
where tensors are registered.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType


def _einops() -> None:
    """einops looks for a backend among the subclasses of its `AbstractBackend` each time it meets a new type."""
    backends = sys.modules.get("einops._backends")
    base = getattr(backends, "AbstractBackend", None)
    if backends is not None and base is not None and not hasattr(backends, "_flex_backend"):
        from flex._einops import backend

        vars(backends)["_flex_backend"] = backend(base)  # __subclasses__ holds weak references


def _dask() -> None:
    """dask finds the bytes that a value takes, and dask.array the functions that it needs besides NumPy's, by the type of the value."""
    sizeof = getattr(sys.modules.get("dask.sizeof"), "sizeof", None)
    if sizeof is not None:

        @sizeof.register_lazy("flex")
        def register_sizeof() -> None:
            import flex

            sizeof.register(flex.Tensor, lambda x: sys.getsizeof(x) + x.nbytes)

    lookup = getattr(sys.modules.get("dask.array.dispatch"), "percentile_lookup", None)
    if lookup is None:
        return

    @lookup.register_lazy("flex")
    def register() -> None:
        from dask.array.backends import percentile

        import flex

        lookup.register(flex.Tensor, percentile)


def _matplotlib() -> None:
    """Images are masked arrays, of which numpy.ma needs the extremes: it does not know those of dtypes of ml_dtypes."""
    core = sys.modules.get("numpy.ma.core")
    if core is None or _matplotlib in _done:
        return
    _done.add(_matplotlib)
    try:
        import ml_dtypes
    except ImportError:
        return
    for name in ("bfloat16", "float8_e5m2"):
        number = getattr(ml_dtypes, name)
        core.max_filler.setdefault(number, number("-inf"))
        core.min_filler.setdefault(number, number("inf"))


_REGISTER = {"einops": _einops, "dask": _dask, "matplotlib": _matplotlib}
_done: set[object] = set()


class _Watch:
    """A finder that finds no module. It stays: a finder that removes itself makes the import skip the next one."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        library, dot, _ = name.partition(".")
        if dot and library in _REGISTER:
            _REGISTER[library]()


def watch() -> None:
    """Registers with the libraries that are imported now, and with others when they are."""
    for library, register in _REGISTER.items():
        if library in sys.modules:
            register()
    sys.meta_path.insert(0, _Watch)
