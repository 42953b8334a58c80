"""Pools."""

from __future__ import annotations

from ..table import Family, one, shape

pools = Family("pools", 0.3)


def _row(
    name: str,
    size: tuple[int, ...],
    call: str,
    reference: str,
    dtype: str = "float32",
    **spellings: str | None,
) -> None:
    if dtype != "float32":
        spellings["onnx"] = None
    pools.row(
        f"{name}, {shape(*size)}",
        one(*size, dtype=dtype),
        f"nn.{call}",
        numpy=None,
        reference=reference,
        **spellings,
    )


def _peers(kind: str, kernel: int, stride: int, padding: int, rank: int = 2) -> dict[str, str]:
    """The expressions of a pool of square windows for JAX and ONNX."""
    sides, steps = [kernel] * rank, [stride] * rank
    of = "a.dtype.type(-xp.inf), jax.lax.max" if kind == "Max" else "0.0, jax.lax.add"
    pads = [(0, 0)] * 2 + [(padding, padding)] * rank
    total = f"jax.lax.reduce_window(a, {of}, {(1, 1, *sides)}, {(1, 1, *steps)}, {pads})"
    more = "" if kind == "Max" else ", count_include_pad=1"
    return {
        "jax": total if kind == "Max" else f"{total} / {kernel**rank}",
        "onnx": f"{kind}Pool(a, kernel_shape={sides}, strides={steps}, pads={[padding] * 2 * rank}{more})",
    }


def _windows(kernel: int, stride: int, padding: str = "") -> str:
    padded = f"xp.pad(a, ((0, 0), (0, 0), (1, 1), (1, 1)){padding})" if padding else "a"
    view = f"xp.lib.stride_tricks.sliding_window_view({padded}, ({kernel}, {kernel}), (2, 3))"
    return f"{view}[:, :, ::{stride}, ::{stride}]"


LARGE, SMALL = (8, 64, 112, 112), (8, 64, 56, 56)
LOWEST, ZERO = ", constant_values=-xp.inf", ", constant_values=0"
_row(
    "max 2x2", LARGE, "max_pool2d(a, 2)", _windows(2, 2) + ".max((4, 5))", **_peers("Max", 2, 2, 0)
)
_row(
    "max 3x3, stride 2",
    LARGE,
    "max_pool2d(a, 3, 2, 1)",
    _windows(3, 2, LOWEST) + ".max((4, 5))",
    **_peers("Max", 3, 2, 1),
)
_row(
    "max 3x3, stride 1",
    SMALL,
    "max_pool2d(a, 3, 1, 1)",
    _windows(3, 1, LOWEST) + ".max((4, 5))",
    **_peers("Max", 3, 1, 1),
)
_row(
    "max 2x2 bfloat16",
    LARGE,
    "max_pool2d(a, 2)",
    _windows(2, 2) + ".max((4, 5))",
    dtype="bfloat16",
    **_peers("Max", 2, 2, 0),
)
_row(
    "mean 2x2",
    LARGE,
    "avg_pool2d(a, 2)",
    _windows(2, 2) + ".mean((4, 5))",
    **_peers("Average", 2, 2, 0),
)
_row(
    "mean 3x3, stride 1",
    SMALL,
    "avg_pool2d(a, 3, 1, 1)",
    _windows(3, 1, ZERO) + ".mean((4, 5))",
    **_peers("Average", 3, 1, 1),
)
MEAN = "a.mean((2, 3), keepdims=True)"
_row(
    "mean of 7x7",
    (8, 2048, 7, 7),
    "adaptive_avg_pool2d(a, 1)",
    MEAN,
    jax=MEAN,
    onnx="GlobalAveragePool(a)",
)
_row(
    "mean of 56x56",
    (8, 256, 56, 56),
    "adaptive_avg_pool2d(a, 1)",
    MEAN,
    jax=MEAN,
    onnx="GlobalAveragePool(a)",
)
_row(
    "max 2x2x2",
    (2, 32, 16, 56, 56),
    "max_pool3d(a, 2)",
    "a.reshape(2, 32, 8, 2, 28, 2, 28, 2).max((3, 5, 7))",
    **_peers("Max", 2, 2, 0, 3),
)

FAMILIES = [pools]
