//! Packing of pairs of bfloat16, of bfloat16 or of float32 that is rounded to it.

use super::Packing;
use crate::dtype::bf16;
use crate::kernel::convert::Widen;
use crate::kernel::gemm::microkernel::Bf16Pair;
use crate::simd::Isa;
use core::arch::x86_64::*;

/// Two neighbours along the sum, their bits unchanged.
#[derive(Clone, Copy)]
pub struct Interleave;
impl Packing for Interleave {
    type From = u16;
    type To = Bf16Pair;
    const GROUP: usize = 2;
    moved_as_itself!();
    #[inline(always)]
    fn padding(self) -> u16 {
        0
    }
    fn in_place(self) -> bool {
        true
    }
    #[inline(always)]
    fn lane(self, x: [u16; 4]) -> Bf16Pair {
        Bf16Pair(x[0] as u32 | (x[1] as u32) << 16)
    }
    /// Interleaves 32 columns of both rows at a time.
    #[inline(always)]
    fn across<I: Isa>(self, s: [&[u16]; 4], d: &mut [Bf16Pair]) {
        const AT_ONCE: usize = 32;
        let s = s.map(|s| &s[..d.len()]);
        let whole = match const { I::AVX512 } {
            true => d.len() / AT_ONCE * AT_ONCE,
            false => 0,
        };
        for j in (0..whole).step_by(AT_ONCE) {
            // SAFETY: AVX-512 BW (ISA1); 32 elements of each row and as many lanes of `d`.
            unsafe {
                // a pair is element `l` of the first row, and `32 + l`: element `l` of the second
                let first = _mm512_set1_epi32(32 << 16);
                let lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                let order =
                    _mm512_add_epi32(first, _mm512_mullo_epi32(lane, _mm512_set1_epi32(0x1_0001)));
                let after = _mm512_add_epi32(order, _mm512_set1_epi32(0x10_0010));
                let row = |q: usize| _mm512_loadu_si512(s[q].as_ptr().add(j) as *const __m512i);
                let (a, b) = (row(0), row(1));
                let d = d.as_mut_ptr().add(j) as *mut __m512i;
                _mm512_storeu_si512(d, _mm512_permutex2var_epi16(a, order, b));
                _mm512_storeu_si512(d.add(1), _mm512_permutex2var_epi16(a, after, b));
            }
        }
        for j in whole..d.len() {
            d[j] = self.lane([s[0][j], s[1][j], 0, 0]);
        }
    }
}

kernel! {
    /// Rounds rows of `width` elements to bfloat16, and pairs each two neighbours along the rows;
    /// the last of an odd number is paired with zeros.
    pub fn rounded_pairs<'a>(rows: &'a [f32], width: usize, pairs: &'a mut [Bf16Pair]) -> () { |I|
        for (rows, pairs) in rows.chunks(2 * width).zip(pairs.chunks_exact_mut(width)) {
            let (first, second) = rows.split_at(width);
            if second.is_empty() {
                for (pair, x) in pairs.iter_mut().zip(first) {
                    *pair = rounded_pair(*x, 0.0);
                }
            }
            for ((pair, x), y) in pairs.iter_mut().zip(first).zip(second) {
                *pair = rounded_pair(*x, *y);
            }
        }
    }
}
/// Two elements, rounded to bfloat16.
#[inline(always)]
fn rounded_pair(x: f32, y: f32) -> Bf16Pair {
    let bits = |x: f32| bf16::narrow(x).to_bits() as u32;
    Bf16Pair(bits(x) | bits(y) << 16)
}
