"""flex: n-dimensional arrays on the CPU, with the names and rules of the array API standard."""

from copyreg import pickle as _pickled_by

from flex import (
    _flex,
    _functions,
    _methods,
    _missing,
    _watch,
    fft,
    io,
    linalg,
    nn,
    quant,
    random,
    signal,
)
from flex._flex import *  # noqa: F403
from flex._reduce import reduce

# that of `_functions` has all modes
del pad  # noqa: F821

__all__ = [
    *_flex.__all__,
    *(name for name in _functions.FUNCTIONS if name not in _flex.__all__),
    "fft",
    "io",
    "linalg",
    "models",  # noqa: F405
    "nn",
    "onnx",  # noqa: F405
    "quant",
    "random",
    "reduce",
    "signal",
]


def __getattr__(name: str) -> object:
    """Imports on first use what most programs do not use, and what would double the import time."""
    if name in _functions.FUNCTIONS:
        found = _functions.FUNCTIONS[name]
    elif name in ("models", "onnx"):
        import importlib

        return importlib.import_module(f"flex.{name}")
    else:
        raise _missing.MissingAttributeError(_flex, "module 'flex'", name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_flex.Tensor.__getattr__ = _missing.of_tensor
_flex.Tensor.__new__ = _missing.constructor
_methods.register()
_pickled_by(type(_flex.finfo(_flex.float32)), lambda info: (_flex.finfo, (info.dtype,)))
_pickled_by(type(_flex.iinfo(_flex.int32)), lambda info: (_flex.iinfo, (info.dtype,)))
_watch.watch()
