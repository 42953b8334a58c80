//! ONNX models, for `flex/onnx.py`.

use crate::cell::PyTensor;
use crate::convert::{TensorArg, detached};
use crate::dtype::{PyDType, object};
use crate::values::tuple;
use flex::onnx::{self, LoadOptions, Model, Size, Value};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The work of a model: enough to release the interpreter.
const LONG: usize = usize::MAX;

/// A model.
#[pyclass(frozen, name = "_OnnxModel", module = "flex._flex")]
pub struct PyModel(Model);

/// A file's path, or its bytes.
#[derive(FromPyObject)]
enum PathOrBytes<'py> {
    Bytes(Bound<'py, PyBytes>),
    Path(PathBuf),
}

/// Name, dtype and sizes; a size is a number, the name of one, or None.
type ValueParts<'py> = (
    String,
    Option<Bound<'py, PyDType>>,
    Option<Bound<'py, PyTuple>>,
);

fn described<'py>(py: Python<'py>, values: &[Value]) -> PyResult<Vec<ValueParts<'py>>> {
    let size = |size: &Size| match size {
        Size::Fixed(n) => n.into_bound_py_any(py),
        Size::Symbol(name) => name.into_bound_py_any(py),
        Size::Any => Ok(py.None().into_bound(py)),
    };
    let value = |value: &Value| {
        let dtype = value.dtype.map(|dtype| object(py, dtype)).transpose()?;
        let shape = match &value.shape {
            Some(shape) => {
                let sizes = shape.iter().map(size).collect::<PyResult<Vec<_>>>()?;
                Some(PyTuple::new(py, sizes)?)
            }
            None => None,
        };
        Ok((value.name.to_string(), dtype, shape))
    };
    values.iter().map(value).collect()
}

#[pymethods]
impl PyModel {
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Vec<ValueParts<'py>>> {
        described(py, self.0.inputs())
    }
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Vec<ValueParts<'py>>> {
        described(py, self.0.outputs())
    }
    /// What the file says of itself.
    #[getter]
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let about = self.0.about();
        let (all, opsets, metadata, operators) = (
            PyDict::new(py),
            PyDict::new(py),
            PyDict::new(py),
            PyDict::new(py),
        );
        for (domain, version) in &about.opsets {
            opsets.set_item(&**domain, version)?;
        }
        for (key, value) in &about.metadata {
            metadata.set_item(&**key, &**value)?;
        }
        for (name, count) in &about.operators {
            operators.set_item(name, count)?;
        }
        all.set_item("ir_version", about.ir_version)?;
        all.set_item("producer", &*about.producer)?;
        all.set_item("opsets", opsets)?;
        all.set_item("metadata", metadata)?;
        all.set_item("operators", operators)?;
        all.set_item("parameters", about.parameters)?;
        let overridable: Vec<&str> = about.overridable.iter().map(|name| &**name).collect();
        all.set_item("overridable", overridable)?;
        Ok(all)
    }
    /// The value of an input that a call may leave out.
    fn default_of(&self, input: usize) -> Option<PyTensor> {
        self.0.default_of(input).cloned().map(PyTensor::new)
    }
    /// All outputs for these inputs.
    fn run<'py>(&self, py: Python<'py>, inputs: Vec<TensorArg>) -> PyResult<Bound<'py, PyTuple>> {
        let inputs = inputs.into_iter().map(|x| x.0).collect();
        let outputs = detached(py, LONG, || self.0.run_watched(inputs, None))?;
        tuple(py, outputs)
    }
    /// The operator, the node and the seconds of each step, in order.
    fn profile(
        &self,
        py: Python<'_>,
        inputs: Vec<TensorArg>,
    ) -> PyResult<Vec<(String, String, f64)>> {
        let inputs = inputs.into_iter().map(|x| x.0).collect();
        let steps = detached(py, LONG, || {
            let mut steps: Vec<(String, String, Duration)> = Vec::new();
            let mut before = Instant::now();
            let mut watch = |ran: onnx::Ran| {
                steps.push((ran.operator.into(), ran.node.into(), before.elapsed()));
                before = Instant::now();
            };
            self.0.run_watched(inputs, Some(&mut watch))?;
            Ok(steps)
        })?;
        let seconds = |(operator, node, time): (String, String, Duration)| {
            (operator, node, time.as_secs_f64())
        };
        Ok(steps.into_iter().map(seconds).collect())
    }
}

/// The model of a file.
#[function(file, mmap, overridable)]
fn _load_onnx(
    py: Python<'_>,
    file: PathOrBytes,
    mmap: bool,
    overridable: Vec<String>,
) -> PyResult<PyModel> {
    let overridable: Vec<&str> = overridable.iter().map(String::as_str).collect();
    let options = LoadOptions {
        overridable: &overridable,
    };
    let model = match file {
        PathOrBytes::Bytes(bytes) => {
            let bytes = bytes.as_bytes();
            detached(py, LONG, || options.from_bytes(bytes))?
        }
        PathOrBytes::Path(path) => detached(py, LONG, || match mmap {
            // SAFETY: `flex.onnx.load` documents MAP1 as its caller's promise.
            true => unsafe { options.map(path) },
            false => options.load(path),
        })?,
    };
    Ok(PyModel(model))
}

/// The tensor of the bytes of a `TensorProto`.
#[function(bytes)]
fn _read_onnx_tensor(bytes: &Bound<PyBytes>) -> PyResult<PyTensor> {
    let (py, bytes) = (bytes.py(), bytes.as_bytes());
    let tensor = detached(py, bytes.len(), || onnx::read_tensor(bytes))?;
    Ok(PyTensor::new(tensor))
}

/// Domain, name and first version of all operators.
#[function()]
fn _onnx_operators() -> Vec<(&'static str, &'static str, u16)> {
    onnx::operators()
        .map(|o| (o.domain, o.name, o.since))
        .collect()
}
