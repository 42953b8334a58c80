"""The kinds of nodes that `graphs.py` makes random graphs of: functions that add some to a graph and return the name of a value."""

import numpy as np
from onnx import TensorProto, helper

UNARY = [
    ("Relu", {}),
    ("Sigmoid", {}),
    ("Tanh", {}),
    ("Abs", {}),
    ("Neg", {}),
    ("Erf", {}),
    ("Sin", {}),
    ("Softplus", {}),
    ("Softsign", {}),
    ("HardSwish", {}),
    ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}),
    ("Elu", {"alpha": 0.7}),
    ("LeakyRelu", {"alpha": 0.1}),
    ("Selu", {}),
    ("Celu", {"alpha": 0.5}),
    ("ThresholdedRelu", {"alpha": -9.0}),
    ("Mish", {}),
    ("Identity", {}),
]
REDUCTIONS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceLogSumExp")


def unary(g):
    kind, attributes = g.choice(UNARY)
    return g.node(kind, [g.value()], **attributes)


def binary(g):
    x = g.value()
    shape = g.values[x]
    same = [name for name, other in g.values.items() if other == shape]
    if g.flag():
        y = g.choice(same)
    else:  # broadcast along some axes
        kept = shape[g.integer(0, len(shape)) :]
        y = g.weight(tuple(n if g.flag() else 1 for n in kept), 0.3, 2.0)
    kind = g.choice(["Add", "Sub", "Mul", "Max", "Min", "Div", "PRelu"])
    if kind == "Div":
        y = g.node("Add", [g.node("Abs", [y]), g.constant(np.float32(0.5))])
    if kind == "PRelu":
        return g.node(kind, [x, g.weight(g.choice([shape, (1,) * len(shape)]))])
    return g.node(kind, [y, x] if g.flag() else [x, y])


def clip(g):
    bounds = [g.constant(np.float32(-0.5)), g.constant(np.float32(0.8))]
    return g.node("Clip", [g.value(), *bounds[: g.integer(1, 2)]])


def reduction(g):
    x = g.value(least=1)
    rank = len(g.values[x])
    axes = sorted({g.integer(0, rank - 1) for _ in range(g.integer(1, 2))})
    axes = [a - rank if g.flag() else a for a in axes]
    kind, kept = g.choice(REDUCTIONS), g.integer(0, 1)
    if rank == 1 and g.flag():
        return g.node(kind, [x], keepdims=kept)
    return g.by_axes(kind, x, *axes, since=13 if kind == "ReduceSum" else 18, keepdims=kept)


def softmax(g):
    x = g.value(least=1)
    return g.node(g.choice(["Softmax", "LogSoftmax"]), [x], axis=g.axis(len(g.values[x])))


def cumulative(g):
    x = g.value(least=1)
    axis = g.constant(np.int64(g.axis(len(g.values[x]))))
    return g.node("CumSum", [x, axis], exclusive=g.integer(0, 1), reverse=g.integer(0, 1))


def transpose(g):
    x = g.value(least=1)
    return g.node("Transpose", [x], perm=[int(k) for k in g.rng.permutation(len(g.values[x]))])


def reshape(g):
    """To constants, with 0 and -1, or to sizes that other nodes compute."""
    x = g.value(least=1)
    shape = list(g.values[x])
    match g.integer(0, 3):
        case 0:
            return g.node("Reshape", [x, g.integers(-1)])
        case 1:
            return g.node("Reshape", [x, g.integers(0, -1)])
        case 2:
            return g.node("Flatten", [x], axis=g.integer(0, len(shape)))
    sizes = g.node("Shape", [x])
    last = g.node("Gather", [sizes, g.integers(-1)])
    return g.node("Reshape", [x, g.node("Concat", [g.integers(-1), last], axis=0)])


def squeeze(g):
    x = g.value()
    rank = len(g.values[x])
    if rank == 4:
        return g.node("Reshape", [x, g.integers(-1, 1)])
    y = g.by_axes("Unsqueeze", x, g.integer(-rank - 1, rank))
    return y if g.flag() else g.node("Squeeze", [y])


def concat(g):
    x = g.value(least=1)
    shape = list(g.values[x])
    axis = g.axis(len(shape))
    shape[axis] = g.integer(1, 3)
    return g.node("Concat", [x, g.weight(shape), x][: g.integer(1, 3)], axis=axis)


