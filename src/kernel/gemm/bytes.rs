//! Products of 8-bit integers: exact in 32 bits (wrapping); 8-bit results are the low eight bits.
//!
//! Neighbours along the sum are packed into groups, and one instruction multiplies the groups of a
//! vector and adds up the products within each: four bytes if the CPU has VNNI, otherwise pairs of
//! 16-bit elements (the 8-bit instruction before VNNI saturates). With AVX2 that instruction serves
//! signed bytes that are narrow: where no two neighbours of a group have magnitudes above 128 in sum,
//! as weights of seven bits always have. It takes three steps for what pairs take four.
//!
//! VNNI multiplies unsigned bytes by signed ones. A is taken as it is, so that it is read in place;
//! B gets the other signedness while it is packed. Flipping a byte's top bit moves its value up or
//! down by 128, so sums are off by 128 times the sum of A's row, and their initial values
//! compensate for it.

use super::element::MatElement;
#[cfg(feature = "quant")]
use super::matrix::Mat;
use super::microkernel::Packed;
#[cfg(x86_dispatch)]
use super::packing::Flip;
use super::packing::{Extend, Packing};

/// A group that is itself an element of products.
pub trait Word: Packed + MatElement<Acc = Self> {}
impl<T: Packed + MatElement<Acc = T>> Word for T {}

/// How bytes are packed into groups.
pub trait Group: Packing<From = u8, To: Word> {
    /// The packing of A, by its signedness.
    fn left(signed: bool) -> Self;
    /// The packing of B by its signedness, for an A of signedness `left`.
    fn right(signed: bool, left: bool) -> Self;
}
impl Group for Extend {
    fn left(signed: bool) -> Extend {
        Extend(if signed { 0x80 } else { 0 })
    }
    fn right(signed: bool, _: bool) -> Extend {
        Self::left(signed)
    }
}
#[cfg(x86_dispatch)]
impl<const SIGNED: bool, const VNNI: bool> Group for Flip<SIGNED, VNNI> {
    fn left(signed: bool) -> Self {
        debug_assert_eq!(signed, SIGNED);
        Flip(0)
    }
    fn right(signed: bool, left: bool) -> Self {
        Flip(if signed == left { 0x80 } else { 0 })
    }
}

/// Evaluates `expression` with the groups of this CPU, by the signedness of A, a constant.
#[cfg(x86_dispatch)]
macro_rules! with_groups {
    ($signed:expr, |$G:ident| $expression:expr) => {
        if !$crate::simd::has_vnni() {
            type $G = $crate::kernel::gemm::packing::Extend;
            $expression
        } else if const { $signed } {
            type $G = $crate::kernel::gemm::packing::Flip<true, true>;
            $expression
        } else {
            type $G = $crate::kernel::gemm::packing::Flip<false, true>;
            $expression
        }
    };
}
#[cfg(not(x86_dispatch))]
macro_rules! with_groups {
    ($signed:expr, |$G:ident| $expression:expr) => {{
        type $G = $crate::kernel::gemm::packing::Extend;
        $expression
    }};
}
pub(crate) use with_groups;

/// Whether narrow bytes are multiplied in groups of their own.
#[cfg(feature = "quant")]
#[inline]
pub fn has_narrow() -> bool {
    #[cfg(x86_dispatch)]
    return crate::simd::level() == crate::simd::Level::Avx2 && !crate::simd::has_vnni();
    #[cfg(not(x86_dispatch))]
    false
}

/// The bytes of a matrix of 8-bit integers. Panics for other elements.
#[cfg(feature = "quant")]
pub fn byte_matrix<T: MatElement>(m: Mat<'_, T>) -> Mat<'_, u8> {
    assert!(T::BYTE.is_some());
    // SAFETY: MAT1: the same elements, bytes by ELEMENT1.
    unsafe { Mat::new(m.as_ptr().cast(), m.rows(), m.cols(), m.rs(), m.cs()) }
}

/// A computation that is generic over groups.
#[cfg(feature = "quant")]
pub trait ByGroups {
    type Out;
    fn run<G: Group>(self) -> Self::Out;
}
/// Runs it with the groups of this CPU, for an A of signed or unsigned bytes. `narrow`: whether one
/// operand has signed bytes of which no two neighbours of a group have magnitudes above 128 in sum,
/// and the other is unsigned, or becomes it while it is packed.
#[cfg(feature = "quant")]
pub fn by_groups<const SIGNED: bool, J: ByGroups>(narrow: bool, job: J) -> J::Out {
    #[cfg(x86_dispatch)]
    if narrow && has_narrow() {
        return job.run::<Flip<SIGNED, false>>();
    }
    let _ = narrow;
    with_groups!(SIGNED, |G| job.run::<G>())
}
