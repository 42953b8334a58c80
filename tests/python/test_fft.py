"""Fourier transforms against NumPy's and SciPy's, and their properties."""

import inspect
import math
import operator
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.fft
from hypothesis import given
from hypothesis import strategies as st
from support import examples

import flex

PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 97, 101, 509, 1009, 2053, 4093, 4999]
LENGTHS = st.one_of(st.integers(1, 5000), st.sampled_from(PRIMES), st.integers(1, 64))
NORMS = ["backward", "ortho", "forward"]
REAL = {"float32": 2e-7, "float64": 4e-16}
seeds = st.integers(0, 2**32 - 1)


def values(seed, shape, dtype):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, shape)
    if dtype.startswith("complex"):
        x = x + 1j * rng.uniform(-1, 1, shape)
    return x.astype(dtype)


def wide(x):
    """The array in higher precision than the results: NumPy transforms long doubles in long doubles."""
    return x.astype(np.clongdouble if np.iscomplexobj(x) else np.longdouble)


def error(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape
    size = np.sqrt(np.sum(np.abs(want) ** 2))
    return float(np.sqrt(np.sum(np.abs(got.astype(want.dtype) - want) ** 2)) / max(size, 1e-300))


def bound(dtype, n):
    single = dtype in ("float32", "complex64")
    return (2e-7 if single else 4e-16) * (1 + np.log2(n)) ** 0.5 * 2


@examples(60)
@given(LENGTHS, st.sampled_from(["float32", "float64", "complex64", "complex128"]), seeds)
def test_transforms_match_numpy(n, dtype, seed):
    x = values(seed, n, dtype)
    t = flex.asarray(x)
    for name in ("fft", "ifft") if "complex" in dtype else ("fft", "ifft", "rfft", "ihfft"):
        got = getattr(flex.fft, name)(t)
        assert got.dtype.name == (
            "complex64" if dtype in ("float32", "complex64") else "complex128"
        )
        assert error(got, getattr(np.fft, name)(wide(x))) < bound(dtype, n), name
    for name in ("irfft", "hfft"):
        got = getattr(flex.fft, name)(t, n=n)
        assert got.dtype.name == ("float32" if dtype in ("float32", "complex64") else "float64")
        assert error(got, getattr(np.fft, name)(wide(x), n)) < bound(dtype, n), name


@examples(40)
@given(LENGTHS, st.sampled_from(["complex64", "complex128"]), seeds)
def test_properties(n, dtype, seed):
    x, y = values(seed, (2, n), dtype)
    tx, ty = flex.asarray(x), flex.asarray(y)
    fx, fy = np.asarray(flex.fft.fft(tx)), np.asarray(flex.fft.fft(ty))
    limit = 4 * bound(dtype, n)
    # Parseval
    energy = np.sum(np.abs(fx.astype(np.complex128)) ** 2) / n
    assert abs(energy - np.sum(np.abs(x.astype(np.complex128)) ** 2)) < limit * max(energy, 1)
    # linearity
    assert error(flex.fft.fft(tx + ty * 2), wide(fx) + 2 * wide(fy)) < limit
    # the shift theorem
    shift = seed % n
    phases = np.exp(-2j * np.pi * np.arange(n) * shift / n)
    assert error(flex.fft.fft(flex.roll(tx, shift)), fx * phases) < max(limit, 1e-11)
    # round trips
    assert error(flex.fft.ifft(flex.fft.fft(tx)), x) < limit
    real = flex.asarray(np.ascontiguousarray(x.real))
    assert error(flex.fft.irfft(flex.fft.rfft(real), n=n), x.real) < limit


@examples(60)
@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=4),
    st.data(),
    st.sampled_from(["float32", "float64", "complex64", "complex128"]),
    seeds,
)
def test_several_axes(shape, data, dtype, seed):
    x = values(seed, tuple(shape), dtype)
    t = flex.asarray(x)
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
    axes = [a - len(shape) if data.draw(st.booleans()) else a for a in axes]
    s = data.draw(st.one_of(st.none(), st.tuples(*[st.integers(1, 14) for _ in axes])))
    norm = data.draw(st.sampled_from(NORMS))
    real = not dtype.startswith("complex")
    for name in ("fftn", "ifftn", *(("rfftn",) if real else ())):
        got = getattr(flex.fft, name)(t, s=s, axes=axes, norm=norm)
        want = getattr(np.fft, name)(wide(x), s=s, axes=axes, norm=norm)
        assert error(got, want) < bound(dtype, x.size + 64), name
    if s is None:
        s = [*(shape[a] for a in axes[:-1]), 2 * (max(shape[axes[-1]], 2) - 1)]
    got = flex.fft.irfftn(t, s=s, axes=axes, norm=norm)
    want = np.fft.irfftn(wide(x), s=s, axes=axes, norm=norm)
    assert error(got, want) < 4 * bound(dtype, x.size + 64)


