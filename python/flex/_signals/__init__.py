"""Functions of `flex.signal` that are compositions of others, as defined by scipy.signal."""

from flex._signals import design, filtering, peaks, rates, spectra

MODULES = (design, filtering, peaks, rates, spectra)
FUNCTIONS = {name: getattr(module, name) for module in MODULES for name in module.__all__}
