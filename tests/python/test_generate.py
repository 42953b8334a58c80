"""The decoder of examples/generate.py against torch's tokens, stored by scripts/generate_reference.py."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
STORED = json.loads((ROOT / "tests" / "data" / "generate.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def example():
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        import generate
    finally:
        sys.path.pop(0)
    return generate


def decoder(example):
    config = example.Config()
    return example.Decoder(config, example.weights(config))


def test_tokens_match_torch(example):
    tokens = example.generate(decoder(example), STORED["prompt"], len(STORED["tokens"]))
    assert tokens == STORED["tokens"]
    assert len(set(tokens)) > 10  # no repeating loop
    assert STORED["margin"] > 1e-4  # larger than float32's error


def test_a_prompt_in_parts_gives_the_same_tokens(example):
    whole = decoder(example)
    parts = decoder(example)
    for token in STORED["prompt"][:7]:
        parts([token])
    parts(STORED["prompt"][7:-1])
    first = example.generate(parts, STORED["prompt"][-1:], 20)
    assert first == example.generate(whole, STORED["prompt"], 20)
