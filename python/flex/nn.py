"""Functions of models: the names and the order of arguments of torch.nn.functional, but `axis` as everywhere in flex."""

from flex._flex import _nn, relu, sigmoid, silu

conv1d = _nn.conv1d
conv2d = _nn.conv2d
conv3d = _nn.conv3d
embedding = _nn.embedding
gelu = _nn.gelu
layer_norm = _nn.layer_norm
linear = _nn.linear
log_softmax = _nn.log_softmax
rms_norm = _nn.rms_norm
scaled_dot_product_attention = _nn.scaled_dot_product_attention
softmax = _nn.softmax
varlen_attention = _nn.varlen_attention

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
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
