//! Binary search in a sorted line.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::sort as kernel;
use crate::ops;
use crate::ops::methods::method;
use crate::par::{self, Cost};
use crate::tensor::Tensor;

/// The end of a run of equal values at which a value is inserted.
///
/// Example: [`searchsorted`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Before the first equal value.
    Left,
    /// After the last equal value.
    Right,
}

method!(
    /// For each of `values`, the position in `sorted` (1-dimensional, ascending, NaN last) at which
    /// it would be inserted, as int64. If `sorted` is not sorted itself, `sorter` has the positions
    /// that sort it, as from [`argsort`](super::argsort). Floats are compared with integers in
    /// `sorted` exactly.
    ///
    /// Errors if `sorted` is not 1-dimensional, the sorter has another length, or the dtypes have
    /// no order or no common dtype.
    ///
    /// ```
    /// use flex::{Tensor, ops::{self, Side}};
    /// let sorted = Tensor::from([1.0f32, 2.0, 2.0, 4.0]);
    /// let values = Tensor::from([2.0f32, 5.0]);
    /// assert_eq!(sorted.searchsorted(&values, Side::Left, None)?.to_vec::<i64>()?, [1, 4]);
    /// assert_eq!(ops::searchsorted(&sorted, &values, Side::Right, None)?.to_vec::<i64>()?, [3, 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("bucketize", "digitize"))]
    pub fn searchsorted(
        sorted: &Tensor,
        values: &Tensor,
        side: Side,
        sorter: Option<&Tensor>,
    ) -> Result<Tensor> {
        const OP: &str = "searchsorted";
        if sorted.rank() != 1 {
            return Err(Error::shape(
                OP,
                message!(
                    "the sorted tensor has shape {:?}; it must have one dimension",
                    sorted.shape()
                ),
            ));
        }
        let exact = are_floats_among_integers(values, sorted);
        let dtype = match exact {
            true => sorted.dtype(),
            false => sorted.dtype().promote(values.dtype(), OP)?,
        };
        if let Some(s) = sorter.filter(|s| s.shape() != sorted.shape()) {
            return Err(Error::shape(
                OP,
                message!(
                    "the sorter has shape {:?}, the sorted tensor {:?}",
                    s.shape(),
                    sorted.shape()
                ),
            ));
        }
        let sorted = match sorter {
            Some(s) => crate::ops::take(sorted, s, 0)?,
            None => sorted.clone(),
        };
        if exact {
            return among_integers(&sorted, values, side);
        }
        let (sorted, values) = (
            sorted.astype(dtype)?.contiguous()?,
            values.astype(dtype)?.contiguous()?,
        );
        let mut out = Tensor::empty(values.shape(), DType::I64)?;
        let cost = Cost {
            bytes: dtype.size() + 8,
            flops: 8 * (sorted.len().max(1).ilog2() as usize + 1),
        };
        let to = out.as_mut_slice::<i64>()?;
        dispatch!(ordered dtype, |T| {
        let (sorted, values) = (sorted.as_slice::<T>()?, values.as_slice::<T>()?);
        par::split(to, 1, 64, cost, |r, to| {
            kernel::search(sorted, &values[r], side == Side::Right, to)
        });
    }, else return Err(Error::unsupported(OP, dtype)));
        Ok(out)
    }
);

/// Whether `values` are floats, and `others` integers.
pub(in crate::ops) fn are_floats_among_integers(values: &Tensor, others: &Tensor) -> bool {
    let float = values.dtype();
    float.is_float() && !float.is_storage() && others.dtype().is_integer()
}

/// [`searchsorted`] of floats among integers.
fn among_integers(sorted: &Tensor, values: &Tensor, side: Side) -> Result<Tensor> {
    let dtype = sorted.dtype();
    let values = values.astype(values.dtype().wide())?;
    // a float is above as many integers as its ceiling is, and not below as many as its floor
    let ends = match side {
        Side::Left => ops::ceil(values)?,
        Side::Right => ops::floor(values)?,
    };
    let positions = searchsorted(sorted, &ends.astype(dtype)?, side, None)?;
    // the conversion saturates; NaN is last
    let [below, beyond] = limits(dtype);
    let positions = ops::where_(ops::less(&ends, below)?, 0, positions)?;
    ops::where_(ops::less(&ends, beyond)?, positions, sorted.len() as i64)
}

/// The lowest value of an integer dtype, and its highest plus one: floats of every dtype that is
/// computed in.
pub(in crate::ops) fn limits(dtype: DType) -> [f64; 2] {
    let [lowest, highest] = dtype.integers();
    [lowest as f64, (highest + 1) as f64]
}
