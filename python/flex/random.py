"""Random numbers, with the methods of NumPy's `Generator`: the same for a seed on every machine and number of threads."""

from flex import _flex, _missing

_own = {
    name: getattr(_flex._random, name) for name in dir(_flex._random) if not name.startswith("_")
}
globals().update(_own)  # random.pyi lists the names
_restore = _flex._random._restore  # pickles refer to it

__getattr__ = _missing.of_module(__name__)
__all__ = sorted(_own)
