//! Powers of matrices.

use super::batch::Batch;
use super::solve::inv;
use crate::error::{Error, Result};
use crate::ops;
use crate::tensor::Tensor;

/// Each matrix to an integer power.
///
/// `x` is `[.., n, n]`, of any dtype with products. By repeated squaring; a negative power is that
/// of the inverse, for which integers become float32. Power 0 is the identity, also of singular
/// matrices.
///
/// Errors if the matrices are not square, for a negative power of a singular matrix
/// ([`Error::Singular`]), and for bool and float8.
///
/// ```
/// use flex::{Tensor, linalg};
/// let x = Tensor::from([[1.0f32, 1.0], [0.0, 1.0]]);
/// assert_eq!(linalg::matrix_power(&x, 5)?.to_vec::<f32>()?, [1.0, 5.0, 0.0, 1.0]);
/// assert_eq!(linalg::matrix_power(&x, -1)?.to_vec::<f32>()?, [1.0, -1.0, 0.0, 1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn matrix_power(x: &Tensor, n: i64) -> Result<Tensor> {
    const OP: &str = "matrix_power";
    let batch = Batch::square(OP, x)?;
    if x.dtype().is_bool() || x.dtype().is_storage() {
        return Err(Error::unsupported(OP, x.dtype()));
    }
    let named = |e: Error| e.named(OP);
    if n == 0 {
        let one = ops::eye(batch.rows, batch.rows, 0, x.dtype())?;
        return one.broadcast_to(x.shape())?.copy();
    }
    let base = if n < 0 {
        inv(x).map_err(named)?
    } else {
        x.clone()
    };
    let dtype = base.dtype();
    // 16-bit floats are rounded once
    let mut square = base.astype(dtype.wide())?;
    let (mut left, mut power) = (n.unsigned_abs(), None::<Tensor>);
    loop {
        if left & 1 == 1 {
            power = Some(match power {
                None => square.clone(),
                Some(p) => ops::matmul(&p, &square).map_err(named)?,
            });
        }
        left >>= 1;
        if left == 0 {
            break;
        }
        square = ops::matmul(&square, &square).map_err(named)?;
    }
    power.unwrap_or(square).into_dtype(dtype)
}
