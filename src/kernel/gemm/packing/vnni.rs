//! Groups of four bytes, as VNNI, or AVX2 in three steps, multiplies them: unsigned by signed bytes.

use super::Packing;
use crate::kernel::gemm::matrix::Mat;
use crate::kernel::gemm::microkernel::Quad;
use crate::simd::{self, Isa, Kernel, Level};
use core::arch::x86_64::*;

/// Groups as they are (0), or with all top bits flipped (0x80), which shifts values by 128.
#[derive(Clone, Copy)]
pub struct Flip<const SIGNED: bool, const VNNI: bool>(pub u8);
impl<const SIGNED: bool, const VNNI: bool> Packing for Flip<SIGNED, VNNI> {
    type From = u8;
    type To = Quad<SIGNED, VNNI>;
    const GROUP: usize = 4;
    moved_as_itself!();
    #[inline(always)]
    fn padding(self) -> u8 {
        self.0
    }
    fn in_place(self) -> bool {
        self.0 == 0
    }
    #[inline(always)]
    fn lane(self, x: [u8; 4]) -> Quad<SIGNED, VNNI> {
        let [a, b, c, d] = x.map(u32::from);
        Quad((a | b << 8 | c << 16 | d << 24) ^ (self.0 as u32 * 0x0101_0101))
    }
    #[inline(always)]
    fn run<I: Isa>(self, s: &[u8], d: &mut [Quad<SIGNED, VNNI>]) {
        let flip = self.0 as u32 * 0x0101_0101;
        for (s, d) in s.as_chunks().0.iter().zip(d) {
            *d = Quad(u32::from_le_bytes(*s) ^ flip);
        }
    }
    /// 64 columns at a time: unpacking interleaves bytes within 128-bit quarters of a register, so
    /// words are permuted between the quarters first. Without AVX-512 a quarter at a time.
    #[inline(always)]
    fn across<I: Isa>(self, s: [&[u8]; 4], d: &mut [Quad<SIGNED, VNNI>]) {
        let whole = if const { I::AVX512 } {
            d.len() / 64 * 64
        } else {
            0
        };
        let s = s.map(|s| &s[..d.len()]);
        for j in (0..whole).step_by(64) {
            // SAFETY: AVX-512 BW (ISA1); 64 bytes of each row and 64 lanes of `d`.
            unsafe {
                let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
                let flip = _mm512_set1_epi8(self.0 as i8);
                let row = |q: usize| {
                    let x = _mm512_loadu_si512(s[q].as_ptr().add(j) as *const __m512i);
                    _mm512_permutexvar_epi32(order, _mm512_xor_si512(x, flip))
                };
                let [a, b, c, e] = [row(0), row(1), row(2), row(3)];
                let (low, high) = (_mm512_unpacklo_epi8(a, b), _mm512_unpackhi_epi8(a, b));
                let (low2, high2) = (_mm512_unpacklo_epi8(c, e), _mm512_unpackhi_epi8(c, e));
                let d = d.as_mut_ptr().add(j) as *mut __m512i;
                _mm512_storeu_si512(d, _mm512_unpacklo_epi16(low, low2));
                _mm512_storeu_si512(d.add(1), _mm512_unpackhi_epi16(low, low2));
                _mm512_storeu_si512(d.add(2), _mm512_unpacklo_epi16(high, high2));
                _mm512_storeu_si512(d.add(3), _mm512_unpackhi_epi16(high, high2));
            }
        }
        let quarters = d.len() / 16 * 16;
        for j in (whole..quarters).step_by(16) {
            // SAFETY: SSE2; 16 bytes of each row and 16 lanes of `d`.
            unsafe {
                let flip = _mm_set1_epi8(self.0 as i8);
                let row = |q: usize| {
                    let x = _mm_loadu_si128(s[q].as_ptr().add(j) as *const __m128i);
                    _mm_xor_si128(x, flip)
                };
                let [a, b, c, e] = [row(0), row(1), row(2), row(3)];
                let (low, high) = (_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b));
                let (low2, high2) = (_mm_unpacklo_epi8(c, e), _mm_unpackhi_epi8(c, e));
                let d = d.as_mut_ptr().add(j) as *mut __m128i;
                _mm_storeu_si128(d, _mm_unpacklo_epi16(low, low2));
                _mm_storeu_si128(d.add(1), _mm_unpackhi_epi16(low, low2));
                _mm_storeu_si128(d.add(2), _mm_unpacklo_epi16(high, high2));
                _mm_storeu_si128(d.add(3), _mm_unpackhi_epi16(high, high2));
            }
        }
        for j in quarters.max(whole)..d.len() {
            d[j] = self.lane([s[0][j], s[1][j], s[2][j], s[3][j]]);
        }
    }
    fn offset(self) -> i32 {
        match (self.0, SIGNED) {
            (0, _) => 0,
            (_, true) => 128,
            (_, false) => -128,
        }
    }
    fn row_sums(a: Mat<u8>, factor: i32, sums: &mut [Quad<SIGNED, VNNI>]) {
        match simd::level() {
            // SAFETY: these groups are used with AVX-512 only on CPUs with VNNI.
            Level::Avx512 => unsafe { row_sums::<SIGNED, VNNI>(a, factor, sums) },
            _ => simd::call(RowSums(a, factor, sums)),
        }
    }
}

