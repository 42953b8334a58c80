//! Means of floats and complex numbers: a sum beside a small share of it, which stays in range where the sum overflows.

use super::{Reduce, Sum, SumOfSquares, columns, runs};
#[cfg(feature = "half")]
use crate::kernel::convert::Widen;
use crate::kernel::math::Number;
#[cfg(feature = "complex")]
use crate::kernel::math::Real;
use crate::kernel::range::sum_of;

/// The arithmetic mean: float32 for bool and integers, else the dtype itself.
pub struct Mean;
/// The mean of the squares of floats, with the bits of the mean of what squares are stored.
pub struct MeanOfSquares;

/// The share of a sum that stays in range: `2^-64`, since there are fewer elements.
const SHARE: f64 = 1.0 / (1u128 << 64) as f64;
/// Sums that are found together.
const STRIP: usize = 64;

macro_rules! mean {
    ($Mean:ident by $Sum:ident of $T:ty: $Acc:ty, |$x:ident| $widen:expr, |$y:ident| $narrow:expr) => {
        impl Reduce<$T> for $Mean {
            type Kernels = Self;
            /// The sum, and its share.
            type Acc = [$Acc; 2];
            type Out = $T;
            const IDENTITY: [$Acc; 2] = [-0.0; 2];
            #[inline(always)]
            fn lift($x: $T) -> [$Acc; 2] {
                let x = $widen;
                [x, x * SHARE as $Acc]
            }
            #[inline(always)]
            fn join(a: [$Acc; 2], b: [$Acc; 2]) -> [$Acc; 2] {
                [a[0] + b[0], a[1] + b[1]]
            }
            #[inline(always)]
            fn finish([sum, share]: [$Acc; 2], n: usize) -> $T {
                let of_share = share / n as $Acc * (1.0 / SHARE) as $Acc;
                let $y = if sum.isfinite() {
                    sum / n as $Acc
                } else {
                    of_share
                };
                $narrow
            }
            fn runs_of_tile(x: &[$T], n: usize, acc: &mut [[$Acc; 2]]) {
                for (k, acc) in acc.chunks_mut(STRIP).enumerate() {
                    let (x, mut sums) = (&x[k * STRIP * n..], [0.0; STRIP]);
                    runs::<$T, $Sum>(x, n, &mut sums[..acc.len()]);
                    for (j, (acc, sum)) in acc.iter_mut().zip(sums).enumerate() {
                        let elements = || {
                            x[j * n..(j + 1) * n].iter().map(|$x| {
                                let $x = *$x;
                                $widen as f64
                            })
                        };
                        *acc = [sum, shared(sum.isfinite(), sum as f64, elements) as $Acc];
                    }
                }
            }
            fn columns_of_tile(x: &[$T], stride: usize, rows: usize, acc: &mut [[$Acc; 2]]) {
                for (k, acc) in acc.chunks_mut(STRIP).enumerate() {
                    let (x, mut sums) = (&x[k * STRIP..], [0.0; STRIP]);
                    columns::<$T, $Sum>(x, stride, rows, &mut sums[..acc.len()]);
                    for (j, (acc, sum)) in acc.iter_mut().zip(sums).enumerate() {
                        let elements = || {
                            (0..rows).map(|r| {
                                let $x = x[j + r * stride];
                                $widen as f64
                            })
                        };
                        *acc = [sum, shared(sum.isfinite(), sum as f64, elements) as $Acc];
                    }
                }
            }
        }
    };
}

/// The share of a sum, or if that is not finite, the sum of the elements' shares.
#[inline(always)]
fn shared<X: Iterator<Item = f64>>(finite: bool, sum: f64, elements: impl FnOnce() -> X) -> f64 {
    match finite {
        true => sum * SHARE,
        false => sum_of(elements().map(|x| x * SHARE)),
    }
}

