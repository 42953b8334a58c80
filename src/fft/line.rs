//! The transform of a line: what goes in, what comes out, and the plan between.

use super::plan::FftPlan;
use super::real;
use super::run::{TransformLine, transform, work_len};
use crate::error::Result;
use crate::kernel::fft::Float;

/// The kinds of transforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransformKind {
    /// Complex numbers to complex numbers.
    Complex,
    /// Real numbers to the first half of their spectrum.
    Half,
    /// Real numbers to their whole spectrum.
    #[cfg(feature = "complex")]
    Whole,
    /// The first half of a spectrum to real numbers.
    Real,
}

impl TransformKind {
    /// Scalars of an input line of length `n`, two per complex number.
    pub fn input(self, n: usize) -> usize {
        match self {
            TransformKind::Complex => 2 * n,
            TransformKind::Real => 2 * (n / 2 + 1),
            _ => n,
        }
    }
    /// Scalars of an output line of length `n`.
    pub fn output(self, n: usize) -> usize {
        match self {
            TransformKind::Half => 2 * (n / 2 + 1),
            TransformKind::Real => n,
            _ => 2 * n,
        }
    }
    /// Whether the input is of real numbers.
    #[cfg(feature = "complex")]
    pub fn reads_real(self) -> bool {
        matches!(self, TransformKind::Half | TransformKind::Whole)
    }
    /// Whether the output is of real numbers.
    #[cfg(feature = "complex")]
    pub fn writes_real(self) -> bool {
        self == TransformKind::Real
    }
    /// Scalars of scratch for a line of length `n`, by its plan.
    pub fn work_len<T: Float>(self, plan: &FftPlan<T>, n: usize) -> usize {
        let odd = self != TransformKind::Complex && !n.is_multiple_of(2);
        work_len(plan) + if odd { 2 * n } else { 0 }
    }
}

/// Transforms a line of `n` values by their plan; `n` counts real values if either side is real.
///
/// # Safety
/// `x` and `y` of the line are valid for the lengths that the kind gives, nobody else writes to
/// them, and they don't overlap, except that they may be the same if both are complex; `work` is
/// valid for `work_len` scalars, and exclusive.
pub(super) unsafe fn run<T: Float>(
    plan: &FftPlan<T>,
    kind: TransformKind,
    n: usize,
    line: TransformLine<T>,
    work: Option<*mut T>,
) -> Result<()> {
    let TransformLine { x, y, scale, .. } = line;
    let even = n.is_multiple_of(2);
    // SAFETY: by the caller's promise, which implies LINE3.
    unsafe {
        match kind {
            TransformKind::Complex => transform(plan, line, work),
            TransformKind::Half if even => real::forward(plan, x, y, scale, work),
            TransformKind::Half => real::forward_odd(plan, x, y, scale, work),
            TransformKind::Real if even => real::inverse(plan, x, y, scale, work),
            TransformKind::Real => real::inverse_odd(plan, x, y, scale, work),
            #[cfg(feature = "complex")]
            TransformKind::Whole if even => {
                real::forward(plan, x, y, scale, work)?;
                mirror(core::slice::from_raw_parts_mut(y, 2 * n), line.inverse);
                Ok(())
            }
            #[cfg(feature = "complex")]
            TransformKind::Whole => transform(plan, line, work),
        }
    }
}

/// Fills in the second half of a real line's spectrum from the first, or for the inverse its
/// conjugate.
#[cfg(feature = "complex")]
fn mirror<T: Float>(y: &mut [T], inverse: bool) {
    let n = y.len() / 2;
    let (first, second) = y.split_at_mut(n + 2);
    // numbers 1 to (n - 1) / 2, and their opposites
    let pairs = first[2..n].chunks_exact_mut(2);
    for (a, b) in pairs.zip(second.rchunks_exact_mut(2)) {
        (b[0], b[1]) = (a[0], if inverse { a[1] } else { -a[1] });
        if inverse {
            a[1] = -a[1];
        }
    }
}
