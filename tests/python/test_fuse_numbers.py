"""Float arguments of fused functions, which may differ from call to call without another trace."""

import copy
import math
from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pytest

import flex

X = flex.asarray([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])


class Counted:
    """A fused function that counts how often it was traced."""

    def __init__(self, f, **options):
        self.calls = 0

        def counted(*args, **kwargs):
            self.calls += 1
            return f(*args, **kwargs)

        self.f, self.fused = f, flex.fuse(counted, **options)

    def __call__(self, *args, **kwargs):
        got, expected = self.fused(*args, **kwargs), self.f(*args, **kwargs)
        np.testing.assert_array_equal(got.numpy(), expected.numpy())
        assert got.dtype == expected.dtype
        return got


VALUES = [0.5, -3.0, 0.0, -0.0, 1e300, math.inf, math.nan, 0.1]


class TestOneTrace:
    """A function that does not look at a value is traced once."""

    @pytest.mark.parametrize("dtype", [flex.float32, flex.float64, flex.int32, flex.bool])
    def test_an_operand(self, dtype):
        f = Counted(lambda x, a: (x + a) * 2 - a / (x + 7.5))
        x = X.astype(dtype)
        for a in [0.5, -3.0, 0.0, -0.0, 0.1]:
            f(x, a)
        assert f.calls == 1

    def test_a_left_operand(self):
        f = Counted(lambda x, a: a - flex.exp(a * x) + flex.where(x > a, a, x))
        for a in VALUES:
            f(X, a)
        assert f.calls == 1

    @pytest.mark.parametrize("strict", [False, True])
    def test_half_precision(self, strict):
        f = flex.fuse(lambda x, a, b: x * a + b, strict=strict)
        x = X.astype(flex.bfloat16)
        for a, b in [(0.5, 1.0), (0.1, 3.3), (-2.0, 0.0)]:
            rounded = [flex.asarray(c, dtype="bfloat16").astype(flex.float32) for c in (a, b)]
            wide = (x.astype(flex.float32) * rounded[0] + rounded[1]).astype(flex.bfloat16)
            expected = x * a + b if strict else wide
            assert f(x, a, b).tolist() == expected.tolist()

    def test_a_polynomial(self):
        def horner(x, *coefficients):
            y = coefficients[0]
            for c in coefficients[1:]:
                y = y * x + c
            return y

        f = Counted(horner)
        generator = np.random.default_rng(3)
        for _ in range(5):
            f(X, *generator.normal(size=6).tolist())
        assert f.calls == 1

    def test_arithmetic_is_redone(self):
        def step(x, rate, decay, t):
            correction = 1 - decay**t
            return x - rate / correction * x + (-decay + abs(rate)) * 2

        f = Counted(step)
        for t in range(1, 6):
            f(X, 0.1 / t, 0.9, float(t))
        assert f.calls == 1

    def test_an_operation_in_place(self):
        def step(x, a):
            x = x + 0
            x *= a
            x += 1 / a
            return x

        f = Counted(step)
        for a in VALUES[:2]:
            f(X, a)
        assert f.calls == 1

    def test_nested_arguments(self):
        f = Counted(lambda x, options: x * options["scale"] + options["terms"][1])
        for a in (1.5, 2.5):
            f(X, {"scale": a, "terms": (1, a + 1)})
        assert f.calls == 1

    def test_a_function_in_a_function(self):
        inner = flex.fuse(lambda x, a: x * a)
        f = Counted(lambda x, a: inner(x, a + 1) - a)
        for a in VALUES[:3]:
            f(X, a)
        assert f.calls == 1

    def test_results(self):
        f = flex.fuse(lambda x, a: (x, a, {"next": a / 2}))
        for a in (4.0, 5.0):
            _, same, rest = f(X, a)
            assert (same, rest["next"]) == (a, a / 2)
            assert type(same) is type(rest["next"]) is float

    def test_with_reductions_and_functions(self):
        f = Counted(lambda x, a: flex.sum(x * a) * a)
        g = Counted(lambda x, a: flex.nn.softmax(x * a, -1) + flex.mean(x - a, axis=0))
        for a in (0.5, 2.0):
            f(X, a)
            g(X, a)
        assert f.calls == g.calls == 1


