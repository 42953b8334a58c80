"""Functions that arrange elements, against NumPy; views share memory."""

import numpy as np
import pytest
from arrays import KEPT, broadcastable, check, operands, shapes
from hypothesis import given
from hypothesis import strategies as st
from support import examples

import flex


def shares(t, x):
    """Whether `t` is a view of the memory of `x`."""
    a, b = t.numpy(), x.numpy()
    return a.size == 0 or np.shares_memory(a, b) or b.dtype.kind == "V"


@st.composite
def tensors(draw, min_dims=0, **kwargs):
    return draw(
        operands(
            ["bool", "int8", "float8_e4m3fn", "float32", "bfloat16", "complex128"],
            draw(shapes(min_dims=min_dims, **kwargs)),
        )
    )


def axes_of(a, data, count=None):
    every = st.permutations(range(a.ndim))
    chosen = data.draw(every)[: data.draw(st.integers(0, a.ndim)) if count is None else count]
    return tuple(k - a.ndim if data.draw(st.booleans()) else k for k in chosen)


@examples(100)
@given(tensors(), st.data())
def test_views(case, data):
    x, a = case
    for y, expected in [
        (flex.flip(x), np.flip(a)),
        (flex.transpose(x), a.T),
        (flex.expand_dims(x, axis=data.draw(st.integers(-a.ndim - 1, a.ndim))), None),
    ]:
        if expected is not None:
            check(y, expected)
        assert shares(y, x)
    axes = axes_of(a, data)
    check(flex.flip(x, axis=axes), np.flip(a, axes))
    order = axes_of(a, data, a.ndim)
    check(flex.permute_dims(x, order), a.transpose(order))
    check(flex.transpose(x, order), a.transpose(order))
    if a.ndim:
        check(flex.transpose(x, *order), a.transpose(order))
        source, destination = axes_of(a, data, 1), axes_of(a, data, 1)
        check(flex.moveaxis(x, source, destination), np.moveaxis(a, source, destination))
        check(flex.swapaxes(x, source[0], destination[0]), a.swapaxes(source[0], destination[0]))
        parts = flex.unstack(x, axis=source[0])
        assert isinstance(parts, tuple)
        assert len(parts) == a.shape[source[0]]
        for part, expected in zip(parts, np.moveaxis(a, source[0], 0), strict=True):
            check(part, expected)


@examples(60)
@given(tensors(), st.data())
def test_expand_dims_and_squeeze(case, data):
    x, a = case
    count = data.draw(st.integers(1, 2))
    rank = a.ndim + count
    axes = tuple(data.draw(st.permutations(range(-rank, 0)))[:count])
    y = flex.expand_dims(x, axis=axes)
    check(y, np.expand_dims(a, axes))
    check(flex.squeeze(y, axis=axes), a)
    check(flex.squeeze(y), np.squeeze(a))
    assert shares(y, x)


@examples(60)
@given(broadcastable(3))
def test_broadcasting(given_shapes):
    a, b, c = (np.arange(np.prod(s, dtype=int)).reshape(s) for s in given_shapes)
    expected = np.broadcast_arrays(a, b, c)
    results = flex.broadcast_arrays(flex.asarray(a), flex.asarray(b), flex.asarray(c))
    for y, e in zip(results, expected, strict=True):
        check(y, e)
        check(flex.broadcast_to(flex.asarray(e.copy()), e.shape), e)
    check(flex.broadcast_to(flex.asarray(a), expected[0].shape), expected[0])
    assert flex.broadcast_shapes(*given_shapes) == expected[0].shape


@examples(80)
@given(tensors(min_dims=1), st.data())
def test_split_chunk_and_unfold(case, data):
    x, a = case
    (axis,) = axes_of(a, data, 1)
    n = a.shape[axis]
    step = data.draw(st.integers(1, 4))
    parts = flex.split(x, step, axis=axis)
    cuts = list(range(step, n, step))
    for part, expected in zip(parts, np.split(a, cuts, axis), strict=True):
        check(part, expected)
        assert shares(part, x)
    cut = data.draw(st.integers(0, n))
    for part, expected in zip(
        flex.split(x, (cut, n - cut), axis=axis), np.split(a, [cut], axis), strict=True
    ):
        check(part, expected)
    chunks = flex.chunk(x, step, axis=axis)
    assert 1 <= len(chunks) <= step
    check(flex.concat(chunks, axis=axis), a)
    if n:
        size = data.draw(st.integers(1, n))
        windows = np.lib.stride_tricks.sliding_window_view(a, size, axis)
        index = tuple(
            slice(None, None, step) if k == axis % a.ndim else slice(None) for k in range(a.ndim)
        )
        y = flex.unfold(x, size, step=step, axis=axis)
        check(y, windows[index])
        assert shares(y, x)


