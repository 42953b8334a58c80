"""The other distributions of flex.random against SciPy's, random orders and choices, and the functions of the module."""

import copy
import pickle

import numpy as np
import pytest
import scipy.stats as stats
from test_random import fits, rng, values

import flex

N = 40_000


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats(dtype):
    g = rng(5)
    assert fits(g.standard_exponential(N, dtype), stats.expon.cdf)
    assert fits(g.exponential(2.5, N, dtype=dtype), stats.expon(scale=2.5).cdf)
    assert fits(g.gumbel(1, 2, N, dtype=dtype), stats.gumbel_r(1, 2).cdf)
    assert fits(g.logistic(1, 2, N, dtype=dtype), stats.logistic(1, 2).cdf)
    assert fits(g.laplace(1, 2, N, dtype=dtype), stats.laplace(1, 2).cdf)
    assert fits(g.lognormal(0.3, 0.7, N, dtype=dtype), stats.lognorm(0.7, scale=np.exp(0.3)).cdf)
    for a in (0.1, 0.9, 1.0, 4.5, 300.0):
        assert fits(g.standard_gamma(a, N, dtype), stats.gamma(a).cdf)
        assert fits(g.gamma(a, 3, N, dtype=dtype), stats.gamma(a, scale=3).cdf)
    for df in (0.5, 1, 7, 100):
        assert fits(g.chisquare(df, N, dtype=dtype), stats.chi2(df).cdf)


def test_beta():
    g = rng(6)
    for a, b in [(0.2, 0.3), (1, 1), (2, 5), (0.5, 30), (200, 100)]:
        assert fits(g.beta(a, b, N, dtype="float64"), stats.beta(a, b).cdf)


def test_compositions():
    g = rng(13)
    for df in (0.3, 1, 2, 7, 300, 1e6):
        assert fits(g.standard_t(df, N, dtype="float64"), stats.t(df).cdf)
    for pair in ((3, 8), (0.5, 100)):
        assert fits(g.f(*pair, N), stats.f(*pair).cdf)
    for a in (0.4, 1, 6.5):
        assert fits(g.pareto(a, N, dtype="float64"), stats.lomax(a).cdf)
        assert fits(g.power(a, N, dtype="float64"), stats.powerlaw(a).cdf)
        assert fits(g.weibull(a, N), stats.weibull_min(a).cdf)
    assert fits(g.rayleigh(2.5, N), stats.rayleigh(scale=2.5).cdf)
    assert fits(g.standard_cauchy(N), stats.cauchy.cdf)
    for mean, scale in ((1, 1), (3, 0.2), (0.5, 40)):
        expected = stats.invgauss(mean / scale, scale=scale).cdf
        assert fits(g.wald(mean, scale, N, dtype="float64"), expected)
    for mode in (-1, 0.3, 3):
        assert fits(g.triangular(-1, mode, 3, N), stats.triang((mode + 1) / 4, -1, 4).cdf)


