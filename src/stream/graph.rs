//! What was asked for, before it is computed: a graph in which each value is computed once, by an
//! operation on values before it.

use super::fold::Kind;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::elementwise::Row;
use crate::layout::{self, Shape};
use crate::op::{Op, Rule};
use crate::ops::elementwise::{Arg, check};
use crate::ops::linalg::{Follow, matmul_then, product_of};
use crate::ops::program::{common_dtype, operand_dtype, result_dtype};
use crate::ops::reduce::{Reduced, Reduction};
use crate::ops::{self};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use alloc::sync::Arc;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// A value of a [`Graph`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Value(pub(super) u32);

impl Value {
    pub(super) fn at(self) -> usize {
        self.0 as usize
    }
}

/// A number of a [`Graph`] that may be another one of its kind when the program runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameter {
    pub(super) at: usize,
    /// What it is in the graph.
    pub(super) number: Scalar,
}

/// An operand of an operation: a value, or a number that takes the others' dtype.
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

/// A function of whole tensors that is no elementwise operation: it runs as it is.
pub type Function = Arc<dyn Fn(&[Tensor]) -> Result<Tensor> + Send + Sync>;

/// A product of tensors, which lets blocks of its result be taken over.
pub(crate) type Product =
    Arc<dyn Fn(&[Tensor], Option<&dyn Follow>) -> Result<Tensor> + Send + Sync>;

/// A function of whole tensors.
#[derive(Clone)]
pub(super) enum Whole {
    Function(Function),
    Product(Product),
}

impl Whole {
    /// Its result.
    pub fn run(&self, x: &[Tensor], then: Option<&dyn Follow>) -> Result<Tensor> {
        match self {
            Whole::Function(f) => f(x),
            Whole::Product(f) => f(x, then),
        }
    }
}

