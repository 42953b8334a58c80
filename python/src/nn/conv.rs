//! Convolutions of `flex.nn`.

use super::activation::activation_named;
use super::linear::product;
use super::spatial::per_axis;
use crate::cell::PyTensor;
use crate::convert::error::Raise;
use crate::convert::{Ints, OperandRef, TensorArg, compute, count, kind, sequence};
use crate::dtype::DTypeArg;
use flex::dtype::DType;
use flex::nn::{self, Conv, ConvTranspose, Padding};
use flex::stream::ProductKind;
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
    let pair = |pair: &Bound<PyAny>| match pair.extract::<Ints>().map_err(|_| wrong())?.0[..] {
        [before, after] => Ok((count(op, "padding", before)?, count(op, "padding", after)?)),
        _ => Err(wrong()),
    };
    let pairs = sequence::items(x, pair)?.ok_or_else(wrong)?;
    Ok(Padding::Pairs(pairs.into()))
}

/// The options that place the kernel.
pub(crate) fn options(
    op: &str,
    stride: Option<Ints>,
    padding: Option<Bound<PyAny>>,
    dilation: Option<Ints>,
    groups: isize,
) -> PyResult<Conv<'static>> {
    let mut options = Conv {
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
    Ok(options)
}

macro_rules! convolutions {
    ($($(#[doc = $doc:literal])* $name:ident $rank:literal;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, weight, bias = None, stride = 1, padding: "_Padding" = 0, dilation = 1, groups = 1, *, activation: "_Activation | None" = None, residual = None, precise = false)]
        #[allow(clippy::too_many_arguments, reason = "torch's")]
        fn $name(
            py: Python<'_>,
            x: OperandRef,
            weight: OperandRef,
            bias: Option<OperandRef>,
            stride: Option<Ints>,
            padding: Option<Bound<PyAny>>,
            dilation: Option<Ints>,
            groups: isize,
            activation: Option<&str>,
            residual: Option<OperandRef>,
            precise: bool,
        ) -> PyResult<PyTensor> {
            let op = stringify!($name);
            let options = Conv {
                activation: activation_named(op, activation)?,
                precise,
                ..options(op, stride, padding, dilation, groups)?
            };
            product(py, ProductKind::Conv { rank: $rank, options }, (x, weight), [bias, residual])
        }
    )* };
}
convolutions! {
    /// The convolution of a signal with `weight`; the kernel is not flipped, as in torch.
    ///
    /// x: `[batch, channels, length]`, or without the batch. weight: `[out, channels / groups,
    /// kernel]`. bias: `[out]`. stride, dilation: an integer of 1 or more. padding: zeros on both
    /// sides; or `((before, after),)`, "same" (a result of the same length, for a stride of 1) or
    /// "valid" (none). groups: groups of channels, each convolved by itself. activation: as for
    /// `linear`, applied after the bias. residual: broadcasts to the result, and is added last.
    /// precise: as for `conv2d`, for kernels of 3 and 5. The result has the operands' common dtype
    /// and `(length + padding - dilation * (kernel - 1) - 1) // stride + 1` positions. ShapeError
    /// if shapes, groups or the kernel don't fit; ValueError for options that are too small, or
    /// another activation; DTypeError for bool, if there is no common dtype, or for an activation
    /// of integers.
    ///
    /// >>> x, w = flex.asarray([[1.0, 2.0, 3.0, 4.0]]), flex.asarray([[[1.0, 0.0, -1.0]]])
    /// >>> flex.nn.conv1d(x, w, padding=1).tolist()
    /// [[-2.0, -2.0, -2.0, 3.0]]
    /// >>> flex.nn.conv1d(x, w, activation="relu", residual=flex.asarray([[8.0, 9.0]])).tolist()
    /// [[8.0, 9.0]]
    conv1d 1;
    /// The convolution of an image with `weight`; the kernel is not flipped, as in torch.
    ///
    /// x: `[batch, channels, height, width]`, or without the batch; any strides, so channels may be
    /// last in memory. weight: `[out, channels / groups, height, width]`. bias: `[out]`. stride,
    /// dilation: an integer of 1 or more, or one for each axis. padding: zeros on both sides, for
    /// all axes or for each; or `(before, after)` for each, "same" (a result of the image's size,
    /// for a stride of 1) or "valid" (none). groups: groups of channels, each convolved by itself.
    /// activation, residual: as for `conv1d`. precise: whether each position is a plain sum of
    /// products; otherwise 3x3, 1x3 and 1x5 kernels over enough channels use Winograd's algorithm,
    /// whose rounding errors are up to 4 times larger (`conv_plan` tells), and relative to the
    /// largest of up to 6x6 neighbouring elements; where that is more than 16 times as large as all
    /// that a position reads, positions are plain sums. Dtype, sizes and errors as for `conv1d`.
    ///
    /// >>> x, w = flex.reshape(flex.arange(9.0), (1, 3, 3)), flex.ones((1, 1, 2, 2))
    /// >>> flex.nn.conv2d(x, w).tolist()
    /// [[[8.0, 12.0], [20.0, 24.0]]]
    conv2d 2;
    /// The convolution of a volume with `weight`; the kernel is not flipped, as in torch.
    ///
    /// x: `[batch, channels, depth, height, width]`, or without the batch. weight: `[out, channels
    /// / groups, depth, height, width]`. Otherwise as for `conv2d`.
    ///
    /// >>> flex.nn.conv3d(flex.ones((1, 2, 2, 2)), flex.ones((1, 1, 2, 2, 2))).tolist()
    /// [[[[8.0]]]]
    conv3d 3;
}

/// The options of a transposed convolution.
pub(super) fn transposed_options(
    op: &str,
    stride: Option<Ints>,
    padding: Option<Ints>,
    output_padding: Option<Ints>,
    groups: isize,
    dilation: Option<Ints>,
) -> PyResult<ConvTranspose<'static>> {
    let of = |name, n: Option<Ints>, rest: usize| match n {
        Some(n) => per_axis(op, name, &n),
        None => Ok(rest.into()),
    };
    Ok(ConvTranspose {
        bias: None,
        stride: of("stride", stride, 1)?,
        padding: of("padding", padding, 0)?,
        output_padding: of("output_padding", output_padding, 0)?,
        groups: count(op, "groups", groups)?,
        dilation: of("dilation", dilation, 1)?,
        precise: false,
    })
}

