//! Activations of `flex.nn` that have parameters.

use super::norm::converted;
use crate::cell::PyTensor;
use crate::convert::error::Raise;
use crate::convert::{Operand, OperandRef, TensorArg, axis_or_dim, compute};
use crate::dtype::DTypeArg;
use crate::elementwise::{apply, apply_ref, compute_each};
use flex::Scalar;
use flex::kernel::elementwise::rows;
use flex::nn::{self, Activation, Gumbel};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `x / 2 * (1 + erf(x / sqrt(2)))`, or its approximation by tanh.
///
/// x: a tensor of floats; integers are computed in float32. approximate: "none" or "tanh"
/// (ValueError). The result has the shape and dtype of x. DTypeError for complex numbers.
///
/// >>> flex.nn.gelu(flex.asarray([0.0, flex.inf]), approximate="tanh").tolist()
/// [0.0, inf]
#[function(x, *, approximate: "Literal['none', 'tanh']" = "none")]
fn gelu(py: Python<'_>, x: Operand, approximate: &str) -> PyResult<PyTensor> {
    let row = match approximate {
        "none" => &rows::Gelu::ROW,
        "tanh" => &rows::GeluTanh::ROW,
        other => {
            return Err(PyValueError::new_err(format!(
                "gelu: approximate is {other:?}; it is \"none\" or \"tanh\""
            )));
        }
    };
    apply(py, row, &[x])
}

/// A parameter, or its default.
fn or(given: Option<Operand>, default: f64) -> Operand {
    given.unwrap_or(Operand::Scalar(Scalar::Float(default)))
}

/// x, or `negative_slope * x` for negative x (Maas et al., 2013).
///
/// x: a tensor, an array or a number; integers are computed in float32. negative_slope: a number,
/// or a tensor that broadcasts with x. The result has their common dtype. DTypeError for complex
/// numbers; ShapeError if shapes don't broadcast.
///
/// >>> flex.nn.leaky_relu(flex.asarray([1.0, -2.0]), 0.5).tolist()
/// [1.0, -1.0]
#[function(x, negative_slope = 0.01)]
fn leaky_relu(py: Python<'_>, x: Operand, negative_slope: Option<Operand>) -> PyResult<PyTensor> {
    apply(py, &rows::LeakyRelu::ROW, &[x, or(negative_slope, 0.01)])
}

/// x, or `weight * x` for negative x, with a weight per channel (He et al., 2015).
///
/// x: `[batch, channels, ..]`. weight: `[channels]`, or one element (ShapeError). The result has
/// the shape of x and the common dtype. DTypeError for complex numbers.
///
/// >>> flex.nn.prelu(flex.asarray([[-1.0, -1.0]]), flex.asarray([0.5, 0.25])).tolist()
/// [[-0.5, -0.25]]
#[function(x, weight)]
fn prelu(py: Python<'_>, x: Operand, weight: Operand) -> PyResult<PyTensor> {
    let (x, weight) = Operand::tensors(x, weight).raise()?;
    compute(py, x.len(), || nn::prelu(&x, &weight))
}

/// `leaky_relu` with the mean of the slopes that training draws from `lower` to `upper` (Xu et al.,
/// 2015).
///
/// x: a tensor, an array or a number; integers are computed in float32. lower, upper: finite,
/// the first not above the second (ValueError). The result has the shape and dtype of x. DTypeError for
/// complex numbers.
///
/// >>> flex.nn.rrelu(flex.asarray([1.0, -2.0]), 0.25, 0.75).tolist()
/// [1.0, -1.0]
#[function(x, lower = 0.125, upper = 0.3333333333333333)]
fn rrelu(py: Python<'_>, x: Operand, lower: f64, upper: f64) -> PyResult<PyTensor> {
    compute(py, x.len(), || nn::rrelu(x.arg(), lower, upper))
}

/// x, or `alpha * (exp(x) - 1)` for negative x (Clevert et al., 2016).
///
/// x: a tensor, an array or a number; integers are computed in float32. alpha: a number, or a
/// tensor that broadcasts with x. The result has their common dtype. DTypeError for complex
/// numbers; ShapeError if shapes don't broadcast.
///
/// >>> flex.nn.elu(flex.asarray([1.0, -flex.inf])).tolist()
/// [1.0, -1.0]
#[function(x, alpha = 1.0)]
fn elu(py: Python<'_>, x: Operand, alpha: Option<Operand>) -> PyResult<PyTensor> {
    apply(py, &rows::Elu::ROW, &[x, or(alpha, 1.0)])
}

