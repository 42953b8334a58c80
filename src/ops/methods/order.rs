//! Sorting, searching and sets.

use crate::error::Result;
use crate::ops::{self, Side, Sort, TopK, Unique};
use crate::tensor::Tensor;

impl Tensor {
    /// Sorts along an axis, ascending, NaN last: the method of [`ops::sort`](fn@ops::sort).
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([3, 1, 2]).sort(-1)?.to_vec::<i32>()?, [1, 2, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn sort(&self, how: impl Into<Sort>) -> Result<Tensor> {
        ops::sort(self, how)
    }
    /// Sorts along an axis, descending, NaN last: [`ops::sort`](fn@ops::sort) with
    /// [`Sort::descending`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([3, 1, 2]).sort_descending(-1)?.to_vec::<i32>()?, [3, 2, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn sort_descending(&self, axis: isize) -> Result<Tensor> {
        ops::sort(
            self,
            Sort {
                axis,
                descending: true,
            },
        )
    }
    /// The indices (int64) that sort along an axis; equal values keep their order: the method of
    /// [`ops::argsort`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([3, 1, 2]).argsort(-1)?.to_vec::<i64>()?, [1, 2, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn argsort(&self, how: impl Into<Sort>) -> Result<Tensor> {
        ops::argsort(self, how)
    }
    /// The indices that sort along an axis in descending order: [`ops::argsort`] with
    /// [`Sort::descending`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([3, 1, 2]).argsort_descending(-1)?.to_vec::<i64>()?, [0, 2, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn argsort_descending(&self, axis: isize) -> Result<Tensor> {
        ops::argsort(
            self,
            Sort {
                axis,
                descending: true,
            },
        )
    }
    /// The sorted values and their indices: the method of [`ops::sort_with_indices`].
    ///
    /// ```
    /// let (values, indices) = flex::Tensor::from([3, 1, 2]).sort_with_indices(-1)?;
    /// assert_eq!((values.to_vec::<i32>()?, indices.to_vec::<i64>()?), (vec![1, 2, 3], vec![1, 2, 0]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn sort_with_indices(&self, how: impl Into<Sort>) -> Result<(Tensor, Tensor)> {
        ops::sort_with_indices(self, how)
    }
    /// The `k` largest values along an axis and their indices, largest first: the method of
    /// [`ops::topk`].
    ///
    /// ```
    /// let (values, indices) = flex::Tensor::from([3, 1, 2]).topk(2, -1)?;
    /// assert_eq!((values.to_vec::<i32>()?, indices.to_vec::<i64>()?), (vec![3, 2], vec![0, 2]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn topk(&self, k: usize, how: impl Into<TopK>) -> Result<(Tensor, Tensor)> {
        ops::topk(self, k, how)
    }
    /// The index at which each of `values` would be inserted into this sorted tensor: the method of
    /// [`ops::searchsorted`].
    ///
    /// ```
    /// use flex::{Tensor, ops::Side};
    /// let sorted = Tensor::from([1.0f32, 2.0, 2.0, 4.0]);
    /// assert_eq!(sorted.searchsorted(&Tensor::from([2.0f32, 5.0]), Side::Left, None)?.to_vec::<i64>()?, [1, 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn searchsorted(
        &self,
        values: &Tensor,
        side: Side,
        sorter: Option<&Tensor>,
    ) -> Result<Tensor> {
        ops::searchsorted(self, values, side, sorter)
    }
    /// The distinct elements in ascending order, as a 1-dimensional tensor: the method of
    /// [`ops::unique_values`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([3, 1, 3]).unique_values()?.to_vec::<i32>()?, [1, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn unique_values(&self) -> Result<Tensor> {
        ops::unique_values(self)
    }
    /// The distinct elements and their counts: the method of [`ops::unique_counts`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([3, 1, 3]).unique_counts()?.1.to_vec::<i64>()?, [1, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn unique_counts(&self) -> Result<(Tensor, Tensor)> {
        ops::unique_counts(self)
    }
    /// The distinct elements, and for each element of the tensor the index of its value among them:
    /// the method of [`ops::unique_inverse`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([3, 1, 3]).unique_inverse()?.1.to_vec::<i64>()?, [1, 0, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn unique_inverse(&self) -> Result<(Tensor, Tensor)> {
        ops::unique_inverse(self)
    }
    /// The distinct elements, the indices of their first occurrences, the inverse and the counts:
    /// the method of [`ops::unique_all`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([3, 1, 3]).unique_all()?.indices.to_vec::<i64>()?, [1, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn unique_all(&self) -> Result<Unique> {
        ops::unique_all(self)
    }
    /// Whether each element is one of `elements`: the method of [`ops::isin`].
    ///
    /// ```
    /// use flex::Tensor;
    /// assert_eq!(Tensor::from([1, 2, 3]).isin(&Tensor::from([3, 1]))?.to_vec::<bool>()?, [true, false, true]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn isin(&self, elements: &Tensor) -> Result<Tensor> {
        ops::isin(self, elements)
    }
}
