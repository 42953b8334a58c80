//! Multiply-add of arrays of lanes, by `std::arch` where LLVM does not reliably vectorise the
//! portable loop beside it. As values of vector type, sums stay in registers.

use super::packed::Packed;
use super::pair::Pair;
use crate::simd::Isa;

/// `a * b + c`, lane by lane: the body for every instruction set.
#[inline(always)]
pub fn portable<I: Isa, A: Packed, const L: usize>(a: [A; L], b: [A; L], mut c: [A; L]) -> [A; L] {
    for l in 0..L {
        c[l] = A::mul_add::<I>(a[l], b[l], c[l]);
    }
    c
}

/// `max(a * b + c, 0)`, likewise; NaN remains.
#[inline(always)]
pub fn rectified<I: Isa, A: Packed, const L: usize>(a: [A; L], b: [A; L], mut c: [A; L]) -> [A; L] {
    for l in 0..L {
        c[l] = A::relu::<I>(A::mul_add::<I>(a[l], b[l], c[l]));
    }
    c
}

/// Reinterprets bytes as another type of the same size. Copies through pointers have checks in
/// debug builds that keep arrays in memory.
#[cfg(any(
    x86_dispatch,
    all(feature = "std", target_arch = "aarch64"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
union Transmute<A: Copy, B: Copy> {
    from: A,
    to: B,
}

/// These sums, unknown to LLVM: it would add the products of several steps to each other first, and
/// keep some sums in memory, since AVX2 has 16 registers.
#[cfg(x86_dispatch)]
#[inline]
#[target_feature(enable = "avx2")]
fn in_order(mut sums: core::arch::x86_64::__m256i) -> core::arch::x86_64::__m256i {
    // SAFETY: no instruction.
    unsafe {
        core::arch::asm!("/* {0} */", inout(ymm_reg) sums, options(pure, nomem, nostack, preserves_flags))
    }
    sums
}

/// Code for one architecture. NEON's form needs the standard library, since its multiply-add is
/// fused and `mul_add` is fused there alone.
macro_rules! only {
    (neon, $code:expr) => {
        #[cfg(all(feature = "std", target_arch = "aarch64"))]
        {
            use core::arch::aarch64::*;
            $code
        }
    };
    (simd128, $code:expr) => {
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        {
            use core::arch::wasm32::*;
            $code
        }
    };
}
/// `name Type body { level lanes |a, b, c| expression; .. }`: the portable body, and vectors for arrays
/// of `lanes`. Forms in brackets are for targets with a single level: in some of the places where a
/// tile's loop is inlined, LLVM would make vectors that hold parts of two.
macro_rules! vectors {
    ($($(#[$cfg:meta])* $name:ident $T:ident $body:ident {
        $($Level:ident $lanes:literal |$a:ident, $b:ident, $c:ident| $e:expr;)*
        $([$arch:ident $wide:literal |$x:ident, $y:ident, $z:ident| $v:expr])*
    })*) => { $(
        $(#[$cfg])*
        #[inline(always)]
        pub fn $name<I: Isa, const L: usize>(a: [$T; L], b: [$T; L], c: [$T; L]) -> [$T; L] {
            #[cfg(x86_dispatch)]
            #[allow(unused_imports, reason = "types that LLVM vectorises have no form here")]
            {
                use core::arch::x86_64::*;
                $(if const { I::$Level && L == $lanes } {
                    // SAFETY: the level has these instructions (ISA1); both sides of a cast are
                    // `lanes` elements.
                    return unsafe {
                        let ($a, $b, $c) = (Transmute { from: a }.to, Transmute { from: b }.to, Transmute { from: c }.to);
                        Transmute { from: $e }.to
                    };
                })*
            }
            $(only!($arch, if L == $wide {
                // SAFETY: both sides of a cast have as many elements; the target has the
                // instructions.
                return unsafe {
                    let ($x, $y, $z) = (Transmute { from: a }.to, Transmute { from: b }.to, Transmute { from: c }.to);
                    Transmute { from: $v }.to
                };
            });)*
            $body::<I, $T, L>(a, b, c)
        }
    )* };
}
vectors! {
    single f32 portable {
        AVX512 16 |a, b, c| _mm512_fmadd_ps(a, b, c);
        AVX2 8 |a, b, c| _mm256_fmadd_ps(a, b, c);
        [neon 4 |a, b, c| vfmaq_f32(c, a, b)]
        [simd128 4 |a, b, c| f32x4_add(f32x4_mul(a, b), c)]
    }
    #[cfg(feature = "f64")]
    double f64 portable {
        AVX512 8 |a, b, c| _mm512_fmadd_pd(a, b, c);
        AVX2 4 |a, b, c| _mm256_fmadd_pd(a, b, c);
        [neon 2 |a, b, c| vfmaq_f64(c, a, b)]
        [simd128 2 |a, b, c| f64x2_add(f64x2_mul(a, b), c)]
    }
    // numbers up to zero become zero: NaN is none of them
    rectified_single f32 rectified {
        AVX512 16 |a, b, c| { let v = _mm512_fmadd_ps(a, b, c); _mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_NLE_UQ>(v, _mm512_setzero_ps()), v) };
        AVX2 8 |a, b, c| { let v = _mm256_fmadd_ps(a, b, c); _mm256_and_ps(_mm256_cmp_ps::<_CMP_NLE_UQ>(v, _mm256_setzero_ps()), v) };
    }
    #[cfg(feature = "f64")]
    rectified_double f64 rectified {
        AVX512 8 |a, b, c| { let v = _mm512_fmadd_pd(a, b, c); _mm512_maskz_mov_pd(_mm512_cmp_pd_mask::<_CMP_NLE_UQ>(v, _mm512_setzero_pd()), v) };
        AVX2 4 |a, b, c| { let v = _mm256_fmadd_pd(a, b, c); _mm256_and_pd(_mm256_cmp_pd::<_CMP_NLE_UQ>(v, _mm256_setzero_pd()), v) };
    }
    pairs Pair portable {
        AVX512 16 |a, b, c| _mm512_add_epi32(_mm512_madd_epi16(a, b), c);
        AVX2 8 |a, b, c| in_order(_mm256_add_epi32(_mm256_madd_epi16(a, b), c));
        SSE2 4 |a, b, c| _mm_add_epi32(_mm_madd_epi16(a, b), c);
        [simd128 4 |a, b, c| i32x4_add(i32x4_dot_i16x8(a, b), c)]
    }
    int64 u64 portable {}
    int32 u32 portable {
        AVX512 16 |a, b, c| _mm512_add_epi32(_mm512_mullo_epi32(a, b), c);
        AVX2 8 |a, b, c| _mm256_add_epi32(_mm256_mullo_epi32(a, b), c);
        [simd128 4 |a, b, c| i32x4_add(i32x4_mul(a, b), c)]
    }
}

/// `name splat Type multiply-add { level lanes multiply-add broadcast (real parts twice, imaginary
/// parts twice); .. }`: complex lanes accumulated in two parts, `re(a) b + c[0]` and `im(a) b +
/// c[1]`, so that the part to be multiplied by i is rotated once, at the end, instead of in each
/// step. `splat` takes one `a` for all lanes.
macro_rules! complex {
    ($($(#[$cfg:meta])* $name:ident $splat:ident $T:ty, $fma:ident { $($Level:ident $lanes:literal $mul_add:ident $set:ident ($re:expr, $im:expr);)* })*) => { $(
        $(#[$cfg])*
        #[inline(always)]
        pub fn $name<I: Isa, const L: usize>(a: [$T; L], b: [$T; L], mut c: [[$T; L]; 2]) -> [[$T; L]; 2] {
            #[cfg(x86_dispatch)]
            {
                use core::arch::x86_64::*;
                $(if const { I::$Level && L == $lanes } {
                    // SAFETY: the level has these instructions (ISA1); both sides of a cast are
                    // `lanes` elements.
                    return unsafe {
                        let (a, b) = (Transmute { from: a }.to, Transmute { from: b }.to);
                        let [x, y] = [$re(a), $im(a)];
                        [Transmute { from: $mul_add(x, b, Transmute { from: c[0] }.to) }.to, Transmute { from: $mul_add(y, b, Transmute { from: c[1] }.to) }.to]
                    };
                })*
            }
            for l in 0..L {
                for (x, c) in [a[l].re, a[l].im].into_iter().zip(&mut c) {
                    (c[l].re, c[l].im) = (crate::simd::$fma::<I>(x, b[l].re, c[l].re), crate::simd::$fma::<I>(x, b[l].im, c[l].im));
                }
            }
            c
        }
        $(#[$cfg])*
        #[inline(always)]
        pub fn $splat<I: Isa, const L: usize>(a: $T, b: [$T; L], c: [[$T; L]; 2]) -> [[$T; L]; 2] {
            #[cfg(x86_dispatch)]
            {
                use core::arch::x86_64::*;
                $(if const { I::$Level && L == $lanes } {
                    // SAFETY: the level has the instructions, and both sides of a cast are `lanes`
                    // elements, as above.
                    return unsafe {
                        let (x, y, b) = ($set(a.re), $set(a.im), Transmute { from: b }.to);
                        [Transmute { from: $mul_add(x, b, Transmute { from: c[0] }.to) }.to, Transmute { from: $mul_add(y, b, Transmute { from: c[1] }.to) }.to]
                    };
                })*
            }
            $name::<I, L>([a; L], b, c)
        }
    )* };
}
complex! {
    #[cfg(feature = "complex")]
    complex_single splat_single crate::dtype::Complex64, fma32 {
        AVX512 8 _mm512_fmadd_ps _mm512_set1_ps (_mm512_moveldup_ps, _mm512_movehdup_ps);
        AVX2 4 _mm256_fmadd_ps _mm256_set1_ps (_mm256_moveldup_ps, _mm256_movehdup_ps);
    }
    #[cfg(all(feature = "complex", feature = "f64"))]
    complex_double splat_double crate::dtype::Complex128, fma64 {
        AVX512 4 _mm512_fmadd_pd _mm512_set1_pd (_mm512_movedup_pd, _mm512_permute_pd::<0xff>);
        AVX2 2 _mm256_fmadd_pd _mm256_set1_pd (_mm256_movedup_pd, _mm256_permute_pd::<0xf>);
    }
}
