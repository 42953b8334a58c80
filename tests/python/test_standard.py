"""The array API standard, version 2025.12: each signature, and each special case of its text. scripts/standard_table.py writes the table
of them, which says what its rows mean.
"""

import ast
import inspect
import itertools
import math
import operator
from pathlib import Path

import numpy as np
import pytest

import flex

TABLE = (Path(__file__).parent / "reference" / "array_api.txt").read_text(encoding="utf-8")
LINES = [line for line in TABLE.split("\n") if line and not line.startswith("#")]
SIGNATURES = [line for line in LINES if line.startswith("def ")]
ROWS = [line.split("\t") for line in LINES if not line.startswith("def ")]
REAL = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
OPERATORS = {
    "add": operator.add,
    "divide": operator.truediv,
    "equal": operator.eq,
    "floor_divide": operator.floordiv,
    "multiply": operator.mul,
    "not_equal": operator.ne,
    "pow": operator.pow,
    "remainder": operator.mod,
    "abs": abs,
}
# Rows that contradict others. Of two about the square root C99 has that of an infinite part. That of what remains for not_equal forgets
# an infinity beside a finite number.
CONTRADICTED = {
    ("sqrt", "a nan; b any"): lambda p: ~np.isinf(p["b"]),
    ("not_equal", "otherwise"): lambda p: np.isfinite(p["x1"]) == np.isfinite(p["x2"]),
}


# ---- signatures

SPACES = {
    "": flex,
    "linalg.": flex.linalg,
    "fft.": flex.fft,
    "info.": flex.__array_namespace_info__(),
    "Tensor.": flex.Tensor,
}


def of_space(name):
    space, _, last = name.rpartition(".")
    if name == "info.__array_namespace_info__":
        return flex.__array_namespace_info__
    return getattr(SPACES[space + "." if space else ""], last)


@pytest.mark.parametrize("line", SIGNATURES)
def test_signatures(line):
    """Each call that the standard allows is one of ours, with the same defaults; what we take besides has a default."""
    name, _, parameters = line.removeprefix("def ").partition("(")
    scope = {"inf": math.inf}
    exec(f"def standard({parameters}: pass", scope)
    expected = list(inspect.signature(scope["standard"]).parameters.values())
    found = list(inspect.signature(of_space(name)).parameters.values())
    operators = name.startswith("Tensor.__") and name[9:11] != "dl"
    by_name = {p.name: p for p in found}
    positional = [p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    taken = set()
    for place, p in enumerate(expected):
        if p.kind is p.VAR_POSITIONAL:
            assert found[place].kind is p.VAR_POSITIONAL
            taken.add(found[place].name)
            continue
        ours = by_name.get(p.name)
        if p.kind is p.POSITIONAL_ONLY:
            ours = positional[place]
        elif p.kind is p.POSITIONAL_OR_KEYWORD:
            assert ours is positional[place]
            assert ours.kind is p.POSITIONAL_OR_KEYWORD
        else:
            assert ours is not None, p.name
            assert ours.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)
        if not operators and p.default is not p.empty:
            assert ours.default == p.default
        taken.add(ours.name)
    assert all(p.default is not p.empty for p in found if p.name not in taken)


# ---- special cases

