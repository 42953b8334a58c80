"""Gradients of convolutions, all three at once, as in training."""

from __future__ import annotations

from math import prod

from ..table import Family, Input, product, shape

gradients = Family("gradients of convolutions", 1.0)


def row(
    name: str, x: tuple[int, ...], w: tuple[int, ...], *, stride: int = 1, groups: int = 1
) -> None:
    """Adds a row: `x` by `w`, padded to keep the size apart from the stride. The weight's gradient is compared."""
    padding, rank = w[-1] // 2, len(w) - 2
    places = [(n + 2 * padding - k) // stride + 1 for n, k in zip(x[2:], w[2:], strict=True)]
    options = f"stride={stride}, padding={padding}, groups={groups}"
    more = f"[{stride}] * {rank}, [{padding}] * {rank}, [1] * {rank}, False, [0] * {rank}, {groups}, [True] * 3"
    gradients.row(
        f"{name}, {shape(*x)} by {shape(*w)}",
        {
            "g": Input((x[0], w[0], *places)),
            "x": Input(x),
            "w": Input(w, low=-0.1, high=0.1),
        },
        f"nn.grad.conv{rank}d(g, x, w, {options})[1]",
        numpy=None,
        jax=None,
        torch=f"xp.ops.aten.convolution_backward(g, x, w, [{w[0]}], {more})[1]",
        reference=f"weight_gradient(g, x, {w[2:]}, {stride}, {padding}, {groups})",
        # the gradients of image and weight cost as much as the convolution each
        flops=2 * product(x[0], *w, prod(places)),
    )


row("3x3", (8, 64, 56, 56), (64, 64, 3, 3))
row("3x3", (8, 512, 7, 7), (512, 512, 3, 3))
row("stride 2", (8, 128, 56, 56), (128, 128, 3, 3), stride=2)
row("first layer", (4, 3, 224, 224), (64, 3, 7, 7), stride=2)
row("1x1", (8, 256, 56, 56), (64, 256, 1, 1))
row("depthwise", (8, 128, 56, 56), (128, 1, 3, 3), groups=128)
row("depthwise", (8, 512, 7, 7), (512, 1, 3, 3), groups=512)

row("signal", (8, 64, 1024), (128, 64, 5))
row("volume", (1, 32, 16, 28, 28), (32, 32, 3, 3, 3))


def transposed(x: tuple[int, ...], w: tuple[int, ...], stride: int, padding: int) -> None:
    """Adds a row for a transposed convolution."""
    rank = len(w) - 2
    places = [(n - 1) * stride - 2 * padding + k for n, k in zip(x[2:], w[2:], strict=True)]
    more = f"[{stride}] * {rank}, [{padding}] * {rank}, [1] * {rank}, True, [0] * {rank}, 1, [True] * 3"
    gradients.row(
        f"transposed, {shape(*x)} by {shape(*w)}",
        {
            "g": Input((x[0], w[1], *places)),
            "x": Input(x),
            "w": Input(w, low=-0.1, high=0.1),
        },
        f"nn.grad.conv_transpose{rank}d(g, x, w, stride={stride}, padding={padding})[1]",
        numpy=None,
        jax=None,
        torch=f"xp.ops.aten.convolution_backward(g, x, w, [{w[1]}], {more})[1]",
        reference=f"weight_gradient(x, g, {w[2:]}, {stride}, {padding}, 1)",
        flops=2 * product(x[0], *w, prod(x[2:])),
    )


transposed((4, 128, 28, 28), (128, 64, 4, 4), 2, 1)
transposed((8, 64, 1024), (64, 32, 4), 2, 1)
transposed((1, 64, 8, 14, 14), (64, 32, 4, 4, 4), 2, 1)

FAMILIES = [gradients]
