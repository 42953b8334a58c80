"""Arguments of flex.nn that have no meaning are errors, which name the operation, the parameter, its value and the shapes."""

import math

import numpy as np
import pytest

import flex
from flex import nn

X = flex.asarray(np.random.default_rng(0).uniform(0.1, 0.9, (2, 4, 3)).astype(np.float32))
V, W, C = X[:, :, 0], X[:, 1, :], X[0, :, 0]
NOT_FINITE = [math.nan, math.inf, -math.inf]
BAD_EPS = [*NOT_FINITE, -1e-5]

EPS = {
    "layer_norm": lambda eps: nn.layer_norm(X, 3, eps=eps),
    "rms_norm": lambda eps: nn.rms_norm(X, 3, eps=eps),
    "batch_norm": lambda eps: nn.batch_norm(X, C, C, eps=eps),
    "group_norm": lambda eps: nn.group_norm(X, 2, eps=eps),
    "instance_norm": lambda eps: nn.instance_norm(X, eps=eps),
    "normalize": lambda eps: nn.normalize(X, eps=eps),
    "cosine_similarity": lambda eps: nn.cosine_similarity(V, V, eps=eps),
    "pairwise_distance": lambda eps: nn.pairwise_distance(V, V, eps=eps),
    "triplet_margin_loss": lambda eps: nn.triplet_margin_loss(V, V, V, eps=eps),
    "poisson_nll_loss": lambda eps: nn.poisson_nll_loss(V, V, False, eps=eps),
    "gaussian_nll_loss": lambda eps: nn.gaussian_nll_loss(V, V, V, eps=eps),
    "grad.layer_norm": lambda eps: nn.grad.layer_norm(X, X, 3, eps=eps),
    "grad.rms_norm": lambda eps: nn.grad.rms_norm(X, X, 3, eps=eps),
    "grad.batch_norm": lambda eps: nn.grad.batch_norm(X, X, training=True, eps=eps),
    "grad.group_norm": lambda eps: nn.grad.group_norm(X, X, 2, eps=eps),
    "grad.instance_norm": lambda eps: nn.grad.instance_norm(X, X, eps=eps),
}


@pytest.mark.parametrize("op", EPS)
def test_eps_is_finite_and_not_negative(op):
    for eps in BAD_EPS:
        with pytest.raises(ValueError, match=rf"^{op}: eps is \S+; it must be finite and not neg"):
            EPS[op](eps)
    EPS[op](0.0)


def attention(**options):
    return nn.scaled_dot_product_attention(X, X, X, **options)


def varlen(**options):
    return nn.varlen_attention(X, X, X, [0, 2], **options)


@pytest.mark.parametrize(
    ("call", "bad", "good", "message"),
    [
        (lambda m: nn.triplet_margin_loss(V, V, V, m), [*NOT_FINITE, -1.0], [0.0], "margin is"),
        (
            lambda p: nn.triplet_margin_loss(V, V, V, p=p),
            [math.nan, 0.0, -1.0],
            [0.5, math.inf],
            "p is",
        ),
        (
            lambda m: nn.cosine_embedding_loss(V, V, flex.asarray([1, -1]), m),
            [math.nan, -1.5, 1.5],
            [-1.0, 1.0],
            "margin is",
        ),
        (lambda m: nn.margin_ranking_loss(V, V, V, m), NOT_FINITE, [-1.0], "margin is"),
        (lambda d: nn.huber_loss(V, V, delta=d), [*NOT_FINITE, 0.0, -1.0], [1.0], "delta is"),
        (lambda b: nn.smooth_l1_loss(V, V, beta=b), [math.nan, -1.0], [0.0], "beta is"),
        (
            lambda s: nn.cross_entropy(V, flex.asarray([0, 1]), label_smoothing=s),
            [math.nan, -0.1, 1.1],
            [0.0, 1.0],
            "label_smoothing is",
        ),
        (
            lambda t: nn.gumbel_softmax(V, t, seed=1),
            [*NOT_FINITE, 0.0, -1.0],
            [0.1],
            "tau is",
        ),
        (lambda p: nn.dropout(X, p, seed=1), [math.nan, -0.1, 1.1], [0.0, 1.0], "p is"),
        (lambda p: nn.dropout1d(X, p, seed=1), [math.nan, -0.1, 1.1], [0.5], "dropout1d: p is"),
        (lambda p: nn.normalize(X, p), [math.nan, -1.0], [0.0, math.inf], "p is"),
        (lambda p: nn.cdist(V, V, p), [math.nan, -1.0], [0.0, math.inf], "p is"),
        (lambda p: nn.pdist(V, p), [math.nan, -1.0], [0.0, math.inf], "p is"),
        (lambda p: nn.lp_pool1d(X, p, 2), [*NOT_FINITE, 0.0], [2.0], "norm_type is"),
        (lambda a: nn.local_response_norm(X, 2, alpha=a), NOT_FINITE, [0.0], "alpha is"),
        (lambda b: nn.local_response_norm(X, 2, beta=b), NOT_FINITE, [0.0], "beta is"),
        (lambda k: nn.local_response_norm(X, 2, k=k), NOT_FINITE, [2.0], "k is"),
        (lambda n: nn.local_response_norm(X, n), [0, -1], [1], "size is"),
        (lambda c: nn.batch_norm_stats(X, correction=c), NOT_FINITE, [1.0], "correction is"),
        (lambda s: attention(scale=s), NOT_FINITE, [0.0], "scale is"),
        (lambda c: attention(softcap=c), [*NOT_FINITE, 0.0, -1.0], [1.0], "softcap is"),
        (lambda n: attention(window=(n, 0)), [-2], [-1, 0], "window is"),
        (lambda s: varlen(scale=s), NOT_FINITE, [0.0], "scale is"),
        (lambda c: varlen(softcap=c), [*NOT_FINITE, 0.0, -1.0], [1.0], "softcap is"),
        (
            lambda s: nn.interpolate(X, scale_factor=s),
            [*NOT_FINITE, 0.0, -1.0],
            [2.0],
            "scale_factor is",
        ),
        (lambda x: nn.rrelu(X, x, 0.5), [*NOT_FINITE, 1.0], [0.5], "lower is"),
        (
            lambda x: nn.hardtanh(X, x, 0.5),
            [math.nan, 1.0],
            [0.5, -math.inf],
            "min_val is .* max_val is 0.5",
        ),
        (
            lambda n: nn.avg_pool1d(X, 2, divisor_override=n),
            [0, -1],
            [3],
            "divisor_override is",
        ),
        (
            lambda n: nn.embedding_bag(flex.asarray([[0, 1]]), V, padding_idx=n),
            [2, 2**40],
            [0, 1],
            "padding_idx is .* weight has 2 entries",
        ),
        (lambda d: flex.fft.fftfreq(4, d), [*NOT_FINITE, 0.0], [-0.5], "fftfreq: d is"),
    ],
)
def test_numbers_without_a_meaning_are_refused(call, bad, good, message):
    for value in bad:
        with pytest.raises(ValueError, match=message):
            call(value)
    for value in good:
        call(value)


