"""Attention: many queries, masks, one query by a long cache; rotary embeddings."""

from ..table import Family, Input, K, product, shape

layers = Family("attention", 0.85)


def attention(
    heads: int, length: int, width: int, dtype: str = "float32", causal: bool = False
) -> None:
    """A row; NumPy and JAX have all scores at once."""
    option = ", is_causal=True" if causal else ""
    scores = f"q @ k.swapaxes(-1, -2) * {width} ** -0.5"
    if causal:
        scores = f"xp.where(xp.tril(xp.ones(({length}, {length}), dtype=bool)), {scores}, -xp.inf)"
    marked = ("causal, " if causal else "") + (f"{dtype}, " if dtype != "float32" else "")
    part = (length + 1) / (2 * length) if causal else 1
    exact = f"(lambda e: e / e.sum(-1, keepdims=True) @ v)(xp.exp({scores}))"
    layers.row(
        f"attention, {marked}{shape(heads, length, width)}",
        {name: Input((1, heads, length, width), dtype) for name in "qkv"},
        f"nn.scaled_dot_product_attention(q, k, v{option})",
        numpy=exact if dtype == "float32" else None,
        jax=f"jax.nn.softmax({scores}, axis=-1) @ v",
        reference=exact,
        flops=2 * product(heads, length, length, width) * part,
        goal=0.6 if dtype == "bfloat16" else layers.goal,
    )


for heads, length, width in (
    (32 * 12, 64, 32),
    (12, 512, 64),
    (12, K, 64),
    (12, K, 128),
    (4, 4 * K, 64),
):
    attention(heads, length, width)
attention(12, 2 * K, 64, causal=True)
attention(12, K, 64, dtype="bfloat16")
attention(12, 2 * K, 128, dtype="bfloat16", causal=True)

for name, mask in (
    ("flags", Input((K, K), "bool")),
    ("a bias", Input((12, K, K))),
    ("a bias of keys", Input((1, 1, K))),
):
    scores = f"q @ k.swapaxes(-1, -2) * {64} ** -0.5"
    scores = f"xp.where(m, {scores}, -xp.inf)" if mask.dtype == "bool" else f"{scores} + m"
    exact = f"(lambda e: e / e.sum(-1, keepdims=True) @ v)(xp.exp({scores}))"
    layers.row(
        f"attention, {name}, {shape(12, K, 64)}",
        {**{name: Input((12, K, 64)) for name in "qkv"}, "m": mask},
        "nn.scaled_dot_product_attention(q, k, v, m)",
        numpy=exact,
        jax=f"jax.nn.softmax({scores}, axis=-1) @ v",
        flops=2 * product(12, K, K, 64),
    )

decoding = Family("decoding", 0.85)
for heads, groups, queries, keys, width, dtype in (
    (32, 32, 1, 4 * K, 64, "float32"),
    (32, 8, 1, 8 * K, 128, "float32"),
    (32, 8, 1, 8 * K, 128, "bfloat16"),
    (32, 8, 4, 4 * K, 64, "bfloat16"),
    (1, 1, 1, 64 * K, 128, "float32"),
):
    q, k = Input((1, heads, queries, width), dtype), Input((1, groups, keys, width), dtype)
    repeated = [f"xp.repeat({x}, {heads // groups}, axis=1)" for x in "kv"]
    scores = f"q @ {repeated[0]}.swapaxes(-1, -2) * {width} ** -0.5"
    exact = f"(lambda e: e / e.sum(-1, keepdims=True) @ {repeated[1]})(xp.exp({scores}))"
    decoding.row(
        f"{queries} by {keys}, {heads} heads of {width} by {groups}, {dtype}",
        {"q": q, "k": k, "v": k},
        "nn.scaled_dot_product_attention(q, k, v, enable_gqa=True)",
        numpy=exact if dtype == "float32" else None,
        jax=f"jax.nn.softmax({scores}, axis=-1) @ {repeated[1]}",
        reference=exact,
        reads=2 * groups * keys * width * (2 if dtype == "bfloat16" else 4),
    )

FAMILIES = [layers, decoding]
