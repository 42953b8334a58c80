//! The product in integers.

use super::{LinearOperands, OP};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::exec::products::{ProductSizes, blocked};
use crate::fallible;
use crate::kernel::gemm::{self, Dequantize, MatElement, Panels};
use crate::kernel::quant::{Levels, QuantStep, QuantizationRule};
use crate::ops::linalg::{Matrices, kept_panels};
use crate::quant::output::Encoding;
use crate::quant::qtensor::QTensor;
use crate::quant::quantize::by_rows;
use crate::quant::weights::{check_integers, row_sums, step};
use crate::tensor::Tensor;
use alloc::vec::Vec;

impl LinearOperands {
    /// The product with rows quantised one by one.
    pub(super) fn by_rows<A: Element + MatElement<Acc = u32>>(
        &self,
        weight: &QTensor,
    ) -> Result<Tensor> {
        let ProductSizes { m, k, .. } = self.sizes;
        let affine = A::DTYPE == DType::U8;
        let levels = if affine { Levels::U8 } else { Levels::I8 };
        let rule = QuantizationRule {
            levels: levels.range(!affine),
            affine,
            round: |scale| scale,
        };
        let mut q = Tensor::empty([m, k], A::DTYPE)?;
        let mut steps = fallible::filled(QuantStep::default(), m)?;
        by_rows(self.x.as_slice()?, k, &rule, q.as_mut_bytes()?, &mut steps);
        self.integers::<A>(&q, &steps, weight)
    }
    /// The product with an input of a single step.
    pub(super) fn by_step(&self, weight: &QTensor, scale: f32, zero: u8) -> Result<Tensor> {
        let step = step(OP, scale, zero)?;
        let levels = Levels::U8;
        let q = Encoding { step, levels }.all(&self.x)?;
        self.integers::<u8>(&q, &fallible::filled(step, self.sizes.m)?, weight)
    }
    /// The product with bytes of a single step.
    #[cfg(feature = "onnx")]
    pub(super) fn of_bytes(&self, weight: &QTensor, scale: f32, zero: i32) -> Result<Tensor> {
        let steps = fallible::filled(QuantStep { scale, zero }, self.sizes.m)?;
        match self.x.dtype() {
            DType::U8 => self.integers::<u8>(&self.x, &steps, weight),
            DType::I8 => self.integers::<i8>(&self.x, &steps, weight),
            other => Err(Error::unsupported(OP, other)),
        }
    }
    /// The product with rows of integers, each with a step.
    fn integers<A: Element + MatElement<Acc = u32>>(
        &self,
        q: &Tensor,
        steps: &[QuantStep],
        weight: &QTensor,
    ) -> Result<Tensor> {
        let ProductSizes { n, k, .. } = self.sizes;
        check_integers(OP, weight, k)?;
        let columns = weight
            .scales
            .astype(DType::F32)?
            .broadcast_to([n, 1])?
            .contiguous()?;
        let rows: Vec<f32> = fallible::collect(steps.iter().map(|s| Ok::<_, Error>(s.scale)))?;
        let offsets: Vec<i32> = fallible::collect(steps.iter().map(|s| Ok::<_, Error>(s.zero)))?;
        let sums = match offsets.iter().all(|zero| *zero == 0) {
            true => fallible::filled(0, n)?,
            false => row_sums(&weight.values)?,
        };
        let b = weight.values.transpose(0, 1)?;
        let kept = kept_panels::<A, i8>(self.sizes, &b).flatten();
        let packed = kept.as_ref().map(|packed| {
            let blocks = gemm::blocks::<A, i8>(k);
            Panels::of(blocks, n, gemm::packed_slice(packed))
        });
        let dequantize = Dequantize {
            rows: &rows,
            columns: columns.as_slice()?,
            offsets: &offsets,
            sums: &sums,
        };
        let (a, b) = (Matrices::<A>::new(q), Matrices::<i8>::new(&b));
        self.result(Some(dequantize), |c, epilogue| {
            // SAFETY: a single result, in blocks that don't overlap.
            unsafe {
                let operands = |_| {
                    let c = c.part(0..c.rows(), 0..c.cols());
                    (a.get(0), b.get(0), c, epilogue)
                };
                blocked(1, &operands, packed, false)
            }
        })
    }
}
