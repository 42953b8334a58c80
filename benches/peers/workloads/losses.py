"""Losses, and distances between vectors."""

from __future__ import annotations

from ..table import Family, Input, K, Known, M, shape

losses = Family("losses", 0.8)
_PAIR = {"a": Input((M,)), "t": Input((M,), low=0)}
_CLASSES = {"a": Input((4 * K, K)), "t": Input((4 * K,), "int64", low=0, high=K - 1)}
_PIXELS = {"a": Input((8, 21, 128, 128)), "t": Input((8, 128, 128), "int64", low=0, high=21)}
_VECTORS = {name: Input((4 * K, 256)) for name in "ab"}
_AT = "xp.arange(8)[:, None, None], t, xp.arange(128)[:, None], xp.arange(128)"


def _signs(n: int) -> Known:
    import numpy as np

    return Known(lambda: np.where(np.arange(n) % 3 == 0, -1, 1))


def _distance(a: str, b: str) -> str:
    return f"xp.sqrt(xp.sum(({a} - {b} + 1e-6) ** 2, axis=-1))"


_COSINE = "xp.sum(a * b, axis=1) / xp.sqrt(xp.sum(a * a, axis=1) * xp.sum(b * b, axis=1))"
for name, inputs, call, numpy, onnx in (
    ("mse_loss, 1M", _PAIR, "mse_loss(a, t)", "xp.mean((a - t) ** 2)", None),
    ("l1_loss, 1M", _PAIR, "l1_loss(a, t)", "xp.mean(xp.abs(a - t))", None),
    (
        "smooth_l1_loss, 1M",
        _PAIR,
        "smooth_l1_loss(a, t)",
        "xp.mean(xp.where(abs(a - t) < 1, (a - t) ** 2 / 2, abs(a - t) - 0.5))",
        None,
    ),
    (
        "huber_loss, 1M",
        _PAIR,
        "huber_loss(a, t, delta=0.5)",
        "xp.mean(xp.where(abs(a - t) < 0.5, (a - t) ** 2 / 2, 0.5 * (abs(a - t) - 0.25)))",
        None,
    ),
    (
        "huber_loss of each, 1M",
        _PAIR,
        "huber_loss(a, t, delta=0.5, reduction='none')",
        "xp.where(abs(a - t) < 0.5, (a - t) ** 2 / 2, 0.5 * (abs(a - t) - 0.25))",
        None,
    ),
    (
        "with logits, 1M",
        _PAIR,
        "binary_cross_entropy_with_logits(a, t)",
        "xp.mean((1 - t) * a + xp.logaddexp(-a, 0))",
        None,
    ),
    (
        "binary_cross_entropy, 1M",
        {"a": Input((M,), low=0.01), "t": Input((M,), low=0)},
        "binary_cross_entropy(a, t)",
        "-xp.mean(t * xp.log(a) + (1 - t) * xp.log1p(-a))",
        None,
    ),
    (
        "gaussian_nll_loss, 1M",
        {**_PAIR, "v": Input((M,), low=0.1, high=2)},
        "gaussian_nll_loss(a, t, v)",
        "xp.mean(xp.log(v) + (a - t) ** 2 / v) / 2",
        None,
    ),
    (
        "poisson_nll_loss, 1M",
        _PAIR,
        "poisson_nll_loss(a, t)",
        "xp.mean(xp.exp(a) - t * a)",
        None,
    ),
    (
        "margin_ranking_loss, 1M",
        {"a": Input((M,)), "b": Input((M,)), "t": _signs(M)},
        "margin_ranking_loss(a, b, t, 0.1)",
        "xp.mean(xp.maximum(0, 0.1 - t * (a - b)))",
        None,
    ),
    (
        "kl_div, 4096x1024",
        {"a": Input((4 * K, K), low=-9, high=0), "t": Input((4 * K, K), low=0.01)},
        "kl_div(a, t, reduction='batchmean')",
        "xp.sum(t * (xp.log(t) - a)) / 4096",
        None,
    ),
    (
        "kl_div of logarithms, 4096x1024",
        {name: Input((4 * K, K), low=-9, high=0) for name in "at"},
        "kl_div(a, t, reduction='batchmean', log_target=True)",
        "xp.sum(xp.exp(t) * (t - a)) / 4096",
        None,
    ),
    (
        "cross_entropy, 4096x1024",
        _CLASSES,
        "cross_entropy(a, t)",
        "xp.mean(special.logsumexp(a, axis=1) - a[xp.arange(4096), t])",
        "SoftmaxCrossEntropyLoss(a, t)",
    ),
    (
        "cross_entropy of smoothed labels, 4096x1024",
        _CLASSES,
        "cross_entropy(a, t, label_smoothing=0.1)",
        "xp.mean(special.logsumexp(a, axis=1) - 0.9 * a[xp.arange(4096), t] - 0.1 * xp.mean(a, axis=1))",
        None,
    ),
    (
        "cross_entropy of pixels, 8x21x128x128",
        _PIXELS,
        "cross_entropy(a, t)",
        f"xp.mean(special.logsumexp(a, axis=1) - a[{_AT}])",
        "SoftmaxCrossEntropyLoss(a, t)",
    ),
    (
        "nll_loss of pixels, 8x21x128x128",
        _PIXELS,
        "nll_loss(a, t)",
        f"-xp.mean(a[{_AT}])",
        "NegativeLogLikelihoodLoss(a, t)",
    ),
    (
        "triplet_margin_loss, 4096x256",
        {**_VECTORS, "c": Input((4 * K, 256))},
        "triplet_margin_loss(a, b, c)",
        f"xp.mean(xp.maximum(0, 1 + {_distance('a', 'b')} - {_distance('a', 'c')}))",
        None,
    ),
    (
        "cosine_embedding_loss, 4096x256",
        {**_VECTORS, "t": _signs(4 * K)},
        "cosine_embedding_loss(a, b, t)",
        f"(lambda c: xp.mean(xp.where(t == 1, 1 - c, xp.maximum(0, c))))({_COSINE})",
        None,
    ),
):
    losses.row(
        name,
        inputs,
        f"nn.{call}",
        numpy=None,
        jax=numpy,
        onnx=onnx,
        reference=numpy,
        tolerance=5e-5,
    )


