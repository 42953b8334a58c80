"""LAPACK's ratios: residuals of factorisations in roundings, computed with more digits than the factors have."""

import numpy as np
from arrays import COMPLEX

FIELDS = ["float32", "float64", *COMPLEX]
EPS = {
    "float32": 2**-23,
    "complex64": 2**-23,
    "float64": 2**-52,
    "complex128": 2**-52,
    "float16": 2**-10,
    "bfloat16": 2**-7,
}
WIDER = {
    **dict.fromkeys(["float16", "bfloat16", "float32"], np.float64),
    "complex64": np.complex128,
    "float64": np.longdouble,
    "complex128": np.clongdouble,
}
SIZES = [0, 1, 2, 3, 5, 8, 17, 33, 64, 97, 150]
SHAPES = [
    (0, 0),
    (0, 3),
    (3, 0),
    (1, 1),
    (1, 4),
    (4, 1),
    (5, 3),
    (3, 5),
    (40, 7),
    (7, 40),
    (33, 33),
]
SHAPES += [(130, 110), (110, 130)]


def wide(a):
    """In double precision, or long doubles if it has that, for residuals: BLAS has products of the former."""
    return a.astype(WIDER.get(a.dtype.name, a.dtype))


def random(dtype, shape, seed=1):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape)
    if dtype in COMPLEX:
        a = a + 1j * rng.standard_normal(shape)
    return a.astype(dtype)


def norm(a):
    """The 1-norm of a matrix."""
    return float(np.abs(a).sum(axis=-2).max(initial=0)) if a.size else 0.0


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))
