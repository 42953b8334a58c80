//! Functions that create tensors from a rule.

use super::cell::PyTensor;
use super::convert::{Device, Diagonal, Ints, NumberArg, TensorArg, TensorList, compute, count};
use super::default::{self, or_float};
use super::dtype::DTypeArg;
use super::values::tuple;
use crate::convert::error::Raise;
use flex::dtype::Class;
use flex::ops::{self, Indexing, Linspace};
use flex::{DType, Scalar, Tensor};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The number of elements of a new tensor, which decides whether the interpreter is released.
fn elements(shape: &[usize]) -> usize {
    shape.iter().fold(1, |n, d| n.saturating_mul(*d))
}

/// The requested dtype, or the common dtype of the numbers if there are 0-dimensional arrays among
/// them, or the default one if a number is no integer.
fn or_theirs(dtype: Option<DTypeArg>, numbers: &[NumberArg]) -> PyResult<Option<DType>> {
    if let Some(d) = dtype {
        return Ok(Some(d.0));
    }
    let mut common: Option<DType> = None;
    for d in numbers.iter().filter_map(|n| n.1) {
        common = Some(
            common
                .map_or(Ok(d), |c| c.promote(d, "result_type"))
                .raise()?,
        );
    }
    let weak = numbers.iter().filter(|n| n.1.is_none()).map(|n| n.0);
    let Some(common) = common else {
        let highest = weak.max_by_key(|s| s.class());
        return Ok(highest
            .filter(|s| s.class() >= Class::Float)
            .map(default::of));
    };
    Ok(Some(weak.fold(common, |c, s| s.promote(c))))
}

/// A tensor with unspecified values.
///
/// shape: an integer or a tuple of them. dtype: float32 by default. ShapeError if a size is
/// negative; MemoryError if there is not enough memory.
///
/// >>> flex.empty((2, 3)).shape
/// (2, 3)
#[function(shape, dtype = None, *, device = None)]
fn empty(shape: Ints, dtype: Option<DTypeArg>, device: Option<Device>) -> PyResult<PyTensor> {
    let _ = device;
    Ok(
        Tensor::empty(&shape.shape("empty", "shape")?, or_float(dtype))
            .raise()?
            .into(),
    )
}

/// A tensor with unspecified values, of the shape of `x` and its dtype, or another. MemoryError if
/// there is not enough memory.
///
/// >>> flex.empty_like(flex.asarray([1, 2])).dtype
/// flex.int64
#[function(x, /, dtype = None, *, device = None)]
fn empty_like(x: TensorArg, dtype: Option<DTypeArg>, device: Option<Device>) -> PyResult<PyTensor> {
    let _ = device;
    Ok(
        Tensor::empty(x.0.shape(), dtype.map_or(x.0.dtype(), |d| d.0))
            .raise()?
            .into(),
    )
}

/// A tensor of zeros (or False).
///
/// shape: an integer or a tuple of them. dtype: float32 by default. ShapeError if a size is
/// negative; MemoryError if there is not enough memory.
///
/// >>> flex.zeros(3).tolist()
/// [0.0, 0.0, 0.0]
#[function(shape, dtype = None, *, device = None)]
fn zeros(
    py: Python<'_>,
    shape: Ints,
    dtype: Option<DTypeArg>,
    device: Option<Device>,
) -> PyResult<PyTensor> {
    let (shape, _) = (shape.shape("zeros", "shape")?, device);
    compute(py, elements(&shape), || {
        Tensor::zeros(&shape, or_float(dtype))
    })
}

/// A tensor of zeros (or False), of the shape of `x` and its dtype, or another. MemoryError if
/// there is not enough memory.
///
/// >>> flex.zeros_like(flex.asarray([1, 2])).tolist()
/// [0, 0]
#[function(x, /, dtype = None, *, device = None)]
fn zeros_like(
    py: Python<'_>,
    x: TensorArg,
    dtype: Option<DTypeArg>,
    device: Option<Device>,
) -> PyResult<PyTensor> {
    let _ = device;
    compute(py, x.0.len(), || {
        Tensor::zeros(x.0.shape(), dtype.map_or(x.0.dtype(), |d| d.0))
    })
}

/// A tensor of ones (or True).
///
/// shape: an integer or a tuple of them. dtype: float32 by default. ShapeError if a size is
/// negative; MemoryError if there is not enough memory.
///
/// >>> flex.ones(3, dtype=flex.int8).tolist()
/// [1, 1, 1]
#[function(shape, dtype = None, *, device = None)]
fn ones(
    py: Python<'_>,
    shape: Ints,
    dtype: Option<DTypeArg>,
    device: Option<Device>,
) -> PyResult<PyTensor> {
    let (shape, _) = (shape.shape("ones", "shape")?, device);
    compute(py, elements(&shape), || ops::ones(&shape, or_float(dtype)))
}

