//! Norms of vectors and matrices.

use super::batch::{Batch, dtypes};
use super::field::tiny;
use super::svd::values;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::Axes;
use crate::ops::{self, ReductionAxes};
use crate::tensor::Tensor;

/// The norm of a matrix that [`matrix_norm`] computes.
///
/// Example: [`matrix_norm`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatrixNorm {
    /// The square root of the sum of squares (`"fro"`).
    #[default]
    Frobenius,
    /// The largest sum of magnitudes of a column (1).
    One,
    /// The largest sum of magnitudes of a row (inf).
    Infinity,
    /// The smallest sum of a column (-1).
    MinOne,
    /// The smallest sum of a row (-inf).
    MinInfinity,
    /// The largest singular value (2).
    Two,
    /// The smallest singular value (-2).
    MinTwo,
    /// The sum of the singular values (`"nuc"`).
    Nuclear,
}

/// The norm of vectors: the elements along axes (all for `()`), or of the whole tensor.
///
/// `ord` is the power p of `sum(|x|^p)^(1/p)`: 2 is the length. Infinity gives the largest
/// magnitude, minus infinity the smallest; 0 the number of elements that are not zero. The result
/// is real, of the dtype of `x`; integers become float32, and float16 and bfloat16 are rounded
/// once. Sums that overflow or underflow are computed again, divided by the largest magnitude. No
/// elements have norm 0 (infinity if `ord` is negative and finite).
///
/// Errors if an axis is out of range or repeated, `ord` is NaN, for the smallest of no elements,
/// and for float8.
///
/// ```
/// use flex::{Tensor, linalg};
/// let x = Tensor::from([[3.0f32, -4.0], [0.0, 1.0]]);
/// assert_eq!(linalg::vector_norm(&x, 2.0, 1)?.to_vec::<f32>()?, [5.0, 1.0]);
/// assert_eq!(linalg::vector_norm(&x, f64::INFINITY, ())?.item::<f32>()?, 4.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn vector_norm(x: &Tensor, ord: f64, over: impl Into<ReductionAxes>) -> Result<Tensor> {
    const OP: &str = "vector_norm";
    norm(OP, x, ord, over.into()).map_err(|e| e.named(OP))
}

fn norm(op: &'static str, x: &Tensor, ord: f64, over: ReductionAxes) -> Result<Tensor> {
    if ord.is_nan() {
        return Err(Error::value(op, "ord is NaN"));
    }
    let (dtype, wide) = dtypes(op, x.dtype())?;
    let size = ops::abs(&x.astype(wide)?)?;
    let axes = over.axes.resolve(op, x.rank())?;
    let none = axes.iter().any(|k| x.shape()[*k] == 0);
    let result = if ord == 0.0 {
        ops::count_nonzero(&size, over)?
    } else if ord == f64::INFINITY && none {
        ops::sum(&size, over)?
    } else if ord == f64::INFINITY {
        ops::max(&size, over)?
    } else if ord == f64::NEG_INFINITY {
        ops::min(&size, over)?
    } else if ord == 1.0 {
        ops::sum(&size, over)?
    } else {
        power(&size, ord, over, none)?
    };
    result.into_dtype(dtype.real())
}

