"""Signals: windows, short-time Fourier transforms, mel filters, convolution and correlation."""

from flex import _flex

_own = {
    name: getattr(_flex._signal, name) for name in dir(_flex._signal) if not name.startswith("_")
}
globals().update(_own)  # signal.pyi names them one by one

__all__ = sorted(_own)
