"""Small operands bypass the drivers: results are the same, and tensors remain values."""

import numpy as np
import pytest

import flex

LENGTHS = [1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 1000]
REDUCTIONS = [
    "sum",
    "prod",
    "max",
    "min",
    "mean",
    "var",
    "std",
    "any",
    "all",
    "count_nonzero",
    "logsumexp",
    "argmax",
    "argmin",
]


def numbers(shape, dtype, seed=0):
    x = np.random.default_rng(seed).normal(size=shape) * 3
    return (x > 0) if dtype == "bool" else x.astype(dtype)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        (name, dtype)
        for name in REDUCTIONS
        for dtype in ["float32", "float64", "int8", "int64", "bool"]
        if dtype != "bool" or name not in ("max", "min")  # bools have no order
    ],
)
def test_single_rows_have_the_bits_of_rows_among_many(name, dtype):
    reduce = getattr(flex, name)
    for n in [32, 33, 63, 64, 65, 129, 1000]:
        rows = flex.asarray(numbers((40000 // n, n), dtype), copy=True)
        together = reduce(rows, axis=1).numpy()
        alone = np.array([reduce(rows[k]).item() for k in range(0, len(rows), 97)]).astype(
            together.dtype
        )
        few = reduce(rows[:3], axis=-1).numpy()
        np.testing.assert_array_equal(alone, together[::97], strict=True)
        np.testing.assert_array_equal(few, together[:3], strict=True)


@pytest.mark.parametrize(
    "name", ["sum", "max", "min", "mean", "any", "count_nonzero", "argmax", "argmin"]
)
@pytest.mark.parametrize("n", LENGTHS)
def test_reductions_of_few_elements(name, n):
    theirs = {"count_nonzero": np.count_nonzero}.get(name, getattr(np, name))
    for shape in [(n,), (1, n, 1), (3, n), (n, 3), (2, 1, n)]:
        x = numbers(shape, "float64", n)
        t = flex.asarray(x, copy=True)
        for axis in [None, *range(len(shape))]:
            for keepdims in [False, True]:
                got = getattr(flex, name)(t, axis=axis, keepdims=keepdims).numpy()
                np.testing.assert_allclose(
                    got, theirs(x, axis=axis, keepdims=keepdims), rtol=1e-12, atol=1e-12
                )
                assert got.shape == np.asarray(theirs(x, axis=axis, keepdims=keepdims)).shape


def test_nan_propagates_in_small_tensors():
    for n in LENGTHS:
        x = np.ones(n, np.float32)
        x[n // 2] = np.nan
        t = flex.asarray(x)
        assert np.isnan(flex.max(t).item())
        assert np.isnan(flex.sum(t).item())
        assert flex.argmax(t).item() == n // 2


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
def test_reductions_of_empty(shape):
    x, t = np.zeros(shape), flex.zeros(shape, dtype=flex.float64)
    for axis in [None, *range(len(shape))]:
        for keepdims in [False, True]:
            np.testing.assert_array_equal(
                flex.sum(t, axis=axis, keepdims=keepdims).numpy(),
                np.sum(x, axis=axis, keepdims=keepdims),
            )
    assert flex.argmax(flex.zeros((0, 3)), axis=1).shape == (0,)


def test_in_place_changes_no_other_tensor():
    t = flex.asarray(np.arange(16, dtype=np.float32), copy=True)
    view, lent, same = t[2:10], t.numpy(), t
    t += flex.ones(16)
    t *= 2.0
    np.testing.assert_array_equal(t.numpy(), (np.arange(16) + 1) * 2)
    np.testing.assert_array_equal(view.numpy(), np.arange(2, 10))
    np.testing.assert_array_equal(lent, np.arange(16))
    assert same is t


def test_in_place_with_itself_and_its_views():
    x = np.arange(1.0, 9.0)
    t = flex.asarray(x, copy=True)
    t += t
    t -= t[::-1]
    t *= flex.flip(t)
    want = (2 * x - (2 * x)[::-1]) * (2 * x - (2 * x)[::-1])[::-1]
    np.testing.assert_array_equal(t.numpy(), want)


def test_in_place_keeps_dtype_and_memory_of_others():
    a = np.arange(4, dtype=np.float32)
    t = flex.asarray(a)
    t += 1
    np.testing.assert_array_equal(a, np.arange(4))
    np.testing.assert_array_equal(t.numpy(), a + 1)
    i = flex.asarray([1, 2, 3], dtype=flex.int8)
    i += flex.asarray([1, 1, 1], dtype=flex.int8)
    i += 127
    assert i.dtype == flex.int8
    assert i.tolist() == [-127, -126, -125]
    for wrong in [
        lambda: i.__itruediv__(i),
        lambda: i.__iadd__(flex.ones(3)),
        lambda: i.__iadd__(flex.ones((2, 3), dtype=flex.int8)),
    ]:
        with pytest.raises((TypeError, ValueError)):
            wrong()
        assert i.tolist() == [-127, -126, -125]


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "int8", "int64", "bool", "complex64", "float16"]
)
@pytest.mark.parametrize("n", LENGTHS)
def test_where_with_operands_of_one_layout(dtype, n):
    c, a, b = (
        numbers(n, "bool", 1),
        numbers(n, "float64", 2).astype(dtype),
        numbers(n, "float64", 3).astype(dtype),
    )
    tc, ta, tb = flex.asarray(c), flex.asarray(a), flex.asarray(b)
    np.testing.assert_array_equal(flex.where(tc, ta, tb).numpy(), np.where(c, a, b), strict=True)
    np.testing.assert_array_equal(flex.where(tc, ta, ta).numpy(), a, strict=True)
    np.testing.assert_array_equal(
        flex.where(tc[::-1], ta, tb).numpy(), np.where(c[::-1], a, b), strict=True
    )
    np.testing.assert_array_equal(flex.where(tc, tc, tc).numpy(), c, strict=True)
    with pytest.raises(TypeError):
        flex.where(flex.asarray(c.astype(np.float32)), ta, tb)


def test_assignment_changes_one_tensor():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    t = flex.asarray(x, copy=True)
    row, lent = t[1], t.numpy()
    for key in [
        (1, 2),
        0,
        (slice(None), 1),
        (slice(1, 3), slice(None, None, 2)),
        (Ellipsis, -1),
        slice(0, 0),
        slice(None),
    ]:
        for value in [7, 2.5, True]:
            x[key], t[key] = value, value
            np.testing.assert_array_equal(t.numpy(), x)
    t[0], x[0] = t[2], x[2].copy()
    t[1:], x[1:] = t[:2], x[:2].copy()
    t[2, :2], x[2, :2] = flex.asarray([1, 2], dtype=flex.int8), [1, 2]
    np.testing.assert_array_equal(t.numpy(), x)
    np.testing.assert_array_equal(row.numpy(), [4, 5, 6, 7])
    np.testing.assert_array_equal(lent, np.arange(12).reshape(3, 4))


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex128", "float16"])
def test_small_copies_and_conversions(dtype):
    for n in [0, *LENGTHS]:
        x = numbers(n, "float64", n).astype(dtype)
        t = flex.asarray(x)
        for of in [t, t[::-1], t[n // 2 :], flex.reshape(t, (1, n))]:
            c = of.copy()
            np.testing.assert_array_equal(c.numpy(), of.numpy(), strict=True)
            for to in (
                ["complex64", "bool"] if dtype == "complex128" else ["float64", "float32", "bool"]
            ):
                with np.errstate(all="ignore"):
                    want = of.numpy().astype(to)
                np.testing.assert_array_equal(of.astype(to).numpy(), want, strict=True)
        both = flex.concat((t, t[::-1], flex.asarray(x)))
        np.testing.assert_array_equal(both.numpy(), np.concatenate([x, x[::-1], x]), strict=True)


def test_slices_follow_python():
    x = np.arange(7)
    t = flex.asarray(x)
    ends = [None, -100, -8, -7, -3, -1, 0, 1, 6, 7, 8, 100, 2**63, -(2**70)]
    for start in ends:
        for stop in ends:
            for step in [None, 1, 2, 9, -1, -2, -9, 2**65, -(2**65)]:
                assert t[start:stop:step].tolist() == x.tolist()[start:stop:step]
    with pytest.raises(ValueError, match=r"the step of a slice is 0|slice step cannot be zero"):
        t[::0]
    with pytest.raises(TypeError):
        t["a":]


def test_single_elements_convert_to_numbers():
    for dtype, number in [
        ("float32", 1.5),
        ("int8", -3),
        ("bool", True),
        ("bfloat16", 2.0),
        ("uint64", 2**63),
    ]:
        t = flex.asarray([number], dtype=dtype)[0]
        assert t.item() == number
        assert type(t.item()) is type(number)
        assert float(t) == float(number)
        assert type(float(t)) is float
        assert int(t) == int(number)
        assert type(int(t)) is int
        assert complex(t) == complex(number)
        assert bool(t) is bool(number)
    for of in [float, int, bool]:
        with pytest.raises((TypeError, ValueError)):
            of(flex.zeros(2))
    with pytest.raises(ValueError, match="2 elements, not one"):
        flex.zeros(2).item()
