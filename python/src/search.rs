//! The indices of extremes: `argmax`, `argmin`, and both with the values.

use super::cell::PyTensor;
use super::convert::{OperandRef, TensorArg};
use super::interop::ufunc::into_out;
use super::sort::pair;
use flex::ops::{self, ReductionAxes};
use pyo3::prelude::*;

/// The axis to search, or all elements for `None`.
fn along(axis: Option<isize>, keepdims: bool) -> ReductionAxes {
    ReductionAxes {
        axes: axis.into(),
        keepdims,
    }
}

/// The index of the first occurrence of the largest element; of the first NaN, if there is one.
///
/// axis: an integer, or None for the index in the flattened x. keepdims: keep reduced axes with
/// size 1. The result is int64. ValueError if there are no elements; DTypeError for complex
/// numbers; AxisError if the axis is out of range.
///
/// >>> flex.argmax(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
/// [1, 0]
#[function(x, /, axis = None, *, keepdims = false, out = None -> "Tensor")]
fn argmax<'py>(
    py: Python<'py>,
    x: OperandRef,
    axis: Option<isize>,
    keepdims: bool,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    into_out(
        py,
        x.compute(py, move |x| ops::argmax(x, along(axis, keepdims)))?,
        out,
    )
}

/// The index of the first occurrence of the smallest element. Arguments and errors are those of
/// `argmax`.
///
/// >>> flex.argmin(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
/// [0, 1]
#[function(x, /, axis = None, *, keepdims = false, out = None -> "Tensor")]
fn argmin<'py>(
    py: Python<'py>,
    x: OperandRef,
    axis: Option<isize>,
    keepdims: bool,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    into_out(
        py,
        x.compute(py, move |x| ops::argmin(x, along(axis, keepdims)))?,
        out,
    )
}

/// `max` and `argmax` in one: the largest element and its index (int64). Arguments and errors are
/// those of `argmax`.
///
/// >>> [t.tolist() for t in flex.max_with_indices(flex.asarray([[1, 5], [3, 2]]), axis=1)]
/// [[5, 3], [1, 0]]
#[function(x, /, axis = None, *, keepdims = false)]
fn max_with_indices(
    py: Python<'_>,
    x: TensorArg,
    axis: Option<isize>,
    keepdims: bool,
) -> PyResult<(PyTensor, PyTensor)> {
    pair(py, x.0.len(), || {
        ops::max_with_indices(&x.0, along(axis, keepdims))
    })
}

/// `min` and `argmin` in one: the smallest element and its index (int64). Arguments and errors are
/// those of `argmin`.
///
/// >>> [t.tolist() for t in flex.min_with_indices(flex.asarray([[1, 5], [3, 2]]), axis=1)]
/// [[1, 2], [0, 1]]
#[function(x, /, axis = None, *, keepdims = false)]
fn min_with_indices(
    py: Python<'_>,
    x: TensorArg,
    axis: Option<isize>,
    keepdims: bool,
) -> PyResult<(PyTensor, PyTensor)> {
    pair(py, x.0.len(), || {
        ops::min_with_indices(&x.0, along(axis, keepdims))
    })
}
