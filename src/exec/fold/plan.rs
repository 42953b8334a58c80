//! The plan of a reduction: how its axes become tiles, and tiles pieces of work. It follows from
//! the layout alone, and so do the bits.

use super::FoldSizes;
use super::ends::ColumnAccumulators;
use crate::exec::nest::{Dim, Dims, MAX_OPERANDS, collapse, seek};
use core::ops::Range;

/// A reduced dimension shorter than this is not reduced as a run, whose lanes would be empty.
pub(super) const SHORT: usize = 32;
/// A dimension shorter than this is no inner loop if another is longer, since lanes would be empty;
/// nor are rows shorter than this read in place.
pub(super) const NARROW: usize = 8;
/// Bytes of a tile: it stays in L1 between the passes over it. Whole runs that are reduced one by one
/// make tiles of up to [`WIDER`] times as many.
pub(super) const TILE: usize = if cfg!(feature = "std") {
    32 << 10
} else {
    1 << 10
};
/// See [`TILE`].
const WIDER: usize = 4;
/// Columns of a tile, at most.
const COLUMNS: usize = if cfg!(feature = "std") { 512 } else { 64 };
/// Bytes of the accumulators of rows read in place: few wide tiles are better than many narrow
/// ones, since whole rows use all sets of a cache and are prefetched.
const ACROSS: usize = if cfg!(feature = "std") { 8 << 10 } else { 0 };
/// A reduction is cut into parts until there are this many pieces of work, each of at least this
/// many bytes.
const PIECES: usize = 64;
const PIECE: usize = 128 << 10;

/// How a tile, the inner reduced dimension by the one beside it, is reduced.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Strategy {
    /// Run by run, in place.
    Runs,
    /// Row by row into a row of accumulators, in place.
    Rows,
    /// Packed so that each column is a run.
    PackedRuns,
    /// Packed as rows.
    PackedRows,
    /// Both dimensions are reduced: packed into one run.
    Flat,
}

impl Strategy {
    /// Whether a tile is read row by row, each row with an element of every column.
    pub fn is_by_rows(self) -> bool {
        matches!(self, Strategy::Rows | Strategy::PackedRows)
    }
}

/// The address of each operand: the elements that are reduced (a placeholder if a program computes
/// them), that program's inputs, the outputs.
pub(super) type Pointers = [*mut u8; MAX_OPERANDS];

// FOLD1: the pointers of a plan are the first elements of tensors with its loops, the inputs
// readable, the outputs writable and disjoint from all else, and no two indices of an output
// address the same element.
pub(super) struct FoldPlan {
    /// First element of each operand of the loops below.
    pub ptrs: Pointers,
    /// Number of operands.
    pub operands: usize,
    pub sizes: FoldSizes,
    pub strategy: Strategy,
    /// The inner reduced dimension, and the length of a tile along it.
    pub run: Dim,
    pub length: usize,
    /// The dimension beside it (kept unless `Flat`), and the width of a tile.
    pub side: Dim,
    pub width: usize,
    /// The remaining kept and the remaining reduced dimensions.
    pub kept: Dims,
    pub reduced: Dims,
    /// Number of groups of outputs, each a tile's width of `side` at an index of `kept`.
    pub groups: usize,
    /// Tiles of a group, tiles of each of its parts, and number of parts.
    pub tiles: usize,
    pub per_part: usize,
    pub parts: usize,
    /// Elements reduced to one result.
    pub n: usize,
}
// SAFETY: FOLD1; pieces on several threads write disjoint outputs and accumulators.
unsafe impl Sync for FoldPlan {}

impl FoldPlan {
    /// `ptrs` are the first elements of `operands` operands, in the order of the loops' steps. `run_by_run`
    /// says that nothing passes over a tile of runs as a whole, but each run is reduced where it lies.
    pub fn new(
        mut ptrs: Pointers,
        operands: usize,
        sizes: FoldSizes,
        run_by_run: bool,
        kept: impl Iterator<Item = Dim>,
        reduced: impl Iterator<Item = Dim> + Clone,
    ) -> FoldPlan {
        let n: usize = reduced.clone().map(|d| d.n).product();
        // ordered by the strides of the operand that is reduced; broadcast loops come last, since
        // they can't be inner loops
        let backwards = |steps: &[isize]| steps[0] < 0;
        let key = |steps: &[isize]| match steps[0].unsigned_abs() {
            0 => usize::MAX,
            step => step,
        };
        let mut kept = collapse(kept, &mut ptrs[..operands], backwards, key);
        let mut reduced = if n == 0 {
            Dims::from_elem(none(0), 1)
        } else {
            collapse(reduced, &mut ptrs[..operands], backwards, key)
        };
        let run = take_inner(&mut reduced);
        let unit = |d: &Dim| d.steps[0] == sizes.element as isize;
        let flat = kept.is_empty() && !reduced.is_empty() && run.n < TILE / sizes.element;
        let side = take_inner(if flat { &mut reduced } else { &mut kept });
        let strategy = if flat {
            Strategy::Flat
        } else if unit(&run) && run.n >= SHORT || n == 0 {
            Strategy::Runs
        } else if unit(&side) && side.n >= NARROW {
            Strategy::Rows
        } else if run.n >= SHORT {
            Strategy::PackedRuns
        } else {
            Strategy::PackedRows
        };
        let room = TILE / sizes.element;
        let outer = |dims: &Dims| dims.iter().map(|d| d.n).product::<usize>();
        let (length, width) = match strategy {
            // several passes over rows in place are rare, and L2 serves them
            Strategy::Rows => {
                let width = side.n.min(COLUMNS.max(ACROSS / sizes.acc));
                (run.n.min((4 * room / width).max(NARROW)), width)
            }
            Strategy::PackedRows => {
                let width = side.n.min(COLUMNS);
                (run.n.min((room / width).max(NARROW)), width)
            }
            // tiles at least 16 wide: a cache line of each row that is packed
            Strategy::PackedRuns => {
                let length = run.n.min(room / 16);
                (length, side.n.min(room / length).min(COLUMNS))
            }
            // by as few calls as leave enough pieces of work; each run is whole, whatever its tile
            Strategy::Runs if run_by_run && run.n <= room && outer(&reduced) == 1 => {
                let length = run.n.max(1);
                let enough = (side.n * outer(&kept)).div_ceil(PIECES);
                let width = enough.clamp(room / length, WIDER * room / length);
                (length, side.n.min(width).min(COLUMNS))
            }
            Strategy::Runs | Strategy::Flat => {
                let length = run.n.min(room).max(1);
                (length, side.n.min(room / length).min(COLUMNS))
            }
        };
        let across = side.n.div_ceil(width);
        let along = run.n.div_ceil(length) * outer(&reduced);
        let (groups, tiles) = if flat {
            (outer(&kept), along * across)
        } else {
            (outer(&kept) * across, along)
        };
        let parts = (PIECES / groups.min(PIECES)).min(tiles).max(1);
        // joining two parts must cost little compared with reducing one
        let piece = if flat {
            PIECE
        } else {
            PIECE.max(64 * width * sizes.acc)
        };
        let per_part = tiles
            .div_ceil(parts)
            .max(piece.div_ceil(length * width * sizes.element));
        let parts = tiles.div_ceil(per_part).max(1);
        FoldPlan {
            ptrs,
            operands,
            sizes,
            strategy,
            run,
            length,
            side,
            width,
            kept,
            reduced,
            groups,
            tiles,
            per_part,
            parts,
            n,
        }
    }

