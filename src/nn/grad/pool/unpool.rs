//! Gradients of max unpooling.

use super::super::common_float;
use crate::error::{Error, Result};
use crate::kernel::pool::scatter;
use crate::nn::pool::positions::CheckedPositions;
use crate::par::{self, Cost};
use crate::tensor::Tensor;

macro_rules! unpools {
    ($($rank:literal $name:ident $shape:literal $result:literal;)*) => { $(
        #[doc = concat!("The gradient of the operand of [`", stringify!($name), "`](crate::nn::", stringify!($name), "):")]
        /// the elements of `grad` at the positions that its elements were put.
        ///
        /// `grad` is `[batch, channels, ..]` or `[channels, ..]`, like the function's result;
        /// `indices` are integers with the shape of its operand, which is also that of this result.
        /// Options don't matter. If several elements were put at one position, each gets the
        /// gradient there, although only the last was kept; torch does the same.
        ///
        /// Errors if shapes don't fit, a position is negative or out of range, `indices` is not an
        /// integer tensor, or `grad` is not a float tensor.
        ///
        /// ```
        /// use flex::{Tensor, nn};
        #[doc = concat!("let grad = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], ", $result, ")?;")]
        #[doc = concat!("let indices = Tensor::from_slice(&[3i64, 1], ", $shape, ")?;")]
        #[doc = concat!("let dx = nn::grad::", stringify!($name), "(&grad, &indices)?;")]
        /// assert_eq!(dx.to_vec::<f32>()?, [4.0, 2.0]);
        /// # Ok::<(), flex::Error>(())
        /// ```
        pub fn $name(grad: &Tensor, indices: &Tensor) -> Result<Tensor> {
            from_positions(concat!("grad.", stringify!($name)), $rank, grad, indices)
        }
    )* };
}
unpools! {
    1 max_unpool1d "[1, 2]" "[1, 4]";
    2 max_unpool2d "[1, 1, 2]" "[1, 1, 4]";
    3 max_unpool3d "[1, 1, 1, 2]" "[1, 1, 1, 4]";
}

/// Gathers the element of a plane of `grad` at each position.
fn from_positions(
    op: &'static str,
    rank: usize,
    grad: &Tensor,
    indices: &Tensor,
) -> Result<Tensor> {
    let lead = grad.rank().saturating_sub(rank);
    let fits = [1, 2].contains(&lead)
        && indices.rank() == grad.rank()
        && indices.shape()[..lead] == grad.shape()[..lead];
    if !fits {
        let operands = [
            ("grad", grad.shape(), grad.dtype()),
            ("indices", indices.shape(), indices.dtype()),
        ];
        let message = message!(
            "grad and indices must be [channels, {rank} spatial dimensions], or a batch of those, and differ only in the spatial axes"
        );
        return Err(Error::shape_of(op, message, &operands));
    }
    let positions = CheckedPositions::new(op, indices)?;
    let dtype = common_float(op, &[grad])?;
    let sizes = &grad.shape()[lead..];
    let plane: usize = sizes.iter().product();
    let taken: usize = indices.shape()[lead..].iter().product();
    let grad = grad.astype(dtype.wide())?.contiguous()?;
    let mut d = Tensor::empty(indices.shape(), dtype.wide())?;
    let cost = Cost {
        bytes: taken.saturating_mul(24),
        flops: taken.saturating_mul(32),
    };
    dispatch!(float dtype.wide(), |F| {
        let grad = grad.as_slice::<F>()?;
        par::split(d.as_mut_slice::<F>()?, taken, 1, cost, |planes, d| {
            for (k, d) in planes.zip(d.chunks_exact_mut(taken)) {
                let first = k * taken;
                let from = &grad[k * plane..(k + 1) * plane];
                positions.note(scatter::take_at(from, positions.read(first..first + taken), d));
            }
        })
    }, else return Err(Error::unsupported(op, dtype)));
    positions.result(sizes)?;
    d.into_dtype(dtype)
}
