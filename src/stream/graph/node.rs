//! The nodes of a graph: how each value is computed.

use super::super::codec::{Coded, Words};
use super::super::step::{Operation, Step};
use super::super::walk::OP;
use super::converted::Sources;
use super::draft::negated;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::elementwise::exact;
use crate::layout::Shape;
use crate::op::Op;
use crate::ops::program::number;
use crate::scalar::{ElementBytes, Scalar};
use alloc::sync::Arc;
use smallvec::SmallVec;

/// A value of a [`Graph`](super::Graph).
///
/// Example: [`Graph`](super::Graph).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Value(pub(in crate::stream) u32);

impl Value {
    pub(in crate::stream) fn at(self) -> usize {
        self.0 as usize
    }
}

/// A number of a [`Graph`](super::Graph) that another of the same kind may replace when the program
/// runs.
///
/// Example: [`Graph::number`](super::Graph::number).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameter {
    pub(in crate::stream) at: usize,
    /// Its value in the graph.
    pub(in crate::stream) number: Scalar,
    /// What an operation makes of it.
    pub(in crate::stream) form: NumberForm,
}

/// What an operation makes of a parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::stream) enum NumberForm {
    /// An element of the dtype.
    Element(DType),
    /// An element of the dtype with the other sign.
    Negated(DType),
    /// The first element of the dtype to which the comparison with the number applies.
    First(Op, DType),
    /// The last one.
    Last(Op, DType),
}

impl NumberForm {
    /// The operand for this number, in the dtype that the computation keeps it in. Errors if it is
    /// out of range.
    pub fn value(self, x: Scalar, kept: DType) -> Result<ElementBytes> {
        let end = |op, dtype, k: usize| exact::element(dtype, exact::interval(op, dtype, x)[k]);
        match self {
            NumberForm::Element(dtype) => number(x, dtype, kept, OP),
            NumberForm::Negated(dtype) => {
                x.value(dtype, OP)?;
                number(negated(x, dtype), dtype, kept, OP)
            }
            NumberForm::First(op, dtype) => end(op, dtype, 0).value(kept, OP),
            NumberForm::Last(op, dtype) => end(op, dtype, 1).value(kept, OP),
        }
    }
}

/// An operand of an operation: a value, or a number that takes the others' dtype.
///
/// Example: [`Graph`](super::Graph).
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Operand {
    /// A value.
    Value(Value),
    /// A number.
    Number(Scalar),
    /// A number that is given when the program runs.
    Parameter(Parameter),
}
impl From<Value> for Operand {
    fn from(x: Value) -> Operand {
        Operand::Value(x)
    }
}
impl From<Parameter> for Operand {
    fn from(x: Parameter) -> Operand {
        Operand::Parameter(x)
    }
}
impl<S: Into<Scalar>> From<S> for Operand {
    fn from(x: S) -> Operand {
        Operand::Number(x.into())
    }
}

impl Operand {
    pub(in crate::stream) fn value(&self) -> Option<Value> {
        match self {
            Operand::Value(x) => Some(*x),
            Operand::Number(_) | Operand::Parameter(_) => None,
        }
    }
    pub(in crate::stream) fn number(&self) -> Option<Scalar> {
        match self {
            Operand::Value(_) => None,
            Operand::Number(s) => Some(*s),
            Operand::Parameter(p) => Some(p.number),
        }
    }
}
impl Coded for Operand {
    fn write(&self, to: &mut dyn FnMut(u64)) {
        match self {
            Operand::Value(x) => {
                to(0);
                x.0.write(to);
            }
            Operand::Number(s) => {
                to(1);
                s.write(to);
            }
            Operand::Parameter(p) => {
                to(2);
                p.at.write(to);
            }
        }
    }
    fn read(from: &mut Words) -> Option<Self> {
        Some(match *from.next()? {
            0 => Operand::Value(Value(Coded::read(from)?)),
            1 => Operand::Number(Coded::read(from)?),
            _ => return None, // a parameter is one of its graph
        })
    }
}

/// A value: how it is computed, and its shape and dtype.
#[derive(Clone)]
pub struct Node {
    pub step: Step<Operand>,
    /// For a product that reads its operands before they were converted.
    pub sources: Option<Arc<Sources>>,
    pub shape: Shape,
    pub dtype: DType,
    /// The dtype that an elementwise operation is computed in; for others, that of the result.
    pub computed: DType,
}

impl Node {
    /// The values that it is computed from.
    pub fn values(&self) -> SmallVec<[Value; 3]> {
        let operands = self.step.operands.iter();
        operands.filter_map(Operand::value).collect()
    }
    /// The value that it is computed from, if that is the only one.
    pub fn operand(&self) -> Value {
        self.step
            .operands
            .iter()
            .find_map(Operand::value)
            .unwrap_or(Value(0))
    }
    /// Whether it is computed element by element.
    pub fn is_elementwise(&self) -> bool {
        self.step.operation.is_elementwise()
    }
    pub fn is_input(&self) -> bool {
        matches!(self.step.operation, Operation::Input { .. })
    }
    pub fn is_view(&self) -> bool {
        matches!(self.step.operation, Operation::View { .. })
    }
    pub fn is_reduction(&self) -> bool {
        matches!(self.step.operation, Operation::Reduce { .. })
    }
    pub fn is_product(&self) -> bool {
        matches!(self.step.operation, Operation::Product { .. })
    }
    /// Whether it is computed from whole tensors, by a function of its own.
    pub fn is_call(&self) -> bool {
        self.is_product() || matches!(self.step.operation, Operation::Call { .. })
    }
    /// Whether both are the same computation.
    pub fn is(&self, other: &Node) -> bool {
        let same = |pair: (&Operand, &Operand)| match pair {
            (Operand::Number(x), Operand::Number(y)) => x.is(y),
            (Operand::Parameter(x), Operand::Parameter(y)) => (x.at, x.form) == (y.at, y.form),
            (x, y) => x == y,
        };
        let (a, b) = (&self.step, &other.step);
        (self.dtype, self.computed) == (other.dtype, other.computed)
            && a.operands.len() == b.operands.len()
            && a.operands.iter().zip(&b.operands).all(same)
            && a.operation == b.operation
            && self.sources == other.sources
    }
}
