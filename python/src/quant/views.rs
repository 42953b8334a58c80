//! Views of `flex.quant.QTensor`.

use super::tensor::PyQTensor;
use crate::convert::error::Raise;
use crate::convert::{Given, Ints, integer, kind};
use crate::shape::axes_of;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PyInt, PySlice, PyTuple};

#[pymethods]
impl PyQTensor {
    /// Permutes the dimensions: dimension `k` of the result is dimension `axes[k]`; a view.
    /// ShapeError unless there are as many axes as dimensions, AxisError if one is out of range or
    /// repeated.
    fn permute_dims(&self, axes: Given<Ints>) -> PyResult<PyQTensor> {
        let axes = axes.of("permute_dims", "axes")?;
        Ok(PyQTensor(self.0.permute(&axes.0[..]).raise()?))
    }
    /// The transposed matrix; a view. ShapeError unless there are two dimensions.
    #[getter]
    #[allow(non_snake_case, reason = "the standard's name")]
    fn T(&self) -> PyResult<PyQTensor> {
        Ok(PyQTensor(self.0.permute([1, 0]).raise()?))
    }
    /// Permutes the dimensions, by default in reverse order; a view. Errors like `permute_dims`.
    #[pyo3(signature = (*axes: "_Shape | None"))]
    fn transpose(&self, axes: &Bound<PyTuple>) -> PyResult<PyQTensor> {
        Ok(PyQTensor(
            match Given(axes_of(axes)).of("transpose", "axes")? {
                Some(axes) => self.0.permute(&axes.0[..]),
                None => self.0.permute(()),
            }
            .raise()?,
        ))
    }
    /// Inserts dimensions of size 1, at these positions of the result; a view. AxisError if one is
    /// out of range or repeated.
    #[pyo3(signature = (*, axis))]
    fn expand_dims(&self, axis: Given<Ints>) -> PyResult<PyQTensor> {
        let axis = axis.of("expand_dims", "axis")?;
        Ok(PyQTensor(self.0.expand_dims(&axis.0[..]).raise()?))
    }
    /// Removes dimensions of size 1, all by default; a view. ShapeError if one has another size;
    /// ValueError for an axis that is packed several values to a byte.
    #[pyo3(signature = (*, axis = None))]
    fn squeeze(&self, axis: Option<Given<Ints>>) -> PyResult<PyQTensor> {
        Ok(PyQTensor(
            match axis.map(|a| a.of("squeeze", "axis")).transpose()? {
                Some(axes) => self.0.squeeze(&axes.0[..]),
                None => self.0.squeeze(()),
            }
            .raise()?,
        ))
    }
    /// Reverses axes, all by default; a view. ValueError for an axis that is packed several values
    /// to a byte.
    #[pyo3(signature = (*, axis = None))]
    fn flip(&self, axis: Option<Given<Ints>>) -> PyResult<PyQTensor> {
        Ok(PyQTensor(
            match axis.map(|a| a.of("flip", "axis")).transpose()? {
                Some(axes) => self.0.flip(&axes.0[..]),
                None => self.0.flip(()),
            }
            .raise()?,
        ))
    }
    /// The elements in row-major order in another shape; one size may be -1, and is then inferred. A
    /// view if strides allow it. ShapeError if the number of elements differs, or a block would be
    /// split.
    #[pyo3(signature = (*shape: "_Shape"))]
    fn reshape(&self, shape: &Bound<PyTuple>) -> PyResult<PyQTensor> {
        let shape = Given(Ints::from_args(shape)).of("reshape", "shape")?;
        Ok(PyQTensor(self.0.reshape(&shape.0[..]).raise()?))
    }
    /// Broadcasts dimensions of size 1, and adds new ones in front; a view. ShapeError if sizes
    /// don't match.
    fn broadcast_to(&self, shape: Given<Ints>) -> PyResult<PyQTensor> {
        const OP: &str = "broadcast_to";
        let shape = shape.of(OP, "shape")?.shape(OP, "shape")?;
        Ok(PyQTensor(self.0.broadcast_to(shape).raise()?))
    }
    /// Integers, slices, None for a new dimension, and an ellipsis; a view. ValueError if blocks, or
    /// the values of a byte, would be split.
    fn __getitem__(&self, key: &Bound<PyAny>) -> PyResult<PyQTensor> {
        let items = match key.cast::<PyTuple>() {
            Ok(items) => items.iter().collect::<Vec<_>>(),
            Err(_) => vec![key.clone()],
        };
        let given = items
            .iter()
            .filter(|i| !i.is_instance_of::<PyEllipsis>() && !i.is_none())
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
            } else if item.is_none() {
                q = q.expand_dims(axis).raise()?;
                axis += 1;
            } else if let Ok(slice) = item.cast::<PySlice>() {
                let bound = |name: &str| -> PyResult<Option<i64>> {
                    let bound = slice.getattr(name)?;
                    if bound.is_none() {
                        Ok(None)
                    } else {
                        Ok(Some(integer(&bound)? as i64))
                    }
                };
                q = q
                    .slice_axis(
                        axis,
                        bound("start")?,
                        bound("stop")?,
                        bound("step")?.unwrap_or(1),
                    )
                    .raise()?;
                axis += 1;
            } else if item.is_instance_of::<PyInt>() || item.hasattr("__index__")? {
                q = q.select(axis, integer(item)? as i64).raise()?;
            } else {
                let message = format!(
                    "QTensor: indices are integers, slices, None and an ellipsis, not {}",
                    kind(item)
                );
                return Err(PyTypeError::new_err(message));
            }
        }
        Ok(PyQTensor(q))
    }
}