@examples(30)
@given(st.tuples(*[st.integers(1, 70)] * 2), st.sampled_from(["complex64", "complex128"]), seeds)
def test_a_plane_is_lines_and_columns(shape, dtype, seed):
    t = flex.asarray(values(seed, shape, dtype))
    for plane, line in ((flex.fft.fft2, flex.fft.fft), (flex.fft.ifft2, flex.fft.ifft)):
        want = np.asarray(line(line(t, axis=-1), axis=-2))
        assert error(plane(t), wide(want)) < bound(dtype, math.prod(shape))


@examples(60)
@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=3),
    st.data(),
    st.integers(1, 20),
    st.sampled_from(NORMS),
    seeds,
)
def test_axis_length_and_norm(shape, data, n, norm, seed):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = values(seed, tuple(shape), "complex128")
    for view in (x, x.T, x[::-1], np.moveaxis(x, 0, -1)):
        t = flex.asarray(view)
        for name in ("fft", "ifft", "irfft", "hfft"):
            got = getattr(flex.fft, name)(t, n=n, axis=axis, norm=norm)
            want = getattr(np.fft, name)(view, n=n, axis=axis, norm=norm)
            assert error(got, want) < 1e-14, name
        real = np.ascontiguousarray(view.real)
        for name in ("rfft", "ihfft"):
            got = getattr(flex.fft, name)(flex.asarray(real), n=n, axis=axis, norm=norm)
            want = getattr(np.fft, name)(real, n=n, axis=axis, norm=norm)
            assert error(got, want) < 1e-14, name


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_short_lines_side_by_side(dtype):
    for n in (*range(1, 36), 46, 51, 57, 58, 62, 63, 64, 65):
        for lines in (1, 7, 16, 37):
            x = values(n, (lines, n), dtype)
            t, exact = flex.asarray(x), np.fft.fft(wide(x))
            assert error(flex.fft.fft(t), exact) < bound(dtype, n), (n, lines)
            assert error(flex.fft.fft(t.T, axis=0), exact.T) < bound(dtype, n), (n, lines)
            inverse = flex.fft.ifft(t, norm="forward")
            assert error(inverse, np.fft.ifft(wide(x), norm="forward")) < bound(dtype, n), (
                n,
                lines,
            )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_short_real_lines_side_by_side(dtype):
    cases = {
        "rfft": lambda lib, x, **how: lib.rfft(x, **how),
        "fft": lambda lib, x, **how: lib.fft(x, **how),
        "ifft": lambda lib, x, **how: lib.ifft(x, **how),
        "irfft": lambda lib, x, n, **how: lib.irfft(lib.fft(x, **how), n, **how),
    }
    for n in (*range(2, 36), 46, 58, 62, 64, 66, 100, 510, 512, 514):
        for lines in (1, 7, 16, 37):
            x = values(n, (lines, n), dtype).real.astype(dtype)
            for name, transform in cases.items():
                how = {"n": n} if name == "irfft" else {}
                exact = transform(np.fft, wide(x), norm="ortho", **how)
                along = transform(flex.fft, flex.asarray(x), norm="ortho", **how)
                across = transform(flex.fft, flex.asarray(x.T.copy()), axis=0, norm="ortho", **how)
                assert error(along, exact) < bound(dtype, n), (name, n, lines)
                assert error(across, exact.T) < bound(dtype, n), (name, n, lines)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_lines_side_by_side(dtype):
    large = np.finfo(dtype).max / 2
    x = np.zeros((40, 8), dtype)
    x[:, 0] = large
    for transform in (flex.fft.rfft, flex.fft.fft):
        assert np.all(np.asarray(transform(flex.asarray(x))) == large)
        assert np.all(np.asarray(transform(flex.asarray(x.T.copy()), axis=0)) == large)
    x[:] = large / 4
    means = np.asarray(flex.fft.rfft(flex.asarray(x), norm="forward"))
    assert np.all(means[:, 0] == large / 4)


