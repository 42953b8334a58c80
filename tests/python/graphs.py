"""Random ONNX graphs of up to a dozen operators, compared with onnxruntime, or with ONNX's reference where that fails."""

import warnings

import graph_integers
import graph_nodes
import numpy as np
import onnx.defs
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_models import by_onnxruntime

import flex

OPSETS = (11, 13, 18, 21, 23)
KINDS = graph_nodes.KINDS + graph_integers.KINDS
MOST = 4096  # elements of a value


class Graph:
    """A graph in the making: values with known shapes, of float32 unless they are indices."""

    def __init__(self, rng):
        self.rng, self.nodes, self.weights, self.values = rng, [], {}, {}
        self.open = {}  # the inputs
        self.opset = int(rng.choice(OPSETS))
        # float64 throughout, which often only the reference has, whose older forms differ
        self.wide = self.opset >= 18 and bool(rng.random() < 0.2)
        for k in range(int(rng.integers(1, 3))):
            self.open[f"x{k}"] = self.values[f"x{k}"] = self.shape()

    def shape(self, rank=None):
        rank = int(self.rng.integers(0, 5)) if rank is None else rank
        return tuple(int(n) for n in self.rng.integers(1, 7, rank))

    def integer(self, low, high):
        """From low to high, which may occur, too."""
        return int(self.rng.integers(low, high + 1))

    def flag(self):
        return bool(self.rng.random() < 0.5)

    def choice(self, options):
        return options[int(self.rng.integers(len(options)))]

    def weight(self, shape, low=-1.0, high=1.0):
        return self.constant(self.rng.uniform(low, high, shape).astype(np.float32))

    def constant(self, value):
        name = f"w{len(self.weights)}"
        self.weights[name] = np.asarray(value)
        return name

    def integers(self, *values):
        return self.constant(np.int64(values))

    def by_axes(self, kind, x, *axes, since=13, **attributes):
        """A node with axes (or sizes), which are an input since this operator set, and were an attribute before."""
        name = "split" if kind == "Split" else "axes"
        if self.opset >= since:
            return self.node(kind, [x, self.integers(*axes)], **attributes)
        return self.node(kind, [x], **{name: list(axes)}, **attributes)

    def node(self, kind, inputs, **attributes):
        """A node with an output, whose name it returns."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(kind, inputs, [name], f"n{len(self.nodes)}", **attributes)
        )
        return name

    def value(self, rank=None, least=0):
        """A value of this rank, or of at least one: a former one if there is such, or else a weight."""
        fit = [
            name
            for name, shape in self.values.items()
            if (rank is None or len(shape) == rank) and len(shape) >= least
        ]
        if fit:  # later ones more often, so that graphs are deep
            return fit[max(self.integer(0, len(fit) - 1), self.integer(0, len(fit) - 1))]
        shape = self.shape(rank if rank is not None else max(least, self.integer(0, 4)))
        name = self.weight(shape)
        self.values[name] = shape
        return name

    def axis(self, rank):
        """An axis, counted from either end."""
        return self.integer(-rank, rank - 1)


def finished(g, outputs):
    """The model with these outputs."""
    info = helper.make_tensor_value_info
    symbolic = g.flag()  # sizes that are known only in a call
    inputs = [
        info(
            name,
            TensorProto.FLOAT,
            [f"{name}{k}" for k in range(len(shape))] if symbolic else shape,
        )
        for name, shape in g.open.items()
    ]
    results = [info(name, TensorProto.FLOAT, None) for name in outputs]
    weights = [numpy_helper.from_array(value, name) for name, value in g.weights.items()]
    graph = helper.make_graph(g.nodes, "fuzz", inputs, results, weights)
    if g.wide:
        widen(graph)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", g.opset)], ir_version=10)


def widen(graph):
    """Makes float64 of all that is float32."""
    for value in (*graph.input, *graph.output):
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    for tensor in graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            array = numpy_helper.to_array(tensor).astype(np.float64)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE
            if attribute.HasField("g"):
                widen(attribute.g)


class UnknownError(Exception):
    """No library runs a graph, or a value of it is none to go on with."""


def in_opset(node, opset):
    """Whether the operator set has a node of this form: libraries also run later ones."""
    if not onnx.defs.has(node.op_type, opset):
        return False
    schema = onnx.defs.get_schema(node.op_type, opset)
    return len(node.input) <= schema.max_input and all(
        attribute.name in schema.attributes for attribute in node.attribute
    )


def expected(file, model, inputs):
    """onnxruntime's outputs for the graph as it is, since some of its optimisations round; the reference's if it lacks an operator."""
    if not all(in_opset(node, model.opset_import[0].version) for node in model.graph.node):
        raise UnknownError
    try:
        return by_onnxruntime(file, inputs, optimised=False)
    except Exception as error:
        if "NOT_IMPLEMENTED" not in str(error):
            raise UnknownError from error
    try:
        return ReferenceEvaluator(model).run(None, inputs)
    except Exception as error:
        raise UnknownError from error


def fitting(g, inputs, name):
    """The shape of a value, found by running the graph up to it."""
    model = finished(g, [name])
    (value,) = expected(model.SerializeToString(), model, inputs)
    if value.ndim > 4 or not 0 < value.size <= MOST or not np.abs(value).max() <= 100:
        raise UnknownError
    return value.shape


def run(seed, kinds=KINDS):
    """Makes a graph of these kinds of nodes and compares the outputs; returns how many nodes it has."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(seed)
    g = Graph(rng)
    dtype = np.float64 if g.wide else np.float32
    inputs = {name: rng.uniform(-1, 1, s).astype(dtype) for name, s in g.open.items()}
    for _ in range(int(rng.integers(2, 12))):
        count, weights, values = len(g.nodes), dict(g.weights), dict(g.values)
        name = g.choice(kinds)(g)
        try:
            shape = fitting(g, inputs, name)
        except UnknownError:
            del g.nodes[count:]
            g.weights, g.values = weights, values
            continue
        g.values[name] = shape
    made = [name for name in g.values if name.startswith("v")]
    if not made:
        return 0
    # all values, or only the last one, so that nodes become one operation
    outputs = made if g.flag() else made[-1:]
    model = finished(g, outputs)
    file = model.SerializeToString()
    wanted = expected(file, model, inputs)
    loaded = flex.onnx.load(file)
    given = {name: flex.asarray(x, copy=True) for name, x in inputs.items()}
    found = loaded.run(outputs, given)
    for name, got, want in zip(outputs, found, wanted, strict=True):
        assert (got.shape, got.dtype.name) == (want.shape, str(want.dtype)), name
        np.testing.assert_allclose(got.numpy(), want, rtol=2e-3, atol=2e-4, err_msg=name)
    # operations may write into values that nothing needs later: never into those of the caller
    with flex.threads(3):
        again = loaded.run(outputs, given)
    for name, x in inputs.items():
        np.testing.assert_array_equal(given[name].numpy(), x, err_msg=name)
    for name, got, other in zip(outputs, found, again, strict=True):
        np.testing.assert_array_equal(got.numpy(), other.numpy(), err_msg=name)
    return len(g.nodes)
