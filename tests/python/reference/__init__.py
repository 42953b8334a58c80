"""Calls with stored torch results, one file per family; each file defines `CASES`.

A case is an expression in `nn` and its inputs. torch.nn.functional has the same names, so one expression
serves both where possible. scripts/torch_reference.py evaluates it with torch in float64 and stores the
results in tests/data/reference; tests/python/test_reference.py evaluates it with flex in each dtype.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Input:
    """Pseudo-random numbers from `low` to `high`, integers if `dtype` is not float64; or the given `values`."""

    shape: tuple[int, ...] = ()
    low: float = -2.0
    high: float = 2.0
    dtype: str = "float64"
    values: Sequence | None = None

    def array(self, seed):
        if self.values is not None:
            return np.asarray(self.values, self.dtype)
        # splitmix64, so that the numbers don't depend on a library's version
        with np.errstate(over="ignore"):
            n = np.arange(1, int(np.prod(self.shape)) + 1, dtype=np.uint64)
            n = (n + np.uint64(seed << 32)) * np.uint64(0x9E3779B97F4A7C15)
            n = (n ^ (n >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            n = (n ^ (n >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            n = (n ^ (n >> np.uint64(31))) >> np.uint64(11)
        unit = n.astype(np.float64) / 2**53
        span = np.floor if self.dtype != "float64" else np.asarray
        values = span(self.low + unit * (self.high - self.low)).astype(self.dtype)
        # multiples of 1/32 are exact in every float dtype
        if self.dtype == "float64":
            values = np.round(values * 32) / 32
        return values.reshape(self.shape)


@dataclass(frozen=True)
class Case:
    """`call` evaluates to one tensor or several. `torch`: torch's expression where it differs, with `torch`,
    `F` and `nn` (both torch.nn.functional) in scope. A shape stands for an `Input` of that shape."""

    name: str
    inputs: Mapping[str, Input | tuple[int, ...]]
    call: str
    torch: str = ""
    loss: float = 4
    """Error bound in float64 and float32 against float64 on the same inputs, in epsilons, relative to the largest value."""
    halves: float = 0.75
    """The same in float16 and bfloat16, in their epsilons: what is computed in float32 is rounded once."""
    tolerance: float = 0.0
    """Error bound in float64, if torch's definition differs by more than rounding; absolute."""
    magnitude: str = ""
    """If terms cancel: torch's expression for the sums of their magnitudes, which errors are then relative to."""
    dtypes: tuple[str, ...] = field(default=("float64", "float32", "float16", "bfloat16"))

    def arrays(self):
        """The inputs by name."""
        return {
            name: (given if isinstance(given, Input) else Input(given)).array(seed)
            for seed, (name, given) in enumerate(self.inputs.items(), 1)
        }
