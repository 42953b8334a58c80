//! Byte masks, true where not zero: converted to bits, and the compression of elements by them.

use super::vector::Vector;
use core::arch::x86_64::*;

/// Bytes of a mask that are read together.
pub const BLOCK: usize = 64;

/// Copies the elements of a block whose bits are set to `out`, and returns their number. It may
/// overwrite what follows them.
///
/// # Safety
/// VECTOR1; `x` and `out` hold a block.
#[inline(always)]
pub unsafe fn compress<V: Vector>(x: *const V::Key, bits: u64, out: *mut V::Key) -> usize {
    let mut n = 0;
    for i in (0..BLOCK).step_by(V::LANES) {
        let lanes = (bits >> i) as u32 & ((1 << V::LANES) - 1);
        // SAFETY: VECTOR1; inside the block, since no more is written than was read.
        unsafe { V::load(x.add(i)).compress(lanes).store(out.add(n)) };
        n += lanes.count_ones() as usize;
    }
    n
}

/// A bit for each byte that is not zero.
///
/// # Safety
/// The CPU has AVX-512 (VECTOR1).
#[inline(always)]
pub unsafe fn bits_512(block: &[u8; BLOCK]) -> u64 {
    // SAFETY: VECTOR1, by the caller's promise; the block has 64 bytes.
    unsafe {
        let bytes = _mm512_loadu_si512(block.as_ptr().cast());
        _mm512_test_epi8_mask(bytes, bytes)
    }
}

/// The same with AVX2.
///
/// # Safety
/// The CPU has AVX2 (VECTOR1).
#[inline(always)]
pub unsafe fn bits_256(block: &[u8; BLOCK]) -> u64 {
    // SAFETY: VECTOR1, by the caller's promise; the block has twice 32 bytes.
    unsafe {
        let (low, high) = (
            _mm256_loadu_si256(block.as_ptr().cast()),
            _mm256_loadu_si256(block.as_ptr().add(32).cast()),
        );
        let zero = _mm256_setzero_si256();
        let (low, high) = (_mm256_cmpeq_epi8(low, zero), _mm256_cmpeq_epi8(high, zero));
        !(_mm256_movemask_epi8(low) as u32 as u64
            | (_mm256_movemask_epi8(high) as u32 as u64) << 32)
    }
}
