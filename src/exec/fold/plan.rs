//! The plan of a reduction: how its axes become tiles, and tiles pieces of work. It follows from
//! the layout alone, and so do the bits.

use super::Sizes;
use super::ends::Strip;
use crate::exec::nest::{Dim, Dims, MAX_OPERANDS, collapse, seek};
use core::ops::Range;

/// A reduced dimension shorter than this is no run: the lanes of a run would be empty.
pub(super) const SHORT: usize = 32;
/// No dimension shorter is an inner loop if there is a longer one, since the lanes would be empty;
/// nor are rows read where they lie.
const NARROW: usize = 8;
/// Bytes of a tile: it stays in the first-level cache between the passes over it.
pub(super) const TILE: usize = if cfg!(feature = "std") {
    32 << 10
} else {
    1 << 10
};
/// Columns of a tile.
const COLUMNS: usize = if cfg!(feature = "std") { 512 } else { 64 };
/// Bytes of the accumulators of rows that lie in memory: few tiles are better than narrow ones,
/// since whole rows use all sets of a cache and are read ahead.
const ACROSS: usize = if cfg!(feature = "std") { 8 << 10 } else { 0 };
/// A reduction is cut in parts until there are so many pieces of work, each of at least so many
/// bytes.
const PIECES: usize = 64;
const PIECE: usize = 128 << 10;

/// How a tile of the inner reduced dimension and of the one beside it is reduced.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum How {
    /// Run by run, where they lie.
    Runs,
    /// Row into row, where they lie.
    Rows,
    /// Packed so that each column is a run.
    PackedRuns,
    /// Packed as rows.
    PackedRows,
    /// Both dimensions are reduced: packed, one run.
    Flat,
}

impl How {
    /// Whether a tile is read row by row, a row having an element of each column.
    pub fn is_by_rows(self) -> bool {
        matches!(self, How::Rows | How::PackedRows)
    }
}

/// A place of each operand: what is reduced, the inputs of the program that computes it (nothing
/// is stored at its own places then), the outputs.
pub(super) type Pointers = [*mut u8; MAX_OPERANDS];

// FOLD1: the pointers of a plan are the first elements of tensors that have its loops, the inputs'
// readable, the outputs' writable, apart, and no two indices of an output the same element.
pub(super) struct Plan {
    /// First elements of the operands of the loops below.
    pub ptrs: Pointers,
    /// How many these are.
    pub operands: usize,
    pub sizes: Sizes,
    pub how: How,
    /// The inner reduced dimension, and the length of a tile along it.
    pub run: Dim,
    pub length: usize,
    /// The dimension beside it (kept unless `Flat`), and the width of a tile.
    pub side: Dim,
    pub width: usize,
    /// The other kept and the other reduced dimensions.
    pub kept: Dims,
    pub reduced: Dims,
    /// Groups of outputs: a tile's width of `side` for each index of `kept`.
    pub groups: usize,
    /// Tiles that one group is made of, in parts of so many.
    pub tiles: usize,
    pub per_part: usize,
    pub parts: usize,
    /// Elements that become one.
    pub n: usize,
}
// SAFETY: FOLD1, and pieces on several threads write disjoint outputs and accumulators.
unsafe impl Sync for Plan {}

