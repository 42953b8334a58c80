//! What was asked for, before it is computed: a graph in which each value is computed once, by an
//! operation on values before it.

mod apply;
mod what;

pub use what::{Function, Operand, Parameter, Value};
pub(super) use what::{Node, Product, What, Whole};

use super::fold::Kind;
use super::view::{By, View};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Shape;
use crate::ops::Reduction;
use crate::ops::linalg::{matmul_then, product_of, widens};
use crate::ops::reduce::Reduced;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use alloc::sync::Arc;
use alloc::vec::Vec;
use smallvec::SmallVec;

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
    /// Those that may be others of their form when the program runs.
    pub(super) views: Vec<View>,
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
            [DType::F32, DType::F32] => {
                narrow[0] == narrow[1] && is_half(narrow[0]) && widens(narrow[0])
            }
            [DType::I32, DType::I32] => narrow.iter().all(|d| matches!(d, DType::I8 | DType::U8)),
            _ => false,
        };
        reads.then_some((left, right))
    }
    /// Whether there are views.
    pub(crate) fn has_views(&self) -> bool {
        !self.views.is_empty()
    }
    /// A view of a value, of the shape that it views.
    pub(crate) fn view(&mut self, x: Value, view: &View) -> Value {
        debug_assert!(self.shape(x) == view.from());
        let at = self.views.iter().position(|v| v == view);
        let at = at.unwrap_or_else(|| {
            self.views.push(view.clone());
            self.views.len() - 1
        });
        let by = By::Given(at);
        self.push(What::View { x, by }, view.shape(), self.dtype(x))
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

    pub(super) fn push(&mut self, what: What, shape: Shape, dtype: DType) -> Value {
        let same = |n: &Node| n.dtype == dtype && n.what.is(&what);
        if let Some(k) = self.nodes.iter().rposition(same) {
            return Value(k as u32);
        }
        self.nodes.push(Node { what, shape, dtype });
        Value(self.nodes.len() as u32 - 1)
    }
}

/// Whether a matrix or a batch of them lies row by row or column by column, as a copy of it would.
fn is_dense(x: &Tensor) -> bool {
    let columns = || matches!((x.shape(), x.strides()), ([n, _], [1, s]) if *s == *n as isize);
    x.is_contiguous() || columns()
}
