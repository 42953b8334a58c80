//! Convolutions.
//!
//! Every convolution has three spatial dimensions, of which some may have size 1. `plan` picks the
//! algorithm from sizes and dtype, and for small depthwise planes from the instruction set:
//!
//! - Pointwise convolutions are products that read the image in place: as patches they take 1.1 to
//!   2.7 times as long (but 0.75 times for 512 to 2048 channels of 7x7, on AVX2).
//! - Groups with few output channels (`kernel/conv/direct`) load zero-padded rows into L1 and keep
//!   sums in registers; with AVX2 and AVX-512 single channels of float32 are read in place, by
//!   masked vectors at the ends of rows.
//! - Small depthwise planes (`kernel/conv/depthwise`), whose rows would not fill vectors, are
//!   transposed 16 at a time so that lanes are channels; channels-last depthwise images are read in
//!   place. These three add in one order and so give the same bits.
//! - 3x3 kernels over enough channels, also in 3-D, use Winograd's F(4x4, 3x3), and kernels of 3 or
//!   5 along columns alone F(4, 3) and F(4, 5): see `kernel/conv/winograd`.
//! - A few positions are rows of a product with the weight (`few`).
//! - All else is implicit GEMM. For large strided kernels (the first layer of most image networks)
//!   the image's columns are first sorted by stride phase and zero-padded (`kernel/conv/phases`),
//!   so that patches are copied by blocks, the same for each tap.
//! - bfloat16 where the CPU multiplies it in pairs (`pairs`): neighbouring channels share a word, a
//!   band of the image at a time, so that patches are those of an image of words; with AMX that
//!   replaces Winograd's algorithm too.
//!
//! Scratch is at most 8 MiB a thread, except for sums of more than 2^15 terms. Transformed weights
//! are cached as those of `linear` are.
//!
//! **Transposed.** A transposed convolution of floats with a few taps for each phase of the stride
//! is a convolution for each phase, by Winograd's F(2x2, 3x3) or F(4, 3): the phases share one
//! window and its transformed elements, and products that are zero for taps that a phase lacks are
//! left out (`winograd/kernels`). Otherwise it multiplies the image by all kernels of some output
//! channels and adds the products up for each output element while they are in L2
//! (`kernel/conv/col2im`). For integers it is a convolution of stride 1 for each phase of the
//! output, and if depthwise, a pass of `depthwise` over those phases. Either way no element is
//! written twice.
//!
//! **Gradients** reuse those convolutions: the gradient of the image is the transposed convolution
//! to the image's sizes, and vice versa; where the image has few channels, and the stride is one, it
//! is a product of the weight and a block of `grad` in L2, added to the image afterwards
//! (`kernel/conv/columns`).
//!
//! The gradient of the weight is one product whose sum runs over the positions of all images
//! (`sums`): its left operand is the taps, so that runs of rows are packed; depthwise ones have kernels of their own (`depthwise`, and `kernel/conv/channel` for
//! fewer channels than lanes). A batch is cut by sizes alone, and the parts' gradients are added at
//! the end.
//!
//! **Deformable** convolutions are a source as well (`kernel/conv/deform`): the sampling points of
//! an offset group are computed once for a run of positions and serve all its channels.

#[cfg(x86_bf16)]
mod bands;
mod call;
mod col2im;
mod convolve;
mod deform;
mod depthwise;
mod few;
mod gradient;
#[cfg(x86_bf16)]
mod pairs;
mod phase;
mod pixels;
mod plan;
mod run;
mod sorted;
mod sums;
mod transpose;
mod winograd;

#[cfg(feature = "quant")]
pub(crate) use call::ConvCall;
#[doc(hidden)]
pub use convolve::convolve;
#[cfg(feature = "stream")]
pub(crate) use convolve::result_of as conv_result;
pub(super) use deform::Deform;
pub use deform::{DeformConv, deform_conv2d};
pub(super) use gradient::Mirror;
pub use plan::{ConvAlgorithm, ConvPlan, conv_plan};
pub use transpose::{ConvTranspose, conv_transpose1d, conv_transpose2d, conv_transpose3d};

use super::spatial::PerAxis;
use crate::error::Result;
use crate::kernel::gemm::Activation;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Zeros around an image.
///
/// ```
/// use flex::{Tensor, nn::{self, Conv, Padding}};
/// let (x, weight) = (Tensor::from([[1.0f32, 2.0, 3.0]]), Tensor::from([[[1.0f32, 1.0]]]));
/// let with = |padding| {
///     nn::conv1d(&x, &weight, Conv { padding, ..Default::default() })?.to_vec::<f32>()
/// };
/// assert_eq!(with(Padding::Valid)?, [3.0, 5.0]);
/// assert_eq!(with(Padding::Same)?, [3.0, 5.0, 3.0]);
/// assert_eq!(with(1.into())?, [1.0, 3.0, 5.0, 3.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Padding {
    /// The same number on both sides.
    Both(PerAxis),
    /// Before and after, for each spatial axis.
    Pairs(SmallVec<[(usize, usize); 3]>),
    /// As many as give the result the size of the image, with the odd one after it; only for a
    /// stride of 1.
    Same,
    /// None.
    Valid,
}
impl<P: Into<PerAxis>> From<P> for Padding {
    fn from(n: P) -> Padding {
        Padding::Both(n.into())
    }
}

