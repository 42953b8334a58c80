//! Convolutions.

#[cfg(all(x86_dispatch, feature = "half"))]
mod bands;
mod call;
mod convolve;
mod deform;
mod depthwise;
mod gradient;
#[cfg(all(x86_dispatch, feature = "half"))]
mod pairs;
mod phase;
mod pixels;
mod plan;
mod run;
mod sorted;
mod spread;
mod sums;
mod transpose;
mod winograd;

#[cfg(feature = "i8")]
pub(crate) use call::ConvCall;
#[doc(hidden)]
pub use convolve::convolve;
#[cfg(feature = "std")]
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
    /// From one place of the kernel to the next. Default: 1.
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
    /// algorithm, whose rounding errors are up to four times as large; see [`conv_plan`]. Default:
    /// false.
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
        /// The kernel is not flipped: a cross-correlation, as in torch. `x` and the result have the
        /// shape `[batch, channels, ..]`, or `[channels, ..]` without a batch; the weight `[out,
        /// channels / groups, ..]`. Any strides. The result has the common dtype of all operands,
        /// and along each axis `(size + padding - dilation * (kernel - 1) - 1) / stride + 1`
        /// places. 16-bit floats are summed in float32 and rounded once, after bias, activation and
        /// residual. The result is row-major, except that in float32 and float64, if each channel
        /// is convolved by itself (`groups` is the number of channels) and the image has its
        /// channels last in memory, the result has its channels last too.
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
