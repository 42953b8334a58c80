"""Pools."""

from __future__ import annotations

from ..table import Family, one, shape

pools = Family("pools", 0.3)


def _row(name: str, size: tuple[int, ...], call: str, reference: str, **more) -> None:
    pools.row(
        f"{name}, {shape(*size)}",
        one(*size, **more),
        f"nn.{call}",
        numpy=None,
        jax=None,
        reference=reference,
    )


def _windows(kernel: int, stride: int, padding: str = "") -> str:
    padded = f"xp.pad(a, ((0, 0), (0, 0), (1, 1), (1, 1)){padding})" if padding else "a"
    view = f"xp.lib.stride_tricks.sliding_window_view({padded}, ({kernel}, {kernel}), (2, 3))"
    return f"{view}[:, :, ::{stride}, ::{stride}]"


LARGE, SMALL = (8, 64, 112, 112), (8, 64, 56, 56)
LOWEST, ZERO = ", constant_values=-xp.inf", ", constant_values=0"
_row("max 2x2", LARGE, "max_pool2d(a, 2)", _windows(2, 2) + ".max((4, 5))")
_row("max 3x3, stride 2", LARGE, "max_pool2d(a, 3, 2, 1)", _windows(3, 2, LOWEST) + ".max((4, 5))")
_row("max 3x3, stride 1", SMALL, "max_pool2d(a, 3, 1, 1)", _windows(3, 1, LOWEST) + ".max((4, 5))")
_row(
    "max 2x2 bfloat16",
    LARGE,
    "max_pool2d(a, 2)",
    _windows(2, 2) + ".max((4, 5))",
    dtype="bfloat16",
)
_row("mean 2x2", LARGE, "avg_pool2d(a, 2)", _windows(2, 2) + ".mean((4, 5))")
_row("mean 3x3, stride 1", SMALL, "avg_pool2d(a, 3, 1, 1)", _windows(3, 1, ZERO) + ".mean((4, 5))")
MEAN = "a.mean((2, 3), keepdims=True)"
_row("mean of 7x7", (8, 2048, 7, 7), "adaptive_avg_pool2d(a, 1)", MEAN)
_row("mean of 56x56", (8, 256, 56, 56), "adaptive_avg_pool2d(a, 1)", MEAN)
_row(
    "max 2x2x2",
    (2, 32, 16, 56, 56),
    "max_pool3d(a, 2)",
    "a.reshape(2, 32, 8, 2, 28, 2, 28, 2).max((3, 5, 7))",
)

FAMILIES = [pools]
