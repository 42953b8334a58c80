//! Positions along an axis as byte offsets.

use crate::dtype::Element;

/// An integer that can be a position.
pub trait Position: Element {
    /// As int64; what is beyond it stays the largest, which no axis reaches.
    fn to_i64(self) -> i64;
}
macro_rules! positions {
    ($($(#[$cfg:meta])* $T:ty),*) => { $(
        $(#[$cfg])* impl Position for $T { #[inline(always)] fn to_i64(self) -> i64 { self as i64 } }
    )* };
}
positions!(
    i8,
    i32,
    i64,
    u8,
    #[cfg(feature = "ints")]
    i16,
    #[cfg(feature = "ints")]
    u16,
    #[cfg(feature = "ints")]
    u32
);
#[cfg(feature = "ints")]
impl Position for u64 {
    #[inline(always)]
    fn to_i64(self) -> i64 {
        self.min(i64::MAX as u64) as i64
    }
}

kernel! {
    /// Offsets of positions along an axis of `size` elements, `stride` bytes apart; negative positions count from the end.
    /// False where one is out of range.
    pub fn offsets<'a, T: Position>(positions: &'a [T], size: i64, stride: i64, out: &'a mut [i64]) -> bool { |I|
        let mut bad = false;
        for (p, out) in positions.iter().zip(out) {
            let p = p.to_i64();
            let p = p + (size & (p >> 63));
            bad |= p as u64 >= size as u64;
            *out = p.wrapping_mul(stride);
        }
        !bad
    }
}

/// The first position out of range.
pub fn first_outside<T: Position>(positions: &[T], size: i64) -> Option<i64> {
    positions.iter().map(|p| p.to_i64()).find(|p| !(-size..size).contains(p))
}
