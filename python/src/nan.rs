//! Reductions that skip NaN, and NaN replaced by numbers.

use super::cell::PyTensor;
use super::convert::{Ints, OperandRef};
use super::dtype::DTypeArg;
use super::reduce::{computed_in, correction_or, over};
use flex::ops::{self, NanToNum};
use pyo3::prelude::*;

/// The sum of elements that are not NaN; of none it is 0.
///
/// dtype: the dtype of the sum. Other arguments, dtypes and errors are those of `sum`.
///
/// >>> flex.nansum(flex.asarray([1.0, flex.nan, 3.0])).item()
/// 4.0
#[function(x, /, axis = None, *, dtype = None, keepdims = false)]
fn nansum(
    py: Python<'_>,
    x: OperandRef,
    axis: Option<Ints>,
    dtype: Option<DTypeArg>,
    keepdims: bool,
) -> PyResult<PyTensor> {
    x.compute(py, move |x| match dtype {
        Some(d) => ops::nansum(&x.astype(d.0)?, over(&axis, keepdims))?.astype(d.0),
        None => ops::nansum(x, over(&axis, keepdims)),
    })
}

/// The mean of elements that are not NaN; of none it is NaN.
///
/// dtype: a float or complex dtype to compute in. Other arguments, dtypes and errors are those of
/// `mean`.
///
/// >>> flex.nanmean(flex.asarray([1.0, flex.nan, 3.0])).item()
/// 2.0
#[function(x, /, axis = None, *, dtype = None, keepdims = false)]
fn nanmean(
    py: Python<'_>,
    x: OperandRef,
    axis: Option<Ints>,
    dtype: Option<DTypeArg>,
    keepdims: bool,
) -> PyResult<PyTensor> {
    x.compute(py, move |x| {
        ops::nanmean(&*computed_in("nanmean", x, dtype)?, over(&axis, keepdims))
    })
}

macro_rules! extremes {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, /, axis = None, *, keepdims = false)]
        fn $name(
            py: Python<'_>,
            x: OperandRef,
            axis: Option<Ints>,
            keepdims: bool,
        ) -> PyResult<PyTensor> {
            x.compute(py, move |x| ops::$name(x, over(&axis, keepdims)))
        }
    )* };
}
extremes! {
    /// The largest element that is not NaN; NaN if all are. Arguments and errors are those of `max`.
    ///
    /// >>> flex.nanmax(flex.asarray([1.0, flex.nan, 3.0])).item()
    /// 3.0
    nanmax;
    /// The smallest element that is not NaN; NaN if all are. Arguments and errors are those of
    /// `min`.
    ///
    /// >>> flex.nanmin(flex.asarray([1.0, flex.nan, 3.0])).item()
    /// 1.0
    nanmin;
}

macro_rules! spreads {
    ($($(#[doc = $doc:literal])* $name:ident $op:literal;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, /, axis = None, *, dtype = None, correction = 0.0, keepdims = false, ddof = None)]
        fn $name(
            py: Python<'_>,
            x: OperandRef,
            axis: Option<Ints>,
            dtype: Option<DTypeArg>,
            correction: f64,
            keepdims: bool,
            ddof: Option<f64>,
        ) -> PyResult<PyTensor> {
            let correction = correction_or($op, correction, ddof)?;
            x.compute(py, move |x| {
                ops::$name(&*computed_in($op, x, dtype)?, over(&axis, keepdims), correction)
            })
        }
    )* };
}
spreads! {
    /// The variance of the elements that are not NaN; NaN if there are no more than `correction`.
    /// Arguments, dtypes and errors are those of `var`; DTypeError for complex numbers.
    ///
    /// >>> flex.nanvar(flex.asarray([1.0, flex.nan, 3.0])).item()
    /// 1.0
    nanvar "nanvar";
    /// The standard deviation of the elements that are not NaN: the square root of `nanvar`, with
    /// the same arguments and errors.
    ///
    /// >>> flex.nanstd(flex.asarray([1.0, flex.nan, 3.0])).item()
    /// 1.0
    nanstd "nanstd";
}

/// x with finite numbers in place of NaN and infinities; of complex numbers, in both parts.
///
/// nan: in place of NaN. posinf, neginf: in place of infinities; by default the largest and the
/// smallest finite number of the dtype. Bool and integers are left as they are. DTypeError for
/// float8.
///
/// >>> flex.nan_to_num(flex.asarray([flex.nan, -flex.inf, 1.0]), neginf=-9).tolist()
/// [0.0, -9.0, 1.0]
#[function(x, /, *, nan = 0.0, posinf = None, neginf = None)]
fn nan_to_num(
    py: Python<'_>,
    x: OperandRef,
    nan: f64,
    posinf: Option<f64>,
    neginf: Option<f64>,
) -> PyResult<PyTensor> {
    let by = NanToNum {
        nan,
        posinf,
        neginf,
    };
    x.compute(py, move |x| ops::nan_to_num(x, by))
}
