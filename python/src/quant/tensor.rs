//! `flex.quant.QTensor`.

use crate::cell::PyTensor;
use crate::convert::error::Raise;
use crate::convert::{Given, Ints, TensorArg, compute, detached};
use crate::dtype::DTypeArg;
use flex::DType;
use flex::quant::{Levels, QTensor};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A quantised tensor: integers, with scales and zero points that say what they stand for, `scale *
/// (q - zero_point)`.
///
/// Made by `quantize`, or from its parts. values: int8 or uint8; for dtype "int4" and "int2", uint8
/// with two and four values per byte along one axis, the first in the lowest bits (the last byte
/// need not be full). scales: float32, float16 or bfloat16, with the tensor's rank; each size
/// divides the tensor's, so that blocks of equal size share a scale. zero_points: none, or of the
/// values' dtype and the scales' shape. shape: for int4 and int2, where `values` don't tell. Views
/// (`q[..]`, `permute_dims`, `transpose`, `flip`, `reshape`, `expand_dims`, `squeeze`,
/// `broadcast_to`) move scales with values and copy
/// nothing; ValueError if one would split a block or a byte. ShapeError or DTypeError if parts
/// don't fit together.
///
/// Arithmetic (`+ - * / // % **`, `abs`, `map`) is that of the dequantised values, and its result
/// is quantised like the tensor, of two the first: to the same dtype, with scales from the minimum
/// and maximum of what shares one. The other operand is a QTensor, a tensor, an array, a list or a
/// number. Comparisons of the dequantised values are bool tensors.
///
/// >>> q = flex.quant.QTensor(flex.asarray([2, -1], dtype="int8"), flex.asarray([0.5]))
/// >>> q.dequantize().tolist()
/// [1.0, -0.5]
/// >>> (q * 127).dequantize().tolist(), (q > 0).tolist()
/// ([127.0, -64.0], [True, False])
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

#[pymethods]
impl PyQTensor {
    #[new]
    #[pyo3(signature = (values, scales, zero_points = None, *, dtype = None, shape = None))]
    fn new(
        values: Given<TensorArg>,
        scales: Given<TensorArg>,
        zero_points: Option<Given<TensorArg>>,
        dtype: Option<Given<String>>,
        shape: Option<Given<Ints>>,
    ) -> PyResult<PyQTensor> {
        const OP: &str = "QTensor";
        let (values, scales) = (values.of(OP, "values")?, scales.of(OP, "scales")?);
        let zero_points = zero_points.map(|z| z.of(OP, "zero_points")).transpose()?;
        let levels = match dtype.map(|d| d.of(OP, "dtype")).transpose()? {
            Some(name) => levels(OP, &name)?,
            None if values.0.dtype() == DType::U8 => Levels::U8,
            None => Levels::I8,
        };
        let shape = match shape {
            Some(shape) => shape.of(OP, "shape")?.shape(OP, "shape")?,
            None if levels.is_packed() => {
                return Err(PyTypeError::new_err(format!(
                    "QTensor: {} needs shape, which its bytes don't tell",
                    levels.name()
                )));
            }
            None => values.0.shape().into(),
        };
        Ok(PyQTensor(
            QTensor::from_parts(values.0, scales.0, zero_points.map(|z| z.0), levels, shape)
                .raise()?,
        ))
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
    fn dequantize(&self, py: Python<'_>, dtype: Option<Given<DTypeArg>>) -> PyResult<PyTensor> {
        let dtype = dtype.map(|d| d.of("dequantize", "dtype")).transpose()?;
        let dtype = dtype.map_or(DType::F32, |d| d.0);
        compute(py, self.0.len(), || self.0.dequantize_as(dtype))
    }
    /// A copy with memory of its own.
    fn copy(&self, py: Python<'_>) -> PyResult<PyQTensor> {
        Ok(PyQTensor(detached(py, self.0.len(), || self.0.copy())?))
    }
    /// Whether another quantised tensor has the same shape and represents the same numbers.
    /// TypeError if `other` is no QTensor.
    #[pyo3(signature = (other, /))]
    fn equal(&self, py: Python<'_>, other: Given<PyQTensor>) -> PyResult<bool> {
        let other = other.of("equal", "other")?;
        detached(py, self.0.len(), || self.0.equal(&other.0))
    }
    /// Refuses conversion to an array, which must be asked for: NumPy would build one from its
    /// rows, and every function that takes arrays would dequantise it at each call.
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__(&self, dtype: Option<Bound<PyAny>>, copy: Option<bool>) -> PyResult<Py<PyAny>> {
        let _ = (dtype, copy);
        Err(PyTypeError::new_err(
            "a QTensor is no array: it has methods (q.max, q.sort, q.argmax, q.take, q.reshape, q.map ..), flex.quant \
             has functions (quant.concat, quant.linear, quant.conv2d), and q.dequantize() is an array",
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
#[function(values, scales, zero_points, dtype, shape)]
fn _restore(
    values: Given<TensorArg>,
    scales: Given<TensorArg>,
    zero_points: Option<Given<TensorArg>>,
    dtype: Given<String>,
    shape: Given<Ints>,
) -> PyResult<PyQTensor> {
    PyQTensor::new(values, scales, zero_points, Some(dtype), Some(shape))
}