def test_binary_cross_entropy_takes_probabilities():
    half, far = flex.full((2, 3), 0.5), flex.asarray([[0.5, 1.5, 0.0], [0.0, -1.0, 0.0]])
    for name, operands in (("x", (far, half)), ("target", (half, far))):
        message = f"binary_cross_entropy: {name} has 1.5 at row-major position 1; it must be"
        with pytest.raises(ValueError, match=message):
            nn.binary_cross_entropy(*operands)
    with pytest.raises(ValueError, match=r"x has 7.0 at row-major position 2"):
        nn.binary_cross_entropy(flex.asarray([0, 1, 7]), flex.asarray([0, 1, 1]))
    # a NaN does not hide what is out of range, and is none itself
    with pytest.raises(ValueError, match="position 1"):
        nn.binary_cross_entropy(flex.asarray([flex.nan, 2.0]), flex.asarray([0.0, 1.0]))
    assert np.isnan(nn.binary_cross_entropy(flex.asarray([flex.nan]), flex.asarray([1.0])).item())
    nn.binary_cross_entropy_with_logits(half, far)
    nn.binary_cross_entropy(flex.zeros((0, 3)), flex.zeros((0, 3)), reduction="sum")


def test_values_of_targets_and_variances_are_named():
    with pytest.raises(
        ValueError, match=r"target has 0.0 at row-major position 1; it must be 1 or"
    ):
        nn.cosine_embedding_loss(V, V, flex.asarray([1, 0]))
    with pytest.raises(
        ValueError, match=r"gaussian_nll_loss: var has -2.0 at row-major position 3"
    ):
        nn.gaussian_nll_loss(V, V, flex.asarray([1.0, 1.0, 1.0, -2.0]))
    with pytest.raises(
        ValueError, match=r"nll_loss: class 9 out of range for 4 classes .*position 1"
    ):
        nn.nll_loss(V, flex.asarray([0, 9]))


