//! Patches of images, read where they lie.

use super::geometry::{Geometry, Images, Three};
use super::patches::PatchRows;
use super::rows::{self, StridedColumns};
use crate::kernel::gemm::{MatElement, Packed, cost, moved};
use crate::simd::{self, Isa, Kernel};
use core::marker::PhantomData;
use core::ops::Range;

/// Images, and how a kernel moves over them. Elements are packed as `P`, which has the bits of their
/// accumulators: words that several neighbouring channels share are elements of images as well.
#[derive(Clone, Copy)]
pub struct ImageRows<'a, T, P> {
    images: Images<'a, T>,
    geometry: Geometry,
    _packed: PhantomData<fn(P)>,
}
impl<'a, T: MatElement, P: Packed> ImageRows<'a, T, P> {
    /// Panics unless `P` has the size of accumulators.
    pub fn new(images: impl Into<Images<'a, T>>, geometry: Geometry) -> Self {
        const { assert!(size_of::<P>() == size_of::<T::Acc>()) };
        ImageRows {
            images: images.into(),
            geometry,
            _packed: PhantomData,
        }
    }
}
impl<T: MatElement, P: Packed> PatchRows for ImageRows<'_, T, P> {
    type Packed = P;
    const COST: Option<usize> = Some(cost::PACK_PATCHES);
    fn taps(&self) -> usize {
        self.images.first().channels() * self.geometry.kernel_len()
    }
    fn positions(&self) -> usize {
        self.images.count() * self.geometry.len()
    }
    fn write(&self, taps: Range<usize>, positions: Range<usize>, width: usize, d: &mut [P]) {
        simd::call(WriteRows {
            images: self.images.moved(),
            geometry: &self.geometry,
            taps,
            positions,
            width,
            d: moved::<T>(as_accumulators(d)),
        })
    }
}
/// The same bits as another type of the same size. Panics if the alignment doesn't allow it.
fn as_accumulators<P: Packed, A: Packed>(d: &mut [P]) -> &mut [A] {
    // SAFETY: LANE1: elements for which any bits are a value.
    let (before, all, after) = unsafe { d.align_to_mut::<A>() };
    assert!(before.is_empty() && after.is_empty());
    all
}

/// A tap: a channel and a position in the kernel.
#[derive(Clone, Copy)]
pub(super) struct ChannelTap {
    pub channel: usize,
    pub at: Three,
}
impl ChannelTap {
    /// The tap with this number.
    pub fn new(mut step: usize, kernel: Three) -> ChannelTap {
        let x = step % kernel[2];
        step /= kernel[2];
        let y = step % kernel[1];
        step /= kernel[1];
        ChannelTap {
            channel: step / kernel[0],
            at: [step % kernel[0], y, x],
        }
    }
    /// Advances to the next tap, without a division.
    #[inline(always)]
    pub fn next(&mut self, kernel: Three) {
        for axis in [2, 1, 0] {
            self.at[axis] += 1;
            if self.at[axis] < kernel[axis] {
                return;
            }
            self.at[axis] = 0;
        }
        self.channel += 1;
    }
}

/// Adjacent positions along the width: the element that the first tap reads for the first of them,
/// which may not exist, and its distance in columns from that of the last.
struct PositionRun<T> {
    at: *const T,
    element: [isize; 3],
    span: isize,
    len: usize,
}

impl<T> PositionRun<T> {
    const NONE: Self = PositionRun {
        at: core::ptr::null(),
        element: [0; 3],
        span: 0,
        len: 0,
    };
}

/// Positions whose addresses are found once for all taps: those of a panel without AVX-512.
const FEW: usize = 16;

