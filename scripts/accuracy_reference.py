"""Writes the tables for tests/suite/accuracy.rs and complex.rs: values of elementary functions in higher precision than float64 (by
mpmath), and the complex special values of C99's annex G (by NumPy, which follows it).

    python scripts/accuracy_reference.py [POINTS] [FOLDER]     # default: 150 points per function, into tests/data
"""

import math
import random
import struct
import sys
import warnings
from pathlib import Path

import mpmath
import numpy as np

POINTS = int(sys.argv[1]) if len(sys.argv) > 1 else 150
FOLDER = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parent.parent / "tests" / "data")
mpmath.mp.prec = 300
random.seed(1)

uniform = random.uniform


def spread(low: float, high: float) -> float:
    """A number of random sign, with a log-uniform magnitude."""
    return math.exp(uniform(math.log(low), math.log(high))) * random.choice((-1, 1))


def sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


def logaddexp(x, y):
    m = max(x, y)
    return m + mpmath.log1p(mpmath.exp(-abs(x - y)))


# function: reference, and generators of its arguments
UNARY = {
    "sqrt": (mpmath.sqrt, [lambda: abs(spread(1e-300, 1e300))]),
    "reciprocal": (lambda x: 1 / x, [lambda: spread(1e-300, 1e300)]),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), [lambda: abs(spread(1e-300, 1e300))]),
    "exp": (
        mpmath.exp,
        [lambda: uniform(-2, 2), lambda: uniform(-744, 709), lambda: spread(1e-20, 1)],
    ),
    "exp2": (
        lambda x: mpmath.power(2, x),
        [lambda: uniform(-2, 2), lambda: uniform(-1073, 1023), lambda: spread(1e-20, 1)],
    ),
    "expm1": (
        mpmath.expm1,
        [lambda: uniform(-2, 2), lambda: uniform(-50, 709), lambda: spread(1e-300, 1)],
    ),
    "log": (
        mpmath.log,
        [
            lambda: uniform(0.5, 2),
            lambda: abs(spread(1e-308, 1e308)),
            lambda: 1 + spread(1e-15, 0.1),
        ],
    ),
    "log1p": (
        mpmath.log1p,
        [lambda: uniform(-0.9, 2), lambda: abs(spread(1e-3, 1e308)), lambda: spread(1e-300, 0.5)],
    ),
    "log2": (
        lambda x: mpmath.log(x, 2),
        [
            lambda: uniform(0.5, 2),
            lambda: abs(spread(1e-308, 1e308)),
            lambda: 1 + spread(1e-15, 0.1),
        ],
    ),
    "log10": (
        mpmath.log10,
        [
            lambda: uniform(0.5, 2),
            lambda: abs(spread(1e-308, 1e308)),
            lambda: 1 + spread(1e-15, 0.1),
        ],
    ),
    "sin": (
        mpmath.sin,
        [
            lambda: uniform(-4, 4),
            lambda: uniform(-5e5, 5e5),
            lambda: spread(1e-300, 1e300),
            lambda: round(spread(1, 1e5)) * math.pi,
        ],
    ),
    "cos": (
        mpmath.cos,
        [
            lambda: uniform(-4, 4),
            lambda: uniform(-5e5, 5e5),
            lambda: spread(1e-8, 1e300),
            lambda: (round(spread(1, 1e5)) + 0.5) * math.pi,
        ],
    ),
    "tan": (
        mpmath.tan,
        [
            lambda: uniform(-4, 4),
            lambda: uniform(-5e5, 5e5),
            lambda: spread(1e-300, 1e300),
            lambda: round(spread(1, 1e5)) * math.pi / 2,
        ],
    ),
    "asin": (
        mpmath.asin,
        [lambda: uniform(-1, 1), lambda: spread(1e-300, 1), lambda: 1 - abs(spread(1e-15, 0.5))],
    ),
    "acos": (
        mpmath.acos,
        [lambda: uniform(-1, 1), lambda: spread(1e-20, 1), lambda: 1 - abs(spread(1e-15, 0.5))],
    ),
    "atan": (mpmath.atan, [lambda: uniform(-3, 3), lambda: spread(1e-300, 1e300)]),
    "sinh": (
        mpmath.sinh,
        [lambda: uniform(-2, 2), lambda: uniform(-710, 710), lambda: spread(1e-300, 1)],
    ),
    "cosh": (
        mpmath.cosh,
        [lambda: uniform(-2, 2), lambda: uniform(-710, 710), lambda: spread(1e-20, 1)],
    ),
    "tanh": (
        mpmath.tanh,
        [lambda: uniform(-2, 2), lambda: uniform(-25, 25), lambda: spread(1e-300, 1)],
    ),
    "asinh": (mpmath.asinh, [lambda: uniform(-2, 2), lambda: spread(1e-300, 1e300)]),
    "acosh": (
        mpmath.acosh,
        [lambda: uniform(1, 3), lambda: abs(spread(1, 1e300)), lambda: 1 + abs(spread(1e-15, 0.5))],
    ),
    "atanh": (
        mpmath.atanh,
        [lambda: uniform(-1, 1), lambda: spread(1e-300, 1), lambda: 1 - abs(spread(1e-15, 0.5))],
    ),
    "erf": (
        mpmath.erf,
        [lambda: uniform(-2, 2), lambda: uniform(-6, 6), lambda: spread(1e-300, 1)],
    ),
    "erfc": (
        mpmath.erfc,
        [lambda: uniform(-2, 2), lambda: uniform(-6, 26.5), lambda: spread(1e-20, 1)],
    ),
    "sigmoid": (sigmoid, [lambda: uniform(-2, 2), lambda: uniform(-700, 40)]),
}
BINARY = {
    "atan2": (
        mpmath.atan2,
        [
            lambda: (uniform(-3, 3), uniform(-3, 3)),
            lambda: (spread(1e-300, 1e300), spread(1e-300, 1e300)),
        ],
    ),
    "hypot": (
        mpmath.hypot,
        [
            lambda: (uniform(-3, 3), uniform(-3, 3)),
            lambda: (spread(1e-300, 1e-290), spread(1e-300, 1e-290)),
            lambda: (spread(1e290, 1e307), spread(1e290, 1e307)),
        ],
    ),
    "pow": (
        mpmath.power,
        [
            lambda: (uniform(0.1, 5), uniform(-30, 30)),
            lambda: (abs(spread(1e-3, 1e3)), uniform(-100, 100)),
            lambda: (1 + spread(1e-8, 0.1), spread(1, 5e3)),
            lambda: (spread(0.1, 10), round(uniform(-50, 50))),
        ],
    ),
    "logaddexp": (
        logaddexp,
        [
            lambda: (uniform(0, 5), uniform(0, 5)),
            lambda: (abs(spread(1, 1e3)), abs(spread(1, 1e3))),
        ],
    ),
}
COMPLEX = {
    "exp": mpmath.exp,
    "expm1": mpmath.expm1,
    "exp2": lambda z: mpmath.power(2, z),
    "log": mpmath.log,
    "log1p": lambda z: mpmath.log(1 + z),
    "log2": lambda z: mpmath.log(z) / mpmath.log(2),
    "log10": lambda z: mpmath.log(z) / mpmath.log(10),
    "sqrt": mpmath.sqrt,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "reciprocal": lambda z: 1 / z,
    "square": lambda z: z * z,
    "sign": lambda z: z / abs(z),
}
OLD_NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
NUMPY = {name: OLD_NAMES.get(name, name) for name in COMPLEX}


