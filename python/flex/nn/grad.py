"""Gradients of the functions of flex.nn, each by its function's name: what a gradient of the result is worth for the operands."""

from flex import _flex, _missing

_own = {
    name: getattr(_flex._nn._grad, name)
    for name in dir(_flex._nn._grad)
    if not name.startswith("_")
}
globals().update(_own)  # grad.pyi names them one by one

__getattr__ = _missing.of_module(__name__)
__all__ = sorted(_own)
