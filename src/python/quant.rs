//! `flex.quant`: quantised tensors, what makes them, and products by them.

use super::cell::PyTensor;
use super::convert::{Arg, Ints, compute, count, detached, integer, kind};
use super::dtype::DTypeArg;
use super::linalg::work;
use super::nn::activation_named;
use crate::DType;
use crate::io::gguf::{self, Entry, Value};
use crate::ops::{Reduction, Sort, TopK};
use crate::quant::{self, Calibration, Inputs, Levels, Linear, Per, QTensor, Quantization};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyEllipsis, PyList, PySlice, PyTuple};
use std::path::PathBuf;

/// Integers, and the scales and zero points that say what they stand for: `scale * (q - zero_point)`.
///
/// Made by `quantize`, or from its parts. values: int8 or uint8; of dtype "int4", uint8 with two values a
/// byte along one axis, the first in the lower half (an odd last one stands alone). scales: float32, float16 or
/// bfloat16, of the tensor's rank; each size divides the tensor's, so that as many neighbours share a scale. zero_points:
/// none, or of the values' dtype and the scales' shape. shape: of int4, where `values` don't tell. Views (`q[..]`, `permute_dims`,
/// `flip`, `reshape`, `broadcast_to`) move scales with values and copy nothing; what would part a block or a byte is a ValueError.
/// ShapeError or DTypeError where parts don't fit.
///
/// >>> q = flex.quant.QTensor(flex.asarray([2, -1], dtype="int8"), flex.asarray([0.5]))
/// >>> q.dequantize().tolist()
/// [1.0, -0.5]
#[pyclass(frozen, name = "QTensor", module = "flex.quant", from_py_object)]
#[derive(Clone)]
struct PyQTensor(QTensor);

/// What [`Levels`] are called.
fn levels(op: &str, name: &str) -> PyResult<Levels> {
    [Levels::I8, Levels::U8, Levels::I4].into_iter().find(|l| l.name() == name).ok_or_else(|| {
        PyValueError::new_err(format!("{op}: dtype is {name:?}; it is \"int8\", \"uint8\" or \"int4\""))
    })
}