impl Plan {
    /// `ptrs` are the first elements of so many operands; steps of loops are those of these.
    pub fn new(
        mut ptrs: Pointers,
        operands: usize,
        sizes: Sizes,
        kept: impl Iterator<Item = Dim>,
        reduced: impl Iterator<Item = Dim> + Clone,
    ) -> Plan {
        let n: usize = reduced.clone().map(|d| d.n).product();
        // by what is reduced; repeated elements last, for they are no inner loop
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
        let how = if flat {
            How::Flat
        } else if unit(&run) && run.n >= SHORT || n == 0 {
            How::Runs
        } else if unit(&side) && side.n >= NARROW {
            How::Rows
        } else if run.n >= SHORT {
            How::PackedRuns
        } else {
            How::PackedRows
        };
        let room = TILE / sizes.element;
        let (length, width) = match how {
            // several passes over direct rows are rare, and the second-level cache serves them
            How::Rows => {
                let width = side.n.min(COLUMNS.max(ACROSS / sizes.acc));
                (run.n.min((4 * room / width).max(NARROW)), width)
            }
            How::PackedRows => {
                let width = side.n.min(COLUMNS);
                (run.n.min((room / width).max(NARROW)), width)
            }
            // a whole cache line of each packed row
            How::PackedRuns => {
                let length = run.n.min(room / 16);
                (length, side.n.min(room / length).min(COLUMNS))
            }
            How::Runs | How::Flat => {
                let length = run.n.min(room).max(1);
                (length, side.n.min(room / length).min(COLUMNS))
            }
        };
        let outer = |dims: &Dims| dims.iter().map(|d| d.n).product::<usize>();
        let across = side.n.div_ceil(width);
        let along = run.n.div_ceil(length) * outer(&reduced);
        let (groups, tiles) = if flat {
            (outer(&kept), along * across)
        } else {
            (outer(&kept) * across, along)
        };
        let parts = (PIECES / groups.min(PIECES)).min(tiles).max(1);
        // joining two parts costs little beside reducing one
        let piece = if flat {
            PIECE
        } else {
            PIECE.max(64 * width * sizes.acc)
        };
        let per_part = tiles
            .div_ceil(parts)
            .max(piece.div_ceil(length * width * sizes.element));
        let parts = tiles.div_ceil(per_part).max(1);
        Plan {
            ptrs,
            operands,
            sizes,
            how,
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
    /// merged further: tiles are cut and joined alike.
    pub fn has_bits_of(&self, other: &Plan) -> bool {
        let tiles = |p: &Plan| (p.how, p.run.n, p.length, p.tiles);
        let beside = |p: &Plan| (p.side.n, p.width, p.per_part, p.parts);
        let alone = self.is_one_tile();
        tiles(self) == tiles(other) && (alone || beside(self) == beside(other))
    }
    /// Whether a column is one tile, and has the same bits whatever lies beside it.
    pub fn is_one_tile(&self) -> bool {
        self.tiles == 1 && self.how != How::Flat
    }
    /// A tile's accumulators.
    pub fn strip(&self) -> Strip {
        Strip {
            columns: if self.how == How::Flat { 1 } else { self.width },
        }
    }
    /// The columns of a group: how many, and where the first begins in each operand.
    pub fn group(&self, group: usize) -> (usize, Pointers) {
        let (mut all, mut outer, mut columns) = (self.ptrs, group, 1);
        let ptrs = &mut all[..self.operands];
        if self.how != How::Flat {
            let across = self.side.n.div_ceil(self.width);
            let r = stretch(self.side.n, self.width, group % across);
            self.side.advance(ptrs, r.start);
            outer /= across;
            columns = r.len();
        }
        seek(&self.kept, outer, ptrs);
        (columns, all)
    }
    /// A tile of a group: its rows along the inner dimension, its columns beside it, and its first
    /// elements.
    pub fn tile(&self, group: usize, tile: usize) -> (usize, usize, Pointers) {
        let (mut columns, mut all) = self.group(group);
        let ptrs = &mut all[..self.operands];
        let along = self.run.n.div_ceil(self.length);
        let rows = stretch(self.run.n, self.length, tile % along);
        self.run.advance(ptrs, rows.start);
        let mut outer = tile / along;
        if self.how == How::Flat {
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

/// The `k`th stretch of so many of `n`.
fn stretch(n: usize, of: usize, k: usize) -> Range<usize> {
    k * of..n.min((k + 1) * of)
}

/// A loop of `n` iterations that moves nothing.
fn none(n: usize) -> Dim {
    Dim {
        n,
        steps: [0; MAX_OPERANDS],
    }
}

/// Removes the innermost dimension that is long enough for an inner loop, else the longest.
fn take_inner(dims: &mut Dims) -> Dim {
    let longest = (0..dims.len()).max_by_key(|k| dims[*k].n);
    match dims.iter().position(|d| d.n >= NARROW).or(longest) {
        Some(k) => dims.remove(k),
        None => none(1),
    }
}
