# Written by scripts/make_stubs.py.
from typing import Literal, SupportsIndex

from flex._flex import Tensor, _DType, _Operand, _Shape
from flex._flex import relu as relu
from flex._flex import sigmoid as sigmoid
from flex._flex import silu as silu

def embedding(indices: _Operand, weight: _Operand) -> Tensor: ...
def gelu(x: _Operand, *, approximate: Literal["none", "tanh"] = 'none') -> Tensor: ...
def layer_norm(x: _Operand, normalized_shape: _Shape, weight: _Operand | None = None, bias: _Operand | None = None, eps: float = 1e-05) -> Tensor: ...
def linear(x: _Operand, weight: _Operand, bias: _Operand | None = None, *, activation: Literal["relu", "gelu", "gelu_tanh", "silu"] | None = None, residual: _Operand | None = None, dtype: _DType | None = None) -> Tensor: ...
def log_softmax(x: _Operand, axis: SupportsIndex = -1) -> Tensor: ...
def rms_norm(x: _Operand, normalized_shape: _Shape, weight: _Operand | None = None, eps: float | None = None) -> Tensor: ...
def scaled_dot_product_attention(query: _Operand, key: _Operand, value: _Operand, attn_mask: _Operand | None = None, *, is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False) -> Tensor: ...
def softmax(x: _Operand, axis: SupportsIndex = -1) -> Tensor: ...
def varlen_attention(query: _Operand, key: _Operand, value: _Operand, offsets: _Shape, *, is_causal: bool = False, scale: float | None = None) -> Tensor: ...

__all__ = [
    "embedding",
    "gelu",
    "layer_norm",
    "linear",
    "log_softmax",
    "relu",
    "rms_norm",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "softmax",
    "varlen_attention",
]
