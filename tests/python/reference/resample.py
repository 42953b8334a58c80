"""Resampling."""

from . import Case, Input

X1, X2, X3 = (2, 2, 9), (1, 2, 7, 9), (1, 2, 4, 5, 6)
GRID, POINTS = Input((1, 5, 6, 2), -1.5, 1.5), Input((1, 3, 4, 5, 3), -1.5, 1.5)


def interpolated(name, x, call):
    return Case(f"interpolate, {name}", {"x": x}, f"nn.interpolate(x, {call})", loss=8)


CASES = [
    interpolated("nearest", X1, "20"),
    interpolated("nearest, smaller", X2, "size=(4, 5)"),
    interpolated("nearest, factors", X3, "scale_factor=(2, 1.5, 0.7)"),
    interpolated("nearest-exact", X2, "size=(13, 4), mode='nearest-exact'"),
    interpolated("linear", X1, "25, mode='linear'"),
    interpolated("linear, factor", X1, "scale_factor=2.6, mode='linear'"),
    interpolated("bilinear", X2, "(15, 21), mode='bilinear'"),
    interpolated("bilinear, corners", X2, "(13, 40), mode='bilinear', align_corners=True"),
    interpolated("bilinear, smaller", X2, "scale_factor=0.6, mode='bilinear'"),
    interpolated(
        "bilinear, recomputed", X2, "scale_factor=1.7, mode='bilinear', recompute_scale_factor=True"
    ),
    interpolated("bilinear, antialias", X2, "(3, 4), mode='bilinear', antialias=True"),
    interpolated(
        "bilinear, antialias, corners",
        X2,
        "(3, 20), mode='bilinear', antialias=True, align_corners=True",
    ),
    interpolated("bicubic", X2, "(15, 40), mode='bicubic'"),
    interpolated("bicubic, corners", X2, "(4, 19), mode='bicubic', align_corners=True"),
    interpolated("bicubic, antialias", X2, "(3, 20), mode='bicubic', antialias=True"),
    interpolated("trilinear", X3, "(7, 9, 25), mode='trilinear'"),
    interpolated("area", X2, "(3, 4), mode='area'"),
    *(
        Case(
            f"grid_sample, {mode}, {beyond}, {corners}",
            {"x": X2, "grid": GRID},
            f"nn.grid_sample(x, grid, {mode!r}, {beyond!r}, {corners})",
            # a coordinate is rounded to the dtype before the image is sampled
            dtypes=("float64", "float32"),
        )
        for mode, beyond, corners in [
            ("bilinear", "zeros", False),
            ("bilinear", "border", True),
            ("bilinear", "reflection", False),
            ("nearest", "zeros", True),
            ("nearest", "reflection", True),
            ("bicubic", "zeros", False),
            ("bicubic", "border", False),
            ("bicubic", "reflection", True),
        ]
    ),
    *(
        Case(
            f"grid_sample, volume, {mode}, {beyond}",
            {"x": X3, "grid": POINTS},
            f"nn.grid_sample(x, grid, {mode!r}, {beyond!r}, False)",
            dtypes=("float64", "float32"),
        )
        for mode, beyond in [
            ("bilinear", "zeros"),
            ("bilinear", "reflection"),
            ("nearest", "border"),
        ]
    ),
    Case(
        "affine_grid",
        {"theta": (2, 2, 3)},
        "nn.affine_grid(theta, (2, 1, 4, 5), align_corners=True)",
    ),
    Case(
        "affine_grid, volume",
        {"theta": (1, 3, 4)},
        "nn.affine_grid(theta, (1, 1, 3, 4, 5), align_corners=False)",
    ),
    Case("pixel_shuffle", {"x": (2, 18, 3, 4)}, "nn.pixel_shuffle(x, 3)"),
    Case("pixel_unshuffle", {"x": (2, 3, 4, 6)}, "nn.pixel_unshuffle(x, 2)"),
    Case(
        "channel_shuffle",
        {"x": (2, 6, 2, 3)},
        "nn.channel_shuffle(x, 3)",
        "torch.channel_shuffle(x, 3)",
    ),
    Case("unfold", {"x": X2}, "nn.unfold(x, (3, 2), dilation=(1, 2), padding=1, stride=(2, 1))"),
    Case(
        "fold",
        {"x": (2, 12, 20)},
        "nn.fold(x, (7, 9), (3, 2), dilation=(2, 1), padding=(1, 0), stride=(1, 2))",
    ),
    Case("pad, constant", {"x": X2}, "nn.pad(x, (1, -2, 0, 3, 1, 1), value=0.5)"),
    Case("pad, reflect", {"x": X2}, "nn.pad(x, (3, -1, 2, 6), mode='reflect')"),
    Case("pad, replicate", {"x": X3}, "nn.pad(x, (3, 1, 0, 2, 7, 1), mode='replicate')"),
    Case("pad, circular", {"x": X1}, "nn.pad(x, (4, 9), mode='circular')"),
    Case("pad, circular, cut", {"x": X2}, "nn.pad(x, (3, -2, -1, 4), mode='circular')"),
]
