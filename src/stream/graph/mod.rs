//! Graphs of operations that have not run yet: each node is a value, computed by an operation on
//! earlier values, and no value is there twice.

mod apply;
mod converted;
mod draft;
mod index;
mod node;
mod normal;

pub(super) use converted::Sources;
pub(super) use draft::negated_operand;
pub(super) use node::{Node, NumberForm};
pub use node::{Operand, Parameter, Value};

use super::fold::Kind;
use super::product::{Product, ProductKind};
use super::step::{About, Call, Function, Operation, Outcome, Step};
use super::view::{ViewKind, ViewOp};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Shape;
use crate::ops::ReductionAxes;
use crate::scalar::Scalar;
use alloc::sync::Arc;
use alloc::vec::Vec;
use index::Index;
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
    pub(super) index: Index,
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
        let step = Step {
            operation: Operation::Input { dtype },
            operands: SmallVec::new(),
        };
        self.push(step, Outcome::of(Shape::from_slice(shape), dtype))
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
        let form = NumberForm::Element(number.default_dtype());
        Parameter { at, number, form }
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
        self.nodes[x.at()].computed
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

    /// What is known of an operand.
    #[doc(hidden)]
    pub fn about(&self, x: &Operand) -> About<'_> {
        match x {
            Operand::Value(x) => About::Value(self.shape(*x), self.dtype(*x)),
            Operand::Number(number) | Operand::Parameter(Parameter { number, .. }) => {
                About::Number(*number)
            }
        }
    }
    /// Adds an operation, by the rules and with the errors of its function.
    #[doc(hidden)]
    pub fn add(&mut self, mut step: Step<Operand>) -> Result<Value> {
        if let (Operation::Reduce { kind, .. }, [Operand::Value(x)]) =
            (&step.operation, &step.operands[..])
        {
            step.operands[0] = self.convert(*x, kind.converted(self.dtype(*x))?)?.into();
        }
        let outcome = {
            let about = step.operands.iter().map(|x| self.about(x));
            step.operation
                .outcome(&about.collect::<SmallVec<[About; 4]>>())?
        };
        let (mut sources, dtype) = (None, outcome.dtype);
        match (&mut step.operation, &step.operands[..]) {
            (Operation::Apply { op, .. }, _) => {
                let op = *op;
                return self.add_elementwise(op, step, outcome);
            }
            (Operation::Convert { .. }, [Operand::Value(x)]) if self.dtype(*x) == dtype => {
                return Ok(*x);
            }
            (Operation::Convert { .. }, [Operand::Value(x)]) => {
                if let Some(of) = self.converted_back(*x, dtype) {
                    return Ok(self.same(of, false));
                }
            }
            (Operation::Product { product }, [Operand::Value(a), Operand::Value(b), ..]) => {
                if let Some(converting) = product.converting(dtype)
                    && let Some((values, found)) = self.sources(*a, *b, dtype)
                {
                    *product = Arc::new(converting);
                    sources = Some(Arc::new(found));
                    for (x, value) in step.operands.iter_mut().zip(values) {
                        *x = value.into();
                    }
                }
            }
            (Operation::View { view }, _) => {
                if let ViewKind::New(new) = view {
                    *view = ViewKind::Given(self.index.view(new, &mut self.views));
                }
            }
            _ => (),
        }
        Ok(self.push_from(sources, step, outcome))
    }
    /// The same for an operation of these values.
    fn add_of(&mut self, operation: Operation, values: &[Value]) -> Result<Value> {
        let operands = values.iter().map(|x| Operand::Value(*x)).collect();
        self.add(Step {
            operation,
            operands,
        })
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
        self.add_of(Operation::Convert { dtype }, &[x])
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
    pub fn reduce(
        &mut self,
        kind: Kind,
        x: Value,
        over: impl Into<ReductionAxes>,
    ) -> Result<Value> {
        let operation = Operation::reduce(kind, self.shape(x), over.into())?;
        self.add_of(operation, &[x])
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
        let product = Product::from(ProductKind::Matmul { dtype });
        self.add_of(Operation::product(product), &[a, b])
    }
    /// Whether the graph has views.
    #[doc(hidden)]
    pub fn has_views(&self) -> bool {
        !self.views.is_empty()
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
        let shape = Shape::from_slice(shape);
        let call = Call {
            name,
            f,
            shape: shape.clone(),
            dtype,
        };
        let call = Arc::new(call);
        let step = Step {
            operation: Operation::Call { call },
            operands: operands.iter().map(|x| Operand::Value(*x)).collect(),
        };
        self.push(step, Outcome::of(shape, dtype))
    }

    fn push(&mut self, step: Step<Operand>, outcome: Outcome) -> Value {
        self.push_from(None, step, outcome)
    }
    fn push_from(
        &mut self,
        sources: Option<Arc<Sources>>,
        step: Step<Operand>,
        outcome: Outcome,
    ) -> Value {
        let Outcome {
            shape,
            dtype,
            computed,
        } = outcome;
        self.push_node(Node {
            step,
            sources,
            shape,
            dtype,
            computed,
        })
    }
    pub(super) fn push_node(&mut self, node: Node) -> Value {
        self.index.node(node, &mut self.nodes)
    }
}
