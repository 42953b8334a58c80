//! Weighted sums of elements. Elements within a short stretch of a line are looked up by permutes
//! of whole vectors, where a gather would load them one by one; arbitrary elements are loaded in
//! pairs.

use crate::simd::Isa;
use core::arch::x86_64::*;

/// Elements behind a line that lookups may read.
pub const BEHIND: usize = 32;

/// Results per vector; 0 if the set has no variable permutes.
#[inline(always)]
pub const fn lanes<I: Isa>() -> usize {
    if I::AVX512 {
        16
    } else if I::AVX2 {
        8
    } else {
        0
    }
}

/// The largest index of a line that is looked up as a whole.
pub const SHORT: usize = 15;

/// Writes [`lanes`] weighted sums of `taps` elements, accumulated in order by multiply-adds. Index
/// and weight of successive taps are `step` apart. Returns `false`, with nothing written, if the
/// elements of a tap span more than two vectors, or an index is below the first and the line not
/// `short`.
///
/// # Safety
/// LOOKUP1: for each tap, an index and a weight per result are readable, and [`BEHIND`] elements of
/// `line` from its beginning and from each index on; the CPU has the set (ISA1).
#[inline(always)]
pub unsafe fn weighted<I: Isa>(
    line: *const f32,
    short: bool,
    index: *const u32,
    weight: *const f32,
    step: usize,
    taps: usize,
    row: *mut f32,
) -> bool {
    // SAFETY: LOOKUP1: loads cover two vectors from the tap's first index on, or of a short line.
    unsafe {
        if I::AVX512 {
            let mut sum = _mm512_setzero_ps();
            for k in 0..taps {
                let (index, weight) = (index.add(k * step), _mm512_loadu_ps(weight.add(k * step)));
                let first = if short { 0 } else { *index };
                let line = line.add(first as usize);
                let from = _mm512_sub_epi32(
                    _mm512_loadu_si512(index.cast()),
                    _mm512_set1_epi32(first as i32),
                );
                let near = _mm512_cmpgt_epu32_mask(from, _mm512_set1_epi32(15)) == 0;
                let x = if near {
                    _mm512_permutexvar_ps(from, _mm512_loadu_ps(line))
                } else if _mm512_cmpgt_epu32_mask(from, _mm512_set1_epi32(31)) == 0 {
                    _mm512_permutex2var_ps(
                        _mm512_loadu_ps(line),
                        from,
                        _mm512_loadu_ps(line.add(16)),
                    )
                } else {
                    return false;
                };
                sum = if k == 0 {
                    _mm512_mul_ps(weight, x)
                } else {
                    _mm512_fmadd_ps(weight, x, sum)
                };
            }
            _mm512_storeu_ps(row, sum);
            return true;
        }
        if I::AVX2 {
            let mut sum = _mm256_setzero_ps();
            for k in 0..taps {
                let (index, weight) = (index.add(k * step), _mm256_loadu_ps(weight.add(k * step)));
                let first = if short { 0 } else { *index };
                let line = line.add(first as usize);
                let from = _mm256_sub_epi32(
                    _mm256_loadu_si256(index.cast()),
                    _mm256_set1_epi32(first as i32),
                );
                // anything not below 16 has a higher bit set
                let far = _mm256_set1_epi32(!15);
                if _mm256_testz_si256(from, far) == 0 {
                    return false;
                }
                let low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(line), from);
                let x = if _mm256_testz_si256(from, _mm256_set1_epi32(8)) == 1 {
                    low
                } else {
                    let high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(line.add(8)), from);
                    // shifts bit 3 of an index to the sign, which selects
                    let sign = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(from));
                    _mm256_blendv_ps(low, high, sign)
                };
                sum = if k == 0 {
                    _mm256_mul_ps(weight, x)
                } else {
                    _mm256_fmadd_ps(weight, x, sum)
                };
            }
            _mm256_storeu_ps(row, sum);
            return true;
        }
        false
    }
}

/// Points that [`pairs`] computes at once.
pub const POINTS: usize = 8;

/// Writes weighted sums for [`POINTS`] points, accumulated in order by multiply-adds: `pairs` times
/// the element at an index and its successor. Indices of successive pairs, and weights of
/// successive elements, are `step` apart. An element whose own index in `taps` is negative counts
/// as 0.
///
/// A pair is a single 64-bit load. Gathers took four times as long on AMD's Zen 5.
///
/// # Safety
/// LOOKUP2: for each pair, an index per point is readable, and two of `taps` and weights; so are
/// the elements of these indices and their successors, from `first` on; the CPU has AVX2 (ISA1).
#[inline(always)]
pub unsafe fn pairs(
    first: *const f32,
    index: *const i32,
    taps: *const i32,
    weight: *const f32,
    step: usize,
    pairs: usize,
    sums: *mut f32,
) {
    // SAFETY: LOOKUP2.
    unsafe {
        let mut sum = _mm256_setzero_ps();
        for k in 0..pairs {
            // shuffles work within 128-bit halves
            let i = index.add(k * step);
            let low = _mm256_set_m128(two(first, i.add(4)), two(first, i));
            let high = _mm256_set_m128(two(first, i.add(6)), two(first, i.add(2)));
            let (w, own) = (weight.add(2 * k * step), taps.add(2 * k * step));
            let x = unless_none(own, _mm256_shuffle_ps::<0b10_00_10_00>(low, high));
            sum = if k == 0 {
                _mm256_mul_ps(_mm256_loadu_ps(w), x)
            } else {
                _mm256_fmadd_ps(_mm256_loadu_ps(w), x, sum)
            };
            let x = _mm256_shuffle_ps::<0b11_01_11_01>(low, high);
            let x = unless_none(own.add(step), x);
            sum = _mm256_fmadd_ps(_mm256_loadu_ps(w.add(step)), x, sum);
        }
        _mm256_storeu_ps(sums, sum);
    }
}
/// `x`, or zero where an index is negative.
///
/// # Safety
/// LOOKUP2, for [`POINTS`] indices.
#[inline(always)]
unsafe fn unless_none(index: *const i32, x: __m256) -> __m256 {
    // SAFETY: LOOKUP2.
    unsafe {
        let none = _mm256_srai_epi32::<31>(_mm256_loadu_si256(index.cast()));
        _mm256_andnot_ps(_mm256_castsi256_ps(none), x)
    }
}
/// The pairs at two indices.
///
/// # Safety
/// LOOKUP2, for two points.
#[inline(always)]
unsafe fn two(first: *const f32, index: *const i32) -> __m128 {
    // SAFETY: LOOKUP2; these loads need no alignment.
    unsafe {
        let at = |k| first.offset(*index.add(k) as isize).cast::<f64>();
        _mm_castpd_ps(_mm_loadh_pd(_mm_load_sd(at(0)), at(1)))
    }
}
