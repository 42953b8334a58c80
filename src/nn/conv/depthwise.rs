//! Depthwise convolutions with channels as lanes: convolutions, transposed ones, and gradients of
//! their weights.

use super::Conv;
use super::call::ConvCall;
use super::plan::{has_lanes, is_small, sum_bytes};
use super::run::{ConvOperands, Epilogues, activation};
use super::sums::WeightSums;
use super::transpose::Transposed;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::exec::failure::{try_chunks, try_ranges};
use crate::kernel::conv::{
    ChannelLanes, LANES, PlaneWalk, depthwise, depthwise_gradient, depthwise_scratch, pack_channels,
};
use crate::kernel::gemm::{MatElement, Packed, Scratch, cost};
use crate::ops;
use crate::ops::linalg::{Matrices, ResultMatrices};
use crate::par::{self, Cost};
use crate::tensor::Tensor;
use core::ops::Range;

/// The channels of a block of lanes.
fn channels(call: &ConvCall, block: usize) -> Range<usize> {
    block * LANES..call.out_channels.min((block + 1) * LANES)
}

/// The lanes of some channels of a result, from image `n`, whose channels have contiguous elements
/// (`aligned`).
fn channel_lanes<'a, T: Element + MatElement>(
    call: &ConvCall,
    x: &'a Tensor,
    n: usize,
    channels: Range<usize>,
) -> ChannelLanes<'a, T> {
    let planes = call.whole_of::<T>(x, n).planes();
    let planes = planes.unwrap_or_else(|| unreachable!("single channels are aligned"));
    ChannelLanes::new(planes, channels, call.out_channels_per_group())
}

impl ConvOperands {
    /// Computes all positions of `walk`, channel by channel.
    pub fn depthwise(
        &self,
        op: &'static str,
        options: &Conv,
        walk: &PlaneWalk,
        y: &mut Tensor,
    ) -> Result<()> {
        let dtype = y.dtype();
        let unsupported = || Err(Error::unsupported(op, dtype));
        dispatch!(floating dtype, |T| match activation::<<T as MatElement>::Acc>(options) {
            None => unsupported(),
            Some(map) => {
                let epilogues = Epilogues::<T>::new(self, map, None)?;
                self.lanes::<T>(walk, &epilogues, y)
            }
        }, else unsupported())
    }
    fn lanes<T>(&self, walk: &PlaneWalk, epilogues: &Epilogues<T>, y: &mut Tensor) -> Result<()>
    where
        T: Element + MatElement,
    {
        let call = &self.call;
        let (positions, kernel_len) = (call.geometry.len(), call.geometry.kernel_len());
        let y = ResultMatrices::<T>::new(y, call.out_channels, positions)?;
        let weights = pack_channels(Matrices::<T>::new(&self.weight).get(0))?;
        let (blocks, bands) = (call.out_channels.div_ceil(LANES), walk.bands());
        let elements = positions.div_ceil(bands.max(1)).saturating_mul(LANES);
        let cost = Cost {
            bytes: elements.saturating_mul(2 * size_of::<T>()),
            flops: elements
                .saturating_mul(kernel_len)
                .saturating_add(cost::CALL),
        };
        let tasks = blocks * call.batch.saturating_mul(bands);
        try_ranges(tasks, 1, cost, |tasks| {
            let mut scratch = Scratch::<T::Acc>::new(depthwise_scratch(walk))?;
            for task in tasks {
                let (band, image) = (task % bands, task / bands);
                let (block, n) = (image / call.batch, image % call.batch);
                let channels = channels(call, block);
                let lanes = channel_lanes(call, &self.x, n, channels.clone());
                let weights = &weights[block * kernel_len * LANES..][..kernel_len * LANES];
                let epilogue = epilogues.get(n, 0);
                // SAFETY: each matrix of a fresh tensor is an image, and each task has its own
                // positions of its own channels.
                unsafe {
                    let c = y.get(n);
                    depthwise(
                        walk,
                        band,
                        channels,
                        lanes,
                        weights,
                        &c,
                        epilogue,
                        &mut scratch,
                    )
                }
            }
            Ok(())
        })
    }
}

impl Transposed {
    /// The result with channels as lanes, if they are.
    pub(super) fn depthwise(&self) -> Result<Option<Tensor>> {
        let positions = self.axes.map(|axis| axis.output_size);
        let call = self.call_of(positions);
        let unit_stride = self.axes.iter().all(|axis| axis.stride == 1);
        if !has_lanes(&call, self.dtype) || unit_stride && !is_small(&call.geometry) {
            return Ok(None);
        }
        let geometry = self.mirrored();
        let Some(walk) = PlaneWalk::transposed(&geometry, positions, sum_bytes(self.dtype))? else {
            return Ok(None);
        };
        let operands = ConvOperands {
            x: call.aligned(self.x.clone())?,
            weight: (self.weight).reshape((call.out_channels, geometry.kernel_len()))?,
            bias: self.bias.clone(),
            residual: None,
            call,
        };
        let mut y = Tensor::empty(call.shape(), self.dtype)?;
        operands.depthwise(self.op, &Conv::default(), &walk, &mut y)?;
        Ok(Some(y))
    }
}

impl WeightSums {
    /// Computes them with channels as lanes, which walk over `images`: `[outputs, kernel_len]`.
    pub fn depthwise<F>(&self, images: &Tensor, walk: &PlaneWalk) -> Result<Tensor>
    where
        F: Element + MatElement<Acc = F> + Packed,
    {
        let call = self.call();
        let (_, parts) = self.parts();
        let kernel_len = call.geometry.kernel_len();
        let mut sums = Tensor::empty((parts, call.out_channels, kernel_len), F::DTYPE)?;
        let result = self.result().contiguous()?;
        let result = Matrices::<F>::new(&result);
        let count = call.batch.div_ceil(parts).saturating_mul(LANES);
        let count = count.saturating_mul(call.geometry.len());
        let cost = Cost {
            bytes: count.saturating_mul(2 * size_of::<F>()),
            flops: count.saturating_mul(kernel_len).saturating_add(cost::CALL),
        };
        let blocks = call.out_channels.div_ceil(LANES);
        let out = par::Out::new(sums.as_mut_slice::<F>()?);
        try_chunks(parts * blocks, cost, |task| {
            let (part, block) = (task / blocks, task % blocks);
            let channels = channels(call, block);
            let planes = self.part(part).map(|n| {
                let image = channel_lanes(call, images, n, channels.clone());
                [image, ChannelLanes::new(result.get(n), channels.clone(), 1)]
            });
            let first = part * call.out_channels;
            let rows = first + channels.start..first + channels.end;
            // SAFETY: OUT1: each task has its own channels.
            let d = unsafe { out.part(rows.start * kernel_len..rows.end * kernel_len) };
            depthwise_gradient(walk, planes, d)
        })?;
        ops::sum(&sums, 0)
    }
}
