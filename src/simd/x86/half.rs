//! Conversions between float16 bits and float32. Each converts a leading number of elements, in
//! whole vectors, and returns that number.
//!
//! Contract HALF1: `n` elements are readable from `x`, and exclusively writable at `y`; the CPU has
//! the set.

use crate::simd::Isa;
use core::arch::x86_64::*;

/// Converts to float32.
///
/// # Safety
/// HALF1.
#[inline(always)]
pub unsafe fn widen<I: Isa>(x: *const u16, y: *mut f32, n: usize) -> usize {
    let mut k = 0;
    // SAFETY: HALF1; at least a vector of elements remains from k on.
    unsafe {
        if I::AVX512 {
            while k + 16 <= n {
                _mm512_storeu_ps(
                    y.add(k),
                    _mm512_cvtph_ps(_mm256_loadu_si256(x.add(k).cast())),
                );
                k += 16;
            }
        }
        if I::AVX2 {
            while k + 8 <= n {
                _mm256_storeu_ps(y.add(k), _mm256_cvtph_ps(_mm_loadu_si128(x.add(k).cast())));
                k += 8;
            }
        }
    }
    k
}

/// Converts from float32, to the nearest, ties to even.
///
/// # Safety
/// HALF1.
#[inline(always)]
pub unsafe fn narrow<I: Isa>(x: *const f32, y: *mut u16, n: usize) -> usize {
    let mut k = 0;
    // SAFETY: HALF1; at least a vector of elements remains from k on.
    unsafe {
        if I::AVX512 {
            while k + 16 <= n {
                _mm256_storeu_si256(
                    y.add(k).cast(),
                    _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm512_loadu_ps(x.add(k))),
                );
                k += 16;
            }
        }
        if I::AVX2 {
            while k + 8 <= n {
                _mm_storeu_si128(
                    y.add(k).cast(),
                    _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_loadu_ps(x.add(k))),
                );
                k += 8;
            }
        }
    }
    k
}
