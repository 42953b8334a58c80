//! Functions that make quantised tensors, and products with them.

use super::output::{QuantProduct, output_named};
use super::tensor::{PyQTensor, levels};
use crate::cell::PyTensor;
use crate::convert::error::Raise;
use crate::convert::{Ints, TensorArg, compute, count, detached, kind, sequence};
use crate::dtype::DTypeArg;
use crate::nn::{activation_named, convolution_options};
use crate::products::work;
use flex::nn::Conv;
use flex::quant::{self, Calibration, Inputs, Levels, Per, QLinear, QTensor, Quantization};
use flex::{DType, Tensor};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Quantises x: `q = clamp(round(x / scale) + zero_point)`, ties to even.
///
/// x: floats; computed in float32. dtype: "int8", "uint8", "int4" (two per byte) or "int2" (four).
/// axis: gives each index of an axis its own scale, by default one for all; with block, one for
/// each block of that many neighbours along the axis, whose size it divides (ShapeError).
/// symmetric: without zero points, `scale = max(|x|) / 127` (7 for int4, 1 for int2), else `scale =
/// (max(x, 0) - min(x, 0)) / 255` and `zero_point = round(least - min(x, 0) / scale)`, where least
/// is the smallest integer (ONNX, DynamicQuantizeLinear); True by default except for uint8, which
/// needs zero points, while int4 and int2 can't have them (ValueError). scale_dtype: float32,
/// float16 or bfloat16. calibration: "minmax", "percentile" (the range of that many percent of the
/// numbers, 50 to 100; others saturate), or "mse" (the range with the least squared error). scale
/// and zero_point: given instead (ONNX, QuantizeLinear), numbers or of the rank of x, with sizes
/// that divide its own; the options that say how they are found are then a TypeError. A group of
/// zeros has scale 1; NaN becomes the integer for 0, infinities saturate, and neither counts
/// towards a range.
///
/// >>> q = flex.quant.quantize(flex.asarray([[1.0, -2.0], [0.0, 0.0]]), axis=0)
/// >>> q.values.tolist(), q.scales.shape
/// ([[64, -127], [0, 0]], (2, 1))
#[function(x, dtype: "Literal['int8', 'uint8', 'int4', 'int2']" = "int8", *, axis = None, block = None, symmetric = None, scale_dtype = None, calibration: "Literal['minmax', 'percentile', 'mse']" = "minmax", percentile = 99.9, scale = None, zero_point = None)]
fn quantize(
    py: Python<'_>,
    x: TensorArg,
    dtype: &str,
    axis: Option<isize>,
    block: Option<isize>,
    symmetric: Option<bool>,
    scale_dtype: Option<DTypeArg>,
    calibration: &str,
    percentile: f32,
    scale: Option<TensorArg>,
    zero_point: Option<TensorArg>,
) -> PyResult<PyQTensor> {
    const OP: &str = "quant.quantize";
    let levels = levels(OP, dtype)?;
    if !(50.0..=100.0).contains(&percentile) {
        return Err(PyValueError::new_err(format!(
            "{OP}: percentile is {percentile}; it must be from 50 to 100"
        )));
    }
    if let Some(scale) = scale {
        let float = |t: Tensor| {
            if t.rank() == 0 {
                t.astype(DType::F32)
            } else {
                Ok(t)
            }
        };
        if axis.is_some() || block.is_some() {
            return Err(PyTypeError::new_err(
                "quant.quantize: the shape of scale says what shares one; pass no axis or block",
            ));
        }
        if symmetric.is_some() || scale_dtype.is_some() || calibration != "minmax" {
            return Err(PyTypeError::new_err(
                "quant.quantize: scale is given; symmetric, scale_dtype and calibration say how one is found",
            ));
        }
        // copies, since the caller may write to arrays after they were checked
        let scale = float(scale.0).raise()?.copy().raise()?;
        let zero = match zero_of(OP, "zero_point", zero_point, levels.dtype())? {
            Some(z) if z.rank() == 0 => {
                Some(z.broadcast_to(scale.shape()).raise()?.copy().raise()?)
            }
            Some(z) => Some(z.copy().raise()?),
            None => None,
        };
        return Ok(PyQTensor(detached(py, x.0.len(), || {
            quant::quantize_by(&x.0, levels, &scale, zero.as_ref())
        })?));
    }
    if zero_point.is_some() {
        return Err(PyTypeError::new_err(
            "quant.quantize: zero_point is given, but no scale",
        ));
    }
    let per = match (axis, block) {
        (None, None) => Per::Tensor,
        (Some(axis), None) => Per::Channel(axis),
        (axis, Some(size)) => Per::Block {
            axis: axis.unwrap_or(-1),
            size: count(OP, "block", size)?,
        },
    };
    let calibration = match calibration {
        "minmax" => Calibration::MinMax,
        "percentile" => Calibration::Percentile(percentile),
        "mse" => Calibration::Mse,
        other => {
            let message = format!(
                "quant.quantize: calibration is {other:?}; it is \"minmax\", \"percentile\" or \"mse\""
            );
            return Err(PyValueError::new_err(message));
        }
    };
    let how = Quantization {
        levels,
        per,
        affine: !symmetric.unwrap_or(levels != Levels::U8),
        scales: scale_dtype.map_or(DType::F32, |d| d.0),
        calibration,
    };
    Ok(PyQTensor(detached(py, x.0.len(), || {
        quant::quantize(&x.0, how)
    })?))
}

