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
//!
//! ```text
//! nn/linear              shapes, dtypes; bias, activation, residual become an epilogue's operations
//!   ops/linalg/weight    whether the weight's panels are cached with its storage
//! exec/products          the algorithm, and the blocks of C that threads take (Grid, by costs)
//! kernel/gemm
//!   macrokernel          one thread's block: rows by MC, the sum by KC, columns by panels
//!     source             an operand: in place if microkernels can read it, else packed panels and
//!                        blocks: a strided matrix, patches of images
//!     packing            how elements are packed: singly, 16-bit floats widened or bfloat16 in
//!                        pairs, 8-bit integers in groups of 2 or 4; chosen once, by `operand`
//!     microkernel        a panel of B times a block of A, the sums in registers: a row of a table
//!     epilogue           on rows of C while they are in L1; rounds to the dtype of C
//! ```
//!
//! **Sources.** Another kind of operand (quantised blocks, the patches of a convolution) is an
//! `impl Source`: it packs panels and has no loop of its own. The macrokernel takes sources as
//! trait objects, so it is compiled once per packed type and element of C. Patches never exist as a
//! whole matrix, and the image of a pointwise convolution is read in place.
//!
//! **Instructions.** Another instruction is a row of `microkernel/table.rs`, or a packed type with
//! its own instruction set: VNNI's, or AVX-512's pairs of bfloat16, on cores where those are twice
//! as fast as widening (such products flush subnormals to zero). Where the CPU has
//! AMX, its tile registers multiply the same panels of bytes and of pairs (`microkernel/amx`, in
//! assembly); blocks of A are then rows.
//!
//! **Elements.** An element type is a row of `element.rs`. Products wrap, so unsigned integers are
//! multiplied as signed ones, and floats are packed as the integers of their width.
//!
//! **The register tile** has six rows (four on microcontrollers and in WebAssembly) and as many
//! vectors as the registers hold. Where B is packed and there are few rows, all of them form one
//! tile (`tall`), so that each panel is read once. The order of the additions into an element of C
//! follows from K alone, not from blocking, threads or packing.
//!
//! **Tiny products**, up to 8 x 8 by 8 x 8, are computed one after the other without packing ([`tiny`]),
//! to the macrokernel's bits.
//!
//! **Few rows.** Products of few rows with an unpacked B are bound by memory and use `gemv`, whose
//! sums round differently; so the algorithm is chosen from the shapes, strides and types of the
//! whole product, never of a part of it. Whether a weight is already packed must not show: a
//! product whose panels may be cached uses the macrokernel the first time too.
//!
//! **Packing once.** All threads pack B together where several would otherwise pack the same
//! columns of it. Weights of `linear` that are used again stay packed alongside their storage until
//! it is written to; so do 8-bit integers on the right of any product, whose sums are exact.
//!
//! **Block sizes** and the costs that choose them are in `blocking`; `cargo bench --bench blocking`
//! measures them.
//!
//! **Few sums of very many products** (`vecdot`, `a @ b` of vectors) are cut into pieces of a fixed
//! length, which threads share and which are joined by pairs, so neither the bits nor the rounding
//! errors grow with the length or depend on threads.

mod activation;
pub mod blocking;
pub mod bytes;
mod element;
mod epilogue;
mod gemv;
mod grid;
pub mod macrokernel;
mod map;
mod matrix;
pub mod microkernel;
pub mod operand;
pub mod packing;
mod panels;
mod scratch;
pub mod source;
pub mod tiny;

pub use activation::Activation;
pub use blocking::{KBlocks, SHARED_B, cost, equal_parts};
#[cfg(feature = "quant")]
pub use bytes::{ByGroups, Group, by_groups, byte_matrix, has_narrow};
pub use element::{MatElement, moved};
#[cfg(feature = "quant")]
pub use epilogue::{Dequantize, Requantize};
pub use epilogue::{Epilogue, EpilogueOp, PostOp, finish_in_place, finish_into};
pub use gemv::{join_pieces, pieces, product_of_piece};
pub use grid::Grid;
pub use macrokernel::{macrokernel, multiply_panel, parts, scratch_of};
pub use map::{Map, Rows};
pub use matrix::{Mat, MatMut, ProductOperands};
pub use microkernel::{BlockA, Packed, TileEnd, padded_width, panel_width, widest_panel};
pub(crate) use operand::with_packing;
#[cfg(x86_bf16)]
pub use packing::{Interleave, rounded_pairs};
pub use packing::{Packing, Single, panel as pack_panel, panels as pack_panels, rows as pack_rows};
pub use panels::{Panels, Pieces, at_once};
pub use panels::{cast as packed_as, cast_mut as packed_as_mut};
pub use scratch::{Scratch, packed_slice};
pub use source::{InPlace, Source, Strided};

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
        if self == Algorithm::Blocked || const { bytes::<A, B>() || simd::MICROCONTROLLER } {
            return with_packing!(A, B, |left, right| {
                let (a, b, packed) = (left.rows(a), right.columns(b), packed.map(Panels::cast));
                macrokernel(&a, &b, packed, c, accumulate, epilogue)
            });
        }
        // callers with threads sum long dot products in pieces
        let rows_of_b = self == Algorithm::GemvRows;
        gemv::product(rows_of_b, a, b, c, accumulate, epilogue)?;
        // SAFETY: POSTOP1: all of C, which has been written.
        unsafe { epilogue.run_post_op(0..c.rows(), 0..c.cols()) };
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
pub fn blocks<A: MatElement, B: MatElement<Acc = A::Acc>>(k: usize) -> KBlocks {
    with_packing!(A, B, |_, right| right.blocks(k))
}
/// Packs B for products with matrices of `A`, into [`Panels::len`] elements.
pub fn pack<A: MatElement, B: MatElement<Acc = A::Acc>>(b: Mat<B>, d: &mut [B::Acc]) {
    with_packing!(A, B, |_, right| {
        let b = right.columns(b);
        Panels::pack(&b, 0..b.lines(), packed_as_mut(d));
    })
}

/// Whether both operands are 8-bit integers.
pub const fn bytes<A: MatElement, B: MatElement>() -> bool {
    A::BYTE.is_some() && B::BYTE.is_some()
}
/// Whether both operands are bfloat16, and the macrokernel multiplies them in pairs.
#[inline]
pub fn bf16_pairs<A: MatElement, B: MatElement>() -> bool {
    #[cfg(x86_bf16)]
    return const { A::IS_BF16 && B::IS_BF16 } && simd::has_bf16();
    #[cfg(not(x86_bf16))]
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
