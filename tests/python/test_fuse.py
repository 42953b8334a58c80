"""flex.fuse: what a function may compute, take and return."""

import numpy as np
import pytest
from support import LAYOUTS

import flex
from flex import nn

X = flex.asarray([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
Y = flex.asarray([0.5, 2.0, -1.0])


def equal(got, expected):
    """Asserts equal dtype, shape and values; NaN equals NaN."""
    assert isinstance(got, flex.Tensor), type(got)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(got.numpy(), expected.numpy())


class TestFunctions:
    """The operations of a function."""

    def test_the_decorator(self):
        @flex.fuse
        def scaled(x, y):
            """Scales."""
            return (x + y) * 2 - x / (y * y + 1)

        equal(scaled(X, Y), (X + Y) * 2 - X / (Y * Y + 1))
        assert (scaled.__name__, scaled.__doc__) == ("scaled", "Scales.")
        assert scaled.__wrapped__(X, Y).shape == (2, 3)

    def test_the_decorator_with_options(self):
        @flex.fuse(strict=True, donate=())
        def f(x):
            return x * x + x

        equal(f(X), X * X + X)

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: x,
            lambda x: -x,
            lambda x: 1 - 2 / (x**2 + 1) // 0.5 % 3,
            lambda x: x > 0,
            lambda x: (x > 0) & (x < 3) | ~(x != 1),
            lambda x: flex.where(x > 0, x, 0),
            lambda x: flex.clip(x, -1, 2) + flex.clip(x, max=0),
            lambda x: flex.maximum(x, 0) - flex.minimum(2, x),
            lambda x: x.exp().sum(axis=1).log(),
            lambda x: flex.gelu(x) + nn.silu(x) * nn.mish(x),
            lambda x: flex.astype(x, flex.int32) * 2,
            lambda x: x.astype("int64") // 2,
            lambda x: x.astype(float) / 3,
            lambda x: abs(flex.round(x * 0.7)),
        ],
    )
    def test_elementwise(self, f):
        equal(flex.fuse(f)(X), f(X))

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: flex.sum(x * x),
            lambda x: flex.mean(x, axis=0),
            lambda x: flex.max(x * 2, axis=(0, 1), keepdims=True),
            lambda x: flex.min(x, axis=-1) + 1,
            lambda x: flex.any(x > 4, axis=1),
            lambda x: flex.all(x > -9),
            lambda x: flex.count_nonzero(x > 0, axis=0),
            lambda x: flex.prod(x, axis=1),
            lambda x: flex.var(x, axis=1, correction=1) + flex.std(x),
            lambda x: flex.sum(x, axis=(), keepdims=True),
            lambda x: flex.sum(x > 0, axis=0),
            lambda x: flex.sum(x, dtype=flex.float64),
            lambda x: x - x.mean(axis=1, keepdims=True),
            lambda x: x / flex.sqrt(flex.sum(x * x, axis=0)),
            lambda x: (x - flex.min(x)) / (flex.max(x) - flex.min(x)),
            lambda x: flex.sum(flex.exp(x - flex.max(x, axis=-1, keepdims=True)), axis=-1),
        ],
    )
    def test_reductions(self, f):
        equal(flex.fuse(f)(X), f(X))

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: (x + 1).T * 2,
            lambda x: flex.reshape(x * 2, (3, 2)) + 1,
            lambda x: (x * 2).reshape((-1,)) - 1,
            lambda x: flex.permute_dims(x + 1, (1, 0)) + flex.permute_dims(x, (1, 0)),
            lambda x: (x * x)[0] + x[1],
            lambda x: (x * x)[:, ::-1] + x[:, 1:2],
            lambda x: (x + 1)[..., None, 0] * x[None, :, -1],
            lambda x: flex.expand_dims(x * 2, axis=0) + x,
            lambda x: flex.squeeze((x * 2)[:1], axis=0) + x,
            lambda x: flex.broadcast_to(x * 2, (4, 2, 3)) + x,
        ],
    )
    def test_views(self, f):
        equal(flex.fuse(f)(X), f(X))

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: (x * 2) @ (x + 1).T - 1,
            lambda x: flex.argmin(x * x, axis=1) + 1,
            lambda x: x * flex.arange(3) + flex.ones((2, 1)),
        ],
    )
    def test_functions_run_as_they_are(self, f):
        equal(flex.fuse(f)(X), f(X))

    def test_shapes_and_dtypes_are_known_while_tracing(self):
        def f(x, y):
            assert (x.shape, x.ndim, x.size, len(x)) == ((2, 3), 2, 6, 2)
            assert (x.dtype, (x > y).dtype) == (flex.float32, flex.bool)
            assert (x + y).shape == (2, 3)
            assert flex.sum(x * y, axis=0).shape == (3,)
            return x.T * x.shape[0]

        equal(flex.fuse(f)(X, Y), X.T * 2)

    def test_in_place_operators_on_a_name(self):
        def f(x):
            y = x * 2
            y += 1
            y *= x
            y -= flex.sum(y, axis=0)
            return y / x

        equal(flex.fuse(f)(X), f(X))
        assert X.tolist() == [[1, -2, 3], [4, 5, -6]]


