"""Gradients, compared with torch's backward pass alone: what its forward pass saves is made once, though flex computes it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import images
from ..table import Family, Input, K, Known, M, product

if TYPE_CHECKING:
    from collections.abc import Callable

gradients = Family("gradients, backward alone", 0.9)


class Kept:
    """What a row makes in its first call."""

    def __init__(self):
        self._made: Any = None

    def __call__(self, make: Callable[[], Any]) -> Any:
        """The result of the first call's `make`."""
        if self._made is None:
            self._made = make()
        return self._made

    def back(self, forward: Callable, g: Any, *inputs: Any) -> Any:
        """The gradients of the inputs with torch, through a graph that is recorded once."""
        import torch

        def record() -> tuple[Any, list[Any]]:
            with torch.enable_grad():
                leaves = [x.detach().requires_grad_() for x in inputs]
                return forward(*leaves), leaves

        return torch.autograd.grad(*self(record), g, retain_graph=True)


def _row(
    name: str, inputs: dict[str, Input], call: str, torch: str, reference: str, **more: Any
) -> None:
    """Adds a row. `torch`: an operator, or the forward pass of the inputs as a lambda expression; `reference` is JAX's too, unless told
    otherwise: compiled, it would leave out the gradients of weights.
    """
    if torch.startswith("lambda"):
        leaves = torch.removeprefix("lambda ").split(":")[0]
        torch = f"kept.back({torch}, g, {leaves})[0]"
    given = {**inputs, "kept": Known(lambda: Kept())}
    spellings = {"numpy": None, "jax": reference, "torch": torch, "reference": reference}
    gradients.row(name, given, f"nn.grad.{call}", **spellings | more)


_LARGE = {name: Input((4 * M,), low=-4, high=4) for name in "ga"}
_SIGMOID = "1 / (1 + xp.exp(-a))"
for name, torch, reference in (
    ("relu", "threshold_backward(g, a, 0)", "xp.where(a > 0, g, 0)"),
    ("sigmoid", "sigmoid_backward(g, a)", "g * a * (1 - a)"),
    ("tanh", "tanh_backward(g, a)", "g * (1 - a * a)"),
    ("silu", "silu_backward(g, a)", f"(lambda s: g * s * (1 + a * (1 - s)))({_SIGMOID})"),
):
    _row(f"{name}, 4M", _LARGE, f"{name}(g, a)", f"xp.ops.aten.{torch}", reference)

_ROWS = {name: Input((4 * K, K)) for name in "ga"}
_WEIGHT = {"w": Input((K,)), "b": Input((K,))}
_row(
    "softmax, 4096x1024",
    _ROWS,
    "softmax(g, a)",
    "xp.ops.aten._softmax_backward_data(g, a, -1, xp.float32)",
    "a * (g - (g * a).sum(-1, keepdims=True))",
)
_row(
    "log_softmax, 4096x1024",
    _ROWS,
    "log_softmax(g, a)",
    "xp.ops.aten._log_softmax_backward_data(g, a, -1, xp.float32)",
    "g - xp.exp(a) * g.sum(-1, keepdims=True)",
)


_row(
    "softmax of channels, 8x21x128x128",
    {name: Input((8, 21, 128, 128)) for name in "ga"},
    "softmax(g, a, 1)",
    "xp.ops.aten._softmax_backward_data(g, a, 1, xp.float32)",
    "a * (g - (g * a).sum(1, keepdims=True))",
)


def _normal(axes: str, shape: str, weight: str) -> str:
    """The gradient of a norm over axes of `a` in another shape."""
    rows = f"(lambda h, x: (lambda n, r: r * (h - h.mean({axes}, keepdims=True) - n * (h * n).mean({axes}, keepdims=True)))"
    scale = f"1 / xp.sqrt(x.var({axes}, keepdims=True) + 1e-5)"
    rows += f"((x - x.mean({axes}, keepdims=True)) * ({scale}), {scale}))"
    return f"{rows}((g * {weight}).reshape({shape}), a.reshape({shape})).reshape(a.shape)"