IS = {
    "any": lambda x: np.ones(x.shape, bool),
    "nan": np.isnan,
    "+nan": lambda x: np.isnan(x) & ~np.signbit(x),
    "-nan": lambda x: np.isnan(x) & np.signbit(x),
    "not nan": lambda x: ~np.isnan(x),
    "inf": np.isinf,
    "+inf": np.isposinf,
    "-inf": np.isneginf,
    "0": lambda x: x == 0,
    "+0": lambda x: (x == 0) & ~np.signbit(x),
    "-0": lambda x: (x == 0) & np.signbit(x),
    "1": lambda x: x == 1,
    "-1": lambda x: x == -1,
    "not 1": lambda x: x != 1,
    "nonzero": lambda x: x != 0,
    "finite": np.isfinite,
    "finite nonzero": lambda x: np.isfinite(x) & (x != 0),
    "finite > 0": lambda x: np.isfinite(x) & (x > 0),
    "finite < 0": lambda x: np.isfinite(x) & (x < 0),
    "finite or nan": lambda x: ~np.isinf(x),
    "> 0": lambda x: x > 0,
    "> 1": lambda x: x > 1,
    "< 0": lambda x: x < 0,
    "< 1": lambda x: x < 1,
    "< -1": lambda x: x < -1,
    "abs > 1": lambda x: abs(x) > 1,
    "abs 1": lambda x: abs(x) == 1,
    "abs < 1": lambda x: abs(x) < 1,
    "integer": lambda x: np.isfinite(x) & (x == np.trunc(x)),
    "not integer": lambda x: x != np.trunc(x),
    "odd": lambda x: np.fmod(x, 2) % 2 == 1,
    "not odd": lambda x: ~(np.fmod(x, 2) % 2 == 1),
    "half": lambda x: abs(np.fmod(x, 1)) == 0.5,
}
TOGETHER = {
    "same sign": lambda x, y: np.signbit(x) == np.signbit(y),
    "different signs": lambda x, y: np.signbit(x) != np.signbit(y),
    "equal": lambda x, y: x == y,
    "unequal": lambda x, y: x != y,
}


def pool(dtype, few=False):
    """Operands of each kind, of both signs."""
    info = np.finfo(dtype)
    sizes = [0, 0.3, 1, 2.5, np.inf, np.nan]
    if not few:
        sizes += [info.smallest_subnormal, info.tiny, 0.5, 1.5, 2, 3, 11, 1e4, info.max]
    with np.errstate(invalid="ignore"):
        return np.array([*sizes, *(-np.array(sizes))], dtype)


def points(name, dtype):
    """All combinations of operands: the parts by their names in the table."""
    parameters = inspect.signature(getattr(flex, name)).parameters.values()
    arity = sum(p.default is p.empty for p in parameters)
    names = ["x"] if arity == 1 else ["x1", "x2"]
    part = np.dtype(dtype)
    if part.kind == "c":
        names = ["a", "b"] if arity == 1 else ["a", "b", "c", "d"]
        part = np.finfo(dtype).dtype
    if name == "clip":
        names = ["x", "min", "max"]
    values = pool(part, few=len(names) > 2)
    grid = np.meshgrid(*[values] * len(names), indexing="ij")
    return {n: g.ravel() for n, g in zip(names, grid, strict=True)}


def joined(a, b):
    """The complex numbers of parts; a sum would lose signs and infinities."""
    z = np.empty(a.shape, np.result_type(a, np.complex64))
    z.real, z.imag = a, b
    return z


def operands(p):
    if "a" in p:
        pairs = [("a", "b"), ("c", "d")][: len(p) // 2]
        return [joined(p[i], p[j]) for i, j in pairs]
    return list(p.values())


def holds(when, p):
    """Where the conditions hold."""
    found = np.ones(next(iter(p.values())).shape, bool)
    for condition in when.split("; "):
        first, _, what = condition.partition(" ")
        second, _, rest = what.partition(" ")
        if second in p:
            found &= TOGETHER[rest](p[first], p[second])
        elif what == "-x1":
            found &= p[first] == -p["x1"]
        else:
            found &= IS[what](p[first])
    return found


PI = {"π": 1, "π/2": 1 / 2, "π/4": 1 / 4, "3π/4": 3 / 4}


def number(text):
    sign = -1.0 if text.startswith("-") else 1.0
    size = text.lstrip("+-±")
    return sign * (PI[size] * math.pi if size in PI else float(size))


def check(found, text, p):
    """That real results are what the text says."""
    eps = np.finfo(found.dtype).eps if found.dtype.kind == "f" else 0
    if found.dtype == bool:
        np.testing.assert_array_equal(found, text == "True")
        return
    if text in ("positive", "negative"):
        right = np.isnan(found) | (np.signbit(found) == (text == "negative"))
        assert right.all()
        return
    if text in ("nan", "+nan", "-nan"):
        assert np.isnan(found).all()
        if text != "nan":
            assert (np.signbit(found) == (text == "-nan")).all()
        return
    if text == "inf":
        assert np.isinf(found).all()
        negative = np.signbit(p["x1"]) != np.signbit(p["x2"])
        assert (np.signbit(found) == negative).all()
        return
    if text == "even":
        expected = np.array([round(float(x)) for x in p["x"]], found.dtype)
        expected = np.copysign(expected, p["x"])
    elif (size := text.strip("+-|")) in p:
        expected = abs(p[size]) if "|" in text else p[size]
        expected = -expected if text[0] == "-" else expected
    elif "(b)" in text:
        part = math.cos if "cos" in text else math.sin
        with np.errstate(invalid="ignore"):
            expected = np.array([number(text.split()[0]) * part(b) for b in p["b"]], found.dtype)
    else:
        expected = np.full(found.shape, number(text), found.dtype)
    if text[0] == "±":
        found = abs(found)
    np.testing.assert_allclose(found, expected, rtol=4 * eps, atol=0)
    if text[0] != "±" and "(b)" not in text:
        sign = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found)[sign], np.signbit(expected)[sign])


