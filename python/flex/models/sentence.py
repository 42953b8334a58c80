"""Sentence embeddings: texts in, one vector of length 1 a text out."""

from __future__ import annotations

import json
from array import array
from contextlib import contextmanager, nullcontext
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import flex

from ._bert import Bert, BertConfig
from ._progress import ProgressBar

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from tokenizers import Tokenizer

    from flex import Tensor

DEFAULT_MAX_TOKENS = 256
TOKENIZED_TOGETHER = 512  # texts
# The stages of a sentence-transformers pipeline that this class is; others would change the result.
STAGES = {"Transformer", "Pooling", "Normalize"}
# What wrong content raises; deep nesting RecursionError, in the parser or when a message shows the value.
MALFORMED = (ValueError, RecursionError)


class SentenceEncoder:
    """A BERT encoder with mean pooling, such as all-MiniLM-L6-v2. Vectors have length 1: their dot product is the cosine similarity.

    >>> encoder = SentenceEncoder.load("all-MiniLM-L6-v2")    # doctest: +SKIP
    >>> vectors = encoder.encode(["A cat sits on the mat.", "A kitten rests on a rug."])    # doctest: +SKIP
    >>> float(vectors[0] @ vectors[1]) > 0.5    # doctest: +SKIP
    True
    """

    def __init__(self, bert: Bert, tokenizer: Tokenizer, max_tokens: int = DEFAULT_MAX_TOKENS):
        self._bert = bert
        self._tokenizer = tokenizer
        self.max_tokens = min(max_tokens, bert.config.max_position_embeddings)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self.max_tokens)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> SentenceEncoder:
        """Reads a Hugging Face folder: config.json, tokenizer.json and model.safetensors, whose weights stay mapped from the file.

        Raises FileNotFoundError when one is missing, ValueError when they don't describe a mean-pooled BERT or don't fit together, and
        ImportError without the package `tokenizers`.
        """
        folder = Path(folder)
        for name in ("config.json", "tokenizer.json", "model.safetensors"):
            if not (folder / name).is_file():
                raise FileNotFoundError(
                    f"{folder / name} is missing: a model is a folder with config.json, tokenizer.json and model.safetensors"
                )
        tokenizer_type = _tokenizer_type()
        _check_pipeline(folder)
        weights_path = folder / "model.safetensors"
        with _naming(folder / "config.json"):
            config = BertConfig.from_json(_read_json(folder / "config.json"))
        with _naming(weights_path):
            bert = Bert(config, flex.io.load(weights_path))
        with _naming(folder / "tokenizer.json", Exception):  # the package raises nothing more precise
            tokenizer = tokenizer_type.from_file(str(folder / "tokenizer.json"))
            _check_vocabulary(tokenizer, config.vocab_size)
        return cls(bert, tokenizer, _max_tokens(folder))

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._bert.config.hidden_size

    def encode(self, texts: Iterable[str], batch_size: int = 32, progress: bool = False) -> Tensor:
        """The vectors [len(texts), dimension] float32 of `texts`, in their order, each truncated to `max_tokens` tokens.

        `batch_size` texts go through the network together, their tokens one after the other: nothing is padded, and how texts are batched
        does not matter. `progress` shows a bar on a terminal. One text alone is a list too: `encode([text])`. A text without any token has
        the vector 0. TypeError where a text is no string, ValueError where it is no valid Unicode: it has a lone surrogate.
        """
        texts = _as_list(texts)
        if batch_size < 1:
            raise ValueError(f"encode: batch_size is {batch_size}, at least 1 is needed")
        if not texts:
            return flex.zeros((0, self.dimension), dtype=flex.float32)
        vectors = []
        with ProgressBar(len(texts), "embedding") if progress else nullcontext() as bar:
            for batch in self._batches(texts, batch_size):
                vectors.append(self._embed(batch))
                if bar is not None:
                    bar.advance(len(batch))
        return flex.concat(vectors, axis=0) if len(vectors) > 1 else vectors[0]

    def _batches(self, texts: list[str], size: int) -> Iterator[list[list[int]]]:
        """The tokens of texts, in batches. Many texts go through the tokenizer together, for its threads take their time to begin; one
        alone wakes none, which would take a core from those of flex."""
        together = size * max(1, TOKENIZED_TOGETHER // size)
        for start in range(0, len(texts), together):
            some = texts[start : start + together]
            encodings = [self._tokenizer.encode(some[0])] if len(some) == 1 else self._tokenizer.encode_batch_fast(some)
            tokens = [encoding.ids for encoding in encodings]
            for first in range(0, len(tokens), size):
                yield tokens[first : first + size]

    def _embed(self, batch: Sequence[Sequence[int]]) -> Tensor:
        """The vectors of lists of tokens."""
        tokens = array("q", chain.from_iterable(batch))
        if not tokens:
            return flex.zeros((len(batch), self.dimension), dtype=flex.float32)
        offsets = [0, *accumulate(map(len, batch))]
        hidden = self._bert(flex.asarray(tokens), offsets)
        # The mean's direction is the sum's, which a text without tokens has too.
        sums = flex.stack([flex.sum(hidden[start:end], axis=0) for start, end in pairwise(offsets)])
        return sums / flex.maximum(flex.sqrt(flex.sum(flex.square(sums), axis=1, keepdims=True)), 1e-12)


def _as_list(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, (str, bytes)):
        raise TypeError("encode: texts is one text, a list of texts is needed: encode([text])")
    texts = list(texts)
    for k, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"encode: texts[{k}] is of type {type(text).__name__}, not str")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"encode: texts[{k}] is no valid Unicode") from error
    return texts