def bits(x: float) -> str:
    return struct.pack(">d", x).hex()


def pair(x) -> str:
    """x as a sum of two float64, about 106 bits."""
    high = float(x)
    return f"{bits(high)} {bits(float(x - high))}"


def normal(x) -> bool:
    return 2.3e-308 < abs(x) < 1.79e308


def real_rows():
    for name, (reference, draws) in (UNARY | BINARY).items():
        for k in range(POINTS):
            args = draws[k % len(draws)]()
            args = tuple(float(a) for a in (args if isinstance(args, tuple) else (args,)))
            value = reference(*map(mpmath.mpf, args))
            if isinstance(value, mpmath.mpf) and normal(value):
                yield f"{name} {' '.join(map(bits, args))} {pair(value)}"


def complex_rows():
    for name, reference in COMPLEX.items():
        for k in range(POINTS):
            draws = (lambda: uniform(-2, 2), lambda: spread(1e-9, 1e2), lambda: uniform(-20, 20))
            z = complex(draws[k % 3](), draws[k % 3]())
            value = mpmath.mpc(reference(mpmath.mpc(z)))
            if all(part == 0 or normal(part) for part in (value.real, value.imag)):
                yield f"{name} {bits(z.real)} {bits(z.imag)} {bits(float(value.real))} {bits(float(value.imag))}"


def special_rows():
    parts = (0.0, -0.0, 1.0, -2.5, math.inf, -math.inf, math.nan)
    for name, numpy_name in NUMPY.items():
        for re in parts:
            for im in parts:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    w = complex(getattr(np, numpy_name)(np.complex128(complex(re, im))))
                    # NumPy's formulas deviate from the array API standard here
                    if name == "expm1" and not (math.isfinite(re) and math.isfinite(im)):
                        e = complex(np.exp(np.complex128(complex(re, im))))
                        w = complex(e.real - 1, e.imag)
                    if name == "log1p" and re == 0 == im:
                        w = complex(re, im)
                yield f"{name} {bits(re)} {bits(im)} {bits(w.real)} {bits(w.imag)}"


for file, rows in (
    ("f64_reference.txt", real_rows()),
    ("complex_reference.txt", complex_rows()),
    ("complex_special.txt", special_rows()),
):
    (FOLDER / file).write_text("".join(row + "\n" for row in rows))
