//! The largest and smallest element, and the position of the first. NaN counts as both.
//!
//! Kernels know the largest element of a few types, the [`Key`]s. The smallest, and both of the other
//! types of a width, are the largest of keys that some of whose bits are flipped ([`Extreme::FLIP`]).

mod key;
mod positions;
mod vectors;

pub use key::Key;
pub use positions::{is_better, positions, positions_of_columns};

use super::{All, Any, Reduce};
#[cfg(feature = "half")]
use crate::kernel::convert::Widen;

/// The largest element; NaN if there is one.
pub struct Max;
/// The smallest element; NaN if there is one.
pub struct Min;

/// A reduction whose result is one of the elements.
pub trait Extreme<T>: Reduce<T> {
    /// What elements are compared as, of their size.
    type Key: Key;
    /// The bits that are flipped before, and after, for the largest key to be the extreme.
    const FLIP: i64;
}

/// `extreme!(T: Acc, |x| lift, |r| finish, Key: (lowest, flip) (highest, flip))`: both reductions,
/// by their neutral elements and the bits that make the largest key the extreme.
macro_rules! extreme {
    ($T:ty: $Acc:ty, |$x:ident| $lift:expr, |$r:ident| $finish:expr, $Key:ty: $max:tt $min:tt) => {
        extreme!(@ Max > $T: $Acc, |$x| $lift, |$r| $finish, $Key: $max);
        extreme!(@ Min < $T: $Acc, |$x| $lift, |$r| $finish, $Key: $min);
    };
    (@ $R:ident $than:tt $T:ty: $Acc:ty, |$x:ident| $lift:expr, |$r:ident| $finish:expr, $Key:ty: ($identity:expr, $flip:expr)) => {
        impl Reduce<$T> for $R {
            type Kernels = Self;
            type Acc = $Acc;
            type Out = $T;
            const IDENTITY: $Acc = $identity;
            #[inline(always)]
            fn lift($x: $T) -> $Acc {
                $lift
            }
            #[inline(always)]
            #[allow(clippy::eq_op, reason = "NaN")]
            fn join(a: $Acc, b: $Acc) -> $Acc {
                if (b $than a) | (b != b) { b } else { a }
            }
            #[inline(always)]
            fn finish($r: $Acc, _: usize) -> $T {
                $finish
            }
            fn runs_of_tile(x: &[$T], n: usize, acc: &mut [$Acc]) {
                let acc = bytemuck::cast_slice_mut(acc);
                key::runs::<$Key>(bytemuck::cast_slice(x), n, <$R as Extreme<$T>>::FLIP, acc)
            }
            fn columns_of_tile(x: &[$T], stride: usize, rows: usize, acc: &mut [$Acc]) {
                let acc = bytemuck::cast_slice_mut(acc);
                key::columns::<$Key>(bytemuck::cast_slice(x), stride, rows, <$R as Extreme<$T>>::FLIP, acc)
            }
            fn join_tiles(a: &mut [$Acc], b: &[$Acc]) {
                let (a, b) = (bytemuck::cast_slice_mut(a), bytemuck::cast_slice(b));
                key::join::<<$Key as Key>::Acc>(a, b, <$R as Extreme<$T>>::FLIP)
            }
        }
        impl Extreme<$T> for $R {
            type Key = $Key;
            const FLIP: i64 = $flip;
        }
    };
}

macro_rules! boolean {
    ($T:ty) => {
        by_truth!($T: Max Any 0, Min All -1);
    };
}
/// The largest of truth values is whether any is true, the smallest whether all are.
macro_rules! by_truth {
    ($T:ty: $($R:ident $Kernels:ident $flip:literal),*) => { $(
        impl Reduce<$T> for $R {
            type Kernels = $Kernels;
            type Acc = u8;
            type Out = $T;
            const IDENTITY: u8 = $Kernels::IDENTITY;
            #[inline(always)]
            fn lift(x: $T) -> u8 {
                $Kernels::lift(x)
            }
            #[inline(always)]
            fn join(a: u8, b: u8) -> u8 {
                $Kernels::join(a, b)
            }
            #[inline(always)]
            fn finish(acc: u8, n: usize) -> $T {
                $Kernels::finish(acc, n)
            }
        }
        impl Extreme<$T> for $R {
            type Key = $T;
            const FLIP: i64 = $flip;
        }
    )* };
}
/// Flipping all bits reverses the order of signed integers.
#[allow(unused_macros, reason = "builds leave integers out")]
macro_rules! signed {
    ($T:ty) => {
        extreme!($T: $T, |x| x, |a| a, $T: (<$T>::MIN, 0) (<$T>::MAX, -1));
    };
}
/// Flipping the highest bit makes the order of unsigned integers that of signed ones, flipping the
/// others its reverse.
#[allow(unused_macros, reason = "builds leave integers out")]
macro_rules! unsigned {
    ($T:ty) => {
        extreme!($T: $T, |x| x, |a| a, <[(); size_of::<$T>()] as Signed>::Integer:
            (<$T>::MIN, i64::MIN >> (64 - <$T>::BITS)) (<$T>::MAX, i64::MAX >> (64 - <$T>::BITS)));
    };
}
/// Flipping the sign reverses the order of floats.
macro_rules! float {
    ($T:ty) => {
        extreme!($T: $T, |x| x, |a| a, $T: (<$T>::NEG_INFINITY, 0) (<$T>::INFINITY, <$T as Key>::SIGN));
    };
}
#[cfg(feature = "half")]
macro_rules! half {
    ($T:ty) => {
        extreme!($T: f32, |x| x.widen(), |a| <$T>::narrow(a), $T: (f32::NEG_INFINITY, 0) (f32::INFINITY, <f32 as Key>::SIGN));
    };
}
#[cfg(feature = "complex")]
macro_rules! complex {
    ($T:ty) => {};
}
dtypes!(each_dtype!);

/// The signed integer of a width in bytes, the array's length.
#[allow(dead_code, reason = "builds leave integers out")]
pub trait Signed {
    /// That integer.
    type Integer;
}
macro_rules! signed_integers {
    ($($bytes:literal $T:ty),*) => { $(impl Signed for [(); $bytes] { type Integer = $T; })* };
}
signed_integers!(1 i8, 2 i16, 4 i32, 8 i64);
