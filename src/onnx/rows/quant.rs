//! Integers with scales and zero points.

use super::super::call::{Call, Inputs, Node, Outputs, many, one};
use super::cast::converted;
use super::{Attribute, Row, function, int, make};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{self, Shape};
use crate::ops;
#[cfg(feature = "quant")]
use crate::quant::{self, Levels, QTensor};
use crate::tensor::Tensor;

const AXIS: Attribute = int("axis", 1);
const BLOCK: Attribute = int("block_size", 0);
const DTYPE: Attribute = int("output_dtype", 0);
const SATURATE: Attribute = int("saturate", 1);

pub(super) const ROWS: &[Row] = &[
    make("DequantizeLinear", 10, 2..=3, &[], dequantize),
    make("DequantizeLinear", 13, 2..=3, &[AXIS], dequantize),
    make("DequantizeLinear", 21, 2..=3, &[AXIS, BLOCK], dequantize),
    make(
        "DequantizeLinear",
        23,
        2..=3,
        &[AXIS, BLOCK, DTYPE],
        dequantize,
    ),
    make("QuantizeLinear", 10, 2..=3, &[], quantize),
    make("QuantizeLinear", 13, 2..=3, &[AXIS], quantize),
    make("QuantizeLinear", 19, 2..=3, &[AXIS, SATURATE], quantize),
    make(
        "QuantizeLinear",
        21,
        2..=3,
        &[AXIS, BLOCK, DTYPE, SATURATE],
        quantize,
    ),
    make(
        "QuantizeLinear",
        23,
        2..=3,
        &[AXIS, BLOCK, DTYPE, int("precision", 0), SATURATE],
        quantize,
    ),
    make("DynamicQuantizeLinear", 11, 1..=1, &[], |_| many(dynamic)),
    #[cfg(feature = "quant")]
    function("QLinearMatMul", 10, 8..=8, |x| {
        let number = |t: &Tensor, rows: bool| match t.rank() {
            // one for each row of the left operand, or column of the right one
            1 if t.len() > 1 && rows => t.expand_dims(-1),
            1 if t.len() == 1 => t.reshape(()),
            _ => Ok(t.clone()),
        };
        let zero = |i: usize| number(x.get(i)?, false);
        let sums =
            crate::quant::matmul_integer(x.get(0)?, x.get(3)?, Some(&zero(2)?), Some(&zero(5)?))?;
        let wide = x.get(6)?.dtype().wide();
        let scale = |i: usize| number(x.get(i)?, i == 1)?.astype(wide);
        let scale = ops::divide(ops::multiply(scale(1)?, &scale(4)?)?, &scale(6)?)?;
        rounded(ops::multiply(sums.astype(wide)?, &scale)?, x.get(7)?)
    }),
];

/// A parameter for every element of `x`: one number, one for each index of the axis, or one for each
/// block along it.
fn spread(op: &'static str, t: &Tensor, x: &Tensor, axis: isize, block: usize) -> Result<Tensor> {
    if t.len() == 1 && t.rank() <= 1 {
        return t.reshape(());
    }
    let axis = layout::axis(op, axis, x.rank())?;
    if t.rank() == 1 && block == 0 {
        let shape: Shape = (0..x.rank())
            .map(|k| if k == axis { t.len() } else { 1 })
            .collect();
        return t.reshape(shape);
    }
    let size = x.shape()[axis];
    let fits = t.rank() == x.rank() && t.shape()[axis] == size.div_ceil(block.max(1));
    if block == 0 || !fits {
        let message = message!(
            "a scale of shape {:?} for axis {axis} and blocks of {block}",
            t.shape()
        );
        return Err(Error::shape_of(op, message, &[("x", x.shape(), x.dtype())]));
    }
    ops::repeat(t, block, axis)?.narrow(axis, 0, size)
}

fn has(node: &Node, name: &str) -> bool {
    node.attributes.iter().any(|(n, _)| *n == name)
}
pub fn axis_and_block(node: &Node) -> Result<(isize, usize)> {
    let axis = if has(node, "axis") {
        node.int("axis") as isize
    } else {
        0
    };
    Ok((
        axis,
        if has(node, "block_size") {
            node.size("block_size")?
        } else {
            0
        },
    ))
}
fn output(node: &Node) -> Result<Option<DType>> {
    if has(node, "output_dtype") {
        node.dtype("output_dtype")
    } else {
        Ok(None)
    }
}

fn dequantize(node: &Node) -> Result<Call> {
    let ((axis, block), dtype) = (axis_and_block(node)?, output(node)?);
    one(move |x: &mut Inputs| {
        const OP: &str = "DequantizeLinear";
        let (scale, zero) = (x.get(1)?, x.maybe(2));
        let x = x.get(0)?;
        let dtype = dtype.unwrap_or(scale.dtype());
        #[cfg(feature = "quant")]
        if let Some(y) = dequantized(x, scale, zero, dtype)? {
            return Ok(y);
        }
        let wide = scale.dtype().wide();
        let scale = spread(OP, &scale.astype(wide)?, x, axis, block)?;
        let values = match zero {
            Some(zero) if x.dtype().is_integer() && x.dtype() != DType::I32 => {
                let zero = spread(OP, zero, x, axis, block)?.astype(DType::I32)?;
                ops::subtract(x.astype(DType::I32)?, &zero)?
            }
            _ => x.clone(),
        };
        ops::multiply(values.astype(wide)?, &scale)?.astype(dtype)
    })
}

