//! A walk over elements: a program, and what it reads and computes.

use crate::dtype::DType;
use crate::exec::program::Program as Code;
use alloc::vec::Vec;
use smallvec::SmallVec;

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
    /// Which of them are the outputs.
    pub outputs: SmallVec<[usize; 2]>,
}
#[derive(Clone, Copy)]
pub(super) enum Source {
    Input(usize),
    Value(usize),
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
    /// The operations in it, by name.
    pub names: Vec<&'static str>,
}