class TestLookedAt:
    """A value that is looked at becomes part of the trace."""

    @pytest.mark.parametrize(
        "f",
        [
            lambda x, a: x if a > 1 else -x,
            lambda x, a: x * math.sqrt(a),
            lambda x, a: x * int(a),
            lambda x, a: x * round(a, 1),
            lambda x, a: x + (1 if a else 2),
            lambda x, a: x + len(f"{a:.3f}"),
            lambda x, a: x * {0.5: 3.0}.get(a, 4.0),
            lambda x, a: x * max(a, 1.0),
            lambda x, a: x**a,
            lambda x, a: x + flex.full((3,), a),
            lambda x, a: x + flex.asarray([a, 1.0, 2.0]),
            lambda x, a: x * np.float64(2) * a,
            lambda x, a: x + flex.asarray(np.ones(3, dtype="f") * a),
            lambda x, a: x + float(np.sqrt(a)),
            lambda x, a: flex.nn.leaky_relu(x, a),
            lambda x, a: flex.clip(x, a, 3.0),
            lambda x, a: x + a.real + a.is_integer(),
            lambda x, a: x * (divmod(a, 2)[1] + 7.0 // a),
            lambda x, a: flex.sum(x) * (a * 1j).imag,
            lambda x, a: x * copy.deepcopy(copy.copy(a)),
            lambda x, a: x + flex.asarray(np.full(3, a, "f")),
            lambda x, a: x + flex.asarray(np.asarray(a)),
        ],
    )
    def test_each_value_is_traced(self, f):
        x = flex.abs(X) + 1
        counted = Counted(f)
        for a in (0.5, 2.0, 3.0, 0.5, 2.0):
            counted(x, a)
        assert counted.calls <= 3

    def test_numbers_are_instances_of_float(self):
        def f(x, a):
            assert isinstance(a, float)
            return x * a

        assert flex.fuse(f)(X, 2.0).tolist() == (X * 2).tolist()

    def test_others_still_vary(self):
        f = Counted(lambda x, a, b: x * b if a > 1 else x - b)
        for a in (0.5, 2.0):
            for b in VALUES:
                f(X, a, b)
        assert f.calls == 2

    def test_integers_and_bools_are_static(self):
        f = Counted(lambda x, n, b: flex.sum(x, axis=n) * (2 if b else 3))
        for n in (0, 1):
            for b in (True, False):
                f(X, n, b)
        assert f.calls == 4

    def test_keys_of_a_dict(self):
        f = Counted(lambda x, d: x * d[2.0] if 2.0 in d else x)
        for d in ({2.0: 3.0}, {4.0: 3.0}, {2.0: 5.0}):
            f(X, d)
        assert f.calls == 2


class TestErrors:
    """Arithmetic that fails at a later call."""

    def test_division_by_zero(self):
        f = flex.fuse(lambda x, a: x * (1 / a))
        assert f(X, 2.0).tolist() == (X * 0.5).tolist()
        with pytest.raises(ZeroDivisionError):
            f(X, 0.0)
        assert f(X, 4.0).tolist() == (X * 0.25).tolist()

    def test_a_number_that_becomes_complex(self):
        f = Counted(lambda x, a: x * (a**0.5))
        for a in (4.0, -4.0, 9.0, -1.0):
            f(X, a)

    def test_an_error_that_the_function_expects(self):
        def f(x, a):
            try:
                return x * (1 / a)
            except ZeroDivisionError:
                return x * 0

        for values in ([0.0, 2.0, 0.0, 3.0], [2.0, 0.0, 3.0]):
            counted = Counted(f)
            for a in values:
                counted(X, a)


class TestOtherTraces:
    """A number belongs to one trace."""

    def test_in_a_closure(self):
        c = flex.asarray([1.0, 2.0])

        def outer(x, a):
            inner = flex.fuse(lambda y, b: y * a + b)
            return x + inner(c, 10.0)

        f = Counted(outer)
        for a in (2.0, 5.0):
            f(flex.zeros(2), a)

    def test_in_a_reduction(self):
        c = flex.linspace(0, 1, 1000)

        def f(x, a):
            return x + flex.reduce(lambda s, y: s + y * a, 0.0, c, join=flex.add)

        counted = Counted(f)
        for a in (2.0, 5.0):
            counted(X, a)

    def test_kept_and_used_later(self):
        kept = []

        def f(x, a):
            kept.append(a)
            return x * kept[0] + a

        fused = flex.fuse(f)
        assert fused(X, 2.0).tolist() == (X * 2 + 2).tolist()
        x = X.astype(flex.float64)
        assert fused(x, 5.0).tolist() == (x * 2 + 5).tolist()
        assert flex.add(X, kept[0]).tolist() == (X + 2).tolist()


class TestResults:
    """Results other than tensors."""

    def test_objects_that_hold_numbers(self):
        f = flex.fuse(lambda x, a: (x + 1, SimpleNamespace(s=a * 2)))
        assert [float(f(X, a)[1].s) for a in (2.0, 3.0)] == [4, 6]

    def test_named_tuples(self):
        pair = namedtuple("pair", "tensor number")
        f = flex.fuse(lambda x, a: pair(x * a, a + 1))
        for a in (2.0, 3.0):
            got = f(X, a)
            assert type(got) is pair
            assert got.tensor.tolist() == (X * a).tolist()
            assert got.number == a + 1

    def test_keys(self):
        f = flex.fuse(lambda x, a: {a: x})
        for a in (2.0, 3.0):
            assert [type(k) for k in f(X, a)] == [float]
            assert list(f(X, a)) == [a]
