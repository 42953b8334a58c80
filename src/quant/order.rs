//! Operations that need only the order of elements, which is that of the integers if all share a
//! scale; equality, and concatenation.

use super::qtensor::{self, QTensor};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::quant::Levels;
use crate::layout::{self, Int, Shape};
use crate::ops::{self, ReductionAxes, Sort, TopK};
use crate::tensor::Tensor;
use core::borrow::Borrow;

impl QTensor {
    /// Whether all elements share a positive scale that makes none of them infinite, so that they
    /// are ordered like their integers. Errors for scales of a dtype that this build lacks.
    ///
    /// ```
    /// use flex::{Tensor, quant::{self, Per, Quantization}};
    /// let x = Tensor::from([[1.0f32], [2.0]]);
    /// assert!(quant::quantize(&x, ())?.shares_scale()?);
    /// let by_row = Quantization { per: Per::Channel(0), ..Default::default() };
    /// assert!(!quant::quantize(&x, by_row)?.shares_scale()?);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn shares_scale(&self) -> Result<bool> {
        if self.is_empty() || self.scales.len() != 1 {
            return Ok(self.is_empty());
        }
        let scale = self.scales.astype(DType::F32)?.reshape(1)?.item::<f32>()?;
        Ok(scale > 0.0 && scale <= f32::MAX / 256.0)
    }
    /// The index (int64) of the first largest element, like [`ops::argmax`] and with its errors.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let q = quant::quantize(&Tensor::from([1.0f32, 7.0, -9.0]), ())?;
    /// assert_eq!((q.argmax(0)?.item::<i64>()?, q.argmin(0)?.item::<i64>()?), (1, 2));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn argmax(&self, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        ops::argmax(&self.ordered()?, over)
    }
    /// The index (int64) of the first smallest element, like [`ops::argmin`] and with its errors.
    ///
    /// Example: [`argmax`](QTensor::argmax).
    pub fn argmin(&self, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        ops::argmin(&self.ordered()?, over)
    }
    /// The largest elements, like [`ops::max`], quantised like this tensor; a single int4 or int2
    /// value takes a whole byte. Errors if elements have several scales.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let q = quant::quantize(&Tensor::from([1.0f32, 7.0, -127.0]), ())?;
    /// let [max, min] = [q.max(0)?, q.min(0)?].map(|x| x.dequantize().and_then(|x| x.item::<f32>()));
    /// assert_eq!((max?, min?), (7.0, -127.0));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn max(&self, over: impl Into<ReductionAxes>) -> Result<QTensor> {
        self.of_values(ops::max(&self.integers("max")?, over)?)
    }
    /// The smallest elements; otherwise like [`max`](QTensor::max).
    ///
    /// Example: [`max`](QTensor::max).
    pub fn min(&self, over: impl Into<ReductionAxes>) -> Result<QTensor> {
        self.of_values(ops::min(&self.integers("min")?, over)?)
    }
    /// The elements sorted along an axis, like [`ops::sort()`]. Errors if elements have several
    /// scales.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let q = quant::quantize(&Tensor::from([127.0f32, -1.0, 5.0]), ())?;
    /// assert_eq!(q.sort(0)?.values().to_vec::<i8>()?, [-1, 5, 127]);
    /// assert_eq!(q.argsort(0)?.to_vec::<i64>()?, [1, 2, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn sort(&self, how: impl Into<Sort>) -> Result<QTensor> {
        self.of_values(ops::sort(&self.integers("sort")?, how)?)
    }
    /// The indices (int64) that sort along an axis, like [`ops::argsort`] and with its errors.
    ///
    /// Example: [`sort`](QTensor::sort).
    pub fn argsort(&self, how: impl Into<Sort>) -> Result<Tensor> {
        ops::argsort(&self.ordered()?, how)
    }
    /// The `k` largest or smallest elements along an axis and their indices, like [`ops::topk`].
    /// Errors if elements have several scales.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let q = quant::quantize(&Tensor::from([127.0f32, -1.0, 5.0]), ())?;
    /// let (values, indices) = q.topk(2, 0)?;
    /// assert_eq!(values.values().to_vec::<i8>()?, [127, 5]);
    /// assert_eq!(indices.to_vec::<i64>()?, [0, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn topk(&self, k: usize, how: impl Into<TopK>) -> Result<(QTensor, Tensor)> {
        let (values, indices) = ops::topk(&self.integers("topk")?, k, how)?;
        Ok((self.of_values(values)?, indices))
    }
    /// The elements at some indices of an axis, like [`ops::take`]. `indices` has one dimension.
    /// Errors if there are blocks along the axis.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let table = quant::quantize(&Tensor::from([[1.0f32, 2.0], [127.0, 4.0]]), ())?;
    /// let rows = table.take(&Tensor::from([1i64, 1]), 0)?;
    /// assert_eq!(rows.dequantize()?.to_vec::<f32>()?, [127.0, 4.0, 127.0, 4.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn take(&self, indices: &Tensor, axis: impl Int) -> Result<QTensor> {
        const OP: &str = "take";
        let axis = axis.wide();
        let at = layout::axis(OP, axis, self.rank())?;
        let (n, s) = (self.shape[at], self.scales.shape()[at]);
        if s != 1 && s != n {
            let message = message!("axis {at} has blocks of {}: dequantize first", n / s.max(1));
            return Err(Error::value(OP, message));
        }
        if indices.rank() != 1 {
            let message = "indices must have one dimension";
            return Err(Error::shape_of(
                OP,
                message,
                &[("indices", indices.shape(), indices.dtype())],
            ));
        }
        let from = if self.packed == Some(at) {
            self.unpacked()?
        } else {
            self.clone()
        };
        let values = ops::take(&from.values, indices, axis)?;
        let mut shape = self.shape.clone();
        shape[at] = values.shape()[at];
        let whole = s == 1;
        let steps = |t: &Tensor| {
            if whole {
                Ok(t.clone())
            } else {
                ops::take(t, indices, axis)
            }
        };
        let taken = from.moved(values, steps, shape, Some)?;
        match self.packed == Some(at) {
            true => self.packed_again(taken),
            false => Ok(taken),
        }
    }
    /// The elements at positions along an axis, for each line of it those of the same line of
    /// `indices`, like [`ops::take_along_axis`]. Errors if elements of a line have several scales.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let q = quant::quantize(&Tensor::from([1.0f32, 7.0, -9.0]), ())?;
    /// let sorted = q.take_along_axis(&q.argsort(0)?, 0)?;
    /// assert!(sorted.equal(&q.sort(0)?)?);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn take_along_axis(&self, indices: &Tensor, axis: impl Int) -> Result<QTensor> {
        const OP: &str = "take_along_axis";
        let axis = axis.wide();
        let at = layout::axis(OP, axis, self.rank())?;
        let parts = self.scales.shape()[at];
        if parts > 1 {
            let message =
                message!("elements along axis {at} have {parts} scales: dequantize first");
            return Err(Error::value(OP, message));
        }
        let from = self.unpacked()?;
        let values = ops::take_along_axis(&from.values, indices, axis)?;
        let shape = Shape::from_slice(values.shape());
        self.packed_again(from.moved(values, |t| Ok(t.clone()), shape, Some)?)
    }
    /// Whether both have the same shape and represent the same values. Errors if there is no
    /// memory to dequantise them.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let q = quant::quantize(&Tensor::from([1.0f32, 2.0]), ())?;
    /// assert!(q.equal(&q.copy()?)? && !q.equal(&q.flip(0)?)?);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn equal(&self, other: &QTensor) -> Result<bool> {
        Ok(self.shape == other.shape
            && ops::all(&ops::equal(&self.dequantize()?, &other.dequantize()?)?, ())?
                .item::<bool>()?)
    }

    /// A tensor whose elements are ordered like this tensor's.
    fn ordered(&self) -> Result<Tensor> {
        match self.shares_scale()? {
            true => Ok(self.unpacked()?.values),
            false => self.dequantize(),
        }
    }
    /// The integers, one per byte. Errors if they have several scales.
    fn integers(&self, op: &'static str) -> Result<Tensor> {
        if !self.shares_scale()? {
            let message = message!(
                "elements have {} scales (or one that is not positive), so their order is not that of the integers: dequantize first",
                self.scales.len()
            );
            return Err(Error::value(op, message));
        }
        Ok(self.unpacked()?.values)
    }
    /// Other integers of the single scale, packed along the last axis if these are packed; a single
    /// one takes a whole byte.
    fn of_values(&self, values: Tensor) -> Result<QTensor> {
        let one: Shape = values.shape().iter().map(|n| 1.min(*n)).collect();
        let step = |t: &Tensor| match one.contains(&0) && !t.is_empty() {
            true => t.reshape(1)?.broadcast_to(&one),
            false => t.reshape(&one),
        };
        let (scales, zeros) = (
            step(&self.scales)?,
            self.zeros.as_ref().map(step).transpose()?,
        );
        let levels = match self.levels {
            levels if levels.is_packed() && values.rank() == 0 => Levels::I8,
            levels => levels,
        };
        qtensor::packed(values, scales, zeros, levels, -1)
    }
    /// Packs integers, one per byte, along the axis that this tensor is packed along.
    fn packed_again(&self, q: QTensor) -> Result<QTensor> {
        match self.packed {
            None => Ok(q),
            Some(axis) => qtensor::packed(q.values, q.scales, q.zeros, self.levels, axis as isize),
        }
    }
}

