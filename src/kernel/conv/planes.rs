//! Transposes planes of channels to pixels of lanes, and back.

use crate::kernel::gemm::{Epilogue, Mat, MatElement, MatMut, Packed, finish_into};
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;

/// Channels computed together: the lanes of the longest vector.
pub const LANES: usize = 16;

/// Pixels transposed at a time.
const BLOCK: usize = 16;
const _: () = assert!(BLOCK == LANES);

/// Channels as lanes.
///
/// Invariant CHANNELS1: the lanes are `count` channels of a result from `first` on, at least one;
/// `each` consecutive channels of the result come from one row of `planes`.
#[derive(Clone, Copy)]
pub struct ChannelLanes<'a, T> {
    planes: Mat<'a, T>,
    first: usize,
    each: usize,
    count: usize,
}
impl<'a, T: MatElement> ChannelLanes<'a, T> {
    /// A range of channels of a result, of which `each` consecutive ones come from one plane.
    /// Panics if there are no such planes, or more channels than lanes.
    pub fn new(planes: Mat<'a, T>, channels: Range<usize>, each: usize) -> Self {
        assert!((1..=LANES).contains(&channels.len()));
        assert!((channels.end - 1) / each < planes.rows());
        ChannelLanes {
            planes,
            first: channels.start,
            each,
            count: channels.len(),
        }
    }
    /// The plane of a lane; past the last lane, that of the last.
    #[inline(always)]
    fn plane(&self, lane: usize) -> *const T {
        let row = (self.first + lane.min(self.count - 1)) / self.each;
        (self.planes.as_ptr()).wrapping_offset(row as isize * self.planes.rs())
    }
    /// Reads up to [`BLOCK`] pixels, from pixel `first` on.
    ///
    /// # Safety
    /// CHANNELS1; the planes have these pixels.
    #[inline(always)]
    unsafe fn pixels<I: Isa>(&self, first: usize, len: usize, d: &mut [[T::Acc; LANES]; BLOCK]) {
        let (step, whole) = (self.planes.cs(), self.each == 1 && self.count == LANES);
        if whole && self.planes.rs() == 1 {
            let from = self.plane(0).wrapping_offset(first as isize * step);
            for (p, d) in d[..len].iter_mut().enumerate() {
                let pixel = from.wrapping_offset(p as isize * step) as *const [T; LANES];
                // SAFETY: CHANNELS1: the channels of a pixel, which are contiguous.
                T::widen_all::<I>(unsafe { &*pixel }, d);
            }
            return;
        }
        if len < BLOCK || step != 1 {
            for l in 0..LANES {
                let plane = self.plane(l).wrapping_offset(first as isize * step);
                for (p, d) in d[..len].iter_mut().enumerate() {
                    // SAFETY: CHANNELS1: a pixel of a plane.
                    d[l] = unsafe { *plane.offset(p as isize * step) }.widen();
                }
            }
            return;
        }
        if const { T::SAME } && whole {
            let from = self.plane(0).wrapping_add(first) as *const T::Acc;
            // SAFETY: CHANNELS1, MAT1: 16 pixels of 16 planes, whose elements are their
            // accumulators (ELEMENT1).
            return unsafe {
                transpose::<I, T::Acc>(from, self.planes.rs(), d.as_mut_ptr().cast(), 16)
            };
        }
        let mut s = [[T::Acc::default(); BLOCK]; LANES];
        for (l, s) in s.iter_mut().enumerate() {
            // SAFETY: CHANNELS1: 16 pixels of a plane.
            let plane = unsafe { &*(self.plane(l).wrapping_add(first) as *const [T; BLOCK]) };
            T::widen_all::<I>(plane, s);
        }
        // SAFETY: BLOCK1: two arrays of this size.
        unsafe { transpose::<I, T::Acc>(s.as_ptr().cast(), 16, d.as_mut_ptr().cast(), 16) }
    }
}

