//! Quantisation: from floats to quantised tensors.

use super::groups::{CUT, Groups};
use super::qtensor::{self, QTensor};
use super::scheme::Quantization;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::failure::try_split;
use crate::fallible;
use crate::kernel::quant::{self, Calibration, Levels, QuantStep, QuantizationRule};
use crate::layout::Shape;
use crate::par::{self, Cost, Out};
use crate::tensor::Tensor;

/// The cost of quantising an element: a division and its share of finding the range.
const COST: Cost = Cost {
    bytes: 9,
    flops: 16,
};

/// Quantises `x`: `q = clamp(round(x / scale) + zero)`, ties to even, with a scale for each group
/// of [`Quantization::per`].
///
/// Without zero points, `scale = max(|x|) / 127` (7 for int4, 1 for int2) and `zero = 0`. With
/// them, `scale = (max(x, 0) - min(x, 0)) / 255` and `zero = round(least - min(x, 0) / scale)`,
/// where `least` is the smallest integer, as in ONNX's `DynamicQuantizeLinear`. A group of zeros
/// has scale 1. NaN becomes the integer that stands for 0, and infinities saturate; neither counts
/// towards a range. The computation is in float32. Integers of int4 and int2 are packed along the
/// axis of blocks, else along the last one.
///
/// Errors if `x` is not a float tensor, an axis is out of range, blocks don't divide their axis, or
/// the quantisation doesn't exist (uint8 without zero points, int4 and int2 with them).
///
/// ```
/// use flex::{Tensor, quant};
/// let x = Tensor::from([0.0f32, 0.5, 1.0, 2.55]);
/// let bytes = quant::Quantization { levels: quant::Levels::U8, affine: true, ..Default::default() };
/// let q = quant::quantize(&x, bytes)?;
/// assert_eq!(q.values().to_vec::<u8>()?, [0, 50, 100, 255]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn quantize(x: &Tensor, how: impl Into<Quantization>) -> Result<QTensor> {
    const OP: &str = "quant.quantize";
    let how = how.into();
    let scales = how.per.scales_of(OP, x.shape())?;
    let axis = match how.per {
        super::Per::Block { axis, .. } => axis,
        _ => -1,
    };
    in_blocks(OP, x, &how, &scales, axis)
}

/// [`quantize`] with scales of this shape, whatever `how` says of what shares one; values that
/// share a byte are neighbours along `axis`.
pub(super) fn in_blocks(
    op: &'static str,
    x: &Tensor,
    how: &Quantization,
    scales: &Shape,
    axis: isize,
) -> Result<QTensor> {
    let rule = how.rule(op)?;
    check(op, x, how.levels)?;
    let groups = Groups::new(x.shape(), scales);
    let (count, len) = groups.sizes();
    let x32 = groups.gather(&x.astype(DType::F32)?)?;
    let numbers = x32.as_slice::<f32>()?;
    let mut steps = fallible::filled(QuantStep::default(), count)?;
    let mut values = Tensor::empty(numbers.len(), how.levels.dtype())?;
    let d = values.as_mut_bytes()?;
    if len <= CUT {
        together(numbers, len, &rule, how.calibration, d, &mut steps)?;
    } else {
        for (step, (x, d)) in steps
            .iter_mut()
            .zip(numbers.chunks(len).zip(d.chunks_mut(len)))
        {
            match how.calibration {
                Calibration::MinMax => *step = rule.step(range(x)?),
                how => quant::calibrated(x, len, &rule, how, d, core::slice::from_mut(step))?,
            }
        }
        if how.calibration == Calibration::MinMax {
            groups.each(d, COST, |g, r, d| {
                let x = &numbers[g * len..][r];
                quant::encode(x, steps[g], rule.levels, d)
            });
        }
    }
    let values = groups.scatter(values)?;
    let of = fallible::collect(steps.iter().map(|s| Ok::<_, Error>(s.scale)))?;
    let of = Tensor::from_vec(of, scales)?.astype(how.scales)?;
    let zeros = match how.affine {
        false => None,
        true => {
            let zeros = fallible::collect(steps.iter().map(|s| Ok::<_, Error>(s.zero as u8)))?;
            Some(Tensor::from_vec(zeros, scales)?.retyped(how.levels.dtype()))
        }
    };
    qtensor::packed(values, of, zeros, how.levels, axis)
}

