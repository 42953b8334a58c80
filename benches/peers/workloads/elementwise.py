"""Elementwise operations, and the overhead of a call."""

from ..table import TOLERANCE, Family, Input, K, M, one, size, two

overhead = Family("call overhead", 0.6)
row = overhead.row
row("add, 16", two(16), "a + b")
row("multiply by a number, 16", one(16), "a * 2.5")
row("exp, 16", one(16), "xp.exp(a)")
row("less, 16", two(16), "a < b")
row("sum, 1K", one(K, low=0), "xp.sum(a)")
row("slice", one(16), "a[2:10]")
row("reshape", one(16), "xp.reshape(a, (4, 4))")
row("transpose", one(4, 4), "a.T")
row("flip", one(16), "xp.flip(a)", torch="xp.flip(a, (0,))")
row("matmul, 4x4", two(4, 4), "a @ b")

cache = Family("elementwise in cache", 0.9)
row = cache.row
for n in (64 * K, 256 * K, M):
    row(f"add, {size(n)}", two(n), "a + b", numexpr="a + b")
    row(f"multiply, {size(n)}", two(n), "a * b", numexpr="a * b")
    row(f"greater, {size(n)}", two(n), "a > b", numexpr="a > b")
    row(
        f"where, {size(n)}",
        {**two(n), "c": Input((n,), "bool")},
        "xp.where(c, a, b)",
        numexpr="where(c, a, b)",
    )
    row(f"clip, {size(n)}", one(n), "xp.clip(a, -0.5, 0.5)")
    row(f"round, {size(n)}", one(n, low=-99, high=99), "xp.round(a)")
row("add, 4K", two(4 * K), "a + b", numexpr="a + b")
row(
    "multiply, then add, 64K",
    {**two(64 * K), "c": Input((64 * K,))},
    "a * b + c",
    numexpr="a * b + c",
)
row("multiply by a number, 64K", one(64 * K), "a * 2.5", numexpr="a * 2.5")
row("divide, 64K", two(64 * K, low=0.5), "a / b", numexpr="a / b")
row("maximum, 64K", two(64 * K), "xp.maximum(a, b)")
row("sqrt, 64K", one(64 * K, low=0), "xp.sqrt(a)", numexpr="sqrt(a)")
for dtype in ("int8", "int16", "int32", "int64"):
    for name, sign in (("add", "+"), ("multiply", "*")):
        row(f"{name} {dtype}, 64K", two(64 * K, dtype=dtype, low=-9, high=9), f"a {sign} b")
for n in (64 * K, M):
    divided = {"a": Input((n,), "int64", -(10**9), 10**9), "b": Input((n,), "int64", 1, 1000)}
    for name in ("floor_divide", "remainder"):
        row(f"{name} int64, {size(n)}", divided, f"xp.{name}(a, b)")
for dtype in ("float64", "bfloat16", "float16"):
    for n in (64 * K, M):
        row(f"add {dtype}, {size(n)}", two(n, dtype=dtype), "a + b")

large = Family("elementwise large", 0.5)
row = large.row
row("add, 16M", two(16 * M), "a + b", numexpr="a + b")
row("multiply, 16M", two(16 * M), "a * b", numexpr="a * b")
row("multiply by a number, 16M", one(16 * M), "a * 2.5", numexpr="a * 2.5")
row("greater, 16M", two(16 * M), "a > b", numexpr="a > b")
row(
    "where, 16M",
    {**two(16 * M), "c": Input((16 * M,), "bool")},
    "xp.where(c, a, b)",
    numexpr="where(c, a, b)",
)
row("a * b + a, 16M", two(16 * M), "a * b + a", numexpr="a * b + a")
row("add int32, 16M", two(16 * M, dtype="int32", low=-99, high=99), "a + b", numexpr="a + b")
row("add float64, 4M", two(4 * M, dtype="float64"), "a + b", numexpr="a + b")


def cast(row, source: str, target: str, n: int) -> None:
    """Adds a row for a conversion."""
    name = "bfloat16" if target == "bfloat16" else f"xp.{target}"
    row(
        f"{source} to {target}, {size(n)}",
        one(n, dtype=source, low=0, high=100),
        f"xp.astype(a, xp.{target})",
        numpy=f"xp.astype(a, {name})",
        torch=f"a.to(xp.{target})",
        tolerance=max(
            TOLERANCE.get(dtype, 0.0) for dtype in (source, target)
        ),  # some libraries round float64 twice
    )


