"""Discrete Fourier transforms, with the names of the array API's extension and NumPy's order of arguments."""

from flex import _flex, _missing

_own = {name: getattr(_flex._fft, name) for name in dir(_flex._fft) if not name.startswith("_")}
globals().update(_own)  # fft.pyi lists the names

__getattr__ = _missing.of_module(__name__)
__all__ = sorted(_own)
