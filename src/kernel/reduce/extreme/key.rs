//! Types whose largest element kernels find, with bits that are flipped before and after.

use super::vectors::{self, extreme, position};
use crate::dtype::{Bool, Pod};
#[cfg(feature = "half")]
use crate::kernel::convert::Widen;
use crate::kernel::math::Real;
use crate::kernel::reduce::short::{Largest, RowReduction, short_rows};
use crate::kernel::reduce::{Columns, columns_of};
use crate::simd::lanes::Lanes;
use crate::simd::{Isa, rolled};

/// A type whose largest element is found: signed integers, floats and bool.
pub trait Key: Pod {
    /// The type in which keys are compared: float32 for 16-bit floats, else their own.
    type Acc: Key<Acc = Self::Acc> + PartialOrd;
    /// The smallest value.
    const LOWEST: Self::Acc;
    /// The sign of a float, in bits to flip; 0 for what is no float.
    const SIGN: i64;
    /// The value to compare, with these bits flipped.
    fn flipped(self, bits: i64) -> Self::Acc;
    /// The largest of a run of flipped values.
    #[inline(always)]
    fn run<I: Isa>(x: &[Self], bits: i64) -> Self::Acc {
        // 64 accumulators of a byte are a single vector
        if size_of::<Self>() == 1 {
            lanes!(256, x, Self::LOWEST, |v| v.flipped(bits), |a, b| larger(
                a, b
            ))
        } else {
            lanes!(64, x, Self::LOWEST, |v| v.flipped(bits), |a, b| larger(
                a, b
            ))
        }
    }
    /// The position of the first extreme of a run; `None` if there is a NaN, or no fast path. At most
    /// [`POSITIONS`](super::vectors::POSITIONS) elements.
    #[inline(always)]
    fn position<I: Isa>(_x: &[Self], _bits: i64) -> Option<usize> {
        None
    }
    /// A fast path for the extremes of columns; returns whether it was taken.
    #[inline(always)]
    fn columns<I: Isa>(
        _x: &[Self],
        _stride: usize,
        _rows: usize,
        _bits: i64,
        _acc: &mut [Self::Acc],
    ) -> bool {
        false
    }
    /// A fast path for short runs of `n` elements, as [`runs`]; returns whether it was taken.
    #[inline(always)]
    fn short_runs<I: Isa>(_x: &[Self], _n: usize, _bits: i64, _acc: &mut [Self::Acc]) -> bool {
        false
    }
}

/// The larger of two values; NaN if one is.
#[inline(always)]
#[allow(clippy::eq_op, reason = "NaN")]
fn larger<A: PartialOrd + Copy>(a: A, b: A) -> A {
    if (b > a) | (b != b) { b } else { a }
}

macro_rules! integers {
    ($($T:ident)*) => { $(
        impl Key for $T {
            type Acc = $T;
            const LOWEST: $T = $T::MIN;
            const SIGN: i64 = 0;
            #[inline(always)]
            fn flipped(self, bits: i64) -> $T {
                self ^ bits as $T
            }
        }
    )* };
}
integers!(i8 i16 i32 i64);

impl Key for Bool {
    type Acc = i8;
    const LOWEST: i8 = i8::MIN;
    const SIGN: i64 = 0;
    #[inline(always)]
    fn flipped(self, bits: i64) -> i8 {
        self.get() as i8 ^ bits as i8
    }
}

macro_rules! floats {
    ($($T:ident $Bits:ident $sign:expr),*) => { $(
        impl Key for $T {
            type Acc = $T;
            const LOWEST: $T = $T::NEG_INFINITY;
            const SIGN: i64 = $sign;
            #[inline(always)]
            fn flipped(self, bits: i64) -> $T {
                $T::from_bits(self.to_bits() ^ bits as $Bits)
            }
            #[inline(always)]
            fn run<I: Isa>(x: &[$T], bits: i64) -> $T {
                if !I::AVX2 {
                    run_of_floats::<I, $T>(x, bits)
                } else if bits == 0 {
                    extreme::<<$T as Real>::Vector<I>, false>(x, $T::NEG_INFINITY)
                } else {
                    extreme::<<$T as Real>::Vector<I>, true>(x, $T::INFINITY).flipped(bits)
                }
            }
            #[inline(always)]
            fn columns<I: Isa>(x: &[$T], stride: usize, rows: usize, bits: i64, acc: &mut [$T]) -> bool {
                if I::AVX2 && bits == 0 {
                    vectors::columns::<<$T as Real>::Vector<I>, false>(x, stride, rows, $T::NEG_INFINITY, acc);
                } else if I::AVX2 {
                    vectors::columns::<<$T as Real>::Vector<I>, true>(x, stride, rows, $T::INFINITY, acc);
                }
                I::AVX2
            }
            #[inline(always)]
            fn position<I: Isa>(x: &[$T], bits: i64) -> Option<usize> {
                if !I::AVX2 {
                    None
                } else if bits == 0 {
                    position::<<$T as Real>::Vector<I>, false>(x)
                } else {
                    position::<<$T as Real>::Vector<I>, true>(x)
                }
            }
            #[inline(always)]
            fn short_runs<I: Isa>(x: &[$T], n: usize, bits: i64, acc: &mut [$T]) -> bool {
                if bits == 0 {
                    short_rows::<<$T as Real>::Vector<I>, _>(&Largest, Self::LOWEST, x, n, acc)
                } else {
                    short_rows::<<$T as Real>::Vector<I>, _>(&LargestNegative, Self::LOWEST, x, n, acc)
                }
            }
        }
    )* };
}
floats!(f32 u32 1 << 31);
#[cfg(feature = "f64")]
floats!(f64 u64 i64::MIN);