/// Axes as an argument of reductions: all for None.
fn reduction(axis: Option<isize>, keepdims: bool) -> Reduction {
    Reduction { axes: axis.into(), keepdims }
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
            None if levels == Levels::I4 => {
                return Err(PyTypeError::new_err("QTensor: int4 needs shape, which its bytes don't tell"));
            }
            None => values.0.shape().into(),
        };
        Ok(PyQTensor(QTensor::from_parts(values.0, scales.0, zero_points.map(|z| z.0), levels, shape)?))
    }
    /// The integers: int8 or uint8, of int4 bytes of two.
    #[getter]
    fn values(&self) -> PyTensor {
        self.0.values().clone().into()
    }
    /// The scales, one a block, of the tensor's rank.
    #[getter]
    fn scales(&self) -> PyTensor {
        self.0.scales().clone().into()
    }
    /// The zero points, as many as scales, or None.
    #[getter]
    fn zero_points(&self) -> Option<PyTensor> {
        self.0.zeros().cloned().map(PyTensor::new)
    }
    /// "int8", "uint8" or "int4".
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
    /// Bytes of values, scales and zero points.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.byte_len()
    }
    /// `scale * (q - zero_point)`, float32 or another float dtype. DTypeError if it is none.
    ///
    /// >>> flex.quant.quantize(flex.asarray([127.0, -1.0, 0.25])).dequantize().tolist()
    /// [127.0, -1.0, 0.0]
    #[pyo3(signature = (dtype = None))]
    fn dequantize(&self, py: Python<'_>, dtype: Option<DTypeArg>) -> PyResult<PyTensor> {
        let dtype = dtype.map_or(DType::F32, |d| d.0);
        compute(py, self.0.len(), || self.0.dequantize_as(dtype))
    }
    /// Dimension `k` of the result is dimension `axes[k]`; a view.
    fn permute_dims(&self, axes: Ints) -> PyResult<PyQTensor> {
        Ok(PyQTensor(self.0.permute(&axes.0[..])?))
    }
    /// The transposed matrix; a view. ShapeError where there are other than two dimensions.
    #[getter]
    #[allow(non_snake_case, reason = "the standard's name")]
    fn T(&self) -> PyResult<PyQTensor> {
        Ok(PyQTensor(self.0.permute([1, 0])?))
    }
    /// Reverses axes, all by default; a view. ValueError for the axis along which bytes hold two values.
    #[pyo3(signature = (*, axis = None))]
    fn flip(&self, axis: Option<Ints>) -> PyResult<PyQTensor> {
        Ok(PyQTensor(match axis {
            Some(axes) => self.0.flip(&axes.0[..]),
            None => self.0.flip(()),
        }?))
    }
    /// The elements in row-major order under another shape. ShapeError where their number is another, or
    /// blocks would be none.
    fn reshape(&self, shape: Ints) -> PyResult<PyQTensor> {
        Ok(PyQTensor(self.0.reshape(shape.shape("reshape", "shape")?)?))
    }
    /// Repeats dimensions of size 1, and adds new ones in front; a view. ShapeError where sizes don't fit.
    fn broadcast_to(&self, shape: Ints) -> PyResult<PyQTensor> {
        Ok(PyQTensor(self.0.broadcast_to(shape.shape("broadcast_to", "shape")?)?))
    }
    /// Integers, slices and an ellipsis; a view. ValueError where blocks, or the values of a byte, would be parted.
    fn __getitem__(&self, key: &Bound<PyAny>) -> PyResult<PyQTensor> {
        let items = match key.cast::<PyTuple>() {
            Ok(items) => items.iter().collect::<Vec<_>>(),
            Err(_) => vec![key.clone()],
        };
        let given = items.iter().filter(|i| !i.is_instance_of::<PyEllipsis>()).count();
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
                    if bound.is_none() { Ok(None) } else { Ok(Some(integer(&bound)? as i64)) }
                };
                q = q.slice_axis(axis, bound("start")?, bound("stop")?, bound("step")?.unwrap_or(1))?;
                axis += 1;
            } else if let Ok(index) = integer(item) {
                q = q.select(axis, index as i64)?;
            } else {
                let message = format!("QTensor: indices are integers, slices and an ellipsis, not {}", kind(item));
                return Err(PyTypeError::new_err(message));
            }
        }
        Ok(PyQTensor(q))
    }
    /// Where the largest element is first, of all or along an axis.
    #[pyo3(signature = (*, axis = None, keepdims = false))]
    fn argmax(&self, py: Python<'_>, axis: Option<isize>, keepdims: bool) -> PyResult<PyTensor> {
        compute(py, self.0.len(), || self.0.argmax(reduction(axis, keepdims)))
    }
    /// Where the smallest element is first, of all or along an axis.
    #[pyo3(signature = (*, axis = None, keepdims = false))]
    fn argmin(&self, py: Python<'_>, axis: Option<isize>, keepdims: bool) -> PyResult<PyTensor> {
        compute(py, self.0.len(), || self.0.argmin(reduction(axis, keepdims)))
    }
    /// The largest elements, of all or along an axis, quantised as they are. ValueError where elements have several scales.
    #[pyo3(signature = (*, axis = None, keepdims = false))]
    fn max(&self, py: Python<'_>, axis: Option<isize>, keepdims: bool) -> PyResult<PyQTensor> {
        Ok(PyQTensor(detached(py, self.0.len(), || self.0.max(reduction(axis, keepdims)))?))
    }
    /// The smallest elements; otherwise as `max`.
    #[pyo3(signature = (*, axis = None, keepdims = false))]
    fn min(&self, py: Python<'_>, axis: Option<isize>, keepdims: bool) -> PyResult<PyQTensor> {
        Ok(PyQTensor(detached(py, self.0.len(), || self.0.min(reduction(axis, keepdims)))?))
    }
    /// In order along an axis. ValueError where elements have several scales.
    #[pyo3(signature = (*, axis = -1, descending = false))]
    fn sort(&self, py: Python<'_>, axis: isize, descending: bool) -> PyResult<PyQTensor> {
        Ok(PyQTensor(detached(py, self.0.len(), || self.0.sort(Sort { axis, descending }))?))
    }
    /// The `k` largest (or smallest) along an axis, and where they are. ValueError where elements have several scales.
    #[pyo3(signature = (k, *, axis = -1, largest = true))]
    fn topk(&self, py: Python<'_>, k: isize, axis: isize, largest: bool) -> PyResult<(PyQTensor, PyTensor)> {
        let k = count("topk", "k", k)?;
        let how = TopK { axis, largest, ..Default::default() };
        let (values, indices) = detached(py, self.0.len(), || self.0.topk(k, how))?;
        Ok((PyQTensor(values), indices.into()))
    }
    /// The elements at the indices, of one dimension, of an axis. ValueError where blocks lie along it.
    #[pyo3(signature = (indices, *, axis = 0))]
    fn take(&self, py: Python<'_>, indices: Arg, axis: isize) -> PyResult<PyQTensor> {
        Ok(PyQTensor(detached(py, self.0.len(), || self.0.take(&indices.0, axis))?))
    }
    /// Whether another quantised tensor has the same shape and stands for the same numbers.
    #[pyo3(signature = (other, /))]
    fn equal(&self, py: Python<'_>, other: PyQTensor) -> PyResult<bool> {
        detached(py, self.0.len(), || self.0.equal(&other.0))
    }
    fn __len__(&self) -> PyResult<usize> {
        self.0.shape().first().copied().ok_or_else(|| PyTypeError::new_err("QTensor: no dimension has a length"))
    }
    fn __repr__(&self) -> String {
        let (shape, block) = (self.0.shape(), self.0.block());
        let zeros = if self.0.zeros().is_some() { ", with zero points" } else { "" };
        format!(
            "QTensor({}, shape {shape:?}, {} scales of blocks {:?}{zeros})",
            self.0.levels().name(),
            self.0.scales().dtype(),
            &block[..]
        )
    }
}