/// x, or `alpha * (exp(x / alpha) - 1)` for negative x (Barron, 2017).
///
/// x: a tensor, an array or a number; integers are computed in float32. alpha: a number, or a
/// tensor that broadcasts with x. The result has their common dtype. ValueError if an alpha is 0;
/// DTypeError for complex numbers; ShapeError if shapes don't broadcast.
///
/// >>> flex.nn.celu(flex.asarray([1.0, -flex.inf]), 2.0).tolist()
/// [1.0, -2.0]
#[function(x, alpha = 1.0)]
fn celu(py: Python<'_>, x: Operand, alpha: Option<Operand>) -> PyResult<PyTensor> {
    compute_each(py, &[x, or(alpha, 1.0)], |[x, alpha]| nn::celu(x, alpha))
}

/// `log(1 + exp(beta * x)) / beta`, or x itself where `beta * x` is above `threshold`.
///
/// x: a tensor, an array or a number; integers are computed in float32. beta, threshold: numbers,
/// or tensors that broadcast with x. The result has their common dtype. DTypeError for complex
/// numbers; ShapeError if shapes don't broadcast.
///
/// >>> flex.nn.softplus(flex.asarray([30.0, -flex.inf])).tolist()
/// [30.0, 0.0]
#[function(x, beta = 1, threshold = 20)]
fn softplus(
    py: Python<'_>,
    x: Operand,
    beta: Option<Operand>,
    threshold: Option<Operand>,
) -> PyResult<PyTensor> {
    apply(
        py,
        &rows::Softplus::ROW,
        &[x, or(beta, 1.0), or(threshold, 20.0)],
    )
}

/// x, or 0 where it is from `-lambd` to `lambd`.
///
/// x: a tensor, an array or a number; integers are computed in float32. lambd: a number, or a
/// tensor that broadcasts with x. The result has their common dtype. DTypeError for complex
/// numbers; ShapeError if shapes don't broadcast.
///
/// >>> flex.nn.hardshrink(flex.asarray([1.0, -0.25])).tolist()
/// [1.0, 0.0]
#[function(x, lambd = 0.5)]
fn hardshrink(py: Python<'_>, x: Operand, lambd: Option<Operand>) -> PyResult<PyTensor> {
    apply(py, &rows::Hardshrink::ROW, &[x, or(lambd, 0.5)])
}

/// x moved towards 0 by `lambd`, or 0 where it would pass 0.
///
/// x: a tensor, an array or a number; integers are computed in float32. lambd: a number, or a
/// tensor that broadcasts with x. The result has their common dtype. ValueError if a lambd is
/// negative or NaN; DTypeError for complex numbers; ShapeError if shapes don't broadcast.
///
/// >>> flex.nn.softshrink(flex.asarray([1.0, -0.25, -2.0])).tolist()
/// [0.5, 0.0, -1.5]
#[function(x, lambd = 0.5)]
fn softshrink(py: Python<'_>, x: Operand, lambd: Option<Operand>) -> PyResult<PyTensor> {
    compute_each(py, &[x, or(lambd, 0.5)], |[x, lambd]| {
        nn::softshrink(x, lambd)
    })
}

/// x where it is above `threshold`, else `value`.
///
/// x: a tensor, an array or a number. threshold, value: numbers, or tensors that broadcast with x.
/// The result has their common dtype. DTypeError for bool and complex numbers; ShapeError if shapes
/// don't broadcast.
///
/// >>> flex.nn.threshold(flex.asarray([1.0, 0.5]), 0.5, -1.0).tolist()
/// [1.0, -1.0]
#[function(x, threshold, value)]
fn threshold(py: Python<'_>, x: Operand, threshold: Operand, value: Operand) -> PyResult<PyTensor> {
    apply(py, &rows::Threshold::ROW, &[x, threshold, value])
}

/// x clamped to `min_val` to `max_val`.
///
/// x: a tensor, an array or a number; integers are computed in float32. min_val, max_val: numbers,
/// the first not above the second (ValueError). The result has the shape and dtype of x. DTypeError
/// for bool and complex numbers.
///
/// >>> flex.nn.hardtanh(flex.asarray([1.5, 0.5, -3.0])).tolist()
/// [1.0, 0.5, -1.0]
#[function(x, min_val = -1.0, max_val = 1.0)]
fn hardtanh(py: Python<'_>, x: Operand, min_val: f64, max_val: f64) -> PyResult<PyTensor> {
    compute(py, x.len(), || nn::hardtanh(x.arg(), min_val, max_val))
}