class TestArguments:
    """The arguments of a function."""

    def test_keywords_and_defaults(self):
        @flex.fuse
        def f(x, y=2.0, *, scale=1, shift=None):
            r = x * y * scale
            return r if shift is None else r + shift

        equal(f(X), X * 2.0)
        equal(f(X, Y), X * Y)
        equal(f(y=Y, x=X), X * Y)
        equal(f(X, scale=3), X * 2.0 * 3)
        equal(f(X, shift=Y, scale=X), X * 2.0 * X + Y)

    def test_lists_and_dicts(self):
        @flex.fuse
        def f(pair, *more, weights):
            x, (y, z) = pair
            return x * weights["w"] + y * z * weights["b"][0] + sum(more)

        got = f([X, (Y, 2)], 1, Y, weights={"w": X, "b": [Y]})
        equal(got, X * X + Y * 2 * Y + (1 + Y))

    def test_static_arguments(self):
        @flex.fuse
        def f(x, activation, negate=False, mask=None):
            y = {"relu": flex.relu, "exp": flex.exp}[activation](x)
            y = -y if negate else y
            return y if mask is None else flex.where(mask, y, 0)

        for _ in range(2):
            equal(f(X, "relu"), flex.relu(X))
            equal(f(X, "exp"), flex.exp(X))
            equal(f(X, "exp", True), -flex.exp(X))
            equal(f(X, "exp", False), flex.exp(X))
            equal(f(X, "exp", mask=X > 0), flex.where(X > 0, flex.exp(X), 0))

    @pytest.mark.parametrize("number", [2, 2.5, -1, 0, 1e30, float("inf"), np.float32(1.5)])
    @pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
    def test_numbers_are_weak(self, number, dtype):
        def f(x, n):
            return (x + n) * n - x

        x = X.astype(dtype)
        fused = flex.fuse(f)
        equal(fused(x, 3), f(x, 3))
        equal(fused(x, number), f(x, number))
        equal(fused(x, 3), f(x, 3))

    def test_arrays_are_borrowed(self):
        a, b = np.arange(6.0).reshape(2, 3), np.arange(3)
        fused = flex.fuse(lambda x, y: x * 2 + y)
        equal(fused(a, b), flex.asarray(a) * 2 + flex.asarray(b))
        a[0, 0] = 9
        assert fused(a, b)[0, 0].item() == 18
        assert a.tolist() == [[9, 1, 2], [3, 4, 5]]

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_layouts(self, layout):
        array = LAYOUTS[layout](np.arange(12, dtype=np.float32).reshape(3, 4))
        x = flex.asarray(array)

        def f(x):
            return (x * x + 1) / (x + 3), flex.sum(x * 2)

        for got, expected in zip(flex.fuse(f)(x), f(x), strict=True):
            equal(got, expected)

    @pytest.mark.parametrize("shape", [(), (0,), (0, 3), (3, 0), (2, 0, 3), (1,)])
    def test_empty_and_single_elements(self, shape):
        x = flex.ones(shape)

        def f(x):
            return x * 2 + 1, flex.sum(x * x), x - flex.sum(x), flex.any(x > 0)

        for got, expected in zip(flex.fuse(f)(x), f(x), strict=True):
            equal(got, expected)

    def test_mixed_dtypes(self):
        def f(a, b, c, d):
            return a * b + c, flex.where(d, a, b), (c > a) & d, flex.sum(d) + flex.max(b)

        arguments = [
            flex.asarray([1.5, -2.0, 0.25]),
            flex.asarray([1, 2, 3], dtype="int32"),
            flex.asarray([0.1, 0.2, 0.3], dtype="float64"),
            flex.asarray([True, False, True]),
        ]
        for got, expected in zip(flex.fuse(f)(*arguments), f(*arguments), strict=True):
            equal(got, expected)

    @pytest.mark.parametrize("dtype", ["complex64", "complex128", "uint8", "int16", "uint64"])
    def test_further_dtypes(self, dtype):
        x = flex.asarray([1, 2, 3], dtype=dtype)

        def f(x):
            return (x + x) * x - 1, flex.sum(x * x)

        for got, expected in zip(flex.fuse(f)(x), f(x), strict=True):
            equal(got, expected)

    def test_the_same_tensor_twice(self):
        fused = flex.fuse(lambda x, y: x * y - y)
        equal(fused(X, X), X * X - X)
        equal(fused(X, X.T.T[:, ::-1]), X * X[:, ::-1] - X[:, ::-1])

    def test_calls_that_do_not_match_the_signature(self):
        @flex.fuse
        def f(x, y):
            return x + y

        for call in (lambda: f(), lambda: f(X), lambda: f(X, X, X), lambda: f(X, z=X)):
            with pytest.raises(TypeError, match=r"f\(\)"):
                call()

    def test_non_functions(self):
        with pytest.raises(TypeError, match="not a function"):
            flex.fuse(3)


