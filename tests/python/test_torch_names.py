"""torch's names of parameters, as keywords of flex.nn."""

import inspect

import numpy as np
import pytest

import flex
from flex import nn

# The functions of torch.nn.functional, and torch.cdist and the like, by their first parameters.
FIRST = {
    "input": """
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d
        adaptive_max_pool2d adaptive_max_pool3d alpha_dropout avg_pool1d avg_pool2d avg_pool3d
        batch_norm binary_cross_entropy binary_cross_entropy_with_logits celu channel_shuffle conv1d
        conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d cross_entropy deform_conv2d
        dropout dropout1d dropout2d dropout3d elu embedding embedding_bag feature_alpha_dropout fold
        gaussian_nll_loss gelu glu grid_sample group_norm gru gru_cell hardshrink hardsigmoid
        hardswish hardtanh huber_loss instance_norm interpolate kl_div l1_loss layer_norm leaky_relu
        linear local_response_norm log_softmax logsigmoid lp_pool1d lp_pool2d lp_pool3d lstm
        lstm_cell max_pool1d max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d mish
        mse_loss nll_loss normalize pad pdist pixel_shuffle pixel_unshuffle poisson_nll_loss prelu
        relu relu6 rms_norm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell rrelu selu sigmoid silu
        smooth_l1_loss softmax softmin softplus softshrink softsign tanh tanhshrink threshold unfold
    """,
    "input1": "cosine_embedding_loss margin_ranking_loss",
    "x1": "cdist cosine_similarity pairwise_distance",
    "tensor": "one_hot",
    "logits": "gumbel_softmax",
    "log_probs": "ctc_loss",
    "theta": "affine_grid",
    "anchor": "triplet_margin_loss",
    "query": "scaled_dot_product_attention",
}
# flex's own
OWN = {"batch_norm_stats", "conv_plan", "rotary_embedding", "rotary_tables", "varlen_attention"}
V = flex.asarray([1.0, -2.0, 0.5])
M = flex.asarray([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]])
K = flex.asarray([1, 0])


def same(left, right):
    np.testing.assert_array_equal(np.asarray(left), np.asarray(right))


def first_parameters():
    return [(name, f) for name, functions in FIRST.items() for f in functions.split()]


def test_the_table_is_complete():
    functions = {f for f in nn.__all__ if inspect.isbuiltin(getattr(nn, f))}
    assert {f for _, f in first_parameters()} | OWN == functions


@pytest.mark.parametrize(("name", "function"), first_parameters())
def test_the_first_parameter_has_torchs_name(name, function):
    call = getattr(nn, function)
    first = next(iter(inspect.signature(call).parameters))
    with pytest.raises((TypeError, flex.DTypeError)) as caught:
        call(**{name: "text"})
    # that others are missing, or what it is: the keyword itself is known
    message = str(caught.value)
    assert "unexpected" not in message
    assert f"'{first}'" not in message.split(": the call is")[0]
    assert "missing" in message or f"{function}: {first}: expected" in message
    if name != first:
        with pytest.raises(
            TypeError, match=f"{function}: {first} and {name}, another name of it, are both given"
        ):
            call(V, **{name: V})


