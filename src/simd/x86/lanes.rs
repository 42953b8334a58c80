//! [`Lanes`] for AVX-512 and AVX2.

use crate::simd::lanes::Lanes;
use core::arch::x86_64::*;
use core::ops::{Add, Div, Mul, Neg, Range, Sub};

/// The numbers `first, first + step, ..`, as a permutation of the lanes of two vectors of `N`
/// numbers; the second vector's start at `N`.
const fn every<const N: usize>(first: i64, step: i64) -> [i64; N] {
    let (mut at, mut i) = ([0; N], 0);
    while i < N {
        at[i] = first + step * i as i64;
        i += 1;
    }
    at
}
/// The interleaved lanes of two vectors, from lane `first` on.
const fn in_turn<const N: usize>(first: i64) -> [i64; N] {
    let (mut at, mut i) = ([0; N], 0);
    while i < N {
        at[i] = first + (i / 2) as i64 + (i % 2 * N) as i64;
        i += 1;
    }
    at
}
/// The same as 32-bit indices.
const fn as_words<const N: usize>(at: [i64; N]) -> [i32; N] {
    let (mut out, mut i) = ([0; N], 0);
    while i < N {
        out[i] = at[i] as i32;
        i += 1;
    }
    out
}

/// The same as 64-bit indices.
const fn as_quads<const N: usize>(at: [i64; N]) -> [i64; N] {
    at
}

/// Defines the vector `$V` of `$N` numbers, with these intrinsics.
macro_rules! vector {
    ($(#[$doc:meta])* $V:ident($raw:ident) [$T:ident; $N:literal] $load:ident $store:ident $splat:ident $add:ident $sub:ident $mul:ident $div:ident $fma:ident $fms:ident $xor:ident $max:ident $min:ident; $($rest:tt)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $V($raw);
        vector!(@ $V Add add $add);
        vector!(@ $V Sub sub $sub);
        vector!(@ $V Mul mul $mul);
        vector!(@ $V Div div $div);
        impl Neg for $V {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                // SAFETY: ISA1: a value exists.
                unsafe { $V($xor(self.0, $splat(-0.0))) }
            }
        }
        // SAFETY: uses intrinsics of the set that the type is named for.
        unsafe impl Lanes for $V {
            type Number = $T;
            const LEN: usize = $N;
            #[inline(always)]
            unsafe fn load(p: *const $T) -> Self {
                // SAFETY: ISA1, LANES1.
                unsafe { $V($load(p)) }
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $T) {
                // SAFETY: ISA1, LANES1.
                unsafe { $store(p, self.0) }
            }
            #[inline(always)]
            fn splat(x: $T) -> Self {
                // SAFETY: ISA1, by the callers' promise.
                unsafe { $V($splat(x)) }
            }
            #[inline(always)]
            fn multiply_add(self, factor: Self, other: Self) -> Self {
                // SAFETY: ISA1: a value exists.
                unsafe { $V($fma(self.0, factor.0, other.0)) }
            }
            #[inline(always)]
            fn multiply_subtract(self, factor: Self, other: Self) -> Self {
                // SAFETY: ISA1: a value exists.
                unsafe { $V($fms(self.0, factor.0, other.0)) }
            }
            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                // SAFETY: ISA1: a value exists.
                other.if_nan($V(unsafe { $max(other.0, self.0) }))
            }
            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                // SAFETY: ISA1: a value exists.
                other.if_nan($V(unsafe { $min(other.0, self.0) }))
            }
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                // SAFETY: ISA1: a value exists.
                $V(unsafe { $max(other.0, self.0) })
            }
            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                // SAFETY: ISA1: a value exists.
                $V(unsafe { $min(other.0, self.0) })
            }
            #[inline(always)]
            fn if_greater(self, than: Self, yes: Self, no: Self) -> Self {
                self.choose(than, yes, no)
            }
            #[inline(always)]
            fn unordered(self, other: Self) -> Self {
                self.mark_nan(other)
            }
            $($rest)*
        }
    };
    (@ $V:ident $Op:ident $op:ident $intrinsic:ident) => {
        impl $Op for $V {
            type Output = Self;
            #[inline(always)]
            fn $op(self, other: Self) -> Self {
                // SAFETY: ISA1: a value exists.
                unsafe { $V($intrinsic(self.0, other.0)) }
            }
        }
    };
}

