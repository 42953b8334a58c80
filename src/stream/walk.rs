//! A walk over elements: a program, and what it reads and computes.

use crate::dtype::DType;
use crate::error::Result;
use crate::exec::program::Program as Code;
use crate::ops::program::number;
use crate::scalar::Scalar;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// The operation that errors are of.
pub(super) const OP: &str = "fuse";

/// When 16-bit floats are rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// When they are stored: operations are computed in float32, one after the other.
    Once,
    /// After each operation, as where operations run one by one.
    Each,
}

/// Where values are kept.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub at: usize,
    pub dtype: DType,
}

/// Where the operands of a program's values lie, to find the layout of each as the operations one by
/// one would give it.
#[derive(Clone, Default)]
pub(super) struct Order {
    /// The operands of each value: inputs of the program, or values before it.
    pub values: Vec<SmallVec<[Source; 3]>>,
    /// Which are the outputs.
    pub outputs: SmallVec<[Source; 2]>,
}
#[derive(Clone, Copy)]
pub(super) enum Source {
    Input(usize),
    Value(usize),
}

/// A constant of a walk that is a number of the graph's, and may be another one.
#[derive(Clone, Copy)]
pub(super) struct Number {
    /// Which constant of the program, and which lane of it.
    pub constant: usize,
    pub lane: usize,
    /// Which number of the graph.
    pub at: usize,
    /// The dtype of the operand, and the one that it is computed with in.
    pub seen: DType,
    pub kept: DType,
}

impl Walk {
    /// The walk with these numbers.
    pub fn set_numbers(&mut self, numbers: &[Scalar]) -> Result<()> {
        for n in &self.numbers {
            let value = number(numbers[n.at], n.seen, n.kept, OP)?;
            self.code
                .set_constant(n.constant, n.lane, value, n.kept.size());
        }
        Ok(())
    }
}

/// A walk over elements.
#[derive(Clone)]
pub(super) struct Walk {
    pub code: Code,
    /// Slots of the tensors that are read.
    pub inputs: SmallVec<[usize; 6]>,
    /// Dtypes of the outputs.
    pub outputs: SmallVec<[DType; 2]>,
    pub order: Order,
    pub numbers: Vec<Number>,
    /// The operations in it, by name.
    pub names: Vec<&'static str>,
}
