//! Polyphase decomposition of images: columns are sorted by their phase of the stride, for kernels
//! that read each element several times. Adjacent places then read adjacent numbers, and with zeros
//! around the image no tap needs a bounds check.

use super::geometry::{Geometry, Image};
use super::lines::{self, LineRange};
use super::rows::{self, StridedColumns};
use crate::error::Result;
use crate::fallible;
use crate::kernel::gemm::{BlockA, MatElement, Packed, Source, moved};
use crate::simd::{self, Isa, Kernel};
use alloc::vec::Vec;
use core::ops::Range;
use smallvec::SmallVec;

/// Numbers that packing copies at a time.
const BLOCK: usize = 16;

/// The layout of an image in scratch: `[channel][depth][row][phase][column]`, of all that places
/// read, with zeros outside the image. A phase has every `stride`th column.
pub struct Phases {
    geometry: Geometry,
    channels: usize,
    /// Depths and rows that places read.
    depths: usize,
    rows: usize,
    /// Numbers of a phase of a row, and phases that the kernel reads.
    columns: usize,
    phases: usize,
    /// For each position of the kernel, the index in a channel at which it reads the first place.
    taps: Vec<usize>,
}
impl Phases {
    /// The layout of images of `channels` channels; none if the kernel reads each element too few
    /// times for sorting to pay, or places read more than `most` numbers.
    ///
    /// Errors if there is no memory for the list of taps.
    pub fn new(geometry: Geometry, channels: usize, most: usize) -> Result<Option<Phases>> {
        /// Reads per element from which on sorting pays. 3x3 kernels with a stride of 2 read each
        /// about twice: gathering is faster.
        const OFTEN: usize = 8;
        let g = &geometry;
        let strides = g.stride.iter().fold(1, |a: usize, s| a.saturating_mul(*s));
        let seldom = g.positions() < strides.saturating_mul(OFTEN);
        if g.stride[2] == 1 || g.kernel[2] == 1 || seldom || g.is_empty() {
            return Ok(None);
        }
        // sizes of what is read: no larger than the padded image's
        let span = |axis: usize| (g.kernel[axis] - 1) * g.dilation[axis];
        let seen = |axis: usize| (g.places[axis] - 1) * g.stride[axis] + span(axis) + 1;
        let phases = g.stride[2].min(span(2) + 1);
        let columns = g.places[2] + span(2) / g.stride[2];
        let (depths, rows) = (seen(0), seen(1));
        let numbers = [channels, depths, rows, phases, columns];
        let numbers = numbers.iter().fold(1, |a: usize, n| a.saturating_mul(*n));
        if numbers > most {
            return Ok(None);
        }
        let mut taps = fallible::with_capacity(g.positions())?;
        for (z, y) in (0..g.kernel[0]).flat_map(|z| (0..g.kernel[1]).map(move |y| (z, y))) {
            let row = z * g.dilation[0] * rows + y * g.dilation[1];
            taps.extend((0..g.kernel[2]).map(|x| {
                let column = x * g.dilation[2];
                (row * phases + column % g.stride[2]) * columns + column / g.stride[2]
            }));
        }
        Ok(Some(Phases {
            geometry,
            channels,
            depths,
            rows,
            columns,
            phases,
            taps,
        }))
    }
    /// Numbers of a channel.
    fn channel(&self) -> usize {
        self.depths * self.rows * self.phases * self.columns
    }
    /// Numbers of an image, including those that packing reads past its last one.
    pub fn numbers(&self) -> usize {
        self.channels * self.channel() + BLOCK
    }
    /// The range of some channels among an image's numbers.
    pub fn channels(&self, some: Range<usize>) -> Range<usize> {
        some.start * self.channel()..some.end * self.channel()
    }
    /// Sorts channel `channel` of an image into `d`. Panics if there is no such channel, or `d` has
    /// another length.
    pub fn sort<T: MatElement>(&self, image: Image<T>, channel: usize, d: &mut [T::Acc]) {
        assert!(channel < image.channels() && d.len() == self.channel());
        simd::call(SortByPhase {
            phases: self,
            image: image.moved(),
            channel,
            d: moved::<T>(d),
        })
    }
    /// The index at which the first tap reads a place.
    fn place(&self, line: usize) -> usize {
        let (n, s) = (self.geometry.places, self.geometry.stride);
        let (z, y, x) = (line / (n[1] * n[2]), line / n[2] % n[1], line % n[2]);
        (z * s[0] * self.rows + y * s[1]) * self.phases * self.columns + x
    }
}

struct SortByPhase<'a, 'b, T: MatElement> {
    phases: &'a Phases,
    image: Image<'b, T>,
    channel: usize,
    d: &'a mut [T::Acc],
}
impl<T: MatElement> Kernel for SortByPhase<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (phases, image) = (self.phases, self.image);
        let g = &phases.geometry;
        let lines = self.d.chunks_exact_mut(phases.phases * phases.columns);
        for (row, line) in lines.enumerate() {
            let (z, y) = (row / phases.rows, row % phases.rows);
            let (z, y) = (z as isize - g.padding[0], y as isize - g.padding[1]);
            let Some(from) = image.seen(self.channel, z, y) else {
                rows::clear(line);
                continue;
            };
            for (phase, d) in line.chunks_exact_mut(phases.columns).enumerate() {
                let columns = StridedColumns {
                    first: phase as isize - g.padding[2],
                    stride: g.stride[2],
                    len: d.len(),
                };
                let (step, width) = (image.stride(2), image.sizes()[2]);
                // SAFETY: IMAGE1: a row of the image, of its width and stride.
                unsafe { rows::load::<I, T>(from, step, width, columns, d) };
            }
        }
    }
}

