"""The blocks of examples/blocks.py against their definitions in float64, normalised channel by channel."""

import sys
from pathlib import Path

import numpy as np
import pytest

import flex

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


@pytest.fixture(scope="module")
def example():
    sys.path.insert(0, str(EXAMPLES))
    try:
        import blocks
    finally:
        sys.path.pop(0)
    return blocks


def layer(x, weight, gamma, beta, mean, var, groups=1):
    """A convolution that keeps the image size, followed by batch norm."""
    pad = weight.shape[-1] // 2
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, weight.shape[2:], axis=(2, 3))
    sums, w = ("ocij->noyx", weight) if groups == 1 else ("cij->ncyx", weight[:, 0])
    y = np.einsum(f"ncyxij,{sums}", windows, w)
    gamma, beta, mean, var = (p[:, None, None] for p in (gamma, beta, mean, var))
    return (y - mean) / np.sqrt(var + 1e-5) * gamma + beta


def agree(got, want):
    np.testing.assert_allclose(got.numpy(), want, rtol=0, atol=1e-4 * np.abs(want).max())


@pytest.mark.parametrize("channels_last", [False, True])
def test_bottleneck(example, channels_last):
    rng = np.random.default_rng(1)
    layers = example.bottleneck_layers(rng, 32, 12)
    x = rng.normal(size=(2, 32, 15, 14))
    y = np.maximum(layer(x, *layers[0]), 0)
    y = np.maximum(layer(y, *layers[1]), 0)
    want = np.maximum(layer(y, *layers[2]) + x, 0)
    image = flex.asarray(x.astype("float32"))
    if channels_last:
        image = flex.permute_dims(flex.permute_dims(image, (0, 2, 3, 1)).copy(), (0, 3, 1, 2))
    agree(example.bottleneck(image, [example.folded(*f) for f in layers]), want)


def test_inverted_residual(example):
    rng = np.random.default_rng(2)
    layers = example.inverted_residual_layers(rng, 8, 48)
    x = rng.normal(size=(2, 8, 15, 14))
    y = np.clip(layer(x, *layers[0]), 0, 6)
    y = np.clip(layer(y, *layers[1], groups=48), 0, 6)
    want = layer(y, *layers[2]) + x
    image = flex.asarray(x.astype("float32"))
    agree(example.inverted_residual(image, [example.folded(*f) for f in layers]), want)
