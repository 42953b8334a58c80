"""Layers of models: activations with parameters, norms by channels, losses."""

from ..table import Family, Input, K, M, one

activations = Family("activations of models", 0.8)
row = activations.row
_SOFTPLUS = "xp.logaddexp(a, 0)"
for call, numpy in (
    ("elu(a)", "xp.where(a > 0, a, xp.expm1(xp.minimum(a, 0)))"),
    ("celu(a, 2.0)", "xp.where(a > 0, a, 2 * xp.expm1(xp.minimum(a, 0) / 2))"),
    ("leaky_relu(a)", "xp.where(a > 0, a, 0.01 * a)"),
    ("softplus(a)", _SOFTPLUS),
    ("logsigmoid(a)", "-xp.logaddexp(-a, 0)"),
    ("mish(a)", f"a * xp.tanh({_SOFTPLUS})"),
    ("hardswish(a)", "a * xp.clip(a + 3, 0, 6) / 6"),
    ("softsign(a)", "a / (1 + xp.abs(a))"),
    ("hardshrink(a)", "xp.where(xp.abs(a) <= 0.5, 0, a)"),
):
    operands = one(4 * M, low=-6, high=6)
    row(f"{call}, 4M", operands, f"nn.{call}", numpy=None, jax=None, reference=numpy)


def normal(axes: tuple[int, ...], shape: str = "a.shape") -> str:
    """`a`, seen in a shape, less the mean and divided by the deviation over axes, in NumPy."""
    mean, var = (f"x.{name}({axes}, keepdims=True)" for name in ("mean", "var"))
    rows = f"(lambda x: (x - {mean}) / xp.sqrt({var} + 1e-5))(a.reshape({shape}))"
    return f"{rows}.reshape(a.shape) * w[:, None, None] + b[:, None, None]"


channels = Family("norms by channels", 0.7)
row = channels.row
_IMAGES = {"a": Input((16, 64, 56, 56)), "w": Input((64,)), "b": Input((64,))}
_STATISTICS = {"m": Input((64,)), "v": Input((64,), low=0.5, high=2)}
_GIVEN = "(a - m[:, None, None]) / xp.sqrt(v + 1e-5)[:, None, None] * w[:, None, None] + b[:, None, None]"
for name, inputs, call, numpy in (
    ("batch_norm", _IMAGES | _STATISTICS, "nn.batch_norm(a, m, v, w, b)", _GIVEN),
    (
        "batch_norm of the batch",
        _IMAGES,
        "nn.batch_norm(a, None, None, w, b, training=True)",
        normal((0, 2, 3)),
    ),
    ("group_norm", _IMAGES, "nn.group_norm(a, 8, w, b)", normal((2, 3, 4), "(16, 8, 8, 56, 56)")),
    ("instance_norm", _IMAGES, "nn.instance_norm(a, weight=w, bias=b)", normal((2, 3))),
):
    row(f"{name}, 16x64x56x56", inputs, call, numpy=None, jax=None, reference=numpy)
row(
    "normalize, 4096x768",
    one(4 * K, 768),
    "nn.normalize(a)",
    numpy=None,
    jax=None,
    reference="a / xp.linalg.norm(a, axis=1, keepdims=True)",
)

losses = Family("losses", 0.8)
row = losses.row
_PAIR = {"a": Input((M,)), "t": Input((M,), low=0)}
_CLASSES = {"a": Input((4 * K, K)), "t": Input((4 * K,), "int64", low=0, high=K - 1)}
for name, inputs, call, numpy in (
    ("mse_loss, 1M", _PAIR, "nn.mse_loss(a, t)", "xp.mean((a - t) ** 2)"),
    (
        "smooth_l1_loss, 1M",
        _PAIR,
        "nn.smooth_l1_loss(a, t)",
        "xp.mean(xp.where(abs(a - t) < 1, (a - t) ** 2 / 2, abs(a - t) - 0.5))",
    ),
    (
        "with logits, 1M",
        _PAIR,
        "nn.binary_cross_entropy_with_logits(a, t)",
        "xp.mean((1 - t) * a + xp.logaddexp(-a, 0))",
    ),
    (
        "cross_entropy, 4096x1024",
        _CLASSES,
        "nn.cross_entropy(a, t)",
        "xp.mean(special.logsumexp(a, axis=1) - a[xp.arange(len(t)), t.astype(int)])",
    ),
):
    row(name, inputs, call, numpy=None, jax=None, reference=numpy)

FAMILIES = [activations, channels, losses]
