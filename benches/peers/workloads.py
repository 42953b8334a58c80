"""The workloads: a row each. An expression sees its inputs by name and the library's namespace as `xp`.

The first expression is for every library that spells it so (NumPy, flex, jax.numpy: the array API standard's names); a keyword gives
another library's own spelling, None leaves it out. numexpr takes part where a row has an expression for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

TOLERANCE = {"float64": 1e-11, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}


@dataclass(frozen=True)
class Input:
    """Random values, uniform in [low, high)."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float = -1
    high: float = 1

    def values(self, rng: np.random.Generator) -> np.ndarray:
        """As a NumPy array, rounded to the dtype; bfloat16 needs ml_dtypes."""
        import numpy as np

        if self.dtype == "bool":
            return rng.random(self.shape) < 0.5
        if "int" in self.dtype:
            return rng.integers(int(self.low), int(self.high), self.shape).astype(self.dtype)
        values = rng.uniform(self.low, self.high, self.shape).astype(np.float32 if self.dtype != "float64" else np.float64)
        if self.dtype == "bfloat16":
            import ml_dtypes

            return values.astype(ml_dtypes.bfloat16)
        return values.astype(self.dtype)


class Workload:
    """One row."""

    def __init__(
        self,
        family: str,
        name: str,
        inputs: dict[str, Input],
        expression: str | None,
        *,
        tolerance: float | None = None,
        **spellings: str | None,
    ):
        self.family, self.name, self.inputs = family, name, inputs
        # Relative to the largest result; by default what the least exact input allows.
        self.tolerance = max(TOLERANCE.get(given.dtype, 0.0) for given in inputs.values()) if tolerance is None else tolerance
        self._expression = expression
        self._spellings = {"numexpr": None, **spellings}

    def expression(self, library: str) -> str | None:
        """What `library` evaluates; None when it does not take part."""
        return self._spellings.get(library, self._expression)

    @property
    def reference(self) -> str:
        """What NumPy evaluates in float64 for the result that others are checked against."""
        return self._spellings.get("reference") or self.expression("numpy")


@dataclass
class _Table:
    rows: list[Workload] = field(default_factory=list)

    def family(self, family: str):
        def row(name: str, inputs: dict[str, Input], expression: str | None, **more: str | float | None) -> None:
            self.rows.append(Workload(family, name, inputs, expression, **more))

        return row


def _x(*shape: int, dtype: str = "float32", low: float = -1, high: float = 1) -> dict[str, Input]:
    return {"a": Input(shape, dtype, low, high)}


def _xy(*shape: int, dtype: str = "float32", low: float = -1, high: float = 1) -> dict[str, Input]:
    return {name: Input(shape, dtype, low, high) for name in "ab"}


K, M = 1 << 10, 1 << 20
_table = _Table()

row = _table.family("overhead")
row("add, 16", _xy(16), "a + b")
row("multiply by a number, 16", _x(16), "a * 2.5")
row("exp, 16", _x(16), "xp.exp(a)")
row("less, 16", _xy(16), "a < b")
row("sum, 16", _x(16), "xp.sum(a)")
row("slice", _x(16), "a[2:10]")
row("reshape", _x(16), "xp.reshape(a, (4, 4))")
row("matmul, 4x4", _xy(4, 4), "a @ b")

row = _table.family("elementwise in cache")
for n in (4 * K, 64 * K):
    row(f"add, {n // K}K", _xy(n), "a + b", numexpr="a + b")
row("multiply, then add, 64K", {**_xy(64 * K), "c": Input((64 * K,))}, "a * b + c", numexpr="a * b + c")
row("multiply by a number, 64K", _x(64 * K), "a * 2.5", numexpr="a * 2.5")
row("divide, 64K", _xy(64 * K, low=0.5), "a / b", numexpr="a / b")
row("maximum, 64K", _xy(64 * K), "xp.maximum(a, b)")
row("sqrt, 64K", _x(64 * K, low=0), "xp.sqrt(a)", numexpr="sqrt(a)")
row("greater, 64K", _xy(64 * K), "a > b", numexpr="a > b")
row("where, 64K", {**_xy(64 * K), "c": Input((64 * K,), "bool")}, "xp.where(c, a, b)", numexpr="where(c, a, b)")
row("add int64, 64K", _xy(64 * K, dtype="int64", low=-99, high=99), "a + b", numexpr="a + b")
row("add bfloat16, 64K", _xy(64 * K, dtype="bfloat16"), "a + b")

