"""Functions of several operations, written plainly and fused by the libraries that can: flex.fuse, jax.jit, numexpr."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..table import Family, Input, K, Known, M, one, shape, size, two

if TYPE_CHECKING:
    from collections.abc import Callable

# erf for |x| <= 4, beyond which it is 1 in float32, as in Eigen and XLA: two polynomials of x * x,
# from the highest coefficient down.
NUMERATOR = (
    -2.72614225801306e-10,
    2.77068142495902e-08,
    -2.10102402082508e-06,
    -5.69250639462346e-05,
    -7.34990630326855e-04,
    -2.95459980854025e-03,
    -1.60960333262415e-02,
)
DENOMINATOR = (
    -1.45660718464996e-05,
    -2.13374055278905e-04,
    -1.68282697438203e-03,
    -7.37332916720468e-03,
    -1.42647390514189e-02,
)
HALF_ROOT = 0.7071067811865476


def polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """Horner's rule; if `x` is text, the result is an expression."""
    highest, *rest = coefficients
    if isinstance(x, str):
        text = f"({highest})"
        for coefficient in rest:
            text = f"({text} * {x} + ({coefficient}))"
        return text
    result = highest * x + rest[0]
    for coefficient in rest[1:]:
        result = result * x + coefficient
    return result


def gelu(xp: Any, a: Any) -> Any:
    """With erf written out: about 30 operations."""
    x = xp.clip(a * HALF_ROOT, -4, 4)
    z = x * x
    erf = x * polynomial(z, NUMERATOR) / polynomial(z, DENOMINATOR)
    return 0.5 * a * (1 + erf)


def black_scholes(erf: Callable, xp: Any, s: Any, k: Any, t: Any) -> tuple[Any, Any]:
    """The Black-Scholes prices of European call and put options, from prices, strikes and years."""
    rate, volatility = 0.02, 0.3
    spread = volatility * xp.sqrt(t)
    d1 = (xp.log(s / k) + (rate + 0.5 * volatility * volatility) * t) / spread
    d2 = d1 - spread
    n1 = 0.5 + 0.5 * erf(d1 * HALF_ROOT)
    n2 = 0.5 + 0.5 * erf(d2 * HALF_ROOT)
    discounted = k * xp.exp(-rate * t)
    return s * n1 - discounted * n2, discounted * (1 - n2) - s * (1 - n1)


def k_means(xp: Any, x: Any, centres: Any) -> Any:
    """One iteration: the mean of the points nearest to each centre."""
    difference = x[:, None, :] - centres
    nearest = xp.argmin(xp.sum(difference * difference, axis=-1), axis=1)
    mine = nearest[:, None] == xp.arange(centres.shape[0])
    totals = xp.sum(xp.where(mine[:, :, None], x[:, None, :], 0), axis=0)
    return totals / xp.clip(xp.sum(mine, axis=0), 1, None)[:, None]


fusion = Family("fusion", 0.9)
row = partial(fusion.row, fused=True)

for n in (M, 16 * M):
    a = one(n, low=-4, high=4)
    row(
        f"gelu, built in, {size(n)}",
        a,
        "nn.gelu(a)",
        numpy="0.5 * a * (1 + special.erf(a * 2 ** -0.5))",
        jax="jax.nn.gelu(a, approximate=False)",
        fused=False,
    )
    row(
        f"gelu by erf, {size(n)}",
        a,
        f"0.5 * a * (1 + xp.erf(a * {HALF_ROOT}))",
        numpy=f"0.5 * a * (1 + special.erf(a * {HALF_ROOT}))",
        jax=f"0.5 * a * (1 + special.erf(a * {HALF_ROOT}))",
    )
    x = f"where(a * {HALF_ROOT} > 4, 4, where(a * {HALF_ROOT} < -4, -4, a * {HALF_ROOT}))"
    row(
        f"gelu by polynomials, {size(n)}",
        {**a, "gelu": Known(lambda: gelu)},
        "gelu(xp, a)",
        numexpr=f"0.5 * a * (1 + {x} * {polynomial(f'({x} * {x})', NUMERATOR)}"
        f" / {polynomial(f'({x} * {x})', DENOMINATOR)})",
        reference=f"0.5 * a * (1 + special.erf(a * {HALF_ROOT}))",
    )

EXPRESSION = "(a * b + c) * 2 - a / (b * b + 1)"
row(f"{EXPRESSION}, 4M", {**two(4 * M), "c": Input((4 * M,))}, EXPRESSION, numexpr=EXPRESSION)
row("(a + b) * a * b, 32x32", two(32, 32), "(a + b) * a * b", numexpr="(a + b) * a * b", goal=0.5)
row("mean(a * a), 16M", one(16 * M), "xp.mean(a * a)")

row("mean(a), mean(a * a) and max(a), 16M", one(16 * M), "(xp.mean(a), xp.mean(a * a), xp.max(a))")

AFTER = "(lambda z: 0.5 * z * (1 + xp.tanh(0.7978846 * (z + 0.044715 * z * z * z))))(a @ w + b)"
for m, k, n in ((256, 384, 1536), (4 * K, 64, K)):
    row(
        f"gelu(a @ w + b) by hand, {shape(m, k)} by {shape(k, n)}",
        {"a": Input((m, k)), "w": Input((k, n), "float32", -0.1, 0.1), "b": Input((n,))},
        AFTER,
    )

SOFTMAX = "(lambda e: e / xp.sum(e, axis=-1, keepdims=True))(xp.exp(a - xp.{}(a, axis=-1, keepdims=True)))"
ROWS = (4 * K, K)
row(
    f"softmax, built in, {shape(*ROWS)}",
    one(*ROWS, low=-4, high=4),
    "nn.softmax(a, -1)",
    numpy="special.softmax(a, -1)",
    fused=False,
)
row(
    f"softmax by hand, {shape(*ROWS)}",
    one(*ROWS, low=-4, high=4),
    SOFTMAX.format("max"),
    torch=SOFTMAX.format("amax"),
)

LAYER_NORM = (
    "(lambda d: d / xp.sqrt(xp.mean(d * d, axis=-1, keepdims=True) + 1e-5) * w + b)"
    "(a - xp.mean(a, axis=-1, keepdims=True))"
)
normalised = {**one(*ROWS), "w": Input((K,)), "b": Input((K,))}
row(
    f"layer norm, built in, {shape(*ROWS)}",
    normalised,
    "nn.layer_norm(a, (1024,), w, b)",
    numpy=LAYER_NORM,
    jax=LAYER_NORM,
    fused=False,
)
row(f"layer norm by hand, {shape(*ROWS)}", normalised, LAYER_NORM)

row(
    "a step of k-means, 64Kx16, 16 centres",
    {"x": Input((64 * K, 16)), "c": Input((16, 16)), "step": Known(lambda: k_means)},
    "step(xp, x, c)",
    tolerance=1e-3,  # a point between two centres may belong to either
)
for dtype in ("float64", "float32"):
    row(
        f"Black-Scholes, {dtype}, 1M",
        {
            "s": Input((M,), dtype, 50, 150),
            "k": Input((M,), dtype, 50, 150),
            "t": Input((M,), dtype, 0.1, 2),
            "price": Known(lambda: black_scholes),
        },
        "price(xp.erf, xp, s, k, t)",
        numpy="price(special.erf, xp, s, k, t)",
        jax="price(special.erf, xp, s, k, t)",
    )

FAMILIES = [fusion]
