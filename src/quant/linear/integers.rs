//! The product in integers.

use super::{LinearOperands, OP};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::exec::products::{ProductSizes, product_of_panels};
use crate::fallible;
use crate::kernel::gemm::{
    self, ByGroups, Dequantize, Epilogue, Group, MatElement, MatMut, Panels, Source, Strided,
};
use crate::kernel::quant::{Levels, QuantStep, QuantizationRule};
use crate::ops::linalg::Matrices;
use crate::quant::output::Encoding;
use crate::quant::qtensor::QTensor;
use crate::quant::quantize::by_rows;
use crate::quant::weights::{Facts, check_integers, facts, step};
#[cfg(not(feature = "std"))]
use crate::storage::Bytes;
use crate::tensor::Tensor;
#[cfg(feature = "std")]
use crate::{kernel::gemm::Scratch, ops::linalg::kept_as, storage::PackedForm};
use alloc::vec::Vec;
use core::marker::PhantomData;

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
        let signed = A::BYTE == Some(true);
        // signed inputs make unsigned bytes of the weight
        let may_be_narrow = !signed && gemm::has_narrow();
        let Facts { sums, narrow } = match may_be_narrow || offsets.iter().any(|zero| *zero != 0) {
            true => facts(&weight.values, 1)?,
            false => Facts {
                sums: fallible::filled(0, n)?,
                narrow: false,
            },
        };
        let dequantize = Dequantize {
            rows: &rows,
            columns: columns.as_slice()?,
            offsets: &offsets,
            sums: &sums,
        };
        self.result(Some(dequantize), |c, epilogue| {
            let product = Product::<A> {
                sizes: self.sizes,
                q,
                weight: weight.values.transpose(0, 1)?,
                narrow: narrow && may_be_narrow,
                c,
                epilogue,
                _input: PhantomData,
            };
            match signed {
                true => gemm::by_groups::<true, _>(false, product),
                false => gemm::by_groups::<false, _>(product.narrow, product),
            }
        })
    }
}

/// The product of rows of `A` and the columns of a weight, bytes that are narrow or not.
struct Product<'a, A> {
    sizes: ProductSizes,
    q: &'a Tensor,
    weight: Tensor,
    narrow: bool,
    c: MatMut<'a, f32>,
    epilogue: Epilogue<'a, f32>,
    _input: PhantomData<A>,
}
impl<A: Element + MatElement<Acc = u32>> ByGroups for Product<'_, A> {
    type Out = Result<()>;
    fn run<G: Group>(self) -> Result<()> {
        let ProductSizes { n, .. } = self.sizes;
        let (a, b) = (
            Matrices::<A>::new(self.q),
            Matrices::<i8>::new(&self.weight),
        );
        let signed = A::BYTE == Some(true);
        let left = Strided::a(G::left(signed), gemm::byte_matrix(a.get(0)));
        let right = Strided::b(G::right(true, signed), gemm::byte_matrix(b.get(0)));
        #[cfg(not(feature = "std"))]
        let kept: Option<Bytes> = None;
        #[cfg(feature = "std")]
        let kept = {
            let form = match self.narrow {
                true => PackedForm::Narrow,
                false => PackedForm::Panels,
            };
            let pack = || {
                let mut packed = Scratch::<u32>::new(Panels::<G::To>::len(right.blocks(), n))?;
                Panels::pack(&right, 0..n, gemm::packed_as_mut::<u32, G::To>(&mut packed));
                Ok(packed.into_bytes())
            };
            kept_as::<A, i8>(self.sizes, &self.weight, form, pack).flatten()
        };
        let packed = kept.as_ref().map(|packed| {
            let packed = gemm::packed_as::<u32, G::To>(gemm::packed_slice(packed));
            Panels::of(right.blocks(), n, packed)
        });
        let (rows, cols) = (self.c.rows(), self.c.cols());
        // SAFETY: a single result, of which this is all; the panels are those of the weight, by
        // their key.
        unsafe {
            let operands = || (left, right, self.c.part(0..rows, 0..cols), self.epilogue);
            product_of_panels(operands, packed)
        }
    }
}
