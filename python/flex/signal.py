"""Signal processing: windows, Fourier transforms of frames, mel filters, convolution; filters, their design, spectral densities, peaks."""

from flex import _flex, _missing, _signals

_own = {
    n: getattr(_flex._signal, n)
    for n in dir(_flex._signal)
    if not n.startswith("_") and n not in _signals.FUNCTIONS
}
globals().update(_own)  # signal.pyi lists the names
_missing_name = _missing.of_module(__name__)


def __getattr__(name: str) -> object:
    if name not in _signals.FUNCTIONS:
        _missing_name(name)
    globals()[name] = _signals.FUNCTIONS[name]
    return globals()[name]


__all__ = sorted({*_own, *_signals.FUNCTIONS})
