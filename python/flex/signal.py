"""Signal processing: windows, Fourier transforms of frames, mel filters, convolution; filters, their design, spectral densities, peaks."""

from flex import _flex, _missing, _signals

_own = {
    n: getattr(_flex._signal, n)
    for n in dir(_flex._signal)
    if not n.startswith("_") and n not in _signals.FUNCTIONS
}
globals().update(_own)  # signal.pyi lists the names
__getattr__ = _missing.or_composed(__name__, _signals.FUNCTIONS)
__all__ = sorted({*_own, *_signals.FUNCTIONS})
