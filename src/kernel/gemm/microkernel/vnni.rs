//! Groups of four bytes, for the dot product instruction of VNNI (VPDPBUSD), with AVX-512 or AVX2:
//! it multiplies unsigned by signed bytes and adds the products to 32-bit sums. Of many rows, AMX
//! multiplies the same groups.
//!
//! AVX2 alone has it in three steps, the first of which (VPMADDUBSW) adds two products in 16 bits and
//! saturates: exact where the magnitudes of the signed bytes of each pair add up to at most 128.

use super::amx::{self, Multiply, Tiled};
use super::job::PanelJob;
use super::packed::Packed;
use super::tile;
use crate::kernel::gemm::blocking::Blocking;
use crate::simd::{self, Isa, Kernel, Level};
use core::arch::x86_64::*;

/// Four neighbours along the sum: of A, `SIGNED` or not, or of B, the other way round. Unaligned,
/// since groups of A are read in place. For VNNI, or else for AVX2, if the signed ones are narrow.
#[derive(Clone, Copy, Default)]
#[repr(C, packed)]
pub struct Quad<const SIGNED: bool, const VNNI: bool>(pub u32);

/// TILE1 holds for the job.
struct QuadPanel<const SIGNED: bool, const VNNI: bool>(PanelJob<Quad<SIGNED, VNNI>>);
impl<const SIGNED: bool, const VNNI: bool> Kernel for QuadPanel<SIGNED, VNNI> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        // SAFETY: TILE1, by the job's promise; the vectors are those of the level.
        unsafe {
            if const { I::AVX512 } {
                tile::panel::<I, Quad<SIGNED, VNNI>, 16, 4>(self.0)
            } else {
                tile::panel::<I, Quad<SIGNED, VNNI>, 8, 2>(self.0)
            }
        }
    }
}

union QuadVector<const SIGNED: bool, const VNNI: bool, const L: usize> {
    lanes: [Quad<SIGNED, VNNI>; L],
    vector: __m512i,
    half: __m256i,
}

impl<const SIGNED: bool, const VNNI: bool> Quad<SIGNED, VNNI> {
    /// `a * b + c` for arrays.
    #[inline(always)]
    #[expect(
        clippy::extra_unused_type_parameters,
        reason = "the signature of all forms"
    )]
    fn multiply<I: Isa, const L: usize>(a: [Self; L], b: [Self; L], c: [Self; L]) -> [Self; L] {
        const { assert!(L == 16 || L == 8) };
        // SAFETY: called by `QuadPanel` alone, with VNNI, or by `panel` for AVX2; 16 or 8 lanes of
        // four bytes are a vector of the level.
        unsafe {
            let [a, b, c] = [a, b, c].map(|lanes| QuadVector { lanes });
            if const { L == 16 } {
                let (a, b, c) = (a.vector, b.vector, c.vector);
                let (unsigned, signed) = if SIGNED { (b, a) } else { (a, b) };
                let vector = _mm512_dpbusd_epi32(c, unsigned, signed);
                QuadVector { vector }.lanes
            } else {
                let (a, b, c) = (a.half, b.half, c.half);
                let (unsigned, signed) = if SIGNED { (b, a) } else { (a, b) };
                let half = if const { VNNI } {
                    _mm256_dpbusd_avx_epi32(c, unsigned, signed)
                } else {
                    let pairs = _mm256_maddubs_epi16(unsigned, signed);
                    _mm256_add_epi32(c, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
                };
                QuadVector { half }.lanes
            }
        }
    }
}
// SAFETY: LANE1: four bytes; any bits are a value.
unsafe impl<const SIGNED: bool, const VNNI: bool> Packed for Quad<SIGNED, VNNI> {
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
    fn shape(level: Level) -> (usize, usize) {
        match level {
            Level::Avx512 => (16, 4),
            _ => (8, 2),
        }
    }
    #[inline(always)]
    unsafe fn panel<I: Isa>(job: PanelJob<Self>) {
        // SAFETY: TILE1 is the caller's promise; these lanes are used only on CPUs with VNNI, or with
        // AVX2.
        unsafe {
            if const { VNNI } {
                match simd::has_amx() && job.rows >= amx::FEWEST_ROWS {
                    true => amx::panel(job),
                    false => simd::call_vnni::<I, _>(QuadPanel(job)),
                }
            } else if const { I::AVX2 && !I::AVX512 } {
                QuadPanel(job).run::<I>()
            } else {
                unreachable!("narrow bytes are for AVX2")
            }
        }
    }
    #[inline]
    fn is_tiled() -> bool {
        VNNI && simd::has_amx()
    }
    const UNROLLED: bool = true;
    const STEP_BY_STEP: bool = !VNNI;
    const BLOCKING: Blocking = Blocking::BYTES;
}
impl<const SIGNED: bool, const VNNI: bool> Tiled for Quad<SIGNED, VNNI> {
    const MULTIPLY: Multiply = match SIGNED {
        true => Multiply::SignedUnsigned,
        false => Multiply::UnsignedSigned,
    };
}
