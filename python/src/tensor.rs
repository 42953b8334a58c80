//! `flex.Tensor`: the class, its attributes, and the methods of its object protocol.

use super::cell::PyTensor;
use super::convert::{self, CPU, Device, Ints, OperandRef, compute};
use super::deferred;
use super::deferred::trace;
use super::dtype::{self, DTypeArg, PyDType};
use super::{shape, values, whole};
use crate::convert::error::Raise;
use flex::layout::{Layout, Shape, Strides};
use flex::{DType, Error, Tensor};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyComplex, PyFloat, PyInt, PyTuple};
use std::sync::{Mutex, PoisonError};

#[pymethods]
impl PyTensor {
    /// The sizes of the dimensions.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(
            py,
            self.about(|layout, _| Shape::from_slice(layout.shape())),
        )
    }
    /// The type of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDType>> {
        dtype::object(py, self.dtype_of())
    }
    /// The number of dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.about(|layout, _| layout.rank())
    }
    /// The number of elements.
    #[getter]
    fn size(&self) -> usize {
        self.about(|layout, _| layout.len())
    }
    /// The size of an element in bytes.
    #[getter]
    fn itemsize(&self) -> usize {
        self.dtype_of().size()
    }
    /// The size of all elements in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.about(|layout, dtype| layout.len().saturating_mul(dtype.size()))
    }
    /// The strides of the dimensions in bytes, as in NumPy and the buffer protocol.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.compute_queued(py)?;
        let strides: Strides = self.about(|layout, dtype| byte_strides(layout, dtype).collect());
        PyTuple::new(py, strides)
    }
    /// The device: always `"cpu"`.
    #[getter]
    fn device(&self) -> &'static str {
        CPU
    }
    /// The transpose of a matrix; ShapeError unless there are two dimensions: `mT` transposes the
    /// last two, and `permute_dims` permutes all.
    #[getter]
    #[allow(non_snake_case)]
    fn T(slf: &Bound<'_, Self>) -> PyResult<PyTensor> {
        PyTensor::view(slf, |t, _| match t.rank() {
            2 => t.swap_axes("transpose", 0, 1),
            n @ (0 | 1) => Err(Error::shape(
                "T",
                format!(
                    "not defined for {n} dimensions: expand_dims makes a row or a column of one"
                ),
            )),
            n => Err(Error::shape(
                "T",
                format!("not defined for {n} dimensions: use mT for the last two, or permute_dims"),
            )),
        })
    }
    /// Swaps the last two dimensions; ShapeError if there are fewer.
    #[getter]
    #[allow(non_snake_case)]
    fn mT(slf: &Bound<'_, Self>) -> PyResult<PyTensor> {
        PyTensor::view(slf, |t, _| match t.rank() {
            n @ (0 | 1) => Err(Error::shape(
                "mT",
                format!("the tensor has {n} dimensions; at least 2 are needed"),
            )),
            _ => t.swap_axes("transpose", -2, -1),
        })
    }
    /// Whether the elements are adjacent in row-major order.
    fn is_contiguous(&self, py: Python<'_>) -> PyResult<bool> {
        self.compute_queued(py)?;
        Ok(self.about(|layout, _| layout.is_contiguous()))
    }
    /// A tensor whose elements are adjacent in row-major order: the tensor itself if they are.
    fn contiguous<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        let t = slf.get().tensor(slf.py())?;
        if t.is_contiguous() {
            return Ok(slf.clone());
        }
        Bound::new(slf.py(), compute(slf.py(), t.len(), || t.contiguous())?)
    }
    /// The element of a tensor with exactly one, as a Python number; ShapeError for any other.
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.one(py, "item")
    }
    /// The elements as nested lists of Python numbers; a number if the tensor is 0-dimensional.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::tolist(py, &self.tensor(py)?)
    }
    /// Converts to another dtype: floats are truncated and saturate for integers, integers wrap in
    /// narrower ones; complex numbers to a real dtype are a DTypeError, use `flex.real(x)` for
    /// these. With `copy=False`, the tensor itself if it has the dtype.
    #[pyo3(signature = (dtype, *, copy = true, device = None))]
    fn astype<'py>(
        slf: &Bound<'py, Self>,
        dtype: DTypeArg,
        copy: bool,
        device: Option<Device>,
    ) -> PyResult<Bound<'py, Self>> {
        let (py, _) = (slf.py(), device);
        if !copy && slf.get().dtype_of() == dtype.0 {
            return Ok(slf.clone());
        }
        if let Some(y) = deferred::convert(&OperandRef::Object(slf.clone()), dtype.0) {
            return Bound::new(py, y?);
        }
        let t = slf.get().tensor(py)?;
        Bound::new(
            py,
            compute(py, t.len(), || {
                if t.dtype() == dtype.0 {
                    t.copy_laid_out()
                } else {
                    t.astype(dtype.0)
                }
            })?,
        )
    }
    /// A row-major copy with memory of its own.
    fn copy(slf: &Bound<'_, Self>) -> PyResult<PyTensor> {
        if let Some(y) = whole::method(slf, "copy", &[]) {
            return y;
        }
        let py = slf.py();
        let t = slf.get().tensor(py)?;
        compute(py, t.len(), || t.copy())
    }
    /// The tensor itself, since there is one device; with `copy=True`, a copy. ValueError for
    /// another device, or a stream.
    #[pyo3(signature = (device, /, *, stream: "None" = None, copy = None))]
    fn to_device<'py>(
        slf: &Bound<'py, Self>,
        device: Device,
        stream: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, Self>> {
        let _ = device;
        if stream.is_some() {
            return Err(PyValueError::new_err(
                "to_device: the CPU has no streams; stream must be None",
            ));
        }
        if copy == Some(true) {
            Bound::new(slf.py(), PyTensor::copy(slf)?)
        } else {
            Ok(slf.clone())
        }
    }
    /// The elements in row-major order in another shape; one size may be -1, and is then inferred.
    /// A view if strides allow it, else a copy; with `copy=False` an error instead of a copy.
    #[pyo3(signature = (*shape: "_Shape", copy = None))]
    fn reshape(
        slf: Bound<'_, Self>,
        shape: &Bound<PyTuple>,
        copy: Option<bool>,
    ) -> PyResult<PyTensor> {
        let (py, shape) = (slf.py(), Ints::from_args(shape)?);
        shape::reshaped(py, OperandRef::Object(slf), shape, copy)
    }

    fn __copy__(slf: &Bound<'_, Self>) -> PyResult<PyTensor> {
        PyTensor::view(slf, |t, _| Ok(t.clone())) // a value: the first write to either copies
    }
    fn __deepcopy__(slf: &Bound<'_, Self>, _memo: &Bound<PyAny>) -> PyResult<PyTensor> {
        PyTensor::copy(slf)
    }
    fn __len__(&self) -> PyResult<usize> {
        self.about(|layout, _| layout.shape().first().copied())
            .ok_or_else(|| PyTypeError::new_err("len() of a 0-dimensional tensor"))
    }
    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<TensorIterator> {
        static WARN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let iterator = TensorIterator::new(slf.clone())?;
        WARN.import(slf.py(), "flex._loops", "warn_of_lost_rows")?
            .call0()?;
        Ok(iterator)
    }
    fn __reversed__(slf: &Bound<'_, Self>) -> PyResult<TensorIterator> {
        if slf.get().about(|layout, _| layout.rank()) == 0 {
            return TensorIterator::new(slf.clone()); // the same error
        }
        let flipped = PyTensor::view(slf, |t, _| t.flip("flip", &[0]))?;
        TensorIterator::new(Bound::new(slf.py(), flipped)?)
    }
    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        trace::refuse_number(self, "bool")?;
        self.compute_queued(py)?;
        let n = self.size();
        if n != 1 {
            let message = format!(
                "the truth of a tensor of {n} elements is ambiguous: use flex.any(t) or flex.all(t)"
            );
            return Err(PyValueError::new_err(message));
        }
        self.one(py, "bool")?.is_truthy()
    }
    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let x = self.number(py, "int")?;
        if x.is_exact_instance_of::<PyInt>() {
            Ok(x)
        } else {
            py.get_type::<PyInt>().call1((x,))
        }
    }
    fn __float__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let x = self.number(py, "float")?;
        if x.is_exact_instance_of::<PyFloat>() {
            Ok(x)
        } else {
            py.get_type::<PyFloat>().call1((x,))
        }
    }
    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.get_type::<PyComplex>()
            .call1((self.number(py, "complex")?,))
    }
    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let t = self.tensor(py)?;
        if t.rank() != 0 || !t.dtype().is_integer() {
            let message = format!(
                "only 0-dimensional integer tensors can be an index, not one of shape {:?} and {}",
                t.shape(),
                t.dtype()
            );
            return Err(PyTypeError::new_err(message));
        }
        values::item(py, &t, "index")
    }
    fn __reduce_ex__<'py>(slf: &Bound<'py, Self>, protocol: i32) -> PyResult<Bound<'py, PyAny>> {
        super::interop::pickle::reduce(slf, protocol)
    }
    /// The array API's namespace: the module `flex`. ValueError for a version that it doesn't
    /// follow.
    #[pyo3(signature = (*, api_version = None))]
    fn __array_namespace__<'py>(
        &self,
        py: Python<'py>,
        api_version: Option<&str>,
    ) -> PyResult<Bound<'py, PyModule>> {
        match api_version {
            None | Some("2021.12" | "2022.12" | "2023.12" | "2024.12" | "2025.12") => {
                py.import("flex")
            }
            Some(v) => Err(PyValueError::new_err(format!(
                "version {v:?} of the array API standard is not supported"
            ))),
        }
    }
}

