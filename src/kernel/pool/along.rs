//! Lines joined elementwise, and windows along a line.

use super::pooling::Pooling;
use super::windows::{Steady, Windows};
use crate::kernel::images::Pixel;
use crate::simd::{self, Isa, rolled};

/// Slices of lines, both at constant strides.
#[derive(Clone, Copy)]
pub struct LineSlices<T> {
    /// The first element of the first line.
    pub first: *const T,
    /// The number of slices, and of lines in each.
    pub counts: [usize; 2],
    /// Strides from slice to slice and from line to line, in elements.
    pub steps: [isize; 2],
}

/// Elements joined in registers, and the same for shorter rows.
const PART: usize = 16;
const NARROW: usize = 4;

impl<T> LineSlices<T> {
    /// The start of a line.
    #[inline(always)]
    fn line(&self, slice: usize, k: usize) -> *const T {
        let [slice_step, step] = self.steps;
        let offset = slice as isize * slice_step + k as isize * step;
        self.first.wrapping_offset(offset)
    }
    /// Joins all lines into `row`, in order; `finish` turns the joined elements into results.
    ///
    /// # Safety
    /// There is at least one line, and each is valid for `row.len()` elements and doesn't overlap
    /// `row`.
    #[inline(always)]
    pub unsafe fn join<I: Isa, A: Copy, P: Pooling<A>, R: Pixel<A>>(
        &self,
        row: &mut [R],
        finish: Option<(&P, A)>,
    ) where
        T: Pixel<A>,
    {
        // SAFETY: the caller's promise; each arm has at least `N` elements and `K` lines.
        unsafe {
            match (row.len(), self.counts[0] * self.counts[1]) {
                (0, _) => {}
                _ if simd::MICROCONTROLLER || simd::SCALAR_WEB => {
                    self.join_by::<I, A, P, R, 1, 0>(row, finish)
                }
                (1..NARROW, _) => self.join_by::<I, A, P, R, 1, 0>(row, finish),
                (NARROW.., _) if const { I::SMALL } => {
                    self.join_by::<I, A, P, R, NARROW, 0>(row, finish)
                }
                (NARROW..PART, _) => self.join_by::<I, A, P, R, NARROW, 0>(row, finish),
                (_, 2) => self.join_by::<I, A, P, R, PART, 2>(row, finish),
                (_, 3) => self.join_by::<I, A, P, R, PART, 3>(row, finish),
                (_, 4) => self.join_by::<I, A, P, R, PART, 4>(row, finish),
                _ => self.join_by::<I, A, P, R, PART, 0>(row, finish),
            }
        }
    }
    /// [`LineSlices::join`], `N` elements at a time, with exactly `K` lines, or any number if `K`
    /// is 0.
    ///
    /// # Safety
    /// As for [`LineSlices::join`]; there are at least `N` elements, and `K` lines.
    #[inline(always)]
    unsafe fn join_by<I: Isa, A: Copy, P: Pooling<A>, R: Pixel<A>, const N: usize, const K: usize>(
        &self,
        row: &mut [R],
        finish: Option<(&P, A)>,
    ) where
        T: Pixel<A>,
    {
        let ([slices, lines], n) = (self.counts, row.len());
        let mut known = [self.first; K];
        let (mut slice, mut k) = (0, 0);
        for line in &mut known {
            *line = self.line(slice, k);
            k += 1;
            if k == lines {
                (slice, k) = (slice + 1, 0);
            }
        }
        let mut at = 0;
        loop {
            // SAFETY: within the first line, by the caller's promise.
            let mut sum = unsafe { part::<I, T, A, P, N>(self.first, at) };
            if K > 0 {
                for line in known.iter().skip(1) {
                    // SAFETY: likewise for the other lines.
                    let x = unsafe { part::<I, T, A, P, N>(*line, at) };
                    sum = join_parts::<I, A, P, N>(sum, x);
                }
            } else {
                for slice in 0..slices {
                    for k in (slice == 0) as usize..lines {
                        // SAFETY: likewise for the other lines.
                        let x = unsafe { part::<I, T, A, P, N>(self.line(slice, k), at) };
                        sum = join_parts::<I, A, P, N>(sum, x);
                    }
                }
            }
            if let Some((pooling, of_row)) = finish {
                sum = pooling.finish_part::<I, N>(of_row, at, sum);
            }
            // SAFETY: `at + N` is at most `n`.
            R::store::<I>(&sum, unsafe { row.get_unchecked_mut(at..at + N) });
            if at + N == n {
                return;
            }
            // the last part may overlap the one before
            at = (at + N).min(n - N);
        }
    }
}

