//! Indexing: by `s![..]`, along an axis, by masks.

use crate::error::Result;
use crate::layout::Axes;
use crate::ops::{self, Arg, Index, ScatterMode};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use alloc::vec::Vec;

impl Tensor {
    /// `x[indices]` as in NumPy: a view if all indices are basic (see [`slice`](Tensor::slice)),
    /// else a copy. The method of [`ops::get`]; for a single element see [`at`](Tensor::at).
    ///
    /// ```
    /// use flex::{Tensor, s};
    /// let x = Tensor::from([[0, 1, 2], [3, 4, 5]]);
    /// assert_eq!(x.get(s![.., &Tensor::from([2, 0])])?.to_vec::<i32>()?, [2, 0, 5, 3]);
    /// assert_eq!(x.get(s![x.greater(3)?])?.to_vec::<i32>()?, [4, 5]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn get(&self, indices: impl AsRef<[Index]>) -> Result<Tensor> {
        ops::get(self, indices.as_ref())
    }
    /// `x[indices] = value` for a tensor or a number: [`ops::set`](fn@ops::set). Only this tensor
    /// changes.
    ///
    /// Errors like `set`, before anything is written, and if a number doesn't fit the dtype.
    ///
    /// ```
    /// use flex::{Tensor, s};
    /// let mut x = Tensor::from([[0, 1, 2], [3, 4, 5]]);
    /// x.set(s![.., 1], -1)?;
    /// x.set(s![0], &Tensor::from([7, 8, 9]))?;
    /// assert_eq!(x.to_vec::<i32>()?, [7, 8, 9, 3, -1, 5]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn set<'v>(
        &mut self,
        indices: impl AsRef<[Index]>,
        value: impl Into<Arg<'v>>,
    ) -> Result<()> {
        match value.into() {
            Arg::Ref(t) => ops::set(self, indices.as_ref(), t),
            Arg::Own(t) => ops::set(self, indices.as_ref(), &t),
            Arg::Scalar(s) => ops::set(self, indices.as_ref(), &Tensor::scalar(s, self.dtype())?),
        }
    }
    /// Takes the elements at positions along an axis; for `()`, of the flattened tensor. The method
    /// of [`ops::take`].
    ///
    /// ```
    /// use flex::Tensor;
    /// let x = Tensor::from([[0, 1, 2], [3, 4, 5]]);
    /// assert_eq!(x.take(&Tensor::from([-1, 0]), 1)?.to_vec::<i32>()?, [2, 0, 5, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn take(&self, indices: &Tensor, axis: impl Into<Axes>) -> Result<Tensor> {
        ops::take(self, indices, axis)
    }
    /// Takes, from each line along an axis, the elements at the positions in the same line of
    /// `indices` (torch's `gather`): the method of [`ops::take_along_axis`].
    ///
    /// ```
    /// let x = flex::Tensor::from([[3, 1, 2], [6, 5, 4]]);
    /// assert_eq!(x.take_along_axis(&x.argsort(1)?, 1)?.to_vec::<i32>()?, [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn take_along_axis(&self, indices: &Tensor, axis: isize) -> Result<Tensor> {
        ops::take_along_axis(self, indices, axis)
    }
    /// A copy with `values` put along an axis: the method of [`ops::put_along_axis`].
    ///
    /// ```
    /// use flex::{Tensor, ops::ScatterMode};
    /// let x = Tensor::from([[0, 0], [0, 0]]);
    /// let y = x.put_along_axis(&Tensor::from([[1], [0]]), &Tensor::from([[5], [6]]), 1, ScatterMode::Set)?;
    /// assert_eq!(y.to_vec::<i32>()?, [0, 5, 6, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn put_along_axis(
        &self,
        indices: &Tensor,
        values: &Tensor,
        axis: isize,
        mode: ScatterMode,
    ) -> Result<Tensor> {
        ops::put_along_axis(self, indices, values, axis, mode)
    }
    /// A copy with `values` added along an axis: the method of [`ops::scatter_add`].
    ///
    /// ```
    /// use flex::Tensor;
    /// let y = Tensor::from([0.0f32, 0.0]).scatter_add(&Tensor::from([1, 1, 0]), &Tensor::from([1.0f32, 2.0, 4.0]), 0)?;
    /// assert_eq!(y.to_vec::<f32>()?, [4.0, 3.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn scatter_add(&self, indices: &Tensor, values: &Tensor, axis: isize) -> Result<Tensor> {
        ops::scatter_add(self, indices, values, axis)
    }
    /// A copy with `values` added to the slices at positions along an axis: the method of
    /// [`ops::index_add`].
    ///
    /// ```
    /// use flex::Tensor;
    /// let y = Tensor::from([[0, 0], [0, 0]]).index_add(&Tensor::from([1, 1]), &Tensor::from([[1, 2], [3, 4]]), 0)?;
    /// assert_eq!(y.to_vec::<i32>()?, [0, 0, 4, 6]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn index_add(&self, indices: &Tensor, values: &Tensor, axis: isize) -> Result<Tensor> {
        ops::index_add(self, indices, values, axis)
    }
    /// The elements where a mask is true, as a 1-dimensional tensor: the method of
    /// [`ops::masked_select`].
    ///
    /// ```
    /// let x = flex::Tensor::from([1, 5, 3]);
    /// assert_eq!(x.masked_select(&x.greater(2)?)?.to_vec::<i32>()?, [5, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn masked_select(&self, mask: &Tensor) -> Result<Tensor> {
        ops::masked_select(self, mask)
    }
    /// A copy with a value where a mask is true: the method of [`ops::masked_fill`].
    ///
    /// ```
    /// let x = flex::Tensor::from([1, 5, 3]);
    /// assert_eq!(x.masked_fill(&x.greater(2)?, 0)?.to_vec::<i32>()?, [1, 0, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn masked_fill(&self, mask: &Tensor, value: impl Into<Scalar>) -> Result<Tensor> {
        ops::masked_fill(self, mask, value)
    }
    /// The indices of the nonzero elements, one tensor per dimension: the method of
    /// [`ops::nonzero`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([0, 7, 0, 8]).nonzero()?[0].to_vec::<i64>()?, [1, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn nonzero(&self) -> Result<Vec<Tensor>> {
        ops::nonzero(self)
    }
    /// The indices of the nonzero elements, one per row: the method of [`ops::argwhere`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([[0, 7], [8, 0]]).argwhere()?.to_vec::<i64>()?, [0, 1, 1, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn argwhere(&self) -> Result<Tensor> {
        ops::argwhere(self)
    }
}
