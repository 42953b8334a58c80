//! Tensors and bytes: tensors of the elements of any buffer, the bytes of a tensor, and the same
//! bytes as another dtype.

use super::buffer::{BufferRequest, PyBuffer};
use super::foreign::{Foreign, Lease};
use crate::cell::PyTensor;
use crate::convert::error::Raise;
use crate::convert::{Ints, kind};
use crate::dtype::{self, DTypeArg};
use crate::whole;
use flex::layout::{Layout, Shape, Strides};
use flex::{DType, Error, Tensor};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// The bytes of a contiguous tensor, as a tensor of its storage.
pub fn as_bytes(t: &Tensor) -> flex::Result<Tensor> {
    let size = t.dtype().size();
    let start = if t.is_empty() {
        0
    } else {
        t.layout().offset() * size
    };
    Tensor::from_parts(
        t.storage().clone(),
        Layout::new(&[t.len() * size], &[1], start)?,
        DType::U8,
    )
}

/// The same bytes as another dtype. If its size differs, the last dimension becomes longer or
/// shorter.
fn viewed(t: &Tensor, dtype: DType) -> flex::Result<Tensor> {
    const OP: &str = "view";
    let (old, new) = (t.dtype().size(), dtype.size());
    if old == new {
        return t.bitcast(dtype);
    }
    let mut shape = Shape::from_slice(t.shape());
    let Some(n) = shape.last_mut() else {
        return Err(Error::shape(
            OP,
            format!(
                "a 0-dimensional {} can't be viewed as {dtype} of another size: reshape it to (1,) first",
                t.dtype()
            ),
        ));
    };
    let one = *n <= 1;
    if !one && t.strides()[t.rank() - 1] != 1 {
        return Err(Error::value(
            OP,
            format!(
                "the last dimension is not contiguous, and {dtype} has another size: take \
                    t.contiguous() first"
            ),
        ));
    }
    if *n * old % new != 0 {
        let message = format!(
            "{} elements of {} along the last dimension are not a whole number of {dtype}",
            *n,
            t.dtype()
        );
        return Err(Error::shape(OP, message));
    }
    *n = *n * old / new;
    // in elements of the new dtype; the stride of a dimension of size 1 is arbitrary
    let rescaled = |elements: isize| {
        let bytes = elements.saturating_mul(old as isize);
        if bytes % new as isize == 0 {
            Ok(bytes / new as isize)
        } else {
            Err(Error::value(
                OP,
                format!("rows begin within a {dtype}: take t.contiguous() first"),
            ))
        }
    };
    let last = t.rank() - 1;
    let steps = t.strides().iter().zip(t.shape()).enumerate();
    let strides = steps
        .map(|(axis, (s, d))| {
            if axis == last || *d <= 1 {
                Ok(1)
            } else {
                rescaled(*s)
            }
        })
        .collect::<flex::Result<Strides>>()?;
    let offset = if t.is_empty() {
        0
    } else {
        rescaled(t.layout().offset() as isize)? as usize
    };
    Tensor::from_parts(
        t.storage().clone(),
        Layout::new(&shape, &strides, offset)?,
        dtype,
    )
}

/// A 1-dimensional tensor of the elements in a buffer (`bytes`, `mmap`, a `memoryview`), which it
/// borrows.
///
/// dtype: the dtype of the elements. count: their number, by default all to the end. offset: that of
/// the first element, in bytes. Misaligned elements are copied. ValueError if the buffer is too
/// short, or the rest is not a whole number of elements; BufferError if it is not contiguous.
///
/// >>> flex.frombuffer(b"\x01\x00\x02\x00", "int16").tolist()
/// [1, 2]
#[function(buffer: "_Buffer", dtype, count = -1, offset = 0)]
fn frombuffer(
    buffer: &Bound<PyAny>,
    dtype: DTypeArg,
    count: isize,
    offset: isize,
) -> PyResult<PyTensor> {
    let refuse = |what: String| PyValueError::new_err(format!("frombuffer: {what}"));
    let (view, size) = (
        PyBuffer::take(buffer, BufferRequest::Bytes)?,
        dtype.0.size(),
    );
    let (first, len) = view.bytes();
    let offset = usize::try_from(offset).ok().filter(|o| *o <= len);
    let offset = offset.ok_or_else(|| {
        refuse(format!(
            "the offset must lie in the {len} bytes of the {}",
            kind(buffer)
        ))
    })?;
    let rest = len - offset;
    let count = match count {
        -1 if rest % size != 0 => {
            return Err(refuse(format!(
                "{rest} bytes are not a whole number of {} ({size} bytes each)",
                dtype.0
            )));
        }
        -1 => rest / size,
        n => match usize::try_from(n)
            .ok()
            .filter(|n| n.checked_mul(size).is_some_and(|bytes| bytes <= rest))
        {
            Some(n) => n,
            None => {
                return Err(refuse(format!(
                    "{n} elements of {} exceed the {rest} bytes",
                    dtype.0
                )));
            }
        },
    };
    let foreign = Foreign::new(
        first.wrapping_add(offset),
        &[count as isize],
        None,
        dtype.0,
        false,
    )?;
    let lease = Lease::new(buffer.py(), view)?;
    // SAFETY: `count` elements from `offset` on lie in the buffer, as was checked; the exporter
    // keeps it until the lease releases the view.
    Ok(PyTensor::new(unsafe { foreign.tensor(lease, None) }?))
}

/// The argument of `view`. Sizes, which torch's `view` takes, are an error that names `reshape`.
fn dtype_of(arguments: &Bound<'_, PyTuple>) -> PyResult<DTypeArg> {
    let dtype = match arguments.len() {
        1 => arguments.get_item(0)?.extract(),
        n => Err(PyTypeError::new_err(format!(
            "Tensor.view() takes 1 argument, a dtype, but {n} were given"
        ))),
    };
    dtype.map_err(|e| match Ints::from_args(arguments) {
        Ok(Ints(sizes)) if !sizes.is_empty() => {
            let sizes: Vec<_> = sizes.iter().map(isize::to_string).collect();
            PyTypeError::new_err(format!(
                "view: it takes a dtype, to view the same bytes as; for another shape write x.reshape({})",
                sizes.join(", ")
            ))
        }
        _ => e,
    })
}

#[pymethods]
impl PyTensor {
    /// The same bytes as another dtype, without a copy. If its size differs, the last dimension
    /// becomes longer or shorter by the ratio: ValueError if it is not contiguous, ShapeError if
    /// there is none or its bytes are no whole number of elements. To change the shape, use
    /// `reshape`.
    #[pyo3(name = "view", signature = (*dtype), text_signature = "($self, dtype, /)")]
    fn viewed(slf: &Bound<'_, Self>, dtype: &Bound<'_, PyTuple>) -> PyResult<PyTensor> {
        let (py, dtype) = (slf.py(), dtype_of(dtype)?);
        let object = dtype::object(py, dtype.0)?.into_any();
        if let Some(y) = whole::method(slf, "view", &[object]) {
            return y;
        }
        Ok(PyTensor::new(
            viewed(&slf.get().tensor(py)?, dtype.0).raise()?,
        ))
    }
    /// The elements in row-major order, as Python bytes.
    #[pyo3(signature = () -> "bytes")]
    fn tobytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = as_bytes(&self.tensor(py)?.contiguous().raise()?).raise()?;
        py.get_type::<PyBytes>()
            .call1((Bound::new(py, PyTensor::new(bytes))?,))
    }
}
