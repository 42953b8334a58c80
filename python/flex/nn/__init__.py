"""Functions for neural networks, with the names and the order of arguments of torch.nn.functional, but `axis` for `dim`."""

from flex import _flex, _losses, _missing
from flex.nn import grad as grad

_own = {name: getattr(_flex._nn, name) for name in dir(_flex._nn) if not name.startswith("_")}
_operations = {name: getattr(_flex, name) for name in ("relu", "sigmoid", "silu", "tanh")}
globals().update(_own | _operations)  # __init__.pyi lists the names
_missing_name = _missing.of_module(__name__)


def __getattr__(name: str) -> object:
    if name not in _losses.FUNCTIONS:
        _missing_name(name)
    globals()[name] = _losses.FUNCTIONS[name]
    return globals()[name]


__all__ = sorted([*_own, *_operations, *_losses.FUNCTIONS, "grad"])
