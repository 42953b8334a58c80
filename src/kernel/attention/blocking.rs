//! The constants of attention: block sizes, and the cost estimates behind the choice of threads.

/// The fewest and the most queries in a block (fewer if there are no more). Each block packs all
/// values, so larger ones are faster. Multiples of every panel width, so that a query is in the
/// same panel whatever the block.
const LEAST: usize = if cfg!(feature = "std") { 64 } else { 8 };
pub const QUERIES: usize = if cfg!(feature = "std") { 256 } else { 8 };
/// Keys in a tile.
pub const KEYS: usize = if cfg!(feature = "std") { 256 } else { 32 };
/// The most queries for which values are read in place: packing would cost more than it saves.
pub const DIRECT: usize = 12;

/// Whether a head has few queries, so that its time is that of reading keys and values. Heads that
/// share keys and values may have twice as many. Depends on the shape alone, since the results of
/// both algorithms differ in their last bits.
pub fn has_few_queries(queries: usize, heads: usize) -> bool {
    queries <= if heads > 1 { 8 } else { 4 }
}
/// Keys in a part, for few queries: a part is a unit of work, and its scores stay in L2.
pub const PART: usize = if cfg!(feature = "std") { 512 } else { 32 };

/// Queries in a block, for this many heads of `queries` each: several blocks per thread. The bits
/// of a query's result don't depend on it.
pub fn rows(heads: usize, queries: usize, threads: usize) -> usize {
    let mut rows = QUERIES;
    while rows > LEAST && heads.saturating_mul(queries.div_ceil(rows)) < 4 * threads {
        rows /= 2;
    }
    rows
}

/// The cost of attention, in operations of a lane.
pub mod cost {
    /// Fixed cost of a block or part: most of the time for a sequence of a few tokens.
    const BEGIN: usize = 80_000;
    /// From a score to a weight.
    const WEIGHT: usize = 16;

    /// The cost of `queries` by `keys`, with keys of `depth` and values of `width`.
    pub fn flops(queries: usize, keys: usize, depth: usize, width: usize) -> usize {
        let pair = depth.saturating_add(width).saturating_add(WEIGHT);
        queries
            .saturating_mul(keys)
            .saturating_mul(pair)
            .saturating_add(BEGIN)
    }
}