/// The methods of AVX-512 vectors that move lanes.
macro_rules! wide {
    ($V:ident [$T:ident; $N:literal] $mask:ident $load:ident $store:ident $blend:ident $permute:ident $permute2:ident $indices:ident $as_indices:ident $Index:ty) => {
        #[inline(always)]
        fn first(self, n: usize, other: Self) -> Self {
            // SAFETY: ISA1: a value exists.
            unsafe { $V($blend(((1u32 << n) - 1) as $mask, other.0, self.0)) }
        }
        #[inline(always)]
        unsafe fn load_between(p: *const $T, lanes: Range<usize>) -> Self {
            // SAFETY: ISA1; LANES1, for the lanes of the mask.
            unsafe {
                $V($load(
                    ((1u32 << lanes.end) - (1u32 << lanes.start)) as $mask,
                    p,
                ))
            }
        }
        #[inline(always)]
        unsafe fn store_first(self, p: *mut $T, n: usize) {
            // SAFETY: as above.
            unsafe { $store(p, ((1u32 << n) - 1) as $mask, self.0) }
        }
        #[inline(always)]
        fn zip(self, other: Self) -> (Self, Self) {
            const LOW: [$Index; $N] = $as_indices(in_turn(0));
            const HIGH: [$Index; $N] = $as_indices(in_turn($N / 2));
            // SAFETY: ISA1: a value exists.
            unsafe {
                (
                    $V($permute2(self.0, $indices(&LOW), other.0)),
                    $V($permute2(self.0, $indices(&HIGH), other.0)),
                )
            }
        }
        #[inline(always)]
        fn unzip(self, other: Self) -> (Self, Self) {
            const EVEN: [$Index; $N] = $as_indices(every(0, 2));
            const ODD: [$Index; $N] = $as_indices(every(1, 2));
            // SAFETY: ISA1: a value exists.
            unsafe {
                (
                    $V($permute2(self.0, $indices(&EVEN), other.0)),
                    $V($permute2(self.0, $indices(&ODD), other.0)),
                )
            }
        }
        #[inline(always)]
        fn reverse(self) -> Self {
            const LAST_TO_FIRST: [$Index; $N] = $as_indices(every($N - 1, -1));
            // SAFETY: ISA1: a value exists.
            unsafe { $V($permute($indices(&LAST_TO_FIRST), self.0)) }
        }
    };
}

/// Sixteen indices in a register.
///
/// # Safety
/// The CPU has AVX-512 (ISA1).
#[inline(always)]
unsafe fn words(at: &[i32; 16]) -> __m512i {
    // SAFETY: ISA1; 64 bytes.
    unsafe { _mm512_loadu_si512((&raw const *at).cast()) }
}
/// Eight indices in a register.
///
/// # Safety
/// The CPU has AVX-512 (ISA1).
#[inline(always)]
unsafe fn quads(at: &[i64; 8]) -> __m512i {
    // SAFETY: ISA1; 64 bytes.
    unsafe { _mm512_loadu_si512((&raw const *at).cast()) }
}
/// The `maskload` mask of the first `n` of eight lanes.
///
/// # Safety
/// The CPU has AVX2 (ISA1).
#[inline(always)]
unsafe fn first_words(n: usize) -> __m256i {
    // SAFETY: ISA1.
    unsafe {
        let lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        _mm256_cmpgt_epi32(_mm256_set1_epi32(n as i32), lane)
    }
}
/// The `maskload` mask of the first `n` of four lanes.
///
/// # Safety
/// The CPU has AVX2 (ISA1).
#[inline(always)]
unsafe fn first_quads(n: usize) -> __m256i {
    // SAFETY: ISA1.
    unsafe {
        let lane = _mm256_setr_epi64x(0, 1, 2, 3);
        _mm256_cmpgt_epi64(_mm256_set1_epi64x(n as i64), lane)
    }
}

