"""flex.fuse: when functions are traced, what cannot be traced, and the buffers of results; flex.explain."""

import gc
import threading
import weakref

import numpy as np
import pytest
from support import address
from test_fuse import X, Y, equal

import flex
from flex import nn


class Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *arguments, **keywords):
        self.calls += 1
        return self.function(*arguments, **keywords)


class TestTracing:
    """When the function itself runs."""

    def test_once_for_each_dtype_and_rank(self):
        f = Counted(lambda x, y: x * y + x)
        fused = flex.fuse(f)
        for _ in range(3):
            equal(fused(X, Y), X * Y + X)
        assert f.calls == 1
        fused(X.copy() * 3, Y)
        assert f.calls == 1
        fused(X.astype("float64"), Y)
        assert f.calls == 2
        fused(X[0], Y)
        assert f.calls == 3
        fused(X, Y)
        fused(X.astype("float64"), Y)
        assert f.calls == 3

    def test_shapes_that_broadcast_differently(self):
        def f(x, y):
            return x * y - flex.sum(x, axis=0)

        fused = flex.fuse(f)
        for shapes in [((2, 3), (2, 3)), ((2, 3), (1, 3)), ((1, 3), (2, 3)), ((4, 1), (1, 5))] * 2:
            x, y = (flex.asarray(np.random.default_rng(0).random(s, np.float32)) for s in shapes)
            equal(fused(x, y), f(x, y))

    def test_shapes_that_the_function_reads(self):
        def f(x):
            return flex.sum(x, axis=0) / x.shape[0] + (1 if x.shape[-1] > 3 else 2)

        fused = flex.fuse(f)
        for shape in [(2, 3), (4, 3), (2, 4), (7, 1), (2, 3)]:
            x = flex.full(shape, 1.5)
            equal(fused(x), f(x))

    def test_a_fused_function_within_another(self):
        inner = flex.fuse(lambda x, y: {"r": x * y + 1})
        outer = flex.fuse(lambda x: inner(x * 2, y=x)["r"] - flex.sum(inner(x, 3)["r"]))
        equal(outer(X), (X * 2 * X + 1) - flex.sum(X * 3 + 1))
        equal(inner(X, Y)["r"], X * Y + 1)

    def test_a_function_that_calls_itself(self):
        @flex.fuse
        def total(xs):
            first, *rest = xs
            return first * 2 + total(rest) if rest else first * 2

        equal(total([X, Y, X]), X * 2 + (Y * 2 + X * 2))

    def test_exceptions_of_the_function(self):
        def f(x, flag):
            if flag:
                raise LookupError("mine")
            return x + 1

        fused = flex.fuse(f)
        with pytest.raises(LookupError, match="mine"):
            fused(X, True)
        equal(fused(X, False), X + 1)
        with pytest.raises(LookupError, match="mine"):
            fused(X, True)

    def test_errors_of_operations(self):
        fused = flex.fuse(lambda x, y: (x * 2) + y)
        with pytest.raises(flex.ShapeError, match=r"add: .*\[2, 3\].*\[4\]"):
            fused(X, flex.ones(4))
        equal(fused(X, Y), X * 2 + Y)
        with pytest.raises(flex.DTypeError):
            flex.fuse(lambda x: x & 1)(X)
        with pytest.raises(flex.DTypeError):
            fused(flex.ones(3, dtype="float8_e5m2"), Y)

    def test_integers_divided_by_zero(self):
        fused = flex.fuse(lambda x, y: (x + 1) // y)
        x = flex.asarray([4, 5])
        assert fused(x, flex.asarray([2, 3])).tolist() == [2, 2]
        with pytest.raises(ZeroDivisionError):
            fused(x, flex.asarray([1, 0]))

    def test_closures_are_released(self):
        class Owner:
            pass

        owner = Owner()
        gone = weakref.ref(owner)
        fused = flex.fuse(lambda x, owner=owner: x + 1)
        fused.__wrapped__(X)
        del fused, owner
        gc.collect()
        assert gone() is None

    def test_memory_is_released(self, in_use):
        fused = flex.fuse(lambda x: (x * 2 + 1, flex.sum(x)))
        x = flex.ones((1000, 100))
        fused(x)
        before = in_use()
        for _ in range(5):
            fused(x)
        assert in_use() == before

    def test_threads_that_call_one_function(self):
        f = Counted(lambda x, n: flex.sum(x * n + 1, axis=0) - x)
        fused = flex.fuse(f)
        dtypes = ["float32", "float64", "int32", "int64"]
        operands = [flex.reshape(flex.arange(60_000, dtype=d), (6, 10_000)) for d in dtypes]
        expected = [f.function(x, 2).numpy() for x in operands]
        errors = []
        start = threading.Barrier(8)

        def work(k):
            start.wait()
            try:
                for turn in range(12):
                    at = (k + turn) % len(operands)
                    np.testing.assert_array_equal(fused(operands[at], 2).numpy(), expected[at])
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []


class TestUnknownValues:
    """Operations that need values while tracing."""

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: x if x.sum() > 0 else -x,
            lambda x: x if flex.any(x > 0) and True else -x,
            lambda x: x * float(x[0, 0]),
            lambda x: x * int(x[0, 0]),
            lambda x: x * x.sum().item(),
            lambda x: x * bool(x[0, 0]),
        ],
    )
    def test_branches_on_a_value(self, f):
        with pytest.raises(TypeError, match=r"flex\.where"):
            flex.fuse(f)(X)

    def test_a_loop_on_a_value(self):
        def f(x):
            while flex.sum(x) > 1:
                x = x / 2
            return x

        with pytest.raises(TypeError, match=r"flex\.where"):
            flex.fuse(f)(X)


