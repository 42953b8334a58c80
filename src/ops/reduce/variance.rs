//! Variance and standard deviation.

use super::{Reduced, Reduction};
use crate::error::{Error, Result};
use crate::exec::fold::Fold;
use crate::kernel::reduce::{Moments, Sample, moments, moments_of_columns};
use crate::tensor::Tensor;
use core::marker::PhantomData;

struct Variance<T> {
    correction: f64,
    root: bool,
    _elements: PhantomData<fn(T)>,
}

impl<T: Sample> Fold for Variance<T> {
    type In = T;
    type Acc = Moments;
    type Out = T::Out;
    const FLOPS: usize = 4;
    fn run(&self, x: &[T]) -> Moments {
        moments(x)
    }
    fn rows(&self, x: &[T], stride: usize, rows: usize, acc: &mut [Moments]) {
        moments_of_columns(x, stride, rows, acc)
    }
    fn join(&self, a: &mut [Moments], b: &[Moments]) {
        for (a, b) in a.iter_mut().zip(b) {
            *a = a.join(*b);
        }
    }
    fn finish(&self, acc: &Moments, n: usize) -> T::Out {
        let var = acc.m2 / (n as f64 - self.correction).max(0.0);
        T::out(if self.root { libm::sqrt(var) } else { var })
    }
}

fn variance(
    op: &'static str,
    x: &Tensor,
    over: Reduction,
    correction: f64,
    root: bool,
) -> Result<Tensor> {
    let axes = Reduced::new(op, x, over)?;
    dispatch!(ordered x.dtype(), |T| axes.fold(x, x.dtype().inexact(), &Variance::<T> { correction, root, _elements: PhantomData }),
        else Err(Error::unsupported(op, x.dtype())))
}

/// The variance over `axes` (all for `()`): the mean square of deviations from the mean, the sum
/// being divided by the number of elements less `correction` (0: of a population, 1: estimated from
/// a sample; NaN or infinite where that leaves nothing). float32 of bool and integers, which are
/// computed in float64, else of the dtype of `x`.
///
/// Errors for complex numbers, and where an axis is outside `x` or named twice.
///
/// ```
/// use flex::{Tensor, ops};
/// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [4])?;
/// assert_eq!(ops::var(&x, (), 0.0)?.item::<f32>()?, 1.25);
/// assert_eq!(ops::var(&x, 0, 1.0)?.item::<f32>()?, 5.0 / 3.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn var(x: &Tensor, over: impl Into<Reduction>, correction: f64) -> Result<Tensor> {
    variance("var", x, over.into(), correction, false)
}

/// The standard deviation: the square root of [`var`], of which it has the dtypes and errors.
///
/// ```
/// use flex::{Tensor, ops};
/// let x = Tensor::from_slice(&[1i32, 3], [2])?;
/// assert_eq!(ops::std(&x, (), 0.0)?.item::<f32>()?, 1.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn std(x: &Tensor, over: impl Into<Reduction>, correction: f64) -> Result<Tensor> {
    variance("std", x, over.into(), correction, true)
}
