"""Margin losses that are compositions, against torch's documented formulas."""

import inspect

import numpy as np
import pytest

import flex
from flex import nn

FLOATS = ["float16", "bfloat16", "float32", "float64"]
EPS = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 1e-6, "float64": 1e-13}
REDUCE = {"none": lambda x: x, "mean": np.mean, "sum": np.sum}
NAMES = [
    "hinge_embedding_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_with_distance_loss",
]
LABELS = np.array([[3, 0, -1, 1, 2], [-1, 4, 4, 4, 4], [2, 2, 1, -1, 0], [4, 3, 2, 1, 0]])
M = flex.ones((2, 3))
K = flex.asarray([0, 2])


def scores(dtype, shape=(4, 5), seed=3):
    """Numbers of a dtype, and the same in float64."""
    x = flex.random.default_rng(seed).standard_normal(shape).astype(getattr(flex, dtype))
    return x, x.astype(flex.float64).numpy()


def close(found, expected, dtype):
    assert str(found.dtype).endswith(dtype)
    assert found.shape == np.shape(expected)
    found = found.astype(flex.float64).numpy()
    np.testing.assert_allclose(found, expected, rtol=EPS[dtype], atol=EPS[dtype] / 8)


def multi(x, y, p, margin, w):
    return np.array(
        [
            sum(w[t] * max(0, margin - r[t] + r[k]) ** p for k in range(len(r)) if k != t) / len(r)
            for r, t in zip(x, y, strict=True)
        ]
    )


def multilabel(x, y):
    losses = []
    for row, listed in zip(x, y.tolist(), strict=True):
        own = listed[: listed.index(-1)] if -1 in listed else listed
        pairs = [(t, k) for t in own for k in range(len(row)) if k not in own]
        losses.append(sum(max(0, 1 - (row[t] - row[k])) for t, k in pairs) / len(row))
    return np.array(losses)


@pytest.mark.parametrize("reduction", REDUCE)
@pytest.mark.parametrize("dtype", FLOATS)
class TestFormulas:
    def test_hinge_embedding(self, dtype, reduction):
        x, wide = scores(dtype)
        sign = np.resize([1, -1, -1], (4, 5))
        expected = REDUCE[reduction](np.where(sign == 1, wide, np.maximum(0, 0.75 - wide)))
        for target in (sign, sign.astype(np.float32), sign.astype(np.int8)):
            close(nn.hinge_embedding_loss(x, target, 0.75, reduction=reduction), expected, dtype)

    def test_soft_margin(self, dtype, reduction):
        x, wide = scores(dtype)
        sign = np.resize([1, -1, -1], (4, 5))
        expected = REDUCE[reduction](np.log1p(np.exp(-sign * wide)))
        close(nn.soft_margin_loss(x, flex.asarray(sign), reduction=reduction), expected, dtype)

    @pytest.mark.parametrize("p", [1, 2])
    def test_multi_margin(self, dtype, reduction, p):
        x, wide = scores(dtype)
        w, wide_w = scores(dtype, (5,), 4)
        y = np.array([4, 0, 2, 2])
        for weight, numbers in ((None, np.ones(5)), (w, wide_w)):
            expected = REDUCE[reduction](multi(wide, y, p, 0.5, numbers))
            for target in (y, y.astype(np.uint8)):
                found = nn.multi_margin_loss(x, target, p, 0.5, weight, reduction=reduction)
                close(found, expected, dtype)
        alone = multi(wide[:1], y[:1], p, 1.0, np.ones(5))[0]
        close(nn.multi_margin_loss(x[0], y[0], p, reduction=reduction), alone, dtype)

    def test_multilabel_margin(self, dtype, reduction):
        x, wide = scores(dtype)
        expected = REDUCE[reduction](multilabel(wide, LABELS))
        for target in (LABELS, LABELS.astype(np.int8)):
            close(nn.multilabel_margin_loss(x, target, reduction=reduction), expected, dtype)
        alone = multilabel(wide[:1], LABELS[:1])[0]
        close(nn.multilabel_margin_loss(x[0], LABELS[0], reduction=reduction), alone, dtype)

    def test_multilabel_soft_margin(self, dtype, reduction):
        x, wide = scores(dtype, (2, 3, 5))
        w, wide_w = scores(dtype, (5,), 4)
        y = np.resize([1, 0, 0, 1], (2, 3, 5))
        p = 1 / (1 + np.exp(-wide))
        each = -(y * np.log(p) + (1 - y) * np.log(1 - p))
        for weight, numbers in ((None, np.ones(5)), (w, wide_w)):
            expected = REDUCE[reduction]((each * numbers).mean(-1))
            for target in (y, y.astype(bool)):
                found = nn.multilabel_soft_margin_loss(x, target, weight, reduction=reduction)
                close(found, expected, dtype)

    @pytest.mark.parametrize("swap", [False, True])
    def test_triplet(self, dtype, reduction, swap):
        (a, p, n), (wa, wp, wn) = zip(*(scores(dtype, seed=s) for s in (5, 6, 7)), strict=True)

        def expected(d):
            far = np.minimum(d(wa, wn), d(wp, wn)) if swap else d(wa, wn)
            return REDUCE[reduction](np.maximum(0, 2 + d(wa, wp) - far))

        options = {"margin": 2.0, "swap": swap, "reduction": reduction}
        found = nn.triplet_margin_with_distance_loss(a, p, n, **options)
        close(found, expected(lambda x, y: np.linalg.norm(x - y + 1e-6, axis=-1)), dtype)

        def distance(x, y):
            return flex.max(flex.abs(x.astype(flex.float64) - y.astype(flex.float64)), axis=-1)

        options["distance_function"] = distance
        found = nn.triplet_margin_with_distance_loss(a, p, n, **options)
        close(found, expected(lambda x, y: np.abs(x - y).max(-1)), "float64")