def split(g):
    x = g.value(least=1)
    axis = g.axis(len(g.values[x]))
    size = g.values[x][axis]
    if size < 2:
        return g.node("Identity", [x])
    first = g.integer(1, size - 1)
    name = g.by_axes("Split", x, first, size - first, axis=axis)
    g.nodes[-1].output.append(f"{name}b")
    return g.nodes[-1].output[g.integer(0, 1)]


def cut(g):
    """A slice, with steps of either sign and ends beyond the sizes."""
    x = g.value(least=1)
    axis = g.axis(len(g.values[x]))
    size = g.values[x][axis]
    start, step = g.integer(0, size - 1), g.choice([1, 1, 2, 3])
    end = g.choice([start + 1, size, 2**40])
    if g.flag():
        start, end, step = size - 1 - start, g.choice([-size - 1, -(2**40)]), -step
    return g.node("Slice", [x, *(g.integers(n) for n in (start, end, axis, step))])


def pad(g):
    x = g.value(least=1)
    shape = g.values[x]
    mode = g.choice(["constant", "edge", "reflect"])
    most = [n - 1 if mode == "reflect" else 2 for n in shape]
    pads = [g.integer(0, min(2, m)) for m in [*most, *most]]
    value = [g.constant(np.float32(0.25))] if mode == "constant" else []
    return g.node("Pad", [x, g.integers(*pads), *value], mode=mode)


def gather(g):
    x = g.value(least=1)
    axis = g.axis(len(g.values[x]))
    size = g.values[x][axis]
    where = g.constant(g.rng.integers(-size, size, g.shape(g.integer(0, 2))))
    return g.node("Gather", [x, where], axis=axis)


def elements(g):
    """GatherElements, or a sum by ScatterElements."""
    x = g.value(least=1)
    shape = g.values[x]
    axis = g.axis(len(shape))
    where = g.constant(g.rng.integers(-shape[axis], shape[axis], shape))
    if g.flag():
        return g.node("GatherElements", [x, where], axis=axis)
    return g.node("ScatterElements", [x, where, g.weight(shape)], axis=axis, reduction="add")


def expand(g):
    x = g.value()
    shape = g.values[x]
    if len(shape) == 4 or g.flag():
        return g.node("Tile", [x, g.integers(*[g.integer(1, 2) for _ in shape])])
    return g.node("Expand", [x, g.integers(g.integer(1, 3), *shape)])


def matmul(g):
    x = g.value(least=2)
    shape = g.values[x]
    outer = g.integer(1, 6)
    lead = shape[:-2] if g.flag() else ()
    y = g.node("MatMul", [x, g.weight((*lead, shape[-1], outer))])
    return g.node("Add", [y, g.weight((outer,))]) if g.flag() else y


def gemm(g):
    x = g.value(rank=2)
    rows, inner = g.values[x]
    flipped, weight_flipped, outer = g.flag(), g.flag(), g.integer(1, 6)
    inner = rows if flipped else inner
    w = g.weight((outer, inner) if weight_flipped else (inner, outer))
    bias = [g.weight((outer,))] if g.flag() else []
    options = {"transA": int(flipped), "transB": int(weight_flipped), "alpha": 0.5, "beta": 0.25}
    return g.node("Gemm", [x, w, *bias], **options)


