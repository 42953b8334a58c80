//! The Python module `flex._flex`: the Tensor class, the dtypes, one file for each family of functions. Conversions between
//! Python objects and the crate's types are made in `convert`, memory is shared with other libraries in `interop`.

mod config;
pub mod convert;
mod dtype;
mod interop;
mod operators;
mod promotion;
mod repr;
mod standard;
mod subscript;
mod tensor;
mod values;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _flex(m: &Bound<PyModule>) -> PyResult<()> {
    convert::error::register(m)?;
    dtype::register(m)?;
    tensor::register(m)?;
    config::register(m)?;
    interop::register(m)?;
    promotion::register(m)?;
    standard::register(m)?;
    Ok(())
}
