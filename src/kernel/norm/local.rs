//! Local response normalisation: elements divided by a power of the squares around them.

use crate::kernel::math::{Math, Real};

/// `(k + scale * squares)^beta`.
#[derive(Clone, Copy, Debug)]
pub struct Divisor<F> {
    /// The factor of the sum of squares.
    pub scale: F,
    /// Added to it.
    pub k: F,
    /// The exponent.
    pub beta: F,
}

kernel! {
    /// Squares.
    pub fn squares<'a, F: Real>(x: &'a [F], y: &'a mut [F]) -> () { |I|
        for (y, x) in y.iter_mut().zip(x) {
            *y = *x * *x;
        }
    }
}

kernel! {
    /// Divides each of `x` by what follows from its squares, one from each of the consecutive lines.
    pub fn divide<'a, F: Real>(x: &'a [F], lines: &'a [F], by: Divisor<F>, y: &'a mut [F]) -> () { |I|
        y.fill(F::ZERO);
        for line in lines.chunks_exact(x.len().max(1)) {
            for (y, x) in y.iter_mut().zip(line) {
                *y = *y + *x;
            }
        }
        if by.beta == F::from_f64(0.75) {
            // two roots, as precise as a power and twice as fast
            for (y, x) in y.iter_mut().zip(x) {
                let root = Math::sqrt::<I>(by.k + by.scale * *y);
                *y = *x / (root * Math::sqrt::<I>(root));
            }
        } else {
            for (y, x) in y.iter_mut().zip(x) {
                *y = *x / Math::pow::<I>(by.k + by.scale * *y, by.beta);
            }
        }
    }
}
