//! The Python module `flex._flex`: the Tensor class, the dtypes, one file for each family of functions. Conversions between
//! Python objects and the crate's types are made in `convert`, memory is shared with other libraries in `interop`.

pub mod convert;
mod dtype;
mod interop;
mod operators;
mod tensor;
mod values;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _flex(m: &Bound<PyModule>) -> PyResult<()> {
    let families = [convert::error::register, dtype::register, interop::register, tensor::register];
    families.into_iter().try_for_each(|register| register(m))
}
