//! The blocks of C that threads compute.

use super::Algorithm;
use super::blocking::{WHOLE_ROWS, cost};
use super::element::MatElement;
use super::matrix::Mat;
use super::microkernel::{HEIGHT, Packed, widest_panel};
use super::operand::with_packing;
use super::source::Source;
use crate::simd;
use core::ops::Range;

/// Blocks of C, as equal as whole tiles allow.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    rows: Cuts,
    cols: Cuts,
}

/// `0..len` in `parts` parts; each begins at the multiple of `unit` nearest to where an equal part
/// would.
#[derive(Clone, Copy, Debug)]
struct Cuts {
    len: usize,
    parts: usize,
    unit: usize,
}
impl Cuts {
    /// At most `parts` parts, none of them empty unless `len` is 0.
    fn new(len: usize, parts: usize, unit: usize) -> Cuts {
        let parts = parts.clamp(1, len.div_ceil(unit).max(1));
        Cuts { len, parts, unit }
    }
    fn start(&self, i: usize) -> usize {
        let (len, parts, unit) = (self.len, self.parts, self.unit);
        if i == parts {
            len
        } else if parts > len / unit {
            i * unit
        } else {
            let equal = i * (len / parts) + i * (len % parts) / parts;
            (equal + unit / 2) / unit * unit
        }
    }
    fn get(&self, i: usize) -> Range<usize> {
        self.start(i)..self.start(i + 1)
    }
    /// The length of the longest part, or up to a unit more.
    fn longest(&self) -> usize {
        let ends = self.get(0).len().max(self.get(self.parts - 1).len());
        match self.parts {
            1 | 2 => ends,
            parts => ends.max(self.len.div_ceil(parts).next_multiple_of(self.unit)),
        }
    }
}

impl Grid {
    /// Blocks for each of `batch` products on `threads` threads. `packed`: whether B is in panels
    /// that were packed before. `whole`: whether to keep rows whole if there are enough of them.
    pub fn new<A: MatElement, B: MatElement<Acc = A::Acc>>(
        algorithm: Algorithm,
        a: &Mat<A>,
        b: &Mat<B>,
        packed_and_whole: (bool, bool),
        batch: usize,
        threads: usize,
    ) -> Grid {
        match algorithm {
            Algorithm::Blocked => with_packing!(A, B, |left, right| {
                let (a, b) = (left.rows(*a), right.columns(*b));
                Grid::of_sources(&a, &b, packed_and_whole, batch, threads)
            }),
            _ => Grid::of_vectors::<A::Acc>(algorithm, [a.rows(), b.cols(), a.cols()], threads),
        }
    }
    /// Blocks for a few vectors, `m x n` sums of `k`: bound by memory, so long runs of B.
    pub fn of_vectors<T: Packed>(algorithm: Algorithm, sizes: [usize; 3], threads: usize) -> Grid {
        let cols = match algorithm {
            Algorithm::GemvRows => threads,
            Algorithm::GemvColumns if threads > 1 => 4 * threads,
            _ => 1,
        };
        Grid::cut::<T>(sizes, 1, cols, true)
    }
    /// Blocks for each of `batch` products of sources, as [`Grid::new`]; `a` and `b` are those of
    /// the first product.
    pub fn of_sources<T: Packed>(
        a: &dyn Source<Packed = T>,
        b: &dyn Source<Packed = T>,
        (packed, whole): (bool, bool),
        batch: usize,
        threads: usize,
    ) -> Grid {
        let (left, right) = (a.info(), b.info());
        let sizes = [left.lines, right.lines, left.steps];
        let rows_b = match packed {
            true => Some(cost::SHARED_B),
            false if right.panels_in_place(sizes[0]).is_some() => Some(0),
            false => b.pack_cost(),
        };
        let cols_a = match left.block_in_place().is_some() {
            true if right.offset != 0 => cost::SUM_A,
            true if packed => cost::READ_SHARED_A,
            true => cost::READ_A,
            false => cost::PACK_A,
        };
        let whole = whole && batch * sizes[0] >= WHOLE_ROWS * threads;
        Grid::cheapest::<T>(sizes, (packed, whole), rows_b, cols_a, [batch, threads])
    }
    /// Blocks of `m x n`, about `down` by `across` of them. `panels`: whether each begins at a
    /// multiple of the widest panel; otherwise at a multiple of two vectors.
    fn cut<T: Packed>([m, n, _]: [usize; 3], down: usize, across: usize, panels: bool) -> Grid {
        let (lanes, widest) = T::shape(simd::level());
        let vectors = if panels { widest } else { widest.min(2) };
        Grid {
            rows: Cuts::new(m, down, HEIGHT),
            cols: Cuts::new(n, across, vectors * lanes),
        }
    }
    /// The blocks that take the least time. `rows_b`: the cost of an element of B beside its
    /// multiplications, none if a matrix is packed for each block. `cols_a`: the cost of an element
    /// of A. `panels`: whether B is packed before. `whole`: whether rows are kept whole.
    fn cheapest<T: Packed>(
        sizes: [usize; 3],
        (panels, whole): (bool, bool),
        rows_b: Option<usize>,
        cols_a: usize,
        [batch, threads]: [usize; 2],
    ) -> Grid {
        let [_, n, k] = sizes;
        let wide = widest_panel::<T>();
        let (lanes, _) = T::shape(simd::level());
        let of = |down: usize, across: usize| Grid::cut::<T>(sizes, down, across, panels);
        if threads == 1 {
            return of(1, 1);
        }
        let rows_b =
            |cols: usize| rows_b.unwrap_or_else(|| cost::PACK_B + cost::PACK_SHORT_B * wide / cols);
        let time = |grid: &Grid| {
            let rows = grid.rows.longest().next_multiple_of(HEIGHT);
            let cols = grid.cols.longest().next_multiple_of(lanes);
            let block = k
                .saturating_mul(
                    (rows + rows_b(cols))
                        .saturating_mul(cols)
                        .saturating_add(cols_a * rows),
                )
                .saturating_add(cost::BLOCK);
            // An eighth of a block more, since threads are not equally fast.
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
        let across = if whole { &across[..1] } else { &across[..] };
        let grids = down
            .iter()
            .flat_map(|rows| across.iter().map(|cols| of(*rows, *cols)));
        grids.min_by_key(time).unwrap_or(of(1, 1))
    }
    /// The number of blocks with the same columns.
    pub fn down(&self) -> usize {
        self.rows.parts
    }
    /// The number of blocks.
    pub fn len(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        self.rows.parts * self.cols.parts
    }
    /// Whether there are no blocks.
    pub fn is_empty(&self) -> bool {
        self.rows.len == 0 || self.cols.len == 0
    }
    /// Rows and columns of block `i`.
    pub fn block(&self, i: usize) -> (Range<usize>, Range<usize>) {
        let down = self.down();
        (self.rows.get(i % down), self.cols.get(i / down))
    }
}