def check_complex(found, text, p):
    if found.dtype.kind != "c":
        check(found, text, p)
    elif text.startswith(("real ", "imaginary ")):
        which, _, rest = text.partition(" ")
        check(getattr(found, which[:4]), rest, p)
    elif "cis(b)" in text:
        check(found.real, text.replace("cis", "cos"), p)
        check(found.imag, text.replace("cis", "sin"), p)
    else:
        real, _, imaginary = text.partition(", ")
        check(found.real, real, p)
        check(found.imag, imaginary, p)


def computed(name, p):
    """The result for all points, which is the same by an operator and beside numbers."""
    f = getattr(flex, name)
    xs = operands(p)
    tensors = [flex.asarray(x) for x in xs]
    result = np.asarray(f(*tensors))
    if name in OPERATORS:
        same(np.asarray(OPERATORS[name](*tensors)), result)
    if len(xs) == 2 and xs[0].dtype.kind == "f" and name != "clip":
        for value in pool(xs[0].dtype):
            number = value.item()
            second = flex.full_like(tensors[0], number)
            same(f(tensors[0], number), f(tensors[0], second))
            same(f(number, tensors[0]), f(second, tensors[0]))
    return result


def same(x, y):
    """The same numbers with the same signs, or both NaN. Beside a part that is NaN the sign of the other is unspecified."""
    x, y = np.asarray(x), np.asarray(y)
    assert x.dtype == y.dtype
    parts = [(x.real, y.real), (x.imag, y.imag)] if x.dtype.kind == "c" else [(x, y)]
    for u, v in parts:
        if u.dtype.kind == "f":
            sign = ~np.isnan(x)
            np.testing.assert_array_equal(np.signbit(u)[sign], np.signbit(v)[sign])
            u, v = abs(u), abs(v)
        np.testing.assert_array_equal(u, v)


CASES = [
    (name, dtype)
    for name in dict.fromkeys(row[0] for row in ROWS)
    for kind, dtypes in (("real", REAL), ("complex", COMPLEX))
    for dtype in dtypes
    if any(row[:2] in ([name, kind], [name, "both"]) for row in ROWS)
]


@pytest.mark.filterwarnings("ignore:(invalid value|overflow|divide by zero):RuntimeWarning")
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_special_cases(name, dtype):
    kind = "complex" if dtype in COMPLEX else "real"
    rows = [row[2:] for row in ROWS if row[0] == name and row[1] in (kind, "both")]
    p = points(name, dtype)
    found = computed(name, p)
    covered = np.zeros(found.shape, bool)
    for when, what in rows:
        if when == "as" or "(" in when:
            continue
        chosen = ~covered if when == "otherwise" else holds(when, p)
        if (name, when) in CONTRADICTED:
            chosen &= CONTRADICTED[name, when](p)
        assert chosen.any(), when
        covered |= chosen
        try:
            check_complex(found[chosen], what, {n: v[chosen] for n, v in p.items()})
        except AssertionError as error:
            raise AssertionError(f"{name}, {dtype}: {when}: {what}\n{error}") from None


