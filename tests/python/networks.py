"""Random calls of flex.nn on operands of a `programs.World`, and NumPy's results by the definitions, in float64."""

import math

import numpy as np
from arrays import EPS, sum_error
from windows import Windows, grouped

import flex

FLOATS = ["float32", "float32", "float64", "float16", "bfloat16"]


def exactly(array):
    """The array in a dtype in which sums are exact, or nearly so."""
    return array.astype(np.int64 if array.dtype.kind in "iu" else np.float64)


def unit(dtype):
    """The machine epsilon of the dtype that a dtype is computed in."""
    return min(EPS.get(dtype, 0), 2**-23)


def operand(w, dtype, *shape, low=-2, high=3, **values):
    tensor, array = w.operand(dtype, shape, low=low, high=high, **{"special": False, **values})
    return tensor, exactly(array)


def channels(w, work):
    """A number of groups, and the input and output channels of one; few if each is much work."""
    groups = w.pick([1, 1, 1, 2, 4])
    some = [1, 1, 2, 3, 4, 8, 16, 17, 33]
    inner, outer = w.pick(some), w.pick(some)
    return (groups, inner, outer) if groups * inner * outer * work < 3e6 else (2, 2, 3)


def linear(tensor, of, operands, n):
    """A result that is a sum of `n` products of operands. Winograd's algorithm adds some twenty terms from other outputs of a tile, so the
    bound uses the largest sum of magnitudes."""
    total = np.abs(of(*map(np.abs, operands))).max(initial=0)
    dtype = tensor.dtype.name
    return (tensor, of(*operands), 4 if dtype in EPS else 0, 4 * total * sum_error(dtype, n + 20))


def convolution(w):
    rank, dtype = w.pick([1, 2, 2, 2, 3]), w.pick([*FLOATS, "int32"])
    s = Windows(w, rank)
    taps = math.prod(s.kernel)
    groups, inner, outer = channels(w, taps * math.prod(s.places))
    batch = w.pick([1, 2])
    x, a = operand(w, dtype, batch, groups * inner, *s.sizes)
    k, b = operand(w, dtype, groups * outer, inner, *s.kernel)
    c, bias = operand(w, dtype, groups * outer)
    bias = bias.reshape(-1, *[1] * rank)
    options = {"stride": s.stride, "padding": s.padding, "dilation": s.dilation, "groups": groups}
    name = f"conv{rank}d"
    results = [
        linear(
            getattr(flex.nn, name)(x, k, c, **options),
            lambda a, b, bias: s.gather(s.pad(a), b, groups) + bias,
            (a, b, bias),
            inner * taps,
        )
    ]
    if dtype == "int32" or w.chance(0.5):
        return results
    g, grad = operand(w, dtype, batch, groups * outer, *s.places)
    of_x, of_weight, of_bias = getattr(flex.nn.grad, name)(g, x, k, **options)
    size = batch * math.prod(s.places)
    axes = (0, *range(2, rank + 2))
    return [
        *results,
        linear(
            of_x,
            lambda grad, b: s.inner(s.scatter(grad, b, s.padded, groups)),
            (grad, b),
            outer * taps,
        ),
        linear(of_weight, lambda grad, a: s.weight(grad, s.pad(a), groups), (grad, a), size),
        linear(of_bias, lambda grad: grad.sum(axes), (grad,), size),
    ]


