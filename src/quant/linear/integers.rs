//! The product in integers.

use super::{Layer, OP};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::exec::products::{Sizes, product_of_bytes};
use crate::fallible;
use crate::kernel::gemm::{self, Dequantize, MatElement, Panels};
use crate::kernel::quant::{self, Levels, Rule, Step};
use crate::ops::linalg::{Matrices, kept_panels};
use crate::par::{self, Cost};
use crate::quant::qtensor::{QTensor, floats_of_bytes};
use crate::quant::quantize::by_rows;
use crate::tensor::Tensor;
#[cfg(feature = "std")]
use crate::{
    kernel::gemm::Scratch,
    storage::{PackedForm, PackedKey},
};
use alloc::vec::Vec;

/// Terms of a sum whose products of bytes fit 32 bits.
const TERMS: usize = (i32::MAX / (255 * 128)) as usize;

impl Layer {
    /// The product by rows that are quantised each by itself.
    pub(super) fn by_rows<A: Element + MatElement<Acc = u32>>(
        &self,
        weight: &QTensor,
    ) -> Result<Tensor> {
        let Sizes { m, k, .. } = self.sizes;
        let affine = A::DTYPE == DType::U8;
        let levels = if affine { Levels::U8 } else { Levels::I8 };
        let rule = Rule {
            levels: levels.range(!affine),
            affine,
            round: |scale| scale,
        };
        let mut q = Tensor::empty([m, k], A::DTYPE)?;
        let mut steps = fallible::filled(Step::default(), m)?;
        by_rows(self.x.as_slice()?, k, &rule, q.as_mut_bytes()?, &mut steps);
        self.integers::<A>(&q, &steps, weight)
    }
    /// The product by an input of one step.
    pub(super) fn by_step(&self, weight: &QTensor, scale: f32, zero: u8) -> Result<Tensor> {
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(Error::value(
                OP,
                message!("scale is {scale}; it must be positive and finite"),
            ));
        }
        let Sizes { m, k, .. } = self.sizes;
        let step = Step {
            scale,
            zero: zero as i32,
        };
        let x = self.x.as_slice::<f32>()?;
        let mut q = Tensor::empty([m, k], DType::U8)?;
        par::split(
            q.as_mut_bytes()?,
            1,
            64,
            Cost { bytes: 5, flops: 8 },
            |r, d| quant::encode(&x[r], step, Levels::U8.range(false), d),
        );
        self.integers::<u8>(&q, &fallible::filled(step, m)?, weight)
    }
    /// The product by rows of integers with a step each.
    fn integers<A: Element + MatElement<Acc = u32>>(
        &self,
        q: &Tensor,
        steps: &[Step],
        weight: &QTensor,
    ) -> Result<Tensor> {
        let Sizes { n, k, .. } = self.sizes;
        let scales = &weight.scales;
        let exact = weight.zeros.as_ref().map_or(Ok(true), |z| {
            Ok::<_, Error>(floats_of_bytes(z, weight.levels)?.iter().all(|z| *z == 0.0))
        })?;
        if weight.levels != Levels::I8
            || !exact
            || !(scales.shape()[0] == n || scales.shape()[0] == 1)
            || scales.shape()[1] != 1
        {
            return Err(Error::value(
                OP,
                message!(
                    "inputs are quantised for weights of int8 without zero points, per tensor or axis 0, not for \
                     {} in blocks of {:?}: take Inputs::Float",
                    weight.levels.name(),
                    &weight.block()[..]
                ),
            ));
        }
        if k > TERMS {
            return Err(Error::value(
                OP,
                message!("sums of {k} products of bytes don't fit int32: {TERMS} do"),
            ));
        }
        let columns = scales
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
            product_of_bytes(a.get(0), b.get(0), c, packed, epilogue)
        })
    }
}

/// The sum of each row of int8, which stays with the storage from the second time on.
fn row_sums(values: &Tensor) -> Result<Vec<i32>> {
    let (n, k) = (values.shape()[0], values.shape()[1]);
    let compute = || {
        let values = values.contiguous()?;
        let q = values.as_bytes();
        let mut sums = fallible::filled(0i32, n)?;
        par::split(&mut sums, 1, 1, Cost { bytes: k, flops: k }, |r, d| {
            quant::row_sums(&q[r.start * k..r.end * k], k, d)
        });
        Ok(sums)
    };
    #[cfg(feature = "std")]
    if values.storage().caches_packed() {
        let key = PackedKey {
            first: values.layout().offset(),
            sizes: [n, k],
            strides: [values.strides()[0], values.strides()[1]],
            dtypes: [DType::I32, DType::I8],
            form: PackedForm::Sums,
        };
        let kept = values.storage().packed(key, true, || {
            let sums: Vec<i32> = compute()?;
            let mut kept = Scratch::<u32>::new(n)?;
            kept.iter_mut()
                .zip(&sums)
                .for_each(|(kept, sum)| *kept = *sum as u32);
            Ok(kept.into_bytes())
        });
        if let Some(kept) = kept {
            let kept: &[u32] = gemm::packed_slice(&kept);
            return fallible::collect(kept[..n].iter().map(|sum| Ok(*sum as i32)));
        }
    }
    compute()
}
