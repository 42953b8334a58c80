//! Joining, dividing and turning with NumPy's rules for tensors with few dimensions.

use super::cell::PyTensor;
use super::convert::{Diagonal, Ints, OperandRef, TensorList, compute, count, integer};
use super::shape::{reshaped, views};
use super::values::tuple;
use crate::convert::error::Raise;
use flex::layout::Layout;
use flex::ops::{self, Sections, stacks, turn};
use flex::{DType, Error, Tensor};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The elements in row-major order, as a vector; a view if strides allow it, else a copy.
///
/// >>> flex.ravel(flex.asarray([[1, 2], [3, 4]])).tolist()
/// [1, 2, 3, 4]
#[function(x, /)]
fn ravel(py: Python<'_>, x: OperandRef) -> PyResult<PyTensor> {
    reshaped(py, x, Ints(smallvec::smallvec![-1]), None)
}

/// Views of each argument with at least so many dimensions.
fn at_least<'py>(
    py: Python<'py>,
    op: &str,
    arrays: &Bound<'py, PyTuple>,
    rank: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let view = |x: Bound<'py, PyAny>| {
        let named = |e: PyErr| match e.is_instance_of::<PyTypeError>(py) {
            true => PyTypeError::new_err(format!("{op}: {}", e.value(py))),
            false => e,
        };
        let x = x.extract::<OperandRef>().map_err(named)?;
        Bound::new(py, x.view(move |x, _| stacks::at_least(x, rank))?)
    };
    let all = arrays.iter().map(view).collect::<PyResult<Vec<_>>>()?;
    match &all[..] {
        [one] => Ok(one.clone().into_any()),
        _ => Ok(PyTuple::new(py, all)?.into_any()),
    }
}

macro_rules! at_least {
    ($($(#[doc = $doc:literal])* $name:ident $op:literal $rank:literal;)*) => { $(
        $(#[doc = $doc])*
        #[function(*arrays: "_Operand")]
        fn $name<'py>(py: Python<'py>, arrays: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
            at_least(py, $op, arrays, $rank)
        }
    )* };
}
at_least! {
    /// A view of the tensor with at least one dimension; of several tensors, a tuple of views.
    ///
    /// >>> flex.atleast_1d(flex.asarray(5)).shape
    /// (1,)
    atleast_1d "atleast_1d" 1;
    /// A view of the tensor with at least two dimensions, in which a vector is a row; of several
    /// tensors, a tuple of views.
    ///
    /// >>> flex.atleast_2d(flex.asarray([1, 2])).shape
    /// (1, 2)
    atleast_2d "atleast_2d" 2;
    /// A view of the tensor with at least three dimensions: a vector of n has the shape (1, n, 1),
    /// a matrix (m, n, 1); of several tensors, a tuple of views.
    ///
    /// >>> flex.atleast_3d(flex.asarray([1, 2])).shape
    /// (1, 2, 1)
    atleast_3d "atleast_3d" 3;
}

macro_rules! stacks {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(arrays, /)]
        fn $name(py: Python<'_>, arrays: TensorList) -> PyResult<PyTensor> {
            compute(py, arrays.elements(), || ops::$name(&arrays.0))
        }
    )* };
}
stacks! {
    /// Joins tensors along the second axis, vectors and numbers along the first.
    ///
    /// arrays: a sequence of at least one tensor (ValueError), of equal shapes except along that axis
    /// (ShapeError). The result has their common dtype (DTypeError if there is none).
    ///
    /// >>> flex.hstack([flex.asarray([[1], [2]]), flex.asarray([[3], [4]])]).tolist()
    /// [[1, 3], [2, 4]]
    hstack;
    /// Joins tensors along the first axis, after `atleast_2d`: vectors are rows. Arguments and errors
    /// are those of `hstack`.
    ///
    /// >>> flex.vstack([flex.asarray([1, 2]), flex.asarray([3, 4])]).tolist()
    /// [[1, 2], [3, 4]]
    vstack;
    /// Joins tensors along the third axis, after `atleast_3d`. Arguments and errors are those of
    /// `hstack`.
    ///
    /// >>> flex.dstack([flex.asarray([1, 2]), flex.asarray([3, 4])]).tolist()
    /// [[[1, 3], [2, 4]]]
    dstack;
    /// Joins tensors along the second axis; vectors are columns. Arguments and errors are those of
    /// `hstack`.
    ///
    /// >>> flex.column_stack([flex.asarray([1, 2]), flex.asarray([3, 4])]).tolist()
    /// [[1, 3], [2, 4]]
    column_stack;
}

