//! Where the extreme element lies: `argmax` and its like.

use super::cell::PyTensor;
use super::convert::{Arg, Lent};
use super::interop::ufunc::into_out;
use super::sort::pair;
use crate::ops::{self, Reduction};
use pyo3::prelude::*;

/// What is searched: along one axis, or all elements for none.
fn along(axis: Option<isize>, keepdims: bool) -> Reduction {
    Reduction {
        axes: axis.into(),
        keepdims,
    }
}

/// The position of the largest element, the first where several are; that of the first NaN where
/// there is one.
///
/// axis: an integer, or None for the position among all in row-major order. keepdims: reduced axes
/// stay, with size 1. The result is int64. ValueError where there is no element; DTypeError for
/// complex numbers; AxisError where the axis is out of range.
///
/// >>> flex.argmax(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
/// [1, 0]
#[pyfunction]
#[pyo3(signature = (x, /, axis = None, *, keepdims = false, out = None))]
fn argmax<'py>(
    py: Python<'py>,
    x: Lent,
    axis: Option<isize>,
    keepdims: bool,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    into_out(
        py,
        x.compute(py, |x| ops::argmax(x, along(axis, keepdims)))?,
        out,
    )
}

/// The position of the smallest element. Arguments and errors are those of `argmax`.
///
/// >>> flex.argmin(flex.asarray([[1, 5], [3, 2]]), axis=1).tolist()
/// [0, 1]
#[pyfunction]
#[pyo3(signature = (x, /, axis = None, *, keepdims = false, out = None))]
fn argmin<'py>(
    py: Python<'py>,
    x: Lent,
    axis: Option<isize>,
    keepdims: bool,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    into_out(
        py,
        x.compute(py, |x| ops::argmin(x, along(axis, keepdims)))?,
        out,
    )
}

/// `max` and `argmax` in one: the largest element and its position (int64). Arguments and errors
/// are those of `argmax`.
///
/// >>> [t.tolist() for t in flex.max_with_indices(flex.asarray([[1, 5], [3, 2]]), axis=1)]
/// [[5, 3], [1, 0]]
#[pyfunction]
#[pyo3(signature = (x, /, axis = None, *, keepdims = false))]
fn max_with_indices(
    py: Python<'_>,
    x: Arg,
    axis: Option<isize>,
    keepdims: bool,
) -> PyResult<(PyTensor, PyTensor)> {
    pair(py, x.0.len(), || {
        ops::max_with_indices(&x.0, along(axis, keepdims))
    })
}

/// `min` and `argmin` in one: the smallest element and its position (int64). Arguments and errors
/// are those of `argmin`.
///
/// >>> [t.tolist() for t in flex.min_with_indices(flex.asarray([[1, 5], [3, 2]]), axis=1)]
/// [[1, 2], [0, 1]]
#[pyfunction]
#[pyo3(signature = (x, /, axis = None, *, keepdims = false))]
fn min_with_indices(
    py: Python<'_>,
    x: Arg,
    axis: Option<isize>,
    keepdims: bool,
) -> PyResult<(PyTensor, PyTensor)> {
    pair(py, x.0.len(), || {
        ops::min_with_indices(&x.0, along(axis, keepdims))
    })
}

pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(argmax, m)?)?;
    m.add_function(wrap_pyfunction!(argmin, m)?)?;
    m.add_function(wrap_pyfunction!(max_with_indices, m)?)?;
    m.add_function(wrap_pyfunction!(min_with_indices, m)?)
}
