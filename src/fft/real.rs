//! Transforms of lines of real numbers.

use super::memory::LinePointers;
use super::plan::FftPlan;
use super::run::{TransformLine, cost, here, transform};
use crate::error::Result;
use crate::kernel::fft::Float;
use crate::kernel::fft::real::{Halves, halves, pairs};
use crate::par;

/// The transform of `2 n` real numbers to `n + 1` complex ones, by a plan of length `n` for real
/// numbers.
///
/// # Safety
/// `x` and `y` are valid for these lengths, don't overlap, and nobody else writes to them; for
/// `work` as for [`transform`].
pub(super) unsafe fn forward<T: Float>(
    plan: &FftPlan<T>,
    x: *const T,
    y: *mut T,
    scale: T,
    work: Option<*mut T>,
) -> Result<()> {
    let n = plan.n;
    let line = TransformLine {
        x,
        y,
        real: false,
        inverse: false,
        scale: scale * T::from_f64(0.5),
    };
    // SAFETY: LINE3, by the caller's promise; numbers 0, `n` and the middle one belong to no pair.
    unsafe {
        transform(plan, line, work)?;
        let two = T::from_f64(2.0);
        let (re, im) = (*y, *y.add(1));
        (*y, *y.add(1)) = ((re + im) * two, T::ZERO);
        (*y.add(2 * n), *y.add(2 * n + 1)) = ((re - im) * two, T::ZERO);
        if n.is_multiple_of(2) {
            (*y.add(n), *y.add(n + 1)) = (*y.add(n) * two, -*y.add(n + 1) * two);
        }
        join(plan, y, y, false, work.is_none());
    }
    Ok(())
}

/// The inverse, from `n + 1` complex numbers to `2 n` real ones. The imaginary parts of the first
/// and the last are ignored.
///
/// # Safety
/// As for [`forward`].
pub(super) unsafe fn inverse<T: Float>(
    plan: &FftPlan<T>,
    x: *const T,
    y: *mut T,
    scale: T,
    work: Option<*mut T>,
) -> Result<()> {
    let n = plan.n;
    // SAFETY: as above.
    unsafe {
        let (first, last) = (*x, *x.add(2 * n));
        (*y, *y.add(1)) = (first + last, first - last);
        if n.is_multiple_of(2) {
            let two = T::from_f64(2.0);
            (*y.add(n), *y.add(n + 1)) = (*x.add(n) * two, -*x.add(n + 1) * two);
        }
        join(plan, x, y, true, work.is_none());
        let line = TransformLine {
            x: y,
            y,
            real: false,
            inverse: true,
            scale,
        };
        transform(plan, line, work)
    }
}

/// Combines the pairs of numbers, on all threads if `shared`.
///
/// # Safety
/// HALVES1.
unsafe fn join<T: Float>(plan: &FftPlan<T>, x: *const T, y: *mut T, inverse: bool, shared: bool) {
    let ends = &LinePointers { x, y };
    let n = pairs(plan.n);
    let run = |range| {
        // SAFETY: the caller's promise; the ranges of different blocks don't overlap.
        halves(unsafe { Halves::new(plan.n, ends.x, ends.y, &plan.turns, inverse, range) })
    };
    if shared {
        // the last block is a whole vector too, since shorter tails are computed without fused
        // multiply-adds
        let blocks = (n / 64).max(1);
        let end = |block: usize| if block == blocks { n } else { 64 * block };
        let cost = cost(1, 4 * size_of::<T>()).times(64);
        par::ranges(blocks, 1, cost, |r| run(64 * r.start..end(r.end)))
    } else {
        run(0..n)
    }
}

/// The transform of an odd number of real numbers to the first half of the spectrum, by a complex
/// plan of that length.
///
/// # Safety
/// As for [`forward`]; `work` is longer by the plan's length in complex numbers.
pub(super) unsafe fn forward_odd<T: Float>(
    plan: &FftPlan<T>,
    x: *const T,
    y: *mut T,
    scale: T,
    work: Option<*mut T>,
) -> Result<()> {
    let n = plan.n;
    let mut own = None;
    // SAFETY: LINE3; scratch of the line's length.
    unsafe {
        let all = here(&mut own, work, 2 * n)?;
        let line = TransformLine {
            x,
            y: all,
            real: true,
            inverse: false,
            scale,
        };
        transform(plan, line, work.map(|work| work.add(2 * n)))?;
        core::ptr::copy_nonoverlapping(all, y, n + 1);
        *y.add(1) = T::ZERO;
    }
    Ok(())
}

/// The inverse of [`forward_odd`].
///
/// # Safety
/// As for [`forward_odd`].
pub(super) unsafe fn inverse_odd<T: Float>(
    plan: &FftPlan<T>,
    x: *const T,
    y: *mut T,
    scale: T,
    work: Option<*mut T>,
) -> Result<()> {
    let n = plan.n;
    let mut own = None;
    // SAFETY: LINE3; scratch of the line's length.
    unsafe {
        let all = here(&mut own, work, 2 * n)?;
        (*all, *all.add(1)) = (*x, T::ZERO);
        for k in 1..=n / 2 {
            let (re, im) = (*x.add(2 * k), *x.add(2 * k + 1));
            (*all.add(2 * k), *all.add(2 * k + 1)) = (re, im);
            (*all.add(2 * (n - k)), *all.add(2 * (n - k) + 1)) = (re, -im);
        }
        let line = TransformLine {
            x: all,
            y: all,
            real: false,
            inverse: true,
            scale,
        };
        transform(plan, line, work.map(|work| work.add(2 * n)))?;
        (0..n).for_each(|k| *y.add(k) = *all.add(2 * k));
    }
    Ok(())
}
