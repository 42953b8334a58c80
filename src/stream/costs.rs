//! What plans take things to cost: the one place with thresholds.

/// Operations (as [`Op::cost`](crate::op::Op::cost) counts them) up to which a value is computed again
/// rather than stored.
pub const CHEAP: u32 = 12;
/// Instructions of a program, at most: so that there is room for conversions.
pub const LONGEST: usize = 40;
/// Bytes of a block of all tensors of a segment: in a second-level cache.
pub const BLOCK: usize = 192 << 10;
/// Segments of fewer bytes are in a cache anyway.
pub const WORTH_BLOCKS: usize = 2 * BLOCK;
/// Products whose results have fewer bytes are in a cache when they are done.
pub const WORTH_FOLLOWING: usize = 256 << 10;
/// What follows a product takes blocks of it over where its other operands have fewer bytes, by this factor, than the
/// product. Those are read once in any case: on the way between blocks of a product they are not fetched ahead, which
/// costs more than the product's way through memory.
pub const BESIDE: usize = 8;
/// Bytes from which on elements come from memory each time that they are read. Those of fewer are
/// reduced apart: in one walk each operand that is stored would be copied to its tile, which takes longer
/// than to read it from a cache again.
pub const FROM_MEMORY: usize = 16 << 20;
/// Reductions of one walk, at most: each has a tile of its own.
pub const TOGETHER: usize = 4;
/// Values that are viewed in the place of one that is computed of them, at most: for small tensors a view takes a
/// part of the time that a walk does.
pub const FEW_VIEWS: usize = 4;
