//! Depthwise convolution, one kernel per channel, of images with channels last in memory: without a
//! copy, to a result of the same layout.

use super::Conv;
use super::call::ConvCall;
use super::plan::{MAX_SCRATCH, Plan};
use super::run::{ConvOperands, Epilogues, activation};
#[cfg(feature = "f64")]
use crate::dtype::DType;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::exec::failure::try_ranges;
use crate::kernel::conv::Pixels;
use crate::kernel::gemm::{MatElement, Packed, cost};
use crate::layout::Shape;
use crate::ops::linalg::Matrices;
use crate::par::{Cost, Out};
use crate::simd;
use crate::tensor::Tensor;

/// Whether each channel is convolved by one kernel, and channels are contiguous. 16-bit floats are
/// copied instead: they are widened row by row.
pub(super) fn fits(call: &ConvCall, x: &Tensor) -> bool {
    let wide = x.dtype().is_float() && x.dtype().size() >= size_of::<f32>();
    let step = x.strides()[x.rank() - 1];
    let elements = Pixels::<f32>::scratch_len(&call.geometry, step, call.in_channels);
    let last = x.strides()[1] == 1 && !x.is_contiguous();
    let single = call.in_channels_per_group() == 1 && call.out_channels_per_group() == 1;
    !simd::MICROCONTROLLER
        && wide
        && last
        && single
        && elements.saturating_mul(x.dtype().size()) <= MAX_SCRATCH
        && call.in_channels >= Pixels::<f32>::CHANNELS
        && matches!(
            Plan::of(call, x.dtype(), false),
            Ok(Plan::Direct(_) | Plan::Depthwise(_))
        )
}

impl ConvOperands {
    /// The result, for operands that [`fits`] holds for.
    pub fn pixels(&self, op: &'static str, options: &Conv) -> Result<Tensor> {
        let call = &self.call;
        let positions = &call.geometry.output_size[3 - call.rank..];
        let last: Shape = [call.batch]
            .iter()
            .chain(positions)
            .chain(&[call.out_channels])
            .copied()
            .collect();
        let mut y = Tensor::empty(last, self.x.dtype())?;
        match y.dtype() {
            #[cfg(feature = "f64")]
            DType::F64 => self.pixels_of::<f64>(op, options, &mut y)?,
            _ => self.pixels_of::<f32>(op, options, &mut y)?,
        }
        let y = y.moveaxis(-1, 1)?;
        if call.batched { Ok(y) } else { y.squeeze(0) }
    }
    fn pixels_of<T>(&self, op: &'static str, options: &Conv, y: &mut Tensor) -> Result<()>
    where
        T: Element + MatElement<Acc = T> + Packed,
    {
        let (call, geometry) = (&self.call, self.call.geometry);
        let Some(activation) = activation(options) else {
            return Err(Error::unsupported(op, y.dtype()));
        };
        let epilogues = Epilogues::<T>::new(self, activation, None)?;
        let weight = Matrices::<T>::new(&self.weight).get(0);
        let rows = geometry.output_size[0] * geometry.output_size[1];
        let elements = geometry.output_size[2].saturating_mul(call.out_channels);
        let cost = Cost {
            bytes: elements.saturating_mul(2 * size_of::<T>()),
            flops: (elements.saturating_mul(geometry.kernel_len())).saturating_add(cost::CALL),
        };
        let step = self.x.strides()[self.x.rank() - 1];
        let out = Out::new(y.as_mut_slice::<T>()?);
        try_ranges(call.batch.saturating_mul(rows), 1, cost, |tasks| {
            let mut pixels = Pixels::<T>::new(geometry, step, weight)?;
            for task in tasks {
                let (n, row) = (task / rows, task % rows);
                // SAFETY: OUT1: each task has its own row.
                let d = unsafe { out.part(task * elements..(task + 1) * elements) };
                pixels.row(row, self.whole::<T>(n), d, epilogues.get(n, 0).t());
            }
            Ok(())
        })
    }
}
