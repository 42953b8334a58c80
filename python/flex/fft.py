"""Discrete Fourier transforms, with the names of the array API's extension and NumPy's order of arguments; SciPy's cosine and sine
transforms."""

from flex import _flex, _missing
from flex._lazy import Functions

_own = {name: getattr(_flex._fft, name) for name in dir(_flex._fft) if not name.startswith("_")}
globals().update(_own)  # fft.pyi lists the names
COMPOSED = Functions("flex", {"_transforms": "dctn dst dstn idctn idst idstn"})
_missing_name = _missing.of_module(__name__)


def __getattr__(name: str) -> object:
    if name not in COMPOSED:
        _missing_name(name)
    globals()[name] = COMPOSED[name]
    return globals()[name]


__all__ = sorted([*_own, *COMPOSED])
