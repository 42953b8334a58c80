"""Gradients, compared with the functions that torch's autograd calls. Values that torch would save in the forward pass are recomputed, as
flex does; if torch has no function for that, rows run forward and backward. Rows of grad_saved.py run torch's backward pass alone."""

from __future__ import annotations

from ..table import Family, Input, K, M, two

gradients = Family("gradients", 0.8)


def _row(name: str, inputs: dict[str, Input], call: str, torch: str, reference: str) -> None:
    gradients.row(
        name, inputs, f"nn.{call}", numpy=None, jax=None, torch=torch, reference=reference
    )


ATEN = "xp.ops.aten."
IMAGES = (8, 64, 112, 112)
_row(
    "mean 2x2, 8x64x112x112",
    {"g": Input((8, 64, 56, 56)), "a": Input(IMAGES)},
    "grad.avg_pool2d(g, a.shape, 2)",
    f"{ATEN}avg_pool2d_backward(g, a, [2, 2], [2, 2], [0, 0], False, True, None)",
    "xp.repeat(xp.repeat(g, 2, 2), 2, 3) / 4",
)
_row(
    "mean of 7x7, 8x2048x7x7",
    {"g": Input((8, 2048, 1, 1)), "a": Input((8, 2048, 7, 7))},
    "grad.adaptive_avg_pool2d(g, a.shape)",
    f"{ATEN}_adaptive_avg_pool2d_backward(g, a)",
    "xp.broadcast_to(g / 49, a.shape)",
)
_row(
    "nearest, 56x56 to 112x112",
    {"g": Input(IMAGES)},
    "grad.interpolate(g, (8, 64, 56, 56), 112)",
    f"{ATEN}upsample_nearest2d_backward(g, [112, 112], [8, 64, 56, 56])",
    "g.reshape(8, 64, 56, 2, 56, 2).sum((3, 5))",
)
_row(
    "max 2x2 and back, 8x64x112x112",
    {"g": Input((8, 64, 56, 56)), "a": Input(IMAGES)},
    "grad.max_pool2d(g, nn.max_pool2d(a, 2, return_indices=True)[1], a.shape)",
    f"{ATEN}max_pool2d_with_indices_backward(g, a, [2, 2], [2, 2], [0, 0], [1, 1], False,"
    " nn.max_pool2d(a, 2, return_indices=True)[1])",
    "(lambda w: xp.where(w == w.max((3, 5), keepdims=True), g[:, :, :, None, :, None], 0)"
    ".reshape(a.shape))(a.reshape(8, 64, 56, 2, 56, 2))",
)
_row(
    "gelu, 4M",
    two(4 * M, low=-4, high=4),
    "grad.gelu(a, b)",
    f"{ATEN}gelu_backward(a, b)",
    "a * (special.ndtr(b) + b * xp.exp(-b * b / 2) / xp.sqrt(2 * xp.pi))",
)
_row(
    "cross_entropy, 4096x1024",
    {
        "g": Input((1,)),
        "a": Input((4 * K, K)),
        "t": Input((4 * K,), "int64", low=0, high=K - 1),
    },
    "grad.cross_entropy(g[0], a, t)",
    "(lambda p: xp.ops.aten._log_softmax_backward_data(xp.ops.aten.nll_loss_backward("
    "g[0], p, t, None, 1, -100, xp.tensor(4096.0)), p, 1, xp.float32))(xp.log_softmax(a, 1))",
    "(special.softmax(a, 1) - (xp.arange(1024) == t[:, None])) * g / 4096",
)
_row(
    "batch_norm, 16x64x56x56",
    {"g": Input((16, 64, 56, 56)), "a": Input((16, 64, 56, 56)), "w": Input((64,))},
    "grad.batch_norm(g, a, weight=w, training=True)[0]",
    f"(lambda v, m: {ATEN}native_batch_norm_backward(g, a, w, None, None, m,"
    " xp.rsqrt(v + 1e-5), True, 1e-5, [True, True, True])[0])"
    "(*xp.var_mean(a, (0, 2, 3), correction=0))",
    "(lambda s, x: w[:, None, None] * s * (g - g.mean((0, 2, 3), keepdims=True)"
    " - x * (g * x).mean((0, 2, 3), keepdims=True)))(*(lambda s, m: (s, (a - m) * s))"
    "(1 / xp.sqrt(a.var((0, 2, 3), keepdims=True) + 1e-5), a.mean((0, 2, 3), keepdims=True)))",
)
_HEADS = (2, 8, 512, 64)
_row(
    "attention and back, 2x8x512x64",
    {name: Input(_HEADS) for name in "gqkv"},
    "scaled_dot_product_attention(q, k, v) + nn.grad.scaled_dot_product_attention(g, q, k, v)[0]",
    "(lambda y, s: y + xp.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward("
    "g, q, k, v, y, s, 0.0, False)[0])"
    "(*xp.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v))",
    "(lambda p, d: p @ v + p * (d - (p * d).sum(-1, keepdims=True)) @ k / 8)"
    "(special.softmax(q @ k.swapaxes(-1, -2) / 8, -1), g @ v.swapaxes(-1, -2))",
)

FAMILIES = [gradients]
