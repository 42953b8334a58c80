"""flex: n-dimensional arrays on the CPU, with the names and rules of the array API standard."""

from flex import _flex, io, linalg, nn
from flex._flex import *  # noqa: F403

__all__ = [*_flex.__all__, "io", "linalg", "nn"]