def _tokenizer_type() -> type[Tokenizer]:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ImportError('SentenceEncoder needs the package tokenizers: pip install "flex-cpu[models]"') from error
    return Tokenizer


def _check_vocabulary(tokenizer: Tokenizer, size: int) -> None:
    """ValueError when the tokenizer gives a number that is no row of the word embeddings."""
    # The numbers of special tokens stand in the post-processor, apart from the vocabulary: an empty text shows them.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    largest = max([*tokenizer.get_vocab().values(), *tokenizer.encode("").ids], default=0)
    if largest >= size:
        raise ValueError(f"a token has the number {largest}, but vocab_size in config.json is {size}")


@contextmanager
def _naming(path: Path, caught: type[Exception] | tuple[type[Exception], ...] = MALFORMED) -> Iterator[None]:
    """Puts the file's name before the message of an error that reading it raises."""
    try:
        yield
    except caught as error:
        if str(path) in str(error):
            raise
        raise ValueError(f"{path}: {error}") from error


def _read_json(path: Path, kind: type = dict) -> Any:
    with _naming(path):
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, kind):
            raise ValueError(f"a JSON {kind.__name__} is needed")
    return content


def _max_tokens(folder: Path) -> int:
    path = folder / "sentence_bert_config.json"
    if not path.is_file():
        return DEFAULT_MAX_TOKENS
    tokens = _read_json(path).get("max_seq_length") or DEFAULT_MAX_TOKENS
    if not isinstance(tokens, int) or tokens < 3:  # [CLS], a token, [SEP]
        raise ValueError(f"{path}: max_seq_length is {tokens!r}")
    return tokens


def _check_pipeline(folder: Path) -> None:
    """ValueError when sentence-transformers' own files ask for more than mean pooling."""
    modules = folder / "modules.json"
    if modules.is_file():
        stages = [str(entry.get("type")).rpartition(".")[2] for entry in _read_json(modules, list) if isinstance(entry, dict)]
        for stage in stages:
            if stage not in STAGES:
                raise ValueError(f"{modules}: unsupported stage {stage!r}")
    pooling = folder / "1_Pooling" / "config.json"
    if pooling.is_file():
        modes = {key for key, on in _read_json(pooling).items() if key.startswith("pooling_mode_") and on is True}
        if modes != {"pooling_mode_mean_tokens"}:
            raise ValueError(f"{pooling}: unsupported pooling {sorted(modes)}: only mean pooling is")
