# mypy: allow-redefinition
"""Waves of given frequencies."""

from __future__ import annotations

from math import log, pi
from typing import TYPE_CHECKING

from flex import _flex as fx
from flex._functions._common import inexact

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested


def _period(t: Tensor) -> Tensor:
    """The part of a period of 2 pi that has passed, from 0 to 1."""
    return fx.remainder(t, 2 * pi) / (2 * pi)


def square(t: _Nested, duty: _Nested = 0.5) -> Tensor:
    """A wave of period 2 pi that is 1 in the first part of each period, and -1 in the rest.

    duty: that part, which may differ between samples; NaN results where it is not from 0 to 1. Integers become float32.

    >>> flex.signal.square(flex.asarray([0.0, 3.0, 4.0])).tolist()
    [1.0, 1.0, -1.0]
    """
    t = inexact(t)
    duty = fx.asarray(duty, dtype=t.dtype)
    wave = fx.where(_period(t) < duty, 1.0, -1.0)
    return fx.where((duty < 0) | (duty > 1), fx.nan, wave).astype(t.dtype)


def sawtooth(t: _Nested, width: _Nested = 1.0) -> Tensor:
    """A wave of period 2 pi that rises from -1 to 1 in the first part of each period, and falls to -1 in the rest.

    width: that part, which may differ between samples; NaN results where it is not from 0 to 1. Integers become float32.

    >>> flex.signal.sawtooth(flex.asarray([0.0, flex.pi / 2, flex.pi])).tolist()
    [-1.0, -0.5, 0.0]
    """
    t = inexact(t)
    at, width = _period(t), fx.asarray(width, dtype=t.dtype)
    rises = 2 * at / fx.where(width == 0, 1.0, width) - 1
    falls = 1 - 2 * (at - width) / fx.where(width == 1, 1.0, 1 - width)
    wave = fx.where(at < width, rises, falls)
    return fx.where((width < 0) | (width > 1), fx.nan, wave).astype(t.dtype)


def chirp(
    t: _Nested,
    f0: float,
    t1: float,
    f1: float,
    method: str = "linear",
    phi: float = 0.0,
    vertex_zero: bool = True,
) -> Tensor:
    """A cosine whose frequency goes from f0 at time 0 to f1 at time t1.

    method: how, "linear", "quadratic", "logarithmic" or "hyperbolic", or the beginning of one. phi: the angle at time 0, in degrees.
    vertex_zero: whether the vertex of the parabola is at time 0, instead of t1, if the method is quadratic. Integers become float32.
    ValueError for another method, for frequencies of different signs or zero with "logarithmic", and for zero with "hyperbolic".

    >>> flex.signal.chirp(flex.asarray([0.0, 0.5]), f0=1, t1=1, f1=1).tolist()
    [1.0, -1.0]
    """
    t = inexact(t)
    f0, t1, f1 = float(f0), float(t1), float(f1)
    names = [
        n for n in ("linear", "quadratic", "logarithmic", "hyperbolic") if n.startswith(method)
    ]
    name = {"li": "linear", "lin": "linear", "log": "logarithmic", "lo": "logarithmic"}.get(
        method, names[0] if len(names) == 1 else ""
    )
    if name == "linear":
        cycles = f0 * t + 0.5 * ((f1 - f0) / t1) * t**2
    elif name == "quadratic":
        bend = (f1 - f0) / t1**2
        from_end = f1 * t + bend / 3 * ((t1 - t) ** 3 - t1**3)
        cycles = f0 * t + bend / 3 * t**3 if vertex_zero else from_end
    elif name == "logarithmic":
        if f0 * f1 <= 0:
            raise ValueError(f"chirp: f0 is {f0} and f1 {f1}; they have one sign, and are not 0")
        ratio = log(f1 / f0)
        cycles = f0 * t if ratio == 0 else f0 * t1 / ratio * fx.expm1(t * (ratio / t1))
    elif name == "hyperbolic":
        if f0 == 0 or f1 == 0:
            raise ValueError(f"chirp: f0 is {f0} and f1 {f1}; neither is 0")
        if f0 == f1:
            cycles = f0 * t
        else:
            zero = -f1 * t1 / (f0 - f1)
            cycles = -zero * f0 * fx.log(fx.abs(1 - t / zero))
    else:
        raise ValueError(
            f"chirp: method is {method!r}; it is 'linear', 'quadratic', 'logarithmic' or 'hyperbolic'"
        )
    return fx.cos(2 * pi * cycles + phi * pi / 180)