def transposed(w):
    rank, dtype = w.pick([1, 2, 2, 3]), w.pick([*FLOATS, "int32"])
    s = Windows(w, rank)
    groups, inner, outer = channels(w, math.prod(s.kernel) * math.prod(s.sizes))
    x, a = operand(w, dtype, w.pick([1, 2]), groups * inner, *s.sizes)
    k, b = operand(w, dtype, groups * inner, outer, *s.kernel)
    more = [w.pick(range(max(pair))) for pair in zip(s.stride, s.dilation, strict=True)]
    steps = zip(s.sizes, s.stride, s.spans, more, strict=True)
    whole = [(n - 1) * step + span + m for n, step, span, m in steps]
    out = [min(w.pick([0, 0, 1, 2]), (n - 1) // 2) for n in whole]
    cut = (..., *(slice(p, n - p) for p, n in zip(out, whole, strict=True)))
    result = getattr(flex.nn, f"conv_transpose{rank}d")(
        x,
        k,
        stride=s.stride,
        padding=tuple(out),
        output_padding=tuple(more),
        groups=groups,
        dilation=s.dilation,
    )
    terms = inner * math.prod(s.kernel)
    return [linear(result, lambda a, b: s.scatter(a, b, whole, groups)[cut], (a, b), terms)]


def pool(w):
    rank, mean = w.pick([1, 2, 2, 3]), w.chance(0.5)
    s = Windows(w, rank, centred=True)
    dtype = w.pick(FLOATS if mean else [*FLOATS, "int32"])
    ceil, counted = w.chance(0.3), w.chance(0.5)
    if mean:
        s.dilation, s.spans = (1,) * rank, s.kernel
    # only windows that start in the image or in the left padding
    steps = zip(s.sizes, s.padding, s.spans, s.stride, strict=True)
    places = []
    for n, (p, _), span, step in steps:
        count = -(-(n + 2 * p - span) // step) + 1 if ceil else (n + 2 * p - span) // step + 1
        places.append(count - (ceil and (count - 1) * step >= n + p))
    x, a = operand(
        w, dtype, *w.pick([(2,), (1, 3), (2, 2)]), *s.sizes, special=not mean, low=-9, high=10
    )
    rest = [(0, 0)] * (a.ndim - rank) + [
        (0, step + span) for step, span in zip(s.stride, s.spans, strict=True)
    ]
    options = {"stride": s.stride, "padding": tuple(p for p, _ in s.padding), "ceil_mode": ceil}

    def seen(a, value):
        a = np.pad(s.pad(a, value), rest, constant_values=value)
        return np.stack([a[part] for _, part in s.taps(places)])

    if not mean:
        lowest = np.iinfo(np.int32).min if dtype == "int32" else -np.inf
        call = getattr(flex.nn, f"max_pool{rank}d")
        values, at = call(x, s.kernel, dilation=s.dilation, return_indices=True, **options)
        expected = seen(a, lowest).max(0)
        flat = a.reshape(*a.shape[: a.ndim - rank], -1)
        found = np.take_along_axis(flat, at.numpy().reshape(*flat.shape[:-1], -1), -1)
        # a window may cover only padding
        found = np.where(expected == lowest, lowest, found.reshape(expected.shape))
        return [(values, expected), (values, found)]
    inside = np.pad(s.pad(np.ones_like(a), counted), rest)
    divisors = sum(inside[part] for _, part in s.taps(places))
    call = getattr(flex.nn, f"avg_pool{rank}d")
    result = call(x, s.kernel, count_include_pad=counted, **options)
    return [linear(result, lambda a: seen(a, 0).sum(0) / divisors, (a,), math.prod(s.kernel))]


def padding(w):
    mode, known = w.pick(
        [
            ("constant", "constant"),
            ("reflect", "reflect"),
            ("replicate", "edge"),
            ("circular", "wrap"),
        ]
    )
    rank = w.pick([1, 2, 3])
    sizes = [w.pick([1, 2, 3, 7, 17]) for _ in range(rank)]
    most = {"reflect": -1, "circular": 0}
    pads = [
        tuple(min(w.pick([0, 1, 2, 5]), n + most.get(mode, 9)) for _ in range(2)) for n in sizes
    ]
    x, a = w.operand(w.pick(FLOATS), (2, 3, *sizes))
    flat = [p for pair in reversed(pads) for p in pair]
    return [(flex.nn.pad(x, flat, mode=mode), np.pad(a, [(0, 0)] * 2 + pads, mode=known))]


def weights(n, m, cubic, corners):
    """Interpolation weights of `n` elements for each of `m` outputs (Keys, 1981, with a = -0.75 as in torch)."""
    at = (np.arange(m) + 0.5) * n / m - 0.5
    if corners:
        at = np.arange(m) * ((n - 1) / (m - 1) if m > 1 else 0)
    table, below = np.zeros((m, n)), np.floor(at)
    for tap in range(-1, 3):
        x = np.abs(at - below - tap)
        near, far = 1.25 * x**3 - 2.25 * x**2 + 1, -0.75 * (x**3 - 5 * x**2 + 8 * x - 4)
        weight = np.where(x <= 1, near, np.where(x < 2, far, 0)) if cubic else np.maximum(1 - x, 0)
        np.add.at(table, (np.arange(m), np.clip(below + tap, 0, n - 1).astype(int)), weight)
    return table


def resampling(w):
    rank = w.pick([1, 2, 2, 3])
    mode = w.pick([[], ["linear"], ["bilinear", "bicubic"], ["trilinear"]][rank])
    sizes = [w.pick([1, 2, 3, 8, 17]) for _ in range(rank)]
    to = [w.pick([1, 2, n, 2 * n, 2 * n + 3]) for n in sizes]
    x, a = operand(w, w.pick(FLOATS), 2, w.pick([1, 3]), *sizes)
    corners = w.chance(0.5)
    expected = a
    for k, (n, m) in enumerate(zip(sizes, to, strict=True)):
        table = weights(n, m, mode == "bicubic", corners)
        expected = np.moveaxis(np.moveaxis(expected, k + 2, -1) @ table.T, -1, k + 2)
    result = flex.nn.interpolate(x, to, mode=mode, align_corners=corners)
    # the error of a coordinate is relative to its size
    allowed = 16 * max(sizes) * unit(x.dtype.name) * np.abs(a).max()
    return [(result, expected, 4, allowed)]


def between(image, y, x):
    """Bilinear samples of `[channels, height, width]`, with zero padding."""
    total = 0
    for down, across in np.ndindex(2, 2):
        i, j = np.floor(y) + down, np.floor(x) + across
        inside = (i >= 0) & (i < image.shape[1]) & (j >= 0) & (j < image.shape[2])
        weight = (1 - np.abs(y - i)) * (1 - np.abs(x - j)) * inside
        i, j = (
            np.clip(v, 0, n - 1).astype(int) for v, n in zip((i, j), image.shape[1:], strict=True)
        )
        total = total + image[:, i, j] * weight
    return total


def sampling(w):
    dtype, sizes = w.pick(FLOATS), [w.pick([1, 2, 5, 17]) for _ in range(2)]
    x, a = operand(w, dtype, 2, w.pick([1, 3, 8]), *sizes)
    g, grid = operand(w, dtype, 2, w.pick([1, 3, 17]), w.pick([1, 5, 16]), 2, low=-1, high=2)
    at = [((grid[..., 1 - k] + 1) * n - 1) / 2 for k, n in enumerate(sizes)]
    expected = np.stack([between(image, at[0][n], at[1][n]) for n, image in enumerate(a)])
    allowed = 32 * max(sizes) * unit(dtype) * np.abs(a).max()
    return [(flex.nn.grid_sample(x, g, align_corners=False), expected, 4, allowed)]


def deformable(w):
    dtype, s = w.pick(FLOATS), Windows(w, 2)
    taps = math.prod(s.kernel)
    groups, inner, outer = channels(w, 8 * taps * math.prod(s.places))
    x, a = operand(w, dtype, 2, groups * inner, *s.sizes)
    k, b = operand(w, dtype, groups * outer, inner, *s.kernel)
    o, offset = operand(w, dtype, 2, 2 * taps, *s.places)
    m, mask = operand(w, dtype, 2, taps, *s.places, low=0)
    starts = [
        np.arange(n) * step - p
        for n, step, (p, _) in zip(s.places, s.stride, s.padding, strict=True)
    ]
    start = np.stack(np.meshgrid(*starts, indexing="ij"))

    def of(a, b, mask):
        y = np.zeros((2, groups, outer, math.prod(s.places)))
        for j, tap in enumerate(np.ndindex(*s.kernel)):
            for n, image in enumerate(a):
                move = np.array(tap) * s.dilation
                at = start + move[:, None, None] + offset[n, 2 * j : 2 * j + 2]
                seen = (between(image, *at) * mask[n, j]).reshape(groups, inner, -1)
                y[n] += b.reshape(groups, outer, inner, *s.kernel)[(..., *tap)] @ seen
        return y.reshape(2, -1, *s.places)

    result = flex.nn.deform_conv2d(
        x, o, k, stride=s.stride, padding=s.padding, dilation=s.dilation, mask=m
    )
    # the error of a sampling position is relative to its size
    return [linear(result, of, (a, b, mask), inner * taps + 8 * max(s.sizes))]


def norm(w):
    dtype, groups = w.pick(FLOATS), w.pick([1, 2, 3])
    sizes = w.pick([(1,), (7,), (3, 5), (17, 16)])
    x, a = operand(w, dtype, w.pick([1, 2, 5]), groups * w.pick([1, 2, 8]), *sizes)
    c = a.shape[1]
    g, weight = operand(w, dtype, c)
    h, bias = operand(w, dtype, c)
    m, mean = operand(w, dtype, c)
    v, var = operand(w, dtype, c, low=0)
    column = (c, *[1] * len(sizes))

    def scaled(b, mean, var):
        normed = ((b - mean) / np.sqrt(var + 0.1)).reshape(a.shape)
        return normed * weight.reshape(column) + bias.reshape(column)

    def over(b, axes):
        return scaled(b, b.mean(axes, keepdims=True), b.var(axes, keepdims=True))

    allowed = 500 * unit(dtype)
    # statistics of a single value are an error
    batch = []
    if a.size > c:
        y = flex.nn.batch_norm(x, None, None, g, h, training=True, eps=0.1)
        batch.append((y, over(a, (0, *range(2, a.ndim))), 8, allowed))
    return [
        *batch,
        (
            flex.nn.batch_norm(x, m, v, g, h, eps=0.1),
            scaled(a, mean.reshape(column), var.reshape(column)),
            8,
            allowed,
        ),
        (
            flex.nn.group_norm(x, groups, g, h, eps=0.1),
            over(grouped(a, groups), tuple(range(2, a.ndim + 1))),
            8,
            allowed,
        ),
    ]


def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(w):
    dtype, batch, shared = w.pick(FLOATS), w.pick([1, 2]), w.pick([1, 1, 4])
    queries, keys, depth = (
        w.pick([1, 3, 17]),
        w.pick([1, 5, 33, 70]),
        w.pick([1, 8, 16, 20, 64]),
    )
    heads = w.pick([1, 2])
    q, a = operand(w, dtype, batch, heads * shared, queries, depth)
    k, b = operand(w, dtype, batch, heads, keys, depth)
    v, c = operand(w, dtype, batch, heads, keys, w.pick([depth, 3]))
    m, mask = w.operand(
        w.pick([dtype, "bool"]),
        (*(w.pick([1, n]) for n in (batch, heads * shared, queries)), keys),
        special=False,
        low=-2,
        high=3,
    )
    b, c = (np.repeat(x, shared, 1) for x in (b, c))
    scores = a @ b.swapaxes(-1, -2) / math.sqrt(depth)
    # an absolute error of a score is a relative error of its weight
    error = float((np.abs(a) @ np.abs(b).swapaxes(-1, -2)).max()) / math.sqrt(depth)
    allowed = 100 * EPS[dtype] + 2 * error * sum_error(dtype, depth) * np.abs(c).max()
    seen = mask if mask.dtype.kind == "b" else np.ones(mask.shape, bool)
    causal = w.chance(0.3)
    if causal:
        seen = np.arange(queries)[:, None] >= np.arange(keys)
        m = None
    elif mask.dtype.kind != "b":
        scores = scores + mask.astype(np.float64)
    seen = np.broadcast_to(seen, scores.shape)
    none = ~seen.any(-1, keepdims=True)  # queries without keys give zeros
    expected = np.where(none, 0, softmax(np.where(seen | none, scores, -np.inf)) @ c)
    result = flex.nn.scaled_dot_product_attention(
        q, k, v, m, is_causal=causal, enable_gqa=True, align="upper_left"
    )
    return [(result, expected, 8, allowed)]


def rows(w):
    dtype, depth = w.pick(FLOATS), w.pick([1, 8, 16, 20, 64])
    q, a = operand(w, dtype, w.pick([1, 2]), w.pick([1, 3, 17]), depth)
    k, b = operand(w, dtype, w.pick([1, 5, 33, 70]), depth)
    g, weight = operand(w, dtype, depth)
    t, target = w.operand("int64", (len(b),), low=0, high=depth)
    allowed = 100 * EPS[dtype]
    normed = (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-3) * weight
    losses = -np.log(softmax(b))[np.arange(len(b)), target]
    return [
        (flex.nn.softmax(q), softmax(a), 8, allowed),
        (flex.nn.layer_norm(q, (depth,), g, eps=1e-3), normed, 8, allowed * 10),
        (flex.nn.linear(q, k), a @ b.T, 8, allowed * depth),
        (flex.nn.cross_entropy(k, t, reduction="none"), losses, 8, allowed),
    ]


def recurrence(w):
    dtype, batch, steps = w.pick(["float32", "float64"]), w.pick([1, 3]), w.pick([1, 4])
    inner, hidden = w.pick([1, 5, 16]), w.pick([1, 3, 16, 17])
    x, a = operand(w, dtype, steps, batch, inner, low=-1, high=2)
    u, of_x = operand(w, dtype, 4 * hidden, inner, low=-1, high=2)
    v, of_h = operand(w, dtype, 4 * hidden, hidden, low=-1, high=2)
    h = c = np.zeros((batch, hidden))
    outputs = []
    for inputs in a:
        i, f, g, o = np.split(inputs @ of_x.T + h @ of_h.T, 4, -1)
        i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
        c = f * c + i * np.tanh(g)
        h = o * np.tanh(c)
        outputs.append(h)
    # the error of a gate, accumulated over the steps
    largest = (np.abs(a) @ np.abs(of_x).T).max() + np.abs(of_h).sum(1).max()
    allowed = 2 * steps * largest * sum_error(dtype, inner + hidden)
    return [(flex.nn.lstm(x, None, (u, v))[0], np.stack(outputs), 8, allowed)]


CASES = [convolution, convolution, convolution, transposed, pool, pool, padding, resampling]
CASES += [sampling, deformable, norm, attention, rows, recurrence]


def network(w):
    """One random call, with results in the form of the steps in `programs`."""
    case = w.pick(CASES)
    try:
        return case(w)
    except Exception as error:
        error.add_note(f"in {case.__name__}")
        raise
