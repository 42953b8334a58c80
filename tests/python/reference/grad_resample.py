"""Gradients of resampling, by torch's autograd."""

from . import Case
from .resample import GRID, POINTS

X1, X2, X3 = (2, 2, 7), (1, 2, 5, 6), (1, 1, 3, 4, 5)


def interpolate(x, g, options):
    return Case(
        f"interpolate, {options}, {len(x) - 2}d",
        {"g": g, "x": x},
        f"nn.grad.interpolate(g, x.shape, {options})",
        torch=f"torch.autograd.grad(F.interpolate(x, {options}), x, g)",
    )


def pad(x, g, options):
    return Case(
        f"pad, {options}",
        {"g": g, "x": x},
        f"nn.grad.pad(g, x.shape, {options})",
        torch=f"torch.autograd.grad(F.pad(x, {options}), x, g)",
    )


def grid_sample(x, grid, options):
    points = (1, 5, 6) if grid is GRID else (1, 3, 4, 5)
    return Case(
        f"grid_sample, {options}, {len(x) - 2}d",
        {"g": (*x[:2], *points[1:]), "x": x, "grid": grid},
        f"nn.grad.grid_sample(g, x, grid, {options})",
        torch=f"torch.autograd.grad(F.grid_sample(x, grid, {options}), (x, grid), g, materialize_grads=True)",
    )


CASES = [
    interpolate(X1, (2, 2, 11), "11, mode='linear'"),
    interpolate(X1, (2, 2, 4), "4"),
    interpolate(X1, (2, 2, 9), "9, mode='nearest-exact'"),
    interpolate(X2, (1, 2, 10, 12), "scale_factor=2"),
    interpolate(X2, (1, 2, 10, 12), "scale_factor=2, mode='bilinear'"),
    interpolate(X2, (1, 2, 8, 3), "(8, 3), mode='bilinear', align_corners=True"),
    interpolate(X2, (1, 2, 3, 9), "(3, 9), mode='bicubic'"),
    interpolate(X2, (1, 2, 3, 2), "(3, 2), mode='bicubic', antialias=True"),
    interpolate(X2, (1, 2, 8, 4), "(8, 4), mode='area'"),
    interpolate(X3, (1, 1, 4, 2, 7), "(4, 2, 7), mode='trilinear'"),
    pad(X2, (1, 2, 7, 8), "(-1, 3, 2, 0)"),
    pad(X2, (1, 2, 8, 10), "(3, 1, 1, 2), mode='reflect'"),
    pad(X2, (1, 2, 7, 8), "(3, -1, 1, 1), mode='replicate'"),
    pad(X3, (1, 1, 5, 6, 6), "(1, 0, 1, 1, 0, 2), mode='circular'"),
    pad(X2, (1, 2, 8, 7), "(3, -2, -1, 4), mode='circular'"),
    *(
        grid_sample(X2, GRID, f"{mode!r}, {beyond!r}, {corners}")
        for mode in ("bilinear", "nearest", "bicubic")
        for beyond, corners in [
            ("zeros", False),
            ("zeros", True),
            ("border", False),
            ("reflection", False),
            ("reflection", True),
        ]
    ),
    grid_sample((1, 18, 5, 6), GRID, "'bilinear', 'border', True"),
    *(
        grid_sample(X3, POINTS, f"{mode!r}, {beyond!r}, False")
        for mode in ("bilinear", "nearest")
        for beyond in ("zeros", "border", "reflection")
    ),
]
