//! What needs the order of the numbers alone, which is that of the integers where all share a scale;
//! equality, and tensors joined.

use super::qtensor::{self, QTensor};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::quant::Levels;
use crate::layout::{self, Shape};
use crate::ops::{self, Reduction, Sort, TopK};
use crate::tensor::Tensor;
use core::borrow::Borrow;

impl QTensor {
    /// Whether all elements share a scale, a positive one by which none becomes infinite, so that they are in
    /// the order of their integers.
    pub fn shares_scale(&self) -> Result<bool> {
        if self.is_empty() || self.scales.len() != 1 {
            return Ok(self.is_empty());
        }
        let scale = self.scales.astype(DType::F32)?.reshape(1)?.item::<f32>()?;
        Ok(scale > 0.0 && scale <= f32::MAX / 256.0)
    }
    /// Where the largest element is first: as [`ops::argmax`].
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let q = quant::quantize(&Tensor::from([1.0f32, 7.0, -9.0]), Default::default())?;
    /// assert_eq!((q.argmax(0)?.item::<i64>()?, q.argmin(0)?.item::<i64>()?), (1, 2));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn argmax(&self, over: impl Into<Reduction>) -> Result<Tensor> {
        ops::argmax(&self.ordered()?, over)
    }
    /// Where the smallest element is first: as [`ops::argmin`].
    pub fn argmin(&self, over: impl Into<Reduction>) -> Result<Tensor> {
        ops::argmin(&self.ordered()?, over)
    }
    /// The largest elements: as [`ops::max`], quantised as they are; a single one of int4 or int2 takes a byte. Errors where elements have several
    /// scales.
    pub fn max(&self, over: impl Into<Reduction>) -> Result<QTensor> {
        self.of_values(ops::max(&self.integers("max")?, over)?)
    }
    /// The smallest elements; otherwise as [`max`](QTensor::max).
    pub fn min(&self, over: impl Into<Reduction>) -> Result<QTensor> {
        self.of_values(ops::min(&self.integers("min")?, over)?)
    }
    /// In order along an axis: as [`ops::sort()`]. Errors where elements have several scales.
    pub fn sort(&self, how: impl Into<Sort>) -> Result<QTensor> {
        self.of_values(ops::sort(&self.integers("sort")?, how)?)
    }
    /// The `k` largest or smallest along an axis, and where they are: as [`ops::topk`]. Errors where elements
    /// have several scales.
    pub fn topk(&self, k: usize, how: impl Into<TopK>) -> Result<(QTensor, Tensor)> {
        let (values, indices) = ops::topk(&self.integers("topk")?, k, how)?;
        Ok((self.of_values(values)?, indices))
    }
    /// The elements at some indices of an axis: as [`ops::take`]. Indices are of one dimension. Errors where
    /// blocks lie along the axis.
    pub fn take(&self, indices: &Tensor, axis: isize) -> Result<QTensor> {
        const OP: &str = "take";
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
    /// Whether both have the same shape and stand for the same numbers.
    pub fn equal(&self, other: &QTensor) -> Result<bool> {
        Ok(self.shape == other.shape
            && ops::all(&ops::equal(&self.dequantize()?, &other.dequantize()?)?, ())?
                .item::<bool>()?)
    }

    /// A tensor of the elements' order.
    fn ordered(&self) -> Result<Tensor> {
        match self.shares_scale()? {
            true => Ok(self.unpacked()?.values),
            false => self.dequantize(),
        }
    }
    /// The integers, a byte each. Errors where they have several scales.
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
    /// Other integers of the one scale, which share bytes along the last axis where these do; a single one
    /// takes a byte.
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
    /// Integers of a byte each, together along the axis that this tensor's are.
    fn packed_again(&self, q: QTensor) -> Result<QTensor> {
        match self.packed {
            None => Ok(q),
            Some(axis) => qtensor::packed(q.values, q.scales, q.zeros, self.levels, axis as isize),
        }
    }
}

