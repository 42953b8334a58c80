//! The sizes of blocks, and what the choice of blocks for threads takes things to cost: the
//! constants of all products.
//!
//! Sizes follow from caches, after Goto and van de Geijn, "Anatomy of High-Performance Matrix
//! Multiplication" (2008): a panel of B and a micropanel of A share L1, a block of A takes most of
//! L2, and what is packed of B lies in the last level. `cargo bench --bench blocking` measures what
//! they follow from.

use crate::simd;

/// The sizes of blocks for a packed type.
pub struct Blocking {
    /// Steps of the sum at most (KC), by level.
    k: [usize; 3],
    /// Rows of A at most (MC).
    pub m: usize,
    /// Columns of B that are packed at once where they were not packed before, in whole panels (NC).
    pub n: usize,
}
impl Blocking {
    /// Of numbers: a block of A is 768 KiB with the longest sum of `f32`, and no more of larger
    /// types. CPUs without AVX-512 have 32 KiB of L1 and 256 or 512 of L2, where those with it have
    /// 48 and 1024. Without the standard library all scratch has to fit a microcontroller's memory.
    pub const fn numbers<T>() -> Blocking {
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
    /// Of groups of bytes: all of A, and of B as much as L2 holds, so that its rows are read in long
    /// runs.
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
    /// Of pairs of bfloat16: as numbers, but two panels at once, so that rows of B, of which pairs are made of
    /// half the bytes, are read in as long runs.
    #[cfg(all(x86_dispatch, feature = "half"))]
    pub const TWINS: Blocking = Blocking {
        n: 128,
        ..Blocking::numbers::<u32>()
    };
    /// How a sum of so many steps is cut on this CPU.
    pub fn of_sum(&self, steps: usize) -> KBlocks {
        KBlocks::new(steps, self.k[simd::level() as usize])
    }
}
/// Elements of B that are packed at once for each thread: their caches hold them.
pub const N_BLOCK_ELEMENTS: usize = 1 << 20;
/// Rows whose part of a panel of C stays in L1 until the epilogue has run.
pub const EPILOGUE_ROWS: usize = 48;
/// Bytes of rows of C that are handed over to what follows: in L2. Whole rows, since parts of them are
/// pages apart, in the other operands of what follows too.
pub const HANDED_OVER: usize = 256 << 10;
/// Steps of a sum, at most, for which C's way through memory is a part of a product's time: blocks have no
/// more rows then than are handed over. For longer ones each panel of B has to serve as many rows as it can.
pub const SHORT_SUM: usize = 256;
/// Rows of C for each thread from which on it is not cut along its rows where these are handed over.
pub const WHOLE_ROWS: usize = 48;
/// B is read in place up to so many rows of A, or where it spans few elements: packing it would
/// cost more than it saves.
pub const IN_PLACE_ROWS: usize = 12;
/// The elements that it spans then.
pub const IN_PLACE_SPAN: usize = 160 * 160;
/// A whose columns are contiguous is read in place while they are so close: else each step of the
/// sum is another page.
pub const IN_PLACE_STRIDE: usize = 128;

/// Elements of B from which on all threads pack it together. Fewer are read from another core's
/// cache, which costs more than packing them twice.
pub const SHARED_B: usize = 1 << 19;

/// What is done beside multiply-adds, in those of a tile, for the choice of blocks. Fitted to whole
/// products on several threads, whose operands come from memory or another core's cache; on one
/// core, from L2, packing is half as expensive, which the benchmark prints. Bits don't depend on it.
pub mod cost {
    /// To multiply an element of B that all threads packed together.
    pub const SHARED_B: usize = 8;
    /// To pack an element of B.
    pub const PACK_B: usize = 16;
    /// What is added to that where runs of B are as short as one panel.
    pub const PACK_SHORT_B: usize = 16;
    /// To pack an element of an image's patches as B.
    pub const PACK_PATCHES: usize = 40;
    /// To read an element of A in place.
    pub const READ_A: usize = 3;
    /// The same where B was packed by all threads together: blocks are then smaller, and read A
    /// from another core's cache.
    pub const READ_SHARED_A: usize = 28;
    /// To read a byte of A in place and to sum it up.
    pub const SUM_A: usize = 16;
    /// To pack an element of A.
    pub const PACK_A: usize = 70;
    /// To begin with a block of C, where blocks are chosen.
    pub const BLOCK: usize = 1 << 15;
    /// To begin with a block of C, where the number of threads is: more than all else in products
    /// of few elements.
    pub const CALL: usize = 1 << 13;
}

/// Parts of `size` at most, a multiple of `unit`, as equal as that allows.
pub fn equal_parts(len: usize, size: usize, unit: usize) -> usize {
    len.div_ceil(len.div_ceil(size).max(1))
        .next_multiple_of(unit)
        .max(1)
}

/// How a sum of `k` products is cut into equal blocks. The bits of a product follow from this
/// alone, whatever else is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KBlocks {
    k: usize,
    size: usize,
}
impl KBlocks {
    /// In blocks of `most` steps at most.
    pub fn new(k: usize, most: usize) -> KBlocks {
        KBlocks {
            k,
            size: k.div_ceil(k.div_ceil(most).max(1)),
        }
    }
    /// Steps of all.
    pub fn steps(self) -> usize {
        self.k
    }
    /// How many; one for an empty sum.
    pub fn count(self) -> usize {
        self.k.div_ceil(self.size.max(1)).max(1)
    }
    /// Steps of the longest.
    pub fn longest(self) -> usize {
        self.size
    }
    /// Steps of block `i`.
    pub fn get(self, i: usize) -> core::ops::Range<usize> {
        i * self.size..self.k.min((i + 1) * self.size)
    }
}