/// Concatenates quantised tensors along an axis. They must have the same levels and, apart from
/// that axis, the same shape and blocks.
///
/// Scales that vary along the axis are concatenated, which needs blocks of equal size; a scale that
/// spans the axis must be the same in all of them. Errors otherwise.
///
/// ```
/// use flex::{Tensor, quant::{self, Per, Quantization}};
/// let per_row = Quantization { per: Per::Channel(0), ..Default::default() };
/// let q = quant::quantize(&Tensor::from([[1.0f32, 2.0]]), per_row)?;
/// assert_eq!(quant::concat(&[&q, &q], 0)?.shape(), [2, 2]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn concat<T: Borrow<QTensor>>(tensors: &[T], axis: impl Int) -> Result<QTensor> {
    const OP: &str = "quant.concat";
    let axis = axis.wide();
    let Some(first) = tensors.first().map(T::borrow) else {
        return Err(Error::value(OP, "no tensors to join"));
    };
    let at = layout::axis(OP, axis, first.rank())?;
    let parts = || tensors.iter().map(T::borrow).enumerate();
    if let Some((_, other)) = parts().find(|(_, q)| q.rank() != first.rank()) {
        let message = message!(
            "shapes {:?} and {:?} have different ranks",
            &first.shape[..],
            &other.shape[..]
        );
        return Err(Error::shape(OP, message));
    }
    // what is empty along the axis has no scales to join, and need only be of the same integers and
    // sizes
    let none = parts().all(|(_, q)| q.shape[at] == 0);
    let counts = |q: &QTensor| none || q.shape[at] != 0;
    let (base, first) = parts().find(|(_, q)| counts(q)).unwrap_or((0, first));
    let joined = parts().map(|(_, q)| q).filter(|q| counts(q));
    let joined = crate::fallible::collect(joined.map(Ok::<_, Error>))?;
    let block = first.block();
    let mut shape = first.shape.clone();
    shape[at] = 0;
    // an axis of size 1 may be a single channel or be spanned: with different scales it is a
    // channel
    let single = joined.iter().all(|q| q.shape[at] == 1);
    let same = same_steps(&joined)?;
    let whole = joined.iter().all(|q| q.scales.shape()[at] == 1) && (same || !single);
    for (i, q) in parts() {
        let of = q.block();
        let sizes = (0..q.rank()).all(|a| a == at || q.shape[a] == first.shape[a]);
        let steps = (0..q.rank()).all(|a| of[a] == block[a] || a == at && whole)
            && q.zeros.is_some() == first.zeros.is_some()
            && q.scales.dtype() == first.scales.dtype();
        if !sizes || q.levels != first.levels || counts(q) && !steps {
            let message = message!(
                "tensor {i} is {} of shape {:?} in blocks of {:?}, tensor {base} {} of {:?} in blocks of {:?}",
                q.levels.name(),
                &q.shape[..],
                &of[..],
                first.levels.name(),
                &first.shape[..],
                &block[..]
            );
            return Err(Error::shape(OP, message));
        }
        shape[at] += q.shape[at];
    }
    if whole && !same {
        return Err(Error::value(
            OP,
            message!("one scale spans axis {at} of each tensor, and they differ: dequantize first"),
        ));
    }
    let unpacked = crate::fallible::collect(joined.iter().map(|q| q.unpacked()))?;
    let join = |part: &dyn Fn(&QTensor) -> Option<Tensor>| {
        let parts = crate::fallible::collect(unpacked.iter().filter_map(part).map(Ok::<_, Error>))?;
        ops::concat(&parts, axis)
    };
    let values = join(&|q| Some(q.values.clone()))?;
    let (scales, zeros) = match whole {
        true => (first.scales.clone(), first.zeros.clone()),
        false => (
            join(&|q| Some(q.scales.clone()))?,
            first
                .zeros
                .as_ref()
                .map(|_| join(&|q| q.zeros.clone()))
                .transpose()?,
        ),
    };
    first.packed_again(QTensor {
        values,
        scales,
        zeros,
        levels: first.levels,
        shape,
        packed: None,
    })
}

/// Whether all have the same scales and zero points.
fn same_steps(tensors: &[&QTensor]) -> Result<bool> {
    let first = tensors[0];
    let same = |a: &Tensor, b: &Tensor| {
        let (a, b) = (a.astype(DType::F32)?, b.astype(DType::F32)?);
        Ok::<_, Error>(
            a.shape() == b.shape() && ops::all(&ops::equal(&a, &b)?, ())?.item::<bool>()?,
        )
    };
    for q in tensors {
        let zeros = match (&q.zeros, &first.zeros) {
            (Some(a), Some(b)) => same(a, b)?,
            (None, None) => true,
            _ => false,
        };
        if !zeros || !same(&q.scales, &first.scales)? {
            return Ok(false);
        }
    }
    Ok(true)
}
