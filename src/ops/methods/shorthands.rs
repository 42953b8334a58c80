//! Methods with other parameters than their function: fewer, or of more general types.

use crate::error::Result;
use crate::layout::{Axes, Int};
use crate::ops::{self, Arg, Index, Sort};
use crate::tensor::Tensor;

macro_rules! keepdims {
    ($($function:ident $keepdims:ident $($alias:literal)+ ($($parameter:ident: $type:ty = $example:literal)?);)*) => { impl Tensor { $(
        #[doc = concat!(
            "[`", stringify!($function), "`](Tensor::", stringify!($function), ") that keeps the axes with \
             size 1, so that the result broadcasts against the tensor; with the dtype and the errors of `",
            stringify!($function), "`."
        )]
        ///
        /// ```
        /// let x = flex::Tensor::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        #[doc = concat!("assert_eq!(x.", stringify!($keepdims), "(-1", $(", ", $example,)? ")?.shape(), [2, 1]);")]
        /// # Ok::<(), flex::Error>(())
        /// ```
        #[doc(alias($($alias),+))]
        #[inline]
        pub fn $keepdims(&self, axes: impl Into<Axes> $(, $parameter: $type)?) -> Result<Tensor> {
            ops::$function(self, axes.into().keepdims() $(, $parameter)?)
        }
    )* } };
}
keepdims! {
    sum sum_keepdims "sum_keepdim" "sum_dim"();
    prod prod_keepdims "prod_keepdim" "prod_dim"();
    mean mean_keepdims "mean_keepdim" "mean_dim"();
    max max_keepdims "max_keepdim" "max_dim"();
    min min_keepdims "min_keepdim" "min_dim"();
    any any_keepdims "any_keepdim" "any_dim"();
    all all_keepdims "all_keepdim" "all_dim"();
    count_nonzero count_nonzero_keepdims "count_nonzero_keepdim" "count_nonzero_dim"();
    logsumexp logsumexp_keepdims "logsumexp_keepdim" "logsumexp_dim"();
    argmax argmax_keepdims "argmax_keepdim" "argmax_dim"();
    argmin argmin_keepdims "argmin_keepdim" "argmin_dim"();
    var var_keepdims "var_keepdim" "var_dim"(correction: f64 = "0.0");
    std std_keepdims "std_keepdim" "std_dim"(correction: f64 = "0.0");
}

impl Tensor {
    /// `x[indices]` as in NumPy: a view if all indices are basic (see [`slice`](Tensor::slice)),
    /// else a copy. For a single element see [`at`](Tensor::at).
    ///
    /// Errors if an index is out of range, there are too many items, a mask has another shape, or
    /// arrays are not integers or don't broadcast. The method of [`ops::get`].
    ///
    /// ```
    /// use flex::{Tensor, s};
    /// let x = Tensor::from([[0, 1, 2], [3, 4, 5]]);
    /// assert_eq!(x.get(s![.., &Tensor::from([2, 0])])?.to_vec::<i32>()?, [2, 0, 5, 3]);
    /// assert_eq!(x.get(s![x.greater(3)?])?.to_vec::<i32>()?, [4, 5]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("i"))]
    #[inline]
    pub fn get(&self, indices: impl AsRef<[Index]>) -> Result<Tensor> {
        ops::get(self, indices.as_ref())
    }
    /// `x[indices] = value` for a tensor, which broadcasts, or a number. The tensor keeps its
    /// dtype, and no other tensor changes.
    ///
    /// Errors, before anything is written, like [`get`](Tensor::get), and if a tensor doesn't
    /// broadcast or is of a higher kind (floats into integers), or a number doesn't fit the dtype.
    /// The method of [`ops::set`](fn@ops::set).
    ///
    /// ```
    /// use flex::{Tensor, s};
    /// let mut x = Tensor::from([[0, 1, 2], [3, 4, 5]]);
    /// x.set(s![.., 1], -1)?;
    /// x.set(s![0], &Tensor::from([7, 8, 9]))?;
    /// assert_eq!(x.to_vec::<i32>()?, [7, 8, 9, 3, -1, 5]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("slice_assign", "slice_mut", "index_put"))]
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
    /// Sorts each line along an axis in descending order, NaN last: [`sort`](Tensor::sort) with
    /// [`Sort::descending`], and its errors.
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([3, 1, 2]).sort_descending(-1)?.to_vec::<i32>()?, [3, 2, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("sort_descending_with_indices"))]
    #[inline]
    pub fn sort_descending(&self, axis: impl Int) -> Result<Tensor> {
        let axis = axis.wide();
        ops::sort(
            self,
            Sort {
                axis,
                descending: true,
            },
        )
    }
    /// The positions (int64) that sort each line along an axis in descending order, NaN last:
    /// [`argsort`](Tensor::argsort) with [`Sort::descending`], and its errors.
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([3, 1, 2]).argsort_descending(-1)?.to_vec::<i64>()?, [0, 2, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn argsort_descending(&self, axis: impl Int) -> Result<Tensor> {
        let axis = axis.wide();
        ops::argsort(
            self,
            Sort {
                axis,
                descending: true,
            },
        )
    }
    /// Differences of adjacent elements along an axis, taken `n` times, in the tensor's dtype: the
    /// axis is shorter by `n`, or empty.
    ///
    /// Errors for bool, and if the axis is out of range. The method of [`ops::diff`], with nothing
    /// prepended or appended.
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([1, 4, 9, 16]).diff(1, -1)?.to_vec::<i32>()?, [3, 5, 7]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn diff(&self, n: usize, axis: impl Int) -> Result<Tensor> {
        ops::diff(self, n, axis.wide(), None, None)
    }
}
