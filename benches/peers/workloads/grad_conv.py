"""Gradients of convolutions, all three at once, as in training."""

from __future__ import annotations

from math import prod

from ..table import Family, Input, product, shape

gradients = Family("gradients of convolutions", 1.0)


def row(
    name: str, x: tuple[int, ...], w: tuple[int, ...], *, stride: int = 1, groups: int = 1
) -> None:
    """Adds a row: `x` by `w`, padded to keep the size apart from the stride. The weight's gradient is compared."""
    padding = w[-1] // 2
    places = [(n + 2 * padding - k) // stride + 1 for n, k in zip(x[2:], w[2:], strict=True)]
    options = f"stride={stride}, padding={padding}, groups={groups}"
    two = f"[{stride}] * 2, [{padding}] * 2, [1] * 2, False, [0] * 2, {groups}, [True] * 3"
    gradients.row(
        f"{name}, {shape(*x)} by {shape(*w)}",
        {
            "g": Input((x[0], w[0], *places)),
            "x": Input(x),
            "w": Input(w, low=-0.1, high=0.1),
        },
        f"nn.grad.conv2d(g, x, w, {options})[1]",
        numpy=None,
        jax=None,
        torch=f"xp.ops.aten.convolution_backward(g, x, w, [{w[0]}], {two})[1]",
        reference=f"conv_weight_gradient(g, x, {w[2:]}, {stride}, {padding}, {groups})",
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

FAMILIES = [gradients]
