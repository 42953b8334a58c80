"""Convolutions."""

from . import Case

CASES = [
    Case("conv1d", {"x": (2, 3, 20), "w": (4, 3, 5), "b": (4,)}, "nn.conv1d(x, w, b)"),
    Case(
        "conv2d, strides",
        {"x": (2, 3, 13, 11), "w": (5, 3, 3, 3), "b": (5,)},
        "nn.conv2d(x, w, b, stride=(2, 1), padding=(1, 2))",
    ),
    Case(
        "conv2d, groups and dilation",
        {"x": (1, 6, 12, 12), "w": (4, 3, 3, 2), "b": (4,)},
        "nn.conv2d(x, w, b, dilation=2, groups=2)",
    ),
    Case(
        "conv2d, same",
        {"x": (1, 3, 9, 8), "w": (4, 3, 4, 3)},
        "nn.conv2d(x, w, padding='same')",
    ),
    Case(
        "conv3d",
        {"x": (1, 2, 5, 6, 7), "w": (3, 2, 2, 3, 2)},
        "nn.conv3d(x, w, stride=2, padding=1)",
    ),
]
