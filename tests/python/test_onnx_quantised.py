"""Layers with weights of few bits as exporters write them: integers between QuantizeLinear and
DequantizeLinear, with steps that are found as a model runs, and weights alone."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from test_onnx_patterns import RNG, Graph, fused, normal

import flex

SCALE, ZERO = np.float32(0.02), np.uint8(120)


def integers(*shape):
    return RNG.integers(-127, 128, shape, np.int8)


def quantised(g, x, zero=ZERO):
    return g.QuantizeLinear(x, SCALE, zero)


class TestStatic:
    x, weight, bias = normal(2, 5, 16), integers(16, 12), normal(12)
    scales = (0.01 + 0.01 * RNG.random(12)).astype(np.float32)

    def layer(self, g, form, zero=ZERO, weight=None, weight_zero=None):
        x = g.DequantizeLinear(quantised(g, "x", zero), SCALE, zero)
        weight = self.weight if weight is None else weight
        w = g.DequantizeLinear(weight, self.scales, weight_zero, axis=1)
        if form == "Transpose":
            w = g.DequantizeLinear(weight.T.copy(), self.scales, weight_zero, axis=0)
            return g.MatMul(x, g.Transpose(w, perm=[1, 0]))
        if form == "Gemm":
            w = g.DequantizeLinear(weight.T.copy(), self.scales, weight_zero, axis=0)
            return g.Gemm(x, w, self.bias, transB=1)
        y = g.MatMul(x, w)
        return g.Add(y, self.bias) if form == "Add" else y

    @pytest.mark.parametrize("form", ["MatMul", "Add", "Gemm", "Transpose"])
    @pytest.mark.parametrize("zero", [np.uint8(120), np.int8(-9)])
    def test_layers(self, form, zero):
        x = self.x[0] if form == "Gemm" else self.x
        g = Graph()
        y = self.layer(g, form, zero)
        assert fused(g, y, ["QuantizeLinear", "QLinearMatMul"], x=x)
        g = Graph()
        y = g.Relu(self.layer(g, form, zero))
        assert fused(g, y, ["QuantizeLinear", "QLinearMatMul"], x=x)

    def test_unsigned_weights(self):
        weight = (self.weight.astype(np.int16) + 128).astype(np.uint8)
        g = Graph()
        y = self.layer(g, "Add", weight=weight, weight_zero=np.full(12, 128, np.uint8))
        assert fused(g, y, ["QuantizeLinear", "QLinearMatMul"], x=self.x)
        # products of integers take no other zero points
        g = Graph()
        y = self.layer(g, "MatMul", weight=weight, weight_zero=np.full(12, 100, np.uint8))
        assert fused(g, y, ["QuantizeLinear", "DequantizeLinear", "MatMul"], x=self.x)

    def test_shared_inputs(self):
        g = Graph()
        x = g.DequantizeLinear(quantised(g, "x"), SCALE, ZERO)
        a, b = (
            g.MatMul(x, g.DequantizeLinear(integers(16, 4), np.float32(0.01))) for _ in range(2)
        )
        steps = ["QuantizeLinear", "QLinearMatMul", "QLinearMatMul"]
        assert fused(g, [a, b], steps, x=self.x)
        g = Graph()
        x = g.DequantizeLinear(quantised(g, "x"), SCALE, ZERO)
        a = g.MatMul(x, g.DequantizeLinear(integers(16, 4), np.float32(0.01)))
        steps = ["QuantizeLinear", "DequantizeLinear", "QLinearMatMul", "Relu"]
        assert fused(g, [a, g.Relu(x)], steps, x=self.x)

    @pytest.mark.parametrize("groups", [1, 2, 8])
    @pytest.mark.parametrize("zero", [np.uint8(120), np.int8(-9)])
    def test_convolutions(self, groups, zero):
        g = Graph()
        x = g.DequantizeLinear(quantised(g, "x", zero), SCALE, zero)
        w = g.DequantizeLinear(integers(8, 8 // groups, 3, 3), self.scales[:8], axis=0)
        y = g.Relu(g.Conv(x, w, normal(8), pads=[1, 0, 1, 2], strides=[2, 1], group=groups))
        x = normal(2, 8, 7, 9)
        assert fused(g, y, ["QuantizeLinear", "QLinearConv"], x=x)

    def test_numbers_around(self):
        """Beyond the range of the integers, and halves, which round to even."""
        x = np.float32([-1e9, -3.01, -0.03, -0.01, 0, 0.01, 0.03, 2.55, 1e9])
        for zero in (np.uint8(120), np.int8(-9), np.uint8(0)):
            g = Graph()
            q = quantised(g, "x", zero)
            y = g.DequantizeLinear(q, SCALE, zero)
            assert fused(g, [q, y], ["QuantizeLinear", "DequantizeLinear"], 0, x=x)


class TestSums:
    x, r = normal(2, 3, 5, 7, scale=2), normal(2, 3, 5, 7, scale=2)

    def sum(self, g, f, zeros):
        a = g.DequantizeLinear(quantised(g, "x", zeros[0]), SCALE, zeros[0])
        scale = np.float32(0.013)
        b = g.DequantizeLinear(g.QuantizeLinear("r", scale, zeros[1]), scale, zeros[1])
        y = g.Add(a, b)
        y = getattr(g, f)(y) if f else y
        return a, g.QuantizeLinear(y, np.float32(0.031), zeros[2])

    @pytest.mark.parametrize("f", ["", "Relu"])
    @pytest.mark.parametrize(
        "zeros", [np.uint8([120, 3, 99]), np.int8([-9, 0, 20]), np.uint8([0, 255, 0])]
    )
    def test_of_bytes(self, f, zeros):
        g = Graph()
        _, y = self.sum(g, f, zeros)
        assert fused(g, y, ["QuantizeLinear"] * 3, 0, x=self.x, r=self.r)
        # of shapes that broadcast
        assert fused(g, y, ["QuantizeLinear"] * 3, 0, x=self.x, r=self.r[:, :1, :, :1])

    def test_of_shared_values(self):
        g = Graph()
        a, y = self.sum(g, "Relu", np.uint8([120, 3, 99]))
        other = g.Sigmoid(a)
        model = flex.onnx.load(g.model({"x": self.x, "r": self.r}, y, other))
        ran = [step.operator for step in model.profile(x=self.x, r=self.r)]
        assert sorted(ran) == ["DequantizeLinear", *["QuantizeLinear"] * 3, "Sigmoid"]

    def test_other_functions(self):
        g = Graph()
        _, y = self.sum(g, "Sigmoid", np.uint8([120, 3, 99]))
        model = flex.onnx.load(g.model({"x": self.x, "r": self.r}, y))
        ran = [step.operator for step in model.profile(x=self.x, r=self.r)]
        assert ran.count("DequantizeLinear") == 2


class TestDynamic:
    """onnxruntime's sums of pairs of products saturate for larger weights."""

    x, weight, bias = normal(2, 5, 16, scale=3), integers(16, 12) // 2, normal(12)

    @pytest.mark.parametrize("scales", [1, 12])
    @pytest.mark.parametrize("form", ["sum", "bias", "activation"])
    @pytest.mark.parametrize("zero", [None, np.int8(0)])
    def test_layers(self, scales, form, zero):
        g = Graph()
        scale = np.linspace(0.01, 0.02, scales, dtype=np.float32)
        x, xs, xz = g.DynamicQuantizeLinear("x", outputs=3)
        sums = g.Cast(g.MatMulInteger(x, self.weight, xz, zero), to=TensorProto.FLOAT)
        y = g.Mul(sums, g.Mul(xs, scale if scales > 1 else scale[0]))
        if form != "sum":
            y = g.Add(y, self.bias)
        if form == "activation":
            y = g.Relu(y)
        assert fused(g, y, ["DynamicQuantizeLinear", "MatMulInteger"], x=self.x)

    def test_shared_inputs(self):
        g = Graph()
        x, xs, xz = g.DynamicQuantizeLinear("x", outputs=3)

        def product():
            sums = g.MatMulInteger(x, integers(16, 4) // 2, xz)
            return g.Mul(g.Cast(sums, to=TensorProto.FLOAT), g.Mul(xs, np.float32(0.01)))

        steps = ["DynamicQuantizeLinear", "MatMulInteger", "MatMulInteger"]
        assert fused(g, [product(), product()], steps, x=self.x)


class TestWeights:
    x, weight = normal(2, 5, 16), integers(16, 12)

    @pytest.mark.parametrize("form", ["Cast", "DequantizeLinear", "zeros"])
    @pytest.mark.parametrize("turned", [True, False])
    @pytest.mark.parametrize("after", ["none", "bias", "activation", "residual", "sum"])
    def test_layers(self, form, turned, after):
        g = Graph()
        weight, scales = self.weight, np.linspace(0.01, 0.02, 12, dtype=np.float32)
        axis = 1
        if turned:
            weight, axis = weight.T.copy(), 0
        if form == "Cast":
            of = scales[:, None] if turned else scales
            w = g.Mul(g.Cast(weight, to=TensorProto.FLOAT), of)
        else:
            zeros = integers(12) if form == "zeros" else None
            w = g.DequantizeLinear(weight, scales, zeros, axis=axis)
        y = g.MatMul("x", g.Transpose(w, perm=[1, 0]) if turned else w)
        if after in ("bias", "activation", "sum"):
            y = g.Add(y, normal(12))
        if after == "activation":
            y = g.Relu(y)
        more = {}
        if after in ("residual", "sum"):
            y = g.Add("r", y)
            more = {"r": normal(2, 5, 12)}
        assert fused(g, y, ["MatMul"], 4e-6, x=self.x, **more)

    @pytest.mark.parametrize("size", [4, 8])
    @pytest.mark.parametrize("zeros", [True, False])
    def test_blocks(self, size, zeros):
        g = Graph(21)
        shape = (16 // size, 12)
        scales = (0.01 + 0.01 * RNG.random(shape)).astype(np.float32)
        zeros = integers(*shape) if zeros else None
        w = g.DequantizeLinear(self.weight, scales, zeros, axis=0, block_size=size)
        assert fused(g, g.MatMul("x", w), ["MatMul"], 4e-6, x=self.x)

    @pytest.mark.parametrize("bits", [4, 8])
    @pytest.mark.parametrize("zeros", [True, False])
    @pytest.mark.parametrize("rows", [1, 3, 40])
    def test_matmul_nbits(self, bits, zeros, rows):
        n, k, size = 12, 96, 32
        b = RNG.integers(0, 256, (n, k // size, size * bits // 8), np.uint8)
        scales = (0.01 + 0.01 * RNG.random(n * k // size)).astype(np.float32)
        points = RNG.integers(0, 256, n * -(-k // size * bits // 8), np.uint8) if zeros else None
        g = Graph()
        inputs = [g.value(i) for i in ("x", b, scales, points)]
        g.nodes.append(
            helper.make_node(
                "MatMulNBits",
                [i for i in inputs if i],
                ["y"],
                domain="com.microsoft",
                K=k,
                N=n,
                bits=bits,
                block_size=size,
            )
        )
        x = normal(rows, k)
        low = b.reshape(n, -1)
        if bits == 4:
            low = np.stack([low & 15, low >> 4], -1).reshape(n, k)
        middle = np.full((n, k // size), 1 << bits - 1)
        if zeros:
            middle = points.reshape(n, -1)
            if bits == 4:
                middle = np.stack([middle & 15, middle >> 4], -1).reshape(n, -1)[:, : k // size]
        w = (low - np.repeat(middle, size, 1).astype(np.float64)) * np.repeat(
            scales.reshape(n, -1), size, 1
        )
        y = flex.onnx.load(g.model({"x": x}, "y"))(x).numpy()
        want = x @ w.T
        np.testing.assert_allclose(y, want, rtol=0, atol=4e-6 * np.abs(want).max())
