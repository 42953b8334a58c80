"""Linear algebra, by the names of the array API's extension."""

from flex._flex import cross, matmul, matrix_transpose, outer, tensordot, vecdot

__all__ = ["cross", "matmul", "matrix_transpose", "outer", "tensordot", "vecdot"]
