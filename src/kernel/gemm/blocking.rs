//! Block sizes, and the costs by which blocks are chosen for threads: the constants of all
//! products.
//!
//! Sizes follow from the caches, after Goto and van de Geijn, "Anatomy of High-Performance Matrix
//! Multiplication" (2008): a panel of B and a micropanel of A share L1, a block of A takes most of
//! L2, and the packed part of B stays in the last level. `cargo bench --bench blocking` repeats the
//! measurements behind them.

use crate::simd;

/// Block sizes of a packed type.
pub struct Blocking {
    /// The most steps of the sum (KC), by level.
    k: [usize; 3],
    /// The most rows of A (MC).
    pub m: usize,
    /// Columns of B packed at a time unless packed before, rounded up to whole panels (NC).
    pub n: usize,
}
impl Blocking {
    /// For scalars. A block of A takes 768 KiB for `f32` with the longest sum, and no more for
    /// larger types. CPUs without AVX-512 have 32 KiB of L1 and 256 or 512 of L2, those with it 48
    /// and 1024. Without the standard library all scratch has to fit a microcontroller's memory.
    pub const fn scalars<T>() -> Blocking {
        const ROWS: usize = if simd::CACHE_BLOCKING { 192 } else { 18 };
        Blocking {
            k: if simd::CACHE_BLOCKING {
                [512, 512, 1024]
            } else {
                [128; 3]
            },
            m: if size_of::<T>() > 4 {
                ROWS * 4 / size_of::<T>()
            } else {
                ROWS
            },
            n: 1,
        }
    }
    /// For groups of bytes: all rows of A, and as much of B as L2 holds, so that its rows are read
    /// in long runs.
    pub const BYTES: Blocking = if cfg!(feature = "std") {
        Blocking {
            k: [256; 3],
            m: usize::MAX,
            n: 512,
        }
    } else {
        Blocking {
            k: [64; 3],
            m: usize::MAX,
            n: 8,
        }
    };
    /// For pairs of bfloat16: as for scalars, but two panels are packed at a time. Rows of B have
    /// half the bytes of `f32`, and this keeps the runs they are read in as long.
    #[cfg(x86_bf16)]
    pub const BF16_PAIRS: Blocking = Blocking {
        n: 128,
        ..Blocking::scalars::<u32>()
    };
    /// How a sum of this many steps is split on this CPU.
    pub fn of_sum(&self, steps: usize) -> KBlocks {
        KBlocks::new(steps, self.k[simd::level() as usize])
    }
}
/// Bytes of B packed at a time per thread, as many as its caches hold.
pub const N_BLOCK_BYTES: usize = 4 << 20;
/// Rows of a group of panels of C that stay in L1 until the epilogue has run.
pub const EPILOGUE_ROWS: usize = 48;
/// Bytes of a row of such a group: what starts with each row, of an epilogue and of packing, takes
/// little of the time then, and rows of C are written in long runs.
const GROUP_BYTES: usize = if simd::CACHE_BLOCKING { 512 } else { 1 };
/// The most bytes of B that groups of several panels read: L2 holds them beside a block of A while
/// rows after rows are multiplied.
const GROUP_OF_B: usize = 64 << 10;
/// The same for AMX's tile registers, which multiply so fast that reading a panel of B again for
/// more rows costs noticeably: the panel of C then stays in L2.
pub const TILED_EPILOGUE_ROWS: usize = 192;
/// Bytes of a partial block of sums on their way to elements of another type, if the sum is cut:
/// they stay in L2.
pub const PARTIAL: usize = 512 << 10;
/// Bytes of rows of C handed over to the post-op at a time, from L2. Whole rows, since
/// parts of rows would be pages apart, in its other operands too.
pub const HANDED_OVER: usize = 256 << 10;
/// The most steps of a sum for which the memory traffic of C is a notable part of the product's
/// time: blocks then have no more rows than are handed over at a time. For longer sums each panel
/// of B has to serve as many rows as possible.
pub const SHORT_SUM: usize = 256;
/// Bytes of C from which on its lines are prefetched: fewer are in L2.
pub const FETCHED: usize = 1 << 20;
/// Rows of C per thread from which on rows that are handed over are kept whole, and C is not split
/// along its columns.
pub const WHOLE_ROWS: usize = 48;
/// The most rows of A for which B is read in place, unless it spans few elements: packing would
/// cost more than it saves.
pub const IN_PLACE_ROWS: usize = 12;
/// The most elements that B spans to be read in place for a block of rows. For more rows packing
/// costs less than what loops save whose steps lie one after the other.
pub const IN_PLACE_SPAN: usize = 160 * 160;
/// The largest stride at which A with contiguous columns is read in place: beyond it, the steps of
/// the sum touch too many pages.
pub const IN_PLACE_STRIDE: usize = 128;

