"""Gradients in Python: those of linear functions are their adjoints, for any shape; and errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flex
from flex import nn
from flex.nn import grad

side = st.integers(1, 9)


def numbers(shape, seed):
    return flex.asarray(np.random.default_rng(seed).standard_normal(shape))


def assert_adjoint(f, gradient, shape):
    """Asserts that `sum(g * f(x))` is `sum(gradient(g) * x)`, as for a linear function and its gradient."""
    x = numbers(shape, 1)
    y = f(x)
    g = numbers(y.shape, 2)
    d = gradient(g)
    assert d.shape == shape
    there, back = float((y * g).sum()), float((x * d).sum())
    scale = 1 + float(abs(y * g).sum())
    assert abs(there - back) <= 1e-12 * scale


@given(st.tuples(side, side, side, side), st.data())
def test_average_pools_are_adjoint(shape, data):
    kernel = [data.draw(st.integers(1, n)) for n in shape[2:]]
    stride = data.draw(st.integers(1, 4))
    padding = [data.draw(st.integers(0, k // 2)) for k in kernel]
    more = data.draw(st.tuples(st.booleans(), st.booleans()))
    pool = (kernel, stride, padding, *more)
    assert_adjoint(
        lambda x: nn.avg_pool2d(x, *pool),
        lambda g: nn.grad.avg_pool2d(g, shape, *pool),
        shape,
    )
    places = data.draw(st.tuples(side, side))
    assert_adjoint(
        lambda x: nn.adaptive_avg_pool2d(x, places),
        lambda g: nn.grad.adaptive_avg_pool2d(g, shape),
        shape,
    )


@given(
    st.tuples(side, side, side, side),
    st.tuples(side, side),
    st.sampled_from(["nearest", "nearest-exact", "bilinear", "bicubic", "area", "lanczos3"]),
)
def test_resampling_is_adjoint(shape, size, mode):
    assert_adjoint(
        lambda x: nn.interpolate(x, size, mode=mode),
        lambda g: nn.grad.interpolate(g, shape, size, mode=mode),
        shape,
    )


@given(
    st.tuples(side, side, side),
    st.tuples(st.integers(-3, 3), st.integers(-3, 3)),
    st.sampled_from(["constant", "reflect", "replicate", "circular"]),
)
def test_padding_is_adjoint(shape, pad, mode):
    try:
        nn.pad(flex.zeros(shape), pad, mode=mode)
    except flex.ShapeError:
        return  # more padding than the mode allows
    assert_adjoint(
        lambda x: nn.pad(x, pad, mode=mode),
        lambda g: nn.grad.pad(g, shape, pad, mode=mode),
        shape,
    )


@given(
    st.tuples(side, st.integers(1, 40), side, side),
    st.tuples(side, side),
    st.sampled_from(["bilinear", "nearest", "bicubic"]),
    st.sampled_from(["zeros", "border", "reflection"]),
    st.booleans(),
)
def test_grid_sampling_is_adjoint(shape, places, mode, padding_mode, align_corners):
    options = (mode, padding_mode, align_corners)
    grid = numbers((shape[0], *places, 2), 3)
    assert_adjoint(
        lambda x: nn.grid_sample(x, grid, *options),
        lambda g: nn.grad.grid_sample(g, flex.zeros(shape), grid, *options)[0],
        shape,
    )


@given(st.tuples(side, side, side), st.integers(1, 4))
def test_unpooling_is_adjoint(shape, kernel):
    length = (shape[2] * kernel,)
    lines = [np.random.default_rng(n).permutation(length[0]) for n in range(shape[0] * shape[1])]
    indices = flex.asarray(np.stack(lines)[:, : shape[2]].reshape(shape))
    assert_adjoint(
        lambda x: nn.max_unpool1d(x, indices, kernel, output_size=length),
        lambda g: nn.grad.max_unpool1d(g, indices),
        shape,
    )


@given(st.tuples(side, side, side), st.integers(1, 3), st.integers(1, 3))
def test_max_pool_gradients_go_to_the_largest_elements(shape, kernel, stride):
    x = numbers(shape, 1)
    kernel = min(kernel, shape[2])
    y, indices = nn.max_pool1d(x, kernel, stride, return_indices=True)
    d = np.asarray(nn.grad.max_pool1d(y, indices, x.shape))
    seen, want = np.asarray(indices), np.zeros(shape)
    for place in np.ndindex(*seen.shape):
        want[(*place[:2], seen[place])] += np.asarray(y)[place]
    np.testing.assert_allclose(d, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, n: nn.interpolate(x, n, mode="linear"),
        lambda x, n: nn.grad.interpolate(x, (1000, 1, n), 4, mode="linear"),
        lambda x, n: nn.grad.interpolate(x, (1000, 1, n), 4),
        lambda x, n: nn.grad.adaptive_avg_pool1d(x, (1000, 1, n)),
    ],
)
def test_results_beyond_memory_are_refused_before_the_work(call):
    with pytest.raises(MemoryError):
        call(flex.ones((1000, 1, 4)), 4_000_000_000)


X = flex.ones((1, 2, 4))


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        (flex.ShapeError, "grad.max_pool1d", lambda: nn.grad.max_pool1d(X, X[:, :1], (1, 2, 8))),
        (
            ValueError,
            "grad.max_pool1d: indices has 8 at row-major position",
            lambda: nn.grad.max_pool1d(X, flex.full((1, 2, 4), 8), (1, 2, 8)),
        ),
        (flex.ShapeError, "grad.avg_pool1d", lambda: nn.grad.avg_pool1d(X, (1, 2, 9), 3)),
        (
            flex.ShapeError,
            r"grad.avg_pool1d: input_size is \[1, 2, -9\], with a negative size",
            lambda: nn.grad.avg_pool1d(X, (1, 2, -9), 3),
        ),
        (
            flex.ShapeError,
            r"grad.max_pool1d: input_size is \[-1, 2, 9\]",
            lambda: nn.grad.max_pool1d(X, X, (-1, 2, 9)),
        ),
        (
            flex.ShapeError,
            r"grad.interpolate: input_size is \[1, 2, -2\]",
            lambda: nn.grad.interpolate(X, (1, 2, -2), 4),
        ),
        (
            flex.ShapeError,
            r"grad.layer_norm: normalized_shape is \[-4\]",
            lambda: nn.grad.layer_norm(X, X, -4),
        ),
        (flex.ShapeError, "grad.relu", lambda: nn.grad.relu(X, X[0])),
        (
            ValueError,
            "grad.gelu: approximate is 'erf'|approximate is \"erf\"",
            lambda: nn.grad.gelu(X, X, approximate="erf"),
        ),
        (
            ValueError,
            "grad.batch_norm: running_mean is None",
            lambda: nn.grad.batch_norm(X, X),
        ),
        (flex.ShapeError, "grad.group_norm", lambda: nn.grad.group_norm(X, X, 3)),
        (
            flex.DTypeError,
            "grad.cross_entropy: weight is complex64",
            lambda: nn.grad.cross_entropy(
                flex.asarray(1.0), X[0], flex.asarray([0, 1]), flex.full(4, 1j)
            ),
        ),
        (
            ValueError,
            "grad.cross_entropy: class 4 out of range",
            lambda: nn.grad.cross_entropy(flex.asarray(1.0), flex.ones((1, 4)), flex.asarray([4])),
        ),
        (
            flex.ShapeError,
            "grad.scaled_dot_product_attention",
            lambda: nn.grad.scaled_dot_product_attention(X, X, X, X[:, :1]),
        ),
        (
            ValueError,
            "grad.scaled_dot_product_attention: align",
            lambda: nn.grad.scaled_dot_product_attention(X, X, X, X, align="left"),
        ),
        (
            ValueError,
            "grad.interpolate: mode",
            lambda: nn.grad.interpolate(X, X.shape, 4, mode="x"),
        ),
        (
            ValueError,
            "grad.grid_sample: padding_mode",
            lambda: nn.grad.grid_sample(
                X[None], X[None], flex.zeros((1, 2, 4, 2)), padding_mode="x"
            ),
        ),
        (
            flex.ShapeError,
            r"grad.grid_sample: grad must have the shape of the result, \[1, 1, 3, 4\]",
            lambda: nn.grad.grid_sample(X[None], X[None], flex.zeros((1, 3, 4, 2))),
        ),
        (
            ValueError,
            "grad.max_unpool1d: indices has 4 at row-major position 0",
            lambda: nn.grad.max_unpool1d(X, flex.full((1, 2, 1), 4)),
        ),
        (flex.ShapeError, "grad.pad", lambda: nn.grad.pad(X, (1, 2, 3), (1, 1))),
    ],
)
def test_operands_that_do_not_fit_are_refused(error, text, call):
    with pytest.raises(error, match=text):
        call()


def test_errors_about_arguments_name_the_gradient():
    x = flex.ones((2, 3))
    for call, text in (
        (lambda: grad.relu(x), r"^grad\.relu\(\) missing .*the call is grad\.relu\(grad, x"),
        (
            lambda: grad.relu(x, x, foo=1),
            r"^grad\.relu\(\) got an unexpected .*flex\.nn\.grad\.relu",
        ),
        (
            lambda: grad.scaled_dot_product_attention_mask(x, x, x, x, None),
            r"^grad\.scaled_dot_product_attention_mask: ",
        ),
        (
            lambda: grad.conv1d(x[:1], x[:1], flex.ones((1, 1, 1)), padding=1.5),
            r"^grad\.conv1d: padding",
        ),
    ):
        with pytest.raises(TypeError, match=text):
            call()


def test_parameters_of_norms_are_named_and_real():
    x = flex.ones((2, 3))
    with pytest.raises(flex.ShapeError, match="running_mean must have the shape"):
        grad.batch_norm(x, x, flex.ones(4), flex.ones(3))
    with pytest.raises(flex.DTypeError, match="weight is complex64"):
        grad.batch_norm(x, x, training=True, weight=flex.ones(3, dtype="complex64"))


def test_huge_strides_take_no_time():
    one = flex.ones((1, 1, 1))
    y = flex.nn.conv_transpose1d(one, flex.ones((1, 1, 3)), stride=2**61, padding=1)
    assert y.tolist() == [[[1.0]]]
    x, w = flex.ones((1, 2, 4)), flex.ones((2, 2, 3))
    found = grad.conv1d(flex.ones((1, 2, 1)), x, w, stride=2**40)
    assert found[0].tolist() == [[[2.0, 2.0, 2.0, 0.0]] * 2]
    of_weight = grad.conv2d(
        flex.ones((1, 1, 1, 1)), flex.ones((1, 1, 4, 4)), flex.ones((1, 1, 3, 3)), stride=2**30
    )[1]
    assert of_weight.tolist() == [[[[1.0] * 3] * 3]]