vector! {
    /// Sixteen `f32`, AVX-512.
    F32x16(__m512) [f32; 16] _mm512_loadu_ps _mm512_storeu_ps _mm512_set1_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps _mm512_fmadd_ps _mm512_fmsub_ps _mm512_xor_ps _mm512_max_ps _mm512_min_ps;
    wide!(F32x16 [f32; 16] __mmask16 _mm512_maskz_loadu_ps _mm512_mask_storeu_ps _mm512_mask_blend_ps _mm512_permutexvar_ps _mm512_permutex2var_ps words as_words i32);
}
vector! {
    /// Eight `f64`, AVX-512.
    F64x8(__m512d) [f64; 8] _mm512_loadu_pd _mm512_storeu_pd _mm512_set1_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd _mm512_fmadd_pd _mm512_fmsub_pd _mm512_xor_pd _mm512_max_pd _mm512_min_pd;
    wide!(F64x8 [f64; 8] __mmask8 _mm512_maskz_loadu_pd _mm512_mask_storeu_pd _mm512_mask_blend_pd _mm512_permutexvar_pd _mm512_permutex2var_pd quads as_quads i64);
}
vector! {
    /// Eight `f32`, AVX2.
    F32x8(__m256) [f32; 8] _mm256_loadu_ps _mm256_storeu_ps _mm256_set1_ps _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps _mm256_fmadd_ps _mm256_fmsub_ps _mm256_xor_ps _mm256_max_ps _mm256_min_ps;
    #[inline(always)]
    fn first(self, n: usize, other: Self) -> Self {
        // SAFETY: ISA1: a value exists.
        unsafe {
            let mask = _mm256_castsi256_ps(first_words(n));
            F32x8(_mm256_blendv_ps(other.0, self.0, mask))
        }
    }
    #[inline(always)]
    unsafe fn load_between(p: *const f32, lanes: Range<usize>) -> Self {
        // SAFETY: ISA1; LANES1, for the lanes of the mask.
        unsafe {
            let mask = _mm256_andnot_si256(first_words(lanes.start), first_words(lanes.end));
            F32x8(_mm256_maskload_ps(p, mask))
        }
    }
    #[inline(always)]
    unsafe fn store_first(self, p: *mut f32, n: usize) {
        // SAFETY: as above.
        unsafe { _mm256_maskstore_ps(p, first_words(n), self.0) }
    }
    #[inline(always)]
    fn zip(self, other: Self) -> (Self, Self) {
        // SAFETY: ISA1: a value exists.
        unsafe {
            let (low, high) = (_mm256_unpacklo_ps(self.0, other.0), _mm256_unpackhi_ps(self.0, other.0));
            (
                F32x8(_mm256_permute2f128_ps(low, high, 0x20)),
                F32x8(_mm256_permute2f128_ps(low, high, 0x31)),
            )
        }
    }
    #[inline(always)]
    fn unzip(self, other: Self) -> (Self, Self) {
        // SAFETY: ISA1: a value exists.
        unsafe {
            let (low, high) = (
                _mm256_permute2f128_ps(self.0, other.0, 0x20),
                _mm256_permute2f128_ps(self.0, other.0, 0x31),
            );
            (F32x8(_mm256_shuffle_ps(low, high, 0x88)), F32x8(_mm256_shuffle_ps(low, high, 0xdd)))
        }
    }
    #[inline(always)]
    fn evens(self, other: Self) -> Self {
        // SAFETY: ISA1: a value exists.
        unsafe { F32x8(_mm256_shuffle_ps(self.0, other.0, 0x88)) }
    }
    #[inline(always)]
    unsafe fn load_evens(p: *const f32) -> Self {
        // the upper half one number earlier, so that nothing is read past the last one
        // SAFETY: ISA1; LANES1, for 15 numbers.
        unsafe { F32x8(_mm256_shuffle_ps(_mm256_loadu_ps(p), _mm256_loadu_ps(p.add(7)), 0xd8)) }
    }
    #[inline(always)]
    fn in_order(self) -> Self {
        // SAFETY: ISA1: a value exists.
        unsafe {
            let pairs = _mm256_permute4x64_pd(_mm256_castps_pd(self.0), 0xd8);
            F32x8(_mm256_castpd_ps(pairs))
        }
    }
    #[inline(always)]
    fn reverse(self) -> Self {
        // SAFETY: ISA1: a value exists.
        unsafe { F32x8(_mm256_permutevar8x32_ps(self.0, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0))) }
    }
    #[inline(always)]
    fn transpose(v: &mut [Self; 16]) {
        // SAFETY: ISA1: values exist.
        unsafe {
            let (mut b, mut c) = (*v, *v);
            for i in 0..4 {
                b[2 * i] = F32x8(_mm256_unpacklo_ps(v[2 * i].0, v[2 * i + 1].0));
                b[2 * i + 1] = F32x8(_mm256_unpackhi_ps(v[2 * i].0, v[2 * i + 1].0));
            }
            for i in [0, 4] {
                c[i] = F32x8(_mm256_shuffle_ps(b[i].0, b[i + 2].0, 0x44));
                c[i + 1] = F32x8(_mm256_shuffle_ps(b[i].0, b[i + 2].0, 0xee));
                c[i + 2] = F32x8(_mm256_shuffle_ps(b[i + 1].0, b[i + 3].0, 0x44));
                c[i + 3] = F32x8(_mm256_shuffle_ps(b[i + 1].0, b[i + 3].0, 0xee));
            }
            for k in 0..4 {
                v[k] = F32x8(_mm256_permute2f128_ps(c[k].0, c[k + 4].0, 0x20));
                v[k + 4] = F32x8(_mm256_permute2f128_ps(c[k].0, c[k + 4].0, 0x31));
            }
        }
    }
}
vector! {
    /// Four `f64`, AVX2.
    F64x4(__m256d) [f64; 4] _mm256_loadu_pd _mm256_storeu_pd _mm256_set1_pd _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd _mm256_fmadd_pd _mm256_fmsub_pd _mm256_xor_pd _mm256_max_pd _mm256_min_pd;
    #[inline(always)]
    fn first(self, n: usize, other: Self) -> Self {
        // SAFETY: ISA1: a value exists.
        unsafe {
            let mask = _mm256_castsi256_pd(first_quads(n));
            F64x4(_mm256_blendv_pd(other.0, self.0, mask))
        }
    }
    #[inline(always)]
    unsafe fn load_between(p: *const f64, lanes: Range<usize>) -> Self {
        // SAFETY: ISA1; LANES1, for the lanes of the mask.
        unsafe {
            let mask = _mm256_andnot_si256(first_quads(lanes.start), first_quads(lanes.end));
            F64x4(_mm256_maskload_pd(p, mask))
        }
    }
    #[inline(always)]
    unsafe fn store_first(self, p: *mut f64, n: usize) {
        // SAFETY: as above.
        unsafe { _mm256_maskstore_pd(p, first_quads(n), self.0) }
    }
    #[inline(always)]
    fn zip(self, other: Self) -> (Self, Self) {
        // SAFETY: ISA1: a value exists.
        unsafe {
            let (low, high) = (_mm256_unpacklo_pd(self.0, other.0), _mm256_unpackhi_pd(self.0, other.0));
            (
                F64x4(_mm256_permute2f128_pd(low, high, 0x20)),
                F64x4(_mm256_permute2f128_pd(low, high, 0x31)),
            )
        }
    }
    #[inline(always)]
    fn unzip(self, other: Self) -> (Self, Self) {
        // SAFETY: ISA1: a value exists.
        unsafe {
            let (low, high) = (
                _mm256_permute2f128_pd(self.0, other.0, 0x20),
                _mm256_permute2f128_pd(self.0, other.0, 0x31),
            );
            (F64x4(_mm256_unpacklo_pd(low, high)), F64x4(_mm256_unpackhi_pd(low, high)))
        }
    }
    #[inline(always)]
    fn reverse(self) -> Self {
        // SAFETY: ISA1: a value exists.
        unsafe { F64x4(_mm256_permute4x64_pd(self.0, 0x1b)) }
    }
    #[inline(always)]
    fn transpose(v: &mut [Self; 16]) {
        // SAFETY: ISA1: values exist.
        unsafe {
            let b = [
                _mm256_unpacklo_pd(v[0].0, v[1].0),
                _mm256_unpackhi_pd(v[0].0, v[1].0),
                _mm256_unpacklo_pd(v[2].0, v[3].0),
                _mm256_unpackhi_pd(v[2].0, v[3].0),
            ];
            for k in 0..2 {
                v[k] = F64x4(_mm256_permute2f128_pd(b[k], b[k + 2], 0x20));
                v[k + 2] = F64x4(_mm256_permute2f128_pd(b[k], b[k + 2], 0x31));
            }
        }
    }
}