def convolution(g):
    """In one or two dimensions, with or without groups, a normalisation and an activation."""
    x = g.value(rank=g.choice([3, 4]))
    _, channels, *sizes = g.values[x]
    groups = g.choice([1, channels])
    outer = groups * g.integer(1, 3)
    kernel = [g.integer(1, min(3, n)) for n in sizes]
    options = {"strides": [g.integer(1, 2) for _ in sizes], "group": groups, "kernel_shape": kernel}
    if g.flag():
        options["auto_pad"] = g.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
    else:
        options["pads"] = [g.integer(0, k - 1) for k in [*kernel, *kernel]]
    inputs = [x, g.weight((outer, channels // groups, *kernel))]
    y = g.node("Conv", inputs + ([g.weight((outer,))] if g.flag() else []), **options)
    if g.flag():
        parts = [g.weight((outer,), low) for low in (-1, -1, -1, 0.5)]
        y = g.node("BatchNormalization", [y, *parts])
    return g.node(g.choice(["Relu", "Sigmoid", "HardSwish"]), [y]) if g.flag() else y


def transposed_convolution(g):
    x = g.value(rank=4)
    channels = g.values[x][1]
    w = g.weight((channels, g.integer(1, 3), g.integer(1, 3), g.integer(1, 3)))
    return g.node("ConvTranspose", [x, w], strides=[g.integer(1, 2), g.integer(1, 2)])


def pool(g):
    x = g.value(rank=4)
    kernel = [g.integer(1, min(3, n)) for n in g.values[x][2:]]
    options = {"kernel_shape": kernel, "strides": [g.integer(1, 2), g.integer(1, 2)]}
    options |= {"pads": [k // 2 for k in [*kernel, *kernel]], "ceil_mode": 0}
    if g.flag():
        return g.node("MaxPool", [x], **options)
    return g.node("AveragePool", [x], count_include_pad=g.integer(0, 1), **options)


def global_pool(g):
    return g.node(g.choice(["GlobalAveragePool", "GlobalMaxPool"]), [g.value(rank=4)])


def normalisation(g):
    x = g.value(rank=g.choice([3, 4]))
    shape = g.values[x]
    match g.integer(0, 2):
        case 0:
            size = shape[-1:]
            return g.node(
                "LayerNormalization", [x, g.weight(size), g.weight(size)], axis=-1, epsilon=0.01
            )
        case 1:
            size = shape[1:2]
            return g.node(
                "InstanceNormalization", [x, g.weight(size), g.weight(size)], epsilon=0.01
            )
    return g.node("LpNormalization", [g.node("Add", [x, g.constant(np.float32(3))])], axis=1, p=2)


def layer_norm_in_parts(g):
    """As older exporters write it."""
    x = g.value(least=1)
    size = g.values[x][-1:]
    centred = g.node("Sub", [x, g.by_axes("ReduceMean", x, -1, since=18)])
    power = g.node("Pow", [centred, g.constant(np.float32(2))])
    variance = g.by_axes("ReduceMean", power, -1, since=18)
    mean = g.node("Add", [variance, g.constant(np.float32(0.01))])
    scaled = g.node("Mul", [g.node("Div", [centred, g.node("Sqrt", [mean])]), g.weight(size)])
    return g.node("Add", [scaled, g.weight(size)])


def gelu_in_parts(g):
    x = g.value()
    e = g.node("Erf", [g.node("Div", [x, g.constant(np.float32(2**0.5))])])
    y = g.node("Mul", [x, g.node("Add", [e, g.constant(np.float32(1))])])
    return g.node("Mul", [y, g.constant(np.float32(0.5))])


def silu_in_parts(g):
    x = g.value()
    return g.node("Mul", [x, g.node("Sigmoid", [x])])


def attention_in_parts(g):
    """Of a value to itself, with a mask or without."""
    x = g.value(rank=g.choice([3, 4]))
    *_, length, size = g.values[x]
    last = list(range(len(g.values[x])))
    last[-2:] = last[:-3:-1]
    q, k, v = (g.node("MatMul", [x, g.weight((size, size))]) for _ in range(3))
    scores = g.node("MatMul", [q, g.node("Transpose", [k], perm=last)])
    scores = g.node("Mul", [scores, g.constant(np.float32(size**-0.5))])
    if g.flag():
        mask = np.where(np.tri(length, dtype=bool), 0, -1e4).astype(np.float32)
        scores = g.node("Add", [scores, g.constant(mask)])
    return g.node("MatMul", [g.node("Softmax", [scores], axis=-1), v])


def resize(g):
    x = g.value(rank=4)
    scales = g.constant(np.float32([1, 1, g.choice([1, 2, 3]), g.choice([1, 2])]))
    options = {"mode": "linear"} if g.flag() else {"mode": "nearest", "nearest_mode": "floor"}
    options["coordinate_transformation_mode"] = g.choice(
        ["half_pixel", "asymmetric", "align_corners"]
    )
    if options["mode"] == "nearest":
        options["coordinate_transformation_mode"] = "asymmetric"
    return g.node("Resize", [x, "", scales], **options)


def triangle(g):
    return g.node("Trilu", [g.value(least=2)], upper=g.integer(0, 1))


def top(g):
    x = g.value(least=1)
    axis = g.axis(len(g.values[x]))
    names = [f"v{len(g.nodes)}", f"v{len(g.nodes)}b"]
    k = g.integers(g.integer(1, g.values[x][axis]))
    g.nodes.append(
        helper.make_node(
            "TopK", [x, k], names, f"n{len(g.nodes)}", axis=axis, largest=g.integer(0, 1)
        )
    )
    return names[0]


def einsum(g):
    x = g.value(rank=3)
    a, b, c = g.values[x]
    text, shape = g.choice(
        [("abc,cd->abd", (c, 3)), ("abc,abd->acd", (a, b, 2)), ("abc,b->ca", (b,))]
    )
    return g.node("Einsum", [x, g.weight(shape)], equation=text)


def recurrent(g):
    x = g.value(rank=3)
    _, batch, width = g.values[x]
    kind, gates = g.choice([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    ways, size = g.integer(1, 2), g.integer(1, 5)
    direction = "bidirectional" if ways == 2 else g.choice(["forward", "reverse"])
    options = {"linear_before_reset": g.integer(0, 1)} if kind == "GRU" else {}
    shapes = [(ways, gates * size, width), (ways, gates * size, size), (ways, 2 * gates * size)]
    inputs = [x, *(g.weight(s) for s in shapes)][: g.integer(3, 4)]
    if len(inputs) == 4 and g.flag():
        inputs += ["", g.weight((ways, batch, size))]
    return g.node(kind, inputs, hidden_size=size, direction=direction, **options)


def quantised(g):
    """To integers and back."""
    x = g.value()
    scale, zero = g.constant(np.float32(0.0625)), g.constant(np.int8(g.integer(-3, 3)))
    # far from halves, where libraries might round differently
    near = g.node(
        "Add",
        [
            g.node("Floor", [g.node("Mul", [x, g.constant(np.float32(16))])]),
            g.constant(np.float32(0.25)),
        ],
    )
    y = g.node("Mul", [near, scale])
    return g.node("DequantizeLinear", [g.node("QuantizeLinear", [y, scale, zero]), scale, zero])


def cast(g):
    kind = g.choice([TensorProto.DOUBLE, TensorProto.FLOAT])
    return g.node("Cast", [g.node("Cast", [g.value()], to=kind)], to=TensorProto.FLOAT)


def branch(g):
    """An If that is decided when the model runs."""
    x = g.value()
    total = g.node("ReduceSum", [x], keepdims=0)
    condition = g.node("Greater", [total, g.constant(np.float32(0.111))])
    branches = {}
    for way, kind in (("then_branch", "Relu"), ("else_branch", "Neg")):
        name = f"b{len(g.nodes)}{way[0]}"
        out = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
        branches[way] = helper.make_graph([helper.make_node(kind, [x], [name])], way, [], [out])
    return g.node("If", [condition], **branches)


def loop(g):
    """A few steps of a Loop, and what each of them gives."""
    x = g.value()
    k = len(g.nodes)
    info = helper.make_tensor_value_info
    inputs = [
        info(f"i{k}", TensorProto.INT64, []),
        info(f"c{k}", TensorProto.BOOL, []),
        info(f"s{k}", TensorProto.FLOAT, None),
    ]
    nodes = [
        helper.make_node("Identity", [f"c{k}"], [f"d{k}"]),
        helper.make_node("Mul", [f"s{k}", g.constant(np.float32(0.75))], [f"t{k}"]),
        helper.make_node("Tanh", [f"t{k}"], [f"u{k}"]),
    ]
    outputs = [
        info(f"d{k}", TensorProto.BOOL, []),
        info(f"t{k}", TensorProto.FLOAT, None),
        info(f"u{k}", TensorProto.FLOAT, None),
    ]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    names = [f"v{k}", f"v{k}b"]
    count = g.constant(np.int64(g.integer(1, 3)))
    g.nodes.append(helper.make_node("Loop", [count, "", x], names, f"n{k}", body=body))
    return names[g.integer(0, 1) if len(g.values[x]) < 4 else 0]


KINDS = [
    unary,
    unary,
    binary,
    binary,
    clip,
    reduction,
    softmax,
    cumulative,
    transpose,
    reshape,
    squeeze,
    concat,
    split,
    cut,
    pad,
    gather,
    elements,
    expand,
    matmul,
    gemm,
    convolution,
    convolution,
    transposed_convolution,
    pool,
    global_pool,
    normalisation,
    layer_norm_in_parts,
    gelu_in_parts,
    silu_in_parts,
    attention_in_parts,
    resize,
    triangle,
    top,
    einsum,
    recurrent,
    quantised,
    cast,
    branch,
    loop,
]