/// The first half of x along an axis times the sigmoid of the second (Dauphin et al., 2017).
///
/// x: a tensor whose size along the axis is even (ShapeError); integers are computed in float32.
/// dim: an alias of axis. The result has half that size. DTypeError for complex numbers; AxisError
/// if the axis is out of range.
///
/// >>> flex.nn.glu(flex.asarray([1.0, 2.0, flex.inf, 0.0])).tolist()
/// [1.0, 1.0]
#[function(x, axis = -1, *, dim = None)]
fn glu(
    py: Python<'_>,
    x: TensorArg,
    axis: Option<isize>,
    dim: Option<isize>,
) -> PyResult<PyTensor> {
    let axis = axis_or_dim("glu", axis, dim, -1)?;
    compute(py, x.0.len(), || nn::glu(&x.0, axis))
}

/// `softmax` of `-x`.
///
/// x: a tensor of floats; integers are converted to float32. dim: an alias of axis. dtype: as for
/// `softmax`. The result has its shape and dtype. DTypeError for complex numbers and for another
/// dtype; AxisError if the axis is out of range.
///
/// >>> flex.nn.softmin(flex.asarray([0.0, 1000.0])).tolist()
/// [1.0, 0.0]
#[function(x, axis = -1, *, dim = None, dtype = None)]
fn softmin(
    py: Python<'_>,
    x: TensorArg,
    axis: Option<isize>,
    dim: Option<isize>,
    dtype: Option<DTypeArg>,
) -> PyResult<PyTensor> {
    let axis = axis_or_dim("softmin", axis, dim, -1)?;
    compute(py, x.0.len(), || {
        nn::softmin(&converted("softmin", &x.0, dtype)?, axis)
    })
}

/// Relaxed samples of categorical distributions: `softmax((logits + noise) / tau)`, with
/// Gumbel-distributed noise (Jang et al., 2017; Maddison et al., 2017).
///
/// logits: a tensor of floats. tau: the temperature, positive and finite (ValueError). hard: whether the result
/// is one-hot, 1 at the largest element of each line and 0 elsewhere. dim: an alias of axis. seed:
/// determines the noise, together with an element's row-major position. The result has the shape
/// and dtype of logits. DTypeError if they are not floats; AxisError if the axis is out of range.
///
/// >>> flex.nn.gumbel_softmax(flex.asarray([[0.0, 1000.0], [1000.0, 0.0]]), hard=True, seed=7).tolist()
/// [[0.0, 1.0], [1.0, 0.0]]
#[function(logits, tau = 1.0, hard = false, axis = -1, *, seed, dim = None)]
fn gumbel_softmax(
    py: Python<'_>,
    logits: TensorArg,
    tau: f64,
    hard: bool,
    axis: Option<isize>,
    seed: u64,
    dim: Option<isize>,
) -> PyResult<PyTensor> {
    let axis = axis_or_dim("gumbel_softmax", axis, dim, -1)?;
    let options = Gumbel {
        tau,
        hard,
        axis,
        seed,
    };
    compute(py, logits.0.len(), || {
        nn::gumbel_softmax(&logits.0, options)
    })
}

/// The activation of a layer, by its name.
pub fn activation_named(op: &str, name: Option<&str>) -> PyResult<Option<Activation>> {
    let named = |name| {
        Activation::from_name(name).ok_or_else(|| {
            let names = Activation::NAMES.join("\", \"");
            PyValueError::new_err(format!(
                "{op}: activation is {name:?}; it is \"{names}\" or None"
            ))
        })
    };
    name.map(named).transpose()
}

macro_rules! activation {
    // functions with several operands have signatures of their own, above
    ([$($doc:literal)*] $Name:ident $function:ident 1 $rule:ident => nn) => {
        $(#[doc = $doc])*
        ///
        /// x: a tensor, an array or a number. The result has its shape.
        #[doc = result_dtype!($rule)]
        /// DTypeError for complex numbers.
        ///
        #[doc = example!("flex.nn" $function)]
        #[function(x)]
        fn $function(py: Python<'_>, x: OperandRef<'_>) -> PyResult<PyTensor> {
            apply_ref(py, &rows::$Name::ROW, [x])
        }
    };
    ($($row:tt)*) => {};
}
macro_rules! make {
    ($($(#[doc = $doc:literal])* $Name:ident $function:ident $arity:tt $rule:ident $cost:literal [$($family:ident)*] $(=> $module:ident)?)*) => {
        $(activation!([$($doc)*] $Name $function $arity $rule $(=> $module)?);)*
    };
}
flex::operations!(make! {});
