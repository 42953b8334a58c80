//! Norms, traces and diagonals.

use super::factored;
use crate::cell::PyTensor;
use crate::convert::{Diagonal, Ints, OperandRef, kind};
use crate::dtype::DTypeArg;
use flex::Axes;
use flex::bindings::Shown;
use flex::linalg::{self, MatrixNorm};
use flex::ops::ReductionAxes;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The diagonal of each matrix, as a view.
///
/// x: `[.., m, n]`, of any dtype. offset: how many columns the diagonal lies above the main one;
/// negative below. The result is `[.., k]`, with the k elements of that diagonal. ShapeError for
/// fewer than two dimensions.
///
/// >>> x = flex.asarray([[1, 2], [3, 4]])
/// >>> flex.linalg.diagonal(x).tolist(), flex.linalg.diagonal(x, offset=1).tolist()
/// ([1, 4], [2])
#[function(x, /, *, offset = Diagonal(0))]
fn diagonal(x: OperandRef, offset: Diagonal) -> PyResult<PyTensor> {
    x.view(move |layout, dtype| linalg::diagonal_layout(layout, dtype, offset.0))
}

/// The sum of the diagonal of each matrix.
///
/// x: `[.., m, n]`; the result is `[..]`. offset: that of `diagonal`. dtype: that of the sums and of
/// the result, by default as in `sum`. ShapeError for fewer than two dimensions; DTypeError if the
/// dtype can't be summed.
///
/// >>> flex.linalg.trace(flex.asarray([[1.0, 2.0], [3.0, 4.0]])).item()
/// 5.0
#[function(x, /, *, offset = Diagonal(0), dtype = None)]
fn trace(
    py: Python<'_>,
    x: OperandRef,
    offset: Diagonal,
    dtype: Option<DTypeArg>,
) -> PyResult<PyTensor> {
    let dtype = dtype.map(|d| d.0);
    x.compute(py, move |x| linalg::trace(x, offset.0, dtype))
}

/// The norm of vectors: the elements along axes, or of the whole tensor.
///
/// axis: an integer, a tuple of them, or None for all elements. keepdims: keep these axes with size
/// 1. ord: the power p of `sum(|x|**p)**(1/p)`; inf for the largest magnitude, -inf for the smallest,
/// 0 for the number of elements that are not zero. The result is real; integers become float32,
/// float16 and bfloat16 are computed in float32. Sums don't overflow. ValueError if ord is NaN;
/// AxisError if an axis is out of range or repeated; ShapeError for the smallest of no elements;
/// DTypeError for float8.
///
/// >>> flex.linalg.vector_norm(flex.asarray([[3.0, -4.0], [0.0, 1.0]]), axis=1).tolist()
/// [5.0, 1.0]
#[function(x, /, *, axis = None, keepdims = false, ord = f64::from(2))]
fn vector_norm(
    py: Python<'_>,
    x: OperandRef,
    axis: Option<Ints>,
    keepdims: bool,
    ord: f64,
) -> PyResult<PyTensor> {
    let over = ReductionAxes {
        axes: axis.as_ref().map_or(Axes::ALL, |a| (&a.0).into()),
        keepdims,
    };
    x.compute(py, move |x| linalg::vector_norm(x, ord, over.clone()))
}

/// The norm named by `ord`; the Frobenius norm for None, as in NumPy.
fn norm_of(ord: Option<&Bound<PyAny>>) -> PyResult<MatrixNorm> {
    let wrong = |shown: String| {
        PyValueError::new_err(format!(
            "matrix_norm: ord is {shown}; it is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf"
        ))
    };
    let Some(ord) = ord else {
        return Ok(MatrixNorm::Frobenius);
    };
    if let Ok(name) = ord.extract::<&str>() {
        return match name {
            "fro" => Ok(MatrixNorm::Frobenius),
            "nuc" => Ok(MatrixNorm::Nuclear),
            _ => Err(wrong(format!("{name:?}"))),
        };
    }
    let Ok(p) = ord.extract::<f64>() else {
        let message = format!(
            "matrix_norm: ord is a number or a string, not {}",
            kind(ord)
        );
        return Err(PyTypeError::new_err(message));
    };
    Ok(match p {
        1.0 => MatrixNorm::One,
        -1.0 => MatrixNorm::MinOne,
        2.0 => MatrixNorm::Two,
        -2.0 => MatrixNorm::MinTwo,
        f64::INFINITY => MatrixNorm::Infinity,
        f64::NEG_INFINITY => MatrixNorm::MinInfinity,
        _ => return Err(wrong(Shown(p).to_string())),
    })
}

/// The norm of each matrix.
///
/// x: `[.., m, n]`; the result is `[..]`, or `[.., 1, 1]` with keepdims. ord: "fro" for the square
/// root of the sum of squares; 1 or -1 for the largest or smallest sum of magnitudes of a column; inf
/// or -inf for that of a row; 2 or -2 for the largest or smallest singular value, "nuc" for their sum.
/// The result is real; integers become float32, float16 and bfloat16 are
/// computed in float32. ValueError for another ord; ShapeError for fewer than two dimensions, and for
/// the smallest of no sums; DTypeError for float8.
///
/// >>> x = flex.asarray([[3.0, 0.0], [4.0, -1.0]])
/// >>> flex.linalg.matrix_norm(x, ord=1).item(), flex.linalg.matrix_norm(x, ord=flex.inf).item()
/// (7.0, 5.0)
#[function(x, /, *, keepdims = false, ord: "float | Literal['fro', 'nuc']" = "fro")]
fn matrix_norm(
    py: Python<'_>,
    x: OperandRef,
    keepdims: bool,
    ord: Option<&Bound<PyAny>>,
) -> PyResult<PyTensor> {
    let ord = norm_of(ord)?;
    factored(py, x, move |x| linalg::matrix_norm(x, ord, keepdims))
}

/// The condition number of each matrix: its norm times that of its inverse.
///
/// p: None or 2 for the ratio of the largest and the smallest singular value, -2 for its reciprocal,
/// both also of matrices that are not square; or another `ord` of `matrix_norm`. x: `[.., m, n]`; the
/// result is `[..]`, real, infinite for a singular matrix. ValueError for another p; ShapeError if the
/// matrices are not square or have no elements; DTypeError for float8.
///
/// >>> flex.linalg.cond(flex.asarray([[4.0, 0.0], [0.0, 0.5]])).item()
/// 8.0
#[function(x, /, p: "float | Literal['fro', 'nuc'] | None" = None)]
fn cond(py: Python<'_>, x: OperandRef, p: Option<&Bound<PyAny>>) -> PyResult<PyTensor> {
    let norm = match p {
        None => MatrixNorm::Two,
        p => norm_of(p)?,
    };
    factored(py, x, move |x| linalg::cond(x, norm))
}