/// `sum(x^p)^(1/p)` of numbers that are not negative.
fn power(x: &Tensor, p: f64, over: ReductionAxes, none: bool) -> Result<Tensor> {
    let mean = |x: &Tensor, over: ReductionAxes| {
        let sum = ops::sum(
            &if p == 2.0 {
                ops::square(x)?
            } else {
                ops::pow(x, p)?
            },
            over,
        )?;
        let root = if p == 2.0 {
            ops::sqrt(&sum)?
        } else {
            ops::pow(&sum, 1.0 / p)?
        };
        Ok::<_, Error>((sum, root))
    };
    let (sum, root) = mean(x, over.clone())?;
    if none {
        return Ok(root);
    }
    // what was lost above the largest number, or below the smallest that squares are exact of
    let least = match x.dtype() {
        DType::F64 => tiny::<f64>() / f64::EPSILON,
        _ => f64::from(tiny::<f32>() / f32::EPSILON),
    };
    let lost = ops::logical_or(ops::less(&sum, least)?, ops::isinf(&sum)?)?;
    if !ops::any(&lost, ())?.item::<bool>()? {
        return Ok(root);
    }
    let ReductionAxes { axes, keepdims } = over;
    let largest = ops::max(x, axes.clone().keepdims())?;
    let sound = ops::logical_and(ops::greater(&largest, 0.0)?, ops::isfinite(&largest)?)?;
    let unit = ops::where_(&sound, &largest, 1.0)?;
    let (_, scaled) = mean(&ops::divide(x, &unit)?, axes.clone().keepdims())?;
    let again = ops::multiply(&scaled, &unit)?;
    let again = again.reshape(root.shape())?;
    debug_assert!(keepdims || again.rank() == root.rank());
    ops::where_(&lost, &again, &root)
}

/// The norm of each matrix.
///
/// `x` is `[.., m, n]`, the result `[..]`, or `[.., 1, 1]` with `keepdims`; real, of the dtype of
/// `x`; integers become float32. The largest of no sums is 0.
///
/// Errors if there are fewer than two dimensions, for the smallest of no sums, and for float8.
///
/// ```
/// use flex::{Tensor, linalg::{self, MatrixNorm}};
/// let x = Tensor::from([[3.0f32, 0.0], [4.0, -1.0]]);
/// assert_eq!(linalg::matrix_norm(&x, MatrixNorm::One, false)?.item::<f32>()?, 7.0);
/// assert_eq!(linalg::matrix_norm(&x, MatrixNorm::Infinity, true)?.to_vec::<f32>()?, [5.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn matrix_norm(x: &Tensor, ord: MatrixNorm, keepdims: bool) -> Result<Tensor> {
    const OP: &str = "matrix_norm";
    let batch = Batch::of(OP, x)?;
    let named = |e: Error| e.named(OP);
    let over = |axes: Axes| ReductionAxes { axes, keepdims };
    if ord == MatrixNorm::Frobenius {
        return norm(OP, x, 2.0, over(Axes::from([-2, -1]))).map_err(named);
    }
    let (dtype, wide) = dtypes(OP, x.dtype())?;
    if matches!(
        ord,
        MatrixNorm::Two | MatrixNorm::MinTwo | MatrixNorm::Nuclear
    ) {
        let s = values(OP, x)?;
        let axes = Axes::from(-1).keepdims();
        let norm = match ord {
            MatrixNorm::MinTwo => ops::min(&s, axes),
            MatrixNorm::Two if batch.rows.min(batch.cols) > 0 => ops::max(&s, axes),
            _ => ops::sum(&s, axes),
        }
        .map_err(named)?;
        let norm = match keepdims {
            true => norm.expand_dims(-1)?,
            false => norm.squeeze(-1)?,
        };
        return norm.into_dtype(dtype.real());
    }
    let size = ops::abs(&x.astype(wide)?)?;
    let columns = matches!(ord, MatrixNorm::One | MatrixNorm::MinOne);
    let (along, across) = if columns { (-2, -1) } else { (-1, -2) };
    let sums = ops::sum(&size, Axes::from(along).keepdims())?;
    let count = if columns { batch.cols } else { batch.rows };
    let norm = match ord {
        MatrixNorm::MinOne | MatrixNorm::MinInfinity => {
            ops::min(&sums, Axes::from(across).keepdims())
        }
        _ if count == 0 => ops::sum(&sums, Axes::from(across).keepdims()),
        _ => ops::max(&sums, Axes::from(across).keepdims()),
    }
    .map_err(named)?;
    let norm = if keepdims {
        norm
    } else {
        norm.squeeze([-2, -1])?
    };
    norm.into_dtype(dtype.real())
}
