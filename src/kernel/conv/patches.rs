//! Patches of an image as a source of the matrix engine (implicit GEMM).

use super::geometry::{Geometry, Image, Three};
use super::lines::LineRange;
use super::rows::{self, StridedColumns};
use crate::kernel::gemm::{BlockA, MatElement, Source, cost, moved, panel_width};
use crate::simd::{self, Isa, Kernel};
use core::ops::Range;
use smallvec::SmallVec;

/// Patches of an image as the right operand of a product: a line per position, a step per tap.
#[derive(Clone, Copy)]
pub struct Patches<'a, T> {
    image: Image<'a, T>,
    geometry: Geometry,
    /// The positions.
    lines: LineRange,
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

impl<'a, T> Patches<'a, T> {
    /// All patches of an image.
    pub fn new(image: Image<'a, T>, geometry: Geometry) -> Self {
        Patches {
            image,
            geometry,
            lines: LineRange::all(geometry.len()),
        }
    }
    /// The position of a line.
    fn position(&self, line: usize) -> Three {
        let n = self.geometry.output_size;
        let line = self.lines.number(line);
        [line / (n[1] * n[2]), line / n[2] % n[1], line % n[2]]
    }
}

/// Adjacent positions along the width: the element that the first tap reads for the first of them,
/// which may not exist, and its distance in columns from that of the last.
struct PlaceRun<T> {
    at: *const T,
    element: [isize; 3],
    span: isize,
    len: usize,
}

/// Packs a range of steps and lines into panels; `d` has their size. `width` is the width of the
/// next panel for so many lines, which depends on the type that is multiplied.
struct PackPatches<'a, 'b, T: MatElement> {
    patches: &'a Patches<'b, T>,
    steps: Range<usize>,
    lines: Range<usize>,
    width: fn(usize) -> usize,
    d: &'a mut [T::Acc],
}
impl<T: MatElement> Kernel for PackPatches<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let PackPatches {
            patches,
            steps,
            lines,
            width,
            mut d,
        } = self;
        let g = &patches.geometry;
        let first = ChannelTap::new(steps.start, g.kernel);
        let mut line = lines.start;
        while line < lines.end {
            let width = width(lines.end - line);
            let columns = width.min(lines.end - line);
            // the panel's positions, in runs along the width
            let mut runs: SmallVec<[PlaceRun<T>; 8]> = SmallVec::new();
            let mut at = 0;
            while at < columns {
                let run = patches.run(line + at, columns - at);
                at += run.len;
                runs.push(run);
            }
            let (panel, rest) = d.split_at_mut(width * steps.len());
            d = rest;
            let mut tap = first;
            for row in panel.chunks_exact_mut(width) {
                let mut row = row;
                let by = [0, 1, 2].map(|axis| (tap.at[axis] * g.dilation[axis]) as isize);
                let ahead = patches.image.ahead(tap.channel, by);
                for run in &runs {
                    let (part, rest) = row.split_at_mut(run.len);
                    row = rest;
                    patches.row::<I>(by, ahead, run, part);
                }
                rows::clear(row);
                tap.next(g.kernel);
            }
            line += columns;
        }
    }
}
impl<T: MatElement> Patches<'_, T> {
    /// Positions from a line on: at most `most`, and no more than are adjacent along the width.
    fn run(&self, line: usize, most: usize) -> PlaceRun<T> {
        let (g, position) = (&self.geometry, self.position(line));
        let len = (g.output_size[2] - position[2]).min(most);
        let element = [0, 1, 2].map(|axis| g.element(axis, position[axis], 0));
        PlaceRun {
            at: self
                .image
                .row(0, 0, 0)
                .wrapping_offset(self.image.ahead(0, element)),
            element,
            span: ((len - 1) * g.stride[2]) as isize,
            len,
        }
    }
    /// Writes what a tap reads for a run of positions: elements `by` from those of the first tap,
    /// `ahead` in memory.
    #[inline(always)]
    fn row<I: Isa>(&self, by: [isize; 3], ahead: isize, run: &PlaceRun<T>, d: &mut [T::Acc]) {
        let (image, stride) = (&self.image, self.geometry.stride[2]);
        let [depth, height, width] = image.sizes();
        let [z, y, x] = [0, 1, 2].map(|axis| run.element[axis] + by[axis]);
        if z as usize >= depth || y as usize >= height {
            return rows::clear(d);
        }
        let from = run.at.wrapping_offset(ahead);
        let step = image.stride(2);
        // SAFETY: IMAGE1: a row of the image; in this branch all positions read columns of it.
        unsafe {
            if x >= 0 && x + run.span < width as isize {
                return rows::run::<I, T>(from, step, stride, d);
            }
            let from = from.wrapping_offset(x.wrapping_neg().wrapping_mul(step));
            let (first, len) = (x, run.len);
            rows::load::<I, T>(from, step, width, StridedColumns { first, stride, len }, d)
        }
    }
}

// SAFETY: SOURCE1: nothing is read in place, and blocks lie in `d`.
unsafe impl<T: MatElement> Source for Patches<'_, T> {
    type Packed = T::Acc;
    fn pack_cost(&self) -> Option<usize> {
        Some(cost::PACK_PATCHES)
    }
    fn lines(&self) -> usize {
        self.lines.count()
    }
    fn steps(&self) -> usize {
        self.image.channels() * self.geometry.kernel_len()
    }
    fn slice(self, lines: Range<usize>) -> Self {
        Patches {
            lines: self.lines.slice(lines),
            ..self
        }
    }
    fn pack_panels(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [T::Acc]) {
        let patches = &Patches {
            image: self.image.moved(),
            geometry: self.geometry,
            lines: self.lines,
        };
        simd::call(PackPatches {
            patches,
            steps,
            lines,
            width: panel_width::<T::Acc>,
            d: moved::<T>(d),
        })
    }
    fn pack_block(
        &self,
        steps: Range<usize>,
        lines: Range<usize>,
        d: &mut [T::Acc],
    ) -> BlockA<T::Acc> {
        let (depth, g, image) = (steps.len(), &self.geometry, &self.image);
        for (line, d) in lines.zip(d.chunks_exact_mut(depth.max(1))) {
            let position = self.position(line);
            let mut tap = ChannelTap::new(steps.start, g.kernel);
            for d in d {
                let [z, y, x] = [0, 1, 2].map(|axis| g.element(axis, position[axis], tap.at[axis]));
                *d = match image.row_inside(tap.channel, z, y) {
                    // SAFETY: IMAGE1: a column of one of the image's rows.
                    Some(row) if (x as usize) < image.sizes()[2] => unsafe {
                        (*row.offset(x * image.stride(2))).widen()
                    },
                    _ => T::Acc::default(),
                };
                tap.next(g.kernel);
            }
        }
        BlockA {
            at: d.as_ptr(),
            strides: Some((depth as isize, 1)),
        }
    }
}