/// How a value is computed.
#[derive(Clone)]
pub(super) enum What {
    /// The input of that number.
    Input(usize),
    Apply {
        row: &'static Row,
        /// The dtype that it is computed in.
        dtype: DType,
        operands: SmallVec<[Operand; 3]>,
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
}

impl What {
    /// The values it is computed of.
    pub fn operands(&self) -> SmallVec<[Value; 3]> {
        match self {
            What::Input(_) => SmallVec::new(),
            What::Apply { operands, .. } => operands.iter().filter_map(Operand::value).collect(),
            What::Convert(x) | What::Reduce { x, .. } => SmallVec::from_slice(&[*x]),
            What::Call { operands, .. } => operands.clone(),
        }
    }
    /// Whether it is computed element by element.
    pub fn is_elementwise(&self) -> bool {
        matches!(self, What::Apply { .. } | What::Convert(_))
    }
    /// Whether the other one is the same computation.
    fn is(&self, other: &What) -> bool {
        match (self, other) {
            (
                What::Apply {
                    row,
                    dtype,
                    operands,
                },
                What::Apply {
                    row: r,
                    dtype: d,
                    operands: o,
                },
            ) => row.op == r.op && dtype == d && alike(operands, o),
            (What::Convert(x), What::Convert(y)) => x == y,
            (
                What::Reduce {
                    kind,
                    x,
                    reduced,
                    keepdims,
                },
                What::Reduce {
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
    fn value(&self) -> Option<Value> {
        match self {
            Operand::Value(x) => Some(*x),
            Operand::Number(_) | Operand::Parameter(_) => None,
        }
    }
    pub(super) fn number(&self) -> Option<Scalar> {
        match self {
            Operand::Value(_) => None,
            Operand::Number(s) => Some(*s),
            Operand::Parameter(p) => Some(p.number),
        }
    }
}
/// Whether a matrix or a batch of them lies row by row or column by column, as a copy of it would.
fn is_dense(x: &Tensor) -> bool {
    let columns = || matches!((x.shape(), x.strides()), ([n, _], [1, s]) if *s == *n as isize);
    x.is_contiguous() || columns()
}
/// Whether operands are the same.
fn alike(a: &[Operand], b: &[Operand]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|pair| match pair {
            (Operand::Number(x), Operand::Number(y)) => x.is(y),
            (Operand::Parameter(x), Operand::Parameter(y)) => x.at == y.at,
            (x, y) => x == y,
        })
}

/// A value: how it is computed, and what of it is known before.
#[derive(Clone)]
pub(super) struct Node {
    pub what: What,
    pub shape: Shape,
    pub dtype: DType,
}

/// Operations on tensors that are not there yet. Shapes and dtypes are known, and what is wrong with
/// them is an error when an operation is added; an operation that is there already is not added
/// again.
///
/// ```
/// use flex::{DType, Tensor, op::Op, stream::{Graph, Rounding}};
/// let mut g = Graph::new();
/// let (x, y) = (g.input(&[4], DType::F32), g.input(&[], DType::F32));
/// let sum = g.apply(Op::Add, &[x.into(), y.into()])?;
/// let z = g.apply(Op::Multiply, &[sum.into(), 2.0.into()])?;
/// let program = g.compile(&[z], Rounding::Once)?;
/// let [a, b] = [Tensor::from([1.0f32, 2.0, 3.0, 4.0]), Tensor::scalar(1.0, DType::F32)?];
/// assert_eq!(program.run(&[a, b])?[0].to_vec::<f32>()?, [4.0, 6.0, 8.0, 10.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) inputs: usize,
    pub(super) numbers: Vec<Scalar>,
}

impl Graph {
    /// No operation yet.
    pub fn new() -> Graph {
        Graph::default()
    }
    /// The next input: a tensor of this shape and dtype, which is given when the program runs.
    pub fn input(&mut self, shape: &[usize], dtype: DType) -> Value {
        self.inputs += 1;
        let what = What::Input(self.inputs - 1);
        self.push(what, Shape::from_slice(shape), dtype)
    }
    /// The next number that may be another of its kind when the program runs.
    pub fn number(&mut self, number: impl Into<Scalar>) -> Parameter {
        let (at, number) = (self.numbers.len(), number.into());
        self.numbers.push(number);
        Parameter { at, number }
    }
    /// The shape of a value.
    pub fn shape(&self, x: Value) -> &[usize] {
        &self.nodes[x.at()].shape
    }
    /// The dtype of a value.
    pub fn dtype(&self, x: Value) -> DType {
        self.nodes[x.at()].dtype
    }
    /// The dtype that an operation is computed in; of other values, their own.
    pub(super) fn computed_in(&self, x: Value) -> DType {
        match &self.nodes[x.at()].what {
            What::Apply { dtype, .. } => *dtype,
            _ => self.dtype(x),
        }
    }
    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.nodes.len() - self.inputs
    }
    /// Whether there is no operation.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An elementwise operation, by the rules of the function of that name in [`ops`](crate::ops):
    /// its shape, its dtype, its errors. One that has to look at elements first (integer division)
    /// runs as it is.
    pub fn apply(&mut self, op: Op, operands: &[Operand]) -> Result<Value> {
        self.apply_row(op.row(), operands)
    }
    /// The same for a row of the list.
    pub(crate) fn apply_row(&mut self, row: &'static Row, operands: &[Operand]) -> Result<Value> {
        let (name, rule) = (row.op.name(), row.op.rule());
        if operands.len() != row.op.arity() {
            return Err(Error::value(
                name,
                message!("{} operands for {}", operands.len(), row.op.arity()),
            ));
        }
        let values = if rule == Rule::Select {
            &operands[1..]
        } else {
            operands
        };
        let dtypes = || {
            values
                .iter()
                .filter_map(Operand::value)
                .map(|x| self.dtype(x))
        };
        let shape = {
            let of = |x: &Operand| x.value().map_or(&[][..], |x| self.shape(x));
            layout::broadcast(
                name,
                &operands.iter().map(of).collect::<SmallVec<[&[usize]; 3]>>(),
            )
        };
        if check::is_mixed_comparison(row.op, dtypes()) {
            return Ok(self.call_row(row, operands, shape?, DType::Bool));
        }
        let numbers = values.iter().filter_map(Operand::number);
        let dtype = common_dtype(row, dtypes(), numbers)?;
        if let (
            Some(square),
            [
                x @ Operand::Value(v),
                Operand::Number(Scalar::Int(2) | Scalar::Float(2.0)),
            ],
        ) = (row.square, operands)
            && self.dtype(*v) == dtype
        {
            return self.apply_row(square, &[*x]);
        }
        (row.lookup)(dtype).ok_or_else(|| Error::unsupported(name, dtype))?;
        if rule == Rule::Select {
            check::condition(match operands[0] {
                Operand::Value(x) => Some(self.dtype(x)),
                _ => match operands[0].number() {
                    Some(Scalar::Bool(_)) => Some(DType::Bool),
                    _ => None,
                },
            })?;
        }
        for (k, x) in operands.iter().enumerate() {
            if let Some(s) = x.number() {
                s.value(operand_dtype(rule, k, dtype), name)?;
            }
        }
        let (shape, result) = (shape?, result_dtype(rule, dtype));
        if check::applies(row.op, dtype) {
            return Ok(self.call_row(row, operands, shape, result));
        }
        let what = What::Apply {
            row,
            dtype,
            operands: SmallVec::from_slice(operands),
        };
        Ok(self.push(what, shape, result))
    }
    /// An operation of the list that runs as it is.
    fn call_row(
        &mut self,
        row: &'static Row,
        operands: &[Operand],
        shape: Shape,
        dtype: DType,
    ) -> Value {
        let operands: SmallVec<[Operand; 3]> = SmallVec::from_slice(operands);
        let values = operands.iter().filter_map(Operand::value).collect();
        let f = move |x: &[Tensor]| {
            let mut x = x.iter();
            let mut arg = |k: usize| match operands[k] {
                Operand::Number(s) => Ok(Arg::Scalar(s)),
                // what looks at elements is not among what takes numbers later
                Operand::Parameter(p) => Ok(Arg::Scalar(p.number)),
                Operand::Value(_) => {
                    let missing = || Error::value(row.op.name(), "an operand is missing");
                    x.next().map(Arg::Ref).ok_or_else(missing)
                }
            };
            match operands.len() {
                1 => ops::apply(row, [arg(0)?]),
                2 => ops::apply(row, [arg(0)?, arg(1)?]),
                _ => ops::apply(row, [arg(0)?, arg(1)?, arg(2)?]),
            }
        };
        let what = What::Call {
            name: row.op.name(),
            f: Whole::Function(Arc::new(f)),
            operands: values,
        };
        self.push(what, shape, dtype)
    }
    /// Another dtype's nearest values, as [`Tensor::astype`]; `x` itself where it has that dtype.
    pub fn convert(&mut self, x: Value, dtype: DType) -> Result<Value> {
        if self.dtype(x) == dtype {
            return Ok(x);
        }
        crate::kernel::convert::cast_loop("astype", self.dtype(x), dtype)?;
        let shape = self.nodes[x.at()].shape.clone();
        Ok(self.push(What::Convert(x), shape, dtype))
    }
    /// A reduction by the rules of the function of its name in [`ops`](crate::ops).
    pub fn reduce(&mut self, kind: Kind, x: Value, over: impl Into<Reduction>) -> Result<Value> {
        let over = over.into();
        let keepdims = over.keepdims;
        let axes = Reduced::of_shape(kind.name(), self.shape(x), over)?;
        if kind.needs_elements() {
            axes.expect_elements(self.shape(x), self.dtype(x))?;
        }
        let result = kind.dtype(self.dtype(x))?;
        let what = What::Reduce {
            kind,
            x,
            reduced: (0..self.shape(x).len())
                .map(|k| axes.is_reduced(k))
                .collect(),
            keepdims,
        };
        Ok(self.push(what, axes.result_shape(), result))
    }
    /// A product of matrices, by the rules of [`matmul`](crate::ops::matmul), or where a dtype is given of
    /// [`matmul_as`](crate::ops::matmul_as). Elementwise operations that follow it are computed block
    /// by block of its result.
    pub fn matmul(&mut self, a: Value, b: Value, dtype: Option<DType>) -> Result<Value> {
        let of = |x: Value| (self.shape(x), self.dtype(x));
        let (shape, result) = product_of(of(a), of(b), dtype)?;
        if let Some((a, b)) = self.converted(a, b).filter(|_| dtype.is_none()) {
            let f: Product = Arc::new(move |x, then| match x.iter().all(is_dense) {
                true => matmul_then(&x[0], &x[1], Some(result), then),
                // a converted copy lies otherwise, and products of strides may have other bits
                false => matmul_then(&x[0].astype(result)?, &x[1].astype(result)?, None, then),
            });
            return Ok(self.product("matmul", &[a, b], &shape, result, f));
        }
        let f: Product = Arc::new(move |x, then| matmul_then(&x[0], &x[1], dtype, then));
        Ok(self.product("matmul", &[a, b], &shape, result, f))
    }
    /// What both operands of a product are converted from, where it can read that and convert elements while
    /// it packs them. What is computed there is rounded by a conversion alone, so it stays.
    fn converted(&self, a: Value, b: Value) -> Option<(Value, Value)> {
        let source = |x: Value| match self.nodes[x.at()].what {
            What::Convert(y) if !self.nodes[y.at()].what.is_elementwise() => Some(y),
            _ => None,
        };
        let (left, right) = (source(a)?, source(b)?);
        let narrow = [self.dtype(left), self.dtype(right)];
        let is_half = |d: DType| d.is_float() && d.size() == 2;
        let reads = match [self.dtype(a), self.dtype(b)] {
            [DType::F32, DType::F32] => narrow[0] == narrow[1] && is_half(narrow[0]),
            [DType::I32, DType::I32] => narrow.iter().all(|d| matches!(d, DType::I8 | DType::U8)),
            _ => false,
        };
        reads.then_some((left, right))
    }
    /// A function of tensors that runs as it is: views, products, whatever is no operation on
    /// elements. It must give a result of this shape and dtype, for operands of the shapes that its
    /// operands have here.
    pub fn call(
        &mut self,
        name: &'static str,
        operands: &[Value],
        shape: &[usize],
        dtype: DType,
        f: Function,
    ) -> Value {
        self.whole(name, operands, shape, dtype, Whole::Function(f))
    }
    /// The same of a product.
    pub(crate) fn product(
        &mut self,
        name: &'static str,
        operands: &[Value],
        shape: &[usize],
        dtype: DType,
        f: Product,
    ) -> Value {
        self.whole(name, operands, shape, dtype, Whole::Product(f))
    }
    fn whole(
        &mut self,
        name: &'static str,
        operands: &[Value],
        shape: &[usize],
        dtype: DType,
        f: Whole,
    ) -> Value {
        let operands = SmallVec::from_slice(operands);
        let what = What::Call { name, f, operands };
        self.push(what, Shape::from_slice(shape), dtype)
    }

    fn push(&mut self, what: What, shape: Shape, dtype: DType) -> Value {
        let same = |n: &Node| n.dtype == dtype && n.what.is(&what);
        if let Some(k) = self.nodes.iter().rposition(same) {
            return Value(k as u32);
        }
        self.nodes.push(Node { what, shape, dtype });
        Value(self.nodes.len() as u32 - 1)
    }
}
