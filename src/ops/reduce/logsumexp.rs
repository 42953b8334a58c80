//! The logarithm of a sum of exponentials.

#[cfg(feature = "bindings")]
use super::Chosen;
use super::{Reduced, ReductionAxes};
#[cfg(feature = "bindings")]
use crate::dtype::DType;
use crate::dtype::Pod;
use crate::error::{Error, Result};
use crate::exec::fold::Fold;
use crate::kernel::reduce::{
    Exponentials, Sample, exponentials, exponentials_of_columns, join_exponentials,
};
#[cfg(feature = "bindings")]
use crate::ops;
use crate::ops::methods::method;
#[cfg(feature = "bindings")]
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use core::marker::PhantomData;

struct LogSumExp<T>(PhantomData<fn(T)>);

impl<T: Sample + Pod> Fold for LogSumExp<T> {
    type In = T;
    type Acc = Exponentials;
    type Out = T;
    const FLOPS: usize = 20;
    fn runs(&self, x: &[T], n: usize, acc: &mut [Exponentials]) {
        exponentials(x, n, acc)
    }
    fn rows(&self, x: &[T], stride: usize, rows: usize, acc: &mut [Exponentials]) {
        exponentials_of_columns(x, stride, rows, acc)
    }
    fn join(&self, a: &mut [Exponentials], b: &[Exponentials]) {
        join_exponentials(a, b)
    }
    fn finish(&self, acc: &Exponentials, _: usize) -> T {
        <T as Sample>::from_f64(acc.log())
    }
}

method!(
    /// The logarithm of the sum of `exp(x)` over axes (all for `()`), without intermediate
    /// overflow: float32 for bool and integers, else in the dtype of `x`. Over no elements it is
    /// minus infinity.
    ///
    /// Reduced axes are dropped, or kept with size 1: see [`ReductionAxes`]. Errors for complex
    /// numbers, and if an axis is out of range or repeated.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([1000.0f32, 1000.0]);
    /// assert_eq!(x.logsumexp(0)?.item::<f32>()?, 1000.0 + 2f32.ln());
    /// assert_eq!(ops::logsumexp(&x, ())?.item::<f32>()?, 1000.0 + 2f32.ln());
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("log_sum_exp"))]
    pub fn logsumexp(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        logsumexp_of(x, over.into())
    }
);

fn logsumexp_of(x: &Tensor, over: ReductionAxes) -> Result<Tensor> {
    const OP: &str = "logsumexp";
    let axes = Reduced::new(OP, x, over)?;
    let dtype = x.dtype().inexact();
    if dtype.is_complex() || !x.dtype().is_available() {
        return Err(Error::unsupported(OP, x.dtype()));
    }
    let x = x.astype(dtype)?;
    dispatch!(floating dtype, |T| axes.fold(&x, dtype, &LogSumExp::<T>(PhantomData)), else Err(Error::unsupported(OP, dtype)))
}

/// The logarithm of the sum of `b * exp(x)` over axes, NaN if that is negative: see
/// [`logsumexp_signed`].
#[cfg(feature = "bindings")]
pub fn logsumexp_weighted(x: &Tensor, b: &Tensor, over: ReductionAxes) -> Result<Tensor> {
    let (y, sign) = logsumexp_signed(x, b, over)?;
    ops::where_(&ops::less(&sign, 0.0)?, f64::NAN, &y)
}

/// The logarithm of the magnitude of the sum of `b * exp(x)` over axes, and the sign of the sum: in
/// the common dtype, float32 for bool and integers. Where `b` is 0, `x` is of no account.
#[cfg(feature = "bindings")]
pub fn logsumexp_signed(x: &Tensor, b: &Tensor, over: ReductionAxes) -> Result<(Tensor, Tensor)> {
    const OP: &str = "logsumexp";
    let dtype = x.dtype().promote(b.dtype(), OP)?.inexact();
    if dtype.is_complex() {
        return Err(Error::unsupported(OP, dtype));
    }
    let named = |e: Error| e.named(OP);
    let (x, b) = (x.astype(DType::F64)?, b.astype(DType::F64)?);
    let x = ops::where_(&ops::equal(&b, 0.0)?, f64::NEG_INFINITY, &x).map_err(named)?;
    let kept = over.axes.clone().keepdims();
    let highest = Chosen {
        initial: Some(Scalar::Float(f64::NEG_INFINITY)),
        ..Chosen::default()
    };
    // not finite, it would make NaN of infinite differences
    let highest = highest.max(&x, kept).map_err(named)?;
    let highest = ops::where_(&ops::isfinite(&highest)?, &highest, 0.0)?;
    let terms = ops::multiply(&b, &ops::exp(&ops::subtract(&x, &highest)?)?)?;
    let total = ops::sum(&terms, over)?;
    let highest = highest.reshape(total.shape())?;
    let logarithm = ops::add(&ops::log(&ops::abs(&total)?)?, &highest)?;
    Ok((
        logarithm.into_dtype(dtype)?,
        ops::sign(&total)?.into_dtype(dtype)?,
    ))
}
