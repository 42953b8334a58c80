//! Normalisations of `flex.nn`.

use crate::cell::PyTensor;
use crate::convert::{Ints, TensorArg, axis_or_dim, compute, count, detached};
use crate::dtype::DTypeArg;
use flex::nn::{self, ChannelNorm, Length, LocalResponse};
use flex::{Error, Tensor};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `exp(x) / sum(exp(x))` along an axis, without overflow.
///
/// x: a tensor of floats; integers are converted to float32. dim: an alias of axis. dtype: a float
/// that x is converted to first. The result has its shape and dtype; it is NaN if all elements are
/// `-inf`. DTypeError for complex numbers and for another dtype; AxisError if the axis is out of
/// range.
///
/// >>> flex.nn.softmax(flex.asarray([0.0, 0.0, -flex.inf])).tolist()
/// [0.5, 0.5, 0.0]
#[function(x, axis = -1, *, dim = None, dtype = None)]
fn softmax(
    py: Python<'_>,
    x: TensorArg,
    axis: Option<isize>,
    dim: Option<isize>,
    dtype: Option<DTypeArg>,
) -> PyResult<PyTensor> {
    let axis = axis_or_dim("softmax", axis, dim, -1)?;
    compute(py, x.0.len(), || {
        nn::softmax(&converted("softmax", &x.0, dtype)?, axis)
    })
}

/// The logarithm of `softmax`, without overflow or cancellation.
///
/// x: a tensor of floats; integers are converted to float32. dim: an alias of axis. dtype: as for
/// `softmax`. The result has its shape and dtype. DTypeError for complex numbers and for another
/// dtype; AxisError if the axis is out of range.
///
/// >>> flex.nn.log_softmax(flex.asarray([0.0, -1000.0])).tolist()
/// [0.0, -1000.0]
#[function(x, axis = -1, *, dim = None, dtype = None)]
fn log_softmax(
    py: Python<'_>,
    x: TensorArg,
    axis: Option<isize>,
    dim: Option<isize>,
    dtype: Option<DTypeArg>,
) -> PyResult<PyTensor> {
    let axis = axis_or_dim("log_softmax", axis, dim, -1)?;
    compute(py, x.0.len(), || {
        nn::log_softmax(&converted("log_softmax", &x.0, dtype)?, axis)
    })
}

/// `(x - mean) / sqrt(var + eps) * weight + bias`, with mean and variance over the last dimensions,
/// `normalized_shape`.
///
/// x: a tensor of floats whose last dimensions are normalized_shape (an integer or a tuple), which
/// is the shape of weight and bias (ShapeError). eps: finite, 0 or more (ValueError). residual: a
/// tensor of the shape and dtype of x; with it, the result is a pair: the norm of `x + residual`,
/// and that sum. The result has the shape and dtype of x. DTypeError if x is not a float.
///
/// >>> flex.nn.layer_norm(flex.asarray([-1.0, 1.0]), 2, eps=0.0).tolist()
/// [-1.0, 1.0]
/// >>> y, x = flex.nn.layer_norm(flex.asarray([1.0, 1.0]), 2, eps=0.0, residual=flex.asarray([0.0, 2.0]))
/// >>> y.tolist(), x.tolist()
/// ([-1.0, 1.0], [1.0, 3.0])
#[function(x, normalized_shape, weight = None, bias = None, eps = 1e-5, *, residual = None)]
fn layer_norm<'py>(
    py: Python<'py>,
    x: TensorArg,
    normalized_shape: Ints,
    weight: Option<TensorArg>,
    bias: Option<TensorArg>,
    eps: f64,
    residual: Option<TensorArg>,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = normalized_shape.shape("layer_norm", "normalized_shape")?;
    let (weight, bias) = (tensor(&weight), tensor(&bias));
    let options = nn::LayerNorm { weight, bias, eps };
    match &residual {
        None => {
            compute(py, x.0.len(), || nn::layer_norm(&x.0, &shape, options))?.into_bound_py_any(py)
        }
        Some(r) => pair(py, x.0.len(), || {
            nn::add_layer_norm(&x.0, &r.0, &shape, options)
        })?
        .into_bound_py_any(py),
    }
}

