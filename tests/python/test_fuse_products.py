"""Elementwise operations after products and convolutions, which run on each block of the product: bits and errors match those of unfused
operations."""

import numpy as np
import pytest
from arrays import LAYOUTS, laid_out, random_array
from hypothesis import given
from hypothesis import strategies as st
from support import examples
from test_fuse_programs import PLAIN, bits, same
from traced import HALVES, Run, programs

import flex
from flex import nn

# Products with the shapes of their operands: large ones, whose results are handed over in blocks, and smaller ones.
PRODUCTS = {
    "matmul": (flex.matmul, [((300, 40), (40, 300)), ((70, 5), (5, 6)), ((257, 513), (513, 300))]),
    "few rows": (flex.matmul, [((3, 64), (64, 30_000)), ((1, 40), (40, 70_001))]),
    "few columns": (flex.matmul, [((70_001, 20), (20, 1)), ((30_000, 30), (30, 3))]),
    "batches": (flex.matmul, [((3, 2, 130, 20), (2, 20, 120)), ((4, 50, 30), (30, 600))]),
    "linear": (
        nn.linear,
        [((300, 40), (300, 40)), ((2, 150, 33), (301, 33)), ((500, 0), (200, 0))],
    ),
    "pointwise": (nn.conv2d, [((2, 20, 40, 41), (40, 20, 1, 1))]),
    "winograd": (lambda x, w: nn.conv2d(x, w, padding=1), [((2, 20, 40, 41), (40, 20, 3, 3))]),
    "patches": (
        lambda x, w: nn.conv2d(x, w, padding=2, groups=2),
        [((1, 20, 60, 41), (40, 10, 5, 5))],
    ),
    "direct": (lambda x, w: nn.conv2d(x, w, padding=1), [((1, 2, 200, 200), (4, 2, 3, 3))]),
    "depthwise": (
        lambda x, w: nn.conv2d(x, w, padding=1, groups=40),
        [((1, 40, 60, 60), (40, 1, 3, 3)), ((2, 40, 30, 30), (40, 1, 3, 3))],
    ),
    "signals": (lambda x, w: nn.conv1d(x, w), [((20, 3000), (40, 20, 5))]),
}


