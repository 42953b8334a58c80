//! Matrix products: one interface, `c (+)= a b` with an epilogue, over strided operands.
//!
//! - [`Mat`], [`MatMut`]: matrices where they lie.
//! - [`product`]: one product on the calling thread, by the fastest algorithm for it.
//! - [`Algorithm`] and [`Grid`]: the same for callers with threads: how it is computed, and in which
//!   blocks of C. An algorithm's bits don't depend on the blocks.
//! - [`Panels`]: B packed before the product, for as many products as it lives.
//! - [`Epilogue`]: what happens to the result's rows while they are in L1.
//!
//! All but the products of few rows go by one `macrokernel`, which joins what is chosen apart: a
//! [`source`] for each operand (a matrix with strides), its [`packing`] (by elements, or groups of
//! bytes), a [`microkernel`] (a row a packed type and instruction set), an epilogue. What can be
//! multiplied is a table ([`element`]).

mod activation;
mod blocking;
mod bytes;
mod element;
mod epilogue;
mod gemv;
mod grid;
mod macrokernel;
mod matrix;
mod microkernel;
mod packing;
mod panels;
mod scratch;
mod source;
#[cfg(test)]
mod tests;
#[cfg(all(x86_dispatch, feature = "half"))]
mod twins;

pub use activation::Activation;
pub use blocking::{KBlocks, SHARED_B, cost, equal_parts};
pub use bytes::product as product_of_bytes;
#[cfg(feature = "i8")]
pub use bytes::{ByGroups, Group, by_groups};
pub use element::MatElement;
#[cfg(feature = "i8")]
pub use epilogue::Dequantize;
pub use epilogue::{After, Epilogue, EpilogueOp, Map, finish_in_place, finish_into};
pub use grid::Grid;
pub use macrokernel::{macrokernel, multiply_panel, scratch_of};
pub use matrix::{Mat, MatMut};
pub use microkernel::{BlockA, Packed, padded_width, panel_width, widest_panel};
#[cfg(feature = "i8")]
pub use packing::Packing;
pub use packing::panel as pack_panel;
pub use panels::{Panels, Pieces, at_once};
#[cfg(feature = "i8")]
pub use panels::{cast as packed_as, cast_mut as packed_as_mut};
pub use scratch::{Scratch, packed_slice};
pub use source::{InPlace, Source, Strided, packs_before, reads_a};

use crate::error::Result;
use crate::simd;
/// How a product is computed. Chosen by the shape, types and strides of a whole product, and the
/// same for all blocks of it: sums of different algorithms have different bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// By the macrokernel.
    Blocked,
    /// Few rows, those of B contiguous: see [`gemv`].
    GemvRows,
    /// Few rows, the columns of B contiguous: see [`gemv`].
    GemvColumns,
}
impl Algorithm {
    /// The fastest for `a b`.
    pub fn of<A: MatElement, B: MatElement>(a: &Mat<A>, b: &Mat<B>) -> Algorithm {
        if const { bytes::<A, B>() } {
            Algorithm::Blocked
        } else {
            gemv::algorithm(a, b).unwrap_or(Algorithm::Blocked)
        }
    }
    /// `c (+)= a b`, then the epilogue, on the calling thread; `packed` are the columns of `b`, of
    /// which gemv makes no use.
    ///
    /// Errors where there is no memory for packing; `c` is then undefined.
    pub fn product<A, B, C>(
        self,
        a: Mat<A>,
        b: Mat<B>,
        packed: Option<Panels<A::Acc>>,
        c: &mut MatMut<C>,
        accumulate: bool,
        epilogue: Epilogue<C>,
    ) -> Result<()>
    where
        A: MatElement,
        B: MatElement<Acc = A::Acc>,
        C: MatElement<Acc = A::Acc>,
    {
        assert!(a.cols() == b.rows() && a.rows() == c.rows() && b.cols() == c.cols());
        if c.rows() == 0 || c.cols() == 0 {
            return Ok(());
        }
        if const { bytes::<A, B>() } {
            return bytes::product(a, b, packed, c, accumulate, epilogue);
        }
        match self {
            Algorithm::GemvRows if !simd::MICROCONTROLLER => {
                gemv::product::<A, B, C, true>(a, b, c, accumulate, epilogue)?;
            }
            Algorithm::GemvColumns if !simd::MICROCONTROLLER => {
                gemv::product::<A, B, C, false>(a, b, c, accumulate, epilogue)?;
            }
            _ => {
                #[cfg(all(x86_dispatch, feature = "half"))]
                if twins::<A, B>() {
                    return twins::product(a, b, packed, c, accumulate, epilogue);
                }
                let packed = packed.filter(|_| !simd::MICROCONTROLLER);
                let (a, b) = (Strided::rows(a), Strided::columns(b));
                return macrokernel(a, b, packed, c, accumulate, epilogue);
            }
        }
        // SAFETY: AFTER1: all of C, which is written.
        unsafe { epilogue.hand_over(0..c.rows(), 0..c.cols()) };
        Ok(())
    }
}