/// Quantised tensors joined along an axis: of the same integers and, but along it, the same shape and blocks.
///
/// Scales are joined where they vary along the axis, blocks of equal sizes too; where one scale spans the axis,
/// all must have the same. Errors where that is not so.
///
/// ```
/// use flex::{Tensor, quant::{self, Per, Quantization}};
/// let per_row = Quantization { per: Per::Channel(0), ..Default::default() };
/// let q = quant::quantize(&Tensor::from([[1.0f32, 2.0]]), per_row)?;
/// assert_eq!(quant::concat(&[&q, &q], 0)?.shape(), [2, 2]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn concat<T: Borrow<QTensor>>(tensors: &[T], axis: isize) -> Result<QTensor> {
    const OP: &str = "quant.concat";
    let Some(first) = tensors.first().map(T::borrow) else {
        return Err(Error::value(OP, "no tensors to join"));
    };
    let at = layout::axis(OP, axis, first.rank())?;
    if let Some(other) = tensors
        .iter()
        .map(T::borrow)
        .find(|q| q.rank() != first.rank())
    {
        let message = message!(
            "shapes {:?} and {:?} have different ranks",
            &first.shape[..],
            &other.shape[..]
        );
        return Err(Error::shape(OP, message));
    }
    let is_none = |q: &&QTensor| q.shape[at] == 0;
    let parts = || tensors.iter().map(T::borrow);
    if parts().any(|q| is_none(&q)) && !parts().all(|q| is_none(&q)) {
        let of = |q: &QTensor| {
            let mut shape = q.shape.clone();
            shape[at] = 0;
            (shape, q.levels)
        };
        let some = parts().find(|q| !is_none(q)).unwrap_or(first);
        if let Some(other) = parts().find(|q| of(q) != of(some)) {
            let message = message!(
                "{} of shape {:?} and {} of shape {:?} have other integers or sizes",
                other.levels.name(),
                &other.shape[..],
                some.levels.name(),
                &some.shape[..]
            );
            return Err(Error::shape(OP, message));
        }
        let some = parts().filter(|q| !is_none(q)).map(Ok::<_, Error>);
        return concat(&crate::fallible::collect(some)?, axis);
    }
    let block = first.block();
    let mut shape = first.shape.clone();
    shape[at] = 0;
    let spans = |q: &QTensor| q.scales.shape()[at] == 1;
    // an axis of size 1 may be a channel or a whole; of different scales it is a channel
    let single = tensors.iter().all(|q| q.borrow().shape[at] == 1);
    let same = same_steps(tensors)?;
    let whole = tensors.iter().all(|q| spans(q.borrow())) && (same || !single);
    for (i, q) in tensors.iter().map(T::borrow).enumerate() {
        let of = q.block();
        let fits = (0..q.rank())
            .all(|a| a == at || q.shape[a] == first.shape[a] && of[a] == block[a])
            && (whole || of[at] == block[at]);
        if !fits
            || q.levels != first.levels
            || q.zeros.is_some() != first.zeros.is_some()
            || q.scales.dtype() != first.scales.dtype()
        {
            let message = message!(
                "tensor {i} is {} of shape {:?} in blocks of {:?}, the first {} of {:?} in blocks of {:?}",
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
    let unpacked = crate::fallible::collect(tensors.iter().map(|q| q.borrow().unpacked()))?;
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

/// Whether all have the scales and zero points of the first.
fn same_steps<T: Borrow<QTensor>>(tensors: &[T]) -> Result<bool> {
    let first = tensors[0].borrow();
    let same = |a: &Tensor, b: &Tensor| {
        let (a, b) = (a.astype(DType::F32)?, b.astype(DType::F32)?);
        Ok::<_, Error>(
            a.shape() == b.shape() && ops::all(&ops::equal(&a, &b)?, ())?.item::<bool>()?,
        )
    };
    for q in tensors.iter().map(T::borrow) {
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
