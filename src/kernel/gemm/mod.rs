//! Matrix products: one interface, `c (+)= a b` with an epilogue, over strided operands.
//!
//! - [`Mat`], [`MatMut`]: strided matrices.
//! - [`product`]: one product on the calling thread, by the fastest algorithm for it.
//! - [`Algorithm`] and [`Grid`]: the same for callers with threads: the algorithm, and the blocks
//!   of C. An algorithm's bits don't depend on the blocks.
//! - [`Panels`]: B packed before the product, for any number of products.
//! - [`Epilogue`]: operations on the result's rows while they are in L1.
//!
//! All products but those of few rows run the one `macrokernel`, which combines independent parts:
//! a [`source`] for each operand (a strided matrix), its [`packing`] (by elements, or by groups of
//! bytes), a [`microkernel`] (a row per packed type and instruction set) and an epilogue. The
//! element types are a table ([`element`]).

mod activation;
#[cfg(all(x86_dispatch, feature = "half"))]
mod bf16_pairs;
pub mod blocking;
pub mod bytes;
mod element;
mod epilogue;
mod gemv;
mod grid;
pub mod macrokernel;
mod matrix;
pub mod microkernel;
pub mod packing;
mod panels;
mod scratch;
pub mod source;

pub use activation::Activation;
#[cfg(all(x86_dispatch, feature = "half"))]
pub use bf16_pairs::bits as bf16_bits;
pub use blocking::{KBlocks, SHARED_B, cost, equal_parts};
pub use bytes::product as product_of_bytes;
#[cfg(feature = "i8")]
pub use bytes::{ByGroups, Group, by_groups};
pub use element::{MatElement, moved};
#[cfg(feature = "i8")]
pub use epilogue::Dequantize;
pub use epilogue::{After, Epilogue, EpilogueOp, Map, finish_in_place, finish_into};
pub use gemv::{join_pieces, pieces, product_of_piece};
pub use grid::Grid;
pub use macrokernel::{macrokernel, multiply_panel, scratch_of};
pub use matrix::{Mat, MatMut};
pub use microkernel::{BlockA, Packed, padded_width, panel_width, widest_panel};
#[cfg(all(x86_dispatch, feature = "half"))]
pub use packing::{Interleave, rounded_pairs};
pub use packing::{Packing, Single, panel as pack_panel, panels as pack_panels, rows as pack_rows};
pub use panels::{Panels, Pieces, at_once};
pub use panels::{cast as packed_as, cast_mut as packed_as_mut};
pub use scratch::{Scratch, packed_slice};
pub use source::{InPlace, Source, Strided, packs_before};

use crate::error::Result;
use crate::simd;
/// How a product is computed. Chosen by the shape, types and strides of the whole product, and the
/// same for all its blocks: sums of different algorithms have different bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// The macrokernel.
    Blocked,
    /// Few rows, with contiguous rows of B: see [`gemv`].
    GemvRows,
    /// Few rows, with contiguous columns of B: see [`gemv`].
    GemvColumns,
    /// Few sums of many products, with contiguous columns of B, in [`pieces`].
    Dots,
}
impl Algorithm {
    /// The fastest algorithm for `a b`.
    pub fn of<A: MatElement, B: MatElement>(a: &Mat<A>, b: &Mat<B>) -> Algorithm {
        if const { bytes::<A, B>() } {
            Algorithm::Blocked
        } else {
            gemv::algorithm(a, b).unwrap_or(Algorithm::Blocked)
        }
    }
    /// `c (+)= a b`, then the epilogue, on the calling thread. `packed` holds the columns of `b`;
    /// gemv ignores it.
    ///
    /// Errors if there is no memory for packing; `c` is then undefined.
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
            Algorithm::GemvRows | Algorithm::GemvColumns | Algorithm::Dots
                if !simd::MICROCONTROLLER =>
            {
                // callers with threads sum long dot products in pieces
                let rows_of_b = self == Algorithm::GemvRows;
                gemv::product(rows_of_b, a, b, c, accumulate, epilogue)?;
            }
            _ => {
                #[cfg(all(x86_dispatch, feature = "half"))]
                if bf16_pairs::<A, B>() {
                    return bf16_pairs::product(a, b, packed, c, accumulate, epilogue);
                }
                let packed = packed.filter(|_| !simd::MICROCONTROLLER);
                let (a, b) = (Strided::rows(a), Strided::columns(b));
                return macrokernel(&a, &b, packed, c, accumulate, epilogue);
            }
        }
        // SAFETY: AFTER1: all of C, which has been written.
        unsafe { epilogue.hand_over(0..c.rows(), 0..c.cols()) };
        Ok(())
    }
}

/// `c (+)= a b`, then the epilogue, on the calling thread. Operands and result may be of any types
/// with the same accumulator. Panics if the shapes don't match.
///
/// Errors if there is no memory for packing; `c` is then undefined.
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

/// How a sum of `k` products is split into blocks; B is packed by these.
pub fn blocks<A: MatElement, B: MatElement>(k: usize) -> KBlocks {
    #[cfg(all(x86_dispatch, feature = "half"))]
    if bf16_pairs::<A, B>() {
        return bf16_pairs::blocks(k);
    }
    if const { bytes::<A, B>() } {
        bytes::blocks(k)
    } else {
        B::Acc::BLOCKING.of_sum(k)
    }
}
/// Packs B for products with matrices of `A`, into [`Panels::len`] numbers.
pub fn pack<A: MatElement, B: MatElement>(b: Mat<B>, d: &mut [B::Acc]) {
    #[cfg(all(x86_dispatch, feature = "half"))]
    if bf16_pairs::<A, B>() {
        return bf16_pairs::pack(b, d);
    }
    match A::BYTE {
        Some(signed) if const { bytes::<A, B>() } => bytes::pack(b, signed, d),
        _ => {
            let b = Strided::columns(b);
            Panels::pack(&b, 0..b.lines(), d);
        }
    }
}

/// Whether both operands are 8-bit integers.
pub const fn bytes<A: MatElement, B: MatElement>() -> bool {
    A::BYTE.is_some() && B::BYTE.is_some()
}
/// Whether both operands are bfloat16, and the macrokernel multiplies them in pairs.
#[inline]
pub fn bf16_pairs<A: MatElement, B: MatElement>() -> bool {
    #[cfg(all(x86_dispatch, feature = "half"))]
    return const { A::IS_BF16 && B::IS_BF16 } && simd::has_bf16();
    #[cfg(not(all(x86_dispatch, feature = "half")))]
    false
}
/// Whether a product is computed transposed: one with a single column, so that the result has many.
/// On microcontrollers, where tiles are one column wide, one with a single row instead. Never for
/// bytes, which always pack B.
pub const fn transposes<A: MatElement, B: MatElement>(m: usize, n: usize) -> bool {
    let (one, many) = if simd::MICROCONTROLLER {
        (m, n)
    } else {
        (n, m)
    };
    one == 1 && many > 1 && !bytes::<A, B>()
}
/// Steps of the K-loop for a sum of `k` products: one instruction multiplies four bytes, or two
/// bfloat16 where the CPU has an instruction for them.
pub fn steps<A: MatElement, B: MatElement>(k: usize) -> usize {
    match bytes::<A, B>() {
        true => k.div_ceil(4),
        false if bf16_pairs::<A, B>() => k.div_ceil(2),
        false => k,
    }
}