/// Elements of B from which on all threads pack it together. Fewer cost more to read from another
/// core's cache than to pack twice.
pub const SHARED_B: usize = 1 << 19;

/// The costs of everything but multiply-adds, in units of a tile's multiply-add, for the choice of
/// blocks. Fitted to whole products on several threads, whose operands come from memory or another
/// core's cache; on one core, from L2, packing costs half as much, as the benchmark shows. Bits
/// don't depend on these.
pub mod cost {
    /// Multiplying an element of B that all threads packed together.
    pub const SHARED_B: usize = 8;
    /// Packing an element of B.
    pub const PACK_B: usize = 16;
    /// Added to that if runs of B are as short as one panel.
    pub const PACK_SHORT_B: usize = 16;
    /// Packing an element of an image's patches as B.
    pub const PACK_PATCHES: usize = 40;
    /// Reading an element of A in place.
    pub const READ_A: usize = 3;
    /// The same if all threads packed B together: blocks are then smaller, and read A from another
    /// core's cache.
    pub const READ_SHARED_A: usize = 28;
    /// Reading a byte of A in place and adding it to its row's sum.
    pub const SUM_A: usize = 16;
    /// Packing an element of A.
    pub const PACK_A: usize = 70;
    /// Starting a block of C, when blocks are chosen.
    pub const BLOCK: usize = 1 << 15;
    /// Starting a block of C, when the number of threads is chosen: the largest cost in products of
    /// few elements.
    pub const CALL: usize = 1 << 13;
}

/// The size of equal parts of `len`, at most `size` before it is rounded up to a multiple of
/// `unit`.
pub fn equal_parts(len: usize, size: usize, unit: usize) -> usize {
    len.div_ceil(len.div_ceil(size).max(1))
        .next_multiple_of(unit)
        .max(1)
}

/// How a sum of `k` products is split into equal blocks. A product's bits depend on this alone, and
/// on no other split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KBlocks {
    k: usize,
    size: usize,
}
impl KBlocks {
    /// Splits into blocks of at most `most` steps.
    pub fn new(k: usize, most: usize) -> KBlocks {
        KBlocks {
            k,
            size: k.div_ceil(k.div_ceil(most).max(1)),
        }
    }
    /// Steps of all blocks.
    pub fn steps(self) -> usize {
        self.k
    }
    /// The number of blocks; one for an empty sum.
    pub fn count(self) -> usize {
        self.k.div_ceil(self.size.max(1)).max(1)
    }
    /// Steps of the longest block.
    pub fn longest(self) -> usize {
        self.size
    }
    /// The steps of block `i`.
    pub fn get(self, i: usize) -> core::ops::Range<usize> {
        i * self.size..self.k.min((i + 1) * self.size)
    }
}

/// Columns of a group of panels that are `panel` columns wide, with sums of `k` products of elements
/// of `bytes` bytes: whole panels.
pub fn group_columns(k: usize, bytes: usize, panel: usize) -> usize {
    let most = (GROUP_BYTES / bytes).min(GROUP_OF_B / (k.max(1) * bytes));
    (most / panel).max(1) * panel
}
