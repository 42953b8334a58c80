"""ONNX models that contradict themselves: errors that say where, before much memory is taken."""

import os
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_files import bodies, images, inputs_of, shapes, weights
from onnx_models import made

import flex

FLOAT = TensorProto.FLOAT


def changed(model, change):
    """The model's bytes after a change."""
    change(model)
    return model.SerializeToString()


def renamed(kind, index, name):
    """A change of the name of a node's operand or result."""

    def change(model):
        node = next(node for node in model.graph.node if node.name == kind)
        node.input[index] = name

    return change


def attribute(place, named, **fields):
    """A change of an attribute's fields."""

    def change(model):
        (found,) = (
            a for n in model.graph.node if n.name == place for a in n.attribute if a.name == named
        )
        for field, content in fields.items():
            found.ClearField(field)
            if isinstance(content, list):
                getattr(found, field).extend(content)
            else:
                setattr(found, field, content)

    return change


def twice(model):
    """Two nodes with the same result."""
    model.graph.node[2].output[0] = "c"


def without(operand):
    """A change that removes a tensor."""

    def change(model):
        kept = [tensor for tensor in model.graph.initializer if tensor.name != operand]
        del model.graph.initializer[:]
        model.graph.initializer.extend(kept)

    return change


def sized(name, *dims):
    """A change of a tensor's sizes."""

    def change(model):
        (tensor,) = (t for t in model.graph.initializer if t.name == name)
        tensor.dims[:] = dims

    return change


def typed(name, kind):
    """A change of a tensor's element type."""

    def change(model):
        (tensor,) = (t for t in model.graph.initializer if t.name == name)
        tensor.data_type = kind

    return change


@pytest.mark.parametrize(
    ("make", "change", "message"),
    [
        # a cycle: a value that a later node makes, or its own
        (images, renamed("conv", 0, "u"), r'node "conv" \(Conv\): .*"?u"?'),
        (images, renamed("relu", 0, "r"), r'node "relu" \(Relu\): .*"?r"?'),
        (images, renamed("pool", 0, "nowhere"), r'node "pool" \(MaxPool\): .*nowhere'),
        (images, without("w"), r'node "conv" \(Conv\): .*w'),
        (images, twice, r'node "relu" \(Relu\): .*c'),
        (images, attribute("conv", "strides", ints=[0, 1]), r'node "conv" \(Conv\): .*strides'),
        (images, attribute("conv", "pads", ints=[1, 1]), r'node "conv" \(Conv\): .*pads'),
        (images, attribute("conv", "pads", type=1), r'node "conv" \(Conv\): .*pads'),
        (images, attribute("resize", "mode", s=b"bent"), r'node "resize" \(Resize\): .*bent'),
        (
            images,
            attribute("pool", "kernel_shape", name="kernel"),
            r'node "pool" \(MaxPool\): .*kernel',
        ),
        (images, sized("w", 4, 3, 3, 2**62), r'tensor "w": .*overflows'),
        (images, sized("w", 4, 3, 3, -3), r'tensor "w": a size of -3'),
        (images, sized("w", 4, 3, 3, 4), r'tensor "w": 432 bytes of data where shape .* takes 576'),
        (images, sized("w", *[1] * 1000), r'tensor "w": 432 bytes of data where shape .* takes 4'),
        (images, typed("w", TensorProto.STRING), r'tensor "w": .*string'),
        (images, typed("w", 99), r'tensor "w": .*99'),
        (
            shapes,
            renamed("topk", 1, ""),
            r'node "topk" \(TopK\): 1 inputs|node "topk" \(TopK\): .*needed',
        ),
        (bodies, renamed("loop", 2, "elsewhere"), r'node "loop" \(Loop\): .*elsewhere'),
    ],
)
def test_contradictions(make, change, message):
    content = changed(make(), change)

    def run():
        model = flex.onnx.load(content)
        model.run(None, inputs_of(model))

    with pytest.raises((ValueError, flex.DTypeError), match=message):
        run()


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("shape", [(), (3,), (1, 4), (0, 8, 2), (1, 7, 2)])
def test_weights_of_recurrent_layers(kind, shape):
    """Weights are put in order when a model is loaded, unless they don't fit."""
    node = helper.make_node(kind, ["x", "w", "r"], ["y"], "layer", hidden_size=2)
    values = [("x", FLOAT, [3, 1, 2])], [("y", FLOAT, None)]
    constants = {"w": np.ones(shape, np.float32), "r": np.ones(shape, np.float32)}
    model = flex.onnx.load(made([node], *values, constants).SerializeToString())
    with pytest.raises(flex.ShapeError, match=rf'node "layer" \({kind}\): .*weights'):
        model(np.ones((3, 1, 2), np.float32))


