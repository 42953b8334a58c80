//! Tensors viewed as images: a batch, channels, and three spatial axes, with contiguous rows.

use super::spatial::three;
use crate::dtype::{DType, Pod};
use crate::error::{Error, Result};
use crate::exec::failure::try_ranges;
use crate::fallible;
use crate::kernel::conv::Three;
use crate::kernel::images::Images;
use crate::layout::Axes;
use crate::ops::ReductionAxes;
use crate::par::Cost;
use crate::storage::expect_room;
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::ops::Range;

/// A tensor viewed as images, and how to shape results to match.
pub(super) struct Planes {
    /// `[batch, channels, depth, height, width]`. Rows are contiguous: of one channel or, if
    /// channels are last in memory, of all of them.
    whole: Tensor,
    /// Whether channels are last in memory.
    last: bool,
    /// The number of spatial axes, and whether there is a batch.
    rank: usize,
    batched: bool,
}

impl Planes {
    /// Views `x`, `[batch, channels, ..]` or `[channels, ..]` with `rank` spatial axes. Elements
    /// are copied unless the width or the channels are contiguous.
    ///
    /// Errors if `x` has another rank, or a spatial axis without elements.
    pub fn new(op: &'static str, x: &Tensor, rank: usize) -> Result<Planes> {
        let bad = |message| Err(Error::shape_of(op, message, &[("x", x.shape(), x.dtype())]));
        if ![rank + 1, rank + 2].contains(&x.rank()) {
            return bad(message!(
                "x has {} dimensions, not {} ([channels, ..]) or {} ([batch, channels, ..])",
                x.rank(),
                rank + 1,
                rank + 2
            ));
        }
        let batched = x.rank() == rank + 2;
        if x.shape()[x.rank() - rank..].contains(&0) {
            return bad(message!("x has a spatial dimension of size 0"));
        }
        let mut whole = if batched {
            x.clone()
        } else {
            x.expand_dims(0)?
        };
        while whole.rank() < 5 {
            whole = whole.expand_dims(2)?;
        }
        let (n, s) = (whole.shape(), whole.strides());
        let channels_last = n[1] > 1 && s[1] == 1 && (n[4] == 1 || s[4] == n[1] as isize);
        let steady = n[4] == 1 || s[4] == 1;
        let last = channels_last && !(steady && n[4] > 1) && !whole.is_contiguous();
        if !last && !steady {
            whole = whole.contiguous()?;
        }
        Ok(Planes {
            whole,
            last,
            rank,
            batched,
        })
    }
    /// A reduction over the spatial axes, with one output for each plane.
    pub fn reduced(&self, reduce: fn(&Tensor, ReductionAxes) -> Result<Tensor>) -> Result<Tensor> {
        self.result(reduce(&self.whole, Axes::from([2, 3, 4]).keepdims())?)
    }
    /// The sizes of the spatial axes.
    pub fn sizes(&self) -> Three {
        three(&self.whole.shape()[2..], 3, 1)
    }
    /// An uninitialised five-dimensional tensor for results of these sizes, with the memory order
    /// of `x`; [`Planes::result`] gives it the caller's shape.
    pub fn empty(&self, output_size: Three, dtype: DType) -> Result<Tensor> {
        let [batch, channels] = [self.whole.shape()[0], self.whole.shape()[1]];
        let [depth, height, width] = output_size;
        if self.last {
            let y = Tensor::empty([batch, depth, height, width, channels], dtype)?;
            y.moveaxis(-1, 1)
        } else {
            Tensor::empty([batch, channels, depth, height, width], dtype)
        }
    }
    /// Errors unless there is memory for a result of these sizes, which [`Planes::empty`] is then
    /// given, and for `tables` bytes beside it. Returns whether it has elements: nothing need be
    /// computed otherwise.
    pub fn room(&self, output_size: Three, dtype: DType, tables: usize) -> Result<bool> {
        let y = self.empty(output_size, dtype)?;
        if !y.is_empty() {
            expect_room(tables)?;
        }
        Ok(!y.is_empty())
    }
    /// A tensor that [`Planes::empty`] made, in the shape of the result.
    pub fn result(&self, y: Tensor) -> Result<Tensor> {
        let mut y = y;
        for _ in self.rank..3 {
            y = y.squeeze(2)?;
        }
        if self.batched { Ok(y) } else { y.squeeze(0) }
    }
    /// The elements; `T` has their size.
    pub fn images<T: Pod>(&self) -> Result<Images<'_, T>> {
        assert!(size_of::<T>() == self.whole.dtype().size());
        // SAFETY: IMAGES1: elements of the tensor (TENSOR1, TENSOR2), initialised (STORAGE1); `new`
        // made rows contiguous; any bits are valid for a `Pod`.
        Ok(unsafe { self.view(&self.whole, self.whole.as_ptr() as *mut T) })
    }
    /// The elements of a tensor that [`Planes::empty`] made, mutably; `T` has their size.
    pub fn images_mut<'a, T: Pod>(&self, y: &'a mut Tensor) -> Result<Images<'a, T>> {
        assert!(size_of::<T>() == y.dtype().size());
        let first = y.as_mut_ptr()? as *mut T;
        // SAFETY: IMAGES1: elements of a tensor with storage of its own (STORAGE3), in this layout.
        Ok(unsafe { self.view(y, first) })
    }
    /// The strides of the slices and rows of a plane, in elements; none if one is negative, or an
    /// element lies 2^31 or more after the first.
    pub fn reach(&self) -> Option<[usize; 2]> {
        let (n, s) = (self.whole.shape(), self.whole.strides());
        let step = |k: usize| {
            if n[k] == 1 {
                Some(0)
            } else {
                usize::try_from(s[k]).ok()
            }
        };
        let (slice, row) = (step(2)?, step(3)?);
        let width = n[4].checked_mul(if self.last { n[1] } else { 1 })?;
        let rest = (n[2] - 1)
            .checked_mul(slice)?
            .checked_add((n[3] - 1).checked_mul(row)?)?;
        (rest.checked_add(width)? <= i32::MAX as usize).then_some([slice, row])
    }
    /// The number of images, and of planes in each.
    pub fn images_and_planes(&self) -> (usize, usize) {
        let n = self.whole.shape();
        (n[0], if self.last { 1 } else { n[1] })
    }
    /// # Safety
    /// IMAGES1, for a tensor in the layout of `whole` whose first element is at `first`.
    unsafe fn view<'a, T>(&self, t: &Tensor, first: *mut T) -> Images<'a, T> {
        let (n, s) = (t.shape(), t.strides());
        let (channels, inner) = if self.last { (1, n[1]) } else { (n[1], 1) };
        // SAFETY: the caller's promise.
        unsafe {
            Images::new(
                first,
                [n[0], channels],
                three(&n[2..], 3, 1),
                inner,
                [s[0], s[1], s[2], s[3]],
            )
        }
    }
}

/// The bytes of tables with so many for each output of an axis.
pub(super) fn table_bytes(output_size: Three, each: usize) -> usize {
    let bytes = output_size.map(|n| n.saturating_mul(each));
    bytes.into_iter().fold(0, usize::saturating_add)
}

/// Calls `f` with ranges of `rows` and scratch of `len` elements of `A`; `cost` is that of a row.
///
/// Errors if there is no memory for scratch, or its length overflowed (`None`).
pub(super) fn rows<A: Copy + Default>(
    rows: usize,
    len: Option<usize>,
    cost: Cost,
    f: impl Fn(Range<usize>, &mut [A]) -> Result<()> + Sync,
) -> Result<()> {
    let len = len.ok_or_else(|| Error::memory::<A>(usize::MAX))?;
    try_ranges(rows, 1, cost, |range| {
        let mut scratch: Vec<A> = fallible::filled(A::default(), len)?;
        f(range, &mut scratch)
    })
}
