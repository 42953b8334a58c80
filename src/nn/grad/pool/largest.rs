//! Gradients of max pooling.

use super::super::common_float;
use crate::error::{Error, Result};
use crate::layout::IntoShape;
use crate::nn::pool::positions::CheckedPositions;
use crate::tensor::Tensor;

macro_rules! largest {
    ($($rank:literal $name:ident $adaptive:ident $shape:literal $kernel:literal;)*) => { $(
        #[doc = concat!("The gradient of the operand of [`", stringify!($name), "`](crate::nn::", stringify!($name), "),")]
        #[doc = concat!("by the positions that [`", stringify!($name), "_with_indices`](crate::nn::", stringify!($name), "_with_indices)")]
        /// found: each element of `grad` is added to the position of its maximum.
        ///
        /// `grad` and `indices` (integers) are `[batch, channels, ..]` or `[channels, ..]`, with
        /// the same shape; `input_size` is the shape of the operand, and of the result. The options
        /// of the pool don't matter. 16-bit floats are summed in float32, in the order of the
        /// indices, and rounded once.
        ///
        /// Errors if shapes don't fit, a position is negative or out of range, `indices` is not an
        /// integer tensor, or `grad` is not a float tensor.
        ///
        /// ```
        /// use flex::{Tensor, nn};
        #[doc = concat!("let x = Tensor::from_slice(&[1.0f32, 5.0, 2.0, 4.0], ", $shape, ")?;")]
        #[doc = concat!("let (y, indices) = nn::", stringify!($name), "_with_indices(&x, ", $kernel, ", ())?;")]
        #[doc = concat!("let dx = nn::grad::", stringify!($name), "(&y, &indices, x.shape())?;")]
        /// assert_eq!(dx.to_vec::<f32>()?, [0.0, 5.0, 0.0, 4.0]);
        /// # Ok::<(), flex::Error>(())
        /// ```
        pub fn $name(grad: &Tensor, indices: &Tensor, input_size: impl IntoShape) -> Result<Tensor> {
            to_positions(concat!("grad.", stringify!($name)), $rank, grad, indices, input_size.into_shape().as_ref())
        }
        #[doc = concat!("The gradient of the operand of [`", stringify!($adaptive), "`](crate::nn::", stringify!($adaptive), "),")]
        #[doc = concat!("by the positions that it found. Otherwise like [`", stringify!($name), "`].")]
        ///
        /// ```
        /// use flex::{Tensor, nn};
        #[doc = concat!("let x = Tensor::from_slice(&[1.0f32, 5.0, 2.0, 4.0], ", $shape, ")?;")]
        #[doc = concat!("let (y, indices) = nn::", stringify!($adaptive), "_with_indices(&x, 1)?;")]
        #[doc = concat!("let dx = nn::grad::", stringify!($adaptive), "(&y, &indices, x.shape())?;")]
        /// assert_eq!(dx.to_vec::<f32>()?, [0.0, 5.0, 0.0, 0.0]);
        /// # Ok::<(), flex::Error>(())
        /// ```
        pub fn $adaptive(grad: &Tensor, indices: &Tensor, input_size: impl IntoShape) -> Result<Tensor> {
            to_positions(concat!("grad.", stringify!($adaptive)), $rank, grad, indices, input_size.into_shape().as_ref())
        }
    )* };
}
largest! {
    1 max_pool1d adaptive_max_pool1d "[1, 4]" "2";
    2 max_pool2d adaptive_max_pool2d "[1, 1, 4]" "[1, 2]";
    3 max_pool3d adaptive_max_pool3d "[1, 1, 1, 4]" "[1, 1, 2]";
}

/// Adds each of `grad` at its position in a plane of zeros.
fn to_positions(
    op: &'static str,
    rank: usize,
    grad: &Tensor,
    indices: &Tensor,
    input_size: &[usize],
) -> Result<Tensor> {
    let operands = [
        ("grad", grad.shape(), grad.dtype()),
        ("indices", indices.shape(), indices.dtype()),
    ];
    let bad = |message| Err(Error::shape_of(op, message, &operands));
    if ![rank + 1, rank + 2].contains(&grad.rank()) || grad.shape() != indices.shape() {
        return bad(message!(
            "grad and indices must be [channels, {rank} spatial dimensions], or a batch of those, with the same shape"
        ));
    }
    let lead = grad.rank() - rank;
    if input_size.len() != grad.rank() || input_size[..lead] != grad.shape()[..lead] {
        return bad(message!(
            "input_size is {input_size:?}; it must be the shape of the pool's operand, which differs only in the spatial axes"
        ));
    }
    if input_size[lead..].contains(&0) {
        return bad(message!(
            "input_size is {input_size:?}, which has no elements"
        ));
    }
    let positions = CheckedPositions::new(op, indices)?;
    let dtype = common_float(op, &[grad])?;
    let grad = grad.astype(dtype.wide())?.contiguous()?;
    let mut d = Tensor::empty(input_size, dtype.wide())?;
    let plane: usize = input_size[lead..].iter().product();
    let taken: usize = grad.shape()[lead..].iter().product();
    dispatch!(float dtype.wide(), |F| {
        let d = d.as_mut_slice::<F>()?;
        positions.put(grad.as_slice::<F>()?, taken, d, plane, |sum, g| sum + g)?
    }, else return Err(Error::unsupported(op, dtype)));
    positions.result(&input_size[lead..])?;
    d.into_dtype(dtype)
}