macro_rules! transposed {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        #[function(x, weight, bias = None, stride = 1, padding = 0, output_padding = 0, groups = 1, dilation = 1, *, precise = false)]
        #[allow(clippy::too_many_arguments, reason = "torch's")]
        fn $name(
            py: Python<'_>,
            x: TensorArg,
            weight: TensorArg,
            bias: Option<TensorArg>,
            stride: Option<Ints>,
            padding: Option<Ints>,
            output_padding: Option<Ints>,
            groups: isize,
            dilation: Option<Ints>,
            precise: bool,
        ) -> PyResult<PyTensor> {
            let op = stringify!($name);
            let options = ConvTranspose {
                bias: bias.as_ref().map(|b| &b.0),
                precise,
                ..transposed_options(op, stride, padding, output_padding, groups, dilation)?
            };
            let work = x.0.len().saturating_mul(weight.0.shape().get(1).copied().unwrap_or(1));
            compute(py, work, || nn::$name(&x.0, &weight.0, options))
        }
    )* };
}
transposed! {
    /// The transposed convolution of a signal with `weight`: each element adds the kernel, times
    /// itself, to the result.
    ///
    /// x: `[batch, channels, length]`, or without the batch. weight: `[channels, out / groups,
    /// kernel]`. bias: `[out]`. stride, dilation: an integer of 1 or more. padding: how many
    /// positions are cropped on both sides of the result. output_padding: how many positions are
    /// added at its end, fewer than stride or dilation. groups: groups of channels, each convolved
    /// by itself. precise: as for `conv2d`; otherwise kernels of a few taps for each phase of the
    /// stride may use Winograd's algorithm. The result has the operands' common dtype and `(length
    /// - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1` positions.
    /// ShapeError if shapes or groups don't fit, or there would be fewer than 0 positions;
    /// ValueError for options that are too small or too large; DTypeError for bool, or if there is
    /// no common dtype. A weight that is not finite may give NaN within a kernel of the border,
    /// where it is multiplied by zeros beyond x.
    ///
    /// >>> x, w = flex.asarray([[1.0, 2.0]]), flex.asarray([[[1.0, 10.0, 100.0]]])
    /// >>> flex.nn.conv_transpose1d(x, w, stride=2).tolist()
    /// [[1.0, 10.0, 102.0, 20.0, 200.0]]
    conv_transpose1d;
    /// The transposed convolution of an image with `weight`: each element adds the kernel, times
    /// itself, to the result.
    ///
    /// x: `[batch, channels, height, width]`, or without the batch. weight: `[channels, out /
    /// groups, height, width]`. stride, padding, output_padding, dilation: one number for both
    /// axes, or one for each. Otherwise as for `conv_transpose1d`.
    ///
    /// >>> x, w = flex.asarray([[[1.0, 2.0]]]), flex.ones((1, 1, 2, 2))
    /// >>> flex.nn.conv_transpose2d(x, w).tolist()
    /// [[[1.0, 3.0, 2.0], [1.0, 3.0, 2.0]]]
    conv_transpose2d;
    /// The transposed convolution of a volume with `weight`: each element adds the kernel, times
    /// itself, to the result.
    ///
    /// x: `[batch, channels, depth, height, width]`, or without the batch. weight: `[channels, out
    /// / groups, depth, height, width]`. Otherwise as for `conv_transpose2d`.
    ///
    /// >>> flex.nn.conv_transpose3d(flex.ones((1, 1, 1, 1)), flex.ones((1, 1, 1, 1, 2))).tolist()
    /// [[[[1.0, 1.0]]]]
    conv_transpose3d;
}

