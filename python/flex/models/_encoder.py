"""The encoder: embeddings, then layers of self-attention and feed-forward with residuals and norms (kinds: `_architectures.py`)."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import flex
from flex import nn, quant

from ._architectures import ACTIVATIONS, BUCKETS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal, TypeAlias

    from flex import Tensor

    from ._architectures import EncoderConfig

    _Activation: TypeAlias = Literal["relu", "gelu", "gelu_tanh", "silu"]

# Checkpoints prefix the names of their tensors: with nothing for a plain model, with "bert." for one
# with a head;
WORDS = "embeddings.word_embeddings.weight"
# the oldest use TensorFlow's names in norms.
OLD_NAMES = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
# MPNet's buckets, half of which are for keys before the query: one for each distance below 8, then
# one starting at each of these distances.
NEAR = BUCKETS // 4
FAR = (8, 12, 16, 23, 32, 46, 64, 91)


class Layered(Protocol):
    """A linear layer: activation(x @ weight.T + bias) + residual."""

    def __call__(self, x: Tensor, residual: Tensor | None = None) -> Tensor: ...


class Weights:
    """The tensors of a checkpoint, requested by name and expected shape; linear layers are int8 if `quantized`."""

    def __init__(self, tensors: Mapping[str, Tensor], quantized: bool = False):
        self._tensors = tensors
        self._quantized = quantized
        self._prefix = next(
            (name.removesuffix(WORDS) for name in tensors if name.endswith(WORDS)), ""
        )

    def get(self, name: str, *shape: int) -> Tensor:
        """A tensor as float32, without a copy if it is already. ValueError if it is missing, has another shape, or holds no floats."""
        full = self._prefix + name
        tensor = self._tensors.get(full)
        if tensor is None:
            for new, old in OLD_NAMES.items():
                if full.endswith(new):
                    tensor = self._tensors.get(full.removesuffix(new) + old)
        if tensor is None:
            raise ValueError(f"tensor {full!r} is missing")
        if tuple(tensor.shape) != shape:
            raise ValueError(
                f"tensor {full!r} has shape {list(tensor.shape)}, but config.json asks for {list(shape)}"
            )
        if not flex.isdtype(tensor.dtype, "real floating"):
            raise ValueError(
                f"tensor {full!r} is {tensor.dtype}, not a float: quantised elsewhere?"
            )
        return flex.astype(tensor, flex.float32, copy=False)

    def linear(
        self, name: str, inputs: int, outputs: int, hidden_act: str | None = None
    ) -> Layered:
        """A linear layer of these sizes."""
        layer = QuantizedLinear if self._quantized else Linear
        weight, bias = (
            self.get(f"{name}.weight", outputs, inputs),
            self.get(f"{name}.bias", outputs),
        )
        return layer(weight, bias, None if hidden_act is None else ACTIVATIONS[hidden_act])

    def linears(
        self, names: Sequence[str], inputs: int, outputs: int
    ) -> Callable[[Tensor], list[Tensor]]:
        """Linear layers of these sizes with the same input; if int8, they are one layer, so that tokens are quantised once."""
        if not self._quantized:
            return Linears([self.linear(name, inputs, outputs) for name in names])
        joined = QuantizedLinear(
            flex.concat([self.get(f"{name}.weight", outputs, inputs) for name in names]),
            flex.concat([self.get(f"{name}.bias", outputs) for name in names]),
            None,
        )

        return JoinedLinears(joined, len(names), outputs)


class Linear:
    """activation(x @ weight.T + bias) + residual."""

    def __init__(self, weight: Tensor, bias: Tensor, activation: _Activation | None):
        self.weight, self.bias, self.activation = weight, bias, activation

    def __call__(self, x: Tensor, residual: Tensor | None = None) -> Tensor:
        return nn.linear(x, self.weight, self.bias, activation=self.activation, residual=residual)


class QuantizedLinear:
    """The same with an int8 weight, with a scale per row, and tokens that are quantised dynamically, each with its own scale."""

    def __init__(self, weight: Tensor, bias: Tensor, activation: _Activation | None):
        self.weight = quant.quantize(weight, axis=0)
        self.bias, self.activation = bias, activation

    def __call__(self, x: Tensor, residual: Tensor | None = None) -> Tensor:
        return quant.linear(
            x,
            self.weight,
            self.bias,
            activation=self.activation,
            residual=residual,
            inputs="dynamic",
        )


class Linears:
    """Layers with the same input."""

    def __init__(self, layers: Sequence[Layered]):
        self.layers = layers

    def __call__(self, x: Tensor) -> list[Tensor]:
        return [layer(x) for layer in self.layers]


class JoinedLinears:
    """The same as one layer, whose result is cut."""

    def __init__(self, joined: Layered, count: int, outputs: int):
        self.joined, self.count, self.outputs = joined, count, outputs

    def __call__(self, x: Tensor) -> list[Tensor]:
        y = self.joined(x)
        return [y[:, k * self.outputs : (k + 1) * self.outputs] for k in range(self.count)]


class LayerNorm:
    """Normalises the last axis."""

    def __init__(self, weights: Weights, name: str, size: int, eps: float):
        self.weight = weights.get(f"{name}.weight", size)
        self.bias = weights.get(f"{name}.bias", size)
        self.eps = eps

    def __call__(self, x: Tensor) -> Tensor:
        return nn.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


class PositionBias:
    """MPNet's relative position bias on attention scores, with T5's buckets (Raffel et al., 2020, section 2.1)."""

    def __init__(self, weights: Weights, config: EncoderConfig):
        self.by_bucket = weights.get(
            "encoder.relative_attention_bias.weight", BUCKETS, config.num_attention_heads
        )

    def __call__(self, length: int) -> Tensor:
        """[heads, length, length]: queries by keys."""
        by_distance = flex.take(
            self.by_bucket.T,
            flex.asarray([self.bucket(d) for d in range(1 - length, length)]),
            axis=1,
        )
        places = flex.arange(length)
        distances = (
            flex.expand_dims(places, axis=0) - flex.expand_dims(places, axis=1) + (length - 1)
        )
        return flex.reshape(
            flex.take(by_distance, flex.reshape(distances, (-1,)), axis=1), (-1, length, length)
        )

    @staticmethod
    def bucket(distance: int) -> int:
        """The bucket of a key that is `distance` tokens after the query."""
        apart = abs(distance)
        return (BUCKETS // 2 if distance > 0 else 0) + (
            apart if apart < NEAR else NEAR - 1 + bisect_right(FAR, apart)
        )


class SelfAttention:
    """Multi-head attention of each sequence to itself, without the output projection."""

    def __init__(self, weights: Weights, layer: str, config: EncoderConfig):
        size, names = config.hidden_size, config.architecture
        self.heads = config.num_attention_heads
        self.project = weights.linears(
            [f"{layer}.{name}" for name in (names.query, names.key, names.value)], size, size
        )

    def __call__(self, x: Tensor, offsets: Sequence[int], bias: Tensor | None) -> Tensor:
        tokens, size = x.shape
        q, k, v = (
            flex.reshape(part, (tokens, self.heads, size // self.heads)) for part in self.project(x)
        )
        if bias is None:
            return flex.reshape(nn.varlen_attention(q, k, v, offsets), (tokens, size))
        mixed = []
        for start, end in pairwise(offsets):
            query, key, value = (
                flex.permute_dims(part[start:end], (1, 0, 2)) for part in (q, k, v)
            )
            one = nn.scaled_dot_product_attention(
                query, key, value, bias[:, : end - start, : end - start]
            )
            mixed.append(flex.reshape(flex.permute_dims(one, (1, 0, 2)), (end - start, size)))
        return flex.concat(mixed)


class Layer:
    """Self-attention and feed-forward, each added to its input and normalised."""

    def __init__(self, weights: Weights, layer: str, config: EncoderConfig):
        size, inner, eps, names = (
            config.hidden_size,
            config.intermediate_size,
            config.layer_norm_eps,
            config.architecture,
        )
        self.attention = SelfAttention(weights, layer, config)
        self.attention_out = weights.linear(f"{layer}.{names.attention_out}", size, size)
        self.attention_norm = LayerNorm(weights, f"{layer}.{names.attention_norm}", size, eps)
        self.inner = weights.linear(f"{layer}.{names.inner}", size, inner, config.hidden_act)
        self.outer = weights.linear(f"{layer}.{names.outer}", inner, size)
        self.norm = LayerNorm(weights, f"{layer}.{names.norm}", size, eps)

    def __call__(self, x: Tensor, offsets: Sequence[int], bias: Tensor | None) -> Tensor:
        x = self.attention_norm(self.attention_out(self.attention(x, offsets, bias), residual=x))
        return self.norm(self.outer(self.inner(x), residual=x))


class Encoder:
    """The network: token IDs in, a vector per token out. ValueError if a weight is missing or its shape contradicts `config`."""

    # Whether vectors are those of texts: see `Network`.
    pools = False

    def __init__(
        self, config: EncoderConfig, tensors: Mapping[str, Tensor], quantized: bool = False
    ):
        weights, size, names = (
            Weights(tensors, quantized),
            config.embedded_size,
            config.architecture,
        )
        self.config = config
        self.words = weights.get(WORDS, config.vocab_size, size)
        self.positions = weights.get(
            "embeddings.position_embeddings.weight", config.max_position_embeddings, size
        )
        if names.token_types:
            # Every token is of type 0, a single sentence.
            self.positions = (
                self.positions
                + weights.get(
                    "embeddings.token_type_embeddings.weight", config.type_vocab_size, size
                )[0]
            )
        self.norm = LayerNorm(weights, "embeddings.LayerNorm", size, config.layer_norm_eps)
        self.bias = PositionBias(weights, config) if names.position_bias else None
        self.projection = (
            None
            if names.projection is None
            else weights.linear(names.projection, size, config.hidden_size)
        )
        layers = {name: Layer(weights, name, config) for name in dict.fromkeys(config.layer_names)}
        self.layers = [layers[name] for name in config.layer_names]

    def __call__(self, tokens: Tensor, offsets: Sequence[int]) -> Tensor:
        """[len(tokens), hidden_size] float32 for the consecutive sequences `tokens[offsets[i]:offsets[i + 1]]`."""
        x = self.norm(
            nn.embedding(tokens, self.words)
            + nn.embedding(self._places(tokens, offsets), self.positions)
        )
        if self.projection is not None:
            x = self.projection(x)
        bias = (
            None
            if self.bias is None
            else self.bias(max(end - start for start, end in pairwise(offsets)))
        )
        for layer in self.layers:
            x = layer(x, offsets, bias)
        return x

    def _places(self, tokens: Tensor, offsets: Sequence[int]) -> Tensor:
        """The row of the position embeddings for each token."""
        if not self.config.architecture.positions_after_padding:
            return flex.concat([flex.arange(end - start) for start, end in pairwise(offsets)])
        words = flex.astype(tokens != self.config.pad_token_id, tokens.dtype)
        counts = flex.concat(
            [flex.cumulative_sum(words[start:end]) for start, end in pairwise(offsets)]
        )
        return counts * words + self.config.pad_token_id
