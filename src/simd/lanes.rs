//! Vectors of floats, for kernels that access more streams at once than LLVM checks for overlap, so
//! that it doesn't vectorise their loops: FFT butterflies have up to 26.
//!
//! Kernels are generic over [`Lanes`]; [`Isa`](super::Isa) names the vector of each instruction
//! set.

use core::ops::{Add, Div, Mul, Neg, Range, Sub};

/// The lines that are reduced side by side, a lane each: a cache line of float32.
pub const COLUMNS: usize = 16;

/// A vector of floats, valid within functions of its instruction set.
///
/// # Safety
/// A value exists only if the CPU has the vector's instruction set, in code that is generic over an
/// [`Isa`](super::Isa) that names it (ISA1).
///
/// Contract LANES1 of the methods that take a pointer: it is valid for as many numbers as the method
/// says, and aligned for a number.
pub unsafe trait Lanes:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The type of a lane.
    type Number: Copy;
    /// The number of lanes: a power of two, at most 16.
    const LEN: usize;
    /// Loads all lanes.
    ///
    /// # Safety
    /// LANES1, for `LEN` numbers.
    unsafe fn load(p: *const Self::Number) -> Self;
    /// Stores all lanes.
    ///
    /// # Safety
    /// LANES1, for `LEN` numbers.
    unsafe fn store(self, p: *mut Self::Number);
    /// Loads some lanes of the vector at `p`, with 0 in the others.
    ///
    /// # Safety
    /// LANES1, for the numbers of these lanes, which are at most `LEN`; those before them need not
    /// exist.
    unsafe fn load_between(p: *const Self::Number, lanes: Range<usize>) -> Self;
    /// Loads the first `n` lanes, with 0 in the others.
    ///
    /// # Safety
    /// LANES1, for `n` numbers, at most `LEN`.
    #[inline(always)]
    unsafe fn load_first(p: *const Self::Number, n: usize) -> Self {
        // SAFETY: by the caller.
        unsafe { Self::load_between(p, 0..n) }
    }
    /// Stores the first `n` lanes.
    ///
    /// # Safety
    /// LANES1, for `n` numbers, at most `LEN`.
    unsafe fn store_first(self, p: *mut Self::Number, n: usize);
    /// One number in all lanes.
    fn splat(x: Self::Number) -> Self;
    /// `self * factor + other`, rounded once if that is one instruction.
    fn multiply_add(self, factor: Self, other: Self) -> Self;
    /// `self * factor - other`, likewise.
    fn multiply_subtract(self, factor: Self, other: Self) -> Self;
    /// The lanewise maximum; NaN if either is.
    fn maximum(self, other: Self) -> Self;
    /// The lanewise minimum; NaN if either is.
    fn minimum(self, other: Self) -> Self;
    /// The lanes of `other` that are larger, else those of `self`, also where one is NaN.
    fn larger(self, other: Self) -> Self;
    /// The lanes of `other` that are smaller, likewise.
    fn smaller(self, other: Self) -> Self;
    /// The lanes of `yes` where `self` is greater than `than`, else those of `no`.
    fn if_greater(self, than: Self, yes: Self, no: Self) -> Self;
    /// NaN in the lanes in which one of both is NaN, else 0.
    fn unordered(self, other: Self) -> Self;
    /// The first `n` lanes (at most `LEN`), and the remaining lanes of `other`.
    fn first(self, n: usize, other: Self) -> Self;
    /// Interleaves the lanes of both: the lower halves, and the upper halves.
    fn zip(self, other: Self) -> (Self, Self);
    /// Deinterleaves: the even lanes of both in order, and the odd ones.
    fn unzip(self, other: Self) -> (Self, Self);
    /// The even lanes of both, in the order that takes the fewest steps: the same for all vectors.
    #[inline(always)]
    fn evens(self, other: Self) -> Self {
        self.unzip(other).0
    }
    /// The same of the numbers from `p` on.
    ///
    /// # Safety
    /// LANES1, for `2 * LEN - 1` numbers.
    #[inline(always)]
    unsafe fn load_evens(p: *const Self::Number) -> Self {
        // SAFETY: by the caller.
        unsafe {
            let far = p.wrapping_add(Self::LEN);
            Self::load(p).evens(Self::load_first(far, Self::LEN - 1))
        }
    }
    /// Puts lanes in the order of [`evens`](Lanes::evens) in their own.
    #[inline(always)]
    fn in_order(self) -> Self {
        self
    }
    /// The lanes in reverse order.
    fn reverse(self) -> Self;
    /// Transposes the square whose rows are the first `LEN` vectors.
    #[inline(always)]
    fn transpose(v: &mut [Self; 16]) {
        // Each round moves one bit of the row's index to the front of the lane's, and the lane's
        // last bit to the row's.
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

/// Vectors without intrinsics: a few lanes for sets that all targets of an architecture have, or a
/// single one where there are no vectors.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Few<T, const N: usize>([T; N]);

/// The implementation of `Few` for a float type.
macro_rules! impl_few {
    ($T:ident $fma:expr) => {
        impl_few!($T Add add +);
        impl_few!($T Sub sub -);
        impl_few!($T Mul mul *);
        impl_few!($T Div div /);
        impl<const N: usize> Neg for Few<$T, N> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Few(self.0.map(|x| -x))
            }
        }
        // SAFETY: an array, which every CPU supports.
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
            unsafe fn load_between(p: *const $T, lanes: Range<usize>) -> Self {
                let mut all = [0.0; N];
                for (i, x) in all.iter_mut().enumerate().take(lanes.end).skip(lanes.start) {
                    // SAFETY: LANES1.
                    *x = unsafe { *p.wrapping_add(i) };
                }
                Few(all)
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
            fn larger(self, other: Self) -> Self {
                other.if_greater(self, other, self)
            }
            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                self.if_greater(other, other, self)
            }
            #[inline(always)]
            fn if_greater(self, than: Self, yes: Self, no: Self) -> Self {
                let chosen = |i: usize| if self.0[i] > than.0[i] { yes.0[i] } else { no.0[i] };
                Few(core::array::from_fn(chosen))
            }
            #[inline(always)]
            fn unordered(self, other: Self) -> Self {
                let is_nan = |i: usize| self.0[i].is_nan() | other.0[i].is_nan();
                Few(core::array::from_fn(|i| if is_nan(i) { $T::NAN } else { 0.0 }))
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
impl_few!(f32 fused32);
impl_few!(f64 fused64);

/// `a * b + c`, fused if every CPU of the target has that.
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
