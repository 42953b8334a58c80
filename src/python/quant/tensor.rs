//! `flex.quant.QTensor`.

use crate::DType;
use crate::ops::{Reduction, Sort, TopK};
use crate::python::cell::PyTensor;
use crate::python::convert::{Arg, Ints, compute, count, detached, integer, kind};
use crate::python::dtype::DTypeArg;
use crate::quant::{Levels, QTensor};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyInt, PySlice, PyTuple};

/// A quantised tensor: integers, with scales and zero points that say what they stand for, `scale *
/// (q - zero_point)`.
///
/// Made by `quantize`, or from its parts. values: int8 or uint8; for dtype "int4" and "int2", uint8
/// with two and four values per byte along one axis, the first in the lowest bits (the last byte
/// need not be full). scales: float32, float16 or bfloat16, with the tensor's rank; each size
/// divides the tensor's, so that blocks of equal size share a scale. zero_points: none, or of the
/// values' dtype and the scales' shape. shape: for int4 and int2, where `values` don't tell. Views
/// (`q[..]`, `permute_dims`, `flip`, `reshape`, `broadcast_to`) move scales with values and copy
/// nothing; ValueError if one would split a block or a byte. ShapeError or DTypeError if parts
/// don't fit together.
///
/// >>> q = flex.quant.QTensor(flex.asarray([2, -1], dtype="int8"), flex.asarray([0.5]))
/// >>> q.dequantize().tolist()
/// [1.0, -0.5]
#[pyclass(frozen, name = "QTensor", module = "flex.quant", from_py_object)]
#[derive(Clone)]
pub struct PyQTensor(pub QTensor);

/// The [`Levels`] with this name.
pub fn levels(op: &str, name: &str) -> PyResult<Levels> {
    [Levels::I8, Levels::U8, Levels::I4, Levels::I2]
        .into_iter()
        .find(|l| l.name() == name)
        .ok_or_else(|| {
            PyValueError::new_err(format!(
                "{op}: dtype is {name:?}; it is \"int8\", \"uint8\", \"int4\" or \"int2\""
            ))
        })
}

/// Axes as an argument of reductions; None for all.
fn reduction(axis: Option<isize>, keepdims: bool) -> Reduction {
    Reduction {
        axes: axis.into(),
        keepdims,
    }
}

