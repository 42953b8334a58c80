//! Views of quantised tensors: values and scales move together, and nothing is copied.
//!
//! A quantised tensor is three tensors and a rule: values, scales and zero points of one rank,
//! where each size of the scales divides the tensor's. Per tensor, per channel and per block are
//! then one case.
//!
//! A view applies to all three at once, and is an error where it would split a block or values that
//! share a byte (two of int4, four of int2, decoded by one body in `kernel/quant/decode`).
//!
//! What needs runs of equal scales (`groups`) splits axes into blocks and their elements, and moves
//! the axes along which scales vary to the front, which copies nothing for the usual layouts.
//! Kernels see runs, scales and zero points. Arithmetic has no kernels: it dequantises, computes
//! and quantises again, with channels and blocks along the same axes, counted from the last
//! (`arithmetic`).

use super::qtensor::QTensor;
use crate::error::{Error, Result};
use crate::layout::{self, Axes, Int, IntoShape, Ints, Layout, Shape};
use crate::tensor::{Tensor, resolve_shape};
use smallvec::SmallVec;

impl QTensor {
    /// Permutes the dimensions: dimension `k` of the result is dimension `axes[k]`; `()` reverses
    /// all. Errors if an axis is missing, repeated or out of range.
    ///
    /// ```
    /// use flex::{DType, Tensor, quant};
    /// let q = quant::quantize(&Tensor::zeros([2, 3, 4], DType::F32)?, ())?;
    /// assert_eq!(q.permute([2, 0, 1])?.shape(), [4, 2, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn permute(&self, axes: impl Into<Axes>) -> Result<QTensor> {
        let axes: SmallVec<[isize; 6]> = match axes.into().named() {
            Some(axes) => axes.into(),
            None => (0..self.rank() as isize).rev().collect(),
        };
        let values = self.values.permute(&axes)?;
        let order = layout::unique_axes("permute", &axes, self.rank())?;
        self.moved(
            values,
            |t| t.permute(&axes),
            order.iter().map(|a| self.shape[*a]).collect(),
            |p| order.iter().position(|a| *a == p),
        )
    }
    /// Swaps two dimensions.
    /// Errors if one is out of range.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let x = Tensor::from([[1.0f32, 2.0], [3.0, 127.0]]);
    /// let q = quant::quantize(&x, ())?;
    /// assert_eq!(q.transpose(0, 1)?.dequantize()?.to_vec::<f32>()?, [1.0, 3.0, 2.0, 127.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn transpose(&self, a: impl Int, b: impl Int) -> Result<QTensor> {
        let (first, second) = (
            layout::axis("transpose", a.wide(), self.rank())?,
            layout::axis("transpose", b.wide(), self.rank())?,
        );
        let mut axes: SmallVec<[isize; 6]> = (0..self.rank() as isize).collect();
        axes.swap(first, second);
        self.permute(&axes)
    }
    /// Reverses dimensions, all for `()`. Errors if an axis is out of range, repeated, or packed
    /// several values to a byte.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let x = Tensor::from([[1.0f32, 2.0], [3.0, 127.0]]);
    /// let q = quant::quantize(&x, ())?;
    /// assert_eq!(q.flip(0)?.dequantize()?.to_vec::<f32>()?, [3.0, 127.0, 1.0, 2.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn flip(&self, axes: impl Into<Axes>) -> Result<QTensor> {
        const OP: &str = "flip";
        let axes = axes.into().resolve(OP, self.rank())?;
        if let Some(p) = self.packed.filter(|p| axes.contains(p)) {
            return Err(self.in_pairs(OP, p));
        }
        let axes: SmallVec<[isize; 6]> = axes.iter().map(|a| *a as isize).collect();
        // blocks divide their axis, so reversing the axis reverses the blocks
        self.moved(
            self.values.flip(&axes)?,
            |t| t.flip(&axes),
            self.shape.clone(),
            Some,
        )
    }
    /// Elements `start, start + step, ..` before `stop` of a dimension, like a Python slice. Errors
    /// if that would split a block, or the values of a byte (`start` inside a byte, or a step).
    ///
    /// ```
    /// use flex::{Tensor, quant::{self, Per, Quantization}};
    /// let x = Tensor::from([1.0f32, 2.0, 30.0, 40.0]);
    /// let blocks = Quantization { per: Per::Block { axis: 0, size: 2 }, ..Default::default() };
    /// let q = quant::quantize(&x, blocks)?;
    /// assert_eq!(q.slice_axis(0, Some(2), None, 1)?.scales().to_vec::<f32>()?, [40.0 / 127.0]);
    /// assert!(q.slice_axis(0, Some(1), None, 1).is_err());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn slice_axis(
        &self,
        axis: impl Int,
        start: Option<i64>,
        stop: Option<i64>,
        step: i64,
    ) -> Result<QTensor> {
        let axis = axis.wide();
        let k = layout::axis("slice", axis, self.rank())?;
        if step == 0 {
            return Err(Error::value("slice", "step is 0"));
        }
        let (first, count) = layout::slice_bounds(start, stop, step, self.shape[k]);
        self.sliced("slice", k, first, step as isize, count)
    }
    /// Selects index `index` of a dimension and removes the dimension. Errors like
    /// [`slice_axis`](QTensor::slice_axis), and if the index is out of range.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let x = Tensor::from([[1.0f32, 2.0], [3.0, 127.0]]);
    /// let q = quant::quantize(&x, ())?;
    /// assert_eq!(q.select(0, -1)?.dequantize()?.to_vec::<f32>()?, [3.0, 127.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn select(&self, axis: impl Int, index: i64) -> Result<QTensor> {
        const OP: &str = "select";
        let axis = axis.wide();
        let axis = layout::axis(OP, axis, self.rank())?;
        let size = self.shape[axis];
        let at = if index < 0 {
            index + size as i64
        } else {
            index
        };
        if !(0..size as i64).contains(&at) {
            return Err(Error::Index {
                op: OP,
                index,
                axis,
                size,
            });
        }
        if self.packed == Some(axis) {
            return Err(self.in_pairs(OP, axis));
        }
        self.sliced(OP, axis, at as usize, 1, 1)?
            .squeeze(axis as isize)
    }
    /// Broadcasts dimensions of size 1 and adds new ones in front. Errors if sizes don't match, or
    /// the dimension is packed several values to a byte.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let x = Tensor::from([[1.0f32, 2.0], [3.0, 127.0]]);
    /// let q = quant::quantize(&x, ())?;
    /// assert_eq!(q.broadcast_to((3, 2, 2))?.shape(), [3, 2, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn broadcast_to(&self, shape: impl IntoShape) -> Result<QTensor> {
        const OP: &str = "broadcast_to";
        let shape = shape.into_shape();
        let shape = Shape::from_slice(shape.as_ref());
        let new = shape.len().wrapping_sub(self.rank());
        Layout::contiguous(&self.shape)?.broadcast_to(OP, &shape)?;
        let packed = self.packed.map(|p| p + new);
        let mut bytes = shape.clone();
        if let (Some(to), Some(from)) = (packed, self.packed) {
            if shape[to] != self.shape[from] {
                return Err(self.in_pairs(OP, from));
            }
            bytes[to] = self.values.shape()[from];
        }
        let scales: Shape = (0..shape.len())
            .map(|a| {
                a.checked_sub(new)
                    .map_or(1, |from| self.scales.shape()[from])
            })
            .collect();
        let values = self.values.broadcast_to(&bytes)?;
        self.moved(
            values,
            |t| t.broadcast_to(&scales),
            shape,
            |p| Some(p + new),
        )
    }
    /// Inserts dimensions of size 1, at these positions of the result. Errors if a position is out
    /// of range or repeated.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let x = Tensor::from([[1.0f32, 2.0], [3.0, 127.0]]);
    /// let q = quant::quantize(&x, ())?;
    /// assert_eq!(q.expand_dims([0, -1])?.shape(), [1, 2, 2, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn expand_dims(&self, axes: impl Into<Axes>) -> Result<QTensor> {
        const OP: &str = "expand_dims";
        let axes = axes.into();
        let mut axes = layout::unique_axes(
            OP,
            axes.named().unwrap_or(&[]),
            self.rank() + axes.named().map_or(0, <[isize]>::len),
        )?;
        axes.sort_unstable();
        let mut shape = self.shape.clone();
        axes.iter().for_each(|a| shape.insert(*a, 1));
        let insert = |t: &Tensor| {
            axes.iter()
                .try_fold(t.clone(), |t, a| t.expand_dims(*a as isize))
        };
        let after = |p| axes.iter().fold(p, |p, a| p + (p >= *a) as usize);
        self.moved(insert(&self.values)?, insert, shape, |p| Some(after(p)))
    }
    /// Removes dimensions of size 1, all for `()`. Errors if one has another size, or is packed
    /// several values to a byte.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let x = Tensor::from([[1.0f32, 2.0], [3.0, 127.0]]);
    /// let q = quant::quantize(&x, ())?;
    /// assert_eq!(q.expand_dims(0)?.squeeze(())?.shape(), [2, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn squeeze(&self, axes: impl Into<Axes>) -> Result<QTensor> {
        const OP: &str = "squeeze";
        let mut axes = match axes.into().named() {
            Some(axes) => layout::unique_axes(OP, axes, self.rank())?,
            None => (0..self.rank()).filter(|a| self.shape[*a] == 1).collect(),
        };
        axes.sort_unstable();
        if let Some(p) = self.packed.filter(|p| axes.contains(p)) {
            return Err(self.in_pairs(OP, p));
        }
        let remove = |t: &Tensor| {
            let axes: SmallVec<[isize; 6]> = axes.iter().map(|a| *a as isize).collect();
            t.squeeze(&axes)
        };
        let values = remove(&self.values)?;
        let kept = |a: &usize| !axes.contains(a);
        let shape = (0..self.rank()).filter(kept).map(|a| self.shape[a]);
        self.moved(values, remove, shape.collect(), |p| {
            Some((0..p).filter(kept).count())
        })
    }
    /// The elements in row-major order in another shape, of which one size may be -1. A view if
    /// strides allow it, else a copy.
    ///
    /// Errors if the number of elements differs, or if the elements of a block, or of a byte, would
    /// no longer be neighbours along one axis.
    ///
    /// ```
    /// use flex::{Tensor, quant};
    /// let x = Tensor::from([[1.0f32, 2.0], [3.0, 127.0]]);
    /// let q = quant::quantize(&x, ())?;
    /// assert_eq!(q.reshape(-1)?.dequantize()?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 127.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn reshape(&self, shape: impl Into<Ints>) -> Result<QTensor> {
        const OP: &str = "reshape";
        let own = Layout::contiguous(&self.shape)?;
        let shape = resolve_shape(OP, shape.into().values(), &own)?;
        if self.is_empty() {
            let none: Shape = shape.iter().map(|n| 1.min(*n)).collect();
            let none = |t: &Tensor| Tensor::zeros(&none, t.dtype());
            let unpacked = self.unpacked()?;
            let values = unpacked.values.reshape(&shape)?;
            return unpacked.moved(values, none, shape, Some);
        }
        let apart = || {
            let message = message!(
                "blocks of {:?} in shape {:?} would be split by shape {:?}: dequantize first",
                &self.block()[..],
                &self.shape[..],
                &shape[..]
            );
            Error::shape(OP, message)
        };
        let (mut scales, mut bytes, mut packed) = (Shape::new(), shape.clone(), None);
        let (mut i, mut j) = (0, 0);
        while i < self.rank() || j < shape.len() {
            // the smallest groups of axes of both with equal products
            let (from, to) = (i, j);
            let (mut old, mut new) = (1, 1);
            loop {
                if old <= new && i < self.rank() && (old < new || i == from || self.shape[i] == 1) {
                    old *= self.shape[i];
                    i += 1;
                } else if j < shape.len() && (new < old || j == to || shape[j] == 1) {
                    new *= shape[j];
                    j += 1;
                } else {
                    break;
                }
            }
            let run = self.run(from..i).ok_or_else(apart)?;
            scales.extend(cut(run, &shape[to..j]).ok_or_else(apart)?);
            if let Some(p) = self.packed.filter(|p| (from..i).contains(p)) {
                // an axis of size 1 stays one; any other goes to the last axis of the group
                let alone = self.shape[p] == 1;
                let at = (to..j).rev().find(|a| (shape[*a] == 1) == alone);
                let at = at.ok_or_else(|| self.in_pairs(OP, p))?;
                let per = self.levels.per_byte();
                let whole = self.shape[p].is_multiple_of(per) && shape[at].is_multiple_of(per);
                let last = self.shape[p + 1..i].iter().all(|n| *n == 1);
                if !(alone || last && (whole || shape[at] == self.shape[p])) {
                    return Err(self.in_pairs(OP, p));
                }
                bytes[at] = shape[at].div_ceil(per);
                packed = Some(at);
            }
        }
        let values = self.values.reshape(&bytes)?;
        self.moved(values, |t| t.reshape(&scales), shape, |_| packed)
    }

    /// The number of elements, in row-major order, that share a scale among some adjacent axes;
    /// `None` if these are not contiguous runs.
    fn run(&self, axes: core::ops::Range<usize>) -> Option<usize> {
        let mut run = 1;
        let mut whole = true;
        for a in axes.rev() {
            let (n, s) = (self.shape[a], self.scales.shape()[a]);
            if whole {
                run *= n / s;
                whole = s == 1;
            } else if s != n {
                return None;
            }
        }
        Some(run)
    }
    /// `count` elements of an axis from `first` on, `step` apart.
    fn sliced(
        &self,
        op: &'static str,
        axis: usize,
        first: usize,
        step: isize,
        count: usize,
    ) -> Result<QTensor> {
        let (n, s) = (self.shape[axis], self.scales.shape()[axis]);
        let block = n.checked_div(s).unwrap_or(1).max(1);
        let mut shape = self.shape.clone();
        shape[axis] = count;
        let values = if self.packed == Some(axis) {
            let per = self.levels.per_byte();
            if step != 1 || !first.is_multiple_of(per) {
                return Err(self.in_pairs(op, axis));
            }
            self.values.view(
                self.values
                    .layout()
                    .slice(axis, first / per, 1, count.div_ceil(per)),
            )
        } else {
            self.values
                .view(self.values.layout().slice(axis, first, step, count))
        };
        let last = (first as isize + step.wrapping_mul(count as isize - 1)) as usize;
        let (start, scale_step, scales) = if s <= 1 {
            (0, 1, s)
        } else if block == 1 {
            (first, step, count)
        } else if count == 0 {
            (0, 1, 0)
        } else if first / block == last / block {
            (first / block, 1, 1)
        } else {
            let starts = if step > 0 {
                first.is_multiple_of(block)
            } else {
                first % block == block - 1
            };
            if step.unsigned_abs() != 1 || !starts || !count.is_multiple_of(block) {
                let message = message!(
                    "{count} elements from {first} with step {step} of axis {axis} would split its blocks of {block}: dequantize first"
                );
                return Err(Error::value(op, message));
            }
            (first / block, step, count / block)
        };
        let layout = |t: &Tensor| Ok(t.view(t.layout().slice(axis, start, scale_step, scales)));
        self.moved(values, layout, shape, Some)
    }
    /// A tensor of these values and this shape, with scales and zero points mapped by `f` and the
    /// new packed axis.
    pub(super) fn moved(
        &self,
        values: Tensor,
        f: impl Fn(&Tensor) -> Result<Tensor>,
        shape: Shape,
        packed: impl FnOnce(usize) -> Option<usize>,
    ) -> Result<QTensor> {
        Ok(QTensor {
            values,
            scales: f(&self.scales)?,
            zeros: self.zeros.as_ref().map(f).transpose()?,
            levels: self.levels,
            shape,
            packed: self.packed.and_then(packed),
        })
    }
    /// The error of an operation that would separate the values of a byte.
    fn in_pairs(&self, op: &'static str, axis: usize) -> Error {
        Error::value(
            op,
            message!(
                "{} values of axis {axis} share a byte, in this order: dequantize first, or move other axes",
                self.levels.per_byte()
            ),
        )
    }
}

/// The shape of the scales for axes of these sizes, if runs of `run` elements share a scale.
fn cut(mut run: usize, sizes: &[usize]) -> Option<Shape> {
    let mut scales: Shape = sizes.into();
    for (s, n) in scales.iter_mut().zip(sizes).rev() {
        if run.is_multiple_of(*n) {
            (*s, run) = (1, run / n);
        } else if n.is_multiple_of(run) {
            (*s, run) = (n / run, 1);
        } else {
            return None;
        }
    }
    (run == 1).then_some(scales)
}
