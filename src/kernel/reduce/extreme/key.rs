//! Types whose largest element kernels find, with bits that are flipped before and after.

use crate::dtype::{Bool, Pod};
#[cfg(feature = "half")]
use crate::kernel::convert::Widen;
use crate::kernel::math::Real;
use crate::kernel::reduce::short::{RowReduction, short_rows};
use crate::kernel::reduce::{Columns, strips};
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
                run_of_floats::<I, $T>(x, bits)
            }
            #[inline(always)]
            fn short_runs<I: Isa>(x: &[$T], n: usize, bits: i64, acc: &mut [$T]) -> bool {
                let sign = if bits == 0 { 1.0 } else { -1.0 };
                short_rows::<<$T as Real>::Vector<I>, _>(&LargestSigned(sign), Self::LOWEST, x, n, acc)
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

/// The largest elements of short rows, multiplied by 1 or -1; NaN if there is one.
struct LargestSigned<F>(F);
impl<F: Copy> RowReduction<F> for LargestSigned<F> {
    #[inline(always)]
    fn lift<V: Lanes<Number = F>>(&self, _: usize, x: V) -> V {
        x * V::splat(self.0)
    }
    #[inline(always)]
    fn join<V: Lanes<Number = F>>(a: V, b: V) -> V {
        a.maximum(b)
    }
}

/// The elements of a run that are searched for NaN before they are compared.
const BLOCK: usize = 4096;

/// The largest of a run of floats. A NaN-aware comparison takes several instructions, so NaN is
/// searched for in a separate pass over blocks that stay in L1, except with AVX2, whose blends make
/// up for it.
#[inline(always)]
#[allow(clippy::eq_op, reason = "NaN")]
fn run_of_floats<I: Isa, K: Key>(x: &[K], bits: i64) -> K::Acc {
    if I::AVX2 && !I::AVX512 {
        return lanes!(64, x, K::LOWEST, |v| v.flipped(bits), |a, b| larger(a, b));
    }
    let mut best = K::LOWEST;
    for block in x.chunks(BLOCK) {
        let mut nan = false;
        for v in block {
            rolled::<I, K>();
            let v = v.flipped(0);
            nan |= v != v;
        }
        if nan {
            for v in block {
                best = larger(best, v.flipped(bits));
            }
            return best;
        }
        let m = lanes!(64, block, K::LOWEST, |v| v.flipped(bits), |a, b| {
            if b > a { b } else { a }
        });
        best = larger(best, m);
    }
    best
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
        strips::<I, T, LargestKey>(LargestKey(bits), x, stride, rows, acc);
        flip(acc, bits);
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
