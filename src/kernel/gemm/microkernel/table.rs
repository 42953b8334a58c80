//! The microkernels of scalar types: a row per packed type.

use super::fma;
use super::job::PanelJob;
use super::packed::Packed;
use super::pair::Pair;
use super::tall;
use super::tile::{self, BASE};
#[cfg(feature = "complex")]
use crate::dtype::Complex64;
#[cfg(all(feature = "complex", feature = "f64"))]
use crate::dtype::Complex128;
use crate::kernel::gemm::blocking::Blocking;
use crate::kernel::gemm::element::MatElement;
use crate::kernel::gemm::gemv::FewRows;
use crate::kernel::math::Real;
#[cfg(feature = "f64")]
use crate::simd::fma64;
use crate::simd::{self, Isa, Level, fma32};

/// Lanes of a vector of the target's own instruction set: one on microcontrollers, which have no
/// vectors, so that tiles can read columns of B in place.
const fn base(lanes: usize) -> usize {
    if simd::MICROCONTROLLER { 1 } else { lanes }
}

/// [`Packed::Sums`] and its functions: `lanes form`, or for complex numbers `parts form
/// form-by-one`.
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
            fma::$form::<I, L>(a, b, c)
        }
        #[inline(always)]
        fn axpy<I: Isa, const L: usize>(a: Self, x: [Self; L], y: [[Self; L]; 2]) -> [[Self; L]; 2] {
            fma::$splat::<I, L>(a, x, y)
        }
    };
}

/// `packed type: [lanes per vector and vectors of the widest tile with AVX-512, with AVX2; lanes of
/// a base vector] (running sums) whether the K-loop is unrolled, vectors of the highest tall tile
/// with AVX-512 and without, relu for types whose tiles finish their sums, the slice as floats,
/// blocking, multiply-add, multiply, add`. Tiles are six rows high, and as wide as 32 registers
/// (AVX-512) or 16 allow.
macro_rules! packed {
    ($($(#[$cfg:meta])* $A:ty: [$x:literal $xv:literal, $y:literal $yv:literal, $z:literal] ($($sums:tt)*) $(unrolled $unrolled:literal)? $(tall $half:literal $half_base:literal)? $(ends $rectified:ident)? $(floats $floats:ident)? $(by $blocking:expr)?, |$I:ident, $a:ident, $b:ident, $c:ident| $mac:expr, $mul:expr, $add:expr;)*) => { $(
        $(#[$cfg])*
        // SAFETY: LANE1: plain elements, and tiles of the table below.
        unsafe impl Packed for $A {
            #[inline(always)]
            fn mul_add<$I: Isa>($a: Self, $b: Self, $c: Self) -> Self { $mac }
            sums! { $($sums)* }
            #[inline(always)]
            fn mul($a: Self, $b: Self) -> Self { $mul }
            #[inline(always)]
            fn add($a: Self, $b: Self) -> Self { $add }
            #[inline(always)]
            fn shape(level: Level) -> (usize, usize) {
                match level {
                    Level::Avx512 => ($x, $xv),
                    Level::Avx2 => ($y, $yv),
                    Level::Base => (base($z), BASE),
                }
            }
            #[inline(always)]
            unsafe fn panel<I: Isa>(job: PanelJob<Self>) {
                // SAFETY: TILE1, by the caller's promise; the vectors are those of the level.
                unsafe {
                    if const { I::AVX512 } {
                        tile::panel::<I, Self, $x, $xv>(job)
                    } else if const { I::AVX2 } {
                        tile::panel::<I, Self, $y, $yv>(job)
                    } else {
                        tile::panel::<I, Self, { base($z) }, BASE>(job)
                    }
                }
            }
            $(
                #[inline(always)]
                fn as_floats($floats: &mut [Self]) -> Option<&mut [f32]> { Some($floats) }
            )?
            $(const UNROLLED: bool = $unrolled;)?
            $(
                const IS_FLOAT: bool = true;
                #[inline(always)]
                fn float_columns<I: Isa, T: MatElement<Acc = Self>>(x: FewRows<T>) { x.dot_products::<I>() }
                #[inline(always)]
                fn float_rows<I: Isa, T: MatElement<Acc = Self>>(x: FewRows<T>) { x.short_rows::<I>() }
                const ENDS: bool = !cfg!(target_family = "wasm") && !simd::MICROCONTROLLER;
                #[inline(always)]
                fn relu<I: Isa>(a: Self) -> Self { Real::maximum::<I>(a, 0.0) }
                #[inline(always)]
                fn plus<I: Isa, const L: usize>(x: [Self; L], c: [Self; L]) -> [Self; L] {
                    Self::mul_add_lanes::<I, L>([1.0; L], x, c)
                }
                #[inline(always)]
                fn plus_rectified<I: Isa, const L: usize>(x: [Self; L], c: [Self; L]) -> [Self; L] {
                    fma::$rectified::<I, L>([1.0; L], x, c)
                }
            )?
            $(const BLOCKING: Blocking = $blocking;)?
            $(
                const TALL: bool = true;
                #[inline(always)]
                unsafe fn tall<I: Isa>(job: PanelJob<Self>) {
                    // SAFETY: TILE1, by the caller's promise; the vectors are those of the level.
                    unsafe {
                        if const { I::AVX512 } {
                            tall::panel::<I, Self, $x, $xv, $half>(job)
                        } else if const { I::AVX2 } {
                            tall::panel::<I, Self, $y, $yv, $half_base>(job)
                        } else {
                            tall::panel::<I, Self, { base($z) }, BASE, $half_base>(job)
                        }
                    }
                }
            )?
        }
    )* };
}
packed! {
    f32: [16 4, 8 2, 4] (lanes fma::single) unrolled true tall 2 1 ends rectified_single floats x, |I, a, b, c| fma32::<I>(a, b, c), a * b, a + b;
    #[cfg(feature = "f64")]
    f64: [8 4, 4 2, 2] (lanes fma::double) unrolled true tall 2 1 ends rectified_double, |I, a, b, c| fma64::<I>(a, b, c), a * b, a + b;
    Pair: [16 4, 8 2, 4] (lanes fma::pairs) unrolled true by Blocking::BYTES, |I, a, b, c| Pair(c.0.wrapping_add(a.dot(b))), Pair(a.0.wrapping_mul(b.0)), Pair(a.0.wrapping_add(b.0));
    u32: [16 4, 8 2, 4] (lanes fma::int32), |I, a, b, c| a.wrapping_mul(b).wrapping_add(c), a.wrapping_mul(b), a.wrapping_add(b);
    u64: [8 4, 4 2, 2] (lanes fma::int64), |I, a, b, c| a.wrapping_mul(b).wrapping_add(c), a.wrapping_mul(b), a.wrapping_add(b);
    #[cfg(feature = "complex")]
    Complex64: [8 2, 4 1, 2] (parts complex_single splat_single), |I, a, b, c| {
        Complex64::new(fma32::<I>(-a.im, b.im, fma32::<I>(a.re, b.re, c.re)), fma32::<I>(a.im, b.re, fma32::<I>(a.re, b.im, c.im)))
    }, a * b, a + b;
    #[cfg(all(feature = "complex", feature = "f64"))]
    Complex128: [4 2, 2 1, 1] (parts complex_double splat_double), |I, a, b, c| {
        Complex128::new(fma64::<I>(-a.im, b.im, fma64::<I>(a.re, b.re, c.re)), fma64::<I>(a.im, b.re, fma64::<I>(a.re, b.im, c.im)))
    }, a * b, a + b;
}
