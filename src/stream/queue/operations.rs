//! The operations of a stream: queued, or computed at once if they can't wait.

use super::super::fold::Kind;
use super::super::layer::{self, Layer};
use super::super::view::ViewOp;
use super::argument::{Argument, is_stable, takes, value};
use super::relative::{Fixed, Rel, RelativeStep};
use super::{Lazy, Stream};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{Ints, Layout};
use crate::nn::{Conv, Linear};
use crate::op::Op;
use crate::ops::linalg::matmul_then;
use crate::ops::reduce::Reduced;
use crate::ops::{self, Reduction};
use crate::tensor::{Tensor, resolve_shape};
use alloc::boxed::Box;
use smallvec::SmallVec;

impl Stream {
    /// An elementwise operation, by the rules and with the errors of the function of that name in
    /// [`ops`].
    ///
    /// Example: [`Stream`].
    pub fn apply(&self, op: Op, operands: &[Argument]) -> Result<Lazy> {
        if operands.len() != op.arity() {
            let message = message!("{} operands for {}", operands.len(), op.arity());
            return Err(Error::value(op.name(), message));
        }
        if !takes(op, operands) {
            let mut given: SmallVec<[ops::Arg; 3]> = SmallVec::new();
            for x in operands {
                given.push(x.computed()?);
            }
            let row = op.row();
            return Ok(Lazy::now(match &given[..] {
                [x] => ops::apply(row, [x.clone()])?,
                [x, y] => ops::apply(row, [x.clone(), y.clone()])?,
                _ => {
                    let [x, y, z] = [0, 1, 2].map(|k| given[k].clone());
                    ops::apply(row, [x, y, z])?
                }
            }));
        }
        // the exponent of a power decides how it is computed
        let fixed = match op.row().square {
            Some(_) => operands.iter().find_map(|x| match x {
                Argument::Number(s) => Some(Box::new(Fixed(*s))),
                _ => None,
            }),
            None => None,
        };
        self.queue(operands, fixed.is_some(), |_, operands| {
            RelativeStep::Apply {
                op,
                operands,
                fixed,
            }
        })
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
        if !is_stable(&[*x]) {
            return Ok(Lazy::now(value(x)?.astype(dtype)?));
        }
        self.queue(&[*x], false, |_, given| RelativeStep::Convert {
            x: at(&given),
            dtype,
        })
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
        let numbers = [a, b].iter().any(|x| matches!(x, Argument::Number(_)));
        if numbers || !is_stable(&[*a, *b]) {
            return Ok(Lazy::now(matmul_then(&value(a)?, &value(b)?, dtype, None)?));
        }
        self.queue(&[*a, *b], false, |_, given| RelativeStep::Product {
            a: at(&given[..1]),
            b: at(&given[1..]),
            dtype,
        })
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
        self.layer_with(
            layer::LayerKind::Linear { activation, dtype },
            operands,
            others,
        )
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
        let rank = operands[1].shape().len().saturating_sub(2);
        self.layer_with(
            layer::LayerKind::Conv(rank.clamp(1, 3), options),
            operands,
            others,
        )
    }
    fn layer_with(
        &self,
        kind: layer::LayerKind,
        operands: [&Argument; 2],
        others: [Option<&Argument>; 2],
    ) -> Result<Lazy> {
        let [bias, residual] = others.map(|x| x.is_some());
        let layer = Layer {
            kind,
            bias,
            residual,
        };
        let all = operands.into_iter().chain(others.into_iter().flatten());
        self.layer(&layer, &all.copied().collect::<SmallVec<[Argument; 4]>>())
    }
    #[doc(hidden)]
    pub fn layer(&self, layer: &Layer, operands: &[Argument]) -> Result<Lazy> {
        if !is_stable(operands) {
            let all = operands.iter().map(value);
            let all = all.collect::<Result<SmallVec<[Tensor; 4]>>>()?;
            return Ok(Lazy::now(layer.run(&all, None)?));
        }
        let about = operands.iter().map(|x| Some((x.shape(), x.dtype()?)));
        let about: Option<SmallVec<[_; 4]>> = about.collect();
        let missing = || Error::value(layer.name(), "an operand is a number");
        let (shape, _) = layer.result(&about.ok_or_else(missing)?)?;
        self.queue(operands, false, |queue, given| {
            let values = given.iter().map(|x| at(core::slice::from_ref(x)));
            queue.layer(layer, values.collect(), &shape)
        })
    }
    /// A reduction, by the rules and with the errors of the function of that name in [`ops`].
    ///
    /// Example: [`Stream`].
    pub fn reduce(&self, kind: Kind, x: &Argument, over: impl Into<Reduction>) -> Result<Lazy> {
        let over = over.into();
        let (rank, keepdims) = (x.shape().len(), over.keepdims);
        if !is_stable(&[*x]) || rank > 64 {
            return Ok(Lazy::now(kind.reduce(&value(x)?, over)?));
        }
        let axes = Reduced::of_shape(kind.name(), x.shape(), over)?;
        let reduced = (0..rank).filter(|k| axes.is_reduced(*k));
        let reduced = reduced.fold(0u64, |mask, k| mask | 1 << k);
        self.queue(&[*x], false, |_, given| RelativeStep::Reduce {
            kind,
            x: at(&given),
            reduced,
            keepdims,
        })
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
        self.queue_view(x, view)
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
        self.queue_view(x, ViewOp::reshaped(x.shape(), shape))
    }
    /// Queues a view of a queued value. A reshape that may have to copy more than memory holds is
    /// not queued, so that its failure is not one of the queue.
    #[doc(hidden)]
    pub fn queue_view(&self, x: &Argument, view: ViewOp) -> Result<Lazy> {
        match x {
            Argument::Lazy(lazy)
                if lazy.waits_on(&self.0)
                    && !lazy.is_computed()
                    && view.fits_memory(lazy.dtype()) =>
            {
                self.queue(&[*x], false, |queue, given| queue.view(at(&given), view))
            }
            _ => Ok(Lazy::now(view.apply(&value(x)?)?)),
        }
    }
}

/// The value that is the only operand.
fn at(given: &[Rel]) -> u16 {
    match given {
        [Rel::Value(x)] => *x,
        _ => unreachable!("an operand that is no number is a value"),
    }
}
