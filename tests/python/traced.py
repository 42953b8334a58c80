"""Random functions of tensors, for tests of flex.fuse: a program is a list of steps of small integers, which the same Python function
runs on tensors and on their stand-ins while a function is traced.

A step selects an operation, its operands and its parameters. It picks operands of a suitable shape among the existing values and converts
them where the dtype does not fit, so that every list is a valid program.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

import flex
from flex import nn

if TYPE_CHECKING:
    from collections.abc import Callable

Step = tuple[int, int, int, int]

BOOLS, WHOLE = ("bool",), ("int32", "int64")
HALVES, WIDE = ("float16", "bfloat16"), ("float32", "float64")
FLOATS = (*HALVES, *WIDE)
NUMBERS = (*WHOLE, *FLOATS)
ANY = (*BOOLS, *NUMBERS)

UNARY: dict[Callable, tuple[str, ...]] = {
    **dict.fromkeys(
        [
            *(flex.exp, flex.expm1, flex.log, flex.log1p, flex.sqrt, flex.rsqrt, flex.reciprocal),
            *(flex.sin, flex.cos, flex.tanh, flex.atan, flex.erf, flex.sigmoid, flex.gelu),
            *(flex.silu, nn.hardswish, nn.mish, nn.selu),
        ],
        FLOATS,
    ),
    **dict.fromkeys(
        [
            *(flex.negative, flex.abs, flex.square, flex.sign, flex.floor, flex.ceil, flex.trunc),
            *(flex.round, flex.relu),
            # the sign of a NaN is not specified
            lambda x: flex.signbit(x) & flex.logical_not(flex.isnan(x)),
        ],
        NUMBERS,
    ),
    **dict.fromkeys([flex.isfinite, flex.isnan, flex.isinf, flex.logical_not], ANY),
    flex.bitwise_invert: (*BOOLS, *WHOLE),
}
BINARY: dict[Callable, tuple[str, ...]] = {
    **dict.fromkeys([flex.add, flex.subtract, flex.multiply, flex.maximum, flex.minimum], NUMBERS),
    **dict.fromkeys([flex.divide, flex.atan2, flex.hypot, flex.logaddexp], FLOATS),
    lambda x, y: flex.copysign(x, flex.where(flex.isnan(y), 1, y)): FLOATS,
    **dict.fromkeys([flex.floor_divide, flex.remainder, flex.fmod, flex.pow], FLOATS),
    **dict.fromkeys([flex.less, flex.less_equal, flex.greater, flex.greater_equal], ANY),
    **dict.fromkeys([flex.equal, flex.not_equal, flex.logical_and, flex.logical_or], ANY),
    **dict.fromkeys([flex.bitwise_and, flex.bitwise_or, flex.bitwise_xor], (*BOOLS, *WHOLE)),
    **dict.fromkeys([flex.bitwise_left_shift, flex.bitwise_right_shift], WHOLE),
}
WITH_NUMBER: dict[Callable, tuple[str, ...]] = {
    **dict.fromkeys(
        [
            *(lambda x, n: x + n, lambda x, n: x - n, lambda x, n: x * n, lambda x, n: n - x),
            *(lambda x, n: flex.clip(x, -n, n), flex.maximum, flex.minimum),
        ],
        NUMBERS,
    ),
    **dict.fromkeys(
        [lambda x, n: x / n, lambda x, n: n / x, lambda x, n: x**n, lambda x, n: x % n], FLOATS
    ),
    **dict.fromkeys([lambda x, n: x < n, lambda x, n: x >= n, lambda x, n: x != n], NUMBERS),
    lambda x, n: flex.where(x > n, x, n): NUMBERS,
}
NUMBER = (1, 2, 3, 0.5, 2.5, 0.1, 7, 1.5, 1 / 3, 257, -0.7, 16777217, 2.5e9)
REDUCTIONS: dict[Callable, tuple[str, ...]] = {
    **dict.fromkeys([flex.sum, flex.prod, flex.max, flex.min], NUMBERS),
    **dict.fromkeys([flex.mean, flex.var, flex.std], FLOATS),
    **dict.fromkeys([flex.any, flex.all, flex.count_nonzero], ANY),
}
# Functions that run as they are between the fused parts.
WHOLES: dict[Callable, tuple[str, ...]] = {
    lambda x: flex.argmax(x, axis=-1, keepdims=True): (*WHOLE, *WIDE),
    lambda x: flex.matmul(x, flex.reshape(x, (x.shape[-1], -1))): WIDE,
    lambda x: nn.linear(x, x, x[:, 0], activation="relu"): WIDE,
    lambda x: nn.conv2d(x[None], x[None, None, :3, :3], padding=1)[0]: WIDE,
    lambda x: nn.linear(x, flex.abs(x), residual=x[:, :1]): WIDE,
    lambda x: nn.conv1d(x.T, x[:, :, None], x[:, 0], activation="relu"): WIDE,
}
VIEWS: list[Callable] = [
    lambda x, k: flex.permute_dims(x, tuple(reversed(range(x.ndim)))),
    lambda x, k: flex.reshape(x, (math.prod(x.shape),)),
    lambda x, k: x[..., ::-1] if x.ndim else x,
    lambda x, k: x[k % 2 :: 2] if x.ndim else x,
    lambda x, k: x[..., None],
    lambda x, k: x[k % x.shape[0]] if x.ndim and x.shape[0] else x,
    lambda x, k: x[..., k % x.shape[-1]] if x.ndim and x.shape[-1] else x,
    lambda x, k: flex.expand_dims(x, axis=k % (x.ndim + 1)),
    lambda x, k: flex.squeeze(x, axis=tuple(d for d in range(x.ndim) if x.shape[d] == 1)),
    lambda x, k: flex.broadcast_to(x, (k % 3, *x.shape)),
    lambda x, k: flex.moveaxis(x, k % x.ndim, 0) if x.ndim else x,
    lambda x, k: flex.flip(x, axis=k % x.ndim) if x.ndim else x,
    lambda x, k: x.T if x.ndim == 2 else x,
    lambda x, k: x[:, None] if x.ndim else x,
    lambda x, k: x[..., 1 : -1 : k % 3 + 1] if x.ndim else x,
    lambda x, k: flex.reshape(x, (*x.shape, 1)),
    lambda x, k: flex.reshape(x, (x.shape[0], -1)) if x.ndim and x.size else x,
]
LARGEST, MOST_DIMS = 1 << 17, 5


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The common shape, or None if there is none or it is too large for a test."""
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        return None
    return shape if math.prod(shape) <= LARGEST else None