/// A tensor of ones (or True), of the shape of `x` and its dtype, or another. MemoryError if there
/// is not enough memory.
///
/// >>> flex.ones_like(flex.asarray([5, 6])).tolist()
/// [1, 1]
#[function(x, /, dtype = None, *, device = None)]
fn ones_like(
    py: Python<'_>,
    x: TensorArg,
    dtype: Option<DTypeArg>,
    device: Option<Device>,
) -> PyResult<PyTensor> {
    let _ = device;
    compute(py, x.0.len(), || {
        ops::ones(x.0.shape(), dtype.map_or(x.0.dtype(), |d| d.0))
    })
}

/// A tensor filled with one number.
///
/// shape: an integer or a tuple of them. dtype: by default bool, int64, float32 or complex64, by
/// the kind of the number; a float is truncated for an integer dtype. ShapeError if a size is
/// negative; ValueError if the number is out of the dtype's range, as NaN is for integers,
/// DTypeError if it is complex and the dtype is not; MemoryError if there is not enough memory.
///
/// >>> flex.full((2, 2), 7).tolist()
/// [[7, 7], [7, 7]]
#[function(shape, fill_value, dtype = None, *, device = None)]
fn full(
    py: Python<'_>,
    shape: Ints,
    fill_value: NumberArg,
    dtype: Option<DTypeArg>,
    device: Option<Device>,
) -> PyResult<PyTensor> {
    let (shape, _) = (shape.shape("full", "shape")?, device);
    let dtype = or_theirs(dtype, &[fill_value])?;
    compute(py, elements(&shape), || {
        ops::full(&shape, fill_value.0, dtype)
    })
}

/// A tensor filled with one number, of the shape of `x` and its dtype, or another.
///
/// The number is converted as by `full`, with the errors of `full`.
///
/// >>> flex.full_like(flex.asarray([1, 2]), 7).tolist()
/// [7, 7]
#[function(x, /, fill_value, dtype = None, *, device = None)]
fn full_like(
    py: Python<'_>,
    x: TensorArg,
    fill_value: NumberArg,
    dtype: Option<DTypeArg>,
    device: Option<Device>,
) -> PyResult<PyTensor> {
    let _ = device;
    compute(py, x.0.len(), || {
        ops::full(
            x.0.shape(),
            fill_value.0,
            Some(dtype.map_or(x.0.dtype(), |d| d.0)),
        )
    })
}

/// `start, start + step, ..` before `stop`; with one argument, from 0 to before that.
///
/// dtype: by default int64 if all are integers, else float32. Each value is computed from its index
/// and rounded once. ValueError if the step is 0 or the number of values is not finite; DTypeError
/// for floats with an integer dtype; RangeError for values that don't fit it.
///
/// >>> flex.arange(3).tolist(), flex.arange(1, 2, 0.25).tolist()
/// ([0, 1, 2], [1.0, 1.25, 1.5, 1.75])
#[function(start, stop = None, step = NumberArg::integer(1), dtype = None, *, device = None)]
fn arange(
    py: Python<'_>,
    start: NumberArg,
    stop: Option<NumberArg>,
    step: NumberArg,
    dtype: Option<DTypeArg>,
    device: Option<Device>,
) -> PyResult<PyTensor> {
    let _ = device;
    let dtype = or_theirs(
        dtype,
        &[Some(start), stop, Some(step)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>(),
    )?;
    let (start, stop) = stop.map_or((Scalar::Int(0), start.0), |stop| (start.0, stop.0));
    let elements = (stop.to_f64() - start.to_f64()) / step.0.to_f64(); // a cast from a float saturates
    compute(py, elements as usize, || {
        ops::arange(start, stop, step.0, dtype)
    })
}

/// `num` evenly spaced values from `start` to `stop`, which is the last value if `endpoint` is
/// true.
///
/// dtype: a float or complex dtype, by default float32, complex64 for complex bounds. Each value is
/// computed from its index and rounded once. retstep: whether to return `(values, step)`, where step
/// is the distance between two values, of no dimensions, NaN if there is none. ValueError if num is
/// negative; DTypeError for other dtypes.
///
/// >>> flex.linspace(0, 1, 5).tolist()
/// [0.0, 0.25, 0.5, 0.75, 1.0]
#[function(start, stop, num, *, dtype = None, device = None, endpoint = true, retstep = false -> "Any")]
#[allow(clippy::too_many_arguments, reason = "the standard's and NumPy's")]
fn linspace<'py>(
    py: Python<'py>,
    start: NumberArg,
    stop: NumberArg,
    num: isize,
    dtype: Option<DTypeArg>,
    device: Option<Device>,
    endpoint: bool,
    retstep: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (num, _) = (count("linspace", "num", num)?, device);
    // between integer bounds there are float values
    let given = dtype.is_some();
    let dtype =
        or_theirs(dtype, &[start, stop])?.filter(|d| given || d.is_float() || d.is_complex());
    let dtype = dtype.unwrap_or_else(default::float);
    let how = Linspace {
        count: num,
        endpoint,
        dtype: Some(dtype),
    };
    let values = compute(py, num, || ops::linspace(start.0, stop.0, how))?;
    if !retstep {
        return values.into_bound_py_any(py);
    }
    let step = how.step(start.0, stop.0, dtype).raise()?;
    (values, PyTensor::new(step)).into_bound_py_any(py)
}