class TestResults:
    """The results of a function."""

    def test_nested(self):
        def f(x, y):
            return {"sum": x + y, "rest": [x * y, (x - y,)], "none": ()}

        got = flex.fuse(f)(X, Y)
        assert list(got) == ["sum", "rest", "none"]
        equal(got["sum"], X + Y)
        assert isinstance(got["rest"], list)
        assert isinstance(got["rest"][1], tuple)
        equal(got["rest"][0], X * Y)
        equal(got["rest"][1][0], X - Y)
        assert got["none"] == ()

    def test_arguments_and_constants(self):
        constant = flex.asarray([1.0, 2.0])

        def f(x):
            y = x * 2
            return x, y, y, constant, x.T

        for got, expected in zip(flex.fuse(f)(X), f(X), strict=True):
            equal(got, expected)

    def test_results_are_values(self):
        def f(x):
            y = x * 2
            return x, y, y, y[0]

        x = X.copy()
        a, b, c, d = flex.fuse(f)(x)
        a[0, 0], b[0, 0] = 7, 8
        assert x[0, 0].item() == 1
        assert (c[0, 0].item(), d[0].item()) == (2, 2)

    def test_one_result_from_several_reductions(self):
        def f(x):
            mean = flex.mean(x, axis=1, keepdims=True)
            spread = flex.sqrt(flex.mean((x - mean) ** 2, axis=1, keepdims=True) + 1e-5)
            return (x - mean) / spread

        x = flex.reshape(flex.linspace(-3, 5, 33 * 1000, dtype="float32"), (33, 1000))
        equal(flex.fuse(f)(x), f(x))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_strict_matches_unfused_operations(dtype):
    x = flex.linspace(-2, 2, 1000, dtype="float32").astype(dtype)

    def f(x, tenth=0.1):
        return flex.exp(x * x) / (x + 2.5) - x * tenth

    equal(flex.fuse(f, strict=True)(x), f(x))
    tenth = flex.asarray(0.1, dtype=dtype).item()  # numbers are rounded before
    wide = f(x.astype("float32"), tenth).astype(dtype)
    equal(flex.fuse(f)(x), wide)
    assert not flex.all(wide == f(x))
