"""Workloads: inputs, an expression, and the amount of work.

An expression sees its inputs by name and the library's namespace as `xp`. The first one is for all libraries that share its names (NumPy,
flex, jax.numpy: those of the array API standard); a keyword gives the expression of another library, and None leaves it out. numexpr and
SciPy take part if a row has an expression for them; onnxruntime and OpenVINO if it has one of ONNX operators (`onnx`, see graph.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

TOLERANCE = {"float64": 1e-11, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
K, M = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Input:
    """Random values, uniform in [low, high)."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float = -1
    high: float = 1
    ordered: bool = False  # ascending

    def values(self, rng: np.random.Generator) -> np.ndarray:
        """The values as a NumPy array, rounded to the dtype; bfloat16 needs ml_dtypes."""
        import numpy as np

        if self.dtype == "bool":
            return rng.random(self.shape) < self.high / 2
        if "int" in self.dtype:
            values = rng.integers(int(self.low), int(self.high), self.shape).astype(self.dtype)
        else:
            wide = np.float64 if self.dtype == "float64" else np.float32
            values = rng.random(self.shape, wide) * wide(self.high - self.low) + wide(self.low)
        if self.ordered:
            values.sort()
        if self.dtype == "bfloat16":
            import ml_dtypes

            return values.astype(ml_dtypes.bfloat16)
        return values.astype(self.dtype)


@dataclass(frozen=True)
class Known:
    """An input other than an array, the same for every library."""

    value: Callable[[], object]
    dtype: str = "float32"


class Workload:
    """One row of the comparison."""

    def __init__(
        self,
        family: str,
        name: str,
        inputs: dict[str, Input | Known],
        expression: str | None,
        *,
        goal: float,
        tolerance: float | None = None,
        flops: float | Callable[[], float] = 0,
        reads: int | None = None,
        computed_in: str | None = None,
        compared: str = "r",
        onnx: str | None = None,
        fused: bool = False,
        **spellings: str | None,
    ):
        self.family, self.name, self.inputs = family, name, inputs
        # the target for the ratio of flex's time to that of the fastest other library
        self.goal = goal
        # relative to the largest result; the default is that of the least precise input
        self.tolerance = (
            max(TOLERANCE.get(given.dtype, 0.0) for given in inputs.values())
            if tolerance is None
            else tolerance
        )
        # the unavoidable arithmetic; the bytes that must be read, if not all of the inputs; the
        # dtype of the arithmetic, if not that of the first input
        self.flops, self.reads = flops, reads
        self.computed_in = computed_in or next(iter(inputs.values())).dtype
        # the NumPy expression of the result `r` that is compared with the reference
        self.compared = compared
        # whether libraries that can compile a function run the expression as one; the parts of a
        # tuple result then have the same shape
        self.fused = fused
        self._expression = expression
        absent = {"numexpr": None, "scipy": None}
        self._spellings = {**absent, "onnxruntime": onnx, "openvino": onnx, **spellings}

    def expression(self, library: str) -> str | None:
        """The expression for `library`; None if it does not take part."""
        return self._spellings.get(library, self._expression)

    @property
    def reference(self) -> str:
        """The expression that NumPy evaluates in float64 for the reference result."""
        return self._spellings.get("reference") or self.expression("numpy")


class Family:
    """Workloads of a kind, and the default target of their rows."""

    def __init__(self, name: str, goal: float):
        self.name, self.goal = name, goal
        self.rows: list[Workload] = []

    def row(
        self, name: str, inputs: dict[str, Input | Known], expression: str | None, **more
    ) -> None:
        """Adds a workload."""
        self.rows.append(
            Workload(self.name, name, inputs, expression, **{"goal": self.goal, **more})
        )


def one(*shape: int, dtype: str = "float32", low: float = -1, high: float = 1) -> dict[str, Input]:
    """An operand `a`."""
    return {"a": Input(shape, dtype, low, high)}


def two(*shape: int, dtype: str = "float32", low: float = -1, high: float = 1) -> dict[str, Input]:
    """Operands `a` and `b` of the same shape."""
    return {name: Input(shape, dtype, low, high) for name in "ab"}


def size(n: int) -> str:
    """A size as text: 64K, 1M, 50."""
    return f"{n // M}M" if n % M == 0 else f"{n // K}K" if n % K == 0 else str(n)


def shape(*sides: int) -> str:
    """A shape as text: 4096x1024."""
    return "x".join(map(str, sides))


def product(*sides: int) -> int:
    """The operations of a matrix product, two for each multiply-add."""
    return 2 * math.prod(sides)
