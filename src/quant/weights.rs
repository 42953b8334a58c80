//! The requirements of integer products on weights and inputs, and what is cached of weights.

use super::qtensor::{QTensor, floats_of_bytes};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::quant::{self, Levels, QuantStep};
use crate::par::{self, Cost};
use crate::tensor::Tensor;
#[cfg(feature = "std")]
use crate::{
    kernel::gemm::{self, Scratch},
    storage::PackedForm,
};
use alloc::vec::Vec;

/// The most products of bytes whose sum fits 32 bits.
const TERMS: usize = (i32::MAX / (255 * 128)) as usize;

/// Errors if the weight's products can't be summed as integers, or if sums of `k` terms may
/// overflow.
pub(super) fn check_integers(op: &'static str, weight: &QTensor, k: usize) -> Result<()> {
    let exact = weight.zeros.as_ref().map_or(Ok(true), |z| {
        Ok::<_, Error>(floats_of_bytes(z, weight.levels)?.iter().all(|z| *z == 0.0))
    })?;
    let by_rows = match weight.scales.shape() {
        [rows, rest @ ..] => {
            (*rows == 1 || *rows == weight.shape[0]) && rest.iter().all(|s| *s == 1)
        }
        [] => false,
    };
    if weight.levels != Levels::I8 || !exact || !by_rows {
        return Err(Error::value(
            op,
            message!(
                "quantised inputs need int8 weights without zero points, per tensor or axis 0, not \
                 {} in blocks of {:?}: take floats",
                weight.levels.name(),
                &weight.block()[..]
            ),
        ));
    }
    if k > TERMS {
        return Err(Error::value(
            op,
            message!("sums of {k} products of bytes may overflow int32; at most {TERMS} fit"),
        ));
    }
    Ok(())
}

/// The step of inputs with one scale. Errors if it is invalid.
pub(super) fn step(op: &'static str, scale: f32, zero: u8) -> Result<QuantStep> {
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(Error::value(
            op,
            message!("scale is {scale}; it must be positive and finite"),
        ));
    }
    Ok(QuantStep {
        scale,
        zero: zero as i32,
    })
}

/// Errors if an operand is not a float tensor.
pub(super) fn check_floats(op: &'static str, name: &str, t: &Tensor) -> Result<()> {
    if !t.dtype().is_float() || !t.dtype().is_available() {
        return Err(Error::dtype(
            op,
            message!("{name} must be a float tensor, not {}", t.dtype()),
        ));
    }
    Ok(())
}

/// A float operand broadcast to a shape, as float32. Errors if it is not a float tensor or doesn't
/// broadcast.
pub(super) fn floats(
    op: &'static str,
    name: &'static str,
    t: &Tensor,
    to: &[usize],
    operands: &[(&'static str, &[usize], DType); 2],
) -> Result<Tensor> {
    check_floats(op, name, t)?;
    let whole = t.broadcast_to(to).map_err(|_| {
        let message = message!("{name} does not broadcast to {to:?}");
        let all = [operands[0], operands[1], (name, t.shape(), t.dtype())];
        Error::shape_of(op, message, &all)
    })?;
    whole.astype(DType::F32)
}

/// What products need to know of an int8 matrix.
pub(super) struct Facts {
    /// The sum of each row.
    pub sums: Vec<i32>,
    /// Whether bytes are narrow ([`gemm::by_groups`]).
    pub narrow: bool,
}
/// The facts of a matrix, in whose rows neighbours of a group are `apart` bytes from each other. Cached
/// with its storage from the second use on.
pub(super) fn facts(values: &Tensor, apart: usize) -> Result<Facts> {
    let (n, k) = (values.shape()[0], values.shape()[1]);
    let compute = || {
        let values = values.contiguous()?;
        let q = values.as_bytes();
        let mut facts = fallible::filled([0u32; 2], n)?;
        par::split(&mut facts, 1, 1, Cost { bytes: k, flops: k }, |r, d| {
            quant::row_facts(&q[r.start * k..r.end * k], k, apart, d)
        });
        Ok(facts)
    };
    let of = |facts: &[[u32; 2]]| {
        Ok(Facts {
            sums: fallible::collect(facts.iter().map(|[sum, _]| Ok::<_, Error>(*sum as i32)))?,
            narrow: facts.iter().all(|[_, narrow]| *narrow == 1),
        })
    };
    #[cfg(feature = "std")]
    {
        let kept = values.kept(DType::I32, PackedForm::Facts(apart), || {
            let facts: Vec<[u32; 2]> = compute()?;
            let mut kept = Scratch::<u32>::new(2 * n)?;
            kept.copy_from_slice(facts.as_flattened());
            Ok(kept.into_bytes())
        });
        if let Some(kept) = kept {
            let kept: &[u32] = gemm::packed_slice(&kept);
            return of(kept[..2 * n].as_chunks().0);
        }
    }
    of(&compute()?)
}
