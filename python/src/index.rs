//! Gathers, scatters and masks as functions; `t[...]` is implemented in `subscript`.

use super::cell::PyTensor;
use super::convert::{NumberArg, Operand, TensorArg, ValuesArg, compute, count, detached};
use super::values::tuple;
use crate::convert::error::Raise;
use flex::Tensor;
use flex::ops::{self, ScatterMode};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Takes the slices of `x` at the positions `indices` along `axis`.
///
/// indices: integers, from `-size` to `size - 1`; their shape replaces the axis in the shape of the
/// result. axis: None takes from the flattened x. The result has the dtype of x. IndexError if a
/// position is out of range; DTypeError if they are not integers; AxisError for a wrong axis.
///
/// >>> flex.take(flex.asarray([10, 20, 30]), flex.asarray([2, 0, -1])).tolist()
/// [30, 10, 30]
#[function(x, /, indices, axis = None)]
fn take(
    py: Python<'_>,
    x: TensorArg,
    indices: ValuesArg,
    axis: Option<isize>,
) -> PyResult<PyTensor> {
    compute(py, x.0.len().saturating_add(indices.0.len()), || {
        ops::take(&x.0, &indices.0, axis)
    })
}

/// Takes, from each line of `x` along `axis`, the values at the positions in the same line of
/// `indices`.
///
/// indices: integers, of the shape of x except along the axis (sizes of 1 broadcast); the result
/// has their shape, and the dtype of x. IndexError if a position is out of range; ShapeError if
/// shapes don't fit; DTypeError if positions are not integers.
///
/// >>> x = flex.asarray([[3, 1], [4, 2]])
/// >>> flex.take_along_axis(x, flex.argsort(x, axis=1), axis=1).tolist()
/// [[1, 3], [2, 4]]
#[function(x, /, indices, axis = -1)]
fn take_along_axis(
    py: Python<'_>,
    x: TensorArg,
    indices: ValuesArg,
    axis: isize,
) -> PyResult<PyTensor> {
    compute(py, x.0.len().saturating_add(indices.0.len()), || {
        ops::take_along_axis(&x.0, &indices.0, axis)
    })
}

/// A copy of `x` with `values` put, in each line along `axis`, at the positions in the same line of
/// `indices`.
///
/// indices: integers, of the shape of x except along the axis. values: a number, or a tensor that
/// broadcasts to the shape of indices. mode: "set" (of several values for one position the last
/// wins), or "add", "multiply", "max" or "min", which combine them with the elements. IndexError if
/// a position is out of range; ShapeError if shapes don't fit; DTypeError if values are of a higher
/// kind than the dtype of x; ValueError for another mode.
///
/// >>> flex.scatter(flex.asarray([[1, 2], [3, 4]]), flex.asarray([[1], [0]]), 9, axis=1).tolist()
/// [[1, 9], [9, 4]]
#[function(x, /, indices, values, axis = -1, *, mode: "Literal['set', 'add', 'multiply', 'max', 'min']" = "set")]
fn scatter(
    py: Python<'_>,
    x: TensorArg,
    indices: ValuesArg,
    values: Operand,
    axis: isize,
    mode: &str,
) -> PyResult<PyTensor> {
    let mode = match mode {
        "set" => ScatterMode::Set,
        "add" => ScatterMode::Add,
        "multiply" => ScatterMode::Multiply,
        "max" => ScatterMode::Max,
        "min" => ScatterMode::Min,
        other => {
            let message = format!(
                "scatter: mode is {other:?}; it is \"set\", \"add\", \"multiply\", \"max\" \
                    or \"min\""
            );
            return Err(PyValueError::new_err(message));
        }
    };
    scatter_with(py, x, indices, values, |x, indices, values| {
        ops::scatter(x, indices, values, axis, mode)
    })
}

/// A copy of `x` with `values` added, in each line along `axis`, at the positions in the same line
/// of `indices`, which may repeat.
///
/// Shapes, dtypes and errors are those of `scatter` with mode "add". The result is the same
/// for any number of threads.
///
/// >>> flex.scatter_add(flex.zeros(3), flex.asarray([2, 0, 2]), flex.asarray([1.0, 2.0, 4.0])).tolist()
/// [2.0, 0.0, 5.0]
#[function(x, /, indices, values, axis = -1)]
fn scatter_add(
    py: Python<'_>,
    x: TensorArg,
    indices: ValuesArg,
    values: Operand,
    axis: isize,
) -> PyResult<PyTensor> {
    scatter_with(py, x, indices, values, |x, indices, values| {
        ops::scatter_add(x, indices, values, axis)
    })
}

