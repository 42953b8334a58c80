//! Distances of two rows, and rows added up.

use super::norm::Power;
use crate::kernel::math::{Math, Real};
use crate::simd::Isa;

/// What is found of two rows.
#[derive(Clone, Copy, Debug)]
pub enum Distance {
    /// The length of `a - b + eps`.
    Of {
        /// Which length.
        power: Power,
        /// Added to differences.
        eps: f64,
    },
    /// The cosine of their angle, lengths being at least so much.
    Cosine {
        /// That.
        eps: f64,
    },
}

/// Running sums.
const LANES: usize = if crate::simd::MICROCONTROLLER { 4 } else { 64 };

/// `fold!(a, b, |sum, x, y| step, |s, t| join)`: a fold of two rows in 64 running values, joined in a fixed tree.
macro_rules! fold {
    ($a:expr, $b:expr, |$sum:ident, $x:ident, $y:ident| $step:expr, |$s:ident, $t:ident| $join:expr) => {{
        let ((a, rest_a), (b, rest_b)) = ($a.as_chunks::<LANES>(), $b.as_chunks::<LANES>());
        let (mut lanes, mut tail) = ([F::ZERO; LANES], [F::ZERO; LANES]);
        for (a, b) in a.iter().zip(b) {
            for l in 0..LANES {
                let ($sum, $x, $y) = (lanes[l], a[l], b[l]);
                lanes[l] = $step;
            }
        }
        for ((lane, x), y) in tail.iter_mut().zip(rest_a).zip(rest_b) {
            let ($sum, $x, $y) = (*lane, *x, *y);
            *lane = $step;
        }
        for l in 0..LANES {
            let ($s, $t) = (lanes[l], tail[l]);
            lanes[l] = $join;
        }
        let mut half = LANES / 2;
        while half > 0 {
            for l in 0..half {
                let ($s, $t) = (lanes[l], lanes[l + half]);
                lanes[l] = $join;
            }
            half /= 2;
        }
        lanes[0]
    }};
}

kernel! {
    /// Of two rows of one length.
    pub fn of<'a, F: Real>(by: Distance, a: &'a [F], b: &'a [F]) -> F { |I|
        match by {
            Distance::Cosine { eps } => cosine::<I, F>(a, b, F::from_f64(eps)),
            Distance::Of { power, eps } => length::<I, F>(power, F::from_f64(eps), a, b),
        }
    }
}
#[inline(always)]
fn cosine<I: Isa, F: Real>(a: &[F], b: &[F], eps: F) -> F {
    let dot = fold!(a, b, |s, x, y| s + x * y, |s, t| s + t);
    let of_a = fold!(a, a, |s, x, y| s + x * y, |s, t| s + t);
    let of_b = fold!(b, b, |s, x, y| s + x * y, |s, t| s + t);
    let length = |square: F| Math::sqrt::<I>(square).maximum::<I>(eps);
    dot / (length(of_a) * length(of_b))
}
#[inline(always)]
fn length<I: Isa, F: Real>(power: Power, eps: F, a: &[F], b: &[F]) -> F {
    match power {
        Power::Zero => fold!(
            a,
            b,
            |s, x, y| s + if x - y + eps == F::ZERO {
                F::ZERO
            } else {
                F::ONE
            },
            |s, t| s + t
        ),
        Power::One => fold!(a, b, |s, x, y| s + (x - y + eps).abs::<I>(), |s, t| s + t),
        Power::Two => {
            let sum = fold!(
                a,
                b,
                |s, x, y| {
                    let d = x - y + eps;
                    s + d * d
                },
                |s, t| s + t
            );
            Math::sqrt::<I>(sum)
        }
        Power::Infinity => fold!(
            a,
            b,
            |s, x, y| s.maximum::<I>((x - y + eps).abs::<I>()),
            |s, t| s.maximum::<I>(t)
        ),
        Power::Other(p) => {
            let q = F::from_f64(p);
            let sum = fold!(
                a,
                b,
                |s, x, y| s + Math::pow::<I>((x - y + eps).abs::<I>(), q),
                |s, t| s + t
            );
            Math::pow::<I>(sum, F::from_f64(1.0 / p))
        }
    }
}

kernel! {
    /// `y + factor * x`.
    pub fn add_scaled<'a, F: Real>(x: &'a [F], factor: F, y: &'a mut [F]) -> () { |I|
        for (y, x) in y.iter_mut().zip(x) {
            *y = *y + factor * *x;
        }
    }
}
kernel! {
    /// The larger of both; NaN where either is.
    pub fn larger<'a, F: Real>(x: &'a [F], y: &'a mut [F]) -> () { |I|
        for (y, x) in y.iter_mut().zip(x) {
            *y = y.maximum::<I>(*x);
        }
    }
}
