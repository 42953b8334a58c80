//! Losses of `flex.nn`.

mod classes;
mod margin;
mod pointwise;
mod probability;

use crate::convert::TensorArg;
use flex::Tensor;
use flex::nn::Reduction;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The reduction with torch's name.
pub(super) fn reduction(op: &str, name: &str) -> PyResult<Reduction> {
    Reduction::from_name(name).ok_or_else(|| {
        PyValueError::new_err(format!(
            "{op}: reduction is {name:?}; it is \"none\", \"mean\" or \"sum\""
        ))
    })
}
/// An optional operand.
fn tensor(t: &Option<TensorArg>) -> Option<&Tensor> {
    t.as_ref().map(|t| &t.0)
}
