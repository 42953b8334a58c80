//! What can be multiplied: a row an element type, and a row a packed form. A packed form is what
//! tiles compute with; several element types share it (16-bit floats are widened to `f32` while
//! they are packed, 8-bit integers to 32 bits).

use super::arch;
use super::bytes::Pair;
use super::few::{self, Strip};
use super::tile::{self, BASE, Strips};
#[cfg(feature = "complex")]
use crate::dtype::Complex64;
#[cfg(all(feature = "complex", feature = "f64"))]
use crate::dtype::Complex128;
#[cfg(feature = "f64")]
use crate::simd::fma64;
use crate::simd::{self, Isa, Level, fma32};
#[cfg(feature = "half")]
use crate::{
    dtype::{bf16, f16},
    kernel::convert::Widen,
};

/// A packed form: one lane of a tile, operand and accumulator alike.
///
/// # Safety
/// LANE1: a number without padding of which any bits are a value, so that scratch of the pool is
/// lanes; `tile` gives a size that the tables of tiles have; `strips` and `few` stay within the job
/// that they are given.
pub unsafe trait Lane: Copy + Default + Send + Sync + 'static {
    /// `a * b + c`.
    fn mul_add<I: Isa>(a: Self, b: Self, c: Self) -> Self;
    /// The running sums of an array of lanes: those, or parts that are united in the end.
    type Sums<const L: usize>: Copy;
    /// Sums that begin with `c`.
    fn begin<const L: usize>(c: [Self; L]) -> Self::Sums<L>;
    /// The sums.
    fn end<const L: usize>(c: Self::Sums<L>) -> [Self; L];
    /// `a * b + c` for arrays.
    fn mul_add_lanes<I: Isa, const L: usize>(
        a: [Self; L],
        b: [Self; L],
        c: Self::Sums<L>,
    ) -> Self::Sums<L>;
    /// The same by one `a`.
    fn axpy<I: Isa, const L: usize>(a: Self, x: [Self; L], y: Self::Sums<L>) -> Self::Sums<L>;
    /// `a * b`.
    fn mul(a: Self, b: Self) -> Self;
    /// `a + b`.
    fn add(a: Self, b: Self) -> Self;
    /// Lanes of a vector, and vectors of the widest tile.
    fn tile(level: Level) -> (usize, usize);
    /// All tiles of a panel.
    ///
    /// # Safety
    /// TILE1, see [`Strips`].
    unsafe fn strips<I: Isa>(job: Strips<Self>);
    /// Whether there are tiles for few rows, see [`few`](super::few).
    const FEW: bool = false;
    /// All rows by a panel, where they are few.
    ///
    /// # Safety
    /// STRIP1, see [`Strip`].
    unsafe fn few<I: Isa>(_job: Strip<Self>) {
        unreachable!("`few::serves` says no")
    }
}

/// Lanes of a vector of the target's own instruction set: one where it has none, so that columns
/// lie in B as tiles read them.
const fn base(lanes: usize) -> usize {
    if simd::MICROCONTROLLER { 1 } else { lanes }
}

/// [`Lane::Sums`] and what is done with them: `lanes form`, or `parts form form-by-one` of complex
/// numbers.
macro_rules! sums {
    (lanes $($form:ident)::+) => {
        type Sums<const L: usize> = [Self; L];
        #[inline(always)]
        fn begin<const L: usize>(c: [Self; L]) -> [Self; L] {
            c
        }
        #[inline(always)]
        fn end<const L: usize>(c: [Self; L]) -> [Self; L] {
            c
        }
        #[inline(always)]
        fn mul_add_lanes<I: Isa, const L: usize>(a: [Self; L], b: [Self; L], c: [Self; L]) -> [Self; L] {
            $($form)::+::<I, L>(a, b, c)
        }
        #[inline(always)]
        fn axpy<I: Isa, const L: usize>(a: Self, x: [Self; L], y: [Self; L]) -> [Self; L] {
            $($form)::+::<I, L>([a; L], x, y)
        }
    };
    (parts $form:ident $splat:ident) => {
        type Sums<const L: usize> = [[Self; L]; 2];
        #[inline(always)]
        fn begin<const L: usize>(c: [Self; L]) -> [[Self; L]; 2] {
            [c, [Self::default(); L]]
        }
        /// `c[0] + i c[1]`
        #[inline(always)]
        fn end<const L: usize>([mut c, d]: [[Self; L]; 2]) -> [Self; L] {
            for l in 0..L {
                (c[l].re, c[l].im) = (c[l].re - d[l].im, c[l].im + d[l].re);
            }
            c
        }
        #[inline(always)]
        fn mul_add_lanes<I: Isa, const L: usize>(a: [Self; L], b: [Self; L], c: [[Self; L]; 2]) -> [[Self; L]; 2] {
            arch::$form::<I, L>(a, b, c)
        }
        #[inline(always)]
        fn axpy<I: Isa, const L: usize>(a: Self, x: [Self; L], y: [[Self; L]; 2]) -> [[Self; L]; 2] {
            arch::$splat::<I, L>(a, x, y)
        }
    };
}

