"""Signal processing: windows, short-time Fourier transforms, mel filters, convolution and correlation."""

from flex import _flex, _missing

_own = {
    name: getattr(_flex._signal, name) for name in dir(_flex._signal) if not name.startswith("_")
}
globals().update(_own)  # signal.pyi lists the names

__getattr__ = _missing.of_module(__name__)
__all__ = sorted(_own)
