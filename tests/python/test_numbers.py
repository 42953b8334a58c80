"""0-dimensional tensors as scalars, sequences, lists as operands, Python's rounding."""

# lists are operands of tensors on purpose
# ruff: noqa: RUF005, SIM300

import collections
import math
import operator

import numpy as np
import pytest
from support import is_storage

import flex

# ---- 0-dimensional tensors as scalars


def test_bounds_from_reductions():
    x = flex.asarray([3.0, 1.0, 2.0])
    assert flex.linspace(x.min(), x.max(), 5).tolist() == [1, 1.5, 2, 2.5, 3]
    assert flex.arange(x.min(), x.max()).tolist() == [1, 2]
    assert flex.full((2,), x.max()).tolist() == [3, 3]
    assert flex.full_like(flex.asarray([1, 2]), flex.asarray(7)).tolist() == [7, 7]
    assert flex.masked_fill(x, x > 1.5, x.min()).tolist() == [1, 1, 1]
    assert flex.pad(x, 1, value=x.max()).tolist() == [3, 3, 1, 2, 3]
    assert x.clip(x.min() + 0.5, np.asarray(2.5)).tolist() == [2.5, 1.5, 2]
    assert flex.full(2, np.asarray(4.0)).tolist() == [4, 4]
    assert flex.eye(flex.asarray(2)).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_scalars_keep_their_dtype(name):
    x = flex.asarray([0.1, 0.3], dtype=name)
    assert flex.linspace(x.min(), x.max(), 3).dtype == name
    assert flex.linspace(x.min(), 1, 3)[0].item() == x[0].item()
    assert flex.arange(x.min(), 1, x.max()).dtype == name
    assert flex.full(2, x.min()).tolist() == [x[0].item()] * 2
    assert flex.full(2, x.min()).dtype == name
    assert flex.full(2, x.min(), dtype="float32").dtype == "float32"
    assert flex.linspace(x.min(), x.max(), 3, dtype="float32").dtype == "float32"


def test_integer_bounds():
    n = flex.asarray(3, dtype="int32")
    assert flex.arange(n).dtype == "int32"
    assert flex.arange(0, n, 0.5).dtype == "float32"
    assert flex.arange(n, flex.asarray(5)).dtype == "int64"
    assert flex.linspace(0, n, 4).dtype == "float32"
    assert flex.full(2, flex.asarray(True)).dtype == "bool"
    with pytest.raises(flex.DTypeError):
        flex.linspace(0, n, 4, dtype="int32")


def test_non_numbers():
    for given, message in [
        (flex.zeros(1), r"a tensor of shape \[1\]"),
        (np.zeros((2, 1)), r"a tensor of shape \[2, 1\]"),
        ("1", "str"),
        ([1], "list"),
    ]:
        with pytest.raises(TypeError, match=f"expected a number, got {message}"):
            flex.full(2, given)


# ---- sequences


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (range(4), [0, 1, 2, 3]),
        (range(5, 0, -2), [5, 3, 1]),
        (range(0), []),
        (collections.deque([1.5, 2.5]), [1.5, 2.5]),
        ([range(2), range(2, 4)], [[0, 1], [2, 3]]),
        (collections.deque([[1, 2], (3, 4)]), [[1, 2], [3, 4]]),
        (collections.UserList([True, False]), [True, False]),
    ],
)
def test_sequences(given, expected):
    t = flex.asarray(given)
    assert t.tolist() == expected
    assert t.dtype == flex.asarray(expected).dtype


def test_sequences_as_assigned_values():
    t = flex.zeros(3)
    t[:] = range(3)
    assert t.tolist() == [0, 1, 2]
    t[1:] = collections.deque([5, 6])
    assert t.tolist() == [0, 5, 6]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            (x for x in [1, 2]),
            r"generator is not a sequence: convert it to a list, as in flex.asarray\(list\(x\)\)",
        ),
        ({1, 2}, r"set is not a sequence.*list\(x\)"),
        ({1: 2}, r"dict is not a sequence.*list\(x.values\(\)\)"),
        ({1: 2}.values(), r"dict_values is not a sequence.*list\(x\)"),
        (map(abs, [1]), r"map is not a sequence.*list\(x\)"),
        ("12", "got str"),
        (["12"], "got str"),
        (3j.__class__, "got type"),
    ],
)
def test_non_sequences(given, message):
    with pytest.raises(TypeError, match=message):
        flex.asarray(given)


# ---- lists as operands


def test_lists_compare_as_in_numpy():
    t = flex.asarray([1.0, 2.0, 3.0])
    assert (t == [1, 5, 3]).tolist() == [True, False, True]
    assert (t != [1, 5, 3]).tolist() == [False, True, False]
    assert ([1, 5, 3] == t).tolist() == [True, False, True]
    assert (t < (2, 2, 4)).tolist() == [True, False, True]
    assert (t == range(1, 4)).tolist() == [True, True, True]
    assert (flex.zeros((2, 3)) == [[0, 1, 0], [0, 0, 1]]).tolist() == [
        [True, False, True],
        [True, True, False],
    ]


