"""`t[...]` and `t[...] = value`."""

import copy

import numpy as np
import pytest
from support import arange

import flex

A = np.arange(24).reshape(2, 3, 4)
SUBSCRIPTS = [
    0,
    -1,
    (0, 1),
    (0, -1, 2),
    ...,
    (..., 0),
    (0, ..., 1),
    None,
    (slice(None), None, 0),
    slice(None, None, -1),
    (slice(None), slice(2, None, -2), slice(1, 99)),
    slice(2**70),
    slice(-(2**70), None, 2**70),
    (),
    np.int32(1),
    flex.asarray(1),
    np.array(1),
    [0, 1, 0],
    [],
    [[0, 1], [1, 0]],
    (slice(None), [0, 2]),
    ([0, 1], [1, 2]),
    ([0, 1], slice(None), [1, 2]),
    ([[0], [1]], [1, 2]),
    np.array([1, 0], np.uint8),
    A > 5,
    A[0] > 99,
    True,
    False,
    np.True_,
    [True, False],
    (slice(None), [True, False, True]),
    (0, A[0] > 5),
]


def numpy_subscript(key):
    def convert(k):
        return k.numpy() if isinstance(k, flex.Tensor) else k

    key = tuple(map(convert, key)) if isinstance(key, tuple) else convert(key)
    return np.asarray(key, int) if isinstance(key, list) and not key else key


@pytest.mark.parametrize(
    "key",
    [k for k in SUBSCRIPTS if not (isinstance(k, np.ndarray) and k.shape == (3, 4))],
    ids=repr,
)
def test_subscripts_match_numpy(key):
    t = flex.asarray(A)
    expected = A[numpy_subscript(key)]
    assert t[key].shape == expected.shape
    assert t[key].tolist() == expected.tolist()
    written = A.copy()
    written[numpy_subscript(key)] = -7
    u = flex.asarray(A)
    u[key] = -7
    assert u.tolist() == written.tolist()


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (2, IndexError),
        (-3, IndexError),
        ((0, 3), IndexError),
        (2**70, IndexError),
        ([0, 2], IndexError),
        (1.5, IndexError),
        ("a", IndexError),
        ({}, IndexError),
        ([1.5], IndexError),
        (flex.asarray([1.5]), IndexError),
        (slice(None, None, 0), ValueError),
        (slice("a"), TypeError),
        ((..., ...), flex.SubscriptError),
        ((0, 0, 0, 0), flex.SubscriptError),
        ((..., 0, None, slice(None), 0, 0), flex.SubscriptError),
        (np.ones(3, bool), flex.SubscriptError),
        ((0, np.ones((3, 3), bool)), flex.SubscriptError),
        (np.ones((2, 3, 4, 1), bool), flex.SubscriptError),
        (([0, 1], [0, 1, 2]), flex.SubscriptError),
    ],
    ids=repr,
)
def test_bad_subscripts(key, error):
    t = arange(2, 3, 4)
    with pytest.raises(error):
        t[key]
    with pytest.raises(error):
        t[key] = 0
    assert t.tolist() == A.tolist()


def test_subscript_errors_are_shape_and_index_errors():
    assert issubclass(flex.SubscriptError, flex.ShapeError)
    assert issubclass(flex.SubscriptError, IndexError)
    assert not issubclass(flex.SubscriptError, flex.AxisError)
    with pytest.raises(
        IndexError, match=r"^index: 3 indices for 2 dimensions \(x: \[2, 3\] int64\)$"
    ):
        arange(2, 3)[0, 0, 0]
    # an error of the value is not a SubscriptError
    t = arange(2, 3)
    with pytest.raises(flex.ShapeError) as caught:
        t[0] = [1, 2]
    assert not isinstance(caught.value, IndexError)


def test_index_errors_name_index_axis_and_size():
    with pytest.raises(IndexError, match="index 5 is out of range for axis 1 of size 3"):
        arange(2, 3)[0, 5]