def _ctc(steps: int, batch: int, classes: int, labels: int) -> None:
    lengths = f"[{steps}] * {batch}, [{labels}] * {batch}"
    losses.row(
        f"ctc_loss, {steps} steps of {shape(batch, classes)}, {labels} labels",
        {
            "a": Input((steps, batch, classes), low=-9, high=0),
            "t": Input((batch, labels), "int64", 1, classes),
        },
        f"nn.ctc_loss(a, t, {lengths}, reduction='none')",
        numpy=None,
        jax=None,
        # torch takes these lengths from tensors
        torch=f"nn.ctc_loss(a, t, xp.tensor([{steps}] * {batch}), xp.tensor([{labels}] * {batch}), reduction='none')",
        reference="ctc_loss(a, t)",
    )


_ctc(150, 16, 64, 40)
_ctc(400, 8, 1024, 60)

distances = Family("distances", 0.8)
_NORMS = {
    1.0: "xp.abs({0}).sum(-1)",
    2.0: "xp.sqrt(({0} ** 2).sum(-1))",
    3.0: "xp.cbrt((xp.abs({0}) ** 3).sum(-1))",
}
_PAIRS = {"a": Input((512, 64)), "b": Input((512, 64))}
for p, norm in _NORMS.items():
    exact = norm.format("(a[:, None] - b)")
    distances.row(
        f"cdist, p = {p:g}, 512x64 by 512x64",
        _PAIRS,
        f"nn.cdist(a, b, {p})",
        numpy=None,
        torch=f"xp.cdist(a, b, {p})",
        jax=exact,
        reference=exact,
    )
    exact = norm.format("(a - b + 1e-6)")
    distances.row(
        f"pairwise_distance, p = {p:g}, 4096x256",
        _VECTORS,
        f"nn.pairwise_distance(a, b, {p})",
        numpy=None,
        jax=exact,
        reference=exact,
    )
_PRODUCT = "xp.sqrt(xp.maximum(0, (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * a @ b.T))"
for sides in ((2 * K, 2 * K, 128), (32, 100_000, 128)):
    m, n, width = sides
    distances.row(
        f"cdist, {shape(m, width)} by {shape(n, width)}",
        {"a": Input((m, width)), "b": Input((n, width))},
        "nn.cdist(a, b)",
        numpy=_PRODUCT,
        torch="xp.cdist(a, b)",
        jax=_PRODUCT,
        flops=2 * m * n * width,
    )
distances.row(
    "pdist, 512x64",
    {"a": Input((512, 64))},
    "nn.pdist(a)",
    numpy=None,
    jax=None,
    reference="xp.sqrt(((a[:, None] - a) ** 2).sum(-1))[xp.triu_indices(512, 1)]",
)
distances.row(
    "cosine_similarity, 4096x256",
    _VECTORS,
    "nn.cosine_similarity(a, b)",
    numpy=None,
    jax=_COSINE,
    reference=_COSINE,
)
distances.row(
    "cosine_similarity of channels, 8x256x56x56",
    {name: Input((8, 256, 56, 56)) for name in "ab"},
    "nn.cosine_similarity(a, b)",
    numpy=None,
    jax=_COSINE,
    reference=_COSINE,
)

FAMILIES = [losses, distances]
