"""Quantisation as its docstrings define it, written in NumPy for the tests."""

import itertools
import os
import subprocess
import sys

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

ENDS = {"int8": (-127, 127), "uint8": (0, 255), "int4": (-7, 7), "int2": (-1, 1)}
F32 = np.float32


def steps(x, dtype, symmetric, scale_dtype="float32"):
    """Scale and zero point of a group, in float32 as the docstring defines them, and the range of the integers."""
    finite = x[np.isfinite(x)]
    low, high = F32(min(finite.min(initial=0), 0)), F32(max(finite.max(initial=0), 0))
    least, most = ENDS[dtype] if symmetric else {"int8": (-128, 127), "uint8": (0, 255)}[dtype]
    scale = max(high, -low) / F32(most) if symmetric else (high - low) / F32(255)
    scale = F32(np.dtype(getattr(ml_dtypes, scale_dtype, scale_dtype)).type(scale))
    if not scale > 0:
        scale = F32(1)
    zero = 0 if symmetric else int(np.clip(np.rint(F32(least) - low / scale), least, most))
    return scale, zero, (least, most)


def levels(x, scale, zero, ends):
    """The integers of a group."""
    with np.errstate(all="ignore"):
        q = np.rint(np.where(np.isnan(x), 0, x) / scale)
    return np.clip(q, ends[0] - zero, ends[1] - zero) + zero


def blocks_of(shape, axis, block):
    """The index of each scale, and the slices of the elements that share it."""
    sizes = [1 if axis is None else n for n in shape]
    if axis is not None:
        sizes = [n if a == axis else 1 for a, n in enumerate(shape)]
    if block is not None:
        sizes = [n // block if a == axis else n for a, n in enumerate(shape)]
    widths = [n // s if s else 1 for n, s in zip(shape, sizes, strict=True)]
    for place in itertools.product(*map(range, sizes)):
        yield place, tuple(slice(p * w, (p + 1) * w) for p, w in zip(place, widths, strict=True))


def naive(x, dtype, axis=None, block=None, symmetric=True, scale_dtype="float32"):
    """The integers, and the values that they stand for."""
    q, y = np.empty(x.shape), np.empty(x.shape, F32)
    for _, part in blocks_of(x.shape, axis, block):
        scale, zero, ends = steps(x[part], dtype, symmetric, scale_dtype)
        q[part] = levels(x[part], scale, zero, ends)
        y[part] = (q[part] - zero).astype(F32) * scale
    return q, y


def unpacked(q):
    """The integers of a quantised tensor, as int64."""
    values = np.asarray(q.values)
    if q.dtype not in ("int4", "int2"):
        return values.astype(np.int64)
    bits = int(q.dtype[3:])
    per, sign = 8 // bits, 1 << bits - 1
    packed = [
        tuple(-(-n // per) if a == k else n for a, n in enumerate(q.shape)) for k in range(q.ndim)
    ]
    axis = max(a for a in range(q.ndim) if packed[a] == values.shape)
    parts = [values >> bits * i & 2 * sign - 1 for i in range(per)]
    fields = np.stack(parts, axis=axis + 1).astype(np.int64)
    shape = [per * n if a == axis else n for a, n in enumerate(values.shape)]
    whole = np.take(fields.reshape(shape), range(q.shape[axis]), axis=axis)
    return (whole ^ sign) - sign


@st.composite
def cases(draw):
    """A tensor, an integer dtype, and the elements that share a scale."""
    rank = draw(st.integers(1, 3))
    shape = [draw(st.integers(1, 9)) for _ in range(rank)]
    axis = draw(st.none() | st.integers(0, rank - 1))
    block = None
    if axis is not None and draw(st.booleans()):
        block = draw(st.sampled_from([1, 2, 3, 16, 32]))
        shape[axis] = block * draw(st.integers(1, 4))
    dtype = draw(st.sampled_from(["int8", "uint8", "int4", "int2"]))
    symmetric = {"int8": draw(st.booleans()), "uint8": False, "int4": True, "int2": True}[dtype]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = (rng.standard_normal(shape) * draw(st.sampled_from([1e-30, 1, 1e30]))).astype(F32)
    x[rng.random(shape) < 0.2] = 0
    if draw(st.booleans()):
        x[rng.random(shape) < 0.1] = rng.choice([np.nan, np.inf, -np.inf])
    scales = draw(st.sampled_from(["float32", "bfloat16"]))
    return x, dtype, axis, block, symmetric, scales


def outputs_by_isa(program):
    """The different outputs of a Python program on each instruction set."""
    outputs = set()
    for isa in ("scalar", "avx2", "avx512", "amx"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "FLEX_ISA": isa},
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr.decode()
        outputs.add(done.stdout)
    return outputs
