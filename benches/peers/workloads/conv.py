"""Convolutions with the sizes of models."""

from __future__ import annotations

from math import prod

from ..table import Family, Input, product, shape

convolution = Family("convolution", 1.0)


def conv(
    name: str,
    x: tuple[int, ...],
    w: tuple[int, ...],
    goal: float,
    *,
    options: str = "",
    stride: int = 1,
    dtype: str = "float32",
) -> None:
    """Adds a row: `x` by `w`, padded to keep the size apart from the stride."""
    rank = len(w) - 2
    padding = w[-1] // 2
    call = f"nn.conv{rank}d(x, w, b, stride={stride}, padding={padding}{options})"
    groups = x[1] // w[1]
    places = prod((n + 2 * padding - k) // stride + 1 for n, k in zip(x[2:], w[2:], strict=True))
    strides, pads = [stride] * rank, [padding] * 2 * rank
    convolution.row(
        f"{name}, {shape(*x)} by {shape(*w)}" + (f", {dtype}" if dtype != "float32" else ""),
        {"x": Input(x, dtype), "w": Input(w, dtype, -0.1, 0.1), "b": Input(w[:1], dtype)},
        call,
        numpy=None,
        jax=f"jax.lax.conv_general_dilated(x, w, {strides}, {[(padding, padding)] * rank},"
        f" feature_group_count={groups}) + xp.expand_dims(b, {[*range(1, rank + 1)]})",
        onnx=f'Conv(x, constant("w"), constant("b"), strides={strides}, pads={pads}, group={groups})'
        if dtype == "float32"
        else None,
        reference=f"conv(x, w, b, {stride}, {padding}, {groups})",
        flops=product(x[0], *w, places),
        goal=goal,
    )


conv("3x3", (1, 128, 56, 56), (128, 128, 3, 3), 0.55)
conv("3x3", (1, 64, 56, 56), (64, 64, 3, 3), 0.55)
conv("3x3", (1, 256, 14, 14), (256, 256, 3, 3), 0.55)
conv("3x3", (1, 128, 56, 56), (128, 128, 3, 3), 1.0, dtype="bfloat16")
conv("stride 2", (1, 128, 56, 56), (128, 128, 3, 3), 1.0, stride=2)
conv("first layer", (1, 3, 224, 224), (64, 3, 7, 7), 0.8, stride=2)
conv("1x1", (1, 64, 56, 56), (256, 64, 1, 1), 0.9)
conv("1x1", (1, 256, 56, 56), (64, 256, 1, 1), 0.9)
conv("1x1", (1, 512, 7, 7), (2048, 512, 1, 1), 0.9)
conv("depthwise", (1, 128, 56, 56), (128, 1, 3, 3), 0.5, options=", groups=128")
conv("depthwise, stride 2", (1, 128, 56, 56), (128, 1, 3, 3), 0.5, options=", groups=128", stride=2)
conv("depthwise", (1, 96, 56, 56), (96, 1, 7, 7), 0.5, options=", groups=96")
conv("4 channels a group", (1, 128, 56, 56), (128, 4, 3, 3), 0.6, options=", groups=32")
conv("signal", (4, 64, 1024), (128, 64, 5), 0.6)
conv("volume", (1, 64, 8, 28, 28), (64, 64, 3, 3, 3), 0.7)


def transposed(x: tuple[int, ...], w: tuple[int, ...], stride: int, padding: int) -> None:
    """Adds a row for a transposed convolution."""
    rank = len(w) - 2
    letters = "DHW"[-rank:]
    named = f"('NC{letters}', 'OI{letters}', 'NC{letters}')"
    pads = f"[({w[2] - 1 - padding},) * 2] * {rank}"
    convolution.row(
        f"transposed, {shape(*x)} by {shape(*w)}",
        {"x": Input(x), "w": Input(w, low=-0.1, high=0.1), "b": Input((w[1],))},
        f"nn.conv_transpose{rank}d(x, w, b, stride={stride}, padding={padding})",
        numpy=None,
        jax=f"jax.lax.conv_transpose(x, w, [{stride}] * {rank}, {pads}, dimension_numbers={named},"
        f" transpose_kernel=True) + xp.expand_dims(b, {[*range(1, rank + 1)]})",
        onnx=f'ConvTranspose(x, constant("w"), constant("b"), strides={[stride] * rank}, pads={[padding] * 2 * rank})',
        reference=f"conv_transpose(x, w, b, {stride}, {padding})",
        flops=product(x[0], *w, prod(x[2:])),
        goal=0.6,
    )


transposed((1, 128, 28, 28), (128, 64, 4, 4), 2, 1)
transposed((1, 64, 32, 32), (64, 64, 3, 3), 2, 1)
transposed((1, 256, 8, 8), (256, 128, 4, 4), 2, 1)
transposed((1, 64, 56, 56), (64, 32, 2, 2), 2, 0)
transposed((4, 256, 128), (256, 128, 16), 8, 4)
transposed((1, 64, 2048), (64, 32, 4), 2, 1)
transposed((1, 64, 8, 14, 14), (64, 32, 4, 4, 4), 2, 1)
transposed((1, 32, 16, 28, 28), (32, 16, 2, 2, 2), 2, 0)
convolution.row(
    "deformable, 1x64x28x28 by 64x64x3x3",
    {
        "x": Input((1, 64, 28, 28)),
        "w": Input((64, 64, 3, 3), low=-0.1, high=0.1),
        "o": Input((1, 18, 28, 28)),
        "m": Input((1, 9, 28, 28), low=0),
    },
    "nn.deform_conv2d(x, o, w, padding=1, mask=m)",
    numpy=None,
    torch=None,
    jax=None,
    onnxruntime='DeformConv(x, constant("w"), o, None, m, pads=[1, 1, 1, 1])',
    reference="deform_conv(x, o, w, m)",
    flops=product(64, 64, 9, 28 * 28),
    goal=0.6,
)


def block(
    name: str,
    channels: int,
    inner: int,
    *,
    flex: str,
    torch: str,
    onnx: str,
    reference: str,
    depthwise: bool,
) -> None:
    """Adds a row for a block of convolutions: 1x1, 3x3, 1x1, with the input added."""
    image = (1, channels, 56, 56)
    middle = (inner, 1 if depthwise else inner, 3, 3)
    weights = {"u": (inner, channels, 1, 1), "v": middle, "w": (channels, inner, 1, 1)}
    inputs = {name: Input(s, low=-0.1, high=0.1) for name, s in weights.items()}
    biases = {"a": Input((inner,)), "b": Input((inner,)), "c": Input((channels,))}
    convolution.row(
        f"{name}, {shape(*image)}",
        {"x": Input(image), **inputs, **biases},
        flex,
        numpy=None,
        jax=None,
        torch=torch,
        onnx=onnx,
        reference=reference,
        flops=sum(product(*s, *image[2:]) for s in weights.values()),
        tolerance=1e-4,
        goal=0.9,
    )


block(
    "ResNet's bottleneck",
    256,
    64,
    flex="nn.relu(nn.conv2d(nn.conv2d(nn.conv2d(x, u, a, activation='relu'), v, b, padding=1, activation='relu'), w, c, residual=x))",
    torch="nn.relu(nn.conv2d(nn.relu(nn.conv2d(nn.relu(nn.conv2d(x, u, a)), v, b, padding=1)), w, c) + x)",
    onnx='Relu(Add(Conv(Relu(Conv(Relu(Conv(x, constant("u"), constant("a"))), constant("v"), constant("b"), pads=[1, 1, 1, 1])),'
    ' constant("w"), constant("c")), x))',
    reference="xp.maximum(conv(xp.maximum(conv(xp.maximum(conv(x, u, a, 1, 0, 1), 0), v, b, 1, 1, 1), 0), w, c, 1, 0, 1) + x, 0)",
    depthwise=False,
)
block(
    "MobileNetV2's inverted residual",
    24,
    144,
    flex="nn.conv2d(nn.conv2d(nn.conv2d(x, u, a, activation='relu6'), v, b, padding=1, groups=144, activation='relu6'), w, c, residual=x)",
    torch="nn.conv2d(nn.relu6(nn.conv2d(nn.relu6(nn.conv2d(x, u, a)), v, b, padding=1, groups=144)), w, c) + x",
    onnx='Add(Conv(Clip(Conv(Clip(Conv(x, constant("u"), constant("a")), constant(0.0), constant(6.0)), constant("v"), constant("b"),'
    ' pads=[1, 1, 1, 1], group=144), constant(0.0), constant(6.0)), constant("w"), constant("c")), x)',
    reference="conv(xp.clip(conv(xp.clip(conv(x, u, a, 1, 0, 1), 0, 6), v, b, 1, 1, 144), 0, 6), w, c, 1, 0, 1) + x",
    depthwise=True,
)

FAMILIES = [convolution]
