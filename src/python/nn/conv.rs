//! `flex.nn`'s convolutions.

use super::spatial::per_axis;
use crate::nn::{self, Conv, Padding};
use crate::python::cell::PyTensor;
use crate::python::convert::{Arg, Ints, compute, count, kind};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use smallvec::SmallVec;

/// "same", "valid", numbers, or a pair for each axis.
fn padding(op: &str, x: &Bound<PyAny>) -> PyResult<Padding> {
    if let Ok(s) = x.cast::<PyString>() {
        return match s.to_cow()?.as_ref() {
            "same" => Ok(Padding::Same),
            "valid" => Ok(Padding::Valid),
            other => Err(PyValueError::new_err(format!(
                "{op}: padding is {other:?}; it is \"same\", \"valid\" or numbers"
            ))),
        };
    }
    if let Ok(n) = x.extract::<Ints>() {
        return Ok(Padding::Both(per_axis(op, "padding", &n)?));
    }
    let wrong = || {
        PyTypeError::new_err(format!(
            "{op}: padding is an integer, a tuple of integers or of pairs, \"same\" or \"valid\", \
                not {}",
            kind(x)
        ))
    };
    let mut pairs = SmallVec::new();
    for pair in x.try_iter().map_err(|_| wrong())? {
        match pair?.extract::<Ints>().map_err(|_| wrong())?.0[..] {
            [before, after] => {
                pairs.push((count(op, "padding", before)?, count(op, "padding", after)?))
            }
            _ => return Err(wrong()),
        }
    }
    Ok(Padding::Pairs(pairs))
}

macro_rules! convolutions {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[pyfunction]
        #[pyo3(signature = (x, weight, bias = None, *, stride = None, padding = None, dilation = None, groups = 1), text_signature = "(x, weight, bias=None, *, stride=1, padding=0, dilation=1, groups=1)")]
        #[allow(clippy::too_many_arguments, reason = "torch's")]
        fn $name(
            py: Python<'_>,
            x: Arg,
            weight: Arg,
            bias: Option<Arg>,
            stride: Option<Ints>,
            padding: Option<Bound<PyAny>>,
            dilation: Option<Ints>,
            groups: isize,
        ) -> PyResult<PyTensor> {
            let op = stringify!($name);
            let mut options = Conv {
                bias: bias.as_ref().map(|b| &b.0),
                groups: count(op, "groups", groups)?,
                ..Default::default()
            };
            if let Some(n) = stride {
                options.stride = per_axis(op, "stride", &n)?;
            }
            if let Some(p) = padding {
                options.padding = self::padding(op, &p)?;
            }
            if let Some(n) = dilation {
                options.dilation = per_axis(op, "dilation", &n)?;
            }
            // a product for each element of the weight and each place
            let work = x.0.len().saturating_mul(weight.0.shape().first().copied().unwrap_or(1));
            compute(py, work, || nn::$name(&x.0, &weight.0, options))
        }
    )* };
}
convolutions! {
    /// The convolution of a signal with `weight`; the kernel is not flipped, as in torch.
    ///
    /// x: `[batch, channels, length]`, or without the batch. weight: `[out, channels / groups, kernel]`.
    /// bias: `[out]`. stride, dilation: an integer of 1 or more. padding: zeros on both sides; or
    /// `((before, after),)`, "same" (a result of the same length, for a stride of 1) or "valid" (none).
    /// groups: groups of channels, each convolved by itself. The result has the operands' common dtype
    /// and `(length + padding - dilation * (kernel - 1) - 1) // stride + 1` places. ShapeError if
    /// shapes, groups or the kernel don't fit; ValueError for numbers that are too small; DTypeError
    /// for bool, or if there is no common dtype.
    ///
    /// >>> x, w = flex.asarray([[1.0, 2.0, 3.0, 4.0]]), flex.asarray([[[1.0, 0.0, -1.0]]])
    /// >>> flex.nn.conv1d(x, w, padding=1).tolist()
    /// [[-2.0, -2.0, -2.0, 3.0]]
    conv1d;
    /// The convolution of an image with `weight`; the kernel is not flipped, as in torch.
    ///
    /// x: `[batch, channels, height, width]`, or without the batch; any strides, so channels may be last
    /// in memory. weight: `[out, channels / groups, height, width]`. bias: `[out]`. stride, dilation:
    /// an integer of 1 or more, or one for each axis. padding: zeros on both sides, for all axes or for each; or
    /// `(before, after)` for each, "same" (a result of the image's size, for a stride of 1) or "valid"
    /// (none). groups: groups of channels, each convolved by itself. Dtype, sizes and errors as for
    /// `conv1d`.
    ///
    /// >>> x, w = flex.reshape(flex.arange(9.0), (1, 3, 3)), flex.ones((1, 1, 2, 2))
    /// >>> flex.nn.conv2d(x, w).tolist()
    /// [[[8.0, 12.0], [20.0, 24.0]]]
    conv2d;
    /// The convolution of a volume with `weight`; the kernel is not flipped, as in torch.
    ///
    /// x: `[batch, channels, depth, height, width]`, or without the batch. weight:
    /// `[out, channels / groups, depth, height, width]`. All else as for `conv2d`.
    ///
    /// >>> flex.nn.conv3d(flex.ones((1, 2, 2, 2)), flex.ones((1, 1, 2, 2, 2))).tolist()
    /// [[[[8.0]]]]
    conv3d;
}

/// Adds them to `flex.nn`.
pub(super) fn register(nn: &Bound<PyModule>) -> PyResult<()> {
    nn.add_function(wrap_pyfunction!(conv1d, nn)?)?;
    nn.add_function(wrap_pyfunction!(conv2d, nn)?)?;
    nn.add_function(wrap_pyfunction!(conv3d, nn)?)
}
