"""Names that flex shares with NumPy mean the same, but for the differences listed here: libraries look for names by `hasattr`."""

import numpy as np
import pytest
from test_numpy_functions import SERVED, A, B, V, compare

import flex

# Differences in what a call of NumPy's form gives. Everything else that NumPy's function takes and flex's does not is a TypeError.
DIFFERENT = {
    "__version__": "flex's own",
    "show_config": "flex's own: a table of settings instead of a printed text",
    "__array_namespace_info__": "of flex's dtypes and devices",
    "arange": "floats are float32, flex's default, or another with dtype=",
    "empty": "float32, flex's default",
    "eye": "float32, flex's default",
    "full": "floats are float32, flex's default",
    "linspace": "float32, flex's default; the count has no default",
    "ones": "float32, flex's default",
    "zeros": "float32, flex's default",
    "asarray": "floats are float32, flex's default; arrays keep their dtype",
    "floor_divide": "infinities as in the array API standard: 1 // -inf is -0, not -1",
    "remainder": "integers divided by zero are an error, as they are for every division",
    "fmod": "integers divided by zero are an error, as they are for every division",
    "reciprocal": "the reciprocal of an integer is a float",
    "sign": "of complex numbers x / abs(x), as NumPy 2 and the standard have it; bool is refused",
    "split": "torch's: sizes of pieces instead of positions and counts; numpy.split(t, ..) has NumPy's",
    "tri": "float32, flex's default",
    "ldexp": "integers become float32, flex's default",
    "get_printoptions": "those that flex has",
    "set_printoptions": "precision, threshold, edgeitems, linewidth and suppress, of the process",
    "printoptions": "those of set_printoptions",
    "frombuffer": "the dtype has no default",
    "fft": "a module",
    "linalg": "a module",
    "random": "a module, whose numbers for a seed are flex's own",
}
DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
# calls of functions of NumPy that are no ufuncs and not among those that `numpy.f(t)` hands to flex
CALLS = {
    "astype": [
        lambda f, t, xp: f(t(A), xp.int32),
        lambda f, t, xp: f(t(B), xp.float32, copy=False),
    ],
    **{
        name: [lambda f, t, xp: f(4), lambda f, t, xp: f(4, 1, 3), lambda f, t, xp: f(3, -1)]
        for name in ("tril_indices", "triu_indices")
    },
    "indices": [
        lambda f, t, xp: f((2, 3)),
        lambda f, t, xp: f((2, 3), xp.int32),
        lambda f, t, xp: f((2, 0, 3), sparse=True),
        lambda f, t, xp: f(()),
    ],
    "broadcast_arrays": [lambda f, t, xp: f(t(A), t(A[0]))],
    "broadcast_shapes": [lambda f, t, xp: f((3, 1), (1, 4), (4,))],
    "can_cast": [lambda f, t, xp: f(xp.int8, xp.int16), lambda f, t, xp: f(xp.float64, xp.float32)],
    "concat": [lambda f, t, xp: f([t(A), t(A)], axis=1)],
    "einsum_path": [lambda f, t, xp: f("ij,jk,kl->il", t(A), t(A.T), t(A), optimize="greedy")[0]],
    "empty_like": [lambda f, t, xp: f(t(A)).shape],
    "finfo": [lambda f, t, xp: (float(f(xp.float32).eps), f(xp.float16).bits)],
    "from_dlpack": [lambda f, t, xp: f(A)],
    "full_like": [lambda f, t, xp: f(t(A), 2.5)],
    "iinfo": [lambda f, t, xp: (f(xp.int8).min, f(xp.int8).max)],
    "isdtype": [
        lambda f, t, xp: f(xp.int8, "integral"),
        lambda f, t, xp: f(xp.int8, ("bool", xp.int8)),
    ],
    "meshgrid": [
        lambda f, t, xp: f(t(V), t(V[:2])),
        lambda f, t, xp: f(t(V), t(V[:2]), indexing="ij"),
    ],
    "mgrid": [lambda f, t, xp: f[0:3, 1:2:0.25], lambda f, t, xp: f[2:-1:4j]],
    "ogrid": [lambda f, t, xp: f[0:3, 1:2:0.25, 5:0:-2], lambda f, t, xp: f[2:5]],
    "outer": [lambda f, t, xp: f(t(V), t(A[0]))],
    "permute_dims": [lambda f, t, xp: f(t(A), (1, 0))],
    "result_type": [
        lambda f, t, xp: np.dtype(f(xp.int8, xp.uint8)),
        lambda f, t, xp: np.dtype(f(t(A), xp.float32)),
    ],
    **{
        name: [
            lambda f, t, xp: f(t(A)),
            lambda f, t, xp: f(t(A), 0),
            lambda f, t, xp: f(t(A), axis=-1, keepdims=True),
        ]
        for name in (
            "all",
            "any",
            "argmax",
            "argmin",
            "max",
            "mean",
            "min",
            "prod",
            "std",
            "sum",
            "var",
        )
    },
}
CONSTANTS = ["e", "inf", "nan", "newaxis", "pi"]
INTEGERS = {
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "bitwise_count",
    "gcd",
    "lcm",
}
PRODUCTS = {"matmul": ((2, 3), (3, 2)), "vecdot": ((2, 3), (2, 3))}


