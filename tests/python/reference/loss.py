"""Losses."""

from . import Case, Input

PAIR = {"x": (5, 7), "t": (5, 7)}
PROBABILITIES = {"x": Input((5, 7), 0.05, 0.95), "t": Input((5, 7), 0.0, 1.0)}
CLASSES = {"x": (6, 5), "t": Input((6,), 0, 5, "int64"), "w": Input((5,), 0.5, 2.0)}
IMAGES = {"x": (2, 4, 3, 3), "t": Input((2, 3, 3), 0, 4, "int64"), "w": Input((4,), 0.5, 2.0)}
SOFT = {"x": (6, 5), "t": Input((6, 5), 0.0, 0.4), "w": Input((5,), 0.5, 2.0)}
POSITIVE = {"x": (5, 7), "t": Input((5, 7), 0.1, 4.0)}
TRIPLE = {"a": (5, 7), "p": (5, 7), "n": (5, 7)}
SIGNS = {"a": (6, 4), "b": (6, 4), "t": Input(values=[1, -1, 1, 1, -1, -1], dtype="int64")}
TIMES = {"x": Input((9, 3, 5), -4.0, 0.0), "t": Input((3, 4), 1, 5, "int64")}


def each(name, inputs, call, **options):
    return [
        Case(f"{name}, {how}", inputs, call.replace(")", f", reduction='{how}')"), **options)
        for how in ("none", "mean", "sum")
    ]


CASES = [
    *each("mse", PAIR, "nn.mse_loss(x, t)"),
    *each("l1", PAIR, "nn.l1_loss(x, t)"),
    *each("smooth_l1", PAIR, "nn.smooth_l1_loss(x, t, beta=0.7)"),
    *each("huber", PAIR, "nn.huber_loss(x, t, delta=0.7)"),
    *each("binary_cross_entropy", PROBABILITIES, "nn.binary_cross_entropy(x, t)"),
    Case(
        "binary_cross_entropy, weight",
        PROBABILITIES | {"w": (7,)},
        "nn.binary_cross_entropy(x, t, w)",
    ),
    *each("with logits", PROBABILITIES, "nn.binary_cross_entropy_with_logits(x, t)"),
    Case(
        "with logits, weights",
        {"x": (5, 7), "t": Input((5, 7), 0.0, 1.0), "w": (7,), "p": Input((7,), 0.5, 3.0)},
        "nn.binary_cross_entropy_with_logits(x, t, w, pos_weight=p)",
    ),
    *each("kl_div", POSITIVE, "nn.kl_div(x, t)"),
    Case("kl_div, batch", POSITIVE, "nn.kl_div(x, t, reduction='batchmean')"),
    Case("kl_div, logarithms", PAIR, "nn.kl_div(x, t, reduction='sum', log_target=True)"),
    *each("poisson", POSITIVE, "nn.poisson_nll_loss(x, t, full=True)"),
    Case(
        "poisson, rates",
        {"x": Input((5, 7), 0.1, 3.0), "t": Input((5, 7), 0.0, 4.0)},
        "nn.poisson_nll_loss(x, t, log_input=False)",
    ),
    *each("gaussian", PAIR | {"v": Input((5, 7), 0.1, 2.0)}, "nn.gaussian_nll_loss(x, t, v)"),
    Case(
        "gaussian, full",
        PAIR | {"v": Input((5,), 0.1, 2.0)},
        "nn.gaussian_nll_loss(x, t, v, full=True)",
    ),
    *each("cross_entropy", CLASSES, "nn.cross_entropy(x, t)"),
    *each("cross_entropy, weight", CLASSES, "nn.cross_entropy(x, t, w)"),
    *each("cross_entropy, ignored", CLASSES, "nn.cross_entropy(x, t, w, ignore_index=2)"),
    *each(
        "cross_entropy, smoothing",
        CLASSES,
        "nn.cross_entropy(x, t, w, ignore_index=1, label_smoothing=0.2)",
    ),
    *each("cross_entropy, images", IMAGES, "nn.cross_entropy(x, t, w, label_smoothing=0.1)"),
    *each("cross_entropy, probabilities", SOFT, "nn.cross_entropy(x, t, w, label_smoothing=0.1)"),
    Case(
        "cross_entropy, one",
        {"x": (5,), "t": Input(values=3, dtype="int64")},
        "nn.cross_entropy(x, t)",
    ),
    *each("nll", CLASSES, "nn.nll_loss(x, t, w, ignore_index=4)"),
    *each("nll, images", IMAGES, "nn.nll_loss(x, t)"),
    *each(
        "margin_ranking", {"a": (9,), "b": (9,), "t": (9,)}, "nn.margin_ranking_loss(a, b, t, 0.3)"
    ),
    # torch adds 1e-12 to the squared norms
    *each("cosine_embedding", SIGNS, "nn.cosine_embedding_loss(a, b, t, 0.1)", tolerance=1e-12),
    # the distances are rounded before they are subtracted
    *each("triplet_margin", TRIPLE, "nn.triplet_margin_loss(a, p, n)", halves=1.25),
    Case("triplet_margin, swap", TRIPLE, "nn.triplet_margin_loss(a, p, n, 2.0, 3.0, swap=True)"),
    *[
        Case(f"ctc, {how}", TIMES, f"nn.ctc_loss(x, t, (9, 7, 8), (4, 2, 3), reduction='{how}')")
        for how in ("none", "mean", "sum")
    ],
    Case(
        "ctc, in a row",
        {"x": Input((9, 2, 5), -4.0, 0.0), "t": Input((5,), 1, 5, "int64")},
        "nn.ctc_loss(x, t, (9, 6), (2, 3))",
    ),
]
