//! Operations that can be deferred, as data: the nodes of a graph, the entries of a queue, the edges
//! of the tree of plans and the lines of a plan file are all steps. They differ only in how they
//! refer to their operands.
//!
//! What is known of an operation without its elements stands here. To add one, add its variant of
//! [`Operation`], with an arm in each function that matches all of them, and the public function
//! that makes it.

use super::codec::{Coded, Words, coded};
use super::fold::Kind;
use super::product::Product;
use super::view::{ViewKind, ViewOp};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::convert::cast_loop;
use crate::layout::{self, Axes, Shape};
use crate::op::{Op, Rule};
use crate::ops::elementwise::{Arg, check};
use crate::ops::linalg::BindPostOp;
use crate::ops::program::{common_dtype, operand_dtype, result_dtype};
use crate::ops::reduce::Reduced;
use crate::ops::{self, ReductionAxes};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use smallvec::SmallVec;

/// An operation, and what it is applied to.
#[derive(Clone, PartialEq, Debug)]
pub struct Step<O> {
    /// The operation.
    pub operation: Operation,
    /// Its operands.
    pub operands: SmallVec<[O; 3]>,
}
impl<O: Coded> Coded for Step<O> {
    fn write(&self, to: &mut dyn FnMut(u64)) {
        self.operation.write(to);
        self.operands.write(to);
    }
    fn read(from: &mut Words) -> Option<Self> {
        let (operation, operands) = Coded::read(from)?;
        Some(Step {
            operation,
            operands,
        })
    }
}

coded! {
    /// An operation without its operands.
    #[derive(Clone, PartialEq, Debug)]
    pub enum Operation {
        /// A tensor, which is given when the others run.
        Input {
            /// Its dtype.
            dtype: DType,
        },
        /// An elementwise operation.
        Apply {
            /// Which one.
            op: Op,
            /// Whether it replaces its first operand, whose layout the result keeps if it is dense.
            in_place: bool,
        },
        /// A conversion to the nearest values of another dtype.
        Convert {
            /// That dtype.
            dtype: DType,
        },
        /// A reduction.
        Reduce {
            /// Which one.
            kind: Kind,
            /// Whether each axis of the operand is reduced.
            reduced: SmallVec<[bool; 6]>,
            /// Whether reduced axes are kept with size 1.
            keepdims: bool,
        },
        /// A matrix product, a linear layer or a convolution.
        Product {
            /// Which one, with its options.
            product: Arc<Product>,
        },
        /// A view.
        View {
            /// Which one.
            view: ViewKind,
        },
        /// A function of tensors that runs as it is.
        Call {
            /// The function.
            call: Arc<Call>,
        },
    }
}

/// A function of whole tensors that is not elementwise: it runs as it is.
///
/// Example: [`Graph::call`](super::Graph::call).
pub type Function = Arc<dyn Fn(&[Tensor]) -> Result<Tensor> + Send + Sync>;

/// A function that runs as it is, and its result.
pub struct Call {
    /// Its name.
    pub name: &'static str,
    /// The function.
    pub f: Function,
    /// The shape of the result.
    pub shape: Shape,
    /// The dtype of the result.
    pub dtype: DType,
}
impl PartialEq for Call {
    fn eq(&self, other: &Call) -> bool {
        Arc::ptr_eq(&self.f, &other.f)
    }
}
impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
/// Functions can't be stored.
impl Coded for Call {
    fn write(&self, _: &mut dyn FnMut(u64)) {}
    fn read(_: &mut Words) -> Option<Self> {
        None
    }
}

