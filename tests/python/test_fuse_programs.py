"""Random functions give the same bits fused as unfused: on any number of threads, with any strides, with results in new, donated or
caller-provided buffers."""

import functools

import numpy as np
import pytest
from arrays import LAYOUTS, laid_out, random_array, to_numpy
from hypothesis import given
from hypothesis import strategies as st
from support import examples
from traced import FLOATS, HALVES, WIDE, function_of, programs

import flex

PLAIN = ("float32", "float64", "int32", "bool")
SHAPES = [(), (1,), (5,), (67,), (3, 4), (17, 1), (2, 3, 5), (0,), (3, 0), (4, 1, 6)]
SHAPES += [(33, 40), (130,), (8, 16, 9), (40, 33)]
LARGE = [(300, 257), (70_001,), (5, 130, 33)]


def bits(t):
    """Shape, dtype and bits; all NaNs count as equal."""
    a = to_numpy(t)
    nan = np.isnan(a.astype(np.float64)) if a.dtype.kind in "fV" else np.zeros(a.shape, bool)
    raw = np.where(nan, 0, np.ascontiguousarray(a).view(f"u{a.itemsize}").reshape(a.shape))
    return a.shape, a.dtype.name, raw.tobytes(), nan.tobytes()


def same(got, expected):
    assert len(got) == len(expected)
    for result, reference in zip(got, expected, strict=True):
        assert bits(result) == bits(reference)


@st.composite
def inputs(draw, dtypes, shapes=SHAPES):
    """Up to four tensors in any layouts, whose shapes broadcast together."""
    whole = draw(st.sampled_from(shapes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, 4))
    code = draw(st.binary(min_size=4 * count, max_size=4 * count))
    tensors = []
    for which, dtype, layout, axis in zip(*[iter(code)] * 4, strict=True):
        shape = (
            *(whole, whole, whole),
            whole[-1:],
            (*whole[:-1], *(1 for _ in whole[-1:])),
            (),
        )[which % 6]
        array = random_array(dtypes[dtype % len(dtypes)], shape, rng, low=-3, high=4)
        tensors.append(laid_out(array, LAYOUTS[layout % len(LAYOUTS)], axis % 4)[0])
    return tensors


class TestPrograms:
    """Random functions and operands."""

    @examples(600)
    @given(programs(), inputs(PLAIN), st.integers(1, 4))
    def test_results_match_unfused_ones(self, program, tensors, results):
        f = function_of(program, PLAIN, results)
        expected = f(*tensors)
        fused = flex.fuse(f)
        same(fused(*tensors), expected)
        same(fused(*tensors), expected)

    @examples(400)
    @given(programs(), inputs((*PLAIN, *HALVES)), st.integers(1, 4))
    def test_strict_rounds_halves_after_each_operation(self, program, tensors, results):
        f = function_of(program, (*PLAIN, *HALVES), results)
        same(flex.fuse(f, strict=True)(*tensors), f(*tensors))

    @examples(100)
    @given(programs(most=25), inputs(PLAIN, LARGE))
    def test_bits_do_not_depend_on_threads(self, program, tensors):
        f = function_of(program, PLAIN, 2)
        fused = flex.fuse(f)
        expected = f(*tensors)
        for threads in (1, 2, 7):
            with flex.threads(threads):
                same(fused(*tensors), expected)

    @examples(120)
    @given(programs(most=20), st.lists(inputs(PLAIN), min_size=2, max_size=4))
    def test_one_function_with_several_shapes_and_dtypes(self, program, calls):
        f = function_of(program, PLAIN, 2)
        fused = flex.fuse(f)
        for tensors in [*calls, *calls]:
            same(fused(*tensors), f(*tensors))

    @examples(120)
    @given(programs(most=20), inputs(PLAIN))
    def test_donated_arguments(self, program, tensors):
        f = function_of(program, PLAIN, 2)
        expected = [t.copy() for t in f(*tensors)]  # arguments among them
        kept = [t.copy() for t in tensors]
        fused = flex.fuse(f, donate=tuple(range(len(tensors))))
        same(fused(*tensors), expected)  # the tensors share memory with views by `laid_out`
        # unfused on copies, since the bits of a sum depend on the layout
        same(fused(*(t.copy() for t in kept)), f(*kept))

    @examples(120)
    @given(programs(most=20), inputs(PLAIN))
    def test_results_in_out_tensors(self, program, tensors):
        f = function_of(program, PLAIN, 2)
        expected = f(*tensors)
        given = tuple(flex.full_like(t, 1) for t in expected)
        got = flex.fuse(f)(*tensors, out=given)
        same(given, expected)
        same(got, expected)


