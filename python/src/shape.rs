//! Functions that rearrange elements, as views if possible.

use super::cell::PyTensor;
use super::convert::{Ints, OperandRef, TensorArg, compute, count, integer};
use super::deferred;
use super::values::tuple;
use crate::convert::error::Raise;
use flex::layout::{self, Layout};
use flex::{Axes, Error, ops};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Broadcasts dimensions of size 1, and adds new ones in front; a view.
///
/// shape: an integer or a tuple of them. ShapeError if x doesn't broadcast to it.
///
/// >>> flex.broadcast_to(flex.asarray([[1], [2]]), (2, 3)).tolist()
/// [[1, 1, 1], [2, 2, 2]]
#[function(x, /, shape)]
fn broadcast_to(x: OperandRef, shape: Ints) -> PyResult<PyTensor> {
    let shape = shape.shape("broadcast_to", "shape")?;
    x.view(move |x, _| x.broadcast_to("broadcast_to", &shape))
}

/// Inserts dimensions of size 1 at these positions of the result; a view.
///
/// axis: an integer or a tuple of them. AxisError if one is out of range or repeated.
///
/// >>> flex.expand_dims(flex.zeros((2, 3)), axis=(0, -1)).shape
/// (1, 2, 3, 1)
#[function(x, /, axis = Ints::from(0))]
fn expand_dims(x: OperandRef, axis: Ints) -> PyResult<PyTensor> {
    x.view(move |x, _| x.expand_dims("expand_dims", &axis.0))
}

/// Removes dimensions of size 1: those given, or all; a view.
///
/// axis: an integer or a tuple of them. ShapeError if one has another size; AxisError if it is out
/// of range or repeated.
///
/// >>> flex.squeeze(flex.zeros((1, 3, 1)), axis=0).shape
/// (3, 1)
#[function(x, /, axis = None)]
fn squeeze(x: OperandRef, axis: Option<Ints>) -> PyResult<PyTensor> {
    let axes = axis.map_or(Axes::ALL, |a| (&a.0).into());
    x.view(move |x, _| x.squeeze("squeeze", axes.named()))
}

/// Reverses the elements along one axis, several, or all; a view.
///
/// axis: an integer or a tuple of them. AxisError if one is out of range or repeated.
///
/// >>> flex.flip(flex.asarray([1, 2, 3])).tolist()
/// [3, 2, 1]
#[function(x, /, axis = None)]
fn flip(x: OperandRef, axis: Option<Ints>) -> PyResult<PyTensor> {
    let axes = axis.map_or(Axes::ALL, |a| (&a.0).into());
    x.view(move |x, _| match axes.named() {
        Some(axes) => x.flip("flip", axes),
        None => x.flip("flip", &(0..x.rank() as isize).collect::<Vec<_>>()),
    })
}

/// Moves dimensions to other positions, keeping the order of the others; a view.
///
/// source, destination: equally many axes of x and of the result (ShapeError). AxisError if one is
/// out of range or repeated.
///
/// >>> flex.moveaxis(flex.zeros((2, 3, 4)), 0, -1).shape
/// (3, 4, 2)
#[function(x, /, source, destination)]
fn moveaxis(x: OperandRef, source: Ints, destination: Ints) -> PyResult<PyTensor> {
    x.view(move |x, _| x.move_axes("moveaxis", &source.0, &destination.0))
}

/// Permutes the dimensions: dimension `i` of the result is dimension `axes[i]`; a view.
///
/// axes: each axis once (ShapeError, AxisError).
///
/// >>> flex.permute_dims(flex.zeros((2, 3, 4)), (2, 0, 1)).shape
/// (4, 2, 3)
#[function(x, /, axes)]
fn permute_dims(x: OperandRef, axes: Ints) -> PyResult<PyTensor> {
    x.view(move |x, _| x.permute("permute_dims", &axes.0))
}

/// Permutes the dimensions, by default in reverse order; a view.
///
/// axes: each axis once, as one tuple, by position or by name, or as several arguments, dims
/// (ShapeError, AxisError). TypeError for both.
///
/// >>> flex.transpose(flex.zeros((2, 3, 4))).shape
/// (4, 3, 2)
/// >>> flex.transpose(flex.zeros((2, 3, 4)), axes=(1, 0, 2)).shape
/// (3, 2, 4)
#[function(x, /, *dims: "_Shape | None", axes = None)]
fn transpose(x: OperandRef, dims: &Bound<PyTuple>, axes: Option<Ints>) -> PyResult<PyTensor> {
    let axes = match (axes_of(dims)?, axes) {
        (Some(_), Some(_)) => {
            return Err(PyTypeError::new_err(
                "transpose: the axes are given twice, by position and by name",
            ));
        }
        (dims, axes) => dims.or(axes),
    };
    x.view(move |x, _| {
        let all: Vec<isize>;
        let axes = match &axes {
            Some(axes) => &axes.0[..],
            None => {
                all = (0..x.rank() as isize).rev().collect();
                &all
            }
        };
        if let [a, b] = *axes
            && x.rank() > 2
        {
            let rank = x.rank();
            return Err(Error::shape(
                "transpose",
                format!("2 axes for {rank} dimensions: flex.swapaxes(x, {a}, {b}) swaps two"),
            ));
        }
        x.permute("transpose", axes)
    })
}

