//! Tensors joined, repeated, padded, and broadcast together.

use super::cell::PyTensor;
use super::convert::{Arg, Ints, Number, asarray, compute, count, integer, kind};
use super::values::tuple;
use crate::{Tensor, ops};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

/// A list, a tuple or another iterable of tensors.
pub struct Tensors(pub Vec<Tensor>);

impl<'py> FromPyObject<'_, 'py> for Tensors {
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<Tensors> {
        let tensor = |t: &Bound<'py, PyAny>| Ok(t.extract::<Arg>()?.0);
        if let Ok(t) = x.cast::<PyTuple>() {
            return t
                .iter()
                .map(|t| tensor(&t))
                .collect::<PyResult<_>>()
                .map(Tensors);
        }
        if let Ok(l) = x.cast::<PyList>() {
            return l
                .iter()
                .map(|t| tensor(&t))
                .collect::<PyResult<_>>()
                .map(Tensors);
        }
        match x.try_iter() {
            Ok(items) if !x.is_instance_of::<PyString>() => items
                .map(|t| tensor(&t?))
                .collect::<PyResult<_>>()
                .map(Tensors),
            _ => Err(PyTypeError::new_err(format!(
                "expected a list or tuple of tensors, got {}",
                kind(&x)
            ))),
        }
    }
}

impl Tensors {
    fn elements(&self) -> usize {
        self.0
            .iter()
            .map(Tensor::len)
            .fold(0, usize::saturating_add)
    }
}

/// The tensors, each in the shape that all of them broadcast to: views, as a tuple.
///
/// arrays: tensors of any dtypes, which they keep. ShapeError where the shapes don't broadcast.
///
/// >>> [t.shape for t in flex.broadcast_arrays(flex.zeros((3, 1)), flex.zeros(4))]
/// [(3, 4), (3, 4)]
#[pyfunction]
#[pyo3(signature = (*arrays))]
fn broadcast_arrays<'py>(
    py: Python<'py>,
    arrays: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyTuple>> {
    tuple(py, ops::broadcast_arrays(&arrays.extract::<Tensors>()?.0)?)
}

/// Tensors one after the other along an axis; with `axis=None`, each as one line.
///
/// arrays: a sequence of at least one tensor (ValueError), of one shape but for their size along
/// the axis (ShapeError). The result has the dtype that all promote to (DTypeError where there is
/// none).
///
/// >>> flex.concat([flex.asarray([1, 2]), flex.asarray([3])]).tolist()
/// [1, 2, 3]
#[pyfunction]
#[pyo3(signature = (arrays, /, axis = 0))]
fn concat(py: Python<'_>, arrays: Tensors, axis: Option<isize>) -> PyResult<PyTensor> {
    compute(py, arrays.elements(), || ops::concat(&arrays.0, axis))
}

/// Tensors of one shape along a new axis, which stands at that place in the result.
///
/// arrays: a sequence of at least one tensor (ValueError), all of one shape (ShapeError). The
/// result has the dtype that all promote to.
///
/// >>> flex.stack([flex.asarray([1, 2]), flex.asarray([3, 4])], axis=1).tolist()
/// [[1, 3], [2, 4]]
#[pyfunction]
#[pyo3(signature = (arrays, /, axis = 0))]
fn stack(py: Python<'_>, arrays: Tensors, axis: isize) -> PyResult<PyTensor> {
    compute(py, arrays.elements(), || ops::stack(&arrays.0, axis))
}

/// Each element several times along an axis; with `axis=None`, of x as one line.
///
/// repeats: an integer for all, or as many as the axis has elements. ValueError where one is
/// negative; ShapeError where they are not as many as the elements; DTypeError where they are no
/// integers.
///
/// >>> flex.repeat(flex.asarray([1, 2, 3]), flex.asarray([2, 0, 1])).tolist()
/// [1, 1, 3]
#[pyfunction]
#[pyo3(signature = (x, /, repeats, axis = None))]
fn repeat(
    py: Python<'_>,
    x: Arg,
    repeats: &Bound<PyAny>,
    axis: Option<isize>,
) -> PyResult<PyTensor> {
    if let Ok(times) = integer(repeats) {
        let times = count("repeat", "repeats", times)?;
        return compute(py, x.0.len().saturating_mul(times), || {
            ops::repeat(&x.0, times, axis)
        });
    }
    let repeats = asarray(repeats, None, None)?.get().get();
    compute(py, x.0.len(), || ops::repeat_counts(&x.0, &repeats, axis))
}

/// `x` beside itself, `repetitions[k]` times along dimension `k`.
///
/// repetitions: an integer or a tuple of them, which counts from the last dimension; the shorter of
/// it and the shape of x is filled up with 1 in front. ValueError where one is negative.
///
/// >>> flex.tile(flex.asarray([1, 2]), (2, 2)).tolist()
/// [[1, 2, 1, 2], [1, 2, 1, 2]]
#[pyfunction]
#[pyo3(signature = (x, /, repetitions))]
fn tile(py: Python<'_>, x: Arg, repetitions: Ints) -> PyResult<PyTensor> {
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

/// `x` with elements of `value` around it.
///
/// pad_width: how many before and after, as numpy.pad takes it: an integer for both ends of all
/// dimensions, one pair for all dimensions, or a pair for each. The result has the dtype of x.
/// ValueError where one is negative; ShapeError where there are more or fewer pairs than
/// dimensions; DTypeError where the value is of a kind beyond the dtype.
///
/// >>> flex.pad(flex.asarray([1, 2]), (1, 2), value=9).tolist()
/// [9, 1, 2, 9, 9]
#[pyfunction]
#[pyo3(signature = (x, /, pad_width, *, value = Number(crate::Scalar::Bool(false), None)), text_signature = "(x, /, pad_width, *, value=0)")]
fn pad(py: Python<'_>, x: Arg, pad_width: &Bound<PyAny>, value: Number) -> PyResult<PyTensor> {
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
            let pairs = pad_width.try_iter().map_err(|_| wrong())?;
            let pairs = pairs
                .map(|p| pair(&p?.extract::<Ints>().map_err(|_| wrong())?.0))
                .collect::<PyResult<Vec<_>>>()?;
            if pairs.len() == 1 {
                vec![pairs[0]; rank]
            } else {
                pairs
            }
        }
    };
    compute(py, x.0.len(), || ops::pad(&x.0, &widths, value.0))
}

pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(broadcast_arrays, m)?)?;
    m.add_function(wrap_pyfunction!(concat, m)?)?;
    m.add_function(wrap_pyfunction!(stack, m)?)?;
    m.add_function(wrap_pyfunction!(repeat, m)?)?;
    m.add_function(wrap_pyfunction!(tile, m)?)?;
    m.add_function(wrap_pyfunction!(pad, m)?)
}
