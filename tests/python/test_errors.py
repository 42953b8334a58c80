"""No argument, however odd, reaches a panic: given unexpected arguments, every public function computes or raises one of the exceptions
that Python programs expect of wrong arguments."""

import inspect
import math
from contextlib import suppress

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


def tensors():
    rng = np.random.default_rng(0)
    shapes = st.sampled_from(
        [(), (0,), (1,), (3,), (2, 3), (3, 2), (2, 0, 3), (1, 1, 1, 1), (2, 2, 2)]
    )
    dtypes = st.sampled_from(
        ["bool", "int8", "int64", "uint64", "bfloat16", "float32", "float64", "complex64"]
    )
    return st.builds(
        lambda s, d: flex.astype(flex.asarray(rng.integers(0, 3, s)), d), shapes, dtypes
    )


ODD = st.one_of(
    tensors(),
    tensors(),
    st.sampled_from(
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
        ]
    ),
    st.sampled_from(
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
        ]
    ),
    st.sampled_from(
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
        ]
    ),
)
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
@examples(60)
@given(st.data())
def test_odd_arguments(function, data):
    count = data.draw(st.integers(0, 4))
    positional = [data.draw(ODD) for _ in range(count)]
    known = [n for n in inspect.signature(function).parameters if n in NAMES]
    keywords = {
        n: data.draw(ODD)
        for n in data.draw(st.sets(st.sampled_from(known), max_size=2) if known else st.just(set()))
    }
    with suppress(*ACCEPTED):
        function(*positional, **keywords)


MEMBERS = [
    n for n in dir(flex.Tensor) if not n.startswith("_") and callable(getattr(flex.Tensor, n))
]


@pytest.mark.parametrize("name", MEMBERS)
@examples(40)
@given(st.data())
def test_odd_arguments_of_methods(name, data):
    x = data.draw(tensors())
    with suppress(*ACCEPTED):
        getattr(x, name)(*[data.draw(ODD) for _ in range(data.draw(st.integers(0, 3)))])


@examples(300)
@given(tensors(), st.lists(ODD, max_size=3), ODD)
def test_odd_subscripts(x, items, value):
    for index in (tuple(items), items[0] if items else ()):
        with suppress(*ACCEPTED):
            x[index]
        with suppress(*ACCEPTED):
            x[index] = value


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


@examples(300)
@given(tensors(), st.sampled_from(OPERATORS), ODD)
def test_odd_operands(x, operator, other):
    with suppress(*ACCEPTED):
        getattr(x, operator)(other)


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
