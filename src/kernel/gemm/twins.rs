//! Products of bfloat16 where the CPU has an instruction that multiplies pairs of them, and adds both products to
//! a float32: twice as fast as multiply-adds of what they are widened to. Products of bfloat16 are exact in
//! float32, so sums are as accurate either way, but are rounded in another order, and numbers below the smallest
//! normal one count as zero, as operands and as sums.
//!
//! A pair is two neighbours along the sum: those of A are read where they lie, those of B are two of its rows,
//! which packing interleaves.

use super::blocking::KBlocks;
use super::element::MatElement;
use super::epilogue::Epilogue;
use super::macrokernel::macrokernel;
use super::matrix::{Mat, MatMut};
use super::microkernel::{Packed, Twin};
use super::packing::Couple;
use super::panels::{Panels, cast_mut};
use super::source::Strided;
use crate::error::Result;

/// `c (+)= a b`, then the epilogue, where A and B are bfloat16 and C accumulates in float32. `packed` is B as
/// [`pack`] leaves it.
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
    let (a, b) = (Strided::a(Couple, bits(a)), Strided::b(Couple, bits(b)));
    macrokernel(a, b, packed.map(Panels::cast), c, accumulate, epilogue)
}
/// How a sum of `k` products is cut.
pub fn blocks(k: usize) -> KBlocks {
    Twin::BLOCKING.of_sum(k.div_ceil(2))
}
/// Packs B, into [`Panels::len`] numbers.
pub fn pack<B: MatElement>(b: Mat<B>, d: &mut [B::Acc]) {
    Panels::pack(Strided::b(Couple, bits(b)), cast_mut(d));
}
/// The bits of bfloat16.
fn bits<T: MatElement>(m: Mat<'_, T>) -> Mat<'_, u16> {
    assert!(T::TWINS);
    // SAFETY: MAT1: the same elements, of 16 bits by ELEMENT1.
    unsafe { Mat::new(m.as_ptr() as *const u16, m.rows(), m.cols(), m.rs(), m.cs()) }
}