def shared():
    return [name for name in flex.__all__ if hasattr(np, name)]


def ufuncs():
    return [name for name in shared() if isinstance(getattr(np, name), np.ufunc)]


def test_every_shared_name_is_listed():
    names = {n for n in shared() if n != "__array_api_version__"}
    served = {n for n in SERVED if "." not in n}
    listed = {*DIFFERENT, *DTYPES, *CALLS, *CONSTANTS, *ufuncs(), *served}
    assert names <= listed
    assert {*DIFFERENT, *CALLS} <= names


@pytest.mark.parametrize("name", ufuncs())
def test_ufuncs(name):
    ours, theirs = getattr(flex, name), getattr(np, name)
    if name in PRODUCTS:
        samples = [[np.arange(1.0, 1 + np.prod(s)).reshape(s) for s in PRODUCTS[name]]]
    elif name in INTEGERS:
        samples = [[B, 3 * B[::-1].copy()][: theirs.nin], [-B, B][: theirs.nin]]
    elif name == "ldexp":
        samples = [[np.array([0.75, -0.5, 0.0]), np.array([3, -2, 9])]]
    else:
        small, whole = np.array([0.25, 1.0, 0.5, 0.125]), np.array([2.0, 7.0, -3.5, 4.0])
        samples = [[small, small[::-1].copy()][: theirs.nin]]
        if name not in (
            "acos",
            "acosh",
            "asin",
            "atanh",
            "log",
            "log10",
            "log1p",
            "log2",
            "pow",
            "sqrt",
        ):
            samples.append([whole, whole[::-1].copy()][: theirs.nin])
    for sample in samples:
        with np.errstate(all="ignore"):
            expected = theirs(*sample)
        compare(ours(*map(flex.asarray, sample)), expected)


@pytest.mark.parametrize("name", [n for n in shared() if n in SERVED and n not in DIFFERENT])
def test_functions_that_numpy_hands_over(name):
    ours, theirs = getattr(flex, name), getattr(np, name)
    for call in SERVED[name]:
        expected = call(theirs, np.asarray)
        try:
            found = call(ours, flex.asarray)
        except (TypeError, ValueError):
            continue  # a parameter of NumPy's, or what the standard leaves undefined: an error is no other meaning
        compare(found, expected)


@pytest.mark.parametrize("name", CALLS)
def test_other_functions(name):
    for call in CALLS[name]:
        compare(
            call(getattr(flex, name), flex.asarray, flex), call(getattr(np, name), np.asarray, np)
        )


def test_constants_and_dtypes():
    for name in CONSTANTS:
        assert repr(getattr(flex, name)) == repr(getattr(np, name))
    for name in DTYPES:
        assert getattr(flex, name) == np.dtype(getattr(np, name))
