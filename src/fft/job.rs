//! The transform of many lines.

use super::cache::{PlanOwner, plan};
use super::line::{TransformKind, run};
use super::plan::{FftPlan, Purpose};
use super::run::{TransformLine, cost};
use crate::error::Result;
use crate::kernel::fft::Float;
use crate::par::Cost;

/// What is to be done with lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transform {
    pub kind: TransformKind,
    /// The length, at least 1; of the real values if either side is real.
    pub n: usize,
    pub inverse: bool,
    pub scale: f64,
}

/// The transform of lines of one length.
pub(super) struct TransformJob<T> {
    plan: PlanOwner<FftPlan<T>>,
    transform: Transform,
}

impl<T: Float> TransformJob<T> {
    /// With the plan of the lines' length.
    pub fn new(transform: Transform) -> Result<TransformJob<T>> {
        let Transform { kind, n, .. } = transform;
        let plan = match kind != TransformKind::Complex && n.is_multiple_of(2) {
            true => plan(n / 2, Purpose::Real)?,
            false => plan(n, Purpose::Complex)?,
        };
        Ok(TransformJob { plan, transform })
    }
    /// Scalars of an input line, two per complex number.
    pub fn input(&self) -> usize {
        self.transform.kind.input(self.transform.n)
    }
    /// Scalars of an output line.
    pub fn output(&self) -> usize {
        self.transform.kind.output(self.transform.n)
    }
    /// Scalars of scratch.
    pub fn work_len(&self) -> usize {
        self.transform.kind.work_len(&self.plan, self.transform.n)
    }
    /// The cost of a line.
    pub fn cost(&self) -> Cost {
        cost(self.plan.n, size_of::<T>())
    }
    /// Transforms a line: on this thread with the given scratch, else on all threads.
    ///
    /// # Safety
    /// As for [`line::run`](run), with the lengths of `input`, `output` and `work_len`.
    pub unsafe fn run(&self, x: *const T, y: *mut T, work: Option<*mut T>) -> Result<()> {
        let Transform {
            kind,
            n,
            inverse,
            scale,
        } = self.transform;
        let line = TransformLine {
            x,
            y,
            real: kind == TransformKind::Whole,
            inverse,
            scale: T::from_f64(scale),
        };
        // SAFETY: by the caller's promise, which is that of `run`.
        unsafe { run(&self.plan, kind, n, line, work) }
    }
}
