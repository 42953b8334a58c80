"""The architectures that `model_type` in config.json may name: the names of their entries and tensors, and how they encode positions.

The names are those of Hugging Face transformers. All are encoders with layers of self-attention and feed-forward, each added to its
input and normalised (Devlin et al., 2019), which `_encoder.py` computes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Literal

# config.json's names, and nn.linear's.
ACTIVATIONS: dict[str, Literal["relu", "gelu", "gelu_tanh", "silu"]] = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
    "silu": "silu",
}
# The number of buckets of relative positions, in both directions together, for which MPNet has a
# bias. It is fixed in `transformers`; config.json only repeats it.
BUCKETS = 32


@dataclass(frozen=True)
class Architecture:
    """One `model_type`; the defaults are BERT's."""

    # Entries of config.json: the names that differ from EncoderConfig's, defaults, and entries with
    # only one supported value.
    entries: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(
        default_factory=lambda: {"position_embedding_type": "absolute", "is_decoder": False}
    )
    # Values that `transformers` has whatever config.json says, under EncoderConfig's names.
    constants: Mapping[str, Any] = field(default_factory=dict)
    # Names of tensors: of a layer, by its number, or by that of its group and its place in there if
    # groups of layers repeat with the same weights; then those within a layer.
    layers: str = "encoder.layer.{layer}"
    query: str = "attention.self.query"
    key: str = "attention.self.key"
    value: str = "attention.self.value"
    attention_out: str = "attention.output.dense"
    attention_norm: str = "attention.output.LayerNorm"
    inner: str = "intermediate.dense"
    outer: str = "output.dense"
    norm: str = "output.LayerNorm"
    # Token types have embeddings, which are added to the tokens'.
    token_types: bool = True
    # The linear layer that brings embeddings of another size to that of the layers.
    projection: str | None = None
    # Positions are counted from pad_token_id + 1, as in fairseq; padding within a text has position
    # pad_token_id.
    positions_after_padding: bool = False
    # Attention scores have a bias that depends on the relative position.
    position_bias: bool = False


BERT = Architecture()
ROBERTA = replace(BERT, defaults={"pad_token_id": 1}, positions_after_padding=True)
MPNET = replace(
    ROBERTA,
    fixed={"pad_token_id": 1, "relative_attention_num_buckets": BUCKETS},
    query="attention.attn.q",
    key="attention.attn.k",
    value="attention.attn.v",
    attention_out="attention.attn.o",
    attention_norm="attention.LayerNorm",
    token_types=False,
    position_bias=True,
)
DISTILBERT = Architecture(
    entries={
        "hidden_size": "dim",
        "num_hidden_layers": "n_layers",
        "num_attention_heads": "n_heads",
        "intermediate_size": "hidden_dim",
        "hidden_act": "activation",
    },
    constants={"layer_norm_eps": 1e-12},
    layers="transformer.layer.{layer}",
    query="attention.q_lin",
    key="attention.k_lin",
    value="attention.v_lin",
    attention_out="attention.out_lin",
    attention_norm="sa_layer_norm",
    inner="ffn.lin1",
    outer="ffn.lin2",
    norm="output_layer_norm",
    token_types=False,
)
ALBERT = Architecture(
    defaults={"embedding_size": 128, "hidden_act": "gelu_new"},
    layers="encoder.albert_layer_groups.{group}.albert_layers.{inner}",
    query="attention.query",
    key="attention.key",
    value="attention.value",
    attention_out="attention.dense",
    attention_norm="attention.LayerNorm",
    inner="ffn",
    outer="ffn_output",
    norm="full_layer_layer_norm",
    projection="encoder.embedding_hidden_mapping_in",
)
# Entries of every architecture that have only one supported value.
FIXED: Mapping[str, Any] = {"quantization_config": {}, "pruned_heads": {}}
ARCHITECTURES = {
    "bert": BERT,
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
    "mpnet": MPNET,
    "distilbert": DISTILBERT,
    "albert": ALBERT,
}


def require(entries: Mapping[str, Any], fixed: Mapping[str, Any]) -> None:
    """ValueError if an entry has a value other than the supported one."""
    for name, only in fixed.items():
        if entries.get(name) not in (None, only):
            raise ValueError(f"unsupported {name} {entries[name]!r}: only {only!r} is")


