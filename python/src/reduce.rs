//! Reductions. Those that NumPy calls as methods (`numpy.sum(t)`) take its `out`, an array to fill.

use super::cell::PyTensor;
use super::convert::{
    Ints, NumberArg, Operand, OperandRef, ValuesArg, compute, detached, operand_beside,
};
use super::deferred;
use super::dtype::DTypeArg;
use super::interop::ufunc::into_out;
use crate::convert::error::Raise;
use flex::ops::{self, Chosen, ReductionAxes};
use flex::stream::Kind;
use flex::{Axes, Error, Scalar, Tensor};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use std::borrow::Cow;

/// The axes to reduce, all for `None`.
pub fn over(axis: &Option<Ints>, keepdims: bool) -> ReductionAxes {
    ReductionAxes {
        axes: axis.as_ref().map_or(Axes::ALL, |a| (&a.0).into()),
        keepdims,
    }
}
/// A reduction of a deferred operand.
fn recorded(kind: Kind, x: &OperandRef, over: &ReductionAxes) -> Option<PyResult<PyTensor>> {
    deferred::reduce(kind, x, over, |_| Ok(None), None)
}
/// [`recorded`] for a sum or a product, with an optional dtype.
fn recorded_total(
    kind: Kind,
    x: &OperandRef,
    over: &ReductionAxes,
    dtype: Option<DTypeArg>,
) -> Option<PyResult<PyTensor>> {
    let dtype = dtype.map(|d| d.0);
    let before = |from| ops::reduce::converted_before(kind.name(), from, dtype);
    deferred::reduce(kind, x, over, before, dtype)
}
/// The operand, converted if a float dtype is requested.
pub fn computed_in<'t>(
    op: &'static str,
    x: &'t Tensor,
    dtype: Option<DTypeArg>,
) -> flex::Result<Cow<'t, Tensor>> {
    match dtype {
        Some(d) if d.0.is_integer() || d.0.is_bool() => Err(Error::dtype(
            op,
            format!("dtype is {}, but must be float or complex", d.0),
        )),
        Some(d) if d.0 != x.dtype() => x.astype(d.0).map(Cow::Owned),
        _ => Ok(Cow::Borrowed(x)),
    }
}

/// NumPy's `where` and `initial`, if one of them is given.
fn chosen(mask: Option<ValuesArg>, initial: Option<NumberArg>) -> Option<Chosen> {
    (mask.is_some() || initial.is_some()).then(|| Chosen {
        mask: mask.map(|m| m.0),
        initial: initial.map(|n| n.0),
    })
}

/// The `correction`, which NumPy calls `ddof`.
pub fn correction_or(op: &'static str, correction: f64, ddof: Option<f64>) -> PyResult<f64> {
    match ddof {
        Some(_) if correction != 0.0 => {
            Err(Error::value(op, "correction and ddof are synonyms: pass one of them").raise())
        }
        Some(ddof) => Ok(ddof),
        None => Ok(correction),
    }
}

/// Sums and products, with an optional dtype.
macro_rules! totals {
    ($($(#[doc = $doc:literal])* $name:ident $of_dtype:ident $Kind:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, /, axis = None, *, dtype = None, keepdims = false, out = None, initial = None, r#where = None -> "Tensor")]
        #[allow(clippy::too_many_arguments, reason = "NumPy's")]
        fn $name<'py>(
            py: Python<'py>,
            x: OperandRef,
            axis: Option<Ints>,
            dtype: Option<DTypeArg>,
            keepdims: bool,
            out: Option<Bound<'py, PyAny>>,
            initial: Option<NumberArg>,
            r#where: Option<ValuesArg>,
        ) -> PyResult<Bound<'py, PyAny>> {
            if let Some(chosen) = chosen(r#where, initial) {
                let dtype = dtype.map(|d| d.0);
                let y = x.compute(py, move |x| chosen.$name(x, over(&axis, keepdims), dtype))?;
                return into_out(py, y, out);
            }
            if let Some(y) = recorded_total(Kind::$Kind, &x, &over(&axis, keepdims), dtype) {
                return into_out(py, y?, out);
            }
            let y = x.compute(py, move |x| match dtype {
                Some(d) => ops::$of_dtype(x, over(&axis, keepdims), d.0),
                None => ops::$name(x, over(&axis, keepdims)),
            })?;
            into_out(py, y, out)
        }
    )* };
}
totals! {
    /// The sum of elements.
    ///
    /// axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1.
    /// dtype: the dtype of the sums, by default int64 for bool and signed integers, uint64 for
    /// unsigned ones, else that of x. Integers wrap; the sum of no elements is 0; the result is the
    /// same for any number of threads. out: a NumPy array of the result's shape, which is filled
    /// and returned. initial: a number that each sum begins with, converted to the result's dtype.
    /// where: bool, broadcast to the shape of x: the elements that count. AxisError if an axis is
    /// out of range or repeated; DTypeError if where is not bool, or initial is of a higher kind than
    /// the result; ShapeError if where does not broadcast.
    ///
    /// >>> x = flex.asarray([[1, 2], [3, 4]])
    /// >>> flex.sum(x).item(), flex.sum(x, axis=0).tolist()
    /// (10, [4, 6])
    sum sum_as Sum;
    /// The product of elements.
    ///
    /// axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1.
    /// dtype: the dtype of the products, by default int64 for bool and signed integers, uint64 for
    /// unsigned ones, else that of x. Integers wrap; the product of no elements is 1. out, initial,
    /// where and errors: as for `sum`.
    ///
    /// >>> flex.prod(flex.asarray([[1, 2], [3, 4]]), axis=1).tolist()
    /// [2, 12]
    prod prod_as Prod;
}