/// The options of convolutions.
///
/// ```
/// use flex::{Tensor, nn};
/// let (x, weight) = (Tensor::from([[1.0f32, 2.0, 3.0]]), Tensor::from([[[1.0f32, -1.0]]]));
/// let bias = Tensor::from([0.5f32]);
/// let options = nn::Conv {
///     bias: Some(&bias),
///     stride: 2.into(),
///     padding: 1.into(),
///     activation: Some(nn::Activation::Relu),
///     ..Default::default()
/// };
/// assert_eq!(nn::conv1d(&x, &weight, options)?.to_vec::<f32>()?, [0.0, 0.0]);
/// assert_eq!(nn::conv1d(&x, &weight, Some(&bias))?.to_vec::<f32>()?, [-0.5, -0.5]); // a bias alone
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Conv<'a> {
    /// `[out]`, added to each channel of the result.
    pub bias: Option<&'a Tensor>,
    /// From one position of the kernel to the next. Default: 1.
    pub stride: PerAxis,
    /// Zeros around the image. Default: none.
    pub padding: Padding,
    /// The distance between adjacent elements of the kernel, in the image. Default: 1.
    pub dilation: PerAxis,
    /// Groups of channels, each convolved by itself. Default: 1.
    pub groups: usize,
    /// Applied after the bias; for float dtypes.
    pub activation: Option<Activation>,
    /// Of the result's shape or broadcast to it, added last.
    pub residual: Option<&'a Tensor>,
    /// Whether each result must be a plain sum of products of elements and weights. Otherwise
    /// kernels of 3x3, of any depth, and of 3 or 5 along the last axis alone may use Winograd's
    /// algorithm, whose rounding errors are up to four times as large and relative to the largest
    /// of neighbouring elements; see [`conv_plan`]. Default: false.
    pub precise: bool,
}
impl Default for Conv<'_> {
    fn default() -> Self {
        Conv {
            bias: None,
            stride: 1.into(),
            padding: 0.into(),
            dilation: 1.into(),
            groups: 1,
            activation: None,
            residual: None,
            precise: false,
        }
    }
}
macro_rules! convolutions {
    ($($(#[doc = $doc:literal])* $name:ident $rank:literal $op:literal;)*) => { $(
        $(#[doc = $doc])*
        ///
        /// The kernel is not flipped: a cross-correlation, as in torch. `x` and the result have the
        /// shape `[batch, channels, ..]`, or `[channels, ..]` without a batch; the weight `[out,
        /// channels / groups, ..]`. Any strides. The result has the common dtype of all operands,
        /// and along each axis `(size + padding - dilation * (kernel - 1) - 1) / stride + 1`
        /// positions. 16-bit floats are summed in float32 and rounded once, after bias, activation
        /// and residual. The result is row-major, except that in float32 and float64, if each
        /// channel is convolved by itself (`groups` is the number of channels) and the image has
        /// its channels last in memory, the result has its channels last too.
        ///
        /// Errors if shapes or groups don't match, a stride, dilation or size of the kernel is
        /// zero, the kernel is larger than the padded image, for bool, and for an activation of a
        /// dtype that is not a float.
        pub fn $name<'a>(x: &Tensor, weight: &Tensor, options: impl Into<Conv<'a>>) -> Result<Tensor> {
            convolve::convolve($op, $rank, x, weight, &options.into(), None)
        }
    )* };
}
convolutions! {
    /// The convolution of a signal, `[batch, channels, length]`.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [1, 4])?;
    /// let weight = Tensor::from_slice(&[1.0f32, 0.0, -1.0], [1, 1, 3])?;
    /// let y = nn::conv1d(&x, &weight, nn::Conv { padding: 1.into(), ..Default::default() })?;
    /// assert_eq!(y.to_vec::<f32>()?, [-2.0, -2.0, -2.0, 3.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv1d 1 "conv1d";
    /// The convolution of an image, `[batch, channels, height, width]`.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [1, 2, 2])?;
    /// let weight = Tensor::from_slice(&[1.0f32; 4], [1, 1, 2, 2])?;
    /// assert_eq!(nn::conv2d(&x, &weight, ())?.to_vec::<f32>()?, [10.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv2d 2 "conv2d";
    /// The convolution of a volume, `[batch, channels, depth, height, width]`.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32; 8], [1, 2, 2, 2])?;
    /// let weight = Tensor::from_slice(&[1.0f32; 8], [1, 1, 2, 2, 2])?;
    /// assert_eq!(nn::conv3d(&x, &weight, ())?.shape(), [1, 1, 1, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv3d 3 "conv3d";
}
