//! Cumulative functions and differences.

use super::cell::PyTensor;
use super::convert::{Operand, TensorArg, compute, count};
use super::dtype::DTypeArg;
use crate::convert::error::Raise;
use flex::ops::{self, Cumulative};
use pyo3::prelude::*;

/// The cumulative sum along an axis.
///
/// axis: may be None if x has one dimension (ValueError). dtype: the dtype of the sums, by default
/// int64 for bool and signed integers, uint64 for unsigned ones, else that of x. include_initial:
/// prepend a 0, so that the axis is longer by one. Sums of floats are those of adding in order, up
/// to rounding: of numbers that are not negative they never decrease, and those of a part of a line
/// are a part of the line's. AxisError if the axis is out of range.
///
/// >>> flex.cumulative_sum(flex.asarray([1, 2, 3]), include_initial=True).tolist()
/// [0, 1, 3, 6]
#[function(x, /, axis = None, *, dtype = None, include_initial = false)]
fn cumulative_sum(
    py: Python<'_>,
    x: TensorArg,
    axis: Option<isize>,
    dtype: Option<DTypeArg>,
    include_initial: bool,
) -> PyResult<PyTensor> {
    compute(py, x.0.len(), || {
        ops::cumulative_sum(
            &x.0,
            Cumulative {
                axis: axis.into(),
                dtype: dtype.map(|d| d.0),
                include_initial,
            },
        )
    })
}

/// The cumulative product along an axis. Arguments and errors are those of `cumulative_sum`; the
/// initial value is 1.
///
/// >>> flex.cumulative_prod(flex.asarray([2, 3, 4])).tolist()
/// [2, 6, 24]
#[function(x, /, axis = None, *, dtype = None, include_initial = false)]
fn cumulative_prod(
    py: Python<'_>,
    x: TensorArg,
    axis: Option<isize>,
    dtype: Option<DTypeArg>,
    include_initial: bool,
) -> PyResult<PyTensor> {
    compute(py, x.0.len(), || {
        ops::cumulative_prod(
            &x.0,
            Cumulative {
                axis: axis.into(),
                dtype: dtype.map(|d| d.0),
                include_initial,
            },
        )
    })
}

/// The cumulative maximum along an axis; NaN propagates.
///
/// axis: may be None if x has one dimension (ValueError). The result has the shape and dtype of x.
/// DTypeError for complex numbers; AxisError if the axis is out of range.
///
/// >>> flex.cumulative_max(flex.asarray([1, 3, 2])).tolist()
/// [1, 3, 3]
#[function(x, /, axis = None)]
fn cumulative_max(py: Python<'_>, x: TensorArg, axis: Option<isize>) -> PyResult<PyTensor> {
    compute(py, x.0.len(), || ops::cumulative_max(&x.0, axis))
}

/// The cumulative minimum along an axis. Arguments and errors are those of `cumulative_max`.
///
/// >>> flex.cumulative_min(flex.asarray([3, 1, 2])).tolist()
/// [3, 1, 1]
#[function(x, /, axis = None)]
fn cumulative_min(py: Python<'_>, x: TensorArg, axis: Option<isize>) -> PyResult<PyTensor> {
    compute(py, x.0.len(), || ops::cumulative_min(&x.0, axis))
}

/// Differences of adjacent elements along an axis, taken `n` times.
///
/// prepend, append: values to join to x first, before and after it: a number, or a tensor of the
/// shape of x except along the axis (ShapeError). The result has the common dtype, and an axis
/// shorter by n. ValueError if n is negative; DTypeError for bool; AxisError if the axis is out of
/// range.
///
/// >>> flex.diff(flex.asarray([1, 4, 9, 16])).tolist()
/// [3, 5, 7]
#[function(x, /, n = 1, axis = -1, *, prepend = None, append = None)]
fn diff(
    py: Python<'_>,
    x: TensorArg,
    n: isize,
    axis: isize,
    prepend: Option<Operand>,
    append: Option<Operand>,
) -> PyResult<PyTensor> {
    let dtype = x.0.dtype();
    let [prepend, append] = [prepend, append].map(|o| o.map(|o| o.tensor_like(dtype)).transpose());
    let (prepend, append) = (prepend.raise()?, append.raise()?);
    let n = count("diff", "n", n)?;
    compute(py, x.0.len(), || {
        ops::diff(&x.0, n, axis, prepend.as_ref(), append.as_ref())
    })
}