/// The axes of `transpose`; `None` for all, in reverse order.
pub fn axes_of(axes: &Bound<PyTuple>) -> PyResult<Option<Ints>> {
    let none = axes.is_empty() || axes.len() == 1 && axes.get_item(0)?.is_none();
    if none {
        return Ok(None);
    }
    Ints::from_args(axes).map(Some)
}

/// Swaps two dimensions; a view. AxisError if one is out of range.
///
/// >>> flex.swapaxes(flex.zeros((2, 3, 4)), 0, -1).shape
/// (4, 3, 2)
#[function(x, /, axis1, axis2)]
fn swapaxes(x: OperandRef, axis1: isize, axis2: isize) -> PyResult<PyTensor> {
    x.view(move |x, _| x.swap_axes("swapaxes", axis1, axis2))
}

/// Rolls elements by `shift` positions along an axis; those shifted beyond the end re-enter at the
/// beginning. With `axis=None`, rolls the flattened x.
///
/// shift, axis: integers, or tuples of equal length (ValueError); a single shift applies to all
/// axes. AxisError if an axis is out of range.
///
/// >>> flex.roll(flex.asarray([1, 2, 3, 4]), 1).tolist()
/// [4, 1, 2, 3]
#[function(x, /, shift, axis = None)]
fn roll(py: Python<'_>, x: TensorArg, shift: Ints, axis: Option<Ints>) -> PyResult<PyTensor> {
    let shift: Vec<i64> = shift.0.iter().map(|s| *s as i64).collect();
    compute(py, x.0.len(), || {
        ops::roll(
            &x.0,
            &shift[..],
            axis.as_ref().map_or(Axes::ALL, |a| (&a.0).into()),
        )
    })
}

/// One tensor for each index of an axis, without that axis; views, as a tuple. AxisError if the
/// axis is out of range.
///
/// >>> [t.tolist() for t in flex.unstack(flex.asarray([[1, 2], [3, 4]]), axis=1)]
/// [[1, 3], [2, 4]]
#[function(x, /, axis = 0 -> "tuple[Tensor, ...]")]
fn unstack<'py>(py: Python<'py>, x: OperandRef<'py>, axis: isize) -> PyResult<Bound<'py, PyTuple>> {
    let shape = x.shape();
    let axis = layout::axis("unstack", axis, shape.len()).raise()?;
    let index = |x: &Layout, k: usize| x.index("unstack", axis, k as i64);
    match views(py, &x, shape[axis], &index)? {
        Some(all) => Ok(all),
        None => tuple(py, x.tensor()?.unstack(axis as isize).raise()?),
    }
}

/// `n` views, given by `f`, of a value that is not computed yet; `None` if it is, or if there are
/// too many.
pub fn views<'py>(
    py: Python<'py>,
    x: &OperandRef,
    n: usize,
    f: &dyn Fn(&Layout, usize) -> flex::Result<Layout>,
) -> PyResult<Option<Bound<'py, PyTuple>>> {
    const MOST: usize = 64;
    if n == 0 || n > MOST {
        return Ok(None);
    }
    let mut all = Vec::new();
    for k in 0..n {
        match deferred::view(x, &|x, _| f(x, k)) {
            Some(y) => all.push(y?),
            None => return Ok(None),
        }
    }
    PyTuple::new(py, all).map(Some)
}
/// The pieces of these sizes along an axis.
fn pieces<'py>(
    py: Python<'py>,
    x: OperandRef<'py>,
    sizes: &[usize],
    axis: isize,
) -> PyResult<Bound<'py, PyTuple>> {
    let piece = |x: &Layout, k: usize| {
        let start = sizes[..k].iter().sum();
        x.narrow("split", axis, start, sizes[k])
    };
    let shape = x.shape();
    let total = shape[layout::axis("split", axis, shape.len()).raise()?];
    let fits = sizes.iter().try_fold(0usize, |n, s| n.checked_add(*s)) == Some(total);
    let found = match fits {
        true => views(py, &x, sizes.len(), &piece)?,
        false => None,
    };
    match found {
        Some(all) => Ok(all),
        None => tuple(py, x.tensor()?.split(sizes, axis).raise()?),
    }
}

