//! Sorting and searching.

use super::cell::PyTensor;
use super::convert::{Compared, Ints, TensorArg, compute, detached};
use crate::convert::error::Raise;
use flex::layout;
use flex::ops::{self, Side, Sort, TopK};
use flex::{Error, Result, Tensor};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Two tensors as a tuple.
pub fn pair(
    py: Python<'_>,
    elements: usize,
    f: impl FnOnce() -> Result<(Tensor, Tensor)> + Send,
) -> PyResult<(PyTensor, PyTensor)> {
    let (a, b) = detached(py, elements, f)?;
    Ok((PyTensor::new(a), PyTensor::new(b)))
}

/// A tensor and an axis, or without one all elements in row-major order.
fn along(x: TensorArg, axis: Option<isize>) -> PyResult<(Tensor, isize)> {
    match axis {
        Some(axis) => Ok((x.0, axis)),
        None => Ok((ops::ravel(&x.0).raise()?, 0)),
    }
}

/// Sorts the values along `axis`.
///
/// x: a tensor of an ordered dtype; the result has its shape and dtype. axis: None for all elements
/// in row-major order. NaN comes last, even with
/// `descending`. `stable` has no effect: every sort is stable, zeros of both signs keep their order.
/// DTypeError for complex numbers; AxisError if the axis is out of range.
///
/// >>> flex.sort(flex.asarray([3, 1, 2]), descending=True).tolist()
/// [3, 2, 1]
#[function(x, /, axis = Some(-1), *, descending = false, stable = true)]
fn sort(
    py: Python<'_>,
    x: TensorArg,
    axis: Option<isize>,
    descending: bool,
    stable: bool,
) -> PyResult<PyTensor> {
    let _ = stable; // every sort is stable
    let (x, axis) = along(x, axis)?;
    compute(py, x.len(), || ops::sort(&x, Sort { axis, descending }))
}

/// The indices that sort along `axis`.
///
/// x: a tensor of an ordered dtype; the result has its shape, and is int64. axis: None for the
/// positions among all elements in row-major order. Equal values keep their
/// order, even with `descending`; NaN comes last. DTypeError for complex numbers; AxisError if the
/// axis is out of range.
///
/// >>> flex.argsort(flex.asarray([3, 1, 2])).tolist()
/// [1, 2, 0]
#[function(x, /, axis = Some(-1), *, descending = false, stable = true)]
fn argsort(
    py: Python<'_>,
    x: TensorArg,
    axis: Option<isize>,
    descending: bool,
    stable: bool,
) -> PyResult<PyTensor> {
    let _ = stable; // every sort is stable
    let (x, axis) = along(x, axis)?;
    compute(py, x.len(), || ops::argsort(&x, Sort { axis, descending }))
}

/// The values along an axis such that those at the positions kth are where the sorted line has them,
/// with none larger before and none smaller behind.
///
/// x: a tensor of an ordered dtype; the result has its shape and dtype. kth: a position, or several,
/// negative ones from the end. axis: None for all elements in row-major order. The other values are
/// in any order. NaN comes last. ValueError if kth is out of range; AxisError if the axis is;
/// DTypeError for complex numbers.
///
/// >>> flex.partition(flex.asarray([3, 1, 2]), 1)[1].item()
/// 2
#[function(x, /, kth, axis = Some(-1))]
fn partition(py: Python<'_>, x: TensorArg, kth: Ints, axis: Option<isize>) -> PyResult<PyTensor> {
    const OP: &str = "partition";
    let (x, axis) = along(x, axis)?;
    let n = x.shape()[layout::axis(OP, axis, x.rank()).raise()?];
    let position = |k: &isize| {
        let from_start = if *k < 0 {
            k.checked_add_unsigned(n)
        } else {
            Some(*k)
        };
        from_start
            .and_then(|k| usize::try_from(k).ok())
            .filter(|k| *k < n)
            .ok_or_else(|| {
                let message = format!("kth is {k}, out of range for {n} elements");
                Error::value(OP, message).raise()
            })
    };
    let kth = kth.0.iter().map(position).collect::<PyResult<Vec<_>>>()?;
    compute(py, x.len(), || ops::partition(&x, &kth, axis))
}

