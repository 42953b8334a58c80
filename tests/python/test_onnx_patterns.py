"""Patterns of nodes that exporters write, which one step computes: against onnxruntime, node by node."""

import itertools

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import flex

RNG = np.random.default_rng(39)
ROOT = 2**0.5


def normal(*shape, scale=1.0):
    return (scale * RNG.standard_normal(shape)).astype(np.float32)


class Graph:
    """A graph that is written as calls: `g.Add(x, 1.0)`. Arrays and numbers are constants."""

    def __init__(self, opset=17):
        self.opset, self.nodes, self.weights, self.names = opset, [], [], itertools.count()

    def value(self, x):
        if x is None or isinstance(x, str):
            return x or ""
        name = f"c{next(self.names)}"
        x = np.float32(x) if isinstance(x, float) else np.asarray(x)
        self.weights.append(numpy_helper.from_array(x, name))
        return name

    def __getattr__(self, operator):
        def call(*inputs, outputs=1, **attributes):
            names = [f"v{next(self.names)}" for _ in range(outputs)]
            values = [self.value(x) for x in inputs]
            self.nodes.append(helper.make_node(operator, values, names, **attributes))
            return names[0] if outputs == 1 else names

        return call

    def model(self, inputs, *outputs):
        info = [
            helper.make_tensor_value_info(
                n, helper.np_dtype_to_tensor_dtype(x.dtype), [None] * x.ndim
            )
            for n, x in inputs.items()
        ]
        results = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph(self.nodes, "g", info, results, self.weights)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def plain(file, inputs):
    """What onnxruntime computes node by node."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def fused(graph, outputs, steps, tolerance=2e-6, **inputs):
    """Whether these steps run, and give the outputs that the nodes give one by one: to a part of the
    largest element."""
    outputs = [outputs] if isinstance(outputs, str) else outputs
    file = graph.model(inputs, *outputs)
    model = flex.onnx.load(file)
    ran = [step.operator for step in model.profile(**inputs)]
    assert ran == steps
    for y, want in zip(model.run(None, inputs), plain(file, inputs), strict=True):
        assert (y.shape, y.dtype) == (want.shape, want.dtype)
        np.testing.assert_allclose(y.numpy(), want, rtol=0, atol=tolerance * np.abs(want).max())
    return True


def half(g, x, e):
    """The three ways to multiply `x`, one half and another factor."""
    return (
        lambda: g.Mul(g.Mul(x, e), 0.5),
        lambda: g.Mul(g.Mul(x, 0.5), e),
        lambda: g.Mul(x, g.Mul(e, 0.5)),
        lambda: g.Mul(g.Mul(0.5, e), x),
    )


class TestActivations:
    x = normal(3, 40, scale=3)

    @pytest.mark.parametrize("order", range(4))
    @pytest.mark.parametrize("divides", [True, False])
    def test_gelu(self, order, divides):
        g = Graph()
        scaled = g.Div("x", ROOT) if divides else g.Mul("x", 1 / ROOT)
        y = half(g, "x", g.Add(g.Erf(scaled), 1.0))[order]()
        assert fused(g, y, ["Gelu"], x=self.x)

    @pytest.mark.parametrize("order", range(4))
    @pytest.mark.parametrize("cube", ["Pow", "Mul", "factored"])
    def test_gelu_by_tanh(self, order, cube):
        g = Graph()
        root = (2 / np.pi) ** 0.5
        if cube == "factored":
            inner = g.Mul(g.Mul("x", root), g.Add(g.Mul(g.Mul("x", "x"), 0.044715), 1.0))
        else:
            third = g.Pow("x", 3.0) if cube == "Pow" else g.Mul("x", g.Mul("x", "x"))
            inner = g.Mul(root, g.Add("x", g.Mul(third, 0.044715)))
        y = half(g, "x", g.Add(1.0, g.Tanh(inner)))[order]()
        assert fused(g, y, ["Gelu"], x=self.x)

    def test_others(self):
        def clipped(g):
            return g.Clip(g.Add("x", 3.0), 0.0, 6.0)

        for steps, of in (
            ("Swish", lambda g: g.Mul("x", g.Sigmoid("x"))),
            ("Swish", lambda g: g.Mul(g.Sigmoid("x"), "x")),
            ("Mish", lambda g: g.Mul("x", g.Tanh(g.Softplus("x")))),
            ("HardSwish", lambda g: g.Mul("x", g.Div(clipped(g), 6.0))),
            ("HardSwish", lambda g: g.Div(g.Mul("x", clipped(g)), 6.0)),
            ("HardSwish", lambda g: g.Mul("x", g.Mul(clipped(g), 1 / 6))),
            ("HardSwish", lambda g: g.Mul("x", g.HardSigmoid("x", alpha=1 / 6, beta=0.5))),
            ("HardSigmoid", lambda g: g.Div(clipped(g), 6.0)),
            ("HardSigmoid", lambda g: g.HardSigmoid("x", alpha=1 / 6)),
            ("Clip", lambda g: g.Clip("x", 0.0, 6.0)),
        ):
            g = Graph()
            assert fused(g, of(g), [steps], x=self.x)

    def test_what_is_needed_besides_stays(self):
        g = Graph()
        s = g.Sigmoid("x")
        assert fused(g, [g.Mul("x", s), s], ["Sigmoid", "Mul"], x=self.x)
        g = Graph()
        assert fused(g, g.Mul("x", g.Sigmoid("y")), ["Sigmoid", "Mul"], x=self.x, y=self.x + 1)
        g = Graph()
        y = g.Mul("x", g.HardSigmoid("x", alpha=0.2, beta=0.5))
        assert fused(g, y, ["HardSigmoid", "Mul"], x=self.x)


class TestNormalisations:
    x = normal(2, 5, 24) + 3
    weight, bias = normal(24), normal(24)

    def mean(self, g, x, axes=(-1,)):
        if g.opset < 18:
            return g.ReduceMean(x, axes=axes, keepdims=1)
        return g.ReduceMean(x, np.int64(axes), keepdims=1)

    @pytest.mark.parametrize("opset", [11, 17, 20])
    @pytest.mark.parametrize("form", ["Pow", "Mul", "Cast", "Reciprocal", "one"])
    @pytest.mark.parametrize("affine", ["both", "weight", "none"])
    def test_layer_norm(self, opset, form, affine):
        g = Graph(opset)
        d = g.Sub("x", self.mean(g, "x"))
        square = {
            "Mul": lambda: g.Mul(d, d),
            "Cast": lambda: g.Pow(g.Cast(d, to=TensorProto.FLOAT), 2.0),
        }.get(form, lambda: g.Pow(d, 2.0))()
        root = g.Sqrt(g.Add(self.mean(g, square), 1e-5))
        y = {
            "Reciprocal": lambda: g.Mul(d, g.Reciprocal(root)),
            "one": lambda: g.Mul(d, g.Div(1.0, root)),
        }.get(form, lambda: g.Div(d, root))()
        if affine != "none":
            y = g.Mul(self.weight, y)
        if affine == "both":
            y = g.Add(y, self.bias)
        assert fused(g, y, ["LayerNormalization"], x=self.x)

    def test_axes(self):
        def norm(axes):
            g = Graph()
            d = g.Sub("x", self.mean(g, "x", axes))
            root = g.Sqrt(g.Add(self.mean(g, g.Pow(d, 2.0), axes), 1e-5))
            return g, g.Div(d, root)

        for axes in ((2,), (-1, 1), (1, 2)):
            assert fused(*norm(axes), ["LayerNormalization"], x=self.x)
        # the nodes themselves, where the axes are not the last ones
        plain = [
            "ReduceMean",
            "Sub",
            "Pow",
            "ReduceMean",
            "Add",
            "Sqrt",
            "Div",
            "LayerNormalization",
        ]
        assert fused(*norm((1,)), plain, x=self.x)

    def test_a_weight_of_another_shape(self):
        g = Graph()
        d = g.Sub("x", self.mean(g, "x"))
        y = g.Div(d, g.Sqrt(g.Add(self.mean(g, g.Mul(d, d)), 1e-5)))
        y = g.Mul(normal(7, 1, 1, 1), y)
        plain = ["ReduceMean", "Sub", "Mul", "ReduceMean", "Add", "Sqrt", "Div", "Mul"]
        assert fused(g, y, [*plain, "LayerNormalization"], x=self.x)

    @pytest.mark.parametrize("form", ["Div", "Reciprocal", "one"])
    @pytest.mark.parametrize("square", ["Pow", "Mul"])
    @pytest.mark.parametrize("first", [True, False])
    def test_rms_norm(self, form, square, first):
        g = Graph(20)
        s = g.Pow("x", 2.0) if square == "Pow" else g.Mul("x", "x")
        root = g.Sqrt(g.Add(self.mean(g, s), 1e-6))
        y = {
            "Div": lambda: g.Div("x", root),
            "Reciprocal": lambda: g.Mul("x", g.Reciprocal(root)),
            "one": lambda: g.Mul(g.Div(1.0, root), "x"),
        }[form]()
        y = g.Mul(self.weight, y) if first else g.Mul(y, self.weight)
        assert fused(g, y, ["RMSNormalization"], x=self.x)


class TestAttention:
    """Queries, keys and values of `[batch, heads, tokens, size]`."""

    q, k, v = normal(2, 3, 7, 8), normal(2, 3, 9, 8), normal(2, 3, 9, 5)
    mask = np.where(RNG.random((2, 1, 7, 9)) < 0.3, np.float32(-1e9), 0).astype(np.float32)
    seen = RNG.random((2, 1, 7, 9)) < 0.7
    seen[..., 0] = True

    def turned(self, g, k="k"):
        return g.Transpose(k, perm=[0, 1, 3, 2])

    def inputs(self, **more):
        return {"q": self.q, "k": self.k, "v": self.v, **more}

    def run(self, g, y, steps=("Attention",), **more):
        return fused(g, y, ["Transpose", *steps], **self.inputs(**more))

    @pytest.mark.parametrize("scale", ["Div", "Mul", "query", "both", "none"])
    @pytest.mark.parametrize("masked", [True, False])
    def test_scales(self, scale, masked):
        g = Graph()
        k, q, root = self.turned(g), "q", 8**0.5
        if scale == "query":
            q = g.Div(q, root)
        if scale == "both":
            q, k = g.Mul(q, root**-0.5), g.Mul(k, root**-0.5)
        s = g.MatMul(q, k)
        if scale == "Div":
            s = g.Div(s, root)
        if scale == "Mul":
            s = g.Mul(s, 1 / root)
        if masked:
            s = g.Add(s, "mask")
        y = g.MatMul(g.Softmax(s, axis=-1), "v")
        assert self.run(g, y, **({"mask": self.mask} if masked else {}))

    def test_scale_of_sizes(self):
        """torch.nn.functional.scaled_dot_product_attention by the old exporter, of any sizes."""
        g = Graph()
        size = g.Cast(
            g.Slice(g.Shape("q"), np.int64([-1]), np.int64([2**62])), to=TensorProto.FLOAT
        )
        scale = g.Sqrt(g.Div(1.0, g.Sqrt(size)))
        k = self.turned(g)
        s = g.Add(g.MatMul(g.Mul("q", scale), g.Mul(k, scale)), "mask")
        w = g.Softmax(s, axis=-1)
        y = g.MatMul(w, "v")
        steps = ["Shape", "Slice", "Cast", "Sqrt", "Div", "Sqrt", "Transpose", "Attention"]
        assert fused(g, y, steps, **self.inputs(mask=self.mask))

    @pytest.mark.parametrize("low", [-3.4028235e38, -np.inf])
    @pytest.mark.parametrize("added", [True, False])
    @pytest.mark.parametrize("seen", [True, False])
    def test_chosen_keys(self, low, added, seen):
        g = Graph()
        s = g.Div(g.MatMul("q", self.turned(g)), 8**0.5)
        s = g.Where("seen", s, low) if seen else g.Where("seen", low, s)
        if added:
            s = g.Add(s, "mask")
        w = g.Softmax(s, axis=-1)
        if np.isinf(low):
            w = g.Where(g.IsNaN(w), 0.0, w)
        y = g.MatMul(w, "v")
        keys = self.seen if seen else ~self.seen
        assert self.run(g, y, seen=keys, **({"mask": self.mask} if added else {}))

    def test_shared_keys(self):
        g = Graph()
        y = g.MatMul(g.Softmax(g.MatMul("q", self.turned(g)), axis=3), "v")
        inputs = {"q": self.q, "k": self.k[:1, :1], "v": self.v[:1, :1]}
        assert fused(g, y, ["Transpose", "Attention"], **inputs)

    @pytest.mark.parametrize("queries", [1, 7])
    def test_repeated_heads(self, queries):
        """transformers' repeat_kv: several heads of queries share one of keys and values."""
        g = Graph()

        def repeated(x):
            x = g.Expand(g.Unsqueeze(x, np.int64([2])), np.int64([2, 3, 4, 9, 8]))
            return g.Reshape(x, np.int64([2, 12, 9, 8]))

        k = g.Transpose(repeated("k"), perm=[0, 1, 3, 2])
        s = g.Add(g.Mul(g.MatMul("q", k), 8**-0.5), "mask")
        y = g.MatMul(g.Softmax(s, axis=-1), repeated("v"))
        q, v, mask = normal(2, 12, queries, 8), normal(2, 3, 9, 8), self.mask[:, :, :queries]
        assert fused(g, y, ["Attention"], q=q, k=self.k, v=v, mask=mask)

    def test_other_repetitions_stay(self):
        g = Graph()

        def tiled(x):
            x = g.Expand(g.Unsqueeze(x, np.int64([1])), np.int64([2, 4, 3, 9, 8]))
            return g.Reshape(x, np.int64([2, 12, 9, 8]))

        k = g.Transpose(tiled("k"), perm=[0, 1, 3, 2])
        y = g.MatMul(g.Softmax(g.MatMul("q", k), axis=-1), tiled("v"))
        steps = ["Unsqueeze", "Expand", "Reshape"]
        steps = [*steps, "Transpose", *steps, "Attention"]
        assert fused(g, y, steps, q=normal(2, 12, 7, 8), k=self.k, v=normal(2, 3, 9, 8))

    def test_other_softmaxes_stay(self):
        g = Graph()
        y = g.MatMul(g.Softmax(g.MatMul("q", self.turned(g)), axis=1), "v")
        assert self.run(g, y, ["MatMul", "Softmax", "MatMul", "Attention"])
        g = Graph()
        w = g.Softmax(g.MatMul("q", self.turned(g)), axis=-1)
        assert self.run(g, [g.MatMul(w, "v"), w], ["MatMul", "Softmax", "MatMul"])
        # a factor that is no number
        g = Graph()
        s = g.Mul(g.MatMul("q", self.turned(g)), normal(9))
        assert self.run(
            g, g.MatMul(g.Softmax(s, axis=-1), "v"), ["MatMul", "Mul", "Softmax", "MatMul"]
        )
        # a mask that makes more scores of them
        g = Graph()
        s = g.Add(g.MatMul("q", self.turned(g)), normal(2, 1, 1, 1, 1))
        y = g.MatMul(g.Softmax(s, axis=-1), "v")
        assert self.run(g, y, ["MatMul", "Add", "Softmax", "MatMul", "Attention"])


