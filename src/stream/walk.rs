//! A walk over elements: a program, and what it reads and computes.

use super::graph::NumberForm;
use crate::dtype::DType;
use crate::error::Result;
use crate::exec::program::TileProgram;
use crate::layout::Layout;
use crate::scalar::Scalar;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// The operation named in errors.
pub(super) const OP: &str = "fuse";

/// When 16-bit floats are rounded.
///
/// ```
/// use flex::{DType, Tensor, stream::{Graph, Op, Rounding}};
/// let mut g = Graph::new();
/// let x = g.input(&[1], DType::F16);
/// let sum = g.apply(Op::Add, &[x.into(), 1.0.into()])?;
/// let y = g.apply(Op::Subtract, &[sum.into(), 1.0.into()])?;
/// let small = Tensor::from([1e-4f32]).astype(DType::F16)?; // lost beside 1 in float16
/// let with = |r| g.compile(&[y], r)?.run(std::slice::from_ref(&small))?[0].astype(DType::F32);
/// assert_eq!(with(Rounding::Each)?.item::<f32>()?, 0.0);
/// assert!((with(Rounding::Once)?.item::<f32>()? - 1e-4).abs() < 1e-6);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// When they are stored as a result, or for a function that runs as it is; operations are
    /// computed in float32 until then.
    Once,
    /// After each operation, as if operations ran one by one.
    Each,
}

/// Where a value is stored, and in which dtype.
#[derive(Clone, Copy)]
pub(super) struct StoredValue {
    pub at: usize,
    pub dtype: DType,
}

/// How the values of a program depend on its inputs, to find the layout that each has when
/// operations run one by one.
#[derive(Clone, Default)]
pub(super) struct Dependencies {
    /// The operands of each value, inputs of the program or earlier values, and whether it replaces
    /// the first of them.
    pub values: Vec<(SmallVec<[ValueSource; 3]>, bool)>,
    /// The sources of the outputs.
    pub outputs: SmallVec<[ValueSource; 2]>,
}
#[derive(Clone, Copy)]
pub(super) enum ValueSource {
    Input(usize),
    Value(usize),
}

/// The layout of an elementwise value of this shape, from those of its operands: that of a result,
/// or that of the first operand if it is replaced, unless there are gaps.
pub(super) fn layout_of(shape: &[usize], operands: &[&Layout], in_place: bool) -> Result<Layout> {
    let own = operands.iter().take(1).filter(|x| in_place && x.is_dense());
    match own.clone().count() {
        0 => Layout::of_result(shape, operands.iter().copied()),
        _ => Layout::of_result(shape, own.copied()),
    }
}

/// A constant of a walk that stands for a parameter of the graph.
#[derive(Clone, Copy)]
pub(super) struct WalkNumber {
    /// The constant of the program, and the lane in it.
    pub constant: usize,
    pub lane: usize,
    /// The index of the parameter.
    pub at: usize,
    /// What it becomes, and the dtype that the constant is kept in for the computation.
    pub form: NumberForm,
    pub kept: DType,
}

impl Walk {
    /// Replaces the parameters' values.
    pub fn set_numbers(&mut self, numbers: &[Scalar]) -> Result<()> {
        for n in &self.numbers {
            let value = n.form.value(numbers[n.at], n.kept)?;
            self.code
                .set_constant(n.constant, n.lane, value, n.kept.size());
        }
        Ok(())
    }
}

/// A walk over elements.
#[derive(Clone)]
pub(super) struct Walk {
    pub code: TileProgram,
    /// Slots of the tensors that are read.
    pub inputs: SmallVec<[usize; 6]>,
    /// Dtypes of the outputs.
    pub outputs: SmallVec<[DType; 2]>,
    pub order: Dependencies,
    pub numbers: Vec<WalkNumber>,
    /// The names of its operations.
    pub names: Vec<&'static str>,
}
