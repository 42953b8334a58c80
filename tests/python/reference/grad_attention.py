"""Gradients of attention, by torch's autograd."""

from . import Case
from .attention import FLAGS

QKV = {"g": (2, 2, 9, 2), "q": (2, 2, 9, 4), "k": (2, 2, 13, 4), "v": (2, 2, 13, 2)}
CALL = "scaled_dot_product_attention(q, k, v"
GRAD = "nn.grad.scaled_dot_product_attention(g, q, k, v"


def attention(name, inputs, options, torch=None, loss=8):
    torch = options if torch is None else torch
    return Case(
        name,
        inputs,
        f"{GRAD}{options})",
        torch=f"torch.autograd.grad(F.{CALL}{torch}), (q, k, v), g)",
        # terms of the sums cancel
        loss=loss,
    )


def formula(scores):
    """The formula, for options that torch's function lacks."""
    return f"torch.autograd.grad(torch.softmax({scores}, -1) @ v, (q, k, v), g)"


def bias(name, shape):
    return Case(
        name,
        QKV | {"m": shape},
        "nn.grad.scaled_dot_product_attention_mask(g, q, k, v, m)",
        torch=f"torch.autograd.grad(F.{CALL}, m), m, g)",
        loss=8,
    )


LONG = {"g": (1, 140, 2), "q": (1, 140, 4), "k": (1, 30, 4), "v": (1, 30, 2)}
SQUARE = {"g": (1, 2, 9, 4), "q": (1, 2, 9, 4), "k": (1, 2, 9, 4), "v": (1, 2, 9, 4)}
GROUPED = {"g": (2, 6, 5, 2), "q": (2, 6, 5, 4), "k": (2, 3, 7, 4), "v": (2, 3, 7, 2)}
CASES = [
    attention("plain", QKV, ""),
    attention("scale", QKV, ", scale=0.5"),
    attention("causal", SQUARE, ", is_causal=True"),
    attention("flags", QKV | {"m": FLAGS}, ", m"),
    attention("bias", QKV | {"m": (2, 1, 9, 13)}, ", m"),
    attention("grouped heads", GROUPED, ", enable_gqa=True"),
    attention("more than a block", LONG, ""),
    attention("more than a block, causal", LONG, ", is_causal=True"),
    Case(
        "softcap",
        QKV,
        f"{GRAD}, softcap=2.0)",
        formula("2 * torch.tanh(q @ k.mT / 2 / 2)"),
        loss=8,
    ),
    Case(
        "window",
        SQUARE,
        f"{GRAD}, window=(2, 1))",
        formula(
            "(q @ k.mT / 2).masked_fill("
            "~torch.ones(9, 9, dtype=torch.bool).triu(-2).tril(1), -torch.inf)"
        ),
        loss=8,
    ),
    bias("bias of every head", (2, 2, 9, 13)),
    bias("bias of keys", (1, 13)),
]