_row(
    "layer_norm, 4096x1024",
    _ROWS | _WEIGHT,
    "layer_norm(g, a, 1024, w)[0]",
    "lambda a, w, b: nn.layer_norm(a, (1024,), w, b)",
    _normal("-1", "a.shape", "w"),
    jax=None,
)
_row(
    "rms_norm, 4096x1024",
    _ROWS | {"w": _WEIGHT["w"]},
    "rms_norm(g, a, 1024, w, 1e-5)[0]",
    "lambda a, w: nn.rms_norm(a, (1024,), w, 1e-5)",
    "(lambda r: r * (g * w - a * r * r * (g * w * a).mean(-1, keepdims=True)))"
    "(1 / xp.sqrt((a * a).mean(-1, keepdims=True) + 1e-5))",
    jax=None,
)
_IMAGES = (16, 64, 56, 56)
_NORMED = {"g": Input(_IMAGES), "a": Input(_IMAGES), "w": Input((64,)), "b": Input((64,))}
_GROUPS = "(16, 8, 8, 56, 56)"
for name, call, torch, reference in (
    (
        "group_norm",
        "group_norm(g, a, 8, w)[0]",
        "nn.group_norm(a, 8, w, b)",
        _normal("(2, 3, 4)", _GROUPS, "w[:, None, None]"),
    ),
    (
        "instance_norm",
        "instance_norm(g, a, weight=w)[0]",
        "nn.instance_norm(a, None, None, w, b)",
        _normal("(2, 3)", "a.shape", "w[:, None, None]"),
    ),
    (
        "batch_norm of the batch",
        "batch_norm(g, a, weight=w, training=True)[0]",
        "nn.batch_norm(a, None, None, w, b, True)",
        _normal("(0, 2, 3)", "a.shape", "w[:, None, None]"),
    ),
    (
        "batch_norm",
        "batch_norm(g, a, b, 1 + b * b, w)[0]",
        "nn.batch_norm(a, b.detach(), (1 + b * b).detach(), w, b)",
        "g * (w / xp.sqrt(1 + b * b + 1e-5))[:, None, None]",
    ),
):
    _row(f"{name}, 16x64x56x56", _NORMED, call, f"lambda a, w, b: {torch}", reference, jax=None)

_row(
    "linear, 2048x384 to 1536",
    {"g": Input((2 * K, 1536)), "a": Input((2 * K, 384)), "w": Input((1536, 384))},
    "linear(g, a, w)[1]",
    "kept.back(lambda a, w, b: nn.linear(a, w, b), g, a, w, w[:, 0])[1]",
    "g.T @ a",
    jax=None,
    flops=2 * product(2 * K, 384, 1536),
)
_row(
    "embedding, 8192 of 30522x384",
    {"g": Input((8 * K, 384)), "i": Input((8 * K,), "int64", 0, 30522)},
    "embedding(g, i, 30522)",
    "xp.ops.aten.embedding_dense_backward(g, i, 30522, -1, False)",
    "(lambda y: (xp.add.at(y, i, g), y)[1])(xp.zeros((30522, 384)))",
    jax="xp.zeros((30522, 384), 'float32').at[i].add(g)",
)
_row(
    "cross_entropy of pixels, 8x21x128x128",
    {"g": Input((1,)), "a": Input((8, 21, 128, 128)), "t": Input((8, 128, 128), "int64", 0, 21)},
    "cross_entropy(g[0], a, t)",
    "kept.back(lambda a: nn.cross_entropy(a, t), g[0], a)[0]",
    "(special.softmax(a, 1) - (xp.arange(21)[:, None, None] == t[:, None])) * g / 131072",
    jax=None,
)

