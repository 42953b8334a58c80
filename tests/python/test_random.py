"""flex.random: NumPy's signatures, distributions against SciPy's, and that numbers depend on the seed and position alone."""

import copy
import pickle
import threading

import numpy as np
import pytest
import scipy.stats as stats

import flex

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def rng(seed=1):
    return flex.random.default_rng(seed)


def values(x):
    return np.asarray(x.astype("float64") if x.dtype.kind == "f" else x)


def fits(x, cumulative):
    """Kolmogorov and Smirnov's test."""
    return stats.kstest(values(x).ravel(), cumulative).pvalue > 1e-4


def test_seeds():
    for seed in (0, 1, 2**64 - 1, 2**64, 2**200 + 1, np.int64(5)):
        a, b = rng(seed), rng(seed)
        assert a is not b
        assert (a.random(5) == b.random(5)).all()
        assert flex.random.default_rng(a) is a
    firsts = {rng(seed).random((), "float64").item() for seed in range(1000)}
    assert len(firsts) == 1000
    assert rng(None).random().item() != rng(None).random().item()
    with pytest.raises(ValueError, match=r"^default_rng: seed is -1; it must not be negative$"):
        rng(-1)
    with pytest.raises(TypeError, match=r"^default_rng: seed: expected an integer, .* got str$"):
        rng("a")


def test_copies_and_pickles():
    a = rng()
    a.random(10)
    others = [copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a))]
    fresh = rng(77)
    fresh.state = a.state
    want = values(a.normal(size=50))
    for other in [*others, fresh]:
        assert other is not a
        assert (values(other.normal(size=50)) == want).all()
        assert other.state == a.state
    assert repr(a) == "Generator(Philox4x32)"
    with pytest.raises(TypeError):
        fresh.state = 3


def test_sizes_and_dtypes():
    g = rng()
    assert g.random().shape == ()
    assert g.random(3).shape == (3,)
    assert g.random((2, 0)).shape == (2, 0)
    assert g.uniform(0, [1][0], [2, 3]).shape == (2, 3)
    assert g.normal(flex.zeros((3, 1)), np.ones(4)).shape == (3, 4)
    assert g.integers(5).shape == ()
    assert g.integers(flex.asarray([1, 2, 3])).shape == (3,)
    assert g.integers(5, size=3).dtype == flex.int64
    for dtype in FLOATS:
        for draw in (g.random, g.standard_normal):
            assert draw(3, dtype).dtype == dtype
        assert g.uniform(0, 1, 3, dtype=dtype).dtype == dtype
        assert g.normal(0, 1, 3, dtype=dtype).dtype == dtype
    for dtype in INTEGERS:
        assert g.integers(0, 100, 3, dtype).dtype == dtype
    assert set(g.integers(0, 2, 100, bool).tolist()) == {False, True}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats(dtype):
    g = rng(3)
    assert fits(g.random(100_000, dtype), stats.uniform.cdf)
    assert fits(g.uniform(-2, 3, 100_000, dtype=dtype), stats.uniform(-2, 5).cdf)
    assert fits(g.standard_normal(100_000, dtype), stats.norm.cdf)
    assert fits(g.normal(2, 3, 100_000, dtype=dtype), stats.norm(2, 3).cdf)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bit_floats(dtype):
    bits = {"float16": 11, "bfloat16": 8}[dtype]
    x = values(rng().random(100_000, dtype)) * 2**bits
    counts = np.bincount(x.astype(int), minlength=2**bits)
    assert counts.size == 2**bits
    assert stats.chisquare(counts).pvalue > 1e-4
    z = values(rng().standard_normal(100_000, dtype))
    assert abs(z.mean()) < 0.02
    assert abs(z.std() - 1) < 0.02


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype):
    g = rng(4)
    info = np.iinfo(dtype)
    x = values(g.integers(info.min, info.max, 50_000, dtype, endpoint=True))
    counts = np.bincount(((x.astype(object) - info.min) * 16 // 2**info.bits).astype(int))
    assert stats.chisquare(counts).pvalue > 1e-4
    low, high = (-20, 37) if info.min else (5, 62)
    x = values(g.integers(low, high, 57_000, dtype))
    assert stats.chisquare(np.bincount(x.astype(np.int64) - low)).pvalue > 1e-4


def test_prefixes_and_threads():
    draws = {
        "random": lambda g, n: g.random(n),
        "random64": lambda g, n: g.random(n, "float64"),
        "normal": lambda g, n: g.normal(1, 2, n),
        "normal64": lambda g, n: g.standard_normal(n, "float64"),
        "integers": lambda g, n: g.integers(0, 6, n),
        "wide": lambda g, n: g.integers(0, 3 << 61, n),
    }
    for draw in draws.values():
        whole = values(draw(rng(), 100_003))
        for n in (1, 4, 33, 5000):
            assert (values(draw(rng(), n)) == whole[:n]).all()
        for threads in (1, 2, 5):
            with flex.threads(threads):
                assert (values(draw(rng(), 100_003)) == whole).all()


def test_threads_share_a_generator():
    g, parts = rng(), []

    def draw():
        for _ in range(20):
            parts.append(tuple(g.random(1000, "float64").tolist()))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    serial = rng()
    want = {tuple(serial.random(1000, "float64").tolist()) for _ in range(80)}
    assert set(parts) == want


def test_errors_leave_the_state():
    g = rng()
    g.random(3)
    before = g.state
    wrong = {
        "uniform: low is 2, above high, which is 1": lambda: g.uniform(2, 1),
        "uniform: high is inf; it must be finite": lambda: g.uniform(0, float("inf")),
        "normal: scale is -1; it must not be negative": lambda: g.normal(0, -1),
        "normal: scale: expected a Tensor, an array or a number, got str": lambda: g.normal(0, "a"),
        "random: not defined for int32": lambda: g.random(3, "int32"),
        "random: size is [-1], with a negative size": lambda: g.random(-1),
        "integers: low is 5 and high 5; low must be below high": lambda: g.integers(5, 5),
        "integers: low is 0 and high 300; uint8 holds the integers from 0 to 255": lambda: (
            g.integers(0, 300, dtype="uint8")
        ),
        "integers: high is 2.5; it must be an integer": lambda: g.integers(2.5),
    }
    for message, call in wrong.items():
        with pytest.raises((ValueError, TypeError)) as error:
            call()
        assert str(error.value) == message
    with pytest.raises(MemoryError):
        g.random((1 << 30, 1 << 20))
    with pytest.raises(MemoryError):
        g.normal(1, 2, (1 << 30, 1 << 20))
    with pytest.raises(flex.ShapeError):
        g.normal(flex.zeros(2), 1, 3)
    assert g.state == before
    assert (g.uniform(3, 3, 5) == 3).all()


def test_lists_as_populations():
    rng = flex.random.default_rng(5)
    drawn = rng.choice([10, 20, 30], size=50)
    assert drawn.dtype == flex.int64
    assert set(drawn.tolist()) == {10, 20, 30}
    assert sorted(rng.permutation([3, 1, 2]).tolist()) == [1, 2, 3]
    assert sorted(rng.permuted([[1, 2], [3, 4]], axis=1).sum(axis=1).tolist()) == [3, 7]
    assert set(rng.choice([0.5, 1.5], size=20, p=[1.0, 0.0]).tolist()) == {0.5}
