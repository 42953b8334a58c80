"""Blocks of two image networks, ResNet's bottleneck (He et al. 2016) and MobileNetV2's inverted residual (Sandler et al. 2018).

    python examples/blocks.py

The weights are random. `folded` folds batch normalisation into the convolutions, as is done before inference with a
trained network. Bias, activation and the addition of the block's input are then part of the products.
"""

import time

import numpy as np

import flex
from flex import nn


def folded(weight, gamma, beta, mean, var, eps=1e-5):
    """Weight and bias of a convolution with the batch norm that follows it folded in."""
    scale = gamma / np.sqrt(var + eps)
    weight, bias = weight * scale[:, None, None, None], beta - mean * scale
    return flex.asarray(weight.astype("float32")), flex.asarray(bias.astype("float32"))


def normalised_convolution(rng, out, channels, kernel):
    """Random parameters of a layer: its kernel, and its batch norm's weight, bias, mean and variance."""
    weight = rng.normal(0, (2 / (channels * kernel**2)) ** 0.5, (out, channels, kernel, kernel))
    gamma, beta, mean = rng.uniform(0.5, 1.5, out), rng.normal(0, 0.1, out), rng.normal(0, 0.1, out)
    return weight, gamma, beta, mean, rng.uniform(0.5, 1.5, out)


def bottleneck_layers(rng, channels=256, width=64):
    shapes = [(width, channels, 1), (width, width, 3), (channels, width, 1)]
    return [normalised_convolution(rng, *shape) for shape in shapes]


def bottleneck(x, layers):
    """ResNet's block: 1x1, 3x3 and 1x1 convolutions, plus the input, then relu."""
    reduce, spatial, expand = layers
    y = nn.conv2d(x, *reduce, activation="relu")
    y = nn.conv2d(y, *spatial, padding=1, activation="relu")
    return nn.relu(nn.conv2d(y, *expand, residual=x))


def inverted_residual_layers(rng, channels=24, width=144):
    shapes = [(width, channels, 1), (width, 1, 3), (channels, width, 1)]
    return [normalised_convolution(rng, *shape) for shape in shapes]


def inverted_residual(x, layers):
    """MobileNetV2's block: 1x1 to six times the channels, depthwise 3x3, 1x1 back, plus the input."""
    expand, depthwise, project = layers
    y = nn.conv2d(x, *expand, activation="relu6")
    y = nn.conv2d(y, *depthwise, padding=1, groups=y.shape[1], activation="relu6")
    return nn.conv2d(y, *project, residual=x)


def main():
    rng = np.random.default_rng(0)
    for block, layers, shape in (
        (bottleneck, bottleneck_layers(rng), (1, 256, 56, 56)),
        (inverted_residual, inverted_residual_layers(rng), (1, 24, 56, 56)),
    ):
        weights = [folded(*layer) for layer in layers]
        x = flex.asarray(rng.normal(size=shape).astype("float32"))
        block(x, weights)
        started, runs = time.perf_counter(), 20
        for _ in range(runs):
            y = block(x, weights)
        milliseconds = (time.perf_counter() - started) / runs * 1e3
        print(f"{block.__name__}: {tuple(x.shape)} to {tuple(y.shape)}, {milliseconds:.2f} ms")


if __name__ == "__main__":
    main()