row = _table.family("elementwise large")
for n in (M, 16 * M):
    row(f"add, {n // M}M", _xy(n), "a + b", numexpr="a + b")
row("multiply by a number, 16M", _x(16 * M), "a * 2.5", numexpr="a * 2.5")
row("add float64, 4M", _xy(4 * M, dtype="float64"), "a + b", numexpr="a + b")
row("add int32, 16M", _xy(16 * M, dtype="int32", low=-99, high=99), "a + b", numexpr="a + b")
row("greater, 16M", _xy(16 * M), "a > b", numexpr="a > b")
row("a * b + a, 16M", _xy(16 * M), "a * b + a", numexpr="a * b + a")

row = _table.family("broadcast")
row("row, 1024x1024", {**_x(K, K), "b": Input((K,))}, "a + b")
row("column, 1024x1024", {**_x(K, K), "b": Input((K, 1))}, "a + b")
row("outer, 2048x2048", {"a": Input((2 * K, 1)), "b": Input((2 * K,))}, "a * b")
row("a.T + b, 1024x1024", _xy(K, K), "a.T + b")
row("flip(a) + b, 1M", _xy(M), "xp.flip(a) + b", torch="xp.flip(a, (0,)) + b")
row("every second, 2M", _xy(2 * M), "a[::2] + b[::2]")
row(
    "permuted, 64x128x128",
    {"a": Input((128, 64, 128)), "b": Input((64, 128, 128))},
    "xp.permute_dims(a, (1, 0, 2)) + b",
    torch="a.permute(1, 0, 2) + b",
)

row = _table.family("math")
for name in ("exp", "sin", "tanh"):
    row(f"{name}, 1M", _x(M, low=-4, high=4), f"xp.{name}(a)", numexpr=f"{name}(a)")
row("log, 1M", _x(M, low=0.1, high=9), "xp.log(a)", numexpr="log(a)")
row("erf, 1M", _x(M, low=-3, high=3), "xp.erf(a)", numpy="special.erf(a)", jax="special.erf(a)")
row(
    "sigmoid, 1M",
    _x(M, low=-9, high=9),
    "xp.sigmoid(a)",
    numpy="1 / (1 + xp.exp(-a))",
    jax="jax.nn.sigmoid(a)",
    numexpr="1 / (1 + exp(-a))",
)
row("pow, 1M", _xy(M, low=0.5, high=3), "xp.pow(a, b)", numexpr="a ** b")
row("atan2, 1M", _xy(M), "xp.atan2(a, b)", numexpr="arctan2(a, b)")
row("exp float64, 1M", _x(M, dtype="float64", low=-4, high=4), "xp.exp(a)", numexpr="exp(a)")
row("exp bfloat16, 1M", _x(M, dtype="bfloat16", low=-4, high=4), "xp.exp(a)")
row("exp float16, 1M", _x(M, dtype="float16", low=-4, high=4), "xp.exp(a)")

row = _table.family("casts")
for source, target in [
    ("float32", "float64"),
    ("float64", "float32"),
    ("float32", "float16"),
    ("float16", "float32"),
    ("float32", "bfloat16"),
    ("bfloat16", "float32"),
    ("float32", "int32"),
    ("int64", "float32"),
    ("uint8", "float32"),
    ("float32", "bool"),
]:
    numpy_target = "bfloat16" if target == "bfloat16" else f"xp.{target}"
    row(
        f"{source} to {target}, 1M",
        _x(M, dtype=source, low=0, high=100),
        f"xp.astype(a, xp.{target})",
        numpy=f"xp.astype(a, {numpy_target})",
        torch=f"a.to(xp.{target})",
    )

