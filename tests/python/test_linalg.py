"""Products against NumPy in higher precision."""

import numpy as np
import pytest
from arrays import (
    BOOL,
    COMPLEX,
    EPS,
    FLOATS,
    HALVES,
    INTEGERS,
    NUMBERS,
    check,
    laid_out,
    operands,
    random_array,
    to_numpy,
)
from hypothesis import given
from hypothesis import strategies as st
from support import examples

import flex

SIDES = st.integers(0, 9)


def exact(a):
    """The array in a wider float dtype; integers keep their dtype, so that they wrap alike."""
    if a.dtype.name in INTEGERS:
        return a
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)


def compare(y, expected, a, b, depth, dtype):
    """Asserts the error bound of a sum of `depth` products: `depth` roundings of at most the sum of magnitudes (Higham, Accuracy and
    Stability of Numerical Algorithms, 2002, (3.5)); complex products are sums of two."""
    assert y.dtype == dtype
    if dtype in INTEGERS:
        check(y, expected.astype(dtype))
        return
    largest = float(np.max(np.abs(exact(a)), initial=0) * np.max(np.abs(exact(b)), initial=0))
    magnitudes = max(depth, 1) * largest
    check(y, expected, ulps=2, absolute=(depth + 3) * magnitudes * min(EPS[dtype], 2**-23))


@st.composite
def product(draw, dtypes=NUMBERS):
    """Two operands of matmul."""
    n, k, m = draw(SIDES), draw(SIDES), draw(SIDES)
    if draw(st.integers(0, 5)) == 0:
        n, k, m = draw(st.sampled_from([(70, 33, 65), (1, 130, 70), (129, 64, 1), (33, 300, 17)]))
    batch = draw(
        st.sampled_from(
            [
                ((), ()),
                ((2,), ()),
                ((), (3,)),
                ((2, 1), (3,)),
                ((2, 3), (2, 3)),
                ((1,), (4,)),
                ((0,), (1,)),
            ]
        )
    )
    left = draw(st.sampled_from([(*batch[0], n, k), (k,)]))
    right = draw(st.sampled_from([(*batch[1], k, m), (k,)]))
    dtype = draw(st.sampled_from(dtypes))
    return (
        *draw(operands([dtype], left, special=False)),
        *draw(operands([dtype], right, special=False)),
    )


@examples(150)
@given(product())
def test_matmul(case):
    x, a, y, b = case
    compare(flex.matmul(x, y), np.matmul(exact(a), exact(b)), a, b, a.shape[-1], a.dtype.name)
    compare(x @ y, np.matmul(exact(a), exact(b)), a, b, a.shape[-1], a.dtype.name)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int32", "complex64"])
def test_matmul_of_larger_matrices(dtype):
    rng = np.random.default_rng(5)
    a, b = (
        random_array(dtype, (150, 210), rng, special=False),
        random_array(dtype, (210, 170), rng, special=False),
    )
    for layout in ("plain", "transposed", "flipped", "stepped"):
        (x, _), (y, _) = laid_out(a, layout), laid_out(b, layout)
        compare(flex.matmul(x, y), np.matmul(exact(a), exact(b)), a, b, 210, dtype)


@pytest.mark.parametrize("pair", ["int8 int8", "int8 uint8", "uint8 int8", "uint8 uint8"])
def test_products_of_bytes_in_int32_are_exact(pair):
    rng = np.random.default_rng(6)
    left, right = pair.split()
    for n, k, m in [
        (1, 1, 1),
        (3, 5, 66),
        (70, 130, 65),
        (129, 301, 40),
        (8, 1024, 192),
        (5, 0, 3),
    ]:
        a, b = random_array(left, (n, k), rng), random_array(right, (k, m), rng)
        for layout in ("plain", "transposed", "flipped", "stepped"):
            (x, _), (y, _) = laid_out(a, layout), laid_out(b, layout)
            check(flex.matmul(x, y, dtype=flex.int32), a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_of_halves_in_float32_are_not_rounded(dtype):
    rng = np.random.default_rng(7)
    a, b = (
        random_array(dtype, (40, 210), rng, special=False),
        random_array(dtype, (210, 70), rng, special=False),
    )
    (x, _), (y, _) = laid_out(a, "plain"), laid_out(b, "plain")
    wide = flex.matmul(x, y, dtype="float32")
    compare(wide, np.matmul(exact(a), exact(b)), a, b, 210, "float32")
    check(wide.astype(dtype), to_numpy(x @ y))


def test_matmul_dtype_matches_converted_operands():
    a = flex.asarray([[1, 2], [3, 4]], dtype="int16")
    assert a.matmul(a, dtype="float64").tolist() == [[7.0, 10.0], [15.0, 22.0]]
    assert flex.matmul(a, a, dtype="int16").dtype == flex.int16
    assert (
        flex.matmul(flex.asarray([True, True]), flex.asarray([True, True]), dtype="int32").item()
        == 2
    )
    for dtype in ("int8", "uint8", "bool"):
        with pytest.raises(
            flex.DTypeError, match=f"matmul: products of int16 cannot be summed in {dtype}"
        ):
            flex.matmul(a, a, dtype=dtype)


def test_matmul_promotes():
    assert (
        flex.matmul(flex.ones((2, 2), dtype="int8"), flex.ones((2, 2), dtype="float16")).dtype
        == flex.float16
    )
    with pytest.raises(flex.DTypeError, match="matmul"):
        flex.matmul(flex.ones((2, 2), dtype="int64"), flex.ones((2, 2), dtype="uint64"))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((2, 3), (4, 5)),
        ((2, 3), (2,)),
        ((3,), (2,)),
        ((), (2,)),
        ((2, 2), ()),
        ((2, 2, 3), (3, 3, 2)),
    ],
)
def test_matmul_shapes_that_do_not_fit(left, right):
    with pytest.raises(flex.ShapeError, match="matmul"):
        flex.matmul(flex.zeros(left), flex.zeros(right))