/// Quantises `x` with given scales and zero points, like ONNX's `QuantizeLinear`. Both are single
/// values, or tensors with the rank of `x` whose sizes divide its sizes, with one number per
/// block.
///
/// Errors like [`quantize`], if the shapes don't match, if a scale is not positive and finite, and
/// if zero points don't have the integers' dtype.
///
/// ```
/// use flex::{Tensor, quant};
/// let x = Tensor::from([-1.0f32, 0.25, 100.0]);
/// let (scale, zero) = (Tensor::from([0.5f32]), Tensor::from([10u8]));
/// let q = quant::quantize_by(&x, quant::Levels::U8, &scale, Some(&zero))?;
/// assert_eq!(q.values().to_vec::<u8>()?, [8, 10, 210]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn quantize_by(
    x: &Tensor,
    levels: Levels,
    scales: &Tensor,
    zeros: Option<&Tensor>,
) -> Result<QTensor> {
    const OP: &str = "quant.quantize";
    check(OP, x, levels)?;
    let whole = |t: &Tensor| match t.rank() {
        0 => t.broadcast_to(x.shape().iter().map(|n| 1.min(*n)).collect::<Shape>()),
        _ => Ok(t.clone()),
    };
    let (scales, zeros) = (whole(scales)?, zeros.map(whole).transpose()?);
    qtensor::check_steps(OP, x.shape(), levels, &scales, zeros.as_ref())?;
    let given = scales.astype(DType::F32)?.contiguous()?;
    let given = given.as_slice::<f32>()?;
    if let Some(wrong) = given.iter().find(|s| !(**s > 0.0 && s.is_finite())) {
        return Err(Error::value(
            OP,
            message!("a scale is {wrong}; scales are positive and finite"),
        ));
    }
    let zero = zeros
        .as_ref()
        .map(|z| qtensor::floats_of_bytes(z, levels))
        .transpose()?;
    let groups = Groups::new(x.shape(), scales.shape());
    let (_, len) = groups.sizes();
    let x32 = groups.gather(&x.astype(DType::F32)?)?;
    let numbers = x32.as_slice::<f32>()?;
    let mut values = Tensor::empty(numbers.len(), levels.dtype())?;
    // given scales may be meant for all levels
    let ends = levels.range(false);
    groups.each(values.as_mut_bytes()?, COST, |first, r, d| {
        let x = &numbers[first * len + r.start..][..r.len()];
        for (g, (x, d)) in x.chunks(len).zip(d.chunks_mut(len)).enumerate() {
            let zero = zero.as_ref().map_or(0, |z| z[first + g] as i32);
            let step = QuantStep {
                scale: given[first + g],
                zero,
            };
            quant::encode(x, step, ends, d);
        }
    });
    let blocked =
        (0..x.rank()).find(|a| scales.shape()[*a] != 1 && scales.shape()[*a] != x.shape()[*a]);
    let axis = blocked.map_or(-1, |a| a as isize);
    qtensor::packed(groups.scatter(values)?, scales, zeros, levels, axis)
}

fn check(op: &'static str, x: &Tensor, levels: Levels) -> Result<()> {
    if !x.dtype().is_float() || !x.dtype().is_available() {
        return Err(Error::dtype(
            op,
            message!("x must be a float tensor, not {}", x.dtype()),
        ));
    }
    if levels.is_packed() && x.rank() == 0 {
        let message = message!(
            "{} needs an axis along which values share bytes",
            levels.name()
        );
        return Err(Error::shape(op, message));
    }
    Ok(())
}

/// Quantises groups that threads take whole.
fn together(
    x: &[f32],
    len: usize,
    rule: &QuantizationRule,
    how: Calibration,
    d: &mut [u8],
    steps: &mut [QuantStep],
) -> Result<()> {
    if how == Calibration::MinMax {
        by_rows(x, len, rule, d, steps);
        return Ok(());
    }
    let steps = Out::new(steps);
    let cost = Cost {
        flops: 64 * COST.flops,
        ..COST
    };
    try_split(d, len.max(1), 1, cost.times(len), |r, d| {
        let x = &x[r.start * len..r.end * len];
        // SAFETY: OUT1: ranges of groups are disjoint.
        quant::calibrated(x, len, rule, how, d, unsafe { steps.part(r) })
    })
}
/// Quantises groups of `len` values, each by its minimum and maximum.
pub(super) fn by_rows(
    x: &[f32],
    len: usize,
    rule: &QuantizationRule,
    d: &mut [u8],
    steps: &mut [QuantStep],
) {
    let steps = Out::new(steps);
    par::split(d, len.max(1), 1, COST.times(len), |r, d| {
        let x = &x[r.start * len..r.end * len];
        // SAFETY: OUT1: ranges of groups are disjoint.
        quant::groups(x, len, rule, d, unsafe { steps.part(r) });
    });
}

/// The minimum and maximum of a long run and 0.
fn range(x: &[f32]) -> Result<[f32; 2]> {
    let mut parts = fallible::filled([0.0f32; 2], x.len().div_ceil(CUT))?;
    let cost = Cost {
        bytes: 4 * CUT,
        flops: 2 * CUT,
    };
    par::each(&mut parts, cost, |k, part| {
        *part = quant::extremes(&x[k * CUT..x.len().min((k + 1) * CUT)]);
    });
    Ok(parts.iter().fold([0.0; 2], |[low, high], part| {
        [part[0].min(low), part[1].max(high)]
    }))
}
