//! Results of products as quantised tensors.

use super::qtensor::{self, QTensor};
use super::quantize::quantize;
use super::scheme::Quantization;
use super::weights::step;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::gemm::PostOp;
use crate::kernel::quant::{self, Levels, QuantStep};
use crate::layout::Shape;
use crate::par::{self, Cost, Out};
use crate::tensor::Tensor;
use core::ops::Range;

/// How [`linear_to`](super::linear_to) and [`conv2d_to`](super::conv2d_to) quantise their results.
/// A known scale is applied to each block of the result while it is in a cache; otherwise it takes
/// further passes, since it depends on all elements.
///
/// Example: [`linear_to`](super::linear_to).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Output {
    /// int8 or uint8.
    pub levels: Levels,
    /// The scale, and the zero point if there is one. By default int8 has none, and both follow
    /// from the minimum and maximum of the result, as in [`quantize`](super::quantize).
    pub step: Option<(f32, Option<i32>)>,
}
impl Output {
    /// The result of `f`, which returns floats, or integers in the encoding that it is given.
    pub(super) fn of(
        self,
        op: &'static str,
        f: impl FnOnce(Option<Encoding>) -> Result<Tensor>,
    ) -> Result<QTensor> {
        let Output {
            levels,
            step: given,
        } = self;
        if levels.is_packed() {
            let message = message!("results are int8 or uint8, not {}", levels.name());
            return Err(Error::value(op, message));
        }
        let Some((scale, zero)) = given else {
            let affine = levels == Levels::U8;
            let how = Quantization {
                levels,
                affine,
                ..Default::default()
            };
            return quantize(&f(None)?, how);
        };
        let [least, most] = levels.range(false);
        if let Some(zero) = zero.filter(|z| !(least..=most).contains(z)) {
            let message = message!("zero point is {zero}; it must be from {least} to {most}");
            return Err(Error::value(op, message));
        }
        let step = QuantStep {
            zero: zero.unwrap_or(0),
            ..step(op, scale, 0)?
        };
        let values = f(Some(Encoding { step, levels }))?;
        let ones = values.shape().iter().map(|n| 1.min(*n)).collect::<Shape>();
        let one = |t: Result<Tensor>| t?.broadcast_to(&ones);
        let zero = zero.map(|z| one(Tensor::scalar(z as i64, levels.dtype())));
        let scale = one(Tensor::scalar(scale as f64, DType::F32))?;
        qtensor::packed(values, scale, zero.transpose()?, levels, -1)
    }
}

/// Bytes with one step.
#[derive(Clone, Copy)]
pub(super) struct Encoding {
    pub step: QuantStep,
    pub levels: Levels,
}
impl Encoding {
    /// All values of a contiguous float32 tensor.
    pub fn all(self, x: &Tensor) -> Result<Tensor> {
        let mut q = Tensor::empty(x.shape(), self.levels.dtype())?;
        let (values, cost) = (x.as_slice::<f32>()?, Cost { bytes: 5, flops: 8 });
        par::split(q.as_mut_bytes()?, 1, 64, cost, |r, d| {
            quant::encode(&values[r], self.step, self.levels.range(false), d)
        });
        Ok(q)
    }
}

/// Encodes the blocks of a product.
pub(super) struct Encoder<'a> {
    encoding: Encoding,
    /// The product, matrices of these sizes one after the other.
    x: *const f32,
    sizes: [usize; 2],
    /// As many bytes.
    d: Out<'a, u8>,
}
// SAFETY: `x` is read in the blocks that POSTOP1 hands over, and belongs to no thread.
unsafe impl Sync for Encoder<'_> {}
impl<'a> Encoder<'a> {
    /// For the blocks of `x`, matrices of these sizes. Panics if `d` has another length.
    ///
    /// # Safety
    /// Blocks are handed over while the tensor exists.
    pub unsafe fn new(
        encoding: Encoding,
        x: &mut Tensor,
        sizes: [usize; 2],
        d: &'a mut Tensor,
    ) -> Result<Self> {
        assert!(x.dtype() == DType::F32 && x.is_contiguous() && x.len() == d.len());
        let (x, d) = (x.as_mut_ptr()? as *const f32, Out::new(d.as_mut_bytes()?));
        Ok(Encoder {
            encoding,
            x,
            sizes,
            d,
        })
    }
}
impl PostOp for Encoder<'_> {
    unsafe fn block(&self, i: usize, rows: Range<usize>, cols: Range<usize>) {
        let Encoding { step, levels } = self.encoding;
        let [height, width] = self.sizes;
        for row in rows {
            let at = (i * height + row) * width + cols.start;
            // SAFETY: POSTOP1: elements of the product, which has written them and no longer uses
            // them; OUT1, since no element is handed over twice.
            unsafe {
                let x = core::slice::from_raw_parts(self.x.add(at), cols.len());
                let d = self.d.part(at..at + cols.len());
                quant::encode(x, step, levels.range(false), d)
            }
        }
    }
}