/// `N` elements of a line, from `at` on.
///
/// # Safety
/// The line has them.
#[inline(always)]
unsafe fn part<I: Isa, T: Pixel<A>, A: Copy, P: Pooling<A>, const N: usize>(
    line: *const T,
    at: usize,
) -> [A; N] {
    let mut x = [P::NEUTRAL; N];
    // SAFETY: the caller's promise.
    let from = unsafe { core::slice::from_raw_parts(line.wrapping_add(at), N) };
    T::load::<I>(from, &mut x);
    x
}
#[inline(always)]
fn join_parts<I: Isa, A: Copy, P: Pooling<A>, const N: usize>(a: [A; N], b: [A; N]) -> [A; N] {
    let mut joined = a;
    for l in 0..N {
        joined[l] = P::join::<I>(a[l], b[l]);
    }
    joined
}

/// The windows along a padded line (`inner` elements per output) as [`LineSlices`] of `width`
/// elements, one line per tap, with the first pointer left to fill in. None unless the stride is 1.
pub fn taps_as_lines<A>(
    len: usize,
    windows: &Windows,
    inner: usize,
    width: usize,
) -> Option<LineSlices<A>> {
    let Windows::Steady(s) = windows else {
        return None;
    };
    // arbitrary for a kernel of one tap
    let step = s.dilation.wrapping_mul(inner);
    if s.stride != 1 || len < (s.kernel - 1) * step + width {
        return None;
    }
    Some(LineSlices {
        first: core::ptr::null(),
        counts: [1, s.kernel],
        steps: [0, step as isize],
    })
}

/// The elements of a line, `inner` to a pixel, that [`join_windows`] reads for so many outputs.
#[inline(always)]
pub fn reach(windows: &Windows, outputs: usize, inner: usize) -> usize {
    match windows {
        Windows::Steady(s) => {
            let last = (outputs.max(1) - 1) * s.stride + (s.kernel - 1) * s.dilation;
            // [`by_pairs`] loads pairs of single elements whole
            let pairs = inner == 1 && (s.stride, s.dilation) == (2, 1);
            (last + 1) * inner + (pairs && s.kernel % 2 == 1) as usize
        }
        Windows::Listed(all, _) => all.iter().map(|r| r.end).max().unwrap_or(0) * inner,
    }
}

/// Joins the windows along a padded line (`inner` elements per output) into `row`.
#[inline(always)]
pub fn join_windows<I: Isa, A: Pixel<A>, P: Pooling<A>>(
    line: &[A],
    windows: &Windows,
    inner: usize,
    row: &mut [A],
) {
    if row.is_empty() {
        return;
    }
    let outputs = row.len() / inner;
    if let Windows::Steady(s) = windows {
        assert!(line.len() >= reach(windows, outputs, inner));
        if inner == 1 && s.kernel <= outputs {
            // SAFETY: the assertion above.
            return unsafe { by_taps::<I, A, P>(line, s, row) };
        }
    }
    // one loop for both kinds of windows: what it inlines is large
    for (output, pixel) in row.chunks_exact_mut(inner).enumerate() {
        let (first, step, count) = match windows {
            Windows::Steady(s) => (output * s.stride, s.dilation, s.kernel),
            Windows::Listed(all, step) => {
                (all[output].start, *step, all[output].len().div_ceil(*step))
            }
        };
        let taps = &line[first * inner..];
        assert!(count == 0 || taps.len() >= ((count - 1) * step + 1) * inner);
        // arbitrary for a window of one tap
        let step = step.wrapping_mul(inner);
        // SAFETY: pixels of `line` by the assertion, which doesn't overlap `row`.
        unsafe { join_pixels::<I, A, P>(taps.as_ptr(), step, count, pixel) };
    }
}

/// One window of `count` pixels, `step` elements apart.
///
/// # Safety
/// Each pixel is valid for `pixel.len()` elements and doesn't overlap `pixel`.
#[inline(always)]
unsafe fn join_pixels<I: Isa, A: Pixel<A>, P: Pooling<A>>(
    first: *const A,
    step: usize,
    count: usize,
    pixel: &mut [A],
) {
    if count == 0 {
        return pixel.fill(P::NEUTRAL);
    }
    let pixels = LineSlices {
        first,
        counts: [1, count],
        steps: [0, step as isize],
    };
    // SAFETY: the caller's promise.
    unsafe { pixels.join::<I, A, P, A>(pixel, None) }
}

