//! Transposed convolutions by products with the whole kernel.

use super::call::ConvCall;
use super::plan::MAX_SCRATCH;
use super::run::{ConvOperands, Epilogues};
use super::transpose::Transposed;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::exec::failure::try_chunks;
use crate::kernel::conv::{Col2Im, Geometry, col2im};
use crate::kernel::gemm::{Mat, MatElement, Scratch, packed_slice};
use crate::kernel::math::Real;
use crate::ops::linalg::ResultMatrices;
use crate::par::{self, Cost};
use crate::storage::Bytes;
#[cfg(feature = "std")]
use crate::storage::PackedForm;
use crate::tensor::Tensor;

/// The fewest rows of a product that a thread's part of the outputs has.
const ROWS: usize = 12;

impl Transposed {
    /// How products are split, if they are faster than convolutions of each phase: for floats, over
    /// several channels.
    pub(super) fn col2im(&self) -> Option<Col2Im> {
        let call = self.whole();
        let several = self
            .axes
            .iter()
            .any(|axis| axis.stride.min(axis.output_size) > 1);
        if !several
            || !self.dtype.is_float()
            || call.in_channels_per_group() < 2
            || call.out_channels_per_group() == 0
        {
            return None;
        }
        let geometry = Geometry {
            output_size: call.geometry.output_size,
            ..self.mirrored()
        };
        let bytes = self.dtype.size().max(size_of::<f32>());
        Col2Im::new(
            geometry,
            call.image,
            (call.in_channels_per_group(), call.out_channels_per_group()),
            bytes,
            MAX_SCRATCH,
        )
    }
    /// The result, by products.
    pub(super) fn col2im_to(&self, how: &Col2Im) -> Result<Tensor> {
        let call = self.whole();
        let mut y = Tensor::empty(call.shape(), self.dtype)?;
        let unsupported = Err(Error::unsupported(self.op, self.dtype));
        dispatch!(floating self.dtype, |T| self.col2im_of::<T>(how, call, &mut y)?, else return unsupported);
        Ok(y)
    }
    fn col2im_of<T>(&self, how: &Col2Im, call: ConvCall, y: &mut Tensor) -> Result<()>
    where
        T: Element + MatElement,
        T::Acc: Element + Real + MatElement<Acc = T::Acc>,
    {
        let (out_channels, positions) = (call.out_channels_per_group(), call.geometry.len());
        let operands = self.by_channels()?;
        let transposed = transposed::<T>(&operands)?;
        let transposed = packed_slice::<T::Acc>(&transposed);
        let epilogues = Epilogues::<T>::new(&operands, None, None)?;
        let y = ResultMatrices::<T>::new(y, out_channels, positions)?;
        let rows = out_channels * call.geometry.kernel.iter().product::<usize>();
        // Splits the outputs if there are fewer blocks than threads: each part packs the elements
        // again.
        let elements: usize = call.image.iter().product();
        let flops = rows
            .saturating_mul(call.in_channels_per_group())
            .saturating_mul(elements)
            / how.count().max(1);
        let tasks = call
            .batch
            .saturating_mul(call.groups)
            .saturating_mul(how.count());
        let all = Cost {
            bytes: 0,
            flops: flops.saturating_mul(tasks),
        };
        // enough rows that packing the elements is cheap beside the product
        let outputs = ROWS.div_ceil((rows / out_channels).max(1));
        let parts = match par::threads_for(all) {
            1 => 1,
            threads => (2 * threads)
                .div_ceil(tasks.max(1))
                .clamp(1, out_channels.div_ceil(outputs)),
        };
        let step = out_channels.div_ceil(parts);
        let parts = out_channels.div_ceil(step);
        let cost = Cost {
            bytes: 0,
            flops: flops / parts.max(1),
        };
        try_chunks(tasks * parts, cost, |task| {
            let (part, block) = (task % parts, task / parts);
            let (matrix, i) = (block / how.count(), block % how.count());
            let (n, group) = (matrix / call.groups, matrix % call.groups);
            let size = rows * call.in_channels_per_group();
            let weight = Mat::from_slice(
                &transposed[group * size..][..size],
                rows,
                call.in_channels_per_group(),
            );
            let outputs = part * step..out_channels.min((part + 1) * step);
            // SAFETY: each task has its own block, or its own channels of one; each matrix of the
            // fresh tensor is one group of one image.
            unsafe {
                let (image, c) = (operands.image::<T>(n, group), y.get(matrix));
                col2im(how, i, outputs, image, weight, &c, epilogues.get(n, group))
            }
        })
    }
    /// The operands of the whole result, with the weight as `[channels, taps of all channels of the
    /// result]`.
    pub(super) fn by_channels(&self) -> Result<ConvOperands> {
        let taps = self.weight.len() / self.call.in_channels.max(1);
        let weight = self.weight.permute([0, 2, 1, 3, 4, 5])?;
        Ok(ConvOperands {
            x: self.x.clone(),
            weight: weight.reshape((self.call.in_channels, taps))?,
            bias: self.bias.clone(),
            residual: None,
            call: self.whole(),
        })
    }
}

/// The weight with each group transposed; cached with the weight's storage from the second
/// convolution on.
fn transposed<T>(operands: &ConvOperands) -> Result<Bytes>
where
    T: Element + MatElement<Acc: Element>,
{
    let weight = &operands.weight;
    let transpose = || {
        let (groups, in_channels) = (operands.call.groups, operands.call.in_channels_per_group());
        let parts = weight.reshape((groups, in_channels, weight.shape()[1]))?;
        let parts = parts
            .permute([0, 2, 1])?
            .astype(T::Acc::DTYPE)?
            .contiguous()?;
        let mut all = Scratch::<T::Acc>::new(parts.len())?;
        all.copy_from_slice(parts.as_slice::<T::Acc>()?);
        Ok(all.into_bytes())
    };
    #[cfg(feature = "std")]
    if let Some(kept) = weight.kept(
        T::DTYPE,
        PackedForm::Turned(operands.call.groups),
        transpose,
    ) {
        return Ok(kept);
    }
    transpose()
}
