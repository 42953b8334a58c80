//! The largest and the smallest element, and where it is first. A NaN is both.

use super::Reduce;
use crate::dtype::Bool;
#[cfg(feature = "half")]
use crate::kernel::convert::Widen;

/// The largest element; NaN where there is one.
pub struct Max;
/// The smallest element; NaN where there is one.
pub struct Min;

/// A reduction whose result is one of the elements.
pub trait Extreme<T>: Reduce<T> {
    /// Whether `a` comes before `b` as the result: a NaN before all else, none before it.
    fn beats(a: Self::Acc, b: Self::Acc) -> bool;
    /// The same where neither is NaN.
    fn exceeds(a: Self::Acc, b: Self::Acc) -> bool;
    /// Whether it is NaN.
    fn is_nan(a: Self::Acc) -> bool;
}

/// `extreme!(T: Acc, lowest, highest, lift, finish)`; with the operators of the accumulator.
macro_rules! extreme {
    ($T:ty: $Acc:ty, $lowest:expr, $highest:expr, |$x:ident| $lift:expr, |$r:ident| $finish:expr) => {
        extreme!(@ Max $T: $Acc, $lowest, >, |$x| $lift, |$r| $finish);
        extreme!(@ Min $T: $Acc, $highest, <, |$x| $lift, |$r| $finish);
    };
    (@ $R:ident $T:ty: $Acc:ty, $identity:expr, $than:tt, |$x:ident| $lift:expr, |$r:ident| $finish:expr) => {
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
            #[allow(clippy::eq_op)]
            fn join(a: $Acc, b: $Acc) -> $Acc {
                if (b $than a) | (b != b) { b } else { a }
            }
            #[inline(always)]
            fn finish($r: $Acc, _: usize) -> $T {
                $finish
            }
        }
        impl Extreme<$T> for $R {
            #[inline(always)]
            #[allow(clippy::eq_op)]
            fn beats(a: $Acc, b: $Acc) -> bool {
                (a $than b) | ((a != a) & (b == b))
            }
            #[inline(always)]
            fn exceeds(a: $Acc, b: $Acc) -> bool {
                a $than b
            }
            #[inline(always)]
            #[allow(clippy::eq_op)]
            fn is_nan(a: $Acc) -> bool {
                a != a
            }
        }
    };
}

macro_rules! boolean {
    ($T:ty) => {
        extreme!($T: u8, 0, 1, |x| x.get() as u8, |a| Bool(a));
    };
}
#[allow(unused_macros, reason = "builds leave integers out")]
macro_rules! signed {
    ($T:ty) => {
        extreme!($T: $T, <$T>::MIN, <$T>::MAX, |x| x, |a| a);
    };
}
#[allow(unused_macros, reason = "builds leave integers out")]
macro_rules! unsigned {
    ($T:ty) => {
        extreme!($T: $T, <$T>::MIN, <$T>::MAX, |x| x, |a| a);
    };
}
#[cfg(feature = "half")]
macro_rules! half {
    ($T:ty) => {
        extreme!($T: f32, f32::NEG_INFINITY, f32::INFINITY, |x| x.widen(), |a| <$T>::narrow(a));
    };
}
macro_rules! float {
    ($T:ty) => {
        extreme!($T: $T, <$T>::NEG_INFINITY, <$T>::INFINITY, |x| x, |a| a);
    };
}
#[cfg(feature = "complex")]
macro_rules! complex {
    ($T:ty) => {};
}
dtypes!(each_dtype!);

/// Elements whose best is found before one of them is looked for.
const BLOCK: usize = 1024;
/// Elements that are compared at once when looking.
const GROUP: usize = 64;

/// Where the first element is for which a condition holds (0 where none is): `|v| condition` is
/// text, for a closure may be outlined of its kernel.
macro_rules! first {
    ($x:expr, |$v:ident| $condition:expr) => {
        'search: {
            for (k, group) in $x.chunks(GROUP).enumerate() {
                let mut found = false;
                for v in group {
                    let $v = R::lift(*v);
                    found |= $condition;
                }
                if found {
                    for (i, v) in group.iter().enumerate() {
                        let $v = R::lift(*v);
                        if $condition {
                            break 'search k * GROUP + i;
                        }
                    }
                }
            }
            0
        }
    };
}

kernel! {
    /// Where the extreme of `x` is first; `x` is not empty. The best of each block first, then one
    /// block is searched. Comparisons that regard NaN take four times the instructions, so it is
    /// looked for apart.
    pub fn position<'a, T: Copy, R: Extreme<T>>(x: &'a [T]) -> usize { |I|
        let (mut best, mut at) = (R::IDENTITY, 0);
        for (k, block) in x.chunks(BLOCK).enumerate() {
            let mut nan = false;
            for v in block {
                nan |= R::is_nan(R::lift(*v));
            }
            if nan {
                return k * BLOCK + first!(block, |v| R::is_nan(v));
            }
            let m = lanes!(64, block, R::IDENTITY, |v| R::lift(v), |a, b| if R::exceeds(b, a) { b } else { a });
            if R::exceeds(m, best) {
                (best, at) = (m, k);
            }
        }
        let block = &x[at * BLOCK..x.len().min((at + 1) * BLOCK)];
        // nothing exceeds the best: what it does not exceed equals it
        at * BLOCK + first!(block, |v| !R::exceeds(best, v))
    }
}
