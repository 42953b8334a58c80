"""Parts of networks, as exporters write them, that test_onnx_exports.py lacks, against onnxruntime: places relative to each other, windows,
boxes, recurrences and loops in the graph."""

import math

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import made, matches_onnxruntime

FLOAT, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


class Nodes:
    """Collects nodes and weights: `self.Add(x, y)` is a node, whose operands are names, or arrays that the file holds."""

    def __init__(self, prefix=""):
        self.nodes, self.weights, self.rng = [], {}, np.random.default_rng(3)
        self.prefix = prefix  # of the names of values: a body sees those around it

    def __getattr__(self, kind):
        def node(*inputs, results=1, **attributes):
            name = f"{self.prefix}{kind}_{len(self.nodes)}"
            names = [f"{name}_{k}" for k in range(results)]
            operands = [x if isinstance(x, str) else self.constant(x) for x in inputs]
            self.nodes.append(helper.make_node(kind, operands, names, name, **attributes))
            return names[0] if results == 1 else names

        return node

    def constant(self, value):
        value = np.asarray(value)
        name = f"{self.prefix}w{len(self.weights)}"
        self.weights[name] = value.astype(np.float32) if value.dtype.kind == "f" else value
        return name

    def weight(self, *shape):
        return self.rng.standard_normal(shape) / math.sqrt(math.prod(shape[1:]))

    def linear(self, x, inner, outer):
        product = self.MatMul(x, self.rng.standard_normal((inner, outer)) / math.sqrt(inner))
        return self.Add(product, self.rng.standard_normal(outer))

    def norm(self, x, size):
        d = self.Sub(x, self.ReduceMean(x, axes=[-1]))
        variance = self.ReduceMean(self.Pow(d, 2.0), axes=[-1])
        y = self.Div(d, self.Sqrt(self.Add(variance, 1e-5)))
        return self.Add(self.Mul(y, self.rng.uniform(0.5, 1.5, size)), self.rng.normal(size=size))

    def rms_norm(self, x, size):
        root = self.Sqrt(self.Add(self.ReduceMean(self.Mul(x, x), axes=[-1]), 1e-6))
        return self.Mul(self.Mul(x, self.Reciprocal(root)), self.rng.uniform(0.5, 1.5, size))

    def heads(self, x, count, size):
        return self.Transpose(self.Reshape(x, [0, 0, count, size]), perm=[0, 2, 1, 3])

    def joined(self, x, size):
        return self.Reshape(self.Transpose(x, perm=[0, 2, 1, 3]), [0, -1, size])

    def transposed(self, x):
        return self.Transpose(x, perm=[0, 1, 3, 2])

    def swish(self, x):
        return self.Mul(x, self.Sigmoid(x))

    def model(self, inputs, outputs, **symbols):
        """`symbols` are shapes of inputs with sizes that the model leaves open."""
        values = [
            (name, helper.np_dtype_to_tensor_dtype(x.dtype), symbols.get(name, x.shape))
            for name, x in inputs.items()
        ]
        model = made(self.nodes, values, [], self.weights)
        model.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in outputs)
        return model

    def body(self, inputs, outputs):
        """A graph of a node: names, types and shapes of what it takes and gives."""
        info = [
            [helper.make_tensor_value_info(*value) for value in values]
            for values in (inputs, outputs)
        ]
        tensors = [numpy_helper.from_array(w, name) for name, w in self.weights.items()]
        return helper.make_graph(self.nodes, "body", *info, tensors)


def floats(*shape):
    return np.random.default_rng(7).standard_normal(shape, np.float32)


def conformer():
    """A block with attention to relative positions (Transformer-XL's shift) and a convolution (Gulati et al., 2020)."""
    n, size, length = Nodes(), 32, 9
    inner = n.linear(n.swish(n.linear(n.norm("x", size), size, 64)), 64, size)
    x = n.Add("x", n.Mul(inner, 0.5))
    y = n.norm(x, size)
    q, k, v = (n.heads(n.linear(y, size, size), 4, 8) for _ in range(3))
    places = n.Reshape(n.MatMul("places", n.weight(size, size)), [0, -1, 4, 8])
    by_content = n.MatMul(n.Add(q, n.weight(1, 4, 1, 8)), n.transposed(k))
    by_place = n.MatMul(n.Add(q, n.weight(1, 4, 1, 8)), n.Transpose(places, perm=[0, 2, 3, 1]))
    wide = n.Reshape(n.Pad(by_place, [0, 0, 0, 1, 0, 0, 0, 0]), [0, 0, -1, length])
    shifted = n.Reshape(n.Slice(wide, [1], [2**31], [2]), [0, 0, length, 2 * length - 1])
    shifted = n.Slice(shifted, [0], [length], [3])
    scores = n.Where("mask", np.float32(-10000), n.Mul(n.Add(by_content, shifted), 8**-0.5))
    mixed = n.MatMul(n.Where("mask", np.float32(0), n.Softmax(scores, axis=-1)), v)
    x = n.Add(x, n.linear(n.joined(mixed, size), size, size))
    y = n.Conv(n.Transpose(n.norm(x, size), perm=[0, 2, 1]), n.weight(2 * size, size, 1))
    value, gate = n.Split(y, results=2, axis=1)
    y = n.Mul(value, n.Sigmoid(gate))
    y = n.Conv(y, n.weight(size, 1, 5), n.weight(size, 1)[:, 0], group=size, pads=[2, 2])
    moments = [n.rng.uniform(0.5, 1.5, size) for _ in range(4)]
    y = n.Conv(n.swish(n.BatchNormalization(y, *moments)), n.weight(size, size, 1))
    x = n.Add(x, n.Transpose(y, perm=[0, 2, 1]))
    mask = np.random.default_rng(1).random((2, 1, 1, length)) < 0.2
    inputs = {"x": floats(2, length, size), "places": floats(1, 2 * length - 1, size)}
    return n, {**inputs, "mask": mask}, [x], {}


