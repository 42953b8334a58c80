"""No argument, however odd, reaches a panic: given unexpected arguments, every public function computes or raises one of the exceptions
that Python programs expect of wrong arguments."""

import inspect
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import examples

import flex

ACCEPTED = (
    TypeError,
    ValueError,
    IndexError,
    OverflowError,
    MemoryError,
    OSError,
    BufferError,
    ZeroDivisionError,
)
SKIPPED = {
    *("set_num_threads", "set_weight_packing", "threads", "Tensor", "empty_cache", "_rebuild"),
    *("load", "load_gguf", "save"),  # files: test_hostile_files.py
}
NAMESPACES = (flex, flex.nn, flex.nn.grad, flex.quant, flex.fft, flex.signal, flex.linalg)


def targets():
    for namespace in NAMESPACES:
        for name in namespace.__all__:
            value = getattr(namespace, name)
            if callable(value) and not inspect.isclass(value) and name not in SKIPPED:
                yield pytest.param(value, id=f"{namespace.__name__}.{name}")


SHAPES = [(), (0,), (1,), (3,), (2, 3), (3, 2), (2, 0, 3), (1, 1, 1, 1), (2, 2, 2)]
DTYPES = ["bool", "int8", "int64", "uint64", "bfloat16", "float32", "float64", "complex64"]
ODD = [
    [
        None,
        True,
        0,
        1,
        -1,
        2,
        -3,
        2**62,
        -(2**63),
        2**63,
        2**64,
        2**130,
        0.5,
        -0.0,
        math.inf,
        -math.inf,
        math.nan,
    ],
    [
        1e308,
        1j,
        complex(math.nan, math.inf),
        "",
        "float32",
        "set",
        b"x",
        (),
        (0,),
        (1, 2),
        (-1,),
        (2**62, 2),
        [],
        [1],
        [[1], [2, 3]],
        {},
    ],
    [
        np.float16(1),
        np.int8(-1),
        np.zeros(2),
        np.array(["a"]),
        np.zeros(2, object),
        slice(None),
        ...,
        object(),
        int,
        flex.int8,
    ],
]


def tensor(rng):
    """A new tensor of few elements, from 0 to 2."""
    shape = rng.choice(SHAPES)
    numbers = np.array([rng.randrange(3) for _ in range(math.prod(shape))]).reshape(shape)
    return flex.astype(flex.asarray(numbers), rng.choice(DTYPES))


def odd(rng):
    """A tensor as often as not, or one of `ODD`."""
    kind = rng.randrange(5)
    return rng.choice(ODD[kind]) if kind < 3 else tensor(rng)


def seeds(count):
    """Gives a test `count` generators of random numbers, whose seeds hypothesis draws: arguments would take it longer than the calls."""

    def decorate(test):
        return examples(count)(given(rng=st.randoms(use_true_random=True))(test))

    return decorate


CALLS = 10  # for each seed


def call(function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except ACCEPTED:
        pass
    except BaseException as error:  # a panic is no Exception
        error.add_note(f"arguments: {arguments}, {keywords}")
        raise


NAMES = [
    "axis",
    "dtype",
    "keepdims",
    "k",
    "n",
    "copy",
    "shape",
    "min",
    "max",
    "step",
    "mode",
    "value",
    "correction",
    "eps",
    "axes",
    "side",
    "sorter",
]


@pytest.mark.parametrize("function", list(targets()))
@seeds(10)
def test_odd_arguments(function, rng):
    known = [n for n in inspect.signature(function).parameters if n in NAMES]
    for _ in range(CALLS):
        positional = [odd(rng) for _ in range(rng.randint(0, 4))]
        named = rng.sample(known, rng.randint(0, min(len(known), 2)))
        call(function, *positional, **{n: odd(rng) for n in named})


MEMBERS = [
    n for n in dir(flex.Tensor) if not n.startswith("_") and callable(getattr(flex.Tensor, n))
]


@pytest.mark.parametrize("name", MEMBERS)
@seeds(10)
def test_odd_arguments_of_methods(name, rng):
    for _ in range(CALLS):
        call(getattr(tensor(rng), name), *[odd(rng) for _ in range(rng.randint(0, 3))])


@seeds(50)
def test_odd_subscripts(rng):
    for _ in range(CALLS):
        x, value, items = tensor(rng), odd(rng), [odd(rng) for _ in range(rng.randint(0, 3))]
        for index in (tuple(items), items[0] if items else ()):
            call(x.__getitem__, index)
            call(x.__setitem__, index, value)


OPERATORS = [
    "__add__",
    "__rsub__",
    "__imul__",
    "__truediv__",
    "__floordiv__",
    "__mod__",
    "__pow__",
    "__rpow__",
    "__matmul__",
    "__and__",
    "__lshift__",
    "__lt__",
]


@seeds(50)
def test_odd_operands(rng):
    for _ in range(CALLS):
        call(getattr(tensor(rng), rng.choice(OPERATORS)), odd(rng))


def test_messages_name_the_operation():
    x = flex.ones((2, 3))
    cases = {
        "add": lambda: flex.add(x, flex.ones(2)),
        "matmul": lambda: x @ x,
        "sum": lambda: flex.sum(x, axis=9),
        "concat": lambda: flex.concat([x, flex.ones(2)]),
        "reshape": lambda: flex.reshape(x, (4, 2)),
        "softmax": lambda: flex.nn.softmax(x, axis=5),
        "take": lambda: flex.take(x, flex.asarray([7]), axis=0),
        "bitwise_and": lambda: x & x,
    }
    for name, call in cases.items():
        with pytest.raises((ValueError, TypeError, IndexError), match=f"^{name}: "):
            call()


def test_failed_in_place_operations_leave_the_target():
    x = flex.asarray([1, 2, 3])
    for bad in (0.5, flex.ones(4), "a"):
        with pytest.raises((TypeError, ValueError)):
            x += bad
        assert x.tolist() == [1, 2, 3]
