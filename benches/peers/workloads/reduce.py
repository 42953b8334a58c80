"""Operations along axes: reductions, norms, scans, sorts."""

from ..table import Family, Input, K, M, one, shape, size

reductions = Family("reductions", 0.9)
row = reductions.row
for n in (64 * K, M, 16 * M):
    row(
        f"sum, {size(n)}", one(n, low=0), "xp.sum(a)", numexpr="sum(a)", tolerance=1e-4
    )  # numexpr uses a single running sum
for name, inputs, torch in [
    ("sum", {"low": 0}, "xp.sum(a, {})"),
    ("mean", {"low": 0}, "xp.mean(a, {})"),
    ("max", {}, "xp.amax(a, {})"),
    ("argmax", {}, "xp.argmax(a, {})"),
    ("var", {}, "xp.var(a, {}, correction=0)"),
]:
    for axis in (0, 1):
        row(
            f"{name}, axis {axis} of 1024x1024",
            one(K, K, **inputs),
            f"xp.{name}(a, axis={axis})",
            torch=torch.format(axis),
        )
SHORT = ((100 * K, 8), (16 * K, 49))
for sides in SHORT:
    for name, torch in (
        ("sum", "xp.sum(a, 1)"),
        ("max", "xp.amax(a, 1)"),
        ("argmax", "xp.argmax(a, 1)"),
    ):
        row(
            f"{name}, axis 1 of {shape(*sides)}",
            one(*sides, low=0),
            f"xp.{name}(a, axis=1)",
            torch=torch,
        )
row(
    "argmax, axis 1 of 8x21x128x128",
    one(8, 21, 128, 128),
    "xp.argmax(a, axis=1)",
    torch="xp.argmax(a, 1)",
)
row("sum, axis 1 of 64x256x64", one(64, 256, 64, low=0), "xp.sum(a, axis=1)")
for n in (M, 16 * M):
    row(f"max, {size(n)}", one(n), "xp.max(a)")
    row(f"argmax, {size(n)}", one(n), "xp.argmax(a)")
    row(f"mean, {size(n)}", one(n, low=0), "xp.mean(a)")
    row(
        f"sum bfloat16, {size(n)}",
        one(n, dtype="bfloat16", low=0),
        "xp.sum(a)",
        numpy=None,
        reference="xp.sum(a)",
    )
row("var, 1M", one(M), "xp.var(a)", torch="xp.var(a, correction=0)")
for dtype in ("float32", "float64"):
    row(
        f"prod {dtype}, 1M",
        one(M, dtype=dtype, low=0.999999, high=1.000001),
        "xp.prod(a)",
        tolerance=2e-2 if dtype == "float32" else None,
    )
row("sum int32, 1M", one(M, dtype="int32", low=-99, high=99), "xp.sum(a)")
row("sum int64, 1M", one(M, dtype="int64", low=-99, high=99), "xp.sum(a)")
row("any of no true, 1M", one(M, dtype="bool", high=0), "xp.any(a)")
row("any, axis 1 of 1024x1024", one(K, K, dtype="bool", high=0), "xp.any(a, axis=1)")
row("count_nonzero of bool, 1M", one(M, dtype="bool"), "xp.count_nonzero(a)")
row(
    "logsumexp, axis 1 of 1024x1024",
    one(K, K),
    "xp.logsumexp(a, axis=1)",
    numpy="special.logsumexp(a, axis=1)",
    jax="special.logsumexp(a, axis=1)",
    torch="xp.logsumexp(a, 1)",
)

norms = Family("softmax, norms", 0.85)
row = norms.row
FAST = 0.6
_SOFTMAX = "(lambda e: e / e.sum(-1, keepdims=True))(xp.exp(a - a.max(-1, keepdims=True)))"
_LOG_SOFTMAX = "(lambda x: x - xp.log(xp.sum(xp.exp(x), axis=-1, keepdims=True)))(a - a.max(-1, keepdims=True))"
_LAYER_NORM = "(lambda x: x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-5))(a - xp.mean(a, axis=-1, keepdims=True)) * w + b"
_RMS_NORM = "a / xp.sqrt(xp.mean(a * a, axis=-1, keepdims=True) + 1e-5) * w"
for sides in ((4096, 1024), (128, 384), (1, 50257), *SHORT):
    name, columns, goal = shape(*sides), sides[1], FAST if sides[0] == 1 else norms.goal
    scores = one(*sides, low=-4, high=4)
    norm = {"a": Input(sides), "w": Input((columns,)), "b": Input((columns,))}
    row(
        f"softmax, {name}",
        scores,
        "nn.softmax(a, axis=-1)",
        numpy=_SOFTMAX,
        torch="nn.softmax(a, -1)",
        onnx="Softmax(a)",
        goal=goal,
    )
    row(
        f"log_softmax, {name}",
        scores,
        "nn.log_softmax(a, axis=-1)",
        numpy=_LOG_SOFTMAX,
        torch="nn.log_softmax(a, -1)",
        onnx="LogSoftmax(a)",
        goal=goal,
    )
    row(
        f"layer_norm, {name}",
        norm,
        f"nn.layer_norm(a, ({columns},), w, b, 1e-5)",
        numpy=_LAYER_NORM,
        jax=_LAYER_NORM,
        onnx="LayerNormalization(a, constant('w'), constant('b'))",
        goal=goal,
    )
    row(
        f"rms_norm, {name}",
        norm,
        f"nn.rms_norm(a, ({columns},), w, 1e-5)",
        numpy=_RMS_NORM,
        jax=_RMS_NORM,
        onnx="RMSNormalization(a, constant('w'))",
        goal=FAST,
    )