COMPOSED = {
    "f": (3, 8),
    "pareto": (3,),
    "power": (3,),
    "rayleigh": (3,),
    "standard_t": (3,),
    "triangular": (-1, 0, 3),
    "wald": (3, 2),
    "weibull": (3,),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_arguments_of_compositions(name):
    def draw(*args, **kwargs):
        return getattr(rng(2), name)(*args, **kwargs)

    given = COMPOSED[name]
    theirs = getattr(np.random.default_rng(2), name)
    assert draw(*given).shape == ()
    assert draw(*given, 10).tolist()[:4] == draw(*given, 4).tolist()
    first = np.array([[given[0]]] * 3)
    assert draw(first, *given[1:], size=(4, 3, 2)).shape == (4, 3, 2)
    lists = [[x, x] for x in given]
    assert draw(*lists).tolist() == draw(*given, 2).tolist()
    assert draw(first, *lists[1:]).shape == theirs(first, *lists[1:]).shape
    assert draw(*given, size=(0, 2)).shape == (0, 2)
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        assert draw(*given, 3, dtype=dtype).dtype == dtype
    double, single = draw(*given, 9, dtype="float64"), draw(*given, 9)
    assert single.tolist() == double.astype("float32").tolist()
    wrong = {
        flex.DTypeError: [{"dtype": "int8"}, {"dtype": "float8_e5m2"}],
        flex.ShapeError: [{"size": -1}, {"size": (2, 3)}],
        TypeError: [{"size": "a"}, {"dtype": "a"}, {"size": 1.5}],
    }
    for error, calls in wrong.items():
        for call in calls:
            parameters = [[x] * 2 for x in given] if call.get("size") == (2, 3) else given
            with pytest.raises((error, ValueError), match=f"^{name}: "):
                draw(*parameters, **call)
    with pytest.raises(flex.DTypeError, match=f"^{name}: .* is complex"):
        draw(1j, *given[1:])
    with pytest.raises(TypeError, match=f"^{name}: "):
        draw("a", *given[1:])
    for bad in (-2, float("nan")) if name != "triangular" else (4, float("nan"), -float("inf")):
        g = rng(2)
        before = g.state
        with pytest.raises(ValueError, match=f"^{name}: "):
            getattr(g, name)(bad, *given[1:], 3)
        assert g.state == before


@pytest.mark.parametrize("name", COMPOSED)
def test_forms_of_sizes(name):
    forms = [3, [3], (2, 3), np.int64(3), np.array([2, 3]), flex.asarray([2, 3]), range(3), ()]
    for size in forms:
        keywords = {"size": size, "dtype": "float64"}
        assert getattr(rng(3), name)(*COMPOSED[name], **keywords).shape == rng().random(size).shape


def test_interrupted_compositions(monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    from flex import _distributions

    g = rng(5)
    before = g.state
    monkeypatch.setattr(_distributions.fx, "expm1", interrupted)
    for draw in (lambda: g.pareto(2, 3), lambda: g.standard_t(3, 3), lambda: g.power(2, 3)):
        with pytest.raises(KeyboardInterrupt):
            draw()
        assert g.state == before
    monkeypatch.undo()
    assert g.pareto(2, 3).tolist() == rng(5).pareto(2, 3).tolist()


def test_edges_of_compositions():
    g = rng(14)
    assert g.rayleigh(0, 2).tolist() == [0, 0]
    assert g.weibull([0.0, np.inf]).tolist() == [0, 1]
    assert g.standard_cauchy((2, 3), "float64").shape == (2, 3)
    assert g.standard_cauchy().shape == ()
    with pytest.raises(
        ValueError, match=r"f: parameters of shape \[2\] and \[3\] do not broadcast"
    ):
        g.f([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="standard_t: df is 0; it must be positive and finite"):
        g.standard_t([3, 0])


def masses(x, distribution):
    """Pearson's test of counts, with neighbours of few expected counted together."""
    x = values(x)
    ks = np.arange(x.min(), x.max() + 1)
    edges, expected, last = [], [], 0
    for k in ks:
        p = distribution.cdf(k) - last
        if p * x.size >= 10:
            edges.append(k)
            expected.append(p)
            last += p
    expected[-1] += 1 - last
    edges[-1] = np.inf
    counts = np.bincount(np.searchsorted(edges, x), minlength=len(edges))
    return stats.chisquare(counts, np.array(expected) * x.size).pvalue > 1e-4


def test_counts():
    g = rng(7)
    for lam in (0.1, 3, 9.9, 10, 50, 2000):
        assert masses(g.poisson(lam, N), stats.poisson(lam))
    for n, p in [(1, 0.5), (30, 0.1), (30, 0.9), (60, 0.5), (5000, 0.01), (5000, 0.7)]:
        assert masses(g.binomial(n, p, N), stats.binom(n, p))
    for p in (0.02, 0.5, 0.99):
        assert masses(g.geometric(p, N), stats.geom(p))
    for n, p in [(1, 0.5), (0.3, 0.1), (20, 0.7), (400.5, 0.2)]:
        assert masses(g.negative_binomial(n, p, N), stats.nbinom(n, p))
    for a in (1.7, 2.5, 4):
        assert masses(flex.minimum(g.zipf(a, N), 60), stats.zipf(a))
    for good, bad, n in [(5, 3, 4), (30, 70, 20), (70, 30, 95), (500, 40, 60), (9000, 5000, 7000)]:
        expected = stats.hypergeom(good + bad, good, n)
        assert masses(g.hypergeometric(good, bad, n, N), expected)
    for p in (0.05, 0.3, 0.9, 0.999):
        assert masses(g.logseries(p, N), stats.logser(p))
    for x in (g.poisson(size=2), g.binomial(3, 0.5, 2), g.geometric(0.5, 2), g.logseries(0.5, 2)):
        assert x.dtype == flex.int64


def test_further_floats():
    g = rng(21)
    for df, nonc in [(0.5, 3), (1, 0), (4, 0.2), (7.5, 30)]:
        x = g.noncentral_chisquare(df, nonc, N, dtype="float64")
        assert fits(x, stats.ncx2(df, nonc).cdf if nonc else stats.chi2(df).cdf)
    for dfnum, dfden, nonc in [(3, 8, 2), (0.7, 20, 5)]:
        assert fits(g.noncentral_f(dfnum, dfden, nonc, N), stats.ncf(dfnum, dfden, nonc).cdf)
    for mu, kappa in [(0, 0), (1.3, 1e-6), (-2, 0.7), (0.5, 40), (1, 5e5), (1, 1e9)]:
        x = values(g.vonmises(mu, kappa, N, dtype="float64"))
        assert np.abs(x).max() <= np.pi
        around = np.angle(np.exp(1j * (x - mu)))
        expected = stats.vonmises(kappa).cdf if kappa else stats.uniform(-np.pi, 2 * np.pi).cdf
        assert fits(flex.asarray(around), expected)


def test_edges_of_further_distributions():
    g = rng(22)
    assert g.hypergeometric([5, 0, 3, 4], [0, 5, 4, 4], [3, 3, 0, 8]).tolist() == [3, 0, 0, 4]
    assert g.negative_binomial(3, 1.0, 2).tolist() == [0, 0]
    assert g.zipf(2000.0, 3).tolist() == [1, 1, 1]
    assert (g.zipf(1 + 1e-9, 1000) >= 1).all()
    assert (g.hypergeometric(10**9, 10**9, 10**9, 100) > 4e8).all()
    assert g.negative_binomial([[1.0], [2.0]], [0.5, 0.1, 0.2]).shape == (2, 3)
    assert g.vonmises([0.0, 1.0], 2.0, dtype="float16").dtype == flex.float16
    colors = [8, 0, 4, 1]
    for method in ("marginals", "count"):
        x = values(g.multivariate_hypergeometric(colors, 6, (N, 2), method))
        assert x.shape == (N, 2, 4)
        assert (x.sum(-1) == 6).all()
        assert masses(flex.asarray(x[:, 0, 2].copy()), stats.hypergeom(13, 4, 6))
    wrong = {
        "hypergeometric: ngood is -1; it must be an integer": lambda: g.hypergeometric(-1, 2, 1),
        "hypergeometric: nsample is 4, of 3 elements": lambda: g.hypergeometric(1, 2, 4),
        "hypergeometric: nbad is 1.5;": lambda: g.hypergeometric(1, 1.5, 1),
        "negative_binomial: p is 0; it must be above 0": lambda: g.negative_binomial(1, 0),
        "negative_binomial: n is 0; it must be positive": lambda: g.negative_binomial(0, 0.5),
        "negative_binomial: n is 1e19 and p 0.1; int64": lambda: g.negative_binomial(1e19, 0.1),
        "zipf: a is 1; it must be above 1": lambda: g.zipf(1),
        "vonmises: kappa is -1; it must not be negative": lambda: g.vonmises(0, -1),
        "vonmises: mu is inf; it must be finite": lambda: g.vonmises(np.inf, 1),
        "noncentral_chisquare: nonc is -1;": lambda: g.noncentral_chisquare(1, -1),
        "noncentral_f: dfden is 0; it must be positive": lambda: g.noncentral_f(1, 0, 1),
        "multivariate_hypergeometric: colors has -1;": lambda: g.multivariate_hypergeometric(
            [-1], 1
        ),
        "multivariate_hypergeometric: nsample is 3, of 2 elements": lambda: (
            g.multivariate_hypergeometric([1, 1], 3)
        ),
        "multivariate_hypergeometric: method is": lambda: g.multivariate_hypergeometric(
            [1], 1, method="a"
        ),
    }
    before = g.state
    for message, call in wrong.items():
        with pytest.raises(ValueError, match=f"^{message}"):
            call()
    assert g.state == before


def test_methods_of_normal_vectors():
    cov = np.array([[2.0, 0.7], [0.7, 0.5]])
    for method in ("cholesky", "eigh", "svd"):
        x = values(rng(23).multivariate_normal([1.0, -1.0], cov, N, method=method, dtype="float64"))
        assert np.allclose(np.cov(x.T), cov, atol=0.06)
        white = np.linalg.solve(np.linalg.cholesky(cov), (x - [1, -1]).T)
        for row in white:
            assert fits(flex.asarray(row.copy()), stats.norm.cdf)
    assert rng().multivariate_normal([0.0], [[1.0]], method="svd").shape == (1,)
    flat = rng().multivariate_normal([0.0, 0.0], np.ones((2, 2)), 5, method="eigh", dtype="float64")
    assert flex.allclose(flat[:, 0], flat[:, 1], atol=1e-6)
    for bad in ([[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.5], [0.0, 1.0]]):
        for method in ("cholesky", "eigh", "svd"):
            g = rng(2)
            before = g.state
            with pytest.raises(ValueError, match="multivariate_normal: cov must be symmetric"):
                g.multivariate_normal([0.0, 0.0], bad, 3, method=method)
            assert g.state == before
        with pytest.warns(RuntimeWarning, match="cov must be symmetric"):
            g.multivariate_normal([0.0, 0.0], bad, 3, "warn", method="svd")
        assert g.multivariate_normal([0.0, 0.0], bad, 3, "ignore", method="eigh").shape == (3, 2)
    assert g.multivariate_normal([0.0, 0.0], np.diag([1.0, -1e-3]), 3, "raise", 0.1, method="svd")[
        :, 0
    ].shape == (3,)
    for call in (
        lambda: g.multivariate_normal([0.0], [[1.0]], check_valid="a"),
        lambda: g.multivariate_normal([0.0], [[1.0]], method="a"),
        lambda: g.multivariate_normal([0.0], [[np.inf]], method="svd"),
    ):
        with pytest.raises(ValueError, match="multivariate_normal: "):
            call()
    with pytest.raises(flex.ShapeError, match=r"multivariate_normal: mean is \[n\]"):
        g.multivariate_normal([0.0, 0.0], [[1.0]], method="svd")


def test_logarithmic_series():
    assert rng(2).logseries([0.5, 0.9]).shape == (2,)
    assert rng(2).logseries(0.5, 9).tolist()[:4] == rng(2).logseries(0.5, 4).tolist()
    assert (rng(2).logseries(1 - 2**-53, 1000) >= 1).all()
    for p in (-0.1, 1, float("nan")):
        g = rng(2)
        before = g.state
        with pytest.raises(ValueError, match="logseries: p is"):
            g.logseries(p, 3)
        assert g.state == before


def test_parameters_broadcast():
    g = rng(8)
    lam = flex.asarray([1.0, 100.0])
    assert g.poisson(lam).shape == (2,)
    x = values(g.poisson(lam, (N, 2))).mean(axis=0)
    assert abs(x[0] - 1) < 0.05
    assert abs(x[1] - 100) < 0.5
    x = g.binomial(flex.asarray([[3], [10]]), np.array([0.0, 1.0]))
    assert x.tolist() == [[0, 3], [0, 10]]
    assert g.gamma(np.ones((2, 1)), flex.zeros(3)).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_vectors():
    g = rng(9)
    p = np.array([0.2, 0.5, 0.3])
    x = values(g.multinomial(50, p, size=(20, 1000)))
    assert x.shape == (20, 1000, 3)
    assert (x.sum(axis=-1) == 50).all()
    assert masses(flex.asarray(x[..., 1].ravel().copy()), stats.binom(50, 0.5))
    rows = np.array([[0.5, 0.5], [0.0, 1.0]])
    for n, pvals, size in (
        (5, rows, None),
        ([3, 4], rows, None),
        ([[3], [4]], rows, (2, 2)),
        ([2], p, None),
    ):
        x = g.multinomial(n, pvals, size)
        assert x.shape == np.random.default_rng(1).multinomial(n, pvals, size).shape
        assert (values(x).sum(axis=-1) == np.broadcast_to(n, x.shape[:-1])).all()
    assert g.multinomial([5, 6], rows)[1].tolist() == [0, 6]
    x = values(g.dirichlet(flex.asarray([0.5, 2.0, 3.0]), size=N, dtype="float64"))
    assert np.allclose(x.sum(axis=1), 1)
    assert fits(flex.asarray(x[:, 0].copy()), stats.beta(0.5, 5).cdf)
    cov = np.array([[2.0, 0.7], [0.7, 0.5]])
    x = values(g.multivariate_normal(np.array([1.0, -1.0]), cov, size=N, dtype="float64"))
    assert np.allclose(x.mean(axis=0), [1, -1], atol=0.04)
    assert np.allclose(np.cov(x.T), cov, atol=0.06)
    white = np.linalg.solve(np.linalg.cholesky(cov), (x - [1, -1]).T)
    for row in white:
        assert fits(flex.asarray(row.copy()), stats.norm.cdf)


def test_orders():
    g = rng(10)
    assert sorted(g.permutation(100).tolist()) == list(range(100))
    x = flex.asarray(np.arange(12).reshape(4, 3))
    rows = g.permutation(x).tolist()
    assert sorted(rows) == x.tolist()
    columns = g.permutation(x, axis=1)
    assert sorted(columns.T.tolist()) == x.T.tolist()
    y = x.copy()
    view = x[1:]
    g.shuffle(y, axis=1)
    assert sorted(y.T.tolist()) == x.T.tolist()
    g.shuffle(view)
    assert sorted(view.tolist()) == np.arange(3, 12).reshape(3, 3).tolist()
    big = flex.arange(1000).reshape(10, 100)
    mixed = g.permuted(big, axis=1)
    assert (mixed.sort(axis=1) == big).all()
    assert (mixed % 100 != mixed[0]).any()
    flat = g.permuted(big)
    assert flat.shape == big.shape
    assert (flat.reshape(-1).sort() == flex.arange(1000)).all()
    assert (flat // 100 != big // 100).any()


def test_choices():
    g = rng(11)
    assert g.choice(5).shape == ()
    assert g.choice(5, (2, 3)).shape == (2, 3)
    x = flex.asarray(np.arange(24).reshape(2, 4, 3))
    assert g.choice(x, (5, 6), axis=1).shape == (2, 5, 6, 3)
    assert g.choice(x, axis=2).shape == (2, 4)
    assert sorted(g.choice(x, 4, replace=False, axis=1)[0, :, 0].tolist()) == [0, 3, 6, 9]
    letters = flex.asarray([10, 20, 30])
    counts = np.bincount(values(g.choice(letters, N, p=np.array([0.2, 0, 0.8]))))
    assert counts[20] == 0
    assert stats.chisquare(counts[[10, 30]], [0.2 * N, 0.8 * N]).pvalue > 1e-4
    assert len(set(g.choice(10**12, 1000, replace=False).tolist())) == 1000


def test_lists_as_parameters():
    """Their floats keep their digits, as arrays of float64 have them."""
    p, mean = [0.1, 0.2, 0.7], [1.0, -2.0]
    covariance = [[2.0, 0.3], [0.3, 1.0]]
    array = np.asarray
    pairs = [
        (lambda g: g.choice(3, 50, p=p), lambda g: g.choice(3, 50, p=array(p))),
        (lambda g: g.multinomial(9, p, 5), lambda g: g.multinomial(9, array(p), 5)),
        (lambda g: g.dirichlet(p, 5), lambda g: g.dirichlet(array(p), 5)),
        (
            lambda g: g.multivariate_normal(mean, covariance, 5),
            lambda g: g.multivariate_normal(array(mean), array(covariance), 5),
        ),
        (
            lambda g: g.normal([0.1, 5], (1, 0.3), (4, 2)),
            lambda g: g.normal(array([0.1, 5]), array([1, 0.3]), (4, 2)),
        ),
        (lambda g: g.poisson([1, 100.5]), lambda g: g.poisson(array([1, 100.5]))),
        (lambda g: g.integers([0, 5], [3, 9]), lambda g: g.integers(array([0, 5]), array([3, 9]))),
    ]
    for lists, arrays in pairs:
        assert lists(rng(4)).tolist() == arrays(rng(4)).tolist()
    with pytest.raises(ValueError, match=r"choice: p sums to 0\.75; it must sum to 1"):
        rng().choice(2, p=[0.5, 0.25])
    with pytest.raises(TypeError, match=r"^normal: loc: .*got str"):
        rng().normal("a")


def test_bytes_and_related_generators():
    assert rng().bytes(7) == rng().bytes(100)[:7]
    assert rng().bytes(0) == b""
    g = rng(12)
    children = [*g.spawn(3), *g.spawn(2), g, g.jumped(), g.jumped(5)]
    firsts = {child.random((), "float64").item() for child in children}
    assert len(firsts) == 8
    again = rng(12)
    assert [c.state for c in again.spawn(5)] == [c.state for c in rng(12).spawn(5)]
    restored = pickle.loads(pickle.dumps(again))
    assert restored.spawn(1)[0].state == again.spawn(1)[0].state
    assert copy.copy(again).spawn(1)[0].state == again.spawn(1)[0].state


def test_functions_of_the_module():
    flex.random.seed(3)
    g = rng(3)
    assert (flex.random.rand(2, 3) == g.random((2, 3))).all()
    assert (flex.random.randn((4,), dtype="float64") == g.standard_normal(4, "float64")).all()
    assert (flex.random.randint(3, 9, (2, 2)) == g.integers(3, 9, (2, 2))).all()
    assert (flex.random.randperm(9, dtype="int32") == g.permutation(9)).all()
    assert flex.random.rand().shape == ()
    for name in ("rand", "randn", "randint", "randperm"):
        with pytest.raises(AttributeError, match=f"write flex.random.{name}"):
            getattr(flex, name)
    with pytest.raises(AttributeError, match=r"write flex.random.seed\(seed\)"):
        _ = flex.manual_seed


def test_errors_leave_the_state():
    g = rng()
    g.random(3)
    before = g.state
    wrong = {
        "exponential: scale is -1; it must not be negative": lambda: g.exponential(-1),
        "gumbel: scale is NaN; it must not be negative": lambda: g.gumbel(0, float("nan")),
        "lognormal: sigma is -2; it must not be negative": lambda: g.lognormal(0, -2),
        "standard_gamma: shape is -1; it must not be negative, and be finite": lambda: (
            g.standard_gamma(-1)
        ),
        "chisquare: df is 0; it must be positive and finite": lambda: g.chisquare(0),
        "beta: b is -3; it must be positive and finite": lambda: g.beta(1, -3),
        "binomial: n is 2.5; it must be an integer from 0 to 2^63 - 1": lambda: g.binomial(
            2.5, 0.5
        ),
        "binomial: p is 1.5; it must be from 0 to 1": lambda: g.binomial(3, 1.5),
        "geometric: p is 0; it must be above 0, and at most 1": lambda: g.geometric(0),
        "multinomial: n is -1; it must be an integer from 0 to 2^63 - 1": lambda: g.multinomial(
            -1, flex.ones(1)
        ),
        "multinomial: pvals sums to 2; it must sum to 1": lambda: g.multinomial(3, flex.ones(2)),
        "choice: 6 of 5 can't be chosen without replacement": lambda: g.choice(5, 6, replace=False),
        "choice: there are 0 to choose 1 from": lambda: g.choice(0),
        "choice: p has -1; probabilities are from 0 to 1": lambda: g.choice(
            2, p=np.array([-1.0, 2.0])
        ),
        "choice: 2 can't be chosen: p has 1 that are not 0": lambda: g.choice(
            2, 2, replace=False, p=np.array([0.0, 1.0])
        ),
        "permutation: x is 2.5; it must be an integer or a tensor": lambda: g.permutation(2.5),
        "permutation: x is -1; it must not be negative": lambda: g.permutation(-1),
        "bytes: length is -1; it must not be negative": lambda: g.bytes(-1),
        "jumped: jumps is -1; it must not be negative": lambda: g.jumped(-1),
    }
    for message, call in wrong.items():
        with pytest.raises((ValueError, TypeError)) as error:
            call()
        assert str(error.value) == message
    with pytest.raises(flex.ShapeError, match=r"^choice: p must have the shape \[3\]"):
        g.choice(3, p=flex.ones(2))
    with pytest.raises(flex.AxisError):
        g.shuffle(flex.ones(3), axis=1)
    with pytest.raises(TypeError, match=r"^shuffle: x: expected a Tensor, .* got list"):
        g.shuffle([1, 2])
    with pytest.raises(flex.DTypeError):
        g.gamma(1, dtype="int64")
    for huge in (lambda: g.poisson(3, 1 << 50), lambda: g.permutation(1 << 50)):
        with pytest.raises(MemoryError):
            huge()
    with pytest.raises(MemoryError):
        g.bytes(1 << 60)
    assert g.state == before
