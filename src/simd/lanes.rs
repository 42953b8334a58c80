//! Vectors of floats, for kernels that walk more streams at once than LLVM checks for overlap, so
//! that it makes no vectors of their loops: butterflies of Fourier transforms have up to 26.
//!
//! A kernel is generic over [`Lanes`]; the vector of each instruction set is named by
//! [`Isa`](super::Isa).

use core::ops::{Add, Mul, Neg, Sub};

/// A vector of floats, for as long as a function of its instruction set runs.
///
/// # Safety
/// A value is made only where the CPU has the vector's instruction set, by code that is generic over
/// an [`Isa`](super::Isa) that names it (ISA1). Contract LANES1 of the methods that take a pointer:
/// it is valid for as many numbers as the method says, in any alignment that numbers have.
pub unsafe trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    /// One lane.
    type Number: Copy;
    /// How many there are: a power of two, 16 at most.
    const LEN: usize;
    /// All lanes from memory.
    ///
    /// # Safety
    /// LANES1, for `LEN` numbers.
    unsafe fn load(p: *const Self::Number) -> Self;
    /// All lanes to memory.
    ///
    /// # Safety
    /// LANES1, for `LEN` numbers.
    unsafe fn store(self, p: *mut Self::Number);
    /// The first `n` lanes from memory, 0 in the others.
    ///
    /// # Safety
    /// LANES1, for `n` numbers, `LEN` at most.
    unsafe fn load_first(p: *const Self::Number, n: usize) -> Self;
    /// The first `n` lanes to memory.
    ///
    /// # Safety
    /// LANES1, for `n` numbers, `LEN` at most.
    unsafe fn store_first(self, p: *mut Self::Number, n: usize);
    /// One number in all lanes.
    fn splat(x: Self::Number) -> Self;
    /// `self * factor + other`, rounded once if that is one instruction.
    fn multiply_add(self, factor: Self, other: Self) -> Self;
    /// `self * factor - other`, likewise.
    fn multiply_subtract(self, factor: Self, other: Self) -> Self;
    /// The larger numbers; NaN where either is.
    fn maximum(self, other: Self) -> Self;
    /// The smaller numbers; NaN where either is.
    fn minimum(self, other: Self) -> Self;
    /// The first `n` lanes, `LEN` at most, and the others of `other`.
    fn first(self, n: usize, other: Self) -> Self;
    /// The lanes of both in turn: those of the lower halves, and those of the upper halves.
    fn zip(self, other: Self) -> (Self, Self);
    /// The even lanes of both, one after the other, and the odd ones.
    fn unzip(self, other: Self) -> (Self, Self);
    /// The lanes from last to first.
    fn reverse(self) -> Self;
    /// Makes columns of the first `LEN` vectors, which are the rows of a square.
    #[inline(always)]
    fn transpose(v: &mut [Self; 16]) {
        // Each round moves a bit of the row's number to the front of the lane's, and the lane's last
        // bit to the row's.
        let mut width = 1;
        while width < Self::LEN {
            let from = *v;
            for i in 0..Self::LEN / 2 {
                (v[2 * i], v[2 * i + 1]) = from[i].zip(from[i + Self::LEN / 2]);
            }
            width *= 2;
        }
    }
}

/// A few lanes without intrinsics, for instruction sets that all targets of an architecture have, and
/// for none: then there is one.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Few<T, const N: usize>([T; N]);

