//! Products of vectors, matrices and numbers with NumPy's rules, by those of the array API.

use super::matmul::matmul;
use super::tensordot::{TensordotAxes, tensordot};
use crate::error::{Error, Result};
use crate::layout::Shape;
use crate::ops::methods::method;
use crate::ops::{conj, multiply};
use crate::tensor::Tensor;
use alloc::vec;

/// Errors for bools, which products don't take.
fn numbers(op: &'static str, a: &Tensor, b: &Tensor) -> Result<()> {
    let dtype = a.dtype().promote(b.dtype(), op)?;
    match dtype.is_bool() {
        true => Err(Error::unsupported(op, dtype)),
        false => Ok(()),
    }
}

method!(
    /// The sum of products over the last axes of both; the result has the other axes of `a`,
    /// followed by those of `b`. With a number, `a * b`. Dtypes are promoted.
    ///
    /// Errors if the last axes differ in size, or the dtypes have no common one or are bool.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let (a, b) = (Tensor::from([[1, 2], [3, 4]]), Tensor::from([10, 1]));
    /// assert_eq!(a.inner(&b)?.to_vec::<i32>()?, [12, 34]);
    /// assert_eq!(ops::inner(&b, &b)?.item::<i32>()?, 101);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn inner(a: &Tensor, b: &Tensor) -> Result<Tensor> {
        numbers("inner", a, b)?;
        if a.rank() == 0 || b.rank() == 0 {
            return multiply(a, b);
        }
        let last = TensordotAxes::Pairs(vec![-1], vec![-1]);
        tensordot(a, b, last).map_err(|e| e.named("inner"))
    }
);

method!(
    /// The product of `numpy.dot`: of vectors or matrices as [`matmul`], with a number `a * b`, and
    /// otherwise the sum of products over the last axis of `a` and the second-last of `b`; the
    /// result has the other axes of `a`, followed by those of `b`. Dtypes are promoted.
    ///
    /// Errors if these axes differ in size, or the dtypes have no common one or are bool.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let (a, b) = (Tensor::from([[1, 2], [3, 4]]), Tensor::from([10, 1]));
    /// assert_eq!(a.dot(&b)?.to_vec::<i32>()?, [12, 34]);
    /// assert_eq!(ops::dot(&b, &a)?.to_vec::<i32>()?, [13, 24]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn dot(a: &Tensor, b: &Tensor) -> Result<Tensor> {
        numbers("dot", a, b)?;
        let product = match (a.rank(), b.rank()) {
            (0, _) | (_, 0) => multiply(a, b),
            (1 | 2, 1 | 2) => matmul(a, b),
            (_, rank) => {
                let of_b = if rank == 1 { -1 } else { -2 };
                tensordot(a, b, TensordotAxes::Pairs(vec![-1], vec![of_b]))
            }
        };
        product.map_err(|e| e.named("dot"))
    }
);

method!(
    /// The dot product of all elements in row-major order; those of `a` are conjugated if they are
    /// complex. Dtypes are promoted.
    ///
    /// Errors if the numbers of elements differ, or the dtypes have no common one or are bool.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let (a, b) = (Tensor::from([[1, 2], [3, 4]]), Tensor::from([[10, 1], [0, 1]]));
    /// assert_eq!(a.vdot(&b)?.item::<i32>()?, 16);
    /// assert_eq!(ops::vdot(&b, &b)?.item::<i32>()?, 102);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn vdot(a: &Tensor, b: &Tensor) -> Result<Tensor> {
        const OP: &str = "vdot";
        numbers(OP, a, b)?;
        if a.len() != b.len() {
            let message = message!("{} elements of a but {} of b", a.len(), b.len());
            let operands = [("a", a.shape(), a.dtype()), ("b", b.shape(), b.dtype())];
            return Err(Error::shape_of(OP, message, &operands));
        }
        let left = a.reshape(-1)?;
        let left = if left.dtype().is_complex() {
            conj(&left)?
        } else {
            left
        };
        matmul(&left, &b.reshape(-1)?)
    }
);

method!(
    /// The Kronecker product: each element of `a` times the whole of `b`, as blocks. The shape with
    /// fewer dimensions is padded with ones in front; sizes are multiplied. Dtypes are promoted.
    ///
    /// Errors if the result has too many elements, or the dtypes have no common one or are bool.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let (a, b) = (Tensor::from([1, 10]), Tensor::from([[1, 2], [3, 4]]));
    /// assert_eq!(a.kron(&b)?.to_vec::<i32>()?, [1, 2, 10, 20, 3, 4, 30, 40]);
    /// assert_eq!(ops::kron(&a, &a)?.to_vec::<i32>()?, [1, 10, 10, 100]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn kron(a: &Tensor, b: &Tensor) -> Result<Tensor> {
        const OP: &str = "kron";
        numbers(OP, a, b)?;
        let rank = a.rank().max(b.rank());
        let padded = |x: &Tensor| -> Shape {
            let ones = core::iter::repeat_n(1, rank - x.rank());
            ones.chain(x.shape().iter().copied()).collect()
        };
        let (of_a, of_b) = (padded(a), padded(b));
        let (mut left, mut right, mut shape) = (Shape::new(), Shape::new(), Shape::new());
        for (m, n) in of_a.iter().zip(&of_b) {
            left.extend([*m, 1]);
            right.extend([1, *n]);
            let size = m.checked_mul(*n);
            shape.push(size.ok_or_else(|| Error::shape(OP, "a size exceeds the address space"))?);
        }
        multiply(a.reshape(left)?, b.reshape(right)?)?.reshape(shape)
    }
);
