//! Memory traffic of computations.

use crate::tensor::Tensor;
use core::ops::{Add, AddAssign};

/// Passes over memory, and the bytes they move. Bytes are those of tensors: elements that are
/// repeated by broadcasting count once, and what stays in a cache between two steps of a block
/// doesn't count.
///
/// Example: [`Program`](super::Program).
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Passes over elements, and functions that ran as they are.
    pub kernels: usize,
    /// Bytes of results with memory of their own.
    pub allocated: usize,
    /// Bytes of operands.
    pub read: usize,
    /// Bytes of results.
    pub written: usize,
}

impl Traffic {
    /// Bytes that are read or written.
    ///
    /// Example: [`Program`](super::Program).
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

/// Bytes of a tensor's elements, each counted once.
pub(super) fn bytes(x: &Tensor) -> usize {
    if x.is_contiguous() {
        return x.len() * x.dtype().size();
    }
    let own = x.shape().iter().zip(x.strides()).filter(|(_, s)| **s != 0);
    own.map(|(n, _)| n).product::<usize>() * x.dtype().size()
}