@examples(60)
@given(st.data(), st.sampled_from(FLOATS))
def test_halves_are_rounded_once(data, dtype):
    """Without `strict`, intermediate results are float32."""
    a, b = (
        laid_out(
            random_array(dtype, (67,), np.random.default_rng(data.draw(st.integers(0, 99)))),
            data.draw(st.sampled_from(LAYOUTS)),
        )[0]
        for _ in range(2)
    )

    def f(x, y, some=0.3):
        return flex.tanh((x * y + 1) / (flex.abs(x) + some)) - y

    wide = [flex.astype(x, flex.float32) if dtype in HALVES else x for x in (a, b)]
    result = flex.fuse(f)(a, b)
    assert result.dtype.name == dtype
    some = flex.asarray(0.3, dtype=dtype).item()  # numbers are rounded before
    assert bits(result) == bits(flex.astype(f(*wide, some), result.dtype))


@pytest.mark.parametrize("dtype", WIDE)
def test_sixty_operations_are_one_program(dtype):
    def f(x):
        y = x
        for k in range(60):
            y = y * x + k if k % 2 else flex.sin(y)
        return y

    x = flex.linspace(-1, 1, 10_007, dtype=dtype)
    assert bits(flex.fuse(f)(x)) == bits(f(x))


class TestPolynomials:
    """Chains of multiplications and additions are single instructions."""

    @examples(300)
    @given(
        st.lists(st.tuples(st.integers(0, 7), st.floats(-2, 2, width=16)), min_size=1, max_size=14),
        inputs((*WIDE, *HALVES)),
    )
    def test_horners_rule(self, steps, tensors):
        """Coefficients are numbers; now and then there is a tensor, another factor, or a sum that is used twice."""

        def f(*tensors):
            x, other = tensors[0], tensors[-1]
            result, kept = 1.5, []
            for kind, number in steps:
                factor = other if kind == 6 else x
                product = result * factor if kind % 2 else factor * result
                if kind == 5:
                    kept.append(product)
                addend = other if kind == 4 else number
                result = product + addend if kind % 3 else addend + product
                if kind == 7:
                    kept.append(result)
            return (result, *kept)

        same(flex.fuse(f, strict=True)(*tensors), f(*tensors))
        if all(t.dtype.name in WIDE for t in tensors):
            same(flex.fuse(f)(*tensors), f(*tensors))
        with flex.stream():
            got = f(*tensors)
        same(got, f(*tensors))

    def test_coefficients_in_a_stream(self):
        x = flex.linspace(-2, 2, 1000)
        for seed in range(5):
            numbers = np.random.default_rng(seed).normal(size=7).tolist()

            def f(x, numbers=numbers):
                y = x * numbers[0]
                for n in numbers[1:]:
                    y = y * x + n
                return y

            with flex.stream() as s:
                got = f(x)
            assert bits(got) == bits(f(x))
            assert s.stats()["kernels"] == 1


