//! Graphs of operations that have not run yet: each node is a value, computed by an operation on
//! earlier values, and no value is there twice.

mod apply;
mod converted;
mod node;

pub(super) use node::{Expr, Node, Product, Whole};
pub use node::{Function, Operand, Parameter, Value};

use super::fold::Kind;
use super::view::{ViewKind, ViewOp};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Shape;
use crate::ops::Reduction;
use crate::ops::linalg::{matmul_then, product_of};
use crate::ops::reduce::Reduced;
use crate::scalar::Scalar;
use alloc::sync::Arc;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// Operations on tensors that don't exist yet. Shapes and dtypes are known, and errors in them are
/// found when an operation is added. An operation that is in the graph already is not added again.
///
/// ```
/// use flex::{DType, Tensor, stream::{Graph, Op, Rounding}};
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
    /// The views; others of the same form may replace them when the program runs.
    pub(super) views: Vec<ViewOp>,
}

impl Graph {
    /// An empty graph.
    ///
    /// ```
    /// use flex::{DType, stream::{Graph, Op}};
    /// let mut g = Graph::new();
    /// let (x, n) = (g.input(&[3, 1], DType::F32), g.input(&[4], DType::I32));
    /// let sum = g.apply(Op::Add, &[x.into(), n.into()])?;
    /// assert_eq!((g.shape(sum), g.dtype(sum)), (&[3, 4][..], DType::F32));
    /// assert!(g.len() == 1 && !g.is_empty());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn new() -> Graph {
        Graph::default()
    }
    /// Adds an input: a tensor of this shape and dtype, which is given when the program runs.
    ///
    /// Example: [`Graph::new`].
    pub fn input(&mut self, shape: &[usize], dtype: DType) -> Value {
        self.inputs += 1;
        let expr = Expr::Input(self.inputs - 1);
        self.push(expr, Shape::from_slice(shape), dtype)
    }
    /// Adds a parameter: another number of the same kind may replace it when the program runs.
    ///
    /// ```
    /// use flex::{DType, Tensor, stream::{Graph, Op, Rounding}};
    /// let mut g = Graph::new();
    /// let (x, factor) = (g.input(&[2], DType::F32), g.number(2.0));
    /// let y = g.apply(Op::Multiply, &[x.into(), factor.into()])?;
    /// let program = g.compile(&[y], Rounding::Once)?.with_numbers(&[0.5.into()])?;
    /// assert_eq!(program.run(&[Tensor::from([2.0f32, 4.0])])?[0].to_vec::<f32>()?, [1.0, 2.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn number(&mut self, number: impl Into<Scalar>) -> Parameter {
        let (at, number) = (self.numbers.len(), number.into());
        self.numbers.push(number);
        Parameter { at, number }
    }
    /// The shape of a value.
    ///
    /// Example: [`Graph::new`].
    pub fn shape(&self, x: Value) -> &[usize] {
        &self.nodes[x.at()].shape
    }
    /// The dtype of a value.
    ///
    /// Example: [`Graph::new`].
    pub fn dtype(&self, x: Value) -> DType {
        self.nodes[x.at()].dtype
    }
    /// The dtype that an operation is computed in; for other values, their own.
    pub(super) fn computed_in(&self, x: Value) -> DType {
        match &self.nodes[x.at()].expr {
            Expr::Apply { dtype, .. } => *dtype,
            _ => self.dtype(x),
        }
    }
    /// Number of operations.
    ///
    /// Example: [`Graph::new`].
    pub fn len(&self) -> usize {
        self.nodes.len() - self.inputs
    }
    /// Whether there are no operations.
    ///
    /// Example: [`Graph::new`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a conversion to the nearest values of another dtype, with the errors of
    /// [`astype`](crate::Tensor::astype). The result is `x` itself if it has that dtype.
    ///
    /// ```
    /// use flex::{DType, stream::Graph};
    /// let mut g = Graph::new();
    /// let x = g.input(&[2], DType::F16);
    /// let wide = g.convert(x, DType::F32)?;
    /// assert_eq!((g.dtype(wide), g.convert(wide, DType::F32)?), (DType::F32, wide));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn convert(&mut self, x: Value, dtype: DType) -> Result<Value> {
        if self.dtype(x) == dtype {
            return Ok(x);
        }
        crate::kernel::convert::cast_loop("astype", self.dtype(x), dtype)?;
        let shape = self.nodes[x.at()].shape.clone();
        Ok(self.push(Expr::Convert(x), shape, dtype))
    }
    /// Adds a reduction, by the rules and with the errors of the function of that name in
    /// [`ops`](crate::ops).
    ///
    /// ```
    /// use flex::{DType, Tensor, stream::{Graph, Kind, Rounding}};
    /// let mut g = Graph::new();
    /// let x = g.input(&[2, 2], DType::F32);
    /// let (largest, mean) = (g.reduce(Kind::Max, x, 0)?, g.reduce(Kind::Mean, x, ())?);
    /// let program = g.compile(&[largest, mean], Rounding::Once)?;
    /// let y = program.run(&[Tensor::from([[1.0f32, 4.0], [3.0, 2.0]])])?;
    /// assert_eq!((y[0].to_vec::<f32>()?, y[1].item::<f32>()?), (vec![3.0, 4.0], 2.5));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn reduce(&mut self, kind: Kind, x: Value, over: impl Into<Reduction>) -> Result<Value> {
        let over = over.into();
        let keepdims = over.keepdims;
        let axes = Reduced::of_shape(kind.name(), self.shape(x), over)?;
        if kind.needs_elements() {
            axes.expect_elements(self.shape(x), self.dtype(x))?;
        }
        let x = self.convert(x, kind.converted(self.dtype(x))?)?;
        let result = kind.dtype(self.dtype(x))?;
        let expr = Expr::Reduce {
            kind,
            x,
            reduced: (0..self.shape(x).len())
                .map(|k| axes.is_reduced(k))
                .collect(),
            keepdims,
        };
        Ok(self.push(expr, axes.result_shape(), result))
    }
    /// Adds a matrix product, by the rules of [`matmul`](crate::ops::matmul), or of
    /// [`matmul_as`](crate::ops::matmul_as) if a dtype is given. Elementwise operations that follow
    /// it run on each block of its result. Errors if those would.
    ///
    /// ```
    /// use flex::{DType, Tensor, stream::{Graph, Op, Rounding}};
    /// let mut g = Graph::new();
    /// let (a, b) = (g.input(&[1, 2], DType::F32), g.input(&[2, 1], DType::F32));
    /// let product = g.matmul(a, b, None)?;
    /// let y = g.apply(Op::Relu, &[product.into()])?;
    /// let [a, b] = [Tensor::from([[1.0f32, 2.0]]), Tensor::from([[3.0f32], [-4.0]])];
    /// assert_eq!(g.compile(&[y], Rounding::Once)?.run(&[a, b])?[0].to_vec::<f32>()?, [0.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn matmul(&mut self, a: Value, b: Value, dtype: Option<DType>) -> Result<Value> {
        let of = |x: Value| (self.shape(x), self.dtype(x));
        let (shape, result) = product_of(of(a), of(b), dtype)?;
        if let Some(sources) = self.sources(a, b, result).filter(|_| dtype.is_none()) {
            let operands = sources.values;
            let f: Product = Arc::new(move |x, then| {
                let [a, b] = sources.operands(x)?;
                matmul_then(&a, &b, Some(result), then)
            });
            return Ok(self.product("matmul", &operands, &shape, result, f));
        }
        let f: Product = Arc::new(move |x, then| matmul_then(&x[0], &x[1], dtype, then));
        Ok(self.product("matmul", &[a, b], &shape, result, f))
    }
    /// Whether the graph has views.
    #[doc(hidden)]
    pub fn has_views(&self) -> bool {
        !self.views.is_empty()
    }
    /// Adds a view of a value, whose shape is the one that `view` takes.
    #[doc(hidden)]
    pub fn view(&mut self, x: Value, view: &ViewOp) -> Value {
        debug_assert!(self.shape(x) == view.from());
        let at = self.views.iter().position(|v| v == view);
        let at = at.unwrap_or_else(|| {
            self.views.push(view.clone());
            self.views.len() - 1
        });
        let kind = ViewKind::Given(at);
        self.push(Expr::View { x, kind }, view.shape(), self.dtype(x))
    }
    /// Adds a function of tensors that runs as it is: anything that is not elementwise. Its result
    /// must have this shape and dtype whenever operands have the shapes that they have here.
    ///
    /// ```
    /// use flex::{DType, Tensor, ops, stream::{Graph, Rounding}};
    /// use std::sync::Arc;
    /// let mut g = Graph::new();
    /// let x = g.input(&[3], DType::F32);
    /// let sorted = g.call("sort", &[x], &[3], DType::F32, Arc::new(|x| ops::sort(&x[0], 0)));
    /// let program = g.compile(&[sorted], Rounding::Once)?;
    /// assert_eq!(program.run(&[Tensor::from([3.0f32, 1.0, 2.0])])?[0].to_vec::<f32>()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
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
    /// The same for a product, which hands over blocks of its result.
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
        let expr = Expr::Call { name, f, operands };
        self.push(expr, Shape::from_slice(shape), dtype)
    }

    pub(super) fn push(&mut self, expr: Expr, shape: Shape, dtype: DType) -> Value {
        let same = |n: &Node| n.dtype == dtype && n.expr.is(&expr);
        if let Some(k) = self.nodes.iter().rposition(same) {
            return Value(k as u32);
        }
        self.nodes.push(Node { expr, shape, dtype });
        Value(self.nodes.len() as u32 - 1)
    }
}
