//! Reductions of the elements that a mask chooses, and of a number that they begin with.

use super::ReductionAxes;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout;
use crate::ops;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use alloc::borrow::Cow;

/// What a reduction takes besides elements and axes.
#[derive(Clone, Default)]
pub struct Chosen {
    /// Bool: the elements that count, all without it.
    pub mask: Option<Tensor>,
    /// The number that each result begins with.
    pub initial: Option<Scalar>,
}

impl Chosen {
    /// [`sum_as`](ops::sum_as), or [`sum`](ops::sum) without a dtype.
    pub fn sum(&self, x: &Tensor, over: ReductionAxes, dtype: Option<DType>) -> Result<Tensor> {
        let x = self.others("sum", x, Scalar::Int(0))?;
        let y = match dtype {
            Some(dtype) => ops::sum_as(&x, over, dtype)?,
            None => ops::sum(&x, over)?,
        };
        self.begun("sum", y, |y, first| ops::add(y, first))
    }
    /// [`prod_as`](ops::prod_as), or [`prod`](ops::prod) without a dtype.
    pub fn prod(&self, x: &Tensor, over: ReductionAxes, dtype: Option<DType>) -> Result<Tensor> {
        let x = self.others("prod", x, Scalar::Int(1))?;
        let y = match dtype {
            Some(dtype) => ops::prod_as(&x, over, dtype)?,
            None => ops::prod(&x, over)?,
        };
        self.begun("prod", y, |y, first| ops::multiply(y, first))
    }
    /// [`max`](ops::max), which is the first number where there are no elements.
    pub fn max(&self, x: &Tensor, over: ReductionAxes) -> Result<Tensor> {
        let y = self.extreme("max", x, over, ops::max)?;
        self.begun("max", y, |y, first| ops::maximum(y, first))
    }
    /// [`min`](ops::min), which is the first number where there are no elements.
    pub fn min(&self, x: &Tensor, over: ReductionAxes) -> Result<Tensor> {
        let y = self.extreme("min", x, over, ops::min)?;
        self.begun("min", y, |y, first| ops::minimum(y, first))
    }
    /// [`any`](ops::any).
    pub fn any(&self, x: &Tensor, over: ReductionAxes) -> Result<Tensor> {
        ops::any(&*self.others("any", x, Scalar::Bool(false))?, over)
    }
    /// [`all`](ops::all).
    pub fn all(&self, x: &Tensor, over: ReductionAxes) -> Result<Tensor> {
        ops::all(&*self.others("all", x, Scalar::Bool(true))?, over)
    }
    /// [`mean`](ops::mean), whose sum is in float64 or complex128.
    pub fn mean(&self, x: &Tensor, over: ReductionAxes) -> Result<Tensor> {
        match &self.mask {
            Some(mask) => {
                let (mean, _) = self.mean_and_count("mean", x, mask, over)?;
                mean.into_dtype(x.dtype().inexact())
            }
            None => ops::mean(x, over),
        }
    }
    /// [`var`](ops::var), whose sums are in float64.
    pub fn var(&self, x: &Tensor, over: ReductionAxes, correction: f64) -> Result<Tensor> {
        match &self.mask {
            Some(mask) => self.variance("var", x, mask, over, correction),
            None => ops::var(x, over, correction),
        }
    }
    /// [`std`](ops::std), whose sums are in float64.
    pub fn std(&self, x: &Tensor, over: ReductionAxes, correction: f64) -> Result<Tensor> {
        match &self.mask {
            Some(mask) => ops::sqrt(self.variance("std", x, mask, over, correction)?),
            None => ops::std(x, over, correction),
        }
    }

