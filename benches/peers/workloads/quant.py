"""Quantised tensors: conversions, and linear layers and convolutions with 8- and 4-bit weights."""

from ..table import Family, Input, K, M, product, shape, size

convert = Family("quant, conversions", 0.5)
row = convert.row
_STEP = 2.0**-7
for n in (K, M, 16 * M):
    row(
        f"quantize, {size(n)}",
        {"a": Input((n,))},
        f"xp.quant.quantize(a, scale={_STEP}).values",
        numpy=f"xp.clip(xp.rint(a / {_STEP}), -128, 127).astype('int8')",
        torch=f"xp.quantize_per_tensor(a, {_STEP}, 0, xp.qint8).int_repr()",
        jax=None,
    )
    row(
        f"dequantize, {size(n)}",
        {"a": Input((n,), "int8", -127, 128), "s": Input((1,))},
        "xp.quant.QTensor(a, s).dequantize()",
        numpy="a * s",
        torch="a * s",
        jax="a * s",
    )
row(
    "quantize rows of 384 with zero points, 16M",
    {"a": Input((16 * M // 384, 384))},
    "xp.quant.quantize(a, 'uint8', axis=0).dequantize()",
    numpy=None,
    torch=None,
    jax=None,
    reference="a",
    tolerance=4e-3,
)

layers = Family("quant, layers", 0.9)
row = layers.row
for m, k, n in [(K, 384, 1536), (K, 1536, 384), (K, K, K)]:
    row(
        f"linear by int8 weights, {shape(m, k, n)}",
        {"a": Input((m, k)), "w": Input((n, k), "int8", -127, 128), "s": Input((n, 1), low=0.5)},
        "xp.quant.linear(a, xp.quant.QTensor(w, s), inputs='dynamic')",
        numpy="a @ (w * s).T",
        torch="a @ (w * s).T",
        jax="a @ (w * s).T",
        tolerance=1e-2,
        flops=product(m, k, n),
        computed_in="int8",
    )
for block in (32, 128):
    row(
        f"matrix by vector of int4 weights in blocks of {block}, 4096",
        {
            "a": Input((4096,)),
            "w": Input((4096, 2048), "uint8", 0, 256),
            "s": Input((4096, 4096 // block)),
        },
        "xp.quant.linear(a, xp.quant.QTensor(w, s, dtype='int4', shape=(4096, 4096)))",
        numpy=None,
        torch=None,
        jax=None,
        reference=f"(((xp.stack((w & 15, w >> 4), -1).reshape(4096, 4096) ^ 8) - 8.0) * xp.repeat(s, {block}, 1)) @ a",
        flops=product(4096, 4096),
    )

for channels, side in [(64, 56), (256, 14)]:
    row(
        f"conv2d by int8 weights, {channels} channels of {side}x{side}, 3x3",
        {
            "a": Input((1, channels, side, side)),
            "w": Input((channels, channels, 3, 3), "int8", -127, 128),
            "s": Input((channels, 1, 1, 1), low=0.5),
            "b": Input((channels,)),
        },
        "xp.quant.conv2d(a, xp.quant.QTensor(w, s), b, padding=1, inputs='dynamic')",
        numpy=None,
        torch="xp.nn.functional.conv2d(a, w * s, b, padding=1)",
        jax=None,
        reference="conv(a, w * s, b, 1, 1, 1)",
        tolerance=1e-2,
        flops=product(channels, channels, 9, side * side),
        computed_in="int8",
    )

FAMILIES = [convert, layers]