row = _table.family("reductions")
row("sum, 64K", _x(64 * K, low=0), "xp.sum(a)", numexpr="sum(a)")
row("sum, 1M", _x(M, low=0), "xp.sum(a)", numexpr="sum(a)", tolerance=1e-4)  # numexpr has one running sum
row("sum, 16M", _x(16 * M, low=0), "xp.sum(a)", numexpr="sum(a)")
row("sum, axis 0 of 1024x1024", _x(K, K, low=0), "xp.sum(a, axis=0)")
row("sum, axis 1 of 1024x1024", _x(K, K, low=0), "xp.sum(a, axis=1)")
row("sum, axis 1 of 64x256x64", _x(64, 256, 64, low=0), "xp.sum(a, axis=1)")
row("max, 1M", _x(M), "xp.max(a)")
row("argmax, axis 1 of 1024x1024", _x(K, K), "xp.argmax(a, axis=1)")
row("var, axis 1 of 1024x1024", _x(K, K), "xp.var(a, axis=1)", torch="xp.var(a, axis=1, correction=0)")
row("prod float64, 1M", _x(M, dtype="float64", low=0.999999, high=1.000001), "xp.prod(a)")
row("sum bfloat16, 4M", _x(4 * M, dtype="bfloat16", low=0), "xp.sum(a)", numpy=None, reference="xp.sum(a)")
row("sum int32, 1M", _x(M, dtype="int32", low=-99, high=99), "xp.sum(a)")
row("count_nonzero of bool, 1M", _x(M, dtype="bool"), "xp.count_nonzero(a)")
row(
    "logsumexp, axis 1 of 1024x1024",
    _x(K, K),
    "xp.logsumexp(a, axis=1)",
    numpy="special.logsumexp(a, axis=1)",
    jax="special.logsumexp(a, axis=1)",
    torch="xp.logsumexp(a, 1)",
)

row = _table.family("softmax and norms")
_SOFTMAX = "(lambda e: e / e.sum(-1, keepdims=True))(xp.exp(a - a.max(-1, keepdims=True)))"
for rows, columns in ((4096, 1024), (1, 50257)):
    row(
        f"softmax, {rows}x{columns}", _x(rows, columns, low=-4, high=4), "nn.softmax(a, axis=-1)", numpy=_SOFTMAX, torch="nn.softmax(a, -1)"
    )
row(
    "log_softmax, 4096x1024",
    _x(4096, 1024, low=-4, high=4),
    "nn.log_softmax(a, axis=-1)",
    numpy="(lambda x: x - xp.log(xp.sum(xp.exp(x), axis=-1, keepdims=True)))(a - a.max(-1, keepdims=True))",
    torch="nn.log_softmax(a, -1)",
)
_NORM = {"a": Input((4096, 768)), "w": Input((768,)), "b": Input((768,))}
_LAYER_NORM = "(lambda x: x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-5))(a - xp.mean(a, axis=-1, keepdims=True)) * w + b"
row("layer_norm, 4096x768", _NORM, "nn.layer_norm(a, (768,), w, b, 1e-5)", numpy=_LAYER_NORM, jax=_LAYER_NORM)
_RMS_NORM = "a / xp.sqrt(xp.mean(a * a, axis=-1, keepdims=True) + 1e-5) * w"
row("rms_norm, 4096x768", _NORM, "nn.rms_norm(a, (768,), w, 1e-5)", numpy=_RMS_NORM, jax=_RMS_NORM)

row = _table.family("scans")
for name, given, axis in [
    ("1M", _x(M, low=0), 0),
    ("axis 1 of 1024x1024", _x(K, K, low=0), 1),
    ("axis 0 of 1024x1024", _x(K, K, low=0), 0),
    ("float64, 1M", _x(M, dtype="float64", low=0), 0),
    ("int64, 1M", _x(M, dtype="int64", low=-99, high=99), 0),
]:
    row(f"cumulative_sum, {name}", given, f"xp.cumulative_sum(a, axis={axis})", torch=f"xp.cumsum(a, {axis})", tolerance=1e-4)
row(
    "cumulative_prod float64, 1M",
    _x(M, dtype="float64", low=0.999999, high=1.000001),
    "xp.cumulative_prod(a, axis=0)",
    torch="xp.cumprod(a, 0)",
)
row("diff, 1M", _x(M), "xp.diff(a)")

row = _table.family("sorting")
row("sort, 1M", _x(M), "xp.sort(a)", torch="xp.sort(a).values")
row("sort, rows of 1024x1024", _x(K, K), "xp.sort(a, axis=1)", torch="xp.sort(a, 1).values")
row("sort int64, 1M", _x(M, dtype="int64", low=-(10**12), high=10**12), "xp.sort(a)", torch="xp.sort(a).values")
row("argsort, 1M", _x(M), "xp.take(a, xp.argsort(a))", torch="a[xp.argsort(a)]")
_TOPK = {"numpy": "-xp.sort(-xp.partition(a, -50)[-50:])", "torch": "xp.topk(a, 50).values", "jax": "jax.lax.top_k(a, 50)[0]"}
row("topk 50 of 50K", _x(50_000), "xp.topk(a, 50)[0]", **_TOPK)
row("topk 50 of 1M", _x(M), "xp.topk(a, 50)[0]", **_TOPK)
row(
    "searchsorted, 64K in 64K",
    {"a": Input((64 * K,), "int32", 0, 2**30), "b": Input((64 * K,), "int32", 0, 2**30)},
    "xp.searchsorted(xp.sort(a), b)",
    torch="xp.searchsorted(xp.sort(a).values, b)",
)

