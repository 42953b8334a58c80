//! Images as pools and resampling see them: rows of neighbours, and pixels in the type that is
//! computed in.

mod pixel;

pub use pixel::Pixel;

use super::conv::Three;
use core::marker::PhantomData;
use core::ops::Range;

/// Images in planes, whose rows lie in memory element by element: `sizes[2]` pixels of `inner`
/// elements. A plane is a channel with `inner` of 1, or all channels where they are last in memory.
///
/// Invariant IMAGES1: each row that [`Images::row`] finds has `sizes[2] * inner` initialised
/// elements, readable for `'a`; those of a result are written by one piece of work at a time, which
/// nothing else reads or writes meanwhile.
#[derive(Clone, Copy)]
pub struct Images<'a, T> {
    first: *mut T,
    /// Batch and channels.
    planes: [usize; 2],
    /// Depth, height, width.
    pub sizes: Three,
    /// Elements of a pixel.
    pub inner: usize,
    /// From a plane to the next by batch and channel, from a slice to the next, a row to the next.
    strides: [isize; 4],
    _data: PhantomData<&'a mut [T]>,
}
// SAFETY: elements that are read alone, or rows that one piece of work has to itself (IMAGES1).
unsafe impl<T: Send + Sync> Send for Images<'_, T> {}
// SAFETY: elements that are read alone, or rows that one piece of work has to itself (IMAGES1).
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
        // planes at equal distances are one list
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
    /// Planes.
    pub fn planes(&self) -> usize {
        self.planes[0] * self.planes[1]
    }
    /// Rows of all planes.
    pub fn rows(&self) -> usize {
        self.planes() * self.sizes[0] * self.sizes[1]
    }
    /// Elements of a row.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.sizes[2] * self.inner
    }
    /// The plane, slice and row of each of these rows by its number.
    #[inline(always)]
    pub fn places(&self, rows: Range<usize>) -> Places {
        let [depth, height, _] = self.sizes;
        // none has the number 0 where there is no row
        let (height, depth) = (height.max(1), depth.max(1));
        let row = rows.start;
        Places {
            next: [row / height / depth, row / height % depth, row % height],
            left: rows.len(),
            sizes: [depth, height],
        }
    }
    /// From a slice to the next, and a row to the next.
    #[inline(always)]
    pub fn steps(&self) -> [isize; 2] {
        [self.strides[2], self.strides[3]]
    }
    /// Where a row begins.
    #[inline(always)]
    pub fn row(&self, [plane, z, y]: Three) -> *mut T {
        let [_, channels] = self.planes;
        // a plane that is an image needs no division
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
    /// The row is this piece of work's (IMAGES1), which has no other slice of it.
    #[inline(always)]
    pub unsafe fn row_mut(&self, place: Three) -> &'a mut [T] {
        // SAFETY: IMAGES1, exclusive by the caller's promise.
        unsafe { core::slice::from_raw_parts_mut(self.row(place), self.width()) }
    }
    /// A row.
    ///
    /// # Safety
    /// The images are read alone.
    #[inline(always)]
    pub unsafe fn row_ref(&self, place: Three) -> &'a [T] {
        // SAFETY: IMAGES1.
        unsafe { core::slice::from_raw_parts(self.row(place), self.width()) }
    }
}

/// Rows one after the other, without a division for each.
pub struct Places {
    next: Three,
    left: usize,
    sizes: [usize; 2],
}
impl Iterator for Places {
    type Item = Three;
    #[inline(always)]
    fn next(&mut self) -> Option<Three> {
        self.left = self.left.checked_sub(1)?;
        let place = self.next;
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
        Some(place)
    }
}
