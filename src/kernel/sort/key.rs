//! Values as signed integers of the same order, so that one sort serves all dtypes: NaN comes last,
//! in ascending and descending order.

use super::quick::Part;
use crate::dtype::Pod;
use crate::dtype::{Bool, Element};

/// An integer type to sort.
pub trait Key: Pod + Ord + Default {
    /// All bits set: reverses the order by exclusive or.
    const FLIP: Self;
    /// Sorts a part.
    fn sort(part: Part<Self>);
    /// Splits a part in two, the first with the smaller keys, for two threads to sort. Either may
    /// be empty.
    fn split(part: Part<Self>) -> (Part<Self>, Part<Self>) {
        (part, Part::default())
    }
    /// Moves the `k > 0` smallest keys to the front, the largest of them last. What follows is
    /// unspecified.
    fn select(part: Part<Self>, k: usize) {
        part.come_home().select_nth_unstable(k - 1);
    }
}

/// A dtype with an order.
pub trait Ordered: Element + Pod {
    /// Whether there are two zeros.
    const TWO_ZEROS: bool = false;
    /// Integers of the same width.
    type Key: Key + Into<i64>;
    /// The narrowest pairs of a key and a position below 2^32 (below 2^64 for keys of 64 bits).
    type Pair: KeyedPosition<Self::Key>;
    /// The key: -0 comes before +0, NaN is the largest. `flip` is 0 for ascending and [`Key::FLIP`]
    /// for descending order.
    fn key(self, flip: Self::Key) -> Self::Key;
    /// The value of a key; all NaNs share a key.
    fn value(key: Self::Key, flip: Self::Key) -> Self;
    /// The same zero for both zeros, which are equal where positions are compared.
    #[inline(always)]
    fn canonical(self) -> Self {
        self
    }
}

macro_rules! ordered {
    (int: $($(#[$cfg:meta])* $T:ty, $K:ty, $P:ty, $bias:expr;)*) => { $(
        $(#[$cfg])*
        impl Ordered for $T {
            type Key = $K;
            type Pair = $P;
            #[inline(always)]
            fn key(self, flip: $K) -> $K { (self as $K ^ $bias) ^ flip }
            #[inline(always)]
            fn value(key: $K, flip: $K) -> $T { (key ^ flip ^ $bias) as $T }
        }
    )* };
    (float: $($(#[$cfg:meta])* $T:ty, $U:ty, $K:ty, $P:ty;)*) => { $(
        $(#[$cfg])*
        impl Ordered for $T {
            const TWO_ZEROS: bool = true;
            type Key = $K;
            type Pair = $P;
            #[inline(always)]
            fn key(self, flip: $K) -> $K {
                let bits = self.to_bits() as $K;
                // magnitudes of negative numbers count down
                let key = bits ^ ((bits >> (<$K>::BITS - 1)) & <$K>::MAX) ^ flip;
                if self.is_nan() { <$K>::MAX } else { key }
            }
            #[inline(always)]
            fn value(key: $K, flip: $K) -> $T {
                let key = key ^ flip;
                <$T>::from_bits((key ^ ((key >> (<$K>::BITS - 1)) & <$K>::MAX)) as $U)
            }
            #[inline(always)]
            fn canonical(self) -> $T {
                let bits = self.to_bits();
                if bits << 1 == 0 { <$T>::from_bits(0) } else { self }
            }
        }
    )* };
}
ordered! { int:
    i8, i8, i64, 0;
    #[cfg(feature = "ints")] i16, i16, i64, 0;
    i32, i32, i64, 0;
    i64, i64, i128, 0;
    u8, i8, i64, i8::MIN;
    #[cfg(feature = "ints")] u16, i16, i64, i16::MIN;
    #[cfg(feature = "ints")] u32, i32, i64, i32::MIN;
    #[cfg(feature = "ints")] u64, i64, i128, i64::MIN;
}
ordered! { float:
    f32, u32, i32, i64;
    #[cfg(feature = "f64")] f64, u64, i64, i128;
    #[cfg(feature = "half")] crate::dtype::f16, u16, i16, i64;
    #[cfg(feature = "half")] crate::dtype::bf16, u16, i16, i64;
}
impl Ordered for Bool {
    type Key = i8;
    type Pair = i64;
    #[inline(always)]
    fn key(self, flip: i8) -> i8 {
        self.get() as i8 ^ flip
    }
    #[inline(always)]
    fn value(key: i8, flip: i8) -> Bool {
        Bool((key ^ flip) as u8)
    }
}

/// A key and its position in one integer: no two are equal, so that any sort of them is stable.
pub trait KeyedPosition<K>: Key {
    /// The pair. The position must fit the lower half.
    fn new(key: K, position: usize) -> Self;
    /// The key.
    fn key(self) -> K;
    /// The position.
    fn position(self) -> usize;
}
macro_rules! pairs {
    ($($P:ty, $half:ty: $($K:ty),*;)*) => { $($(
        impl KeyedPosition<$K> for $P {
            #[inline(always)]
            fn new(key: $K, position: usize) -> $P { (key as $P) << <$half>::BITS | position as $P }
            #[inline(always)]
            fn key(self) -> $K { (self >> <$half>::BITS) as $K }
            #[inline(always)]
            fn position(self) -> usize { self as $half as usize }
        }
    )*)* };
}
pairs! {
    i64, u32: i8, i16, i32, i64;
    i128, u64: i8, i16, i32, i64;
}
