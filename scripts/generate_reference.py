#!/usr/bin/env python3
"""Writes tests/data/generate.json: the tokens that the network of examples/generate.py generates in torch, in float64 and
without a cache, the smallest margin of the most likely token, and torch's version. Needs torch, which the test doesn't.
"""

import json
import sys
from pathlib import Path

import torch
from torch.nn import functional as F  # noqa: N812, as everybody calls it

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples"))
from generate import Config, weights  # noqa: E402, after its folder

PROMPT, COUNT = [3, 141, 59, 26, 5, 35, 89, 79, 323, 84, 62, 64, 338, 327, 95, 0, 288, 41], 60


def turned(x):
    """Rotary embeddings of `[heads, tokens, dim]`, with pairs across the two halves."""
    half = x.shape[-1] // 2
    speed = 10_000.0 ** (-torch.arange(half, dtype=x.dtype) / half)
    angle = torch.arange(x.shape[-2], dtype=x.dtype)[:, None] * speed
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()), -1)


def logits(w, config, tokens):
    """The logits after the last token."""
    n = len(tokens)
    x = w["embedding"][tokens]
    behind = torch.arange(n)[:, None] - torch.arange(n)
    for i in range(config.layers):
        y = F.rms_norm(x, (config.width,), w[f"{i}.attention_norm"], 1e-6)
        q, k, v = (
            (y @ w[f"{i}.{name}"].T).reshape(n, -1, config.head_dim).transpose(0, 1)
            for name in ("query", "key", "value")
        )
        k, v = (t.repeat_interleave(config.heads // config.groups, 0) for t in (turned(k), v))
        scores = turned(q) @ k.mT * config.head_dim**-0.5
        scores = config.softcap * torch.tanh(scores / config.softcap)
        seen = (behind >= 0) & (behind < (config.window if i % 2 else n))
        y = scores.masked_fill(~seen, -torch.inf).softmax(-1) @ v
        x = x + y.transpose(0, 1).reshape(n, -1) @ w[f"{i}.out"].T
        y = F.rms_norm(x, (config.width,), w[f"{i}.feed_norm"], 1e-6)
        x = x + (F.silu(y @ w[f"{i}.gate"].T) * (y @ w[f"{i}.up"].T)) @ w[f"{i}.down"].T
    return F.rms_norm(x[-1], (config.width,), w["norm"], 1e-6) @ w["head"].T


def main():
    config = Config()
    w = {name: torch.from_numpy(array).double() for name, array in weights(config).items()}
    tokens, margin = list(PROMPT), float("inf")
    for _ in range(COUNT):
        best, second = logits(w, config, tokens).topk(2)[0].tolist()
        margin = min(margin, best - second)
        tokens.append(int(logits(w, config, tokens).argmax()))
    kept = {"torch": torch.__version__, "prompt": PROMPT, "tokens": tokens[len(PROMPT) :]}
    target = ROOT / "tests" / "data" / "generate.json"
    target.write_text(json.dumps(kept | {"margin": margin}) + "\n", encoding="utf-8")
    print(f"{target.relative_to(ROOT)}: {COUNT} tokens, by {margin:.1e} at least")


main()
