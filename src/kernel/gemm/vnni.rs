//! Groups of four bytes, for the instruction that multiplies unsigned by signed ones and adds up to
//! 32 bits: AVX-512 with VNNI.

use super::bytes::Group;
use super::element::Lane;
use super::mat::Mat;
use super::pack::Packing;
use super::tile::{self, Strips};
use crate::simd::{self, Isa, Kernel, Level};
use core::arch::x86_64::*;

/// Four neighbours of A, `SIGNED` or not, or of B, the other way round. Wherever they lie: groups
/// of A are read in place.
#[derive(Clone, Copy, Default)]
#[repr(C, packed)]
pub struct Quad<const SIGNED: bool>(u32);

/// TILE1 holds for the job.
struct Tiles<const SIGNED: bool>(Strips<Quad<SIGNED>>);
impl<const SIGNED: bool> Kernel for Tiles<SIGNED> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        // SAFETY: TILE1, by the job's promise.
        unsafe { tile::strips::<I, Quad<SIGNED>, 16, 4>(self.0) }
    }
}

/// The sum of each row of A.
///
/// # Safety
/// The CPU has AVX-512 and VNNI.
#[target_feature(enable = "avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx2,fma,bmi2")]
unsafe fn row_sums<const SIGNED: bool>(a: Mat<u8>, sums: &mut [u32]) {
    let value = |x: u8| if SIGNED { x as i8 as u32 } else { x as u32 };
    if a.cs() != 1 {
        sums.fill(0);
        for p in 0..a.cols() {
            for (i, sum) in sums.iter_mut().enumerate() {
                // SAFETY: MAT1: `p` is below the columns, and there is a sum for each row.
                *sum = sum.wrapping_add(value(unsafe { a.get(i, p) }));
            }
        }
        return;
    }
    let one = _mm512_set1_epi8(1);
    for (i, sum) in sums.iter_mut().enumerate() {
        // SAFETY: MAT1: a row, whose elements are side by side.
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
        *sum = rest.iter().fold(_mm512_reduce_add_epi32(x) as u32, |s, x| {
            s.wrapping_add(value(*x))
        });
    }
}

union Cast<const SIGNED: bool, const L: usize> {
    lanes: [Quad<SIGNED>; L],
    vector: __m512i,
}

impl<const SIGNED: bool> Quad<SIGNED> {
    /// `a * b + c` for arrays.
    #[inline(always)]
    #[expect(
        clippy::extra_unused_type_parameters,
        reason = "the signature of all forms"
    )]
    fn multiply<I: Isa, const L: usize>(a: [Self; L], b: [Self; L], c: [Self; L]) -> [Self; L] {
        const { assert!(L == 16) };
        // SAFETY: called by `Tiles` alone, under VNNI; 16 lanes of four bytes are a vector.
        unsafe {
            let [a, b, c] = [a, b, c].map(|lanes| Cast { lanes }.vector);
            let vector = if SIGNED {
                _mm512_dpbusd_epi32(c, b, a)
            } else {
                _mm512_dpbusd_epi32(c, a, b)
            };
            Cast { vector }.lanes
        }
    }
}
// SAFETY: LANE1: four bytes; any bits are a value.
unsafe impl<const SIGNED: bool> Lane for Quad<SIGNED> {
    /// Lane by lane, for completeness: tiles multiply arrays.
    #[inline(always)]
    fn mul_add<I: Isa>(a: Self, b: Self, c: Self) -> Self {
        let (a, b) = ({ a.0 }.to_le_bytes(), { b.0 }.to_le_bytes());
        let value = |x: u8, signed: bool| if signed { x as i8 as i32 } else { x as i32 };
        let products = (0..4).map(|q| value(a[q], SIGNED) * value(b[q], !SIGNED));
        Quad({ c.0 }.wrapping_add(products.sum::<i32>() as u32))
    }
    sums! { lanes Self::multiply }
    #[inline(always)]
    fn mul(a: Self, b: Self) -> Self {
        Quad({ a.0 }.wrapping_mul(b.0))
    }
    #[inline(always)]
    fn add(a: Self, b: Self) -> Self {
        Quad({ a.0 }.wrapping_add(b.0))
    }
    #[inline(always)]
    fn tile(_: Level) -> (usize, usize) {
        (16, 4)
    }
    #[inline(always)]
    unsafe fn strips<I: Isa>(job: Strips<Self>) {
        // SAFETY: TILE1 is the caller's; these lanes are chosen where there is VNNI.
        unsafe { simd::call_vnni(Tiles(job)) }
    }
}

/// Groups as they are, or all top bits turned round.
#[derive(Clone, Copy)]
pub struct Flip<const SIGNED: bool>(u8);
impl<const SIGNED: bool> Packing for Flip<SIGNED> {
    type From = u8;
    type To = Quad<SIGNED>;
    const GROUP: usize = 4;
    #[inline(always)]
    fn nothing(self) -> u8 {
        self.0
    }
    #[inline(always)]
    fn lane(self, x: [u8; 4]) -> Quad<SIGNED> {
        let [a, b, c, d] = x.map(u32::from);
        Quad((a | b << 8 | c << 16 | d << 24) ^ (self.0 as u32 * 0x0101_0101))
    }
    #[inline(always)]
    fn run<I: Isa>(self, s: &[u8], d: &mut [Quad<SIGNED>]) {
        let flip = self.0 as u32 * 0x0101_0101;
        for (s, d) in s.as_chunks().0.iter().zip(d) {
            *d = Quad(u32::from_le_bytes(*s) ^ flip);
        }
    }
    /// 64 columns at a time: bytes of four rows are interleaved within quarters of a register, so
    /// those are exchanged before.
    #[inline(always)]
    fn across<I: Isa>(self, s: [&[u8]; 4], d: &mut [Quad<SIGNED>]) {
        // The other levels never pack these lanes.
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
        for j in whole..d.len() {
            d[j] = self.lane([s[0][j], s[1][j], s[2][j], s[3][j]]);
        }
    }
}
impl<const SIGNED: bool> Group for Quad<SIGNED> {
    type Packing = Flip<SIGNED>;
    const IN_PLACE: bool = true;
    fn left(signed: bool) -> Flip<SIGNED> {
        debug_assert_eq!(signed, SIGNED);
        Flip(0)
    }
    fn right(signed: bool, left: bool) -> (Flip<SIGNED>, i32) {
        match (left, signed) {
            // B is 128 more than it was, or 128 less.
            (true, true) => (Flip(0x80), -128),
            (false, false) => (Flip(0x80), 128),
            _ => (Flip(0), 0),
        }
    }
    fn row_sums(a: Mat<u8>, sums: &mut [u32]) {
        // SAFETY: these lanes are chosen where there is VNNI.
        unsafe { row_sums::<SIGNED>(a, sums) }
    }
}