/// See [`PatchRows::write`].
struct WriteRows<'a, 'b, T: MatElement> {
    images: Images<'b, T>,
    geometry: &'a Geometry,
    taps: Range<usize>,
    positions: Range<usize>,
    width: usize,
    d: &'a mut [T::Acc],
}
impl<T: MatElement> Kernel for WriteRows<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        /// Runs that are found once for all taps.
        const RUNS: usize = 16;
        if let Some(sources) = self.sources() {
            // SAFETY: the addresses are those of `sources`.
            return unsafe { self.write_from(sources) };
        }
        let g = self.geometry;
        let image = self.images.first();
        let columns = (image.sizes(), image.stride(2), g.stride[2]);
        let (first, count) = (ChannelTap::new(self.taps.start, g.kernel), self.taps.len());
        let (mut position, mut done) = (self.positions.start, 0);
        while position < self.positions.end {
            let start = done;
            let (mut runs, mut found) = ([const { PositionRun::NONE }; RUNS], 0);
            while position < self.positions.end && found < RUNS {
                let run = self.run_from(position, self.positions.end - position);
                position += run.len;
                done += run.len;
                runs[found] = run;
                found += 1;
            }
            // zeros past the last position
            let end = if position == self.positions.end {
                self.width
            } else {
                done
            };
            let mut tap = first;
            for row in self.d.chunks_mut(self.width.max(1)).take(count) {
                let mut row = &mut row[start..end];
                let by = [
                    (tap.at[0] * g.dilation[0]) as isize,
                    (tap.at[1] * g.dilation[1]) as isize,
                    (tap.at[2] * g.dilation[2]) as isize,
                ];
                let ahead = image.ahead(tap.channel, by);
                for run in &runs[..found] {
                    let (part, rest) = row.split_at_mut(run.len);
                    row = rest;
                    write_run::<I, T>(columns, by, ahead, run, part);
                }
                rows::clear(row);
                tap.next(g.kernel);
            }
        }
    }
}
impl<T: MatElement> WriteRows<'_, '_, T> {
    /// What the first tap reads for each position, if there are at most [`FEW`], and all taps read
    /// elements of the image for all of them.
    #[inline(always)]
    fn sources(&self) -> Option<[*const T; FEW]> {
        let small = simd::MICROCONTROLLER || cfg!(target_family = "wasm");
        if small || !T::SAME || self.positions.len() > FEW {
            return None;
        }
        let (g, image) = (self.geometry, self.images.first());
        let (mut sources, mut done) = ([core::ptr::null(); FEW], 0);
        while done < self.positions.len() {
            let run = self.run_from(self.positions.start + done, self.positions.len() - done);
            let inside = |axis: usize| {
                let reach = ((g.kernel[axis] - 1) * g.dilation[axis]) as isize;
                let span = if axis == 2 { run.span } else { 0 };
                let end = run.element[axis] + span + reach;
                run.element[axis] >= 0 && end < image.sizes()[axis] as isize
            };
            if !(0..3).all(inside) {
                return None;
            }
            let step = g.stride[2] as isize * image.stride(2);
            for (j, at) in sources[done..][..run.len].iter_mut().enumerate() {
                *at = run.at.wrapping_offset(j as isize * step);
            }
            done += run.len;
        }
        Some(sources)
    }
    /// Writes what all taps read, each as far from these addresses for all positions: short runs take
    /// longer to find than to copy.
    ///
    /// # Safety
    /// The addresses are those of [`sources`](WriteRows::sources).
    #[inline(always)]
    unsafe fn write_from(self, sources: [*const T; FEW]) {
        let (g, image, count) = (self.geometry, self.images.first(), self.positions.len());
        let adjacent = (1..count).all(|j| sources[j] == sources[0].wrapping_add(j));
        let mut tap = ChannelTap::new(self.taps.start, g.kernel);
        let rows = self.d.chunks_mut(self.width.max(1));
        for row in rows.take(self.taps.len()) {
            let by = [0, 1, 2].map(|axis| (tap.at[axis] * g.dilation[axis]) as isize);
            let ahead = image.ahead(tap.channel, by);
            // SAFETY: IMAGE1: an element that the tap reads, inside the image.
            let read = |j: usize| unsafe { *sources[j].wrapping_offset(ahead) }.widen();
            let (row, rest) = row.split_at_mut(count);
            match <&mut [T::Acc; FEW]>::try_from(&mut *row) {
                Ok(row) if adjacent => {
                    let from = sources[0].wrapping_offset(ahead) as *const [T::Acc; FEW];
                    // SAFETY: IMAGE1, as above, of adjacent elements, which are their accumulators
                    // (ELEMENT1, SAME).
                    *row = unsafe { *from };
                }
                Ok(row) => (0..FEW).for_each(|j| row[j] = read(j)),
                Err(_) => (0..count).for_each(|j| row[j] = read(j)),
            }
            rows::clear(rest);
            tap.next(g.kernel);
        }
    }
    /// Positions from one on: at most `most`, and no more than are adjacent along the width.
    fn run_from(&self, position: usize, most: usize) -> PositionRun<T> {
        let (g, n) = (self.geometry, self.geometry.output_size);
        let (image, at) = (position / g.len(), position % g.len());
        let at = [at / (n[1] * n[2]), at / n[2] % n[1], at % n[2]];
        let len = (n[2] - at[2]).min(most);
        let element = [0, 1, 2].map(|axis| g.element(axis, at[axis], 0));
        let image = self.images.get(image);
        PositionRun {
            at: image.row(0, 0, 0).wrapping_offset(image.ahead(0, element)),
            element,
            span: ((len - 1) * g.stride[2]) as isize,
            len,
        }
    }
}
/// Writes what a tap reads for a run of positions `stride` columns apart, of images of these sizes
/// whose columns are `step` apart: elements `by` from those of the first tap, `ahead` in memory.
#[inline(always)]
fn write_run<I: Isa, T: MatElement>(
    ([depth, height, width], step, stride): (Three, isize, usize),
    by: [isize; 3],
    ahead: isize,
    run: &PositionRun<T>,
    d: &mut [T::Acc],
) {
    let (z, y) = (run.element[0] + by[0], run.element[1] + by[1]);
    if z as usize >= depth || y as usize >= height {
        return rows::clear(d);
    }
    let (x, from) = (run.element[2] + by[2], run.at.wrapping_offset(ahead));
    // SAFETY: IMAGE1: a row of one of the images; in this branch all positions read columns of it.
    unsafe {
        if x >= 0 && x + run.span < width as isize {
            return rows::run::<I, T>(from, step, stride, d);
        }
        let from = from.wrapping_offset(x.wrapping_neg().wrapping_mul(step));
        let (first, len) = (x, run.len);
        rows::load::<I, T>(from, step, width, StridedColumns { first, stride, len }, d)
    }
}
