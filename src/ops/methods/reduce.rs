//! Reductions and scans.

use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Axes;
use crate::ops::{self, Cumulative, Reduction};
use crate::tensor::Tensor;

macro_rules! reductions {
    ($($doc:literal $function:ident $keepdims:ident;)*) => { impl Tensor { $(
        #[doc = $doc]
        ///
        #[doc = concat!("The method of [`ops::", stringify!($function), "`](fn@crate::ops::", stringify!($function), "), with its dtype and errors.")]
        ///
        /// ```
        /// let x = flex::Tensor::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        #[doc = concat!("assert_eq!(x.", stringify!($function), "(0)?.shape(), [3]);")]
        #[doc = concat!("assert_eq!(x.", stringify!($function), "(())?.rank(), 0);")]
        /// # Ok::<(), flex::Error>(())
        /// ```
        #[inline]
        pub fn $function(&self, over: impl Into<Reduction>) -> Result<Tensor> {
            ops::$function(self, over)
        }
        #[doc = concat!("[`", stringify!($function), "`](Tensor::", stringify!($function), ") that keeps the axes with size 1, so that the result broadcasts against the tensor.")]
        ///
        /// ```
        /// let x = flex::Tensor::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        #[doc = concat!("assert_eq!(x.", stringify!($keepdims), "(-1)?.shape(), [2, 1]);")]
        /// # Ok::<(), flex::Error>(())
        /// ```
        #[inline]
        pub fn $keepdims(&self, axes: impl Into<Axes>) -> Result<Tensor> {
            ops::$function(self, axes.into().keepdims())
        }
    )* } };
}
reductions! {
    "The sum of elements over axes, all for `()`." sum sum_keepdims;
    "The product of elements over axes, all for `()`." prod prod_keepdims;
    "The arithmetic mean over axes, all for `()`." mean mean_keepdims;
    "The largest element over axes, all for `()`; NaN propagates." max max_keepdims;
    "The smallest element over axes, all for `()`; NaN propagates." min min_keepdims;
    "Whether any element is nonzero, over axes, all for `()`." any any_keepdims;
    "Whether all elements are nonzero, over axes, all for `()`." all all_keepdims;
    "The number of nonzero elements over axes, all for `()`." count_nonzero count_nonzero_keepdims;
    "`log(sum(exp(x)))` over axes, all for `()`, without overflow." logsumexp logsumexp_keepdims;
    "The index (int64) of the first largest element along an axis; for `()`, among all elements in \
        row-major order." argmax argmax_keepdims;
    "The index (int64) of the first smallest element along an axis; for `()`, among all elements \
        in row-major order." argmin argmin_keepdims;
}

macro_rules! spreads {
    ($($doc:literal $function:ident $keepdims:ident;)*) => { impl Tensor { $(
        #[doc = $doc]
        ///
        /// The sum of squares is divided by the number of elements minus `correction`: 0 for a
        /// population, 1 for an estimate from a sample.
        #[doc = concat!("The method of [`ops::", stringify!($function), "`](fn@crate::ops::", stringify!($function), "), with its dtype and errors.")]
        ///
        /// ```
        /// let x = flex::Tensor::from([[1.0f32, 1.0], [3.0, 3.0]]);
        #[doc = concat!("assert_eq!(x.", stringify!($function), "(0, 0.0)?.to_vec::<f32>()?, [1.0, 1.0]);")]
        /// # Ok::<(), flex::Error>(())
        /// ```
        #[inline]
        pub fn $function(&self, over: impl Into<Reduction>, correction: f64) -> Result<Tensor> {
            ops::$function(self, over, correction)
        }
        #[doc = concat!("[`", stringify!($function), "`](Tensor::", stringify!($function), ") that keeps the axes with size 1, so that the result broadcasts against the tensor.")]
        ///
        /// ```
        /// let x = flex::Tensor::from([[1.0f32, 1.0], [3.0, 3.0]]);
        #[doc = concat!("assert_eq!(x.", stringify!($keepdims), "(0, 0.0)?.shape(), [1, 2]);")]
        /// # Ok::<(), flex::Error>(())
        /// ```
        #[inline]
        pub fn $keepdims(&self, axes: impl Into<Axes>, correction: f64) -> Result<Tensor> {
            ops::$function(self, axes.into().keepdims(), correction)
        }
    )* } };
}
spreads! {
    "The variance over axes, all for `()`." var var_keepdims;
    "The standard deviation over axes, all for `()`." std std_keepdims;
}