def swin():
    """Attention in windows of a rolled image, with a table of biases and masks between regions (Liu et al., 2021)."""
    n, size, window, shift = Nodes(), 16, 4, 2
    area = window * window

    def rolled(x, by):
        for axis in (1, 2):
            rest = n.Slice(x, [by], [2**62], [axis])
            x = n.Concat(rest, n.Slice(x, [0], [by], [axis]), axis=axis)
        return x

    x = n.Reshape(rolled(n.norm("x", size), shift), [-1, 2, window, 2, window, size])
    x = n.Reshape(n.Transpose(x, perm=[0, 1, 3, 2, 4, 5]), [-1, area, size])
    q, k, v = (n.heads(n.linear(x, size, size), 2, 8) for _ in range(3))
    bias = n.Gather(n.weight(49, 2), n.rng.integers(0, 49, area * area))
    bias = n.Transpose(n.Reshape(bias, [area, area, 2]), perm=[2, 0, 1])
    scores = n.MatMul(n.Mul(q, 8**-0.5), n.transposed(k))
    scores = n.Reshape(n.Add(scores, n.Unsqueeze(bias, [0])), [-1, 4, 2, area, area])
    regions = np.where(n.rng.random((1, 4, 1, area, area)) < 0.3, -100.0, 0.0)
    scores = n.Reshape(n.Add(scores, regions), [-1, 2, area, area])
    y = n.linear(n.joined(n.MatMul(n.Softmax(scores, axis=-1), v), size), size, size)
    y = n.Transpose(n.Reshape(y, [-1, 2, 2, window, window, size]), perm=[0, 1, 3, 2, 4, 5])
    y = rolled(n.Reshape(y, [-1, 8, 8, size]), 8 - shift)
    return n, {"x": floats(3, 8, 8, size)}, [n.Add("x", y)], {"x": ["n", 8, 8, size]}


def yolo():
    """A detector's head: boxes from a grid and anchors, their suppression, and the best of what is left, if there are as many."""
    n = Nodes()
    y = n.Reshape(n.Conv("x", n.weight(27, 16, 1, 1)), [1, 3, 9, 6, 6])
    y = n.Sigmoid(n.Transpose(y, perm=[0, 1, 3, 4, 2]))
    centre, size, scores = n.Split(y, np.int64([2, 2, 5]), results=3, axis=4)
    cells = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), -1)[None, None] - 0.5
    centre = n.Mul(n.Add(n.Mul(centre, 2.0), cells), 8.0)
    size = n.Mul(n.Pow(n.Mul(size, 2.0), 2.0), n.rng.uniform(5, 20, (1, 3, 1, 1, 2)))
    half = n.Div(size, 2.0)
    boxes = n.Concat(n.Sub(centre, half), n.Add(centre, half), axis=4)
    boxes = n.Reshape(boxes, [1, -1, 4])
    seen, classes = n.Split(scores, np.int64([1, 4]), results=2, axis=4)
    scores = n.Transpose(n.Reshape(n.Mul(seen, classes), [1, -1, 4]), perm=[0, 2, 1])
    limits = np.int64([7]), np.float32([0.45]), np.float32([0.25])
    kept = n.NonMaxSuppression(boxes, scores, *limits)
    places = n.Gather(kept, np.int64(2), axis=1)
    values = n.GatherND(scores, kept)
    best, order = n.TopK(values, n.Min(np.int64([5]), n.Shape(values)), results=2)
    found = n.Gather(n.Gather(n.Squeeze(boxes, [0]), places), order)
    return n, {"x": floats(1, 16, 6, 6)}, [kept, found, best], {}


