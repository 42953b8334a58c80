//! `flex.nn`: operations of neural networks, with the names and argument order of
//! torch.nn.functional, except for `axis`; one file per family.

mod activation;
mod attention;
mod cache;
mod conv;
mod deform;
mod distance;
mod dropout;
mod embedding;
mod grad;
mod linear;
mod loss;
mod norm;
mod pool;
mod recurrent;
mod resample;
mod rotary;
mod spatial;

pub(super) use activation::activation_named;
pub(super) use conv::options as convolution_options;
use pyo3::prelude::*;

/// Registers `nn`, the module that `flex/nn/__init__.py` takes its functions from; their
/// `__module__` is `flex.nn`.
pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    let nn = PyModule::new(m.py(), "flex.nn")?;
    activation::register(&nn)?;
    attention::register(&nn)?;
    cache::register(&nn)?;
    conv::register(&nn)?;
    deform::register(&nn)?;
    grad::register(&nn)?;
    distance::register(&nn)?;
    dropout::register(&nn)?;
    embedding::register(&nn)?;
    linear::register(&nn)?;
    loss::register(&nn)?;
    norm::register(&nn)?;
    rotary::register(&nn)?;
    pool::register(&nn)?;
    resample::register(&nn)?;
    recurrent::register(&nn)?;
    m.setattr("_nn", nn)
}