impl Tensor {
    /// [`sum`](Tensor::sum) in the given dtype: the method of [`ops::sum_as`].
    ///
    /// ```
    /// use flex::{DType, Tensor};
    /// assert_eq!(Tensor::from([100u8, 100, 100]).sum_as((), DType::F32)?.item::<f32>()?, 300.0);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn sum_as(&self, over: impl Into<Reduction>, dtype: DType) -> Result<Tensor> {
        ops::sum_as(self, over, dtype)
    }
    /// [`prod`](Tensor::prod) in the given dtype: the method of [`ops::prod_as`].
    ///
    /// ```
    /// use flex::{DType, Tensor};
    /// assert_eq!(Tensor::from([100u8, 3]).prod_as((), DType::F32)?.item::<f32>()?, 300.0);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn prod_as(&self, over: impl Into<Reduction>, dtype: DType) -> Result<Tensor> {
        ops::prod_as(self, over, dtype)
    }
    /// The largest elements along an axis and the indices of their first occurrences: the method of
    /// [`ops::max_with_indices`].
    ///
    /// ```
    /// let (values, indices) = flex::Tensor::from([[3, 1], [5, 6]]).max_with_indices(1)?;
    /// assert_eq!((values.to_vec::<i32>()?, indices.to_vec::<i64>()?), (vec![3, 6], vec![0, 1]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn max_with_indices(&self, over: impl Into<Reduction>) -> Result<(Tensor, Tensor)> {
        ops::max_with_indices(self, over)
    }
    /// The smallest elements along an axis and the indices of their first occurrences: the method
    /// of [`ops::min_with_indices`].
    ///
    /// ```
    /// let (values, indices) = flex::Tensor::from([[3, 1], [5, 6]]).min_with_indices(1)?;
    /// assert_eq!((values.to_vec::<i32>()?, indices.to_vec::<i64>()?), (vec![1, 5], vec![1, 0]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn min_with_indices(&self, over: impl Into<Reduction>) -> Result<(Tensor, Tensor)> {
        ops::min_with_indices(self, over)
    }
    /// The running sum along an axis: the method of [`ops::cumulative_sum`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([1i64, 2, 3]).cumulative_sum(0)?.to_vec::<i64>()?, [1, 3, 6]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn cumulative_sum(&self, how: impl Into<Cumulative>) -> Result<Tensor> {
        ops::cumulative_sum(self, how)
    }
    /// The running product along an axis: the method of [`ops::cumulative_prod`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([1i64, 2, 3]).cumulative_prod(0)?.to_vec::<i64>()?, [1, 2, 6]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn cumulative_prod(&self, how: impl Into<Cumulative>) -> Result<Tensor> {
        ops::cumulative_prod(self, how)
    }
    /// The running maximum along an axis: the method of [`ops::cumulative_max`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([1, 3, 2]).cumulative_max(0)?.to_vec::<i32>()?, [1, 3, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn cumulative_max(&self, axis: impl Into<Axes>) -> Result<Tensor> {
        ops::cumulative_max(self, axis)
    }
    /// The running minimum along an axis: the method of [`ops::cumulative_min`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([3, 1, 2]).cumulative_min(0)?.to_vec::<i32>()?, [3, 1, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn cumulative_min(&self, axis: impl Into<Axes>) -> Result<Tensor> {
        ops::cumulative_min(self, axis)
    }
    /// Differences of adjacent elements along an axis, taken `n` times: [`ops::diff`] with nothing
    /// prepended or appended.
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([1, 4, 9, 16]).diff(1, -1)?.to_vec::<i32>()?, [3, 5, 7]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn diff(&self, n: usize, axis: isize) -> Result<Tensor> {
        ops::diff(self, n, axis, None, None)
    }
}
