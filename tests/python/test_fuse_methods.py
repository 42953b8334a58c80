"""Copies, indices and assignments in functions that flex.fuse traces; what can't be traced is named in the error."""

import copy

import numpy as np
import pytest
from test_fuse import X, equal
from test_fuse_programs import bits

import flex

INDEX = flex.asarray([1, 0, 1])
MASK = flex.asarray([True, False, True])


def result_of(f):
    """A function that returns an intermediate result after `f` has changed it."""

    def function(x):
        y = x * 2
        f(y)
        return y + 1

    return function


def set_number(y):
    y[0] = 1


def set_all(y):
    y[...] = y * 3


def set_slice(y):
    y[:, 1:] = y[:, :-1]


def set_positions(y):
    y[:, [2, 0]] = flex.asarray([[7.0], [8.0]])


def set_mask(y):
    y[y > 4] = 0


def set_twice(y):
    y[1] = y[0]
    y[0, 0] = 5


def set_list(y):
    y[0] = [1, 2, 3]


def set_array(y):
    y[:, 0] = np.ones(2)


def set_beside_a_view(y):
    row = y[0]
    y[0] = 1
    y += row


def set_of_a_view(y):
    z = y.T
    z[0] = -1
    y *= z.T


def set_beside_a_copy(y):
    z, w = copy.copy(y), y.copy()
    y[0] = 1
    z[1] = 2
    y += z * w


def set_to_a_tensor_that_changes(y):
    row = flex.zeros(3)
    for k in range(2):
        row[k] = 1
        y[k] = row
        y += flex.concat([row, row]).reshape((2, 3))


def multiply(y):
    y @= flex.ones((3, 3))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (x * 2).copy() + 1,
        lambda x: copy.copy(x * 2) + x,
        lambda x: copy.deepcopy(x * 2) + x,
        lambda x: (x * 2).to_device("cpu", copy=True) + 1,
        lambda x: x[[0, 1, 0]] * 2,
        lambda x: (x + 1)[INDEX] * 2,
        lambda x: (x + 1)[:, INDEX],
        lambda x: (x + 1)[..., [0], None],
        lambda x: (x + 1)[[1], ::2],
        lambda x: (x + 1)[:, MASK],
        lambda x: (x + 1)[np.asarray([1, 1])],
        lambda x: (x + 1)[:, flex.argmax(x, axis=0)],
        lambda x: (x + 1)[flex.argmax(x[:, 0])],
        lambda x: flex.asarray([4.0, 5.0])[flex.astype(x > 1, "int64")],
        lambda x: flex.repeat(x * 2, 2),
        lambda x: flex.repeat(x * 2, [1, 2], axis=0),
        lambda x: flex.repeat(x * 2, repeats=INDEX, axis=1),
        lambda x: (x * 2).view("int32") + 1,
        lambda x: (x * 2).view(flex.uint8)[0],
        lambda x: round(x / 3, 2) * x,
        lambda x: round(x / 3) * x,
        lambda x: flex.asarray(x * 2) + 1,
        *map(
            result_of,
            [
                set_number,
                set_all,
                set_slice,
                set_positions,
                set_mask,
                set_twice,
                set_list,
                set_array,
                set_beside_a_view,
                set_of_a_view,
                set_beside_a_copy,
                set_to_a_tensor_that_changes,
                multiply,
            ],
        ),
    ],
)
def test_results_are_those_of_the_function(f):
    fused = flex.fuse(f)
    for x in (X, X * -3 + 1):
        equal(fused(x), f(x))
        with flex.stream():
            y = f(x * 1)
        equal(y, f(x))


def test_arguments_that_are_assigned_to_are_not_changed():
    x, other = X * 1, X * 1

    def f(x, value):
        x[0] = value
        x[:, 0] = other[:, 1]
        return x

    fused = flex.fuse(f)
    for value in (2.0, 3.0, 4):
        equal(fused(x, value), f(x.copy(), value))
    equal(x, X)
    equal(other, X)


def test_captured_tensors_of_whole_functions_are_read_anew():
    index = flex.asarray([1, 0])

    def f(x):
        return flex.take(x, index, axis=0) + x[index]

    fused = flex.fuse(f)
    equal(fused(X), f(X))
    index[0] = 0
    equal(fused(X), X[[0, 0]] * 2)


def test_strides_after_an_assignment():
    """They are kept, unless other objects see the memory: then a copy is written to."""

    def f(x, alias):
        view = x.T if alias else None
        x[0] = 1
        return x, flex.sum(x, axis=0), view

    rng = np.random.default_rng(3)
    rows = flex.asarray(rng.random((70, 90), np.float32)).copy()
    fused = flex.fuse(f)
    for alias in (True, False, True, False):
        x = flex.permute_dims(rows.copy(), (1, 0))
        got = fused(x, alias)
        expected = f(x, alias)
        assert got[0].strides == expected[0].strides
        assert [bits(t) for t in got[:2]] == [bits(t) for t in expected[:2]]


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (lambda x: (x + 1).tolist(), r"\(x \+ 1\)\.tolist\(\)"),
        (lambda x: x.tobytes(), r"x\.tobytes\(\)"),
        (lambda x: x.contiguous(), r"x\.contiguous\(\)"),
        (lambda x: x[x > 1], r"x\[x > 1\]"),
        (lambda x: flex.repeat(flex.ones(2), flex.astype(x[0], "int64")), r"flex\.repeat\("),
        (lambda x: flex.nonzero(x)[0], r"flex\.nonzero\(x\)"),
        (lambda x: 1 in x, "1 in x"),
        (lambda x: divmod(x, 2), r"divmod\(x, 2\)"),
        (lambda x: flex.unique_values(x), r"flex\.unique_values\(x\)"),
    ],
)
def test_the_refused_expression_is_named(f, what):
    place = r"\(.*test_fuse_methods\.py:\d+: "
    with pytest.raises(TypeError, match=rf"elements of a tensor for {what}.* {place}") as e:
        flex.fuse(f)(X)
    assert "flex.where" in str(e.value)


def test_code_without_a_file_or_positions_is_refused_too():
    within = {}
    exec("def f(x):\n    return x.tolist()", within)
    code = within["f"].__code__
    within["g"] = type(within["f"])(code.replace(co_linetable=b""), {})
    for name in "fg":
        with pytest.raises(TypeError, match="elements of a tensor"):
            flex.fuse(within[name])(X)


def test_a_tensor_from_outside_is_not_assigned_to():
    constant = flex.zeros((3, 3))

    def assign(x):
        constant[0] = x[0]
        return x

    def multiply(x):
        nonlocal constant
        constant @= x[:1].T @ x[:1]
        return x

    for f in (assign, multiply):
        with pytest.raises(TypeError, match="from outside"):
            flex.fuse(f)(X)
    assert constant.tolist() == [[0.0] * 3] * 3