for source, target in (
    ("float32", "float64"),
    ("float64", "float32"),
    ("float32", "bfloat16"),
    ("float16", "float32"),
    ("int32", "float32"),
):
    cast(row, source, target, 16 * M)

broadcast = Family("broadcast, strided", 0.7)
row = broadcast.row
row("row, 1024x1024", {**one(K, K), "b": Input((K,))}, "a + b")
row("column, 1024x1024", {**one(K, K), "b": Input((K, 1))}, "a + b")
row("outer, 2048x2048", {"a": Input((2 * K, 1)), "b": Input((2 * K,))}, "a * b")
row("a.T + b, 1024x1024", two(K, K), "a.T + b")
row("a.T * b.T, 1024x1024", two(K, K), "a.T * b.T")
row("flip(a) + b, 1M", two(M), "xp.flip(a) + b", torch="xp.flip(a, (0,)) + b")
row("flip rows, 1024x1024", two(K, K), "xp.flip(a, axis=1) + b", torch="xp.flip(a, (1,)) + b")
row("every second, 2M", two(2 * M), "a[::2] + b[::2]")
row("every second column, 1024x2048", two(K, 2 * K), "a[:, ::2] + b[:, ::2]")
row("every second row, 2048x1024", two(2 * K, K), "a[::2] + b[::2]")
row(
    "permuted, 64x128x128",
    {"a": Input((128, 64, 128)), "b": Input((64, 128, 128))},
    "xp.permute_dims(a, (1, 0, 2)) + b",
    torch="a.permute(1, 0, 2) + b",
)

FUNCTIONS = {
    "exp": (-4, 4, "xp.exp(a)", {"numexpr": "exp(a)"}),
    "log": (0.1, 9, "xp.log(a)", {"numexpr": "log(a)"}),
    "tanh": (-4, 4, "xp.tanh(a)", {"numexpr": "tanh(a)"}),
    "sin": (-9, 9, "xp.sin(a)", {"numexpr": "sin(a)"}),
    "cos": (-9, 9, "xp.cos(a)", {"numexpr": "cos(a)"}),
    "sqrt": (0, 9, "xp.sqrt(a)", {"numexpr": "sqrt(a)"}),
    "erf": (-3, 3, "xp.erf(a)", {"numpy": "special.erf(a)", "jax": "special.erf(a)"}),
    "sigmoid": (
        -9,
        9,
        "xp.sigmoid(a)",
        {
            "numpy": "1 / (1 + xp.exp(-a))",
            "jax": "jax.nn.sigmoid(a)",
            "numexpr": "1 / (1 + exp(-a))",
        },
    ),
    "gelu": (
        -4,
        4,
        "nn.gelu(a)",
        {
            "numpy": "0.5 * a * (1 + special.erf(a * 2 ** -0.5))",
            "jax": "jax.nn.gelu(a, approximate=False)",
        },
    ),
}
math = Family("math", 0.9)
row = math.row
AT_1M = 1.0  # a copy is the lower bound
for n in (64 * K, 256 * K, M):
    goal = AT_1M if n == M else math.goal
    for name, (low, high, expression, spellings) in FUNCTIONS.items():
        row(f"{name}, {size(n)}", one(n, low=low, high=high), expression, goal=goal, **spellings)
    row(f"pow, {size(n)}", two(n, low=0.5, high=3), "xp.pow(a, b)", goal=goal, numexpr="a ** b")
row("atan2, 1M", two(M), "xp.atan2(a, b)", numexpr="arctan2(a, b)", goal=AT_1M)
for dtype in ("float64", "bfloat16", "float16"):
    for name in ("exp", "log", "tanh", "sin"):
        low, high, expression, _ = FUNCTIONS[name]
        row(f"{name} {dtype}, 256K", one(256 * K, dtype=dtype, low=low, high=high), expression)

casts = Family("casts", 0.8)
DTYPES = ("float32", "float64", "float16", "bfloat16", "int8", "int32", "int64")
for source in DTYPES:
    for target in DTYPES:
        if source != target:
            cast(casts.row, source, target, M)
cast(casts.row, "uint8", "float32", M)
cast(casts.row, "float32", "bool", M)

FAMILIES = [overhead, cache, large, broadcast, math, casts]
