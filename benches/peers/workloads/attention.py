"""Attention: many queries, masks, one query with a long cache; a decoding step with its cache; rotary embeddings."""

from __future__ import annotations

from typing import Any

from ..table import Family, Input, K, Known, product, shape

layers = Family("attention", 0.85)


def attention(
    heads: int, length: int, width: int, dtype: str = "float32", causal: bool = False
) -> None:
    """Adds a row; NumPy and JAX compute all scores at once."""
    option = ", is_causal=True" if causal else ""
    scores = f"q @ k.swapaxes(-1, -2) * {width} ** -0.5"
    if causal:
        scores = f"xp.where(xp.tril(xp.ones(({length}, {length}), dtype=bool)), {scores}, -xp.inf)"
    marked = ("causal, " if causal else "") + (f"{dtype}, " if dtype != "float32" else "")
    part = (length + 1) / (2 * length) if causal else 1
    wide = dtype == "float32"
    exact = f"(lambda e: e / e.sum(-1, keepdims=True) @ v)(xp.exp({scores}))"
    layers.row(
        f"attention, {marked}{shape(heads, length, width)}",
        {name: Input((1, heads, length, width), dtype) for name in "qkv"},
        f"nn.scaled_dot_product_attention(q, k, v{option})",
        numpy=None,
        jax=f"jax.nn.softmax({scores}, axis=-1) @ v",
        onnx=f"Attention(q, k, v, is_causal={int(causal)})" if wide else None,
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
attention(12, K, 64, dtype="float16")

for name, mask in (
    ("flags", Input((K, K), "bool")),
    ("a bias", Input((1, 12, K, K))),
    ("a bias of keys", Input((1, 1, 1, K))),
):
    scores = f"q @ k.swapaxes(-1, -2) * {64} ** -0.5"
    scores = f"xp.where(m, {scores}, -xp.inf)" if mask.dtype == "bool" else f"{scores} + m"
    exact = f"(lambda e: e / e.sum(-1, keepdims=True) @ v)(xp.exp({scores}))"
    layers.row(
        f"attention, {name}, {shape(12, K, 64)}",
        {**{name: Input((1, 12, K, 64)) for name in "qkv"}, "m": mask},
        "nn.scaled_dot_product_attention(q, k, v, m)",
        numpy=None,
        reference=exact,
        jax=f"jax.nn.softmax({scores}, axis=-1) @ v",
        onnx="Attention(q, k, v, m)",
        # which requires a mask row for each query
        onnxruntime=f"Attention(q, k, v, Expand(m, constant([1, 1, {K}, {K}])))",
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
        numpy=None,
        jax=f"jax.nn.softmax({scores}, axis=-1) @ {repeated[1]}",
        onnx="Attention(q, k, v)" if dtype == "float32" else None,
        reference=exact,
        reads=2 * groups * keys * width * (2 if dtype == "bfloat16" else 4),
    )


class Step:
    """A decoding step: the token's key and value are appended to preallocated memory, and its queries attend to all of them."""

    def __init__(self):
        self._cache = None

    def __call__(self, xp: Any, q: Any, k: Any, v: Any, keys: Any, values: Any) -> Any:
        """With flex, whose cache starts with `keys` and `values`; each call is the same step."""
        if self._cache is None:
            _, heads, known, width = keys.shape
            self._cache = xp.nn.KVCache(1, heads, width, capacity=known + 1, dtype=keys.dtype)
            self._cache.append(keys, values)
        self._cache.truncate(keys.shape[2])
        seen = self._cache.append(k, v)
        return xp.nn.scaled_dot_product_attention(q, *seen, enable_gqa=True)

    def torch(self, xp: Any, q: Any, k: Any, v: Any, keys: Any, values: Any) -> Any:
        """With torch, in preallocated tensors, as its users do."""
        known = keys.shape[2]
        if self._cache is None:
            self._cache = [xp.cat([x, x[:, :, :64]], 2) for x in (keys, values)]
        for cache, x in zip(self._cache, (k, v), strict=True):
            cache[:, :, known : known + 1] = x
        seen = [cache[:, :, : known + 1] for cache in self._cache]
        return xp.nn.functional.scaled_dot_product_attention(q, *seen, enable_gqa=True)


for dtype in ("float32", "bfloat16"):
    heads, groups, keys, width = 32, 8, 4 * K - 1, 128
    q, k, known = (Input((1, *s, width), dtype) for s in ((heads, 1), (groups, 1), (groups, keys)))
    all_keys, all_values = (
        f"xp.repeat(xp.concatenate(({x}), 2), {heads // groups}, axis=1)" for x in ("c, k", "d, v")
    )
    scores = f"q @ {all_keys}.swapaxes(-1, -2) * {width} ** -0.5"
    decoding.row(
        f"a step with a cache of {keys + 1}, {heads} heads of {width} by {groups}, {dtype}",
        {"q": q, "k": k, "v": k, "c": known, "d": known, "step": Known(Step)},
        "step(xp, q, k, v, c, d)",
        numpy=None,
        jax=None,
        torch="step.torch(xp, q, k, v, c, d)",
        reference=f"(lambda e: e / e.sum(-1, keepdims=True) @ {all_values})(xp.exp({scores}))",
        reads=2 * groups * keys * width * (2 if dtype == "bfloat16" else 4),
    )

rotary = Family("rotary embeddings", 0.8)
_HALVES = "xp.concatenate((x[..., :64] * c - x[..., 64:] * s, x[..., 64:] * c + x[..., :64] * s), axis=-1)"
for dtype in ("float32", "bfloat16"):
    rotary.row(
        f"{shape(1, 32, 2 * K, 128)}, {dtype}",
        {
            "x": Input((1, 32, 2 * K, 128), dtype),
            "c": Input((2 * K, 64), dtype),
            "s": Input((2 * K, 64), dtype),
        },
        "nn.rotary_embedding(x, c, s)",
        numpy=None,
        torch=_HALVES,
        jax=_HALVES,
        onnx="RotaryEmbedding(x, constant('c[None]'), constant('s[None]'))"
        if dtype == "float32"
        else None,
        reference=_HALVES,
    )

FAMILIES = [layers, decoding, rotary]
