//! Methods of `flex.quant.QTensor` that need only the order of the elements.

use super::tensor::PyQTensor;
use crate::cell::PyTensor;
use crate::convert::{Given, TensorArg, compute, count, detached};
use flex::ops::{ReductionAxes, Sort, TopK};
use pyo3::prelude::*;

/// Arguments of reductions; all axes for None.
fn reduction(
    op: &str,
    axis: Option<Given<isize>>,
    keepdims: Given<bool>,
) -> PyResult<ReductionAxes> {
    Ok(ReductionAxes {
        axes: axis.map(|a| a.of(op, "axis")).transpose()?.into(),
        keepdims: keepdims.of(op, "keepdims")?,
    })
}
/// Arguments of sorts.
fn sorting(op: &str, axis: Given<isize>, descending: Given<bool>) -> PyResult<Sort> {
    Ok(Sort {
        axis: axis.of(op, "axis")?,
        descending: descending.of(op, "descending")?,
    })
}

#[pymethods]
impl PyQTensor {
    /// The index (int64) of the first largest element, of all or along an axis. ShapeError for no
    /// elements; AxisError for an axis out of range.
    #[pyo3(signature = (*, axis = None, keepdims = Given(Ok(false))), text_signature = "($self, *, axis=None, keepdims=False)")]
    fn argmax(
        &self,
        py: Python<'_>,
        axis: Option<Given<isize>>,
        keepdims: Given<bool>,
    ) -> PyResult<PyTensor> {
        let over = reduction("argmax", axis, keepdims)?;
        compute(py, self.0.len(), || self.0.argmax(over))
    }
    /// The index (int64) of the first smallest element, of all or along an axis. ShapeError for no
    /// elements; AxisError for an axis out of range.
    #[pyo3(signature = (*, axis = None, keepdims = Given(Ok(false))), text_signature = "($self, *, axis=None, keepdims=False)")]
    fn argmin(
        &self,
        py: Python<'_>,
        axis: Option<Given<isize>>,
        keepdims: Given<bool>,
    ) -> PyResult<PyTensor> {
        let over = reduction("argmin", axis, keepdims)?;
        compute(py, self.0.len(), || self.0.argmin(over))
    }
    /// The largest elements, of all or along an axis, quantised like this tensor; a single int4 or
    /// int2 value becomes int8. ValueError if elements have several scales.
    #[pyo3(signature = (*, axis = None, keepdims = Given(Ok(false))), text_signature = "($self, *, axis=None, keepdims=False)")]
    fn max(
        &self,
        py: Python<'_>,
        axis: Option<Given<isize>>,
        keepdims: Given<bool>,
    ) -> PyResult<PyQTensor> {
        let over = reduction("max", axis, keepdims)?;
        Ok(PyQTensor(detached(py, self.0.len(), || self.0.max(over))?))
    }
    /// The smallest elements; otherwise like `max`.
    #[pyo3(signature = (*, axis = None, keepdims = Given(Ok(false))), text_signature = "($self, *, axis=None, keepdims=False)")]
    fn min(
        &self,
        py: Python<'_>,
        axis: Option<Given<isize>>,
        keepdims: Given<bool>,
    ) -> PyResult<PyQTensor> {
        let over = reduction("min", axis, keepdims)?;
        Ok(PyQTensor(detached(py, self.0.len(), || self.0.min(over))?))
    }
    /// The elements sorted along an axis. ValueError if elements have several scales.
    #[pyo3(signature = (*, axis = Given(Ok(-1)), descending = Given(Ok(false))), text_signature = "($self, *, axis=-1, descending=False)")]
    fn sort(
        &self,
        py: Python<'_>,
        axis: Given<isize>,
        descending: Given<bool>,
    ) -> PyResult<PyQTensor> {
        let how = sorting("sort", axis, descending)?;
        Ok(PyQTensor(detached(py, self.0.len(), || self.0.sort(how))?))
    }
    /// The indices (int64) that sort along an axis; AxisError if it is out of range.
    #[pyo3(signature = (*, axis = Given(Ok(-1)), descending = Given(Ok(false))), text_signature = "($self, *, axis=-1, descending=False)")]
    fn argsort(
        &self,
        py: Python<'_>,
        axis: Given<isize>,
        descending: Given<bool>,
    ) -> PyResult<PyTensor> {
        let how = sorting("argsort", axis, descending)?;
        compute(py, self.0.len(), || self.0.argsort(how))
    }
    /// The `k` largest (or smallest) elements along an axis, and their indices. ValueError if
    /// elements have several scales.
    #[pyo3(signature = (k, *, axis = Given(Ok(-1)), largest = Given(Ok(true))), text_signature = "($self, k, *, axis=-1, largest=True)")]
    fn topk(
        &self,
        py: Python<'_>,
        k: Given<isize>,
        axis: Given<isize>,
        largest: Given<bool>,
    ) -> PyResult<(PyQTensor, PyTensor)> {
        const OP: &str = "topk";
        let k = count(OP, "k", k.of(OP, "k")?)?;
        let how = TopK {
            axis: axis.of(OP, "axis")?,
            largest: largest.of(OP, "largest")?,
            ..Default::default()
        };
        let (values, indices) = detached(py, self.0.len(), || self.0.topk(k, how))?;
        Ok((PyQTensor(values), indices.into()))
    }
    /// The elements at some indices of an axis; `indices` has one dimension. ValueError if there
    /// are blocks along the axis.
    #[pyo3(signature = (indices, *, axis = Given(Ok(0))), text_signature = "($self, indices, *, axis=0)")]
    fn take(
        &self,
        py: Python<'_>,
        indices: Given<TensorArg>,
        axis: Given<isize>,
    ) -> PyResult<PyQTensor> {
        let (indices, axis) = (indices.of("take", "indices")?, axis.of("take", "axis")?);
        Ok(PyQTensor(detached(py, self.0.len(), || {
            self.0.take(&indices.0, axis)
        })?))
    }
    /// The elements at positions along an axis: for each line of it, those of the same line of
    /// `indices`. ValueError if elements of a line have several scales.
    #[pyo3(signature = (indices, axis = Given(Ok(-1))), text_signature = "($self, indices, axis=-1)")]
    fn take_along_axis(
        &self,
        py: Python<'_>,
        indices: Given<TensorArg>,
        axis: Given<isize>,
    ) -> PyResult<PyQTensor> {
        const OP: &str = "take_along_axis";
        let (indices, axis) = (indices.of(OP, "indices")?, axis.of(OP, "axis")?);
        Ok(PyQTensor(detached(py, self.0.len(), || {
            self.0.take_along_axis(&indices.0, axis)
        })?))
    }
}
