//! The Python module `flex._flex`: the Tensor class, the dtypes, and one file for each family of
//! functions. `convert` converts between Python objects and the crate's types, `interop` shares
//! memory with other libraries.
// docstrings are Python's, with doctests, not Markdown
#![allow(clippy::doc_lazy_continuation)]

#[macro_use]
mod examples;

mod arrange;
mod cell;
mod compare;
mod config;
mod convert;
mod creation;
mod deferred;
mod dtype;
mod einsum;
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
    tensor::register(m)?;
    config::register(m)?;
    interop::register(m)?;
    promotion::register(m)?;
    standard::register(m)?;
    arrange::register(m)?;
    compare::register(m)?;
    creation::register(m)?;
    einsum::register(m)?;
    elementwise::register(m)?;
    fft::register(m)?;
    fuse::register(m)?;
    index::register(m)?;
    io::register(m)?;
    join::register(m)?;
    linalg::register(m)?;
    nan::register(m)?;
    nn::register(m)?;
    onnx::register(m)?;
    quant::register(m)?;
    random::register(m)?;
    deferred::stream::register(m)?;
    quantile::register(m)?;
    reduce::register(m)?;
    scan::register(m)?;
    search::register(m)?;
    set::register(m)?;
    shape::register(m)?;
    signal::register(m)?;
    sort::register(m)?;
    special::register(m)?;
    let nn = m.getattr("_nn")?;
    let grad = nn.getattr("_grad")?;
    let fft = m.getattr("_fft")?;
    let linalg = m.getattr("_linalg")?;
    let quant = m.getattr("_quant")?;
    let random = m.getattr("_random")?;
    let signal = m.getattr("_signal")?;
    hints::register(&[
        m,
        &nn.cast_into()?,
        &grad.cast_into()?,
        &fft.cast_into()?,
        &linalg.cast_into()?,
        &quant.cast_into()?,
        &random.cast_into()?,
        &signal.cast_into()?,
    ])?;
    methods::register(m) // turns the functions above into methods
}
