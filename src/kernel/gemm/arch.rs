//! Multiply-add of arrays of lanes by `std::arch`, where LLVM does not turn the portable loop into vectors reliably: with the
//! array as a value of vector type, it stays in registers.

use super::element::Lane;
use crate::exec::isa::Isa;

/// `a * b + c`, lane by lane: the body for every instruction set.
#[inline(always)]
pub fn portable<I: Isa, A: Lane, const L: usize>(a: [A; L], b: [A; L], mut c: [A; L]) -> [A; L] {
    for l in 0..L {
        c[l] = A::mul_add::<I>(a[l], b[l], c[l]);
    }
    c
}

/// The same bytes as another type of their size. Not a copy through pointers, whose checks in debug builds keep arrays in memory.
#[cfg(all(feature = "std", feature = "simd", target_arch = "x86_64"))]
union Cast<A: Copy, B: Copy> {
    from: A,
    to: B,
}

/// `name Type { level lanes |a, b, c| expression; .. }`: the portable body, and vectors for arrays of `lanes`.
macro_rules! forms {
    ($($(#[$cfg:meta])* $name:ident $T:ty { $($Level:ident $lanes:literal |$a:ident, $b:ident, $c:ident| $e:expr;)* })*) => { $(
        $(#[$cfg])*
        #[inline(always)]
        pub fn $name<I: Isa, const L: usize>(a: [$T; L], b: [$T; L], c: [$T; L]) -> [$T; L] {
            #[cfg(all(feature = "std", feature = "simd", target_arch = "x86_64"))]
            #[allow(unused_imports, reason = "types that LLVM vectorises have no form here")]
            {
                use crate::exec::isa::Level;
                use core::arch::x86_64::*;
                $(if const { matches!(I::LEVEL, Level::$Level) && L == $lanes } {
                    // SAFETY: the level has these instructions (I1); both sides of a cast are `lanes` numbers.
                    return unsafe {
                        let ($a, $b, $c) = (Cast { from: a }.to, Cast { from: b }.to, Cast { from: c }.to);
                        Cast { from: $e }.to
                    };
                })*
            }
            portable::<I, $T, L>(a, b, c)
        }
    )* };
}
forms! {
    single f32 {
        Avx512 16 |a, b, c| _mm512_fmadd_ps(a, b, c);
        Avx2 8 |a, b, c| _mm256_fmadd_ps(a, b, c);
    }
    #[cfg(feature = "f64")]
    double f64 {
        Avx512 8 |a, b, c| _mm512_fmadd_pd(a, b, c);
        Avx2 4 |a, b, c| _mm256_fmadd_pd(a, b, c);
    }
    int16 u16 {}
    int64 u64 {}
    #[cfg(feature = "complex")]
    complex_single crate::dtype::Complex64 {}
    #[cfg(all(feature = "complex", feature = "f64"))]
    complex_double crate::dtype::Complex128 {}
    int32 u32 {
        Avx512 16 |a, b, c| _mm512_add_epi32(_mm512_mullo_epi32(a, b), c);
        Avx2 8 |a, b, c| _mm256_add_epi32(_mm256_mullo_epi32(a, b), c);
    }
}