class Run:
    """One run of a program, with the values so far."""

    def __init__(self, operands: tuple[Any, ...], casts: tuple[str, ...]):
        self.operands, self.values, self.casts = operands, list(operands), casts

    def some(self, k: int, dtypes: tuple[str, ...]) -> Any:
        """A value of one of the dtypes, more often one of the last."""
        return self.one_of(self.values[-4 if k % 3 else 0 :], k, dtypes)

    def one_of(self, values: list[Any], k: int, dtypes: tuple[str, ...]) -> Any:
        """One of the values, converted if its dtype is none of these."""
        x = values[-1 - k % len(values)]
        if x.dtype.name in dtypes:
            return x
        possible = [dtype for dtype in self.casts if dtype in dtypes] or dtypes
        return flex.astype(x, possible[k % len(possible)])

    def beside(self, k: int, dtypes: tuple[str, ...], *others: Any) -> Any:
        """A value that broadcasts with the others."""
        x = self.some(k, dtypes)
        fits = broadcast(x.shape, *(other.shape for other in others))
        return others[0] if fits is None else x

    def step(self, kind: int, i: int, j: int, k: int) -> Any:
        """The result of a step."""
        match kind % 16:
            case 0 | 1 | 2:
                function, dtypes = pick(UNARY, i)
                return function(self.some(j, dtypes))
            case 3 | 4 | 5 | 6:
                function, dtypes = pick(BINARY, i)
                x = self.some(j, dtypes)
                y = self.beside(k, dtypes, x)
                return function(*((y, x) if i % 2 else (x, y)))
            case 7 | 8:
                function, dtypes = pick(WITH_NUMBER, i)
                return function(self.some(j, dtypes), NUMBER[k % len(NUMBER)])
            case 9:
                condition = self.some(i, BOOLS)
                x = self.beside(j, ANY, condition)
                y = self.beside(k, ANY, x, condition)
                return flex.where(condition, x, y)
            case 10:
                x = self.some(i, NUMBERS)
                low = self.beside(j, (x.dtype.name,), x)
                return flex.clip(x, low, self.beside(k, (x.dtype.name,), x, low))
            case 11:
                return flex.astype(self.some(i, ANY), self.casts[j % len(self.casts)])
            case 12:
                return self.reduced(i, j, k)
            case 13:  # with an operand, so that reduced values broadcast back
                function, dtypes = pick(BINARY, i)
                x = self.one_of(self.operands, j, dtypes)
                return function(x, self.beside(k, dtypes, x))
            case 14:
                x = self.some(j, ANY)
                y = VIEWS[i % len(VIEWS)](x, k)
                return y if y.ndim <= MOST_DIMS and math.prod(y.shape) <= LARGEST else x
            case _:
                function, dtypes = pick(WHOLES, i)
                x = self.some(j, dtypes)
                fits = x.ndim == 2 and 0 not in x.shape and x.shape[0] ** 2 <= LARGEST
                return function(x) if fits else x

    def reduced(self, i: int, j: int, k: int) -> Any:
        """A reduction over any axes, with or without keepdims."""
        function, dtypes = pick(REDUCTIONS, i)
        x = self.some(j, dtypes)
        if function in (flex.max, flex.min) and 0 in x.shape:
            return x
        chosen = tuple(axis for axis in range(x.ndim) if k >> axis & 1)
        axis = (None, chosen, k % x.ndim, -1)[k // 7 % 4] if x.ndim else None
        return function(x, axis=axis, keepdims=bool(k & 1))


def pick(table: dict[Callable, tuple[str, ...]], k: int) -> tuple[Callable, tuple[str, ...]]:
    """The entry that `k` selects."""
    return list(table.items())[k % len(table)]


def function_of(program: list[Step], casts: tuple[str, ...], results: int) -> Callable:
    """A function that runs the program and returns its last `results` values, and the first."""

    def f(*tensors: Any) -> tuple[Any, ...]:
        run = Run(tensors, casts)
        for step in program:
            run.values.append(run.step(*step))
        return (*run.values[-results:], run.values[len(tensors)])

    return f


def programs(most: int = 60) -> st.SearchStrategy[list[Step]]:
    """Lists of 1 to `most` steps, all lengths equally likely. Drawn as bytes, since each draw takes as long as a step."""
    code = st.integers(1, most).flatmap(lambda n: st.binary(min_size=4 * n, max_size=4 * n))
    return code.map(lambda code: list(zip(*[iter(code)] * 4, strict=True)))
