//! Products of 8-bit integers: exact in 32 bits (wrapping); 8-bit results are the low eight bits.
//!
//! Neighbours along the sum are packed into groups, and one instruction multiplies the groups of a
//! vector and adds up the products within each: four bytes if the CPU has VNNI, otherwise pairs of
//! 16-bit elements (the 8-bit instruction before VNNI saturates).
//!
//! VNNI multiplies unsigned bytes by signed ones. A is taken as it is, so that it is read in place;
//! B gets the other signedness while it is packed. Flipping a byte's top bit moves its value up or
//! down by 128, so sums are off by 128 times the sum of A's row, and their initial values
//! compensate for it.

use super::blocking::KBlocks;
use super::element::MatElement;
use super::epilogue::Epilogue;
use super::macrokernel::macrokernel;
use super::matrix::{Mat, MatMut};
use super::microkernel::Packed;
use super::packing::{Extend, Packing};
use super::panels::{Panels, cast_mut};
use super::source::{Source, Strided};
use crate::error::Result;
#[cfg(x86_dispatch)]
use crate::{kernel::gemm::packing::Flip, simd};

/// A group that is itself an element of products.
pub trait Word: Packed + MatElement<Acc = Self> {}
impl<T: Packed + MatElement<Acc = T>> Word for T {}

/// How bytes are packed into groups.
pub trait Group: Packing<From = u8, To: Word> + Sync {
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
impl<const SIGNED: bool> Group for Flip<SIGNED> {
    fn left(signed: bool) -> Flip<SIGNED> {
        debug_assert_eq!(signed, SIGNED);
        Flip(0)
    }
    fn right(signed: bool, left: bool) -> Flip<SIGNED> {
        Flip(if signed == left { 0x80 } else { 0 })
    }
}

/// Evaluates `expression` with the groups of this CPU, by the signedness of A.
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

/// A computation that is generic over groups.
#[cfg(feature = "quant")]
pub trait ByGroups {
    type Out;
    fn run<G: Group>(self) -> Self::Out;
}
/// Runs it with the groups of this CPU for a signed A.
#[cfg(feature = "quant")]
pub fn by_groups<J: ByGroups>(job: J) -> J::Out {
    with_groups!(true, |G| job.run::<G>())
}

/// `c (+)= a b`, then the epilogue; A and B are bytes, and C accumulates in 32 bits. `packed` is B
/// as packed by [`pack`].
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
    let (a, b) = (ByteMatrix::new(a), ByteMatrix::new(b));
    with_groups!(a.signed, |G| product_by::<G, C>(
        a, b, packed, c, accumulate, epilogue
    ))
}
/// [`product`] with given groups.
pub fn product_by<G: Group, C: MatElement>(
    a: ByteMatrix,
    b: ByteMatrix,
    packed: Option<Panels<C::Acc>>,
    c: &mut MatMut<C>,
    accumulate: bool,
    epilogue: Epilogue<C>,
) -> Result<()> {
    let packed = packed.map(Panels::cast);
    let (left, right) = (G::left(a.signed), G::right(b.signed, a.signed));
    let (a, b) = (Strided::a(left, a.mat), Strided::b(right, b.mat));
    macrokernel(&a, &b, packed, c, accumulate, epilogue)
}
/// How a sum of `k` products is split into blocks.
pub fn blocks(k: usize) -> KBlocks {
    with_groups!(true, |G| <G as Packing>::To::BLOCKING
        .of_sum(k.div_ceil(G::GROUP)))
}
/// Packs B for products with an A of this signedness.
pub fn pack<B: MatElement>(b: Mat<B>, signed: bool, d: &mut [B::Acc]) {
    let b = ByteMatrix::new(b);
    with_groups!(signed, |G| {
        let b = Strided::b(G::right(b.signed, signed), b.mat);
        Panels::pack(&b, 0..b.lines(), cast_mut(d));
    })
}

/// A matrix of bytes, signed or not.
#[derive(Clone, Copy)]
pub struct ByteMatrix<'a> {
    mat: Mat<'a, u8>,
    signed: bool,
}
impl<'a> ByteMatrix<'a> {
    pub fn new<T: MatElement>(m: Mat<'a, T>) -> Self {
        // SAFETY: MAT1: the same elements; 8-bit integers are any byte.
        let mat = unsafe { Mat::new(m.as_ptr() as *const u8, m.rows(), m.cols(), m.rs(), m.cs()) };
        ByteMatrix {
            mat,
            signed: T::BYTE.expect("8-bit integers"),
        }
    }
}
