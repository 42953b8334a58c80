//! What computing moves.

use crate::tensor::Tensor;
use core::ops::{Add, AddAssign};

/// How often memory is walked, and what is moved. Bytes are those of tensors: elements that a
/// broadcast repeats count once, and what stays in caches between two steps of a block does not count.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Walks over elements, and functions that ran as they are.
    pub kernels: usize,
    /// Bytes of results that got memory of their own.
    pub allocated: usize,
    /// Bytes of operands.
    pub read: usize,
    /// Bytes of results.
    pub written: usize,
}

impl Traffic {
    /// Bytes that are read or written.
    pub fn moved(&self) -> usize {
        self.read + self.written
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.kernels += other.kernels;
        self.allocated += other.allocated;
        self.read += other.read;
        self.written += other.written;
    }
}
impl Add for Traffic {
    type Output = Traffic;
    fn add(mut self, other: Traffic) -> Traffic {
        self += other;
        self
    }
}

/// Bytes of the elements that a tensor has, each once.
pub(super) fn bytes(x: &Tensor) -> usize {
    let own = x.shape().iter().zip(x.strides()).filter(|(_, s)| **s != 0);
    own.map(|(n, _)| n).product::<usize>() * x.dtype().size()
}
