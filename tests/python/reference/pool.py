"""Pools."""

from . import Case

X1, X2, X3 = (2, 3, 17), (2, 3, 11, 13), (1, 2, 7, 8, 9)
CASES = [
    Case("max_pool1d", {"x": X1}, "nn.max_pool1d(x, 3, 2, 1)"),
    Case("max_pool2d", {"x": X2}, "nn.max_pool2d(x, 2)"),
    Case(
        "max_pool2d, ceil",
        {"x": X2},
        "nn.max_pool2d(x, (3, 2), stride=2, padding=1, ceil_mode=True)",
    ),
    Case(
        "max_pool2d, dilation and indices",
        {"x": X2},
        "nn.max_pool2d(x, 3, stride=(2, 1), padding=1, dilation=(1, 2), return_indices=True)",
    ),
    Case(
        "max_pool3d, indices",
        {"x": X3},
        "nn.max_pool3d(x, 3, stride=2, padding=1, ceil_mode=True, return_indices=True)",
    ),
    Case("max_pool2d, no batch", {"x": X2[1:]}, "nn.max_pool2d(x, 3, 1)"),
    Case("avg_pool1d", {"x": X1}, "nn.avg_pool1d(x, 3, 2, 1)"),
    Case("avg_pool2d, ceil", {"x": X2}, "nn.avg_pool2d(x, 3, 2, 1, ceil_mode=True)"),
    Case(
        "avg_pool2d, elements alone",
        {"x": X2},
        "nn.avg_pool2d(x, (2, 3), 2, 1, ceil_mode=True, count_include_pad=False)",
    ),
    Case("avg_pool2d, divisor", {"x": X2}, "nn.avg_pool2d(x, 3, divisor_override=5)"),
    Case("avg_pool3d", {"x": X3}, "nn.avg_pool3d(x, 3, 2, 1)"),
    Case("adaptive_avg_pool1d", {"x": X1}, "nn.adaptive_avg_pool1d(x, 5)"),
    Case("adaptive_avg_pool2d", {"x": X2}, "nn.adaptive_avg_pool2d(x, (None, 6))"),
    Case("adaptive_avg_pool2d, more", {"x": X2}, "nn.adaptive_avg_pool2d(x, (14, 1))"),
    Case("adaptive_avg_pool3d", {"x": X3}, "nn.adaptive_avg_pool3d(x, (3, 4, 2))"),
    Case("adaptive_max_pool1d", {"x": X1}, "nn.adaptive_max_pool1d(x, 4, return_indices=True)"),
    Case("adaptive_max_pool2d", {"x": X2}, "nn.adaptive_max_pool2d(x, 5, return_indices=True)"),
    Case("adaptive_max_pool3d", {"x": X3}, "nn.adaptive_max_pool3d(x, (2, 3, 4))"),
    # even and odd exponents; the root of a sum near zero has no accurate digits
    Case("lp_pool1d", {"x": X1}, "nn.lp_pool1d(x, 2.0, 3, 2, ceil_mode=True)"),
    Case("lp_pool2d", {"x": X2}, "nn.lp_pool2d(x * x, 3.0, (2, 3))"),
    Case("lp_pool3d", {"x": X3}, "nn.lp_pool3d(x, 2.0, 2)"),
    Case(
        "max_unpool2d",
        {"x": X2},
        "nn.max_unpool2d(*nn.max_pool2d(x, 2, return_indices=True), 2, output_size=(11, 13))",
    ),
    Case(
        "max_unpool3d",
        {"x": X3},
        "nn.max_unpool3d(*nn.max_pool3d(x, 2, return_indices=True), 2, output_size=(7, 8, 9))",
    ),
    Case(
        "max_unpool1d",
        {"x": X1},
        "nn.max_unpool1d(*nn.max_pool1d(x, 3, 2, return_indices=True), 3, 2)",
    ),
]
