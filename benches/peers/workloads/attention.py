"""Attention: many queries, masks, one query with a long cache; a decoding step with its cache; rotary embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..table import Family, Input, K, Known, product, shape

if TYPE_CHECKING:
    import numpy as np

layers = Family("attention", 0.85)


def _near(n: int, distance: int) -> np.ndarray:
    """A mask of neighbours."""
    import numpy as np

    return np.abs(np.arange(n)[:, None] - np.arange(n)) <= distance


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

_SOFTMAX = "(lambda e: e / e.sum(-1, keepdims=True) @ v)(xp.exp({}))"
_SCORES = "q @ k.swapaxes(-1, -2) / 8"
_CAPPED = f"20 * xp.tanh({_SCORES} / 20)"
_HEADS = {name: Input((1, 12, 2 * K, 64)) for name in "qkv"}
layers.row(
    "attention, capped scores, 12x1024x64",
    {name: Input((1, 12, K, 64), low=-3, high=3) for name in "qkv"},
    "nn.scaled_dot_product_attention(q, k, v, softcap=20)",
    numpy=None,
    torch=f"nn.softmax({_CAPPED}, -1) @ v",
    jax=f"nn.softmax({_CAPPED}, -1) @ v",
    onnx="Attention(q, k, v, softcap=20.0)",
    reference=_SOFTMAX.format(_CAPPED),
    flops=2 * product(12, K, K, 64),
)
layers.row(
    "attention, a window of 257, 12x2048x64",
    _HEADS | {"m": Known(lambda: _near(2 * K, 128))},
    "nn.scaled_dot_product_attention(q, k, v, m)",
    flex="nn.scaled_dot_product_attention(q, k, v, window=(128, 128))",
    numpy=None,
    jax=f"nn.softmax(xp.where(m, {_SCORES}, -xp.inf), -1) @ v",
    onnx="Attention(q, k, v, m)",
    reference=_SOFTMAX.format(f"xp.where(m, {_SCORES}, -xp.inf)"),
    flops=2 * product(12, 2 * K, 257, 64),
)
layers.row(
    "attention, causal, 32 heads by 8, 32x512x128",
    {"q": Input((1, 32, 512, 128)), "k": Input((1, 8, 512, 128)), "v": Input((1, 8, 512, 128))},
    "nn.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)",
    numpy=None,
    jax="jax.nn.dot_product_attention(*(x.swapaxes(1, 2) for x in (q, k, v)), is_causal=True).swapaxes(1, 2)",
    onnx="Attention(q, k, v, is_causal=1)",
    reference="(lambda e: e / e.sum(-1, keepdims=True) @ xp.repeat(v, 4, 1))(xp.tril(xp.exp("
    "q @ xp.repeat(k, 4, 1).swapaxes(-1, -2) * 128**-0.5)))",
    flops=product(32, 512, 513, 128),
)
_LENGTHS = (64, 300, 17, 128, 512, 3, 200, 300)
_BOUNDS = [sum(_LENGTHS[:k]) for k in range(len(_LENGTHS) + 1)]
for causal in (False, True):
    name = "causal, " if causal else ""
    each = "nn.scaled_dot_product_attention(*(x[i:j].swapaxes(0, 1) for x in (q, k, v)), is_causal={}).swapaxes(0, 1)"
    scores = "q[i:j].swapaxes(0, 1) @ k[i:j].transpose(1, 2, 0) / 8"
    weights = f"xp.tril(xp.exp({scores}))" if causal else f"xp.exp({scores})"
    spans = f"for i, j in zip({_BOUNDS[:-1]}, {_BOUNDS[1:]})"
    layers.row(
        f"attention, {name}8 sequences, {shape(_BOUNDS[-1], 12, 64)}",
        {name: Input((_BOUNDS[-1], 12, 64)) for name in "qkv"},
        f"nn.varlen_attention(q, k, v, {_BOUNDS}, is_causal={causal})",
        numpy=None,
        torch=f"xp.cat([{each.format(causal)} {spans}])",
        jax=None,
        reference=f"xp.concatenate([(lambda e, i, j: (e / e.sum(-1, keepdims=True) @ v[i:j].swapaxes(0, 1)).swapaxes(0, 1))"
        f"({weights}, i, j) {spans}])",
        flops=sum(2 * product(12, n, (n + 1) / 2 if causal else n, 64) for n in _LENGTHS),
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

    def append(self, xp: Any, k: Any, v: Any, keys: Any, values: Any) -> Any:
        """Keys and values of all tokens with flex, whose cache starts with `keys` and `values`; each call is the same step."""
        if self._cache is None:
            _, heads, known, width = keys.shape
            more = k.shape[2]
            self._cache = xp.nn.KVCache(1, heads, width, capacity=known + more, dtype=keys.dtype)
            self._cache.append(keys, values)
        self._cache.truncate(keys.shape[2])
        return self._cache.append(k, v)

    def append_torch(self, xp: Any, k: Any, v: Any, keys: Any, values: Any) -> Any:
        """The same with torch, in preallocated tensors, as its users do."""
        known, total = keys.shape[2], keys.shape[2] + k.shape[2]
        if self._cache is None:
            self._cache = [xp.cat([x, x[:, :, : k.shape[2] + 63]], 2) for x in (keys, values)]
        for cache, x in zip(self._cache, (k, v), strict=True):
            cache[:, :, known:total] = x
        return [cache[:, :, :total] for cache in self._cache]

    def __call__(self, xp: Any, q: Any, k: Any, v: Any, keys: Any, values: Any) -> Any:
        seen = self.append(xp, k, v, keys, values)
        return xp.nn.scaled_dot_product_attention(q, *seen, enable_gqa=True)

    def torch(self, xp: Any, q: Any, k: Any, v: Any, keys: Any, values: Any) -> Any:
        seen = self.append_torch(xp, k, v, keys, values)
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

for tokens in (1, 256):
    new, known = Input((1, 8, tokens, 128)), Input((1, 8, 4 * K - tokens, 128))
    decoding.row(
        f"append {tokens} to a cache, 8 heads of 128",
        {"k": new, "v": new, "c": known, "d": known, "step": Known(lambda: Step())},
        "step.append(xp, k, v, c, d)[0]",
        numpy=None,
        jax=None,
        torch="step.append_torch(xp, k, v, c, d)[0]",
        reference="xp.concatenate((c, k), 2)",
        reads=2 * 8 * tokens * 128 * 4,
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

_PAIRS = "xp.stack((x[..., ::2] * c - x[..., 1::2] * s, x[..., 1::2] * c + x[..., ::2] * s), -1).reshape(x.shape)"
rotary.row(
    f"of neighbours, {shape(1, 32, 2 * K, 128)}",
    {"x": Input((1, 32, 2 * K, 128)), "c": Input((2 * K, 64)), "s": Input((2 * K, 64))},
    "nn.rotary_embedding(x, c, s, interleaved=True)",
    numpy=None,
    torch="xp.view_as_real(xp.view_as_complex(x.view(1, 32, 2048, 64, 2)) * xp.complex(c, s)).flatten(-2)",
    jax=_PAIRS,
    onnx="RotaryEmbedding(x, constant('c[None]'), constant('s[None]'), interleaved=1)",
    reference=_PAIRS,
)
rotary.row(
    "of a step, 16x32x1x128",
    {"x": Input((16, 32, 1, 128)), "c": Input((1, 64)), "s": Input((1, 64))},
    "nn.rotary_embedding(x, c, s)",
    numpy=None,
    torch=_HALVES,
    jax=_HALVES,
    reference=_HALVES,
)

FAMILIES = [layers, decoding, rotary]
