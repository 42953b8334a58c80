//! Products of 8-bit integers: exact in 32 bits (wrapping), of which 8-bit results are the last
//! eight.
//!
//! They are packed to groups of neighbours along the sum, and one instruction multiplies the groups
//! of a vector and adds up within each: four bytes where the CPU has VNNI, pairs of 16-bit numbers
//! elsewhere (the 8-bit instruction before VNNI saturates).
//!
//! VNNI multiplies unsigned bytes by signed ones. A is taken as it is, so it is read in place; B
//! gets the other signedness while it is packed. Flipping a byte's top bit moves its value by 128,
//! up or down: sums are off by 128 times that of A's row, and begin with what mends it.

use super::blocking::KBlocks;
use super::element::MatElement;
use super::epilogue::Epilogue;
use super::macrokernel::macrokernel;
use super::matrix::{Mat, MatMut};
use super::microkernel::Packed;
use super::packing::{Extend, Packing};
use super::panels::{Panels, cast_mut};
use super::source::Strided;
use crate::error::Result;
#[cfg(x86_dispatch)]
use crate::{kernel::gemm::packing::Flip, simd};

/// A group that is an element of products itself.
pub trait Word: Packed + MatElement<Acc = Self> {}
impl<T: Packed + MatElement<Acc = T>> Word for T {}

/// How bytes become groups.
pub trait Group: Packing<From = u8, To: Word> + Sync {
    /// How A is packed, which is signed or not.
    fn left(signed: bool) -> Self;
    /// How B is packed, which is signed or not, for such an A.
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
impl<const SIGNED: bool> Group for Flip<SIGNED> {
    fn left(signed: bool) -> Flip<SIGNED> {
        debug_assert_eq!(signed, SIGNED);
        Flip(0)
    }
    fn right(signed: bool, left: bool) -> Flip<SIGNED> {
        Flip(if signed == left { 0x80 } else { 0 })
    }
}

/// `expression` with the groups of this CPU, for an A that is signed or not.
macro_rules! with_groups {
    ($signed:expr, |$G:ident| $expression:expr) => {{
        #[cfg(x86_dispatch)]
        if simd::has_vnni() {
            return match $signed {
                true => {
                    type $G = Flip<true>;
                    $expression
                }
                false => {
                    type $G = Flip<false>;
                    $expression
                }
            };
        }
        type $G = Extend;
        $expression
    }};
}

/// What is done with groups.
#[cfg(feature = "i8")]
pub trait ByGroups {
    type Out;
    fn run<G: Group>(self) -> Self::Out;
}
/// Runs it with those of this CPU, for an A that is signed.
#[cfg(feature = "i8")]
pub fn by_groups<J: ByGroups>(job: J) -> J::Out {
    with_groups!(true, |G| job.run::<G>())
}

/// `c (+)= a b`, then the epilogue, where A and B are bytes and C accumulates in 32 bits. `packed`
/// is B as [`pack`] leaves it.
pub fn product<A, B, C>(
    a: Mat<A>,
    b: Mat<B>,
    packed: Option<Panels<C::Acc>>,
    c: &mut MatMut<C>,
    accumulate: bool,
    epilogue: Epilogue<C>,
) -> Result<()>
where
    A: MatElement,
    B: MatElement,
    C: MatElement,
{
    let (a, b) = (Bytes::new(a), Bytes::new(b));
    with_groups!(a.signed, |G| product_by::<G, C>(
        a, b, packed, c, accumulate, epilogue
    ))
}
/// [`product`] by some groups.
pub fn product_by<G: Group, C: MatElement>(
    a: Bytes,
    b: Bytes,
    packed: Option<Panels<C::Acc>>,
    c: &mut MatMut<C>,
    accumulate: bool,
    epilogue: Epilogue<C>,
) -> Result<()> {
    let packed = packed.map(Panels::cast);
    let (left, right) = (G::left(a.signed), G::right(b.signed, a.signed));
    let (a, b) = (Strided::a(left, a.mat), Strided::b(right, b.mat));
    macrokernel(a, b, packed, c, accumulate, epilogue)
}
/// How a sum of `k` products is cut.
pub fn blocks(k: usize) -> KBlocks {
    with_groups!(true, |G| <G as Packing>::To::BLOCKING
        .of_sum(k.div_ceil(G::GROUP)))
}
/// Packs B for products by an A that is `signed` or not.
pub fn pack<B: MatElement>(b: Mat<B>, signed: bool, d: &mut [B::Acc]) {
    let b = Bytes::new(b);
    with_groups!(signed, |G| {
        let b = Strided::b(G::right(b.signed, signed), b.mat);
        Panels::pack(b, cast_mut(d));
    })
}

/// A matrix of bytes, signed or not.
#[derive(Clone, Copy)]
pub struct Bytes<'a> {
    mat: Mat<'a, u8>,
    signed: bool,
}
impl<'a> Bytes<'a> {
    pub fn new<T: MatElement>(m: Mat<'a, T>) -> Self {
        // SAFETY: MAT1: the same elements; 8-bit integers are any byte.
        let mat = unsafe { Mat::new(m.as_ptr() as *const u8, m.rows(), m.cols(), m.rs(), m.cs()) };
        Bytes {
            mat,
            signed: T::BYTE.expect("8-bit integers"),
        }
    }
}
