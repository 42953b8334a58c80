//! The blocks of C that threads compute.

use super::blocking::cost;
use super::element::MatElement;
use super::matrix::Mat;
use super::microkernel::{HEIGHT, Packed, widest_panel};
use super::source::{self, Source};
use super::{Algorithm, bytes, steps};
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
        let sizes = [a.rows(), b.cols(), steps::<A, B>(a.cols())];
        // Bound by memory: long runs of B.
        let of = |cols: usize| Grid::cut::<A::Acc>(sizes, 1, cols);
        match algorithm {
            Algorithm::GemvRows => return of(threads),
            Algorithm::GemvColumns if threads > 1 => return of(4 * threads),
            Algorithm::GemvColumns => return of(1),
            Algorithm::Blocked => {}
        }
        let rows_b = match packed {
            true => Some(cost::SHARED_B),
            false if source::reads_b(b, sizes[0]) => Some(0),
            false => None,
        };
        let cols_a = match source::reads_a(a) {
            true if packed => cost::READ_SHARED_A,
            true => cost::READ_A,
            false if bytes::<A, B>() && a.cs() == 1 => cost::SUM_A,
            false => cost::PACK_A,
        };
        Grid::cheapest::<A::Acc>(sizes, rows_b, cols_a, batch, threads)
    }
    /// Blocks for each of `batch` products of sources, of which `a` and `b` are the first one's.
    pub fn of_sources<A: Source, B: Source>(a: &A, b: &B, batch: usize, threads: usize) -> Grid {
        let sizes = [a.lines(), b.lines(), a.steps()];
        let rows_b = b.panels_in_place(sizes[0]).map(|_| 0);
        let cols_a = match a.block_in_place() {
            Some(_) => cost::READ_A,
            None => cost::PACK_A,
        };
        Grid::cheapest::<A::Packed>(sizes, rows_b, cols_a, batch, threads)
    }
    /// Blocks of `m x n`, about so many down and across.
    fn cut<T: Packed>([m, n, _]: [usize; 3], down: usize, across: usize) -> Grid {
        Grid {
            m,
            n,
            rows: m.div_ceil(down).next_multiple_of(HEIGHT).min(m),
            cols: (n.div_ceil(across))
                .next_multiple_of(widest_panel::<T>())
                .min(n),
        }
    }
    /// The blocks that take the least time. `rows_b`: what an element of B costs beside its
    /// multiplications, none where it is packed for each block; `cols_a`: what one of A does.
    fn cheapest<T: Packed>(
        sizes: [usize; 3],
        rows_b: Option<usize>,
        cols_a: usize,
        batch: usize,
        threads: usize,
    ) -> Grid {
        let [_, n, k] = sizes;
        let (high, wide) = (HEIGHT, widest_panel::<T>());
        let of = |down: usize, across: usize| Grid::cut::<T>(sizes, down, across);
        if threads == 1 {
            return of(1, 1);
        }
        let rows_b =
            |cols: usize| rows_b.unwrap_or_else(|| cost::PACK_B + cost::PACK_SHORT_B * wide / cols);
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
