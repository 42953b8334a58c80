//! Halves of bytes times floats.

use crate::simd::Isa;
use core::arch::x86_64::*;

/// The sums, lane by lane, of the lower halves of 16 bytes after the other, -8 to 7, times `low`, and the upper
/// halves times `high`; none without AVX-512, whose one register is the table of their values.
#[inline(always)]
pub fn dot<I: Isa>(q: &[[u8; 16]], low: &[[f32; 16]], high: &[[f32; 16]]) -> Option<[f32; 16]> {
    if !I::AVX512 {
        return None;
    }
    let mut lanes = [0.0; 16];
    // SAFETY: AVX-512 (ISA1); arrays of as many bytes and floats as are read and written.
    unsafe {
        let values = _mm512_setr_ps(
            0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0,
        );
        let (mut x, mut y) = (_mm512_setzero_ps(), _mm512_setzero_ps());
        for ((q, low), high) in q.iter().zip(low).zip(high) {
            let q = _mm512_cvtepu8_epi32(_mm_loadu_si128(q.as_ptr().cast()));
            // an index is the last four bits of its lane
            let first = _mm512_permutexvar_ps(q, values);
            let second = _mm512_permutexvar_ps(_mm512_srli_epi32::<4>(q), values);
            x = _mm512_fmadd_ps(first, _mm512_loadu_ps(low.as_ptr()), x);
            y = _mm512_fmadd_ps(second, _mm512_loadu_ps(high.as_ptr()), y);
        }
        _mm512_storeu_ps(lanes.as_mut_ptr(), _mm512_add_ps(x, y));
    }
    Some(lanes)
}