def test_statistics_of_one_value_are_refused():
    one, shape = flex.ones((1, 4)), r"\(x: \[1, 4\] float32\)"
    for call in (
        lambda: nn.batch_norm(one, None, None, training=True),
        lambda: nn.grad.batch_norm(one, one, training=True),
        lambda: nn.instance_norm(one),
    ):
        with pytest.raises(flex.ShapeError, match=f"a single value.*{shape}"):
            call()
    with pytest.raises(flex.ShapeError, match=r"^instance_norm: .* a single value"):
        nn.instance_norm(flex.ones((3, 4, 1)))
    ones = flex.ones(4)
    nn.batch_norm(one, ones, ones)
    nn.instance_norm(one, ones, ones, use_input_stats=False)
    nn.batch_norm(flex.ones((0, 4)), None, None, training=True)
    nn.group_norm(flex.ones((2, 4)), 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: nn.cdist(V, W),
            r"cdist: .* \(x1: \[2, 4\] float32, x2: \[2, 3\] float32\)",
        ),
        (
            lambda: nn.cosine_similarity(V, W),
            r"cosine_similarity: .* \(x1: \[2, 4\] float32, x2: \[2, 3\] float32\)",
        ),
        (
            lambda: nn.triplet_margin_loss(V, V, W),
            r"triplet_margin_loss: .*, negative: \[2, 3\] float32\)",
        ),
        (
            lambda: nn.binary_cross_entropy(V, V, W),
            r"binary_cross_entropy: .*, weight: \[2, 3\] float32\)",
        ),
        (
            lambda: nn.layer_norm(X, 3, C),
            r"layer_norm: weight .* \(x: \[2, 4, 3\] float32, weight: \[4\] float32\)",
        ),
        (
            lambda: nn.layer_norm(X, 4),
            r"layer_norm: normalized_shape is \[4\]; .* \(x: \[2, 4, 3\]",
        ),
        (
            lambda: nn.group_norm(X, 3),
            r"group_norm: num_groups is 3, .* \(x: \[2, 4, 3\] float32\)",
        ),
        (
            lambda: nn.scaled_dot_product_attention(V, W, W),
            r"query and key.* \(query: \[2, 4\] float32, key: \[2, 3\] float32, value: \[2, 3\]",
        ),
        (
            lambda: attention(attn_mask=flex.ones((5, 5))),
            r"attn_mask .* \(query: \[2, 4, 3\] .*, attn_mask: \[5, 5\] float32\)",
        ),
        (
            lambda: nn.scaled_dot_product_attention(X, X[:0], X[:0], enable_gqa=True),
            r"the heads .* of query .* \(query: \[2, 4, 3\] float32, key: \[0, 4, 3\]",
        ),
        (
            lambda: nn.scaled_dot_product_attention(flex.ones((3, 4, 3)), X, X, enable_gqa=True),
            r"the heads .* of query .* \(query: \[3, 4, 3\] float32, key: \[2, 4, 3\]",
        ),
        (
            lambda: nn.scaled_dot_product_attention(
                X, X[:1], X[:1], flex.ones((3, 4, 4)), enable_gqa=True
            ),
            r"attn_mask .*, attn_mask: \[3, 4, 4\] float32\)",
        ),
        (
            lambda: nn.lp_pool2d(V, 2.0, 2),
            r"lp_pool2d: x has 2 dimensions.* \(x: \[2, 4\] float32\)",
        ),
        (
            lambda: nn.gru_cell(V, W, flex.ones((9, 5)), flex.ones((9, 3))),
            r"gru_cell: weight 0, w_ih, must have the shape \[9, 4\].* w_ih: \[9, 5\] float32\)",
        ),
        (
            lambda: nn.ctc_loss(X, flex.asarray([1]), [2], [1]),
            r"1 input_lengths and 1 target_lengths, for a batch of 4 \(log_probs: \[2, 4, 3\]",
        ),
    ],
)
def test_shapes_that_do_not_fit_are_named_with_their_parameters(call, message):
    with pytest.raises(flex.ShapeError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda z: nn.layer_norm(X, 3, z), "layer_norm: weight is complex64; it must be real"),
        (lambda z: nn.rms_norm(X, 3, z), "rms_norm: weight is complex64; it must be real"),
        (
            lambda z: nn.embedding_bag(
                flex.asarray([0, 1, 1]), V, flex.asarray([0]), mode="sum", per_sample_weights=z
            ),
            "embedding_bag: per_sample_weights is complex64; it must be real",
        ),
        (
            lambda z: nn.rotary_embedding(X, flex.ones((9, 1)), z[:1, None] + flex.ones((9, 1))),
            "rotary_embedding: sin is complex64; it must be real",
        ),
        (lambda z: nn.dropout1d(X + 1j, seed=1), "dropout1d: not defined for complex64"),
    ],
)
def test_complex_parameters_are_refused_by_name(call, message):
    with pytest.raises(flex.DTypeError, match=message):
        call(flex.full(3, 1j, dtype="complex64"))


def test_sizes_of_adaptive_pools_are_integers_or_none():
    for size in (None, 1.5, "a", object()):
        with pytest.raises(
            TypeError, match="adaptive_avg_pool2d: output_size: expected an integer"
        ):
            nn.adaptive_avg_pool2d(X, size)
    with pytest.raises(OverflowError, match="output_size: 9223372036854775808 is out of range"):
        nn.adaptive_avg_pool2d(X, 2**63)


def test_errors_of_the_cache_name_it():
    with pytest.raises(TypeError, match="KVCache: dtype: 'float3' is not a dtype"):
        nn.KVCache(1, 1, 2, dtype="float3")