/// Rounded numbers around a zero point, in its dtype.
pub(super) fn rounded(y: Tensor, zero: &Tensor) -> Result<Tensor> {
    let dtype = zero.dtype();
    let wide = y.dtype().wide();
    let [low, high] = dtype.integers();
    let y = ops::add(ops::round(y.astype(wide)?)?, &zero.astype(wide)?)?;
    ops::clip(y, low as f64, high as f64)?.astype(dtype)
}

fn quantize(node: &Node) -> Result<Call> {
    let ((axis, block), dtype) = (axis_and_block(node)?, output(node)?);
    let saturate = !has(node, "saturate") || node.flag("saturate");
    one(move |x: &mut Inputs| {
        const OP: &str = "QuantizeLinear";
        let (scale, zero) = (x.get(1)?, x.maybe(2));
        let x = x.get(0)?;
        #[cfg(feature = "quant")]
        if let Some(y) = quantized(x, scale, zero, dtype)? {
            return Ok(y);
        }
        let x = if x.dtype().is_integer() {
            x.astype(DType::F32)?
        } else {
            x.clone()
        };
        let scale = spread(OP, scale, &x, axis, block)?.astype(x.dtype())?;
        let y = ops::divide(&x, &scale)?;
        let dtype = zero.map_or(dtype.unwrap_or(DType::U8), Tensor::dtype);
        if dtype.is_storage() {
            return converted(&y, dtype, saturate);
        }
        let zero = match zero {
            Some(zero) => spread(OP, zero, &x, axis, block)?,
            None => Tensor::zeros((), dtype)?,
        };
        rounded(y, &zero)
    })
}

/// Bytes with one step, in one pass; `None` for others.
#[cfg(feature = "quant")]
fn dequantized(
    x: &Tensor,
    scale: &Tensor,
    zero: Option<&Tensor>,
    dtype: DType,
) -> Result<Option<Tensor>> {
    let Some(levels) = levels(x.dtype()).filter(|_| {
        dtype == DType::F32
            && scale.dtype() == dtype
            && scale.len() == 1
            && zero.is_none_or(|z| z.len() == 1 && z.dtype() == x.dtype())
    }) else {
        return Ok(None);
    };
    let ones: Shape = x.shape().iter().map(|n| 1.min(*n)).collect();
    let step = |t: &Tensor| t.reshape(())?.broadcast_to(&ones);
    let zero = match zero {
        Some(zero) => Some(step(zero)?),
        None if levels == Levels::U8 => Some(Tensor::zeros(&ones, x.dtype())?),
        None => None,
    };
    let q = QTensor::from_parts(x.contiguous()?, step(scale)?, zero, levels, x.shape())?;
    q.dequantize().map(Some)
}
/// The same back.
#[cfg(feature = "quant")]
fn quantized(
    x: &Tensor,
    scale: &Tensor,
    zero: Option<&Tensor>,
    dtype: Option<DType>,
) -> Result<Option<Tensor>> {
    let to = zero.map_or(dtype.unwrap_or(DType::U8), Tensor::dtype);
    let one = scale.len() == 1 && zero.is_none_or(|z| z.len() == 1);
    let Some(levels) =
        levels(to).filter(|_| one && x.dtype() == DType::F32 && scale.dtype() == x.dtype())
    else {
        return Ok(None);
    };
    let scale = scale.reshape(())?;
    // there may be no step that others accept
    if !(scale.item::<f32>()? > 0.0 && ops::isfinite(&scale)?.item::<bool>()?) {
        return Ok(None);
    }
    let zero = match zero {
        Some(zero) => zero.reshape(())?,
        None => Tensor::zeros((), to)?,
    };
    let q = quant::quantize_by(x, levels, &scale, Some(&zero))?;
    Ok(Some(q.values().clone()))
}
#[cfg(feature = "quant")]
fn levels(dtype: DType) -> Option<Levels> {
    match dtype {
        DType::I8 => Some(Levels::I8),
        DType::U8 => Some(Levels::U8),
        _ => None,
    }
}

/// Bytes from the range of the numbers, which always has 0 in it.
fn dynamic(x: &mut Inputs) -> Result<Outputs> {
    let x = x.get(0)?;
    #[cfg(feature = "quant")]
    if x.dtype() == DType::F32 && !x.is_empty() {
        let how = quant::Quantization {
            levels: Levels::U8,
            affine: true,
            ..Default::default()
        };
        let q = quant::quantize(x, how)?;
        let scale = q.scales().reshape(())?;
        // which stands for a range of no width too, whose scale is 0
        if let (Some(zero), true) = (q.zeros(), scale.item::<f32>()? != 1.0) {
            let (zero, y) = (zero.reshape(())?, q.values().clone());
            return Ok(Outputs::from_vec(alloc::vec![y, scale, zero]));
        }
    }
    let (least, most) = match x.is_empty() {
        true => (Tensor::zeros((), x.dtype())?, Tensor::zeros((), x.dtype())?),
        false => (
            ops::minimum(ops::min(x, ())?, 0)?,
            ops::maximum(ops::max(x, ())?, 0)?,
        ),
    };
    let scale = ops::divide(ops::subtract(&most, &least)?, 255.0)?;
    let one = ops::where_(ops::equal(&scale, 0)?, 1.0, &scale)?;
    let zero = ops::round(ops::clip(
        ops::negative(ops::divide(&least, &one)?)?,
        0.0,
        255.0,
    )?)?
    .astype(DType::U8)?;
    #[cfg(feature = "quant")]
    let y = quantized(x, &one, Some(&zero), None)?;
    #[cfg(not(feature = "quant"))]
    let y: Option<Tensor> = None;
    let y = match y {
        Some(y) => y,
        None => rounded(ops::divide(x, &one)?, &zero)?,
    };
    Ok(Outputs::from_vec(alloc::vec![y, scale, zero]))
}
