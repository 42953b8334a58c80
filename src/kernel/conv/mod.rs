//! Convolution as a product: patches of an image are a source of the matrix engine (implicit GEMM),
//! so they never exist as a whole.
//!
//! ```text
//! y[channels of the result, places] = weight[channels of the result, taps] x patches[taps, places]
//! ```
//! A tap is a channel with a position in the kernel, a place a position of the kernel on the image.
//! The image has three spatial dimensions; fewer are some of size 1.

use crate::kernel::gemm::{BlockA, InPlace, MatElement, Source, panel_width};
use crate::simd::{self, Isa, Kernel};
use core::{marker::PhantomData, ops::Range};
use smallvec::SmallVec;

/// Numbers for depth, height and width.
pub type Three = [usize; 3];

/// How a kernel moves over an image. All of `kernel`, `stride` and `dilation` are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Channels that the kernel sees.
    pub channels: usize,
    /// Sizes of the image.
    pub image: Three,
    /// Sizes of the kernel.
    pub kernel: Three,
    /// From a place to the next.
    pub stride: Three,
    /// From a tap to the next.
    pub dilation: Three,
    /// Zeros in front of the image.
    pub padding: Three,
    /// Places.
    pub places: Three,
}
impl Geometry {
    /// How many taps.
    pub fn taps(&self) -> usize {
        self.channels * self.kernel.iter().product::<usize>()
    }
    /// Whether each place is an element of the image, and each of those a place.
    fn is_pointwise(&self) -> bool {
        self.kernel == [1; 3]
            && self.stride == [1; 3]
            && self.places == self.image
            && self.padding == [0; 3]
    }
}

/// Patches of an image of any strides, as the right side of a product: a line a place, a step a tap.
///
/// Invariant PATCH1: for all channels and positions of the geometry's image, the element at
/// `image + channel * channel_stride + position * strides` is an initialised `T`, readable for `'a`.
pub struct Patches<'a, T> {
    image: *const T,
    channel_stride: isize,
    strides: [isize; 3],
    geometry: Geometry,
    /// The places.
    lines: (usize, usize),
    _data: PhantomData<&'a [T]>,
}
impl<T> Clone for Patches<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Patches<'_, T> {}
// SAFETY: patches are shared references to elements (PATCH1).
unsafe impl<T: Sync> Send for Patches<'_, T> {}
// SAFETY: patches are shared references to elements (PATCH1).
unsafe impl<T: Sync> Sync for Patches<'_, T> {}

impl<T> Patches<'_, T> {
    /// All patches of an image at `image`, with strides in elements.
    ///
    /// # Safety
    /// PATCH1.
    pub unsafe fn new(
        image: *const T,
        channel_stride: isize,
        strides: [isize; 3],
        geometry: Geometry,
    ) -> Self {
        Patches {
            image,
            channel_stride,
            strides,
            geometry,
            lines: (0, geometry.places.iter().product()),
            _data: PhantomData,
        }
    }
    /// Where an element of the image lies.
    #[inline(always)]
    fn at(&self, channel: usize, position: Three) -> *const T {
        let offset = (0..3).fold(channel as isize * self.channel_stride, |offset, k| {
            offset + position[k] as isize * self.strides[k]
        });
        self.image.wrapping_offset(offset)
    }
    /// The channel and the position in the kernel of a tap.
    fn tap(&self, mut step: usize) -> (usize, Three) {
        let k = self.geometry.kernel;
        let x = step % k[2];
        step /= k[2];
        let y = step % k[1];
        step /= k[1];
        (step / k[0], [step % k[0], y, x])
    }
    /// A place by its number.
    fn place(&self, line: usize) -> Three {
        let n = self.geometry.places;
        let line = self.lines.0 + line;
        [line / (n[1] * n[2]), line / n[2] % n[1], line % n[2]]
    }
    /// Where a tap of a place is along an axis; none in the padding.
    fn position(&self, axis: usize, place: usize, tap: usize) -> Option<usize> {
        let g = &self.geometry;
        (place * g.stride[axis] + tap * g.dilation[axis])
            .checked_sub(g.padding[axis])
            .filter(|p| *p < g.image[axis])
    }
}

/// Places side by side along the width.
struct Run {
    place: Three,
    len: usize,
}

