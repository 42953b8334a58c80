"""Damaged ONNX models: changed bytes, and messages that contradict each other, are run or refused, within limits of memory and time."""

import struct
import tempfile
import time
from pathlib import Path

import numpy as np
from files import REFUSALS, SECONDS, damaged, limited
from onnx import TensorProto, helper
from onnx_calls import call
from onnx_models import made

import flex

FOLDER = tempfile.TemporaryDirectory(prefix="flex-fuzz-")
NUMBERS = [0, 1, -1, 2, 3, 7, 64, 255, 2**31 - 1, -(2**31), 2**31, 2**40, 2**63 - 1, -(2**63)]
KINDS = [
    "Relu",
    "Add",
    "MatMul",
    "Conv",
    "Reshape",
    "Concat",
    "If",
    "Cast",
    "Split",
    "Gather",
    "LSTM",
    "Foo",
]
LOOPS = {"Loop", "Scan"}  # which may be told to run for years
REFUSED = (*REFUSALS, TypeError, IndexError)


def images():
    """Convolutions and what surrounds them."""
    rng = np.random.default_rng(1)
    node = helper.make_node
    return made(
        [
            node("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1], strides=[2, 2]),
            node("BatchNormalization", ["c", "s", "s", "s", "s"], ["n"], "norm"),
            node("Relu", ["n"], ["r"], "relu"),
            node("MaxPool", ["r"], ["m"], "pool", kernel_shape=[2, 2], ceil_mode=1),
            node("Resize", ["m", "", "scales"], ["u"], "resize", mode="linear"),
            node("Pad", ["u", "pads"], ["p"], "pad"),
            node("Flatten", ["p"], ["f"], "flatten"),
            node("ReduceMean", ["f"], ["y"], "mean", axes=[1]),
        ],
        [("x", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [("y", TensorProto.FLOAT, ["n", 1])],
        {
            "w": rng.random((4, 3, 3, 3), np.float32),
            "s": np.ones(4, np.float32),
            "scales": np.float32([1, 1, 2, 2]),
            "pads": np.int64([0, 0, 1, 1, 0, 0, 1, 1]),
        },
    )


def shapes():
    """Shapes that nodes compute, and indices."""
    node = helper.make_node
    return made(
        [
            node("Shape", ["x"], ["s"], "shape"),
            node("Gather", ["s", "one"], ["g"], "gather", axis=0),
            node("Concat", ["minus", "g"], ["c"], "concat", axis=0),
            node("Reshape", ["x", "c"], ["r"], "reshape"),
            node("Transpose", ["r"], ["t"], "transpose", perm=[1, 0]),
            node("Slice", ["t", "zero", "one"], ["l"], "slice"),
            node("Expand", ["l", "wide"], ["e"], "expand"),
            node("Tile", ["e", "twice"], ["i"], "tile"),
            node("TopK", ["i", "one"], ["y", "k"], "topk"),
            node("ConstantOfShape", ["wide"], ["z"], "constant"),
        ],
        [("x", TensorProto.FLOAT, ["n", 4])],
        [
            ("y", TensorProto.FLOAT, None),
            ("k", TensorProto.INT64, None),
            ("z", TensorProto.FLOAT, None),
        ],
        {
            "zero": np.int64([0]),
            "one": np.int64([1]),
            "minus": np.int64([-1]),
            "wide": np.int64([3, 1, 4]),
            "twice": np.int64([1, 2, 1]),
        },
    )


def bodies():
    """Nodes with graphs of their own, and a function."""
    node, info = helper.make_node, helper.make_tensor_value_info
    branches = {
        way: helper.make_graph(
            [node(kind, ["x"], [way[0]], kind)], way, [], [info(way[0], 1, None)]
        )
        for way, kind in (("then_branch", "Relu"), ("else_branch", "Neg"))
    }
    inputs = [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, []), info("v", 1, None)]
    outputs = [info("d", TensorProto.BOOL, []), info("u", 1, None)]
    nodes = [node("Identity", ["c"], ["d"], "go"), node("Mul", ["v", "half"], ["u"], "half")]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    model = made(
        [
            node("ReduceSum", ["x"], ["s"], "sum", keepdims=0),
            node("Greater", ["s", "half"], ["b"], "greater"),
            node("If", ["b"], ["f"], "if", **branches),
            node("Loop", ["three", "", "f"], ["l"], "loop", body=body),
            node("Twice", ["l"], ["y"], "function", domain="own"),
        ],
        [("x", TensorProto.FLOAT, ["n", 2])],
        [("y", TensorProto.FLOAT, ["n", 2])],
        {"half": np.float32(0.5), "three": np.int64(3)},
    )
    opsets = [helper.make_opsetid("", 17)]
    twice = helper.make_function(
        "own", "Twice", ["a"], ["b"], [node("Add", ["a", "a"], ["b"])], opsets
    )
    model.functions.append(twice)
    model.opset_import.append(helper.make_opsetid("own", 1))
    return model


def weights():
    """Weights of several types, in lists and in other files."""
    rng = np.random.default_rng(2)
    node = helper.make_node
    model = made(
        [
            node("DequantizeLinear", ["q", "scale"], ["w"], "dequantize"),
            node("MatMul", ["x", "w"], ["m"], "product"),
            node("Cast", ["half"], ["h"], "cast", to=TensorProto.FLOAT),
            node("Add", ["m", "h"], ["a"], "add"),
            node("Mul", ["a", "outside"], ["y"], "scale"),
        ],
        [("x", TensorProto.FLOAT, ["n", 6])],
        [("y", TensorProto.FLOAT, ["n", 4])],
        {"scale": np.float32(0.1), "half": rng.random(4).astype(np.float16)},
        opset=21,
    )
    four = helper.make_tensor("q", TensorProto.INT4, [6, 4], rng.integers(-8, 8, 24))
    outside = TensorProto(name="outside", data_type=TensorProto.FLOAT, dims=[4])
    outside.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "weights.bin"), ("offset", "8"), ("length", "16")):
        outside.external_data.add(key=key, value=value)
    model.graph.initializer.extend([four, outside])
    return model


