//! Reductions of slices: 64 accumulators along a run, or 64 columns at once across it. Tiles of a
//! larger reduction are joined by whoever cut it.

/// `each_dtype!(m)`: `m_class! { type }` for each row of the dtype table that is computed with, by
/// its class.
macro_rules! each_dtype {
    (@ float8 $T:ty) => {};
    (@ $class:ident $T:ty) => { $class! { $T } };
    ($($class:ident $Class:ident { $(($V:ident, $T:ty, $name:literal, $bits:literal, $fmt:literal, $dl:literal, $st:literal, $feature:literal, ($($cfg:tt)*)))* })*) => {
        $($(
            #[cfg($($cfg)*)]
            each_dtype! { @ $class $T }
        )*)*
    };
}

mod exponentials;
mod extreme;
mod moments;
mod sum;

pub use exponentials::{Exponentials, exponentials, exponentials_of_columns, join_exponentials};
pub use extreme::{Extreme, Max, Min, position};
pub use moments::{Moments, Sample, moments, moments_of_columns};
pub use sum::{All, Any, Count, Mean, Prod, Sum};

use crate::dtype::Pod;

/// A reduction that takes elements one by one. `join` is associative and commutative up to
/// rounding.
pub trait Reduce<T>: 'static {
    /// Whose kernels compute it: those that differ in `finish` alone share them.
    type Kernels: Reduce<T, Acc = Self::Acc>;
    /// What is known about some of the elements.
    type Acc: Pod;
    /// The result.
    type Out: Pod;
    /// What is known about none: `join` with it changes nothing.
    const IDENTITY: Self::Acc;
    /// What is known about one.
    fn lift(x: T) -> Self::Acc;
    /// What is known about both.
    fn join(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// The result for `n` elements.
    fn finish(acc: Self::Acc, n: usize) -> Self::Out;
    /// What is known about a run.
    #[inline(always)]
    fn run(x: &[T]) -> Self::Acc
    where
        T: Copy,
    {
        // of bytes, 64 accumulators are one vector
        if size_of::<Self::Acc>() == 1 {
            lanes!(
                256,
                x,
                Self::IDENTITY,
                |v| Self::lift(v),
                |a, b| Self::join(a, b)
            )
        } else {
            lanes!(64, x, Self::IDENTITY, |v| Self::lift(v), |a, b| Self::join(
                a, b
            ))
        }
    }
}

kernel! {
    /// The reduction of each of `acc.len()` runs of `n` elements, one after the other in `x`.
    pub fn runs<'a, T: Copy, R: Reduce<T>>(x: &'a [T], n: usize, acc: &'a mut [R::Acc]) -> () { |I|
        for (j, acc) in acc.iter_mut().enumerate() {
            *acc = R::run(&x[j * n..(j + 1) * n]);
        }
    }
}

kernel! {
    /// Of each column of `rows` rows that begin `stride` apart.
    pub fn columns<'a, T: Copy, R: Reduce<T>>(x: &'a [T], stride: usize, rows: usize, acc: &'a mut [R::Acc]) -> () { |I|
        let mut at = 0;
        while at + 64 <= acc.len() {
            strip::<T, R, 64>(&x[at..], stride, rows, &mut acc[at..]);
            at += 64;
        }
        while at + 8 <= acc.len() {
            strip::<T, R, 8>(&x[at..], stride, rows, &mut acc[at..]);
            at += 8;
        }
        while at < acc.len() {
            strip::<T, R, 1>(&x[at..], stride, rows, &mut acc[at..]);
            at += 1;
        }
    }
}
/// Of `N` columns, whose accumulators stay in registers: eight rows are joined as a tree, and go
/// into them.
#[inline(always)]
fn strip<T: Copy, R: Reduce<T>, const N: usize>(
    x: &[T],
    stride: usize,
    rows: usize,
    out: &mut [R::Acc],
) {
    let mut acc = [R::IDENTITY; N];
    macro_rules! row {
        ($r:expr) => {
            x[$r * stride..].first_chunk::<N>().unwrap()
        };
    }
    let mut r = 0;
    while r + 8 <= rows {
        let (x0, x1, x2, x3) = (row!(r), row!(r + 1), row!(r + 2), row!(r + 3));
        let (x4, x5, x6, x7) = (row!(r + 4), row!(r + 5), row!(r + 6), row!(r + 7));
        for j in 0..N {
            macro_rules! pair {
                ($a:ident, $b:ident) => {
                    R::join(R::lift($a[j]), R::lift($b[j]))
                };
            }
            let (a, b) = (
                R::join(pair!(x0, x1), pair!(x2, x3)),
                R::join(pair!(x4, x5), pair!(x6, x7)),
            );
            acc[j] = R::join(acc[j], R::join(a, b));
        }
        r += 8;
    }
    for r in r..rows {
        let x = row!(r);
        for j in 0..N {
            acc[j] = R::join(acc[j], R::lift(x[j]));
        }
    }
    out[..N].copy_from_slice(&acc);
}

kernel! {
    /// `a[i]` joined with `b[i]`.
    pub fn join<'a, T: Copy, R: Reduce<T>>(a: &'a mut [R::Acc], b: &'a [R::Acc]) -> () { |I|
        for (a, b) in a.iter_mut().zip(b) {
            *a = R::join(*a, *b);
        }
    }
}
