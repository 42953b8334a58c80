//! The nodes of a graph: how each value is computed.

use super::super::fold::Kind;
use super::super::view::ViewKind;
use crate::dtype::DType;
use crate::error::Result;
use crate::kernel::elementwise::Row;
use crate::layout::Shape;
use crate::ops::linalg::Follow;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
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

/// A function of whole tensors that is not elementwise: it runs as it is.
///
/// Example: [`Graph::call`](super::Graph::call).
pub type Function = Arc<dyn Fn(&[Tensor]) -> Result<Tensor> + Send + Sync>;

/// A product of tensors, which hands over blocks of its result.
pub type Product = Arc<dyn Fn(&[Tensor], Option<&dyn Follow>) -> Result<Tensor> + Send + Sync>;

/// A function of whole tensors.
#[derive(Clone)]
pub enum Whole {
    Function(Function),
    Product(Product),
}

impl Whole {
    /// Computes the result. `then` may take over the blocks of a product.
    pub fn run(&self, x: &[Tensor], then: Option<&dyn Follow>) -> Result<Tensor> {
        match self {
            Whole::Function(f) => f(x),
            Whole::Product(f) => f(x, then),
        }
    }
}

/// How a value is computed.
#[derive(Clone)]
pub enum Expr {
    /// An input, by its number.
    Input(usize),
    Apply {
        row: &'static Row,
        /// The dtype that it is computed in.
        dtype: DType,
        operands: SmallVec<[Operand; 3]>,
        /// Whether it replaces its first operand, whose layout the result keeps if it is dense.
        in_place: bool,
    },
    Convert(Value),
    Reduce {
        kind: Kind,
        x: Value,
        reduced: SmallVec<[bool; 6]>,
        keepdims: bool,
    },
    Call {
        name: &'static str,
        f: Whole,
        operands: SmallVec<[Value; 3]>,
    },
    View {
        x: Value,
        kind: ViewKind,
    },
}

impl Expr {
    /// The values that it is computed from.
    pub fn operands(&self) -> SmallVec<[Value; 3]> {
        match self {
            Expr::Input(_) => SmallVec::new(),
            Expr::Apply { operands, .. } => operands.iter().filter_map(Operand::value).collect(),
            Expr::Convert(x) | Expr::Reduce { x, .. } | Expr::View { x, .. } => {
                SmallVec::from_slice(&[*x])
            }
            Expr::Call { operands, .. } => operands.clone(),
        }
    }
    /// Whether it is computed element by element.
    pub fn is_elementwise(&self) -> bool {
        matches!(self, Expr::Apply { .. } | Expr::Convert(_))
    }
    /// Whether it replaces its first operand.
    pub fn is_in_place(&self) -> bool {
        matches!(self, Expr::Apply { in_place: true, .. })
    }
    /// Whether both are the same computation.
    pub fn is(&self, other: &Expr) -> bool {
        match (self, other) {
            (
                Expr::Apply {
                    row,
                    dtype,
                    operands,
                    in_place,
                },
                Expr::Apply {
                    row: r,
                    dtype: d,
                    operands: o,
                    in_place: i,
                },
            ) => (row.op, dtype, in_place) == (r.op, d, i) && alike(operands, o),
            (Expr::Convert(x), Expr::Convert(y)) => x == y,
            (Expr::View { x, kind }, Expr::View { x: y, kind: other }) => x == y && kind == other,
            (
                Expr::Reduce {
                    kind,
                    x,
                    reduced,
                    keepdims,
                },
                Expr::Reduce {
                    kind: k,
                    x: y,
                    reduced: r,
                    keepdims: d,
                },
            ) => (kind, x, reduced, keepdims) == (k, y, r, d),
            _ => false,
        }
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
/// Whether both are the same operands.
fn alike(a: &[Operand], b: &[Operand]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|pair| match pair {
            (Operand::Number(x), Operand::Number(y)) => x.is(y),
            (Operand::Parameter(x), Operand::Parameter(y)) => x.at == y.at,
            (x, y) => x == y,
        })
}

/// A value: how it is computed, and its shape and dtype.
#[derive(Clone)]
pub struct Node {
    pub expr: Expr,
    pub shape: Shape,
    pub dtype: DType,
}
