"""Deformable convolutions: with zero offsets they are convolutions, and integer offsets shift images."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flex
from flex import nn


@st.composite
def planes(draw):
    """Operands of small integers, whose sums are exact, the shape of a mask, and options."""

    def axes(low, high):
        return tuple(draw(st.integers(low, high)) for _ in range(2))

    kernel, stride, dilation, padding = axes(1, 3), axes(1, 3), axes(1, 3), axes(0, 3)
    spans = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    image = tuple(draw(st.integers(span, span + 7)) for span in spans)
    groups, offset_groups = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    seen = draw(st.integers(1, 2)) * offset_groups
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = rng.integers(-3, 4, (draw(st.integers(0, 2)), groups * seen, *image))
    w = rng.integers(-3, 4, (groups * draw(st.integers(1, 3)), seen, *kernel))
    places = [
        (n + 2 * p - span) // s + 1
        for n, p, span, s in zip(image, padding, spans, stride, strict=True)
    ]
    rows = offset_groups * kernel[0] * kernel[1]
    options = {"stride": stride, "padding": padding, "dilation": dilation}
    return x, w, (x.shape[0], rows, *places), groups, options, rng


@given(planes(), st.sampled_from(["float32", "float64"]))
def test_zero_offsets_give_convolutions(case, dtype):
    x, w, mask, groups, options, rng = case
    x, w = (flex.asarray(a.astype(dtype)) for a in (x, w))
    none = flex.zeros((mask[0], 2 * mask[1], *mask[2:]), dtype=dtype)
    y = nn.deform_conv2d(x, none, w, **options)
    expected = nn.conv2d(x, w, **options, groups=groups, precise=True)
    assert y.tolist() == expected.tolist()
    # a mask of twos doubles the result
    two = flex.full(mask, 2.0, dtype=dtype)
    y = nn.deform_conv2d(x, none, w, flex.ones(w.shape[0], dtype=dtype), mask=two, **options)
    assert y.tolist() == (2 * expected + 1).tolist()
    grad = flex.asarray(rng.integers(-3, 4, y.shape).astype(dtype))
    got = nn.grad.deform_conv2d(grad, x, none, w, **options)
    expected = nn.grad.conv2d(grad, x, w, **options, groups=groups, precise=True)
    assert got[0].tolist() == expected[0].tolist()
    assert got[2].tolist() == expected[1].tolist()
    assert got[3].tolist() == expected[2].tolist()


@given(st.integers(-4, 4), st.integers(-4, 4))
def test_integer_offsets_shift_the_image(down, across):
    x = np.arange(1.0, 31.0).reshape(1, 1, 5, 6)
    offset = np.empty((1, 2, 5, 6))
    offset[:, 0], offset[:, 1] = down, across
    y = nn.deform_conv2d(x, offset, np.ones((1, 1, 1, 1)))
    around = np.pad(x, [(0, 0), (0, 0), (4, 4), (4, 4)])
    expected = around[:, :, 4 + down : 9 + down, 4 + across : 10 + across]
    np.testing.assert_array_equal(np.asarray(y), expected)


@pytest.mark.parametrize(
    ("error", "match", "changed"),
    [
        (ValueError, r"deform_conv2d: stride is \[0\]", {"stride": 0}),
        (ValueError, "padding is -1", {"padding": -1}),
        (flex.ShapeError, r"offset must have the shape \[1, 18, 5, 6\]", {"padding": 1}),
        (flex.ShapeError, "offset must have the shape", {"offset": flex.ones((1, 17, 3, 4))}),
        (flex.ShapeError, "divides the channels, 4", {"offset": flex.ones((1, 54, 3, 4))}),
        (
            flex.ShapeError,
            r"mask must have the shape \[1, 9, 3, 4\]",
            {"mask": flex.ones((1, 18, 3, 4))},
        ),
        (flex.ShapeError, "bias must have the shape", {"bias": flex.ones(4)}),
        (
            flex.ShapeError,
            r"weight.shape\[1\] is 3, expected in_channels / groups = ",
            {"weight": flex.ones((3, 3, 3, 3))},
        ),
        (flex.DTypeError, "complex64", {"x": flex.ones((1, 4, 5, 6), dtype="complex64")}),
    ],
)
def test_errors_name_the_parameter(error, match, changed):
    given_ = {
        "x": flex.ones((1, 4, 5, 6)),
        "offset": flex.ones((1, 18, 3, 4)),
        "weight": flex.ones((3, 4, 3, 3)),
    }
    assert nn.deform_conv2d(**given_).shape == (1, 3, 3, 4)
    with pytest.raises(error, match=match):
        nn.deform_conv2d(**(given_ | changed))


def test_gradients_have_the_shapes_of_their_operands():
    x, offset = flex.ones((4, 5, 6)), flex.zeros((36, 3, 4))
    mask = flex.ones((18, 3, 4))
    w = flex.ones((2, 2, 3, 3))
    got = nn.grad.deform_conv2d(flex.ones((2, 3, 4)), x, offset, w, mask)
    assert [t.shape for t in got] == [x.shape, offset.shape, w.shape, (2,), mask.shape]
    with pytest.raises(flex.ShapeError, match=r"grad\.deform_conv2d: grad must have the shape"):
        nn.grad.deform_conv2d(flex.ones((2, 3, 3)), x, offset, w, mask)