@dataclass(frozen=True)
class EncoderConfig:
    """The entries of config.json that define the network, under BERT's names."""

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
    model_type: str = "bert"
    # ALBERT's: the size of embeddings, the number of groups that layers with the same weights are
    # in, and of different layers in each
    embedding_size: int = 1
    num_hidden_groups: int = 1
    inner_group_num: int = 1

    @classmethod
    def from_json(cls, entries: Mapping[str, Any]) -> EncoderConfig:
        """Reads the entries of config.json. ValueError if the network is not supported."""
        model_type = entries.get("model_type")
        architecture = ARCHITECTURES.get(model_type) if isinstance(model_type, str) else None
        if architecture is None:
            raise ValueError(
                f"unsupported model_type {model_type!r}: one of {', '.join(ARCHITECTURES)} is"
            )
        require(entries, {**FIXED, **architecture.fixed})
        names = {
            entry.name: architecture.entries.get(entry.name, entry.name) for entry in fields(cls)
        }
        given = {
            name: entries[named] for name, named in names.items() if entries.get(named) is not None
        }
        missing = [
            names[entry.name]
            for entry in fields(cls)
            if entry.default is MISSING and entry.name not in given
        ]
        if missing:
            raise ValueError(f"missing entries: {', '.join(missing)}")
        return cls(**{**architecture.defaults, **given, **architecture.constants})

    def __post_init__(self) -> None:
        names = self.architecture.entries
        for entry in fields(self):
            name, value = names.get(entry.name, entry.name), getattr(self, entry.name)
            kind = int if entry.default is MISSING else type(entry.default)
            if not isinstance(value, (int, float) if kind is float else kind) or isinstance(
                value, bool
            ):
                raise ValueError(f"{name} is {value!r}, not of type {kind.__name__}")
            if kind is int and value < (0 if name == "pad_token_id" else 1):
                raise ValueError(f"{name} is {value}")
            if kind is float and not 0 <= value <= sys.float_info.max:
                raise ValueError(f"{name} is {value}, not a finite number from 0 on")
        if self.pad_token_id >= self.vocab_size:
            raise ValueError(
                f"pad_token_id is {self.pad_token_id}, but vocab_size is {self.vocab_size}"
            )
        if self.positions < 1:
            raise ValueError(
                f"max_position_embeddings is {self.max_position_embeddings}, of which padding takes all"
            )
        if self.hidden_act not in ACTIVATIONS:
            name = names.get("hidden_act", "hidden_act")
            raise ValueError(
                f"unsupported {name} {self.hidden_act!r}: one of {', '.join(ACTIVATIONS)} is"
            )
        if self.num_hidden_groups > self.num_hidden_layers:
            raise ValueError(
                f"num_hidden_groups is {self.num_hidden_groups}, but num_hidden_layers {self.num_hidden_layers}"
            )
        if self.hidden_size % self.num_attention_heads:
            size, heads = (names.get(name, name) for name in ("hidden_size", "num_attention_heads"))
            raise ValueError(
                f"{size} {self.hidden_size} is no multiple of {heads} {self.num_attention_heads}"
            )

    @property
    def architecture(self) -> Architecture:
        """The entry in ARCHITECTURES."""
        return ARCHITECTURES[self.model_type]

    @property
    def description(self) -> str:
        """The network in a few words."""
        return f"{self.model_type}, {self.num_hidden_layers} layers"

    @property
    def embedded_size(self) -> int:
        """The length of a token's embedding."""
        return self.hidden_size if self.architecture.projection is None else self.embedding_size

    @property
    def layer_names(self) -> list[str]:
        """The names of the layers in order; those with the same name are the same."""
        architecture = self.architecture
        each = self.inner_group_num if architecture.projection is not None else 1
        return [
            architecture.layers.format(
                layer=k, group=k * self.num_hidden_groups // self.num_hidden_layers, inner=inner
            )
            for k in range(self.num_hidden_layers)
            for inner in range(each)
        ]

    @property
    def first_position(self) -> int:
        """The row of the position embeddings for the first token of a text."""
        return self.pad_token_id + 1 if self.architecture.positions_after_padding else 0

    @property
    def positions(self) -> int:
        """The number of tokens of a text for which the network has positions."""
        return self.max_position_embeddings - self.first_position