/// `x / sqrt(mean(x * x) + eps) * weight`, with the mean over the last dimensions,
/// `normalized_shape`.
///
/// x: a tensor of floats whose last dimensions are normalized_shape (an integer or a tuple), which
/// is the shape of weight (ShapeError). eps: finite, 0 or more (ValueError); by default the dtype's
/// machine epsilon. residual: as for `layer_norm`. The result has the shape and dtype of x.
/// DTypeError if x is not a float.
///
/// >>> flex.nn.rms_norm(flex.asarray([2.0, -2.0]), 2, eps=0.0).tolist()
/// [1.0, -1.0]
#[function(x, normalized_shape, weight = None, eps = None, *, residual = None)]
fn rms_norm<'py>(
    py: Python<'py>,
    x: TensorArg,
    normalized_shape: Ints,
    weight: Option<TensorArg>,
    eps: Option<f64>,
    residual: Option<TensorArg>,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = normalized_shape.shape("rms_norm", "normalized_shape")?;
    let weight = tensor(&weight);
    let options = nn::RmsNorm { weight, eps };
    match &residual {
        None => {
            compute(py, x.0.len(), || nn::rms_norm(&x.0, &shape, options))?.into_bound_py_any(py)
        }
        Some(r) => pair(py, x.0.len(), || {
            nn::add_rms_norm(&x.0, &r.0, &shape, options)
        })?
        .into_bound_py_any(py),
    }
}

/// `(x - mean) / sqrt(var + eps) * weight + bias` by channels, axis 1 (Ioffe and Szegedy, 2015).
///
/// x: `[batch, channels, ..]` of floats; any strides. running_mean, running_var: `[channels]`,
/// found in training. weight, bias: `[channels]` (ShapeError). training: whether mean and variance
/// are those of x instead, with the variance divided by the number of elements, which must be more
/// than one a channel (ShapeError). Running statistics may then be None and are not updated, since
/// tensors are values, so momentum has no effect: compute updates with `batch_norm_stats`. eps:
/// finite, 0 or more (ValueError). The result has the shape and dtype of x. DTypeError if x is not a
/// float; ValueError if there are no statistics.
///
/// >>> x = flex.asarray([[1.0, 10.0], [3.0, 10.0]])
/// >>> flex.nn.batch_norm(x, flex.asarray([0.0, 8.0]), flex.asarray([1.0, 4.0]), eps=0.0).tolist()
/// [[1.0, 1.0], [3.0, 1.0]]
/// >>> flex.nn.batch_norm(x, None, None, training=True, eps=1e-30).tolist()
/// [[-1.0, 0.0], [1.0, 0.0]]
#[function(x, running_mean, running_var, weight = None, bias = None, training = false, momentum = 0.1, eps = 1e-5)]
#[allow(clippy::too_many_arguments, reason = "torch's")]
fn batch_norm(
    py: Python<'_>,
    x: TensorArg,
    running_mean: Option<TensorArg>,
    running_var: Option<TensorArg>,
    weight: Option<TensorArg>,
    bias: Option<TensorArg>,
    training: bool,
    momentum: f64,
    eps: f64,
) -> PyResult<PyTensor> {
    let _ = momentum; // nothing is updated
    let given = statistics(
        "batch_norm",
        "training",
        !training,
        &running_mean,
        &running_var,
    )?;
    let options = channel_norm(&weight, &bias, eps);
    compute(py, x.0.len(), || nn::batch_norm(&x.0, given, options))
}

