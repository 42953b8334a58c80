"""Texts to tokens, of which a long text is read no further than the model does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

CHARACTERS = 64  # of a text for each token that the model takes: of prose a token has about 4
GROWTH = 8
END_OF_WORD = re.compile(r"\S(?=\s)")


def encodings(tokenizer: Tokenizer, texts: list[str], most: int) -> list[Encoding]:
    """The tokens of texts, truncated to `most` by the tokenizer. It gets the beginning of a long text alone, up to the end of a word, which
    the words after it do not change; and more of it if there are too few tokens in it."""
    parts = [_beginning(text, CHARACTERS * most) for text in texts]
    # Many texts go through the tokenizer together, since starting its threads takes time; a single text starts none, which would take a
    # core from flex's threads.
    found: list[Encoding] = (
        tokenizer.encode_batch_fast(parts) if len(parts) > 1 else list(map(tokenizer.encode, parts))
    )
    for k, (text, part) in enumerate(zip(texts, parts, strict=True)):
        while len(part) < len(text) and len(found[k].ids) < most:
            part = _beginning(text, GROWTH * len(part))
            found[k] = tokenizer.encode(part)
    return found


def _beginning(text: str, size: int) -> str:
    """At least `size` characters, if the text has as many, up to the end of a word."""
    end = END_OF_WORD.search(text, size)
    return text if end is None else text[: end.end()]
