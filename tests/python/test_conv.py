"""Convolutions against NumPy: windows of the padded image, multiplied and added in float64."""

import numpy as np
import pytest
from arrays import FLOATS
from hypothesis import given
from hypothesis import strategies as st

import flex
from flex import nn

CONVOLUTIONS = {1: nn.conv1d, 2: nn.conv2d, 3: nn.conv3d}


def oracle(x, w, b, stride, padding, dilation, groups):
    """The convolution of batched NumPy arrays; `padding` has pairs."""
    rank = x.ndim - 2
    x, w = x.astype(np.float64), w.astype(np.float64)
    x = np.pad(x, [(0, 0), (0, 0), *padding])
    spans = [d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:], strict=True)]
    windows = np.lib.stride_tricks.sliding_window_view(x, spans, axis=tuple(range(2, 2 + rank)))
    places = tuple(slice(None, None, s) for s in stride)
    taps = tuple(slice(None, None, d) for d in dilation)
    windows = windows[(slice(None), slice(None), *places, *taps)]
    parts = [
        np.tensordot(
            images, weights, axes=([1, *range(2 + rank, 2 + 2 * rank)], range(1, 2 + rank))
        )
        for images, weights in zip(
            np.split(windows, groups, axis=1), np.split(w, groups), strict=True
        )
    ]
    y = np.moveaxis(np.concatenate(parts, axis=-1), -1, 1)
    return y + b.astype(np.float64).reshape((-1, *[1] * rank))