/// What is known of an operand.
#[derive(Clone, Copy, Debug)]
pub enum About<'a> {
    /// Shape and dtype of a value.
    Value(&'a [usize], DType),
    /// A number, which takes the others' dtype.
    Number(Scalar),
}
impl<'a> About<'a> {
    fn dtype(&self) -> Option<DType> {
        match self {
            About::Value(_, dtype) => Some(*dtype),
            About::Number(_) => None,
        }
    }
    fn number(&self) -> Option<Scalar> {
        match self {
            About::Value(..) => None,
            About::Number(s) => Some(*s),
        }
    }
    /// The shape; that of a number has no axes.
    pub fn shape(&self) -> &'a [usize] {
        match self {
            About::Value(shape, _) => shape,
            About::Number(_) => &[],
        }
    }
}

/// What is known of a result.
pub struct Outcome {
    /// Its shape.
    pub shape: Shape,
    /// Its dtype.
    pub dtype: DType,
    /// The dtype that an elementwise operation is computed in; for others, that of the result.
    pub computed: DType,
}
impl Outcome {
    /// Of an operation that is not elementwise.
    pub fn of(shape: Shape, dtype: DType) -> Outcome {
        let computed = dtype;
        Outcome {
            shape,
            dtype,
            computed,
        }
    }
}

impl Operation {
    /// An elementwise operation.
    pub fn apply(op: Op) -> Operation {
        let in_place = false;
        Operation::Apply { op, in_place }
    }
    /// A reduction of values of this shape. Errors if it has no such axes.
    pub fn reduce(kind: Kind, shape: &[usize], over: ReductionAxes) -> Result<Operation> {
        let keepdims = over.keepdims;
        let axes = Reduced::of_shape(kind.name(), shape, over)?;
        let reduced = (0..shape.len()).map(|k| axes.is_reduced(k)).collect();
        Ok(Operation::Reduce {
            kind,
            reduced,
            keepdims,
        })
    }
    /// A product, a layer or a convolution.
    pub fn product(product: Product) -> Operation {
        let product = Arc::new(product);
        Operation::Product { product }
    }

    /// A view.
    pub fn view(view: ViewOp) -> Operation {
        let view = ViewKind::New(Box::new(view));
        Operation::View { view }
    }

