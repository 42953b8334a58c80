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
    Case(
        "conv2d, 3x3 of many channels",
        {"x": (1, 24, 10, 9), "w": (20, 24, 3, 3), "b": (20,)},
        "nn.conv2d(x, w, b, padding=1)",
    ),
    Case(
        "conv2d, depthwise",
        {"x": (2, 6, 11, 14), "w": (12, 1, 3, 5), "b": (12,)},
        "nn.conv2d(x, w, b, stride=(1, 2), padding=(1, 4), dilation=(1, 2), groups=6)",
    ),
    Case(
        "conv2d, activation and residual",
        {"x": (1, 5, 6, 7), "w": (4, 5, 1, 1), "b": (4,), "r": (1, 4, 6, 7)},
        "nn.conv2d(x, w, b, activation='relu', residual=r)",
        torch="F.relu(nn.conv2d(x, w, b)) + r",
    ),
    Case(
        "conv_transpose1d",
        {"x": (2, 4, 9), "w": (4, 3, 5), "b": (3,)},
        "nn.conv_transpose1d(x, w, b, stride=3, padding=2, output_padding=1)",
    ),
    Case(
        "conv_transpose2d, groups and dilation",
        {"x": (1, 6, 5, 6), "w": (6, 2, 3, 4), "b": (4,)},
        "nn.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=(1, 0), groups=2, dilation=(2, 3))",
    ),
    Case(
        "conv_transpose3d",
        {"x": (1, 3, 3, 4, 4), "w": (3, 2, 2, 4, 2)},
        "nn.conv_transpose3d(x, w, stride=2)",
    ),
]
