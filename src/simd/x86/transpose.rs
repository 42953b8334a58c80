//! Transposition of blocks of four-byte elements in registers, which LLVM doesn't vectorise, for
//! copies and kernels alike.
//!
//! Contract BLOCK1: the elements of the block are readable from `from`, and exclusively writable at
//! `to`.

use crate::simd::Isa;
use core::arch::x86_64::*;

/// [`transpose_16x16`] with the widest vectors of a set that has AVX2.
///
/// # Safety
/// ISA1; BLOCK1 for the 256 elements.
#[inline(always)]
pub unsafe fn transpose_16<I: Isa>(
    from: *const u32,
    from_step: isize,
    to: *mut u32,
    to_step: isize,
) {
    assert!(const { I::AVX2 });
    if const { I::AVX512 } {
        // SAFETY: as for this function.
        return unsafe { transpose_16x16(from, from_step, to, to_step) };
    }
    for i in [0, 8] {
        for j in [0, 8] {
            // SAFETY: a quarter of the block.
            unsafe {
                let from = from.byte_offset(from_step * i as isize).add(j);
                let to = to.byte_offset(to_step * j as isize).add(i);
                transpose_8x8(from, from_step, to, to_step);
            }
        }
    }
}

/// Transposes sixteen columns of sixteen elements, `from_step` bytes apart, to sixteen rows,
/// `to_step` bytes apart.
///
/// # Safety
/// The CPU has AVX-512 (ISA1); BLOCK1 for the 256 elements.
#[target_feature(enable = "avx512f")]
pub unsafe fn transpose_16x16(from: *const u32, from_step: isize, to: *mut u32, to_step: isize) {
    // SAFETY: BLOCK1; unaligned loads and stores of sixteen elements each.
    unsafe {
        let mut v = [_mm512_setzero_si512(); 16];
        for (i, v) in v.iter_mut().enumerate() {
            *v = _mm512_loadu_si512(from.byte_offset(from_step * i as isize).cast());
        }
        let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        let high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        // Each round moves one bit of the column's index to the front of the lane's, and the lane's
        // last bit to the register's.
        for _ in 0..4 {
            let mut next = v;
            for i in 0..8 {
                next[2 * i] = _mm512_permutex2var_epi32(v[i], low, v[i + 8]);
                next[2 * i + 1] = _mm512_permutex2var_epi32(v[i], high, v[i + 8]);
            }
            v = next;
        }
        for (j, v) in v.into_iter().enumerate() {
            _mm512_storeu_si512(to.byte_offset(to_step * j as isize).cast(), v);
        }
    }
}

/// Transposes eight columns of eight elements, `from_step` bytes apart, to eight rows, `to_step`
/// bytes apart.
///
/// # Safety
/// The CPU has AVX2 (ISA1); BLOCK1 for the 64 elements.
#[target_feature(enable = "avx2")]
pub unsafe fn transpose_8x8(from: *const u32, from_step: isize, to: *mut u32, to_step: isize) {
    // SAFETY: BLOCK1; unaligned loads and stores of eight elements each.
    unsafe {
        let load = |k: isize| _mm256_loadu_ps(from.byte_offset(from_step * k).cast());
        let a = [
            load(0),
            load(1),
            load(2),
            load(3),
            load(4),
            load(5),
            load(6),
            load(7),
        ];
        let b = [
            _mm256_unpacklo_ps(a[0], a[1]),
            _mm256_unpackhi_ps(a[0], a[1]),
            _mm256_unpacklo_ps(a[2], a[3]),
            _mm256_unpackhi_ps(a[2], a[3]),
            _mm256_unpacklo_ps(a[4], a[5]),
            _mm256_unpackhi_ps(a[4], a[5]),
            _mm256_unpacklo_ps(a[6], a[7]),
            _mm256_unpackhi_ps(a[6], a[7]),
        ];
        let c = [
            _mm256_shuffle_ps(b[0], b[2], 0x44),
            _mm256_shuffle_ps(b[0], b[2], 0xee),
            _mm256_shuffle_ps(b[1], b[3], 0x44),
            _mm256_shuffle_ps(b[1], b[3], 0xee),
            _mm256_shuffle_ps(b[4], b[6], 0x44),
            _mm256_shuffle_ps(b[4], b[6], 0xee),
            _mm256_shuffle_ps(b[5], b[7], 0x44),
            _mm256_shuffle_ps(b[5], b[7], 0xee),
        ];
        for k in 0..4 {
            _mm256_storeu_ps(
                to.byte_offset(to_step * k as isize).cast(),
                _mm256_permute2f128_ps(c[k], c[k + 4], 0x20),
            );
            _mm256_storeu_ps(
                to.byte_offset(to_step * (k as isize + 4)).cast(),
                _mm256_permute2f128_ps(c[k], c[k + 4], 0x31),
            );
        }
    }
}