    /// The name of its function.
    pub fn name(&self) -> &'static str {
        match self {
            Operation::Input { .. } => "input",
            Operation::Apply { op, .. } => op.name(),
            Operation::Convert { .. } => "astype",
            Operation::Reduce { kind, .. } => kind.name(),
            Operation::Product { product } => product.name(),
            Operation::View { .. } => "view",
            Operation::Call { call } => call.name,
        }
    }
    /// The number of operands, if it is fixed.
    fn arity(&self) -> Option<usize> {
        Some(match self {
            Operation::Input { .. } => 0,
            Operation::Apply { op, .. } => op.arity(),
            Operation::Convert { .. } | Operation::Reduce { .. } | Operation::View { .. } => 1,
            Operation::Product { product } => product.arity(),
            Operation::Call { .. } => return None,
        })
    }
    /// Errors unless it takes this many operands.
    pub fn expect_arity(&self, n: usize) -> Result<()> {
        match self.arity() {
            Some(arity) if arity != n => {
                let message = message!("{n} operands for {arity}");
                Err(Error::value(self.name(), message))
            }
            _ => Ok(()),
        }
    }
    /// Shape and dtype of the result. Errors are those of its function.
    pub fn outcome(&self, operands: &[About]) -> Result<Outcome> {
        self.expect_arity(operands.len())?;
        let number = || Error::value(self.name(), "an operand is a number");
        let value = || match operands {
            [About::Value(shape, dtype), ..] => Ok((*shape, *dtype)),
            _ => Err(number()),
        };
        let (shape, dtype) = match self {
            Operation::Apply { op, .. } => return elementwise(*op, operands),
            Operation::Input { dtype } => (Shape::new(), *dtype),
            Operation::Convert { dtype } => {
                let (shape, from) = value()?;
                if from != *dtype {
                    cast_loop(self.name(), from, *dtype)?;
                }
                (Shape::from_slice(shape), *dtype)
            }
            Operation::Reduce {
                kind,
                reduced,
                keepdims,
            } => {
                let (shape, dtype) = value()?;
                let axes = axes(*kind, shape, reduced, *keepdims)?;
                let dtype = kind.converted(dtype)?;
                if kind.needs_elements() {
                    axes.expect_elements(shape, dtype)?;
                }
                (axes.result_shape(), kind.dtype(dtype)?)
            }
            Operation::Product { product } => {
                let given = operands.iter().map(|x| match x {
                    About::Value(shape, dtype) => Some((*shape, *dtype)),
                    About::Number(_) => None,
                });
                let given: Option<SmallVec<[_; 4]>> = given.collect();
                product.result(&given.ok_or_else(number)?)?
            }
            Operation::View { view } => {
                let (shape, dtype) = value()?;
                let ViewKind::New(view) = view else {
                    return Err(Error::value(self.name(), "a view of another graph"));
                };
                debug_assert!(shape == view.from());
                (view.shape(), dtype)
            }
            Operation::Call { call } => (call.shape.clone(), call.dtype),
        };
        Ok(Outcome::of(shape, dtype))
    }
    /// Computes it now.
    pub fn run(&self, operands: &[Arg]) -> Result<Tensor> {
        self.expect_arity(operands.len())?;
        if let Operation::Apply { op, .. } = self {
            let row = op.row();
            let x = |k: usize| operands[k].clone();
            return match operands.len() {
                1 => ops::apply(row, [x(0)]),
                2 => ops::apply(row, [x(0), x(1)]),
                _ => ops::apply(row, [x(0), x(1), x(2)]),
            };
        }
        let mut all: SmallVec<[Tensor; 4]> = SmallVec::new();
        for x in operands {
            all.push(match x {
                Arg::Ref(x) => (*x).clone(),
                Arg::Own(x) => x.clone(),
                Arg::Scalar(s) => Tensor::scalar(*s, s.default_dtype())?,
            });
        }
        match self {
            Operation::Convert { dtype } => all[0].astype(*dtype),
            Operation::Reduce {
                kind,
                reduced,
                keepdims,
            } => kind.reduce(&all[0], reduction_axes(reduced, *keepdims)),
            Operation::View {
                view: ViewKind::New(view),
            } => view.apply(&all[0]),
            _ => self.call(&all, None),
        }
    }
    /// Computes a product or calls a function. `then` may take over the blocks of a product.
    pub(super) fn call(&self, x: &[Tensor], then: Option<&dyn BindPostOp>) -> Result<Tensor> {
        match self {
            Operation::Product { product } => product.run(x, then),
            Operation::Call { call } => (call.f)(x),
            _ => Err(Error::value(self.name(), "not a function of whole tensors")),
        }
    }

    /// Whether it is computed element by element.
    pub fn is_elementwise(&self) -> bool {
        matches!(self, Operation::Apply { .. } | Operation::Convert { .. })
    }
    /// Whether it replaces its first operand.
    pub fn is_in_place(&self) -> bool {
        matches!(self, Operation::Apply { in_place: true, .. })
    }
    /// Whether other numbers may replace those among its operands when it runs again. The exponent
    /// of a power decides how it is computed.
    pub fn keeps_numbers(&self) -> bool {
        match self {
            Operation::Apply { op, .. } => op.row().square.is_none(),
            _ => false,
        }
    }
    /// Whether it must be recorded anew for operands of other shapes.
    pub fn is_by_shape(&self) -> bool {
        matches!(
            self,
            Operation::Product { .. } | Operation::View { .. } | Operation::Call { .. }
        )
    }
    /// Whether the sizes of the result follow from which sizes of the operands are equal.
    pub fn sizes_follow(&self) -> bool {
        match self {
            Operation::Apply { .. } | Operation::Convert { .. } | Operation::Reduce { .. } => true,
            Operation::Product { product } => !product.is_convolution(),
            Operation::Input { .. } | Operation::View { .. } | Operation::Call { .. } => false,
        }
    }
    /// Whether the strides of its operands decide neither the layout of the result nor its bits.
    pub fn takes_any_strides(&self) -> bool {
        matches!(self, Operation::Product { product } if !product.is_convolution())
    }
    /// Whether its result is row-major, given whether its operands are.
    pub fn is_row_major(&self, operands: bool) -> bool {
        matches!(self, Operation::Reduce { .. }) || self.takes_any_strides() || operands
    }
    /// Whether a queue can hold it until its operands' elements are needed.
    pub fn can_defer(&self, dtypes: impl Iterator<Item = DType> + Clone) -> bool {
        match self {
            Operation::Apply { op, .. } => {
                let integers = !dtypes.clone().any(|d| d.is_float() || d.is_complex());
                !(integers && check::looks_at_elements(*op)
                    || check::is_mixed_comparison(*op, dtypes))
            }
            Operation::Call { .. } => false,
            _ => true,
        }
    }
}