/// A copy of `x` with `values` added to its slices at the positions `indices` along `axis`, which
/// may repeat. The inverse of `take`.
///
/// indices: integers. values: a number, or a tensor that broadcasts to the shape that `take` gives
/// for these indices. The result has the shape and the dtype of x, and is the same for any number
/// of threads. IndexError if a position is out of range; ShapeError if shapes don't fit; DTypeError
/// if values are of a higher kind than the dtype of x, or if that is bool.
///
/// >>> flex.index_add(flex.zeros((2, 2)), flex.asarray([1, 1]), flex.ones((2, 2))).tolist()
/// [[0.0, 0.0], [2.0, 2.0]]
#[function(x, /, indices, values, axis = 0)]
fn index_add(
    py: Python<'_>,
    x: TensorArg,
    indices: ValuesArg,
    values: Operand,
    axis: isize,
) -> PyResult<PyTensor> {
    scatter_with(py, x, indices, values, |x, indices, values| {
        ops::index_add(x, indices, values, axis)
    })
}

/// How often each integer from 0 occurs.
///
/// x: integers, one dimension, none negative (ValueError). weights: one for each, which are summed
/// instead of counted, in float64. minlength: the least number of counts. The result is int64, or
/// float64 with weights, and has `max(x) + 1` elements or minlength. ShapeError if shapes don't fit;
/// DTypeError if x has no integers, and for complex weights.
///
/// >>> flex.bincount(flex.asarray([0, 1, 1, 3])).tolist()
/// [1, 2, 0, 1]
#[function(x, /, weights = None, minlength = 0)]
fn bincount(
    py: Python<'_>,
    x: ValuesArg,
    weights: Option<ValuesArg>,
    minlength: isize,
) -> PyResult<PyTensor> {
    let least = count("bincount", "minlength", minlength)?;
    compute(py, x.0.len().saturating_add(least), || {
        ops::bincount(&x.0, weights.as_ref().map(|w| &w.0), least)
    })
}

fn scatter_with(
    py: Python<'_>,
    x: TensorArg,
    indices: ValuesArg,
    values: Operand,
    f: impl FnOnce(&Tensor, &Tensor, &Tensor) -> flex::Result<Tensor> + Send,
) -> PyResult<PyTensor> {
    let values = values.tensor_like(x.0.dtype()).raise()?;
    compute(py, x.0.len().saturating_add(values.len()), || {
        f(&x.0, &indices.0, &values)
    })
}

/// `x` with `value` where the mask is true.
///
/// mask: a bool tensor; it and x broadcast together. value: a number. The result has the dtype of
/// x. DTypeError if the mask is not bool, or the value is of a higher kind than the dtype;
/// ValueError if it is out of range; ShapeError if shapes don't broadcast.
///
/// >>> flex.masked_fill(flex.asarray([1, 2, 3]), flex.asarray([True, False, True]), 0).tolist()
/// [0, 2, 0]
#[function(x, /, mask, value)]
fn masked_fill(
    py: Python<'_>,
    x: TensorArg,
    mask: TensorArg,
    value: NumberArg,
) -> PyResult<PyTensor> {
    compute(py, x.0.len().saturating_mul(mask.0.len()), || {
        ops::masked_fill(&x.0, &mask.0, value.0)
    })
}

/// The elements of `x` where the mask is true, in row-major order.
///
/// mask: a bool tensor; it and x broadcast together. The result has one dimension and the dtype of
/// x. DTypeError if the mask is not bool; ShapeError if shapes don't broadcast.
///
/// >>> flex.masked_select(flex.asarray([1, 2, 3]), flex.asarray([True, False, True])).tolist()
/// [1, 3]
#[function(x, /, mask)]
fn masked_select(py: Python<'_>, x: TensorArg, mask: TensorArg) -> PyResult<PyTensor> {
    compute(py, x.0.len().saturating_mul(mask.0.len()), || {
        ops::masked_select(&x.0, &mask.0)
    })
}

/// The indices of the nonzero elements of `x`: one 1-dimensional int64 tensor per dimension, as a
/// tuple, in row-major order.
///
/// x: a tensor of any dtype, of one dimension or more (ShapeError).
///
/// >>> [i.tolist() for i in flex.nonzero(flex.asarray([[0, 5], [6, 0]]))]
/// [[0, 1], [1, 0]]
#[function(x, / -> "tuple[Tensor, ...]")]
fn nonzero<'py>(py: Python<'py>, x: TensorArg) -> PyResult<Bound<'py, PyTuple>> {
    nonzero_of(py, &x.0)
}
/// `nonzero`, for `where` too.
pub fn nonzero_of<'py>(py: Python<'py>, x: &Tensor) -> PyResult<Bound<'py, PyTuple>> {
    let positions = detached(py, x.len(), || ops::nonzero(x))?;
    tuple(py, positions)
}

/// The indices of the nonzero elements of `x`, one per row, in row-major order.
///
/// x: a tensor of any dtype. The result is int64, of shape `(count, x.ndim)`.
///
/// >>> flex.argwhere(flex.asarray([[0, 5], [6, 0]])).tolist()
/// [[0, 1], [1, 0]]
#[function(x, /)]
fn argwhere(py: Python<'_>, x: TensorArg) -> PyResult<PyTensor> {
    compute(py, x.0.len(), || ops::argwhere(&x.0))
}
