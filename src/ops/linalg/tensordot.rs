//! Sums of products over several axes at once, as matrix products.

use super::matmul::matmul;
use crate::error::{Error, Result};
use crate::layout;
use crate::ops::methods::method;
use crate::ops::multiply;
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// The axes that [`tensordot`] sums over.
///
/// Example: [`tensordot`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensordotAxes {
    /// The last axes of the first operand with the first axes of the second, this many.
    Count(usize),
    /// Axes of the first operand, each paired with the axis at the same position in the second
    /// list.
    Pairs(Vec<isize>, Vec<isize>),
}
impl From<usize> for TensordotAxes {
    fn from(count: usize) -> Self {
        TensordotAxes::Count(count)
    }
}
impl<const N: usize> From<([isize; N], [isize; N])> for TensordotAxes {
    fn from((a, b): ([isize; N], [isize; N])) -> Self {
        TensordotAxes::Pairs(a.to_vec(), b.to_vec())
    }
}

method!(
    /// The sum of products over several axes. The result has the axes of `a` that are not summed
    /// over, followed by those of `b`.
    ///
    /// Errors if the sizes of paired axes differ (nothing broadcasts), an axis is out of range or
    /// repeated, or the dtypes have no common one or are bool.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let a = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(a.tensordot(&a, 2)?.item::<i32>()?, 30);
    /// assert_eq!(ops::tensordot(&a, &a, ([0], [0]))?.to_vec::<i32>()?, [10, 14, 14, 20]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn tensordot(a: &Tensor, b: &Tensor, axes: impl Into<TensordotAxes>) -> Result<Tensor> {
        const OP: &str = "tensordot";
        let (of_a, of_b) = match axes.into() {
            TensordotAxes::Count(n) if n > a.rank().min(b.rank()) => {
                let message = message!(
                    "cannot sum over {n} axes of tensors with {} and {} dimensions",
                    a.rank(),
                    b.rank()
                );
                return Err(Error::shape_of(
                    OP,
                    message,
                    &[("a", a.shape(), a.dtype()), ("b", b.shape(), b.dtype())],
                ));
            }
            TensordotAxes::Count(n) => (
                (0..n).map(|i| (a.rank() - n + i) as isize).collect(),
                (0..n as isize).collect(),
            ),
            TensordotAxes::Pairs(x, y) => (x, y),
        };
        if of_a.len() != of_b.len() {
            return Err(Error::shape(
                OP,
                message!("{} axes of a but {} of b", of_a.len(), of_b.len()),
            ));
        }
        let (of_a, of_b) = (
            layout::unique_axes(OP, &of_a, a.rank())?,
            layout::unique_axes(OP, &of_b, b.rank())?,
        );
        if let Some((x, y)) = of_a
            .iter()
            .zip(&of_b)
            .find(|(x, y)| a.shape()[**x] != b.shape()[**y])
        {
            let message = message!(
                "axis {x} of a is {} but axis {y} of b is {}",
                a.shape()[*x],
                b.shape()[*y]
            );
            return Err(Error::shape_of(
                OP,
                message,
                &[("a", a.shape(), a.dtype()), ("b", b.shape(), b.dtype())],
            ));
        }
        let free = |t: &Tensor, summed: &[usize]| -> Vec<usize> {
            (0..t.rank()).filter(|k| !summed.contains(k)).collect()
        };
        let (free_a, free_b) = (free(a, &of_a), free(b, &of_b));
        let size =
            |t: &Tensor, axes: &[usize]| axes.iter().map(|k| t.shape()[*k]).product::<usize>();
        let k = size(a, &of_a);
        let order =
            |x: &[usize], y: &[usize]| -> Vec<usize> { x.iter().chain(y).copied().collect() };
        let left = a
            .permute(order(&free_a, &of_a))?
            .reshape((size(a, &free_a), k))?;
        let right = b
            .permute(order(&of_b, &free_b))?
            .reshape((k, size(b, &free_b)))?;
        let shape: Vec<usize> = free_a
            .iter()
            .map(|k| a.shape()[*k])
            .chain(free_b.iter().map(|k| b.shape()[*k]))
            .collect();
        matmul(&left, &right)?.reshape(shape)
    }
);

method!(
    /// The outer product of two vectors: `a[i] * b[j]`. Dtypes are promoted.
    ///
    /// Errors if an operand is not a vector, or the dtypes have no common one or are bool.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let (a, b) = (Tensor::from([1, 2]), Tensor::from([10, 20]));
    /// assert_eq!(a.outer(&b)?.to_vec::<i32>()?, [10, 20, 20, 40]);
    /// assert_eq!(ops::outer(&a, &a)?.to_vec::<i32>()?, [1, 2, 2, 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn outer(a: &Tensor, b: &Tensor) -> Result<Tensor> {
        const OP: &str = "outer";
        if a.rank() != 1 || b.rank() != 1 {
            let operands = [("a", a.shape(), a.dtype()), ("b", b.shape(), b.dtype())];
            return Err(Error::shape_of(
                OP,
                "operands must have one dimension: use multiply or tensordot",
                &operands,
            ));
        }
        let dtype = a.dtype().promote(b.dtype(), OP)?;
        if dtype.is_bool() {
            return Err(Error::unsupported(OP, dtype));
        }
        multiply(a.expand_dims(-1)?, b)
    }
);
