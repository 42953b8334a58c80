//! The logarithm of a sum of exponentials.

use super::{Reduced, ReductionAxes};
use crate::dtype::Pod;
use crate::error::{Error, Result};
use crate::exec::fold::Fold;
use crate::kernel::reduce::{
    Exponentials, Sample, exponentials, exponentials_of_columns, join_exponentials,
};
use crate::ops::methods::method;
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
