//! Methods of [`Tensor`] that torch also has.

use crate::error::Result;
use crate::tensor::Tensor;

impl Tensor {
    /// `exp(x) / sum(exp(x))` along an axis, without overflow: the method of
    /// [`nn::softmax`](crate::nn::softmax), with its dtype and errors.
    ///
    /// ```
    /// let x = flex::Tensor::from([[0.0f32, 0.0], [1000.0, 1000.0]]);
    /// assert_eq!(x.softmax(-1)?.to_vec::<f32>()?, [0.5; 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn softmax(&self, axis: isize) -> Result<Tensor> {
        super::softmax(self, axis)
    }
    /// `x - log(sum(exp(x)))` along an axis, without overflow: the method of
    /// [`nn::log_softmax`](crate::nn::log_softmax), with its dtype and errors.
    ///
    /// ```
    /// let x = flex::Tensor::from([0.0f32, -1000.0]);
    /// assert_eq!(x.log_softmax(-1)?.to_vec::<f32>()?, [0.0, -1000.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn log_softmax(&self, axis: isize) -> Result<Tensor> {
        super::log_softmax(self, axis)
    }
}
