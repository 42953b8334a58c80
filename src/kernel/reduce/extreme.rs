//! The largest and smallest element, and the position of the first. NaN counts as both.

use super::Reduce;
use super::short::{Largest, Smallest, short_rows};
use crate::dtype::Bool;
#[cfg(feature = "half")]
use crate::kernel::convert::Widen;
use crate::kernel::math::Real;
use crate::simd::{self, Isa, prefetch_run, rolled};

/// The largest element; NaN if there is one.
pub struct Max;
/// The smallest element; NaN if there is one.
pub struct Min;

/// A reduction whose result is one of the elements.
pub trait Extreme<T>: Reduce<T> {
    /// Whether `a` wins over `b`: NaN wins over every number, nothing over NaN.
    fn beats(a: Self::Acc, b: Self::Acc) -> bool;
    /// The same if neither is NaN.
    fn exceeds(a: Self::Acc, b: Self::Acc) -> bool;
    /// Whether it is NaN.
    fn is_nan(a: Self::Acc) -> bool;
}

/// `extreme!(T: Acc, lowest, highest, lift, finish)`, using the accumulator's operators. Floats add
/// a function for runs, and one for short runs.
macro_rules! extreme {
    ($T:ty: $Acc:ty, $lowest:expr, $highest:expr, |$x:ident| $lift:expr, |$r:ident| $finish:expr $(, $floats:ident $($short:ident)?)?) => {
        extreme!(@ Max $T: $Acc, $lowest, > >=, |$x| $lift, |$r| $finish $(, $floats $($short Largest)?)?);
        extreme!(@ Min $T: $Acc, $highest, < <=, |$x| $lift, |$r| $finish $(, $floats $($short Smallest)?)?);
    };
    (@ $R:ident $T:ty: $Acc:ty, $identity:expr, $than:tt $or_equal:tt, |$x:ident| $lift:expr, |$r:ident| $finish:expr
        $(, $floats:ident $($short:ident $along:expr)?)?) => {
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
            $(
                #[inline(always)]
                fn run<I: Isa>(x: &[$T]) -> $Acc {
                    $floats::<I, $T, $R>(x)
                }
                $(
                    #[inline(always)]
                    fn short_runs<I: Isa>(x: &[$T], n: usize, acc: &mut [$T]) -> bool {
                        $short::<<$T as Real>::Vector<I>, _>(&$along, $identity, x, n, acc)
                    }
                )?
            )?
        }
        impl Extreme<$T> for $R {
            #[inline(always)]
            #[allow(
                clippy::eq_op,
                clippy::nonminimal_bool,
                clippy::neg_cmp_op_on_partial_ord,
                reason = "NaN"
            )]
            fn beats(a: $Acc, b: $Acc) -> bool {
                // true for a NaN on either side without a comparison of its own
                !(b $or_equal a) & (b == b)
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
        extreme!($T: f32, f32::NEG_INFINITY, f32::INFINITY, |x| x.widen(), |a| <$T>::narrow(a), floats);
    };
}
macro_rules! float {
    ($T:ty) => {
        extreme!($T: $T, <$T>::NEG_INFINITY, <$T>::INFINITY, |x| x, |a| a, floats short_rows);
    };
}
#[cfg(feature = "complex")]
macro_rules! complex {
    ($T:ty) => {};
}
dtypes!(each_dtype!);

/// The extreme of a run of floats. A NaN-aware comparison takes several instructions, so NaN is
/// searched for in a separate pass over blocks that stay in L1, except with AVX2, whose blends make
/// up for it.
#[inline(always)]
fn floats<I: Isa, T: Copy, R: Extreme<T>>(x: &[T]) -> R::Acc {
    if I::AVX2 && !I::AVX512 {
        return lanes!(64, x, R::IDENTITY, |v| R::lift(v), |a, b| R::join(a, b));
    }
    let mut best = R::IDENTITY;
    for block in x.chunks(4 * BLOCK) {
        let mut nan = false;
        for v in block {
            rolled::<I, T>();
            nan |= R::is_nan(R::lift(*v));
        }
        if nan {
            for v in block {
                best = R::join(best, R::lift(*v));
            }
            return best;
        }
        let m = lanes!(64, block, R::IDENTITY, |v| R::lift(v), |a, b| {
            if R::exceeds(b, a) { b } else { a }
        });
        best = R::join(best, m);
    }
    best
}

/// Elements whose extreme is found before its position is searched for.
const BLOCK: usize = 1024;
/// Elements compared at once in the search.
const GROUP: usize = 64;

