"""A small BERT with random weights: its folder, and its results computed with NumPy."""

import json

import numpy as np
from scipy.special import erf
from tokenizers import Tokenizer, models, pre_tokenizers, processors

import flex

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    *["the", "a", "cat", "dog", "sat", "ran", "on", "mat", "far", "away"],
]
CONFIG = {
    "model_type": "bert",
    "vocab_size": len(WORDS),
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_position_embeddings": 16,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
    "pad_token_id": 0,
}
TEXTS = [
    "the cat sat on the mat",
    "a dog ran far far away",
    "the dog",
    "",
    "the cat sat on the mat on the mat far away",
    "zebra",
]


def random_weights():
    """The tensors of CONFIG by name, as NumPy arrays."""
    rng = np.random.default_rng(7)
    hidden, inner = CONFIG["hidden_size"], CONFIG["intermediate_size"]
    shapes = {
        "embeddings.word_embeddings.weight": (CONFIG["vocab_size"], hidden),
        "embeddings.position_embeddings.weight": (CONFIG["max_position_embeddings"], hidden),
        "embeddings.token_type_embeddings.weight": (CONFIG["type_vocab_size"], hidden),
    }
    linear, norm = {}, ["embeddings.LayerNorm"]
    for k in range(CONFIG["num_hidden_layers"]):
        layer = f"encoder.layer.{k}"
        linear |= {
            f"{layer}.attention.self.{part}": (hidden, hidden) for part in ("query", "key", "value")
        }
        linear |= {f"{layer}.attention.output.dense": (hidden, hidden)}
        linear |= {
            f"{layer}.intermediate.dense": (inner, hidden),
            f"{layer}.output.dense": (hidden, inner),
        }
        norm += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    for name, shape in linear.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    for name in norm:
        shapes |= {f"{name}.weight": (hidden,), f"{name}.bias": (hidden,)}
    return {name: rng.normal(0, 0.7, shape).astype(np.float32) for name, shape in shapes.items()}


def word_tokenizer(words=WORDS, separator=3):
    """A tokenizer that gives [CLS] words [SEP], where [SEP] has the id `separator`."""
    tokenizer = bare_tokenizer(words)
    special = [("[CLS]", 2), ("[SEP]", separator)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=special
    )
    return tokenizer


def bare_tokenizer(words=WORDS):
    """A tokenizer of words, without special tokens."""
    tokenizer = Tokenizer(
        models.WordLevel({word: k for k, word in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def write_model(folder, *, config=None, weights=None, prefix="", dtype=flex.float32):
    """Writes a model folder; `config` entries replace those of CONFIG, and None removes one."""
    entries = {
        key: value for key, value in {**CONFIG, **(config or {})}.items() if value is not None
    }
    (folder / "config.json").write_text(json.dumps(entries), encoding="utf-8")
    word_tokenizer().save(str(folder / "tokenizer.json"))
    weights = random_weights() if weights is None else weights
    flex.io.save(
        folder / "model.safetensors",
        {prefix + name: flex.asarray(w, copy=True).astype(dtype) for name, w in weights.items()},
    )
    return folder


def numpy_vector(weights, tokens, activation):
    """The model's vector for one list of tokens, in float64."""
    w = {name: value.astype(np.float64) for name, value in weights.items()}

    def linear(name, x):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(name, x):
        x = x - x.mean(-1, keepdims=True)
        return (
            x
            / np.sqrt((x * x).mean(-1, keepdims=True) + CONFIG["layer_norm_eps"])
            * w[f"{name}.weight"]
            + w[f"{name}.bias"]
        )

    words, positions, types = (
        w[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type")
    )
    x = norm("embeddings.LayerNorm", words[tokens] + positions[: len(tokens)] + types[0])
    heads = CONFIG["num_attention_heads"]
    width = CONFIG["hidden_size"] // heads
    for k in range(CONFIG["num_hidden_layers"]):
        layer = f"encoder.layer.{k}"
        q, key, v = (
            linear(f"{layer}.attention.self.{part}", x) for part in ("query", "key", "value")
        )
        mixed = []
        for h in range(heads):
            part = slice(h * width, (h + 1) * width)
            scores = np.exp(q[:, part] @ key[:, part].T / np.sqrt(width))
            mixed.append(scores / scores.sum(-1, keepdims=True) @ v[:, part])
        x = norm(
            f"{layer}.attention.output.LayerNorm",
            x + linear(f"{layer}.attention.output.dense", np.concatenate(mixed, axis=-1)),
        )
        x = norm(
            f"{layer}.output.LayerNorm",
            x
            + linear(f"{layer}.output.dense", activation(linear(f"{layer}.intermediate.dense", x))),
        )
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def numpy_gelu(x):
    return x * 0.5 * (1 + erf(x / np.sqrt(2)))


def numpy_vectors(texts, activation=numpy_gelu, weights=None):
    weights = random_weights() if weights is None else weights
    return np.stack(
        [
            numpy_vector(weights, encoding.ids[: CONFIG["max_position_embeddings"]], activation)
            for encoding in word_tokenizer().encode_batch(texts)
        ]
    )
