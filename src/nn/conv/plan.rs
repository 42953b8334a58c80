//! The choice of the algorithm for a convolution: a function of its sizes and dtype, for small
//! planes of single channels also of the CPU's vectors, and for bfloat16 of its instructions.

use super::Conv;
#[cfg(x86_bf16)]
use super::bands::Bands;
use super::call::ConvCall;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::conv::{
    Blocks, Geometry, LANES, PhaseKernels, Phases, PlaneWalk, Tiling, depthwise_scratch,
};
use crate::kernel::gemm::{MatElement, scratch_of};
use crate::layout::Layout;
use crate::ops::linalg::dispatch_product;
use crate::simd::{self, Level};
use crate::storage::expect_memory;
#[cfg(x86_bf16)]
use crate::{dtype::bf16, kernel::gemm};
use alloc::boxed::Box;

/// The algorithm of a convolution.
///
/// Example: [`conv_plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConvAlgorithm {
    /// A product of the weight and the image, in place unless there are few positions: kernels of
    /// one element.
    Pointwise,
    /// Channels one by one, with sums in registers: groups of one channel.
    Depthwise,
    /// The same for a few channels: groups too small for a product.
    Direct,
    /// Winograd's F(4x4, 3x3), F(4, 3) or F(4, 5) (Lavin and Gray, 2016): from a quarter to half of
    /// the multiplications.
    Winograd,
    /// A product of the weight and patches of the image, which are never stored as a whole, unless
    /// there are few of them.
    ImplicitGemm,
}
impl ConvAlgorithm {
    /// The name in snake case.
    ///
    /// Example: [`conv_plan`].
    pub const fn name(self) -> &'static str {
        match self {
            ConvAlgorithm::Pointwise => "pointwise",
            ConvAlgorithm::Depthwise => "depthwise",
            ConvAlgorithm::Direct => "direct",
            ConvAlgorithm::Winograd => "winograd",
            ConvAlgorithm::ImplicitGemm => "implicit_gemm",
        }
    }
}

/// The properties of a convolution that [`conv_plan`] returns.
///
/// Example: [`conv_plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConvPlan {
    /// The algorithm.
    pub algorithm: ConvAlgorithm,
    /// The most bytes of scratch that a thread takes on this CPU. For products, what is packed at a
    /// time, and the image if its columns are sorted by the stride before; for Winograd's
    /// algorithm, the transformed elements, not counting a panel or two of its products. For single
    /// channels, that of images whose channels are not last in memory.
    pub scratch: usize,
    /// Multiplications and additions of the plain sums: `2 * outputs * taps` for each position.
    /// Winograd's algorithm needs fewer.
    pub flops: usize,
}

/// Whether Winograd's algorithm is worth its code and its memory.
pub(super) const WINOGRAD: bool = !simd::MICROCONTROLLER && !simd::SCALAR_WEB;

/// Whether columns may be sorted by phases of the stride, which needs a source of panels of its
/// own. WebAssembly modules leave out its code.
pub(super) const PHASES: bool = !simd::MICROCONTROLLER && !cfg!(target_family = "wasm");

/// Whether few positions are rows of a product: modules that are downloaded, and flash, leave out
/// its code.
pub(super) const FEW: bool = PHASES;

/// The most bytes of scratch of a thread, for all algorithms except products.
pub(super) const MAX_SCRATCH: usize = 8 << 20;

