//! Average pooling.

use super::super::images::Planes;
use super::super::spatial::PerAxis;
use super::launch::{self, Means};
use super::window::Options;
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::conv::Three;
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// The options of average pooling.
///
/// Example: [`avg_pool2d`].
#[derive(Clone, Debug)]
pub struct AvgPool {
    /// The distance from one window to the next. Default: the size of a window.
    pub stride: Option<PerAxis>,
    /// Zeros on both sides of the image. Default: none.
    pub padding: PerAxis,
    /// Whether the last window may reach beyond the padded image, so that every element is covered;
    /// what lies there is no element of the window. Default: false.
    pub ceil_mode: bool,
    /// Whether the zeros of the padding count as elements of a window. Default: true.
    pub count_include_pad: bool,
    /// The divisor of the sums, instead of the number of elements.
    pub divisor_override: Option<usize>,
}
impl Default for AvgPool {
    fn default() -> Self {
        AvgPool {
            stride: None,
            padding: 0.into(),
            ceil_mode: false,
            count_include_pad: true,
            divisor_override: None,
        }
    }
}
macro_rules! pools {
    ($($rank:literal $op:literal $(#[doc = $doc:literal])* $name:ident;)*) => { $(
        $(#[doc = $doc])*
        ///
        /// `[batch, channels, ..]`, or `[channels, ..]` without a batch, floats with any strides.
        /// The result has the dtype of `x`, and along each axis `(size + 2 * padding - kernel_size)
        /// / stride + 1` outputs, rounded up with `ceil_mode`; a window must begin in the image or
        /// the padding before it. 16-bit floats are summed in float32 and rounded once.
        ///
        /// Errors if `x` has another rank, there is no output, the padding is more than half a
        /// window, `divisor_override` or an option that must be positive is zero,
        /// and for other dtypes.
        pub fn $name(x: &Tensor, kernel_size: impl Into<PerAxis>, options: impl Into<AvgPool>) -> Result<Tensor> {
            average($op, $rank, x, &kernel_size.into(), &options.into())
        }
    )* };
}
pools! {
    1 "avg_pool1d"
    /// The mean of each window of a signal.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32, 3.0, 2.0, 0.0], [1, 4])?;
    /// assert_eq!(nn::avg_pool1d(&x, 2, ())?.to_vec::<f32>()?, [2.0, 1.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    avg_pool1d;
    2 "avg_pool2d"
    /// The mean of each window of an image.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 6.0], [1, 2, 2])?;
    /// assert_eq!(nn::avg_pool2d(&x, 2, ())?.to_vec::<f32>()?, [3.0]);
    /// let options = nn::AvgPool { padding: 1.into(), count_include_pad: false, ..Default::default() };
    /// assert_eq!(nn::avg_pool2d(&x, 2, options)?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 6.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    avg_pool2d;
    3 "avg_pool3d"
    /// The mean of each window of a volume.
    ///
    /// ```
    /// use flex::{DType, Tensor, nn};
    /// let x = Tensor::zeros(&[1, 2, 4, 4], DType::F32)?;
    /// assert_eq!(nn::avg_pool3d(&x, 2, ())?.shape(), [1, 1, 2, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    avg_pool3d;
}

impl AvgPool {
    /// The windows on images of `sizes`, and the divisors of their sums.
    pub(in crate::nn) fn means(
        &self,
        op: &'static str,
        rank: usize,
        sizes: Three,
        kernel_size: &PerAxis,
    ) -> Result<Means> {
        let one = 1.into();
        let shared = Options {
            kernel_size,
            stride: self.stride.as_ref(),
            padding: &self.padding,
            dilation: &one,
            ceil_mode: self.ceil_mode,
        };
        let (windows, output_size) = shared.windows(op, rank, sizes)?;
        if self.divisor_override == Some(0) {
            let message = "divisor_override is 0; it must be at least 1";
            return Err(Error::value(op, message));
        }
        let n = shared.numbers(op, rank)?;
        let divisors = |k: usize| -> Result<Vec<f64>> {
            let window = |output| match self.divisor_override {
                Some(n) if k == 2 => n,
                Some(_) => 1,
                // of the padded image
                None if self.count_include_pad => {
                    (n.kernel[k]).min(sizes[k] + 2 * n.padding[k] - output * n.stride[k])
                }
                None => windows[k].taps(output, sizes[k]).count,
            };
            fallible::collect((0..output_size[k]).map(|output| Ok(window(output) as f64)))
        };
        Ok(Means {
            divisors: [divisors(0)?, divisors(1)?, divisors(2)?],
            windows,
            output_size,
        })
    }
}

pub(in crate::nn) fn average(
    op: &'static str,
    rank: usize,
    x: &Tensor,
    kernel_size: &PerAxis,
    options: &AvgPool,
) -> Result<Tensor> {
    let planes = Planes::new(op, x, rank)?;
    let means = options.means(op, rank, planes.sizes(), kernel_size)?;
    launch::mean(op, &planes, &means, x.dtype())
}