impl PyTensor {
    /// The element of a tensor with exactly one.
    fn one<'py>(&self, py: Python<'py>, op: &'static str) -> PyResult<Bound<'py, PyAny>> {
        trace::refuse_number(self, op)?;
        self.compute_queued(py)?;
        let (x, dtype) = self
            .read(|t| Ok::<_, Error>((t.value(op)?, t.dtype())))
            .raise()?;
        values::number(py, &x, dtype, op)
    }
    /// [`one`](PyTensor::one) for a conversion to a number.
    fn number<'py>(&self, py: Python<'py>, op: &'static str) -> PyResult<Bound<'py, PyAny>> {
        trace::refuse_number(self, op)?;
        self.compute_queued(py)?;
        if self.size() != 1 {
            let message = format!(
                "{op}() of a tensor of shape {:?}: only tensors of one element convert to a number",
                self.about(|layout, _| Shape::from_slice(layout.shape()))
            );
            return Err(PyTypeError::new_err(message));
        }
        self.one(py, op)
    }
}

/// Strides in bytes. They saturate, since the stride of a dimension of size 1 is arbitrary.
pub fn byte_strides(
    layout: &Layout,
    dtype: DType,
) -> impl ExactSizeIterator<Item = isize> + use<'_> {
    let size = dtype.size() as isize;
    layout.strides().iter().map(move |s| s.saturating_mul(size))
}

