//! Quantised tensors in safetensors files: the values under the tensor's name, and beside them
//! `name.scales`, `name.zero_points` if there are any, for int4 and int2, whose bytes don't tell
//! the shape, `name.shape`, and for int2 `name.bits`.

use super::qtensor::QTensor;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::io::safetensors::Tensors;
use crate::kernel::quant::Levels;
use crate::layout::Shape;
use crate::tensor::Tensor;
use alloc::string::String;
use alloc::vec::Vec;

const OP: &str = "quant.from_tensors";

/// The named tensors that represent a quantised tensor in a file: `name`, `name.scales` and, where
/// they are needed, `name.zero_points`, `name.shape` and `name.bits`. Errors if there is no memory.
///
/// ```
/// use flex::{Tensor, io::safetensors, quant};
/// let q = quant::quantize(&Tensor::from([1.0f32, -2.0]), ())?;
/// let parts = quant::to_tensors("w", &q)?;
/// let file = safetensors::write(parts.iter().map(|(name, t)| (name, t)), &Default::default())?;
/// assert!(quant::from_tensors(&safetensors::parse(&file)?, "w")?.equal(&q)?);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn to_tensors(name: &str, q: &QTensor) -> Result<Vec<(String, Tensor)>> {
    let named = |part: &str| [name, part].concat();
    let mut parts = Vec::new();
    parts.push((String::from(name), q.values().clone()));
    parts.push((named(".scales"), q.scales().clone()));
    if let Some(zeros) = q.zeros() {
        parts.push((named(".zero_points"), zeros.clone()));
    }
    if q.levels().is_packed() {
        #[cfg(feature = "i64")]
        {
            let shape =
                crate::fallible::collect(q.shape().iter().map(|n| Ok::<_, Error>(*n as i64)))?;
            parts.push((named(".shape"), Tensor::from_vec(shape, q.rank())?));
            if q.levels() == Levels::I2 {
                parts.push((named(".bits"), Tensor::from([2u8])));
            }
        }
        #[cfg(not(feature = "i64"))]
        return Err(Error::unsupported("quant.to_tensors", DType::I64));
    }
    Ok(parts)
}

/// The quantised tensor that [`to_tensors`] stored. If its memory is static, such as flash, it
/// stays there.
///
/// Errors if parts are missing or don't fit together.
///
/// Example: [`to_tensors`].
pub fn from_tensors(tensors: &Tensors, name: &str) -> Result<QTensor> {
    let part = |part: &str| tensors.get(&[name, part].concat());
    let values = tensors.tensor(name)?.clone();
    let scales = tensors.tensor(&[name, ".scales"].concat())?.clone();
    let shape = match part(".shape") {
        None => None,
        Some(shape) => Some(sizes(shape)?),
    };
    let levels = match (&shape, values.dtype()) {
        (Some(_), _) => packed_levels(part(".bits"))?,
        (None, DType::U8) => Levels::U8,
        (None, _) => Levels::I8,
    };
    let shape = shape.unwrap_or_else(|| values.shape().into());
    QTensor::from_parts(values, scales, part(".zero_points").cloned(), levels, shape)
}

/// Packed levels by their number of bits; 4 if there is no such part.
fn packed_levels(bits: Option<&Tensor>) -> Result<Levels> {
    match bits {
        None => Ok(Levels::I4),
        Some(bits)
            if bits.dtype() == DType::U8
                && bits.shape() == [1]
                && bits.contiguous()?.as_bytes() == [2] =>
        {
            Ok(Levels::I2)
        }
        Some(_) => Err(Error::value(OP, "bits must be [2] of uint8")),
    }
}

#[cfg(feature = "i64")]
fn sizes(shape: &Tensor) -> Result<Shape> {
    if shape.dtype() != DType::I64 || shape.rank() != 1 {
        return Err(Error::dtype(
            OP,
            message!(
                "a shape must be one-dimensional int64, not {}",
                shape.dtype()
            ),
        ));
    }
    let wrong = || Error::value(OP, "a shape has an invalid size");
    let shape = shape.to_vec::<i64>()?;
    shape
        .iter()
        .map(|n| usize::try_from(*n).map_err(|_| wrong()))
        .collect()
}
#[cfg(not(feature = "i64"))]
fn sizes(_: &Tensor) -> Result<Shape> {
    Err(Error::unsupported(OP, DType::I64))
}
