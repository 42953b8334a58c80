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
    let ([lead @ .., rows, cols], [steps @ .., down, right]) = (x.shape(), x.strides()) else {
        return Err(Error::shape_of(
            op,
            "a matrix has two dimensions",
            &[("x", x.shape(), dtype)],
        ));
    };
    let away = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
    let (above, below) = if offset < 0 { (0, away) } else { (away, 0) };
    let n = cols.saturating_sub(above).min(rows.saturating_sub(below));
    let first = if n == 0 || lead.contains(&0) {
        x.offset() as isize
    } else {
        x.offset() as isize + above as isize * right + below as isize * down
    };
    let shape: crate::layout::Shape = lead.iter().copied().chain([n]).collect();
    let strides: smallvec::SmallVec<[isize; 6]> =
        steps.iter().copied().chain([down + right]).collect();
    Layout::new(&shape, &strides, first as usize)
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
