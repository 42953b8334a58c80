"""Linear algebra, with the names of the array API's extension."""

from typing import TYPE_CHECKING

from flex import _missing
from flex._flex import cross, matmul, matrix_transpose, outer, tensordot, vecdot

if not TYPE_CHECKING:  # to a type checker every name would be there
    __getattr__ = _missing.of_module(__name__)
__all__ = ["cross", "matmul", "matrix_transpose", "outer", "tensordot", "vecdot"]