/// The mean and variance of each channel of `x`: what `batch_norm` normalises by in training.
///
/// x: `[batch, channels, ..]` of floats (ShapeError, DTypeError). correction: subtracted from the
/// number of elements that the sum of squares is divided by; torch's running statistics use 1
/// (ValueError if it is not finite); the variance is NaN if that leaves nothing. The result is a
/// pair of `[channels]`, float32 for 16-bit floats, else of the dtype of x. Running statistics are
/// updated as `running + momentum * (new - running)`.
///
/// >>> mean, var = flex.nn.batch_norm_stats(flex.asarray([[1.0, 10.0], [3.0, 10.0]]))
/// >>> mean.tolist(), var.tolist()
/// ([2.0, 10.0], [1.0, 0.0])
#[function(x, *, correction = 0.0)]
fn batch_norm_stats(
    py: Python<'_>,
    x: TensorArg,
    correction: f64,
) -> PyResult<(PyTensor, PyTensor)> {
    pair(py, x.0.len(), || nn::batch_norm_stats(&x.0, correction))
}

/// `batch_norm` of each example by itself, over groups of adjacent channels (Wu and He, 2018).
///
/// x: `[batch, channels, ..]` of floats; any strides. num_groups: divides the channels
/// (ShapeError). weight, bias: `[channels]` (ShapeError). eps: as for `batch_norm`. The result has
/// the shape and dtype of x. DTypeError if x is not a float.
///
/// >>> flex.nn.group_norm(flex.asarray([[1.0, 3.0, -5.0, 5.0]]), 2, eps=0.0).tolist()
/// [[-1.0, 1.0, -1.0, 1.0]]
#[function(x, num_groups, weight = None, bias = None, eps = 1e-5)]
fn group_norm(
    py: Python<'_>,
    x: TensorArg,
    num_groups: isize,
    weight: Option<TensorArg>,
    bias: Option<TensorArg>,
    eps: f64,
) -> PyResult<PyTensor> {
    let groups = count("group_norm", "num_groups", num_groups)?;
    let options = channel_norm(&weight, &bias, eps);
    compute(py, x.0.len(), || nn::group_norm(&x.0, groups, options))
}

/// `batch_norm` of each channel of each example by itself (Ulyanov et al., 2016).
///
/// x: `[batch, channels, ..]` of floats; any strides. use_input_stats: if False, mean and variance
/// are running_mean and running_var (ValueError if there are none). Without them there must be more
/// than one value for each channel of an example (ShapeError). Otherwise as for `batch_norm`.
///
/// >>> flex.nn.instance_norm(flex.asarray([[[1.0, 3.0], [-5.0, 5.0]]]), eps=0.0).tolist()
/// [[[-1.0, 1.0], [-1.0, 1.0]]]
#[function(x, running_mean = None, running_var = None, weight = None, bias = None, use_input_stats = true, momentum = 0.1, eps = 1e-5)]
#[allow(clippy::too_many_arguments, reason = "torch's")]
fn instance_norm(
    py: Python<'_>,
    x: TensorArg,
    running_mean: Option<TensorArg>,
    running_var: Option<TensorArg>,
    weight: Option<TensorArg>,
    bias: Option<TensorArg>,
    use_input_stats: bool,
    momentum: f64,
    eps: f64,
) -> PyResult<PyTensor> {
    let _ = momentum; // nothing is updated
    let given = statistics(
        "instance_norm",
        "use_input_stats",
        !use_input_stats,
        &running_mean,
        &running_var,
    )?;
    let options = channel_norm(&weight, &bias, eps);
    compute(py, x.0.len(), || nn::instance_norm(&x.0, given, options))
}

