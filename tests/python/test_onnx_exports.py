"""Networks as PyTorch's exporters write them (tests/data/README.md), with weights drawn here, against onnxruntime."""

import gzip
import math
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import made, matches_onnxruntime

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


def test_as_from_scikit_learn():
    """A pipeline as skl2onnx writes it: scaled, projected, then classes by a linear model and the nearest of several centres."""
    rng = np.random.default_rng(13)

    def weight(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    node = helper.make_node
    model = made(
        [
            node("Cast", ["x"], ["float"], to=TensorProto.FLOAT),
            node("Sub", ["float", "mean"], ["moved"]),
            node("Div", ["moved", "deviation"], ["scaled"]),
            node("MatMul", ["scaled", "axes"], ["projected"]),
            node("Gemm", ["projected", "coefficients", "intercept"], ["raw"], alpha=1.0),
            node("Softmax", ["raw"], ["probabilities"], axis=1),
            node("ArgMax", ["probabilities"], ["most"], axis=1, keepdims=0),
            node("Gather", ["classes", "most"], ["label"]),
            node("ReduceSumSquare", ["projected"], ["norms"], axes=[1], keepdims=1),
            node("Gemm", ["projected", "centres", "squares"], ["products"], alpha=-2.0, transB=1),
            node("Add", ["norms", "products"], ["distances"]),
            node("ArgMin", ["distances"], ["cluster"], axis=1, keepdims=0),
            node("Sqrt", ["distances"], ["score"]),
        ],
        [("x", TensorProto.DOUBLE, ["n", 6])],
        [
            ("probabilities", TensorProto.FLOAT, ["n", 4]),
            ("label", TensorProto.INT64, ["n"]),
            ("cluster", TensorProto.INT64, ["n"]),
            ("score", TensorProto.FLOAT, ["n", 5]),
        ],
        {
            "mean": weight(1, 6),
            "deviation": np.abs(weight(1, 6)) + 0.5,
            "axes": weight(6, 3),
            "coefficients": weight(3, 4),
            "intercept": weight(4),
            "classes": np.int64([3, 5, 7, 11]),
            "centres": (centres := weight(5, 3)),
            "squares": (centres**2).sum(axis=1),
        },
    )
    for count in (1, 50):
        assert matches_onnxruntime(model, x=rng.standard_normal((count, 6)))


def test_as_from_tensorflow():
    """Images in channels last, as tf2onnx writes them: transposed around convolutions, with padding and normalisation by themselves."""
    rng = np.random.default_rng(17)

    def weight(*shape):
        return (0.3 * rng.standard_normal(shape)).astype(np.float32)

    node = helper.make_node
    to_first, to_last = {"perm": [0, 3, 1, 2]}, {"perm": [0, 2, 3, 1]}
    model = made(
        [
            node("Transpose", ["image"], ["first"], **to_first),
            node("Pad", ["first", "pads"], ["padded"]),
            node("Conv", ["padded", "w1"], ["c1"], strides=[2, 2], kernel_shape=[3, 3]),
            node("Transpose", ["c1"], ["last"], **to_last),
            node("Mul", ["last", "scale"], ["scaled"]),
            node("Add", ["scaled", "shift"], ["shifted"]),
            node("Clip", ["shifted", "zero", "six"], ["relu6"]),
            node("Transpose", ["relu6"], ["again"], **to_first),
            node(
                "Conv",
                ["again", "w2", "b2"],
                ["c2"],
                group=8,
                auto_pad="SAME_UPPER",
                kernel_shape=[3, 3],
            ),
            node("Clip", ["c2", "zero", "six"], ["r2"]),
            node("Transpose", ["r2"], ["nhwc"], **to_last),
            node("ReduceMean", ["nhwc"], ["mean"], axes=[1, 2], keepdims=0),
            node("Shape", ["mean"], ["shape"]),
            node("Cast", ["shape"], ["sizes"], to=TensorProto.INT32),
            node("Slice", ["sizes", "from", "to", "axes"], ["batch"]),
            node("Squeeze", ["batch", "axes"], ["scalar"]),
            node("Unsqueeze", ["scalar", "axes"], ["one"]),
            node("Concat", ["one", "rest"], ["target32"], axis=0),
            node("Cast", ["target32"], ["target"], to=TensorProto.INT64),
            node("Reshape", ["mean", "target"], ["vectors"]),
            node("MatMul", ["vectors", "w3"], ["product"]),
            node("Add", ["product", "b3"], ["logits"]),
            node("Identity", ["logits"], ["y"]),
        ],
        [("image", TensorProto.FLOAT, ["n", 32, 32, 3])],
        [("y", TensorProto.FLOAT, None)],
        {
            "pads": np.int64([0, 0, 0, 0, 0, 0, 1, 1]),
            "w1": weight(8, 3, 3, 3),
            "scale": weight(8),
            "shift": weight(8) + np.float32(1),
            "zero": np.float32(0),
            "six": np.float32(6),
            "w2": weight(8, 1, 3, 3),
            "b2": weight(8),
            "from": np.int64([0]),
            "to": np.int64([1]),
            "axes": np.int64([0]),
            "rest": np.int32([2, 4]),
            "w3": weight(4, 5),
            "b3": weight(5),
        },
    )
    for count in (1, 3):
        image = rng.standard_normal((count, 32, 32, 3), np.float32)
        assert matches_onnxruntime(model, atol=1e-4, image=image)