# ---- expressions that must be equal


def turned(z):
    """z * 1j without arithmetic, whose infinities would give NaN."""
    return joined(-z.imag, z.real)


def evaluated(node, scope):
    """The value of an expression of the table."""
    match node:
        case ast.Name(id=name):
            return scope[name]
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=x):
            return -evaluated(x, scope)
        case ast.BinOp(left=x, op=ast.Mult(), right=ast.Constant(value=1j)):
            return turned(evaluated(x, scope))
        case ast.BinOp(left=ast.UnaryOp(operand=ast.Constant(value=1j)), op=ast.Mult(), right=x):
            return -turned(evaluated(x, scope))
        case ast.BinOp(left=x, op=ast.Div(), right=ast.Call() as y):
            x, y = evaluated(x, scope), evaluated(y, scope)
            return joined(x.real / y, x.imag / y)
        case ast.BinOp(left=ast.Constant(value=x), op=ast.Div(), right=y):
            return np.asarray(x / flex.asarray(evaluated(y, scope)))
        case ast.BinOp(left=x, op=ast.Mult(), right=y):
            return np.asarray(flex.asarray(evaluated(x, scope)) * flex.asarray(evaluated(y, scope)))
        case ast.Call(func=ast.Name(id=name), args=args):
            values = [evaluated(a, scope) for a in args]
            if isinstance(values[0], int):
                return getattr(math, name)(*values)
            if name == "conj" and values[0].dtype.kind != "c":
                return values[0]
            return np.asarray(getattr(flex, name)(*map(flex.asarray, values)))
    raise AssertionError(ast.dump(node))


EQUALS = [row for row in ROWS if row[2] == "as" or "(" in row[2]]


@pytest.mark.filterwarnings("ignore:(invalid value|overflow|divide by zero):RuntimeWarning")
@pytest.mark.parametrize(
    ("row", "dtype"),
    [
        (row, dtype)
        for row in EQUALS
        for dtype in (() if row[1] == "complex" else REAL) + (() if row[1] == "real" else COMPLEX)
    ],
)
def test_equal_expressions(row, dtype):
    name, _, left, right = row
    names = ("x1", "x2") if "x1" in left else ("x",)
    scope = dict(zip(names, operands(points(name, dtype)), strict=True))
    left = f"{name}(x)" if left == "as" else left
    a, b = (evaluated(ast.parse(text, mode="eval").body, scope) for text in (left, right))
    if row[2] != "as":
        same(a, b)
        return
    # in special cases the same, otherwise nearly
    x = scope["x"]
    special = ~np.isfinite(x) | (x == 0) | ~np.isfinite(b)
    # quotients of finite complex numbers follow the textbook's formula, and signs of their zeros are open
    open_signs = name == "reciprocal" and a.dtype.kind == "c"
    special = ~np.isfinite(x) if open_signs else special
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.isnan(a.real[special]), np.isnan(b.real[special]))
        np.testing.assert_array_equal(np.isnan(a.imag[special]), np.isnan(b.imag[special]))
    tolerance = 8 * np.finfo(dtype).eps
    for u, v in ((a.real, b.real), (a.imag, b.imag)):
        np.testing.assert_allclose(u[special], v[special], rtol=tolerance, atol=0)
        known = special & ~np.isnan(u) & ~(open_signs & (u == 0))
        np.testing.assert_array_equal(np.signbit(u[known]), np.signbit(v[known]))


# ---- sentences about whole tensors, and Python's numbers


