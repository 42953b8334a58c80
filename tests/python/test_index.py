"""t[...] and t[...] = value against NumPy with generated indices; gathers, scatters and masks by name."""

import numpy as np
import pytest
from arrays import (
    BOOL,
    COMPLEX,
    FLOAT8,
    FLOATS,
    HALVES,
    INTEGERS,
    KEPT,
    LAYOUTS,
    check,
    laid_out,
    operands,
    random_array,
    shapes,
    to_numpy,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from support import examples

import flex


def dims(**kwargs):
    return st.lists(st.integers(0, 5), **kwargs).map(tuple)


@st.composite
def integer_array(draw, size, shape):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.integers(-size, size, shape).astype(
        draw(st.sampled_from(["int64", "int32", "int8"]))
    )


def some_slice(rng, size):
    start, stop = (
        None if rng.random() < 0.4 else int(rng.integers(-size - 2, size + 3)) for _ in range(2)
    )
    return slice(start, stop, [None, None, 1, 2, 3, -1, -2, -3][rng.integers(8)])


@st.composite
def indices(draw, shape):
    """A random index for a tensor of this shape, in NumPy's terms. Drawn as a seed: each part of it that hypothesis draws would take
    longer than its use."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    items, axis, ellipsis = [], 0, False
    arrays = [(), (2,), (3, 1), (1, 3)][rng.integers(4)] if rng.integers(2) else None
    while axis < len(shape):
        size = shape[axis]
        kind = rng.choice(["int", "slice", "slice", "newaxis", "ellipsis", "array", "mask", "stop"])
        if kind == "stop":
            break
        if kind == "ellipsis":
            if ellipsis:
                continue
            ellipsis = True
            items.append(Ellipsis)
            axis += int(rng.integers(0, len(shape) - axis + 1))
            # the remaining items index the last dimensions
            rest = len(shape) - axis
            axis = len(shape) - rest
        elif kind == "newaxis":
            items.append(None)
        elif kind == "int":
            if size == 0:
                continue
            items.append(int(rng.integers(-size, size)))
            axis += 1
        elif kind == "slice":
            items.append(some_slice(rng, size))
            axis += 1
        elif arrays is None:
            continue
        elif kind == "array":
            if size == 0:
                continue
            dtype = rng.choice(["int64", "int32", "int8"])
            items.append(rng.integers(-size, size, arrays).astype(dtype))
            axis += 1
        else:
            count = int(rng.integers(1, len(shape) - axis + 1))
            mask = np.zeros(shape[axis : axis + count], bool)
            flat = mask.reshape(-1)
            # as many as broadcast with the other arrays
            wanted = arrays[-1] if arrays else 1
            if flat.size < wanted:
                continue
            flat[rng.permutation(flat.size)[:wanted]] = True
            items.append(mask)
            axis += count
    if len(items) == 1 and rng.integers(2):
        return items[0]
    return tuple(items)


def as_flex(item):
    if isinstance(item, tuple):
        return tuple(map(as_flex, item))
    return flex.asarray(item, copy=True) if isinstance(item, np.ndarray) else item


@examples(400)
@given(st.data(), dims(max_size=4))
def test_get(data, shape):
    x, a = data.draw(operands(["int32", "bfloat16", "complex128", "bool"], shape))
    index = data.draw(indices(shape))
    try:
        expected = a[index]
    except IndexError:
        with pytest.raises(IndexError):
            x[as_flex(index)]
        return
    check(x[as_flex(index)], expected)
    check(x[index], expected)  # NumPy arrays as indices


@examples(400)
@given(st.data(), dims(max_size=4), st.booleans())
def test_set(data, shape, broadcast):
    dtype = data.draw(st.sampled_from(["int32", "float16", "complex128", "bool"]))
    x, a = data.draw(operands([dtype], shape))
    a = a.copy()
    index = data.draw(indices(shape))
    try:
        target = a[index].shape
    except IndexError:
        assume(False)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    if broadcast:
        target = tuple(1 if n > 1 and rng.integers(2) else n for n in target)
    value = random_array(dtype, target, rng)
    shared, before = x, to_numpy(x)
    other = x[...]
    a[index] = value
    y = flex.astype(shared, shared.dtype, copy=True)
    y[as_flex(index)] = flex.asarray(value, copy=True)
    check(y, a)
    x[as_flex(index)] = flex.asarray(value, copy=True)
    check(x, a)
    np.testing.assert_array_equal(to_numpy(other), before)  # unchanged


@examples(100)
@given(st.data(), dims(max_size=3), st.sampled_from(KEPT))
def test_set_numbers(data, shape, dtype):
    x, a = data.draw(operands([dtype], shape))
    a = a.copy()
    index = data.draw(indices(shape))
    try:
        a[index] = True
    except IndexError:
        assume(False)
    x[as_flex(index)] = True if dtype in BOOL else 1
    check(x, a)


def test_full_mask():
    for layout in LAYOUTS:
        x, a = laid_out(np.arange(12.0).reshape(3, 4), layout)
        check(x[x > 5], a[a > 5])
        check(x[flex.asarray([True, False, True])], a[[True, False, True]])
        x[x > 5] = 0
        check(x, np.where(a > 5, 0, a))


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (5, "index 5 is out of range for axis 0 of size 3"),
        (-4, "index -4 is out of range for axis 0 of size 3"),
        ((0, 4), "index 4 is out of range for axis 1 of size 4"),
        ((slice(None), flex.asarray([0, -5])), "index -5 is out of range for axis 1 of size 4"),
        ((0, 0, 0), "t"),
        ((..., ...), "ellipses"),
        (flex.asarray([True, False]), "mask|shape"),
        (flex.asarray([0.5]), "integer|float"),
        ((flex.asarray([0, 1]), flex.asarray([0, 1, 2])), "broadcast"),
        ("a", ""),
        (1.5, ""),
        (slice(0, 1, 0), "step"),
        (slice("a", None), ""),
        (2**70, ""),
        ({}, ""),
    ],
)
def test_wrong_indices(index, message):
    x = flex.asarray(np.arange(12).reshape(3, 4))
    with pytest.raises((IndexError, ValueError, TypeError, OverflowError), match=message or None):
        x[index]
    with pytest.raises((IndexError, ValueError, TypeError, OverflowError), match=message or None):
        x[index] = 1
    assert x.tolist() == np.arange(12).reshape(3, 4).tolist()


@pytest.mark.parametrize("index", [5, -4, (0, 4)])
def test_out_of_range_is_an_index_error(index):
    with pytest.raises(IndexError):
        flex.zeros((3, 4))[index]


def test_wrong_values():
    x = flex.zeros((2, 3), dtype="int32")
    with pytest.raises(ValueError, match=r"\[2, 3\]|broadcast"):
        x[...] = flex.zeros(4, dtype="int32")
    for value in (1.5, 1j, flex.ones(3)):
        with pytest.raises(flex.DTypeError):
            x[0] = value
    with pytest.raises(ValueError, match="out of range"):
        x[0] = 2**40
    for value in (None, "1", object()):
        with pytest.raises(TypeError):
            x[0] = value
    assert x.tolist() == [[0, 0, 0], [0, 0, 0]]


# ---- by name


@st.composite
def lines(draw, dtypes=KEPT, min_side=1):
    x, a = draw(operands(dtypes, draw(shapes(min_dims=1, min_side=min_side))))
    return x, a, draw(st.integers(-a.ndim, a.ndim - 1))


@examples(100)
@given(lines(), st.data())
def test_take(case, data):
    x, a, axis = case
    i = data.draw(integer_array(a.shape[axis], data.draw(dims(max_size=1))))
    y = flex.take(x, flex.asarray(i, copy=True), axis=axis)
    assert y.dtype == a.dtype.name
    check(y, np.take(a, i, axis))
    if a.ndim == 1:
        check(flex.take(x, flex.asarray(i, copy=True)), np.take(a, i))


@examples(100)
@given(lines(), st.data())
def test_take_along_axis(case, data):
    x, a, axis = case
    shape = tuple(
        data.draw(st.integers(0, 6)) if k == axis % a.ndim else n for k, n in enumerate(a.shape)
    )
    i = data.draw(integer_array(a.shape[axis], shape))
    check(
        flex.take_along_axis(x, flex.asarray(i, copy=True), axis=axis),
        np.take_along_axis(a, i, axis),
    )


MODES = {"add": np.add, "multiply": np.multiply, "max": np.maximum, "min": np.minimum}


@examples(100)
@given(lines(["int32", "uint8", "float64"]), st.sampled_from([*MODES, "set"]), st.data())
def test_scatter(case, mode, data):
    x, a, axis = case
    dtype = a.dtype.name
    shape = tuple(
        data.draw(st.integers(0, 6)) if k == axis % a.ndim else n for k, n in enumerate(a.shape)
    )
    i = data.draw(integer_array(a.shape[axis], shape))
    v, values = data.draw(operands([dtype], shape, special=False))
    expected = a.copy()
    grid = list(np.ogrid[tuple(slice(0, n) for n in shape)])
    grid[axis % a.ndim] = i.astype(np.int64)
    with np.errstate(all="ignore"):
        if mode == "set":
            # with repeated indices, the last value wins
            for place in np.ndindex(*shape):
                target = list(place)
                target[axis % a.ndim] = i[place]
                expected[tuple(target)] = values[place]
        else:
            MODES[mode].at(expected, tuple(grid), values)
    before = to_numpy(x)
    y = flex.scatter(x, flex.asarray(i, copy=True), v, axis, mode=mode)
    check(
        y,
        expected,
        ulps=8 if dtype == "float64" and mode in MODES else 0,
        absolute=1e-12 if dtype == "float64" else 0,
    )
    np.testing.assert_array_equal(to_numpy(x), before)
    if mode == "add":
        np.testing.assert_array_equal(
            to_numpy(flex.scatter_add(x, flex.asarray(i, copy=True), v, axis)), to_numpy(y)
        )


@examples(60)
@given(lines(["int32", "float64", "complex64"]), st.data())
def test_index_add(case, data):
    x, a, axis = case
    n = data.draw(st.integers(0, 7))
    i = data.draw(integer_array(a.shape[axis], (n,)))
    shape = tuple(n if k == axis % a.ndim else s for k, s in enumerate(a.shape))
    v, values = data.draw(operands([a.dtype.name], shape, special=False))
    expected = a.copy()
    with np.errstate(all="ignore"):
        np.add.at(expected, (*[slice(None)] * (axis % a.ndim), i), values)
    check(
        flex.index_add(x, flex.asarray(i, copy=True), v, axis),
        expected,
        ulps=8 if a.dtype.kind in "fc" else 0,
        absolute=1e-5 if a.dtype.kind == "c" else 1e-12,
    )


@examples(60)
@given(st.data(), dims(max_size=3), st.sampled_from(KEPT))
def test_masks(data, shape, dtype):
    x, a = data.draw(operands([dtype], shape))
    m, mask = data.draw(operands(BOOL, shape))
    value = True if dtype in BOOL else 2
    check(flex.masked_fill(x, m, value), np.where(mask, np.asarray(value, a.dtype), a))
    check(flex.masked_select(x, m), a[mask])
    true = a.astype(np.float64) != 0 if dtype in (*HALVES, *FLOAT8) else a != 0
    check(flex.argwhere(x), np.argwhere(true))
    if shape:
        result = flex.nonzero(x)
        assert isinstance(result, tuple)
        for y, expected in zip(result, np.nonzero(true), strict=True):
            check(y, expected)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x, i: flex.take(x, flex.asarray([2]), axis=0),
            IndexError,
            "take: index 2 is out of range for axis 0 of size 2",
        ),
        (lambda x, i: flex.take(x, flex.asarray([0.0]), axis=0), flex.DTypeError, "take"),
        (lambda x, i: flex.take(x, i, axis=2), flex.AxisError, "take: axis 2"),
        (lambda x, i: flex.take_along_axis(x, i, axis=0), ValueError, "take_along_axis"),
        (
            lambda x, i: flex.take_along_axis(x, flex.asarray([[9], [0]]), axis=1),
            IndexError,
            "take_along_axis: index 9",
        ),
        (
            lambda x, i: flex.scatter(x, flex.asarray([[9], [0]]), 1.0, 1),
            IndexError,
            "scatter: index 9",
        ),
        (
            lambda x, i: flex.scatter(x, flex.asarray([[1], [0]]), 1.0, 1, mode="replace"),
            ValueError,
            "mode is",
        ),
        (
            lambda x, i: flex.scatter(x, flex.asarray([[1], [0]]), 1j, 1),
            flex.DTypeError,
            "scatter",
        ),
        (lambda x, i: flex.scatter_add(x, i, 1.0), ValueError, "scatter_add"),
        (lambda x, i: flex.index_add(x, flex.asarray([5]), 1.0), IndexError, "index_add: index 5"),
        (lambda x, i: flex.index_add(x, i, flex.ones(7)), flex.ShapeError, "index_add"),
        (lambda x, i: flex.masked_fill(x, i, 0), flex.DTypeError, "masked_fill"),
        (
            lambda x, i: flex.masked_fill(x, flex.asarray([True] * 4), 0),
            flex.ShapeError,
            "masked_fill",
        ),
        (lambda x, i: flex.masked_fill(x, x > 0, 1j), flex.DTypeError, "masked_fill"),
        (lambda x, i: flex.masked_fill(x, x > 0, x), TypeError, "number"),
        (lambda x, i: flex.masked_select(x, i), flex.DTypeError, "masked_select"),
        (lambda x, i: flex.nonzero(flex.asarray(1)), ValueError, "nonzero"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message or None):
        call(flex.zeros((2, 3)), flex.asarray([0, 1, 0]))


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, *COMPLEX])
def test_scatter_is_the_same_for_any_number_of_threads(dtype):
    rng = np.random.default_rng(0)
    i = flex.asarray(rng.integers(0, 50, 20_000))
    v = flex.asarray(random_array(dtype, (20_000,), rng, special=False), copy=True)
    x = flex.zeros(50, dtype=dtype)
    with flex.threads(1):
        one = to_numpy(flex.index_add(x, i, v))
    with flex.threads(4):
        np.testing.assert_array_equal(to_numpy(flex.index_add(x, i, v)), one)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (0, 0)])
def test_masks_of_size_0_select_nothing(shape):
    """The array API standard: a size of the mask equals that of the tensor, or is 0."""
    x = flex.asarray([[1, 2, 3], [4, 5, 6]])
    mask = flex.zeros(shape, dtype=flex.bool)
    assert x[mask].shape == ((0, 3) if len(shape) == 1 else (0,))
    x[mask] = 9
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(IndexError, match=r"a mask of shape \[0, 2\]"):
        x[flex.zeros((0, 2), dtype=flex.bool)]


def test_positions_as_lists():
    x = np.arange(12.0).reshape(3, 4)
    t = flex.asarray(x)
    assert flex.take(t, [2, 0, -1], axis=1).tolist() == np.take(x, [2, 0, -1], axis=1).tolist()
    assert flex.take(t, [[1, 5], [7, -1]]).tolist() == np.take(x, [[1, 5], [7, -1]]).tolist()
    assert flex.take_along_axis(t, [[3], [0], [1]], axis=1).tolist() == [[3.0], [4.0], [9.0]]
    with pytest.raises(flex.DTypeError, match="take"):
        flex.take(t, [0.5])