/// Zero points: a number as an integer of this dtype; tensors as they are. Errors if it is not an
/// integer, or out of the dtype's range.
fn zero_of(
    op: &str,
    name: &str,
    given: Option<TensorArg>,
    dtype: DType,
) -> PyResult<Option<Tensor>> {
    let Some(TensorArg(z)) = given else {
        return Ok(None);
    };
    if z.rank() > 0 || z.dtype() == dtype || !matches!(dtype, DType::I8 | DType::U8) {
        return Ok(Some(z));
    }
    if !z.dtype().is_integer() {
        return Err(PyTypeError::new_err(format!(
            "{op}: {name} is of {}; zero points are integers",
            z.dtype()
        )));
    }
    let value = z.astype(DType::I64).raise()?.item::<i64>().raise()?;
    let (least, most) = match dtype {
        DType::I8 => (-128, 127),
        _ => (0, 255),
    };
    if !(least..=most).contains(&value) {
        return Err(PyValueError::new_err(format!(
            "{op}: {name} is {value}; of {dtype} it is from {least} to {most}"
        )));
    }
    Ok(Some(z.astype(dtype).raise()?))
}

/// How inputs are treated, by name.
fn inputs_named(
    op: &str,
    inputs: &str,
    scale: Option<f32>,
    zero_point: Option<isize>,
) -> PyResult<Inputs> {
    if inputs != "static" && (scale.is_some() || zero_point.is_some()) {
        return Err(PyTypeError::new_err(format!(
            "{op}: scale and zero_point are those of inputs=\"static\""
        )));
    }
    match inputs {
        "float" => Ok(Inputs::Float),
        "dynamic" => Ok(Inputs::Dynamic),
        "dynamic_symmetric" => Ok(Inputs::DynamicSymmetric),
        "static" => Ok(Inputs::Static {
            scale: scale.ok_or_else(|| {
                PyTypeError::new_err(format!("{op}: inputs=\"static\" needs scale"))
            })?,
            zero: u8::try_from(zero_point.unwrap_or(0)).map_err(|_| {
                PyValueError::new_err(format!("{op}: zero_point must be from 0 to 255"))
            })?,
        }),
        other => Err(PyValueError::new_err(format!(
            "{op}: inputs is {other:?}; it is \"float\", \"dynamic\", \"dynamic_symmetric\" or \"static\""
        ))),
    }
}

