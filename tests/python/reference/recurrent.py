"""Recurrent layers."""

from . import Case

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def weights(gates, layers, directions, inputs, hidden, bias=True):
    """Shapes of torch's flat weights, by name."""
    shapes = {}
    for layer in range(layers):
        width = inputs if layer == 0 else directions * hidden
        for d in range(directions):
            named = {"ih": (gates * hidden, width), "hh": (gates * hidden, hidden)}
            if bias:
                named |= {"bi": (gates * hidden,), "bh": (gates * hidden,)}
            shapes |= {f"{name}{layer}{d}": shape for name, shape in named.items()}
    return shapes


def case(kind, layers=1, directions=1, batch_first=False, bias=True, lengths=None):
    steps, batch, inputs, hidden = 6, 3, 4, 5
    w = weights(GATES[kind], layers, directions, inputs, hidden, bias)
    x = (batch, steps, inputs) if batch_first else (steps, batch, inputs)
    state = (layers * directions, batch, hidden)
    states = {"h": state, "c": state} if kind == "lstm" else {"h": state}
    hx = "(h, c)" if kind == "lstm" else "h"
    flat = f"[{', '.join(w)}]"
    ours = f"nn.{kind}(x, {hx}, {flat}, num_layers={layers}, bidirectional={directions == 2}, batch_first={batch_first}, lengths={lengths})"
    rest = f"{hx}, {flat}, {bias}, {layers}, 0.0, False, {directions == 2}"
    theirs = f"torch._VF.{kind}(x, {rest}, {batch_first})"
    if lengths:
        utils = "torch.nn.utils.rnn"
        run = f"torch._VF.{kind}(p.data, p.batch_sizes, {rest})"
        padded = f"{utils}.pad_packed_sequence(type(p)(r[0], p.batch_sizes))[0]"
        theirs = f"(lambda p: (lambda r: ({padded}, *r[1:]))({run}))"
        theirs += f"({utils}.pack_padded_sequence(x, torch.tensor({lengths})))"
    name = f"{kind}, {layers} layers, {directions} directions"
    name += ", batch first" * batch_first + ", no bias" * (not bias) + ", lengths" * bool(lengths)
    return Case(name, {"x": x, **states, **w}, ours, theirs, loss=24 if kind == "rnn_tanh" else 8)


def cell(kind):
    shapes = weights(GATES[kind], 1, 1, 4, 5)
    states = {"h": (3, 5), "c": (3, 5)} if kind == "lstm" else {"h": (3, 5)}
    hx = "(h, c)" if kind == "lstm" else "h"
    call = f"{kind}_cell(x, {hx}, {', '.join(shapes)})"
    return Case(f"{kind}_cell", {"x": (3, 4), **states, **shapes}, f"nn.{call}", f"torch.{call}")


CASES = [
    *[case(kind) for kind in GATES],
    *[case(kind, 2, 2) for kind in GATES],
    *[case(kind, 1, 2, batch_first=True) for kind in GATES],
    *[case(kind, bias=False) for kind in GATES],
    *[case(kind, 2, 2, lengths=(6, 4, 1)) for kind in GATES],
    *[cell(kind) for kind in GATES],
]
