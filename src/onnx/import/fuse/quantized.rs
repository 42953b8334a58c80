//! Layers with weights of few bits: products of floats with them, and products of integers.

use super::super::super::call::{self, Inputs, one};
use super::super::super::plan::Operand;
use super::super::super::rows;
use super::layer::{activation, is_plain, summed};
use super::{Found, Made, Row, by, node};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Shape;
use crate::nn::Activation;
use crate::ops;
use crate::quant::{self, Levels, Output, QLinear, QTensor};
use crate::tensor::Tensor;

/// A matrix of a product, which may be turned.
macro_rules! matrix {
    () => {
        "[d=DequantizeLinear($w, $s, ?z) | Mul(Cast($w), $s) | t=Transpose([d=DequantizeLinear($w, $s, ?z) | Mul(Cast($w), $s)])]"
    };
}
macro_rules! integers {
    () => {
        "&DequantizeLinear(x, %xs, ?xz)"
    };
}
/// The sum of products with a step that a DynamicQuantizeLinear finds.
macro_rules! dynamic {
    () => {
        "Mul(Cast(MatMulInteger(x, $w, ?xz, ?z)), &Mul(xs, $s))"
    };
}
macro_rules! product {
    ($x:expr) => {
        concat!("p=MatMul(", $x, ", ", matrix!(), ")")
    };
}
macro_rules! gemm {
    ($x:expr) => {
        concat!("p=Gemm(", $x, ", ", matrix!(), ", ?b)")
    };
}
macro_rules! layer {
    ($x:expr) => {
        concat!(
            "[Add(",
            product!($x),
            ", $b) | ",
            product!($x),
            " | ",
            gemm!($x),
            "]"
        )
    };
}
macro_rules! convolution {
    () => {
        concat!(
            "p=Conv(",
            integers!(),
            ", d=DequantizeLinear($w, $s, ?z), ?b)"
        )
    };
}

/// The sum of dequantised bytes, which others may need dequantised too.
macro_rules! sum {
    () => {
        "Add(&DequantizeLinear(x, $xs, $xz), &DequantizeLinear(r, $rs, $rz))"
    };
}

pub(super) const ROWS: &[Row] = &[
    by(
        concat!(
            "QuantizeLinear([f=*(",
            sum!(),
            ") | ",
            sum!(),
            "], $ys, $yz)"
        ),
        sum,
    ),
    by(concat!("f=*(", layer!(integers!()), ")"), of_integers),
    by(concat!("Add(", product!(integers!()), ", $b)"), of_integers),
    by(product!(integers!()), of_integers),
    by(gemm!(integers!()), of_integers),
    by(concat!("f=*(Add(", dynamic!(), ", $b))"), of_integers),
    by(concat!("Add(", dynamic!(), ", $b)"), of_integers),
    by(dynamic!(), of_integers),
    by(
        concat!("QuantizeLinear(f=*(", convolution!(), "), $ys, $yz)"),
        convolved,
    ),
    by(
        concat!("QuantizeLinear(", convolution!(), ", $ys, $yz)"),
        convolved,
    ),
    by(concat!("f=*(", convolution!(), ")"), convolved),
    by(convolution!(), convolved),
    by(concat!("f=*(", layer!("x"), ")"), of_floats),
    by(concat!("Add(", product!("x"), ", $b, r)"), of_floats),
    by(concat!("Add(", product!("x"), ", $b)"), of_floats),
    by(
        concat!("Add([", product!("x"), " | ", gemm!("x"), "], r)"),
        of_floats,
    ),
    by(product!("x"), of_floats),
    by(gemm!("x"), of_floats),
];