class TestRotary:
    """Queries of `[batch, heads, tokens, size]` and the angles of their tokens."""

    def turned(self, g, x, cos, sin, half=4):
        first = g.Slice(x, np.int64([0]), np.int64([half]), np.int64([3]), np.int64([1]))
        last = g.Slice(x, np.int64([half]), np.int64([2**62]), np.int64([3]), np.int64([1]))
        return g.Add(g.Mul(x, cos), g.Mul(g.Concat(g.Neg(last), first, axis=-1), sin))

    def tables(self, g, both):
        cos, sin = (g.Unsqueeze(f(both), np.int64([1])) for f in (g.Cos, g.Sin))
        return cos, sin

    def test_computed_tables(self):
        g = Graph()
        y = self.turned(g, "x", *self.tables(g, g.Concat("angle", "angle", axis=-1)))
        steps = ["Concat", "Cos", "Unsqueeze", "Sin", "Unsqueeze", "RotaryEmbedding"]
        angle = normal(2, 7, 4)
        assert fused(g, y, steps, x=normal(2, 3, 7, 8), angle=angle)

    def test_known_tables(self):
        g = Graph()
        angle = normal(20, 4)
        both = np.concatenate([angle, angle], -1)
        cos, sin = (g.Unsqueeze(g.Gather(f(both), "at"), np.int64([1])) for f in (np.cos, np.sin))
        y = self.turned(g, "x", cos, sin)
        steps = ["Gather", "Unsqueeze", "Gather", "Unsqueeze", "RotaryEmbedding"]
        at = RNG.integers(0, 20, (2, 7))
        assert fused(g, y, steps, x=normal(2, 3, 7, 8), at=at)

    def test_other_tables_stay(self):
        g = Graph()
        y = self.turned(g, "x", *self.tables(g, "angles"))
        steps = ["Cos", "Unsqueeze", "Sin", "Unsqueeze", "Slice", "Slice", "Mul", "Neg", "Concat"]
        x, angles = normal(2, 3, 7, 8), normal(2, 7, 8)
        assert fused(g, y, [*steps, "Mul", "Add"], x=x, angles=angles)