/// Comparisons. The `max` and `min` instructions return their second operand if either is NaN, which
/// is wrong if only the first is: [`maximum`](Lanes::maximum) takes `if_nan`.
macro_rules! comparisons {
    ($($V:ident |$x:ident, $y:ident, $yes:ident, $no:ident| $nan:expr, $greater:expr, $mark:expr;)*) => { $(
        impl $V {
            /// The lanes of `self` that are NaN, else those of `or`.
            #[inline(always)]
            fn if_nan(self, or: Self) -> Self {
                let ($x, $no) = (self.0, or.0);
                // SAFETY: ISA1: a value exists.
                $V(unsafe { $nan })
            }
            /// The lanes of `yes` where `self` is greater, else those of `no`.
            #[inline(always)]
            fn choose(self, than: Self, yes: Self, no: Self) -> Self {
                let ($x, $y, $yes, $no) = (self.0, than.0, yes.0, no.0);
                // SAFETY: ISA1: a value exists.
                $V(unsafe { $greater })
            }
            /// NaN in the lanes in which one of both is, else 0.
            #[inline(always)]
            fn mark_nan(self, other: Self) -> Self {
                let ($x, $y) = (self.0, other.0);
                // SAFETY: ISA1: a value exists.
                $V(unsafe { $mark })
            }
        }
    )* };
}
comparisons! {
    F32x16 |x, y, yes, no| _mm512_mask_mov_ps(no, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x), x),
        _mm512_mask_mov_ps(no, _mm512_cmp_ps_mask::<_CMP_GT_OQ>(x, y), yes),
        _mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, y), _mm512_set1_ps(f32::NAN));
    F64x8 |x, y, yes, no| _mm512_mask_mov_pd(no, _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(x, x), x),
        _mm512_mask_mov_pd(no, _mm512_cmp_pd_mask::<_CMP_GT_OQ>(x, y), yes),
        _mm512_maskz_mov_pd(_mm512_cmp_pd_mask::<_CMP_UNORD_Q>(x, y), _mm512_set1_pd(f64::NAN));
    F32x8 |x, y, yes, no| _mm256_blendv_ps(no, x, _mm256_cmp_ps::<_CMP_UNORD_Q>(x, x)),
        _mm256_blendv_ps(no, yes, _mm256_cmp_ps::<_CMP_GT_OQ>(x, y)),
        _mm256_cmp_ps::<_CMP_UNORD_Q>(x, y);
    F64x4 |x, y, yes, no| _mm256_blendv_pd(no, x, _mm256_cmp_pd::<_CMP_UNORD_Q>(x, x)),
        _mm256_blendv_pd(no, yes, _mm256_cmp_pd::<_CMP_GT_OQ>(x, y)),
        _mm256_cmp_pd::<_CMP_UNORD_Q>(x, y);
}
