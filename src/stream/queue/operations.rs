//! The operations of a stream: queued, or computed at once if they can't wait.

use super::super::fold::Kind;
use super::super::product::{Product, ProductKind};
use super::super::step::Operation;
use super::super::view::{ViewKind, ViewOp};
use super::argument::{Argument, exact_comparison, is_stable};
use super::{Lazy, Stream};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{Ints, Layout};
use crate::nn::{Conv, Linear};
use crate::op::Op;
use crate::ops::{self, ReductionAxes};
use crate::tensor::{Tensor, resolve_shape};
use smallvec::SmallVec;

impl Stream {
    /// An elementwise operation, by the rules and with the errors of the function of that name in
    /// [`ops`].
    ///
    /// Example: [`Stream`].
    pub fn apply(&self, op: Op, operands: &[Argument]) -> Result<Lazy> {
        self.add(Operation::apply(op), operands)
    }
    /// An operation, queued or computed at once, by the rules and with the errors of its function.
    #[doc(hidden)]
    pub fn add(&self, operation: Operation, operands: &[Argument]) -> Result<Lazy> {
        operation.expect_arity(operands.len())?;
        if !self.can_defer(&operation, operands) {
            let all = operands.iter().map(Argument::computed);
            let all = all.collect::<Result<SmallVec<[ops::Arg; 4]>>>()?;
            return Ok(Lazy::now(operation.run(&all)?));
        }
        if let Operation::Apply { op, .. } = operation
            && let Some((op, operands)) = exact_comparison(op, operands)
        {
            return self.queue(Operation::apply(op), &operands);
        }
        self.queue(operation, operands)
    }
    /// Whether an operation is queued. Numbers are operands of elementwise operations alone. Of
    /// views, those of queued values are, except a reshape that may have to copy more than memory
    /// holds, whose failure would be one of the queue.
    #[doc(hidden)]
    pub fn can_defer(&self, operation: &Operation, operands: &[Argument]) -> bool {
        let dtypes = operands.iter().filter_map(Argument::dtype);
        operation.can_defer(dtypes)
            && is_stable(operands)
            && match (operation, operands) {
                (Operation::Apply { .. }, _) => true,
                (Operation::View { view }, [Argument::Lazy(x)]) => {
                    let fits = match view {
                        ViewKind::New(view) => view.fits_memory(x.dtype()),
                        _ => false,
                    };
                    x.waits_on(&self.0) && !x.is_computed() && fits
                }
                (Operation::View { .. }, _) => false,
                _ => !operands.iter().any(Argument::is_number),
            }
    }
    /// Whether an operation in place may be queued as one whose result replaces the target. Of two
    /// tensors of one shape, a target that is not row-major would keep its layout if its memory is
    /// its own.
    #[cfg(feature = "bindings")]
    #[doc(hidden)]
    pub fn takes_in_place(&self, target: &Argument, other: &Argument) -> bool {
        if target.shape().len() < 2 || target.shape() != other.shape() {
            return true;
        }
        let queue = self.0.lock(); // so that the target isn't computed meanwhile
        match (target, target.tensor()) {
            (_, Some(x)) => x.is_ok_and(Tensor::is_contiguous),
            (Argument::Lazy(x), None) => x.waits_on(&self.0) && queue.has_row_major(x.at()),
            _ => false,
        }
    }
    /// Whether a queued operation reads the memory of `x`.
    #[cfg(feature = "bindings")]
    #[doc(hidden)]
    pub fn holds(&self, x: &Tensor) -> bool {
        self.0.lock().holds(x)
    }
    /// A conversion to the nearest values of another dtype, as [`Tensor::astype`], with its
    /// errors.
    ///
    /// ```
    /// use flex::{DType, Tensor, stream::Stream};
    /// let stream = Stream::new();
    /// let x = stream.convert(&(&Tensor::from([1.9f32, -2.0])).into(), DType::I32)?;
    /// assert_eq!(x.get()?.to_vec::<i32>()?, [1, -2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn convert(&self, x: &Argument, dtype: DType) -> Result<Lazy> {
        self.add(Operation::Convert { dtype }, &[*x])
    }
    /// A matrix product, by the rules of [`ops::matmul`], or of [`ops::matmul_as`] if a dtype is
    /// given, with their errors. Elementwise operations that follow run on each block of its
    /// result.
    ///
    /// ```
    /// use flex::{Tensor, stream::{Op, Stream}};
    /// let stream = Stream::new();
    /// let (a, b) = (Tensor::from([[1.0f32, 2.0]]), Tensor::from([[3.0f32], [-4.0]]));
    /// let product = stream.matmul(&(&a).into(), &(&b).into(), None)?;
    /// let positive = stream.apply(Op::Relu, &[(&product).into()])?;
    /// assert_eq!(positive.get()?.to_vec::<f32>()?, [0.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn matmul(&self, a: &Argument, b: &Argument, dtype: Option<DType>) -> Result<Lazy> {
        let product = Product::from(ProductKind::Matmul { dtype });
        self.add(Operation::product(product), &[*a, *b])
    }
    /// A linear layer of `x` and `weight`, with an optional bias and residual, by the rules of
    /// [`nn::linear`](crate::nn::linear), with its errors. Elementwise operations that follow run
    /// on each block of its result.
    ///
    /// ```
    /// use flex::{Tensor, nn::Linear, stream::{Op, Stream}};
    /// let stream = Stream::new();
    /// let (x, weight) = (Tensor::from([[1.0f32, 2.0]]), Tensor::from([[3.0f32, -4.0]]));
    /// let y = stream.linear([&(&x).into(), &(&weight).into()], [None, None], Linear::default())?;
    /// let positive = stream.apply(Op::Relu, &[(&y).into()])?;
    /// assert_eq!(positive.get()?.to_vec::<f32>()?, [0.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn linear(
        &self,
        operands: [&Argument; 2],
        others: [Option<&Argument>; 2],
        options: Linear<'static>,
    ) -> Result<Lazy> {
        let Linear {
            activation, dtype, ..
        } = options;
        self.product(ProductKind::Linear { activation, dtype }, operands, others)
    }
    /// A convolution of `x` with `weight`, whose rank gives the number of axes, by the rules of
    /// [`nn::conv2d`](crate::nn::conv2d) and its variants. Otherwise as [`Stream::linear`].
    ///
    /// ```
    /// use flex::{Tensor, nn::Conv, stream::Stream};
    /// let stream = Stream::new();
    /// let (x, weight) = (Tensor::from([[1.0f32, 2.0, 4.0]]), Tensor::from([[[-1.0f32, 1.0]]]));
    /// let y = stream.convolve([&(&x).into(), &(&weight).into()], [None, None], Conv::default())?;
    /// assert_eq!(y.get()?.to_vec::<f32>()?, [1.0, 2.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn convolve(
        &self,
        operands: [&Argument; 2],
        others: [Option<&Argument>; 2],
        options: Conv<'static>,
    ) -> Result<Lazy> {
        let rank = operands[1].shape().len().clamp(3, 5) as u8 - 2;
        self.product(ProductKind::Conv { rank, options }, operands, others)
    }
    fn product(
        &self,
        kind: ProductKind,
        operands: [&Argument; 2],
        others: [Option<&Argument>; 2],
    ) -> Result<Lazy> {
        let [bias, residual] = others.map(|x| x.is_some());
        let product = Product {
            kind,
            bias,
            residual,
        };
        let all = operands.into_iter().chain(others.into_iter().flatten());
        let all: SmallVec<[Argument; 4]> = all.copied().collect();
        self.add(Operation::product(product), &all)
    }
    /// A reduction, by the rules and with the errors of the function of that name in [`ops`].
    ///
    /// Example: [`Stream`].
    pub fn reduce(&self, kind: Kind, x: &Argument, over: impl Into<ReductionAxes>) -> Result<Lazy> {
        self.add(Operation::reduce(kind, x.shape(), over.into())?, &[*x])
    }

    /// A view: `f` turns the row-major layout of the value's shape into the view's, by methods of
    /// [`Layout`]. No elements are moved, and a view of a queued value is queued: elementwise
    /// operations read through it, and those before it are computed only for the elements of the
    /// view.
    ///
    /// Errors are those of `f`, and if the result doesn't run along axes one by one
    /// ([`Layout::unfold`]).
    ///
    /// ```
    /// use flex::{Tensor, stream::{Op, Stream}};
    /// let stream = Stream::new();
    /// let x = Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// let double = stream.apply(Op::Multiply, &[(&x).into(), 2.0.into()])?;
    /// let column = stream.view(&(&double).into(), |x| x.index("column", 1, 0))?;
    /// let y = stream.apply(Op::Add, &[(&column).into(), 1.0.into()])?;
    /// drop((double, column));
    /// assert_eq!(y.get()?.to_vec::<f32>()?, [3.0, 7.0]);
    /// assert_eq!(stream.stats().run.kernels, 1);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn view(&self, x: &Argument, f: impl FnOnce(&Layout) -> Result<Layout>) -> Result<Lazy> {
        let whole = Layout::contiguous(x.shape())?;
        let view = f(&whole)?;
        if let (true, Some(dtype)) = (view.is_empty(), x.dtype()) {
            return Ok(Lazy::now(Tensor::empty(view.shape(), dtype)?));
        }
        let none = || Error::value("view", "not a view of elements along axes one by one");
        let view = ViewOp::of(&whole, &view).ok_or_else(none)?;
        view.layout(&whole)?;
        self.add(Operation::view(view), &[*x])
    }
    /// The elements in row-major order under another shape of as many elements, as
    /// [`Tensor::reshape`] and with its errors.
    ///
    /// ```
    /// use flex::{Tensor, stream::Stream};
    /// let stream = Stream::new();
    /// let x = stream.reshape(&(&Tensor::from([1, 2, 3, 4])).into(), (2, -1))?;
    /// assert_eq!(x.shape(), [2, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn reshape(&self, x: &Argument, shape: impl Into<Ints>) -> Result<Lazy> {
        let from = Layout::contiguous(x.shape())?;
        let shape = resolve_shape("reshape", shape.into().values(), &from)?;
        self.add(Operation::view(ViewOp::reshaped(x.shape(), shape)), &[*x])
    }
}