@st.composite
def operands(draw, dtypes):
    """A product function, its operands, and tensors that broadcast with its result."""
    function, shapes = PRODUCTS[draw(st.sampled_from(sorted(PRODUCTS)))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def tensor(dtype, shape):
        array = random_array(dtype, shape, rng, low=-2, high=3)
        return laid_out(array, draw(st.sampled_from(LAYOUTS)), draw(st.integers(0, 3)))[0]

    dtype = draw(st.sampled_from(dtypes))
    a, b = (tensor(dtype, shape) for shape in draw(st.sampled_from(shapes)))
    shape = function(a, b).shape
    kept = {
        "all": shape,
        "last": shape[-1:],
        "first": (shape[0], *(1 for _ in shape[1:])),
        "channels": (*(1 for _ in shape[:-3]), *shape[-3:-2], 1, 1),
        "one": (),
    }
    others = [
        tensor(draw(st.sampled_from(PLAIN)), kept[draw(st.sampled_from(sorted(kept)))])
        for _ in range(draw(st.integers(0, 2)))
    ]
    return function, a, b, others


def following(function, program, casts):
    """A function of the product and the steps after it, which returns their last results."""

    def f(a, b, *others):
        run = Run((function(a, b), *others), casts)
        for step in program:
            run.values.append(run.step(*step))
        return (*run.values[-2:], run.values[0])[-1 - len(program) % 3 :]

    return f


class TestPrograms:
    """Arbitrary programs after a product."""

    @examples(120)
    @given(programs(most=8), operands(("float32", "float64")), st.sampled_from([1, 2, 7]))
    def test_results_match_unfused_ones(self, program, case, threads):
        function, a, b, others = case
        f = following(function, program, PLAIN)
        with flex.threads(threads):
            expected = f(a, b, *others)
            fused = flex.fuse(f)
            same(fused(a, b, *others), expected)
            same(fused(a, b, *others), expected)
            with flex.stream():
                got = f(a, b, *others)
            same(got, expected)

    @examples(50)
    @given(programs(most=8), operands(HALVES))
    def test_halves(self, program, case):
        function, a, b, others = case
        f = following(function, program, (*PLAIN, *HALVES))
        same(flex.fuse(f, strict=True)(a, b, *others), f(a, b, *others))


def operand(*shape):
    return flex.asarray(np.random.default_rng(0).normal(size=shape).astype(np.float32)).copy()


class TestPlans:
    def test_elementwise_operations_are_fused_into_the_product(self):
        text = flex.explain(
            lambda x, w, b: flex.relu(nn.linear(x, w) + b), operand(9, 4), operand(5, 4), operand(5)
        )
        assert text == "call v0 of x0, x1: linear, then store v1 of v0, x2: add, relu\nreturns v1"

    def test_each_product_has_its_own_epilogue(self):
        text = flex.explain(
            lambda x, v, w: (x @ v + 1, flex.exp(x @ w)),
            operand(9, 4),
            operand(4, 5),
            operand(4, 5),
        )
        assert text.count("matmul, then store") == 2

    def test_a_product_of_two(self):
        """The other product is an operand of the steps fused into the last one."""

        def gated(x, v, w):
            return flex.silu(x @ v) * (x @ w)

        x, v, w = operand(400, 30), operand(30, 500), operand(30, 500)
        assert flex.explain(gated, x, v, w).count("matmul, then store") == 1
        assert bits(flex.fuse(gated)(x, v, w)) == bits(gated(x, v, w))

    def test_operands_computed_later_prevent_fusion(self):
        def f(x, w):
            y = x @ w
            return y / flex.sum(y, axis=0)

        x, w = operand(400, 30), operand(30, 500)
        assert "then" not in flex.explain(f, x, w)
        assert bits(flex.fuse(f)(x, w)) == bits(f(x, w))

    def test_the_product_itself_is_a_result(self):
        def f(x, w):
            y = x @ w
            return y, y * 2 > 1, flex.astype(y, flex.float64), flex.sum(y)

        x, w = operand(400, 30), operand(30, 500)
        same(flex.fuse(f)(x, w), f(x, w))

    @pytest.mark.parametrize(
        "dtypes", [("bfloat16", "float32"), ("float16", "float32"), ("int8", "int32")]
    )
    @pytest.mark.parametrize("m", [1, 3, 300])
    @pytest.mark.parametrize("function", ["matmul", "transposed", "linear", "activation"])
    def test_conversions_before_a_product_are_fused(self, function, m, dtypes):
        narrow, wide = dtypes
        if (function, wide) == ("activation", "int32"):
            return
        products = {
            "matmul": flex.matmul,
            "transposed": lambda x, w: x.T.mT @ w.T,
            "linear": lambda x, w: nn.linear(x, w, flex.ones(300, dtype=wide)),
            "activation": lambda x, w: nn.linear(x[None], w, activation="gelu"),
        }

        def f(x, w):
            return products[function](flex.astype(x, wide), flex.astype(w, wide)) + 1

        shapes = [(m, 1100), (1100, 300) if function == "matmul" else (300, 1100)]
        x, w = (flex.astype(operand(*s) * 3, narrow) for s in shapes)
        if narrow != "bfloat16":  # some CPUs multiply it in pairs, which rounds sums differently
            assert "astype" not in flex.explain(f, x, w)
        half = w[::2] if function == "matmul" else w[:, ::2]
        for a, b in [
            (x, w),
            (x.T.copy().T, w.T.copy().T),
            (x[:, ::2], half),
            (x[::-1], w.T[::-1].T),
            (x, flex.broadcast_to(w[:1], w.shape)),
        ]:
            expected = bits(f(a, b))
            assert bits(flex.fuse(f)(a, b)) == expected
            with flex.stream():
                y = f(a, b)
            assert bits(y) == expected

    def test_conversions_of_one_operand_or_cut_are_not_fused(self):
        def both(x, w):
            return x[::2].astype("float32") @ w, x.astype("float32")[::2] @ w.T.astype("float32")

        x, w = (flex.astype(operand(*s), "float16") for s in ((60, 300), (300, 300)))
        assert flex.explain(both, x, w).count("astype") == 3
        for got, want in zip(flex.fuse(both)(x, w), both(x, w), strict=True):
            assert bits(got) == bits(want)

    def test_errors_come_from_the_line_that_is_wrong(self):
        with pytest.raises(flex.ShapeError, match="matmul"):
            flex.fuse(lambda x, w: x @ w + 1)(operand(3, 4), operand(3, 4))
        with pytest.raises(flex.ShapeError, match="bias"):
            flex.fuse(lambda x, w, b: nn.linear(x, w, b) * 2)(
                operand(3, 4), operand(5, 4), operand(4)
            )

    def test_other_shapes_and_numbers(self):
        fused = flex.fuse(lambda x, w, scale: nn.linear(x, w) * scale + 1)
        for m, scale in [(300, 2.0), (7, 0.5), (300, 3.5), (900, 2.0)]:
            x, w = operand(m, 20), operand(400, 20)
            assert bits(fused(x, w, scale)) == bits(nn.linear(x, w) * scale + 1)


class TestStreams:
    def test_products_are_queued(self):
        x, w = operand(400, 30), operand(30, 500)
        for k in range(3):
            with flex.stream() as s:
                y = flex.relu(x @ w + k)
                assert (y.shape, y.dtype) == ((400, 500), flex.float32)
            stats = s.stats()
            assert (stats["operations"], stats["kernels"]) == (3, 1)
            assert stats["bytes_written"] == stats["bytes_allocated"] == 400 * 500 * 4
            assert bits(y) == bits(flex.relu(x @ w + k))

    def test_other_sizes_share_the_plan(self):
        s = flex.Stream()
        for m, k, n in [(3, 4, 5), (300, 7, 400), (4, 3, 2), (1, 5, 6), (300, 0, 400)]:
            x, w = operand(m, k), operand(k, n)
            with s:
                y = flex.matmul(x, w) * 2 - 1
            assert bits(y) == bits(flex.matmul(x, w) * 2 - 1)

    @pytest.mark.parametrize(
        "shapes", [((3, 4), (3, 4)), ((2, 3, 4), (3, 4, 5)), ((3,), ()), ((3,), (4,)), ((), (2, 2))]
    )
    def test_errors(self, shapes):
        a, b = (operand(*shape) for shape in shapes)
        with pytest.raises(flex.ShapeError) as eager:
            flex.matmul(a, b)
        with flex.stream():
            z = a + 1
            with pytest.raises(flex.ShapeError) as queued:
                flex.matmul(z, b)
        assert str(queued.value) == str(eager.value)

    def test_dtypes(self):
        a = flex.asarray([[100, 100]], dtype="int8")
        with flex.stream():
            y = flex.matmul(a, a.T, dtype=flex.int32) + 1
            with pytest.raises(flex.DTypeError):
                flex.matmul(a + 1 > 0, a.T > 0)
        assert (y.dtype, y.tolist()) == (flex.int32, [[20_001]])

    def test_plans_in_files(self, tmp_path):
        path = tmp_path / "plans"
        with flex.stream() as s:
            y = flex.exp(operand(3, 3) @ operand(3, 2))
        s.save(path)
        assert s.load(path) > 0
        assert y.shape == (3, 2)