@pytest.mark.parametrize("known", [False, True])
def test_too_few_results(known):
    """Also of a node that is computed when the model is loaded."""
    values = {"x": np.ones(4, np.float32), "sizes": np.int64([4])}
    model = made(
        [helper.make_node("Split", ["x", "sizes"], ["a", "b"], "parts", axis=0)],
        [] if known else [("x", FLOAT, [4])],
        [("a", FLOAT, None), ("b", FLOAT, None)],
        values if known else {"sizes": values["sizes"]},
    )
    loaded = flex.onnx.load(model.SerializeToString())
    with pytest.raises(ValueError, match=r'node "parts" \(Split\): .*a result is missing'):
        loaded.run(None, {} if known else {"x": values["x"]})


@pytest.mark.parametrize("shape", [(), (4,), (2, 4), (1, 1, 1, 2, 4)])
def test_ranks_of_rotary_embeddings(shape):
    node = helper.make_node(
        "RotaryEmbedding", ["x", "at", "cos", "sin"], ["y"], "rotary", domain="com.microsoft"
    )
    table = np.ones((4, 2), np.float32)
    constants = {"at": np.int64([0]), "cos": table, "sin": table}
    model = made([node], [("x", FLOAT, shape)], [("y", FLOAT, None)], constants)
    loaded = flex.onnx.load(model.SerializeToString())
    with pytest.raises(flex.ShapeError, match=r'node "rotary" .*three or four dimensions'):
        loaded(np.ones(shape, np.float32))


def test_bodies_are_named():
    """The error of a node in a branch names that node."""

    def change(model):
        (node,) = (n for n in model.graph.node if n.op_type == "If")
        node.attribute[0].g.node[0].input[0] = "missing"

    with pytest.raises(ValueError, match=r'node "(Relu|Neg)" \((Relu|Neg)\): .*missing'):
        flex.onnx.load(changed(bodies(), change))


I64 = TensorProto.INT64
# Operator, attributes, inputs that it refuses, and the class and words of the error.
FAILING = [
    ("MatMul", {}, {"x": np.ones((2, 3)), "w": np.ones((4, 5))}, flex.ShapeError, "matmul"),
    (
        "Concat",
        {"axis": 1},
        {"x": np.ones((2, 3)), "w": np.ones((4, 5))},
        flex.ShapeError,
        "concat",
    ),
    ("Reshape", {}, {"x": np.ones((2, 3)), "shape": np.int64([4, -1])}, ValueError, "6"),
    ("Gather", {}, {"x": np.ones((2, 3)), "at": np.int64([0, 2])}, IndexError, "index 2"),
    ("GatherElements", {}, {"x": np.ones((2, 3)), "at": np.int64([[-4]])}, IndexError, "-4"),
    ("ScatterND", {}, {"x": np.ones(3), "at": np.int64([[3]]), "u": np.ones(1)}, IndexError, "3"),
    ("Pad", {}, {"x": np.ones(1), "pads": np.int64([0, 2**44])}, MemoryError, "bytes"),
    ("ConstantOfShape", {}, {"to": np.int64([2**60])}, MemoryError, "bytes"),
    ("Squeeze", {}, {"x": np.ones((2, 3)), "axes": np.int64([5])}, flex.AxisError, "axis 5"),
    ("Div", {}, {"a": np.int64([1]), "b": np.int64([0])}, flex.DivisionByZeroError, "zero"),
    ("Conv", {}, {"x": np.ones((1, 2, 4, 4)), "w": np.ones((1, 3, 1, 1))}, flex.ShapeError, "conv"),
    ("TopK", {}, {"x": np.ones(3), "k": np.int64([4])}, ValueError, "4"),
]


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(("kind", "options", "inputs", "error", "message"), FAILING)
def test_errors_of_runs(kind, options, inputs, error, message, inside):
    """Each names the node and its operator and keeps its class, in the body of a loop too."""
    inputs = {k: x.astype(np.float32) if x.dtype == float else x for k, x in inputs.items()}
    kinds = {k: helper.np_dtype_to_tensor_dtype(x.dtype) for k, x in inputs.items()}
    first = next(iter(kinds.values()))
    result = FLOAT if kind == "ConstantOfShape" else first
    names = ["y", "places"] if kind == "TopK" else ["y"]
    nodes = [helper.make_node(kind, list(inputs), names, "culprit", **options)]
    values = [(k, kinds[k], [None] * x.ndim) for k, x in inputs.items()]
    if inside:
        info = helper.make_tensor_value_info
        nodes.append(helper.make_node("Identity", ["go"], ["on"]))
        given = [info("i", I64, []), info("go", TensorProto.BOOL, [])]
        results = [info("on", TensorProto.BOOL, []), info("y", result, None)]
        body = helper.make_graph(nodes, "body", given, results)
        nodes = [helper.make_node("Loop", ["n", ""], ["all"], "loop", body=body)]
        values.append(("n", I64, []))
        inputs["n"] = np.int64(1)
    model = made(nodes, values, [("all" if inside else "y", result, None)])
    loaded = flex.onnx.load(model.SerializeToString())
    with pytest.raises(error, match=rf'^onnx: node "culprit" \({kind}\): .*{message}'):
        loaded.run(None, inputs)


