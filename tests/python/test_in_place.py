"""Operations in place keep their target's strides, which decide how sums round: in streams and fused functions as one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import examples
from test_fuse_programs import PLAIN, bits, inputs
from traced import Run, programs

import flex
from flex import nn

RNG = np.random.default_rng(7)
A, B = (flex.asarray(RNG.random(s, np.float32)).copy() for s in ((100, 70), (70, 100)))
SQUARE = flex.asarray(RNG.random((100, 100), np.float32)).copy()


def all_of(*tensors):
    """What layouts decide: strides, and bits of sums."""
    return [(t.strides, *(bits(flex.sum(t, axis=axis)) for axis in (0, 1, None))) for t in tensors]


def turned(x):
    """A copy whose columns are contiguous."""
    return flex.permute_dims(flex.permute_dims(x, (1, 0)).copy(), (1, 0))


def of_a_result(a, b):
    x = a.T * 1
    x += b
    return x


def of_a_view(a, b):
    x = (a * 2).T
    x -= b
    return x


def of_a_view_whose_base_is_there(a, b):
    y = a * 2
    x = y.T
    x += b
    return x, y


def of_a_base_whose_view_is_there(a, b):
    y = a.T * 2
    row = y[3]
    y *= b
    return y, flex.expand_dims(row, axis=0)


def of_a_view_whose_base_is_gone(a, b):
    y = a * 2
    x = y.T
    del y
    x += b
    return x


def with_gaps(a, b):
    x = (a * 2).T[:, ::2]
    x += b[:, 50:]
    return x


def reversed_rows(a, b):
    x = (a * 2).T[::-1]
    x += b
    return x


def of_an_argument(a, b):
    b = b * 1
    a += b.T
    return a


def of_an_argument_by_another(a, b):
    b += a.T
    return b


def with_itself(a, b):
    x = a.T * 1
    x += x
    return x + b


def with_numbers_and_rows(a, b):
    x = a.T * 1
    x *= 2
    x += b[0]
    x -= b[:, :1]
    return x


def with_another_dtype(a, b):
    x = a.T * 1
    x += b.astype("float64")
    x /= b.astype("float16")
    return x


def of_a_row_major_target(a, b):
    x = a * 1
    x += b.T
    x -= flex.max(x, axis=1)[:, None]
    return x


def several(a, b):
    x = a.T * 1
    y = x + b
    x += b
    y *= x
    x -= y
    return x, y


def of_a_product(a, b):
    x = (a @ b).T
    x += a @ b
    return x


def of_a_layer(a, b):
    x = nn.linear(a, b.T).T
    x *= nn.linear(a, b.T)
    return x


FUNCTIONS = [
    of_a_result,
    of_a_view,
    of_a_view_whose_base_is_there,
    of_a_base_whose_view_is_there,
    of_a_view_whose_base_is_gone,
    with_gaps,
    reversed_rows,
    of_an_argument,
    of_an_argument_by_another,
    with_itself,
    with_numbers_and_rows,
    with_another_dtype,
    of_a_row_major_target,
    several,
    of_a_product,
    of_a_layer,
]
ARGUMENTS = {
    "row-major": lambda: (A.copy(), B.copy()),
    "by columns": lambda: (turned(A), turned(B)),
    "mixed": lambda: (A.copy(), turned(B)),
    "views": lambda: (lambda b: (b.T, b))(B.copy()),
    "slices": lambda: (SQUARE.copy()[:, :70], SQUARE.copy()[30:]),
}


@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS.keys())
@pytest.mark.parametrize("f", FUNCTIONS)
def test_strides_and_sums_are_those_of_the_function(f, arguments):
    def run(f):
        results = f(*arguments())
        return all_of(*(results if isinstance(results, tuple) else (results,)))

    expected = run(f)
    with flex.stream():
        got = run(f)
    assert got == expected
    fused = flex.fuse(f)
    assert run(fused) == expected
    assert run(fused) == expected


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "float16", "float32", "complex64"])
def test_of_a_conversion_to_the_own_dtype(dtype):
    """It is a copy with the layout of its operand, and so is the sum."""
    columns = turned(flex.reshape(flex.arange(20), (4, 5)).astype(dtype))

    def f(x):
        y = x.astype(x.dtype)
        y += flex.ones(x.shape, dtype=dtype)
        return y

    expected = f(columns)
    assert expected.strides == columns.strides
    with flex.stream():
        got = f(columns)
    assert (got.strides, bits(got)) == (expected.strides, bits(expected))
    fused = flex.fuse(f)(columns)
    assert (fused.strides, bits(fused)) == (expected.strides, bits(expected))


def test_a_fused_function_of_memory_that_others_see_or_not():
    fused = flex.fuse(of_an_argument)
    for _ in range(2):
        for arguments in ARGUMENTS.values():
            a, b = arguments()
            assert all_of(fused(a, b)) == all_of(of_an_argument(*arguments()))


def test_what_is_row_major_waits():
    """With views and reductions in between."""
    x = flex.ones((64, 64))
    with flex.stream() as s:
        y = x * 2
        y -= flex.max(y, axis=1)[:, None]
        z = flex.reshape(y[8:], (-1, 64))
        z *= flex.reshape(x[8:], (-1, 64))
        z += z @ x
        assert s.stats()["kernels"] == 0
    assert bits(z) == bits(flex.zeros((56, 64)))


@examples(400)
@given(programs(most=30), inputs(PLAIN), st.binary(min_size=30, max_size=30))
def test_random_functions(program, tensors, where):
    """After some steps, what there is becomes the target of an operation in place."""

    def f(*tensors):
        run = Run(tensors, PLAIN)
        for step, k in zip(program, where, strict=False):
            run.values.append(run.step(*step))
            target = run.values[-1 - k % len(run.values)]
            alike = [x for x in run.values if (x.shape, x.dtype) == (target.shape, target.dtype)]
            if k % 3 and target.dtype != flex.bool:
                target += alike[k % len(alike)]
        return tuple(flex.sum(x, axis=(), keepdims=True) for x in run.values), tuple(
            flex.sum(x, axis=0) for x in run.values if x.ndim and x.dtype != flex.bool
        )

    def run(f):
        return [bits(x) for part in f(*(x.astype(x.dtype) for x in tensors)) for x in part]

    expected = run(f)
    with flex.stream():
        got = run(f)
    assert got == expected
    assert run(flex.fuse(f)) == expected


def write_row(x):
    x[0] = 1.5


def write_all(x):
    x += turned(x)


@pytest.mark.parametrize("write", [write_row, write_all])
def test_writes_to_operands_of_queued_operations(write):
    """A copy of the operand would be row-major, and take longer than the queue does."""

    def run():
        x = turned(SQUARE)
        y = x * 2
        write(x)
        return flex.sum(x, axis=1), x.strides, bits(y)

    expected = run()
    with flex.stream():
        got = run()
    assert got[1:] == expected[1:]
    assert bits(got[0]) == bits(expected[0])


def test_writes_to_operands_of_an_outer_stream():
    def run(inner):
        x = turned(SQUARE)
        with flex.stream():
            y = x * 2
            with inner():
                x[0] = 1.5
            return flex.sum(x, axis=1).tolist(), x.strides, bits(y)

    assert run(flex.stream) == run(flex.Stream)
    assert run(flex.stream)[1] == (4, 400)
