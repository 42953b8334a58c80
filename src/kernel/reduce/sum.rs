//! Sums, products, means of what is not a float, truth values and counts. Integers and bool accumulate in 64 bits and
//! wrap, 16-bit floats in float32. Truth values and counts are of bool: elements of other dtypes are
//! converted tile by tile.

use super::short::{Sums, SumsOfSquares, short_rows};
use super::{Mean, Reduce};
use crate::dtype::Bool;
#[cfg(feature = "half")]
use crate::kernel::convert::Widen;
use crate::kernel::math::Real;
use crate::simd::Isa;

/// The sum: int64 for bool and signed integers, uint64 for unsigned ones, else the dtype itself.
pub struct Sum;
/// The sum of the squares of floats, with the bits of the sum of what squares are stored.
pub struct SumOfSquares;
/// The product, in the same dtypes as [`Sum`].
pub struct Prod;
/// Whether any element is nonzero.
pub struct Any;
/// Whether all elements are nonzero.
pub struct All;
/// The number of nonzero elements.
pub struct Count;

/// `reduce!(R of T: Acc => Out, identity, |x| lift, |a, b| join, |a, n| finish)`, optionally with
/// `|x| run` for runs and `; along` for short runs of their own. Or `reduce!(R of T: by S => Out,
/// |a, n| finish)`, with the kernels of `S`.
macro_rules! reduce {
    ($R:ident of $T:ty: by $S:ty => $Out:ty, |$r:ident, $n:ident| $finish:expr) => {
        impl Reduce<$T> for $R {
            type Kernels = $S;
            type Acc = <$S as Reduce<$T>>::Acc;
            type Out = $Out;
            const IDENTITY: Self::Acc = <$S as Reduce<$T>>::IDENTITY;
            #[inline(always)]
            fn lift(x: $T) -> Self::Acc {
                <$S as Reduce<$T>>::lift(x)
            }
            #[inline(always)]
            fn join(a: Self::Acc, b: Self::Acc) -> Self::Acc {
                <$S as Reduce<$T>>::join(a, b)
            }
            #[inline(always)]
            fn finish($r: Self::Acc, $n: usize) -> $Out {
                $finish
            }
        }
    };
    ($R:ident of $T:ty: $Acc:ty => $Out:ty, $identity:expr, |$x:ident| $lift:expr, |$a:ident, $b:ident| $join:expr, |$r:ident, $n:ident| $finish:expr
        $(, |$s:ident| $run:expr)? $(; $along:expr)?) => {
        impl Reduce<$T> for $R {
            type Kernels = Self;
            type Acc = $Acc;
            type Out = $Out;
            const IDENTITY: $Acc = $identity;
            #[inline(always)]
            fn lift($x: $T) -> $Acc {
                $lift
            }
            #[inline(always)]
            fn join($a: $Acc, $b: $Acc) -> $Acc {
                $join
            }
            #[inline(always)]
            fn finish($r: $Acc, $n: usize) -> $Out {
                let _ = $n;
                $finish
            }
            $(
                #[inline(always)]
                fn run<I: Isa>($s: &[$T]) -> $Acc {
                    $run
                }
            )?
            $(
                #[inline(always)]
                fn short_runs<I: Isa>(x: &[$T], n: usize, acc: &mut [$T]) -> bool {
                    short_rows::<<$T as Real>::Vector<I>, _>(&$along, $identity, x, n, acc)
                }
            )?
        }
    };
}

/// The sum of a run, accumulated in a narrower type over blocks short enough not to overflow it.
macro_rules! narrow_sum {
    ($x:ident, $Narrow:ty, $block:expr, $Acc:ty, |$v:ident| $lift:expr) => {{
        let mut sum: $Acc = 0;
        for block in $x.chunks($block) {
            sum = sum.wrapping_add(
                lanes!(64, block, 0 as $Narrow, |$v| $lift as $Narrow, |a, b| a
                    .wrapping_add(b)) as $Acc,
            );
        }
        sum
    }};
}
/// The most elements whose count fits a u16, in whole rounds of the 64 accumulators.
const COUNTED: usize = 64 * 1023;

macro_rules! integer {
    ($T:ty, $Acc:ty, |$x:ident| $lift:expr, |$run:ident| $sum:expr) => {
        reduce!(Sum of $T: $Acc => $Acc, 0, |$x| $lift as $Acc, |a, b| a.wrapping_add(b), |a, n| a, |$run| $sum);
        reduce!(Prod of $T: $Acc => $Acc, 1, |$x| $lift as $Acc, |a, b| a.wrapping_mul(b), |a, n| a);
        reduce!(WideSum of $T: f64 => f64, 0.0, |$x| $lift as $Acc as f64, |a, b| a + b, |a, n| a);
        reduce!(Mean of $T: by <[(); size_of::<$T>()] as Adder>::Kernels => f32, |a, n| (a as f64 / n as f64) as f32);
    };
}