/// The weight of a layer, `[out, in]`, by its integers, scales and zero points.
fn weight(found: &Found) -> Result<Option<QTensor>> {
    let (Some(w), Some(s)) = (found.known("w"), found.known("s")) else {
        return Ok(None);
    };
    let z = match found.operand("z") {
        None | Some(Operand::Absent) => None,
        Some(_) => match found.known("z") {
            Some(z) => Some(z),
            None => return Ok(None),
        },
    };
    if w.rank() != 2 || s.dtype() != DType::F32 {
        return Ok(None);
    }
    let (mut axis, mut block) = (1, 0);
    if let Some(node) = found.step("d").and_then(node) {
        (axis, block) = rows::axis_and_block(&node)?;
    }
    let turned = match found.step("p").filter(|p| p.op == "Gemm").and_then(node) {
        Some(node) => node.flag("transB"),
        None => false,
    };
    // `[in, out]` as it stands, unless one of the two turns it
    let transposed = found.step("t");
    if let Some(node) = transposed.and_then(node)
        && node.maybe_ints("perm").is_some_and(|perm| perm != [1, 0])
    {
        return Ok(None);
    }
    let turned = turned != transposed.is_some();
    let axis = crate::layout::axis("DequantizeLinear", axis, 2)?;
    let shaped = |t: &Tensor| -> Result<Option<Tensor>> {
        let blocks = match (t.rank(), t.len()) {
            (0 | 1, 1) => return t.reshape([1, 1]).map(Some),
            (1, n) if block == 0 && n == w.shape()[axis] => {
                let mut shape = [1, 1];
                shape[axis] = n;
                t.reshape(shape)?
            }
            (2, _) if block != 0 && w.shape()[axis].is_multiple_of(block) => t.clone(),
            (2, _)
                if block == 0
                    && t.shape()
                        .iter()
                        .zip(w.shape())
                        .all(|(t, w)| *t == 1 || t == w) =>
            {
                t.clone()
            }
            _ => return Ok(None),
        };
        let blocks = if turned {
            blocks
        } else {
            blocks.transpose(0, 1)?
        };
        blocks.contiguous().map(Some)
    };
    let values = if turned {
        w.clone()
    } else {
        w.transpose(0, 1)?
    };
    let mut values = values.contiguous()?;
    let zero_is = |n: i64| -> Result<bool> {
        match z {
            Some(z) => Ok(call::ints(z)?.iter().all(|z| *z == n)),
            None => Ok(n == 0),
        }
    };
    let Some(scales) = shaped(s)? else {
        return Ok(None);
    };
    let (levels, zeros) = match w.dtype() {
        DType::I8 if zero_is(0)? => (Levels::I8, None),
        // the same numbers around 0
        DType::U8 if zero_is(128)? => {
            let flip = Tensor::scalar(128, DType::U8)?;
            values = ops::bitwise_xor(&values, &flip)?.bitcast(DType::I8)?;
            (Levels::I8, None)
        }
        dtype @ (DType::I8 | DType::U8) => {
            let levels = if dtype == DType::I8 {
                Levels::I8
            } else {
                Levels::U8
            };
            let zeros = match z {
                Some(z) => match shaped(z)? {
                    Some(z) => z.broadcast_to(scales.shape())?,
                    None => return Ok(None),
                },
                None => Tensor::zeros(scales.shape(), dtype)?,
            };
            (levels, Some(zeros.contiguous()?))
        }
        _ => return Ok(None),
    };
    let shape = Shape::from_slice(values.shape());
    QTensor::from_parts(values, scales, zeros, levels, shape).map(Some)
}

/// What follows a layer's product: its bias, if it is known, and an activation. `None` if they are
/// no layer's.
fn after(found: &Found, outputs: usize) -> Result<Option<(Option<Tensor>, Option<Activation>)>> {
    let f = activation(found);
    if found.step("f").is_some() && f.is_none() {
        return Ok(None);
    }
    Ok(match (found.operand("b"), found.known("b")) {
        (None | Some(Operand::Absent), _) => Some((None, f)),
        (_, Some(b)) if b.len() == outputs && b.rank() == 1 && b.dtype() == DType::F32 => {
            Some((Some(b.clone()), f))
        }
        _ => None,
    })
}
/// Whether a product is that of a layer.
fn is_layer(found: &Found) -> bool {
    let gemm = found.step("p").filter(|p| p.op == "Gemm").and_then(node);
    gemm.is_none_or(|node| is_plain(&node))
}
/// Whether products of integers take the weight: one scale for each row, no zero points.
fn is_symmetric(weight: &QTensor) -> bool {
    weight.levels() == Levels::I8
        && weight.zeros().is_none()
        && weight.scales().shape()[1..].iter().all(|n| *n == 1)
}

/// Whether the input's integers have one step: as known, or as a DynamicQuantizeLinear finds it.
fn has_one_step(found: &Found) -> bool {
    ["xs", "xz"].iter().all(|name| match found.operand(name) {
        None | Some(Operand::Absent) => true,
        _ => {
            found.known(name).is_some_and(|t| t.len() == 1)
                || found.made_by(name) == Some("DynamicQuantizeLinear")
        }
    })
}
/// The step of integers, of the operands after them.
fn step(x: &Inputs) -> Result<(f32, i32)> {
    let scale = x.get(1)?.reshape(())?.item::<f32>()?;
    let zero = x.maybe(2).map(call::int).transpose()?.unwrap_or(0);
    Ok((scale, zero as i32))
}

fn of_integers(found: &Found) -> Result<Option<Made>> {
    let (Some(x), Some(xs), true) = (found.operand("x"), found.operand("xs"), is_layer(found))
    else {
        return Ok(None);
    };
    let xz = found.operand("xz").unwrap_or(Operand::Absent);
    if !has_one_step(found) {
        return Ok(None);
    }
    let Some(weight) = weight(found)?.filter(is_symmetric) else {
        return Ok(None);
    };
    let Some((bias, activation)) = after(found, weight.shape()[0])? else {
        return Ok(None);
    };
    let name = if found.step("p").is_some() {
        "QLinearMatMul"
    } else {
        "MatMulInteger"
    };
    let call = one(move |x| {
        let (scale, zero) = step(x)?;
        let options = QLinear {
            bias: bias.as_ref(),
            activation,
            ..Default::default()
        };
        quant::linear_of_bytes(x.get(0)?, scale, zero, &weight, options)
    })?;
    Ok(Some(Made::always(name, &[x, xs, xz], call)))
}

