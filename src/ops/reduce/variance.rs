//! Variance and standard deviation.

use super::{Reduced, ReductionAxes};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::fold::{Fold, fold};
use crate::exec::view::ViewMut;
use crate::fallible;
use crate::kernel::reduce::{
    Moments, Sample, join_moments, moments as moments_of_runs, moments_of_columns,
};
use crate::layout::{Axes, Layout, Shape};
use crate::ops::program::conversion;
use crate::ops::{self, methods::method};
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::marker::PhantomData;

/// Of elements `T`, as the result of a reduction of elements `R`.
struct Variance<T, R> {
    correction: f64,
    root: bool,
    _elements: PhantomData<fn(T) -> R>,
}

impl<T: Sample, R: Sample> Fold for Variance<T, R> {
    type In = T;
    type Acc = Moments;
    type Out = R;
    const FLOPS: usize = 4;
    fn runs(&self, x: &[T], n: usize, acc: &mut [Moments]) {
        moments_of_runs(x, n, acc)
    }
    fn rows(&self, x: &[T], stride: usize, rows: usize, acc: &mut [Moments]) {
        moments_of_columns(x, stride, rows, acc)
    }
    fn join(&self, a: &mut [Moments], b: &[Moments]) {
        join_moments(a, b)
    }
    fn finish(&self, acc: &Moments, n: usize) -> R {
        let freedom = n as f64 - self.correction;
        R::from_f64(match (freedom > 0.0, self.root) {
            (false, _) => f64::NAN,
            (true, false) => acc.variance(freedom),
            (true, true) => acc.deviation(freedom),
        })
    }
}

fn variance(
    op: &'static str,
    x: &Tensor,
    over: ReductionAxes,
    correction: f64,
    root: bool,
) -> Result<Tensor> {
    let dtype = x.dtype();
    if dtype.is_float() {
        let axes = Reduced::new(op, x, over)?;
        return dispatch!(floating dtype, |T| axes.fold(x, dtype, &Variance::<T, T> { correction, root, _elements: PhantomData }),
            else Err(Error::unsupported(op, dtype)));
    }
    if dtype.is_complex() {
        let of = |part: Tensor| variance(op, &part, over.clone(), correction, false);
        let sum = ops::add(of(ops::real(x)?)?, of(ops::imag(x)?)?)?;
        return if root { ops::sqrt(&sum) } else { Ok(sum) };
    }
    if !(dtype.is_integer() || dtype.is_bool()) {
        return Err(Error::unsupported(op, dtype));
    }
    let wide = match DType::F64.is_available() {
        true => DType::F64,
        false => DType::F32,
    };
    let axes = Reduced::new(op, x, over)?;
    let converted = conversion(op, dtype, wide)?;
    dispatch!(float wide, |W| axes.fold_of(Some(&converted), x, DType::F32, (&Variance::<W, f32> { correction, root, _elements: PhantomData }).into()),
        else Err(Error::unsupported(op, dtype)))
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
        join_moments(a, b)
    }
    fn finish(&self, acc: &Moments, _: usize) -> Moments {
        *acc
    }
}

/// Moments over axes, which are kept with size 1.
pub(crate) struct Statistics {
    shape: Shape,
    /// In row-major order.
    pub all: Vec<Moments>,
}

impl Statistics {
    /// What follows from each, in `dtype`, float32 or float64.
    pub fn tensor(&self, dtype: DType, of: &dyn Fn(&Moments) -> f64) -> Result<Tensor> {
        let mut t = Tensor::empty(&self.shape, dtype)?;
        dispatch!(float dtype, |F| {
            for (t, m) in t.as_mut_slice::<F>()?.iter_mut().zip(&self.all) {
                *t = of(m) as F;
            }
        }, else return Err(Error::unsupported("moments", dtype)));
        Ok(t)
    }
    /// The means; NaN over no elements.
    pub fn mean(&self, dtype: DType) -> Result<Tensor> {
        self.tensor(dtype, &|m| if m.n == 0.0 { f64::NAN } else { m.mean })
    }
    /// The population variances; NaN over no elements.
    pub fn var(&self, dtype: DType) -> Result<Tensor> {
        self.tensor(dtype, &|m| m.variance(m.n))
    }
}

/// The moments over axes.
pub(crate) fn moments(op: &'static str, x: &Tensor, over: Axes) -> Result<Statistics> {
    let axes = Reduced::new(op, x, over.keepdims())?;
    let count: usize = axes.shape.iter().product();
    let mut all = fallible::filled(Moments::default(), count)?;
    let layout = Layout::contiguous(&axes.shape)?;
    // SAFETY: VIEW2: as many moments as the layout has elements, used only by this function.
    let out = unsafe { ViewMut::new(all.as_mut_ptr() as *mut u8, size_of::<Moments>(), &layout) };
    let reduced = |k: usize| axes.reduced[k];
    dispatch!(floating x.dtype(), |T| fold(&Raw::<T>(PhantomData), x.elements(), reduced, out)?,
        else return Err(Error::unsupported(op, x.dtype())));
    Ok(Statistics {
        shape: axes.shape,
        all,
    })
}

method!(
    /// The variance over axes (all for `()`): the sum of squared deviations from the mean, divided
    /// by the number of elements minus `correction` (0 for a population, 1 for an estimate from a
    /// sample); NaN if that is not positive. float32 for bool and integers, which are
    /// computed in float64 (in a build without it float32), else in the dtype of `x`, of complex
    /// numbers in that of their parts: deviations are absolute values.
    ///
    /// Errors if an axis is out of range or repeated.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([1.0f32, 2.0, 3.0, 4.0]);
    /// assert_eq!(x.var((), 0.0)?.item::<f32>()?, 1.25);
    /// assert_eq!(ops::var(&x, 0, 1.0)?.item::<f32>()?, 5.0 / 3.0);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("var_axis", "var_mean"))]
    pub fn var(x: &Tensor, over: impl Into<ReductionAxes>, correction: f64) -> Result<Tensor> {
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
    #[doc(alias("std_axis"))]
    pub fn std(x: &Tensor, over: impl Into<ReductionAxes>, correction: f64) -> Result<Tensor> {
        variance("std", x, over.into(), correction, true)
    }
);
