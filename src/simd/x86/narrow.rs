//! Floats to integers of 8 and 16 bits with AVX2: truncated, saturated, NaN as 0. What is too small
//! is left to the instructions that pack: they saturate, and conversions give the least integer for
//! all that is out of range.

use core::arch::x86_64::*;

/// Elements converted at a time.
const GROUP: usize = 32;

/// A float that conversions start from.
pub trait Source: Copy {
    /// Eight elements as 32-bit integers, none larger than `most`.
    ///
    /// # Safety
    /// The CPU has AVX2 (ISA1).
    unsafe fn truncated(x: &[Self; 8], most: i32) -> __m256i;
}
impl Source for f32 {
    #[inline(always)]
    unsafe fn truncated(x: &[f32; 8], most: i32) -> __m256i {
        // SAFETY: ISA1; eight elements.
        unsafe {
            let x = _mm256_loadu_ps(x.as_ptr());
            let x = _mm256_and_ps(x, _mm256_cmp_ps::<_CMP_ORD_Q>(x, x));
            _mm256_cvttps_epi32(_mm256_min_ps(x, _mm256_set1_ps(most as f32)))
        }
    }
}
impl Source for f64 {
    #[inline(always)]
    unsafe fn truncated(x: &[f64; 8], most: i32) -> __m256i {
        // SAFETY: ISA1; eight elements.
        unsafe {
            let most = _mm256_set1_pd(most as f64);
            let (a, b) = (
                _mm256_loadu_pd(x.as_ptr()),
                _mm256_loadu_pd(x.as_ptr().add(4)),
            );
            let a = _mm256_and_pd(a, _mm256_cmp_pd::<_CMP_ORD_Q>(a, a));
            let b = _mm256_and_pd(b, _mm256_cmp_pd::<_CMP_ORD_Q>(b, b));
            _mm256_set_m128i(
                _mm256_cvttpd_epi32(_mm256_min_pd(b, most)),
                _mm256_cvttpd_epi32(_mm256_min_pd(a, most)),
            )
        }
    }
}

/// An integer that is converted to.
pub trait Target: Copy {
    /// The largest.
    const MOST: i32;
    /// Packs 32-bit integers, in order, which saturate from below.
    ///
    /// # Safety
    /// The CPU has AVX2 (ISA1); room for 32 elements.
    unsafe fn pack(x: [__m256i; 4], to: *mut Self);
}
macro_rules! targets {
    (16: $($T:ident $pack:ident),*) => { $(
        impl Target for $T {
            const MOST: i32 = $T::MAX as i32;
            #[inline(always)]
            unsafe fn pack(x: [__m256i; 4], to: *mut $T) {
                // SAFETY: ISA1; the halves of 32 elements.
                unsafe {
                    for k in 0..2 {
                        let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>($pack(x[2 * k], x[2 * k + 1]));
                        _mm256_storeu_si256(to.add(16 * k).cast(), packed);
                    }
                }
            }
        }
    )* };
    (8: $($T:ident $pack:ident),*) => { $(
        impl Target for $T {
            const MOST: i32 = $T::MAX as i32;
            #[inline(always)]
            unsafe fn pack(x: [__m256i; 4], to: *mut $T) {
                // SAFETY: ISA1; 32 elements.
                unsafe {
                    let packed = $pack(_mm256_packs_epi32(x[0], x[1]), _mm256_packs_epi32(x[2], x[3]));
                    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
                    _mm256_storeu_si256(to.cast(), _mm256_permutevar8x32_epi32(packed, order));
                }
            }
        }
    )* };
}
targets!(16: i16 _mm256_packs_epi32, u16 _mm256_packus_epi32);
targets!(8: i8 _mm256_packs_epi16, u8 _mm256_packus_epi16);

/// Converts a leading number of elements, in whole groups, and returns that number.
///
/// # Safety
/// The CPU has AVX2 (ISA1), and `y` has room for as many elements as `x` has.
#[inline(always)]
pub unsafe fn narrow<F: Source, T: Target>(x: &[F], y: *mut T) -> usize {
    let (groups, rest) = x.as_chunks::<GROUP>();
    for (k, group) in groups.iter().enumerate() {
        // SAFETY: ISA1; a group of each.
        unsafe {
            let [a, b, c, d] = group.as_chunks().0 else {
                break;
            };
            let x = [
                F::truncated(a, T::MOST),
                F::truncated(b, T::MOST),
                F::truncated(c, T::MOST),
                F::truncated(d, T::MOST),
            ];
            T::pack(x, y.add(GROUP * k));
        }
    }
    x.len() - rest.len()
}
