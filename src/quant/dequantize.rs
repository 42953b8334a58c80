//! Dequantisation: from quantised tensors to floats.

use super::groups::Groups;
use super::qtensor::{QTensor, floats_of_bytes};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::quant::{self, Levels};
use crate::par::Cost;
use crate::tensor::Tensor;

impl QTensor {
    /// The values that the integers stand for, `scale * (q - zero)`: float32 of the same shape.
    /// Errors if there is no memory for them.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let q = quant::quantize(&Tensor::from([127.0f32, -1.0, 0.25]), ())?;
    /// assert_eq!(q.dequantize()?.to_vec::<f32>()?, [127.0, -1.0, 0.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn dequantize(&self) -> Result<Tensor> {
        let groups = Groups::new(&self.shape, self.scales.shape());
        let (_, len) = groups.sizes();
        let last = self.rank().wrapping_sub(1);
        let per = self.levels.per_byte();
        // groups of whole bytes are decoded from their packed form
        let whole = self.packed.is_some_and(|axis| {
            axis == last
                && groups.in_order()
                && self.shape[axis].is_multiple_of(per)
                && self.block()[axis].is_multiple_of(per)
        });
        if self.packed.is_some() && !whole {
            return self.unpacked()?.dequantize();
        }
        let values = match whole {
            true => self.values.contiguous()?,
            false => groups.gather(&self.values)?,
        };
        let q = values.as_bytes();
        let scales = self.scales.astype(DType::F32)?.contiguous()?;
        let scales = scales.as_slice::<f32>()?;
        let zeros = self.zeros.as_ref().map(|z| floats_of_bytes(z, self.levels));
        let zeros = zeros.transpose()?.unwrap_or_default();
        let mut y = Tensor::empty(self.len(), DType::F32)?;
        let cost = Cost { bytes: 5, flops: 4 };
        groups.each(y.as_mut_slice::<f32>()?, cost, |first, r, d| {
            let at = first * len + r.start;
            let zeros = zeros.get(first..).unwrap_or(&[]);
            if whole {
                let q = &q[at / per..][..d.len() / per];
                quant::decode_packed(q, per, len, &scales[first..], zeros, d)
            } else {
                let q = &q[at..][..d.len()];
                quant::decode(
                    q,
                    self.levels != Levels::U8,
                    len,
                    &scales[first..],
                    zeros,
                    d,
                )
            }
        });
        groups.scatter(y)
    }
    /// The same in another float dtype, rounded once. Errors also if `dtype` is not a float dtype.
    ///
    /// ```
    /// use flex::{DType, Tensor, quant};
    /// let q = quant::quantize(&Tensor::from([1.0f32, -127.0]), ())?;
    /// let x = q.dequantize_as(DType::BF16)?;
    /// assert_eq!((x.dtype(), x.astype(DType::F32)?.to_vec::<f32>()?), (DType::BF16, vec![1.0, -127.0]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn dequantize_as(&self, dtype: DType) -> Result<Tensor> {
        if !dtype.is_float() {
            let message = message!("dtype must be a float dtype, not {dtype}");
            return Err(Error::dtype("dequantize", message));
        }
        self.dequantize()?.astype(dtype)
    }
}
