"""The BERT encoder (Devlin et al., 2019): embeddings, then layers of self-attention and feed-forward with residuals and norms."""

from __future__ import annotations

import sys
from dataclasses import MISSING, dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import flex
from flex import nn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flex import Tensor

# config.json's names, and nn.linear's.
ACTIVATIONS: dict[str, Literal["relu", "gelu", "gelu_tanh", "silu"]] = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
    "silu": "silu",
}
# What checkpoints put before the names of the tensors: plain BertModel, models with a head, sentence-transformers' own export.
PREFIXES = ("", "bert.", "0.auto_model.")


@dataclass(frozen=True)
class BertConfig:
    """The entries of config.json that shape the network."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    hidden_act: str = "gelu"
    pad_token_id: int = 0

    @classmethod
    def from_json(cls, entries: Mapping[str, Any]) -> BertConfig:
        """Reads what config.json says. ValueError where it describes another network."""
        model_type = entries.get("model_type")
        if model_type != "bert":
            raise ValueError(f"unsupported model_type {model_type!r}: only 'bert' is")
        position = entries.get("position_embedding_type", "absolute")
        if position != "absolute":
            raise ValueError(f"unsupported position_embedding_type {position!r}: only 'absolute' is")
        missing = [field.name for field in fields(cls) if field.default is MISSING and entries.get(field.name) is None]
        if missing:
            raise ValueError(f"missing entries: {', '.join(missing)}")
        return cls(**{field.name: entries[field.name] for field in fields(cls) if entries.get(field.name) is not None})

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            kind = int if field.default is MISSING else type(field.default)
            if not isinstance(value, (int, float) if kind is float else kind) or isinstance(value, bool):
                raise ValueError(f"{field.name} is {value!r}, not of type {kind.__name__}")
            if kind is int and value < (0 if field.name == "pad_token_id" else 1):
                raise ValueError(f"{field.name} is {value}")
            if kind is float and not 0 <= value <= sys.float_info.max:
                raise ValueError(f"{field.name} is {value}, not a finite number from 0 on")
        if self.pad_token_id >= self.vocab_size:
            raise ValueError(f"pad_token_id is {self.pad_token_id}, but vocab_size is {self.vocab_size}")
        if self.hidden_act not in ACTIVATIONS:
            raise ValueError(f"unsupported hidden_act {self.hidden_act!r}: one of {', '.join(ACTIVATIONS)} is")
        if self.hidden_size % self.num_attention_heads:
            raise ValueError(f"hidden_size {self.hidden_size} is no multiple of num_attention_heads {self.num_attention_heads}")


class Weights:
    """The tensors of a checkpoint, each asked for by name and expected shape."""

    def __init__(self, tensors: Mapping[str, Tensor]):
        self._tensors = tensors
        self._prefix = next((p for p in PREFIXES if f"{p}embeddings.word_embeddings.weight" in tensors), "")

    def get(self, name: str, *shape: int) -> Tensor:
        """One tensor, as float32: where it lies when it is that already. ValueError when it is missing or of another shape."""
        full = self._prefix + name
        tensor = self._tensors.get(full)
        if tensor is None:
            raise ValueError(f"tensor {full!r} is missing")
        if tuple(tensor.shape) != shape:
            raise ValueError(f"tensor {full!r} has shape {list(tensor.shape)}, but config.json asks for {list(shape)}")
        return flex.astype(tensor, flex.float32, copy=False)


class Linear:
    """activation(x @ weight.T + bias) + residual."""

    def __init__(self, weights: Weights, name: str, inputs: int, outputs: int, hidden_act: str | None = None):
        self.weight = weights.get(f"{name}.weight", outputs, inputs)
        self.bias = weights.get(f"{name}.bias", outputs)
        self.activation = None if hidden_act is None else ACTIVATIONS[hidden_act]

    def __call__(self, x: Tensor, residual: Tensor | None = None) -> Tensor:
        return nn.linear(x, self.weight, self.bias, activation=self.activation, residual=residual)


class LayerNorm:
    """Normalises the last axis."""

    def __init__(self, weights: Weights, name: str, size: int, eps: float):
        self.weight = weights.get(f"{name}.weight", size)
        self.bias = weights.get(f"{name}.bias", size)
        self.eps = eps

    def __call__(self, x: Tensor) -> Tensor:
        return nn.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


class SelfAttention:
    """Multi-head attention of each sequence to itself, without the output projection."""

    def __init__(self, weights: Weights, name: str, config: BertConfig):
        size = config.hidden_size
        self.heads = config.num_attention_heads
        self.query, self.key, self.value = (Linear(weights, f"{name}.{part}", size, size) for part in ("query", "key", "value"))

    def __call__(self, x: Tensor, offsets: Sequence[int]) -> Tensor:
        tokens, size = x.shape
        q, k, v = (flex.reshape(linear(x), (tokens, self.heads, size // self.heads)) for linear in (self.query, self.key, self.value))
        return flex.reshape(nn.varlen_attention(q, k, v, offsets), (tokens, size))


class Layer:
    """Self-attention and feed-forward, each added to its input and normalised."""

    def __init__(self, weights: Weights, name: str, config: BertConfig):
        size, inner, eps = config.hidden_size, config.intermediate_size, config.layer_norm_eps
        self.attention = SelfAttention(weights, f"{name}.attention.self", config)
        self.attention_out = Linear(weights, f"{name}.attention.output.dense", size, size)
        self.attention_norm = LayerNorm(weights, f"{name}.attention.output.LayerNorm", size, eps)
        self.inner = Linear(weights, f"{name}.intermediate.dense", size, inner, config.hidden_act)
        self.outer = Linear(weights, f"{name}.output.dense", inner, size)
        self.norm = LayerNorm(weights, f"{name}.output.LayerNorm", size, eps)

    def __call__(self, x: Tensor, offsets: Sequence[int]) -> Tensor:
        x = self.attention_norm(self.attention_out(self.attention(x, offsets), residual=x))
        return self.norm(self.outer(self.inner(x), residual=x))


class Bert:
    """The network: token numbers in, one vector a token out. ValueError when a weight is missing or of another shape than `config` says."""

    def __init__(self, config: BertConfig, tensors: Mapping[str, Tensor]):
        weights, size = Weights(tensors), config.hidden_size
        self.config = config
        self.words = weights.get("embeddings.word_embeddings.weight", config.vocab_size, size)
        # Every token is of type 0, a single sentence.
        token_types = weights.get("embeddings.token_type_embeddings.weight", config.type_vocab_size, size)
        self.positions = weights.get("embeddings.position_embeddings.weight", config.max_position_embeddings, size) + token_types[0]
        self.norm = LayerNorm(weights, "embeddings.LayerNorm", size, config.layer_norm_eps)
        self.layers = [Layer(weights, f"encoder.layer.{k}", config) for k in range(config.num_hidden_layers)]

    def __call__(self, tokens: Tensor, offsets: Sequence[int]) -> Tensor:
        """[len(tokens), hidden_size] float32 of the sequences `tokens[offsets[i]:offsets[i + 1]]`, which lie one after the other."""
        lengths = (end - start for start, end in pairwise(offsets))
        places = flex.concat([flex.arange(length) for length in lengths])
        x = self.norm(nn.embedding(tokens, self.words) + nn.embedding(places, self.positions))
        for layer in self.layers:
            x = layer(x, offsets)
        return x