/// Patches of an image sorted by [`Phases`], as the right operand of a product: a line per place, a
/// step per tap.
#[derive(Clone, Copy)]
pub struct PhasePatches<'a, F> {
    phases: &'a Phases,
    /// The numbers of some channels, and [`BLOCK`] more.
    numbers: &'a [F],
    channels: usize,
    lines: LineRange,
}
impl<'a, F: Packed> PhasePatches<'a, F> {
    /// Patches of some channels of an image with these numbers. Panics if sizes don't match.
    pub fn new(phases: &'a Phases, channels: Range<usize>, numbers: &'a [F]) -> Self {
        assert!(channels.end <= phases.channels && numbers.len() == phases.numbers());
        let some = phases.channels(channels.clone());
        PhasePatches {
            phases,
            numbers: &numbers[some.start..some.end + BLOCK],
            channels: channels.len(),
            lines: LineRange::all(phases.geometry.len()),
        }
    }
}

/// Packs a range of steps and lines into panels; `d` has their size.
struct PackPhases<'a, 'b, F: Packed> {
    patches: &'a PhasePatches<'b, F>,
    steps: Range<usize>,
    lines: Range<usize>,
    d: &'a mut [F],
}
impl<F: Packed> Kernel for PackPhases<'_, '_, F> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let (patches, steps) = (self.patches, self.steps);
        let (phases, wide) = (patches.phases, patches.phases.geometry.places[2]);
        for (lines, width, panel) in lines::panels(self.lines, steps.len(), self.d) {
            // the panel's places in runs along the width: the index of the first, and the range in
            // the panel
            let mut runs: SmallVec<[(usize, Range<usize>); 8]> = SmallVec::new();
            let mut at = 0;
            while at < lines.len() {
                let line = patches.lines.number(lines.start + at);
                let end = (at + wide - line % wide).min(lines.len());
                runs.push((phases.place(line), at..end));
                at = end;
            }
            let one = runs.len() == 1 && lines.len() == width;
            let first = runs.first().map_or(0, |run| run.0);
            let positions = phases.taps.len();
            let mut tap = steps.start % positions;
            let mut from = &patches.numbers[steps.start / positions * phases.channel()..];
            for row in panel.chunks_exact_mut(width) {
                let at = phases.taps[tap];
                match width {
                    64 if one => copy::<F, 64>(&from[at + first..], row),
                    32 if one => copy::<F, 32>(&from[at + first..], row),
                    16 if one => copy::<F, 16>(&from[at + first..], row),
                    _ => {
                        for (first, to) in &runs {
                            run(&from[at + first..], to.clone(), row);
                        }
                        row[lines.len()..].fill(F::default());
                    }
                }
                tap += 1;
                if tap == positions {
                    tap = 0;
                    from = &from[phases.channel()..];
                }
            }
        }
    }
}
/// Copies the first `N` numbers.
#[inline(always)]
fn copy<F: Packed, const N: usize>(s: &[F], d: &mut [F]) {
    if let (Some(s), Some(d)) = (s.first_chunk::<N>(), d.first_chunk_mut::<N>()) {
        *d = *s;
    }
}
/// Copies numbers to some places of a row. Past the last of them, where the row has room, it writes
/// others, which the next run overwrites.
#[inline(always)]
fn run<F: Packed>(s: &[F], to: Range<usize>, row: &mut [F]) {
    let (s, end) = (&s[..to.len() + BLOCK], to.end - to.start);
    let row = &mut row[to.start..];
    let mut at = 0;
    while at < end {
        let (s, d) = (&s[at..], &mut row[at..]);
        if d.len() >= BLOCK {
            copy::<F, BLOCK>(s, d);
        } else if d.len() >= BLOCK / 2 && end - at <= BLOCK / 2 {
            copy::<F, { BLOCK / 2 }>(s, d);
        } else {
            for (d, s) in d.iter_mut().zip(s).take(end - at) {
                *d = *s;
            }
        }
        at += BLOCK;
    }
}

// SAFETY: SOURCE1: nothing is read in place, and blocks lie in `d`.
unsafe impl<F: Packed> Source for PhasePatches<'_, F> {
    type Packed = F;
    fn lines(&self) -> usize {
        self.lines.count()
    }
    fn steps(&self) -> usize {
        self.channels * self.phases.taps.len()
    }
    fn slice(self, lines: Range<usize>) -> Self {
        PhasePatches {
            lines: self.lines.slice(lines),
            ..self
        }
    }
    fn pack_panels(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [F]) {
        simd::call(PackPhases {
            patches: self,
            steps,
            lines,
            d,
        })
    }
    fn pack_block(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [F]) -> BlockA<F> {
        let (depth, phases) = (steps.len(), self.phases);
        for (line, d) in lines.zip(d.chunks_exact_mut(depth.max(1))) {
            let place = phases.place(self.lines.number(line));
            for (step, d) in steps.clone().zip(d) {
                let (channel, tap) = (step / phases.taps.len(), step % phases.taps.len());
                *d = self.numbers[channel * phases.channel() + phases.taps[tap] + place];
            }
        }
        BlockA {
            at: d.as_ptr(),
            strides: Some((depth as isize, 1)),
        }
    }
}
