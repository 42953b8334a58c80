//! Runs convolutions on operands of one dtype.

use super::Conv;
use super::call::ConvCall;
use super::plan::{FEW, PHASES, Plan, WINOGRAD};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::exec::failure::try_ranges;
use crate::exec::products::{blocked, products_of_sources};
use crate::fallible;
use crate::kernel::conv::{Image, ImageRows, Patches, direct, scratch};
use crate::kernel::gemm::{Epilogue, EpilogueOp, Map, MatElement, PostOp, Strided, cost};
use crate::ops::linalg::{BindPostOp, Matrices, ResultMatrices, bind_post_op, dispatch_product};
use crate::par::Cost;
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// Operands of the result's dtype.
pub(super) struct ConvOperands {
    pub call: ConvCall,
    /// `[batch, channels, ..]`
    pub x: Tensor,
    /// `[outputs, taps]`
    pub weight: Tensor,
    /// `[outputs]`, contiguous, unsigned integers as signed ones.
    pub bias: Option<Tensor>,
    /// `[batch, outputs, positions]`
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
        post_op: Option<&dyn BindPostOp>,
    ) -> Result<()> {
        let dtype = y.dtype();
        let unsupported = || Err(Error::unsupported(op, dtype));
        let plan = Plan::of(&self.call, dtype, options.precise)?;
        if let Plan::Depthwise(walk) = &plan {
            return self.depthwise(op, options, walk, y);
        }
        if FEW && matches!(plan, Plan::Few) {
            return dispatch!(floating dtype, |T| self.few::<T>(options, y, post_op), else unsupported());
        }
        let call = &self.call;
        let post_op = bind_post_op(
            post_op,
            y,
            [call.batch, call.out_channels, call.geometry.len()],
        )?;
        if let Plan::Winograd(blocks) = &plan
            && WINOGRAD
        {
            return dispatch!(floating dtype, |T| match activation(options) {
                None => unsupported(),
                Some(map) => self.winograd::<T>(blocks, map, y, post_op),
            }, else unsupported());
        }
        if options.activation.is_some() {
            return dispatch!(floating dtype, |T| match activation(options) {
                None => unsupported(),
                Some(map) => self.run::<T>(&plan, map, y, post_op),
            }, else unsupported());
        }
        dispatch_product!(dtype, |T| self.run::<T>(&plan, None, y, post_op), else unsupported())
    }
    /// Computes products, or single channels by rows.
    fn run<T: Element + MatElement>(
        &self,
        plan: &Plan,
        activation: Option<Map<T::Acc>>,
        y: &mut Tensor,
        post_op: Option<&dyn PostOp>,
    ) -> Result<()> {
        let (call, geometry) = (&self.call, self.call.geometry);
        let epilogues = Epilogues::<T>::new(self, activation, post_op)?;
        let y = ResultMatrices::<T>::new(y, call.out_channels_per_group(), geometry.len())?;
        let weight = Matrices::<T>::new(&self.weight).get(0);
        let products = call.batch * call.groups;
        let operands = |i: usize| {
            let (n, group) = (i / call.groups, i % call.groups);
            let rows =
                group * call.out_channels_per_group()..(group + 1) * call.out_channels_per_group();
            let a = weight.block(rows, 0..weight.cols());
            // SAFETY: each matrix of a fresh tensor is one group of one image, whose parts don't
            // overlap.
            let c = unsafe { y.get(i) };
            (a, self.image::<T>(n, group), c, epilogues.get(n, group))
        };
        // all images have the same layout
        let lines = products > 0 && self.image::<T>(0, 0).is_matrix();
        match plan {
            #[cfg(x86_bf16)]
            Plan::Pairs(bands) if const { T::IS_BF16 } => self.pairs(bands, &epilogues, &y),
            Plan::Direct(tiling) => {
                let tiles = tiling.count();
                let positions = geometry.len().div_ceil(tiles.max(1));
                let taps = call.in_channels_per_group() * geometry.kernel_len();
                let cost = Cost {
                    bytes: (call.in_channels_per_group() + call.out_channels_per_group())
                        * positions
                        * size_of::<T>(),
                    flops: (taps.saturating_mul(positions))
                        .saturating_mul(call.out_channels_per_group())
                        .saturating_add(cost::CALL),
                };
                try_ranges(products.saturating_mul(tiles), 1, cost, |tasks| {
                    let mut scratch = scratch::<T>(tiling)?;
                    for task in tasks {
                        let (a, image, c, epilogue) = operands(task / tiles);
                        let i = task % tiles;
                        // SAFETY: each task has its own tile of its own result.
                        unsafe { direct(tiling, i, image, a, &c, epilogue, &mut scratch) };
                    }
                    Ok(())
                })
            }
            // SAFETY: matrices of `y` don't overlap.
            Plan::Pointwise if lines => unsafe {
                let matrices = |i| {
                    let (a, image, c, epilogue) = operands(i);
                    (a, image.matrix(), c, epilogue)
                };
                blocked(products, &matrices, None, false)
            },
            Plan::ImplicitGemm(Some(sorted)) if PHASES => self.sorted(sorted, &epilogues, &y),
            // SAFETY: as above.
            _ => unsafe {
                products_of_sources(products, |i| {
                    let (a, image, c, epilogue) = operands(i);
                    (
                        Strided::rows(a),
                        Patches::right(ImageRows::new(image, geometry)),
                        c,
                        epilogue,
                    )
                })
            },
        }
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
    post_op: Option<&'a dyn PostOp>,
}
impl<'a, T: Element + MatElement> Epilogues<'a, T> {
    pub fn new(
        operands: &'a ConvOperands,
        activation: Option<Map<T::Acc>>,
        post_op: Option<&'a dyn PostOp>,
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
            post_op,
        })
    }
    /// The epilogue of a group of an image.
    pub fn get(&self, n: usize, group: usize) -> Epilogue<'_, T> {
        let ops = &self.ops[n * self.each..(n + 1) * self.each];
        let (rows, cols) = (self.call.out_channels, self.call.geometry.len());
        let epilogue = Epilogue::new(ops, rows, cols)
            .with_post_op(self.post_op)
            .of(n);
        epilogue.at(group * self.call.out_channels_per_group(), 0)
    }
}
