"""Numbers whose powers, sums or differences leave the range of their dtype, or cancel, although the results do not: against the
definitions in longdouble, scaled by the largest, or in rational numbers."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.special import erfc

import flex
from flex import nn

UNITS = {
    "float32": (1e19, 1e30, 5e37, 1, 1e-12, 1e-23, 1e-25),
    "bfloat16": (1e19, 1e30, 1, 1e-23),
    "float64": (1e155, 1e300, 1, 1e-160, 1e-280),
}
CASES = [(dtype, unit) for dtype, units in UNITS.items() for unit in units]
# The error of 16-bit floats is that of their rounding.
TOLERANCE = {"float32": 4e-6, "bfloat16": 1e-2, "float64": 1e-13}


def whole(x):
    return x.astype("float64").numpy().astype(np.longdouble)


def drawn(dtype, *shape, unit=1.0, seed=0):
    """A tensor and its numbers."""
    x = np.random.default_rng(seed).standard_normal(shape) * unit
    x = flex.asarray(x, dtype=dtype)
    return x, whole(x)


def norm(x, p):
    most = np.abs(x).max(-1, keepdims=True)
    shares = np.abs(x) / np.where(most == 0, 1, most)
    return most[..., 0] * (shares ** np.longdouble(p)).sum(-1) ** (1 / np.longdouble(p))


def check(got, want, dtype, scale=None):
    """Compares with numbers of about `scale`, or else with each number; infinite ones are beyond the dtype."""
    got, most = whole(got), float(flex.finfo(dtype).max)
    fits = np.abs(want) <= most
    assert not np.isnan(got).any()
    assert (np.abs(got[~fits]) > most / 1.01).all()
    scale = np.broadcast_to(np.abs(want) if scale is None else scale, want.shape)[fits]
    wrong = np.abs(got - want)[fits] > TOLERANCE[dtype] * scale
    assert not wrong.any(), (got[fits][wrong][:3], want[fits][wrong][:3])


@pytest.mark.parametrize("p", [1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 40, 300])
@pytest.mark.parametrize(("dtype", "unit"), CASES)
def test_distances(dtype, unit, p):
    a, b = drawn(dtype, 4, 5, unit=unit)[0], drawn(dtype, 6, 5, unit=unit, seed=1)[0]
    b[1], b[2] = a[1], 0
    a[0], b[0] = a[0] / unit, b[0] / unit
    x, y = whole(a), whole(b)
    apart = x[:, None] - y
    check(nn.cdist(a, b, p=p), norm(apart, p), dtype)
    pairs = norm(x - y[:4], p)
    check(nn.pairwise_distance(a, b[:4], p=p, eps=0.0), pairs, dtype)
    check(nn.pdist(b, p=p), norm(y[:, None] - y, p)[np.triu_indices(6, 1)], dtype)


@pytest.mark.parametrize(("dtype", "unit"), CASES)
def test_distances_by_a_product(dtype, unit):
    a, b = drawn(dtype, 2, 30, 5, unit=unit)[0], drawn(dtype, 28, 5, unit=unit, seed=1)[0]
    a[:, 0], b[0], a[:, 1], b[1] = a[:, 0] / unit, b[0] / unit, 0, 0
    x, y = whole(a), whole(b)
    # of close points, as many digits are lost as the points have in common
    scale = norm(x, 2)[:, :, None] + norm(y, 2)
    check(nn.cdist(a, b), norm(x[:, :, None] - y, 2), dtype, scale)


def test_components_of_unequal_size():
    a, b = flex.asarray([[1.0, 1e-25]]), flex.asarray([[1.0, 0.0]])
    assert abs(nn.cdist(a, b).item() / 1e-25 - 1) < 1e-6


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, 4, 7])
@pytest.mark.parametrize(("dtype", "unit"), CASES)
def test_pools_by_a_norm(dtype, unit, p):
    x = np.abs(np.random.default_rng(2).standard_normal((2, 3, 24)) * unit)
    x[0, 0], x[0, 1, :8], x[0, 1, 9:20] = x[0, 0] / unit, 0, x[0, 1, 9:20] / 1e6
    t = flex.asarray(x, dtype=dtype)
    x = whole(t)
    for size, stride in ((3, 3), (4, 2)):
        windows = np.lib.stride_tricks.sliding_window_view(x, size, -1)[..., ::stride, :]
        y = norm(windows, p)
        check(nn.lp_pool1d(t, p, size, stride=stride), y, dtype)
        grad, g = drawn(dtype, *y.shape, seed=3)
        slopes = (windows / np.where(y == 0, 1, y)[..., None]) ** np.longdouble(p - 1)
        want = np.zeros_like(x)
        for k in range(y.shape[-1]):
            at = slice(k * stride, k * stride + size)
            kept = g if p == 1 else np.where(y == 0, 0, g)
            want[..., at] += kept[..., k, None] * slopes[..., k, :]
        got = nn.grad.lp_pool1d(grad, t, p, size, stride=stride)
        check(got, want, dtype, 5 * np.abs(g).max())


def of_rows(g, x, weight, eps, centre):
    """The gradients of normalised rows: of the rows, and the terms of that of the weight."""
    mean = x.mean(-1, keepdims=True) if centre else 0
    most = np.abs(x - mean).max(-1, keepdims=True)
    v = (x - mean) / most
    scale = 1 / np.sqrt((v * v).mean(-1, keepdims=True) + eps / most / most)
    v, u = v * scale, g * weight
    apart = u - (u.mean(-1, keepdims=True) if centre else 0) - v * (u * v).mean(-1, keepdims=True)
    return apart * scale / most, g * v


def check_rows(got, rows, dtype, terms, axes):
    """The gradient of rows, and that of the weight."""
    of_x, of_weight = got
    check(of_x, rows, dtype, 4 * np.abs(rows).max(-1, keepdims=True))
    check(of_weight, terms.sum(axes), dtype, 4 * np.abs(terms).sum(axes))


@pytest.mark.parametrize("eps", [0.0, 1e-5])
@pytest.mark.parametrize(("dtype", "unit"), CASES)
def test_gradients_of_norms(dtype, unit, eps):
    if eps and unit < 1:
        return  # they are nothing next to it
    (grad, g), (weight, w) = drawn(dtype, 6, 8), drawn(dtype, 8, seed=1)
    x, _ = drawn(dtype, 6, 8, unit=unit, seed=2)
    x[0] = x[0] / unit
    rows, terms = of_rows(g, whole(x), w, eps, True)
    got = nn.grad.layer_norm(grad, x, 8, weight=weight, eps=eps)[:2]
    check_rows(got, rows, dtype, terms, 0)
    rows, terms = of_rows(g, whole(x), w, eps, False)
    got = nn.grad.rms_norm(grad, x, 8, weight=weight, eps=eps)
    check_rows(got, rows, dtype, terms, 0)
    # rows as the channels of a batch
    rows, terms = of_rows(g, whole(x), 1, eps, True)
    d, of_weight, _ = nn.grad.batch_norm(grad.T, x.T, training=True, eps=eps)
    check_rows((d.T, of_weight), rows, dtype, terms, -1)
    for batch, groups, channels, n in ((2, 2, 4, 5), (4, 5, 10, 40), (2, 2, 4, 40)):
        shape = batch, groups, channels // groups * n
        (grad_, g_), (x, _) = drawn(dtype, *shape), drawn(dtype, *shape, unit=unit, seed=1)
        weight, w = drawn(dtype, channels, seed=2)
        x[0, 0] = x[0, 0] / unit
        rows, terms = of_rows(g_, whole(x), np.repeat(w, n).reshape(shape[1:]), eps, True)
        image = batch, channels, n
        d, of_weight, _ = nn.grad.group_norm(
            grad_.reshape(image), x.reshape(image), groups, weight=weight, eps=eps
        )
        check_rows((d.reshape(shape), of_weight), rows, dtype, terms.reshape(image), (0, 2))


def quotient(a, b):
    """a / b, rounded once."""
    (p, q), (r, s) = ((Fraction(z.real), Fraction(z.imag)) for z in (a, b))
    size = r * r + s * s
    return complex((p * r + q * s) / size, (q * r - p * s) / size)


@pytest.mark.parametrize(("dtype", "eps"), [("complex64", 2.0**-23), ("complex128", 2.0**-52)])
def test_quotients_of_the_largest_complex_numbers(dtype, eps):
    most = float(flex.finfo(dtype).max)
    parts = (most, -most, 0.75 * most, most / 2, 1.0, 0.0)
    numbers = np.array([complex(*z) for z in product(parts, parts)], dtype)
    a, b = numbers[:, None], numbers[numbers != 0]
    results = [(flex.asarray(a) / flex.asarray(b), a, b)]
    results.append((flex.reciprocal(flex.asarray(b)), np.ones(1, dtype), b))
    results.append((flex.fuse(lambda x, y: x / y)(flex.asarray(a), flex.asarray(b)), a, b))
    for got, a, b in results:
        a, b = np.broadcast_arrays(a, b)
        for x, y, z in zip(a.flat, b.flat, got.numpy().flat, strict=True):
            try:
                want = quotient(complex(x), complex(y))
            except OverflowError:
                continue
            size = max(abs(want.real), abs(want.imag))
            if size < 0.99 * most:
                # numbers below the least normal one have that one's spacing
                assert abs(complex(z) - want) <= 4 * eps * max(size, 4 / most), (x, y, z)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_means_of_the_largest_complex_numbers(dtype):
    most = 0.999 * float(flex.finfo(dtype).max)
    x = np.full((37, 70), complex(most, -most / 2), dtype)
    x[1] = complex(-most, most)
    x[2] = 0
    t = flex.asarray(x)
    for axis, n in ((None, x.size), (0, 37), (1, 70)):
        parts = np.stack([x.real, x.imag]).astype(np.longdouble) / n
        want = parts.sum((1, 2) if axis is None else axis + 1) / np.longdouble(most)
        for mean in (flex.mean, flex.fuse(flex.mean)):
            got = mean(t, axis=axis).numpy()
            got = np.stack([got.real, got.imag]).astype(np.longdouble) / np.longdouble(most)
            np.testing.assert_allclose(
                got.astype(float), want.astype(float), atol=1e-6 if dtype == "complex64" else 1e-14
            )


def test_tails_of_gelu():
    x = np.concatenate([-np.geomspace(1e-6, 12, 100_000), np.geomspace(1e-6, 12, 100_000)])
    t = flex.asarray(x, dtype="float32")
    x = t.numpy().astype(np.longdouble)
    exact = (x / 2 * erfc(-(x / np.sqrt(np.longdouble(2))).astype("float64"))).astype(float)
    gate = np.sqrt(8 / np.longdouble(np.pi)) * (x + np.longdouble("0.044715") * x**3)
    by_tanh = (x / (1 + np.exp(-gate))).astype(float)
    for approximate, want, far in (("none", exact, 3e-6), ("tanh", by_tanh, 1.5e-6)):
        got = nn.gelu(t, approximate=approximate).numpy().astype(float)
        normal = np.abs(want) > 1e-37
        error = (np.abs(got - want) / np.abs(want))[normal]
        assert error.max() < far
        near = x[normal] > -3
        assert error[near].max() < 1e-6
        assert np.abs(got - want)[~normal].max(initial=0) < 1e-43


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_classes_of_weight_0_do_not_count(reduction):
    """Their log-probability may be -inf."""
    x = np.array([[1.0, -np.inf, 0.5], [0.25, -np.inf, -2.0]])
    weight, share = np.array([2.0, 0.0, 0.5]), 0.3
    targets = np.array([0, 2])
    kept = [0, 2]
    logs = x - np.log(np.exp(x).sum(1, keepdims=True))
    own = -weight[targets] * logs[[0, 1], targets]
    spread = -(weight[kept] * logs[:, kept]).sum(1) / 3
    terms = (1 - share) * own + share * spread
    whole = {"none": terms, "sum": terms.sum(), "mean": terms.sum() / weight[targets].sum()}
    options = {"weight": flex.asarray(weight), "label_smoothing": share, "reduction": reduction}
    got = nn.cross_entropy(flex.asarray(x), flex.asarray(targets), **options)
    np.testing.assert_allclose(got.numpy(), whole[reduction], rtol=1e-12)
    # as probabilities
    whole["mean"] = terms.mean()
    got = nn.cross_entropy(flex.asarray(x), flex.asarray(np.eye(3)[targets]), **options)
    np.testing.assert_allclose(got.numpy(), whole[reduction], rtol=1e-12)