def test_non_finite_values_stay_in_their_line():
    x = np.ones((20, 24), dtype="float32")
    x[3, 5], x[17, 0] = np.nan, np.inf
    spectra = np.asarray(flex.fft.rfft(flex.asarray(x)))
    bad = ~np.isfinite(spectra).all(axis=1)
    assert np.flatnonzero(bad).tolist() == [3, 17]


@pytest.mark.parametrize("n", [17 * 16, 31 * 1024, 17 * 29 * 31, 19 * 23 * 64, 31**3])
def test_prime_factors(n):
    for dtype in ("complex64", "complex128"):
        x = values(n, n, dtype)
        assert error(flex.fft.fft(flex.asarray(x)), np.fft.fft(wide(x))) < bound(dtype, n)
    x = values(n, 2 * n, "float32")
    assert error(flex.fft.rfft(flex.asarray(x)), np.fft.rfft(wide(x))) < bound("float32", n)


def test_as_accurate_as_pocketfft():
    """In float64 the error is at most twice that of NumPy's transform."""
    for n in (256, 1000, 4096, 5040, 12289, 46189, 65536):
        x = values(n, n, "complex128")
        want = np.fft.fft(wide(x))
        assert error(flex.fft.fft(flex.asarray(x)), want) < 2 * error(np.fft.fft(x), want), n


POINT = 160  # bits after the point of exact sums


def fixed(x):
    return [int(math.ldexp(v, POINT)) for v in x]