def test_targets_that_are_neither_sign():
    # torch's: both parts
    found = nn.hinge_embedding_loss(
        flex.asarray([0.25, 3.0]), flex.asarray([0, 0]), reduction="sum"
    )
    assert found.item() == 0.25 + 0.75 + 3


def test_far_scores_stay_finite():
    x, sign = flex.asarray([1000.0, -1000.0]), flex.asarray([-1, 1])
    assert nn.soft_margin_loss(x, sign, reduction="none").tolist() == [1000.0, 1000.0]
    assert nn.multilabel_soft_margin_loss(x, flex.asarray([0, 1])).item() == 1000.0
    x = flex.asarray([[flex.inf, 0.0]])
    assert nn.multi_margin_loss(x, flex.asarray([0])).item() == 0
    assert nn.multilabel_margin_loss(x, flex.asarray([[0, -1]])).item() == 0


def test_integers_and_empty_batches():
    assert nn.multi_margin_loss(flex.asarray([[1, 2]]), flex.asarray([0])).dtype == flex.float32
    assert nn.hinge_embedding_loss(flex.asarray([1, 2]), flex.asarray([1, -1])).item() == 0.5
    none = flex.zeros((0, 3)), flex.zeros((0, 3), dtype=flex.int64)
    assert nn.multilabel_margin_loss(*none, reduction="none").shape == (0,)
    assert nn.multi_margin_loss(none[0], none[1][:, 0], reduction="sum").item() == 0


@pytest.mark.parametrize("name", NAMES)
def test_names_and_keywords(name):
    function = getattr(nn, name)
    assert name in nn.__all__
    assert function.__name__ == name
    first = next(iter(inspect.signature(function).parameters))
    assert first == ("anchor" if name.startswith("triplet") else "x")
    rest = {"positive": M, "negative": M} if first == "anchor" else {"target": K}
    x = flex.ones((3,)) if "multi_" in name else flex.ones((2,))
    if name == "multi_margin_loss":
        x, rest = M, {"target": K}
    if name == "multilabel_margin_loss":
        x, rest = M, {"target": flex.asarray([[0, 2, -1], [-1, 0, 0]])}
    if first == "x":
        assert function(input=x, **rest).item() == function(x, **rest).item()
        with pytest.raises(TypeError, match="input"):
            function(x, input=x, **rest)
    else:
        x = M
    with pytest.raises(ValueError, match=f'{name}: reduction is "max"'):
        function(x, **rest, reduction="max")
    with pytest.raises(flex.DTypeError, match=rf"{name}: not defined .*: \[2, 3\] complex64"):
        function(flex.ones((2, 3), dtype=flex.complex64), **rest)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: nn.hinge_embedding_loss(M, flex.ones(4)),
            flex.ShapeError,
            r"hinge_.*target: \[4\]",
        ),
        (lambda: nn.hinge_embedding_loss(M, M, flex.nan), ValueError, "margin is nan"),
        (lambda: nn.soft_margin_loss(M, flex.ones(4)), flex.ShapeError, r"soft_.*x: \[2, 3\]"),
        (lambda: nn.multi_margin_loss(M, K, 3), ValueError, "p is 3"),
        (lambda: nn.multi_margin_loss(M, K, margin=flex.inf), ValueError, "margin is inf"),
        (lambda: nn.multi_margin_loss(M, K + 1), ValueError, "class 3 out of range for 3 classes"),
        (lambda: nn.multi_margin_loss(M, K - 1), ValueError, "class -1 out of range"),
        (lambda: nn.multi_margin_loss(M, [0.0, 1.0]), flex.DTypeError, "target must be integers"),
        (
            lambda: nn.multi_margin_loss(M, [0]),
            flex.ShapeError,
            r"the shape \[2\] \(.* \[1\] int64",
        ),
        (lambda: nn.multi_margin_loss(M, K, weight=K), flex.ShapeError, r"weight must .* \[3\]"),
        (lambda: nn.multi_margin_loss(1.0, 0), flex.ShapeError, r"x must have the shape \[batch"),
        (lambda: nn.multilabel_margin_loss(M, K), flex.ShapeError, r"target must .* \[2, 3\]"),
        (lambda: nn.multilabel_margin_loss(M[0], [3, -1, 0]), ValueError, "class 3 out of range"),
        (lambda: nn.multilabel_margin_loss(M[0], [0, -2, 0]), ValueError, "class -2 out of range"),
        (lambda: nn.multilabel_soft_margin_loss(M, K), flex.ShapeError, r"target must .* \[2, 3\]"),
        (lambda: nn.multilabel_soft_margin_loss(M, M, K), flex.ShapeError, r"weight: \[2\] int64"),
        (
            lambda: nn.triplet_margin_with_distance_loss(M, M, flex.ones(4)),
            flex.ShapeError,
            r"triplet_margin_with_distance_loss: .*negative: \[4\]",
        ),
        (
            lambda: nn.triplet_margin_with_distance_loss(M, M, M, margin=-1.0),
            ValueError,
            "margin is -1.0; it must be finite and not negative",
        ),
        (
            lambda: nn.triplet_margin_with_distance_loss(
                M, M[0], M, distance_function=lambda x, y: y[..., 0]
            ),
            flex.ShapeError,
            r"one shape \(positive: \[\] float32, negative: \[2\] float32\)",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_classes_of_torch_are_pointed_at_them():
    with pytest.raises(AttributeError, match=r"write flex.nn.hinge_embedding_loss\(x"):
        _ = nn.HingeEmbeddingLoss
