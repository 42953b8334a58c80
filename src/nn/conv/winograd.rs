//! Winograd's algorithm: its blocks on threads, and the transformed weights, which are cached.

use super::plan;
use super::run::{ConvOperands, Epilogues};
use super::transpose::Transposed;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::exec::failure::try_ranges;
use crate::kernel::conv::{Block, Blocks, GroupWeights, PhaseKernels, WeightPanels};
use crate::kernel::gemm::{Map, Mat, MatElement, PostOp, Scratch, packed_slice};
use crate::kernel::math::Real;
use crate::ops::linalg::{Matrices, ResultMatrices};
use crate::par::{self, Cost};
use crate::storage::Bytes;
#[cfg(feature = "std")]
use crate::storage::PackedForm;
use crate::tensor::Tensor;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

impl ConvOperands {
    /// Computes Winograd's algorithm.
    pub fn winograd<T>(
        &self,
        blocks: &Blocks,
        activation: Option<Map<T::Acc>>,
        y: &mut Tensor,
        post_op: Option<&dyn PostOp>,
    ) -> Result<()>
    where
        T: Element + MatElement,
        T::Acc: Real + MatElement<Acc = T::Acc>,
    {
        let transformed = self.transformed::<T>(blocks, || Ok(self.weight.clone()))?;
        let plain = Matrices::<T>::new(&self.weight).get(0);
        let right =
            self.winograd_by::<T>(blocks, (&transformed, Some(plain)), activation, y, post_op)?;
        debug_assert!(right, "what would be wrong is a plain sum");
        Ok(())
    }
    /// The same of weights that are transformed, and plain if what is not finite or of too large a
    /// range is to be computed by them. Returns whether all of `y` is right.
    pub fn winograd_by<T>(
        &self,
        blocks: &Blocks,
        (transformed, plain): (&Bytes, Option<Mat<T>>),
        activation: Option<Map<T::Acc>>,
        y: &mut Tensor,
        post_op: Option<&dyn PostOp>,
    ) -> Result<bool>
    where
        T: Element + MatElement,
        T::Acc: Real + MatElement<Acc = T::Acc>,
    {
        let call = &self.call;
        let (out_channels, positions) = (call.out_channels_per_group(), call.geometry.len());
        let [_, high, wide] = call.image;
        let epilogues = Epilogues::<T>::new(self, activation, post_op)?;
        let y = ResultMatrices::<T>::new(y, out_channels, positions)?;
        let x = if self.image::<T>(0, 0).planes_are_matrices() {
            self.x.clone()
        } else {
            self.x.contiguous()?
        };
        let panels = WeightPanels::new::<T::Acc>(
            *blocks.kernels(),
            [call.in_channels_per_group(), out_channels],
        );
        let transformed = packed_slice::<T::Acc>(transformed);
        let size = panels.packed_len::<T::Acc>();
        let weights = |group: usize| GroupWeights {
            plain: plain.map(|w| {
                w.block(
                    group * out_channels..(group + 1) * out_channels,
                    0..w.cols(),
                )
            }),
            transformed: &transformed[group * size..(group + 1) * size],
            panels,
        };
        // SAFETY: each matrix of the fresh tensor is one group of one image; each block has its own
        // positions.
        let result = |n: usize, group: usize| unsafe { y.get(n * call.groups + group) };
        let wrong = AtomicBool::new(false);
        let phase = |block: &Block<T>, phase: usize, group: usize, tasks: Range<usize>| {
            let weights = weights(group);
            let image = |n: usize| call.image_of::<T>(&x, n, group);
            if wrong.load(Ordering::Relaxed) {
                return Ok(()); // all is computed otherwise
            }
            let mut scratch = Scratch::<T::Acc>::new(blocks.task())?;
            for task in tasks {
                // SAFETY: WINOGRAD2: each task once, phase after phase.
                unsafe {
                    match phase {
                        0 => block.transform(task, image, &mut scratch),
                        1 => block.multiply(task, &weights, [high, wide], &mut scratch)?,
                        _ => {
                            let right = block.finish(
                                task,
                                &weights,
                                image,
                                |n| result(n, group),
                                |n| epilogues.get(n, group),
                                &mut scratch,
                            )?;
                            if !right {
                                wrong.store(true, Ordering::Relaxed);
                            }
                        }
                    }
                }
            }
            Ok(())
        };
        let tasks = blocks.count() * call.groups;
        type Phase<'a, T> = &'a dyn Fn(&Block<T>, usize, usize) -> Result<()>;
        let block = |task: usize, shared: &mut [T::Acc], each: Phase<T>| {
            let block = Block::<T>::new(blocks, task / call.groups, shared);
            let counts = [block.elements(), block.products(), block.results()];
            let mut phases = counts.into_iter().enumerate();
            phases.try_for_each(|(phase, tasks)| each(&block, phase, tasks))
        };
        let flops =
            (call.in_channels_per_group() * out_channels).saturating_mul(blocks.multiplications());
        let flops = flops.saturating_mul(call.groups);
        let cost = Cost { bytes: 0, flops };
        let each = |n: usize| Cost {
            flops: flops / n.max(1),
            ..cost
        };
        // a block per thread, or all threads on each block if there are too few
        if tasks >= 2 * par::threads_for(cost) {
            try_ranges(tasks, 1, each(tasks), |mut some| {
                let mut shared = Scratch::<T::Acc>::new(blocks.shared())?;
                some.try_for_each(|task| {
                    block(task, &mut shared, &|block, i, n| {
                        phase(block, i, task % call.groups, 0..n)
                    })
                })
            })?;
        } else {
            let mut shared = Scratch::<T::Acc>::new(blocks.shared())?;
            for task in 0..tasks {
                block(task, &mut shared, &|block, i, n| {
                    try_ranges(n, 1, each(tasks * n), |some| {
                        phase(block, i, task % call.groups, some)
                    })
                })?;
            }
        }
        Ok(!wrong.into_inner())
    }
    /// The transformed weights of all groups, which are cached with the weight's storage from the
    /// second convolution on. `matrix` returns the weight as `[outputs, channels * taps]`.
    pub fn transformed<T: Element + MatElement<Acc: Real>>(
        &self,
        blocks: &Blocks,
        matrix: impl Fn() -> Result<Tensor>,
    ) -> Result<Bytes> {
        #[cfg(feature = "std")]
        {
            let form = PackedForm::Winograd {
                groups: self.call.groups,
                kernels: blocks.kernels().identity(),
            };
            let transform = || self.transform_weights::<T>(blocks, &matrix()?);
            if let Some(kept) = self.weight.kept(T::DTYPE, form, transform) {
                return Ok(kept);
            }
        }
        self.transform_weights::<T>(blocks, &matrix()?)
    }
    fn transform_weights<T: Element + MatElement<Acc: Real>>(
        &self,
        blocks: &Blocks,
        weight: &Tensor,
    ) -> Result<Bytes> {
        // outputs and channels of a task
        const OUTPUTS: usize = 64;
        const CHANNELS: usize = 32;
        let call = &self.call;
        let (out_channels, in_channels) =
            (call.out_channels_per_group(), call.in_channels_per_group());
        let panels = WeightPanels::new::<T::Acc>(*blocks.kernels(), [in_channels, out_channels]);
        let size = panels.packed_len::<T::Acc>();
        let weight = Matrices::<T>::new(weight).get(0);
        let mut all = Scratch::<T::Acc>::new(size.saturating_mul(call.groups))?;
        let out = par::Out::new(&mut all);
        let [_, products] = blocks.kernels().multiplications();
        let each = out_channels.min(OUTPUTS) * in_channels.min(CHANNELS) * products;
        let cost = Cost {
            bytes: each * size_of::<T::Acc>(),
            flops: 10 * each,
        };
        let (down, across) = (
            out_channels.div_ceil(OUTPUTS),
            in_channels.div_ceil(CHANNELS),
        );
        par::chunks(call.groups * down * across, cost, |task| {
            let (group, task) = (task / (down * across), task % (down * across));
            let (o, c) = (task / across * OUTPUTS, task % across * CHANNELS);
            let weight = weight.block(
                group * out_channels..(group + 1) * out_channels,
                0..weight.cols(),
            );
            let channels = c..in_channels.min(c + CHANNELS);
            let outputs = o..out_channels.min(o + OUTPUTS);
            let d = out.as_mut_ptr().wrapping_add(group * size);
            // SAFETY: TRANSFORM1, OUT1: each task has the numbers of its own channels and outputs
            // of a group.
            unsafe { panels.transform(weight, channels, outputs, d) };
        });
        Ok(all.into_bytes())
    }
}

impl Transposed {
    /// The result by Winograd's algorithm; none if that is not worthwhile, and if a result is not
    /// finite or elements have too large a range.
    pub fn winograd(&self) -> Result<Option<Tensor>> {
        let call = self.whole();
        let kernels = || PhaseKernels::transposed(&self.mirrored(), call.geometry.output_size);
        let Some(blocks) = plan::winograd(&call, self.dtype, self.precise, kernels) else {
            return Ok(None);
        };
        let operands = self.by_channels()?;
        let mut y = Tensor::empty(call.shape(), self.dtype)?;
        let taps = call.in_channels_per_group() * blocks.kernels().weight.iter().product::<usize>();
        let by_outputs = || self.weight.reshape((call.out_channels, taps));
        let unsupported = Err(Error::unsupported(self.op, self.dtype));
        let right = dispatch!(floating self.dtype, |T| {
            let transformed = operands.transformed::<T>(&blocks, by_outputs)?;
            operands.winograd_by::<T>(&blocks, (&transformed, None), None, &mut y, None)?
        }, else return unsupported);
        Ok(right.then_some(y))
    }
}
