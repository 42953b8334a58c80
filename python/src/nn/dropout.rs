//! Dropout of `flex.nn`.

use crate::cell::PyTensor;
use crate::convert::{TensorArg, compute};
use flex::nn;
use flex::{Error, Result, Tensor};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Runs a kind of dropout on x, or returns x unless it is training.
fn drop(
    py: Python<'_>,
    op: &str,
    x: TensorArg,
    training: bool,
    seed: Option<u64>,
    f: impl FnOnce(&Tensor, u64) -> Result<Tensor> + Send,
) -> PyResult<PyTensor> {
    match (training, seed) {
        (false, _) => Ok(PyTensor::new(x.0)),
        (true, Some(seed)) => compute(py, x.0.len(), || f(&x.0, seed)),
        (true, None) => Err(PyValueError::new_err(format!(
            "{op}: training needs a seed: pass seed=, another integer at each call"
        ))),
    }
}

/// x with each element dropped (set to 0, whatever it was) with probability `p`, and the others
/// divided by `1 - p` (Srivastava et al., 2014).
///
/// x: a tensor of floats. p: from 0 to 1 (ValueError). training: if False, the result is x. seed:
/// an integer, which with an element's row-major position determines whether it is dropped
/// (ValueError if it is missing). The result has the shape and dtype of x. DTypeError if x is not a
/// float.
///
/// >>> y = flex.nn.dropout(flex.ones(1000), 0.5, seed=7)
/// >>> sorted(set(y.tolist()))
/// [0.0, 2.0]
#[function(x, p = 0.5, training = true, *, seed = None)]
fn dropout(
    py: Python<'_>,
    x: TensorArg,
    p: f64,
    training: bool,
    seed: Option<u64>,
) -> PyResult<PyTensor> {
    drop(py, "dropout", x, training, seed, |x, seed| {
        nn::dropout(x, p, seed)
    })
}

/// Dropout that preserves mean 0 and variance 1, for layers of `selu` (Klambauer et al., 2017).
///
/// x, p, training, seed and errors: as for `dropout`.
///
/// >>> flex.nn.alpha_dropout(flex.asarray([1.0]), 0.0, training=True, seed=7).tolist()
/// [1.0]
#[function(x, p = 0.5, training = false, *, seed = None)]
fn alpha_dropout(
    py: Python<'_>,
    x: TensorArg,
    p: f64,
    training: bool,
    seed: Option<u64>,
) -> PyResult<PyTensor> {
    drop(py, "alpha_dropout", x, training, seed, |x, seed| {
        nn::alpha_dropout(x, p, seed)
    })
}

/// `alpha_dropout` of whole channels.
///
/// x: `[batch, channels, ..]` (ShapeError). p, training, seed and errors: as for `dropout`.
///
/// >>> flex.nn.feature_alpha_dropout(flex.ones((1, 1, 2)), 0.0, training=True, seed=7).tolist()
/// [[[1.0, 1.0]]]
#[function(x, p = 0.5, training = false, *, seed = None)]
fn feature_alpha_dropout(
    py: Python<'_>,
    x: TensorArg,
    p: f64,
    training: bool,
    seed: Option<u64>,
) -> PyResult<PyTensor> {
    drop(py, "feature_alpha_dropout", x, training, seed, |x, seed| {
        nn::feature_alpha_dropout(x, p, seed)
    })
}

/// `feature_dropout` of `x`, which has `spatial` axes behind its channels, and possibly a batch.
fn of_channels(op: &'static str, x: &Tensor, spatial: usize, p: f64, seed: u64) -> Result<Tensor> {
    let dropped = |x: &Tensor| nn::feature_dropout(x, p, seed).map_err(|e| e.named(op));
    match x.rank() {
        n if n == spatial + 2 => dropped(x),
        n if n == spatial + 1 => dropped(&x.expand_dims(0)?)?.squeeze(0),
        _ => Err(Error::shape_of(
            op,
            format!(
                "x must have {} axes, or {} without a batch",
                spatial + 2,
                spatial + 1
            ),
            &[("x", x.shape(), x.dtype())],
        )),
    }
}

macro_rules! of_channels {
    ($($(#[doc = $doc:literal])* $name:ident $spatial:literal;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, p = 0.5, training = true, *, seed = None)]
        fn $name(
            py: Python<'_>,
            x: TensorArg,
            p: f64,
            training: bool,
            seed: Option<u64>,
        ) -> PyResult<PyTensor> {
            let op = stringify!($name);
            drop(py, op, x, training, seed, |x, seed| of_channels(op, x, $spatial, p, seed))
        }
    )* };
}
of_channels! {
    /// `dropout` of whole channels (Tompson et al., 2015).
    ///
    /// x: `[batch, channels, length]`, or without the batch (ShapeError). p, training, seed and
    /// errors: as for `dropout`.
    ///
    /// >>> flex.nn.dropout1d(flex.ones((1, 1, 2)), 0.0, seed=7).tolist()
    /// [[[1.0, 1.0]]]
    dropout1d 1;
    /// `dropout` of whole channels (Tompson et al., 2015).
    ///
    /// x: `[batch, channels, height, width]`, or without the batch (ShapeError). p, training, seed
    /// and errors: as for `dropout`.
    ///
    /// >>> flex.nn.dropout2d(flex.ones((1, 1, 1, 2)), 0.0, seed=7).tolist()
    /// [[[[1.0, 1.0]]]]
    dropout2d 2;
    /// `dropout` of whole channels (Tompson et al., 2015).
    ///
    /// x: `[batch, channels, depth, height, width]`, or without the batch (ShapeError). p,
    /// training, seed and errors: as for `dropout`.
    ///
    /// >>> flex.nn.dropout3d(flex.ones((1, 1, 1, 2)), 0.0, seed=7).tolist()
    /// [[[[1.0, 1.0]]]]
    dropout3d 3;
}