/// The arithmetic mean of elements.
///
/// axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1. The
/// result has the dtype of x, float32 for integers and bool. dtype: a float or complex dtype to
/// compute in. out, where: as for `sum`. The mean of no elements is NaN. AxisError if an axis is out
/// of range or repeated.
///
/// >>> flex.mean(flex.asarray([1, 2, 6])).item()
/// 3.0
#[function(x, /, axis = None, *, dtype = None, keepdims = false, out = None, r#where = None -> "Tensor")]
fn mean<'py>(
    py: Python<'py>,
    x: OperandRef,
    axis: Option<Ints>,
    dtype: Option<DTypeArg>,
    keepdims: bool,
    out: Option<Bound<'py, PyAny>>,
    r#where: Option<ValuesArg>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(chosen) = chosen(r#where, None) {
        let y = x.compute(py, move |x| {
            chosen.mean(&*computed_in("mean", x, dtype)?, over(&axis, keepdims))
        })?;
        return into_out(py, y, out);
    }
    if dtype.is_none()
        && let Some(y) = recorded(Kind::Mean, &x, &over(&axis, keepdims))
    {
        return into_out(py, y?, out);
    }
    into_out(
        py,
        x.compute(py, move |x| {
            ops::mean(&*computed_in("mean", x, dtype)?, over(&axis, keepdims))
        })?,
        out,
    )
}

