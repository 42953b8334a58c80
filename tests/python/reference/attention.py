"""Attention and rotary embeddings."""

from . import Case, Input

QKV = {"q": (2, 4, 9, 16), "k": (2, 4, 13, 16), "v": (2, 4, 13, 4)}
LONG = {"q": (1, 70, 8), "k": (1, 290, 8), "v": (1, 290, 4)}
PLACES = "(torch.arange(290)[None] - torch.arange(70)[:, None])"
FLAGS = Input(values=[[(3 * i + 7 * j) % 5 > 1 for j in range(13)] for i in range(9)], dtype="bool")


def capped(scores, seen="True"):
    """The formula, for options that torch's function lacks."""
    return (
        f"(lambda s: torch.softmax(torch.where(torch.as_tensor({seen}), s, -torch.inf), -1) @ v)"
        f"({scores})"
    )


CASES = [
    Case("plain", QKV, "nn.scaled_dot_product_attention(q, k, v)"),
    Case("scale", QKV, "nn.scaled_dot_product_attention(q, k, v, scale=0.5)"),
    Case(
        "causal",
        QKV,
        "nn.scaled_dot_product_attention(q, k, v, is_causal=True, align='upper_left')",
        torch="nn.scaled_dot_product_attention(q, k, v, is_causal=True)",
    ),
    Case(
        "causal, positional",
        QKV,
        "nn.scaled_dot_product_attention(q, k, v, None, 0.0, True, align='upper_left')",
        torch="nn.scaled_dot_product_attention(q, k, v, None, 0.0, True)",
    ),
    Case("flags", QKV | {"m": FLAGS}, "nn.scaled_dot_product_attention(q, k, v, m)"),
    Case(
        "bias of every head",
        QKV | {"m": (2, 4, 9, 13)},
        "nn.scaled_dot_product_attention(q, k, v, m)",
    ),
    Case(
        "bias of keys",
        QKV | {"m": (1, 13)},
        "nn.scaled_dot_product_attention(q, k, v, attn_mask=m)",
    ),
    Case(
        "grouped heads",
        {"q": (2, 6, 5, 8), "k": (2, 3, 70, 8), "v": (2, 3, 70, 8)},
        "nn.scaled_dot_product_attention(q, k, v, enable_gqa=True)",
    ),
    # means of 1100 and of 290 values, which cancel to a tenth of their magnitudes
    Case(
        "decoding",
        {"q": (1, 8, 1, 16), "k": (1, 2, 1100, 16), "v": (1, 2, 1100, 16)},
        "nn.scaled_dot_product_attention(q, k, v, enable_gqa=True)",
        magnitude="nn.scaled_dot_product_attention(q, k, v.abs(), enable_gqa=True)",
    ),
    Case(
        "many",
        LONG,
        "nn.scaled_dot_product_attention(q, k, v)",
        magnitude="nn.scaled_dot_product_attention(q, k, v.abs())",
    ),
    Case(
        "lower right",
        LONG,
        "nn.scaled_dot_product_attention(q, k, v, is_causal=True, align='lower_right')",
        torch=f"nn.scaled_dot_product_attention(q, k, v, {PLACES} <= 220)",
        magnitude=f"nn.scaled_dot_product_attention(q, k, v.abs(), {PLACES} <= 220)",
    ),
    Case(
        "window",
        LONG,
        "nn.scaled_dot_product_attention(q, k, v, window=(20, 7), align='upper_left')",
        torch=f"nn.scaled_dot_product_attention(q, k, v, ({PLACES} <= 7) & ({PLACES} >= -20))",
    ),
    Case(
        "softcap",
        QKV,
        "nn.scaled_dot_product_attention(q, k, v, softcap=2.0)",
        torch=capped("2 * torch.tanh(q @ k.mT / 8)"),
    ),
    Case(
        "softcap, causal window of many",
        LONG,
        "nn.scaled_dot_product_attention("
        "q, k, v, softcap=1.5, is_causal=True, window=(100, -1), align='lower_right')",
        torch=capped(
            "1.5 * torch.tanh(q @ k.mT * 8 ** -0.5 / 1.5)",
            f"({PLACES} <= 220) & ({PLACES} >= 120)",
        ),
    ),
    Case(
        "sequences of unequal lengths",
        {"q": (20, 4, 8), "k": (20, 2, 8), "v": (20, 2, 8)},
        "nn.varlen_attention(q, k, v, [0, 7, 7, 20], is_causal=True)",
        torch="torch.cat([nn.scaled_dot_product_attention("
        "*(t[a:b].transpose(0, 1) for t in (q, k, v)), is_causal=True, enable_gqa=True"
        ").transpose(0, 1) for a, b in ((0, 7), (7, 20))])",
    ),
    Case(
        "rotary, halves",
        {"x": (2, 3, 5, 12), "c": (9, 4), "s": (9, 4)},
        "nn.rotary_embedding(x, c, s, offset=2)",
        torch="torch.cat((x[..., :4] * c[2:7] - x[..., 4:8] * s[2:7], "
        "x[..., 4:8] * c[2:7] + x[..., :4] * s[2:7], x[..., 8:]), -1)",
    ),
    Case(
        "rotary, neighbours",
        {"x": (2, 3, 5, 8), "c": (9, 4), "s": (9, 4)},
        "nn.rotary_embedding(x, c, s, interleaved=True, positions=flex.asarray([[0, 2, 1, 8, 8], [3, 4, 5, 6, 7]]))",
        torch="(lambda c, s: torch.stack((x[..., ::2] * c - x[..., 1::2] * s, "
        "x[..., 1::2] * c + x[..., ::2] * s), -1).flatten(-2))"
        "(*(t[torch.tensor([[0, 2, 1, 8, 8], [3, 4, 5, 6, 7]])][:, None] for t in (c, s)))",
    ),
]