_POOLED, _WHOLE = (8, 64, 56, 56), (8, 64, 112, 112)
_MAXIMA = "kept(lambda: nn.max_pool{}d(a, {}, return_indices=True)[1])"
_ADJOINT = {"compared": "(r * a).sum()", "tolerance": 1e-3, "jax": None}
_REPEATED = "xp.repeat(xp.repeat(g, 2, 2), 2, 3)"
for name, inner, outer, call, torch, reference, more in (
    (
        "max 3x3, stride 2",
        _WHOLE,
        _POOLED,
        f"max_pool2d(g, {_MAXIMA.format(2, '3, 2, 1')}, a.shape)",
        "max_pool2d(a, 3, 2, 1)",
        "(g * xp.lib.stride_tricks.sliding_window_view(xp.pad(a, ((0, 0), (0, 0), (1, 1), (1, 1)),"
        " constant_values=-xp.inf), (3, 3), (2, 3))[:, :, ::2, ::2].max((4, 5))).sum()",
        _ADJOINT,
    ),
    (
        "max 2x2",
        _WHOLE,
        _POOLED,
        f"max_pool2d(g, {_MAXIMA.format(2, '2')}, a.shape)",
        "max_pool2d(a, 2)",
        f"xp.where(a == xp.repeat(xp.repeat(a.reshape(8, 64, 56, 2, 56, 2).max((3, 5)), 2, 2), 2, 3), {_REPEATED}, 0)",
        {"jax": None},
    ),
    (
        "max 2x2x2",
        (2, 32, 16, 56, 56),
        (2, 32, 8, 28, 28),
        f"max_pool3d(g, {_MAXIMA.format(3, '2')}, a.shape)",
        "max_pool3d(a, 2)",
        "(g * a.reshape(2, 32, 8, 2, 28, 2, 28, 2).max((3, 5, 7))).sum()",
        _ADJOINT,
    ),
    (
        "mean 3x3, stride 1",
        _POOLED,
        _POOLED,
        "avg_pool2d(g, a.shape, 3, 1, 1)",
        "avg_pool2d(a, 3, 1, 1)",
        "sum(xp.pad(g, ((0, 0), (0, 0), (1, 1), (1, 1)))[:, :, y : y + 56, x : x + 56]"
        " for y in range(3) for x in range(3)) / 9",
        {},
    ),
    (
        "mean 2x2x2",
        (2, 32, 16, 56, 56),
        (2, 32, 8, 28, 28),
        "avg_pool3d(g, a.shape, 2)",
        "avg_pool3d(a, 2)",
        "xp.repeat(xp.repeat(xp.repeat(g, 2, 2), 2, 3), 2, 4) / 8",
        {},
    ),
    (
        "mean to 7x7",
        (8, 256, 30, 30),
        (8, 256, 7, 7),
        "adaptive_avg_pool2d(g, a.shape)",
        "adaptive_avg_pool2d(a, 7)",
        "(g * images.pooled(a, (7, 7), xp.mean)).sum()",
        _ADJOINT,
    ),
    (
        "maximum to 7x7",
        (8, 256, 30, 30),
        (8, 256, 7, 7),
        "adaptive_max_pool2d(g, kept(lambda: nn.adaptive_max_pool2d(a, 7, return_indices=True)[1]), a.shape)",
        "adaptive_max_pool2d(a, 7)",
        "(g * images.pooled(a, (7, 7), xp.max)).sum()",
        _ADJOINT,
    ),
    (
        "p = 2, 2x2",
        _WHOLE,
        _POOLED,
        "lp_pool2d(g, a, 2.0, 2)",
        "lp_pool2d(a, 2.0, 2)",
        "a * xp.repeat(xp.repeat(g / xp.sqrt((a * a).reshape(8, 64, 56, 2, 56, 2).sum((3, 5))), 2, 2), 2, 3)",
        {},
    ),
    (
        "pad by reflection",
        (4, 32, 112, 112),
        (4, 32, 118, 118),
        "pad(g, a.shape, (3, 3, 3, 3), mode='reflect')",
        "pad(a, (3, 3, 3, 3), mode='reflect')",
        "(g * xp.pad(a, ((0, 0), (0, 0), (3, 3), (3, 3)), mode='reflect')).sum()",
        _ADJOINT,
    ),
):
    _row(
        f"{name}, {'x'.join(map(str, inner))}",
        {"g": Input(outer), "a": Input(inner)},
        call,
        f"lambda a: nn.{torch}",
        reference,
        **more,
    )