/// How a convolution of these shapes is computed, as a named tuple. The choice follows from the
/// shapes, the options and the dtype, and, for small planes convolved channel by channel, from the
/// CPU's vector width.
///
/// x_shape, weight_shape: of the operands; the weight's rank says which convolution. stride,
/// padding, dilation, groups, precise: as for `conv2d`. dtype: the operands' common one, by default
/// float32. The result has `algorithm` ("pointwise", "depthwise", "direct", "winograd" or
/// "implicit_gemm"), `scratch` (the most bytes of a thread) and `flops` (of the direct sums: a
/// multiplication and an addition for each tap of each position). Errors as for the convolution.
///
/// >>> flex.nn.conv_plan((1, 64, 56, 56), (64, 64, 3, 3), padding=1).algorithm
/// 'winograd'
/// >>> flex.nn.conv_plan((1, 64, 56, 56), (256, 64, 1, 1)).flops
/// 102760448
#[function(x_shape, weight_shape, *, stride = 1, padding: "_Padding" = 0, dilation = 1, groups = 1, precise = false, dtype = None -> "ConvPlan")]
#[allow(clippy::too_many_arguments, reason = "those of a convolution")]
fn conv_plan<'py>(
    py: Python<'py>,
    x_shape: Ints,
    weight_shape: Ints,
    stride: Option<Ints>,
    padding: Option<Bound<PyAny>>,
    dilation: Option<Ints>,
    groups: isize,
    precise: bool,
    dtype: Option<DTypeArg>,
) -> PyResult<Bound<'py, PyAny>> {
    let op = "conv_plan";
    let shape = |name, n: &Ints| {
        let n = n.0.iter().map(|n| count(op, name, *n));
        n.collect::<PyResult<SmallVec<[usize; 5]>>>()
    };
    let (x, weight) = (
        shape("x_shape", &x_shape)?,
        shape("weight_shape", &weight_shape)?,
    );
    let options = Conv {
        precise,
        ..options(op, stride, padding, dilation, groups)?
    };
    let dtype = dtype.map_or(DType::F32, |d| d.0);
    let plan = nn::conv_plan(&x, &weight, options, dtype).raise()?;
    let fields = (plan.algorithm.name(), plan.scratch, plan.flops);
    py.import("flex._results")?
        .getattr("ConvPlan")?
        .call1(fields)
}
