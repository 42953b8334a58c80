//! Lp pooling.

use super::super::check;
use super::super::spatial::{PerAxis, option};
use super::average::{AvgPool, avg_pool1d, avg_pool2d, avg_pool3d};
use crate::error::{Error, Result};
use crate::ops;
use crate::tensor::Tensor;

/// The options of Lp pooling.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[3.0f32, 4.0, 0.0]]);
/// let overlapping = nn::LpPool { stride: Some(1.into()), ..Default::default() };
/// assert_eq!(nn::lp_pool1d(&x, 2.0, 2, overlapping)?.to_vec::<f32>()?, [5.0, 4.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LpPool {
    /// The distance from one window to the next. Default: the size of a window.
    pub stride: Option<PerAxis>,
    /// Whether the last window may reach beyond the image, so that every element is covered.
    /// Default: false.
    pub ceil_mode: bool,
}
impl From<Option<PerAxis>> for LpPool {
    /// The default options with this stride.
    fn from(stride: Option<PerAxis>) -> Self {
        LpPool {
            stride,
            ..Default::default()
        }
    }
}

macro_rules! pools {
    ($($rank:literal $name:ident $average:ident $kind:literal $shape:literal $kernel:literal;)*) => { $(
        #[doc = concat!("The norm of each window of ", $kind, ": `(sum of x^norm_type)^(1 / norm_type)`.")]
        ///
        #[doc = concat!("Shapes, dtypes and errors are those of [`", stringify!($average), "`](super::", stringify!($average), "); also errors if `norm_type` is 0 or not finite.")]
        /// The powers are those of `x`, not of its magnitude, as in torch. For a window that
        /// reaches beyond the image, each missing element counts as the mean of the others. 16-bit
        /// floats are computed in float32 and rounded once.
        ///
        /// ```
        /// use flex::{Tensor, nn};
        #[doc = concat!("let x = Tensor::from_slice(&[3.0f32, 4.0], ", $shape, ")?;")]
        #[doc = concat!("let y = nn::", stringify!($name), "(&x, 2.0, ", $kernel, ", None)?;")]
        /// assert_eq!(y.to_vec::<f32>()?, [5.0]);
        /// # Ok::<(), flex::Error>(())
        /// ```
        pub fn $name(x: &Tensor, norm_type: f64, kernel_size: impl Into<PerAxis>, options: impl Into<LpPool>) -> Result<Tensor> {
            let (kernel_size, LpPool { stride, ceil_mode }) = (kernel_size.into(), options.into());
            let options = AvgPool { stride, ceil_mode, ..Default::default() };
            let taps = option(stringify!($name), "kernel_size", &kernel_size, $rank, 1)?;
            let taps = taps[3 - $rank..].iter().map(|n| *n as f64).product();
            let op = stringify!($name);
            norm(op, x, norm_type, taps, |x| $average(x, kernel_size, options).map_err(|e| e.named(op)))
        }
    )* };
}
pools! {
    1 lp_pool1d avg_pool1d "a signal" "[1, 2]" "2";
    2 lp_pool2d avg_pool2d "an image" "[1, 2, 1]" "[2, 1]";
    3 lp_pool3d avg_pool3d "a volume" "[1, 2, 1, 1]" "[2, 1, 1]";
}

/// `x^p`, in the dtype that is computed in. Errors if `p` is not the order of a norm, or `x` is not
/// a float tensor.
pub(in crate::nn) fn powers(op: &'static str, x: &Tensor, p: f64) -> Result<Tensor> {
    let fits = p.is_finite() && p != 0.0;
    check::number(op, "norm_type", p, fits, "finite and not 0")?;
    if !x.dtype().is_float() || x.dtype().is_storage() {
        return Err(Error::unsupported(op, x.dtype()));
    }
    let wide = x.astype(x.dtype().wide())?;
    if p == 2.0 {
        ops::multiply(&wide, &wide)
    } else {
        ops::pow(wide, p)
    }
}

/// The norm, from the mean of powers.
fn norm(
    op: &'static str,
    x: &Tensor,
    p: f64,
    taps: f64,
    mean: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let sum = ops::multiply(mean(&powers(op, x, p)?)?, taps)?;
    let norm = if p == 2.0 {
        ops::sqrt(sum)?
    } else {
        ops::pow(sum, 1.0 / p)?
    };
    norm.into_dtype(x.dtype())
}