/// What `Few` has of every float.
macro_rules! few {
    ($T:ident $fma:expr) => {
        few!($T Add add +);
        few!($T Sub sub -);
        few!($T Mul mul *);
        impl<const N: usize> Neg for Few<$T, N> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Few(self.0.map(|x| -x))
            }
        }
        // SAFETY: arrays, which every CPU has.
        unsafe impl<const N: usize> Lanes for Few<$T, N> {
            type Number = $T;
            const LEN: usize = N;
            #[inline(always)]
            unsafe fn load(p: *const $T) -> Self {
                // SAFETY: LANES1; it is an array of `N` numbers (`repr(transparent)`).
                unsafe { p.cast::<Self>().read_unaligned() }
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $T) {
                // SAFETY: LANES1.
                unsafe { p.cast::<Self>().write_unaligned(self) }
            }
            #[inline(always)]
            unsafe fn load_first(p: *const $T, n: usize) -> Self {
                // SAFETY: LANES1.
                Few(core::array::from_fn(|i| if i < n { unsafe { *p.add(i) } } else { 0.0 }))
            }
            #[inline(always)]
            unsafe fn store_first(self, p: *mut $T, n: usize) {
                for (i, x) in self.0.into_iter().take(n).enumerate() {
                    // SAFETY: LANES1.
                    unsafe { *p.add(i) = x }
                }
            }
            #[inline(always)]
            fn splat(x: $T) -> Self {
                Few([x; N])
            }
            #[inline(always)]
            fn multiply_add(self, factor: Self, other: Self) -> Self {
                Few(core::array::from_fn(|i| $fma(self.0[i], factor.0[i], other.0[i])))
            }
            #[inline(always)]
            fn multiply_subtract(self, factor: Self, other: Self) -> Self {
                Few(core::array::from_fn(|i| $fma(self.0[i], factor.0[i], -other.0[i])))
            }
            #[inline(always)]
            #[allow(clippy::eq_op)]
            fn maximum(self, other: Self) -> Self {
                let larger = |a: $T, b: $T| if (b > a) | (b != b) { b } else { a };
                Few(core::array::from_fn(|i| larger(self.0[i], other.0[i])))
            }
            #[inline(always)]
            #[allow(clippy::eq_op)]
            fn minimum(self, other: Self) -> Self {
                let smaller = |a: $T, b: $T| if (b < a) | (b != b) { b } else { a };
                Few(core::array::from_fn(|i| smaller(self.0[i], other.0[i])))
            }
            #[inline(always)]
            fn first(self, n: usize, other: Self) -> Self {
                Few(core::array::from_fn(|i| if i < n { self.0[i] } else { other.0[i] }))
            }
            #[inline(always)]
            fn zip(self, other: Self) -> (Self, Self) {
                let lane = |i: usize| if i % 2 == 0 { self.0[i / 2] } else { other.0[i / 2] };
                (
                    Few(core::array::from_fn(lane)),
                    Few(core::array::from_fn(|i| lane(i + N))),
                )
            }
            #[inline(always)]
            fn unzip(self, other: Self) -> (Self, Self) {
                let lane = |i: usize| if i < N { self.0[i] } else { other.0[i - N] };
                (
                    Few(core::array::from_fn(|i| lane(2 * i))),
                    Few(core::array::from_fn(|i| lane(2 * i + 1))),
                )
            }
            #[inline(always)]
            fn reverse(self) -> Self {
                Few(core::array::from_fn(|i| self.0[N - 1 - i]))
            }
        }
    };
    ($T:ident $Op:ident $op:ident $sign:tt) => {
        impl<const N: usize> $Op for Few<$T, N> {
            type Output = Self;
            #[inline(always)]
            fn $op(self, other: Self) -> Self {
                Few(core::array::from_fn(|i| self.0[i] $sign other.0[i]))
            }
        }
    };
}
few!(f32 fused32);
few!(f64 fused64);

/// `a * b + c`, fused where every CPU of the target has that.
macro_rules! fused {
    ($name:ident $T:ident) => {
        #[inline(always)]
        fn $name(a: $T, b: $T, c: $T) -> $T {
            #[cfg(all(feature = "std", any(target_feature = "fma", target_arch = "aarch64")))]
            return a.mul_add(b, c);
            #[cfg(not(all(
                feature = "std",
                any(target_feature = "fma", target_arch = "aarch64")
            )))]
            return a * b + c;
        }
    };
}
fused!(fused32 f32);
fused!(fused64 f64);