class TestWholeFunctions:
    """Functions that a graph cannot express run as they are, between the fused parts."""

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: nn.softmax(x * 2, axis=-1) + 1,
            lambda x: nn.layer_norm(x + 1, (3,), flex.ones(3), bias=flex.zeros(3)) * 2,
            lambda x: nn.linear(x, flex.ones((4, 3)), flex.ones(4)) - 1,
            lambda x: nn.gelu(x, approximate="tanh") * x,
            lambda x: nn.leaky_relu(x - 1, 0.1) * x,
            lambda x: flex.concat([x, x * 2, flex.ones((1, 3))]) + 1,
            lambda x: flex.stack((x, x + 1), axis=1) * 2,
            lambda x: flex.sort(x * -1, axis=1, descending=True) + 1,
            lambda x: flex.argsort(x).astype("float32") * x,
            lambda x: flex.cumulative_sum(x, axis=0) * 2,
            lambda x: flex.take(x, flex.asarray([1, 0]), axis=1) + 1,
            lambda x: flex.roll(x, 1, axis=0) - x,
            lambda x: (x @ x.T).tril() + 1,
            lambda x: flex.tensordot(x, x, axes=2) * x,
            lambda x: x.flip().sort() + x,
            lambda x: nn.scaled_dot_product_attention(x[None], x[None] + 1, x[None])[0] * 2,
        ],
    )
    def test_results_match_unfused_ones(self, f):
        fused = flex.fuse(f)
        for x in (X, X * -3 + 1):
            equal(fused(x), f(x))

    def test_their_arguments_may_be_traced(self):
        def f(x, weight, index):
            return flex.take(nn.linear(x, weight * 2), index + 0, axis=0) + 1

        weight, index = flex.linspace(-1, 1, 12).reshape((4, 3)), flex.asarray([1, 0, 1])
        equal(flex.fuse(f)(X, weight, index), f(X, weight, index))

    def test_other_shapes_are_traced_again(self):
        fused = flex.fuse(lambda x: flex.sort(x * -1) + 1)
        for n in (3, 4, 3, 1, 0):
            x = flex.linspace(0, 1, n)
            equal(fused(x), flex.sort(x * -1) + 1)

    def test_splits(self):
        def rotated(x):
            a, b = flex.chunk(x * 2, 2, axis=1)
            c, *_ = flex.unstack(x + 1)
            return flex.split(a * b, (1, X.shape[0] - 1))[1] + c[0]

        equal(flex.fuse(rotated)(X[:, :2]), rotated(X[:, :2]))

    def test_errors_are_their_own(self):
        with pytest.raises(flex.ShapeError, match="linear"):
            flex.fuse(lambda x: nn.linear(x + 1, flex.ones((4, 7))))(X)
        take = flex.fuse(lambda x, index: flex.take(x, index * 1, axis=0))
        assert take(X, flex.asarray([1])).shape == (1, 3)
        with pytest.raises(IndexError):
            take(X, flex.asarray([7]))
        with pytest.raises(TypeError, match="nosuch"):
            flex.fuse(lambda x: flex.sort(x, nosuch=1))(X)

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: flex.nonzero(x)[0],
            lambda x: flex.unique_values(x),
            lambda x: flex.broadcast_arrays(x, flex.ones((2, 1)))[0],
            lambda x: nn.one_hot(x.tolist()[0][0], 3),
        ],
    )
    def test_refused_functions(self, f):
        with pytest.raises(TypeError, match="trace"):
            flex.fuse(f)(X)

    def test_stateful_calls_are_refused(self):
        cache = nn.KVCache(1, 1, 3)
        with pytest.raises(TypeError):
            flex.fuse(lambda x: cache.append(x, x)[0])(flex.ones((1, 1, 2, 3)))
        assert cache.position == 0