def nested(depth):
    """An If in an If in an If.."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y0"])], "g", [], [info("y0", FLOAT, None)]
    )
    for k in range(1, depth):
        node = helper.make_node(
            "If", ["c"], [f"y{k}"], f"if{k}", then_branch=graph, else_branch=graph
        )
        del node.attribute[1].g.node[:]
        node.attribute[1].g.node.append(helper.make_node("Identity", ["x"], [graph.output[0].name]))
        graph = helper.make_graph([node], "g", [], [info(f"y{k}", FLOAT, None)])
    graph.input.extend([info("x", FLOAT, ["n"]), info("c", TensorProto.BOOL, [])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def test_nested_graphs():
    x = np.float32([1, 2])
    model = flex.onnx.load(nested(10).SerializeToString())
    assert model(x, np.array(True)).tolist() == [1, 2]


@pytest.mark.parametrize("levels", [100, 10_000, 40_000])
def test_deep_nesting(levels):
    """Graphs in attributes in nodes in graphs, more than any reader's stack would bear."""

    def varint(n):
        out = bytearray()
        while n > 127:
            out.append(n & 127 | 128)
            n >>= 7
        return bytes([*out, n])

    # written from the inside: only its end is known before
    content = bytearray(b"")
    for _ in range(levels):
        for field in (0x32, 0x2A, 0x0A):  # attribute.g, node.attribute, graph.node
            content += bytes(reversed(bytes([field]) + varint(len(content))))
    graph = bytes(reversed(content))
    model = b"\x08\x0a" + b"\x3a" + varint(len(graph)) + graph + b"\x42\x02\x10\x11"
    with pytest.raises(ValueError, match=r"an ONNX model: .*(nest|deep)"):
        flex.onnx.load(model)


