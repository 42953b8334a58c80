//! Max unpooling: elements put back where a max pool took them.

use super::super::spatial::{PerAxis, option};
use super::positions::CheckedPositions;
use super::window::Options;
use crate::error::{Error, Result};
use crate::layout::Shape;
use crate::tensor::Tensor;

/// The options of [`max_unpool2d`] and its variants.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from([[1.0f32, 5.0, 4.0]]); // the pool leaves out the last
/// let (y, indices) = nn::max_pool1d_with_indices(&x, 2, ())?;
/// let whole = nn::MaxUnpool { output_size: Some(3.into()), ..Default::default() };
/// assert_eq!(nn::max_unpool1d(&y, &indices, 2, whole)?.to_vec::<f32>()?, [0.0, 5.0, 0.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MaxUnpool {
    /// The distance from one window to the next. Default: the size of a window.
    pub stride: Option<PerAxis>,
    /// The padding of the pool. Default: none.
    pub padding: PerAxis,
    /// The sizes of the result, needed if the pool left elements out. Default:
    /// `(size - 1) * stride - 2 * padding + kernel_size`.
    pub output_size: Option<PerAxis>,
}
impl Default for MaxUnpool {
    fn default() -> Self {
        MaxUnpool {
            stride: None,
            padding: 0.into(),
            output_size: None,
        }
    }
}
macro_rules! pools {
    ($($rank:literal $name:ident $pool:ident $x:literal $shape:literal;)*) => { $(
        #[doc = concat!("Elements put back where [`", stringify!($pool), "`](super::", stringify!($pool), ") took them, with zeros elsewhere.")]
        ///
        /// `x` is `[batch, channels, ..]`, or `[channels, ..]` without a batch, of any dtype;
        /// `indices` are integers of the same shape, row-major positions in the spatial axes of the
        /// result. If several elements have the same position, the last one is kept.
        ///
        /// Errors if shapes differ, a position is out of range or negative, or `output_size` is not
        /// within a stride of the default.
        ///
        /// ```
        /// use flex::{Tensor, nn};
        #[doc = concat!("let x = Tensor::from_slice(&[1.0f32, 5.0, 2.0, 4.0], ", $x, ")?;")]
        #[doc = concat!("let (y, indices) = nn::", stringify!($pool), "_with_indices(&x, ", $shape, ", ())?;")]
        #[doc = concat!("let back = nn::", stringify!($name), "(&y, &indices, ", $shape, ", ())?;")]
        /// assert_eq!(back.to_vec::<f32>()?, [0.0, 5.0, 0.0, 4.0]);
        /// # Ok::<(), flex::Error>(())
        /// ```
        pub fn $name(x: &Tensor, indices: &Tensor, kernel_size: impl Into<PerAxis>, options: impl Into<MaxUnpool>) -> Result<Tensor> {
            unpool(stringify!($name), $rank, x, indices, &kernel_size.into(), &options.into())
        }
    )* };
}
pools! {
    1 max_unpool1d max_pool1d "[1, 4]" "2";
    2 max_unpool2d max_pool2d "[1, 1, 4]" "[1, 2]";
    3 max_unpool3d max_pool3d "[1, 1, 1, 4]" "[1, 1, 2]";
}

fn unpool(
    op: &'static str,
    rank: usize,
    x: &Tensor,
    indices: &Tensor,
    kernel_size: &PerAxis,
    options: &MaxUnpool,
) -> Result<Tensor> {
    let operands = [
        ("x", x.shape(), x.dtype()),
        ("indices", indices.shape(), indices.dtype()),
    ];
    let bad = |message| Error::shape_of(op, message, &operands);
    if ![rank + 1, rank + 2].contains(&x.rank()) || x.shape() != indices.shape() {
        return Err(bad(message!(
            "x and indices must be [channels, {rank} spatial dimensions], or a batch of those, with the same shape"
        )));
    }
    let positions = CheckedPositions::new(op, indices)?;
    let one = 1.into();
    let numbers = Options {
        kernel_size,
        stride: options.stride.as_ref(),
        padding: &options.padding,
        dilation: &one,
        ceil_mode: false,
    }
    .numbers(op, rank)?;
    let lead = x.rank() - rank;
    let asked = options
        .output_size
        .as_ref()
        .map(|n| option(op, "output_size", n, rank, 1))
        .transpose()?;
    let mut shape = Shape::from_slice(x.shape());
    for k in 0..rank {
        let (at, size) = (3 - rank + k, x.shape()[lead + k]);
        let (stride, kernel) = (numbers.stride[at], numbers.kernel[at]);
        let whole = size
            .checked_sub(1)
            .and_then(|n| n.checked_mul(stride))
            .and_then(|n| n.checked_add(kernel))
            .and_then(|n| n.checked_sub(numbers.padding[at].saturating_mul(2)))
            .ok_or_else(|| {
                bad(message!(
                    "the result would have no size along axis {}",
                    lead + k
                ))
            })?;
        shape[lead + k] = match asked {
            Some(asked) if asked[at].abs_diff(whole) >= stride => {
                let message = message!(
                    "output_size is {} along axis {}: not within the stride, {stride}, of {whole}",
                    asked[at],
                    lead + k
                );
                return Err(Error::value(op, message));
            }
            Some(asked) => asked[at],
            None => whole,
        };
    }
    let (x, mut y) = (x.contiguous()?, Tensor::empty(&shape, x.dtype())?);
    let (plane, taken) = (
        shape[lead..].iter().product::<usize>(),
        x.shape()[lead..].iter().product::<usize>(),
    );
    dispatch_width!(x.dtype().size(), |U| {
        let (from, to) = (x.as_ptr() as *const U, y.as_mut_ptr()? as *mut U);
        // SAFETY: TENSOR1: all elements of contiguous tensors, as words of their dtype's width; `y`
        // is fresh (STORAGE3).
        let (from, to) = unsafe {
            (
                core::slice::from_raw_parts(from, x.len()),
                core::slice::from_raw_parts_mut(to, y.len()),
            )
        };
        positions.put(from, taken, to, plane, |_, x| x)?;
    });
    positions.result(&shape[lead..])?;
    Ok(y)
}
