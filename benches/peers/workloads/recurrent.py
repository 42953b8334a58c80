"""Recurrent layers."""

from __future__ import annotations

from ..table import Family, Input, product, shape

recurrent = Family("recurrent layers", 0.7)

# Gates in ONNX's order, from torch's.
ORDERS = {
    "lstm": "xp.concatenate([xp.split({}, 4)[k] for k in (0, 3, 1, 2)])",
    "gru": "xp.concatenate([xp.split({}, 3)[k] for k in (1, 0, 2)])",
    "rnn_tanh": "{}",
}


def _row(kind: str, steps: int, batch: int, inner: int, hidden: int, directions: int = 1) -> None:
    gates = {"lstm": 4, "gru": 3}.get(kind, 1)
    scale = hidden**-0.5
    rows = {"u": (gates * hidden, inner), "w": (gates * hidden, hidden)}
    biases = {"a": (gates * hidden,), "b": (gates * hidden,)}
    names = [[f"{name}{way}" for name in "uwab"] for way in range(directions)]
    weights = {
        f"{name}{way}": Input(s, low=-scale, high=scale)
        for way in range(directions)
        for name, s in (rows | biases).items()
    }
    flat = ", ".join(name for way in names for name in way)
    two = directions == 2
    states = "(h, h)" if kind == "lstm" else "h"
    u, w = (", ".join(ORDERS[kind].format(way[k]) for way in names) for k in range(2))
    biases = ", ".join(
        f"xp.concatenate(({', '.join(ORDERS[kind].format(x) for x in way[2:])}))" for way in names
    )
    options = f"hidden_size={hidden}" + (", linear_before_reset=1" if kind == "gru" else "")
    if two:
        options += ", direction='bidirectional'"
    node = (
        f'{kind.upper().removesuffix("_TANH")}(x, constant("xp.stack(({u},))"), constant("xp.stack(({w},))"),'
        f' constant("xp.stack(({biases},))"), {options}, outputs={3 if kind == "lstm" else 2})[0]'
    )
    layer = ", ".join(names[0])
    recurrent.row(
        f"{kind}{', both ways' if two else ''}, {steps} steps of {shape(batch, inner)} to {hidden}",
        {
            "x": Input((steps, batch, inner)),
            **weights,
            "h": Input((directions, batch, hidden), low=0, high=0),
        },
        f"nn.{kind}(x, None, ({flat}), bidirectional={two})[0]",
        numpy=None,
        jax=None,
        torch=f"xp.{kind}(x, {states}, ({flat}), True, 1, 0.0, False, {two}, False)[0]",
        reference=f"both({kind}, x, ({layer}), ({', '.join(names[1])}))"
        if two
        else f"{kind}(x, {layer})",
        onnx=f"Reshape(Transpose({node}, perm=[0, 2, 1, 3]), constant([{steps}, {batch}, {directions * hidden}]))",
        flops=directions * product(steps, batch, gates * hidden, inner + hidden),
    )


for kind in ORDERS:
    _row(kind, 64, 1, 256, 256)
    _row(kind, 64, 32, 256, 256)
    _row(kind, 16, 8, 1024, 1024)
    _row(kind, 64, 8, 128, 128, directions=2)

for kind, gates in (("lstm", 4), ("gru", 3)):
    sides = {
        "u": (gates * 256, 256),
        "w": (gates * 256, 256),
        "a": (gates * 256,),
        "b": (gates * 256,),
    }
    cell = f"{kind}_cell(x, {'(h, h)' if kind == 'lstm' else 'h'}, u, w, a, b)"
    first = "[0]" if kind == "lstm" else ""
    recurrent.row(
        f"{kind}_cell, 32x256 to 256",
        {
            "x": Input((32, 256)),
            **{name: Input(s, low=-1 / 16, high=1 / 16) for name, s in sides.items()},
            "h": Input((32, 256), low=0, high=0),
        },
        f"nn.{cell}{first}",
        numpy=None,
        jax=None,
        torch=f"xp.{cell}{first}",
        reference=f"{kind}(x[None], u, w, a, b)[0]",
        flops=product(32, gates * 256, 512),
    )

FAMILIES = [recurrent]
