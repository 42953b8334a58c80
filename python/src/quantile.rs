//! Quantiles.

use super::cell::PyTensor;
use super::convert::error::Raise;
use super::convert::{Ints, OperandRef, ValuesArg};
use super::reduce::over;
use flex::bindings::Shown;
use flex::layout::Shape;
use flex::ops::{self, Interpolation, ReductionAxes};
use flex::{DType, Tensor};
use pyo3::exceptions::PyValueError;
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

/// NumPy's names.
#[rustfmt::skip]
const METHODS: [(&str, Interpolation); 13] = [
    ("linear", Interpolation::Linear),
    ("lower", Interpolation::Lower),
    ("higher", Interpolation::Higher),
    ("nearest", Interpolation::Nearest),
    ("midpoint", Interpolation::Midpoint),
    ("inverted_cdf", Interpolation::InvertedCdf),
    ("averaged_inverted_cdf", Interpolation::AveragedInvertedCdf),
    ("closest_observation", Interpolation::ClosestObservation),
    ("interpolated_inverted_cdf", Interpolation::InterpolatedInvertedCdf),
    ("hazen", Interpolation::Hazen),
    ("weibull", Interpolation::Weibull),
    ("median_unbiased", Interpolation::MedianUnbiased),
    ("normal_unbiased", Interpolation::NormalUnbiased),
];

fn method_of(op: &str, name: &str) -> PyResult<Interpolation> {
    if let Some((_, method)) = METHODS.iter().find(|(n, _)| *n == name) {
        return Ok(*method);
    }
    let names: Vec<_> = METHODS.iter().map(|(n, _)| format!("{n:?}")).collect();
    Err(PyValueError::new_err(format!(
        "{op}: method is {name:?}; it is one of {}",
        names.join(", ")
    )))
}

/// A function of the core.
type Quantile = fn(&Tensor, &[f64], ReductionAxes, Interpolation) -> flex::Result<Tensor>;

/// The quantiles `q`, whose largest is `whole`, along as many new first dimensions as `q` has.
fn quantiles(
    py: Python<'_>,
    (op, whole, compute): (&'static str, f64, Quantile),
    (x, q): (OperandRef, ValuesArg),
    axis: Option<Ints>,
    method: &str,
    keepdims: bool,
) -> PyResult<PyTensor> {
    let by = method_of(op, method)?;
    let lead = Shape::from_slice(q.0.shape());
    let values = || q.0.astype(DType::F64)?.to_vec::<f64>();
    let mut q = values().map_err(|e| e.named(op)).raise()?;
    if let Some(q) = q.iter().find(|q| !(0.0..=whole).contains(*q)) {
        return Err(PyValueError::new_err(format!(
            "{op}: q is {}; it must be from 0 to {whole}",
            Shown(*q)
        )));
    }
    q.iter_mut().for_each(|q| *q /= whole);
    x.compute(py, move |x| {
        let y = compute(x, &q, over(&axis, keepdims), by).map_err(|e| e.named(op))?;
        let shape: Shape = lead.iter().chain(&y.shape()[1..]).copied().collect();
        y.reshape(&shape)
    })
}

/// The median of the elements that are not NaN; NaN if there are none. Arguments, dtypes and errors
/// are those of `median`.
///
/// >>> flex.nanmedian(flex.asarray([3.0, flex.nan, 1.0, 2.0])).item()
/// 2.0
#[function(x, /, axis = None, *, keepdims = false)]
fn nanmedian(
    py: Python<'_>,
    x: OperandRef,
    axis: Option<Ints>,
    keepdims: bool,
) -> PyResult<PyTensor> {
    x.compute(py, move |x| ops::nanmedian(x, over(&axis, keepdims)))
}

macro_rules! quantiles {
    ($($(#[doc = $doc:literal])* $name:ident $op:literal $whole:literal $of:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, /, q, axis = None, *, method: "_QuantileMethod" = "linear", keepdims = false)]
        fn $name(
            py: Python<'_>,
            x: OperandRef,
            q: ValuesArg,
            axis: Option<Ints>,
            method: &str,
            keepdims: bool,
        ) -> PyResult<PyTensor> {
            quantiles(py, ($op, $whole, ops::$of), (x, q), axis, method, keepdims)
        }
    )* };
}
quantiles! {
    /// The quantiles of elements: the values at `q` times the way through the sorted elements.
    ///
    /// q: a number from 0 to 1 (ValueError), or numbers of any shape, whose dimensions come first in the
    /// result. axis: an integer, a tuple of them, or None for all. keepdims: keep reduced axes with size
    /// 1. Dtypes and other errors are those of `median`.
    ///
    /// method: between two elements, by the position between them ("linear"), or the "lower", the
    /// "higher", the "nearest", or their mean ("midpoint"); or one of the other eight of Hyndman and Fan,
    /// "Sample quantiles in statistical packages", 1996: "inverted_cdf", "averaged_inverted_cdf",
    /// "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased",
    /// "normal_unbiased".
    ///
    /// >>> flex.quantile(flex.asarray([3.0, 1.0, 2.0, 10.0]), [0.0, 0.5]).tolist()
    /// [1.0, 2.5]
    quantile "quantile" 1.0 quantile;
    /// `quantile` for `q` from 0 to 100, with the same arguments and errors.
    ///
    /// >>> flex.percentile(flex.asarray([3.0, 1.0, 2.0, 10.0]), 50).item()
    /// 2.5
    percentile "percentile" 100.0 quantile;
    /// The quantiles of the elements that are not NaN; NaN if there are none. Arguments, dtypes and
    /// errors are those of `quantile`.
    ///
    /// >>> flex.nanquantile(flex.asarray([3.0, flex.nan, 1.0, 2.0]), 0.5).item()
    /// 2.0
    nanquantile "nanquantile" 1.0 nanquantile;
    /// `nanquantile` for `q` from 0 to 100, with the same arguments and errors.
    ///
    /// >>> flex.nanpercentile(flex.asarray([3.0, flex.nan, 1.0, 2.0]), 50).item()
    /// 2.0
    nanpercentile "nanpercentile" 100.0 nanquantile;
}
