//! Lines joined element by element, and windows along a line.

use super::pooling::Pooling;
use super::windows::{Steady, Windows};
use crate::simd::Isa;

/// `count` lines from `first` on, `step` elements apart, joined one after the other to `row`, or,
/// unless that has `begun`, to each other.
///
/// # Safety
/// Each line has as many elements as `row`, which is none of them.
#[inline(always)]
pub unsafe fn join_lines<I: Isa, A: Copy, P: Pooling<A>>(
    first: *const A,
    step: isize,
    count: usize,
    row: &mut [A],
    begun: bool,
) {
    let n = row.len();
    let mut k = 0;
    macro_rules! lines {
        ($($name:ident)*) => {
            // SAFETY: lines before `count`, by the caller's promise.
            $(let $name = unsafe { core::slice::from_raw_parts(first.wrapping_offset(k as isize * step), n) };
            k += 1;)*
        };
    }
    if !begun && count > 0 {
        match count {
            1 => {
                lines!(a);
                row.copy_from_slice(a);
            }
            2 => {
                lines!(a b);
                for ((y, a), b) in row.iter_mut().zip(a).zip(b) {
                    *y = P::join::<I>(*a, *b);
                }
            }
            _ => {
                lines!(a b c);
                for (((y, a), b), c) in row.iter_mut().zip(a).zip(b).zip(c) {
                    *y = P::join::<I>(P::join::<I>(*a, *b), *c);
                }
            }
        }
    }
    while count - k >= 2 {
        lines!(a b);
        for ((y, a), b) in row.iter_mut().zip(a).zip(b) {
            *y = P::join::<I>(P::join::<I>(*y, *a), *b);
        }
    }
    if k < count {
        lines!(a);
        for (y, a) in row.iter_mut().zip(a) {
            *y = P::join::<I>(*y, *a);
        }
    }
    debug_assert!(k == count);
}

/// The windows along a line whose padding is filled up, `inner` elements for each place, into
/// `row`.
#[inline(always)]
pub fn join_windows<I: Isa, A: Copy, P: Pooling<A>>(
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
            assert!(line.len() / inner > (places - 1) * s.stride + (s.kernel - 1) * s.dilation);
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
/// As [`join_lines`].
#[inline(always)]
unsafe fn join_pixels<I: Isa, A: Copy, P: Pooling<A>>(
    first: *const A,
    step: usize,
    count: usize,
    pixel: &mut [A],
) {
    if count == 0 {
        return pixel.fill(P::NEUTRAL);
    }
    if let [one] = pixel {
        // SAFETY: the caller's promise.
        let mut sum = unsafe { *first };
        for k in 1..count {
            // SAFETY: the caller's promise.
            sum = P::join::<I>(sum, unsafe { *first.add(k * step) });
        }
        *one = sum;
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { join_lines::<I, A, P>(first, step as isize, count, pixel, false) }
}

/// Windows of single elements, tap by tap.
///
/// # Safety
/// The last window ends in `line`.
#[inline(always)]
unsafe fn by_taps<I: Isa, A: Copy, P: Pooling<A>>(line: &[A], s: &Steady, row: &mut [A]) {
    let (p, d) = (line.as_ptr(), s.dilation);
    // SAFETY: the caller's promise.
    unsafe {
        match (s.stride, s.kernel, d) {
            (1, ..) => join_lines::<I, A, P>(p, d as isize, s.kernel, row, false),
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
