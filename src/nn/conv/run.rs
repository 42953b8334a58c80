//! Runs convolutions on operands of one dtype.

use super::Conv;
use super::call::ConvCall;
use super::plan::{PHASES, WINOGRAD, Way};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::exec::failure::Failure;
use crate::exec::products::products_of_sources;
use crate::fallible;
use crate::kernel::conv::{
    Block, Blocks, GroupWeights, Image, PRODUCTS, Patches, WeightPanels, direct, scratch,
};
use crate::kernel::gemm::{
    After, Epilogue, EpilogueOp, Map, MatElement, Scratch, Strided, cost, packed_slice,
};
use crate::kernel::math::Real;
use crate::ops::linalg::{Follow, Matrices, ResultMatrices, begin};
use crate::par::{self, Cost};
use crate::storage::Bytes;
#[cfg(feature = "std")]
use crate::storage::{PackedForm, PackedKey};
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::ops::Range;

/// Operands of the result's dtype.
pub(super) struct ConvOperands {
    pub call: ConvCall,
    /// `[batch, channels, ..]`
    pub x: Tensor,
    /// `[outputs, taps]`
    pub weight: Tensor,
    /// `[outputs]`, contiguous, unsigned integers as signed ones.
    pub bias: Option<Tensor>,
    /// `[batch, outputs, places]`
    pub residual: Option<Tensor>,
}
impl ConvOperands {
    /// The channels of image `n` that a group reads.
    pub fn image<T: Element>(&self, n: usize, group: usize) -> Image<'_, T> {
        self.call.image_of(&self.x, n, group)
    }
    /// All channels of image `n`.
    pub fn whole<T: Element>(&self, n: usize) -> Image<'_, T> {
        self.call.whole_of(&self.x, n)
    }
    /// Computes the fresh tensor `y`, of the operands' dtype.
    pub fn write(
        &self,
        op: &'static str,
        options: &Conv,
        y: &mut Tensor,
        then: Option<&dyn Follow>,
    ) -> Result<()> {
        let dtype = y.dtype();
        let unsupported = || Err(Error::unsupported(op, dtype));
        let way = Way::of(&self.call, dtype, options.precise)?;
        if let Way::Depthwise(walk) = &way {
            return self.depthwise(op, options, walk, y);
        }
        let call = &self.call;
        let after = begin(then, y, [call.batch, call.outputs, call.geometry.len()])?;
        if let Way::Winograd(blocks) = &way
            && WINOGRAD
        {
            return dispatch!(floating dtype, |T| match activation(options) {
                None => unsupported(),
                Some(map) => self.winograd::<T>(blocks, map, y, after),
            }, else unsupported());
        }
        if options.activation.is_some() {
            return dispatch!(floating dtype, |T| match activation(options) {
                None => unsupported(),
                Some(map) => self.run::<T>(&way, map, y, after),
            }, else unsupported());
        }
        dispatch!(wrapping dtype.signless(), |T| self.run::<T>(&way, None, y, after), else unsupported())
    }
    /// Computes products, or single channels by rows.
    fn run<T: Element + MatElement>(
        &self,
        way: &Way,
        activation: Option<Map<T::Acc>>,
        y: &mut Tensor,
        after: Option<&dyn After>,
    ) -> Result<()> {
        let (call, geometry) = (&self.call, self.call.geometry);
        let epilogues = Epilogues::<T>::new(self, activation, after)?;
        let y = ResultMatrices::<T>::new(y, call.made(), geometry.len())?;
        let weight = Matrices::<T>::new(&self.weight).get(0);
        let products = call.batch * call.groups;
        let operands = |i: usize| {
            let (n, group) = (i / call.groups, i % call.groups);
            let rows = group * call.made()..(group + 1) * call.made();
            let a = weight.block(rows, 0..weight.cols());
            // SAFETY: each matrix of a fresh tensor is one group of one image, whose parts don't
            // overlap.
            let c = unsafe { y.get(i) };
            (a, self.image::<T>(n, group), c, epilogues.get(n, group))
        };
        // all images have the same layout
        let lines = products > 0 && self.image::<T>(0, 0).is_matrix();
        match way {
            Way::Direct(tiling) => {
                let tiles = tiling.count();
                let places = geometry.len().div_ceil(tiles.max(1));
                let taps = call.seen() * geometry.positions();
                let cost = Cost {
                    bytes: (call.seen() + call.made()) * places * size_of::<T>(),
                    flops: (taps.saturating_mul(places))
                        .saturating_mul(call.made())
                        .saturating_add(cost::CALL),
                };
                let failure = Failure::default();
                par::ranges(products.saturating_mul(tiles), 1, cost, |tasks| {
                    failure.note(scratch::<T>(tiling).map(|mut scratch| {
                        for task in tasks {
                            let (a, image, c, epilogue) = operands(task / tiles);
                            let i = task % tiles;
                            // SAFETY: each task has its own tile of its own result.
                            unsafe { direct(tiling, i, image, a, &c, epilogue, &mut scratch) };
                        }
                    }));
                });
                failure.result()
            }
            // SAFETY: matrices of `y` don't overlap.
            Way::Pointwise if lines => unsafe {
                products_of_sources(products, |i| {
                    let (a, image, c, epilogue) = operands(i);
                    (
                        Strided::rows(a),
                        Strided::columns(image.matrix()),
                        c,
                        epilogue,
                    )
                })
            },
            Way::ImplicitGemm(Some(sorted)) if PHASES => self.sorted(sorted, &epilogues, &y),
            // SAFETY: as above.
            _ => unsafe {
                products_of_sources(products, |i| {
                    let (a, image, c, epilogue) = operands(i);
                    (Strided::rows(a), Patches::new(image, geometry), c, epilogue)
                })
            },
        }
    }
    /// Computes Winograd's algorithm.
    fn winograd<T>(
        &self,
        blocks: &Blocks,
        activation: Option<Map<T::Acc>>,
        y: &mut Tensor,
        after: Option<&dyn After>,
    ) -> Result<()>
    where
        T: Element + MatElement,
        T::Acc: Real + MatElement<Acc = T::Acc>,
    {
        let call = &self.call;
        let (made, places) = (call.made(), call.geometry.len());
        let epilogues = Epilogues::<T>::new(self, activation, after)?;
        let y = ResultMatrices::<T>::new(y, made, places)?;
        let x = if self.image::<T>(0, 0).planes_are_matrices() {
            self.x.clone()
        } else {
            self.x.contiguous()?
        };
        let plain = Matrices::<T>::new(&self.weight).get(0);
        let panels = self.weight_panels::<T>();
        let transformed = self.transformed::<T>()?;
        let transformed = packed_slice::<T::Acc>(&transformed);
        let size = panels.numbers::<T::Acc>();
        let weights = |group: usize| GroupWeights {
            plain: plain.block(group * made..(group + 1) * made, 0..plain.cols()),
            transformed: &transformed[group * size..(group + 1) * size],
            panels,
        };
        // SAFETY: each matrix of the fresh tensor is one group of one image; each block has its own
        // places.
        let result = |n: usize, group: usize| unsafe { y.get(n * call.groups + group) };
        let failure = Failure::default();
        let phase = |block: &Block<T>, phase: usize, group: usize, tasks: Range<usize>| {
            let weights = weights(group);
            let image = |n: usize| call.image_of::<T>(&x, n, group);
            let scratch = Scratch::<T::Acc>::new(if phase == 1 { 0 } else { blocks.task() });
            failure.note(scratch.and_then(|mut scratch| {
                for task in tasks {
                    // SAFETY: WINOGRAD2: each task once, phase after phase.
                    unsafe {
                        match phase {
                            0 => block.transform(task, image, &mut scratch),
                            1 => block.multiply(task, &weights)?,
                            _ => block.finish(
                                task,
                                &weights,
                                image,
                                |n| result(n, group),
                                |n| epilogues.get(n, group),
                                &mut scratch,
                            )?,
                        }
                    }
                }
                Ok(())
            }));
        };
        let tasks = blocks.count() * call.groups;
        let block = |task: usize, shared: &mut [T::Acc], each: &dyn Fn(&Block<T>, usize, usize)| {
            let block = Block::<T>::new(blocks, task / call.groups, shared);
            let counts = [block.elements(), block.products(), block.results()];
            for (phase, tasks) in counts.into_iter().enumerate() {
                each(&block, phase, tasks);
            }
        };
        let flops = (PRODUCTS * call.seen() * made).saturating_mul(blocks.tiles());
        let flops = flops.saturating_mul(call.geometry.kernel[0] * call.groups);
        let cost = Cost { bytes: 0, flops };
        let each = |n: usize| Cost {
            flops: flops / n.max(1),
            ..cost
        };
        // a block per thread, or all threads on each block if there are too few
        if tasks >= 2 * par::threads_for(cost) {
            par::ranges(tasks, 1, each(tasks), |some| {
                failure.note(Scratch::<T::Acc>::new(blocks.shared()).map(|mut shared| {
                    for task in some {
                        block(task, &mut shared, &|block, i, n| {
                            phase(block, i, task % call.groups, 0..n)
                        });
                    }
                }));
            });
        } else {
            let mut shared = Scratch::<T::Acc>::new(blocks.shared())?;
            for task in 0..tasks {
                block(task, &mut shared, &|block, i, n| {
                    par::ranges(n, 1, each(tasks * n), |some| {
                        phase(block, i, task % call.groups, some)
                    });
                });
            }
        }
        failure.result()
    }
    /// The transformed weights of all groups, which are cached with the weight's storage from the
    /// second convolution on.
    fn transformed<T: Element + MatElement<Acc: Real>>(&self) -> Result<Bytes> {
        #[cfg(feature = "std")]
        if self.weight.storage().caches_packed() {
            let weight = &self.weight;
            let key = PackedKey {
                first: weight.layout().offset().wrapping_mul(size_of::<T>()),
                sizes: [weight.shape()[0], weight.shape()[1]],
                strides: [weight.strides()[0], weight.strides()[1]],
                dtypes: [T::DTYPE; 2],
                form: PackedForm::Winograd {
                    groups: self.call.groups,
                    depth: self.call.geometry.kernel[0],
                },
            };
            let kept = (weight.storage()).packed(key, true, || self.transform_weights::<T>());
            if let Some(kept) = kept {
                return Ok(kept);
            }
        }
        self.transform_weights::<T>()
    }
    fn weight_panels<T: MatElement>(&self) -> WeightPanels {
        let call = &self.call;
        WeightPanels::new::<T::Acc>([call.made(), call.seen(), call.geometry.kernel[0]])
    }
    fn transform_weights<T: Element + MatElement<Acc: Real>>(&self) -> Result<Bytes> {
        // outputs and channels of a task
        const OUTPUTS: usize = 64;
        const CHANNELS: usize = 32;
        let (call, panels) = (&self.call, self.weight_panels::<T>());
        let weight = Matrices::<T>::new(&self.weight).get(0);
        let (made, seen, size) = (call.made(), call.seen(), panels.numbers::<T::Acc>());
        let mut all = Scratch::<T::Acc>::new(size.saturating_mul(call.groups))?;
        let out = par::Out::new(&mut all);
        let each = made.min(OUTPUTS) * seen.min(CHANNELS) * PRODUCTS * call.geometry.kernel[0];
        let cost = Cost {
            bytes: each * size_of::<T::Acc>(),
            flops: 10 * each,
        };
        let (down, across) = (made.div_ceil(OUTPUTS), seen.div_ceil(CHANNELS));
        par::chunks(call.groups * down * across, cost, |task| {
            let (group, task) = (task / (down * across), task % (down * across));
            let (o, c) = (task / across * OUTPUTS, task % across * CHANNELS);
            let weight = weight.block(group * made..(group + 1) * made, 0..weight.cols());
            let channels = c..seen.min(c + CHANNELS);
            let outputs = o..made.min(o + OUTPUTS);
            let d = out.as_mut_ptr().wrapping_add(group * size);
            // SAFETY: TRANSFORM1, OUT1: each task has the numbers of its own channels and outputs
            // of a group.
            unsafe { panels.transform(weight, channels, outputs, d) };
        });
        Ok(all.into_bytes())
    }
}

