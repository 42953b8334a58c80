//! Lines joined element by element, and windows along a line.

use super::pooling::Pooling;
use super::windows::{Steady, Windows};
use crate::kernel::images::Pixel;
use crate::simd::{self, Isa};

/// Slices of lines, each at equal distances.
#[derive(Clone, Copy)]
pub struct Lines<T> {
    /// The first element of the first line.
    pub first: *const T,
    /// Slices, and lines of each.
    pub counts: [usize; 2],
    /// From a slice to the next, and a line to the next, in elements.
    pub steps: [isize; 2],
}

/// Elements that are joined in registers, and those of shorter rows.
const PART: usize = 16;
const NARROW: usize = 4;

impl<T> Lines<T> {
    /// Where a line begins.
    #[inline(always)]
    fn line(&self, slice: usize, k: usize) -> *const T {
        let [slice_step, step] = self.steps;
        let offset = slice as isize * slice_step + k as isize * step;
        self.first.wrapping_offset(offset)
    }
    /// All lines, joined to `row` one after the other; `finish` says what becomes of a row of the result.
    ///
    /// # Safety
    /// There is a line, and each has as many elements as `row`, which is none of them.
    #[inline(always)]
    pub unsafe fn join<I: Isa, A: Copy, P: Pooling<A>, R: Pixel<A>>(
        &self,
        row: &mut [R],
        finish: Option<(&P, A)>,
    ) where
        T: Pixel<A>,
    {
        // SAFETY: the caller's promise; `N` elements at least, and as many lines as are said.
        unsafe {
            match (row.len(), self.counts[0] * self.counts[1]) {
                (0, _) => {}
                _ if simd::MICROCONTROLLER || simd::SCALAR_WEB => {
                    self.join_by::<I, A, P, R, 1, 0>(row, finish)
                }
                (1..NARROW, _) => self.join_by::<I, A, P, R, 1, 0>(row, finish),
                (NARROW..PART, _) => self.join_by::<I, A, P, R, NARROW, 0>(row, finish),
                (_, 2) => self.join_by::<I, A, P, R, PART, 2>(row, finish),
                (_, 3) => self.join_by::<I, A, P, R, PART, 3>(row, finish),
                (_, 4) => self.join_by::<I, A, P, R, PART, 4>(row, finish),
                _ => self.join_by::<I, A, P, R, PART, 0>(row, finish),
            }
        }
    }
    /// The same, `N` elements at a time, of `K` lines, or any number if that is 0.
    ///
    /// # Safety
    /// As [`Lines::join`]; there are `N` elements, and `K` lines.
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
            // SAFETY: elements of the first line, by the caller's promise.
            let mut sum = unsafe { part::<I, T, A, P, N>(self.first, at) };
            if K > 0 {
                for line in known.iter().skip(1) {
                    // SAFETY: and of the others.
                    let x = unsafe { part::<I, T, A, P, N>(*line, at) };
                    sum = join_parts::<I, A, P, N>(sum, x);
                }
            } else {
                for slice in 0..slices {
                    for k in (slice == 0) as usize..lines {
                        // SAFETY: and of the others.
                        let x = unsafe { part::<I, T, A, P, N>(self.line(slice, k), at) };
                        sum = join_parts::<I, A, P, N>(sum, x);
                    }
                }
            }
            if let Some((pooling, of_row)) = finish {
                sum = pooling.finish_part::<I, N>(of_row, at, sum);
            }
            // SAFETY: `at + N` is `n` at most.
            R::store::<I>(&sum, unsafe { row.get_unchecked_mut(at..at + N) });
            if at + N == n {
                return;
            }
            // the last part may begin within the one before
            at = (at + N).min(n - N);
        }
    }
}

/// `N` elements of a line from `at` on.
///
/// # Safety
/// It has as many.
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

