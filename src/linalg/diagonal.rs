//! Diagonals of matrices, and their sums.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::ops;
use crate::tensor::Tensor;

/// The diagonal of each matrix; a view.
///
/// `x` is `[.., m, n]`, of any dtype. `offset`: how many columns the diagonal lies above the main
/// one; negative below. The result is `[.., k]` with the k elements of that diagonal, which are none
/// beyond the matrix.
///
/// Errors if there are fewer than two dimensions.
///
/// ```
/// use flex::{Tensor, linalg};
/// let x = Tensor::from([[1, 2], [3, 4]]);
/// assert_eq!(linalg::diagonal(&x, 0)?.to_vec::<i32>()?, [1, 4]);
/// assert_eq!(linalg::diagonal(&x, 1)?.to_vec::<i32>()?, [2]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn diagonal(x: &Tensor, offset: i64) -> Result<Tensor> {
    Ok(x.view(diagonal_layout(x.layout(), x.dtype(), offset)?))
}

/// The layout of [`diagonal`] for a tensor of this layout and dtype.
#[doc(hidden)]
pub fn diagonal_layout(x: &Layout, dtype: DType, offset: i64) -> Result<Layout> {
    diagonal_of("diagonal", x, dtype, offset)
}

fn diagonal_of(op: &'static str, x: &Layout, dtype: DType, offset: i64) -> Result<Layout> {
    x.diagonal(offset).ok_or_else(|| {
        let operands = [("x", x.shape(), dtype)];
        Error::shape_of(op, "a matrix has two dimensions", &operands)
    })
}

/// The sum of the diagonal of each matrix.
///
/// `x` is `[.., m, n]`, the result `[..]`. `offset` is that of [`diagonal`]. `dtype`: that of the
/// sums and of the result, as in [`ops::sum_as`]; by default the one of [`ops::sum`].
///
/// Errors if there are fewer than two dimensions, or the dtype can't be summed.
///
/// ```
/// use flex::{Tensor, linalg};
/// let x = Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// assert_eq!(linalg::trace(&x, 0, None)?.item::<f32>()?, 5.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn trace(x: &Tensor, offset: i64, dtype: Option<DType>) -> Result<Tensor> {
    const OP: &str = "trace";
    let x = x.view(diagonal_of(OP, x.layout(), x.dtype(), offset)?);
    match dtype {
        None => ops::sum(&x, -1),
        Some(dtype) => ops::sum_as(&x, -1, dtype),
    }
    .map_err(|e| e.named(OP))
}
