"""Windows, soft caps and alignments of attention, rotary embeddings and the KV cache."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import address, examples

import flex
from flex import nn

sdpa = nn.scaled_dot_product_attention


def random(*shape, seed=0):
    return np.random.default_rng(seed).uniform(-2, 2, shape)


def expected(q, k, v, mask, causal, window, align, softcap):
    """The formula in float64."""
    scores = q @ k.mT / np.sqrt(q.shape[-1])
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    queries, keys = scores.shape[-2:]
    shift = keys - queries if align == "lower_right" else 0
    ahead = np.arange(keys) - (np.arange(queries)[:, None] + shift)
    seen = np.ones(ahead.shape, bool)
    if causal:
        seen &= ahead <= 0
    before, after = window or (-1, -1)
    if before >= 0:
        seen &= ahead >= -before
    if after >= 0:
        seen &= ahead <= after
    scores = np.where(seen, scores, -np.inf)
    top = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    e = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = e.sum(-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total > 0) @ v


@examples(120)
@given(st.data())
def test_options_match_the_formula(data):
    queries = data.draw(st.sampled_from([1, 3, 8, 9, 33, 70]))
    keys = data.draw(st.sampled_from([0, 1, 5, 64, 530]))
    depth, width = data.draw(st.sampled_from([(1, 1), (8, 5), (16, 64)]))
    lead = data.draw(st.sampled_from([(), (3,), (2, 3)]))
    seed = data.draw(st.integers(0, 2**32 - 1))
    q = random(*lead, queries, depth, seed=seed)
    k, v = random(*lead, keys, depth, seed=seed + 1), random(*lead, keys, width, seed=seed + 2)
    kind = data.draw(st.sampled_from(["none", "flags", "bias", "of keys", "of queries"]))
    mask = {
        "none": None,
        "flags": random(queries, keys, seed=seed) > -1,
        "bias": random(*lead, queries, keys, seed=seed),
        "of keys": random(keys, seed=seed) > 0,
        "of queries": random(queries, 1, seed=seed),
    }[kind]
    options = {
        "window": data.draw(st.sampled_from([None, (0, 0), (4, -1), (-1, 2), (300, 10)])),
        "align": data.draw(st.sampled_from(["upper_left", "lower_right"])),
        "softcap": data.draw(st.sampled_from([None, 1.5])),
    }
    causal = data.draw(st.booleans())
    given_mask = None if mask is None else flex.asarray(mask)
    if mask is not None and data.draw(st.booleans()):
        given_mask = flex.broadcast_to(given_mask, (*lead, queries, keys))
    y = sdpa(*map(flex.asarray, (q, k, v)), given_mask, is_causal=causal, **options)
    want = expected(q, k, v, mask, causal, **options)
    np.testing.assert_allclose(np.asarray(y), want, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dropout_p": 0.1}, "dropout_p is 0.1; nothing is dropped out"),
        ({"scale": float("nan")}, "scale is NaN; it must be finite"),
        ({"softcap": 0.0}, "softcap is 0.0; it must be positive"),
        ({"softcap": -1.0}, "softcap is -1.0; it must be positive"),
        ({"window": (1,)}, r"window is \[1\]; it is two integers"),
        ({"window": (1, -2)}, r"window is \[1, -2\]; it is two integers"),
        ({"align": "left"}, 'align is "left"; it is "upper_left" or "lower_right"'),
    ],
)
def test_invalid_options(options, message):
    x = flex.ones((2, 4))
    with pytest.raises(ValueError, match=f"scaled_dot_product_attention: {message}"):
        sdpa(x, x, x, **options)


@pytest.mark.parametrize("options", [{"is_causal": True}, {"window": (3, -1)}, {"window": (-1, 0)}])
def test_fewer_queries_than_keys_need_align(options):
    """A token appended to a cache must not attend to the first key alone."""
    cache = nn.KVCache(1, 1, 4)
    k, v = (flex.asarray(random(1, 1, 5, 4, seed=i), dtype="float32") for i in range(2))
    keys, values = cache.append(k, v)
    q = k[:, :, -1:]
    gradients = (nn.grad.scaled_dot_product_attention, nn.grad.scaled_dot_product_attention_mask)
    calls = [
        lambda **more: sdpa(q, keys, values, **options, **more),
        flex.fuse(lambda q, keys, values: sdpa(q, keys, values, **options)),
        lambda: gradients[0](q, q, keys, values, **options),
        lambda: gradients[1](q, q, keys, values, flex.zeros((1, 5)), **options),
    ]
    for call, arguments in zip(calls, ((), (q, keys, values), (), ()), strict=True):
        with pytest.raises(ValueError, match=r'needs align, "lower_right" if .* "upper_left" if'):
            call(*arguments)
    all_ = {"is_causal": False, "window": None} | options
    for align in ("lower_right", "upper_left"):
        want = expected(
            *(np.asarray(x, dtype="f8") for x in (q, keys, values)),
            None,
            all_["is_causal"],
            all_["window"],
            align,
            None,
        )
        np.testing.assert_allclose(np.asarray(calls[0](align=align)), want, atol=1e-6)
    # as many or more queries have no choice of torch's to hide
    sdpa(keys, keys, values, **options)
    sdpa(keys, keys[:, :, :2], values[:, :, :2], **options)
    sdpa(q, keys, values)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("window", [None, 3])
def test_cache_copies(copied, window):
    cache = nn.KVCache(2, 3, 4, capacity=5, dtype="float16", window=window)
    rows = [flex.asarray(random(2, 3, n, 4, seed=n), dtype="float16") for n in (7, 1, 2)]
    cache.append(rows[0], rows[0])
    cache.append(rows[1], rows[1])
    other = copied(cache)
    assert repr(other) == repr(cache)
    assert (other.position, len(other)) == (cache.position, len(cache))
    for a, b in zip(other.append(rows[2], rows[0][:, :, :2]), cache.views(), strict=True):
        assert a.dtype == b.dtype == flex.float16
        kept = a.shape[2] - 2  # the copy went on, the original did not
        assert flex.all(a[:, :, :kept] == b[:, :, b.shape[2] - kept :]).item()
    assert (other.position, cache.position) == (10, 8)
    assert len(copied(nn.KVCache(1, 1, 2))) == 0


def test_decoding_is_one_pass_over_the_text():
    q, k, v = (flex.asarray(random(1, 2, 9, 4, seed=i), dtype="float32") for i in range(3))
    whole = sdpa(q, k, v, is_causal=True)
    cache, rows = nn.KVCache(1, 2, 4), []
    for start, end in ((0, 4), (4, 5), (5, 8), (8, 9)):
        keys, values = cache.append(k[:, :, start:end], v[:, :, start:end])
        rows.append(sdpa(q[:, :, start:end], keys, values, is_causal=True, align="lower_right"))
    np.testing.assert_allclose(np.asarray(flex.concat(rows, axis=2)), np.asarray(whole), atol=1e-6)


def test_torchs_positional_arguments():
    x = flex.asarray(random(5, 4))
    assert sdpa(x, x, x, None, 0.0, True).tolist() == sdpa(x, x, x, is_causal=True).tolist()


def test_varlen_attention_has_windows_and_caps():
    x = [random(30, 2, 8, seed=i) for i in range(3)]
    y = nn.varlen_attention(*map(flex.asarray, x), [0, 12, 30], window=(3, 1), softcap=2.0)
    for start, end in ((0, 12), (12, 30)):
        part = [t[start:end].swapaxes(0, 1) for t in x]
        want = expected(*part, None, False, (3, 1), "upper_left", 2.0)
        np.testing.assert_allclose(np.asarray(y)[start:end].swapaxes(0, 1), want, atol=1e-13)
    with pytest.raises(ValueError, match="varlen_attention: window"):
        nn.varlen_attention(*map(flex.asarray, x), [0, 30], window=(1, 2, 3))


@examples(60)
@given(st.data())
def test_rotary_embedding_rotates_pairs(data):
    batch, heads, tokens = (data.draw(st.integers(1, 4)) for _ in range(3))
    pairs, rest = data.draw(st.integers(0, 20)), data.draw(st.integers(0, 5))
    interleaved, seed = data.draw(st.booleans()), data.draw(st.integers(0, 2**32 - 1))
    x = random(batch, heads, tokens, 2 * pairs + rest, seed=seed)
    cos, sin = random(12, pairs, seed=seed + 1), random(12, pairs, seed=seed + 2)
    positions = np.random.default_rng(seed).integers(0, 12, (batch, tokens))
    own, options = positions, {"positions": flex.asarray(positions)}
    if data.draw(st.booleans()):
        offset = data.draw(st.integers(0, 12 - tokens))
        own, options = np.arange(tokens)[None] + offset, {"offset": offset}
    c, s = cos[own][:, None], sin[own][:, None]
    first = slice(0, 2 * pairs, 2) if interleaved else slice(0, pairs)
    second = slice(1, 2 * pairs, 2) if interleaved else slice(pairs, 2 * pairs)
    want = x.copy()
    want[..., first] = x[..., first] * c - x[..., second] * s
    want[..., second] = x[..., second] * c + x[..., first] * s
    y = nn.rotary_embedding(*map(flex.asarray, (x, cos, sin)), interleaved=interleaved, **options)
    np.testing.assert_allclose(np.asarray(y), want, atol=1e-15)


def test_rotary_errors():
    cos, sin = nn.rotary_tables(4, 4)
    x = flex.ones((5, 4))
    with pytest.raises(flex.ShapeError, match="the tables have 4 rows, for 5 tokens from"):
        nn.rotary_embedding(x, cos, sin)
    with pytest.raises(IndexError, match="rotary_embedding: index 4 is out of range"):
        nn.rotary_embedding(x, cos, sin, positions=flex.asarray([0, 1, 2, 3, 4]))
    with pytest.raises(ValueError, match="rotary_embedding: offset is 2 beside positions"):
        nn.rotary_embedding(x[:1], cos, sin, positions=flex.asarray([1]), offset=2)
    with pytest.raises(ValueError, match="rotary_embedding: offset is -1"):
        nn.rotary_embedding(x, cos, sin, offset=-1)
    with pytest.raises(flex.DTypeError, match="rotary_embedding"):
        nn.rotary_embedding(flex.ones((2, 4), dtype=flex.int32), cos, sin)
    with pytest.raises(ValueError, match="rotary_tables: dim is 3; it must be even"):
        nn.rotary_tables(4, 3)
    with pytest.raises(ValueError, match=r"rotary_tables: scaling is 0.0; it must be positive"):
        nn.rotary_tables(4, 4, scaling=0.0)


@examples(60)
@given(st.data())
def test_cache_matches_concatenation(data):
    window = data.draw(st.sampled_from([None, 1, 5]))
    cache = nn.KVCache(2, 3, 4, capacity=data.draw(st.sampled_from([0, 3, 50])), window=window)
    all_keys, shown, position = np.zeros((2, 3, 0, 4), "float32"), [], 0
    for step in range(data.draw(st.integers(1, 12))):
        action = data.draw(st.sampled_from(["append"] * 4 + ["truncate", "gather", "forget"]))
        if action == "append":
            new = random(2, 3, data.draw(st.integers(0, 4)), 4, seed=step).astype("float32")
            keys, values = cache.append(flex.asarray(new), flex.asarray(-new))
            all_keys = np.concatenate((all_keys, new), 2)
            position += new.shape[2]
            if window is not None:
                seen = min(all_keys.shape[2], new.shape[2] + window - 1)
                all_keys = all_keys[:, :, all_keys.shape[2] - seen :]
            assert np.array_equal(np.asarray(keys), all_keys)
            assert np.array_equal(np.asarray(values), -all_keys)
            shown.append((keys, all_keys))
        elif action == "truncate":
            kept = data.draw(st.integers(0, 6))
            position -= max(0, len(cache) - kept)
            cache.truncate(kept)
            all_keys = all_keys[:, :, :kept]
        elif action == "gather":
            order = data.draw(st.lists(st.integers(0, 1), min_size=2, max_size=2))
            cache.gather(flex.asarray(order))
            all_keys = all_keys[order]
        else:
            shown.clear()
        assert (len(cache), cache.position) == (all_keys.shape[2], position)
    # earlier views keep their values
    assert all(np.array_equal(np.asarray(keys), want) for keys, want in shown)


def test_cache_appends_in_place():
    cache = nn.KVCache(1, 2, 4, capacity=100, dtype="bfloat16")
    token = flex.ones((1, 2, 1, 4), dtype="bfloat16")
    first, _ = cache.append(token, token)
    seen = [cache.append(token, token)[0] for _ in range(99)]
    assert {address(keys.astype("bfloat16", copy=False)) for keys in seen} == {address(first)}
    assert (len(cache), cache.capacity, seen[-1].shape) == (100, 100, (1, 2, 100, 4))
    assert repr(cache) == "KVCache(1, 2, 4, dtype=bfloat16): 100 tokens"
    cache.reset()
    assert (len(cache), cache.position, cache.views()[0].shape) == (0, 0, (1, 2, 0, 4))


def test_cache_views_are_values():
    cache = nn.KVCache(1, 1, 1, capacity=8)
    one = flex.ones((1, 1, 1, 1))
    keys, _ = cache.append(one, one)
    keys[...] = 5.0  # copies
    again, _ = cache.append(one, one)
    assert (keys.tolist(), again.tolist()) == ([[[[5.0]]]], [[[[1.0], [1.0]]]])


def test_cache_errors():
    cache = nn.KVCache(1, 2, 4)
    x = flex.ones((1, 2, 1, 4))
    for k, v in ((x, flex.ones((1, 2, 2, 4))), (flex.ones((2, 2, 1, 4)),) * 2, (x[0], x[0])):
        with pytest.raises(flex.ShapeError, match=r"must have the shape \[1, 2, tokens, 4\]"):
            cache.append(k, v)
    with pytest.raises(flex.DTypeError, match="k is float64, v float32; the cache is float32"):
        cache.append(x.astype("float64"), x)
    with pytest.raises(IndexError, match=r"KVCache\.gather"):
        cache.gather(flex.asarray([1]))
    with pytest.raises(flex.ShapeError, match=r"KVCache\.gather: indices must have the shape"):
        cache.gather(flex.asarray([[0]]))
    with pytest.raises(ValueError, match=r"KVCache\.truncate: length is -1"):
        cache.truncate(-1)
    with pytest.raises(ValueError, match="KVCache: heads is -2"):
        nn.KVCache(1, -2, 4)
    with pytest.raises(ValueError, match="KVCache: window is 0"):
        nn.KVCache(1, 2, 4, window=0)
    with pytest.raises(flex.DTypeError, match="KVCache"):
        nn.KVCache(1, 2, 4, dtype="int32")
    assert len(cache) == 0
