//! Views: the same storage under another layout. Each is O(1), moves no element and works for any
//! dtype.

use super::Tensor;
use crate::error::{Error, Excerpt, Result};
use crate::fallible;
use crate::layout::{self, Axes, Int, IntoShape, Layout};
use alloc::vec::Vec;
use smallvec::SmallVec;

impl Tensor {
    /// Permutes the dimensions: dimension `k` of the result is dimension `axes[k]`; a view. Errors
    /// if an axis is missing, repeated or out of range.
    ///
    /// ```
    /// let x = flex::Tensor::zeros(&[2, 3, 4], flex::DType::F32)?;
    /// assert_eq!(x.permute([2, 0, 1])?.shape(), [4, 2, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("permuted_axes", "permute_dims"))]
    pub fn permute(&self, axes: impl Into<Axes>) -> Result<Tensor> {
        Ok(self.view(
            self.layout
                .permute("permute", &signed(&axes.into(), self.rank()))?,
        ))
    }
    /// Swaps two dimensions; a view. Errors if one is out of range.
    ///
    /// ```
    /// let x = flex::Tensor::zeros(&[2, 3], flex::DType::F32)?;
    /// assert_eq!(x.transpose(0, -1)?.shape(), [3, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("swap_dims", "swap_axes", "swapaxes"))]
    pub fn transpose(&self, a: impl Int, b: impl Int) -> Result<Tensor> {
        Ok(self.view(self.layout.swap_axes("transpose", a.wide(), b.wide())?))
    }
    /// Moves dimensions to other positions, keeping the order of the others; a view. Errors if the
    /// lists differ in length, or an axis is out of range or repeated.
    ///
    /// ```
    /// let x = flex::Tensor::zeros(&[2, 3, 4], flex::DType::F32)?;
    /// assert_eq!(x.moveaxis(0, -1)?.shape(), [3, 4, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn moveaxis(
        &self,
        source: impl Into<Axes>,
        destination: impl Into<Axes>,
    ) -> Result<Tensor> {
        let (source, destination) = (
            signed(&source.into(), self.rank()),
            signed(&destination.into(), self.rank()),
        );
        Ok(self.view(self.layout.move_axes("moveaxis", &source, &destination)?))
    }
    /// Elements `start, start + step, ..` before `stop` of a dimension, like a Python slice:
    /// negative bounds count from the end, bounds out of range are clamped, a negative step goes
    /// backwards; a view. Errors if `step` is 0, or there is no such dimension.
    ///
    /// ```
    /// let x = flex::Tensor::from_slice(&[0i32, 1, 2, 3, 4], [5])?;
    /// assert_eq!(x.slice_axis(0, None, None, -2)?.to_vec::<i32>()?, [4, 2, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn slice_axis(
        &self,
        axis: impl Int,
        start: Option<i64>,
        stop: Option<i64>,
        step: i64,
    ) -> Result<Tensor> {
        let axis = axis.wide();
        let k = layout::axis("slice", axis, self.rank())?;
        if step == 0 {
            return Err(Error::value("slice", "step is 0"));
        }
        let (first, count) = layout::slice_bounds(start, stop, step, self.shape()[k]);
        Ok(self.view(self.layout.slice(k, first, step as isize, count)))
    }
    /// `length` elements of a dimension from `start`; a view. Errors if there are fewer, or no such
    /// dimension.
    ///
    /// ```
    /// let x = flex::Tensor::from_slice(&[0i32, 1, 2, 3], [4])?;
    /// assert_eq!(x.narrow(0, 1, 2)?.to_vec::<i32>()?, [1, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("slice_dim"))]
    pub fn narrow(&self, axis: impl Int, start: usize, length: usize) -> Result<Tensor> {
        Ok(self.view(self.layout.narrow("narrow", axis.wide(), start, length)?))
    }
    /// Selects index `index` of a dimension, negative from the end, and removes the dimension; a
    /// view. Errors if the index or the axis is out of range.
    ///
    /// ```
    /// let x = flex::Tensor::from_slice(&[0i32, 1, 2, 3], [2, 2])?;
    /// assert_eq!(x.select(0, -1)?.to_vec::<i32>()?, [2, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("index_axis"))]
    pub fn select(&self, axis: impl Int, index: i64) -> Result<Tensor> {
        let axis = axis.wide();
        let k = layout::axis("select", axis, self.rank())?;
        Ok(self.view(self.layout.index("select", k, index)?))
    }
    /// Reverses dimensions, all for `()`; a view. Errors if an axis is out of range or repeated.
    ///
    /// ```
    /// let x = flex::Tensor::from_slice(&[0i32, 1, 2, 3], [2, 2])?;
    /// assert_eq!(x.flip(0)?.to_vec::<i32>()?, [2, 3, 0, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("invert_axis"))]
    pub fn flip(&self, axes: impl Into<Axes>) -> Result<Tensor> {
        Ok(self.view(
            self.layout
                .flip("flip", &signed(&axes.into(), self.rank()))?,
        ))
    }
    /// Broadcasts dimensions of size 1, and adds new ones in front; a view. Errors if another size
    /// differs, `shape` is shorter than the tensor's, or it has too many elements to count.
    ///
    /// ```
    /// let x = flex::Tensor::from_slice(&[1i32, 2], [2, 1])?;
    /// assert_eq!(x.broadcast_to((2, 3))?.to_vec::<i32>()?, [1, 1, 1, 2, 2, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("broadcast_as", "expand", "expand_as"))]
    #[inline]
    pub fn broadcast_to(&self, shape: impl IntoShape) -> Result<Tensor> {
        Ok(self.view(
            self.layout
                .broadcast_to("broadcast_to", shape.into_shape().as_ref())?,
        ))
    }
    /// Removes dimensions of size 1: those given, or all for `()`; a view. Errors if a size is not
    /// 1, or an axis is out of range or repeated.
    ///
    /// ```
    /// let x = flex::Tensor::zeros(&[1, 3, 1], flex::DType::F32)?;
    /// assert_eq!(x.squeeze(0)?.shape(), [3, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("squeeze_dim", "remove_axis"))]
    pub fn squeeze(&self, axes: impl Into<Axes>) -> Result<Tensor> {
        Ok(self.view(self.layout.squeeze("squeeze", axes.into().named())?))
    }
    /// Inserts dimensions of size 1 at these positions of the result; a view. Errors if one is out
    /// of range or repeated, and for `()`, which names no positions.
    ///
    /// ```
    /// let x = flex::Tensor::zeros(&[3], flex::DType::F32)?;
    /// assert_eq!(x.expand_dims([0, -1])?.shape(), [1, 3, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("unsqueeze", "insert_axis", "unsqueeze_dim"))]
    pub fn expand_dims(&self, axes: impl Into<Axes>) -> Result<Tensor> {
        let axes = axes.into();
        let positions = axes.named().ok_or_else(|| {
            Error::value(
                "expand_dims",
                "() gives no positions: pass those of the new dimensions",
            )
        })?;
        Ok(self.view(self.layout.expand_dims("expand_dims", positions)?))
    }
    /// Sliding windows of `size` elements along a dimension, `step` apart; the window is a new last
    /// dimension. A view, whose windows may overlap. Errors if there is no such dimension, `size`
    /// is 0 or larger than it, or `step` is 0.
    ///
    /// ```
    /// let x = flex::Tensor::from_slice(&[0i32, 1, 2, 3], [4])?;
    /// assert_eq!(x.unfold(0, 2, 1)?.to_vec::<i32>()?, [0, 1, 1, 2, 2, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("windows", "sliding_window_view"))]
    pub fn unfold(&self, axis: impl Int, size: usize, step: usize) -> Result<Tensor> {
        Ok(self.view(self.layout.unfold("unfold", axis.wide(), size, step)?))
    }
    /// One tensor for each index of a dimension, without that dimension; views. Errors if there is
    /// no such dimension.
    ///
    /// ```
    /// let x = flex::Tensor::from_slice(&[0i32, 1, 2, 3], [2, 2])?;
    /// assert_eq!(x.unstack(1)?[1].to_vec::<i32>()?, [1, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("unbind"))]
    pub fn unstack(&self, axis: impl Int) -> Result<Vec<Tensor>> {
        let axis = axis.wide();
        let k = layout::axis("unstack", axis, self.rank())?;
        let mut out = room(self.shape()[k])?;
        for i in 0..self.shape()[k] {
            out.push(self.view(self.layout.index("unstack", k, i as i64)?));
        }
        Ok(out)
    }
    /// Pieces of the given sizes along a dimension; views. Errors if they don't add up to its size,
    /// or there is no such dimension.
    ///
    /// ```
    /// let x = flex::Tensor::from_slice(&[0i32, 1, 2], [3])?;
    /// assert_eq!(x.split(&[1, 2], 0)?[1].to_vec::<i32>()?, [1, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn split(&self, sizes: &[usize], axis: impl Int) -> Result<Vec<Tensor>> {
        let axis = axis.wide();
        let k = layout::axis("split", axis, self.rank())?;
        let total = sizes.iter().try_fold(0usize, |n, s| n.checked_add(*s));
        if total != Some(self.shape()[k]) {
            return Err(Error::shape(
                "split",
                message!(
                    "sizes {} do not add up to {}, the size of axis {k}",
                    Excerpt(&sizes),
                    self.shape()[k]
                ),
            ));
        }
        let (mut out, mut start) = (room(sizes.len())?, 0);
        for n in sizes {
            out.push(self.view(self.layout.slice(k, start, 1, *n)));
            start += n;
        }
        Ok(out)
    }
    /// `chunks` pieces of equal size along a dimension. If its size isn't divisible, the last piece
    /// is smaller, or there are fewer pieces. Views. Errors if `chunks` is 0, or there is no such
    /// dimension.
    ///
    /// ```
    /// let x = flex::Tensor::zeros(&[5], flex::DType::F32)?;
    /// let sizes: Vec<usize> = x.chunk(2, 0)?.iter().map(|c| c.len()).collect();
    /// assert_eq!(sizes, [3, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("chunks"))]
    pub fn chunk(&self, chunks: usize, axis: impl Int) -> Result<Vec<Tensor>> {
        let axis = axis.wide();
        let k = layout::axis("chunk", axis, self.rank())?;
        if chunks == 0 {
            return Err(Error::value("chunk", "0 chunks; it must be at least 1"));
        }
        let size = self.shape()[k];
        let step = size.div_ceil(chunks).max(1);
        let starts = (0..size.max(1)).step_by(step);
        let mut out = room(starts.len())?;
        out.extend(starts.map(|s| self.view(self.layout.slice(k, s, 1, step.min(size - s)))));
        Ok(out)
    }
}

impl Tensor {
    /// Errors if there is no memory for the layout of one more view, for callers whose input
    /// decides how many views there are.
    #[cfg(feature = "bindings")]
    #[doc(hidden)]
    pub fn room_for_view() -> Result<()> {
        fallible::room::<(Layout, [usize; 2])>(1)
    }
}

/// The axes as given; `()` gives all in ascending order.
fn signed(axes: &Axes, rank: usize) -> SmallVec<[isize; 6]> {
    axes.named()
        .map_or_else(|| (0..rank as isize).collect(), SmallVec::from_slice)
}

/// A list with capacity for `count` views, which may be more than memory holds.
fn room(count: usize) -> Result<Vec<Tensor>> {
    let out = fallible::with_capacity(count)?;
    // the views' layouts are allocated one by one
    fallible::room::<(Layout, [usize; 3])>(count)?;
    Ok(out)
}