/// How [`conv1d`](super::conv1d), [`conv2d`](super::conv2d) or [`conv3d`](super::conv3d) computes
/// operands of these shapes and their common dtype: this depends on these and on `options`, and for
/// small planes that are convolved channel by channel also on the CPU's vectors, for bfloat16 on
/// its instructions for that. The rank of the weight says which of the three. Bias, activation and
/// residual make no difference.
///
/// Kernels of 3x3, and of 3 or 5 along columns alone, or with a depth besides, without a stride
/// along rows or columns, over enough channels, use Winograd's algorithm unless [`Conv::precise`]
/// is set, or they are of bfloat16 and the CPU has AMX. Its errors are relative to the largest
/// element of a tile of up to 6x6, and up to four times as large as those of plain sums of such
/// elements, which tests check. What one position reads does not spoil another: a row of tiles is
/// computed as plain sums if an element is more than 16 times as large as all that some position of
/// its tile reads, or if a result is NaN or infinite.
///
/// Errors as the convolution itself.
///
/// ```
/// use flex::{DType, nn};
/// let options = || nn::Conv { padding: 1.into(), ..Default::default() };
/// let plan = nn::conv_plan(&[1, 64, 56, 56], &[64, 64, 3, 3], options(), DType::F32)?;
/// assert_eq!(plan.algorithm, nn::ConvAlgorithm::Winograd);
/// assert_eq!(plan.flops, 2 * 64 * 64 * 9 * 56 * 56);
/// let precise = nn::Conv { precise: true, ..options() };
/// let plan = nn::conv_plan(&[1, 64, 56, 56], &[64, 64, 3, 3], precise, DType::F32)?;
/// assert_eq!(plan.algorithm.name(), "implicit_gemm");
/// # Ok::<(), flex::Error>(())
/// ```
pub fn conv_plan<'a>(
    x: &[usize],
    weight: &[usize],
    options: impl Into<Conv<'a>>,
    dtype: DType,
) -> Result<ConvPlan> {
    let op = "conv_plan";
    let operands = [("x", x, dtype), ("weight", weight, dtype)];
    let rank = weight.len().wrapping_sub(2);
    if !(1..=3).contains(&rank) {
        let message = "weight must have 3, 4 or 5 dimensions";
        return Err(Error::shape_of(op, message, &operands));
    }
    if dtype.is_bool() || !dtype.is_available() {
        return Err(Error::unsupported(op, dtype));
    }
    let options = options.into();
    for (_, shape, _) in operands {
        Layout::contiguous(shape)?;
    }
    let call = ConvCall::new(op, rank, &operands, &options)?;
    // the counts below are those of a result that memory can hold
    expect_memory(Layout::contiguous(&call.shape())?.len() * dtype.size())?;
    let trivial = call.trailing();
    if trivial > 0 {
        let less =
            |shape: &[usize]| crate::layout::Shape::from_slice(&shape[..shape.len() - trivial]);
        let options = call.without(trivial, &options);
        return conv_plan(&less(x), &less(weight), options, dtype);
    }
    let plan = Plan::of(&call, dtype, options.precise)?;
    let taps = call
        .in_channels_per_group()
        .saturating_mul(call.geometry.kernel_len());
    Ok(ConvPlan {
        algorithm: plan.algorithm(&call),
        scratch: plan.scratch(&call, dtype),
        flops: [call.batch, call.out_channels, call.geometry.len(), 2]
            .iter()
            .fold(taps, |all, n| all.saturating_mul(*n)),
    })
}

/// An algorithm, and how it splits the work.
pub(super) enum Plan {
    Pointwise,
    Depthwise(PlaneWalk),
    Direct(Tiling),
    Winograd(Box<Blocks>),
    /// From patches as rows.
    Few,
    /// From the image in place, or sorted.
    ImplicitGemm(Option<Sorted>),
    /// From bands of images of bfloat16 as pairs of channels.
    #[cfg(x86_bf16)]
    Pairs(Bands),
}
impl Plan {
    /// The fastest for the sizes. Unless `precise`, rounding errors may be those of Winograd's
    /// algorithm.
    ///
    /// Errors if there is no memory for its lists.
    pub fn of(call: &ConvCall, dtype: DType, precise: bool) -> Result<Plan> {
        let g = call.geometry;
        if g.is_pointwise(call.image) {
            // an image of one position is a row
            return Ok(match g.len() == 1 && has_few_positions(call, dtype) {
                true => Plan::Few,
                false => Plan::Pointwise,
            });
        }
        let bytes = sum_bytes(dtype);
        let transform = is_transform(call);
        if has_lanes(call, dtype)
            && !transform
            && is_small(&g)
            && let Some(walk) = PlaneWalk::convolution(&g, call.image, bytes)?
        {
            return Ok(Plan::Depthwise(walk));
        }
        if !transform && call.in_channels_per_group() == 1 || has_few_channels(call) {
            let tiling = Tiling::new(g, call.in_channels_per_group(), bytes);
            if let Some(tiling) = tiling {
                return Ok(Plan::Direct(tiling));
            }
        }
        let kernels = || PhaseKernels::new(g);
        let pairs = pairs(call, dtype);
        // tile registers make products of pairs faster than fewer products of widened values
        let tiled = pairs.is_some() && simd::has_amx();
        if !tiled && let Some(blocks) = winograd(call, dtype, precise, kernels) {
            return Ok(Plan::Winograd(Box::new(blocks)));
        }
        if has_few_positions(call, dtype) {
            return Ok(Plan::Few);
        }
        match pairs {
            Some(plan) => Ok(plan),
            None => Ok(Plan::ImplicitGemm(sorted(call, dtype)?)),
        }
    }
    fn algorithm(&self, call: &ConvCall) -> ConvAlgorithm {
        match self {
            Plan::Pointwise => ConvAlgorithm::Pointwise,
            Plan::Few if call.geometry.is_pointwise(call.image) => ConvAlgorithm::Pointwise,
            Plan::Depthwise(_) => ConvAlgorithm::Depthwise,
            Plan::Direct(_) if call.in_channels_per_group() == 1 => ConvAlgorithm::Depthwise,
            Plan::Direct(_) => ConvAlgorithm::Direct,
            Plan::Winograd(_) => ConvAlgorithm::Winograd,
            Plan::ImplicitGemm(_) | Plan::Few => ConvAlgorithm::ImplicitGemm,
            #[cfg(x86_bf16)]
            Plan::Pairs(_) => ConvAlgorithm::ImplicitGemm,
        }
    }
    /// Bytes of scratch of a thread.
    fn scratch(&self, call: &ConvCall, dtype: DType) -> usize {
        let bytes = sum_bytes(dtype);
        match self {
            Plan::Pointwise | Plan::ImplicitGemm(_) | Plan::Few => {
                let sorted = match self {
                    Plan::ImplicitGemm(Some(sorted)) => sorted.scratch_len(),
                    _ => 0,
                };
                product_scratch_len(call, dtype)
                    .saturating_add(sorted)
                    .saturating_mul(bytes)
            }
            #[cfg(x86_bf16)]
            Plan::Pairs(bands) => pair_scratch_len(call)
                .saturating_add(bands.scratch_len())
                .saturating_mul(bytes),
            Plan::Depthwise(walk) => depthwise_scratch(walk).saturating_mul(bytes),
            Plan::Direct(tiling) => tiling.scratch(bytes),
            Plan::Winograd(blocks) => blocks.scratch(bytes),
        }
    }
}

