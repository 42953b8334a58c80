"""Matrix products, and layers of models built from them."""

from ..table import Family, Input, K, product, shape, two

plain = Family("matmul", 1.0)
row = plain.row
for dtype in ("float32", "float64"):
    for n in (32, 64, 128, 256, 512, K, 2 * K):
        row(f"{dtype}, {shape(n, n, n)}", two(n, n, dtype=dtype), "a @ b", flops=product(n, n, n))
for n in (64, 512, K):
    for expression in ("a.T @ b", "a @ b.T", "a.T @ b.T"):
        row(f"{expression}, {n}", two(n, n), expression, flops=product(n, n, n))
row("96 of 64x64x64", two(96, 64, 64), "a @ b", flops=product(96, 64, 64, 64))
row("1024 of 16x16x16", two(K, 16, 16), "a @ b", flops=product(K, 16, 16, 16))
row("8 of 256x256x256", two(8, 256, 256), "a @ b", flops=product(8, 256, 256, 256))
row(
    "512x384x1536",
    {"a": Input((512, 384)), "b": Input((384, 1536))},
    "a @ b",
    flops=product(512, 384, 1536),
)

skinny = Family("matmul, skinny", 0.8)
row = skinny.row
row(
    "matrix by vector, 4096",
    {"a": Input((4096, 4096)), "b": Input((4096,))},
    "a @ b",
    flops=product(4096, 4096),
    goal=1.0,
)
for m in (1, 2, 4, 8, 16):
    for name, expression in (("", "a @ b"), (", transposed", "a @ b.T")):
        row(
            f"{m}x4096x4096{name}",
            {"a": Input((m, 4096)), "b": Input((4096, 4096))},
            expression,
            flops=product(m, 4096, 4096),
            goal=1.0 if m == 1 else skinny.goal,
        )
row(f"8x{K}x4096", {"a": Input((8, K)), "b": Input((K, 4096))}, "a @ b", flops=product(8, K, 4096))
row(
    "32x384x1536",
    {"a": Input((32, 384)), "b": Input((384, 1536))},
    "a @ b",
    flops=product(32, 384, 1536),
)

narrow = Family("matmul, narrow dtypes", 1.0)
row = narrow.row
_EXACT = "a.astype('float64') @ b.astype('float64')"
_INT8 = {
    "torch": "xp._int_mm(a, b)",
    "jax": "jax.lax.dot(a, b, preferred_element_type=xp.int32)",
    "onnxruntime": "MatMulInteger(a, b)",
}
for dtype, expression, bound, spellings in [
    ("bfloat16", "a @ b", 1, {}),
    ("float16", "a @ b", 1, {}),
    ("int32", "a @ b", 99, {}),
    ("int8", "xp.matmul(a, b, dtype=xp.int32)", 99, _INT8),
]:
    sizes = (
        [(K, K, K)]
        if dtype == "int32"
        else [(K, K, K), (8, K, 4096), (32, K, 4096), (128, K, 4096)]
    )
    for m, k, n in sizes:
        inputs = {
            "a": Input((m, k), dtype, -bound, bound),
            "b": Input((k, n), dtype, -bound, bound),
        }
        row(
            f"{dtype}, {shape(m, k, n)}",
            inputs,
            expression,
            numpy=None,
            reference=_EXACT,
            flops=product(m, k, n),
            **spellings,
        )
# Operands that are used once: nothing is cached from the call before.
row(
    f"int8, {shape(K, K, K)}, b copied",
    two(K, K, dtype="int8", low=-99, high=99),
    "xp.matmul(a, xp.asarray(b, copy=True), dtype=xp.int32)",
    numpy=None,
    torch="xp._int_mm(a, b.clone())",
    jax="jax.lax.dot(a, b.copy(), preferred_element_type=xp.int32)",
    reference=_EXACT,
    flops=product(K, K, K),
)

layers = Family("layers", 0.9)
row = layers.row
_LINEAR = {"a": Input((32, 64, 384)), "w": Input((1536, 384)), "b": Input((1536,))}
_FLOPS = product(32 * 64, 384, 1536)
_ONNX = "Add(MatMul(a, constant('w.T')), constant('b'))"
row(
    "linear, 32x64x384 to 1536",
    _LINEAR,
    "nn.linear(a, w, b)",
    numpy="a @ w.T + b",
    jax="a @ w.T + b",
    onnx=_ONNX,
    flops=_FLOPS,
)
row(
    "linear and gelu",
    _LINEAR,
    "nn.gelu(nn.linear(a, w, b))",
    numpy="(lambda x: 0.5 * x * (1 + special.erf(x * 2 ** -0.5)))(a @ w.T + b)",
    jax="jax.nn.gelu(a @ w.T + b, approximate=False)",
    onnx=f"Gelu({_ONNX})",
    flops=_FLOPS,
)
row(
    "embedding, 32x64 of 30522x384",
    {"w": Input((30522, 384)), "i": Input((32, 64), "int64", 0, 30522)},
    "nn.embedding(i, w)",
    numpy="w[i]",
    jax="w[i]",
    onnx="Gather(constant('w'), i)",
    reads=32 * 64 * (384 * 4 + 8),
)

FAMILIES = [plain, skinny, narrow, layers]
