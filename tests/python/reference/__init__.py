"""Calls whose results torch gave, one file a family: each names `CASES`.

A case is an expression of `nn` and of its inputs. torch.nn.functional has the same names, so one text
serves both, where it can. scripts/torch_reference.py evaluates it with torch in float64 and keeps the
results in tests/data/reference; tests/python/test_reference.py evaluates it with flex in each dtype.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Input:
    """Numbers from `low` to `high`, floats unless they are integers by `dtype`; or the `values` themselves."""

    shape: tuple[int, ...] = ()
    low: float = -2.0
    high: float = 2.0
    dtype: str = "float64"
    values: Sequence | None = None

    def array(self, seed):
        if self.values is not None:
            return np.asarray(self.values, self.dtype)
        # splitmix64, which no other version of a library changes
        with np.errstate(over="ignore"):
            n = np.arange(1, int(np.prod(self.shape)) + 1, dtype=np.uint64)
            n = (n + np.uint64(seed << 32)) * np.uint64(0x9E3779B97F4A7C15)
            n = (n ^ (n >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            n = (n ^ (n >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            n = (n ^ (n >> np.uint64(31))) >> np.uint64(11)
        unit = n.astype(np.float64) / 2**53
        span = np.floor if self.dtype != "float64" else np.asarray
        values = span(self.low + unit * (self.high - self.low)).astype(self.dtype)
        # a multiple of 1/32 is a number of every float
        if self.dtype == "float64":
            values = np.round(values * 32) / 32
        return values.reshape(self.shape)


@dataclass(frozen=True)
class Case:
    """`call` gives a tensor or several. `torch`: torch's text where it is another, with `torch`, `F` and
    `nn` (torch.nn.functional) at hand. A shape stands for an `Input` of it."""

    name: str
    inputs: Mapping[str, Input | tuple[int, ...]]
    call: str
    torch: str = ""
    tolerance: float = 1e-12
    """How far a result in float64 may be, relative to the largest of its case and absolute."""
    loss: float = 4
    """How many times the epsilon of a dtype, from what float64 gives of the same inputs, relative to the largest."""
    magnitude: str = ""
    """Where what is added up cancels: torch's text for the sums of its magnitudes, which errors are relative to."""
    dtypes: tuple[str, ...] = field(default=("float64", "float32", "float16", "bfloat16"))

    def arrays(self):
        """The inputs by name."""
        return {
            name: (given if isinstance(given, Input) else Input(given)).array(seed)
            for seed, (name, given) in enumerate(self.inputs.items(), 1)
        }
