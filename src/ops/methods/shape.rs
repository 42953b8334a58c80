//! Repeating, rearranging, padding.

use crate::error::Result;
use crate::layout::{Axes, IntoShape};
use crate::ops::{self, Shifts};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

impl Tensor {
    /// Repeats each element `count` times along an axis; for `()`, elements of the flattened
    /// tensor. The method of [`ops::repeat`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([1, 2]).repeat(2, 0)?.to_vec::<i32>()?, [1, 1, 2, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn repeat(&self, count: usize, axis: impl Into<Axes>) -> Result<Tensor> {
        ops::repeat(self, count, axis)
    }
    /// Repeats element `i` along an axis `counts[i]` times: the method of [`ops::repeat_counts`].
    ///
    /// ```
    /// use flex::Tensor;
    /// assert_eq!(Tensor::from([1, 2, 3]).repeat_counts(&Tensor::from([2, 0, 1]), 0)?.to_vec::<i32>()?, [1, 1, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn repeat_counts(&self, counts: &Tensor, axis: impl Into<Axes>) -> Result<Tensor> {
        ops::repeat_counts(self, counts, axis)
    }
    /// Repeats the tensor `counts[k]` times along dimension `k`: the method of [`ops::tile`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([1, 2]).tile((2, 2))?.to_vec::<i32>()?, [1, 2, 1, 2, 1, 2, 1, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn tile(&self, counts: impl IntoShape) -> Result<Tensor> {
        ops::tile(self, counts)
    }
    /// Rolls elements along axes; those shifted beyond the end re-enter at the beginning. The
    /// method of [`ops::roll`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([1, 2, 3, 4]).roll(1, 0)?.to_vec::<i32>()?, [4, 1, 2, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn roll(&self, shifts: impl Into<Shifts>, axes: impl Into<Axes>) -> Result<Tensor> {
        ops::roll(self, shifts, axes)
    }
    /// The lower triangles of matrices, zero above diagonal `k`: the method of [`ops::tril`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([[1, 2], [3, 4]]).tril(0)?.to_vec::<i32>()?, [1, 0, 3, 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn tril(&self, k: i64) -> Result<Tensor> {
        ops::tril(self, k)
    }
    /// The upper triangles of matrices, zero below diagonal `k`: the method of [`ops::triu`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([[1, 2], [3, 4]]).triu(0)?.to_vec::<i32>()?, [1, 2, 0, 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn triu(&self, k: i64) -> Result<Tensor> {
        ops::triu(self, k)
    }
    /// Pads with `widths[k]` elements of a value before and after the tensor along dimension `k`:
    /// the method of [`ops::pad`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([1, 2]).pad(&[(1, 2)], 9)?.to_vec::<i32>()?, [9, 1, 2, 9, 9]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn pad(&self, widths: &[(usize, usize)], value: impl Into<Scalar>) -> Result<Tensor> {
        ops::pad(self, widths, value)
    }
}
