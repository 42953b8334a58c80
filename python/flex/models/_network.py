"""A network in an ONNX file: token IDs in, a vector per token out, as `_encoder.py` computes it from weights, or one per text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import flex

from ._architectures import ARCHITECTURES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flex import Tensor
    from flex.onnx import Model, Value

# The inputs that tokenizers give; of these, exports have the first and some others.
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
# The names that exporters give to the vectors of tokens.
OUTPUTS = ("last_hidden_state", "token_embeddings")
# The name that exporters give to the vectors of texts.
POOLED = "sentence_embedding"
# The greatest number of tokens, if neither the files nor the network say it: BERT's.
POSITIONS = 512


@dataclass(frozen=True)
class NetworkConfig:
    """What is known of the network, under EncoderConfig's names: the entries of config.json, if there is one, and its own sizes."""

    pad_token_id: int = 0
    positions: int = POSITIONS
    vocab_size: int | None = None
    hidden_size: int = 0
    description: str = "ONNX"

    @classmethod
    def from_json(cls, entries: Mapping[str, Any]) -> NetworkConfig:
        """Reads the entries of config.json. ValueError if one is no number."""
        pad = _whole(entries, "pad_token_id", 0)
        positions = _whole(entries, "max_position_embeddings", 1)
        architecture = ARCHITECTURES.get(str(entries.get("model_type")))
        if positions is not None and architecture and architecture.positions_after_padding:
            first = architecture.defaults["pad_token_id"] if pad is None else pad
            positions = max(1, positions - first - 1)
        return cls(pad or 0, positions or POSITIONS, _whole(entries, "vocab_size", 1))


def _whole(entries: Mapping[str, Any], name: str, least: int) -> int | None:
    """An entry that is a number, if it is there."""
    value = entries.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is {value!r}")
    return value


class Network:
    """A model of `flex.onnx`. ValueError if its inputs are not those of a tokenizer, or if no output has a vector per token or text."""

    def __init__(self, model: Model, config: NetworkConfig):
        names = [value.name for value in model.inputs]
        if "input_ids" not in names or not set(names) <= set(INPUTS):
            raise ValueError(
                f"the model's inputs are {', '.join(names) or 'none'}, not input_ids and some of {', '.join(INPUTS[1:])}"
            )
        self._model = model
        self._output, self.pools = _vectors(model.outputs)
        batch, length = (model.inputs[names.index("input_ids")].shape or (None, None))[:2]
        # sizes that the model fixes
        self._batch = batch if isinstance(batch, int) else None
        self._length = length if isinstance(length, int) else None
        self.config = replace(
            config,
            hidden_size=self._width(),
            positions=self._length or config.positions,
            description=f"ONNX, {sum(model.operators.values())} nodes",
        )

    def _width(self) -> int:
        """The length of a vector: if the model doesn't state it, that of a token's."""
        size = (self._output.shape or (None,))[-1]
        if isinstance(size, int):
            return size
        return self._run(flex.zeros((1, 1), dtype=flex.int64), 0).shape[-1]

    def __call__(self, tokens: Tensor, offsets: Sequence[int]) -> Tensor:
        """[len(tokens), hidden_size] float32 for the consecutive sequences `tokens[offsets[i]:offsets[i + 1]]`; if the model `pools`, a row
        for each sequence that has tokens.

        Sequences of the same length go through the model together, so that none is padded, unless the model has a fixed length.
        """
        same: dict[int, list[int]] = {}
        for k, (start, end) in enumerate(pairwise(offsets)):
            if start < end:
                same.setdefault(end - start, []).append(k)
        vectors: dict[int, Tensor] = {}
        for length, all_texts in same.items():
            together = self._batch or len(all_texts)
            for first in range(0, len(all_texts), together):
                texts = all_texts[first : first + together]
                rows = [tokens[offsets[k] : offsets[k] + length] for k in texts]
                rows += rows[-1:] * (together - len(rows) if self._batch else 0)
                hidden = self._run(flex.stack(rows), self.config.pad_token_id)
                vectors.update({k: hidden[row] for row, k in enumerate(texts)})
        join = flex.stack if self.pools else flex.concat
        return join([vectors[k] for k in sorted(vectors)])

    def _run(self, ids: Tensor, pad: int) -> Tensor:
        """The vectors [texts, tokens, hidden_size] of texts [texts, tokens], or [texts, hidden_size] if the model pools."""
        count, length = ids.shape
        mask = flex.ones(ids.shape, dtype=flex.int64)
        if self._length is not None and self._length > length:
            more = (count, self._length - length)
            ids = flex.concat([ids, flex.full(more, pad, dtype=flex.int64)], axis=1)
            mask = flex.concat([mask, flex.zeros(more, dtype=flex.int64)], axis=1)
        given = dict(zip(INPUTS, (ids, mask, flex.zeros_like(ids)), strict=True))
        inputs = {
            value.name: flex.astype(given[value.name], value.dtype or flex.int64, copy=False)
            for value in self._model.inputs
        }
        (hidden,) = self._model.run([self._output.name], inputs)
        each, axes = ("text", 1) if self.pools else ("token", 2)
        if hidden.ndim != axes + 1 or hidden.shape[:axes] != ids.shape[:axes]:
            raise ValueError(
                f"the model's output {self._output.name} has shape {list(hidden.shape)}, not a vector for each {each} of {list(ids.shape)}"
            )
        hidden = hidden if self.pools else hidden[:, :length]
        return flex.astype(hidden, flex.float32, copy=False)


def _vectors(outputs: Sequence[Value]) -> tuple[Value, bool]:
    """The output with the vectors of tokens, by its name, or else the first of rank 3, or else that of texts; whether they are of texts."""
    named = [value for name in OUTPUTS for value in outputs if value.name == name]
    pooled = [value for value in outputs if value.name == POOLED]
    ranked = [
        value
        for value in outputs
        if value not in pooled and (value.shape is None or len(value.shape) == 3)
    ]
    if not named and not ranked and not pooled:
        raise ValueError(
            f"no output has a vector for each token: the model's are {', '.join(value.name for value in outputs)}"
        )
    return (named or ranked or pooled)[0], not (named or ranked)
