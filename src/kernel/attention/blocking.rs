//! The sizes of blocks, and what the choice of threads takes them to cost: the constants of
//! attention.

/// Queries of a block at least, where there are so many, and at most: each block packs all values,
/// so more are faster. Multiples of every panel's width, so that a query is in the same panel
/// whatever the block.
const LEAST: usize = if cfg!(feature = "std") { 64 } else { 8 };
pub const QUERIES: usize = if cfg!(feature = "std") { 256 } else { 8 };
/// Keys of a tile.
pub const KEYS: usize = if cfg!(feature = "std") { 256 } else { 32 };
/// Queries up to which values are read in place: packing them would cost more than it saves.
pub const DIRECT: usize = 12;

/// Queries of a head up to which they are few: their time is that of reading keys and values. Twice
/// as many are, where other heads read the same ones. A rule of the shape alone, since the bits of
/// few and of many differ.
pub fn few(queries: usize, heads: usize) -> bool {
    queries <= if heads > 1 { 8 } else { 4 }
}
/// Keys of a part, where queries are few: a part is a piece of work, and its scores stay in L2.
pub const PART: usize = if cfg!(feature = "std") { 512 } else { 32 };

/// Queries of a block, where so many heads have so many each: several blocks for each thread. A
/// query's bits don't depend on it.
pub fn rows(heads: usize, queries: usize, threads: usize) -> usize {
    let mut rows = QUERIES;
    while rows > LEAST && heads.saturating_mul(queries.div_ceil(rows)) < 4 * threads {
        rows /= 2;
    }
    rows
}

/// Operations of attention, in those of a lane.
pub mod cost {
    /// To begin with a block or a part: all there is to do for a sequence of some tokens.
    const BEGIN: usize = 80_000;
    /// To make a weight of a score.
    const WEIGHT: usize = 16;

    /// Those of so many queries and keys, of `depth` and `width`.
    pub fn flops(queries: usize, keys: usize, depth: usize, width: usize) -> usize {
        let pair = depth.saturating_add(width).saturating_add(WEIGHT);
        queries
            .saturating_mul(keys)
            .saturating_mul(pair)
            .saturating_add(BEGIN)
    }
}