@st.composite
def convolutions(draw):
    """Arrays of small integers, whose sums are exact, and options."""
    rank = draw(st.integers(1, 3))

    def axes(low, high):
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    groups = draw(st.integers(1, 3))
    kernel, dilation, stride = axes(1, 4), axes(1, 3), axes(1, 5)
    padding = tuple(zip(axes(0, 4), axes(0, 4), strict=True))
    spans = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    image = [
        draw(st.integers(max(1, span - before - after), span + 12))
        for span, (before, after) in zip(spans, padding, strict=True)
    ]
    channels, outputs = (groups * draw(st.integers(1, 4)) for _ in range(2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x, w, b = (
        rng.integers(-3, 4, shape)
        for shape in [
            (draw(st.integers(0, 2)), channels, *image),
            (outputs, channels // groups, *kernel),
            (outputs,),
        ]
    )
    return rank, x, w, b, stride, padding, dilation, groups


@given(convolutions(), st.sampled_from(["float32", "float64", "int32"]), st.booleans())
def test_convolutions_match_numpy(case, dtype, channels_last):
    rank, x, w, b, stride, padding, dilation, groups = case
    expected = oracle(x, w, b, stride, padding, dilation, groups)
    images = flex.asarray(x.astype(dtype))
    if channels_last:
        images = flex.moveaxis(flex.asarray(flex.moveaxis(images, 1, -1), copy=True), -1, 1)
    y = CONVOLUTIONS[rank](
        images,
        flex.asarray(w.astype(dtype)),
        flex.asarray(b.astype(dtype)),
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
    )
    assert y.dtype == dtype
    np.testing.assert_array_equal(np.asarray(y), expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_are_rounded_once(dtype):
    rng = np.random.default_rng(0)
    x, w = (
        flex.asarray(rng.standard_normal(s)).astype(dtype) for s in [(2, 70, 9, 9), (40, 70, 3, 3)]
    )
    y = nn.conv2d(x, w, padding="same")
    wide = [np.asarray(t.astype("float64")) for t in (x, w)]
    expected = oracle(*wide, np.zeros(40), (1, 1), [(1, 1)] * 2, (1, 1), 1)
    rounding = {"float16": 2**-11, "bfloat16": 2**-8}.get(dtype, 0)
    error = 1e-5 if dtype != "float64" else 1e-13
    size = np.abs(expected) * rounding + error * 50
    assert (np.abs(np.asarray(y.astype("float64")) - expected) <= size).all()


def test_defaults_and_padding_by_name():
    x, w = flex.ones((1, 2, 5, 6)), flex.ones((3, 2, 2, 3))
    assert nn.conv2d(x, w).shape == (1, 3, 4, 4)
    assert nn.conv2d(x, w, padding="valid").shape == (1, 3, 4, 4)
    assert nn.conv2d(x, w, padding="same").shape == (1, 3, 5, 6)
    assert nn.conv2d(x, w, padding=(1, 2)).shape == (1, 3, 6, 8)
    assert nn.conv2d(x, w, padding=[(1, 0), (0, 2)]).shape == (1, 3, 5, 6)
    assert nn.conv2d(x[0], w, stride=2).shape == (3, 2, 2)
    assert (
        nn.conv1d(flex.ones((2, 0, 5)), flex.ones((4, 0, 3))).tolist()
        == np.zeros((2, 4, 3)).tolist()
    )
    assert nn.conv2d(flex.ones((0, 2, 5, 6)), w).shape == (0, 3, 4, 4)


@pytest.mark.parametrize(
    ("error", "match", "options"),
    [
        (ValueError, "stride is \\[0\\]", {"stride": 0}),
        (ValueError, "stride is -1", {"stride": -1}),
        (ValueError, "dilation is \\[1, 0\\]", {"dilation": (1, 0)}),
        (ValueError, "stride has 3 values", {"stride": (1, 1, 1)}),
        (ValueError, 'padding is "full"', {"padding": "full"}),
        (ValueError, "padding is -1", {"padding": -1}),
        (TypeError, "pairs", {"padding": 1.5}),
        (TypeError, "pairs", {"padding": [(1, 2, 3), (0, 0)]}),
        (ValueError, "padding has 1 pairs", {"padding": [(1, 2)]}),
        (ValueError, "stride of 1", {"padding": "same", "stride": 2}),
        (flex.ShapeError, "groups is 2", {"groups": 2}),
        (flex.ShapeError, "groups is 0", {"groups": 0}),
        (flex.ShapeError, "spans 13 elements of 5", {"dilation": (6, 1)}),
        (flex.ShapeError, "bias must have the shape", {"bias": flex.ones(4)}),
    ],
)
def test_errors_name_the_parameter(error, match, options):
    x, w = flex.ones((1, 3, 5, 6)), flex.ones((3, 3, 3, 3))
    with pytest.raises(error, match=match):
        nn.conv2d(x, w, **options)


def test_operands_that_do_not_fit():
    with pytest.raises(
        flex.ShapeError, match=r"weight.shape\[1\] is 2, expected in_channels / groups = 3"
    ):
        nn.conv2d(flex.ones((1, 3, 5, 5)), flex.ones((3, 2, 3, 3)))
    with pytest.raises(flex.ShapeError, match="x has 3 dimensions"):
        nn.conv2d(flex.ones((5, 5)), flex.ones((3, 2, 3, 3)))
    with pytest.raises(flex.ShapeError, match="kernel of size 0"):
        nn.conv1d(flex.ones((1, 3, 5)), flex.ones((3, 3, 0)))
    with pytest.raises(flex.DTypeError, match="bool"):
        nn.conv1d(flex.ones((1, 3, 5), dtype=bool), flex.ones((3, 3, 1), dtype=bool))


TRANSPOSED = {1: nn.conv_transpose1d, 2: nn.conv_transpose2d, 3: nn.conv_transpose3d}


def transposed_oracle(x, w, stride, padding, after, dilation, groups):
    """The transposed convolution of NumPy arrays: each element adds the kernel, times itself."""
    spans = [d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:], strict=True)]
    sizes = [
        (n - 1) * s + span + a
        for n, s, span, a in zip(x.shape[2:], stride, spans, after, strict=True)
    ]
    y = np.zeros((x.shape[0], groups, w.shape[1], *sizes))
    images = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]).astype(np.float64)
    kernels = w.reshape(groups, -1, *w.shape[1:]).astype(np.float64)
    for at in np.ndindex(*x.shape[2:]):
        values = images[(slice(None), slice(None), slice(None), *at)]
        places = tuple(
            slice(i * s, i * s + span, d)
            for i, s, span, d in zip(at, stride, spans, dilation, strict=True)
        )
        y[(..., *places)] += np.einsum("ngc,gco...->ngo...", values, kernels)
    y = y.reshape(x.shape[0], groups * w.shape[1], *sizes)
    return y[(..., *(slice(p, n - p) for p, n in zip(padding, sizes, strict=True)))]


