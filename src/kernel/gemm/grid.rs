//! The blocks of C that threads compute.

use super::blocking::cost;
use super::element::MatElement;
use super::matrix::Mat;
use super::microkernel::{HEIGHT, Packed};
use super::{Algorithm, bytes, source, steps};
use crate::simd;
use core::ops::Range;

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
    pub fn new<A: MatElement, B: MatElement>(
        algorithm: Algorithm,
        a: &Mat<A>,
        b: &Mat<B>,
        packed: bool,
        batch: usize,
        threads: usize,
    ) -> Grid {
        let (m, n, k) = (a.rows(), b.cols(), steps::<A, B>(a.cols()));
        let (lanes, widest) = A::Acc::shape(simd::level());
        let (high, wide) = (HEIGHT, lanes * widest);
        let of = |rows: usize, cols: usize| Grid {
            m,
            n,
            rows: m.div_ceil(rows).next_multiple_of(high).min(m),
            cols: n.div_ceil(cols).next_multiple_of(wide).min(n),
        };
        // Bound by memory: long runs of B.
        match algorithm {
            Algorithm::GemvRows => return of(1, threads),
            Algorithm::GemvColumns if threads > 1 => return of(1, 4 * threads),
            Algorithm::GemvColumns => return of(1, 1),
            Algorithm::Blocked => {}
        }
        if threads == 1 {
            return of(1, 1);
        }
        let direct_a = source::reads_a(a);
        let rows_b = |cols: usize| match packed {
            true => cost::SHARED_B,
            false if source::reads_b(b, m) => 0,
            false => cost::PACK_B + cost::PACK_SHORT_B * wide / cols,
        };
        let cols_a = match direct_a {
            true if packed => cost::READ_SHARED_A,
            true => cost::READ_A,
            false if bytes::<A, B>() && a.cs() == 1 => cost::SUM_A,
            false => cost::PACK_A,
        };
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
                .saturating_add(cost::BLOCK);
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
