//! Arithmetic: dequantised, computed in floats, and quantised again.

use super::qtensor::QTensor;
use super::quantize::in_blocks;
use super::scheme::Quantization;
use crate::error::{Error, Result};
use crate::kernel::quant::{Calibration, Levels};
use crate::layout::Shape;
use crate::tensor::Tensor;

const OP: &str = "map";

impl QTensor {
    /// `f` of the dequantised values, quantised like this tensor
    /// ([`requantize`](QTensor::requantize)).
    ///
    /// Errors of `f` and of [`requantize`](QTensor::requantize).
    ///
    /// ```
    /// use flex::{Tensor, ops, quant};
    /// let q = quant::quantize(&Tensor::from([1.0f32, -127.0]), ())?;
    /// let squares = q.map(|x| ops::multiply(x, x))?;
    /// assert_eq!(squares.values().to_vec::<i8>()?, [0, 127]);
    /// assert_eq!(squares.scales().to_vec::<f32>()?, [127.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn map(&self, f: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<QTensor> {
        self.requantize(&f(&self.dequantize()?)?)
    }
    /// Quantises `x` like this tensor: to the same levels, with zero points if this tensor has
    /// them, and scales of the same dtype, each from the minimum and maximum of the values that
    /// share it.
    ///
    /// Axes correspond from the last one on. A scale that spans an axis of this tensor spans that
    /// of `x`, blocks keep their size, and dimensions that `x` has in front are spanned.
    ///
    /// Errors if `x` is not a float tensor, if it has fewer dimensions and there are several
    /// scales, or if blocks don't divide an axis.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let q = quant::quantize(&Tensor::from([1.0f32, 127.0]), ())?;
    /// let like = q.requantize(&Tensor::from([2.0f32, -254.0, 4.0]))?;
    /// assert_eq!(like.values().to_vec::<i8>()?, [1, -127, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn requantize(&self, x: &Tensor) -> Result<QTensor> {
        if !x.dtype().is_float() {
            let message = message!("a result of {} can't be quantised: floats can", x.dtype());
            return Err(Error::dtype(OP, message));
        }
        let scales = self.scales_of(x.shape())?;
        let how = Quantization {
            levels: self.levels,
            affine: self.zeros.is_some() || self.levels == Levels::U8,
            scales: self.scales.dtype(),
            calibration: Calibration::MinMax,
            ..Default::default()
        };
        // the same axis, counted from the last
        let axis = self.packed.map(|p| p as isize - self.rank() as isize);
        let axis = axis.filter(|a| a.unsigned_abs() <= x.rank()).unwrap_or(-1);
        in_blocks(OP, x, &how, &scales, axis)
    }
    /// The shape of the scales of a tensor of this shape.
    fn scales_of(&self, shape: &[usize]) -> Result<Shape> {
        let fail = |what| {
            let message = message!(
                "a result of shape {shape:?} can't be quantised in blocks of {:?} of shape {:?}{what}: dequantize \
                 first",
                &self.block()[..],
                &self.shape[..]
            );
            Error::shape(OP, message)
        };
        let mut scales: Shape = shape.iter().map(|n| 1.min(*n)).collect();
        if self.scales.len() <= 1 && !self.is_empty() {
            return Ok(scales);
        }
        if shape.len() < self.rank() {
            return Err(fail(", which has more dimensions"));
        }
        let own = self.shape.iter().zip(self.scales.shape());
        let new = shape.len() - self.rank();
        for ((s, n), (own, parts)) in scales[new..].iter_mut().zip(&shape[new..]).zip(own) {
            *s = match own.checked_div(*parts) {
                _ if *parts <= 1 || *n == 0 => 1.min(*n),
                Some(block) if n.is_multiple_of(block) => n / block,
                _ => return Err(fail("")),
            };
        }
        Ok(scales)
    }
}