def test_lists_are_weakly_typed_like_scalars():
    x = flex.asarray([0.1, 0.2], dtype="float64")
    assert (x == [0.1, 0.2]).tolist() == [True, True]
    assert (flex.asarray([0.1], dtype="bfloat16") == [0.1]).tolist() == [True]
    assert (x + [1, 2]).tolist() == [1.1, 2.2]
    for t, values in [
        (flex.asarray([1, 2], dtype="int8"), [1, 2]),
        (flex.asarray([1, 2], dtype="int8"), [1.5, 2]),
        (x, [1j, 2]),
    ]:
        assert (t * values).dtype == (t * values[0]).dtype
    assert (
        flex.asarray([1, 2], dtype="int8") + [flex.asarray(1, dtype="int64"), 2]
    ).dtype == "int64"


def test_arithmetic_with_lists():
    t = flex.asarray([1.0, 2.0])
    assert (t + [1, 2]).tolist() == [2, 4]
    assert ([1, 2] + t).tolist() == [2, 4]
    assert ([3, 4] - t).tolist() == [2, 2]
    assert (t @ [3, 4]).item() == 11
    assert ((2, 3) ** t).tolist() == [2, 9]
    t += [1, 1]
    assert t.tolist() == [2, 3]
    with pytest.raises(flex.ShapeError):
        operator.add(t, [1, 2, 3])
    with pytest.raises(TypeError, match="got str"):
        operator.add(t, ["a", "b"])
    with pytest.raises(ValueError, match="ragged"):
        _ = t == [[1], [2, 3]]
    assert (t == "ab") is False
    assert (t == None) is False  # noqa: E711
    assert (t == {1, 2}) is False


# ---- Python's rounding


def test_divmod_with_a_number_first():
    t = flex.asarray([2, 3, -4])
    for ours, theirs in zip(divmod(7, t), divmod(7, np.array([2, 3, -4])), strict=True):
        assert ours.tolist() == theirs.tolist()
    assert [x.tolist() for x in divmod([7, 8, 9], t)] == [
        x.tolist() for x in np.divmod([7, 8, 9], [2, 3, -4])
    ]


def test_floor_ceil_trunc():
    a = np.array([1.5, -1.5, 2.0])
    t = flex.asarray(a)
    for name in ("floor", "ceil", "trunc"):
        assert getattr(math, name)(t).tolist() == getattr(np, name)(a).tolist()
    assert round(t).tolist() == [2, -2, 2]
    assert round(t).dtype == "float64"


@pytest.mark.parametrize("digits", [-400, -20, -3, -1, 0, 1, 2, 5, 15, 22, 300, 400])
def test_round_to_digits(digits):
    a = np.array(
        [
            0.0,
            1.005,
            -2.5,
            1234.5678,
            15.0,
            25.0,
            -0.04,
            1e-7,
            123456789.125,
            1e22,
            1e300,
            np.inf,
            -np.inf,
            np.nan,
        ]
    )
    expected = [round(float(x), digits) if math.isfinite(x) else x for x in a]
    np.testing.assert_array_equal(round(flex.asarray(a), digits).numpy(), expected)


def test_round_of_other_dtypes(dtype):
    if dtype == flex.bool or is_storage(dtype):
        with pytest.raises(flex.DTypeError, match="round"):
            round(flex.asarray([True], dtype=dtype), 1)
        return
    values = [0, 4, 5, 15, 25, 35, 96, 104, 115]
    t = round(flex.asarray(values, dtype=dtype), -1)
    assert t.dtype == dtype
    assert t.tolist() == [round(v, -1) for v in values]
    assert round(flex.asarray(values, dtype=dtype), 2).tolist() == values


def test_round_of_small_floats_does_not_overflow():
    assert round(flex.asarray([65504.0, 1.2345], dtype="float16"), 3).tolist() == [
        65504.0,
        float(np.float16(1.2345).round(3)),
    ]
    assert round(flex.asarray([3e38, 1.2345], dtype="float32"), 3)[0].item() == float(
        np.float32(3e38)
    )


@pytest.mark.parametrize("name", ["int64", "uint64"])
def test_round_of_large_integers(name):
    top = int(np.iinfo(name).max)
    values = [top - 10**18, top // 3, 4999999999999999995, 4999999999999999985, 5 * 10**17]
    for digits in (-1, -2, -17, -18):
        assert round(flex.asarray(values, dtype=name), digits).tolist() == [
            round(v, digits) for v in values
        ]
    assert round(flex.asarray(values, dtype=name), -30).tolist() == [0] * 5