def test_writing_through_subscripts():
    t = arange(2, 3)
    twin, row = copy.copy(t), t[0]
    t[0] = flex.asarray([7, 8, 9])
    t[1, 1:] = np.array([5])
    t[:, 0] = t[:, 2]
    assert t.tolist() == [[9, 8, 9], [5, 5, 5]]
    assert twin.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert row.tolist() == [0, 1, 2]
    t[...] = 0
    assert t.tolist() == [[0, 0, 0], [0, 0, 0]]
    for value, error in [
        (1.5, flex.DTypeError),
        (flex.asarray([1, 2]), flex.ShapeError),
        ("a", TypeError),
        ([1.5, 2.5, 3.5], flex.DTypeError),
        ([1, 2], flex.ShapeError),
        ([1, [2]], ValueError),
        (["a"], TypeError),
        ([2**63], OverflowError),
        (2**70, ValueError),
    ]:
        with pytest.raises(error):
            t[0] = value
    assert t.tolist() == [[0, 0, 0], [0, 0, 0]]
    with pytest.raises(TypeError, match="deleted"):
        del t[0]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex128"])
def test_numbers_at_integers(dtype):
    """Elements and slices by integers alone, in tensors that own their memory, share it, or are views of it."""
    a = np.arange(24).reshape(2, 3, 4).astype(dtype)
    tensors = {
        "own": lambda: flex.asarray(a, copy=True),
        "borrowed": lambda: flex.asarray(a.copy()),
        "view": lambda: flex.permute_dims(flex.asarray(a.T.copy()), (2, 1, 0)),
        "repeated": lambda: flex.broadcast_to(flex.asarray(a[:1, :1]), a.shape),
    }
    for name, make in tensors.items():
        for key in [(1, 2, 3), (-1, 0, -4), (0, 1), (1,), 1, -2, (0, -3, 0)]:
            t = make()
            want, twin = np.array(t.tolist(), dtype=dtype), copy.copy(t)
            assert t[key].shape == want[key].shape, (name, key)
            assert t[key].tolist() == want[key].tolist(), (name, key)
            before = t[key]
            for value in (True, np.bool_(False)) if dtype == "bool" else (7, True, np.int8(3)):
                t[key] = value
                want[key] = value
                assert t.tolist() == want.tolist(), (name, key, value)
            assert before.tolist() == twin[key].tolist()
        t = make()
        for key in [(2, 0, 0), (0, 0, -5), (0, 0, 0, 0), -3, (2**63, 0, 0)]:
            with pytest.raises(IndexError):
                t[key]
            with pytest.raises(IndexError):
                t[key] = True
        if dtype == "int8":
            for value, error in [(1.5, flex.DTypeError), (128, ValueError), (2**70, ValueError)]:
                with pytest.raises(error):
                    t[0, 0, 0] = value
        assert t.tolist() == make().tolist()
    scalar = flex.asarray(3.0)
    with pytest.raises(IndexError):
        scalar[0]
    scalar[()] = 4
    assert scalar.item() == 4.0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (0, [1, 2, 3, 4]),
        (0, (1, 2, 3, 4)),
        (0, [5]),
        (slice(None), [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]),
        ((slice(None), 0), [1, 2, 3]),
        ([0, 2], [[1], [2]]),
        ((..., slice(0, 0)), []),
        (np.array([True, False, True]), [[1, 2, 3, 4]]),
        (np.arange(12).reshape(3, 4) > 9, [1, 2]),
        (0, [True, False, True, True]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float64", "complex64"])
def test_lists_as_values(key, value, dtype):
    a, t = np.zeros((3, 4), dtype), flex.zeros((3, 4), dtype=dtype)
    a[key] = value
    t[key] = value
    assert t.dtype == dtype
    assert t.tolist() == a.tolist()


def test_lists_as_values_keep_the_dtype():
    t = flex.zeros(2, dtype=flex.float64)
    t[:] = [0.1, 1]  # not via float32
    assert t.tolist() == [0.1, 1.0]
    t[:] = [flex.asarray(2), 3.5]
    assert t.tolist() == [2.0, 3.5]
    for dtype, value, error in [
        (flex.int8, [1, 300], OverflowError),
        (flex.int8, [1, 0.5], flex.DTypeError),
        (flex.int8, [flex.asarray(1.5), flex.asarray(2.5)], flex.DTypeError),
        (flex.float32, [1j, 0], flex.DTypeError),
        (flex.bool, [1, 0], flex.DTypeError),
        (flex.float32, [[1, 2], [3]], ValueError),
        (flex.float32, ["a", "b"], TypeError),
    ]:
        t = flex.zeros(2, dtype=dtype)
        with pytest.raises(error):
            t[:] = value
        assert t.tolist() == [0, 0]


def test_an_unsigned_index_beyond_int64_is_out_of_range():
    t = flex.arange(5)
    for beyond in (flex.asarray(2**64 - 1, dtype=flex.uint64), np.uint64(2**64 - 2)):
        with pytest.raises(IndexError):
            t[beyond]
