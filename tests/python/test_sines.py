"""Sine transforms, transforms along several axes, and `orthogonalize`, against SciPy."""

import numpy as np
import pytest
import scipy.fft
from hypothesis import given
from hypothesis import strategies as st
from support import examples

import flex

NORMS = [None, "backward", "ortho", "forward"]
ORTHO = [None, True, False]
A = np.random.default_rng(1).normal(size=(5, 6, 4))


def close(found, expected, dtype="float64"):
    found = np.asarray(found)
    assert (found.dtype, found.shape) == (np.dtype(dtype), expected.shape)
    eps = np.finfo(dtype).eps
    scale = np.abs(expected).max(initial=1e-300)
    np.testing.assert_allclose(found, expected, rtol=0, atol=60 * eps * scale)


@examples(100)
@given(
    st.sampled_from(["dct", "idct", "dst", "idst"]),
    st.sampled_from([1, 2, 3, 4]),
    st.integers(2, 40),
    st.sampled_from([None, 2, 3, 17, 40]),
    st.sampled_from(NORMS),
    st.sampled_from(ORTHO),
    st.integers(0, 2**32),
)
def test_transforms(name, type, size, n, norm, ortho, seed):
    rng = np.random.default_rng(seed)
    axis = int(rng.integers(-2, 2))
    a = rng.normal(size=(size, 3) if axis % 2 == 0 else (3, size))
    args = (type, n, axis, norm or "backward")
    found = getattr(flex.fft, name)(flex.asarray(a), *args, orthogonalize=ortho)
    close(found, getattr(scipy.fft, name)(a, *args, orthogonalize=ortho))


@pytest.mark.parametrize("name", ["dctn", "idctn", "dstn", "idstn"])
@pytest.mark.parametrize("type", [1, 2, 3, 4])
def test_several_axes(name, type):
    ours, theirs = getattr(flex.fft, name), getattr(scipy.fft, name)
    x = flex.asarray(A)
    for norm in NORMS:
        for ortho in ORTHO:
            found = ours(x, type, norm=norm, orthogonalize=ortho)
            close(found, theirs(A, type, norm=norm, orthogonalize=ortho))
    for how in (
        {"axes": (0, 2)},
        {"axes": -1},
        {"s": (3, 7)},
        {"s": 7, "axes": 1},
        {"s": (7, 3), "axes": (2, 0)},
        {"axes": ()},
    ):
        close(ours(x, type, **how), theirs(A, type, **how))


@pytest.mark.parametrize("type", [1, 2, 3, 4])
def test_inverses(type):
    x = flex.asarray(A)
    for norm in NORMS:
        for ortho in ORTHO:
            how = {"norm": norm, "orthogonalize": ortho}
            close(flex.fft.idst(flex.fft.dst(x, type, **how), type, **how), A)
            close(flex.fft.idctn(flex.fft.dctn(x, type, **how), type, **how), A)


def test_dtypes():
    for dtype in ("float16", "bfloat16", "float32", "int8", "uint16", "int64", "bool"):
        x = flex.asarray(np.arange(12).reshape(3, 4) % 2).astype(dtype)
        for type in (1, 2, 3, 4):
            found = flex.fft.dst(x, type)
            close(found, scipy.fft.dst(np.asarray(x.astype("float64")), type), "float32")
    assert flex.fft.dst(flex.zeros((0, 3))).shape == (0, 3)
    assert flex.fft.dst([1.0, 2.0], 1, n=1).tolist() == pytest.approx([2.0])


ERRORS = [
    (ValueError, "dst: type is 5; it is 1, 2, 3 or 4", lambda x: flex.fft.dst(x, 5)),
    (ValueError, "idst: norm is 'a'", lambda x: flex.fft.idst(x, norm="a")),
    (
        ValueError,
        "dst: a transform needs at least one value, not 0",
        lambda x: flex.fft.dst(x, n=0),
    ),
    (TypeError, "dst: n is an integer", lambda x: flex.fft.dst(x, n=1.5)),
    (flex.AxisError, "dst: axis 3", lambda x: flex.fft.dst(x, axis=3)),
    (
        flex.DTypeError,
        "dst: not defined for complex64",
        lambda x: flex.fft.dst(x.astype("complex64")),
    ),
    (ValueError, "dstn: type is 5", lambda x: flex.fft.dstn(x, 5)),
    (ValueError, "dctn: type is 5", lambda x: flex.fft.dctn(x, 5)),
    (flex.AxisError, "idctn: axis 3", lambda x: flex.fft.idctn(x, axes=(0, 3))),
    (flex.AxisError, "dctn: axis .* twice", lambda x: flex.fft.dctn(x, axes=(0, 0))),
    (flex.ShapeError, "dctn: s has 4 sizes", lambda x: flex.fft.dctn(x, s=(1, 2, 3, 4))),
    (ValueError, "dstn: s has 2 sizes for 1 axes", lambda x: flex.fft.dstn(x, s=(1, 2), axes=0)),
    (TypeError, "orthogonalize", lambda x: flex.fft.dct(x, orthogonalize="a")),
]


@pytest.mark.parametrize(("error", "message", "call"), ERRORS)
def test_errors(error, message, call):
    with pytest.raises(error, match=message):
        call(flex.asarray(A))
