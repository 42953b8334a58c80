//! The blocks of C that threads compute.

use super::blocking::{WHOLE_ROWS, cost};
use super::element::MatElement;
use super::matrix::Mat;
use super::microkernel::{HEIGHT, Packed, widest_panel};
use super::source::{self, Source};
use super::{Algorithm, bytes, steps, twins};
use crate::simd;
use core::ops::Range;

/// Blocks of C, as equal as whole tiles let them be.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    rows: Cuts,
    cols: Cuts,
}

/// `0..len` in so many parts, each of which begins at the multiple of `unit` that is nearest to where
/// equal ones would.
#[derive(Clone, Copy, Debug)]
struct Cuts {
    len: usize,
    parts: usize,
    unit: usize,
}
impl Cuts {
    /// At most so many, none of them empty but that of an empty length.
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
    /// The longest part, or up to a unit more.
    fn longest(&self) -> usize {
        let ends = self.get(0).len().max(self.get(self.parts - 1).len());
        match self.parts {
            1 | 2 => ends,
            parts => ends.max(self.len.div_ceil(parts).next_multiple_of(self.unit)),
        }
    }
}

impl Grid {
    /// Blocks for each of `batch` products on so many threads. `packed`: whether B is panels. `whole`:
    /// whether rows are better not cut, where there are enough of them.
    pub fn new<A: MatElement, B: MatElement>(
        algorithm: Algorithm,
        a: &Mat<A>,
        b: &Mat<B>,
        (packed, whole): (bool, bool),
        batch: usize,
        threads: usize,
    ) -> Grid {
        let sizes = [a.rows(), b.cols(), steps::<A, B>(a.cols())];
        // Bound by memory: long runs of B.
        let of = |cols: usize| Grid::cut::<A::Acc>(sizes, 1, cols, true);
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
            false if twins::<A, B>() && a.cs() == 1 => cost::READ_A,
            false => cost::PACK_A,
        };
        let whole = whole && batch * sizes[0] >= WHOLE_ROWS * threads;
        Grid::cheapest::<A::Acc>(sizes, (packed, whole), rows_b, cols_a, [batch, threads])
    }
    /// Blocks for each of `batch` products of sources, of which `a` and `b` are the first one's.
    pub fn of_sources<A: Source, B: Source>(a: &A, b: &B, batch: usize, threads: usize) -> Grid {
        let sizes = [a.lines(), b.lines(), a.steps()];
        let rows_b = b.panels_in_place(sizes[0]).map(|_| 0).or(B::PACK_B);
        let cols_a = match a.block_in_place() {
            Some(_) => cost::READ_A,
            None => cost::PACK_A,
        };
        Grid::cheapest::<A::Packed>(sizes, (false, false), rows_b, cols_a, [batch, threads])
    }
    /// Blocks of `m x n`, about so many down and across. `panels`: whether each begins with a panel of the
    /// widest; otherwise narrower ones do as well, but for those of a single vector.
    fn cut<T: Packed>([m, n, _]: [usize; 3], down: usize, across: usize, panels: bool) -> Grid {
        let (lanes, widest) = T::shape(simd::level());
        let vectors = if panels { widest } else { widest.min(2) };
        Grid {
            rows: Cuts::new(m, down, HEIGHT),
            cols: Cuts::new(n, across, vectors * lanes),
        }
    }
    /// The blocks that take the least time. `rows_b`: what an element of B costs beside its
    /// multiplications, none where a matrix is packed for each block; `cols_a`: what one of A does. `panels`: whether B
    /// is packed before. `whole`: not to cut rows.
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
        let across = if whole { &across[..1] } else { &across[..] };
        let grids = down
            .iter()
            .flat_map(|rows| across.iter().map(|cols| of(*rows, *cols)));
        grids.min_by_key(time).unwrap_or(of(1, 1))
    }
    /// How many blocks have the same columns.
    pub fn down(&self) -> usize {
        self.rows.parts
    }
    /// How many blocks.
    pub fn len(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        self.rows.parts * self.cols.parts
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.len == 0 || self.cols.len == 0
    }
    /// Rows and columns of block `i`.
    pub fn block(&self, i: usize) -> (Range<usize>, Range<usize>) {
        let down = self.down();
        (self.rows.get(i % down), self.cols.get(i / down))
    }
}
