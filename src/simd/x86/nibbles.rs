//! Products of nibbles, -8 to 7, with floats: 128 at a time, as 16 words of eight.

use crate::simd::Isa;
use core::arch::x86_64::*;

/// Numbers per step.
pub const CHUNK: usize = 128;

/// Whether rows of `k` in blocks of this size are supported: a chunk has 1, 2, 4 or 8 scales.
pub fn takes(k: usize, block: usize) -> bool {
    let whole =
        block > 0 && (block.is_multiple_of(CHUNK) || CHUNK.is_multiple_of(block) && block >= 16);
    whole && k.is_multiple_of(CHUNK)
}

/// Arranges factors in the order in which [`row`] reads them: for each chunk those of the first
/// nibble of each word, then those of the second ..
pub fn in_order(x: &[f32], d: &mut [f32]) {
    for (x, d) in x
        .as_chunks::<CHUNK>()
        .0
        .iter()
        .zip(d.as_chunks_mut::<CHUNK>().0)
    {
        for (i, d) in d.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            for (l, d) in d.iter_mut().enumerate() {
                *d = x[8 * l + i];
            }
        }
    }
}

/// The dot product of a row with its factors, which are [in order](in_order), with the scales of
/// its blocks. `None` without AVX2. Panics unless [`takes`] holds and lengths match.
#[inline(always)]
pub fn row<I: Isa>(q: &[u8], x: &[f32], scales: &[f32], block: usize) -> Option<f32> {
    let k = x.len();
    assert!(takes(k, block) && q.len() == k / 2 && scales.len() == k / block);
    // SAFETY: the set (ISA1); chunks of the row and of the factors, and the scales of a chunk's
    // blocks, are within bounds by the lengths above.
    unsafe {
        if I::AVX512 {
            Some(row512(q, x, scales, block))
        } else if I::AVX2 {
            Some(row256(q, x, scales, block))
        } else {
            None
        }
    }
}

/// The index of each lane's scale in a chunk, and the number of scales.
#[inline(always)]
fn places(block: usize) -> ([i32; 16], usize) {
    let count = (CHUNK / block).max(1);
    (core::array::from_fn(|l| (l * count / 16) as i32), count)
}

/// # Safety
/// AVX-512; lengths as in [`row`].
#[inline(always)]
unsafe fn row512(q: &[u8], x: &[f32], scales: &[f32], block: usize) -> f32 {
    let (place, count) = places(block);
    // SAFETY: by the caller's promise.
    unsafe {
        // permutes use the low four bits of a lane as index
        let values = _mm512_setr_ps(
            0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0,
        );
        let place = _mm512_loadu_si512(place.as_ptr().cast());
        let present = (1u32 << count).wrapping_sub(1) as __mmask16;
        let mut sum = _mm512_setzero_ps();
        for c in 0..x.len() / CHUNK {
            let words = _mm512_loadu_si512(q.as_ptr().add(c * CHUNK / 2).cast());
            let x = x.as_ptr().add(c * CHUNK);
            let (mut even, mut odd) = (_mm512_setzero_ps(), _mm512_setzero_ps());
            macro_rules! step {
                ($sum:ident $i:literal) => {
                    let number =
                        _mm512_permutexvar_ps(_mm512_srli_epi32::<{ 4 * $i }>(words), values);
                    $sum = _mm512_fmadd_ps(number, _mm512_loadu_ps(x.add(16 * $i)), $sum);
                };
            }
            step!(even 0);
            step!(odd 1);
            step!(even 2);
            step!(odd 3);
            step!(even 4);
            step!(odd 5);
            step!(even 6);
            step!(odd 7);
            let scale = _mm512_maskz_loadu_ps(present, scales.as_ptr().add(c * CHUNK / block));
            let scale = _mm512_permutexvar_ps(place, scale);
            sum = _mm512_fmadd_ps(_mm512_add_ps(even, odd), scale, sum);
        }
        _mm512_reduce_add_ps(sum)
    }
}

/// # Safety
/// AVX2 with FMA; lengths as in [`row`].
#[inline(always)]
unsafe fn row256(q: &[u8], x: &[f32], scales: &[f32], block: usize) -> f32 {
    let (place, count) = places(block);
    let present: [i32; 8] = core::array::from_fn(|l| if l < count { -1 } else { 0 });
    // SAFETY: by the caller's promise.
    unsafe {
        let present = _mm256_loadu_si256(present.as_ptr().cast());
        let mut sums = [_mm256_setzero_ps(); 2];
        for c in 0..x.len() / CHUNK {
            let scale = _mm256_maskload_ps(scales.as_ptr().add(c * CHUNK / block), present);
            for (h, sum) in sums.iter_mut().enumerate() {
                let words = _mm256_loadu_si256(q.as_ptr().add(c * CHUNK / 2 + 32 * h).cast());
                let x = x.as_ptr().add(c * CHUNK + 8 * h);
                let (mut even, mut odd) = (_mm256_setzero_ps(), _mm256_setzero_ps());
                macro_rules! step {
                    ($sum:ident $i:literal) => {
                        let number =
                            _mm256_srai_epi32::<28>(_mm256_slli_epi32::<{ 28 - 4 * $i }>(words));
                        let number = _mm256_cvtepi32_ps(number);
                        $sum = _mm256_fmadd_ps(number, _mm256_loadu_ps(x.add(16 * $i)), $sum);
                    };
                }
                step!(even 0);
                step!(odd 1);
                step!(even 2);
                step!(odd 3);
                step!(even 4);
                step!(odd 5);
                step!(even 6);
                step!(odd 7);
                let place = _mm256_loadu_si256(place.as_ptr().add(8 * h).cast());
                let scale = _mm256_permutevar8x32_ps(scale, place);
                *sum = _mm256_fmadd_ps(_mm256_add_ps(even, odd), scale, *sum);
            }
        }
        let mut lanes = [0.0f32; 8];
        _mm256_storeu_ps(lanes.as_mut_ptr(), _mm256_add_ps(sums[0], sums[1]));
        lanes.iter().sum()
    }
}