/// Windows of single elements, tap by tap.
///
/// # Safety
/// `line` has the elements that [`reach`] counts.
#[inline(always)]
unsafe fn by_taps<I: Isa, A: Copy, P: Pooling<A>>(line: &[A], s: &Steady, row: &mut [A]) {
    let (p, d) = (line.as_ptr(), s.dilation);
    // SAFETY: the caller's promise.
    unsafe {
        match (s.stride, s.kernel, d) {
            (2, _, 1) if I::AVX512 && row.len() >= PART => by_pairs::<I, A, P>(p, s.kernel, row),
            (stride, ..) if const { I::SMALL } => strided::<I, A, P>(p, stride, s.kernel, d, row),
            (2, 2, 1) => {
                for (o, y) in row.iter_mut().enumerate() {
                    *y = P::join::<I>(*p.add(2 * o), *p.add(2 * o + 1));
                }
            }
            (2, 3, 1) => {
                for (o, y) in row.iter_mut().enumerate() {
                    let two = P::join::<I>(*p.add(2 * o), *p.add(2 * o + 1));
                    *y = P::join::<I>(two, *p.add(2 * o + 2));
                }
            }
            // a loop that reads all elements of its windows, for which LLVM loads whole vectors
            (4, 4, 1) => {
                for (o, y) in row.iter_mut().enumerate() {
                    let two = P::join::<I>(*p.add(4 * o), *p.add(4 * o + 1));
                    let three = P::join::<I>(two, *p.add(4 * o + 2));
                    *y = P::join::<I>(three, *p.add(4 * o + 3));
                }
            }
            (2, ..) => strided::<I, A, P>(p, 2, s.kernel, d, row),
            (3, ..) => strided::<I, A, P>(p, 3, s.kernel, d, row),
            (4, ..) => strided::<I, A, P>(p, 4, s.kernel, d, row),
            (stride, ..) => strided::<I, A, P>(p, stride, s.kernel, d, row),
        }
    }
}

/// [`by_taps`] for a stride of 2: two neighbouring elements are two taps of one window. LLVM on its
/// own would load the even elements with AVX-512 gathers.
///
/// # Safety
/// As for [`by_taps`]; there are at least [`PART`] elements.
#[inline(always)]
unsafe fn by_pairs<I: Isa, A: Copy, P: Pooling<A>>(p: *const A, kernel: usize, row: &mut [A]) {
    let (n, mut at) = (row.len(), 0);
    loop {
        let mut sum = [P::NEUTRAL; PART];
        for k in (0..kernel).step_by(2) {
            // SAFETY: two elements per window from `at` on, by the caller's promise.
            let taps = unsafe { p.add(2 * at + k).cast::<[[A; 2]; PART]>().read_unaligned() };
            let (mut first, mut second) = (sum, sum);
            for l in 0..PART {
                [first[l], second[l]] = taps[l];
            }
            sum = if k == 0 {
                first
            } else {
                join_parts::<I, A, P, PART>(sum, first)
            };
            if k + 1 < kernel {
                sum = join_parts::<I, A, P, PART>(sum, second);
            }
        }
        row[at..at + PART].copy_from_slice(&sum);
        if at + PART == n {
            return;
        }
        // the last part may overlap the one before
        at = (at + PART).min(n - PART);
    }
}

/// [`by_taps`] for any stride, which is a constant where the call is inlined.
///
/// # Safety
/// As for [`by_taps`].
#[inline(always)]
unsafe fn strided<I: Isa, A: Copy, P: Pooling<A>>(
    p: *const A,
    stride: usize,
    kernel: usize,
    dilation: usize,
    row: &mut [A],
) {
    // SAFETY: the caller's promise.
    unsafe {
        for (o, y) in row.iter_mut().enumerate() {
            rolled::<I, u64>();
            *y = *p.add(o * stride);
        }
        for k in 1..kernel {
            let p = p.add(k * dilation);
            for (o, y) in row.iter_mut().enumerate() {
                rolled::<I, u64>();
                *y = P::join::<I>(*y, *p.add(o * stride));
            }
        }
    }
}