def t5():
    """Attention with biases by buckets of distances, which the graph computes from the length (Raffel et al., 2020)."""
    n, size = Nodes(), 32
    length = n.Gather(n.Shape("x"), np.int64(1))
    places = n.Range(np.int64(0), length, np.int64(1))
    distance = n.Sub(n.Unsqueeze(places, [0]), n.Unsqueeze(places, [1]))
    later = n.Mul(n.Cast(n.Greater(distance, np.int64(0)), to=I64), np.int64(16))
    distance = n.Abs(distance)
    far = n.Log(n.Div(n.Cast(distance, to=FLOAT), 8.0))
    far = n.Cast(n.Mul(n.Div(far, math.log(16)), 8.0), to=I64)
    far = n.Min(n.Add(far, np.int64(8)), np.int64(15))
    bucket = n.Add(later, n.Where(n.Less(distance, np.int64(8)), distance, far))
    bias = n.Unsqueeze(n.Transpose(n.Gather(n.weight(32, 4), bucket), perm=[2, 0, 1]), [0])
    x = "x"
    for _ in range(2):
        y = n.rms_norm(x, size)
        q, k, v = (n.heads(n.MatMul(y, n.weight(size, size)), 4, 8) for _ in range(3))
        scores = n.Softmax(n.Add(n.MatMul(q, n.transposed(k)), bias), axis=-1)
        x = n.Add(x, n.MatMul(n.joined(n.MatMul(scores, v), size), n.weight(size, size)))
        y = n.rms_norm(x, size)
        g = n.MatMul(y, n.weight(size, 64))
        inner = n.Mul(n.Add(g, n.Mul(n.Pow(g, 3.0), 0.044715)), math.sqrt(2 / math.pi))
        g = n.Mul(n.Mul(n.Add(n.Tanh(inner), 1.0), g), 0.5)
        y = n.MatMul(n.Mul(g, n.MatMul(y, n.weight(size, 64))), n.weight(64, size))
        x = n.Add(x, y)
    return n, {"x": floats(2, 40, size)}, [x], {"x": [2, "length", size]}


def mamba():
    """A selective state space, step by step (Gu and Dao, 2023)."""
    n, step, size, states = Nodes(), Nodes("step_"), 6, 4
    rate = n.Neg(n.Exp(n.weight(size, states)))
    time = n.Softplus(n.linear("x", size, size))
    decay = n.Exp(n.Mul(n.Unsqueeze(time, [2]), rate))
    taken = n.Unsqueeze(n.linear("x", size, states), [1])
    taken = n.Mul(n.Unsqueeze(n.Mul(time, "x"), [2]), taken)
    state = step.Add(step.Mul("state", "decay"), "taken")
    given = step.ReduceSum(step.Mul(state, step.Unsqueeze("given", [0])), [1], keepdims=0)
    names = [(name, FLOAT, [size, states]) for name in ("state", "decay", "taken")]
    results = [(step.Identity(state), FLOAT, [size, states]), (given, FLOAT, [size])]
    body = step.body([*names, ("given", FLOAT, [states])], results)
    lists = decay, taken, n.linear("x", size, states)
    start = np.zeros((size, states))
    last, y = n.Scan(start, *lists, results=2, body=body, num_scan_inputs=3)
    y = n.Mul(n.Add(y, n.Mul("x", n.weight(size, 1)[:, 0])), n.swish("gate"))
    open_sizes = {"x": ["steps", size], "gate": ["steps", size]}
    return n, {"x": floats(10, size), "gate": floats(10, size)}, [y, last], open_sizes


def generation():
    """Greedy decoding in a Loop whose tokens become more, until a certain one."""
    n, step = Nodes(), Nodes("step_")
    words = n.constant(n.weight(12, 16))
    last = step.Gather(words, step.Gather("ids", np.int64(-1), axis=1))
    mean = step.ReduceMean(step.Gather(words, "ids"), axes=[1], keepdims=0)
    scores = step.MatMul(step.Add(mean, last), step.weight(16, 12))
    word = step.ArgMax(scores, axis=-1, keepdims=1)
    first = step.Squeeze(step.Gather(word, np.int64(0)), [0])
    go_on = step.Not(step.Equal(first, np.int64(11)))
    longer = step.Concat("ids", word, axis=1)
    inputs = [("i", I64, []), ("go", BOOL, []), ("ids", I64, ["texts", "words"])]
    outputs = [(go_on, BOOL, []), (longer, I64, ["texts", "more"]), (scores, FLOAT, [None, 12])]
    body = step.body(inputs, outputs)
    ids, all_scores = n.Loop(np.int64(6), np.array(True), "ids", results=2, body=body)
    return n, {"ids": np.int64([[1, 2], [3, 4]])}, [ids, all_scores], {}


@pytest.mark.parametrize("network", [conformer, swin, yolo, t5, mamba, generation])
def test_networks(network):
    nodes, inputs, outputs, symbols = network()
    model = nodes.model(inputs, outputs, **symbols)
    assert matches_onnxruntime(model, rtol=2e-4, atol=2e-5, **inputs)
