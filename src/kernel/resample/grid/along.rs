//! The elements around a coordinate along an axis.

use super::{Beyond, Interpolation, NONE, Rule};
use crate::kernel::math::Real;
use crate::kernel::resample::line::Sampled;
use crate::simd::Isa;

/// Of the cubic convolution.
pub(super) const CUBIC: f64 = -0.75;

/// The elements near each point along an axis of `size`, whose elements lie `step` apart, and their
/// weights, tap by tap. `grid` has the coordinates, one in `rule.rank`.
#[inline(always)]
pub(super) fn near<I: Isa, A: Sampled>(
    rule: &Rule,
    size: usize,
    step: usize,
    grid: &[A],
    points: usize,
    index: &mut [i32],
    weights: &mut [A],
) {
    let (n, half) = (A::from_f64(size as f64), A::from_f64(0.5));
    // loops without a choice within
    macro_rules! by {
        ($($Interpolation:ident)*) => {
            match rule.interpolation {
                $(Interpolation::$Interpolation => {
                    let rule = &Rule { interpolation: Interpolation::$Interpolation, ..*rule };
                    for tap in 0..rule.along() {
                        let range = tap * points..(tap + 1) * points;
                        let numbers = index[range.clone()].iter_mut().zip(&mut weights[range]);
                        for ((i, w), x) in numbers.zip(grid.iter().step_by(rule.rank)) {
                            let (p, weight) = seen::<I, A>(rule, n, tap, *x);
                            // what lies half an element off is none of the image's, and NaN is not
                            let inside = (p > -half) & (p < n - half);
                            *i = if inside { p.to_i32() * step as i32 } else { NONE };
                            *w = weight;
                        }
                    }
                })*
            }
        };
    }
    by!(Nearest Linear Cubic)
}

/// The position among `n` elements that a tap of a coordinate sees, and its weight.
#[inline(always)]
fn seen<I: Isa, A: Sampled>(rule: &Rule, n: A, tap: usize, x: A) -> (A, A) {
    let at = position(rule, n, x);
    match rule.interpolation {
        Interpolation::Nearest => (Real::round::<I>(beyond::<I, A>(rule, n, at).0), A::ONE),
        Interpolation::Linear => {
            let (at, _) = beyond::<I, A>(rule, n, at);
            let first = Real::floor::<I>(at);
            let part = at - first;
            match tap {
                0 => (first, A::ONE - part),
                _ => (first + A::ONE, part),
            }
        }
        Interpolation::Cubic => {
            let first = Real::floor::<I>(at);
            let weight = cubic(distance(tap, at - first), A::from_f64(CUBIC), is_far(tap));
            let at = first + A::from_f64(tap as f64 - 1.0);
            (beyond::<I, A>(rule, n, at).0, weight)
        }
    }
}

/// Where a coordinate lies among `n` elements.
#[inline(always)]
pub(super) fn position<A: Sampled>(rule: &Rule, n: A, x: A) -> A {
    let two = A::from_f64(2.0);
    if rule.align_corners {
        (x + A::ONE) / two * (n - A::ONE)
    } else {
        ((x + A::ONE) * n - A::ONE) / two
    }
}

/// How far the taps of a cubic convolution lie from a point that is `part` behind the second.
#[inline(always)]
pub(super) fn distance<A: Real>(tap: usize, part: A) -> A {
    match tap {
        0 => part + A::ONE,
        1 => part,
        2 => A::ONE - part,
        _ => A::from_f64(2.0) - part,
    }
}
/// Whether that is from 1 to 2.
#[inline(always)]
pub(super) fn is_far(tap: usize) -> bool {
    tap == 0 || tap == 3
}

/// Cubic convolution at a distance, from 1 to 2 if `far`, else from 0 to 1.
#[inline(always)]
pub fn cubic<A: Real>(t: A, a: A, far: bool) -> A {
    let number = A::from_f64;
    if far {
        ((a * t - number(5.0) * a) * t + number(8.0) * a) * t - number(4.0) * a
    } else {
        ((a + number(2.0)) * t - (a + number(3.0))) * t * t + A::ONE
    }
}

/// A position brought into the image, unless zeros lie beyond, and what it changes by where the position
/// does: nothing at the border and beyond, the other way in a reflection.
#[inline(always)]
pub(super) fn beyond<I: Isa, A: Sampled>(rule: &Rule, n: A, at: A) -> (A, A) {
    let last = n - A::ONE;
    let (at, slope) = match rule.beyond {
        Beyond::Zeros => return (at, A::ONE),
        Beyond::Border => (at, A::ONE),
        Beyond::Reflection => {
            let (low, span) = if rule.align_corners {
                (A::ZERO, last)
            } else {
                (A::from_f64(-0.5), n)
            };
            if span > A::ZERO {
                let from = Real::abs::<I>(at - low);
                let turns = Real::floor::<I>(from / span);
                let rest = from - turns * span;
                let half = turns * A::from_f64(0.5);
                let even = Real::floor::<I>(half) == half;
                let slope = if even == (at >= low) { A::ONE } else { -A::ONE };
                ((if even { rest } else { span - rest }) + low, slope)
            } else {
                (A::ZERO, A::ZERO)
            }
        }
    };
    let slope = if (at > A::ZERO) & (at < last) {
        slope
    } else {
        A::ZERO
    };
    let at = if at > A::ZERO { at } else { A::ZERO };
    (if at < last { at } else { last }, slope)
}
