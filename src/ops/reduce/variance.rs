//! Variance and standard deviation.

use super::{Reduced, Reduction};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::fold::{Fold, fold};
use crate::exec::view::ViewMut;
use crate::fallible;
use crate::kernel::reduce::{Moments, Sample, moments as moments_of_runs, moments_of_columns};
use crate::layout::{Axes, Layout};
use crate::ops::methods::method;
use crate::tensor::Tensor;
use core::marker::PhantomData;

fn join(a: &mut [Moments], b: &[Moments]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = a.join(*b);
    }
}

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
    fn runs(&self, x: &[T], n: usize, acc: &mut [Moments]) {
        moments_of_runs(x, n, acc)
    }
    fn rows(&self, x: &[T], stride: usize, rows: usize, acc: &mut [Moments]) {
        moments_of_columns(x, stride, rows, acc)
    }
    fn join(&self, a: &mut [Moments], b: &[Moments]) {
        join(a, b)
    }
    fn finish(&self, acc: &Moments, n: usize) -> T::Out {
        let freedom = n as f64 - self.correction;
        // a NaN is kept, unlike by `f64::max`
        let var = acc.m2 / if freedom < 0.0 { 0.0 } else { freedom };
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

/// Moments as the result.
struct Raw<T>(PhantomData<fn(T)>);

impl<T: Sample> Fold for Raw<T> {
    type In = T;
    type Acc = Moments;
    type Out = Moments;
    const FLOPS: usize = 4;
    fn runs(&self, x: &[T], n: usize, acc: &mut [Moments]) {
        moments_of_runs(x, n, acc)
    }
    fn rows(&self, x: &[T], stride: usize, rows: usize, acc: &mut [Moments]) {
        moments_of_columns(x, stride, rows, acc)
    }
    fn join(&self, a: &mut [Moments], b: &[Moments]) {
        join(a, b)
    }
    fn finish(&self, acc: &Moments, _: usize) -> Moments {
        *acc
    }
}

/// Mean and population variance over axes, which are kept with size 1, in `dtype`, float32 or
/// float64. Both are NaN over no elements.
pub(crate) fn moments(
    op: &'static str,
    x: &Tensor,
    over: Axes,
    dtype: DType,
) -> Result<(Tensor, Tensor)> {
    let axes = Reduced::new(op, x, over.keepdims())?;
    let count: usize = axes.shape.iter().product();
    let mut all = fallible::filled(Moments::default(), count)?;
    let layout = Layout::contiguous(&axes.shape)?;
    // SAFETY: VIEW2: as many moments as the layout has elements, used only by this function.
    let out = unsafe { ViewMut::new(all.as_mut_ptr() as *mut u8, size_of::<Moments>(), &layout) };
    let reduced = |k: usize| axes.reduced[k];
    dispatch!(floating x.dtype(), |T| fold(&Raw::<T>(PhantomData), x.elements(), reduced, out)?,
        else return Err(Error::unsupported(op, x.dtype())));
    let of = |f: fn(&Moments) -> f64| -> Result<Tensor> {
        let mut t = Tensor::empty(&axes.shape, dtype)?;
        dispatch!(float dtype, |F| {
            for (t, m) in t.as_mut_slice::<F>()?.iter_mut().zip(&all) {
                *t = f(m) as F;
            }
        }, else return Err(Error::unsupported(op, dtype)));
        Ok(t)
    };
    Ok((
        of(|m| if m.n == 0.0 { f64::NAN } else { m.mean })?,
        of(|m| m.m2 / m.n)?,
    ))
}

method!(
    /// The variance over axes (all for `()`): the sum of squared deviations from the mean, divided
    /// by the number of elements minus `correction` (0 for a population, 1 for an estimate from a
    /// sample); NaN or infinite if that is not positive. float32 for bool and integers, which are
    /// computed in float64, else in the dtype of `x`.
    ///
    /// Errors for complex numbers, and if an axis is out of range or repeated.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([1.0f32, 2.0, 3.0, 4.0]);
    /// assert_eq!(x.var((), 0.0)?.item::<f32>()?, 1.25);
    /// assert_eq!(ops::var(&x, 0, 1.0)?.item::<f32>()?, 5.0 / 3.0);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn var(x: &Tensor, over: impl Into<Reduction>, correction: f64) -> Result<Tensor> {
        variance("var", x, over.into(), correction, false)
    }
);

method!(
    /// The standard deviation: the square root of [`var`], with its dtypes and errors.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 3], [5, 5]]);
    /// assert_eq!(x.std(1, 0.0)?.to_vec::<f32>()?, [1.0, 0.0]);
    /// assert_eq!(ops::std(&x, 1, 0.0)?.to_vec::<f32>()?, [1.0, 0.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn std(x: &Tensor, over: impl Into<Reduction>, correction: f64) -> Result<Tensor> {
        variance("std", x, over.into(), correction, true)
    }
);