#[cfg(feature = "half")]
macro_rules! halves {
    ($($T:ident)*) => { $(
        impl Key for crate::dtype::$T {
            type Acc = f32;
            const LOWEST: f32 = f32::NEG_INFINITY;
            const SIGN: i64 = f32::SIGN;
            #[inline(always)]
            fn flipped(self, bits: i64) -> f32 {
                self.widen().flipped(bits)
            }
            #[inline(always)]
            fn run<I: Isa>(x: &[Self], bits: i64) -> f32 {
                run_of_floats::<I, Self>(x, bits)
            }
        }
    )* };
}
#[cfg(feature = "half")]
halves!(f16 bf16);

/// The largest elements of short rows whose signs are flipped; NaN if there is one.
struct LargestNegative;
impl<F> RowReduction<F> for LargestNegative {
    #[inline(always)]
    fn lift<V: Lanes<Number = F>>(&self, _: usize, x: V) -> V {
        -x
    }
    #[inline(always)]
    fn join<V: Lanes<Number = F>>(a: V, b: V) -> V {
        a.maximum(b)
    }
}

/// The elements of a run that are searched for NaN before they are compared.
const BLOCK: usize = 4096;

/// `extreme_of_run!(I, K, x, identity, than)`: the element that is `than` all others. A NaN-aware
/// comparison takes several instructions, so NaN is searched for in a separate pass over blocks that
/// stay in L1, except with AVX2, whose blends make up for it.
macro_rules! extreme_of_run {
    ($I:ident, $K:ident, $x:expr, $identity:expr, $than:tt) => {{
        let identity = $identity;
        macro_rules! either {
            ($a:expr, $b:expr) => {
                if ($b $than $a) | ($b != $b) { $b } else { $a }
            };
        }
        if $I::AVX2 && !$I::AVX512 {
            lanes!(64, $x, identity, |v| v.flipped(0), |a, b| either!(a, b))
        } else {
            let mut best = identity;
            for block in $x.chunks(BLOCK) {
                let mut nan = false;
                for v in block {
                    rolled::<$I, $K>();
                    let v = v.flipped(0);
                    nan |= v != v;
                }
                if nan {
                    for v in block {
                        let v = v.flipped(0);
                        best = either!(best, v);
                    }
                    break;
                }
                let m = lanes!(64, block, identity, |v| v.flipped(0), |a, b| {
                    if b $than a { b } else { a }
                });
                best = either!(best, m);
            }
            best
        }
    }};
}
/// The largest of a run of floats, whose smallest element is found as such rather than as the
/// largest of flipped ones: flipping takes as long as comparing.
#[inline(always)]
fn run_of_floats<I: Isa, K: Key>(x: &[K], bits: i64) -> K::Acc {
    if bits == 0 {
        extreme_of_run!(I, K, x, K::LOWEST, >)
    } else {
        extreme_of_run!(I, K, x, K::LOWEST.flipped(bits), <).flipped(bits)
    }
}

kernel! {
    /// The extreme of each of `acc.len()` consecutive runs of `n` elements.
    pub fn runs<'a, T: Key>(x: &'a [T], n: usize, bits: i64, acc: &'a mut [T::Acc]) -> () { |I|
        if !T::short_runs::<I>(x, n, bits, acc) {
            for (j, acc) in acc.iter_mut().enumerate() {
                *acc = T::run::<I>(&x[j * n..(j + 1) * n], bits);
            }
        }
        flip(acc, bits);
    }
}

kernel! {
    /// The extreme of each column of `rows` rows, `stride` apart.
    pub fn columns<'a, T: Key>(x: &'a [T], stride: usize, rows: usize, bits: i64, acc: &'a mut [T::Acc]) -> () { |I|
        if !T::columns::<I>(x, stride, rows, bits, acc) {
            columns_of::<I, T, LargestKey>(LargestKey(bits), x, stride, rows, acc);
            flip(acc, bits);
        }
    }
}

kernel! {
    /// Joins `b[i]` into `a[i]`.
    pub fn join<'a, T: Key>(a: &'a mut [T::Acc], b: &'a [T::Acc], bits: i64) -> () { |I|
        for (a, b) in a.iter_mut().zip(b) {
            *a = larger(a.flipped(bits), b.flipped(bits)).flipped(bits);
        }
    }
}

/// Turns the largest keys into the extremes.
#[inline(always)]
fn flip<A: Key<Acc = A>>(acc: &mut [A], bits: i64) {
    for acc in acc {
        *acc = acc.flipped(bits);
    }
}

/// The largest key of each column, of those with these bits flipped.
#[derive(Clone, Copy)]
struct LargestKey(i64);
impl<K: Key> Columns<K> for LargestKey {
    type Acc = K::Acc;
    const IDENTITY: K::Acc = K::LOWEST;
    #[inline(always)]
    fn lift(self, x: K) -> K::Acc {
        x.flipped(self.0)
    }
    #[inline(always)]
    fn join(a: K::Acc, b: K::Acc) -> K::Acc {
        larger(a, b)
    }
}
