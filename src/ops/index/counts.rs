//! How often integers occur.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::index::counts;
use crate::ops;
use crate::ops::methods::method;
use crate::tensor::Tensor;

/// The most counts of which there are several tables, which L1 holds.
const SHORT: usize = 1024;

method!(
    /// How often each integer from 0 on occurs in a vector, as int64; or with `weights`, one for each
    /// integer, the sum of the weights of those that are equal, as float64. The result has an element
    /// for the largest integer, and `least` elements at least.
    ///
    /// Errors if `x` has another number of dimensions than 1, no integers, or negative ones, and if
    /// the weights have another shape or are complex.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([0, 1, 1, 3]);
    /// assert_eq!(x.bincount(None, 0)?.to_vec::<i64>()?, [1, 2, 0, 1]);
    /// let w = Tensor::from([0.5f64, 1.0, 2.0, 4.0]);
    /// assert_eq!(ops::bincount(&x, Some(&w), 5)?.to_vec::<f64>()?, [0.5, 3.0, 0.0, 4.0, 0.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn bincount(x: &Tensor, weights: Option<&Tensor>, least: usize) -> Result<Tensor> {
        const OP: &str = "bincount";
        if x.rank() != 1 {
            let message = "x has one dimension";
            return Err(Error::shape_of(OP, message, &[("x", x.shape(), x.dtype())]));
        }
        let whole = x.dtype().is_integer() || x.dtype().is_bool();
        if !whole && !x.is_empty() {
            let message = message!("x has integers, not {}", x.dtype());
            return Err(Error::dtype(OP, message));
        }
        let wide = x.astype(DType::I64)?;
        let mut count = least;
        if !x.is_empty() {
            let low = ops::min(&wide, ())?.item::<i64>()?;
            if low < 0 {
                let message = message!("x has {low}; integers must not be negative");
                return Err(Error::value(OP, message));
            }
            let high = ops::max(&wide, ())?.item::<i64>()?;
            count = count.max(
                usize::try_from(high)
                    .unwrap_or(usize::MAX)
                    .saturating_add(1),
            );
        }
        let Some(weights) = weights else {
            let mut y = Tensor::zeros([count], DType::I64)?;
            let wide = wide.contiguous()?;
            let x = wide.as_slice::<i64>()?;
            if count > SHORT || x.len() < count {
                counts::count(x, count, y.as_mut_slice()?);
                return Ok(y);
            }
            let mut tables = fallible::filled(0, counts::TABLES * count)?;
            counts::count(x, count, &mut tables);
            y.as_mut_slice()?.copy_from_slice(&tables[..count]);
            return Ok(y);
        };
        if weights.shape() != x.shape() {
            let operands = [
                ("x", x.shape(), x.dtype()),
                ("weights", weights.shape(), weights.dtype()),
            ];
            return Err(Error::shape_of(
                OP,
                message!(
                    "weights have shape {:?}, x has {:?}",
                    weights.shape(),
                    x.shape()
                ),
                &operands,
            ));
        }
        let sums = Tensor::zeros([count], DType::F64)?;
        let weights = weights.astype(DType::F64).map_err(|e| e.named(OP))?;
        super::add_at(OP, sums, &wide, &weights, 0)
    }
);
