"""Arrays for tests: hypothesis strategies for shapes, values and memory layouts, and comparison of results with NumPy's."""

import functools
import itertools

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

import flex

BOOL = ["bool"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
HALVES = ["float16", "bfloat16"]
FLOATS = [*HALVES, "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = [*SIGNED, *UNSIGNED]
REAL = [*INTEGERS, *FLOATS]
NUMBERS = [*REAL, *COMPLEX]
ORDERED = [*BOOL, *REAL]
ALL = [*BOOL, *NUMBERS]
FLOAT8 = ["float8_e4m3fn", "float8_e5m2"]  # storage dtypes: converted, but not computed with
KEPT = [*ALL, *FLOAT8]

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, float("inf"), float("-inf"), float("nan")]


def numpy_dtype(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def to_numpy(t):
    """A NumPy copy of a tensor."""
    assert isinstance(t, flex.Tensor), type(t)
    return np.array(t.numpy())


def wide(a):
    """16- and 8-bit floats as float32, which NumPy computes with accurately; other arrays as they are."""
    return a.astype(np.float32) if a.dtype.name in (*HALVES, *FLOAT8) else a


def random_array(dtype, shape, rng, special=True, low=-9, high=10):
    """Small values, so that sums and products stay exact in integers; now and then infinities and NaNs in floats."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype in INTEGERS:
        return rng.integers(max(low, 0) if dtype in UNSIGNED else low, high, shape).astype(dtype)
    values = rng.integers(4 * low, 4 * high, shape) / 4 + rng.random(shape) * (rng.random() < 0.5)
    if dtype in COMPLEX:
        return np.asarray(values + 1j * rng.integers(low, high, shape)).astype(dtype)
    if special and rng.random() < 0.3:
        values = np.where(rng.random(shape) < 0.2, rng.choice(SPECIAL, shape), values)
    return np.asarray(values).astype(numpy_dtype(dtype))


LAYOUTS = ["plain", "transposed", "flipped", "stepped", "broadcast"]


def laid_out(array, layout, draw_axis=0):
    """The array as a tensor in the given memory layout, and the array that it equals."""
    if array.ndim == 0:
        return flex.asarray(array.copy(), copy=True), array
    axis = draw_axis % array.ndim
    if layout == "transposed":
        axes = tuple(reversed(range(array.ndim)))
        return flex.permute_dims(
            flex.asarray(np.ascontiguousarray(array.transpose(axes)), copy=True), axes
        ), array
    if layout == "flipped":
        return flex.flip(
            flex.asarray(np.ascontiguousarray(np.flip(array, axis)), copy=True), axis=axis
        ), array
    if layout == "stepped":
        doubled = np.repeat(array, 2, axis)
        index = tuple(slice(None, None, 2) if k == axis else slice(None) for k in range(array.ndim))
        return flex.asarray(doubled, copy=True)[index], array
    if layout == "broadcast" and array.shape[axis] > 0:
        one = np.ascontiguousarray(array.take([0], axis))
        return flex.broadcast_to(flex.asarray(one, copy=True), array.shape), np.broadcast_to(
            one, array.shape
        )
    return flex.asarray(array, copy=True), array


@functools.cache
def shapes(max_dims=3, max_side=6, min_dims=0, min_side=0):
    """Mostly small shapes; now and then a long line, for which kernels use vectors. Drawn at once, from a table in which each number of
    dimensions is as likely, since each draw takes longer than most operations."""
    sides = range(min_side, max_side + 1)
    small = [list(itertools.product(sides, repeat=n)) for n in range(min_dims, max_dims + 1)]
    most = max(map(len, small))
    long = [s for s in [(37,), (130,), (3, 67), (70, 2)] if min_dims <= len(s) <= max_dims]
    table = [shape for some in small for shape in some * (most // len(some))]
    return st.sampled_from(table + long * (len(table) // 2 // max(len(long), 1)))


LAID_OUT = [(layout, axis) for layout in LAYOUTS for axis in range(4)]


@st.composite
def operands(draw, dtypes, shape=None, special=True, low=-9, high=10):
    """A tensor of any layout, and the NumPy array that it equals."""
    dtype = draw(st.sampled_from(dtypes))
    shape = draw(shapes()) if shape is None else shape
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    array = random_array(dtype, shape, rng, special, low, high)
    return laid_out(array, *draw(st.sampled_from(LAID_OUT)))


@st.composite
def broadcastable(draw, count=2):
    """Shapes that broadcast together."""
    whole = draw(shapes())
    out = []
    for code in zip(
        *[iter(draw(st.binary(min_size=5 * count, max_size=5 * count)))] * 5, strict=True
    ):
        shape = tuple(1 if k % 4 == 1 else n for k, n in zip(code, whole, strict=False))
        out.append(shape[code[4] // 2 % (len(shape) + 1) if code[4] % 2 else 0 :])
    return out


EPS = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
    "complex64": 2.0**-23,
    "complex128": 2.0**-52,
}


def sum_error(dtype, n):
    """The error bound of a sum of `n` products, relative to the sum of their magnitudes: n u / (1 - n u), for any order of additions
    (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 3.1), with two more terms for complex numbers (3.6)."""
    return (
        (n + 2)
        * min(EPS.get(dtype, 0), 2**-23)
        / 2
        * (2**0.5 if dtype.startswith("complex") else 1)
    )


def check(result, expected, ulps=0, absolute=0.0):
    """Asserts that the tensor has the shape and the values of the array: within `ulps` units of its dtype, exactly by default. `expected`
    may have a wider dtype than the result, whose dtype the caller checks."""
    got = to_numpy(result)
    expected = np.asarray(expected)
    assert got.shape == expected.shape, (got.shape, expected.shape)
    name = got.dtype.name
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, expected)
        return
    with np.errstate(all="ignore"):
        rounded = expected.astype(got.dtype)
    if ulps == 0 and absolute == 0:
        np.testing.assert_array_equal(wide(got), wide(rounded))
        return
    wider = np.complex128 if got.dtype.kind == "c" else np.float64
    tiny = 2.0**-133 if name == "bfloat16" else float(np.finfo(got.dtype).smallest_subnormal)
    finite = np.isfinite(wide(rounded))
    np.testing.assert_array_equal(wide(got)[~finite], wide(rounded)[~finite])
    with np.errstate(all="ignore"):
        error = np.abs(got.astype(wider) - expected.astype(wider))[finite]
        bound = ulps * EPS[name] * np.abs(expected.astype(wider))[finite] + absolute + ulps * tiny
    assert (error <= bound).all(), (error.max(), (error / np.maximum(bound, 1e-300)).max())


def pairs_of(dtypes):
    return list(itertools.combinations_with_replacement(dtypes, 2))
