//! Sums of quantised tensors, without floats in between that are kept.

use super::output::{Encoding, Output};
use super::qtensor::{QTensor, floats_of_bytes};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::quant::{self, Addend, Levels, QuantStep};
use crate::ops;
use crate::par::{self, Cost};
use crate::tensor::Tensor;

/// What `a + b` is of dequantised tensors, or the larger of that and zero, quantised: bytes with one
/// step each.
///
/// Errors if they don't broadcast, or have several steps or other integers.
pub(crate) fn sum_of_bytes(x: [&QTensor; 2], relu: bool, output: Output) -> Result<Tensor> {
    let y = output.of("quant.add", |encoding| match encoding {
        Some(encoding) if x[0].shape() == x[1].shape() => at_once(x, relu, encoding),
        encoding => {
            let y = ops::add(x[0].dequantize()?, &x[1].dequantize()?)?;
            let y = if relu { ops::maximum(y, 0)? } else { y };
            match encoding {
                Some(encoding) => encoding.all(&y.contiguous()?),
                None => Ok(y),
            }
        }
    });
    y.map(|y| y.values)
}

fn at_once(x: [&QTensor; 2], relu: bool, Encoding { step, levels }: Encoding) -> Result<Tensor> {
    let mut y = Tensor::empty(x[0].shape(), levels.dtype())?;
    let steps = [one_step(x[0])?, one_step(x[1])?];
    let values = [x[0].values.contiguous()?, x[1].values.contiguous()?];
    let cost = Cost {
        bytes: 3,
        flops: 12,
    };
    par::split(y.as_mut_bytes()?, 1, 64, cost, |r, d| {
        let addend = |i: usize| Addend {
            q: &values[i].as_bytes()[r.clone()],
            step: steps[i],
            signed: x[i].levels() == Levels::I8,
        };
        quant::encode_sum([addend(0), addend(1)], relu, step, levels.range(false), d)
    });
    Ok(y)
}

fn one_step(q: &QTensor) -> Result<QuantStep> {
    if q.scales.len() != 1 || q.levels.is_packed() {
        let message = message!(
            "{} with {} scales, not bytes with one",
            q.levels.name(),
            q.scales.len()
        );
        return Err(Error::value("quant.add", message));
    }
    let scale = q.scales.astype(DType::F32)?.reshape(())?.item::<f32>()?;
    let zeros = q.zeros.as_ref().map(|z| floats_of_bytes(z, q.levels));
    let zero = zeros.transpose()?.and_then(|z| z.first().copied());
    Ok(QuantStep {
        scale,
        zero: zero.unwrap_or(0.0) as i32,
    })
}
