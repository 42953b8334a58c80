//! Products of matrices and vectors.

use crate::dtype::DType;
use crate::error::Result;
use crate::ops::{self, TensordotAxes};
use crate::tensor::Tensor;

impl Tensor {
    /// The product of matrices, of a matrix and a vector, or of two vectors: the method of
    /// [`ops::matmul`].
    ///
    /// ```
    /// use flex::Tensor;
    /// let a = Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(a.matmul(&Tensor::from([1.0f32, -1.0]))?.to_vec::<f32>()?, [-1.0, -1.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn matmul(&self, b: &Tensor) -> Result<Tensor> {
        ops::matmul(self, b)
    }
    /// [`matmul`](Tensor::matmul) accumulated in the given dtype: the method of [`ops::matmul_as`].
    ///
    /// ```
    /// use flex::{DType, Tensor};
    /// let a = Tensor::from([[100i8, 100]]);
    /// assert_eq!(a.matmul_as(&a.matrix_transpose()?, DType::I32)?.item::<i32>()?, 20_000);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn matmul_as(&self, b: &Tensor, dtype: DType) -> Result<Tensor> {
        ops::matmul_as(self, b, dtype)
    }
    /// Swaps the last two dimensions; a view: the method of [`ops::matrix_transpose`].
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from([[1, 2, 3]]).matrix_transpose()?.shape(), [3, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn matrix_transpose(&self) -> Result<Tensor> {
        ops::matrix_transpose(self)
    }
    /// The dot product along an axis: the method of [`ops::vecdot`].
    ///
    /// ```
    /// use flex::Tensor;
    /// assert_eq!(Tensor::from([[1, 2], [3, 4]]).vecdot(&Tensor::from([10, 1]), -1)?.to_vec::<i32>()?, [12, 34]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn vecdot(&self, b: &Tensor, axis: isize) -> Result<Tensor> {
        ops::vecdot(self, b, axis)
    }
    /// The sum of products over several axes: the method of [`ops::tensordot`].
    ///
    /// ```
    /// let a = flex::Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(a.tensordot(&a, 2)?.item::<i32>()?, 30);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn tensordot(&self, b: &Tensor, axes: impl Into<TensordotAxes>) -> Result<Tensor> {
        ops::tensordot(self, b, axes)
    }
    /// The outer product of two vectors: the method of [`ops::outer`].
    ///
    /// ```
    /// let a = flex::Tensor::from([1, 2]);
    /// assert_eq!(a.outer(&a)?.to_vec::<i32>()?, [1, 2, 2, 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn outer(&self, b: &Tensor) -> Result<Tensor> {
        ops::outer(self, b)
    }
    /// The cross product of vectors with three elements along an axis: the method of
    /// [`ops::cross`].
    ///
    /// ```
    /// use flex::Tensor;
    /// assert_eq!(Tensor::from([1, 0, 0]).cross(&Tensor::from([0, 1, 0]), -1)?.to_vec::<i32>()?, [0, 0, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn cross(&self, b: &Tensor, axis: isize) -> Result<Tensor> {
        ops::cross(self, b, axis)
    }
}