/// Moments about the mean, with an optional dtype.
macro_rules! spreads {
    ($($(#[doc = $doc:literal])* $name:ident $op:literal $of:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, /, axis = None, *, dtype = None, correction = 0.0, keepdims = false, ddof = None, out = None, r#where = None -> "Tensor")]
        #[pyo3(name = $op)]
        #[allow(clippy::too_many_arguments, reason = "NumPy's")]
        fn $name<'py>(
            py: Python<'py>,
            x: OperandRef,
            axis: Option<Ints>,
            dtype: Option<DTypeArg>,
            correction: f64,
            keepdims: bool,
            ddof: Option<f64>,
            out: Option<Bound<'py, PyAny>>,
            r#where: Option<ValuesArg>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let correction = correction_or($op, correction, ddof)?;
            let chosen = chosen(r#where, None).unwrap_or_default();
            let y = x.compute(py, move |x| {
                chosen.$of(&*computed_in($op, x, dtype)?, over(&axis, keepdims), correction)
            })?;
            into_out(py, y, out)
        }
    )* };
}
spreads! {
    /// The variance of elements: the sum of squared deviations from the mean, divided by `n -
    /// correction`.
    ///
    /// axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1.
    /// The result has the dtype of x, float32 for integers and bool, that of the parts for complex
    /// numbers, whose deviations are absolute values. dtype: a float dtype to compute in. out, where: as
    /// for `sum`. ddof: NumPy's name for the correction. NaN if `n <= correction`. AxisError if an axis
    /// is out of range or repeated.
    ///
    /// >>> flex.var(flex.asarray([1.0, 3.0])).item(), flex.var(flex.asarray([1.0, 3.0]), correction=1).item()
    /// (1.0, 2.0)
    var "var" var;
    /// The standard deviation of elements: the square root of `var`, with the same arguments and
    /// errors.
    ///
    /// >>> flex.std(flex.asarray([1.0, 3.0])).item()
    /// 1.0
    std_ "std" std;
}

/// A reduction without a dtype.
macro_rules! reduction {
    ($name:ident $Kind:ident($py:ident, $x:ident, $axis:ident, $keepdims:ident, $out:ident), $chosen:expr) => {{
        let y = match $chosen {
            Some(chosen) => $x.compute($py, move |x| chosen.$name(x, over(&$axis, $keepdims)))?,
            None => match recorded(Kind::$Kind, &$x, &over(&$axis, $keepdims)) {
                Some(y) => y?,
                None => $x.compute($py, move |x| ops::$name(x, over(&$axis, $keepdims)))?,
            },
        };
        into_out($py, y, $out)
    }};
}
macro_rules! extremes {
    ($($(#[doc = $doc:literal])* $name:ident $Kind:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, /, axis = None, *, keepdims = false, out = None, initial = None, r#where = None -> "Tensor")]
        fn $name<'py>(
            py: Python<'py>,
            x: OperandRef,
            axis: Option<Ints>,
            keepdims: bool,
            out: Option<Bound<'py, PyAny>>,
            initial: Option<NumberArg>,
            r#where: Option<ValuesArg>,
        ) -> PyResult<Bound<'py, PyAny>> {
            reduction!($name $Kind(py, x, axis, keepdims, out), chosen(r#where, initial))
        }
    )* };
}
macro_rules! truths {
    ($($(#[doc = $doc:literal])* $name:ident $Kind:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, /, axis = None, *, keepdims = false, out = None, r#where = None -> "Tensor")]
        fn $name<'py>(
            py: Python<'py>,
            x: OperandRef,
            axis: Option<Ints>,
            keepdims: bool,
            out: Option<Bound<'py, PyAny>>,
            r#where: Option<ValuesArg>,
        ) -> PyResult<Bound<'py, PyAny>> {
            reduction!($name $Kind(py, x, axis, keepdims, out), chosen(r#where, None))
        }
    )* };
}
extremes! {
    /// The largest element; NaN propagates.
    ///
    /// axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1.
    /// The result has the dtype of x. initial: a number that is one of the elements everywhere.
    /// where: as for `sum`, with initial. ValueError if there are no elements and no initial, or for
    /// where without it; DTypeError for complex numbers; AxisError if an axis is out of range or
    /// repeated.
    ///
    /// >>> flex.max(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
    /// [5, 3]
    max Max;
    /// The smallest element; NaN propagates. Arguments and errors are those of `max`.
    ///
    /// >>> flex.min(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
    /// [1, 2]
    min Min;
}
truths! {
    /// Whether any element is true (not zero).
    ///
    /// x: a tensor of any dtype; NaN is true. axis: an integer, a tuple of them, or None for all.
    /// keepdims: keep reduced axes with size 1. out, where: as for `sum`. The result is bool, False
    /// if there are no elements. AxisError if an axis is out of range or repeated.
    ///
    /// >>> flex.any(flex.asarray([[0, 1], [0, 0]]), axis=1).tolist()
    /// [True, False]
    any Any;
    /// Whether all elements are true (not zero). Arguments and errors are those of `any`; the
    /// result is True if there are no elements.
    ///
    /// >>> flex.all(flex.asarray([[2, 1], [0, 1]]), axis=1).tolist()
    /// [True, False]
    all All;
}

/// The number of nonzero elements. Arguments and errors are those of `any`; the result is int64.
///
/// >>> flex.count_nonzero(flex.asarray([[0, 1], [2, 3]]), axis=0).tolist()
/// [1, 2]
#[function(x, /, axis = None, *, keepdims = false)]
fn count_nonzero(
    py: Python<'_>,
    x: OperandRef,
    axis: Option<Ints>,
    keepdims: bool,
) -> PyResult<PyTensor> {
    match recorded(Kind::Count, &x, &over(&axis, keepdims)) {
        Some(y) => y,
        None => x.compute(py, move |x| ops::count_nonzero(x, over(&axis, keepdims))),
    }
}

/// `log(sum(exp(x)))`, or with weights `log(sum(b * exp(x)))`, without overflow.
///
/// axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1. b:
/// weights, which broadcast with x (ShapeError); where b is 0, x is of no account. return_sign:
/// whether to return `(result, sign)` for the magnitude and the sign of the sum, 0 if that is 0;
/// without it, the result of a negative sum is NaN. The result has the dtype of x, or the common one
/// of x and b, float32 for integers and bool; it is `-inf` if there are no elements. DTypeError for
/// complex numbers; AxisError if an axis is out of range or repeated.
///
/// >>> flex.logsumexp(flex.asarray([-flex.inf, 1000.0])).item()
/// 1000.0
/// >>> y, sign = flex.logsumexp(flex.zeros(2), b=[1, -3], return_sign=True)
/// >>> flex.exp(y).item(), sign.item()
/// (2.0, -1.0)
#[function(x, /, axis = None, *, keepdims = false, b: "_Nested | None" = None, return_sign = false -> "Any")]
fn logsumexp<'py>(
    py: Python<'py>,
    x: OperandRef,
    axis: Option<Ints>,
    keepdims: bool,
    b: Option<Bound<'py, PyAny>>,
    return_sign: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if b.is_none() && !return_sign {
        return x
            .compute(py, move |x| ops::logsumexp(x, over(&axis, keepdims)))?
            .into_bound_py_any(py);
    }
    let x = x.tensor()?;
    let b = match b {
        Some(b) => match operand_beside(&b, x.dtype(), false)? {
            Some(list) => Operand::Tensor(list),
            None => b.extract::<Operand>()?,
        },
        None => Operand::Scalar(Scalar::Int(1)),
    };
    let b = b.tensor_like(x.dtype()).raise()?;
    let (elements, over) = (x.len().saturating_mul(b.len()), over(&axis, keepdims));
    if !return_sign {
        let y = compute(py, elements, || ops::logsumexp_weighted(&x, &b, over))?;
        return y.into_bound_py_any(py);
    }
    let (y, sign) = detached(py, elements, || ops::logsumexp_signed(&x, &b, over))?;
    (PyTensor::new(y), PyTensor::new(sign)).into_bound_py_any(py)
}
