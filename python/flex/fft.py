"""Discrete Fourier transforms, with the names of the array API's extension and NumPy's order of arguments; SciPy's cosine and sine
transforms."""

from flex import _flex, _missing
from flex._lazy import Functions

_own = {name: getattr(_flex._fft, name) for name in dir(_flex._fft) if not name.startswith("_")}
globals().update(_own)  # fft.pyi lists the names
COMPOSED = Functions("flex", {"_transforms": "dctn dst dstn idctn idst idstn"})
__getattr__ = _missing.or_composed(__name__, COMPOSED)
__all__ = sorted([*_own, *COMPOSED])
