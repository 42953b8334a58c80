//! Pairs of bfloat16, for the dot product instruction of AVX-512 BF16 (VDPBF16PS), which multiplies
//! two pairs and adds both products to a float32, and for AMX.

use super::amx::{self, Multiply, Tiled};
use super::job::PanelJob;
use super::packed::Packed;
use super::tile;
use crate::kernel::gemm::blocking::Blocking;
use crate::simd::{self, Isa, Kernel, Level};
use core::arch::x86_64::*;

/// Two neighbours along the sum, the first in the low half, or the bits of a sum in float32.
/// Unaligned, since pairs of A are read in place.
#[derive(Clone, Copy, Default)]
#[repr(C, packed(2))]
pub struct Bf16Pair(pub u32);

/// TILE1 holds for the job.
struct PairPanel(PanelJob<Bf16Pair>);
impl Kernel for PairPanel {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        // SAFETY: TILE1, by the job's promise; the vectors are those of AVX-512, which the
        // instruction implies.
        unsafe { tile::panel::<I, Bf16Pair, 16, 4>(self.0) }
    }
}

union PairVector<const L: usize> {
    lanes: [Bf16Pair; L],
    pairs: __m512bh,
    sums: __m512,
}

impl Bf16Pair {
    /// `a * b + c` for arrays: `a` and `b` are pairs, `c` is sums.
    #[inline(always)]
    #[expect(
        clippy::extra_unused_type_parameters,
        reason = "the signature of all forms"
    )]
    fn multiply<I: Isa, const L: usize>(a: [Self; L], b: [Self; L], c: [Self; L]) -> [Self; L] {
        const { assert!(L == 16) };
        // SAFETY: called by `PairPanel` alone, with AVX-512 BF16; 16 lanes of four bytes are a
        // vector.
        unsafe {
            let [a, b, c] = [a, b, c].map(|lanes| PairVector { lanes });
            let sums = _mm512_dpbf16_ps(c.sums, a.pairs, b.pairs);
            PairVector { sums }.lanes
        }
    }
    /// The float of these bits: of a sum, or of a bfloat16 shifted to the upper half.
    fn float(bits: u32) -> f32 {
        f32::from_bits(bits)
    }
}
// SAFETY: LANE1: four bytes; any bits are a value.
unsafe impl Packed for Bf16Pair {
    /// Lane by lane, for completeness: tiles multiply arrays.
    #[inline(always)]
    fn mul_add<I: Isa>(a: Self, b: Self, c: Self) -> Self {
        let (high, low) = (|x: Self| x.0 & 0xffff_0000, |x: Self| x.0 << 16);
        let product = |x: u32, y: u32| Self::float(x) * Self::float(y);
        let sum = Self::float(c.0) + product(high(a), high(b)) + product(low(a), low(b));
        Bf16Pair(sum.to_bits())
    }
    sums! { lanes Self::multiply }
    #[inline(always)]
    fn mul(a: Self, b: Self) -> Self {
        Bf16Pair((Self::float(a.0) * Self::float(b.0)).to_bits())
    }
    #[inline(always)]
    fn add(a: Self, b: Self) -> Self {
        Bf16Pair((Self::float(a.0) + Self::float(b.0)).to_bits())
    }
    #[inline(always)]
    fn shape(_: Level) -> (usize, usize) {
        (16, 4)
    }
    #[inline(always)]
    unsafe fn panel<I: Isa>(job: PanelJob<Self>) {
        // SAFETY: TILE1 is the caller's promise; pairs are used only on CPUs with an instruction
        // for them.
        unsafe {
            match simd::has_amx() {
                true => amx::panel(job),
                false => simd::call_bf16(PairPanel(job)),
            }
        }
    }
    #[inline]
    fn is_tiled() -> bool {
        simd::has_amx()
    }
    const UNROLLED: bool = true;
    const BLOCKING: Blocking = Blocking::BF16_PAIRS;
}
impl Tiled for Bf16Pair {
    const MULTIPLY: Multiply = Multiply::Bf16;
}