/// x as integers: `q = clamp(round(x / scale) + zero_point)`, ties to even.
///
/// x: of floats, computed with as float32. dtype: "int8", "uint8" or "int4" (two a byte). axis: a scale for each index of an axis,
/// else one for all; with block, one for as many neighbours along the axis, which they divide (ShapeError). symmetric: without zero points,
/// `scale = max(|x|) / 127` (7 of int4), else `scale = (max(x, 0) - min(x, 0)) / 255` and `zero_point = round(least - min(x, 0) / scale)`
/// (ONNX, DynamicQuantizeLinear); by default True but for uint8, which needs zero points as int4 can't have them (ValueError).
/// scale_dtype: float32, float16 or bfloat16. calibration: "minmax", "percentile" (that many percent of the numbers, 50 to 100; others
/// saturate), or "mse" (the range of least squared error). scale and zero_point: given instead (ONNX, QuantizeLinear), numbers or of the rank of x, sizes
/// dividing its own. A group of zeros has scale 1; NaN becomes what stands for 0, infinities the ends, and neither counts for a
/// range.
///
/// >>> q = flex.quant.quantize(flex.asarray([[1.0, -2.0], [0.0, 0.0]]), axis=0)
/// >>> q.values.tolist(), q.scales.shape
/// ([[64, -127], [0, 0]], (2, 1))
#[pyfunction]
#[pyo3(signature = (x, dtype = "int8", *, axis = None, block = None, symmetric = None, scale_dtype = None, calibration = "minmax", percentile = 99.9, scale = None, zero_point = None))]
fn quantize(
    py: Python<'_>,
    x: Arg,
    dtype: &str,
    axis: Option<isize>,
    block: Option<isize>,
    symmetric: Option<bool>,
    scale_dtype: Option<DTypeArg>,
    calibration: &str,
    percentile: f32,
    scale: Option<Arg>,
    zero_point: Option<Arg>,
) -> PyResult<PyQTensor> {
    const OP: &str = "quant.quantize";
    let levels = levels(OP, dtype)?;
    if let Some(scale) = scale {
        let float = |t: crate::Tensor| if t.rank() == 0 { t.astype(DType::F32) } else { Ok(t) };
        let of = if levels == Levels::U8 { DType::U8 } else { DType::I8 };
        let scale = float(scale.0)?;
        let zero = match zero_point {
            Some(z) if z.0.rank() == 0 => Some(z.0.astype(of)?),
            Some(z) => Some(z.0),
            None => None,
        };
        if axis.is_some() || block.is_some() {
            return Err(PyTypeError::new_err("quant.quantize: the shape of scale says what shares one; pass no axis or block"));
        }
        return Ok(PyQTensor(detached(py, x.0.len(), || quant::quantize_by(&x.0, levels, &scale, zero.as_ref()))?));
    }
    if zero_point.is_some() {
        return Err(PyTypeError::new_err("quant.quantize: zero_point is given, but no scale"));
    }
    let per = match (axis, block) {
        (None, None) => Per::Tensor,
        (Some(axis), None) => Per::Channel(axis),
        (axis, Some(size)) => Per::Block { axis: axis.unwrap_or(-1), size: count(OP, "block", size)? },
    };
    let calibration = match calibration {
        "minmax" => Calibration::MinMax,
        "percentile" => Calibration::Percentile(percentile),
        "mse" => Calibration::Mse,
        other => {
            let message = format!("quant.quantize: calibration is {other:?}; it is \"minmax\", \"percentile\" or \"mse\"");
            return Err(PyValueError::new_err(message));
        }
    };
    let how = Quantization {
        levels,
        per,
        affine: !symmetric.unwrap_or(levels != Levels::U8),
        scales: scale_dtype.map_or(DType::F32, |d| d.0),
        calibration,
    };
    Ok(PyQTensor(detached(py, x.0.len(), || quant::quantize(&x.0, how))?))
}

