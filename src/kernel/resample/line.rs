//! Resampling along a line.

use super::Table;
use crate::kernel::math::Real;
use crate::simd::{Isa, fma32, fma64};

/// A type that weighted sums are computed in.
pub trait Sampled: Real {
    /// `a * b + c`, fused where the instruction set has that.
    fn fma<I: Isa>(a: Self, b: Self, c: Self) -> Self;
    /// Truncates to an integer; 0 if the result doesn't fit 32 bits.
    fn to_i32(self) -> i32;
    /// Resamples as many single elements of a row as fill vectors; returns how many.
    #[inline(always)]
    fn vectors<I: Isa>(_line: &[Self], _table: &Table<Self>, _row: &mut [Self]) -> usize {
        0
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
    fn vectors<I: Isa>(line: &[f32], table: &Table<f32>, row: &mut [f32]) -> usize {
        use crate::simd::x86::lookup::{BEHIND, lanes, weighted};
        let lanes = lanes::<I>();
        if lanes == 0 || line.len() < table.size() + BEHIND || table.places() < lanes {
            return 0;
        }
        assert!(row.len() == table.places());
        let (index, weight) = table.columns();
        let mut done = 0;
        while done + lanes <= row.len() {
            // SAFETY: LOOKUP1: a vector of places of each tap (TABLE1), whose indices are at most
            // the size, behind which the line has padding; ISA1.
            let written = unsafe {
                weighted::<I>(
                    line.as_ptr(),
                    index.as_ptr().add(done),
                    weight.as_ptr().add(done),
                    table.places(),
                    table.taps(),
                    row.as_mut_ptr().add(done),
                )
            };
            if !written {
                break;
            }
            done += lanes;
        }
        done
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

/// Resamples a line of `table.size()` pixels of `inner` elements, followed by a pixel of zeros.
/// Weights are added in order, whatever the layout.
#[inline(always)]
pub fn resample_line<I: Isa, A: Sampled>(
    line: &[A],
    table: &Table<A>,
    inner: usize,
    row: &mut [A],
) {
    assert!(line.len() >= (table.size() + 1) * inner && row.len() == table.places() * inner);
    if inner == 1 {
        let done = A::vectors::<I>(line, table, row);
        for tap in 0..table.taps() {
            let (index, weight) = table.column(tap);
            let row = row[done..]
                .iter_mut()
                .zip(&index[done..])
                .zip(&weight[done..]);
            for ((y, i), w) in row {
                // SAFETY: TABLE1: at most the size, which is inside the line by the assertion
                // above.
                let x = unsafe { *line.get_unchecked(*i as usize) };
                *y = if tap == 0 {
                    *w * x
                } else {
                    A::fma::<I>(*w, x, *y)
                };
            }
        }
        return;
    }
    for (place, pixel) in row.chunks_exact_mut(inner).enumerate() {
        for tap in 0..table.taps() {
            let (index, weight) = table.column(tap);
            let (i, w) = (index[place] as usize, weight[place]);
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