    /// Whether results have the bits of `other`, a plan of the same reduction whose loops may be
    /// merged further: whether tiles are cut and joined alike.
    pub fn has_bits_of(&self, other: &FoldPlan) -> bool {
        let tiles = |p: &FoldPlan| (p.strategy, p.run.n, p.length, p.tiles);
        let beside = |p: &FoldPlan| (p.side.n, p.width, p.per_part, p.parts);
        let alone = self.is_one_tile();
        tiles(self) == tiles(other) && (alone || beside(self) == beside(other))
    }
    /// Whether each column is one tile, so that its bits don't depend on the columns beside it.
    pub fn is_one_tile(&self) -> bool {
        self.tiles == 1 && self.strategy != Strategy::Flat
    }
    /// Whether the tiles of a group lie one after the other in memory, each a run.
    pub fn is_contiguous(&self) -> bool {
        self.strategy == Strategy::Runs && self.width == 1 && self.reduced.is_empty()
    }
    /// The accumulators of a tile.
    pub fn strip(&self) -> ColumnAccumulators {
        ColumnAccumulators {
            columns: if self.strategy == Strategy::Flat {
                1
            } else {
                self.width
            },
        }
    }
    /// The columns of a group of operands that begin at `from`.
    pub fn group(&self, from: &Pointers, group: usize) -> Group {
        let (mut all, mut outer, mut columns) = (*from, group, 1);
        let ptrs = &mut all[..self.operands];
        if self.strategy != Strategy::Flat {
            let across = self.side.n.div_ceil(self.width);
            let r = stretch(self.side.n, self.width, group % across);
            self.side.advance(ptrs, r.start);
            outer /= across;
            columns = r.len();
        }
        seek(&self.kept, outer, ptrs);
        Group { columns, ptrs: all }
    }
    /// A tile of a group: its rows along the inner dimension, its columns beside it, and the
    /// address of its first element in each operand.
    pub fn tile(&self, group: &Group, tile: usize) -> (usize, usize, Pointers) {
        let (mut columns, mut all) = (group.columns, group.ptrs);
        let ptrs = &mut all[..self.operands];
        let along = self.run.n.div_ceil(self.length);
        let (mut outer, inner) = match along {
            1 => (tile, 0),
            _ => (tile / along, tile % along),
        };
        let rows = stretch(self.run.n, self.length, inner);
        self.run.advance(ptrs, rows.start);
        if self.strategy == Strategy::Flat {
            let across = self.side.n.div_ceil(self.width);
            let r = stretch(self.side.n, self.width, outer % across);
            self.side.advance(ptrs, r.start);
            outer /= across;
            columns = r.len();
        }
        seek(&self.reduced, outer, ptrs);
        (rows.len(), columns, all)
    }
}

/// The columns of a group: their number, and the address of the first in each operand.
pub(super) struct Group {
    pub columns: usize,
    pub ptrs: Pointers,
}

/// Range `k` when `n` is cut into ranges of `of`.
fn stretch(n: usize, of: usize, k: usize) -> Range<usize> {
    k * of..n.min((k + 1) * of)
}

/// A loop of `n` iterations whose steps are 0.
fn none(n: usize) -> Dim {
    Dim {
        n,
        steps: [0; MAX_OPERANDS],
    }
}

/// Removes the innermost dimension that is long enough for an inner loop, or else the longest.
fn take_inner(dims: &mut Dims) -> Dim {
    let longest = (0..dims.len()).max_by_key(|k| dims[*k].n);
    match dims.iter().position(|d| d.n >= NARROW).or(longest) {
        Some(k) => dims.remove(k),
        None => none(1),
    }
}