def erf(x):
    """Abramowitz and Stegun 7.1.26."""
    size = flex.abs(x)
    t = 1 / (1 + 0.3275911 * size)
    y = (
        (((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592
    ) * t
    return flex.sign(x) * (-(y * flex.exp(-(size * size))) + 1)


def erf_respelled(x):
    size = flex.abs(-x)
    t = flex.reciprocal(size * 0.3275911 + 1)
    y = t * (
        0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (t * 1.061405429 + -1.453152027)))
    )
    return -flex.sign(x) * (flex.exp(size * -size) * y - 1)


class TestSpellings:
    """Spellings of one computation are one computation."""

    @pytest.mark.parametrize("dtype", WIDE)
    def test_an_error_function_of_x_and_minus_x(self, dtype):
        def gelus(erf, x):
            scaled = x * 0.7071067811865476
            return 0.5 * x * (1 + erf(scaled)), 0.5 * -x * (1 + erf(-scaled))

        x = flex.linspace(-5, 5, 1003, dtype=dtype)
        text = flex.explain(lambda x: gelus(erf, x), x)
        assert text.count("exp") == text.count("reciprocal") == 1
        same(flex.fuse(lambda x: gelus(erf, x))(x), gelus(erf, x))
        with flex.stream():
            queued = gelus(erf, x)
        same(queued, gelus(erf, x))

    @pytest.mark.parametrize("dtype", WIDE)
    def test_one_plan(self, dtype):
        x = flex.linspace(-5, 5, 1003, dtype=dtype)
        plans = [flex.explain(f, x) for f in (erf, erf_respelled)]
        assert plans[0].count("multiply") == plans[1].count("multiply") == 8
        for f in (erf, erf_respelled):
            same([flex.fuse(f)(x)], [f(x)])

    @examples(100)
    @given(st.data(), st.sampled_from([*WIDE, "int32"]), st.sampled_from([0.5, -2.0, 3, -1, 1]))
    def test_signs_of_any_operands(self, data, dtype, number):
        """Layouts, on which the bits of sums depend, are those of unfused operations."""
        tensors = data.draw(inputs((dtype,)))

        def f(*tensors):
            x, y = tensors[0], -tensors[-1]
            product = -x * y
            total = -x - y
            return (
                *(product, total, flex.sum(product, axis=-1 if x.ndim else None), x * 1),
                *(flex.where(x > 0, y, -x), -x < y, flex.abs(-x), flex.negative(-y), number - -x),
            )

        same(flex.fuse(f)(*tensors), f(*tensors))


def several(x, y):
    """Reductions over the same axes that read the same operands."""
    z = x * y + 1
    return (
        flex.sum(x, axis=-1),
        flex.mean(z, axis=-1),
        flex.max(x, axis=-1),
        flex.min(flex.abs(x - y), axis=-1),
        flex.sum(z * z, axis=-1),
        flex.prod(y, axis=-1),
    )


@functools.lru_cache(maxsize=1)  # the dtypes of a shape follow each other
def normals(shape):
    generator = np.random.default_rng(8)
    return [flex.asarray(generator.normal(size=shape).astype(np.float32) * 3) for _ in range(2)]


class TestReductionsTogether:
    """Reductions that read the same large operands are one pass over memory."""

    @pytest.mark.parametrize(
        "dtype", [flex.float32, flex.float64, flex.bfloat16, flex.int32, flex.complex64]
    )
    @pytest.mark.parametrize("shape", [(7,), (64, 1000), (3, 1 << 21), (1 << 21, 5), (300, 1)])
    def test_bits(self, shape, dtype):
        x, y = (operand.astype(dtype) for operand in normals(shape))

        def f(x, y):
            if dtype is not flex.complex64:
                return several(x, y)
            return flex.sum(x, axis=0), flex.sum(x * y, axis=0), flex.mean(y - x, axis=0)

        same(flex.fuse(f, strict=True)(x, y), f(x, y))

    @pytest.mark.parametrize("axis", [None, 0, 1, (0, 2)])
    @pytest.mark.parametrize("keepdims", [False, True])
    def test_layouts(self, axis, keepdims):
        x = flex.reshape(flex.linspace(-3, 3, 6_000_000), (200, 300, 100))
        row = flex.linspace(0, 1, 100)

        def f(x, row):
            over = {"axis": axis, "keepdims": keepdims}
            m = flex.mean(x, **over)
            return m, flex.sum(x * row, **over), flex.max(row - x, **over), flex.any(x > 2, **over)

        for view in (x, flex.permute_dims(x, (1, 0, 2)), flex.flip(x), x[::2, ::-3]):
            same(flex.fuse(f)(view, row), f(view, row))

    def test_one_pass(self):
        def f(x):
            return flex.mean(x), flex.mean(x * x), flex.max(x)

        assert flex.explain(f, flex.ones(9)).count("; with it reduce") == 2
        for n, kernels in [(1 << 10, 3), (1 << 23, 1)]:
            with flex.stream() as s:
                values = f(flex.ones(n))
            assert s.stats()["kernels"] == kernels
            assert [v.item() for v in values] == [1, 1, 1]

    def test_a_normalisation_by_moments(self):
        def f(x):
            m, s = flex.mean(x, axis=-1, keepdims=True), flex.mean(x * x, axis=-1, keepdims=True)
            return (x - m) / flex.sqrt(s - m * m + 1e-5)

        x = flex.reshape(flex.linspace(-3, 3, 512 * 700), (512, 700))
        assert "by blocks" in flex.explain(f, x)
        assert bits(flex.fuse(f)(x)) == bits(f(x))

    def test_reductions_of_different_operands_stay_apart(self):
        text = flex.explain(lambda x, y: (flex.mean(x), flex.max(y)), flex.ones(9), flex.ones(9))
        assert "with it" not in text


def test_conversion_to_the_same_dtype_has_the_layout_of_a_copy():
    rng = np.random.default_rng(0)
    x = flex.asarray(rng.standard_normal((5, 3, 2, 12)), dtype=flex.float32)[..., ::-2]
    for f in (lambda x: x.astype(flex.float32), lambda x: flex.sum(x.astype(flex.float32), -1)):
        fused, eager = flex.fuse(f)(x), f(x)
        assert fused.strides == eager.strides
        assert fused.tolist() == eager.tolist()
