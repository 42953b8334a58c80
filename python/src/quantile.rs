//! Quantiles.

use super::cell::PyTensor;
use super::convert::{Ints, OperandRef, kind, sequence};
use super::reduce::over;
use flex::Tensor;
use flex::ops::{self, Interpolation};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The median of elements: the middle of the sorted ones, or the mean of both in the middle.
///
/// axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size 1. The
/// result has the dtype of x, float32 for integers and bool. NaN if an element is NaN, or there is
/// none. DTypeError for complex numbers; AxisError if an axis is out of range or repeated.
///
/// >>> flex.median(flex.asarray([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]]), axis=1).tolist()
/// [2.0, 8.0]
#[function(x, /, axis = None, *, keepdims = false)]
fn median(py: Python<'_>, x: OperandRef, axis: Option<Ints>, keepdims: bool) -> PyResult<PyTensor> {
    x.compute(py, move |x| ops::median(x, over(&axis, keepdims)))
}

/// The largest element less the smallest, in the dtype of x; integers wrap. Arguments and errors are
/// those of `max`.
///
/// >>> flex.ptp(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
/// [4, 1]
#[function(x, /, axis = None, *, keepdims = false)]
fn ptp(py: Python<'_>, x: OperandRef, axis: Option<Ints>, keepdims: bool) -> PyResult<PyTensor> {
    x.compute(py, move |x| ops::ptp(x, over(&axis, keepdims)))
}

/// The quantiles `q`, whose largest is `whole`.
fn quantiles(
    py: Python<'_>,
    op: &'static str,
    (x, q, whole): (OperandRef, &Bound<PyAny>, f64),
    axis: Option<Ints>,
    method: &str,
    keepdims: bool,
) -> PyResult<PyTensor> {
    let by = match method {
        "linear" => Interpolation::Linear,
        "lower" => Interpolation::Lower,
        "higher" => Interpolation::Higher,
        "nearest" => Interpolation::Nearest,
        "midpoint" => Interpolation::Midpoint,
        _ => {
            return Err(PyValueError::new_err(format!(
                "{op}: method is {method:?}; it is \"linear\", \"lower\", \"higher\", \"nearest\" or \"midpoint\""
            )));
        }
    };
    let one = q.extract::<f64>();
    let q = match &one {
        Ok(q) => Some(vec![*q]),
        Err(_) => sequence::items(q, |q| q.extract::<f64>())?,
    }
    .ok_or_else(|| PyTypeError::new_err(format!("{op}: q is {}, not numbers", kind(q))))?;
    if let Some(q) = q.iter().find(|q| !(0.0..=whole).contains(*q)) {
        return Err(PyValueError::new_err(format!(
            "{op}: q is {q}; it must be from 0 to {whole}"
        )));
    }
    let q: Vec<f64> = q.iter().map(|q| q / whole).collect();
    let single = one.is_ok();
    x.compute(py, move |x: &Tensor| {
        let y = ops::quantile(x, &q, over(&axis, keepdims), by).map_err(|e| e.named(op))?;
        if single { y.select(0, 0) } else { Ok(y) }
    })
}

/// The quantiles of elements: the values at `q` times the way through the sorted elements.
///
/// q: a number from 0 to 1 (ValueError), or a sequence of them, for a new first dimension of the
/// result. axis: an integer, a tuple of them, or None for all. method: between two elements, by the
/// position between them ("linear"), or the "lower", the "higher", the "nearest", or their mean
/// ("midpoint"). keepdims: keep reduced axes with size 1. Dtypes and other errors are those of
/// `median`.
///
/// >>> flex.quantile(flex.asarray([3.0, 1.0, 2.0, 10.0]), [0.0, 0.5]).tolist()
/// [1.0, 2.5]
#[function(x, q: "float | Tensor | _Array | Sequence[float]", /, axis = None, *, method: "Literal['linear', 'lower', 'higher', 'nearest', 'midpoint']" = "linear", keepdims = false)]
fn quantile(
    py: Python<'_>,
    x: OperandRef,
    q: &Bound<PyAny>,
    axis: Option<Ints>,
    method: &str,
    keepdims: bool,
) -> PyResult<PyTensor> {
    quantiles(py, "quantile", (x, q, 1.0), axis, method, keepdims)
}

/// `quantile` for `q` from 0 to 100, with the same arguments and errors.
///
/// >>> flex.percentile(flex.asarray([3.0, 1.0, 2.0, 10.0]), 50).item()
/// 2.5
#[function(x, q: "float | Tensor | _Array | Sequence[float]", /, axis = None, *, method: "Literal['linear', 'lower', 'higher', 'nearest', 'midpoint']" = "linear", keepdims = false)]
fn percentile(
    py: Python<'_>,
    x: OperandRef,
    q: &Bound<PyAny>,
    axis: Option<Ints>,
    method: &str,
    keepdims: bool,
) -> PyResult<PyTensor> {
    quantiles(py, "percentile", (x, q, 100.0), axis, method, keepdims)
}