/// Packs steps of lines into panels; `d` is as large as those.
struct Pack<'a, 'b, T: MatElement> {
    patches: &'a Patches<'b, T>,
    steps: Range<usize>,
    lines: Range<usize>,
    d: &'a mut [T::Acc],
}
impl<T: MatElement> Kernel for Pack<'_, '_, T> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Pack {
            patches,
            steps,
            lines,
            mut d,
        } = self;
        let g = &patches.geometry;
        let mut line = lines.start;
        while line < lines.end {
            let width = panel_width::<T::Acc>(lines.end - line);
            let columns = width.min(lines.end - line);
            // the panel's places, in runs along the width
            let mut runs: SmallVec<[Run; 8]> = SmallVec::new();
            let mut at = 0;
            while at < columns {
                let place = patches.place(line + at);
                let len = (g.places[2] - place[2]).min(columns - at);
                runs.push(Run { place, len });
                at += len;
            }
            let (panel, rest) = d.split_at_mut(width * steps.len());
            d = rest;
            for (step, row) in steps.clone().zip(panel.chunks_exact_mut(width)) {
                let (channel, tap) = patches.tap(step);
                let mut row = row;
                for run in &runs {
                    let (part, rest) = row.split_at_mut(run.len);
                    row = rest;
                    patches.row::<I>(channel, tap, run, part);
                }
                row.fill(T::Acc::default());
            }
            line += columns;
        }
    }
}
impl<T: MatElement> Patches<'_, T> {
    /// What a tap sees from a run of places.
    #[inline(always)]
    fn row<I: Isa>(&self, channel: usize, tap: Three, run: &Run, d: &mut [T::Acc]) {
        let g = &self.geometry;
        let (Some(z), Some(y)) = (
            self.position(0, run.place[0], tap[0]),
            self.position(1, run.place[1], tap[1]),
        ) else {
            return d.fill(T::Acc::default());
        };
        // place `place + t` sees column `first + t * stride` of the padded image
        let (stride, padding, columns) = (g.stride[2], g.padding[2], g.image[2]);
        let first = run.place[2] * stride + tap[2] * g.dilation[2];
        let start = padding.saturating_sub(first).div_ceil(stride).min(d.len());
        let end = (padding + columns).saturating_sub(first).div_ceil(stride);
        let end = end.clamp(start, d.len());
        d[..start].fill(T::Acc::default());
        d[end..].fill(T::Acc::default());
        let d = &mut d[start..end];
        if d.is_empty() {
            return;
        }
        let column = first + start * stride - padding;
        let step = stride as isize * self.strides[2];
        let from = self.at(channel, [z, y, column]);
        if step == 1 {
            // SAFETY: PATCH1: `d.len()` columns of the image from `column` on, side by side.
            let s = unsafe { core::slice::from_raw_parts(from, d.len()) };
            T::widen_all::<I>(s, d);
        } else {
            for (t, d) in d.iter_mut().enumerate() {
                // SAFETY: PATCH1: column `column + t * stride`, before `end`.
                *d = unsafe { *from.offset(t as isize * step) }.widen();
            }
        }
    }
}

// SAFETY: SOURCE1: in place are the elements of a pointwise image (PATCH1), whose places lie one
// step apart and taps are channels; blocks lie in `d`.
unsafe impl<T: MatElement> Source for Patches<'_, T> {
    type Packed = T::Acc;
    fn lines(&self) -> usize {
        self.lines.1 - self.lines.0
    }
    fn steps(&self) -> usize {
        self.geometry.taps()
    }
    fn slice(self, lines: Range<usize>) -> Self {
        assert!(lines.start <= lines.end && lines.end <= self.lines());
        Patches {
            lines: (self.lines.0 + lines.start, self.lines.0 + lines.end),
            ..self
        }
    }
    fn in_place(&self) -> Option<InPlace<T::Acc>> {
        let (n, s) = (self.geometry.image, self.strides);
        // the image's elements as one line
        let steady = (n[0] == 1 || s[0] == n[1] as isize * n[2] as isize * s[2])
            && (n[1] == 1 || s[1] == n[2] as isize * s[2]);
        (T::SAME && self.geometry.is_pointwise() && steady).then(|| {
            let first = self.image.wrapping_offset(self.lines.0 as isize * s[2]);
            InPlace::new(first as *const T::Acc, s[2], self.channel_stride)
        })
    }
    fn pack_panels(&self, steps: Range<usize>, lines: Range<usize>, d: &mut [T::Acc]) {
        simd::call(Pack {
            patches: self,
            steps,
            lines,
            d,
        })
    }
    fn pack_block(
        &self,
        steps: Range<usize>,
        lines: Range<usize>,
        d: &mut [T::Acc],
    ) -> BlockA<T::Acc> {
        let depth = steps.len();
        for (line, d) in lines.zip(d.chunks_exact_mut(depth.max(1))) {
            let place = self.place(line);
            for (step, d) in steps.clone().zip(d) {
                let (channel, tap) = self.tap(step);
                let at = core::array::from_fn(|k| self.position(k, place[k], tap[k]));
                *d = match at {
                    [Some(z), Some(y), Some(x)] => {
                        // SAFETY: PATCH1: a channel and a position of the image.
                        unsafe { *self.at(channel, [z, y, x]) }.widen()
                    }
                    _ => T::Acc::default(),
                };
            }
        }
        BlockA {
            at: d.as_ptr(),
            strides: Some((depth as isize, 1)),
        }
    }
}