def root_of_unity(n):
    """cos(2 pi / n) and sin(2 pi / n) as integers, by Machin's formula and power series."""

    def arctan(inverse):
        terms = range((POINT + 8) // 4)
        return sum((-1) ** k * one // (inverse ** (2 * k + 1) * (2 * k + 1)) for k in terms)

    one = 1 << POINT + 16
    angle = 8 * (4 * arctan(5) - arctan(239)) // n
    sums, term, k = [0, 0], one, 0
    while term:
        sums[k % 2] += term * (-1) ** (k // 2)
        k += 1
        term = term * angle // (k * one)
    return [s >> 16 for s in sums]


def exact(x, bins):
    """Some bins of the transform of x, real and imaginary parts, far more precise than 128-bit floats."""
    n = len(x)
    step, turns = root_of_unity(n), [(1 << POINT, 0)]
    for _ in range(n - 1):
        (a, b), (c, d) = turns[-1], step
        turns.append(((a * c - b * d) >> POINT, (a * d + b * c) >> POINT))
    cos, sin = zip(*turns, strict=True)
    re, im = fixed(x.real), fixed(x.imag)

    def dot(a, b):
        return sum(map(operator.mul, a, b))

    spectrum = []
    for k in bins:
        c, s = ([of[j * k % n] for j in range(n)] for of in (cos, sin))
        spectrum += [(dot(re, c) + dot(im, s)) >> POINT, (dot(im, c) - dot(re, s)) >> POINT]
    return spectrum


@pytest.mark.parametrize("n", [256, 1000, 4096, 12289])
def test_as_accurate_as_pocketfft_by_exact_sums(n):
    """Powers of two, mixed factors and a prime, against sums of integers instead of long doubles."""
    x = values(n, n, "complex128")
    bins = range(1, n, 1 + n // min(n, 200_000 // n))
    want = exact(x, bins)

    def distance(y):
        parts = np.asarray(y)[bins].view("float64")
        return math.hypot(*(a - b for a, b in zip(fixed(parts), want, strict=True)))

    assert distance(flex.fft.fft(flex.asarray(x))) < 2 * distance(np.fft.fft(x))


def test_matches_scipy_in_single_precision():
    for shape in ((3, 100), (64, 257), (5, 4096)):
        x = values(1, shape, "float32")
        for axis in (0, 1):
            assert (
                error(flex.fft.rfft(flex.asarray(x), axis=axis), scipy.fft.rfft(x, axis=axis))
                < 1e-6
            )


@examples(40)
@given(
    st.lists(st.integers(1, 12), min_size=2, max_size=4).map(tuple),
    st.sampled_from(["float32", "float64", "complex64", "complex128"]),
    st.sampled_from(NORMS),
    st.data(),
)
def test_two_axes(shape, dtype, norm, data):
    x = values(sum(shape), shape, dtype)
    axes = tuple(data.draw(st.permutations(range(len(shape))))[:2])
    s = data.draw(st.none() | st.tuples(st.integers(1, 14), st.integers(1, 14)))
    for options in ({}, {"s": s, "axes": axes, "norm": norm}):
        names = ["fft2", "ifft2", *(["rfft2"] if dtype.startswith("float") else [])]
        if options or shape[-1] > 1:  # without sizes the last one is 2 * (n - 1)
            names.append("irfft2")
        if options and s is None and shape[axes[-1]] == 1:
            names.remove("irfft2")
        for name in names:
            got = getattr(flex.fft, name)(flex.asarray(x), **options)
            want = getattr(np.fft, name)(wide(x), **options)
            assert error(got, want) < bound(dtype, got.size), (name, options)
    y = flex.fft.ifft2(flex.fft.fft2(flex.asarray(x), axes=axes), axes=axes)
    assert error(y, wide(x).astype(np.clongdouble)) < 2 * bound(dtype, x.size)


def test_next_fast_length():
    """By search: powers of two, and those from 8 on times the odd numbers of up to two factors 3, 5 and 7, and 27."""
    odd = [1, 3, 5, 7, 9, 15, 21, 25, 27, 35, 45]
    fast = sorted({m << k for m in odd for k in range(14) if m == 1 or k >= 3})
    for n in range(5000):
        got = flex.fft.next_fast_len(n)
        assert got == next(f for f in fast if f >= n)
        assert n <= got <= 1 << max(n - 1, 0).bit_length()
    for n in (1 << 40, 3 << 40, 45 << 30, (1 << 61) - 1):
        got = flex.fft.next_fast_len(n)
        assert n <= got <= 1.15 * n
        while got % 2 == 0:
            got //= 2
        assert got in odd
    with pytest.raises(ValueError, match="n is -1"):
        flex.fft.next_fast_len(-1)


@pytest.mark.parametrize("name", ["int64", "bool", "uint8"])
def test_integers_give_the_default_complex_dtype(name):
    x = np.arange(6) % 2
    got = flex.fft.fft(flex.asarray(x.astype(name)))
    assert got.dtype is flex.complex64
    assert error(got, np.fft.fft(x)) < 1e-6
    assert flex.fft.irfft(flex.asarray(x.astype(name))).dtype is flex.float32


@pytest.mark.parametrize("dtype", [flex.float16, flex.bfloat16])
def test_halves_are_computed_in_float32(dtype):
    x = flex.asarray([1.0, 2.0, 3.0], dtype=dtype)
    assert flex.fft.rfft(x).dtype is flex.complex64
    assert flex.fft.irfft(x).dtype is flex.float32


@pytest.mark.parametrize("n", [1, 2, 5, 8, 9])
def test_frequencies(n):
    for d in (1.0, 0.25):
        for name in ("fftfreq", "rfftfreq"):
            got = getattr(flex.fft, name)(n, d=d, dtype=flex.float64)
            np.testing.assert_allclose(np.asarray(got), getattr(np.fft, name)(n, d), rtol=1e-15)
            assert getattr(flex.fft, name)(n).dtype is flex.float32


@examples(40)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=3), st.data())
def test_shifts(shape, data):
    x = np.arange(int(np.prod(shape))).reshape(shape)
    axes = data.draw(
        st.one_of(st.none(), st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
    )
    for name in ("fftshift", "ifftshift"):
        got = getattr(flex.fft, name)(flex.asarray(x), axes=axes)
        np.testing.assert_array_equal(np.asarray(got), getattr(np.fft, name)(x, axes))


def test_empty_batches_need_no_plan():
    assert flex.fft.fft(flex.ones((0, 3)), n=1 << 40).shape == (0, 1 << 40)
    with pytest.raises(MemoryError):
        flex.fft.fft(flex.ones(3), n=1 << 50)


def test_errors():
    x = flex.ones((2, 3))
    for call in (
        lambda: flex.fft.fft(x, n=0),
        lambda: flex.fft.fft(x, n=-1),
        lambda: flex.fft.fft(flex.ones((2, 0))),
        lambda: flex.fft.fft(x, norm="both"),
        lambda: flex.fft.fftn(x, s=(2, 2, 2)),
        lambda: flex.fft.rfftn(x, axes=()),
        lambda: flex.fft.irfft(flex.ones(1)),
        lambda: flex.fft.fftfreq(0),
    ):
        with pytest.raises(ValueError, match=r"^\w+: "):
            call()
    for call in (
        lambda: flex.fft.fft(x, axis=2),
        lambda: flex.fft.fftn(x, axes=(0, 0)),
        lambda: flex.fft.fft2(flex.ones(3)),
        lambda: flex.fft.fftshift(x, axes=(5,)),
    ):
        with pytest.raises(flex.AxisError):
            call()
    for call in (
        lambda: flex.fft.rfft(flex.ones(3, dtype=flex.complex64)),
        lambda: flex.fft.fft(flex.ones(3, dtype=flex.float8_e4m3fn)),
        lambda: flex.fft.fftfreq(3, dtype=flex.int64),
    ):
        with pytest.raises(flex.DTypeError):
            call()
    with pytest.raises(MemoryError):
        flex.fft.fft(x, n=1 << 50)


BITS = """
import hashlib, flex, numpy as np
h = hashlib.sha256()
for shape in ((1000, 64), (3, 65536), (200, 257), (2, 12289)):
    x = flex.asarray(np.random.default_rng(5).uniform(-1, 1, shape).astype(np.float32))
    for axis in (0, 1):
        y = flex.fft.rfft(x, axis=axis)
        h.update(np.asarray(y).tobytes())
        h.update(np.asarray(flex.fft.irfft(y, n=shape[axis], axis=axis)).tobytes())
    h.update(np.asarray(flex.fft.fft2(x)).tobytes())
print(h.hexdigest())
"""


@pytest.mark.parametrize("isa", ["scalar", "avx2", "avx512"])
def test_same_bits_on_any_number_of_threads(isa):
    def digest(threads):
        environment = {**os.environ, "FLEX_ISA": isa, "FLEX_NUM_THREADS": str(threads)}
        return subprocess.run(
            [sys.executable, "-c", BITS],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    assert len({digest(threads) for threads in (1, 2, 7)}) == 1


def test_in_a_fused_function():
    @flex.fuse
    def power(x):
        return flex.abs(flex.fft.rfft(x * 2)) + 1

    x = flex.asarray(values(3, 64, "float32"))
    np.testing.assert_array_equal(
        np.asarray(power(x)), np.asarray(flex.abs(flex.fft.rfft(x * 2)) + 1)
    )


STANDARD = """
fft(x, n=None, axis=-1, norm='backward')
ifft(x, n=None, axis=-1, norm='backward')
fftn(x, s=None, axes=None, norm='backward')
ifftn(x, s=None, axes=None, norm='backward')
rfft(x, n=None, axis=-1, norm='backward')
irfft(x, n=None, axis=-1, norm='backward')
rfftn(x, s=None, axes=None, norm='backward')
irfftn(x, s=None, axes=None, norm='backward')
hfft(x, n=None, axis=-1, norm='backward')
ihfft(x, n=None, axis=-1, norm='backward')
fftfreq(n, d=1.0, dtype=None, device=None)
rfftfreq(n, d=1.0, dtype=None, device=None)
fftshift(x, axes=None)
ifftshift(x, axes=None)
"""


@pytest.mark.parametrize("line", STANDARD.split("\n")[1:-1])
def test_parameters_of_the_standard(line):
    """Parameters have the standard's names and defaults, and may be positional as in NumPy."""
    signature = inspect.signature(getattr(flex.fft, line[: line.index("(")]))
    found = [
        p.name if p.default is p.empty else f"{p.name}={p.default!r}"
        for p in signature.parameters.values()
    ]
    assert f"({', '.join(found)})" == line[line.index("(") :]
