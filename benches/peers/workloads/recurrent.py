"""Recurrent layers."""

from __future__ import annotations

from ..table import Family, Input, product, shape

recurrent = Family("recurrent layers", 0.7)

# Gates in ONNX's order, from torch's.
ORDERS = {
    "lstm": "xp.concatenate([xp.split({}, 4)[k] for k in (0, 3, 1, 2)])[None]",
    "gru": "xp.concatenate([xp.split({}, 3)[k] for k in (1, 0, 2)])[None]",
}


def _row(kind: str, steps: int, batch: int, inner: int, hidden: int) -> None:
    gates = 4 if kind == "lstm" else 3
    scale = hidden**-0.5
    rows = {"u": (gates * hidden, inner), "w": (gates * hidden, hidden)}
    biases = {"a": (gates * hidden,), "b": (gates * hidden,)}
    weights = {name: Input(s, low=-scale, high=scale) for name, s in (rows | biases).items()}
    states = "(h, h)" if kind == "lstm" else "h"
    order = ORDERS[kind].format
    biases = f"xp.concatenate(({order('a')}, {order('b')}), 1)"
    options = f"hidden_size={hidden}" + (", linear_before_reset=1" if kind == "gru" else "")
    recurrent.row(
        f"{kind}, {steps} steps of {shape(batch, inner)} to {hidden}",
        {
            "x": Input((steps, batch, inner)),
            **weights,
            "h": Input((1, batch, hidden), low=0, high=0),
        },
        f"nn.{kind}(x, None, (u, w, a, b))[0]",
        numpy=None,
        jax=None,
        torch=f"xp.{kind}(x, {states}, (u, w, a, b), True, 1, 0.0, False, False, False)[0]",
        reference=f"{kind}(x, u, w, a, b)",
        onnx=f'Squeeze({kind.upper()}(x, constant("{order("u")}"), constant("{order("w")}"),'
        f' constant("{biases}"), {options}, outputs={3 if kind == "lstm" else 2})[0], constant([1]))',
        flops=product(steps, batch, gates * hidden, inner + hidden),
    )


for kind in ORDERS:
    _row(kind, 64, 1, 256, 256)
    _row(kind, 64, 32, 256, 256)
    _row(kind, 16, 8, 1024, 1024)

FAMILIES = [recurrent]
