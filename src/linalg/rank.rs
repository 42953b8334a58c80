//! Ranks and pseudoinverses: the singular values that count.

use super::batch::{Batch, dtypes};
use super::svd::{epsilon_of, reduced, values};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::Axes;
use crate::ops;
use crate::tensor::Tensor;

/// Whether each singular value is larger than the largest times `rtol`, which has one number for
/// each matrix, or broadcasts.
pub(super) fn counted(x: &Tensor, s: &Tensor, rtol: Option<&Tensor>) -> Result<Tensor> {
    let largest = ops::max(s, Axes::from(-1).keepdims())?;
    let cutoff = match rtol {
        Some(rtol) => ops::multiply(&largest, &rtol.astype(s.dtype())?.expand_dims(-1)?)?,
        None => {
            let [.., m, n] = *x.shape() else {
                return Ok(largest);
            };
            let rtol = m.max(n) as f64 * epsilon_of(x.dtype().inexact());
            ops::multiply(&largest, rtol)?
        }
    };
    ops::greater(s, &cutoff)
}
pub(super) fn tolerance(rtol: Option<f64>) -> Result<Option<Tensor>> {
    let dtype = match DType::F64.is_available() {
        true => DType::F64,
        false => DType::F32,
    };
    rtol.map(|r| Tensor::scalar(r, dtype)).transpose()
}

/// The rank of each matrix: the number of its singular values that are larger than the largest
/// times `rtol`.
///
/// `x` is `[.., m, n]`, the result `[..]`, int64. `rtol` is by default `max(m, n)` times the
/// distance from 1 to the next number of the dtype.
///
/// Errors like [`svd`](super::svd()).
///
/// ```
/// use flex::{Tensor, linalg};
/// let x = Tensor::from([[1.0f32, 2.0], [2.0, 4.0]]);
/// assert_eq!(linalg::matrix_rank(&x, None)?.item::<i64>()?, 1);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn matrix_rank(x: &Tensor, rtol: Option<f64>) -> Result<Tensor> {
    matrix_rank_within(x, tolerance(rtol)?.as_ref())
}
/// [`matrix_rank`] with a tolerance for each matrix.
#[doc(hidden)]
pub fn matrix_rank_within(x: &Tensor, rtol: Option<&Tensor>) -> Result<Tensor> {
    const OP: &str = "matrix_rank";
    let named = |e: Error| e.named(OP);
    let batch = Batch::of(OP, x)?;
    let s = values(OP, x)?;
    if batch.rows.min(batch.cols) == 0 {
        return Tensor::zeros(&batch.lead[..], DType::I64);
    }
    let counted = counted(x, &s, rtol).map_err(named)?;
    ops::count_nonzero(&counted, -1).map_err(named)
}

/// The pseudoinverse of each matrix (Moore, Penrose): `V diag(1 / S) U^H`, without the singular
/// values that are not larger than the largest times `rtol`.
///
/// `x` is `[.., m, n]`, the result `[.., n, m]`; integers become float32. `rtol` is by default
/// `max(m, n)` times the distance from 1 to the next number of the dtype.
///
/// Errors like [`svd`](super::svd()).
///
/// ```
/// use flex::{Tensor, linalg};
/// let x = Tensor::from([[2.0f32, 0.0], [0.0, 0.0], [0.0, 4.0]]);
/// assert_eq!(linalg::pinv(&x, None)?.to_vec::<f32>()?, [0.5, 0.0, 0.0, 0.0, 0.0, 0.25]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn pinv(x: &Tensor, rtol: Option<f64>) -> Result<Tensor> {
    pinv_within(x, tolerance(rtol)?.as_ref())
}
/// [`pinv`] with a tolerance for each matrix.
#[doc(hidden)]
pub fn pinv_within(x: &Tensor, rtol: Option<&Tensor>) -> Result<Tensor> {
    const OP: &str = "pinv";
    let batch = Batch::of(OP, x)?;
    let dtype = dtypes(OP, x.dtype())?.0;
    if batch.rows.min(batch.cols) == 0 {
        return Tensor::zeros(batch.shape(&[batch.cols, batch.rows]), dtype);
    }
    let (u, s, vh) = reduced(OP, x)?;
    let inverse = || {
        let counted = counted(x, &s, rtol)?;
        let inverse = ops::where_(&counted, &ops::reciprocal(&s)?, 0.0)?;
        let v = ops::conj(&ops::matrix_transpose(&vh)?)?;
        let v = ops::multiply(&v, &inverse.expand_dims(-2)?)?;
        ops::matmul(&v, &ops::conj(&ops::matrix_transpose(&u)?)?)
    };
    inverse().map_err(|e| e.named(OP))?.into_dtype(dtype)
}
