# mypy: allow-redefinition
"""The forms of a filter: coefficients of a transfer function; zeros, poles and gain; sections of order two. Float64 and complex128."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flex import _flex as fx
from flex._functions._common import vector
from flex._functions.polynomials import roots
from flex._signals.design import _polynomial, _sections
from flex._signals.filtering import _sos

if TYPE_CHECKING:
    from flex._flex import Tensor, _Nested


def _coefficients(op: str, name: str, c: Any) -> Tensor:
    """Without zeros in front."""
    c = vector(op, name, fx.atleast_1d(fx.asarray(c, dtype=fx.float64)))
    at = fx.nonzero(c)[0]
    return c[at[0].item() :] if at.size else c[:0]


def _points(op: str, name: str, x: Any) -> list[complex]:
    found: list[complex] = vector(op, name, fx.asarray(x, dtype=fx.complex128)).tolist()
    return found


def _expanded(points: list[complex]) -> Tensor:
    """The coefficients of the polynomial with these roots, real if they are conjugates of each other."""

    def order(x: complex) -> tuple[float, float]:
        return x.real, x.imag

    c = _polynomial(points)
    if sorted(points, key=order) == sorted((x.conjugate() for x in points), key=order):
        return fx.asarray([x.real for x in c], dtype=fx.float64)
    return fx.asarray(c, dtype=fx.complex128)


def tf2zpk(b: _Nested, a: _Nested) -> tuple[Tensor, Tensor, float]:
    """The zeros, the poles and the gain of a filter with these coefficients, as of `lfilter`.

    ShapeError if one is no vector; ValueError if one has only zeros.

    >>> z, p, k = flex.signal.tf2zpk([2.0, -1.0], [1.0, -0.25])
    >>> z.tolist(), p.tolist(), k
    ([(0.5+0j)], [(0.25+0j)], 2.0)
    """
    b, a = (_coefficients("tf2zpk", name, c) for name, c in (("b", b), ("a", a)))
    if not b.size or not a.size:
        raise ValueError(f"tf2zpk: {'a' if b.size else 'b'} has no coefficient but 0")
    return roots(b), roots(a), b[0].item() / a[0].item()


def zpk2tf(z: _Nested, p: _Nested, k: float) -> tuple[Tensor, Tensor]:
    """The coefficients of a filter with these zeros, poles and gain, as of `lfilter`: real if complex numbers are there with their
    conjugates. ShapeError if z or p is no vector.

    >>> b, a = flex.signal.zpk2tf([0.5], [0.25], 2.0)
    >>> b.tolist(), a.tolist()
    ([2.0, -1.0], [1.0, -0.25])
    """
    zeros, poles = (_points("zpk2tf", name, x) for name, x in (("z", z), ("p", p)))
    return _expanded(zeros) * k, _expanded(poles)


def zpk2sos(z: _Nested, p: _Nested, k: float) -> Tensor:
    """The sections of order two of a filter with these zeros, poles and gain, as of `sosfilt`, `[sections, 6]`: poles nearest the unit
    circle last, with the zeros nearest to them.

    ShapeError if z or p is no vector; ValueError unless complex numbers are there with their conjugates.

    >>> flex.signal.zpk2sos([0.5], [0.25], 2.0).tolist()
    [[2.0, -1.0, 0.0, 1.0, -0.25, 0.0]]
    """
    zeros, poles = (_points("zpk2sos", name, x) for name, x in (("z", z), ("p", p)))
    for name, x in (("z", zeros), ("p", poles)):
        close = 100 * fx.finfo(fx.float64).eps
        upper, lower = ([v for v in x if v.imag * s > close * abs(v)] for s in (1, -1))
        for v in upper:
            pair = min(lower, key=lambda w, v=v: abs(w - v.conjugate()), default=None)  # type: ignore[misc]
            if pair is None or abs(pair - v.conjugate()) > close * abs(v):
                raise ValueError(f"zpk2sos: {name} has {v} without its conjugate")
            lower.remove(pair)
        if lower:
            raise ValueError(f"zpk2sos: {name} has {lower[0]} without its conjugate")
    return fx.asarray(_sections((zeros, poles, float(k))), dtype=fx.float64)


def tf2sos(b: _Nested, a: _Nested) -> Tensor:
    """The sections of order two of a filter with these coefficients: `zpk2sos` of `tf2zpk`, with their errors. Close poles lose digits: of
    high orders rather design sections.

    >>> flex.signal.tf2sos([2.0, -1.0], [1.0, -0.25]).tolist()
    [[2.0, -1.0, 0.0, 1.0, -0.25, 0.0]]
    """
    return zpk2sos(*tf2zpk(b, a))


def sos2tf(sos: _Nested) -> tuple[Tensor, Tensor]:
    """The coefficients of a filter of sections of order two, `[sections, 6]` (ShapeError), as of `lfilter`.

    >>> b, a = flex.signal.sos2tf([[2.0, -1.0, 0.0, 1.0, -0.25, 0.0]])
    >>> b.tolist(), a.tolist()
    ([2.0, -1.0, 0.0], [1.0, -0.25, 0.0])
    """
    b = a = fx.ones(1, dtype=fx.float64)
    for row in fx.unstack(_sos("sos2tf", sos)):
        b, a = fx._signal.convolve(b, row[:3]), fx._signal.convolve(a, row[3:])
    return b, a


def sos2zpk(sos: _Nested) -> tuple[Tensor, Tensor, float]:
    """The zeros, the poles and the gain of a filter of sections of order two, `[sections, 6]` (ShapeError), two of each for a section.

    ValueError for a section whose `b[0]` or `a[0]` is 0.

    >>> z, p, k = flex.signal.sos2zpk([[2.0, -1.0, 0.0, 1.0, -0.25, 0.0]])
    >>> z.tolist(), p.tolist(), k
    ([(0.5+0j), 0j], [(0.25+0j), 0j], 2.0)
    """
    zeros, poles, gain = [], [], 1.0
    for row in fx.unstack(_sos("sos2zpk", sos)):
        if row[0].item() == 0 or row[3].item() == 0:
            raise ValueError("sos2zpk: b[0] and a[0] of a section are not 0")
        gain *= row[0].item() / row[3].item()
        zeros.append(roots(row[:3]))
        poles.append(roots(row[3:]))
    none = fx.zeros(0, dtype=fx.complex128)
    return fx.concat([none, *zeros]), fx.concat([none, *poles]), gain