/// `activation(x @ weight.T + bias) + residual` by a quantised weight.
///
/// x: `[.., in]`, of floats. weight: a QTensor `[out, in]`. bias: `[out]`. activation: as in `flex.nn.linear`. residual: broadcasts to
/// the result, which is `[.., out]`, float32, or the dtype of x where that is narrower. inputs: "float" decodes the weight, of any kind, while it
/// is packed for the product; "dynamic" quantises each row of x to uint8 with a zero point, "dynamic_symmetric" to int8, and "static" all of x to uint8 by `scale`
/// and `zero_point`: then products are summed in int32, exactly, and the weight is int8 per tensor or `axis=0`, without zero points (ValueError).
/// NaN in x counts as 0 unless inputs is "float". ShapeError if sizes don't fit; DTypeError where x, bias or residual is of no floats.
///
/// >>> weight = flex.quant.quantize(flex.asarray([[1.0, 0.5], [-1.0, 0.0]]), axis=0)
/// >>> y = flex.quant.linear(flex.asarray([3.0, 2.0]), weight, inputs="dynamic")
/// >>> [round(v, 1) for v in y.tolist()]
/// [4.0, -3.0]
#[pyfunction]
#[pyo3(signature = (x, weight, bias = None, *, activation = None, residual = None, inputs = "float", scale = None, zero_point = None))]
fn linear(
    py: Python<'_>,
    x: Arg,
    weight: PyQTensor,
    bias: Option<Arg>,
    activation: Option<&str>,
    residual: Option<Arg>,
    inputs: &str,
    scale: Option<f32>,
    zero_point: Option<isize>,
) -> PyResult<PyTensor> {
    let activation = activation_named("quant.linear", activation)?;
    if inputs != "static" && (scale.is_some() || zero_point.is_some()) {
        return Err(PyTypeError::new_err("quant.linear: scale and zero_point are those of inputs=\"static\""));
    }
    let inputs = match inputs {
        "float" => Inputs::Float,
        "dynamic" => Inputs::Dynamic,
        "dynamic_symmetric" => Inputs::DynamicSymmetric,
        "static" => Inputs::Static {
            scale: scale.ok_or_else(|| PyTypeError::new_err("quant.linear: inputs=\"static\" needs scale"))?,
            zero: u8::try_from(zero_point.unwrap_or(0)).map_err(|_| {
                PyValueError::new_err("quant.linear: zero_point must be from 0 to 255")
            })?,
        },
        other => {
            let message = format!(
                "quant.linear: inputs is {other:?}; it is \"float\", \"dynamic\", \"dynamic_symmetric\" or \"static\""
            );
            return Err(PyValueError::new_err(message));
        }
    };
    let width = weight.0.shape().first().copied().unwrap_or(1);
    compute(py, work(&x.0, width), || {
        let options = Linear {
            bias: bias.as_ref().map(|b| &b.0),
            activation,
            residual: residual.as_ref().map(|r| &r.0),
            inputs,
        };
        quant::linear(&x.0, &weight.0, options)
    })
}

