//! A transform of many lines.

use super::cache::{Held, plan};
use super::line::{Kind, run};
use super::plan::{Plan, Purpose};
use super::run::{Line, cost};
use crate::error::Result;
use crate::kernel::fft::Float;
use crate::par::Cost;

/// A transform of lines of one length.
pub(super) struct Job<T> {
    plan: Held<Plan<T>>,
    kind: Kind,
    n: usize,
    inverse: bool,
    scale: T,
}

impl<T: Float> Job<T> {
    /// Of length `n`, at least 1, which is that of the real numbers where there are any.
    pub fn new(kind: Kind, n: usize, inverse: bool, scale: f64) -> Result<Job<T>> {
        let plan = match kind != Kind::Complex && n.is_multiple_of(2) {
            true => plan(n / 2, Purpose::Real)?,
            false => plan(n, Purpose::Complex)?,
        };
        Ok(Job {
            plan,
            kind,
            n,
            inverse,
            scale: T::from_f64(scale),
        })
    }
    /// Numbers of a line that goes in, a complex number being two.
    pub fn input(&self) -> usize {
        self.kind.input(self.n)
    }
    /// Numbers of a line that comes out.
    pub fn output(&self) -> usize {
        self.kind.output(self.n)
    }
    /// Numbers of working memory.
    pub fn work_len(&self) -> usize {
        self.kind.work_len(&self.plan, self.n)
    }
    /// What a line costs.
    pub fn cost(&self) -> Cost {
        cost(self.plan.n, size_of::<T>())
    }
    /// Transforms a line, in working memory on this thread or on all threads.
    ///
    /// # Safety
    /// As [`line::run`](run), for the lengths that `input`, `output` and `work_len` say.
    pub unsafe fn run(&self, x: *const T, y: *mut T, work: Option<*mut T>) -> Result<()> {
        let line = Line {
            x,
            y,
            real: self.kind == Kind::Whole,
            inverse: self.inverse,
            scale: self.scale,
        };
        // SAFETY: the caller's, as `run` asks for.
        unsafe { run(&self.plan, self.kind, self.n, line, work) }
    }
}
