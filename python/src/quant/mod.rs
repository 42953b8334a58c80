//! `flex.quant`: quantised tensors, functions that make them, and products with them.

mod functions;
mod gguf;
mod operators;
mod order;
mod output;
mod tensor;
mod views;

use pyo3::prelude::*;
pub use tensor::PyQTensor;

/// Registers the module that `flex/quant.py` takes its names from.
pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    let quant = PyModule::new(m.py(), "flex.quant")?;
    tensor::register(&quant)?;
    functions::register(&quant)?;
    gguf::register(&quant)?;
    m.setattr("_quant", quant)
}