@pytest.mark.parametrize("dtype", [*REAL, *COMPLEX])
def test_no_elements(dtype):
    empty = flex.zeros((3, 0), dtype=dtype)
    for f, expected in (("sum", 0), ("prod", 1)):
        for found in (getattr(flex, f)(empty), getattr(flex, f)(empty, axis=1)[1]):
            assert found.item() == expected
            assert str(found.dtype) == dtype
    assert flex.linalg.trace(flex.zeros((0, 2), dtype=dtype)).item() == 0
    assert flex.linalg.trace(flex.ones((2, 2), dtype=dtype), offset=5).item() == 0
    mean = flex.mean(empty, axis=1)
    assert np.isnan(mean.numpy().real).all()
    if dtype in COMPLEX:
        assert np.isnan(mean.numpy().imag).all()
        return
    for f in (flex.std, flex.var):
        assert math.isnan(f(empty).item())
        for count in (1, 2, 3):
            for correction in (count, count + 0.5, 7):
                assert math.isnan(f(flex.ones(count, dtype=dtype), correction=correction).item())


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("place", [0, 1, 20, 99])
def test_nan_spreads(dtype, place):
    x = np.linspace(-1, 1, 100, dtype=dtype)
    x[place] = np.nan
    for f in ("max", "min", "mean", "std", "var", "sum", "prod"):
        assert math.isnan(getattr(flex, f)(flex.asarray(x)).item())
    for f in ("cumulative_sum", "cumulative_prod"):
        found = getattr(flex, f)(flex.asarray(x)).numpy()
        assert (np.isnan(found) == (np.arange(100) >= place)).all()


@pytest.mark.parametrize("dtype", COMPLEX)
def test_nan_of_parts_of_means(dtype):
    x = joined(*np.ones((2, 10), np.finfo(dtype).dtype))
    for real, imaginary in itertools.product((1, np.nan), repeat=2):
        x[3] = complex(real, imaginary)
        x.real[3], x.imag[3] = real, imaginary
        mean = flex.mean(flex.asarray(x)).item()
        assert math.isnan(mean.real) == math.isnan(real)
        assert math.isnan(mean.imag) == math.isnan(imaginary)


@pytest.mark.parametrize("f", ["any", "all"])
def test_infinities_and_nan_are_true(f):
    for dtype in REAL:
        for x in (np.inf, -np.inf, np.nan):
            assert getattr(flex, f)(flex.asarray([x], dtype=dtype)).item() is True
    for dtype in COMPLEX:
        for x in itertools.product((np.inf, -np.inf, np.nan, 0), repeat=2):
            value = flex.asarray(joined(*np.array(x, np.finfo(dtype).dtype)[:, None]))
            assert getattr(flex, f)(value).item() is (x != (0, 0))


@pytest.mark.parametrize("dtype", REAL)
def test_python_numbers(dtype):
    def scalar(x):
        return flex.asarray(x, dtype=dtype)

    for x in (np.nan, np.inf, -np.inf):
        assert bool(scalar(x)) is True
        assert repr(complex(scalar(x))) in (repr(complex(x, 0)), "(nan+nanj)")
    assert bool(scalar(0.0)) is bool(scalar(-0.0)) is False
    found = complex(scalar(-2.5))
    assert (found.real, math.copysign(1, found.imag)) == (-2.5, 1)
    assert [int(scalar(x)) for x in (2.7, -2.7, -0.0)] == [2, -2, 0]
    for x in (np.inf, -np.inf):
        with pytest.raises(OverflowError):
            int(scalar(x))
    with pytest.raises(ValueError, match="NaN"):
        int(scalar(np.nan))


def test_python_numbers_of_bool():
    for x in (True, False):
        t = flex.asarray(x)
        assert (complex(t), float(t), int(t)) == (complex(x), float(x), int(x))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_truth_of_complex_numbers(dtype):
    for a, b in itertools.product((0.0, -0.0, 1.0, np.inf, np.nan), repeat=2):
        x = flex.asarray(joined(*np.array([a, b], np.finfo(dtype).dtype)[:, None]))[0]
        assert bool(x) is (bool(a) or bool(b))


@pytest.mark.parametrize("dtype", [*REAL, *COMPLEX])
def test_determinant_of_zero(dtype):
    sign, logarithm = flex.linalg.slogdet(flex.zeros((2, 3, 3), dtype=dtype))
    assert sign.tolist() == [0, 0]
    assert logarithm.tolist() == [-math.inf, -math.inf]