@pytest.mark.parametrize("name", ["matmul", "vecdot", "outer", "cross"])
def test_bool_is_refused(name):
    x = flex.ones(3, dtype="bool")
    with pytest.raises(flex.DTypeError, match=name):
        getattr(flex, name)(x, x)


def test_special_values():
    x = flex.asarray([[np.inf, 1.0], [np.nan, 0.0]])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(to_numpy(x @ x), to_numpy(x) @ to_numpy(x))


@examples(60)
@given(st.sampled_from(NUMBERS), st.data())
def test_vecdot(dtype, data):
    shape = tuple(data.draw(st.lists(SIDES, min_size=1, max_size=3)))
    axis = data.draw(st.integers(-len(shape), -1))
    x, a = data.draw(operands([dtype], shape, special=False))
    y, b = data.draw(operands([dtype], shape, special=False))
    compare(
        flex.vecdot(x, y, axis=axis),
        np.sum(np.conj(exact(a)) * exact(b), axis=axis, dtype=exact(a).dtype),
        a,
        b,
        shape[axis],
        dtype,
    )


@examples(60)
@given(st.sampled_from(["int32", *FLOATS, *COMPLEX]), st.data())
def test_tensordot(dtype, data):
    shared = data.draw(st.lists(st.integers(0, 4), max_size=2))
    mine, theirs = (data.draw(st.lists(st.integers(0, 4), max_size=2)) for _ in range(2))
    x, a = data.draw(operands([dtype], (*mine, *shared), special=False))
    y, b = data.draw(operands([dtype], (*shared, *theirs), special=False))
    n = len(shared)
    depth = int(np.prod(shared))
    compare(flex.tensordot(x, y, axes=n), np.tensordot(exact(a), exact(b), n), a, b, depth, dtype)
    pairs = (tuple(range(-n, 0)), tuple(range(n)))
    compare(
        flex.tensordot(x, y, axes=pairs), np.tensordot(exact(a), exact(b), n), a, b, depth, dtype
    )


def test_tensordot_errors():
    x = flex.zeros((2, 3))
    assert flex.tensordot(x, x, axes=(1, 1)).shape == (2, 2)
    assert flex.tensordot(x, x).shape == ()
    with pytest.raises(flex.ShapeError, match="tensordot"):
        flex.tensordot(x, x, axes=1)
    with pytest.raises(flex.ShapeError, match="tensordot"):
        flex.tensordot(x, x, axes=3)
    with pytest.raises(flex.AxisError, match="tensordot"):
        flex.tensordot(x, x, axes=((5,), (0,)))
    with pytest.raises(ValueError, match="tensordot: axes is -1"):
        flex.tensordot(x, x, axes=-1)
    for axes in ("01", (0, 1, 1), 1.5, None if False else {}):
        with pytest.raises(TypeError):
            flex.tensordot(x, x, axes=axes)


@examples(40)
@given(st.sampled_from(NUMBERS), st.data())
def test_outer(dtype, data):
    x, a = data.draw(operands([dtype], (data.draw(SIDES),), special=False))
    y, b = data.draw(operands([dtype], (data.draw(SIDES),), special=False))
    compare(flex.outer(x, y), np.outer(exact(a), exact(b)), a, b, 1, dtype)


@examples(40)
@given(st.sampled_from(["int32", "float32", "float64", "complex64"]), st.data())
def test_cross(dtype, data):
    axis = data.draw(st.sampled_from([-1, -2]))
    shape = (4, 3) if axis == -1 else (3, 5)
    x, a = data.draw(operands([dtype], shape, special=False))
    y, b = data.draw(operands([dtype], shape, special=False))
    compare(flex.cross(x, y, axis=axis), np.cross(exact(a), exact(b), axis=axis), a, b, 2, dtype)
    with pytest.raises(flex.ShapeError, match="cross"):
        flex.cross(flex.zeros(2), flex.zeros(2))


def test_matrix_transpose_is_a_view():
    x = flex.asarray(np.arange(24).reshape(2, 3, 4))
    np.testing.assert_array_equal(
        flex.matrix_transpose(x).numpy(), np.arange(24).reshape(2, 3, 4).swapaxes(1, 2)
    )
    assert np.shares_memory(x.numpy(), flex.matrix_transpose(x).numpy())
    with pytest.raises(flex.ShapeError, match="matrix_transpose"):
        flex.matrix_transpose(flex.zeros(3))


def test_the_namespace():
    # flex.diagonal and flex.trace are NumPy's, of any two axes
    own = {"diagonal", "trace"}
    shared = {n for n in flex.linalg.__all__ if hasattr(flex, n)} - own
    assert shared == {"matmul", "matrix_transpose", "tensordot", "vecdot", "cross", "outer"}
    for name in shared:
        assert getattr(flex.linalg, name) is getattr(flex, name)


@pytest.mark.parametrize("dtype", ["float32", *HALVES])
def test_products_are_the_same_for_any_number_of_threads(dtype):
    rng = np.random.default_rng(1)
    x = flex.astype(flex.asarray(rng.standard_normal((257, 263))), dtype)
    with flex.threads(1):
        one = to_numpy(x @ x.T)
    with flex.threads(3):
        np.testing.assert_array_equal(to_numpy(x @ x.T), one)


@pytest.mark.parametrize("dtype", BOOL)
def test_tensordot_of_bools(dtype):
    with pytest.raises(flex.DTypeError, match=r"tensordot|matmul"):
        flex.tensordot(flex.ones((2, 2), dtype=dtype), flex.ones((2, 2), dtype=dtype))
