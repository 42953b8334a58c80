//! Reductions of slices: with 64 accumulators along a run, or one for each column. Callers that
//! cut a larger reduction into tiles join the results.
//!
//! Along a contiguous run the accumulators are joined by halves, with the tail added to as many as
//! it fills. Consecutive rows are one call and stay in L1 for all passes.
//!
//! Short rows are taken in groups (`short`): each row is reduced to a vector, and a transposing
//! reduction turns as many vectors as there are lanes into one, whose lanes are the rows.
//!
//! A reduction names the kernels that compute it: a mean of integers is a sum that ends in a
//! division. Squares, or sums, that leave the range although the result does not are recognised by
//! what becomes of them (`range`), and only these rows, tiles or sums are computed again, scaled by
//! a power of two.

/// `each_dtype!(m)`: `class! { type }` for each row of the dtype table that has arithmetic.
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
mod mean;
mod moments;
pub mod short;
mod sum;

pub use exponentials::{Exponentials, exponentials, exponentials_of_columns, join_exponentials};
pub use extreme::{Extreme, Key, Max, Min, is_better, positions, positions_of_columns};
pub use mean::{Mean, MeanOfSquares};
pub use moments::{Moments, Sample, join_moments, moments, moments_of_columns};
pub use sum::{All, Any, Count, Prod, Sum, SumOfSquares};

use crate::dtype::Pod;
use crate::simd::{Isa, rolled};
use core::marker::PhantomData;

/// A reduction that consumes elements one by one. `join` is associative and commutative up to
/// rounding.
pub trait Reduce<T>: 'static {
    /// The reduction whose kernels compute it: those that differ only in `finish` share them.
    type Kernels: Reduce<T, Acc = Self::Acc>;
    /// The accumulator.
    type Acc: Pod;
    /// The result.
    type Out: Pod;
    /// The neutral element of `join`.
    const IDENTITY: Self::Acc;
    /// The accumulator of one element.
    fn lift(x: T) -> Self::Acc;
    /// Joins two accumulators.
    fn join(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// The result of a reduction of `n` elements.
    fn finish(acc: Self::Acc, n: usize) -> Self::Out;
    /// Reduces a run.
    #[inline(always)]
    fn run<I: Isa>(x: &[T]) -> Self::Acc
    where
        T: Copy,
    {
        // 64 accumulators of a byte are a single vector
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
    /// Reduces each of `acc.len()` consecutive runs of `n` elements.
    #[inline(always)]
    fn runs<I: Isa>(x: &[T], n: usize, acc: &mut [Self::Acc])
    where
        T: Copy,
    {
        if Self::short_runs::<I>(x, n, acc) {
            return;
        }
        for (j, acc) in acc.iter_mut().enumerate() {
            *acc = Self::run::<I>(&x[j * n..(j + 1) * n]);
        }
    }
    /// `runs`, for a fold over tiles.
    fn runs_of_tile(x: &[T], n: usize, acc: &mut [Self::Acc])
    where
        T: Copy + 'static,
    {
        runs::<T, Self::Kernels>(x, n, acc)
    }
    /// `columns`, likewise.
    fn columns_of_tile(x: &[T], stride: usize, rows: usize, acc: &mut [Self::Acc])
    where
        T: Copy + 'static,
    {
        columns::<T, Self::Kernels>(x, stride, rows, acc)
    }
    /// Joins `b[i]` into `a[i]`, likewise.
    fn join_tiles(a: &mut [Self::Acc], b: &[Self::Acc])
    where
        T: Copy + 'static,
    {
        join::<T, Self::Kernels>(a, b)
    }
    /// A fast path for short runs of `n` elements; returns whether it was taken.
    #[inline(always)]
    fn short_runs<I: Isa>(_x: &[T], _n: usize, _acc: &mut [Self::Acc]) -> bool {
        false
    }
}

kernel! {
    /// Reduces each of `acc.len()` consecutive runs of `n` elements.
    pub fn runs<'a, T: Copy, R: Reduce<T>>(x: &'a [T], n: usize, acc: &'a mut [R::Acc]) -> () { |I|
        R::runs::<I>(x, n, acc)
    }
}

kernel! {
    /// Reduces each column of `rows` rows, `stride` apart.
    pub fn columns<'a, T: Copy, R: Reduce<T>>(x: &'a [T], stride: usize, rows: usize, acc: &'a mut [R::Acc]) -> () { |I|
        columns_of::<I, T, Of<R>>(Of(PhantomData), x, stride, rows, acc)
    }
}

/// What the loops over columns compute: a reduction whose elements may be lifted by what is known
/// at run time.
trait Columns<T>: Copy {
    type Acc: Copy;
    const IDENTITY: Self::Acc;
    fn lift(self, x: T) -> Self::Acc;
    fn join(a: Self::Acc, b: Self::Acc) -> Self::Acc;
}
/// A [`Reduce`].
struct Of<R>(PhantomData<fn(R)>);
impl<R> Clone for Of<R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R> Copy for Of<R> {}
impl<T, R: Reduce<T>> Columns<T> for Of<R> {
    type Acc = R::Acc;
    const IDENTITY: R::Acc = R::IDENTITY;
    #[inline(always)]
    fn lift(self, x: T) -> R::Acc {
        R::lift(x)
    }
    #[inline(always)]
    fn join(a: R::Acc, b: R::Acc) -> R::Acc {
        R::join(a, b)
    }
}

/// Joins the elements of eight rows as a tree.
#[inline(always)]
fn eight<T: Copy, R: Columns<T>>(by: R, x: [T; 8]) -> R::Acc {
    let [a, b, c, d, e, f, g, h] = x;
    R::join(
        R::join(
            R::join(by.lift(a), by.lift(b)),
            R::join(by.lift(c), by.lift(d)),
        ),
        R::join(
            R::join(by.lift(e), by.lift(f)),
            R::join(by.lift(g), by.lift(h)),
        ),
    )
}

/// Reduces columns: eight rows at a time are joined as a tree, then to the accumulators. So each row is
/// read from end to end, as memory is fastest and wherever caches put rows that lie a power of two
/// apart; accumulators are in L1.
#[inline(always)]
fn columns_of<I: Isa, T: Copy, R: Columns<T>>(
    by: R,
    x: &[T],
    stride: usize,
    rows: usize,
    acc: &mut [R::Acc],
) {
    acc.fill(R::IDENTITY);
    let n = acc.len();
    macro_rules! row {
        ($r:expr) => {
            &x[$r * stride..][..n]
        };
    }
    let mut r = 0;
    while r + 8 <= rows {
        let (x0, x1, x2, x3) = (row!(r), row!(r + 1), row!(r + 2), row!(r + 3));
        let (x4, x5, x6, x7) = (row!(r + 4), row!(r + 5), row!(r + 6), row!(r + 7));
        for j in 0..n {
            rolled::<I, R::Acc>();
            let x = [x0[j], x1[j], x2[j], x3[j], x4[j], x5[j], x6[j], x7[j]];
            acc[j] = R::join(acc[j], eight(by, x));
        }
        r += 8;
    }
    for r in r..rows {
        for (acc, &x) in acc.iter_mut().zip(row!(r)) {
            rolled::<I, R::Acc>();
            *acc = R::join(*acc, by.lift(x));
        }
    }
}

kernel! {
    /// Joins `b[i]` into `a[i]`.
    pub fn join<'a, T: Copy, R: Reduce<T>>(a: &'a mut [R::Acc], b: &'a [R::Acc]) -> () { |I|
        for (a, b) in a.iter_mut().zip(b) {
            *a = R::join(*a, *b);
        }
    }
}
