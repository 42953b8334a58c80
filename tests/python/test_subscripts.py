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


@pytest.mark.parametrize("key", [k for k in SUBSCRIPTS if not (isinstance(k, np.ndarray) and k.shape == (3, 4))], ids=repr)
def test_subscripts_like_numpys(key):
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
        ((..., ...), (IndexError, ValueError)),
        ((0, 0, 0, 0), (IndexError, flex.ShapeError)),
        (np.ones(3, bool), (IndexError, flex.ShapeError)),
        (([0, 1], [0, 1, 2]), (IndexError, flex.ShapeError)),
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
    t[0][1] = 100  # a view of its own: documented
    assert t[0, 1].item() == 8
    t[...] = 0
    assert t.tolist() == [[0, 0, 0], [0, 0, 0]]
    for value, error in [
        (1.5, flex.DTypeError),
        (flex.asarray([1, 2]), flex.ShapeError),
        ("a", TypeError),
        ([1], TypeError),
        (2**70, ValueError),
    ]:
        with pytest.raises(error):
            t[0] = value
    assert t.tolist() == [[0, 0, 0], [0, 0, 0]]
    with pytest.raises(TypeError, match="deleted"):
        del t[0]
