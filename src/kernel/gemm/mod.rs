//! Matrix products: one interface, `c (+)= a b` with an epilogue, over strided operands.
//!
//! - [`Mat`], [`MatMut`]: matrices where they lie.
//! - [`product`]: one product on the calling thread, by whichever engine is the fastest for it.
//! - [`Grid`]: how a large product is cut into blocks of C, each a `product` of its own. It depends on the shape alone, so
//!   that bits never depend on the number of threads.
//! - [`Stage`]: what happens to the result's rows while they are in L1.
//!
//! Engines: the crate `gemm` (`large`), 8-bit integers (`bytes`), few rows or columns (`skinny`), all else (`blocked`). What can be multiplied is a table
//! (`element`): an element type is a row (its packed form, how it gets there), a packed form is a row (lanes a vector on
//! each instruction set, multiply-add).

mod activation;
mod arch;
mod blocked;
mod bytes;
mod element;
mod large;
mod mat;
mod pack;
mod scratch;
mod skinny;
mod stage;
#[cfg(test)]
mod tests;
mod tile;
#[cfg(all(feature = "std", feature = "simd", target_arch = "x86_64"))]
mod vnni;

pub use activation::Activation;
pub use element::{Lane, Product};
pub use mat::{Mat, MatMut};
pub use scratch::Scratch;
pub use stage::{Stage, Stages};

use crate::error::Result;
use core::ops::Range;

/// `c (+)= a b`, then the stages, on the calling thread. Operands and result are of any types with one packed form. Panics
/// where the shapes don't fit.
///
/// Errors where there is no memory for packing; `c` is then undefined.
pub fn product<A, B, C>(a: Mat<A>, b: Mat<B>, mut c: MatMut<C>, accumulate: bool, stages: Stages<C>) -> Result<()>
where
    A: Product,
    B: Product<Lane = A::Lane>,
    C: Product<Lane = A::Lane>,
{
    assert!(a.cols() == b.rows() && a.rows() == c.rows() && b.cols() == c.cols());
    if c.rows() == 0 || c.cols() == 0 {
        return Ok(());
    }
    if const { A::BYTE.is_some() && B::BYTE.is_some() } {
        return bytes::product(a, b, &mut c, accumulate, stages);
    }
    if large::product(a, b, &mut c, accumulate) {
        if !stages.is_empty() {
            let (lanes, rows, cols, ld) = (c.at(0, 0) as *mut C::Lane, c.rows(), c.cols(), c.rs());
            // SAFETY: F1 by M2: what `gemm` serves are lanes (SAME).
            unsafe { stage::finish(stage::Finish { stages, lanes, rows, cols, ld, d: None }) };
        }
        return Ok(());
    }
    if skinny::product(a, b, &mut c, accumulate, stages)? {
        return Ok(());
    }
    blocked::product(a, b, &mut c, accumulate, stages)
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
    /// Blocks for an `m x k` by `k x n` product.
    pub fn new(m: usize, n: usize, k: usize) -> Grid {
        // A block costs its share of both operands in packing, so blocks are near square and as large as leaves some for each
        // of some threads: an eighth, but 2^22 to 2^26 multiplications, 30 us to 1 ms.
        const BLOCK: usize = if cfg!(feature = "std") { 512 } else { 64 };
        let (mut rows, mut cols) = (m.min(BLOCK), n.min(2 * BLOCK));
        let total = m.saturating_mul(n).saturating_mul(k);
        let target = (total / 8).clamp(1 << 22, 1 << 26);
        while rows.saturating_mul(cols).saturating_mul(k) > target && rows.max(cols) > BLOCK / 4 {
            if rows > cols { rows = rows.div_ceil(2) } else { cols = cols.div_ceil(2) }
        }
        if m <= skinny::ROWS {
            // Bound by memory: long runs of B.
            cols = n.min((1 << 17) / k.max(1)).max(1024.min(n));
        }
        let even = |size: usize, block: usize, unit: usize| size.div_ceil(size.div_ceil(block.max(1)).max(1)).next_multiple_of(unit);
        Grid { m, n, rows: even(m, rows, 12).max(1), cols: even(n, cols, 64).max(1) }
    }
    /// How many blocks.
    pub fn len(&self) -> usize {
        self.m.div_ceil(self.rows) * self.n.div_ceil(self.cols)
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Rows and columns of block `i`.
    pub fn block(&self, i: usize) -> (Range<usize>, Range<usize>) {
        let down = self.m.div_ceil(self.rows);
        let (x, y) = (i % down * self.rows, i / down * self.cols);
        (x..self.m.min(x + self.rows), y..self.n.min(y + self.cols))
    }
}