def calls():
    image, kernel = flex.ones((1, 2, 4, 4)), flex.ones((3, 2, 2, 2))
    y = nn.softmax(M, 0)
    return {
        "relu": (nn.relu(V), nn.relu(input=V)),
        "flex.tanh": (flex.tanh(V), flex.tanh(input=V)),
        "mish": (nn.mish(V), nn.mish(input=V)),
        "conv2d": (
            nn.conv2d(image, kernel, stride=2),
            nn.conv2d(input=image, weight=kernel, stride=2),
        ),
        "linear": (nn.linear(V, M), nn.linear(weight=M, input=V)),
        "embedding": (nn.embedding(K, M), nn.embedding(input=K, weight=M)),
        "embedding_bag": (
            nn.embedding_bag(K, M, flex.asarray([0])),
            nn.embedding_bag(input=K, weight=M, offsets=flex.asarray([0])),
        ),
        "one_hot": (nn.one_hot(K, 3), nn.one_hot(tensor=K, num_classes=3)),
        "one_hot input": (nn.one_hot(K, 3), nn.one_hot(input=K, num_classes=3)),
        "cross_entropy": (nn.cross_entropy(M, K), nn.cross_entropy(input=M, target=K)),
        "cosine_embedding_loss": (
            nn.cosine_embedding_loss(M, -M, flex.asarray([1, -1])),
            nn.cosine_embedding_loss(input1=M, input2=-M, target=flex.asarray([1, -1])),
        ),
        "margin_ranking_loss": (
            nn.margin_ranking_loss(V, -V, flex.ones(3), margin=1.0),
            nn.margin_ranking_loss(V, input2=-V, target=flex.ones(3), margin=1.0),
        ),
        "softmax": (nn.softmax(M, 0), nn.softmax(input=M, dim=0)),
        "grad.softmax": (nn.grad.softmax(M, y, 0), nn.grad.softmax(M, output=y, dim=0)),
        "grad.log_softmax": (
            nn.grad.log_softmax(M, y, 0),
            nn.grad.log_softmax(grad_output=M, output=y, dim=0),
        ),
        "grad.relu": (nn.grad.relu(V, V), nn.grad.relu(grad_output=V, input=V)),
        "grad.linear": (
            nn.grad.linear(K + 0.0, V, M)[0],
            nn.grad.linear(K + 0.0, input=V, weight=M)[0],
        ),
        "grad.embedding": (
            nn.grad.embedding(M, K, 4),
            nn.grad.embedding(grad_output=M, indices=K, num_weights=4),
        ),
    }


@pytest.mark.parametrize(("expected", "result"), calls().values(), ids=calls())
def test_results(expected, result):
    same(result, expected)


def test_in_fused_functions_and_streams():
    def network(x):
        h = nn.relu(input=nn.linear(input=x, weight=M))
        return nn.softmax(input=nn.layer_norm(input=h, normalized_shape=2), dim=-1)

    x = flex.asarray(np.linspace(-2, 2, 12, dtype=np.float32).reshape(4, 3))
    expected = np.asarray(network(x))
    np.testing.assert_allclose(np.asarray(flex.fuse(network)(x)), expected, rtol=1e-6)
    with flex.stream():
        y = nn.relu(input=nn.linear(input=x + 0, weight=M))
        z = nn.softmax(input=nn.layer_norm(input=y, normalized_shape=2), dim=-1)
    np.testing.assert_allclose(np.asarray(z), expected, rtol=1e-6)


def message(call):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    return str(caught.value)


def test_errors_are_those_of_the_second_call():
    assert "mish: x: expected a Tensor" in message(lambda: nn.mish(input="a"))
    assert message(lambda: nn.linear(input=V)).startswith(
        "linear() missing 1 required positional argument: 'weight': the call is linear(x, weight,"
    )
    assert message(lambda: nn.relu(V, input=V)) == (
        "relu: x and input, another name of it, are both given; pass one of them"
    )
    assert message(lambda: nn.mish(x=V, input=V)) == (
        "mish: x and input, another name of it, are both given; pass one of them"
    )
    assert "axis is 0 and dim, another name of it, is 1" in message(
        lambda: nn.softmax(input=M, axis=0, dim=1)
    )
    with pytest.raises(flex.ShapeError, match="linear"):
        nn.linear(input=V, weight=V)


def test_other_keywords_have_hints():
    assert message(lambda: nn.mish(input=V, bais=1)).startswith(
        "mish() got an unexpected keyword argument 'bais'"
    )
    assert message(lambda: nn.linear(input=V, weight=M, bais=None)) == (
        "linear() got an unexpected keyword argument 'bais': did you mean bias?"
    )
    assert "flex's functions return new tensors" in message(lambda: nn.relu(V, inplace=True))
    assert "flex's functions return new tensors" in message(lambda: nn.elu(input=V, inplace=True))
    assert "affects gradients alone" in message(lambda: nn.embedding(K, M, padding_idx=0))
    assert "doesn't rescale" in message(lambda: nn.embedding(input=K, weight=M, max_norm=1.0))
    assert "write reduction=" in message(lambda: nn.mse_loss(V, V, size_average=True))
    assert "pass x by position" in message(lambda: flex.exp(input=V))