/// Pieces of an axis as views.
fn pieces<'py>(
    py: Python<'py>,
    op: &'static str,
    x: OperandRef<'py>,
    sections: &Bound<'py, PyAny>,
    axis: usize,
    equal: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let sections = match integer(sections) {
        Ok(n) => Sections::Count(count(op, "indices_or_sections", n)?),
        Err(_) => Sections::At(
            sections
                .extract::<Ints>()?
                .0
                .iter()
                .map(|i| *i as i64)
                .collect(),
        ),
    };
    let pieces = sections.pieces(op, x.shape()[axis], equal).raise()?;
    let piece = |x: &Layout, k: usize| Ok(x.slice(axis, pieces[k].0, 1, pieces[k].1));
    if let Some(all) = views(py, &x, pieces.len(), &piece)? {
        return Ok(all);
    }
    let x = x.tensor()?;
    let view = |k| {
        Tensor::room_for_view()?;
        Ok::<_, Error>(x.view(piece(x.layout(), k)?))
    };
    tuple(
        py,
        flex::bindings::collect((0..pieces.len()).map(view)).raise()?,
    )
}

/// Pieces along an axis, as in numpy.array_split; views, as a tuple.
///
/// indices_or_sections: the number of pieces, of nearly equal size (ValueError if it isn't positive),
/// or the indices before which the axis is divided; negative ones count from the end. AxisError if
/// the axis is out of range.
///
/// >>> [t.tolist() for t in flex.array_split(flex.asarray([1, 2, 3, 4, 5]), 3)]
/// [[1, 2], [3, 4], [5]]
#[function(x, /, indices_or_sections: "_Shape", axis = 0 -> "tuple[Tensor, ...]")]
fn array_split<'py>(
    py: Python<'py>,
    x: OperandRef<'py>,
    indices_or_sections: &Bound<'py, PyAny>,
    axis: isize,
) -> PyResult<Bound<'py, PyTuple>> {
    const OP: &str = "array_split";
    let axis = flex::layout::axis(OP, axis, x.shape().len()).raise()?;
    pieces(py, OP, x, indices_or_sections, axis, false)
}

macro_rules! splits {
    ($($(#[doc = $doc:literal])* $name:ident $op:literal;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, /, indices_or_sections: "_Shape" -> "tuple[Tensor, ...]")]
        fn $name<'py>(
            py: Python<'py>,
            x: OperandRef<'py>,
            indices_or_sections: &Bound<'py, PyAny>,
        ) -> PyResult<Bound<'py, PyTuple>> {
            let axis = turn::split_axis($op, &x.shape()).raise()?;
            pieces(py, $op, x, indices_or_sections, axis, true)
        }
    )* };
}
splits! {
    /// Pieces along the second axis, of vectors along the first; views, as a tuple.
    ///
    /// indices_or_sections: the number of pieces, of equal size (ShapeError if that doesn't divide
    /// the axis), or the indices before which the axis is divided. ShapeError for a number.
    ///
    /// >>> [t.tolist() for t in flex.hsplit(flex.asarray([[1, 2], [3, 4]]), 2)]
    /// [[[1], [3]], [[2], [4]]]
    hsplit "hsplit";
    /// Pieces along the first axis of two or more; views, as a tuple. Arguments and errors are those
    /// of `hsplit`; ShapeError for vectors, too.
    ///
    /// >>> [t.tolist() for t in flex.vsplit(flex.asarray([[1, 2], [3, 4]]), 2)]
    /// [[[1, 2]], [[3, 4]]]
    vsplit "vsplit";
}

/// Reverses the second axis: columns from left to right; a view. ShapeError if there are fewer than
/// two dimensions.
///
/// >>> flex.fliplr(flex.asarray([[1, 2], [3, 4]])).tolist()
/// [[2, 1], [4, 3]]
#[function(x, /)]
fn fliplr(x: OperandRef) -> PyResult<PyTensor> {
    x.view(|x: &Layout, _: DType| turn::mirrored("fliplr", x, 1))
}

/// Reverses the first axis: rows from top to bottom; a view. ShapeError for a number.
///
/// >>> flex.flipud(flex.asarray([[1, 2], [3, 4]])).tolist()
/// [[3, 4], [1, 2]]
#[function(x, /)]
fn flipud(x: OperandRef) -> PyResult<PyTensor> {
    x.view(|x: &Layout, _: DType| turn::mirrored("flipud", x, 0))
}

/// Rotates by 90 degrees, `k` times, in the plane of two axes, from the first towards the second; a
/// view.
///
/// axes: two different axes (AxisError).
///
/// >>> flex.rot90(flex.asarray([[1, 2], [3, 4]])).tolist()
/// [[2, 4], [1, 3]]
#[function(x, /, k = 1, axes = (0, 1))]
fn rot90(x: OperandRef, k: isize, axes: (isize, isize)) -> PyResult<PyTensor> {
    x.view(move |x, _| turn::rotated(x, k as i64, [axes.0, axes.1]))
}

/// Diagonal `k` of a matrix, as a view; of a vector, the square matrix with its elements on that
/// diagonal, and zeros elsewhere.
///
/// k: positive above the main diagonal. ShapeError for other numbers of dimensions.
///
/// >>> flex.diag(flex.asarray([[1, 2], [3, 4]])).tolist(), flex.diag(flex.asarray([5]), k=1).tolist()
/// ([1, 4], [[0, 5], [0, 0]])
#[function(x, /, k = Diagonal(0))]
fn diag(py: Python<'_>, x: OperandRef, k: Diagonal) -> PyResult<PyTensor> {
    x.compute(py, move |x| ops::diag(x, k.0))
}
