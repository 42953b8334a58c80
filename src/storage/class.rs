//! Size classes: 128, 192, 256, 384, ..: powers of two, and the values halfway between. They count
//! the data alone, so that a tensor of a power of two fills its block; at most a third of a block
//! is unused.

/// The number of classes for sizes up to `isize::MAX`.
pub const CLASSES: usize = 2 * (usize::BITS as usize - 8);

/// The smallest class that holds `len` bytes; `None` beyond `isize::MAX`, the limit of allocations.
#[inline(always)]
pub fn of(len: usize) -> Option<usize> {
    if len <= capacity(0) {
        return Some(0);
    }
    let last = len - 1;
    let log = last.ilog2() as usize;
    let class = if last >> (log - 1) & 1 == 0 {
        2 * (log - 7) + 1
    } else {
        2 * (log - 6)
    };
    (class < CLASSES).then_some(class)
}

/// Bytes of data in a block of the class.
#[inline(always)]
pub const fn capacity(class: usize) -> usize {
    (2 + (class & 1)) << (class / 2 + 6)
}