/// `c (+)= a b`, then the epilogue, on the calling thread. Operands and result are of any types with
/// one accumulator. Panics where the shapes don't fit.
///
/// Errors where there is no memory for packing; `c` is then undefined.
pub fn product<A, B, C>(
    a: Mat<A>,
    b: Mat<B>,
    mut c: MatMut<C>,
    accumulate: bool,
    epilogue: Epilogue<C>,
) -> Result<()>
where
    A: MatElement,
    B: MatElement<Acc = A::Acc>,
    C: MatElement<Acc = A::Acc>,
{
    if transposes::<A, B>(a.rows(), b.cols()) && (c.rows() == 1 || c.rs() == 1) {
        let (a, b) = (b.t(), a.t());
        let algorithm = Algorithm::of::<B, A>(&a, &b);
        let c = &mut c.into_transposed();
        return algorithm.product(a, b, None, c, accumulate, epilogue.t());
    }
    Algorithm::of::<A, B>(&a, &b).product(a, b, None, &mut c, accumulate, epilogue)
}

/// How a sum of `k` products is cut, by which B is packed.
pub fn blocks<A: MatElement, B: MatElement>(k: usize) -> KBlocks {
    #[cfg(all(x86_dispatch, feature = "half"))]
    if twins::<A, B>() {
        return twins::blocks(k);
    }
    if const { bytes::<A, B>() } {
        bytes::blocks(k)
    } else {
        B::Acc::BLOCKING.of_sum(k)
    }
}
/// Packs B for products by matrices of `A`, into [`Panels::len`] numbers.
pub fn pack<A: MatElement, B: MatElement>(b: Mat<B>, d: &mut [B::Acc]) {
    #[cfg(all(x86_dispatch, feature = "half"))]
    if twins::<A, B>() {
        return twins::pack(b, d);
    }
    match A::BYTE {
        Some(signed) if const { bytes::<A, B>() } => bytes::pack(b, signed, d),
        _ => _ = Panels::pack(Strided::columns(b), d),
    }
}

/// Whether operands are 8-bit integers.
pub const fn bytes<A: MatElement, B: MatElement>() -> bool {
    A::BYTE.is_some() && B::BYTE.is_some()
}
/// Whether operands are bfloat16, and multiplied in pairs by the macrokernel.
#[inline]
pub fn twins<A: MatElement, B: MatElement>() -> bool {
    #[cfg(all(x86_dispatch, feature = "half"))]
    return const { A::TWINS && B::TWINS } && simd::has_bf16();
    #[cfg(not(all(x86_dispatch, feature = "half")))]
    false
}
/// Whether a product of a single column is computed as the transposed one, whose columns are many;
/// where tiles are one column wide, that of a single row. Not of bytes, which pack all of B.
pub const fn transposes<A: MatElement, B: MatElement>(m: usize, n: usize) -> bool {
    let (one, many) = if simd::MICROCONTROLLER {
        (m, n)
    } else {
        (n, m)
    };
    one == 1 && many > 1 && !bytes::<A, B>()
}
/// Steps of a sum of `k`, in the time that one multiplication takes: four bytes are multiplied at
/// once, and two of bfloat16 where there is an instruction for it.
pub fn steps<A: MatElement, B: MatElement>(k: usize) -> usize {
    match bytes::<A, B>() {
        true => k.div_ceil(4),
        false if twins::<A, B>() => k.div_ceil(2),
        false => k,
    }
}
