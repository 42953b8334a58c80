"""The default dtype of floats and the options of printing: globally, in blocks, in threads."""

import threading

import numpy as np
import pytest

import flex

FLOATS = ["float32", "float64", "float16", "bfloat16"]


# What gets the default dtype, and what does not.
FLOATING = [
    lambda: flex.asarray(1.5),
    lambda: flex.asarray([1, 2.5]),
    lambda: flex.asarray([]),
    lambda: flex.zeros(2),
    lambda: flex.ones((2, 3)),
    lambda: flex.empty(2),
    lambda: flex.eye(2),
    lambda: flex.full(2, 1.5),
    lambda: flex.arange(0.0, 1, 0.25),
    lambda: flex.linspace(0, 1, 3),
    lambda: flex.linspace(0.5, 1, 3),
    lambda: flex.random.default_rng(1).random(3),
    lambda: flex.random.rand(3),
    lambda: flex.exp(1.5),
    lambda: flex.add(1.5, 2),
]
WINDOWS = [lambda: flex.signal.hann(4), lambda: flex.fft.fftfreq(4)]
OTHERS = [
    (lambda: flex.asarray([1, 2]), "int64"),
    (lambda: flex.asarray(True), "bool"),
    (lambda: flex.full(2, 1), "int64"),
    (lambda: flex.arange(3), "int64"),
    (lambda: flex.zeros(2, dtype="int8"), "int8"),
    (lambda: flex.asarray(np.ones(2, np.float32)), "float32"),
    (lambda: flex.asarray(np.float32(1)), "float32"),
    (lambda: flex.ones_like(flex.zeros(2, dtype="float32")), "float32"),
    (lambda: flex.zeros(2, dtype="float32") * 2.5, "float32"),
    (lambda: flex.asarray([1, 2]) / 2, "float32"),
    (lambda: flex.exp(flex.asarray([1])), "float32"),
]


@pytest.mark.parametrize("dtype", FLOATS)
def test_default_dtype(dtype):
    calls = FLOATING + (WINDOWS if dtype in ("float32", "float64") else [])
    wide = flex.complex128 if dtype == "float64" else flex.complex64
    info = flex.__array_namespace_info__().default_dtypes
    for block in (True, False):
        if block:
            entered = flex.default_dtype(dtype)
            entered.__enter__()
        else:
            flex.set_default_dtype(dtype)
        assert flex.get_default_dtype() == dtype
        assert [f().dtype for f in calls] == [dtype] * len(calls)
        assert (
            flex.asarray(1j).dtype
            == flex.full(2, 1j).dtype
            == flex.linspace(0, 1j, 3).dtype
            == wide
        )
        assert [f().dtype for f, _ in OTHERS] == [d for _, d in OTHERS]
        assert (info()["real floating"], info()["complex floating"]) == (dtype, wide)
        assert flex.result_type(1.5) == dtype
        if block:
            entered.__exit__(None, None, None)
            assert flex.get_default_dtype() == flex.float32


def test_digits_of_numbers_are_kept():
    with flex.default_dtype(flex.float64):
        assert flex.asarray(0.1).item() == 0.1
        assert flex.asarray([0.1, 1]).tolist() == [0.1, 1.0]
        assert flex.full(1, 0.1).tolist() == [0.1]
        assert flex.arange(0, 1, 0.1)[1].item() == 0.1


def test_blocks_nest():
    outer, inner = flex.default_dtype("float64"), flex.default_dtype("bfloat16")
    with outer:
        with inner, outer:
            assert flex.get_default_dtype() == flex.float64
        with inner:
            assert flex.zeros(1).dtype == flex.bfloat16
        with pytest.raises(KeyError), inner:
            raise KeyError
        assert flex.zeros(1).dtype == flex.float64
    assert flex.zeros(1).dtype == flex.float32
    assert repr(inner) == "flex.default_dtype(bfloat16)"
    with pytest.raises(RuntimeError, match="default_dtype: left a block that was not entered"):
        inner.__exit__(None, None, None)


def test_blocks_are_of_a_thread():
    found = []

    def run():
        found.append(flex.zeros(1).dtype)
        with flex.default_dtype("float16"):
            found.append(flex.zeros(1).dtype)

    flex.set_default_dtype("bfloat16")
    with flex.default_dtype("float64"):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        assert flex.zeros(1).dtype == flex.float64
    assert found == [flex.bfloat16, flex.float16]


@pytest.mark.parametrize("f", [flex.set_default_dtype, flex.default_dtype])
def test_defaults_are_floats(f):
    for dtype in ("int32", "bool", "complex64", "float8_e4m3fn"):
        with pytest.raises(flex.DTypeError, match=f"{f.__name__}: {dtype}: the default is float32"):
            f(dtype)
    assert flex.get_default_dtype() == flex.float32


# ---- printing


def numpys(x, **options):
    with np.printoptions(**{"linewidth": 75, **options}):
        return np.array2string(np.asarray(x), separator=", ")


@pytest.mark.parametrize(
    "options",
    [
        {"precision": 3},
        {"precision": 0},
        {"threshold": 5, "edgeitems": 2},
        {"threshold": 0, "edgeitems": 1},
        {"linewidth": 30},
        {"suppress": True, "linewidth": 200},
        {"precision": 2, "suppress": True, "linewidth": 40},
    ],
)
def test_print_options(options):
    a = np.array([1.0, -2.5, 1 / 3, 100.125, 0.007, 12.0, 3.14159, 2.0])
    for x in (a, a.reshape(2, 4), np.arange(12).reshape(3, 4), a * 1e5):
        t = flex.asarray(x)
        plain = str(t)
        with flex.printoptions(**options) as now:
            assert options.items() <= now.items()
            assert str(t) == numpys(x, **options)
            assert repr(t).startswith("Tensor([")
        assert str(t) == plain
        flex.set_printoptions(**options)
        assert str(t) == numpys(x, **options)
        flex.set_printoptions(8, 1000, 3, 75, False)


def test_options_that_stay():
    flex.set_printoptions(precision=2)
    flex.set_printoptions(edgeitems=1)
    options = flex.get_printoptions()
    assert options == {
        "precision": 2,
        "threshold": 1000,
        "edgeitems": 1,
        "linewidth": 75,
        "suppress": False,
    }
    with pytest.raises(KeyError), flex.printoptions(precision=5):
        raise KeyError
    assert flex.get_printoptions() == options
    for bad in ({"precision": -1}, {"precision": 1 << 17}, {"threshold": -1}, {"linewidth": -5}):
        with pytest.raises(ValueError, match=f"set_printoptions: {next(iter(bad))} is "):
            flex.set_printoptions(**bad)
    assert flex.get_printoptions() == options


def test_extreme_options():
    x = flex.asarray([[1 / 3, 1e300], [1e-300, -0.0]], dtype=flex.float64)
    for options in (
        {"precision": 65535, "suppress": True},
        {"threshold": 0, "edgeitems": 0},
        {"threshold": 0, "edgeitems": 1 << 60},
        {"linewidth": 0},
        {"linewidth": 1 << 60},
    ):
        with flex.printoptions(**options):
            assert str(x).startswith("[")