macro_rules! boolean {
    ($T:ty) => {};
}
#[allow(unused_macros, reason = "builds leave integers out")]
macro_rules! signed {
    ($T:ty) => {};
}
#[allow(unused_macros, reason = "builds leave integers out")]
macro_rules! unsigned {
    ($T:ty) => {};
}
#[cfg(feature = "half")]
macro_rules! half {
    ($T:ty) => {
        mean!(Mean by Sum of $T: f32, |x| x.widen(), |y| <$T>::narrow(y));
    };
}
macro_rules! float {
    ($T:ty) => {
        mean!(Mean by Sum of $T: $T, |x| x, |y| y);
        mean!(MeanOfSquares by SumOfSquares of $T: $T, |x| x * x, |y| y);
    };
}
#[cfg(feature = "complex")]
macro_rules! complex {
    ($T:ty) => {
        impl Reduce<$T> for Mean {
            type Kernels = Self;
            /// The sum, and its share.
            type Acc = [$T; 2];
            type Out = $T;
            const IDENTITY: [$T; 2] = [<$T>::new(-0.0, -0.0); 2];
            #[inline(always)]
            fn lift(x: $T) -> [$T; 2] {
                [x, x.scale(SHARE as _)]
            }
            #[inline(always)]
            fn join(a: [$T; 2], b: [$T; 2]) -> [$T; 2] {
                [a[0] + b[0], a[1] + b[1]]
            }
            #[inline(always)]
            fn finish([sum, share]: [$T; 2], n: usize) -> $T {
                <$T>::new(part(sum.re, share.re, n), part(sum.im, share.im, n))
            }
            fn runs_of_tile(x: &[$T], n: usize, acc: &mut [[$T; 2]]) {
                for (k, acc) in acc.chunks_mut(STRIP).enumerate() {
                    let (x, mut sums) = (&x[k * STRIP * n..], [<$T>::default(); STRIP]);
                    runs::<$T, Sum>(x, n, &mut sums[..acc.len()]);
                    for (j, (acc, sum)) in acc.iter_mut().zip(sums).enumerate() {
                        let run = &x[j * n..(j + 1) * n];
                        let re = shared_part(sum.re, || run.iter().map(|x| x.re));
                        let im = shared_part(sum.im, || run.iter().map(|x| x.im));
                        *acc = [sum, <$T>::new(re, im)];
                    }
                }
            }
            fn columns_of_tile(x: &[$T], stride: usize, rows: usize, acc: &mut [[$T; 2]]) {
                for (k, acc) in acc.chunks_mut(STRIP).enumerate() {
                    let (x, mut sums) = (&x[k * STRIP..], [<$T>::default(); STRIP]);
                    columns::<$T, Sum>(x, stride, rows, &mut sums[..acc.len()]);
                    for (j, (acc, sum)) in acc.iter_mut().zip(sums).enumerate() {
                        let column = || (0..rows).map(|r| x[j + r * stride]);
                        let re = shared_part(sum.re, || column().map(|x| x.re));
                        let im = shared_part(sum.im, || column().map(|x| x.im));
                        *acc = [sum, <$T>::new(re, im)];
                    }
                }
            }
        }
    };
}
/// The mean of `n` numbers from their sum and its share.
#[cfg(feature = "complex")]
#[inline(always)]
fn part<F: Real>(sum: F, share: F, n: usize) -> F {
    let n = F::from_f64(n as f64);
    if sum.isfinite() {
        sum / n
    } else {
        share / n * F::from_f64(1.0 / SHARE)
    }
}
/// The share of a sum of such elements.
#[cfg(feature = "complex")]
#[inline(always)]
fn shared_part<F: Real, X: Iterator<Item = F>>(sum: F, elements: impl FnOnce() -> X) -> F {
    let elements = || elements().map(|x| x.to_f64());
    F::from_f64(shared(sum.isfinite(), sum.to_f64(), elements))
}
dtypes!(each_dtype!);