/// Transposes a block of 16 by 16 elements, whose lines are `step` elements apart, to one of lines
/// `to_step` apart.
///
/// # Safety
/// BLOCK1 for the 256 elements.
#[inline(always)]
#[allow(
    clippy::extra_unused_type_parameters,
    reason = "only some builds have forms for instruction sets"
)]
unsafe fn transpose<I: Isa, F: Packed>(from: *const F, step: isize, to: *mut F, to_step: isize) {
    #[cfg(x86_dispatch)]
    if const { size_of::<F>() == 4 && I::AVX2 } {
        // SAFETY: BLOCK1, and ISA1.
        return unsafe {
            crate::simd::x86::transpose::transpose_16::<I>(
                from.cast(),
                4 * step,
                to.cast(),
                4 * to_step,
            )
        };
    }
    // by squares that LLVM turns into shuffles
    const SIDE: usize = 4;
    let sides = (0..BLOCK as isize).step_by(SIDE);
    for (i, j) in (sides.clone()).flat_map(|i| sides.clone().map(move |j| (i, j))) {
        let mut s = [[F::default(); SIDE]; SIDE];
        for (k, s) in s.iter_mut().enumerate() {
            // SAFETY: BLOCK1: a part of a line.
            *s = unsafe { *(from.offset((i + k as isize) * step + j) as *const [F; SIDE]) };
        }
        for k in 0..SIDE {
            let to = to.wrapping_offset((j + k as isize) * to_step + i);
            // SAFETY: BLOCK1: a part of a line of the transposed block.
            unsafe { *(to as *mut [F; SIDE]) = s.map(|s| s[k]) };
        }
    }
}

/// Reads a window of planes of `size` rows and columns, `d[row][column][lane]`, with zeros outside
/// the planes.
pub struct LoadPlanes<'a, T: MatElement> {
    pub lanes: ChannelLanes<'a, T>,
    pub size: [usize; 2],
    pub rows: Range<isize>,
    pub cols: Range<isize>,
    pub d: &'a mut [T::Acc],
}
impl<T: MatElement> Kernel for LoadPlanes<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let d = self.d.as_chunks_mut::<LANES>().0;
        (self.lanes).window::<I>(self.size, self.rows, self.cols, d);
    }
}
/// Reads a range of pixels, as many as `d` has room for.
pub struct ReadPlanes<'a, T: MatElement> {
    pub lanes: ChannelLanes<'a, T>,
    pub pixels: Range<usize>,
    pub d: &'a mut [[T::Acc; LANES]],
}
impl<T: MatElement> Kernel for ReadPlanes<'_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        self.lanes.rows::<I>(self.pixels, core::iter::once(self.d));
    }
}
impl<T: MatElement> ChannelLanes<'_, T> {
    /// [`LoadPlanes`], as a part of another kernel.
    #[inline(always)]
    pub fn window<I: Isa>(
        &self,
        [height, width]: [usize; 2],
        rows: Range<isize>,
        cols: Range<isize>,
        d: &mut [[T::Acc; LANES]],
    ) {
        let line = (cols.end - cols.start) as usize;
        let inside = |of: &Range<isize>, size: usize| {
            let end = of.end.clamp(0, size as isize) as usize;
            (of.start.clamp(0, size as isize) as usize).min(end)..end
        };
        let (there, columns) = (inside(&rows, height), inside(&cols, width));
        let left = (columns.start as isize - cols.start) as usize;
        let none = [T::Acc::default(); LANES];
        for (row, d) in rows.clone().zip(d.chunks_exact_mut(line.max(1))) {
            if (row as usize) < height && !columns.is_empty() {
                d[..left].fill(none);
                d[left + columns.len()..].fill(none);
            } else {
                d.fill(none);
            }
        }
        if there.is_empty() || columns.is_empty() {
            return;
        }
        let first = (there.start as isize - rows.start) as usize * line;
        let d = d[first..].chunks_mut(line).take(there.len());
        let mut d = d.map(|d| &mut d[left..left + columns.len()]);
        // whole rows are one range of pixels
        let (ranges, rows) = match columns.len() == width {
            true => (1, there.len()),
            false => (there.len(), 1),
        };
        for range in 0..ranges {
            let first = (there.start + range * rows) * width + columns.start;
            let end = first + (rows - 1) * width + columns.len();
            self.rows::<I>(first..end, d.by_ref().take(rows));
        }
    }
    /// Reads a range of pixels into consecutive rows.
    #[inline(always)]
    fn rows<'d, I: Isa>(
        &self,
        some: Range<usize>,
        rows: impl Iterator<Item = &'d mut [[T::Acc; LANES]]>,
    ) {
        assert!(some.end <= self.planes.cols());
        // a block of pixels, of which those from `next` on are not yet copied
        let mut block = [[T::Acc::default(); LANES]; BLOCK];
        let (mut next, mut at) = (BLOCK, some.start);
        for mut row in rows {
            while !row.is_empty() {
                if next == BLOCK {
                    let len = (some.end - at).min(BLOCK);
                    // a whole block that ends at the last pixel, if there are enough
                    let back = BLOCK - len;
                    next = if back <= at - some.start { back } else { 0 };
                    // SAFETY: CHANNELS1: pixels of the planes, by the assertion.
                    unsafe { self.pixels::<I>(at - next, len + next, &mut block) };
                    at += len;
                }
                let len = row.len().min(BLOCK - next);
                let (d, rest) = row.split_at_mut(len);
                for (d, s) in d.iter_mut().zip(&block[next..]) {
                    *d = *s;
                }
                (row, next) = (rest, next + len);
            }
        }
    }
}