class TestBuffers:
    """Donated arguments, and results in `out`."""

    def test_the_result_takes_donated_memory(self):
        fused = flex.fuse(lambda x, y: x * 2 + y, donate=(0,))
        y = flex.ones(100_000)
        x = flex.ones(100_000)
        at = address(x)
        result = fused(x, y)
        assert address(result) == at
        assert flex.all(result == 3)
        assert flex.all(y == 1)

    def test_a_donated_tensor_that_is_shared(self):
        fused = flex.fuse(lambda x: x * 2, donate=(0,))
        x = flex.ones(100_000)
        alias, part = x[...], x[10:]
        assert flex.all(fused(x) == 2)
        assert flex.all(alias == 1)
        assert flex.all(part == 1)

    def test_a_donated_array_is_not_written_to(self):
        fused = flex.fuse(lambda x: x * 2, donate=(0,))
        a = np.ones(100_000, np.float32)
        assert flex.all(fused(a) == 2)
        borrowed = flex.asarray(a)
        assert flex.all(fused(borrowed) == 2)
        assert (a == 1).all()

    def test_a_donated_tensor_that_is_read_twice(self):
        def f(x):
            return (x + x[::-1]) * flex.sum(x), flex.argmax(x)

        x = flex.linspace(0, 1, 10_000, dtype="float32")
        for got, expected in zip(flex.fuse(f, donate=(0,))(x.copy()), f(x), strict=True):
            equal(got, expected)

    @pytest.mark.parametrize("dtype", ["float64", "int32"])
    def test_a_donated_tensor_of_another_size(self, dtype):
        def f(x):
            return flex.astype(x + 1, "float32"), flex.sum(x), x > 1, x[:, None] * x[:7]

        x = flex.arange(100, dtype=dtype)
        for got, expected in zip(flex.fuse(f, donate=(0,))(x.copy()), f(x), strict=True):
            equal(got, expected)

    @pytest.mark.parametrize("donate", [(2,), "x", 1.5])
    def test_invalid_donate(self, donate):
        with pytest.raises((TypeError, ValueError, IndexError)):
            flex.fuse(lambda x: x + 1, donate=donate)(X.copy())

    def test_out(self):
        fused = flex.fuse(lambda x, y: x * 2 + y)
        out = flex.zeros((2, 3))
        assert fused(X, Y, out=out) is out
        equal(out, X * 2 + Y)

    def test_out_of_several(self):
        fused = flex.fuse(lambda x: (x * 2, flex.sum(x, axis=0)))
        out = flex.zeros((2, 3)), flex.zeros(3)
        got = fused(X, out=out)
        assert all(a is b for a, b in zip(got, out, strict=True))
        equal(out[0], X * 2)
        equal(out[1], flex.sum(X, axis=0))

    def test_out_that_is_an_argument(self):
        x = X.copy()
        fused = flex.fuse(lambda x: (x + x[:, ::-1]) * flex.sum(x))
        expected = (X + X[:, ::-1]) * flex.sum(X)
        fused(x, out=x)
        equal(x, expected)

    def test_out_is_a_value(self):
        out = flex.zeros((2, 3))
        alias = out[...]
        flex.fuse(lambda x: x * 2)(X, out=out)
        equal(out, X * 2)
        assert flex.all(alias == 0)

    def test_out_of_another_layout(self):
        out = flex.zeros((3, 2)).T
        flex.fuse(lambda x: x * 2)(X, out=out)
        equal(out, X * 2)

    @pytest.mark.parametrize(
        ("out", "error", "message"),
        [
            (flex.zeros((3, 2)), flex.ShapeError, r"\[3, 2\].*\[2, 3\]"),
            (flex.zeros((2, 3), dtype="int32"), flex.DTypeError, "int32.*float32"),
            ((flex.zeros((2, 3)),) * 2, (TypeError, ValueError), "out"),
            ([1.0], TypeError, "out"),
            (3, TypeError, "out"),
        ],
    )
    def test_out_that_does_not_fit(self, out, error, message):
        with pytest.raises(error, match=message):
            flex.fuse(lambda x: x * 2)(X, out=out)
        if isinstance(out, flex.Tensor):
            assert not flex.any(out)


class TestExplain:
    """flex.explain."""

    def test_names_of_operations(self):
        def f(x, y):
            return flex.sum(flex.exp(x) * y, axis=0) @ flex.ones(3)

        for function in (f, flex.fuse(f)):
            text = flex.explain(function, X, Y)
            assert isinstance(text, str)
            for name in ("exp", "multiply", "sum", "matmul"):
                assert name in text
        assert "relu" not in text

    def test_errors(self):
        with pytest.raises(TypeError):
            flex.explain(3, X)
        with pytest.raises(TypeError, match=r"flex\.where"):
            flex.explain(lambda x: x if x.sum() > 0 else -x, X)
