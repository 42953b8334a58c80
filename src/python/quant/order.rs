//! Methods of `flex.quant.QTensor` that need only the order of the elements.

use super::tensor::PyQTensor;
use crate::ops::{Reduction, Sort, TopK};
use crate::python::cell::PyTensor;
use crate::python::convert::{Arg, compute, count, detached};
use pyo3::prelude::*;

/// Axes as an argument of reductions; None for all.
fn reduction(axis: Option<isize>, keepdims: bool) -> Reduction {
    Reduction {
        axes: axis.into(),
        keepdims,
    }
}

#[pymethods]
impl PyQTensor {
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
    /// The indices that sort along an axis.
    #[pyo3(signature = (*, axis = -1, descending = false))]
    fn argsort(&self, py: Python<'_>, axis: isize, descending: bool) -> PyResult<PyTensor> {
        compute(py, self.0.len(), || {
            self.0.argsort(Sort { axis, descending })
        })
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
    /// The elements at positions along an axis: for each line of it, those of the same line of
    /// `indices`. ValueError if elements of a line have several scales.
    #[pyo3(signature = (indices, axis = -1))]
    fn take_along_axis(&self, py: Python<'_>, indices: Arg, axis: isize) -> PyResult<PyQTensor> {
        Ok(PyQTensor(detached(py, self.0.len(), || {
            self.0.take_along_axis(&indices.0, axis)
        })?))
    }
}