    /// The mean of the elements that count, in float64 or complex128, and how many they are, in float64.
    fn mean_and_count(
        &self,
        op: &'static str,
        x: &Tensor,
        mask: &Tensor,
        over: ReductionAxes,
    ) -> Result<(Tensor, Tensor)> {
        let wide = match x.dtype().is_complex() {
            true => DType::Complex128,
            false => DType::F64,
        };
        let kept = self.others(op, x, Scalar::Int(0))?;
        let total = ops::sum_as(&kept, over.clone(), wide).map_err(|e| e.named(op))?;
        let count = ops::count_nonzero(&mask.broadcast_to(x.shape())?, over)?;
        let count = count.astype(DType::F64)?;
        Ok((ops::divide(&total, &count)?, count))
    }
    fn variance(
        &self,
        op: &'static str,
        x: &Tensor,
        mask: &Tensor,
        over: ReductionAxes,
        correction: f64,
    ) -> Result<Tensor> {
        let shape = super::Reduced::new(op, x, over.clone())?.result_shape();
        let axes = over.axes.keepdims();
        let (mean, count) = self.mean_and_count(op, x, mask, axes.clone())?;
        let apart = ops::subtract(&x.astype(mean.dtype())?, &mean)?;
        let squares = ops::square(ops::abs(apart)?)?;
        let total = ops::sum(&*self.others(op, &squares, Scalar::Int(0))?, axes)?;
        let count = ops::subtract(&count, correction)?;
        let none = ops::less_equal(&count, 0.0)?;
        let count = ops::masked_fill(&count, &none, f64::NAN)?;
        ops::divide(&total, &count)?
            .reshape(&shape[..])?
            .into_dtype(x.dtype().inexact().real())
    }

    /// The elements, and another number in place of those that don't count.
    fn others<'a>(
        &self,
        op: &'static str,
        x: &'a Tensor,
        number: Scalar,
    ) -> Result<Cow<'a, Tensor>> {
        let Some(mask) = &self.mask else {
            return Ok(Cow::Borrowed(x));
        };
        if !mask.dtype().is_bool() {
            return Err(Error::dtype(
                op,
                message!(
                    "where is bool, not {}: compare first, as in x != 0",
                    mask.dtype()
                ),
            ));
        }
        let fits = layout::broadcast(op, &[x.shape(), mask.shape()]);
        if !fits.is_ok_and(|shape| shape.as_slice() == x.shape()) {
            return Err(Error::shape_of(
                op,
                "where does not broadcast to the shape of x",
                &[
                    ("x", x.shape(), x.dtype()),
                    ("where", mask.shape(), mask.dtype()),
                ],
            ));
        }
        let number = match x.dtype().is_bool() {
            true => Scalar::Bool(number.to_bool()),
            false => number,
        };
        ops::masked_fill(x, &ops::logical_not(mask)?, number)
            .map(Cow::Owned)
            .map_err(|e| e.named(op))
    }
    /// The largest or smallest of the elements that count, and the first number if there is one.
    fn extreme(
        &self,
        op: &'static str,
        x: &Tensor,
        over: ReductionAxes,
        reduce: fn(&Tensor, ReductionAxes) -> Result<Tensor>,
    ) -> Result<Tensor> {
        let Some(initial) = self.initial else {
            return match self.mask {
                Some(_) => Err(Error::value(
                    op,
                    "where needs initial, the result where no element counts",
                )),
                None => reduce(x, over),
            };
        };
        let axes = super::Reduced::new(op, x, over.clone())?;
        let first = initial.value(x.dtype(), op)?;
        if axes.n() == 0 {
            return Tensor::filled(&axes.result_shape(), x.dtype(), &first);
        }
        reduce(&*self.others(op, x, initial)?, over)
    }
    /// A result and the number that it begins with.
    fn begun(
        &self,
        op: &'static str,
        y: Tensor,
        both: fn(&Tensor, &Tensor) -> Result<Tensor>,
    ) -> Result<Tensor> {
        let Some(initial) = self.initial else {
            return Ok(y);
        };
        let first = Tensor::filled(&[], y.dtype(), &initial.value(y.dtype(), op)?)?;
        both(&y, &first).map_err(|e| e.named(op))
    }
}
