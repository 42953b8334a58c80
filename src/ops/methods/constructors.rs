//! Tensors made from a rule, as functions of [`Tensor`].

use crate::dtype::DType;
use crate::error::Result;
use crate::layout::IntoShape;
use crate::ops;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

impl Tensor {
    /// A tensor filled with ones (or true): [`ops::ones`], with its errors.
    ///
    /// ```
    /// use flex::{DType, Tensor};
    /// assert_eq!(Tensor::ones(2, DType::F32)?.to_vec::<f32>()?, [1.0, 1.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn ones(shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
        ops::ones(shape, dtype)
    }
    /// A tensor filled with a value: [`ops::full`], with its errors. A dtype of `None` means the
    /// value's default dtype.
    ///
    /// ```
    /// use flex::{DType, Tensor};
    /// assert_eq!(Tensor::full((1, 2), 7, DType::U8)?.to_vec::<u8>()?, [7, 7]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("from_elem"))]
    pub fn full(
        shape: impl IntoShape,
        value: impl Into<Scalar>,
        dtype: impl Into<Option<DType>>,
    ) -> Result<Tensor> {
        ops::full(shape, value, dtype)
    }
    /// `start, start + step, ..` before `stop`: [`ops::arange`], with its errors.
    ///
    /// ```
    /// use flex::{DType, Tensor};
    /// assert_eq!(Tensor::arange(1, 8, 3, None)?.to_vec::<i64>()?, [1, 4, 7]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("range"))]
    pub fn arange(
        start: impl Into<Scalar>,
        stop: impl Into<Scalar>,
        step: impl Into<Scalar>,
        dtype: impl Into<Option<DType>>,
    ) -> Result<Tensor> {
        ops::arange(start, stop, step, dtype)
    }
    /// A matrix of zeros with ones on diagonal `k`: [`ops::eye`], with its errors.
    ///
    /// ```
    /// use flex::{DType, Tensor};
    /// assert_eq!(Tensor::eye(2, 2, 0, DType::I32)?.to_vec::<i32>()?, [1, 0, 0, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias = "identity")]
    pub fn eye(rows: usize, columns: usize, k: i64, dtype: DType) -> Result<Tensor> {
        ops::eye(rows, columns, k, dtype)
    }
    /// Zeros (or false) in the shape and dtype of this tensor. Errors if there is no memory for
    /// them.
    ///
    /// ```
    /// let x = flex::Tensor::from([[1u8, 2]]);
    /// assert_eq!(x.zeros_like()?, flex::Tensor::from([[0u8, 0]]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn zeros_like(&self) -> Result<Tensor> {
        Tensor::zeros(self.shape(), self.dtype())
    }
    /// Ones (or true) in the shape and dtype of this tensor. Errors like [`ops::ones`].
    ///
    /// ```
    /// let x = flex::Tensor::from([[1u8, 2]]);
    /// assert_eq!(x.ones_like()?, flex::Tensor::from([[1u8, 1]]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn ones_like(&self) -> Result<Tensor> {
        ops::ones(self.shape(), self.dtype())
    }
}
