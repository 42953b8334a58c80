//! The taps around a coordinate along one axis.

use super::{Beyond, GridRule, Interpolation, NONE};
use crate::kernel::math::Real;
use crate::kernel::resample::line::Sampled;
use crate::simd::Isa;

/// The parameter `a` of the cubic convolution.
pub(super) const CUBIC: f64 = -0.75;

/// An expression specialised for each value of one of the rule's fields, so that loops contain no
/// branches on it.
macro_rules! by {
    (beyond, $rule:ident, $e:expr) => {
        by!(@ beyond Beyond $rule $e; Zeros Border Reflection)
    };
    (interpolation, $rule:ident, $e:expr) => {
        by!(@ interpolation Interpolation $rule $e; Nearest Linear Cubic)
    };
    (@ $field:ident $Type:ident $rule:ident $e:expr; $($Name:ident)*) => {
        match $rule.$field {
            $($Type::$Name => {
                let $rule = &GridRule { $field: $Type::$Name, ..*$rule };
                $e
            })*
        }
    };
}
pub(super) use by;

/// Extracts the coordinates of one of `rank` axes from `grid`, `[points][rank]`.
#[inline(always)]
pub(super) fn line_of<A: Copy>(grid: &[A], rank: usize, axis: usize, line: &mut [A]) {
    // the innermost axis comes first
    let coordinates = grid[rank - 1 - axis..].iter().step_by(rank);
    for (v, x) in line.iter_mut().zip(coordinates) {
        *v = *x;
    }
}

/// The taps of each of a line of points along an axis of `size` elements, `step` apart, and their
/// weights, tap by tap. Turns the coordinates in `line` into positions.
#[inline(always)]
pub(super) fn taps_of<I: Isa, A: Sampled>(
    rule: &GridRule,
    size: usize,
    step: usize,
    line: &mut [A],
    index: &mut [i32],
    weights: &mut [A],
) {
    let n = A::from_f64(size as f64);
    positions(rule, n, line);
    by!(
        interpolation,
        rule,
        near_by::<I, A>(rule, n, step, line, index, weights)
    )
}
#[inline(always)]
fn near_by<I: Isa, A: Sampled>(
    rule: &GridRule,
    n: A,
    step: usize,
    line: &[A],
    index: &mut [i32],
    weights: &mut [A],
) {
    let half = A::from_f64(0.5);
    let each = index
        .chunks_exact_mut(line.len())
        .zip(weights.chunks_exact_mut(line.len()));
    for (tap, (index, weights)) in each.enumerate() {
        let whole = A::from_f64(tap as f64);
        // holds the positions of the taps, before their weights
        let positions_of_taps = weights;
        for (p, at) in positions_of_taps.iter_mut().zip(line) {
            *p = match rule.interpolation {
                Interpolation::Cubic => Real::floor::<I>(*at) + (whole - A::ONE),
                _ => *at,
            };
        }
        by!(beyond, rule, bring::<I, A>(rule, n, positions_of_taps));
        for ((i, w), at) in index.iter_mut().zip(positions_of_taps).zip(line) {
            let p = match rule.interpolation {
                Interpolation::Nearest => Real::round::<I>(*w),
                Interpolation::Linear => Real::floor::<I>(*w) + whole,
                Interpolation::Cubic => *w,
            };
            *w = match rule.interpolation {
                Interpolation::Nearest => A::ONE,
                Interpolation::Linear => {
                    let part = *w - Real::floor::<I>(*w);
                    if tap == 0 { A::ONE - part } else { part }
                }
                Interpolation::Cubic => {
                    let part = *at - Real::floor::<I>(*at);
                    cubic(distance(tap, part), A::from_f64(CUBIC), is_far(tap))
                }
            };
            // positions half an element or more off the image are outside, and so is NaN
            let inside = (p > -half) & (p < n - half);
            let element = p.to_i32().wrapping_mul(step as i32);
            *i = if inside { element } else { NONE };
        }
    }
}

/// Converts coordinates to positions among `n` elements.
#[inline(always)]
fn positions<A: Sampled>(rule: &GridRule, n: A, line: &mut [A]) {
    let two = A::from_f64(2.0);
    if rule.align_corners {
        for x in line {
            *x = (*x + A::ONE) / two * (n - A::ONE);
        }
    } else {
        for x in line {
            *x = ((*x + A::ONE) * n - A::ONE) / two;
        }
    }
}
/// Moves positions into the image, by the padding mode.
#[inline(always)]
fn bring<I: Isa, A: Sampled>(rule: &GridRule, n: A, line: &mut [A]) {
    for at in line {
        *at = beyond::<I, A>(rule, n, *at).0;
    }
}

/// The distance of a cubic tap from a point at `part` past the second tap.
#[inline(always)]
pub(super) fn distance<A: Real>(tap: usize, part: A) -> A {
    match tap {
        0 => part + A::ONE,
        1 => part,
        2 => A::ONE - part,
        _ => A::from_f64(2.0) - part,
    }
}
/// Whether that distance is in 1 to 2.
#[inline(always)]
pub(super) fn is_far(tap: usize) -> bool {
    tap == 0 || tap == 3
}

/// The cubic convolution kernel at distance `t`, in 1 to 2 if `far`, else in 0 to 1.
#[inline(always)]
pub fn cubic<A: Real>(t: A, a: A, far: bool) -> A {
    let number = A::from_f64;
    if far {
        ((a * t - number(5.0) * a) * t + number(8.0) * a) * t - number(4.0) * a
    } else {
        ((a + number(2.0)) * t - (a + number(3.0))) * t * t + A::ONE
    }
}

/// A position moved into the image (unchanged with zero padding), and the derivative of that: 0 at
/// the border and outside, -1 in a reflected part.
#[inline(always)]
pub(super) fn beyond<I: Isa, A: Sampled>(rule: &GridRule, n: A, at: A) -> (A, A) {
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