/// `x / max(norm, eps)`, with the norm `sum(|x|^p)^(1/p)` of each vector along an axis.
///
/// x: a tensor of floats. p: the order of the norm, 0 or more; infinity for the largest magnitude
/// (ValueError). eps: the lower bound of the divisor, finite and 0 or more (ValueError). dim: an alias of axis. The result has the
/// shape and dtype of x. DTypeError if x is not a float; AxisError if the axis is out of range.
///
/// >>> flex.nn.normalize(flex.asarray([[3.0, 4.0], [0.0, 0.0]])).tolist()
/// [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
#[function(x, p = 2.0, axis = 1, eps = 1e-12, *, dim = None)]
fn normalize(
    py: Python<'_>,
    x: TensorArg,
    p: f64,
    axis: Option<isize>,
    eps: f64,
    dim: Option<isize>,
) -> PyResult<PyTensor> {
    let axis = axis_or_dim("normalize", axis, dim, 1)?;
    compute(py, x.0.len(), || {
        nn::normalize(&x.0, Length { p, axis, eps })
    })
}

/// `x / (k + alpha * mean(squares of size neighbouring channels))**beta`, with zeros beyond the
/// first and last channel (Krizhevsky et al., 2012, as torch computes it).
///
/// x: `[batch, channels, ..]` of floats (ShapeError, DTypeError). size: the number of channels, 1
/// or more. alpha, beta, k: finite (ValueError). The result has the shape and dtype of x.
///
/// >>> flex.nn.local_response_norm(flex.asarray([[1.0, 3.0]]), 2, alpha=1.0, beta=1.0, k=0.0).tolist()
/// [[2.0, 0.6000000238418579]]
#[function(x, size, alpha = 1e-4, beta = 0.75, k = 1.0)]
fn local_response_norm(
    py: Python<'_>,
    x: TensorArg,
    size: isize,
    alpha: f64,
    beta: f64,
    k: f64,
) -> PyResult<PyTensor> {
    let size = count("local_response_norm", "size", size)?;
    compute(py, x.0.len(), || {
        nn::local_response_norm(&x.0, size, LocalResponse { alpha, beta, k })
    })
}

/// The operand of a softmax in `dtype`, a float, if one is given.
pub(super) fn converted(
    op: &'static str,
    x: &Tensor,
    dtype: Option<DTypeArg>,
) -> flex::Result<Tensor> {
    match dtype {
        None => Ok(x.clone()),
        Some(DTypeArg(to)) if !to.is_float() => {
            Err(Error::dtype(op, format!("dtype is {to}; it is a float")))
        }
        Some(_) if x.dtype().is_complex() => Err(Error::unsupported(op, x.dtype())),
        Some(DTypeArg(to)) => x.astype(to),
    }
}
/// An optional tensor.
fn tensor(t: &Option<TensorArg>) -> Option<&Tensor> {
    t.as_ref().map(|t| &t.0)
}
/// The options of a normalisation by channels.
fn channel_norm<'a>(
    weight: &'a Option<TensorArg>,
    bias: &'a Option<TensorArg>,
    eps: f64,
) -> ChannelNorm<'a> {
    ChannelNorm {
        weight: tensor(weight),
        bias: tensor(bias),
        eps,
    }
}
/// The given statistics, if they are used.
pub(super) fn statistics<'a>(
    op: &str,
    option: &str,
    wanted: bool,
    mean: &'a Option<TensorArg>,
    var: &'a Option<TensorArg>,
) -> PyResult<Option<(&'a Tensor, &'a Tensor)>> {
    match (wanted, mean, var) {
        (false, ..) => Ok(None),
        (true, Some(mean), Some(var)) => Ok(Some((&mean.0, &var.0))),
        (true, mean, _) => {
            let missing = if mean.is_none() {
                "running_mean"
            } else {
                "running_var"
            };
            Err(PyValueError::new_err(format!(
                "{op}: {missing} is None, but {option} says that running statistics are used"
            )))
        }
    }
}
/// Computes a function with two results.
fn pair(
    py: Python<'_>,
    elements: usize,
    f: impl FnOnce() -> flex::Result<(Tensor, Tensor)> + Send,
) -> PyResult<(PyTensor, PyTensor)> {
    let (a, b) = detached(py, elements, f)?;
    Ok((PyTensor::new(a), PyTensor::new(b)))
}
