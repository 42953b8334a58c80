"""Functions for neural networks, with the names and the order of arguments of torch.nn.functional, but `axis` for `dim`."""

from flex import _flex, _losses, _missing
from flex.nn import grad as grad

_own = {name: getattr(_flex._nn, name) for name in dir(_flex._nn) if not name.startswith("_")}
_operations = {name: getattr(_flex, name) for name in ("relu", "sigmoid", "silu", "tanh")}
globals().update(_own | _operations)  # __init__.pyi lists the names
__getattr__ = _missing.or_composed(__name__, _losses.FUNCTIONS)
__all__ = sorted([*_own, *_operations, *_losses.FUNCTIONS, "grad"])
