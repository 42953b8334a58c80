"""A GPT-like decoder that generates greedily with a cache of keys and values.

    python examples/generate.py

The weights are random, so the text means nothing. A test compares the tokens with those of the same network in torch,
which recomputes the whole text for each token (scripts/generate_reference.py). Blocks are as in Llama: root mean square
norms, grouped-query attention with rotary embeddings, a gated feed-forward layer; every second block attends to a sliding
window only, as in Mistral.
"""

import time
from dataclasses import dataclass

import numpy as np

import flex
from flex import nn


@dataclass(frozen=True)
class Config:
    vocabulary: int = 512
    width: int = 64
    layers: int = 3
    heads: int = 4
    groups: int = 2  # key and value heads
    hidden: int = 160
    window: int = 24  # tokens that every second layer attends to
    softcap: float = 30.0

    @property
    def head_dim(self):
        return self.width // self.heads


def weights(config):
    """Random weights, the same on every machine, as float32 NumPy arrays by name."""
    rng = np.random.Generator(np.random.PCG64(7))
    width, kept = config.width, config.groups * config.head_dim
    shapes = {
        "embedding": (config.vocabulary, width),
        "norm": (width,),
        "head": (config.vocabulary, width),
    }
    for i in range(config.layers):
        shapes |= {
            f"{i}.attention_norm": (width,),
            f"{i}.query": (width, width),
            f"{i}.key": (kept, width),
            f"{i}.value": (kept, width),
            f"{i}.out": (width, width),
            f"{i}.feed_norm": (width,),
            f"{i}.gate": (config.hidden, width),
            f"{i}.up": (config.hidden, width),
            f"{i}.down": (width, config.hidden),
        }
    return {
        name: 1 + rng.uniform(-0.1, 0.1, shape).astype("float32")
        if name.endswith("norm")
        else (rng.uniform(-1.7, 1.7, shape) / shape[-1] ** 0.5).astype("float32")
        for name, shape in shapes.items()
    }


class Decoder:
    """The network, with the key and value caches of one text."""

    def __init__(self, config, arrays, length=2048):
        self.config = config
        self.weights = {name: flex.asarray(array) for name, array in arrays.items()}
        self.tables = nn.rotary_tables(length, config.head_dim)
        self.caches = [
            nn.KVCache(1, config.groups, config.head_dim, window=self.window(i))
            for i in range(config.layers)
        ]

    def window(self, layer):
        return self.config.window if layer % 2 else None

    def heads(self, x, name):
        """`[1, heads, tokens, head_dim]`, a view."""
        x = nn.linear(x, self.weights[name])
        return x.reshape(1, x.shape[0], -1, self.config.head_dim).permute_dims((0, 2, 1, 3))

    def attention(self, x, layer):
        position = self.caches[layer].position
        q = nn.rotary_embedding(self.heads(x, f"{layer}.query"), *self.tables, offset=position)
        k = nn.rotary_embedding(self.heads(x, f"{layer}.key"), *self.tables, offset=position)
        keys, values = self.caches[layer].append(k, self.heads(x, f"{layer}.value"))
        window = self.window(layer)
        y = nn.scaled_dot_product_attention(
            q,
            keys,
            values,
            is_causal=True,
            enable_gqa=True,
            softcap=self.config.softcap,
            window=None if window is None else (window - 1, 0),
            align="lower_right",
        )
        return y.permute_dims((0, 2, 1, 3)).reshape(x.shape[0], -1)

    def __call__(self, tokens):
        """The logits after the last token, with `tokens` appended to the text."""
        w, width = self.weights, (self.config.width,)
        x = nn.embedding(flex.asarray(tokens), w["embedding"])
        for i in range(self.config.layers):
            y = nn.rms_norm(x, width, w[f"{i}.attention_norm"], 1e-6)
            x = nn.linear(self.attention(y, i), w[f"{i}.out"], residual=x)
            y = nn.rms_norm(x, width, w[f"{i}.feed_norm"], 1e-6)
            gate = nn.linear(y, w[f"{i}.gate"], activation="silu")
            x = nn.linear(gate * nn.linear(y, w[f"{i}.up"]), w[f"{i}.down"], residual=x)
        return nn.linear(nn.rms_norm(x[-1:], width, w["norm"], 1e-6), w["head"])


def generate(decoder, prompt, count):
    """`count` tokens that follow the prompt, by greedy decoding."""
    tokens, new = [], list(prompt)
    for _ in range(count):
        new = [int(flex.argmax(decoder(new)))]
        tokens += new
    return tokens


def main():
    config = Config(width=512, layers=8, heads=8, groups=2, hidden=1408, window=256)
    decoder = Decoder(config, weights(config))
    prompt, count = list(range(100)), 200
    start = time.perf_counter()
    tokens = generate(decoder, prompt, count)
    taken = time.perf_counter() - start
    print(*tokens)
    print(f"{count / taken:.0f} tokens a second after a prompt of {len(prompt)}")


if __name__ == "__main__":
    main()