/// An iterator over the first dimension.
#[pyclass(frozen, module = "flex")]
struct TensorIterator {
    rows: Rows,
    count: usize,
    next: Mutex<usize>,
}

/// What an iterator runs over.
enum Rows {
    Tensor(Tensor),
    /// A value of a function that is being traced: its views are recorded.
    Traced(Py<PyTensor>),
}

impl TensorIterator {
    fn new(t: Bound<'_, PyTensor>) -> PyResult<TensorIterator> {
        let count = t.get().about(|layout, _| layout.shape().first().copied());
        let Some(count) = count else {
            return Err(PyTypeError::new_err(
                "iteration over a 0-dimensional tensor",
            ));
        };
        let rows = match trace::is_traced(t.get()) {
            // a write to the object does not change what is iterated over
            true => Rows::Traced(Py::new(t.py(), PyTensor::__copy__(&t)?)?),
            false => Rows::Tensor(t.get().tensor(t.py())?),
        };
        Ok(TensorIterator {
            rows,
            count,
            next: Mutex::new(0),
        })
    }
}

#[pymethods]
impl TensorIterator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<PyTensor>> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if *next >= self.count {
            return Ok(None);
        }
        Tensor::room_for_view().raise()?;
        *next += 1;
        let k = *next as i64 - 1;
        Ok(Some(match &self.rows {
            Rows::Tensor(t) => PyTensor::new(t.select(0, k).raise()?),
            Rows::Traced(t) => PyTensor::view(t.bind(py), move |t, _| t.index("select", 0, k))?,
        }))
    }
    fn __length_hint__(&self) -> usize {
        self.count - *self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A tensor from numbers, nested lists of them, an array, or another tensor.
///
/// Arrays of NumPy and others are borrowed, not copied, if their memory can be read as it is: a
/// write to the array is then seen in the tensor. `copy=True` always copies, `copy=False` is a
/// ValueError if a copy is needed. A tensor that already has the dtype is returned itself. dtype:
/// by default that of the array, or bool, int64, float32 or complex64, by the kind of the numbers.
/// TypeError for objects that hold no numbers; ValueError for ragged lists; OverflowError if an
/// integer is out of the dtype's range.
///
/// >>> flex.asarray([[1, 2], [3, 4]]).shape, flex.asarray([1.5]).dtype
/// ((2, 2), flex.float32)
#[function(obj: "_Nested", /, dtype = None, *, device = None, copy = None)]
fn asarray<'py>(
    obj: &Bound<'py, PyAny>,
    dtype: Option<DTypeArg>,
    device: Option<Device>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyTensor>> {
    let _ = device;
    convert::asarray(obj, dtype.map(|d| d.0), copy)
}

/// Converts to another dtype: floats are truncated and saturate for integers (NaN gives 0),
/// integers wrap in narrower ones; complex numbers to a real dtype are a DTypeError, use
/// `flex.real(x)` for these. With `copy=False`, the tensor itself if it has the dtype.
///
/// >>> flex.astype(flex.asarray([1.9, -2.9, 300.0]), flex.int8).tolist()
/// [1, -2, 127]
#[function(x: "_Operand", /, dtype, *, copy = true, device = None)]
fn astype<'py>(
    x: &Bound<'py, PyAny>,
    dtype: DTypeArg,
    copy: bool,
    device: Option<Device>,
) -> PyResult<Bound<'py, PyTensor>> {
    match x.cast::<PyTensor>() {
        Ok(t) => PyTensor::astype(t, dtype, copy, device),
        Err(_) => PyTensor::astype(
            &Bound::new(x.py(), PyTensor::new(x.extract::<convert::TensorArg>()?.0))?,
            dtype,
            copy,
            device,
        ),
    }
}
