//! Max pooling.

use super::super::images::Planes;
use super::super::spatial::PerAxis;
use super::launch;
use super::window::Options;
use crate::error::Result;
use crate::tensor::Tensor;

/// The options of max pooling.
///
/// Example: [`max_pool2d`].
#[derive(Clone, Debug)]
pub struct MaxPool {
    /// The distance from one window to the next. Default: the size of a window.
    pub stride: Option<PerAxis>,
    /// How far windows may reach beyond the image, on both sides; nothing there counts. Default: 0.
    pub padding: PerAxis,
    /// The distance between adjacent elements of a window, in the image. Default: 1.
    pub dilation: PerAxis,
    /// Whether the last window may reach beyond the padded image, so that every element is covered.
    /// Default: false.
    pub ceil_mode: bool,
}
impl Default for MaxPool {
    fn default() -> Self {
        MaxPool {
            stride: None,
            padding: 0.into(),
            dilation: 1.into(),
            ceil_mode: false,
        }
    }
}
macro_rules! pools {
    ($($rank:literal $op:literal $name:ident $(#[doc = $doc:literal])*, $with:ident $(#[doc = $more:literal])*;)*) => { $(
        $(#[doc = $doc])*
        ///
        /// `[batch, channels, ..]`, or `[channels, ..]` without a batch; any strides. The result
        /// has the dtype of `x`, and along each axis
        /// `(size + 2 * padding - dilation * (kernel_size - 1) - 1) / stride + 1` outputs, rounded
        /// up with `ceil_mode`; a window must begin in the image or the padding before it. The
        /// maximum is NaN if there is one.
        ///
        /// Errors if `x` has another rank, there is no output, the padding is more than half a
        /// window, or an option that must be positive is zero, and for bool and
        /// complex numbers.
        pub fn $name(x: &Tensor, kernel_size: impl Into<PerAxis>, options: impl Into<MaxPool>) -> Result<Tensor> {
            largest($op, $rank, x, &kernel_size.into(), &options.into())
        }
        $(#[doc = $more])*
        ///
        /// Positions are int64, row-major in the spatial axes: of the first of equal elements, or
        /// of the last NaN, as in torch. Errors like the pool without them.
        pub fn $with(x: &Tensor, kernel_size: impl Into<PerAxis>, options: impl Into<MaxPool>) -> Result<(Tensor, Tensor)> {
            with_positions($op, $rank, x, &kernel_size.into(), &options.into())
        }
    )* };
}
pools! {
    1 "max_pool1d" max_pool1d
    /// The largest element of each window of a signal.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32, 3.0, 2.0, 0.0, 5.0], [1, 5])?;
    /// assert_eq!(nn::max_pool1d(&x, 2, ())?.to_vec::<f32>()?, [3.0, 2.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    , max_pool1d_with_indices
    /// [`max_pool1d`] with the positions of the maxima.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32, 3.0, 2.0, 0.0], [1, 4])?;
    /// let (y, positions) = nn::max_pool1d_with_indices(&x, 2, ())?;
    /// assert_eq!((y.to_vec::<f32>()?, positions.to_vec::<i64>()?), (vec![3.0, 2.0], vec![1, 2]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    ;
    2 "max_pool2d" max_pool2d
    /// The largest element of each window of an image.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [1, 2, 2])?;
    /// assert_eq!(nn::max_pool2d(&x, 2, ())?.to_vec::<f32>()?, [4.0]);
    /// let options = nn::MaxPool { stride: Some(1.into()), padding: 1.into(), ..Default::default() };
    /// assert_eq!(nn::max_pool2d(&x, 3, options)?.to_vec::<f32>()?, [4.0; 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    , max_pool2d_with_indices
    /// [`max_pool2d`] with the positions of the maxima.
    ///
    /// ```
    /// use flex::{Tensor, nn};
    /// let x = Tensor::from_slice(&[1.0f32, 2.0, 9.0, 4.0], [1, 2, 2])?;
    /// assert_eq!(nn::max_pool2d_with_indices(&x, 2, ())?.1.to_vec::<i64>()?, [2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    ;
    3 "max_pool3d" max_pool3d
    /// The largest element of each window of a volume.
    ///
    /// ```
    /// use flex::{DType, Tensor, nn};
    /// let x = Tensor::zeros(&[1, 2, 4, 4], DType::F32)?;
    /// assert_eq!(nn::max_pool3d(&x, 2, ())?.shape(), [1, 1, 2, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    , max_pool3d_with_indices
    /// [`max_pool3d`] with the positions of the maxima.
    ///
    /// ```
    /// use flex::{DType, Tensor, nn};
    /// let x = Tensor::zeros(&[1, 2, 2, 2], DType::F32)?;
    /// assert_eq!(nn::max_pool3d_with_indices(&x, 2, ())?.1.to_vec::<i64>()?, [0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    ;
}

fn shared<'a>(kernel_size: &'a PerAxis, options: &'a MaxPool) -> Options<'a> {
    Options {
        kernel_size,
        stride: options.stride.as_ref(),
        padding: &options.padding,
        dilation: &options.dilation,
        ceil_mode: options.ceil_mode,
    }
}
fn largest(
    op: &'static str,
    rank: usize,
    x: &Tensor,
    kernel_size: &PerAxis,
    options: &MaxPool,
) -> Result<Tensor> {
    let comparable = launch::comparable(x)?;
    let planes = Planes::new(op, &comparable, rank)?;
    let (windows, output_size) = shared(kernel_size, options).windows(op, rank, planes.sizes())?;
    let y = launch::largest(op, &planes, &windows, output_size, comparable.dtype())?;
    launch::restored(y, x.dtype())
}
fn with_positions(
    op: &'static str,
    rank: usize,
    x: &Tensor,
    kernel_size: &PerAxis,
    options: &MaxPool,
) -> Result<(Tensor, Tensor)> {
    let comparable = launch::comparable(x)?;
    let planes = Planes::new(op, &comparable, rank)?;
    let (windows, output_size) = shared(kernel_size, options).windows(op, rank, planes.sizes())?;
    let dtype = comparable.dtype();
    let (y, positions) = launch::largest_with_positions(op, &planes, &windows, output_size, dtype)?;
    Ok((launch::restored(y, x.dtype())?, positions))
}
