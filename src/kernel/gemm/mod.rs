//! Matrix products: one interface, `c (+)= a b` with an epilogue, over strided operands.
//!
//! - [`Mat`], [`MatMut`]: matrices where they lie.
//! - [`product`]: one product on the calling thread, by whichever engine is the fastest for it.
//! - [`Engine`] and [`Grid`]: the same for callers with threads: who computes, and in which blocks
//!   of C. An engine's bits don't depend on the blocks.
//! - [`Panels`]: B packed before the product, for as many products as it lives.
//! - [`Stage`]: what happens to the result's rows while they are in L1.
//!
//! Engines: tiles (`blocked`), 8-bit integers (`bytes`), few rows (`skinny`). What can be
//! multiplied is a table (`element`): an element type is a row (its packed form, how it gets
//! there), a packed form is a row (lanes a vector on each instruction set, multiply-add).

mod activation;
mod arch;
mod blocked;
mod bytes;
#[macro_use]
mod element;
mod few;
mod mat;
mod pack;
mod panels;
mod scratch;
mod skinny;
mod stage;
#[cfg(test)]
mod tests;
mod tile;
#[cfg(x86_dispatch)]
mod vnni;

pub use activation::Activation;
pub use blocked::{packs_b, reads_a, tiles};
pub use element::{Lane, Product};
pub use mat::{Mat, MatMut};
pub use pack::panel;
pub use panels::{Blocks, Panels, Pieces, at_once, padded, panel_width};
pub use scratch::{Scratch, lanes};
pub use stage::{Stage, Stages};

use crate::error::Result;
use crate::simd;
use core::ops::Range;

/// What computes a product. Chosen by the shape, types and strides of a whole product, and the same
/// for all blocks of it: sums of different engines have different bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// 8-bit integers: see the module of their engine.
    Bytes,
    /// Few rows: see [`skinny`].
    Sweeps,
    /// Few rows and columns that are contiguous: see [`skinny`].
    Dots,
    /// All else: see [`blocked`], and [`few`] for few rows.
    Tiles,
}
impl Engine {
    /// The fastest for `a b`.
    pub fn of<A: Product, B: Product>(a: &Mat<A>, b: &Mat<B>) -> Engine {
        if const { bytes::<A, B>() } {
            Engine::Bytes
        } else {
            skinny::engine(a, b).unwrap_or(Engine::Tiles)
        }
    }
    /// The one that takes B as panels.
    pub fn of_panels<A: Product, B: Product>() -> Engine {
        if const { bytes::<A, B>() } {
            Engine::Bytes
        } else {
            Engine::Tiles
        }
    }
    /// `c (+)= a b`, then the stages, on the calling thread; `packed` are the columns of `b`, of
    /// which sweeps and dots make no use.
    ///
    /// Errors where there is no memory for packing; `c` is then undefined.
    pub fn product<A, B, C>(
        self,
        a: Mat<A>,
        b: Mat<B>,
        packed: Option<Panels<A::Lane>>,
        c: &mut MatMut<C>,
        accumulate: bool,
        stages: Stages<C>,
    ) -> Result<()>
    where
        A: Product,
        B: Product<Lane = A::Lane>,
        C: Product<Lane = A::Lane>,
    {
        assert!(a.cols() == b.rows() && a.rows() == c.rows() && b.cols() == c.cols());
        if c.rows() == 0 || c.cols() == 0 {
            return Ok(());
        }
        match self {
            Engine::Bytes => bytes::product(a, b, packed, c, accumulate, stages),
            _ if simd::MICROCONTROLLER => blocked::product(a, b, None, c, accumulate, stages),
            Engine::Sweeps => skinny::product::<A, B, C, true>(a, b, c, accumulate, stages),
            Engine::Dots => skinny::product::<A, B, C, false>(a, b, c, accumulate, stages),
            Engine::Tiles => match packed {
                Some(packed) if !accumulate && few::serves::<A, C>(c.rows()) => {
                    few::product(a, packed, c, stages)
                }
                packed => blocked::product(a, b, packed, c, accumulate, stages),
            },
        }
    }
}

/// `c (+)= a b`, then the stages, on the calling thread. Operands and result are of any types with
/// one packed form. Panics where the shapes don't fit.
///
/// Errors where there is no memory for packing; `c` is then undefined.
pub fn product<A, B, C>(
    a: Mat<A>,
    b: Mat<B>,
    mut c: MatMut<C>,
    accumulate: bool,
    stages: Stages<C>,
) -> Result<()>
where
    A: Product,
    B: Product<Lane = A::Lane>,
    C: Product<Lane = A::Lane>,
{
    if turned::<A, B>(a.rows(), b.cols()) && (c.rows() == 1 || c.rs() == 1) {
        let (a, b) = (b.t(), a.t());
        return Engine::of::<B, A>(&a, &b).product(
            a,
            b,
            None,
            &mut c.into_turned(),
            accumulate,
            stages.t(),
        );
    }
    Engine::of::<A, B>(&a, &b).product(a, b, None, &mut c, accumulate, stages)
}