_CHANNELS = one(8, 21, 128, 128, low=-4, high=4)
for name, onnx in (("softmax", "Softmax"), ("log_softmax", "LogSoftmax")):
    row(
        f"{name} of channels, 8x21x128x128",
        _CHANNELS,
        f"nn.{name}(a, axis=1)",
        numpy=None,
        torch=f"nn.{name}(a, 1)",
        onnx=f"{onnx}(a, axis=1)",
        reference=f"special.{name}(a, 1)",
    )
_SUM_NORM = "(lambda a: " + _RMS_NORM + ")(a + r)"
row(
    "rms_norm of a sum, 4096x1024",
    {"a": Input((4096, 1024)), "r": Input((4096, 1024)), "w": Input((1024,))},
    "nn.rms_norm(a, (1024,), w, 1e-5, residual=r)[0]",
    numpy=None,
    torch="nn.rms_norm(a + r, (1024,), w, 1e-5)",
    jax=_SUM_NORM,
    onnx="RMSNormalization(Add(a, r), constant('w'))",
    reference=_SUM_NORM,
)

scans = Family("scans", 0.6)
row = scans.row
for dtype in ("float32", "float64", "int64"):
    values = (
        {"dtype": dtype, "low": -99, "high": 99} if dtype == "int64" else {"dtype": dtype, "low": 0}
    )
    for name, sides, axis in (
        ("1M", (M,), 0),
        ("axis 0 of 1024x1024", (K, K), 0),
        ("axis 1 of 1024x1024", (K, K), 1),
    ):
        row(
            f"cumulative_sum {dtype}, {name}",
            one(*sides, **values),
            f"xp.cumulative_sum(a, axis={axis})",
            torch=f"xp.cumsum(a, {axis})",
            tolerance=1e-4,
        )
row(
    "cumulative_prod float64, 1M",
    one(M, dtype="float64", low=0.999999, high=1.000001),
    "xp.cumulative_prod(a, axis=0)",
    torch="xp.cumprod(a, 0)",
)
row("diff, 1M", one(M), "xp.diff(a)")

sorting = Family("sorting", 0.9)
row = sorting.row
PARTLY = 0.4
for dtype, bound in (("float32", 1), ("int32", 2**31), ("int64", 10**12)):
    values = {"dtype": dtype, "low": -bound, "high": bound}
    row(f"sort {dtype}, 1M", one(M, **values), "xp.sort(a)", torch="xp.sort(a).values")
    row(
        f"sort {dtype}, rows of 1024x1024",
        one(K, K, **values),
        "xp.sort(a, axis=1)",
        torch="xp.sort(a, 1).values",
    )
    row(
        f"argsort {dtype}, 1M",
        one(M, **values),
        "xp.argsort(a)",
        reference="xp.sort(a)",
        compared="a[r]",
        goal=PARTLY,
    )
row(
    "argsort, rows of 1024x1024",
    one(K, K),
    "xp.argsort(a, axis=1)",
    torch="xp.argsort(a, 1)",
    reference="xp.sort(a, axis=1)",
    compared="xp.take_along_axis(a, r, 1)",
    goal=PARTLY,
)
row("sort, columns of 1024x1024", one(K, K), "xp.sort(a, axis=0)", torch="xp.sort(a, 0).values")
_TOPK = {
    "numpy": "-xp.sort(-xp.partition(a, -50)[-50:])",
    "torch": "xp.topk(a, 50).values",
    "jax": "jax.lax.top_k(a, 50)[0]",
}
for n in (50_000, M):
    row(f"topk 50 of {n}", one(n), "xp.topk(a, 50)[0]", goal=PARTLY, **_TOPK)
row(
    "topk 10, rows of 1024x1024",
    one(K, K),
    "xp.topk(a, 10)[0]",
    numpy="-xp.sort(-xp.partition(a, -10, axis=1)[:, -10:], axis=1)",
    torch="xp.topk(a, 10).values",
    jax="jax.lax.top_k(a, 10)[0]",
    goal=PARTLY,
)
row(
    "searchsorted, 64K in 64K",
    {
        "a": Input((64 * K,), "int32", 0, 2**30, ordered=True),
        "b": Input((64 * K,), "int32", 0, 2**30),
    },
    "xp.searchsorted(a, b)",
)

FAMILIES = [reductions, norms, scans, sorting]
