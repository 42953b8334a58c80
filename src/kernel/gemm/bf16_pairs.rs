//! Products of bfloat16 on CPUs with a dot product instruction of pairs: VDPBF16PS, which adds two
//! products to a float32 and is twice as fast as multiply-adds of widened values, or AMX's
//! TDPBF16PS, which is many times as fast. Products of bfloat16 are exact in float32, so sums are
//! as accurate either way, but they are rounded in another order, and subnormal numbers count as
//! zero, both as operands and as sums.
//!
//! A pair is two neighbours along the sum: pairs of A are read in place, those of B are interleaved
//! from two rows by packing.

use super::blocking::KBlocks;
use super::element::MatElement;
use super::epilogue::Epilogue;
use super::macrokernel::macrokernel;
use super::matrix::{Mat, MatMut};
use super::microkernel::{Bf16Pair, Packed};
use super::packing::Interleave;
use super::panels::{Panels, cast_mut};
use super::source::{Source, Strided};
use crate::error::Result;

/// `c (+)= a b`, then the epilogue; A and B are bfloat16, and C accumulates in float32. `packed` is
/// B as packed by [`pack`].
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
    let (a, b) = (
        Strided::a(Interleave, bits(a)),
        Strided::b(Interleave, bits(b)),
    );
    macrokernel(&a, &b, packed.map(Panels::cast), c, accumulate, epilogue)
}
/// How a sum of `k` products is split into blocks.
pub fn blocks(k: usize) -> KBlocks {
    Bf16Pair::BLOCKING.of_sum(k.div_ceil(2))
}
/// Packs B, into [`Panels::len`] elements.
pub fn pack<B: MatElement>(b: Mat<B>, d: &mut [B::Acc]) {
    let b = Strided::b(Interleave, bits(b));
    Panels::pack(&b, 0..b.lines(), cast_mut(d));
}
/// The bits of a matrix of bfloat16.
pub fn bits<T: MatElement>(m: Mat<'_, T>) -> Mat<'_, u16> {
    assert!(T::IS_BF16);
    // SAFETY: MAT1: the same elements, of 16 bits by ELEMENT1.
    unsafe { Mat::new(m.as_ptr() as *const u16, m.rows(), m.cols(), m.rs(), m.cs()) }
}