@examples(80)
@given(st.sampled_from(KEPT), shapes(min_dims=1), st.integers(1, 4), st.data())
def test_concat_and_stack(dtype, shape, count, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    sizes = [data.draw(st.integers(0, 5)) for _ in range(count)]
    given_ = [
        data.draw(
            operands(
                [dtype], tuple(n if k == axis % len(shape) else s for k, s in enumerate(shape))
            )
        )
        for n in sizes
    ]
    check(
        flex.concat([x for x, _ in given_], axis=axis), np.concatenate([a for _, a in given_], axis)
    )
    check(
        flex.concat([x for x, _ in given_], axis=None),
        np.concatenate([a.ravel() for _, a in given_]),
    )
    alike = [data.draw(operands([dtype], shape)) for _ in range(count)]
    place = data.draw(st.integers(-len(shape) - 1, len(shape)))
    check(
        flex.stack(tuple(x for x, _ in alike), axis=place), np.stack([a for _, a in alike], place)
    )


def test_concat_promotes():
    assert (
        flex.concat([flex.ones(2, dtype="int8"), flex.ones(2, dtype="float16")]).dtype
        == flex.float16
    )
    assert flex.stack([1.0, flex.asarray(2.0, dtype="float64")]).dtype == flex.float64
    with pytest.raises(flex.DTypeError, match="concat"):
        flex.concat([flex.ones(2, dtype="int8"), flex.ones(2, dtype="uint64")])


@examples(80)
@given(tensors(), st.data())
def test_repeat_tile_and_roll(case, data):
    x, a = case
    times = data.draw(st.integers(0, 3))
    check(flex.repeat(x, times), np.repeat(a, times))
    counts = tuple(data.draw(st.lists(st.integers(0, 3), max_size=4)))
    check(flex.tile(x, counts), np.tile(a, counts))
    shift = data.draw(st.integers(-9, 9))
    check(flex.roll(x, shift), np.roll(a, shift))
    if a.ndim:
        (axis,) = axes_of(a, data, 1)
        check(flex.repeat(x, times, axis=axis), np.repeat(a, times, axis))
        each = np.array(
            [data.draw(st.integers(0, 3)) for _ in range(a.shape[axis])], dtype=np.int64
        )
        check(flex.repeat(x, flex.asarray(each), axis=axis), np.repeat(a, each, axis))
        check(flex.roll(x, shift, axis=axis), np.roll(a, shift, axis))
        axes = axes_of(a, data)
        if axes:
            shifts = tuple(data.draw(st.integers(-9, 9)) for _ in axes)
            check(flex.roll(x, shifts, axis=axes), np.roll(a, shifts, axes))


@examples(60)
@given(tensors(), st.data())
def test_pad(case, data):
    x, a = case
    widths = [(data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))) for _ in range(a.ndim)]
    if a.ndim:
        check(flex.pad(x, widths), np.pad(a, widths))
        check(flex.pad(x, 2, value=True), np.pad(a, 2, constant_values=True))
        check(flex.pad(x, (1, 2)), np.pad(a, (1, 2)))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: flex.permute_dims(x, (0,)), flex.ShapeError, "permute_dims"),
        (
            lambda x: flex.permute_dims(x, (0, 0)),
            flex.AxisError,
            "permute_dims: axis 0 is repeated",
        ),
        (lambda x: flex.transpose(x, 0, 5), flex.AxisError, "transpose"),
        (lambda x: flex.swapaxes(x, 0, 2), flex.AxisError, "swapaxes: axis 2"),
        (lambda x: flex.moveaxis(x, (0, 1), 0), flex.ShapeError, "moveaxis"),
        (lambda x: flex.flip(x, axis=7), flex.AxisError, "flip: axis 7"),
        (lambda x: flex.squeeze(x, axis=0), flex.ShapeError, "squeeze"),
        (lambda x: flex.expand_dims(x, axis=9), flex.AxisError, "expand_dims: axis 9"),
        (lambda x: flex.broadcast_to(x, (2, 4)), flex.ShapeError, "broadcast_to"),
        (lambda x: flex.broadcast_to(x, -1), flex.ShapeError, r"broadcast_to: shape is \[-1\]"),
        (lambda x: flex.broadcast_arrays(x, flex.zeros(4)), flex.ShapeError, "broadcast_arrays"),
        (lambda x: flex.broadcast_shapes((2,), (3,)), flex.ShapeError, "broadcast_shapes"),
        (lambda x: flex.concat([]), ValueError, "concat: at least one tensor is needed"),
        (lambda x: flex.concat([x, flex.zeros((2, 4))]), flex.ShapeError, "concat"),
        (lambda x: flex.concat([x, x], axis=2), flex.AxisError, "concat: axis 2"),
        (lambda x: flex.concat([1, 2]), flex.AxisError, "concat"),
        (lambda x: flex.stack([x, x[0]]), flex.ShapeError, "stack"),
        (lambda x: flex.stack([]), ValueError, "stack"),
        (lambda x: flex.stack("ab"), TypeError, "list or tuple of tensors"),
        (lambda x: flex.concat(5), TypeError, "list or tuple of tensors"),
        (lambda x: flex.repeat(x, -1), ValueError, "repeat: repeats is -1"),
        (lambda x: flex.repeat(x, [1, -2, 1], axis=1), ValueError, "repeat"),
        (lambda x: flex.repeat(x, [1, 2], axis=1), ValueError, "repeat"),
        (lambda x: flex.repeat(x, 1.5), TypeError, "repeat"),
        (lambda x: flex.tile(x, (1, -2)), ValueError, "tile: a repetition is -2"),
        (lambda x: flex.tile(x, "2"), TypeError, ""),
        (lambda x: flex.roll(x, 1, axis=2), flex.AxisError, "roll: axis 2"),
        (lambda x: flex.roll(x, (1, 2, 3), axis=(0, 1)), ValueError, "roll"),
        (lambda x: flex.unstack(x, axis=2), flex.AxisError, "unstack: axis 2"),
        (lambda x: flex.split(x, 0), ValueError, "split: pieces of size 0"),
        (lambda x: flex.split(x, (1, 2)), flex.ShapeError, "split"),
        (lambda x: flex.split(x, (3, -1)), ValueError, "split: a size is -1"),
        (lambda x: flex.chunk(x, 0), ValueError, "chunk: 0 chunks"),
        (lambda x: flex.chunk(x, -1), ValueError, "chunk: chunks is -1"),
        (lambda x: flex.unfold(x, 4), ValueError, "unfold"),
        (lambda x: flex.unfold(x, 0), ValueError, "unfold"),
        (lambda x: flex.unfold(x, 1, step=0), ValueError, "unfold"),
        (lambda x: flex.unfold(x, -1), ValueError, "unfold: size is -1"),
        (lambda x: flex.pad(x, -1), ValueError, "pad: a width is -1"),
        (lambda x: flex.pad(x, ((1, 1), (1, 1), (1, 1))), ValueError, "pad"),
        (lambda x: flex.pad(x, 1, value=1j), flex.DTypeError, "pad"),
        (lambda x: flex.pad(x, "a"), TypeError, "pad"),
        (lambda x: flex.tile(x, 2**62), MemoryError, ""),
        (lambda x: flex.repeat(x, 2**62), MemoryError, ""),
        (lambda x: flex.repeat(x, 2**62, 0), MemoryError, ""),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message or None):
        call(flex.zeros((2, 3)))


def test_views_of_empty_tensors():
    """The offset of an empty view is meaningless and must not be used as an address."""
    x = flex.flip(flex.zeros((3, 0)))
    for y in (
        x[1:],
        x[::-1],
        flex.diff(x, axis=0),
        flex.flip(x[2:], axis=0),
        flex.unfold(x, 2, axis=0),
    ):
        assert flex.add(y, 1).tolist() == y.tolist()
        y += 1