/// The float64 sum of integers, for the mean of 64-bit ones.
pub struct WideSum;
/// The sum behind the mean of integers, by their width in bytes (the array's length). The 64-bit
/// sum of narrower integers can't overflow in memory; 64-bit ones are added in float64.
pub trait Adder {
    /// The reduction.
    type Kernels;
}
macro_rules! adders {
    ($($bytes:literal $Kernels:ident)*) => {
        $(impl Adder for [(); $bytes] {
            type Kernels = $Kernels;
        })*
    };
}
adders!(1 Sum 2 Sum 4 Sum 8 WideSum);

macro_rules! boolean {
    ($T:ty) => {
        integer!($T, i64, |x| x.get(), |run| narrow_sum!(
            run,
            u16,
            COUNTED,
            i64,
            |v| v.get()
        ));
    };
}
#[allow(unused_macros, reason = "builds leave integers out")]
macro_rules! signed {
    ($T:ty) => {
        integer!($T, i64, |x| x, |run| if size_of::<$T>() <= 2 {
            narrow_sum!(run, i32, 1 << 14, i64, |v| v)
        } else {
            lanes!(64, run, 0 as i64, |v| v as i64, |a, b| a.wrapping_add(b))
        });
    };
}
#[allow(unused_macros, reason = "builds leave integers out")]
macro_rules! unsigned {
    ($T:ty) => {
        integer!($T, u64, |x| x, |run| if size_of::<$T>() <= 2 {
            narrow_sum!(run, i32, 1 << 14, u64, |v| v)
        } else {
            lanes!(64, run, 0 as u64, |v| v as u64, |a, b| a.wrapping_add(b))
        });
    };
}
// -0 is the neutral element, since the sum of negative zeros is -0; an empty sum is 0.
#[cfg(feature = "half")]
macro_rules! half {
    ($T:ty) => {
        reduce!(Sum of $T: f32 => $T, -0.0, |x| x.widen(), |a, b| a + b, |a, n| <$T>::narrow(if n == 0 { 0.0 } else { a }));
        reduce!(Prod of $T: f32 => $T, 1.0, |x| x.widen(), |a, b| a * b, |a, n| <$T>::narrow(a));
    };
}
macro_rules! float {
    ($T:ty) => {
        reduce!(Sum of $T: $T => $T, -0.0, |x| x, |a, b| a + b, |a, n| if n == 0 { 0.0 } else { a }; Sums);
        reduce!(SumOfSquares of $T: $T => $T, -0.0, |x| x * x, |a, b| a + b, |a, n| if n == 0 { 0.0 } else { a }; SumsOfSquares);
        reduce!(Prod of $T: $T => $T, 1.0, |x| x, |a, b| a * b, |a, n| a);
    };
}
// Multiplying by 1 returns the other factor: by the formula, 1 + 0i would turn an infinite one into
// NaN.
#[cfg(feature = "complex")]
macro_rules! complex {
    ($T:ty) => {
        reduce!(Sum of $T: $T => $T, <$T>::new(-0.0, -0.0), |x| x, |a, b| a + b, |a, n| if n == 0 { <$T>::new(0.0, 0.0) } else { a });
        reduce!(Prod of $T: $T => $T, <$T>::new(1.0, 0.0), |x| x, |a, b| if a == <$T>::new(1.0, 0.0) { b } else if b == <$T>::new(1.0, 0.0) { a } else { a * b }, |a, n| a);
    };
}
dtypes!(each_dtype!);

/// Elements after which a run is left early if the answer is known.
const DECIDED: usize = 4096;
macro_rules! truth {
    ($R:ident, $identity:literal, $join:tt) => {
        impl Reduce<Bool> for $R {
            type Kernels = Self;
            type Acc = u8;
            type Out = Bool;
            const IDENTITY: u8 = $identity;
            #[inline(always)]
            fn lift(x: Bool) -> u8 {
                x.get() as u8
            }
            #[inline(always)]
            fn join(a: u8, b: u8) -> u8 {
                a $join b
            }
            #[inline(always)]
            fn finish(acc: u8, _: usize) -> Bool {
                Bool(acc)
            }
            #[inline(always)]
            fn run<I: Isa>(x: &[Bool]) -> u8 {
                for block in x.chunks(DECIDED) {
                    let acc = lanes!(256, block, $identity as u8, |v| Self::lift(v), |a, b| a $join b);
                    if acc != $identity {
                        return acc;
                    }
                }
                $identity
            }
        }
    };
}
truth!(Any, 0, |);
truth!(All, 1, &);
impl Reduce<Bool> for Count {
    type Kernels = Self;
    type Acc = i64;
    type Out = i64;
    const IDENTITY: i64 = 0;
    #[inline(always)]
    fn lift(x: Bool) -> i64 {
        x.get() as i64
    }
    #[inline(always)]
    fn join(a: i64, b: i64) -> i64 {
        a.wrapping_add(b)
    }
    #[inline(always)]
    fn finish(acc: i64, _: usize) -> i64 {
        acc
    }
    #[inline(always)]
    fn run<I: Isa>(x: &[Bool]) -> i64 {
        narrow_sum!(x, u16, COUNTED, i64, |v| v.get())
    }
}