/// A matrix of zeros with ones on diagonal `k`; above the main diagonal if positive, below if
/// negative.
///
/// n_cols: n_rows by default. dtype: float32 by default. ValueError if a size is negative.
///
/// >>> flex.eye(2).tolist()
/// [[1.0, 0.0], [0.0, 1.0]]
#[function(n_rows, n_cols = None, k = Diagonal(0), dtype = None, *, device = None)]
fn eye(
    py: Python<'_>,
    n_rows: isize,
    n_cols: Option<isize>,
    k: Diagonal,
    dtype: Option<DTypeArg>,
    device: Option<Device>,
) -> PyResult<PyTensor> {
    let (rows, columns, _) = (
        count("eye", "n_rows", n_rows)?,
        count("eye", "n_cols", n_cols.unwrap_or(n_rows))?,
        device,
    );
    compute(py, rows.saturating_mul(columns), || {
        ops::eye(rows, columns, k.0, or_float(dtype))
    })
}

/// The lower triangles of matrices (the last two dimensions): zero above diagonal `k`.
///
/// x: a tensor of two dimensions or more (ShapeError); the result has its shape and dtype.
///
/// >>> flex.tril(flex.ones((2, 2))).tolist()
/// [[1.0, 0.0], [1.0, 1.0]]
#[function(x, /, k = Diagonal(0))]
fn tril(py: Python<'_>, x: TensorArg, k: Diagonal) -> PyResult<PyTensor> {
    compute(py, x.0.len(), || ops::tril(&x.0, k.0))
}

/// The upper triangles of matrices (the last two dimensions): zero below diagonal `k`.
///
/// x: a tensor of two dimensions or more (ShapeError); the result has its shape and dtype.
///
/// >>> flex.triu(flex.ones((2, 2))).tolist()
/// [[1.0, 1.0], [0.0, 1.0]]
#[function(x, /, k = Diagonal(0))]
fn triu(py: Python<'_>, x: TensorArg, k: Diagonal) -> PyResult<PyTensor> {
    compute(py, x.0.len(), || ops::triu(&x.0, k.0))
}

/// Coordinates of a grid: each tensor's values along a dimension of its own, broadcast to the grid;
/// views, as a tuple.
///
/// arrays: tensors of rank 1 or 0 (ShapeError). indexing: with "xy" the first tensor varies along
/// the second dimension and the second one along the first, with "ij" they are in order (ValueError
/// for anything else). sparse: not broadcast: of size 1 in the other dimensions.
///
/// >>> x, y = flex.meshgrid(flex.asarray([1, 2, 3]), flex.asarray([4, 5]))
/// >>> x.tolist(), y.tolist()
/// ([[1, 2, 3], [1, 2, 3]], [[4, 4, 4], [5, 5, 5]])
#[function(*arrays: "_Operand", indexing: "Literal['xy', 'ij']" = "xy", sparse = false -> "tuple[Tensor, ...]")]
fn meshgrid<'py>(
    py: Python<'py>,
    arrays: &Bound<'py, PyTuple>,
    indexing: &str,
    sparse: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let indexing = match indexing {
        "xy" => Indexing::Xy,
        "ij" => Indexing::Ij,
        other => {
            return Err(PyValueError::new_err(format!(
                "meshgrid: indexing is {other:?}; it is \"xy\" or \"ij\""
            )));
        }
    };
    let arrays = arrays.extract::<TensorList>()?.0;
    tuple(
        py,
        match sparse {
            true => ops::open_meshgrid(&arrays, indexing).raise()?,
            false => ops::meshgrid(&arrays, indexing).raise()?,
        },
    )
}