@st.composite
def transposed_convolutions(draw):
    """Arrays of small integers, whose sums are exact, and options."""
    rank = draw(st.integers(1, 3))

    def axes(low, high):
        return tuple(draw(st.integers(low, high)) for _ in range(rank))

    groups = draw(st.integers(1, 3))
    kernel, dilation, stride = axes(1, 4), axes(1, 3), axes(1, 5)
    image = axes(1, 7)
    after = tuple(
        draw(st.integers(0, max(s, d) - 1)) for s, d in zip(stride, dilation, strict=True)
    )
    padding = tuple(
        draw(st.integers(0, ((n - 1) * s + d * (k - 1) + a) // 2))
        for n, s, d, k, a in zip(image, stride, dilation, kernel, after, strict=True)
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    channels, outputs = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    x, w = (
        rng.integers(-3, 4, shape)
        for shape in [
            (draw(st.integers(0, 2)), groups * channels, *image),
            (groups * channels, outputs, *kernel),
        ]
    )
    return rank, x, w, stride, padding, after, dilation, groups


@given(transposed_convolutions(), st.sampled_from(["float32", "float64", "int32"]))
def test_transposed_convolutions_match_numpy(case, dtype):
    rank, x, w, stride, padding, after, dilation, groups = case
    expected = transposed_oracle(x, w, stride, padding, after, dilation, groups)
    y = TRANSPOSED[rank](
        flex.asarray(x.astype(dtype)),
        flex.asarray(w.astype(dtype)),
        stride=stride,
        padding=padding,
        output_padding=after,
        groups=groups,
        dilation=dilation,
    )
    assert y.dtype == dtype
    np.testing.assert_array_equal(np.asarray(y), expected)


@pytest.mark.parametrize(
    ("error", "match", "options"),
    [
        (ValueError, "stride is \\[0\\]", {"stride": 0}),
        (ValueError, "output_padding is 2", {"stride": 2, "output_padding": 2}),
        (ValueError, "dilation is -1", {"dilation": -1}),
        (flex.ShapeError, "groups is 2", {"groups": 2}),
        (flex.ShapeError, "the output size would be -1 along axis 2", {"padding": (4, 0)}),
        (flex.ShapeError, "bias must have the shape", {"bias": flex.ones(4)}),
    ],
)
def test_transposed_errors_name_the_parameter(error, match, options):
    with pytest.raises(error, match=match):
        nn.conv_transpose2d(flex.ones((1, 3, 5, 6)), flex.ones((3, 3, 3, 3)), **options)


@pytest.mark.parametrize("sizes", [(32, 16, 24, 24), (20, 33, 9, 31)])
def test_transposed_sums_are_plain_if_asked(sizes):
    channels, outputs, *image = sizes
    rng = np.random.default_rng(1)
    x, w = (
        rng.integers(-3, 4, shape) for shape in [(2, channels, *image), (channels, outputs, 4, 4)]
    )
    expected = transposed_oracle(x, w, (2, 2), (1, 1), (0, 0), (1, 1), 1)
    x, w = flex.asarray(x.astype("float32")), flex.asarray(w.astype("float32"))
    precise = nn.conv_transpose2d(x, w, stride=2, padding=1, precise=True)
    np.testing.assert_array_equal(np.asarray(precise), expected)
    fast = nn.conv_transpose2d(x, w, stride=2, padding=1)
    np.testing.assert_allclose(np.asarray(fast), expected, atol=1e-3)


@pytest.mark.parametrize("dtype", FLOATS)
def test_winograd_is_close_to_the_exact_sum(dtype):
    rng = np.random.default_rng(1)
    x, w = (
        flex.asarray(rng.standard_normal(s)).astype(dtype)
        for s in [(2, 40, 18, 23), (50, 40, 3, 3)]
    )
    # AMX multiplies bfloat16 so fast that fewer products don't pay
    plain = dtype == "bfloat16" and flex.show_config()["instruction_set"] == "amx"
    algorithm = "implicit_gemm" if plain else "winograd"
    assert nn.conv_plan(x.shape, w.shape, padding=1, dtype=x.dtype).algorithm == algorithm
    wide = [t.astype("float64") for t in (x, w)]
    expected = np.asarray(nn.conv2d(*wide, padding=1, precise=True))
    for precise in (False, True):
        y = np.asarray(nn.conv2d(x, w, padding=1, precise=precise).astype("float64"))
        rounding = {"float16": 2**-11, "bfloat16": 2**-8}.get(dtype, 0)
        # Sums of 360 products, up to 74: the algorithm's errors reach 930 eps, those of plain sums 480.
        error = 2000 * np.finfo("float64" if dtype == "float64" else "float32").eps
        assert (np.abs(y - expected) <= np.abs(expected) * rounding + error).all()


def test_plan_is_a_named_tuple():
    plan = nn.conv_plan((1, 8, 20, 20), (8, 1, 3, 3), padding="same", groups=8)
    assert plan == ("depthwise", plan.scratch, 2 * 8 * 9 * 400)
    assert 0 < plan.scratch <= 8 << 20
    assert nn.conv_plan((64, 56, 56), (64, 64, 3, 3), precise=True).algorithm == "implicit_gemm"
    first = [
        nn.conv_plan((n, 3, 96, 97), (64, 3, 7, 7), stride=2, padding=3).scratch for n in (1, 4, 64)
    ]
    assert first[0] < first[1] < first[2] <= 12 << 20  # images sorted at the same time
    with pytest.raises(flex.ShapeError, match="conv_plan: groups is 3"):
        nn.conv_plan((1, 8, 20, 20), (8, 1, 3, 3), groups=3)
    with pytest.raises(ValueError, match="x_shape is -1"):
        nn.conv_plan((-1, 8, 20, 20), (8, 1, 3, 3))


def test_activation_by_name():
    x, w = flex.ones((1, 2, 4, 4)), -flex.ones((3, 2, 3, 3))
    assert nn.conv2d(x, w, activation="relu").tolist() == np.zeros((1, 3, 2, 2)).tolist()
    assert float(nn.conv2d(x, w, residual=flex.asarray(18.0)).sum()) == 0
    with pytest.raises(ValueError, match='conv2d: activation is "swish"'):
        nn.conv2d(x, w, activation="swish")
    with pytest.raises(flex.DTypeError, match="activations need a float"):
        nn.conv2d(x.astype("int32"), w.astype("int32"), activation="relu")
    with pytest.raises(flex.ShapeError, match="residual does not broadcast"):
        nn.conv2d(x, w, residual=flex.ones((5,)))


def test_options_in_torchs_order():
    rng = np.random.default_rng(3)
    x, w = (flex.asarray(rng.standard_normal(shape)) for shape in [(2, 4, 9, 9), (6, 2, 3, 3)])
    b = flex.asarray(rng.standard_normal(6))
    by_name = nn.conv2d(x, w, b, stride=2, padding=1, dilation=2, groups=2)
    assert (nn.conv2d(x, w, b, 2, 1, 2, 2) == by_name).all()
    w = flex.asarray(rng.standard_normal((4, 3, 3, 3)))
    by_name = nn.conv_transpose2d(
        x, w, b, stride=3, padding=1, output_padding=1, groups=2, dilation=2
    )
    assert (nn.conv_transpose2d(x, w, b, 3, 1, 1, 2, 2) == by_name).all()
    with pytest.raises(TypeError, match="conv2d"):
        nn.conv2d(x, w, None, 1, 0, 1, 1, "relu")