/// The windows of `width` elements along lines whose padding is filled up, `inner` elements for each place, as
/// lines of that width: those of taps, which there are where the stride is 1.
pub fn taps_as_lines<A>(
    len: usize,
    windows: &Windows,
    inner: usize,
    width: usize,
) -> Option<Lines<A>> {
    let Windows::Steady(s) = windows else {
        return None;
    };
    // any of a kernel of one
    let step = s.dilation.wrapping_mul(inner);
    if s.stride != 1 || len < (s.kernel - 1) * step + width {
        return None;
    }
    Some(Lines {
        first: core::ptr::null(),
        counts: [1, s.kernel],
        steps: [0, step as isize],
    })
}

/// The windows along a line whose padding is filled up, `inner` elements for each place, into
/// `row`.
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
    match windows {
        Windows::Listed(all) => {
            for (range, pixel) in all.iter().zip(row.chunks_exact_mut(inner)) {
                let taps = &line[range.start * inner..range.end * inner];
                // SAFETY: pixels of `line`, which is another slice than `row`.
                unsafe {
                    join_pixels::<I, A, P>(taps.as_ptr(), inner, range.len(), pixel);
                }
            }
        }
        Windows::Steady(s) => {
            let places = row.len() / inner;
            let last = (places - 1) * s.stride + (s.kernel - 1) * s.dilation;
            assert!(line.len() > (last + 1) * inner);
            if inner == 1 && s.kernel <= places {
                // SAFETY: the assertion above.
                unsafe { by_taps::<I, A, P>(line, s, row) };
                return;
            }
            for (place, pixel) in row.chunks_exact_mut(inner).enumerate() {
                // SAFETY: pixels of `line` by the assertion above.
                unsafe {
                    join_pixels::<I, A, P>(
                        line.as_ptr().add(place * s.stride * inner),
                        s.dilation * inner,
                        s.kernel,
                        pixel,
                    )
                };
            }
        }
    }
}

/// One window: `count` pixels, `step` elements apart.
///
/// # Safety
/// Each pixel has as many elements as `pixel`, which is none of them.
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
    let pixels = Lines {
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
/// The last window ends in `line`, before its last element.
#[inline(always)]
unsafe fn by_taps<I: Isa, A: Copy, P: Pooling<A>>(line: &[A], s: &Steady, row: &mut [A]) {
    let (p, d) = (line.as_ptr(), s.dilation);
    // SAFETY: the caller's promise.
    unsafe {
        match (s.stride, s.kernel, d) {
            (2, _, 1) if I::AVX512 && row.len() >= PART => by_pairs::<I, A, P>(p, s.kernel, row),
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
            (2, ..) => strided::<I, A, P>(p, 2, s.kernel, d, row),
            (3, ..) => strided::<I, A, P>(p, 3, s.kernel, d, row),
            (4, ..) => strided::<I, A, P>(p, 4, s.kernel, d, row),
            (stride, ..) => strided::<I, A, P>(p, stride, s.kernel, d, row),
        }
    }
}

/// The same for a stride of 2: a pair of neighbours is two taps of one window. Left to itself, LLVM has gathers
/// of AVX-512 load what lies two apart.
///
/// # Safety
/// As [`by_taps`]; there are [`PART`] elements.
#[inline(always)]
unsafe fn by_pairs<I: Isa, A: Copy, P: Pooling<A>>(p: *const A, kernel: usize, row: &mut [A]) {
    let (n, mut at) = (row.len(), 0);
    loop {
        let mut sum = [P::NEUTRAL; PART];
        for k in (0..kernel).step_by(2) {
            // SAFETY: two elements for each of as many windows from `at` on, by the caller's promise.
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
        // the last part may begin within the one before
        at = (at + PART).min(n - PART);
    }
}

/// The same for any stride, which is a constant where this is inlined with one.
///
/// # Safety
/// As [`by_taps`].
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
            *y = *p.add(o * stride);
        }
        for k in 1..kernel {
            let p = p.add(k * dilation);
            for (o, y) in row.iter_mut().enumerate() {
                *y = P::join::<I>(*y, *p.add(o * stride));
            }
        }
    }
}
