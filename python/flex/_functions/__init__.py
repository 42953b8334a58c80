"""Functions of `flex` that are compositions of others, under the names and with the parameters of NumPy, or torch's where it has none."""

from flex._functions import (
    building,
    calculus,
    counting,
    elementwise,
    ordering,
    padding,
    selecting,
    statistics,
)

MODULES = (building, calculus, counting, elementwise, ordering, padding, selecting, statistics)
FUNCTIONS = {name: getattr(module, name) for module in MODULES for name in module.__all__}
