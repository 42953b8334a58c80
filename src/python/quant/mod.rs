//! `flex.quant`: quantised tensors, what makes them, and products by them.

mod functions;
mod gguf;
mod tensor;

use pyo3::prelude::*;
pub use tensor::PyQTensor;

/// The module from which `flex/quant.py` takes its names.
pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    let quant = PyModule::new(m.py(), "flex.quant")?;
    tensor::register(&quant)?;
    functions::register(&quant)?;
    gguf::register(&quant)?;
    m.setattr("_quant", quant)
}
