"""Activations, norms, losses, distances, dropout and recurrent layers, beyond the stored torch results."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import flex
from flex import nn

EPSILON = 2.0**-23
SHAPES = st.lists(st.integers(0, 5), min_size=2, max_size=4).map(tuple)


def numbers(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@given(SHAPES, st.integers(0, 3))
def test_batch_norm(shape, seed):
    x = numbers(shape, seed)
    axes = tuple(k for k in range(x.ndim) if k != 1)
    assume(x.size != shape[1])  # one value a channel
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # means of empty slices
        mean = x.mean(axes, keepdims=True, dtype=np.float64)
        deviation = np.sqrt(x.var(axes, keepdims=True, dtype=np.float64) + 1e-5)
        want = (x - mean) / deviation
    got = nn.batch_norm(flex.asarray(x), None, None, training=True)
    assert got.shape == shape
    # the mean and its difference to x are rounded at the size of x, before the division
    largest = np.abs(x).max(axes, keepdims=True, initial=0)
    assert np.all(np.abs(np.asarray(got) - want) <= 4 * EPSILON * largest / deviation)


@given(SHAPES, SHAPES)
def test_losses_broadcast(a, b):
    try:
        shape = np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(flex.ShapeError, match="mse_loss"):
            nn.mse_loss(flex.zeros(a), flex.zeros(b))
        return
    x, t = numbers(a, 1), numbers(b, 2)
    terms = (x.astype(np.float64) - t) ** 2
    got = nn.mse_loss(flex.asarray(x), flex.asarray(t), reduction="none")
    assert got.shape == shape
    np.testing.assert_allclose(np.asarray(got), terms, rtol=2 * EPSILON, atol=0)
    total = nn.mse_loss(flex.asarray(x), flex.asarray(t), reduction="sum").item()
    assert total == pytest.approx(terms.sum(), rel=4 * EPSILON, abs=0)


@given(st.integers(0, 6), st.integers(1, 6), st.data())
def test_class_indices(batch, classes, data):
    targets = data.draw(st.lists(st.integers(-2, classes), min_size=batch, max_size=batch))
    x, t = flex.asarray(numbers((batch, classes))), flex.asarray(targets, dtype="int64")
    bad = [k for k, c in enumerate(targets) if not (0 <= c < classes or c == -2)]
    if bad:
        message = (
            rf"class {targets[bad[0]]} out of range for {classes} classes .*position {bad[0]}\)"
        )
        with pytest.raises(ValueError, match=message):
            nn.cross_entropy(x, t, ignore_index=-2)
        return
    got = np.asarray(nn.cross_entropy(x, t, ignore_index=-2, reduction="none"))
    logits = np.asarray(x).astype(np.float64)
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    want = [0 if c == -2 else -logs[k, c] for k, c in enumerate(targets)]
    np.testing.assert_allclose(got, want, rtol=0, atol=8 * EPSILON)  # of logits up to 4


@pytest.mark.parametrize("name", ["elu", "leaky_relu", "hardshrink", "softshrink", "celu"])
def test_parameters_may_be_tensors(name):
    x, p = flex.asarray(numbers((4, 3))), flex.asarray([0.25, 0.5, 1.0])
    together = np.asarray(getattr(nn, name)(x, p))
    for k, value in enumerate([0.25, 0.5, 1.0]):
        alone = np.asarray(getattr(nn, name)(x[:, k], value))
        np.testing.assert_array_equal(together[:, k], alone)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: nn.softmax(x, 0, dim=1), TypeError, "axis is 0 and dim"),
        (lambda x: nn.glu(x), flex.ShapeError, "glu: axis -1 has the odd size 3"),
        (lambda x: nn.hardtanh(x, 1.0, -1.0), ValueError, "min_val is 1.0 and max_val is -1.0"),
        (lambda x: nn.celu(x, 0.0), ValueError, "celu: alpha is 0.0; it must be other than 0"),
        (lambda x: nn.celu(x, 0), ValueError, "celu: alpha is 0.0"),
        (
            lambda x: nn.celu(x, flex.asarray([1.0, 0.0, 2.0])),
            ValueError,
            "alpha has 0.0 at row-major position 1",
        ),
        (
            lambda x: nn.softshrink(x, -0.5),
            ValueError,
            "softshrink: lambd is -0.5; it must be 0 or more",
        ),
        (lambda x: nn.softshrink(x, float("nan")), ValueError, "lambd is NaN"),
        (lambda x: nn.softshrink(x, flex.asarray([-1.0])), ValueError, "lambd has -1.0 at"),
        (lambda x: nn.gumbel_softmax(x, tau=0.0, seed=1), ValueError, "tau is 0"),
        (lambda x: nn.gumbel_softmax(x), TypeError, "seed"),
        (lambda x: nn.dropout(x), ValueError, "dropout: training needs a seed"),
        (lambda x: nn.dropout2d(x, seed=1), flex.ShapeError, "dropout2d: x must have 4 axes"),
        (lambda x: nn.batch_norm(x, None, None), ValueError, "running_mean is None"),
        (lambda x: nn.group_norm(x, 2), flex.ShapeError, "num_groups is 2"),
        (lambda x: nn.normalize(x, -1.0), ValueError, "p is -1"),
        (lambda x: nn.mse_loss(x, x, reduction="max"), ValueError, 'reduction is "max"'),
        (lambda x: nn.huber_loss(x, x, delta=0), ValueError, "delta is 0"),
        (lambda x: nn.binary_cross_entropy(x + 5, x), ValueError, "a probability, from 0 to 1"),
        (lambda x: nn.cosine_embedding_loss(x, x, flex.asarray([1, 0])), ValueError, "position 1"),
        (lambda x: nn.one_hot(flex.asarray([3]), 3), ValueError, "x has 3"),
        (lambda x: nn.one_hot(x), flex.DTypeError, "one_hot"),
        (lambda x: nn.embedding_bag(flex.asarray([0]), x), flex.ShapeError, "embedding_bag"),
        (lambda x: nn.cdist(x, x, compute_mode="fast"), ValueError, "compute_mode"),
        (lambda x: nn.lstm(x, None, [x]), ValueError, "lstm: there are 1 weights"),
        (lambda x: nn.gru(x, None, [x, x], lengths=[1, 2]), ValueError, "there are 2 lengths"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call(flex.asarray(numbers((2, 3))))


def test_dropout_is_the_identity_without_training():
    x = flex.asarray(numbers((3, 4)))
    assert nn.dropout(x, training=False).tolist() == x.tolist()
    assert nn.alpha_dropout(x).tolist() == x.tolist()


def test_softplus():
    x = np.linspace(-30, 30, 241).astype(np.float32)
    for beta, threshold in ((1.0, 20.0), (2.5, 3.0)):
        wide = x.astype(np.float64)
        want = np.where(wide * beta > threshold, wide, np.log1p(np.exp(wide * beta)) / beta)
        got = nn.softplus(flex.asarray(x), beta, threshold)
        np.testing.assert_allclose(np.asarray(got), want, rtol=4 * EPSILON, atol=0)
    assert nn.softplus(flex.asarray([-200.0, 0.0, 1e30])).tolist() == [
        0,
        pytest.approx(np.log(2), rel=EPSILON),
        flex.full((), 1e30).item(),
    ]


def test_threshold():
    x = flex.asarray([-1.0, 0.5, 0.75, 3.0, flex.nan])
    got = np.asarray(nn.threshold(x, 0.5, 7.0))
    np.testing.assert_array_equal(got, [7, 7, 0.75, 3, np.nan])


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_dropout_of_channels(rank):
    x = numbers((4, 50, 2, 3, 2)[: rank + 2])
    for name in (f"dropout{rank}d", "feature_alpha_dropout"):
        got = np.asarray(getattr(nn, name)(flex.asarray(x), 0.25, training=True, seed=3))
        if (
            name == "feature_alpha_dropout"
        ):  # Klambauer et al., 2017, with SELU's limit for what is dropped
            limit = -1.0507009873554805 * 1.6732632423543772
            scale = 1 / np.sqrt(0.75 * (1 + 0.25 * limit**2))
            kept, dropped = scale * (x - limit * 0.25), scale * (limit - limit * 0.25)
        else:
            kept, dropped = x / 0.75, 0.0
        axes = tuple(range(2, rank + 2))
        is_kept = np.isclose(got, kept, rtol=1e-6, atol=1e-6).all(axes)
        is_dropped = np.isclose(got, dropped, rtol=1e-6, atol=1e-6).all(axes)
        assert np.all(is_kept ^ is_dropped)
        assert 0.15 < is_dropped.mean() < 0.35


def test_activations_of_linear_match_the_functions():
    x, w = flex.asarray(numbers((5, 8))), flex.asarray(numbers((6, 8), 1))
    plain = nn.linear(x, w)
    for name in (
        "relu6",
        "selu",
        "logsigmoid",
        "mish",
        "hardsigmoid",
        "hardswish",
        "softsign",
        "tanhshrink",
    ):
        got = nn.linear(x, w, activation=name)
        np.testing.assert_allclose(
            np.asarray(got), np.asarray(getattr(nn, name)(plain)), rtol=1e-6, atol=1e-6
        )


X = flex.asarray([1.0, -2.0, 0.5])


@pytest.mark.parametrize("function", [nn.softmax, nn.log_softmax, nn.softmin])
class TestDtypeOfSoftmax:
    def test_converts_first(self, function):
        half = X.astype("float16")
        np.testing.assert_array_equal(
            function(half, dtype="float64"), function(half.astype("float64"))
        )
        assert function(X, -1, dtype=flex.float64).dtype == flex.float64
        assert function(X, dtype=None).dtype == flex.float32
        integers = flex.asarray([[1, 0], [2, 5]])
        np.testing.assert_array_equal(
            function(integers, dim=0, dtype="float64"), function(integers.astype("float64"), 0)
        )
        # rounded to the dtype before it is computed
        close, equal = flex.asarray([1.0, 1.0001], dtype="float64"), flex.asarray([1.0, 1.0])
        np.testing.assert_array_equal(
            function(close, dtype="float16"), function(equal.astype("float16"))
        )

    def test_in_a_fused_function(self, function):
        fused = flex.fuse(lambda x: function(x * 2, dtype="float64"))
        np.testing.assert_allclose(fused(X), function(X * 2, dtype="float64"), rtol=1e-12)

    def test_errors(self, function):
        for dtype in ("int32", "bool", "complex64"):
            with pytest.raises(flex.DTypeError, match=f"dtype is {dtype}; it is a float"):
                function(X, dtype=dtype)
        with pytest.raises(flex.DTypeError, match="not defined for complex64"):
            function(X + 0j, dtype="float32")
        with pytest.raises(TypeError, match="is not a dtype"):
            function(X, dtype="real")