fn of_floats(found: &Found) -> Result<Option<Made>> {
    let (Some(x), true) = (found.operand("x"), is_layer(found)) else {
        return Ok(None);
    };
    let Some(weight) = weight(found)? else {
        return Ok(None);
    };
    let Some((bias, activation)) = after(found, weight.shape()[0])? else {
        return Ok(None);
    };
    let call = one(move |x| {
        let (x, residual) = (x.get(0)?, x.maybe(1));
        summed(x, weight.shape()[0], residual, |residual| {
            let options = QLinear {
                bias: bias.as_ref(),
                activation,
                residual,
                ..Default::default()
            };
            quant::linear(x, &weight, options)
        })
    })?;
    Ok(Some(match found.operand("r") {
        Some(r) => Made::always("MatMul", &[x, r], call),
        None => Made::always("MatMul", &[x], call),
    }))
}

/// The levels of a zero point that is a byte, and the step that it is part of; `None` unless it is one
/// step, of a positive and finite scale.
fn known_step(found: &Found, scale: &str, zero: &str) -> Result<Option<(Levels, (f32, i32))>> {
    let (Some(scale), Some(zero)) = (found.known(scale), found.known(zero)) else {
        return Ok(None);
    };
    let levels = match zero.dtype() {
        DType::I8 => Levels::I8,
        DType::U8 => Levels::U8,
        _ => return Ok(None),
    };
    if scale.len() != 1 || zero.len() != 1 || scale.dtype() != DType::F32 {
        return Ok(None);
    }
    let scale = scale.reshape(())?.item::<f32>()?;
    let step = (scale, call::int(zero)? as i32);
    Ok((scale > 0.0 && scale.is_finite()).then_some((levels, step)))
}
/// How a result is quantised that goes to bytes of one step; `None` if it isn't.
fn output(found: &Found) -> Result<Option<Output>> {
    let step = known_step(found, "ys", "yz")?;
    Ok(step.map(|(levels, (scale, zero))| Output {
        levels,
        step: Some((scale, Some(zero))),
    }))
}

/// The sum of two tensors of bytes, quantised again.
fn sum(found: &Found) -> Result<Option<Made>> {
    let relu = match activation(found) {
        None if found.step("f").is_some() => return Ok(None),
        None => false,
        Some(f) if f == Activation::Relu => true,
        Some(_) => return Ok(None),
    };
    let (Some(x), Some(r), Some((_, xs)), Some((_, rs)), Some(output)) = (
        found.operand("x"),
        found.operand("r"),
        known_step(found, "xs", "xz")?,
        known_step(found, "rs", "rz")?,
        known_step(found, "ys", "yz")?,
    ) else {
        return Ok(None);
    };
    let call = one(move |x| quant::sum_of_bytes([(x.get(0)?, xs), (x.get(1)?, rs)], relu, output))?;
    Ok(Some(Made::always("QuantizeLinear", &[x, r], call)))
}

/// A convolution of images of integers with a weight of integers, one scale for each channel, whose
/// result may be quantised again.
fn convolved(found: &Found) -> Result<Option<Made>> {
    let (Some(x), Some(xs), Some(conv), Some(w), Some(s)) = (
        found.operand("x"),
        found.operand("xs"),
        found.step("p"),
        found.known("w"),
        found.known("s"),
    ) else {
        return Ok(None);
    };
    let xz = found.operand("xz").unwrap_or(Operand::Absent);
    let channels = w.shape().first().copied().unwrap_or(0);
    let by_channel = match s.len() {
        1 => true,
        n => {
            let axis = found.step("d").and_then(node);
            n == channels && axis.is_some_and(|d| matches!(rows::axis_and_block(&d), Ok((0, 0))))
        }
    };
    let zero = match found.operand("z") {
        None | Some(Operand::Absent) => true,
        Some(_) => match found.known("z") {
            Some(z) => call::ints(z)?.iter().all(|z| *z == 0),
            None => false,
        },
    };
    let fits =
        has_one_step(found) && w.rank() == 4 && w.dtype() == DType::I8 && s.dtype() == DType::F32;
    let (Some((bias, activation)), Some(node), true) = (
        after(found, channels)?,
        node(conv),
        by_channel && zero && fits,
    ) else {
        return Ok(None);
    };
    let output = output(found)?;
    if output.is_none() && found.operand("ys").is_some() {
        return Ok(None);
    }
    let scales = s.reshape([s.len(), 1, 1, 1])?;
    let weight = QTensor::from_parts(w.contiguous()?, scales, None, Levels::I8, w.shape())?;
    let call = rows::convolution_of_bytes(&node, weight, bias, activation, output)?;
    let call = one(move |x| {
        let (scale, zero) = step(x)?;
        call(x.get(0)?, scale, zero)
    })?;
    Ok(Some(Made::always("QLinearConv", &[x, xs, xz], call)))
}
