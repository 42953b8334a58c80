//! The product with dequantised weights.

use super::LinearOperands;
#[cfg(feature = "half")]
use crate::dtype::DType;
use crate::error::Result;
use crate::exec::failure::try_split;
use crate::exec::products::{ProductSizes, products_of_sources};
use crate::fallible;
use crate::kernel::gemm::{self, Epilogue, MatMut, Strided};
use crate::kernel::quant::{self, FEW_ROWS, Scales, Weights};
use crate::par::Cost;
use crate::quant::QTensor;
use crate::simd;
use crate::tensor::Tensor;
/// Above this magnitude, products with sums of integers might overflow; such values are divided by
/// a power of two first.
const HUGE: f32 = 1e28;
const SMALLER: f32 = (1u64 << 40) as f32;

impl LinearOperands {
    /// The product with weights as floats.
    pub(super) fn decoded(&self, weight: &QTensor) -> Result<Tensor> {
        let ProductSizes { m, n, k } = self.sizes;
        let weight = match weight.packed {
            Some(0) => weight.unpacked()?,
            _ => weight.clone(),
        };
        let per_row = weight.scales.shape()[0] == n;
        let scales = match per_row {
            true => weight.scales.contiguous()?,
            // scales shared by all rows, or by groups of rows
            false => {
                let (rows, blocks) = (weight.scales.shape()[0], weight.scales.shape()[1]);
                match rows {
                    1 => weight.scales.contiguous()?,
                    _ => each_row(&weight.scales, n, blocks)?,
                }
            }
        };
        let per_row = scales.shape()[0] == n;
        let zeros = match &weight.zeros {
            None => None,
            Some(z) if z.shape() == scales.shape() => Some(z.contiguous()?),
            Some(z) => Some(each_row(z, n, z.shape()[1])?),
        };
        let values = weight.values.contiguous()?;
        let zeros = zeros.as_ref().map_or(&[][..], Tensor::as_bytes);
        let of = match scales.dtype() {
            #[cfg(feature = "half")]
            DType::F16 => Scales::F16(scales.as_slice()?),
            #[cfg(feature = "half")]
            DType::BF16 => Scales::Bf16(scales.as_slice()?),
            _ => Scales::F32(scales.as_slice()?),
        };
        let weights = Weights::new(values.as_bytes(), weight.levels, [n, k], of, zeros, per_row);
        let x = self.x.as_slice::<f32>()?;
        self.result(None, |c, epilogue| {
            if m <= FEW_ROWS && !simd::MICROCONTROLLER {
                return self.few_rows(x, &weights, c, epilogue);
            }
            // SAFETY: a single result, in blocks that don't overlap.
            unsafe {
                products_of_sources(1, |_| {
                    let a = Strided::rows(gemm::Mat::from_slice(x, m, k));
                    (a, weights, c.part(0..m, 0..n), epilogue)
                })
            }
        })
    }
    fn few_rows(
        &self,
        x: &[f32],
        w: &Weights,
        mut c: MatMut<f32>,
        epilogue: Epilogue<f32>,
    ) -> Result<()> {
        let ProductSizes { m, n, k } = self.sizes;
        if m * n == 0 {
            return Ok(());
        }
        let mut ordered = fallible::filled(0.0f32, m * k)?;
        // scales are applied to the sums at the end, so huge values are scaled down until then
        let mut factors = [1.0f32; FEW_ROWS];
        let rows = x.chunks_exact(k).zip(ordered.chunks_exact_mut(k));
        for ((x, d), factor) in rows.zip(&mut factors) {
            quant::in_order(w, x, d);
            if x.iter().any(|x| x.abs() > HUGE) {
                d.iter_mut().for_each(|x| *x /= SMALLER);
                *factor = SMALLER;
            }
        }
        let mut sums = fallible::filled(0.0f32, n * m)?;
        let cost = Cost {
            bytes: k / w.levels().per_byte() + 4 * w.blocks(),
            flops: m * k,
        };
        try_split(&mut sums, m, 4, cost, |rows, d| {
            quant::few_rows(w, &ordered, rows, d)
        })?;
        for i in 0..m {
            let row = c.row(i);
            for (y, sums) in row.iter_mut().zip(sums.chunks_exact(m)) {
                *y = sums[i] * factors[i];
            }
            gemm::finish_in_place(epilogue.at(i, 0), row, n);
        }
        // SAFETY: POSTOP1: all elements, which are written.
        unsafe { epilogue.run_post_op(0..m, 0..n) };
        Ok(())
    }
}

/// Expands scales or zero points that rows share to one per row.
fn each_row(t: &Tensor, n: usize, blocks: usize) -> Result<Tensor> {
    let groups = t.shape()[0];
    let each = t
        .expand_dims(1)?
        .broadcast_to([groups, n / groups.max(1), blocks])?;
    each.reshape((n, blocks))?.contiguous()
}