/// `activation(x @ weight.T + bias) + residual` with a quantised weight.
///
/// x: `[.., in]`, floats. weight: a QTensor `[out, in]`. bias: `[out]`. activation: as in
/// `flex.nn.linear`. residual: broadcasts to the result, which is `[.., out]`, float32, or the
/// dtype of x if that is narrower. inputs: "float" dequantises the weight, of any kind, while it is
/// packed for the product; "dynamic" quantises each row of x to uint8 with a zero point,
/// "dynamic_symmetric" to int8, and "static" all of x to uint8 by `scale` and `zero_point`.
/// Products are then summed exactly in int32, and the weight must be int8 per tensor or `axis=0`,
/// without zero points (ValueError). NaN in x counts as 0 unless inputs is "float". output: "int8"
/// or "uint8" for a QTensor: after activation and residual the result is quantised, by `out_scale`
/// and `out_zero_point` (0), or by its minimum and maximum. ShapeError if sizes don't match;
/// DTypeError if x, bias or residual is not a float.
///
/// >>> weight = flex.quant.quantize(flex.asarray([[1.0, 0.5], [-1.0, 0.0]]), axis=0)
/// >>> y = flex.quant.linear(flex.asarray([3.0, 2.0]), weight, inputs="dynamic")
/// >>> [round(v, 1) for v in y.tolist()]
/// [4.0, -3.0]
/// >>> x = flex.asarray([3.0, 2.0])
/// >>> flex.quant.linear(x, weight, output="int8", out_scale=0.5).values.tolist()
/// [8, -6]
#[function(x, weight, bias = None, *, activation: "_Activation | None" = None, residual = None, inputs: "Literal['float', 'dynamic', 'dynamic_symmetric', 'static']" = "float", scale = None, zero_point = None, output: "Literal['int8', 'uint8'] | None" = None, out_scale = None, out_zero_point = None -> "Tensor")]
#[allow(clippy::too_many_arguments, reason = "those of both sides")]
fn linear(
    py: Python<'_>,
    x: TensorArg,
    weight: PyQTensor,
    bias: Option<TensorArg>,
    activation: Option<&str>,
    residual: Option<TensorArg>,
    inputs: &str,
    scale: Option<f32>,
    zero_point: Option<isize>,
    output: Option<&str>,
    out_scale: Option<f32>,
    out_zero_point: Option<isize>,
) -> PyResult<QuantProduct> {
    const OP: &str = "quant.linear";
    let activation = activation_named(OP, activation)?;
    let inputs = inputs_named(OP, inputs, scale, zero_point)?;
    let output = output_named(OP, output, out_scale, out_zero_point)?;
    let width = weight.0.shape().first().copied().unwrap_or(1);
    let (x, weight, work) = (&x.0, &weight.0, work(&x.0, width));
    let options = QLinear {
        bias: bias.as_ref().map(|b| &b.0),
        activation,
        residual: residual.as_ref().map(|r| &r.0),
        inputs,
    };
    Ok(match output {
        None => QuantProduct::Floats(compute(py, work, || quant::linear(x, weight, options))?),
        Some(output) => QuantProduct::Integers(PyQTensor(detached(py, work, || {
            quant::linear_to(x, weight, options, output)
        })?)),
    })
}

/// The convolution of an image with a quantised weight; the kernel is not flipped, as in torch.
///
/// x: `[batch, channels, height, width]`, or without the batch, floats. weight: a QTensor `[out,
/// channels / groups, height, width]`. bias, stride, padding, dilation, groups, activation and
/// residual: as in `flex.nn.conv2d`. The result is float32, or the dtype of x if that is narrower.
/// inputs: "float" dequantises the weight, of any kind, at each call for a convolution of floats,
/// of which nothing is kept; "dynamic"
/// quantises each image to uint8 with a zero point, "dynamic_symmetric" to int8, and "static" all
/// of x to uint8 by `scale` and `zero_point`. Padding is then the zero point, products are summed
/// exactly in int32, and the weight must be int8 per tensor or `axis=0`, without zero points
/// (ValueError). Groups of fewer than four channels are summed in float32. NaN in x counts as 0
/// unless inputs is "float". output: "int8" or "uint8" for a QTensor, as in `linear`. Errors as for
/// `flex.nn.conv2d`; DTypeError if x, bias or residual is not a float.
///
/// >>> weight = flex.quant.quantize(flex.ones((1, 1, 2, 2)), axis=0)
/// >>> x = flex.reshape(flex.arange(9.0), (1, 3, 3))
/// >>> flex.quant.conv2d(x, weight, inputs="static", scale=1.0).tolist()
/// [[[8.0, 12.0], [20.0, 24.0]]]
#[function(x, weight, bias = None, *, stride = 1, padding: "_Padding" = 0, dilation = 1, groups = 1, activation: "_Activation | None" = None, residual = None, inputs: "Literal['float', 'dynamic', 'dynamic_symmetric', 'static']" = "float", scale = None, zero_point = None, output: "Literal['int8', 'uint8'] | None" = None, out_scale = None, out_zero_point = None -> "Tensor")]
#[allow(clippy::too_many_arguments, reason = "those of both families")]
fn conv2d(
    py: Python<'_>,
    x: TensorArg,
    weight: PyQTensor,
    bias: Option<TensorArg>,
    stride: Option<Ints>,
    padding: Option<Bound<PyAny>>,
    dilation: Option<Ints>,
    groups: isize,
    activation: Option<&str>,
    residual: Option<TensorArg>,
    inputs: &str,
    scale: Option<f32>,
    zero_point: Option<isize>,
    output: Option<&str>,
    out_scale: Option<f32>,
    out_zero_point: Option<isize>,
) -> PyResult<QuantProduct> {
    const OP: &str = "quant.conv2d";
    let options = Conv {
        bias: bias.as_ref().map(|b| &b.0),
        activation: activation_named(OP, activation)?,
        residual: residual.as_ref().map(|r| &r.0),
        ..convolution_options(OP, stride, padding, dilation, groups)?
    };
    let inputs = inputs_named(OP, inputs, scale, zero_point)?;
    let output = output_named(OP, output, out_scale, out_zero_point)?;
    // padding may make a large result from a small image
    let (x, weight, work) = (&x.0, &weight.0, usize::MAX);
    Ok(match output {
        None => QuantProduct::Floats(compute(py, work, || {
            quant::conv2d(x, weight, inputs, options)
        })?),
        Some(output) => QuantProduct::Integers(PyQTensor(detached(py, work, || {
            quant::conv2d_to(x, weight, inputs, options, output)
        })?)),
    })
}