/// The index of the first element that satisfies the condition, 0 if none does. `|v| condition` is
/// macro text: a closure might be outlined from its kernel.
macro_rules! first {
    ($x:expr, |$v:ident| $condition:expr) => {
        'search: {
            for (k, group) in $x.chunks(GROUP).enumerate() {
                let mut found = false;
                for v in group {
                    rolled::<I, T>();
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

/// The longest runs that are searched side by side.
const SHORT: usize = if simd::MICROCONTROLLER { 0 } else { 16 };
/// The fewest.
const FEW: usize = 8;

/// The index of the first extreme of each of `at.len()` consecutive runs of `n > 0` elements.
pub fn positions<T: Copy + 'static, R: Extreme<T>>(x: &[T], n: usize, at: &mut [i64]) {
    let Some(any) = x.first().filter(|_| n <= SHORT && at.len() >= FEW) else {
        return positions_of_runs::<T, R>(x, n, at);
    };
    // as columns, of which a vector takes as many comparisons as one run
    let mut columns = [*any; SHORT * COLUMNS];
    for (x, at) in x.chunks(COLUMNS * n).zip(at.chunks_mut(COLUMNS)) {
        for (j, run) in x.chunks_exact(n).enumerate() {
            for (column, v) in columns.chunks_exact_mut(COLUMNS).zip(run) {
                column[j] = *v;
            }
        }
        positions_of_columns::<T, R>(&columns, n, COLUMNS, at);
    }
}

kernel! {
    fn positions_of_runs<'a, T: Copy, R: Extreme<T>>(x: &'a [T], n: usize, at: &'a mut [i64]) -> () { |I|
        for (x, found) in x.chunks_exact(n).zip(at) {
            *found = position_of_blocks::<I, T, R>(x) as i64;
        }
    }
}

/// Short runs that become columns together.
const COLUMNS: usize = if simd::MICROCONTROLLER { 4 } else { 64 };

kernel! {
    /// The index of the first extreme of each of `at.len()` columns of `n > 0` rows, fewer than
    /// 2^32; a row begins `step` elements after the one before.
    pub fn positions_of_columns<'a, T: Copy, R: Extreme<T>>(x: &'a [T], n: usize, step: usize, at: &'a mut [i64]) -> () { |I|
        // as many as have their extremes and positions in registers
        if const { simd::MICROCONTROLLER || I::SMALL } {
            columns::<T, R, 4, false>(x, n, step, at)
        } else if I::AVX512 {
            columns::<T, R, 64, false>(x, n, step, at)
        } else if I::AVX2 {
            columns::<T, R, 32, true>(x, n, step, at)
        } else {
            columns::<T, R, 16, false>(x, n, step, at)
        }
    }
}

/// If `IN_TURN`, results are written to one pair of arrays and the other in turn. In place, LLVM
/// makes masked stores of choices between new values and those that they replace, which take AMD's
/// CPUs with AVX2 some twenty cycles each.
#[inline(always)]
fn columns<T: Copy, R: Extreme<T>, const W: usize, const IN_TURN: bool>(
    x: &[T],
    n: usize,
    step: usize,
    at: &mut [i64],
) {
    for (block, at) in at.chunks_mut(W).enumerate() {
        let (mut best, mut found) = ([R::IDENTITY; W], [0u32; W]);
        let (mut other_best, mut other_found) = (best, found);
        let mut turned = false;
        for k in 0..n {
            let row = &x[k * step + block * W..][..at.len()];
            // rows may be pages apart
            prefetch_run::<{ simd::L1 }, _>(row.as_ptr().wrapping_add(W), W);
            let mut lifted = [R::IDENTITY; W];
            if let Some(row) = row.first_chunk::<W>() {
                for j in 0..W {
                    lifted[j] = R::lift(row[j]);
                }
            } else {
                for (to, v) in lifted.iter_mut().zip(row) {
                    *to = R::lift(*v);
                }
            }
            // an element may equal the identity
            if k == 0 {
                best = lifted;
                continue;
            }
            macro_rules! take {
                ($best:ident $found:ident to $best_after:ident $found_after:ident) => {
                    for j in 0..W {
                        let better = R::beats(lifted[j], $best[j]);
                        $best_after[j] = if better { lifted[j] } else { $best[j] };
                        $found_after[j] = if better { k as u32 } else { $found[j] };
                    }
                };
            }
            match IN_TURN {
                false => take!(best found to best found),
                true if turned => take!(other_best other_found to best found),
                true => take!(best found to other_best other_found),
            }
            turned = !turned;
        }
        let found = if IN_TURN && turned {
            other_found
        } else {
            found
        };
        for (at, found) in at.iter_mut().zip(found) {
            *at = found as i64;
        }
    }
}

/// The index of the first extreme of a run: the extreme of each block, then a search of the one
/// block that has it.
#[inline(always)]
fn position_of_blocks<I: Isa, T: Copy, R: Extreme<T>>(x: &[T]) -> usize {
    let (mut best, mut at) = (R::IDENTITY, 0);
    for (k, block) in x.chunks(BLOCK).enumerate() {
        let m = R::run::<I>(block);
        if R::is_nan(m) {
            return k * BLOCK + first!(block, |v| R::is_nan(v));
        }
        if R::exceeds(m, best) {
            (best, at) = (m, k);
        }
    }
    let block = &x[at * BLOCK..x.len().min((at + 1) * BLOCK)];
    // nothing exceeds the extreme: what it doesn't exceed equals it
    at * BLOCK + first!(block, |v| !R::exceeds(best, v))
}