/// `packed form: [lanes of a vector and vectors of the widest tile with AVX-512, AVX2; lanes of a
/// base vector] (running sums) tiles for few rows, multiply-add, multiply, add`. Tiles are six rows
/// high and as wide as 32 registers (AVX-512) or 16 hold.
macro_rules! lanes {
    ($($(#[$cfg:meta])* $A:ty: [$x:literal $xv:literal, $y:literal $yv:literal, $z:literal] ($($sums:tt)*) $(few $few:literal)?, |$I:ident, $a:ident, $b:ident, $c:ident| $mac:expr, $mul:expr, $add:expr;)*) => { $(
        $(#[$cfg])*
        // SAFETY: LANE1: plain numbers, and tiles of the table below.
        unsafe impl Lane for $A {
            #[inline(always)]
            fn mul_add<$I: Isa>($a: Self, $b: Self, $c: Self) -> Self { $mac }
            sums! { $($sums)* }
            #[inline(always)]
            fn mul($a: Self, $b: Self) -> Self { $mul }
            #[inline(always)]
            fn add($a: Self, $b: Self) -> Self { $add }
            #[inline(always)]
            fn tile(level: Level) -> (usize, usize) {
                match level {
                    Level::Avx512 => ($x, $xv),
                    Level::Avx2 => ($y, $yv),
                    Level::Base => (base($z), BASE),
                }
            }
            #[inline(always)]
            unsafe fn strips<I: Isa>(job: Strips<Self>) {
                // SAFETY: TILE1, by the caller's promise; the vectors are those of the level.
                unsafe {
                    if const { I::AVX512 } {
                        tile::strips::<I, Self, $x, $xv>(job)
                    } else if const { I::AVX2 } {
                        tile::strips::<I, Self, $y, $yv>(job)
                    } else {
                        tile::strips::<I, Self, { base($z) }, BASE>(job)
                    }
                }
            }
            $(
                const FEW: bool = $few;
                #[inline(always)]
                unsafe fn few<I: Isa>(job: Strip<Self>) {
                    // SAFETY: STRIP1, by the caller's promise; the vectors are those of the level.
                    unsafe {
                        if const { I::AVX512 } {
                            few::strip::<I, Self, $x, $xv, 2>(job)
                        } else if const { I::AVX2 } {
                            few::strip::<I, Self, $y, $yv, 1>(job)
                        } else {
                            few::strip::<I, Self, { base($z) }, BASE, 1>(job)
                        }
                    }
                }
            )?
        }
    )* };
}
lanes! {
    f32: [16 4, 8 2, 4] (lanes arch::single) few true, |I, a, b, c| fma32::<I>(a, b, c), a * b, a + b;
    #[cfg(feature = "f64")]
    f64: [8 4, 4 2, 2] (lanes arch::double) few true, |I, a, b, c| fma64::<I>(a, b, c), a * b, a + b;
    Pair: [16 4, 8 2, 4] (lanes arch::pairs), |I, a, b, c| Pair(c.0.wrapping_add(a.dot(b))), Pair(a.0.wrapping_mul(b.0)), Pair(a.0.wrapping_add(b.0));
    u16: [32 4, 16 2, 8] (lanes arch::int16), |I, a, b, c| a.wrapping_mul(b).wrapping_add(c), a.wrapping_mul(b), a.wrapping_add(b);
    u32: [16 4, 8 2, 4] (lanes arch::int32), |I, a, b, c| a.wrapping_mul(b).wrapping_add(c), a.wrapping_mul(b), a.wrapping_add(b);
    u64: [8 4, 4 2, 2] (lanes arch::int64), |I, a, b, c| a.wrapping_mul(b).wrapping_add(c), a.wrapping_mul(b), a.wrapping_add(b);
    #[cfg(feature = "complex")]
    Complex64: [8 2, 4 1, 2] (parts complex_single splat_single), |I, a, b, c| {
        Complex64::new(fma32::<I>(-a.im, b.im, fma32::<I>(a.re, b.re, c.re)), fma32::<I>(a.im, b.re, fma32::<I>(a.re, b.im, c.im)))
    }, a * b, a + b;
    #[cfg(all(feature = "complex", feature = "f64"))]
    Complex128: [4 2, 2 1, 1] (parts complex_double splat_double), |I, a, b, c| {
        Complex128::new(fma64::<I>(-a.im, b.im, fma64::<I>(a.re, b.re, c.re)), fma64::<I>(a.im, b.re, fma64::<I>(a.re, b.im, c.im)))
    }, a * b, a + b;
}

/// An element of matrix products.
///
/// # Safety
/// GP: any bits are a value; where `SAME`, the type has the size, alignment and values of its lane;
/// where there is a `BYTE`, it is one byte. Operands are read, and results written, as the one or
/// the other by these.
pub unsafe trait Product: Copy + Default + Send + Sync + 'static {
    /// What it is packed to and accumulated in.
    type Lane: Lane;
    /// Whether its bytes are the lane's, so that operands may be read and results written as lanes.
    const SAME: bool;
    /// To a lane.
    fn widen(self) -> Self::Lane;
    /// Whether it has a sign, for integers of 8 bits: those have an engine of their own.
    const BYTE: Option<bool>;
    /// All of `s` to lanes.
    fn widen_all<I: Isa>(s: &[Self], d: &mut [Self::Lane]);
    /// From a lane: rounds floats, wraps integers.
    fn narrow(x: Self::Lane) -> Self;
}

/// `element: packed form, same bytes, form of slices, to a lane, from a lane; sign of a byte`.
macro_rules! products {
    ($($(#[$cfg:meta])* $T:ty: $A:ty, $same:literal, $slices:ident |$x:ident| $widen:expr, $narrow:expr $(, signed $signed:literal)?;)*) => { $(
        $(#[$cfg])*
        // SAFETY: GP: plain numbers; the lanes of those that are the same differ in sign alone.
        unsafe impl Product for $T {
            type Lane = $A;
            const SAME: bool = $same;
            const BYTE: Option<bool> = [$(Some($signed),)? None][0];
            #[inline(always)]
            fn widen(self) -> $A { let $x = self; $widen }
            #[inline(always)]
            fn narrow($x: $A) -> $T { $narrow }
            #[inline(always)]
            fn widen_all<I: Isa>(s: &[$T], d: &mut [$A]) { arch::$slices::<I, $T>(s, d) }
        }
    )* };
}
products! {
    f32: f32, true, each |x| x, x;
    #[cfg(feature = "f64")] f64: f64, true, each |x| x, x;
    #[cfg(feature = "half")] f16: f32, false, halves |x| Widen::widen(x), Widen::narrow(x);
    #[cfg(feature = "half")] bf16: f32, false, each |x| Widen::widen(x), Widen::narrow(x);
    i8: u32, false, each |x| x as u32, x as i8, signed true;
    u8: u32, false, each |x| x as u32, x as u8, signed false;
    #[cfg(feature = "ints")] i16: u16, true, each |x| x as u16, x as i16;
    #[cfg(feature = "ints")] u16: u16, true, each |x| x, x;
    i32: u32, true, each |x| x as u32, x as i32;
    #[cfg(feature = "ints")] u32: u32, true, each |x| x, x;
    i64: u64, true, each |x| x as u64, x as i64;
    #[cfg(feature = "ints")] u64: u64, true, each |x| x, x;
    #[cfg(feature = "complex")] Complex64: Complex64, true, each |x| x, x;
    #[cfg(all(feature = "complex", feature = "f64"))] Complex128: Complex128, true, each |x| x, x;
}
