"""Arrays in memory next to inaccessible pages: a read or a write out of bounds kills the process."""

import ctypes
import math
import mmap

import numpy as np
from arrays import numpy_dtype, random_array

LIBC = ctypes.CDLL(None, use_errno=True)
PAGE = mmap.PAGESIZE


def guarded(size, at_end, shift=0):
    """`size` bytes, of which the last (`at_end`) or the first is `shift` bytes from an inaccessible page."""
    pages = max(-(-(size + shift) // PAGE), 1)
    memory = mmap.mmap(-1, (pages + 2) * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    whole = np.frombuffer(memory, np.uint8)
    for page in (0, pages + 1):
        if LIBC.mprotect(
            ctypes.c_void_p(whole.ctypes.data + page * PAGE), ctypes.c_size_t(PAGE), 0
        ):
            raise OSError(ctypes.get_errno(), "mprotect")
    start = (pages + 1) * PAGE - size - shift if at_end else PAGE + shift
    return whole[start : start + size]


def borrowed(dtype, shape, rng, **values):
    """An array of this shape that fills guarded memory: axes in any order in memory, reversed, with gaps, or with stride 0. Half of them
    are read-only."""
    dtype = numpy_dtype(dtype)
    strides, extent, first = [0] * len(shape), 1, 0
    for axis in rng.permutation(len(shape)):
        kind = rng.choice(["plain", "plain", "plain", "gaps", "repeated"])
        if kind == "repeated":
            continue
        stride = extent + (int(rng.integers(1, 4)) if kind == "gaps" else 0)
        span = max(shape[axis] - 1, 0) * stride
        extent += span
        strides[axis] = stride
        if rng.random() < 0.3:
            strides[axis], first = -stride, first + span
    used = 0 if 0 in shape else extent
    # NumPy aligns complex numbers only as their parts
    shift = dtype.itemsize // 2 if dtype.kind == "c" and rng.random() < 0.5 else 0
    memory = guarded(used * dtype.itemsize, rng.random() < 0.5, shift)
    flat = memory.view(dtype)
    flat[:] = random_array(dtype.name, (used,), rng, **values)
    bytes_of = [s * dtype.itemsize for s in strides]
    array = np.ndarray(shape, dtype, memory, first * dtype.itemsize if used else 0, bytes_of)
    array.flags.writeable = bool(rng.random() < 0.5)
    return array


def shape_of(rng, most=4):
    """A small shape, now and then with one long side, rarely empty."""
    shape = [
        int(n)
        for n in rng.choice([0, 1, 1, 2, 3, 3, 4, 5, 5, 7, 8], int(rng.integers(0, most + 1)))
    ]
    if rng.random() < 0.8:
        shape = [max(n, 1) for n in shape]
    if shape and rng.random() < 0.4:
        shape[int(rng.integers(len(shape)))] = int(
            rng.choice([15, 16, 17, 31, 33, 63, 64, 65, 127, 130, 257, 1025])
        )
    while math.prod(shape) > 20_000:
        shape.remove(max(shape))
    return tuple(shape)