/// The activation for an epilogue; none if there is no kernel for it.
pub(super) fn activation<F: Element>(options: &Conv) -> Option<Option<Map<F>>> {
    match options.activation {
        None => Some(None),
        Some(f) => Map::new(f).map(Some),
    }
}

/// The epilogue of each image.
pub(super) struct Epilogues<'a, T: MatElement> {
    ops: Vec<EpilogueOp<'a, T>>,
    /// Operations per image.
    each: usize,
    call: ConvCall,
    after: Option<&'a dyn After>,
}
impl<'a, T: Element + MatElement> Epilogues<'a, T> {
    pub fn new(
        operands: &'a ConvOperands,
        activation: Option<Map<T::Acc>>,
        after: Option<&'a dyn After>,
    ) -> Result<Self> {
        let call = operands.call;
        let bias = operands.bias.as_ref().map(|b| b.as_slice::<T>());
        let bias = bias.transpose()?.map(EpilogueOp::RowBias);
        let activation = activation.map(EpilogueOp::Map);
        let residual = operands.residual.as_ref().map(Matrices::<T>::new);
        let each = [bias.is_some(), activation.is_some(), residual.is_some()];
        let each = each.into_iter().filter(|x| *x).count();
        let mut ops = fallible::with_capacity(call.batch.saturating_mul(each))?;
        for n in 0..call.batch {
            let residual = residual.as_ref().map(|r| EpilogueOp::Add(r.get(n)));
            ops.extend([bias, activation, residual].into_iter().flatten());
        }
        Ok(Epilogues {
            ops,
            each,
            call,
            after,
        })
    }
    /// The epilogue of a group of an image.
    pub fn get(&self, n: usize, group: usize) -> Epilogue<'_, T> {
        let ops = &self.ops[n * self.each..(n + 1) * self.each];
        let (rows, cols) = (self.call.outputs, self.call.geometry.len());
        let epilogue = Epilogue::new(ops, rows, cols).then(self.after).of(n);
        epilogue.at(group * self.call.made(), 0)
    }
}
