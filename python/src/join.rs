//! Joining, repeating, padding and broadcasting of tensors.

use super::cell::PyTensor;
use super::convert::{
    Ints, NumberArg, TensorArg, TensorList, asarray, compute, count, integer, sequence,
};
use super::values::tuple;
use crate::convert::error::Raise;
use flex::ops;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Broadcasts tensors to their common shape: views, as a tuple.
///
/// arrays: tensors of any dtypes, which they keep. ShapeError if the shapes don't broadcast.
///
/// >>> [t.shape for t in flex.broadcast_arrays(flex.zeros((3, 1)), flex.zeros(4))]
/// [(3, 4), (3, 4)]
#[function(*arrays: "_Operand" -> "tuple[Tensor, ...]")]
fn broadcast_arrays<'py>(
    py: Python<'py>,
    arrays: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyTuple>> {
    tuple(
        py,
        ops::broadcast_arrays(&arrays.extract::<TensorList>()?.0).raise()?,
    )
}

/// Joins tensors along an axis; with `axis=None`, the flattened tensors.
///
/// arrays: a sequence of at least one tensor (ValueError), of equal shapes except along the axis
/// (ShapeError). The result has their common dtype (DTypeError if there is none).
///
/// >>> flex.concat([flex.asarray([1, 2]), flex.asarray([3])]).tolist()
/// [1, 2, 3]
#[function(arrays, /, axis = Some(0))]
fn concat(py: Python<'_>, arrays: TensorList, axis: Option<isize>) -> PyResult<PyTensor> {
    compute(py, arrays.elements(), || ops::concat(&arrays.0, axis))
}

/// Joins tensors of the same shape along a new axis, at that position of the result.
///
/// arrays: a sequence of at least one tensor (ValueError), all of the same shape (ShapeError). The
/// result has their common dtype.
///
/// >>> flex.stack([flex.asarray([1, 2]), flex.asarray([3, 4])], axis=1).tolist()
/// [[1, 3], [2, 4]]
#[function(arrays, /, axis = 0)]
fn stack(py: Python<'_>, arrays: TensorList, axis: isize) -> PyResult<PyTensor> {
    compute(py, arrays.elements(), || ops::stack(&arrays.0, axis))
}

/// Repeats each element several times along an axis; with `axis=None`, elements of the flattened x.
///
/// repeats: an integer for all elements, or one for each. ValueError if one is negative; ShapeError
/// if there are not as many as elements; DTypeError if they are not integers.
///
/// >>> flex.repeat(flex.asarray([1, 2, 3]), flex.asarray([2, 0, 1])).tolist()
/// [1, 1, 3]
#[function(x, /, repeats: "SupportsIndex | Sequence[int] | _Operand", axis = None)]
fn repeat(
    py: Python<'_>,
    x: TensorArg,
    repeats: &Bound<PyAny>,
    axis: Option<isize>,
) -> PyResult<PyTensor> {
    if let Ok(times) = integer(repeats) {
        let times = count("repeat", "repeats", times)?;
        return compute(py, x.0.len().saturating_mul(times), || {
            ops::repeat(&x.0, times, axis)
        });
    }
    let repeats = asarray(repeats, None, None)?.get().tensor(py)?;
    compute(py, x.0.len(), || ops::repeat_counts(&x.0, &repeats, axis))
}

/// Repeats the whole of `x`, `repetitions[k]` times along dimension `k`.
///
/// repetitions: an integer or a tuple of them, aligned with the last dimension. If it and the shape
/// of x differ in length, the shorter is padded with ones in front. ValueError if one is negative.
///
/// >>> flex.tile(flex.asarray([1, 2]), (2, 2)).tolist()
/// [[1, 2, 1, 2], [1, 2, 1, 2]]
#[function(x, /, repetitions)]
fn tile(py: Python<'_>, x: TensorArg, repetitions: Ints) -> PyResult<PyTensor> {
    let times = repetitions
        .0
        .iter()
        .map(|n| count("tile", "a repetition", *n))
        .collect::<PyResult<Vec<_>>>()?;
    compute(
        py,
        times.iter().fold(x.0.len(), |n, t| n.saturating_mul(*t)),
        || ops::tile(&x.0, &times),
    )
}

/// Pads `x` with elements of `value`.
///
/// pad_width: the number of elements before and after, as in numpy.pad: an integer for both ends of
/// all dimensions, one pair for all dimensions, or a pair for each. The result has the dtype of x.
/// ValueError if one is negative; ShapeError if there is not one pair for each dimension;
/// DTypeError if the value is of a higher kind than the dtype.
///
/// >>> flex.pad(flex.asarray([1, 2]), (1, 2), value=9).tolist()
/// [9, 1, 2, 9, 9]
#[function(x, /, pad_width: "SupportsIndex | Sequence[SupportsIndex | Sequence[SupportsIndex]]", *, value = NumberArg::of_any_dtype(0))]
fn pad(
    py: Python<'_>,
    x: TensorArg,
    pad_width: &Bound<PyAny>,
    value: NumberArg,
) -> PyResult<PyTensor> {
    let rank = x.0.rank();
    let pair = |p: &[isize]| -> PyResult<(usize, usize)> {
        match p {
            [both] => Ok((
                count("pad", "a width", *both)?,
                count("pad", "a width", *both)?,
            )),
            [before, after] => Ok((
                count("pad", "a width", *before)?,
                count("pad", "a width", *after)?,
            )),
            other => Err(PyValueError::new_err(format!(
                "pad: {other:?} is not a pair of widths"
            ))),
        }
    };
    let widths = match pad_width.extract::<Ints>() {
        Ok(one) => vec![pair(&one.0)?; rank],
        Err(_) => {
            let wrong = || {
                PyTypeError::new_err(
                    "pad: pad_width is an integer, a pair of them, or a pair for each dimension",
                )
            };
            let pairs = sequence::items(pad_width, |p| {
                pair(&p.extract::<Ints>().map_err(|_| wrong())?.0)
            })?
            .ok_or_else(wrong)?;
            if pairs.len() == 1 {
                vec![pairs[0]; rank]
            } else {
                pairs
            }
        }
    };
    compute(py, x.0.len(), || ops::pad(&x.0, &widths, value.0))
}
