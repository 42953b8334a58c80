"""NumPy's functions that join, divide and turn arrays, against NumPy's."""

import numpy as np
import pytest
from arrays import check, to_numpy
from support import address, arange

import flex

SHAPES = [(), (4,), (3, 4), (2, 3, 4), (0,), (2, 0), (1, 1), (2, 1, 3, 2)]


@pytest.mark.parametrize("shape", SHAPES)
def test_views(shape):
    x = arange(*shape)
    a = to_numpy(x)
    calls = [
        (name, ())
        for name in ("ravel", "atleast_1d", "atleast_2d", "atleast_3d", "fliplr", "flipud")
    ]
    calls += [("rot90", (k,)) for k in (-5, -1, 0, 1, 2, 3, 10**12)]
    calls += [("rot90", (1, axes)) for axes in ((1, 0), (-1, 0), (0, 0), (0, 2))]
    calls += [("diag", (k,)) for k in (-10, -1, 0, 1, 2, 10)]
    for name, arguments in calls:
        try:
            expected = getattr(np, name)(a, *arguments)
        except ValueError:
            with pytest.raises(ValueError, match=name):
                getattr(flex, name)(x, *arguments)
            continue
        y = getattr(flex, name)(x, *arguments)
        assert y.dtype == x.dtype
        check(y, expected)
        if a.size and expected.size and (name, a.ndim) != ("diag", 1):
            assert np.shares_memory(np.asarray(y), np.asarray(x)), name


def test_several_at_once():
    x, y = flex.asarray(1), flex.ones((2, 3))
    assert [v.shape for v in flex.atleast_2d(x, y)] == [(1, 1), (2, 3)]
    assert flex.atleast_1d() == ()
    assert address(flex.atleast_3d(y)) == address(y)
    with pytest.raises(TypeError, match="atleast_1d"):
        flex.atleast_1d("x")


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack"])
def test_stacks(name):
    cases = [
        [()], [(), ()], [(3,)], [(3,), (3,)], [(3,), (2,)], [(2, 3), (2, 3)], [(2, 3), (4, 3)], [(2, 3), (2, 1)],
        [(3,), (2, 3)], [(2,), (2, 3)], [(2, 3), (3,)], [(2, 3, 4), (2, 3, 4)], [(2, 3, 4), (2, 3)], [],
    ]  # fmt: skip
    for shapes in cases:
        arrays = [
            np.arange(np.prod(s, dtype=int)).reshape(s) + 10 * k for k, s in enumerate(shapes)
        ]
        tensors = [flex.asarray(a) for a in arrays]
        try:
            expected = getattr(np, name)(arrays)
        except ValueError:
            with pytest.raises(ValueError, match=name):
                getattr(flex, name)(tensors)
            continue
        check(getattr(flex, name)(tensors), expected)
    mixed = getattr(flex, name)([flex.ones(2, dtype=flex.int8), flex.ones(2, dtype=flex.float32)])
    assert mixed.dtype == flex.float32


@pytest.mark.parametrize("name", ["array_split", "hsplit", "vsplit"])
def test_splits(name):
    for shape in SHAPES:
        x = arange(*shape)
        a = to_numpy(x)
        for sections in (1, 2, 3, 5, [1], [2, 1], [-1], [1, 1, 3, 9], [], (0, 2)):
            try:
                expected = getattr(np, name)(a, sections)
            except (ValueError, IndexError):
                with pytest.raises(ValueError, match=name):
                    getattr(flex, name)(x, sections)
                continue
            pieces = getattr(flex, name)(x, sections)
            assert isinstance(pieces, tuple)
            assert [p.tolist() for p in pieces] == [p.tolist() for p in expected]
    x = arange(4, 6)
    for axis in (1, -1):
        pieces, expected = flex.array_split(x, 4, axis), np.array_split(to_numpy(x), 4, axis)
        assert [p.tolist() for p in pieces] == [p.tolist() for p in expected]
    for sections in (0, -1):
        with pytest.raises(ValueError, match=name):
            getattr(flex, name)(x, sections)
    with pytest.raises(TypeError, match=name):
        getattr(flex, name)(x, "2")
    with pytest.raises((MemoryError, ValueError)):
        getattr(flex, name)(x, 1 << 62)


def test_in_fuse_and_stream():
    def f(x):
        a, b = flex.hsplit(flex.rot90(x * 2), 2)
        c = flex.vstack([flex.ravel(a), flex.fliplr(b).ravel()])
        return flex.atleast_3d(c + flex.diag(x)[0])

    x = flex.asarray(np.arange(12.0).reshape(4, 3))
    expected = f(x).tolist()
    assert flex.fuse(f)(x).tolist() == expected
    with flex.stream():
        y = f(x)
    assert y.tolist() == expected
