"""Resampling, beyond the stored torch results."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flex
from flex import nn


@given(st.integers(1, 9), st.integers(1, 9), st.integers(-4, 9), st.integers(-4, 9), st.data())
def test_pad_matches_numpy(height, width, before, after, data):
    modes = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    mode = data.draw(st.sampled_from(sorted(modes)))
    most = {"reflect": width - 1, "circular": width}.get(mode, 99)
    least = -width + 1
    before, after = (max(least, min(n, most)) for n in (before, after))
    if width + before + after < 0 or (
        width + min(before, 0) + min(after, 0) < 1 and mode != "constant"
    ):
        return
    x = np.arange(2 * 3 * height * width).reshape(2, 3, height, width)
    pads = (before, after) if mode == "constant" else (before, after, 0, 0)
    first, last = max(-before, 0), width - max(-after, 0)
    around = [(0, 0)] * 3 + [(max(before, 0), max(after, 0))]
    if mode == "circular":
        # only the part that is left wraps around
        if max(before, after) > last - first:
            with pytest.raises(flex.ShapeError, match="too much for circular"):
                nn.pad(flex.asarray(x), pads, mode)
            return
        expected = np.pad(x[..., first:last], around, modes[mode])
    else:
        # the whole is padded, then negative widths crop
        expected = np.pad(x, around, modes[mode])
        expected = expected[..., first : expected.shape[-1] - max(-after, 0)]
    np.testing.assert_array_equal(np.asarray(nn.pad(flex.asarray(x), pads, mode)), expected)


@given(st.integers(1, 12), st.integers(1, 30), st.booleans())
def test_linear_interpolation_with_aligned_corners(size, places, last):
    x = flex.asarray(np.random.default_rng(size).standard_normal((1, 3, 2, size)))
    if last:
        x = flex.moveaxis(flex.asarray(flex.moveaxis(x, 1, -1), copy=True), -1, 1)
    y = np.asarray(nn.interpolate(x, (2, places), mode="bilinear", align_corners=True))
    at = np.linspace(0, size - 1, places) if places > 1 else np.zeros(1)
    lines = np.asarray(x).reshape(6, size)
    expected = [np.interp(at, np.arange(size), line) for line in lines]
    np.testing.assert_allclose(y.reshape(6, places), expected, rtol=0, atol=1e-12)


@given(st.integers(1, 30), st.integers(1, 60), st.sampled_from(["bilinear", "bicubic", "lanczos3"]))
def test_weights_sum_to_one(size, places, mode):
    x = flex.ones((1, 2, size, 3))
    for antialias in (False, True):
        y = nn.interpolate(x, (places, 4), mode=mode, antialias=antialias)
        np.testing.assert_allclose(np.asarray(y), 1, atol=1e-5)


def test_lanczos_matches_pillow():
    """Pillow 13.0: Image.fromarray(x).resize((4, 3), Image.Resampling.LANCZOS)."""
    x = flex.astype(flex.reshape(flex.arange(60) * 7 % 31, (1, 1, 10, 6)), "float32")
    y = nn.interpolate(x, (3, 4), mode="lanczos3", antialias=True)
    expected = [
        [12.7059, 16.0134, 14.9266, 16.5154],
        [13.0013, 15.12, 14.3398, 17.0582],
        [12.8374, 16.0193, 15.3049, 15.6621],
    ]
    np.testing.assert_allclose(np.asarray(y)[0, 0], expected, atol=2e-4)


def test_uint8_is_rounded_to_nearest_and_clamped():
    x = flex.asarray([[[[0, 1], [3, 255]]]], dtype="uint8")
    y = nn.interpolate(x, (1, 1), mode="bilinear")
    assert (y.dtype, y.tolist()) == (flex.uint8, [[[[65]]]])  # 64.75
    up = nn.interpolate(x, (8, 8), mode="bicubic")
    assert (int(up.min()), int(up.max())) == (0, 255)  # clamped, not wrapped


@given(
    st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.integers(0, 2), st.integers(1, 3)
)
def test_fold_of_unfold_counts_windows(kernel, across, dilation, padding, stride):
    x = flex.ones((2, 3, 12, 11))
    how = {"dilation": dilation, "padding": padding, "stride": stride}
    counts = nn.fold(nn.unfold(x, (kernel, across), **how), (12, 11), (kernel, across), **how)
    rows, columns = np.zeros(12), np.zeros(11)
    for line, k in ((rows, kernel), (columns, across)):
        for start in range(-padding, line.size + padding - dilation * (k - 1), stride):
            taps = start + dilation * np.arange(k)
            np.add.at(line, taps[(taps >= 0) & (taps < line.size)], 1)
    np.testing.assert_array_equal(np.asarray(counts)[1, 2], np.outer(rows, columns))


def test_shuffles_round_trip():
    x = flex.reshape(flex.arange(2 * 8 * 3 * 4), (2, 8, 3, 4))
    assert flex.all(nn.pixel_unshuffle(nn.pixel_shuffle(x, 2), 2) == x)
    assert flex.all(nn.channel_shuffle(nn.channel_shuffle(x, 2), 4) == x)
    assert nn.pixel_shuffle(x[:0], 2).shape == (0, 2, 6, 8)


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (
            ValueError,
            'mode is "cubic"; it is one of "nearest"',
            lambda x: nn.interpolate(x, 4, mode="cubic"),
        ),
        (ValueError, "give size or scale_factor", lambda x: nn.interpolate(x)),
        (ValueError, "not both", lambda x: nn.interpolate(x, 4, 2)),
        (ValueError, "size is \\[0\\]", lambda x: nn.interpolate(x, 0)),
        (ValueError, "scale_factor is inf", lambda x: nn.interpolate(x, scale_factor=flex.inf)),
        (ValueError, "scale_factor has 3", lambda x: nn.interpolate(x, scale_factor=(1, 2, 3))),
        (flex.ShapeError, "for 5 dimensions", lambda x: nn.interpolate(x, 4, mode="trilinear")),
        (
            ValueError,
            "align_corners is not for",
            lambda x: nn.interpolate(x, 4, align_corners=True),
        ),
        (ValueError, "antialias is for", lambda x: nn.interpolate(x, 4, antialias=True)),
        (flex.DTypeError, "int64", lambda x: nn.interpolate(x.astype("int64"), 4, mode="bilinear")),
        (ValueError, 'padding_mode is "wrap"', lambda x: nn.grid_sample(x, x, padding_mode="wrap")),
        (flex.ShapeError, "last dimension of grid must be 2", lambda x: nn.grid_sample(x, x)),
        (
            flex.DTypeError,
            "int64",
            lambda x: nn.grid_sample(x.astype("int64"), flex.ones((1, 1, 1, 2), dtype="int64")),
        ),
        (flex.ShapeError, "size is", lambda x: nn.affine_grid(x, (1, 1, 2, 2))),
        (ValueError, "upscale_factor is -1", lambda x: nn.pixel_shuffle(x, -1)),
        (flex.ShapeError, "downscale_factor is 4", lambda x: nn.pixel_unshuffle(x, 4)),
        (flex.ShapeError, "groups is 2", lambda x: nn.channel_shuffle(x, 2)),
        (flex.ShapeError, "no window in 5", lambda x: nn.unfold(x, 9)),
        (ValueError, "dilation is \\[0\\]", lambda x: nn.unfold(x, 2, 0)),
        (flex.ShapeError, "output_size", lambda x: nn.fold(x[0], (4, 4), 1)),
        (ValueError, 'mode is "edge"', lambda x: nn.pad(x, (1, 1), "edge")),
        (ValueError, "takes no value", lambda x: nn.pad(x, (1, 1, 1, 1), "reflect", 0)),
        (
            flex.ShapeError,
            "pad is \\(6, 0\\) along axis 3",
            lambda x: nn.pad(x, (6, 0, 0, 0), "reflect"),
        ),
        (flex.ShapeError, "a pair for each", lambda x: nn.pad(x, (1,))),
        (flex.ShapeError, "leaves no size", lambda x: nn.pad(x, (-5, -5))),
    ],
)
def test_errors_name_the_parameter(error, match, call):
    with pytest.raises(error, match=match):
        call(flex.ones((1, 3, 5, 6)))


def test_interpolation_to_the_same_size_is_the_identity():
    x = flex.asarray([[[0.0, 1.0, 2.0]]])
    assert nn.interpolate(x, scale_factor=1.2875, mode="linear").tolist() == x.tolist()
