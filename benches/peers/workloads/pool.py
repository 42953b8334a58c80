"""Pools."""

from __future__ import annotations

from .. import images
from ..table import Family, Input, Known, one, shape

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
_row(
    "mean 2x2x2",
    (2, 32, 16, 56, 56),
    "avg_pool3d(a, 2)",
    "a.reshape(2, 32, 8, 2, 28, 2, 28, 2).mean((3, 5, 7))",
    **_peers("Average", 2, 2, 0, 3),
)
for name, call, kind in (("max", "max", "Max"), ("mean", "avg", "Average")):
    _row(
        f"{name} of 4, signals",
        (16, 64, 4096),
        f"{call}_pool1d(a, 4)",
        f"a.reshape(16, 64, 1024, 4).{name}(3)",
        **_peers(kind, 4, 4, 0, 1),
    )
_row(
    "indices of max 2x2",
    LARGE,
    "max_pool2d(a, 2, return_indices=True)[1]",
    "a.reshape(8, 64, 56, 2, 56, 2).max((3, 5))",
    jax=None,
    compared="xp.take_along_axis(a.reshape(8, 64, -1), r.reshape(8, 64, -1), 2).reshape(r.shape)",
)
for name, kind in (("mean", "avg"), ("max", "max")):
    for sides, places in (((8, 256, 30, 30), 7), ((8, 64, 112, 112), 56)):
        _row(
            f"adaptive, {name}, to {places}x{places}",
            sides,
            f"adaptive_{kind}_pool2d(a, {places})",
            f"images.pooled(a, ({places}, {places}), xp.{name})",
            jax=None,
        )
_row(
    "p = 2, 2x2",
    LARGE,
    "lp_pool2d(a, 2.0, 2)",
    "xp.sqrt((a * a).reshape(8, 64, 56, 2, 56, 2).sum((3, 5)))",
    jax="xp.sqrt((a * a).reshape(8, 64, 56, 2, 56, 2).sum((3, 5)))",
    onnx="LpPool(a, kernel_shape=[2, 2], strides=[2, 2], p=2)",
)
pools.row(
    "unpool 2x2, 8x64x56x56",
    {"a": Input(SMALL), "i": Known(lambda: images.places(LARGE, 2))},
    "nn.max_unpool2d(a, i, 2)",
    numpy=None,
    jax=None,
    onnxruntime="MaxUnpool(a, constant('i + xp.arange(512).reshape(8, 64, 1, 1) * 12544'), kernel_shape=[2, 2], strides=[2, 2])",
    reference="(lambda y: (xp.put_along_axis(y, i.reshape(512, -1), a.reshape(512, -1), 1), y)[1])"
    "(xp.zeros((512, 12544))).reshape(8, 64, 112, 112)",
)

FAMILIES = [pools]