MODELS = [images, shapes, bodies, weights]


def changed(rng, model):
    """A message of the model with another content."""

    def choice(options):
        return options[int(rng.integers(len(options)))]

    graphs = [model.graph]
    graphs += [a.g for node in model.graph.node for a in node.attribute if a.HasField("g")]
    graph = choice(graphs)
    node = choice(list(graph.node) or list(model.graph.node))
    names = [name for n in model.graph.node for name in (*n.input, *n.output)]
    tensor = choice(list(model.graph.initializer))
    number = choice(NUMBERS)
    match int(rng.integers(12)):
        case 0 if node.input:  # also its own output, or a later one
            node.input[int(rng.integers(len(node.input)))] = choice([*names, "", "nowhere"])
        case 1:
            node.input.append(choice([*names, ""]))
        case 2 if node.input:
            del node.input[int(rng.integers(len(node.input))) :]
        case 3:
            node.output.append(choice(names))
        case 4:
            node.op_type = choice(KINDS)
        case 5 if node.attribute:
            attribute = choice(list(node.attribute))
            if attribute.ints:
                attribute.ints[int(rng.integers(len(attribute.ints)))] = number
            attribute.i = number
        case 6 if node.attribute:
            choice(list(node.attribute)).type = int(rng.integers(0, 15))
        case 7 if tensor.dims:
            tensor.dims[int(rng.integers(len(tensor.dims)))] = number
        case 8:
            tensor.data_type = int(rng.integers(0, 30))
        case 9:  # a value of indices, sizes or factors
            integers = [t for t in model.graph.initializer if t.data_type == TensorProto.INT64]
            if integers:
                tensor = choice(integers)
                raw = bytearray(tensor.raw_data)
                at = 8 * int(rng.integers(len(raw) // 8)) if raw else 0
                raw[at : at + 8] = struct.pack("<q", number)
                tensor.raw_data = bytes(raw)
        case 10:
            for entry in tensor.external_data:
                entry.value = choice(
                    [str(number), "../weights.bin", "/etc/passwd", "", "weights.bin"]
                )
        case 11:
            graph.node.append(node)
    return model


def inputs_of(model):
    """Ones, of the sizes that a model states."""
    return {
        value.name: flex.ones(
            tuple(
                size if isinstance(size, int) and size < 64 else 2 for size in value.shape or (2,)
            ),
            dtype=value.dtype or flex.float32,
        )
        for value in model.inputs
    }


def outcome(load, inputs):
    """What loading a model and running it says, or None for either if it works."""
    try:
        loaded = load()
    except REFUSED as error:
        return str(error), None
    if LOOPS & loaded.operators.keys():
        return None, None
    try:
        loaded.run(None, inputs or inputs_of(loaded))
    except REFUSED as error:
        return None, str(error)
    return None, None


def check(found, started):
    """Asserts that errors are short and came soon."""
    assert time.monotonic() - started < SECONDS
    assert max((len(message) for message in found if message), default=0) < 4000


def run(seed):
    """Loads and runs a model that is damaged, or of a node that makes no sense."""
    limited()
    rng = np.random.default_rng(seed)
    if rng.random() < 0.5:
        model, inputs = call(rng)
        content, started = model.SerializeToString(), time.monotonic()
        (name,) = (node.op_type for node in model.graph.node)
        found = outcome(lambda: flex.onnx.load(content), inputs)
        check(found, started)
        # memory that cannot be had is an error by itself
        named = (name, "cannot allocate")
        assert all(m is None or any(word in m for word in named) for m in found), found
        return
    model = MODELS[int(rng.integers(len(MODELS)))]()
    content = model.SerializeToString()
    if rng.random() < 0.5:
        for _ in range(int(rng.integers(1, 4))):
            model = changed(rng, model)
        content = model.SerializeToString()
    if rng.random() < 0.6:
        content = damaged(rng, content)
    path = Path(FOLDER.name) / "model.onnx"
    path.write_bytes(content)
    (path.parent / "weights.bin").write_bytes(bytes(range(24)))
    started = time.monotonic()
    found = [outcome(lambda m=m: flex.onnx.load(path, mmap=m), None) for m in (False, True)]
    check([message for pair in found for message in pair], started)
    assert found[0] == found[1]