/// `sort` and `argsort` in one: the sorted values and their indices.
///
/// x: a tensor of an ordered dtype; both results have its shape, the indices are int64. DTypeError
/// for complex numbers; AxisError if the axis is out of range.
///
/// >>> values, indices = flex.sort_with_indices(flex.asarray([3, 1, 2]))
/// >>> values.tolist(), indices.tolist()
/// ([1, 2, 3], [1, 2, 0])
#[function(x, /, axis = -1, *, descending = false, stable = true)]
fn sort_with_indices(
    py: Python<'_>,
    x: TensorArg,
    axis: isize,
    descending: bool,
    stable: bool,
) -> PyResult<(PyTensor, PyTensor)> {
    let _ = stable; // every sort is stable
    pair(py, x.0.len(), || {
        ops::sort_with_indices(&x.0, Sort { axis, descending })
    })
}

/// The `k` largest values along `axis`, or the smallest, and their indices; in order if `sorted`.
///
/// x: a tensor of an ordered dtype; both results have its shape with size `k` along the axis, the
/// indices are int64. Of equal values the first is preferred; NaN is taken last. ValueError if k is
/// negative or exceeds the size of the axis; DTypeError for complex numbers; AxisError if the axis
/// is out of range.
///
/// >>> values, indices = flex.topk(flex.asarray([1, 5, 3]), 2)
/// >>> values.tolist(), indices.tolist()
/// ([5, 3], [1, 2])
#[function(x, /, k, axis = -1, *, largest = true, sorted = true)]
fn topk(
    py: Python<'_>,
    x: TensorArg,
    k: isize,
    axis: isize,
    largest: bool,
    sorted: bool,
) -> PyResult<(PyTensor, PyTensor)> {
    let k = usize::try_from(k)
        .map_err(|_| PyValueError::new_err(format!("topk: k is {k}; it must not be negative")))?;
    pair(py, x.0.len(), || {
        ops::topk(
            &x.0,
            k,
            TopK {
                axis,
                largest,
                sorted,
            },
        )
    })
}

/// The index at which each of `x2` would be inserted into `x1` to keep it sorted: before equal
/// values with `side="left"`, after them with `"right"`.
///
/// x1: a sorted 1-dimensional tensor, NaN last; if it is not sorted, `sorter` has the indices that
/// sort it. x2: a tensor or a number, of any shape; the result has that shape and is int64. Floats
/// are compared with integers in x1 exactly.
/// ShapeError if x1 has another rank, or the sorter another size; DTypeError for complex numbers;
/// ValueError for another side; IndexError if an index of the sorter is out of range.
///
/// >>> flex.searchsorted(flex.asarray([1, 2, 2, 4]), flex.asarray([2, 5]), side="right").tolist()
/// [3, 4]
#[function(x1, x2, /, side: "Literal['left', 'right']" = "left", sorter = None)]
fn searchsorted(
    py: Python<'_>,
    x1: TensorArg,
    x2: Compared<'_>,
    side: &str,
    sorter: Option<TensorArg>,
) -> PyResult<PyTensor> {
    let side = match side {
        "left" => Side::Left,
        "right" => Side::Right,
        other => {
            return Err(PyValueError::new_err(format!(
                "searchsorted: side is {other:?}; it is \"left\" or \"right\""
            )));
        }
    };
    let x2 = x2.take(py)?.tensor_to_compare(x1.0.dtype()).raise()?;
    compute(py, x1.0.len() + x2.len(), || {
        ops::searchsorted(&x1.0, &x2, side, sorter.as_ref().map(|s| &s.0))
    })
}
