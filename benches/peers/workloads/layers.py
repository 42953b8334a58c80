"""Layers of models: activations with parameters, norms over channels, embeddings, dropout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..table import Family, Input, K, Known, M, one, shape

if TYPE_CHECKING:
    import numpy as np

activations = Family("activations of models", 0.8)
row = activations.row
_SOFTPLUS = "xp.logaddexp(a, 0)"
_SELU = "1.0507009873554805 * xp.where(a > 0, a, 1.6732632423543772 * xp.expm1(xp.minimum(a, 0)))"
for call, numpy, jax, onnx in (
    ("relu(a)", "xp.maximum(a, 0)", "relu(a)", "Relu(a)"),
    ("relu6(a)", "xp.clip(a, 0, 6)", "relu6(a)", "Clip(a, constant(0.0), constant(6.0))"),
    ("silu(a)", "a / (1 + xp.exp(-a))", "silu(a)", "Mul(a, Sigmoid(a))"),
    ("gelu(a)", "a * special.ndtr(a)", "gelu(a, approximate=False)", "Gelu(a)"),
    (
        "gelu(a, approximate='tanh')",
        "a / 2 * (1 + xp.tanh((2 / xp.pi) ** 0.5 * (a + 0.044715 * a**3)))",
        "gelu(a, approximate=True)",
        "Gelu(a, approximate='tanh')",
    ),
    ("elu(a)", "xp.where(a > 0, a, xp.expm1(xp.minimum(a, 0)))", "elu(a)", "Elu(a)"),
    ("selu(a)", _SELU, "selu(a)", "Selu(a)"),
    (
        "celu(a, 2.0)",
        "xp.where(a > 0, a, 2 * xp.expm1(xp.minimum(a, 0) / 2))",
        "celu(a, 2.0)",
        "Celu(a, alpha=2.0)",
    ),
    ("leaky_relu(a)", "xp.where(a > 0, a, 0.01 * a)", "leaky_relu(a)", "LeakyRelu(a, alpha=0.01)"),
    ("softplus(a)", _SOFTPLUS, "softplus(a)", "Softplus(a)"),
    ("logsigmoid(a)", "-xp.logaddexp(-a, 0)", "log_sigmoid(a)", "Neg(Softplus(Neg(a)))"),
    ("mish(a)", f"a * xp.tanh({_SOFTPLUS})", "mish(a)", "Mish(a)"),
    ("hardswish(a)", "a * xp.clip(a + 3, 0, 6) / 6", "hard_swish(a)", "HardSwish(a)"),
    ("hardsigmoid(a)", "xp.clip(a + 3, 0, 6) / 6", "hard_sigmoid(a)", None),
    ("hardtanh(a)", "xp.clip(a, -1, 1)", "hard_tanh(a)", None),
    ("softsign(a)", "a / (1 + xp.abs(a))", "soft_sign(a)", "Softsign(a)"),
    ("tanhshrink(a)", "a - xp.tanh(a)", None, "Sub(a, Tanh(a))"),
    ("softshrink(a)", "xp.sign(a) * xp.maximum(xp.abs(a) - 0.5, 0)", None, None),
    ("hardshrink(a)", "xp.where(xp.abs(a) <= 0.5, 0, a)", None, "Shrink(a, bias=0.0, lambd=0.5)"),
    ("threshold(a, 0.5, 2.0)", "xp.where(a > 0.5, a, 2)", None, None),
):
    row(
        f"{call}, 4M",
        one(4 * M, low=-6, high=6),
        f"nn.{call}",
        numpy=None,
        jax=jax and f"nn.{jax}",
        onnx=onnx,
        reference=numpy,
    )
_PRELU = "xp.where(a > 0, a, w[:, None, None] * a)"
row(
    "prelu of channels, 16x64x56x56",
    {"a": Input((16, 64, 56, 56)), "w": Input((64,))},
    "nn.prelu(a, w)",
    numpy=None,
    jax=_PRELU,
    onnx="PRelu(a, constant('w[:, None, None]'))",
    reference=_PRELU,
)
for n in (K, 4 * K):
    row(
        f"glu, {4 * M // n}x{n}",
        one(4 * M // n, n, low=-6, high=6),
        "nn.glu(a)",
        numpy=None,
        reference=f"a[:, : {n // 2}] / (1 + xp.exp(-a[:, {n // 2} :]))",
    )


def normal(axes: tuple[int, ...], groups: str = "a.shape") -> str:
    """A NumPy expression of `a`, reshaped, minus the mean and divided by the standard deviation over axes."""
    mean, var = (f"x.{name}({axes}, keepdims=True)" for name in ("mean", "var"))
    rows = f"(lambda x: (x - {mean}) / xp.sqrt({var} + 1e-5))(a.reshape({groups}))"
    return f"{rows}.reshape(a.shape) * w[:, None, None] + b[:, None, None]"


def _places(n: int) -> np.ndarray:
    import numpy as np

    return np.arange(n)


channels = Family("norms by channels", 0.7)
row = channels.row
_IMAGES = {"a": Input((16, 64, 56, 56)), "w": Input((64,)), "b": Input((64,))}
_STATISTICS = {"m": Input((64,)), "v": Input((64,), low=0.5, high=2)}
_WEIGHTS = 'constant("w"), constant("b")'
_GIVEN = "(a - m[:, None, None]) / xp.sqrt(v + 1e-5)[:, None, None] * w[:, None, None] + b[:, None, None]"
for name, inputs, call, numpy, onnx in (
    (
        "batch_norm",
        _IMAGES | _STATISTICS,
        "nn.batch_norm(a, m, v, w, b)",
        _GIVEN,
        f'BatchNormalization(a, {_WEIGHTS}, constant("m"), constant("v"))',
    ),
    (
        "batch_norm of the batch",
        _IMAGES,
        "nn.batch_norm(a, None, None, w, b, training=True)",
        normal((0, 2, 3)),
        None,
    ),
    (
        "group_norm",
        _IMAGES,
        "nn.group_norm(a, 8, w, b)",
        normal((2, 3, 4), "(16, 8, 8, 56, 56)"),
        f"GroupNormalization(a, {_WEIGHTS}, num_groups=8)",
    ),
    (
        "instance_norm",
        _IMAGES,
        "nn.instance_norm(a, weight=w, bias=b)",
        normal((2, 3)),
        f"InstanceNormalization(a, {_WEIGHTS})",
    ),
):
    row(f"{name}, 16x64x56x56", inputs, call, numpy=None, jax=numpy, onnx=onnx, reference=numpy)
_SQUARES = "sum(xp.pad(a * a, ((0, 0), (2, 2), (0, 0), (0, 0)))[:, k : k + 64] for k in range(5))"
row(
    "local_response_norm, 16x64x56x56",
    one(16, 64, 56, 56),
    "nn.local_response_norm(a, 5)",
    numpy=None,
    jax=f"a / (1 + 2e-5 * {_SQUARES}) ** 0.75",
    onnx="LRN(a, size=5)",
    reference=f"a / (1 + 2e-5 * {_SQUARES}) ** 0.75",
)
_NORMALIZED = "a / xp.linalg.norm(a, axis=1, keepdims=True)"
for name, sides in (("normalize", (4 * K, 768)), ("normalize of channels", (8, 256, 56, 56))):
    row(
        f"{name}, {shape(*sides)}",
        one(*sides),
        "nn.normalize(a)",
        numpy=None,
        jax=_NORMALIZED,
        onnx="LpNormalization(a, axis=1, p=2)",
        reference=_NORMALIZED,
    )

embeddings = Family("embeddings", 0.8)
row = embeddings.row
_TABLE = {"w": Input((30522, 384)), "i": Input((K, 32), "int64", 0, 30522)}
for mode, numpy, onnx in (
    ("mean", "mean(1)", "ReduceMean({}, constant([1]), keepdims=0)"),
    ("sum", "sum(1)", "ReduceSum({}, constant([1]), keepdims=0)"),
    ("max", "max(1)", "ReduceMax({}, constant([1]), keepdims=0)"),
):
    row(
        f"embedding_bag, {mode} of 1024x32 of 30522x384",
        _TABLE,
        f"nn.embedding_bag(i, w, mode={mode!r})",
        numpy=f"w[i].{numpy}",
        jax=f"w[i].{numpy}",
        onnx=onnx.format("Gather(constant('w'), i)"),
        reads=K * 32 * (384 * 4 + 8),
    )
row(
    "embedding_bag, weighted sums, offsets, 8192 of 32 of 1000000x16",
    {
        "w": Input((10**6, 16)),
        "i": Input((256 * K,), "int64", 0, 10**6),
        "o": Known(lambda: 32 * _places(8 * K)),
        "s": Input((256 * K,)),
    },
    "nn.embedding_bag(i, w, o, mode='sum', per_sample_weights=s)",
    numpy="(w[i] * s[:, None]).reshape(8192, 32, 16).sum(1)",
    jax="(w[i] * s[:, None]).reshape(8192, 32, 16).sum(1)",
    reads=256 * K * (16 * 4 + 8),
)
_ONE_HOT = {"i": Input((16 * K,), "int64", 0, 100)}
row(
    "one_hot, 16384 of 100",
    _ONE_HOT,
    "nn.one_hot(i, 100)",
    numpy="(i[:, None] == xp.arange(100)).astype('int64')",
    jax="nn.one_hot(i, 100, dtype=xp.int64)",
)
for name, size in (("dropout", (4 * M,)), ("dropout2d", (16, 64, 56, 56))):
    row(
        f"{name}, {shape(*size)}",
        one(*size),
        f"nn.{name}(a, 0.5, True)",
        flex=f"nn.{name}(a, 0.5, True, seed=3)",
        numpy=None,
        jax=None,
        reference="2 * a",
        compared="xp.where(r == 0, 2 * a, r)",
    )

FAMILIES = [activations, channels, embeddings]