/// Pieces along an axis, as in torch.split: all of one size, except a smaller last one, or of the
/// given sizes, which must add up to that of the axis; views, as a tuple.
///
/// ValueError if a size is negative, or a single size is 0; ShapeError if sizes don't add up;
/// AxisError if the axis is out of range.
///
/// >>> [t.tolist() for t in flex.split(flex.asarray([1, 2, 3, 4, 5]), 2)]
/// [[1, 2], [3, 4], [5]]
/// >>> [t.tolist() for t in flex.split(flex.asarray([1, 2, 3]), (1, 2))]
/// [[1], [2, 3]]
#[function(x, /, sizes: "_Shape", axis = 0 -> "tuple[Tensor, ...]")]
fn split<'py>(
    py: Python<'py>,
    x: OperandRef<'py>,
    sizes: &Bound<'py, PyAny>,
    axis: isize,
) -> PyResult<Bound<'py, PyTuple>> {
    let sizes = match integer(sizes) {
        Ok(size) => {
            let size = count("split", "the size", size)?;
            let shape = x.shape();
            let total = shape[layout::axis("split", axis, shape.len()).raise()?];
            if size == 0 {
                return Err(PyValueError::new_err(
                    "split: pieces of size 0; it must be at least 1",
                ));
            }
            let starts = (0..total.max(1)).step_by(size);
            let mut sizes = Vec::new();
            let refused = |_| Error::Memory {
                bytes: starts.len() as u128 * size_of::<usize>() as u128,
                limit: 0,
            };
            sizes
                .try_reserve_exact(starts.len())
                .map_err(refused)
                .raise()?;
            sizes.extend(starts.map(|start| size.min(total - start)));
            sizes
        }
        Err(_) => sizes
            .extract::<Ints>()?
            .0
            .iter()
            .map(|n| count("split", "a size", *n))
            .collect::<PyResult<Vec<_>>>()?,
    };
    pieces(py, x, &sizes, axis)
}

/// `chunks` pieces of equal size along an axis, as in torch.chunk. If the size of the axis isn't
/// divisible, the last piece is smaller, or there are fewer pieces. Views, as a tuple.
///
/// ValueError if chunks is not positive; AxisError if the axis is out of range.
///
/// >>> [t.tolist() for t in flex.chunk(flex.asarray([1, 2, 3, 4, 5]), 2)]
/// [[1, 2, 3], [4, 5]]
#[function(x, /, chunks, axis = 0 -> "tuple[Tensor, ...]")]
fn chunk<'py>(
    py: Python<'py>,
    x: OperandRef<'py>,
    chunks: isize,
    axis: isize,
) -> PyResult<Bound<'py, PyTuple>> {
    let (shape, chunks) = (x.shape(), count("chunk", "chunks", chunks)?);
    let axis = layout::axis("chunk", axis, shape.len()).raise()?;
    let size = shape[axis];
    let each = size.div_ceil(chunks.max(1)).max(1);
    let piece = |x: &Layout, k: usize| {
        let start = k * each;
        Ok(x.slice(axis, start, 1, each.min(size - start)))
    };
    let n = if chunks == 0 { 0 } else { size.div_ceil(each) };
    match views(py, &x, n, &piece)? {
        Some(all) => Ok(all),
        None => tuple(py, x.tensor()?.chunk(chunks, axis as isize).raise()?),
    }
}

/// Sliding windows of `size` elements along an axis, `step` apart. The axis counts the windows, and
/// their elements are a new last dimension. A view whose elements overlap.
///
/// ValueError if size or step is not positive; ShapeError if a window is larger than the axis;
/// AxisError if the axis is out of range.
///
/// >>> flex.unfold(flex.arange(5), 3).tolist()
/// [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
#[function(x, /, size, *, step = 1, axis = -1)]
fn unfold(x: OperandRef, size: isize, step: isize, axis: isize) -> PyResult<PyTensor> {
    let (size, step) = (
        count("unfold", "size", size)?,
        count("unfold", "step", step)?,
    );
    x.view(move |x, _| x.unfold("unfold", axis, size, step))
}

/// `reshape` as a method and a function.
pub fn reshaped(
    py: Python<'_>,
    x: OperandRef,
    shape: Ints,
    copy: Option<bool>,
) -> PyResult<PyTensor> {
    if copy != Some(false) {
        let copy = copy == Some(true);
        if !copy && let Some(y) = deferred::reshape(&x, &shape.0) {
            return y;
        }
        return x.compute(py, move |t| match copy {
            true => t.copy()?.reshape(&shape.0),
            false => t.reshape(&shape.0),
        });
    }
    x.compute(py, move |t| {
        t.view_as(&shape.0)?.ok_or_else(|| {
            let (from, to) = (t.shape(), shape.0.as_slice());
            let message = format!("shape {from:?} as {to:?} needs a copy, and copy is False");
            Error::value("reshape", message)
        })
    })
}

/// The elements in row-major order in another shape; one size may be -1, and is then inferred. A
/// view if strides allow it, else a copy; `copy=True` always copies, `copy=False` raises ValueError
/// if a copy is needed. ShapeError if the number of elements differs.
///
/// >>> flex.reshape(flex.arange(6), (2, -1)).tolist()
/// [[0, 1, 2], [3, 4, 5]]
#[function(x, /, shape, *, copy = None)]
fn reshape(py: Python<'_>, x: OperandRef, shape: Ints, copy: Option<bool>) -> PyResult<PyTensor> {
    reshaped(py, x, shape, copy)
}
