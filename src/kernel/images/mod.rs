//! Images as pooling and resampling see them: contiguous rows, and pixels converted to the type
//! that arithmetic is done in.
//!
//! In channels-last images the channels are elements of a pixel, so both layouts share one loop and
//! give the same bits. Pools and resampling are separable and compute a row of the result at a
//! time: rows of the image are combined element by element into a line in L1, then the line along
//! the width (`pool`), or both with the weights of a sparse matrix (`resample`). So no intermediate
//! image exists, and the horizontal pass, which does not vectorise by itself, has the fewest
//! elements; it gathers them by permutes (`simd/x86/lookup`).
//!
//! Pools keep the vertical pass a few rows ahead of the horizontal one, which would otherwise stall
//! on store forwarding. A pool whose window is the whole plane is a reduction over it, in memory
//! order as all reductions are.
//!
//! `grid_sample` computes the indices and weights of a run of points once, for one channel after
//! the other while its part of the image is in L1. Its gradient scatters to pixels with many
//! channels, a lane each, so that whole vectors are added and the sampling weights of a point serve
//! all channels. Nearest resampling and padding only move elements: by an index map per axis,
//! copying rows that repeat.

mod pixel;

pub use pixel::Pixel;

use super::conv::Three;
use core::marker::PhantomData;
use core::ops::Range;

/// Images in planes whose rows are contiguous: `sizes[2]` pixels of `inner` elements. A plane is a
/// channel with `inner` of 1, or all channels if they are the innermost dimension.
///
/// Invariant IMAGES1: each row that [`Images::row`] returns has `sizes[2] * inner` initialised
/// elements, readable for `'a`. A row of a result belongs to one unit of work at a time, and
/// nothing else accesses it meanwhile.
#[derive(Clone, Copy)]
pub struct Images<'a, T> {
    first: *mut T,
    /// The number of images and channels.
    planes: [usize; 2],
    /// Depth, height, width.
    pub sizes: Three,
    /// Elements of a pixel.
    pub inner: usize,
    /// Strides of batch, channel, slice and row.
    strides: [isize; 4],
    _data: PhantomData<&'a mut [T]>,
}
// SAFETY: elements are only read, or rows belong to one unit of work (IMAGES1).
unsafe impl<T: Send + Sync> Send for Images<'_, T> {}
// SAFETY: elements are only read, or rows belong to one unit of work (IMAGES1).
unsafe impl<T: Send + Sync> Sync for Images<'_, T> {}

impl<'a, T> Images<'a, T> {
    /// Images from the element `first` on, with strides in elements.
    ///
    /// # Safety
    /// IMAGES1.
    pub unsafe fn new(
        first: *mut T,
        planes: [usize; 2],
        sizes: Three,
        inner: usize,
        strides: [isize; 4],
    ) -> Self {
        // planes at a constant stride form a single list
        let [batch, channels] = planes;
        let steady = batch <= 1 || strides[0] == channels as isize * strides[1];
        let (planes, strides) = if steady && channels > 0 {
            (
                [batch * channels, 1],
                [strides[1], 0, strides[2], strides[3]],
            )
        } else {
            (planes, strides)
        };
        Images {
            first,
            planes,
            sizes,
            inner,
            strides,
            _data: PhantomData,
        }
    }
    /// The number of planes.
    pub fn planes(&self) -> usize {
        self.planes[0] * self.planes[1]
    }
    /// The number of rows of all planes.
    pub fn rows(&self) -> usize {
        self.planes() * self.sizes[0] * self.sizes[1]
    }
    /// Elements in a row.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.sizes[2] * self.inner
    }
    /// The plane, slice and row of each row number in the range.
    #[inline(always)]
    pub fn row_positions(&self, rows: Range<usize>) -> RowPositions {
        let [depth, height, _] = self.sizes;
        // avoids a division by zero where there are no rows
        let (height, depth) = (height.max(1), depth.max(1));
        let row = rows.start;
        RowPositions {
            next: [row / height / depth, row / height % depth, row % height],
            left: rows.len(),
            sizes: [depth, height],
        }
    }
    /// Strides of slices and rows.
    #[inline(always)]
    pub fn steps(&self) -> [isize; 2] {
        [self.strides[2], self.strides[3]]
    }
    /// The start of a row.
    #[inline(always)]
    pub fn row(&self, [plane, z, y]: Three) -> *mut T {
        let [_, channels] = self.planes;
        // with a single channel, no division
        let [image, channel] = if channels == 1 {
            [plane, 0]
        } else {
            [plane / channels, plane % channels]
        };
        let at = [image, channel, z, y];
        let offset = (0..4).fold(0, |sum, k| sum + at[k] as isize * self.strides[k]);
        self.first.wrapping_offset(offset)
    }
    /// A row of the result.
    ///
    /// # Safety
    /// The row belongs to this unit of work (IMAGES1), which has no other slice of it.
    #[inline(always)]
    pub unsafe fn row_mut(&self, position: Three) -> &'a mut [T] {
        // SAFETY: IMAGES1, exclusive by the caller's promise.
        unsafe { core::slice::from_raw_parts_mut(self.row(position), self.width()) }
    }
    /// A row.
    ///
    /// # Safety
    /// Nobody writes to the images.
    #[inline(always)]
    pub unsafe fn row_ref(&self, position: Three) -> &'a [T] {
        // SAFETY: IMAGES1.
        unsafe { core::slice::from_raw_parts(self.row(position), self.width()) }
    }
}

/// Consecutive rows, without a division for each.
pub struct RowPositions {
    next: Three,
    left: usize,
    sizes: [usize; 2],
}
impl Iterator for RowPositions {
    type Item = Three;
    #[inline(always)]
    fn next(&mut self) -> Option<Three> {
        self.left = self.left.checked_sub(1)?;
        let position = self.next;
        let [plane, z, y] = &mut self.next;
        *y += 1;
        if *y == self.sizes[1] {
            *y = 0;
            *z += 1;
            if *z == self.sizes[0] {
                *z = 0;
                *plane += 1;
            }
        }
        Some(position)
    }
}
