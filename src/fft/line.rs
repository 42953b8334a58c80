//! What becomes of a line: which numbers go in, which come out, and the plan between them.

use super::plan::Plan;
use super::real;
use super::run::{Line, transform, work_len};
use crate::error::Result;
use crate::kernel::fft::Float;

/// The transforms there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Complex numbers to complex numbers.
    Complex,
    /// Real numbers to the first half of their spectrum.
    Half,
    /// The same, to all of it.
    #[cfg(feature = "complex")]
    Whole,
    /// The first half of a spectrum to real numbers.
    Real,
}

impl Kind {
    /// Numbers of a line of length `n` that goes in, a complex number being two.
    pub fn input(self, n: usize) -> usize {
        match self {
            Kind::Complex => 2 * n,
            Kind::Real => 2 * (n / 2 + 1),
            _ => n,
        }
    }
    /// Numbers of a line of length `n` that comes out.
    pub fn output(self, n: usize) -> usize {
        match self {
            Kind::Half => 2 * (n / 2 + 1),
            Kind::Real => n,
            _ => 2 * n,
        }
    }
    /// Numbers of working memory for a line of length `n`, by its plan.
    pub fn work_len<T: Float>(self, plan: &Plan<T>, n: usize) -> usize {
        let odd = self != Kind::Complex && !n.is_multiple_of(2);
        work_len(plan) + if odd { 2 * n } else { 0 }
    }
}

/// The transform of a line of `n` values, or `n` real ones, by their plan.
///
/// # Safety
/// `x` and `y` of the line are valid for as many numbers as the kind says, nobody else writes to them,
/// and they don't overlap, but may be the same where both are complex; `work` is valid for
/// `work_len` numbers, and nobody else's.
pub(super) unsafe fn run<T: Float>(
    plan: &Plan<T>,
    kind: Kind,
    n: usize,
    line: Line<T>,
    work: Option<*mut T>,
) -> Result<()> {
    let Line { x, y, scale, .. } = line;
    let even = n.is_multiple_of(2);
    // SAFETY: the caller's, which LINE3 follows from.
    unsafe {
        match kind {
            Kind::Complex => transform(plan, line, work),
            Kind::Half if even => real::forward(plan, x, y, scale, work),
            Kind::Half => real::forward_odd(plan, x, y, scale, work),
            Kind::Real if even => real::inverse(plan, x, y, scale, work),
            Kind::Real => real::inverse_odd(plan, x, y, scale, work),
            #[cfg(feature = "complex")]
            Kind::Whole if even => {
                real::forward(plan, x, y, scale, work)?;
                mirror(core::slice::from_raw_parts_mut(y, 2 * n), line.inverse);
                Ok(())
            }
            #[cfg(feature = "complex")]
            Kind::Whole => transform(plan, line, work),
        }
    }
}

/// The second half of a spectrum of real numbers from the first; of its inverse, which is its
/// conjugate.
#[cfg(feature = "complex")]
fn mirror<T: Float>(y: &mut [T], inverse: bool) {
    let n = y.len() / 2;
    let (first, second) = y.split_at_mut(n + 2);
    // numbers 1 to n / 2 - 1, and those opposite them
    let pairs = first[2..n].chunks_exact_mut(2);
    for (a, b) in pairs.zip(second.rchunks_exact_mut(2)) {
        (b[0], b[1]) = (a[0], if inverse { a[1] } else { -a[1] });
        if inverse {
            a[1] = -a[1];
        }
    }
}
