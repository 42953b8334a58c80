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
use crate::exec::failure::Failure;
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
    block * LANES..call.outputs.min((block + 1) * LANES)
}

/// The lanes of some channels of a result, from image `n`, whose channels have contiguous elements
/// (`aligned`).
fn seen<'a, T: Element + MatElement>(
    call: &ConvCall,
    x: &'a Tensor,
    n: usize,
    channels: Range<usize>,
) -> ChannelLanes<'a, T> {
    let planes = call.whole_of::<T>(x, n).planes();
    let planes = planes.unwrap_or_else(|| unreachable!("single channels are aligned"));
    ChannelLanes::new(planes, channels, call.made())
}

impl ConvOperands {
    /// Computes all places of `walk`, channel by channel.
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
        let (places, positions) = (call.geometry.len(), call.geometry.positions());
        let y = ResultMatrices::<T>::new(y, call.outputs, places)?;
        let weights = pack_channels(Matrices::<T>::new(&self.weight).get(0))?;
        let (blocks, bands) = (call.outputs.div_ceil(LANES), walk.bands());
        let numbers = places.div_ceil(bands.max(1)).saturating_mul(LANES);
        let cost = Cost {
            bytes: numbers.saturating_mul(2 * size_of::<T>()),
            flops: numbers.saturating_mul(positions).saturating_add(cost::CALL),
        };
        let failure = Failure::default();
        let tasks = blocks * call.batch.saturating_mul(bands);
        par::ranges(tasks, 1, cost, |tasks| {
            let scratch = Scratch::<T::Acc>::new(depthwise_scratch(walk));
            failure.note(scratch.map(|mut scratch| {
                for task in tasks {
                    let (band, image) = (task % bands, task / bands);
                    let (block, n) = (image / call.batch, image % call.batch);
                    let channels = channels(call, block);
                    let lanes = seen(call, &self.x, n, channels.clone());
                    let weights = &weights[block * positions * LANES..][..positions * LANES];
                    let epilogue = epilogues.get(n, 0);
                    // SAFETY: each matrix of a fresh tensor is an image, and each task has its own
                    // places of its own channels.
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
            }));
        });
        failure.result()
    }
}

impl Transposed {
    /// The result with channels as lanes, if they are.
    pub(super) fn depthwise(&self) -> Result<Option<Tensor>> {
        let places = self.axes.map(|axis| axis.places);
        let call = self.call_of(places);
        let unit_stride = self.axes.iter().all(|axis| axis.stride == 1);
        if !has_lanes(&call, self.dtype) || unit_stride && !is_small(&call.geometry) {
            return Ok(None);
        }
        let geometry = self.mirrored();
        let Some(walk) = PlaneWalk::transposed(&geometry, places, sum_bytes(self.dtype))? else {
            return Ok(None);
        };
        let operands = ConvOperands {
            x: call.aligned(self.x.clone())?,
            weight: (self.weight).reshape((call.outputs, geometry.positions()))?,
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
    /// Computes them with channels as lanes, which walk over `images`: `[outputs, positions]`.
    pub fn depthwise<F>(&self, images: &Tensor, walk: &PlaneWalk) -> Result<Tensor>
    where
        F: Element + MatElement<Acc = F> + Packed,
    {
        let call = self.call();
        let (_, parts) = self.parts();
        let positions = call.geometry.positions();
        let mut sums = Tensor::empty((parts, call.outputs, positions), F::DTYPE)?;
        let result = self.result().contiguous()?;
        let result = Matrices::<F>::new(&result);
        let count = call.batch.div_ceil(parts).saturating_mul(LANES);
        let count = count.saturating_mul(call.geometry.len());
        let cost = Cost {
            bytes: count.saturating_mul(2 * size_of::<F>()),
            flops: count.saturating_mul(positions).saturating_add(cost::CALL),
        };
        let blocks = call.outputs.div_ceil(LANES);
        let out = par::Out::new(sums.as_mut_slice::<F>()?);
        let failure = Failure::default();
        par::chunks(parts * blocks, cost, |task| {
            let (part, block) = (task / blocks, task % blocks);
            let channels = channels(call, block);
            let planes = self.part(part).map(|n| {
                let image = seen(call, images, n, channels.clone());
                [image, ChannelLanes::new(result.get(n), channels.clone(), 1)]
            });
            let first = part * call.outputs;
            let rows = first + channels.start..first + channels.end;
            // SAFETY: OUT1: each task has its own channels.
            let d = unsafe { out.part(rows.start * positions..rows.end * positions) };
            failure.note(depthwise_gradient(walk, planes, d));
        });
        failure.result()?;
        ops::sum(&sums, 0)
    }
}