def test_functions_that_grow_without_end():
    """A function that calls itself, and ones that call the next one twice."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    model = made(
        [helper.make_node("F0", ["x"], ["y"], "call", domain="own")],
        [("x", FLOAT, ["n"])],
        [("y", FLOAT, ["n"])],
    )
    model.opset_import.append(opsets[1])

    def function(k, to):
        nodes = [
            helper.make_node(f"F{to}", ["a"], ["m"], domain="own"),
            helper.make_node(f"F{to}", ["m"], ["b"], domain="own"),
        ]
        return helper.make_function("own", f"F{k}", ["a"], ["b"], nodes, opsets)

    for functions in ([function(0, 0)], [function(k, k + 1) for k in range(40)]):
        del model.functions[:]
        model.functions.extend(functions)
        with pytest.raises(
            ValueError, match=r"nested more than|more than \d+ nodes|no such operators"
        ):
            flex.onnx.load(model.SerializeToString())


class TestExternalData:
    def write(self, folder, **entries):
        model = weights()
        (tensor,) = (t for t in model.graph.initializer if t.external_data)
        for entry in tensor.external_data:
            entry.value = entries.get(entry.key, entry.value)
        (folder / "models").mkdir()
        (folder / "secret.bin").write_bytes(bytes(24))
        (folder / "models" / "weights.bin").write_bytes(bytes(range(24)))
        path = folder / "models" / "model.onnx"
        onnx.save_model(model, path)
        return path

    def test_right(self, tmp_path):
        path = self.write(tmp_path)
        y = flex.onnx.load(path)(np.ones((2, 6), np.float32))
        assert y.shape == (2, 4)

    @pytest.mark.parametrize(
        ("entries", "message"),
        [
            ({"location": "../secret.bin"}, ".*it must be in the model's folder"),
            ({"location": "/etc/passwd"}, ".*it must be in the model's folder"),
            ({"location": "a/../../secret.bin"}, ".*it must be in the model's folder"),
            ({"location": r"..\secret.bin"}, ".*it must be in the model's folder"),
            ({"location": ""}, ".*it must be in the model's folder"),
            ({"location": "."}, ".*(not a file|in the model's folder)"),
            ({"offset": "-8"}, ".*offset"),
            ({"offset": "99999999999999999999"}, ".*offset"),
            (
                {"offset": "18446744073709551615"},
                "truncated: shape .* takes 16 bytes, the file has 0",
            ),
            ({"offset": "16"}, "truncated: shape .* takes 16 bytes, the file has 8"),
            ({"length": "8"}, "external data of 8 bytes where .* takes 16"),
        ],
    )
    def test_refused(self, tmp_path, entries, message):
        path = self.write(tmp_path, **entries)
        for mmap in (False, True):
            with pytest.raises(ValueError, match=f'tensor "outside": {message}'):
                flex.onnx.load(path, mmap=mmap)

    @pytest.mark.skipif(os.name != "posix", reason="elsewhere links need privileges")
    def test_links(self, tmp_path):
        path = self.write(tmp_path, location="link.bin")
        (tmp_path / "models" / "link.bin").symlink_to(tmp_path / "secret.bin")
        with pytest.raises(ValueError, match=r"link\.bin.*leads out of the model's folder"):
            flex.onnx.load(path)

    def test_absent(self, tmp_path):
        path = self.write(tmp_path, location="absent.bin")
        with pytest.raises(FileNotFoundError, match=r"absent\.bin"):
            flex.onnx.load(path)


def test_truncation():
    """Of every length, a model is refused, or lacks only what follows its graph."""
    for make in (images, bodies):
        content = make().SerializeToString()
        for end in range(len(content)):
            try:
                flex.onnx.load(content[:end])
            except ValueError as error:
                assert len(str(error)) < 1000  # noqa: PT017


@pytest.mark.skipif(sys.platform != "linux", reason="needs the peak of a process's memory")
def test_memory_is_bounded():
    """Sizes that a file only claims take no memory."""
    import resource

    model = made(
        [
            helper.make_node("ConstantOfShape", ["huge"], ["a"], "filled"),
            helper.make_node("Expand", ["one", "huge"], ["b"], "spread"),
            helper.make_node("Tile", ["one", "times"], ["c"], "tiled"),
            helper.make_node("Range", ["zero", "far", "step"], ["d"], "numbers"),
        ],
        [("x", FLOAT, ["n"])],
        [(name, FLOAT if name in "abc" else TensorProto.INT64, None) for name in "abcd"],
        {
            "huge": np.int64([2**40, 2**20]),
            "one": np.ones(1, np.float32),
            "times": np.int64([2**44]),
            "zero": np.int64(0),
            "far": np.int64(2**60),
            "step": np.int64(1),
        },
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    loaded = flex.onnx.load(model.SerializeToString())
    with pytest.raises((MemoryError, ValueError)):
        loaded(np.ones(1, np.float32))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB
