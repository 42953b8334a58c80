//! Transforms of slices by plans that the caller keeps: for programs without an operating system,
//! which have no cache of plans, and for builds without complex dtypes.

use super::line::{TransformKind, run};
use super::memory::Work;
use super::plan::{FftPlan, Purpose};
use super::run::TransformLine;
use crate::error::{Error, Result};
use crate::kernel::fft::Float;

/// The plan of a transform of `n` complex numbers in float32 or float64, for any length. Complex
/// numbers are interleaved: real and imaginary part side by side.
///
/// ```
/// let plan = flex::fft::ComplexPlan::<f32>::new(3)?;
/// let x = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0];
/// let mut y = [0.0; 6];
/// plan.forward(&x, &mut y)?;
/// assert_eq!(y, [3.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub struct ComplexPlan<T> {
    plan: FftPlan<T>,
}

/// The plan of a transform of `n` real numbers in float32 or float64, for any length. The spectrum
/// is `n / 2 + 1` interleaved complex numbers.
///
/// ```
/// let plan = flex::fft::RealPlan::<f32>::new(4)?;
/// let mut spectrum = [0.0; 6];
/// plan.forward(&[1.0, 2.0, 3.0, 4.0], &mut spectrum)?;
/// assert_eq!(spectrum, [10.0, 0.0, -2.0, 2.0, -2.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub struct RealPlan<T> {
    n: usize,
    plan: FftPlan<T>,
}

/// Transforms a line from slice to slice, after checking their lengths.
fn line<T: Float>(
    op: &'static str,
    (plan, kind, n): (&FftPlan<T>, TransformKind, usize),
    x: &[T],
    y: &mut [T],
    inverse: bool,
) -> Result<()> {
    let lengths = [x.len(), y.len()];
    let want = [kind.input(n), kind.output(n)];
    if lengths != want {
        let message =
            message!("the slices have {lengths:?} numbers, but the transform needs {want:?}");
        return Err(Error::shape(op, message));
    }
    let mut work = Work::new(kind.work_len(plan, n))?;
    let line = TransformLine {
        x: x.as_ptr(),
        y: y.as_mut_ptr(),
        real: false,
        inverse,
        scale: T::from_f64(if inverse { 1.0 / n as f64 } else { 1.0 }),
    };
    // SAFETY: slices and scratch of the lengths that the kind asks for.
    unsafe { run(plan, kind, n, line, Some(work.as_mut_ptr())) }
}

/// The length, checked to be at least 1.
fn length(op: &'static str, n: usize) -> Result<usize> {
    match n {
        0 => Err(Error::value(
            op,
            "the length is 0: a transform needs at least one value",
        )),
        n => Ok(n),
    }
}

impl<T: Float> ComplexPlan<T> {
    /// A plan for length `n`.
    ///
    /// Errors for a length of 0, and if there is no memory for the tables.
    pub fn new(n: usize) -> Result<Self> {
        let n = length("ComplexPlan::new", n)?;
        Ok(ComplexPlan {
            plan: FftPlan::new(n, Purpose::Complex)?,
        })
    }
    /// The forward transform: `y[k]` is the sum of `x[j] exp(-2 pi i j k / n)`. Both slices have `2
    /// n` numbers.
    ///
    /// Errors if a slice has another length, and if there is no memory for scratch.
    pub fn forward(&self, x: &[T], y: &mut [T]) -> Result<()> {
        let job = (&self.plan, TransformKind::Complex, self.plan.n);
        line("ComplexPlan::forward", job, x, y, false)
    }
    /// The inverse, divided by `n`. Arguments and errors are those of [`forward`](Self::forward).
    ///
    /// ```
    /// let plan = flex::fft::ComplexPlan::<f32>::new(2)?;
    /// let mut x = [0.0; 4];
    /// plan.inverse(&[3.0, 0.0, -1.0, 0.0], &mut x)?;
    /// assert_eq!(x, [1.0, 0.0, 2.0, 0.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn inverse(&self, x: &[T], y: &mut [T]) -> Result<()> {
        let job = (&self.plan, TransformKind::Complex, self.plan.n);
        line("ComplexPlan::inverse", job, x, y, true)
    }
}

impl<T: Float> RealPlan<T> {
    /// A plan for `n` real numbers.
    ///
    /// Errors for a length of 0, and if there is no memory for the tables.
    pub fn new(n: usize) -> Result<Self> {
        let n = length("RealPlan::new", n)?;
        Ok(RealPlan {
            n,
            plan: match n.is_multiple_of(2) {
                true => FftPlan::new(n / 2, Purpose::Real)?,
                false => FftPlan::new(n, Purpose::Complex)?,
            },
        })
    }
    /// The first half of the transform: the sums of `x[j] exp(-2 pi i j k / n)` for `k` from 0 to
    /// `n / 2`. `x` has `n` numbers, `spectrum` two for each `k`.
    ///
    /// Errors if a slice has another length, and if there is no memory for scratch.
    pub fn forward(&self, x: &[T], spectrum: &mut [T]) -> Result<()> {
        let job = (&self.plan, TransformKind::Half, self.n);
        line("RealPlan::forward", job, x, spectrum, false)
    }
    /// The inverse, divided by `n`. The imaginary part of the first number, and for even `n` of the
    /// last, is ignored. Arguments and errors are those of [`forward`](Self::forward).
    ///
    /// ```
    /// let plan = flex::fft::RealPlan::<f32>::new(2)?;
    /// let mut x = [0.0; 2];
    /// plan.inverse(&[3.0, 0.0, -1.0, 0.0], &mut x)?;
    /// assert_eq!(x, [1.0, 2.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn inverse(&self, spectrum: &[T], x: &mut [T]) -> Result<()> {
        let job = (&self.plan, TransformKind::Real, self.n);
        line("RealPlan::inverse", job, spectrum, x, true)
    }
}
