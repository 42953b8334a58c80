"""Linear algebra, with the names of the array API's extension."""

from flex import _flex, _missing

_products = ("cross", "matmul", "matrix_transpose", "outer", "tensordot", "vecdot")
_own = {
    **{name: getattr(_flex, name) for name in _products},
    **{name: getattr(_flex._linalg, name) for name in dir(_flex._linalg) if name[0] != "_"},
}
globals().update(_own)  # linalg.pyi lists the names

__getattr__ = _missing.of_module(__name__)
__all__ = sorted(_own)