class TestLayers:
    x, weight, bias = normal(2, 3, 16), normal(16, 12), normal(12)
    residual = normal(2, 3, 12)

    def of(self, operator, f, steps, residual=False):
        g = Graph()
        if operator == "Gemm":
            y = g.Gemm("x", self.weight, self.bias)
        else:
            y = g.MatMul("x", self.weight)
            y = g.Add(y, self.bias) if operator == "Add" else y
        x = self.x[0] if operator == "Gemm" else self.x
        inputs = {"x": x}
        if residual:
            inputs["r"] = self.residual[0] if operator == "Gemm" else self.residual
        return fused(g, f(g, y), steps, **inputs)

    @pytest.mark.parametrize("operator", ["MatMul", "Add", "Gemm"])
    def test_activations(self, operator):
        name = "Gemm" if operator == "Gemm" else "MatMul"
        for f in ("Relu", "Tanh", "Sigmoid", "Softsign", "HardSwish"):
            assert self.of(operator, lambda g, y, f=f: getattr(g, f)(y), [name])

        def gelu(g, y):
            return g.Mul(g.Mul(y, g.Add(g.Erf(g.Div(y, ROOT)), 1.0)), 0.5)

        assert self.of(operator, gelu, [name])

    @pytest.mark.parametrize("operator", ["MatMul", "Add", "Gemm"])
    def test_residuals(self, operator):
        name = "Gemm" if operator == "Gemm" else "MatMul"
        assert self.of(operator, lambda g, y: g.Add(y, "r"), [name], residual=True)
        assert self.of(operator, lambda g, y: g.Add("r", y), [name], residual=True)

    def test_a_sum_of_another_shape(self):
        g = Graph()
        y = g.Add(g.MatMul("x", self.weight), "r")
        r = normal(4, 1, 1, 12)
        assert fused(g, y, ["MatMul"], x=self.x, r=r)

    def test_turned_weights(self):
        g = Graph()
        y = g.Relu(g.Gemm("x", self.weight.T.copy(), self.bias, transB=1))
        assert fused(g, y, ["Gemm"], x=self.x[0])

    @pytest.mark.parametrize("f", ["Relu", "Sigmoid", "HardSwish", "Clip"])
    @pytest.mark.parametrize("norm", [True, False])
    def test_convolutions(self, f, norm):
        g = Graph()
        y = g.Conv("x", normal(6, 4, 3, 3), normal(6), pads=[1, 1, 1, 1], strides=[2, 2])
        if norm:
            y = g.BatchNormalization(y, normal(6), normal(6), normal(6), normal(6) ** 2 + 0.5)
        y = g.Clip(y, 0.0, 6.0) if f == "Clip" else getattr(g, f)(y)
        assert fused(g, y, ["Conv"], x=normal(2, 4, 9, 9))

    def test_residuals_of_convolutions(self):
        g = Graph()
        y = g.Conv("x", normal(6, 4, 3), pads=[1, 1])
        y = g.Relu(g.Add("r", y))
        assert fused(g, y, ["Conv", "Relu"], x=normal(2, 4, 9), r=normal(2, 6, 9))


class TestCommonSubexpressions:
    def test_same_nodes(self):
        g = Graph()
        y = g.Add(g.Exp(g.Mul("x", 2.0)), g.Neg(g.Mul("x", 2.0)))
        assert fused(g, y, ["Mul", "Exp", "Neg", "Add"], x=normal(5))

    def test_other_nodes(self):
        x = normal(3, 3)
        g = Graph()
        y = g.Add(g.Softmax("x", axis=0), g.Softmax("x", axis=1))
        assert fused(g, y, ["Softmax", "Softmax", "Add"], x=x)
        g = Graph()
        y = g.Add(g.Mul("x", 2.0), g.Mul("x", 3.0))
        assert fused(g, y, ["Mul", "Mul", "Add"], x=x)
        g = Graph()
        a, b = g.TopK("x", np.int64([2]), outputs=2)
        c, d = g.TopK("x", np.int64([2]), outputs=2)
        assert fused(g, [a, b, c, d], ["TopK"], x=x)
