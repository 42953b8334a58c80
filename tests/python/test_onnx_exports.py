"""Networks as PyTorch's exporters write them (tests/data/README.md), with weights drawn here, against onnxruntime."""

import gzip
import math
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper
from onnx_models import matches_onnxruntime

import flex

EXPORTS = Path(__file__).resolve().parent.parent / "data" / "exports"
NAMES = sorted(file.name.removesuffix(".onnx.gz") for file in EXPORTS.glob("*.onnx.gz"))
NETWORKS = {
    "albert",
    "bert",
    "detector",
    "efficientnet",
    "gpt2",
    "llama",
    "lstm",
    "mobilenet",
    "resnet",
    "unet",
    "whisper",
}
# What the sizes of inputs stand for, where the model leaves them open.
AXES = {
    "image": ("batch", None, "height", "width"),
    "mels": ("batch", None, None),
    "x": ("batch", "length"),
    "input_ids": ("batch", "length"),
    "attention_mask": ("batch", "total"),
    "past": ("batch", None, "past", None),
}
SIZES = [
    {"batch": 1, "length": 1, "past": 4, "height": 32, "width": 32},
    {"batch": 3, "length": 9, "past": 7, "height": 44, "width": 36},
]


def exported(name, rng):
    """The model with random weights."""
    model = onnx.load_from_string(gzip.decompress((EXPORTS / f"{name}.onnx.gz").read_bytes()))
    for tensor in model.graph.initializer:
        shape = tuple(tensor.dims)
        if tensor.data_type != TensorProto.FLOAT or tensor.raw_data or tensor.float_data:
            continue
        values = rng.uniform(0.2, 1, shape)  # of biases, scales, variances
        if len(shape) > 1:
            values = rng.standard_normal(shape) / math.sqrt(math.prod(shape[1:]))
        tensor.CopyFrom(numpy_helper.from_array(values.astype(np.float32), tensor.name))
    return model


def inputs_of(model, rng, sizes):
    """Random inputs, with these sizes where the model leaves them open."""
    decoder = any(value.name.startswith("past") for value in model.graph.input)
    sizes = {**sizes, "total": sizes["length"] + decoder * sizes["past"]}
    inputs = {}
    for value in model.graph.input:
        kind = value.type.tensor_type
        axes = AXES[value.name.split("_")[0] if value.name.startswith("past") else value.name]
        shape = [
            size.dim_value or sizes[axis] for size, axis in zip(kind.shape.dim, axes, strict=True)
        ]
        if value.name == "attention_mask":  # the last text is shorter, padded where its past is
            mask = np.ones(shape, np.int64)
            mask[-1, : shape[1] // 3] = 0
            inputs[value.name] = mask
        elif kind.elem_type == TensorProto.INT64:
            inputs[value.name] = rng.integers(30, size=shape)
        else:
            inputs[value.name] = rng.standard_normal(shape, np.float32)
    return inputs


def test_networks():
    """Each is there from both exporters, and for all sizes where it has any."""
    assert {name.split("-")[0] for name in NAMES} == NETWORKS
    for network in NETWORKS:
        forms = {name.split("-", 1)[1] for name in NAMES if name.startswith(network)}
        assert {form.split("-")[0] for form in forms} == {"trace", "dynamo"}
        assert network == "detector" or {"dynamo-symbolic", "trace-symbolic"} <= forms


@pytest.mark.parametrize("name", NAMES)
def test_exports(name):
    rng = np.random.default_rng(len(name))
    model = exported(name, rng)
    for sizes in SIZES[: 2 if name.endswith("symbolic") else 1]:
        inputs = inputs_of(model, rng, sizes)
        assert matches_onnxruntime(model, rtol=1e-4, atol=1e-4, **inputs)


@pytest.mark.parametrize("name", ["gpt2-trace-symbolic", "llama-dynamo-symbolic"])
def test_tokens_one_by_one(name):
    """Keys and values of former steps give the logits of the whole text."""
    rng = np.random.default_rng(11)
    model = exported(name, rng)
    run = flex.onnx.load(model.SerializeToString()).run
    empty = {**SIZES[0], "past": 0, "length": 6}
    inputs = inputs_of(model, rng, empty)
    tokens = inputs["input_ids"]
    inputs["attention_mask"][:] = 1
    whole, *_ = run(None, inputs)
    past = [name for name in inputs if name.startswith("past")]
    cache = [inputs[name] for name in past]
    for k in range(tokens.shape[1]):
        given = {"input_ids": tokens[:, k : k + 1], "attention_mask": np.ones((1, k + 1), np.int64)}
        logits, *cache = run(None, given | dict(zip(past, cache, strict=True)))
        np.testing.assert_allclose(logits.numpy()[:, 0], whole.numpy()[:, k], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_change_bits(threads):
    for name in ("bert-dynamo-symbolic", "mobilenet-dynamo-symbolic", "lstm-dynamo-symbolic"):
        rng = np.random.default_rng(5)
        model = exported(name, rng)
        inputs = inputs_of(model, rng, SIZES[1])
        run = flex.onnx.load(model.SerializeToString()).run
        with flex.threads(1):
            expected = [y.tolist() for y in run(None, inputs)]
        with flex.threads(threads):
            assert [y.tolist() for y in run(None, inputs)] == expected
