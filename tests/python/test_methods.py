"""Methods of Tensor that are functions written in Python, and calls of other methods as NumPy and torch make them."""

import numpy as np
import pytest

import flex
from flex import _methods

A = np.array([[3.0, -1.5, 2.0, 0.25], [-7.0, 2.0, 9.5, 2.0], [0.5, 4.0, -1.5, 8.0]])
B = np.array([[1, 0, 2, 2], [0, 3, 1, 1], [5, 0, 0, 4]])
S = A[:, :3]


def same(found, expected):
    found = found if isinstance(found, tuple) else (found,)
    for x, y in zip(found, expected if isinstance(expected, tuple) else (expected,), strict=True):
        np.testing.assert_allclose(np.asarray(x), y, rtol=1e-12)


# as ndarray has them
NUMPYS = {
    "choose": lambda t: t(B[0] % 2).choose([t(A[0]), t(A[1])]),
    "compress": lambda t: t(A).compress([True, False, True], axis=0),
    "diagonal": lambda t: t(A).diagonal(1),
    "flatten": lambda t: t(A).flatten(),
    "trace": lambda t: t(np.stack([A, A])).trace(1, 1, 2),
}


@pytest.mark.parametrize("name", NUMPYS)
def test_methods_of_arrays(name):
    same(NUMPYS[name](flex.asarray), NUMPYS[name](np.asarray))


CALLS = {
    "aminmax": (A, (), {"axis": 1}),
    "angle": (A, (), {}),
    "argpartition": (A[0], ([0, 1, 2],), {}),
    "corrcoef": (A, (), {}),
    "cov": (A, (), {}),
    "deg2rad": (A, (), {}),
    "det": (S, (), {}),
    "float_power": (B, (2,), {}),
    "fmax": (A, (1.0,), {}),
    "fmin": (A, (1.0,), {}),
    "frexp": (A, (), {}),
    "gcd": (B, (4,), {}),
    "heaviside": (A, (0.5,), {}),
    "index_fill": (A, (1, [0], 5.0), {}),
    "isneginf": (A, (), {}),
    "isposinf": (A, (), {}),
    "kthvalue": (A, (2,), {}),
    "lcm": (B, (4,), {}),
    "ldexp": (A, (B,), {}),
    "lerp": (A, (1.0, 0.25), {}),
    "logit": (np.abs(A) / 10, (), {}),
    "masked_scatter": (A, (A > 2, np.arange(9.0)), {}),
    "matrix_power": (S, (3,), {}),
    "mode": (B, (), {"axis": 0}),
    "norm": (A, (), {"axis": 1}),
    "rad2deg": (A, (), {}),
    "renorm": (A, (2.0, 0, 1.5), {}),
    "scatter_reduce": (A[0], (0, np.array([0, 0]), A[1, :2], "amax"), {}),
    "sinc": (A, (), {}),
    "slogdet": (S, (), {}),
    "unique": (B, (), {"return_counts": True}),
    "xlogy": (A, (np.abs(A),), {}),
}


def test_each_method_is_called():
    assert {*CALLS, *NUMPYS, "put", "where"} == {*_methods.METHODS, "compress", "where"}
    assert {*CALLS, *NUMPYS, "put", "where"} <= {*dir(flex.Tensor)}


@pytest.mark.parametrize("name", CALLS)
def test_methods_are_the_functions(name):
    x, args, keywords = CALLS[name]
    args = [flex.asarray(a) if isinstance(a, (np.ndarray, list)) else a for a in args]
    function = getattr(flex if hasattr(flex, name) else flex.linalg, name)
    assert getattr(flex.Tensor, name) is function
    found = getattr(flex.asarray(x), name)(*args, **keywords)
    expected = function(flex.asarray(x), *args, **keywords)
    same(tuple(found), tuple(expected)) if isinstance(found, tuple) else same(found, expected)


def test_put_and_where():
    x = flex.asarray(A.copy())
    x.put([0, -1], [100.0, 200.0])
    assert (x[0, 0].item(), x[-1, -1].item()) == (100, 200)
    x = flex.asarray(A)
    assert x.where(x > 2, 0.0).tolist() == np.where(A > 2, A, 0).tolist()
    with pytest.raises(TypeError):
        x.where(x > 2)


def test_in_fused_functions():
    f = flex.fuse(lambda x: x.fmax(2.0) + x.where(x > 2, 0.0) + x.diagonal().sum())
    x = flex.asarray(A)
    expected = np.fmax(A, 2) + np.where(A > 2, A, 0) + np.trace(A)
    np.testing.assert_allclose(np.asarray(f(x)), expected)


def test_sorts_of_all_elements():
    x = flex.asarray(A)
    for f in (flex.sort, flex.argsort):
        numpys = getattr(np, f.__name__)
        assert f(x, axis=None).tolist() == numpys(A, axis=None, kind="stable").tolist()
        assert f(x, None, descending=True).shape == (12,)
        assert f(flex.asarray(5.0), axis=None).shape == (1,)
        assert numpys(x, axis=None).tolist() == numpys(A, axis=None, kind="stable").tolist()
    assert x.sort(None).tolist() == sorted(A.ravel().tolist())
    assert x.T.argsort(None).tolist() == np.argsort(A.T, axis=None, kind="stable").tolist()
    with pytest.raises(TypeError):
        flex.sort(x, "a")


def test_ranges_as_subscripts():
    x = flex.asarray(A)
    for key in (
        range(2),
        range(-1, -4, -2),
        range(0),
        (slice(None), range(1, 3)),
        (range(2), [0, 1]),
    ):
        assert x[key].tolist() == A[key].tolist()
    y = flex.asarray(A.copy())
    y[range(2)] = 0.0
    assert y.tolist() == np.vstack([np.zeros((2, 4)), A[2:]]).tolist()
    with pytest.raises(IndexError, match="3"):
        x[range(4)]


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("num", [0, 1, 2, 7])
def test_steps_of_linspace(num, endpoint):
    for start, stop in ((0, 1), (-2.5, 7), (1, 1), (1j, 2)):
        values, step = flex.linspace(start, stop, num, endpoint=endpoint, retstep=True)
        assert values.tolist() == flex.linspace(start, stop, num, endpoint=endpoint).tolist()
        assert (step.dtype, step.shape) == (values.dtype, ())
        expected = np.linspace(start, stop, num, endpoint=endpoint, retstep=True)[1]
        np.testing.assert_allclose(step.item(), expected, rtol=1e-6)
    step = flex.linspace(-1.7e308, 1.7e308, 3, dtype="float64", retstep=True)[1]
    assert step.item() == 1.7e308
    step = flex.linspace(0, 1, 4, dtype="float64", endpoint=endpoint, retstep=True)[1]
    assert step.item() == 1 / (4 - endpoint)