/// What is known of the result of an elementwise operation.
fn elementwise(op: Op, operands: &[About]) -> Result<Outcome> {
    let (row, name, rule) = (op.row(), op.name(), op.rule());
    if let (Some(exact), Some((x, number, on_left))) = (row.exact, with_number(operands))
        && let About::Value(shape, dtype) = operands[x]
        && exact(op, dtype, number, on_left).is_some()
    {
        return Ok(Outcome {
            shape: Shape::from_slice(shape),
            dtype: DType::Bool,
            computed: dtype,
        });
    }
    let values = match rule {
        Rule::Select => &operands[1..],
        _ => operands,
    };
    let dtypes = || values.iter().filter_map(About::dtype);
    let shape = || {
        let all = operands.iter().map(About::shape);
        layout::broadcast(name, &all.collect::<SmallVec<[&[usize]; 3]>>())
    };
    if check::is_mixed_comparison(op, dtypes()) {
        return Ok(Outcome::of(shape()?, DType::Bool));
    }
    let computed = common_dtype(row, dtypes(), values.iter().filter_map(About::number))?;
    (row.lookup)(computed).ok_or_else(|| Error::unsupported(name, computed))?;
    if rule == Rule::Select {
        check::condition(match operands[0] {
            About::Value(_, dtype) => Some(dtype),
            About::Number(Scalar::Bool(_)) => Some(DType::Bool),
            About::Number(_) => None,
        })?;
    }
    for (k, x) in operands.iter().enumerate() {
        if let About::Number(s) = x {
            s.value(operand_dtype(rule, k, computed), name)?;
        }
    }
    Ok(Outcome {
        shape: shape()?,
        dtype: result_dtype(rule, computed),
        computed,
    })
}
/// Of two operands, the index of the one that is a value, the other if that is a number, and
/// whether that is on the left.
fn with_number(operands: &[About]) -> Option<(usize, Scalar, bool)> {
    match operands {
        [About::Value(..), About::Number(s)] => Some((0, *s, false)),
        [About::Number(s), About::Value(..)] => Some((1, *s, true)),
        _ => None,
    }
}
/// The axes of a reduction of elements of this shape.
pub(super) fn axes(
    kind: Kind,
    shape: &[usize],
    reduced: &[bool],
    keepdims: bool,
) -> Result<Reduced> {
    if reduced.len() != shape.len() {
        let message = message!("{} axes for {}", reduced.len(), shape.len());
        return Err(Error::value(kind.name(), message));
    }
    Reduced::of_shape(kind.name(), shape, reduction_axes(reduced, keepdims))
}
fn reduction_axes(reduced: &[bool], keepdims: bool) -> ReductionAxes {
    let named = (0..reduced.len()).filter(|k| reduced[*k]);
    let axes = Axes::from(named.map(|k| k as isize).collect::<Vec<isize>>());
    ReductionAxes { axes, keepdims }
}