/// Transposes lanes of pixels to rows of planes, `d[lane][pixel]`, `ld` apart.
pub struct Store<'a, F> {
    pub pixels: &'a [F],
    /// Contract STORE1: a row for each lane, of as many elements as there are pixels, `ld` apart,
    /// writable by this call alone.
    pub d: *mut F,
    pub ld: isize,
}
impl<F: Packed> Kernel for Store<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let pixels = self.pixels.as_chunks::<LANES>().0;
        let mut done = 0;
        while done + BLOCK <= pixels.len() {
            let from = pixels[done..].as_ptr().cast();
            // SAFETY: BLOCK1, STORE1: 16 pixels of each row.
            unsafe { transpose::<I, F>(from, LANES as isize, self.d.add(done), self.ld) };
            done += BLOCK;
            // the last block overlaps
            if done < pixels.len() && done + BLOCK > pixels.len() {
                done = pixels.len() - BLOCK;
            }
        }
        for (p, pixel) in pixels.iter().enumerate().skip(done) {
            for (l, x) in pixel.iter().enumerate() {
                // SAFETY: STORE1.
                unsafe { *self.d.offset(l as isize * self.ld).add(p) = *x };
            }
        }
    }
}

/// Stores the sums of positions of some channels, `sums[position][lane]`, after an epilogue: `c`
/// has a row for each channel, of all positions. `planar` is scratch of at least as many elements.
///
/// # Safety
/// Nobody else uses those positions of those rows of `c` meanwhile.
pub unsafe fn store<T: MatElement>(
    sums: &[T::Acc],
    planar: &mut [T::Acc],
    channels: Range<usize>,
    positions: Range<usize>,
    c: &MatMut<T>,
    epilogue: Epilogue<T>,
) {
    assert!(sums.len() == positions.len() * LANES);
    // SAFETY: by the caller's promise.
    let mut d = unsafe { c.part(channels.clone(), positions.clone()) };
    let epilogue = epilogue.at(channels.start, positions.start);
    if T::SAME && epilogue.is_empty() && channels.len() == LANES {
        // elements have the bits of their sums (ELEMENT1)
        let (d, ld) = (d.as_mut_ptr() as *mut T::Acc, d.rs());
        return simd::call(Store {
            pixels: sums,
            d,
            ld,
        });
    }
    let planar = &mut planar[..sums.len()];
    simd::call(Store {
        pixels: sums,
        d: planar.as_mut_ptr(),
        ld: positions.len() as isize,
    });
    finish_into(epilogue, planar, positions.len(), &mut d);
}
