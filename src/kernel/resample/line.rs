//! Resampling along a line.

use super::Table;
use crate::kernel::math::Real;
use crate::simd::{Isa, fma32, fma64};
use core::ops::Range;

/// A type that weighted sums are computed in.
pub trait Sampled: Real {
    /// `a * b + c`, fused where the instruction set has that.
    fn fma<I: Isa>(a: Self, b: Self, c: Self) -> Self;
    /// Truncates to an integer; 0 if the result doesn't fit 32 bits.
    fn to_i32(self) -> i32;
    /// Outputs of a line that [`vector`](Sampled::vector) resamples at once; 0 if the set has no
    /// way to.
    #[inline(always)]
    fn lanes<I: Isa>() -> usize {
        0
    }
    /// Resamples outputs of a line of single elements from `at` on, as many as there are lanes;
    /// false, with nothing written, if their elements lie too far apart.
    #[inline(always)]
    fn vector<I: Isa>(_line: &[Self], _table: &Table<Self>, _at: usize, _row: &mut [Self]) -> bool {
        false
    }
    /// Weighted sums of the taps of points, a vector of points at a time; returns false if not
    /// supported. `index` has the index of each pair's first element. A tap whose own index in
    /// `taps` is negative counts as zero.
    ///
    /// # Safety
    /// Each index and its successor are of elements from `first` on. There are as many indices as
    /// sums for each pair of taps, `step` apart, and for each of the pairs' two taps as many
    /// weights and own indices.
    #[inline(always)]
    unsafe fn pairs<I: Isa>(
        _first: *const Self,
        _index: &[i32],
        _taps: &[i32],
        _weights: &[Self],
        _step: usize,
        _sums: &mut [Self],
    ) -> bool {
        false
    }
}
/// `as` branches on values out of range, which prevents vectorisation.
macro_rules! to_i32 {
    ($x:expr) => {{
        let (x, limit) = ($x, 2_147_483_648.0);
        let x = if (x > -limit) & (x < limit) { x } else { 0.0 };
        // SAFETY: fits 32 bits, by the choice above.
        unsafe { x.to_int_unchecked() }
    }};
}
impl Sampled for f64 {
    #[inline(always)]
    fn fma<I: Isa>(a: f64, b: f64, c: f64) -> f64 {
        fma64::<I>(a, b, c)
    }
    #[inline(always)]
    fn to_i32(self) -> i32 {
        to_i32!(self)
    }
}
impl Sampled for f32 {
    #[inline(always)]
    fn fma<I: Isa>(a: f32, b: f32, c: f32) -> f32 {
        fma32::<I>(a, b, c)
    }
    #[inline(always)]
    fn to_i32(self) -> i32 {
        to_i32!(self)
    }
    #[cfg(x86_dispatch)]
    #[inline(always)]
    fn lanes<I: Isa>() -> usize {
        crate::simd::x86::lookup::lanes::<I>()
    }
    #[cfg(x86_dispatch)]
    #[inline(always)]
    fn vector<I: Isa>(line: &[f32], table: &Table<f32>, at: usize, row: &mut [f32]) -> bool {
        use crate::simd::x86::lookup::{BEHIND, SHORT, lanes, weighted};
        let room = line.len() >= table.size() + BEHIND && row.len() == table.outputs();
        assert!(room && at + lanes::<I>() <= row.len());
        let (index, weight) = table.columns();
        // SAFETY: LOOKUP1: a vector of outputs of each tap (TABLE1), whose indices are at most the
        // size, behind which the line has padding; ISA1.
        unsafe {
            weighted::<I>(
                line.as_ptr(),
                table.size() <= SHORT,
                index.as_ptr().add(at),
                weight.as_ptr().add(at),
                table.outputs(),
                table.taps(),
                row.as_mut_ptr().add(at),
            )
        }
    }
    #[cfg(x86_dispatch)]
    #[inline(always)]
    unsafe fn pairs<I: Isa>(
        first: *const f32,
        index: &[i32],
        taps: &[i32],
        weights: &[f32],
        step: usize,
        sums: &mut [f32],
    ) -> bool {
        use crate::simd::x86::lookup::{POINTS, pairs};
        let points = sums.len();
        if !I::AVX2 || points < POINTS {
            return false;
        }
        let mut at = 0;
        loop {
            let (index, weight) = (index[at..].as_ptr(), weights[at..].as_ptr());
            let (own, y) = (taps[at..].as_ptr(), sums[at..].as_mut_ptr());
            let count = weights.len().div_ceil(step) / 2;
            // SAFETY: the caller gives LOOKUP2 for the points from `at` on, and a vector of them is
            // left.
            unsafe { pairs(first, index, own, weight, step, count, y) };
            if at + POINTS == points {
                return true;
            }
            // the last vector may overlap the one before
            at = (at + POINTS).min(points - POINTS);
        }
    }
}

/// Resamples a line of `table.size()` pixels of `inner` elements, followed by a pixel of zeros and
/// padding that vectors read. Weights are added in order, whatever the layout.
#[inline(always)]
pub fn resample_line<I: Isa, A: Sampled>(
    line: &[A],
    table: &Table<A>,
    inner: usize,
    row: &mut [A],
) {
    assert!(line.len() >= (table.size() + 1) * inner && row.len() == table.outputs() * inner);
    if inner == 1 {
        let (n, lanes) = (row.len(), A::lanes::<I>());
        let vectors = lanes > 0 && n >= lanes;
        let (part, mut at) = (if vectors { lanes } else { n }, 0);
        loop {
            if !(vectors && A::vector::<I>(line, table, at, row)) {
                // SAFETY: the assertion above.
                unsafe { elements::<I, A>(line, table, at..at + part, row) };
            }
            if at + part >= n {
                return;
            }
            // the last vector may overlap the one before
            at = (at + part).min(n - part);
        }
    }
    for (output, pixel) in row.chunks_exact_mut(inner).enumerate() {
        for tap in 0..table.taps() {
            let (index, weight) = table.column(tap);
            let (i, w) = (index[output] as usize, weight[output]);
            let x = &line[i * inner..][..inner];
            if tap == 0 {
                for (y, x) in pixel.iter_mut().zip(x) {
                    *y = w * *x;
                }
            } else {
                for (y, x) in pixel.iter_mut().zip(x) {
                    *y = A::fma::<I>(w, *x, *y);
                }
            }
        }
    }
}

/// Resamples outputs of a line of single elements one by one.
///
/// # Safety
/// The line has more than `table.size()` elements.
#[inline(always)]
unsafe fn elements<I: Isa, A: Sampled>(
    line: &[A],
    table: &Table<A>,
    outputs: Range<usize>,
    row: &mut [A],
) {
    for tap in 0..table.taps() {
        let (index, weight) = table.column(tap);
        let taps = index[outputs.clone()].iter().zip(&weight[outputs.clone()]);
        for (y, (i, w)) in row[outputs.clone()].iter_mut().zip(taps) {
            // SAFETY: TABLE1: at most the size, which is inside the line by the caller's promise.
            let x = unsafe { *line.get_unchecked(*i as usize) };
            *y = if tap == 0 {
                *w * x
            } else {
                A::fma::<I>(*w, x, *y)
            };
        }
    }
}
