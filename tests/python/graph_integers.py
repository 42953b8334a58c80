"""Kinds of nodes of random graphs, as in `graph_nodes.py`, with integers, bools and quantised operands in between; they end in float32."""

import numpy as np
from onnx import TensorProto


def floats(g, x):
    return g.node("Cast", [x], to=TensorProto.FLOAT)


def whole(g, x, kind=TensorProto.INT64):
    """Eighths, as integers: a little above them, since libraries might round halves otherwise."""
    scaled = g.node("Mul", [x, g.constant(np.float32(8))])
    raised = g.node("Add", [g.node("Floor", [scaled]), g.constant(np.float32(0.25))])
    return g.node("Cast", [raised], to=kind)


def arithmetic(g):
    x = whole(g, g.value(), g.choice([TensorProto.INT64, TensorProto.INT32]))
    like = g.choice([2, 3, 7])
    y = g.node("CastLike", [g.constant(np.float32(like)), x])
    return floats(g, g.node(g.choice(["Add", "Sub", "Mul", "Div", "Mod", "Max", "Min"]), [x, y]))


def comparison(g):
    """A choice between two values by integers."""
    x = g.value()
    k = whole(g, x)
    kind = g.choice(["Greater", "Less", "Equal", "GreaterOrEqual", "LessOrEqual"])
    chosen = g.node(kind, [k, g.constant(np.int64(1))])
    if g.flag():
        other = g.node("Less", [k, g.constant(np.int64(5))])
        chosen = g.node(g.choice(["And", "Or", "Xor"]), [g.node("Not", [chosen]), other])
    return g.node("Where", [chosen, x, g.constant(np.float32(-0.375))])


def extreme(g):
    """The place of the largest or smallest of numbers that repeat."""
    x = g.value(least=1)
    options = {"axis": g.axis(len(g.values[x])), "keepdims": g.integer(0, 1)}
    options["select_last_index"] = g.integer(0, 1)
    return floats(g, g.node(g.choice(["ArgMax", "ArgMin"]), [floats(g, whole(g, x))], **options))


def one_hot(g):
    x = whole(g, g.value(rank=g.choice([1, 2])))
    values = g.constant(np.float32([-1, 1]))
    return g.node("OneHot", [x, g.constant(np.int64(5)), values], axis=-1)


def places(g):
    """Where numbers are, whose count only a run shows."""
    x = g.node("Greater", [whole(g, g.value(least=1)), g.constant(np.int64(-3))])
    return floats(g, g.node("NonZero", [x]))


def compress(g):
    x = g.value(least=1)
    axis = g.axis(len(g.values[x]))
    kept = g.rng.random(g.values[x][axis]) < 0.6
    kept[0] = True
    return g.node("Compress", [x, g.constant(kept)], axis=axis)


def gathered(g):
    """GatherND, or ScatterND of other rows."""
    x = g.value(least=2)
    first, second, *rest = g.values[x]
    count = g.integer(1, 4)
    where = np.stack([g.rng.integers(first, size=count), g.rng.integers(second, size=count)], 1)
    if g.flag():
        return g.node("GatherND", [x, g.constant(where)])
    where = np.unique(where, axis=0)
    return g.node("ScatterND", [x, g.constant(where), g.weight((len(where), *rest))])


def scales(g, size, columns):
    """A scale, or one for each column."""
    return g.rng.uniform(0.01, 0.03, columns if size else ()).astype(np.float32)


def weight(g, *shape):
    """Of 7 bits, whose products onnxruntime's sums bear on every CPU."""
    return g.rng.integers(-63, 64, shape, np.int8)


def weights_of_bytes(g):
    """A product with a weight that is stored as int8."""
    x = g.value(least=2)
    inner, outer = g.values[x][-1], g.integer(1, 6)
    w, columns = g.constant(weight(g, inner, outer)), g.flag()
    scale = g.constant(scales(g, columns, outer))
    if g.flag():
        w = g.node("Mul", [floats(g, w), scale])
    else:
        zero = g.constant(g.rng.integers(-9, 9, outer if columns else (), np.int8))
        w = g.node("DequantizeLinear", [w, scale, zero], axis=1)
    y = g.node("MatMul", [x, w])
    return g.node("Add", [y, g.weight((outer,))]) if g.flag() else y


def dynamic_product(g):
    """A product of integers, whose operand is quantised when it is known."""
    x = g.value(least=2)
    inner, outer = g.values[x][-1], g.integer(1, 6)
    names = [f"v{len(g.nodes)}{part}" for part in ("", "s", "z")]
    g.node("DynamicQuantizeLinear", [x])
    g.nodes[-1].output[:] = names
    w = g.constant(weight(g, inner, outer))
    product = floats(g, g.node("MatMulInteger", [names[0], w, names[2]]))
    scale = g.node("Mul", [names[1], g.constant(scales(g, g.flag(), outer))])
    y = g.node("Mul", [product, scale])
    return g.node("Add", [y, g.weight((outer,))]) if g.flag() else y


def there_and_back(g, x, zero):
    """QuantizeLinear and DequantizeLinear of numbers away from halves."""
    scale = g.constant(np.float32(0.125))
    raised = g.node("Add", [floats(g, whole(g, x)), g.constant(np.float32(0.25))])
    pair = [scale, g.constant(zero)]
    q = g.node("QuantizeLinear", [g.node("Mul", [raised, scale]), *pair])
    return g.node("DequantizeLinear", [q, *pair])


def quantised_product(g):
    """A product between pairs of QuantizeLinear and DequantizeLinear."""
    x = g.value(least=2)
    inner, outer = g.values[x][-1], g.integer(1, 6)
    a = there_and_back(g, x, np.uint8(g.integer(100, 130)))
    columns = g.flag()
    w = g.constant(weight(g, inner, outer))
    zero = g.constant(np.zeros(outer if columns else (), np.int8))
    w = g.node("DequantizeLinear", [w, g.constant(scales(g, columns, outer)), zero], axis=1)
    return g.node("MatMul", [a, w])


def quantised_convolution(g):
    """A convolution in this form, or ConvInteger."""
    x = g.value(rank=4)
    channels, height, width = g.values[x][1:]
    kernel = [g.integer(1, min(3, height)), g.integer(1, min(3, width))]
    outer = g.integer(1, 4)
    w, pads = weight(g, outer, channels, *kernel), [n // 2 for n in (*kernel, *kernel)]
    if g.flag():
        zero = g.constant(np.uint8(128))
        q = g.node("QuantizeLinear", [floats(g, whole(g, x)), g.constant(np.float32(1)), zero])
        return g.node(
            "Mul",
            [
                floats(g, g.node("ConvInteger", [q, g.constant(w), zero], pads=pads)),
                g.constant(np.float32(0.001)),
            ],
        )
    a = there_and_back(g, x, np.uint8(128))
    zero = g.constant(np.zeros(outer, np.int8))
    w = g.node(
        "DequantizeLinear", [g.constant(w), g.constant(scales(g, True, outer)), zero], axis=0
    )
    return g.node("Conv", [a, w, g.weight((outer,))], pads=pads)


KINDS = [
    arithmetic,
    comparison,
    extreme,
    one_hot,
    places,
    compress,
    gathered,
    weights_of_bytes,
    dynamic_product,
    quantised_product,
    quantised_convolution,
]