/// Elements of scratch of the product itself.
fn product_scratch_len(call: &ConvCall, dtype: DType) -> usize {
    let taps = call
        .in_channels_per_group()
        .saturating_mul(call.geometry.kernel_len());
    let sizes = [call.out_channels_per_group(), call.geometry.len(), taps];
    dispatch_product!(dtype, |T| scratch_of::<<T as MatElement>::Acc>(sizes, T::SAME), else 0)
}

/// Images whose columns are sorted by phases of the stride before the product.
pub(super) struct Sorted {
    pub phases: Phases,
    /// Images that are sorted at a time: as many as scratch has room for.
    pub images: usize,
}
impl Sorted {
    /// Elements of these images.
    pub fn scratch_len(&self) -> usize {
        self.phases.scratch_len().saturating_mul(self.images)
    }
}

/// How images are sorted, if that pays and scratch has room for one beside the product's.
fn sorted(call: &ConvCall, dtype: DType) -> Result<Option<Sorted>> {
    /// The most channels of a result for which packing is a notable part of the product's time.
    const FEW: usize = 512;
    if !PHASES || !dtype.is_float() || call.out_channels_per_group() > FEW {
        return Ok(None);
    }
    let room =
        (MAX_SCRATCH / sum_bytes(dtype).max(1)).saturating_sub(product_scratch_len(call, dtype));
    let phases = Phases::new(call.geometry, call.in_channels, room)?;
    Ok(phases.map(|phases| Sorted {
        images: (room / phases.scratch_len()).clamp(1, call.batch.max(1)),
        phases,
    }))
}

/// How images of bfloat16 are read as pairs of channels, if products have instructions for them and
/// scratch has room.
#[cfg(x86_bf16)]
fn pairs(call: &ConvCall, dtype: DType) -> Option<Plan> {
    if dtype != DType::BF16 || !gemm::bf16_pairs::<bf16, bf16>() {
        return None;
    }
    let room = (MAX_SCRATCH / size_of::<u32>()).saturating_sub(pair_scratch_len(call));
    Bands::new(call, room).map(Plan::Pairs)
}
/// Elements of scratch of the product of pairs itself.
#[cfg(x86_bf16)]
fn pair_scratch_len(call: &ConvCall) -> usize {
    type Pair = <gemm::Interleave as gemm::Packing>::To;
    let taps =
        (call.in_channels_per_group().div_ceil(2)).saturating_mul(call.geometry.kernel_len());
    scratch_of::<Pair>(
        [call.out_channels_per_group(), call.geometry.len(), taps],
        false,
    )
}
#[cfg(not(x86_bf16))]
fn pairs(_: &ConvCall, _: DType) -> Option<Plan> {
    None
}

