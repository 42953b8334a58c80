//! The Python module `flex._flex`: the Tensor class, the dtypes, and one file for each family of
//! functions. `convert` converts between Python objects and the crate's types, `interop` shares
//! memory with other libraries.
// docstrings are Python's, with doctests, not Markdown
#![allow(clippy::doc_lazy_continuation)]

#[macro_use]
extern crate flex_python_macros;

#[macro_use]
mod declare;
#[macro_use]
mod examples;

mod arrange;
mod cell;
mod compare;
mod config;
mod convert;
mod creation;
mod default;
mod deferred;
mod dtype;
mod einsum;
#[macro_use]
mod elementwise;
mod fft;
mod fuse;
mod hints;
mod index;
mod interop;
mod io;
mod join;
mod linalg;
mod methods;
mod nan;
mod nn;
mod number;
mod onnx;
mod operators;
mod products;
mod promotion;
mod quant;
mod quantile;
mod random;
mod reduce;
mod repr;
mod scan;
mod search;
mod set;
mod shape;
mod signal;
mod sort;
mod special;
mod standard;
mod subscript;
mod tensor;
mod torch_names;
mod values;
mod whole;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _flex(m: &Bound<PyModule>) -> PyResult<()> {
    config::warn_of_ignored_settings(m.py())?;
    convert::error::register(m)?;
    dtype::register(m)?;
    standard::register(m)?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_class::<config::Threads>()?;
    m.add_class::<default::Block>()?;
    m.add_class::<deferred::stream::Stream>()?;
    m.add_class::<cell::PyTensor>()?;
    let modules = declare::register(m)?;
    hints::register(&modules)?;
    methods::register(m) // turns the functions above into methods
}
