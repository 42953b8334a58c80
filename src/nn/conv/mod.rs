//! Convolutions.

mod call;
mod convolve;
mod deform;
mod depthwise;
mod gradient;
mod phase;
mod pixels;
mod plan;
mod run;
mod sorted;
mod spread;
mod sums;
mod transpose;

#[cfg(feature = "i8")]
pub(crate) use call::Call;
#[cfg(feature = "std")]
pub(crate) use convolve::{convolve, result_of as conv_result};
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Padding {
    /// As many on both sides.
    Both(PerAxis),
    /// Before and after, for each spatial axis.
    Pairs(SmallVec<[(usize, usize); 3]>),
    /// As many as give a result of the image's size, the odd one after it; for a stride of 1.
    Same,
    /// None.
    Valid,
}
impl<P: Into<PerAxis>> From<P> for Padding {
    fn from(n: P) -> Padding {
        Padding::Both(n.into())
    }
}

/// Options of convolutions.
#[derive(Clone, Debug)]
pub struct Conv<'a> {
    /// `[out]`, added to each channel of the result.
    pub bias: Option<&'a Tensor>,
    /// From a place of the kernel to the next; 1.
    pub stride: PerAxis,
    /// Zeros around the image; none.
    pub padding: Padding,
    /// From an element of the kernel to the next, on the image; 1.
    pub dilation: PerAxis,
    /// Groups of channels, each convolved by itself; 1.
    pub groups: usize,
    /// Applied after the bias; for floats.
    pub activation: Option<Activation>,
    /// Of the result's shape or broadcast to it, added last.
    pub residual: Option<&'a Tensor>,
    /// Whether each result is a sum of products of an element and a weight. Otherwise 3x3 kernels, of any depth, may go by
    /// Winograd's algorithm, whose rounding errors are up to four times as large; see
    /// [`conv_plan`].
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
impl<'a> From<Option<&'a Tensor>> for Conv<'a> {
    fn from(bias: Option<&'a Tensor>) -> Self {
        Conv {
            bias,
            ..Default::default()
        }
    }
}

macro_rules! convolutions {
    ($($(#[doc = $doc:literal])* $name:ident $rank:literal $op:literal;)*) => { $(
        $(#[doc = $doc])*
        ///
        /// The kernel is not flipped: a cross-correlation, as in torch. Shapes are
        /// `[batch, channels, ..]`, or `[channels, ..]` without a batch, of `x` and of the result, and
        /// `[out, channels / groups, ..]` of the weight; any strides. The result has the common
        /// dtype of all operands, and along each axis
        /// `(size + padding - dilation * (kernel - 1) - 1) / stride + 1` places. 16-bit floats are
        /// added up in float32 and rounded once, after bias, activation and residual. The result is row-major;
        /// where each channel is convolved by itself (`groups` as many as channels) and the image has its
        /// channels last in memory, so has the result, in float32 and float64.
        ///
        /// Errors where shapes or groups don't fit, a stride, dilation or size of the kernel is zero, the
        /// kernel is larger than the padded image, for bool, and where an activation is asked for of what is no
        /// float.
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
    /// assert_eq!(nn::conv2d(&x, &weight, None)?.to_vec::<f32>()?, [10.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv2d 2 "conv2d";
    /// The convolution of a volume, `[batch, channels, depth, height, width]`.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32; 8], [1, 2, 2, 2])?;
    /// let weight = Tensor::from_slice(&[1.0f32; 8], [1, 1, 2, 2, 2])?;
    /// assert_eq!(nn::conv3d(&x, &weight, None)?.shape(), [1, 1, 1, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    conv3d 3 "conv3d";
}
