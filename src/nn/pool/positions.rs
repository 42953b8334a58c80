//! Positions in planes, as max pooling returns them.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::pool::scatter;
use crate::par::{self, Cost};
use crate::tensor::Tensor;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

/// Row-major positions as int64, and whether any was out of range.
pub(in crate::nn) struct CheckedPositions {
    op: &'static str,
    all: Tensor,
    wrong: AtomicBool,
}
impl CheckedPositions {
    /// Errors if `indices` is not an integer tensor.
    pub fn new(op: &'static str, indices: &Tensor) -> Result<CheckedPositions> {
        if !indices.dtype().is_integer() {
            let message = message!("indices are {}, not integers", indices.dtype());
            return Err(Error::dtype(op, message));
        }
        Ok(CheckedPositions {
            op,
            all: indices.contiguous()?.into_dtype(DType::I64)?,
            wrong: AtomicBool::new(false),
        })
    }
    /// Some of the positions, each read once: others may be writing to them (READ1). Panics if there
    /// are fewer.
    pub fn read(&self, range: Range<usize>) -> impl Iterator<Item = i64> + '_ {
        assert!(range.end <= self.all.len());
        let first = self.all.as_ptr() as *const i64;
        // SAFETY: one of the contiguous integers of this dtype (TENSOR1), which `self` keeps alive;
        // any bits are one, and a volatile read happens once.
        range.map(move |k| unsafe { first.add(k).read_volatile() })
    }
    /// Joins `values` to planes of zeros at these positions, in order: `taken` of them to each
    /// plane of `plane` elements.
    pub fn put<T: Copy + Default + Send + Sync>(
        &self,
        values: &[T],
        taken: usize,
        planes: &mut [T],
        plane: usize,
        join: impl Fn(T, T) -> T + Sync,
    ) -> Result<()> {
        if plane == 0 && !self.all.is_empty() {
            self.note(Err(0));
        }
        let cost = Cost {
            bytes: plane.saturating_add(taken).saturating_mul(16),
            flops: taken.saturating_mul(32),
        };
        par::split(planes, plane.max(1), 1, cost, |range, d| {
            for (k, d) in range.zip(d.chunks_exact_mut(plane)) {
                // plane by plane, so that it is in a cache
                d.fill(T::default());
                let own = k * taken..(k + 1) * taken;
                let positions = self.read(own.clone());
                self.note(scatter::put_at(&values[own], positions, d, &join));
            }
        });
        Ok(())
    }
    /// Records whether some positions were all in range.
    pub fn note(&self, followed: core::result::Result<(), usize>) {
        if followed.is_err() {
            self.wrong.store(true, Ordering::Relaxed);
        }
    }
    /// Errors if a position was out of range, and names the first, whichever thread found which.
    /// Planes have these sizes.
    pub fn result(self, sizes: &[usize]) -> Result<()> {
        if !self.wrong.into_inner() {
            return Ok(());
        }
        let plane: usize = sizes.iter().product();
        let inside = |p: &i64| usize::try_from(*p).is_ok_and(|p| p < plane);
        let all = self.all.copy_once()?;
        let mut all = all.as_slice::<i64>()?.iter().enumerate();
        let Some((at, position)) = all.find(|(_, p)| !inside(p)) else {
            let message = "indices were changed while they were read";
            return Err(Error::value(self.op, message));
        };
        let message = message!(
            "indices has {position} at row-major position {at}; a plane of {sizes:?} has {plane} elements"
        );
        Err(Error::value(self.op, message))
    }
}
