//! Positions in planes, as pools return them.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Positions as int64, row-major, and the first of those that named nothing.
pub(super) struct Positions {
    op: &'static str,
    all: Tensor,
    /// Its place; that of none is beyond all.
    wrong: AtomicUsize,
}
impl Positions {
    /// Errors where `indices` are no integers.
    pub fn new(op: &'static str, indices: &Tensor) -> Result<Positions> {
        if !indices.dtype().is_integer() {
            let message = message!("indices are {}, not integers", indices.dtype());
            return Err(Error::dtype(op, message));
        }
        Ok(Positions {
            op,
            all: indices.astype(DType::I64)?.contiguous()?,
            wrong: AtomicUsize::new(usize::MAX),
        })
    }
    /// All of them.
    pub fn get(&self) -> Result<&[i64]> {
        self.all.as_slice()
    }
    /// Keeps a place, behind `first`, whose position names nothing.
    pub fn note(&self, first: usize, followed: core::result::Result<(), usize>) {
        if let Err(place) = followed {
            self.wrong.fetch_min(first + place, Ordering::Relaxed);
        }
    }
    /// Errors where one was noted. Planes have these sizes.
    pub fn result(self, sizes: &[usize]) -> Result<()> {
        let at = self.wrong.into_inner();
        if at == usize::MAX {
            return Ok(());
        }
        let position = self.all.as_slice::<i64>()?[at];
        let plane: usize = sizes.iter().product();
        let message = message!(
            "indices has {position} at row-major position {at}; a plane of {sizes:?} has {plane} elements"
        );
        Err(Error::value(self.op, message))
    }
}