_row(
    "unpool 2x2, 8x64x56x56",
    {"g": Input(_WHOLE), "a": Input(_POOLED), "i": Known(lambda: images.places(_WHOLE, 2))},
    "max_unpool2d(g, i)",
    "lambda a: nn.max_unpool2d(a, i, 2)",
    "xp.take_along_axis(g.reshape(512, -1), i.reshape(512, -1), 1).reshape(a.shape)",
)
for mode, small, large, more in (
    ("bilinear", (8, 64, 56, 56), (112, 112), ""),
    ("bicubic", (8, 64, 56, 56), (112, 112), ""),
    ("bilinear", (4, 3, 600, 800), (256, 256), ", antialias=True"),
    ("trilinear", (1, 16, 16, 32, 32), (32, 64, 64), ""),
):
    exact = mode.replace("tri", "bi")
    _row(
        f"{mode}{', antialias' if more else ''}, {'x'.join(map(str, small))}",
        {"g": Input((*small[:2], *large)), "a": Input(small)},
        f"interpolate(g, a.shape, {large}, mode={mode!r}{more})",
        f"lambda a: nn.interpolate(a, {large}, mode={mode!r}{more})",
        f"images.resized(g, {small[2:]}, {exact!r}, {bool(more)}, True)",
        jax=None,
    )
_row(
    "grid_sample, 4x32x64x64",
    {
        "g": Input((4, 32, 64, 64)),
        "a": Input((4, 32, 64, 64)),
        "p": Input((4, 64, 64, 2), low=-1.1, high=1.1),
    },
    "grid_sample(g, a, p, align_corners=False)[0]",
    "lambda a, p: nn.grid_sample(a, p, align_corners=False)",
    "(g * images.sampled(a, p)).sum()",
    **_ADJOINT,
)

for name, heads, groups, length, width, causal in (
    ("", 16, 16, 512, 64, False),
    ("causal, ", 16, 16, K, 64, True),
    ("causal, 8 groups, ", 32, 8, 512, 128, True),
):
    q, k = (Input((1, n, length, width)) for n in (heads, groups))
    options = f"is_causal={causal}, enable_gqa={groups < heads}"
    keys, values = (f"xp.repeat({x}, {heads // groups}, 1)" for x in "kv")
    scores = f"q @ {keys}.swapaxes(-1, -2) * {width}**-0.5"
    if causal:
        scores = f"xp.where(xp.tri({length}, dtype=bool), {scores}, -xp.inf)"
    _row(
        f"attention, {name}{heads}x{length}x{width}",
        {"g": q, "q": q, "k": k, "v": k},
        f"scaled_dot_product_attention(g, q, k, v, {options})[0]",
        f"lambda q, k, v: nn.scaled_dot_product_attention(q, k, v, {options})",
        f"(lambda p, d: p * (d - (p * d).sum(-1, keepdims=True)) @ {keys} * {width}**-0.5)"
        f"(special.softmax({scores}, -1), g @ {values}.swapaxes(-1, -2))",
        jax=None,
        flops=5 * product(heads, length, length, width) * (0.5 if causal else 1),
    )

_MASKED = {name: Input((1, 16, 512, 64)) for name in "gqkv"}
_row(
    "attention's bias, 16x512x64",
    _MASKED | {"m": Input((1, 16, 512, 512))},
    "scaled_dot_product_attention_mask(g, q, k, v, m)",
    "lambda m: nn.scaled_dot_product_attention(q, k, v, m)",
    "(lambda p, d: p * (d - (p * d).sum(-1, keepdims=True)))"
    "(special.softmax(q @ k.swapaxes(-1, -2) / 8 + m, -1), g @ v.swapaxes(-1, -2))",
    jax=None,
    flops=2 * product(16, 512, 512, 64),
)

FAMILIES = [gradients]