row = _table.family("indexing")
row("mask, 1M", {**_x(M), "m": Input((M,), "bool")}, "a[m]", jax=None)
row("nonzero, 1M", _x(M, dtype="bool"), "xp.nonzero(a)[0]", torch="xp.nonzero(a, as_tuple=True)[0]", jax=None)
row(
    "take rows, 8192 of 30522x384",
    {"a": Input((30522, 384)), "i": Input((8192,), "int64", 0, 30522)},
    "xp.take(a, i, axis=0)",
    torch="a[i]",
)
row(
    "take_along_axis, 1024x1024",
    {**_x(K, K), "i": Input((K, K), "int64", 0, K)},
    "xp.take_along_axis(a, i, axis=1)",
    torch="xp.gather(a, 1, i)",
)
row("a[i, j], 1M", {**_x(K, K), "i": Input((M,), "int64", 0, K), "j": Input((M,), "int64", 0, K)}, "a[i, j]")
row(
    "every third row and column, 2048x2048",
    _x(2 * K, 2 * K),
    "xp.asarray(a[::3, ::3], copy=True)",
    torch="a[::3, ::3].contiguous()",
    jax="a[::3, ::3] + 0",
)
row(
    "transpose, 2048x2048",
    _x(2 * K, 2 * K),
    "xp.asarray(a.T, copy=True)",
    numpy="xp.ascontiguousarray(a.T)",
    torch="a.T.contiguous()",
    flex="a.T.contiguous()",
    jax="a.T + 0",
)
row("concat, 2 x 1M", _xy(M), "xp.concat([a, b])")

row = _table.family("matmul")
for n in (16, 64, 128, 256, 512, 1024):
    row(f"{n}x{n}x{n}", _xy(n, n), "a @ b")
for m, k, n in ((8, 1024, 4096), (1, 4096, 4096), (32, 384, 1536)):
    row(f"{m}x{k}x{n}", {"a": Input((m, k)), "b": Input((k, n))}, "a @ b")
row("matrix by vector, 4096", {"a": Input((4096, 4096)), "b": Input((4096,))}, "a @ b")
row("96 of 64x64x64", _xy(96, 64, 64), "a @ b")
row("a.T @ b.T, 512", _xy(512, 512), "a.T @ b.T")
row("float64, 512", _xy(512, 512, dtype="float64"), "a @ b")
row("bfloat16, 512", _xy(512, 512, dtype="bfloat16"), "a @ b", numpy=None, reference="a @ b")
row("float16, 512", _xy(512, 512, dtype="float16"), "a @ b", numpy=None, reference="a @ b")
row("int32, 256", _xy(256, 256, dtype="int32", low=-99, high=99), "a @ b")

row = _table.family("model")
_LINEAR = {"a": Input((32, 64, 384)), "w": Input((1536, 384)), "b": Input((1536,))}
row("linear, 32x64x384 to 1536", _LINEAR, "nn.linear(a, w, b)", numpy="a @ w.T + b", jax="a @ w.T + b")
row(
    "linear and gelu",
    _LINEAR,
    "nn.gelu(nn.linear(a, w, b))",
    numpy="(lambda x: 0.5 * x * (1 + special.erf(x * 2 ** -0.5)))(a @ w.T + b)",
    jax="jax.nn.gelu(a @ w.T + b, approximate=False)",
)
_ATTENTION = {name: Input((32, 12, 64, 32)) for name in "qkv"}
row(
    "attention, 32x12x64x32",
    _ATTENTION,
    "nn.scaled_dot_product_attention(q, k, v)",
    numpy="(lambda e: e / e.sum(-1, keepdims=True) @ v)(xp.exp(q @ k.swapaxes(-1, -2) * 32 ** -0.5))",
    jax="jax.nn.softmax(q @ k.swapaxes(-1, -2) * 32 ** -0.5, axis=-1) @ v",
)
row(
    "embedding, 32x64 of 30522x384",
    {"w": Input((30522, 384)), "i": Input((32, 64), "int64", 0, 30522)},
    "nn.embedding(i, w)",
    numpy="w[i]",
    jax="w[i]",
)

WORKLOADS = _table.rows
FAMILIES = list(dict.fromkeys(workload.family for workload in WORKLOADS))