#[pymethods]
impl PyQTensor {
    #[new]
    #[pyo3(signature = (values, scales, zero_points = None, *, dtype = None, shape = None))]
    fn new(
        values: Arg,
        scales: Arg,
        zero_points: Option<Arg>,
        dtype: Option<&str>,
        shape: Option<Ints>,
    ) -> PyResult<PyQTensor> {
        let levels = match dtype {
            Some(name) => levels("QTensor", name)?,
            None if values.0.dtype() == DType::U8 => Levels::U8,
            None => Levels::I8,
        };
        let shape = match shape {
            Some(shape) => shape.shape("QTensor", "shape")?,
            None if levels.is_packed() => {
                return Err(PyTypeError::new_err(format!(
                    "QTensor: {} needs shape, which its bytes don't tell",
                    levels.name()
                )));
            }
            None => values.0.shape().into(),
        };
        Ok(PyQTensor(QTensor::from_parts(
            values.0,
            scales.0,
            zero_points.map(|z| z.0),
            levels,
            shape,
        )?))
    }
    /// The stored integers, int8 or uint8; each byte holds two int4 or four int2 values.
    #[getter]
    fn values(&self) -> PyTensor {
        self.0.values().clone().into()
    }
    /// The scales, one per block, with the tensor's rank.
    #[getter]
    fn scales(&self) -> PyTensor {
        self.0.scales().clone().into()
    }
    /// The zero points, as many as scales, or None.
    #[getter]
    fn zero_points(&self) -> Option<PyTensor> {
        self.0.zeros().cloned().map(PyTensor::new)
    }
    /// "int8", "uint8", "int4" or "int2".
    #[getter]
    fn dtype(&self) -> &'static str {
        self.0.levels().name()
    }
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.shape())
    }
    /// How many neighbours along each axis share a scale.
    #[getter]
    fn block<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.block())
    }
    #[getter]
    fn ndim(&self) -> usize {
        self.0.rank()
    }
    #[getter]
    fn size(&self) -> usize {
        self.0.len()
    }
    /// The size of values, scales and zero points in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.byte_len()
    }
    /// The numbers `scale * (q - zero_point)`, as float32 or another float dtype. DTypeError for
    /// other dtypes.
    ///
    /// >>> flex.quant.quantize(flex.asarray([127.0, -1.0, 0.25])).dequantize().tolist()
    /// [127.0, -1.0, 0.0]
    #[pyo3(signature = (dtype = None))]
    fn dequantize(&self, py: Python<'_>, dtype: Option<DTypeArg>) -> PyResult<PyTensor> {
        let dtype = dtype.map_or(DType::F32, |d| d.0);
        compute(py, self.0.len(), || self.0.dequantize_as(dtype))
    }
    /// Permutes the dimensions: dimension `k` of the result is dimension `axes[k]`. A view.
    fn permute_dims(&self, axes: Ints) -> PyResult<PyQTensor> {
        Ok(PyQTensor(self.0.permute(&axes.0[..])?))
    }
    /// The transposed matrix; a view. ShapeError unless there are two dimensions.
    #[getter]
    #[allow(non_snake_case, reason = "the standard's name")]
    fn T(&self) -> PyResult<PyQTensor> {
        Ok(PyQTensor(self.0.permute([1, 0])?))
    }
    /// Reverses axes, all by default; a view. ValueError for an axis that is packed several values
    /// to a byte.
    #[pyo3(signature = (*, axis = None))]
    fn flip(&self, axis: Option<Ints>) -> PyResult<PyQTensor> {
        Ok(PyQTensor(match axis {
            Some(axes) => self.0.flip(&axes.0[..]),
            None => self.0.flip(()),
        }?))
    }
    /// The elements in row-major order in another shape. ShapeError if the number of elements
    /// differs, or a block would be split.
    fn reshape(&self, shape: Ints) -> PyResult<PyQTensor> {
        Ok(PyQTensor(self.0.reshape(shape.shape("reshape", "shape")?)?))
    }
    /// Broadcasts dimensions of size 1, and adds new ones in front; a view. ShapeError if sizes
    /// don't match.
    fn broadcast_to(&self, shape: Ints) -> PyResult<PyQTensor> {
        Ok(PyQTensor(
            self.0.broadcast_to(shape.shape("broadcast_to", "shape")?)?,
        ))
    }
    /// Integers, slices and an ellipsis; a view. ValueError if blocks, or the values of a byte,
    /// would be split.
    fn __getitem__(&self, key: &Bound<PyAny>) -> PyResult<PyQTensor> {
        let items = match key.cast::<PyTuple>() {
            Ok(items) => items.iter().collect::<Vec<_>>(),
            Err(_) => vec![key.clone()],
        };
        let given = items
            .iter()
            .filter(|i| !i.is_instance_of::<PyEllipsis>())
            .count();
        if given > self.0.rank() {
            let message = format!("QTensor: {given} indices for {} dimensions", self.0.rank());
            return Err(PyIndexError::new_err(message));
        }
        let (mut q, mut axis, mut skipped) = (self.0.clone(), 0, false);
        for item in &items {
            if item.is_instance_of::<PyEllipsis>() {
                if skipped {
                    return Err(PyIndexError::new_err("QTensor: more than one ellipsis"));
                }
                (axis, skipped) = (axis + (self.0.rank() - given) as isize, true);
            } else if let Ok(slice) = item.cast::<PySlice>() {
                let bound = |name: &str| -> PyResult<Option<i64>> {
                    let bound = slice.getattr(name)?;
                    if bound.is_none() {
                        Ok(None)
                    } else {
                        Ok(Some(integer(&bound)? as i64))
                    }
                };
                q = q.slice_axis(
                    axis,
                    bound("start")?,
                    bound("stop")?,
                    bound("step")?.unwrap_or(1),
                )?;
                axis += 1;
            } else if item.is_instance_of::<PyInt>() || item.hasattr("__index__")? {
                q = q.select(axis, integer(item)? as i64)?;
            } else {
                let message = format!(
                    "QTensor: indices are integers, slices and an ellipsis, not {}",
                    kind(item)
                );
                return Err(PyTypeError::new_err(message));
            }
        }
        Ok(PyQTensor(q))
    }
    /// The index of the first largest element, of all or along an axis.
    #[pyo3(signature = (*, axis = None, keepdims = false))]
    fn argmax(&self, py: Python<'_>, axis: Option<isize>, keepdims: bool) -> PyResult<PyTensor> {
        compute(py, self.0.len(), || {
            self.0.argmax(reduction(axis, keepdims))
        })
    }
    /// The index of the first smallest element, of all or along an axis.
    #[pyo3(signature = (*, axis = None, keepdims = false))]
    fn argmin(&self, py: Python<'_>, axis: Option<isize>, keepdims: bool) -> PyResult<PyTensor> {
        compute(py, self.0.len(), || {
            self.0.argmin(reduction(axis, keepdims))
        })
    }
    /// The largest elements, of all or along an axis, quantised like this tensor; a single int4 or
    /// int2 value becomes int8. ValueError if elements have several scales.
    #[pyo3(signature = (*, axis = None, keepdims = false))]
    fn max(&self, py: Python<'_>, axis: Option<isize>, keepdims: bool) -> PyResult<PyQTensor> {
        Ok(PyQTensor(detached(py, self.0.len(), || {
            self.0.max(reduction(axis, keepdims))
        })?))
    }
    /// The smallest elements; otherwise like `max`.
    #[pyo3(signature = (*, axis = None, keepdims = false))]
    fn min(&self, py: Python<'_>, axis: Option<isize>, keepdims: bool) -> PyResult<PyQTensor> {
        Ok(PyQTensor(detached(py, self.0.len(), || {
            self.0.min(reduction(axis, keepdims))
        })?))
    }
    /// The elements sorted along an axis. ValueError if elements have several scales.
    #[pyo3(signature = (*, axis = -1, descending = false))]
    fn sort(&self, py: Python<'_>, axis: isize, descending: bool) -> PyResult<PyQTensor> {
        Ok(PyQTensor(detached(py, self.0.len(), || {
            self.0.sort(Sort { axis, descending })
        })?))
    }
    /// The `k` largest (or smallest) elements along an axis, and their indices. ValueError if
    /// elements have several scales.
    #[pyo3(signature = (k, *, axis = -1, largest = true))]
    fn topk(
        &self,
        py: Python<'_>,
        k: isize,
        axis: isize,
        largest: bool,
    ) -> PyResult<(PyQTensor, PyTensor)> {
        let k = count("topk", "k", k)?;
        let how = TopK {
            axis,
            largest,
            ..Default::default()
        };
        let (values, indices) = detached(py, self.0.len(), || self.0.topk(k, how))?;
        Ok((PyQTensor(values), indices.into()))
    }
    /// The elements at some indices of an axis; `indices` has one dimension. ValueError if there
    /// are blocks along the axis.
    #[pyo3(signature = (indices, *, axis = 0))]
    fn take(&self, py: Python<'_>, indices: Arg, axis: isize) -> PyResult<PyQTensor> {
        Ok(PyQTensor(detached(py, self.0.len(), || {
            self.0.take(&indices.0, axis)
        })?))
    }
    /// Whether another quantised tensor has the same shape and represents the same numbers.
    #[pyo3(signature = (other, /))]
    fn equal(&self, py: Python<'_>, other: PyQTensor) -> PyResult<bool> {
        detached(py, self.0.len(), || self.0.equal(&other.0))
    }
    /// Refuses conversion to an array, which must be asked for: NumPy would build one from its
    /// rows, and every function that takes arrays would dequantise it at each call.
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__(&self, dtype: Option<Bound<PyAny>>, copy: Option<bool>) -> PyResult<Py<PyAny>> {
        let _ = (dtype, copy);
        Err(PyTypeError::new_err(
            "a QTensor is no array: its dequantize() is one, and flex.quant has linear and conv2d for it",
        ))
    }
    /// Pickles the parts.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let restore = py
            .import("flex._flex")?
            .getattr("_quant")?
            .getattr("_restore")?;
        let shape = PyTuple::new(py, self.0.shape())?;
        let parts = (
            self.values(),
            self.scales(),
            self.zero_points(),
            self.dtype(),
            shape,
        );
        (restore, parts).into_pyobject(py)
    }
    fn __len__(&self) -> PyResult<usize> {
        self.0
            .shape()
            .first()
            .copied()
            .ok_or_else(|| PyTypeError::new_err("QTensor: no dimension has a length"))
    }
    fn __repr__(&self) -> String {
        let (shape, block) = (self.0.shape(), self.0.block());
        let zeros = if self.0.zeros().is_some() {
            ", with zero points"
        } else {
            ""
        };
        format!(
            "QTensor({}, shape {shape:?}, {} scales of blocks {:?}{zeros})",
            self.0.levels().name(),
            self.0.scales().dtype(),
            &block[..]
        )
    }
}

/// Unpickles a quantised tensor.
#[pyfunction]
fn _restore(
    values: Arg,
    scales: Arg,
    zero_points: Option<Arg>,
    dtype: &str,
    shape: Ints,
) -> PyResult<PyQTensor> {
    PyQTensor::new(values, scales, zero_points, Some(dtype), Some(shape))
}

/// Registers the class in `flex.quant`.
pub(super) fn register(quant: &Bound<PyModule>) -> PyResult<()> {
    quant.add_class::<PyQTensor>()?;
    quant.add_function(wrap_pyfunction!(_restore, quant)?)
}