/// How Winograd's algorithm splits the work, by kernels of all phases of a result of the call's
/// positions, if its errors are allowed and it is worthwhile.
pub(super) fn winograd(
    call: &ConvCall,
    dtype: DType,
    precise: bool,
    kernels: impl FnOnce() -> Option<(PhaseKernels, Geometry)>,
) -> Option<Blocks> {
    if !WINOGRAD || precise || !dtype.is_float() {
        return None;
    }
    let (positions, sizes) = (
        call.geometry.output_size,
        [call.in_channels_per_group(), call.out_channels_per_group()],
    );
    let bytes = sum_bytes(dtype);
    Blocks::new(kernels()?, positions, sizes, call.batch, bytes, MAX_SCRATCH)
        .filter(|blocks| worthwhile(call, blocks))
}

/// Whether there are enough channels for the transforms of Winograd's algorithm to be cheap beside
/// the products, and enough tiles for reading the transformed weights, which are four times as
/// large: more tiles if these come from memory.
fn worthwhile(call: &ConvCall, blocks: &Blocks) -> bool {
    const CHANNELS: usize = 16;
    const IN_CACHE: usize = 4 << 20;
    let kernels = blocks.kernels();
    let weights = (call
        .in_channels_per_group()
        .saturating_mul(call.out_channels_per_group()))
    .saturating_mul(kernels.products());
    let tiles = if weights.saturating_mul(kernels.depth) <= IN_CACHE {
        12
    } else {
        24
    };
    let [plain, products] = kernels.multiplications();
    let positions = call.batch.saturating_mul(call.geometry.len());
    call.in_channels_per_group() >= CHANNELS
        && call.out_channels_per_group() >= CHANNELS
        && blocks.tiles() >= tiles
        // or the transforms take longer than what is saved
        && 5 * plain >= 7 * products
        // tiles are filled by half: with fewer positions, their products save too little
        && 2 * positions >= blocks.tiles().saturating_mul(blocks.area())
}

/// Whether there are so few positions that packing the weight is a notable part of the work, and a
/// single one, or so large a weight that this is more than what copies take.
fn has_few_positions(call: &ConvCall, dtype: DType) -> bool {
    const POSITIONS: usize = 16;
    const WEIGHTS: usize = 1 << 12;
    let taps = call.in_channels.saturating_mul(call.geometry.kernel_len());
    let weights = taps.saturating_mul(call.out_channels);
    FEW && matches!(dtype, DType::F32 | DType::F64)
        && call.groups == 1
        && match call.geometry.len() {
            1 => weights > 0,
            positions => (2..=POSITIONS).contains(&positions) && weights >= WEIGHTS,
        }
}

/// Whether a single channel gives many over many taps in a row, as in a short-time spectrum by a
/// convolution: what a position reads is used as often as in a product of matrices.
fn is_transform(call: &ConvCall) -> bool {
    const TAPS: usize = 64;
    call.in_channels == 1 && !has_few_channels(call) && call.geometry.kernel[2] >= TAPS
}

/// Whether a group produces so few channels that packing patches for their product takes longer
/// than multiplying them.
fn has_few_channels(call: &ConvCall) -> bool {
    const MAX_OUT_CHANNELS: usize = 8;
    (1..=MAX_OUT_CHANNELS).contains(&call.out_channels_per_group())
        && call.in_channels_per_group() > 0
}

/// Whether planes are so small that their rows don't fill vectors: they are then transposed, so
/// that lanes are channels. Sums have the same order either way, and so the same bits.
pub(super) fn is_small(g: &Geometry) -> bool {
    let most = match simd::level() {
        Level::Base => 10 * 10,
        _ => 32 * 32,
    };
    g.len() <= most
}

/// Whether float channels are convolved one by one, and fill lanes.
pub(super) fn has_lanes(call: &ConvCall, dtype: DType) -> bool {
    !simd::MICROCONTROLLER
        && call.in_channels_per_group() == 1
        && call.out_channels >= LANES
        && dtype.is_float()
}

/// The bytes of a sum.
pub(super) fn sum_bytes(dtype: DType) -> usize {
    dispatch_product!(dtype, |T| size_of::<<T as MatElement>::Acc>(), else dtype.size())
}