/// `factor` times the sum of each row of A.
struct RowSums<'a, const SIGNED: bool, const VNNI: bool>(
    Mat<'a, u8>,
    i32,
    &'a mut [Quad<SIGNED, VNNI>],
);
impl<const SIGNED: bool, const VNNI: bool> Kernel for RowSums<'_, SIGNED, VNNI> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let RowSums(a, factor, sums) = self;
        let value = |x: u8| if SIGNED { x as i8 as u32 } else { x as u32 };
        for (i, sum) in sums.iter_mut().enumerate() {
            let mut x = 0u32;
            if a.cs() == 1 {
                // SAFETY: MAT1: a row, whose elements are contiguous.
                let row = unsafe { core::slice::from_raw_parts(a.at(i, 0), a.cols()) };
                row.iter().for_each(|q| x = x.wrapping_add(value(*q)));
            } else {
                // SAFETY: MAT1: `p` is less than the columns, and there is a sum for each row.
                (0..a.cols()).for_each(|p| x = x.wrapping_add(value(unsafe { a.get(i, p) })));
            }
            *sum = Quad(x.wrapping_mul(factor as u32));
        }
    }
}

/// The same by dot product instructions.
///
/// # Safety
/// The CPU has AVX-512 and VNNI.
#[target_feature(enable = "avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,bmi2")]
unsafe fn row_sums<const SIGNED: bool, const VNNI: bool>(
    a: Mat<u8>,
    factor: i32,
    sums: &mut [Quad<SIGNED, VNNI>],
) {
    let value = |x: u8| if SIGNED { x as i8 as u32 } else { x as u32 };
    let scaled = |sum: u32| Quad(sum.wrapping_mul(factor as u32));
    if a.cs() != 1 {
        sums.fill(Quad(0));
        for p in 0..a.cols() {
            for (i, sum) in sums.iter_mut().enumerate() {
                // SAFETY: MAT1: `p` is less than the columns, and there is a sum for each row.
                *sum = Quad({ sum.0 }.wrapping_add(value(unsafe { a.get(i, p) })));
            }
        }
        sums.iter_mut().for_each(|sum| *sum = scaled(sum.0));
        return;
    }
    let one = _mm512_set1_epi8(1);
    for (i, sum) in sums.iter_mut().enumerate() {
        // SAFETY: MAT1: a row, whose elements are contiguous.
        let row = unsafe { core::slice::from_raw_parts(a.at(i, 0), a.cols()) };
        let (vectors, rest) = row.as_chunks::<64>();
        let mut x = [_mm512_setzero_si512(); 4];
        for (v, bytes) in vectors.iter().enumerate() {
            // SAFETY: an array of 64 bytes, as many as are read.
            let bytes = unsafe { _mm512_loadu_si512(bytes.as_ptr() as *const __m512i) };
            let x = &mut x[v % 4];
            *x = if SIGNED {
                _mm512_dpbusd_epi32(*x, one, bytes)
            } else {
                _mm512_dpbusd_epi32(*x, bytes, one)
            };
        }
        let x = _mm512_add_epi32(_mm512_add_epi32(x[0], x[1]), _mm512_add_epi32(x[2], x[3]));
        *sum = scaled(rest.iter().fold(_mm512_reduce_add_epi32(x) as u32, |s, x| {
            s.wrapping_add(value(*x))
        }));
    }
}
