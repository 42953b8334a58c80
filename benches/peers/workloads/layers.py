"""Layers of models: activations with parameters, norms over channels."""

from ..table import Family, Input, K, M, one

activations = Family("activations of models", 0.8)
row = activations.row
_SOFTPLUS = "xp.logaddexp(a, 0)"
for call, numpy, jax, onnx in (
    ("relu(a)", "xp.maximum(a, 0)", "relu(a)", "Relu(a)"),
    ("gelu(a)", "a * special.ndtr(a)", "gelu(a, approximate=False)", "Gelu(a)"),
    ("elu(a)", "xp.where(a > 0, a, xp.expm1(xp.minimum(a, 0)))", "elu(a)", "Elu(a)"),
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
    ("softsign(a)", "a / (1 + xp.abs(a))", "soft_sign(a)", "Softsign(a)"),
    ("hardshrink(a)", "xp.where(xp.abs(a) <= 0.5, 0, a)", None, "Shrink(a, bias=0.0, lambd=0.5)"),
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


def normal(axes: tuple[int, ...], shape: str = "a.shape") -> str:
    """A NumPy expression of `a`, reshaped, minus the mean and divided by the standard deviation over axes."""
    mean, var = (f"x.{name}({axes}, keepdims=True)" for name in ("mean", "var"))
    rows = f"(lambda x: (x - {mean}) / xp.sqrt({var} + 1e-5))(a.reshape({shape}))"
    return f"{rows}.reshape(a.shape) * w[:, None, None] + b[:, None, None]"


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
_NORMALIZED = "a / xp.linalg.norm(a, axis=1, keepdims=True)"
row(
    "normalize, 4096x768",
    one(4 * K, 768),
    "nn.normalize(a)",
    numpy=None,
    jax=_NORMALIZED,
    onnx="LpNormalization(a, axis=1, p=2)",
    reference=_NORMALIZED,
)

FAMILIES = [activations, channels]
