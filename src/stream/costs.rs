//! The cost model of plans: all thresholds are here.

/// Values that cost up to this many operations (as [`Op::cost`](crate::op::Op::cost) counts them)
/// are recomputed rather than stored.
pub const CHEAP: u32 = 12;
/// The most operations of a program: this leaves room for conversions among its instructions.
pub const LONGEST: usize = 40;
/// Bytes of a block of all tensors of a segment: it stays in L2.
pub const BLOCK: usize = 192 << 10;
/// Segments of fewer bytes are in a cache anyway.
pub const WORTH_BLOCKS: usize = 2 * BLOCK;
/// Products whose results have fewer bytes are still in a cache when they are done.
pub const WORTH_FOLLOWING: usize = 256 << 10;
/// Operations after a product take its blocks over if their other operands have fewer bytes than
/// the product, by this factor. Those are read once in any case, and would not be prefetched
/// between blocks of a product, which costs more than sending the product through memory.
pub const BESIDE: usize = 8;
/// From this many bytes on, elements come from memory each time they are read. Smaller operands are
/// reduced separately: a joint walk would copy each stored one to a tile, which takes longer than
/// reading it from a cache again.
pub const FROM_MEMORY: usize = 16 << 20;
/// The most reductions of one walk, since each has a tile of its own.
pub const TOGETHER: usize = 4;
/// How many reductions are searched for those that one walk computes together.
pub const NEAR: usize = 32;
/// The most values that may be viewed in place of one that is computed from them: for small
/// tensors, a view costs a noticeable part of a walk.
pub const FEW_VIEWS: usize = 4;
