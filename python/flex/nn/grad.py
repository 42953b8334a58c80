"""Gradients of the functions of flex.nn, under the same names: from the gradient of the result, those of the operands."""

from flex import _flex, _missing

_own = {name: getattr(_flex._grad, name) for name in dir(_flex._grad) if not name.startswith("_")}
globals().update(_own)  # grad.pyi lists the names

__getattr__ = _missing.of_module(__name__)
__all__ = sorted(_own)
