"""Gradients of convolutions: a convolution is linear in x and in the weight, so each gradient is an adjoint."""

import numpy as np
import pytest
from arrays import FLOATS
from hypothesis import given
from hypothesis import strategies as st

import flex
from flex import nn


@st.composite
def convolutions(draw):
    """The name of a function and of its gradient, the shapes of x and weight, options, and a seed."""
    rank = draw(st.integers(1, 3))

    def axes(low, high):
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    groups = draw(st.integers(1, 3))
    kernel, dilation, stride = axes(1, 4), axes(1, 3), axes(1, 4)
    channels, outputs = (draw(st.integers(1, 9)) for _ in range(2))
    options = {"stride": stride, "dilation": dilation, "groups": groups}
    spans = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    if draw(st.booleans()):
        padding = tuple(zip(axes(0, 4), axes(0, 4), strict=True))
        sizes = [
            draw(st.integers(max(1, span - before - after), span + 9))
            for span, (before, after) in zip(spans, padding, strict=True)
        ]
        name, weight = f"conv{rank}d", (groups * outputs, channels, *kernel)
        options |= {"padding": padding, "precise": draw(st.booleans())}
    else:
        sizes = axes(1, 6)
        after = tuple(
            draw(st.integers(0, max(s, d) - 1)) for s, d in zip(stride, dilation, strict=True)
        )
        padding = tuple(
            draw(st.integers(0, ((n - 1) * s + span - 1 + a) // 2))
            for n, s, span, a in zip(sizes, stride, spans, after, strict=True)
        )
        name, weight = f"conv_transpose{rank}d", (groups * channels, outputs, *kernel)
        options |= {"padding": padding, "output_padding": after}
    x = (draw(st.integers(0, 3)), groups * channels, *sizes)
    return name, x, weight, options, draw(st.integers(0, 2**32 - 1))


def inner(a, b):
    return float(np.vdot(np.asarray(a, np.float64), np.asarray(b, np.float64)))


@given(convolutions(), st.sampled_from(["float32", "float64"]))
def test_gradients_are_adjoint(case, dtype):
    name, x_shape, w_shape, options, seed = case
    function, gradient = getattr(nn, name), getattr(nn.grad, name)
    rng = np.random.default_rng(seed)

    def integers(shape):
        return flex.asarray(rng.integers(-3, 4, shape).astype(dtype))

    x, w = integers(x_shape), integers(w_shape)
    y = function(x, w, **options)
    grad = integers(y.shape)
    dx, dw, db = gradient(grad, x, w, **options)
    assert (dx.shape, dw.shape, db.shape) == (x.shape, w.shape, y.shape[1:2])
    assert dx.dtype == dw.dtype == db.dtype == dtype
    for _ in range(3):
        other = integers(x_shape)
        assert inner(dx, other) == inner(grad, function(other, w, **options))
        other = integers(w_shape)
        assert inner(dw, other) == inner(grad, function(x, other, **options))
    sums = np.asarray(grad).sum(axis=(0, *range(2, y.ndim)))
    assert np.asarray(db).tolist() == sums.tolist()


@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_are_rounded_once(dtype):
    rng = np.random.default_rng(0)
    x, w, g = (
        flex.asarray(rng.standard_normal(s)).astype(dtype)
        for s in [(3, 20, 17, 15), (24, 20, 3, 3), (3, 24, 17, 15)]
    )
    got = nn.grad.conv2d(g, x, w, padding=1)
    wide = [t.astype("float64") for t in (g, x, w)]
    rounding = {"float16": 2**-11, "bfloat16": 2**-8}.get(dtype, 0)
    error = 1e-4 if dtype != "float64" else 1e-13
    for a, b in zip(got, nn.grad.conv2d(*wide, padding=1, precise=True), strict=True):
        b = np.asarray(b)
        bound = np.abs(b) * rounding + error * 10
        assert (np.abs(np.asarray(a.astype("float64")) - b) <= bound).all()


def test_padding_by_name_and_unbatched_images():
    x, w = flex.ones((2, 5, 6)), flex.ones((3, 2, 2, 3))
    for padding in ("same", "valid", 1, ((1, 0), (0, 2))):
        y = nn.conv2d(x, w, padding=padding)
        dx, dw, db = nn.grad.conv2d(flex.ones_like(y), x, w, padding=padding)
        assert (dx.shape, dw.shape, db.shape) == (x.shape, w.shape, (3,))
        assert db.tolist() == [float(y[0].size)] * 3


@pytest.mark.parametrize(
    ("error", "match", "options"),
    [
        (ValueError, r"grad\.conv2d: stride is \[0\]", {"stride": 0}),
        (ValueError, "grad.conv2d: stride is -1", {"stride": -1}),
        (ValueError, 'grad.conv2d: padding is "full"', {"padding": "full"}),
        (ValueError, "stride of 1", {"padding": "same", "stride": 2}),
        (flex.ShapeError, "grad.conv2d: groups is 2", {"groups": 2}),
        (
            flex.ShapeError,
            "grad must have the shape of the result, \\[1, 3, 5, 6\\]",
            {"padding": 1},
        ),
        (flex.ShapeError, "spans 13 elements of 5", {"dilation": (6, 1)}),
    ],
)
def test_errors_name_the_parameter(error, match, options):
    x, w, g = flex.ones((1, 3, 5, 6)), flex.ones((3, 3, 3, 3)), flex.ones((1, 3, 3, 4))
    with pytest.raises(error, match=match):
        nn.grad.conv2d(g, x, w, **options)


def test_operands_that_do_not_fit():
    x, w, g = flex.ones((1, 3, 5, 6)), flex.ones((3, 2, 3, 3)), flex.ones((1, 3, 3, 4))
    with pytest.raises(
        flex.ShapeError, match=r"weight.shape\[1\] is 2, expected in_channels / groups = 3"
    ):
        nn.grad.conv2d(g, x, w)
    with pytest.raises(flex.DTypeError, match="int32"):
        nn.grad.conv2d(*(t.astype("int32") for t in (g, x, flex.ones((3, 3, 3, 3)))))
    with pytest.raises(flex.ShapeError, match=r"grad\.conv_transpose2d: grad must have the shape"):
        nn.grad.conv_transpose2d(g, x, flex.ones((3, 2, 3, 3)))
    with pytest.raises(ValueError, match=r"grad\.conv_transpose2d: output_padding is 2"):
        nn.grad.conv_transpose2d(g, x, w, stride=2, output_padding=2)