/// `(a - a_zero_point) @ (b - b_zero_point)` in int32, exact for up to 2^15 terms (ONNX,
/// MatMulInteger).
///
/// a and b: int8 or uint8, independently (DTypeError), with shapes as in `flex.matmul`. Zero
/// points: numbers or tensors of the operand's dtype: a single one, or one per row of a, per column
/// of b (ShapeError).
///
/// >>> a, b = flex.asarray([[10, 255]], dtype="uint8"), flex.asarray([[1], [-128]], dtype="int8")
/// >>> flex.quant.matmul_integer(a, b, 10).tolist()
/// [[-31360]]
#[function(a, b, a_zero_point = None, b_zero_point = None)]
fn matmul_integer(
    py: Python<'_>,
    a: TensorArg,
    b: TensorArg,
    a_zero_point: Option<TensorArg>,
    b_zero_point: Option<TensorArg>,
) -> PyResult<PyTensor> {
    const OP: &str = "quant.matmul_integer";
    let za = zero_of(OP, "a_zero_point", a_zero_point, a.0.dtype())?;
    let zb = zero_of(OP, "b_zero_point", b_zero_point, b.0.dtype())?;
    let width = b.0.shape().last().copied().unwrap_or(1);
    compute(py, work(&a.0, width), || {
        quant::matmul_integer(&a.0, &b.0, za.as_ref(), zb.as_ref())
    })
}

/// Concatenates quantised tensors along an axis, with their scales if these vary along it.
///
/// They must have the same dtype and, apart from the axis, the same shape and block size; if one
/// scale spans the axis, it must be the same in all of them (ValueError, ShapeError).
///
/// >>> q = flex.quant.quantize(flex.asarray([[1.0, 2.0]]), axis=0)
/// >>> flex.quant.concat([q, q]).shape
/// (2, 2)
#[function(tensors: "Sequence[QTensor]", *, axis = 0)]
fn concat(py: Python<'_>, tensors: &Bound<PyAny>, axis: isize) -> PyResult<PyQTensor> {
    let quantised = |t: &Bound<PyAny>| Ok(t.extract::<PyQTensor>()?.0);
    let tensors = sequence::items(tensors, quantised)?.ok_or_else(|| {
        let found = kind(tensors);
        PyTypeError::new_err(format!("expected a list of quantised tensors, got {found}"))
    })?;
    let elements = tensors
        .iter()
        .map(QTensor::len)
        .fold(0, usize::saturating_add);
    Ok(PyQTensor(detached(py, elements, || {
        quant::concat(&tensors, axis)
    })?))
}
