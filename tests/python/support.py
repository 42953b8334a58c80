"""Helpers of the Python tests."""

import math
import os

import ml_dtypes
import numpy as np
from hypothesis import settings

import flex

# Drawn examples are divided by this, where the fast half of the tests is asked for.
FEWER = int(os.environ.get("FLEX_TEST_FEWER", "1"))


def examples(count, **others):
    """Hypothesis's settings of this many examples."""
    return settings(max_examples=max(count // FEWER, 10), **others)


def arange(*shape, dtype="int64"):
    """The numbers from 0 in this shape, in memory that flex owns."""
    return flex.asarray(np.arange(math.prod(shape)).reshape(shape).astype(dtype), copy=True)


def numpy_dtype(dtype):
    """NumPy's dtype for one of flex."""
    return np.dtype(getattr(ml_dtypes, dtype.name, dtype.name))


def is_numpys(dtype):
    """Whether NumPy itself has the dtype: the others have neither a type code nor a buffer format."""
    return not hasattr(ml_dtypes, dtype.name)


def is_storage(dtype):
    """Whether this is a storage dtype: converted, but not computed with."""
    return dtype.name.startswith("float8")


def address(t):
    """The address of the elements."""
    return np.asarray(t).ctypes.data


def sample(dtype):
    """A NumPy array of the dtype, 3 by 4."""
    return (np.arange(12).reshape(3, 4) % 7).astype(numpy_dtype(dtype))


LAYOUTS = {
    "contiguous": lambda a: a,
    "transposed": lambda a: a.T,
    "flipped": lambda a: a[::-1, ::-1],
    "strided": lambda a: a[::2, 1::2],
    "column": lambda a: a[:, 1],
    "one": lambda a: a[1:2, 2].reshape(()),
    "broadcast": lambda a: np.broadcast_to(a[0], (5, 4)),
    "empty": lambda a: a[:0],
    "new axis": lambda a: a[:, None],
}


class Producer:
    """Hands out an existing capsule, as older libraries do."""

    def __init__(self, capsule, device=(1, 0)):
        self.capsule, self.device = capsule, device

    def __dlpack__(self, stream=None):
        return self.capsule

    def __dlpack_device__(self):
        return self.device