/// `(a - a_zero_point) @ (b - b_zero_point)` in int32, exact to 2^15 terms (ONNX, MatMulInteger).
///
/// a and b: int8 or uint8, each its own (DTypeError), of shapes as in `flex.matmul`. Zero points: numbers or tensors of the operand's
/// dtype: one, or of a one a row, of b one a column (ShapeError).
///
/// >>> a, b = flex.asarray([[10, 255]], dtype="uint8"), flex.asarray([[1], [-128]], dtype="int8")
/// >>> flex.quant.matmul_integer(a, b, 10).tolist()
/// [[-31360]]
#[pyfunction]
#[pyo3(signature = (a, b, a_zero_point = None, b_zero_point = None))]
fn matmul_integer(
    py: Python<'_>,
    a: Arg,
    b: Arg,
    a_zero_point: Option<Arg>,
    b_zero_point: Option<Arg>,
) -> PyResult<PyTensor> {
    let zero = |z: Option<Arg>, of: &Arg| match z {
        Some(z) if z.0.rank() == 0 => z.0.astype(of.0.dtype()).map(Some),
        z => Ok(z.map(|z| z.0)),
    };
    let (za, zb) = (zero(a_zero_point, &a)?, zero(b_zero_point, &b)?);
    let width = b.0.shape().last().copied().unwrap_or(1);
    compute(py, work(&a.0, width), || quant::matmul_integer(&a.0, &b.0, za.as_ref(), zb.as_ref()))
}

/// Quantised tensors joined along an axis, scales where they vary along it.
///
/// Of one dtype and, but along the axis, one shape and one size of blocks; where one scale spans the axis, all have the same
/// (ValueError, ShapeError).
///
/// >>> q = flex.quant.quantize(flex.asarray([[1.0, 2.0]]), axis=0)
/// >>> flex.quant.concat([q, q]).shape
/// (2, 2)
#[pyfunction]
#[pyo3(signature = (tensors, *, axis = 0))]
fn concat(py: Python<'_>, tensors: Vec<PyQTensor>, axis: isize) -> PyResult<PyQTensor> {
    let tensors: Vec<QTensor> = tensors.into_iter().map(|t| t.0).collect();
    let elements = tensors.iter().map(QTensor::len).sum();
    Ok(PyQTensor(detached(py, elements, || quant::concat(&tensors, axis))?))
}

/// A value of a GGUF file's metadata.
fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Unsigned(x) => x.into_bound_py_any(py),
        Value::Signed(x) => x.into_bound_py_any(py),
        Value::Float(x) => x.into_bound_py_any(py),
        Value::Bool(x) => x.into_bound_py_any(py),
        Value::Text(x) => x.into_bound_py_any(py),
        Value::List(list) => {
            let list = list.iter().map(|x| object(py, x)).collect::<PyResult<Vec<_>>>()?;
            Ok(PyList::new(py, list)?.into_any())
        }
    }
}

/// A file's path, or its bytes.
#[derive(FromPyObject)]
enum Content<'py> {
    Bytes(Bound<'py, PyBytes>),
    Path(PathBuf),
}

/// The tensors by name, those of other blocks (the number of their kind, the shape and the bytes), and the metadata.
#[pyfunction]
fn _load_gguf<'py>(
    py: Python<'py>,
    file: Content<'py>,
    mmap: bool,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let file = match file {
        Content::Bytes(bytes) => gguf::parse(bytes.as_bytes())?,
        Content::Path(path) => detached(py, usize::MAX, || match mmap {
            // SAFETY: `load_gguf` documents MAP1 as its caller's promise.
            true => unsafe { gguf::map(path) },
            false => gguf::load(path),
        })?,
    };
    let (tensors, others, metadata) = (PyDict::new(py), PyDict::new(py), PyDict::new(py));
    for (name, entry) in file.entries {
        match entry {
            Entry::Tensor(t) => tensors.set_item(name, PyTensor::new(t))?,
            Entry::Quantized(q) => tensors.set_item(name, PyQTensor(q).into_pyobject(py)?)?,
            Entry::Other { kind, shape, bytes } => {
                others.set_item(name, (kind, PyTuple::new(py, shape)?, PyTensor::new(bytes)))?
            }
        }
    }
    for (name, value) in &file.metadata {
        metadata.set_item(name, object(py, value)?)?;
    }
    Ok((tensors, others, metadata))
}

/// The module from which `flex/quant.py` takes its names.
pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    let quant = PyModule::new(m.py(), "flex.quant")?;
    quant.add_class::<PyQTensor>()?;
    quant.add_function(wrap_pyfunction!(quantize, &quant)?)?;
    quant.add_function(wrap_pyfunction!(linear, &quant)?)?;
    quant.add_function(wrap_pyfunction!(matmul_integer, &quant)?)?;
    quant.add_function(wrap_pyfunction!(concat, &quant)?)?;
    quant.add_function(wrap_pyfunction!(_load_gguf, &quant)?)?;
    m.setattr("_quant", quant)
}