/// The blocks of a sum of `k` products, by which B is packed.
pub fn blocks<A: Product, B: Product>(k: usize) -> Blocks {
    if const { bytes::<A, B>() } {
        bytes::blocks(k)
    } else {
        Blocks::new(k)
    }
}
/// Packs B for products by matrices of `A`, into lanes of [`Panels::len`].
pub fn pack<A: Product, B: Product>(b: Mat<B>, d: &mut [B::Lane]) {
    match A::BYTE {
        Some(signed) if const { bytes::<A, B>() } => bytes::pack(b, signed, d),
        _ => _ = Panels::pack(b, d),
    }
}

/// Whether operands are 8-bit integers.
pub const fn bytes<A: Product, B: Product>() -> bool {
    A::BYTE.is_some() && B::BYTE.is_some()
}
/// Whether a product of a single column is computed as the transposed one, whose columns are many;
/// where tiles are one column wide, that of a single row. Not of bytes, which pack all of B.
pub const fn turned<A: Product, B: Product>(m: usize, n: usize) -> bool {
    let (one, many) = if simd::MICROCONTROLLER {
        (m, n)
    } else {
        (n, m)
    };
    one == 1 && many > 1 && !bytes::<A, B>()
}
/// Steps of a sum of `k`, in the time that one multiplication takes: four bytes are multiplied at
/// once.
pub const fn steps<A: Product, B: Product>(k: usize) -> usize {
    if bytes::<A, B>() { k.div_ceil(4) } else { k }
}

/// Blocks of C, all of one size but the last ones.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    m: usize,
    n: usize,
    rows: usize,
    cols: usize,
}
impl Grid {
    /// Blocks for each of `batch` products on so many threads. `packed`: whether B is panels.
    pub fn new<A: Product, B: Product>(
        engine: Engine,
        a: &Mat<A>,
        b: &Mat<B>,
        packed: bool,
        batch: usize,
        threads: usize,
    ) -> Grid {
        let (m, n, k) = (a.rows(), b.cols(), steps::<A, B>(a.cols()));
        let (lanes, widest) = A::Lane::tile(simd::level());
        let (high, wide) = (tile::HEIGHT, lanes * widest);
        let of = |rows: usize, cols: usize| Grid {
            m,
            n,
            rows: m.div_ceil(rows).next_multiple_of(high).min(m),
            cols: n.div_ceil(cols).next_multiple_of(wide).min(n),
        };
        let threads = match engine {
            // Bound by memory: long runs of B.
            Engine::Sweeps | Engine::Dots => {
                return of(
                    1,
                    if engine == Engine::Dots && threads > 1 {
                        4 * threads
                    } else {
                        threads
                    },
                );
            }
            Engine::Bytes | Engine::Tiles => threads,
        };
        if threads == 1 {
            return of(1, 1);
        }
        // What packing costs, measured on AVX-512: as rows of A that a panel of B meets (more where
        // runs of B are short), and columns of B that a strip of A meets. Where B is packed, what
        // several blocks read costs too that it comes from another cache.
        let rows_b = |cols: usize| match packed {
            true => 8,
            false if blocked::reads_b(b, m) => 0,
            false => 16 + 16 * wide / cols,
        };
        let cols_a = match blocked::reads_a(a) {
            true if packed => 28,
            true => 3,
            // read in place too, but summed up
            false if bytes::<A, B>() && a.cs() == 1 => 16,
            false => 70,
        };
        /// What beginning with a block costs, in multiplications.
        const BEGIN: usize = 1 << 15;
        let time = |grid: &Grid| {
            let (rows, cols) = (
                grid.rows.next_multiple_of(high),
                grid.cols.next_multiple_of(wide),
            );
            let block = k
                .saturating_mul(
                    (rows + rows_b(cols))
                        .saturating_mul(cols)
                        .saturating_add(cols_a * rows),
                )
                .saturating_add(BEGIN);
            // An eighth of a block, for threads that are not equally fast.
            let rounds = (batch * grid.len()).div_ceil(threads);
            block.saturating_mul(8 * rounds + 1)
        };
        let down = [1, threads, 2 * threads, 4 * threads];
        let across = [
            1,
            threads,
            2 * threads,
            4 * threads,
            n.div_ceil(wide).min(8 * threads),
        ];
        let grids = down
            .iter()
            .flat_map(|rows| across.iter().map(|cols| of(*rows, *cols)));
        grids.min_by_key(time).unwrap_or(of(1, 1))
    }
    /// How many blocks have the same columns.
    pub fn down(&self) -> usize {
        self.m.div_ceil(self.rows.max(1))
    }
    /// How many blocks.
    pub fn len(&self) -> usize {
        self.down() * self.n.div_ceil(self.cols.max(1))
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Rows and columns of block `i`.
    pub fn block(&self, i: usize) -> (Range<usize>, Range<usize>) {
        let down = self.down();
        let (x, y) = (i % down * self.rows, i / down * self.cols);
        (x..self.m.min(x + self.rows), y..self.n.min(y + self.cols))
    }
}
