//! The vectors of keys of the vectorised sort, for AVX-512 and AVX2, 32 and 64 bits.

use core::arch::x86_64::*;

/// A vector of keys.
///
/// Invariant VECTOR1: a value exists only if the CPU has its instruction set. The methods that make
/// a vector from something else are unsafe, all others are safe.
///
/// # Safety
/// Contract of `load`, `load_first` and `splat`: the CPU has the vector's instruction set
/// (VECTOR1). Contract of all that take a pointer: it is valid for the lanes that the method names.
pub trait Vector: Copy {
    /// The type of a lane.
    type Key: Copy;
    /// The number of lanes, a power of two.
    const LANES: usize;
    /// How many vectors a sorting network keeps in registers: 8 or 16.
    const REGISTERS: usize;
    /// The largest key, which pads a partial vector.
    const MAX: Self::Key;
    /// All lanes from memory.
    unsafe fn load(p: *const Self::Key) -> Self;
    /// All lanes to memory.
    unsafe fn store(self, p: *mut Self::Key);
    /// The first `n` lanes from memory, `MAX` in the others.
    unsafe fn load_first(p: *const Self::Key, n: usize) -> Self;
    /// The first `n` lanes to memory.
    unsafe fn store_first(self, p: *mut Self::Key, n: usize);
    /// One key in all lanes.
    unsafe fn splat(key: Self::Key) -> Self;
    /// The lanewise minimum.
    fn min(self, other: Self) -> Self;
    /// The lanewise maximum.
    fn max(self, other: Self) -> Self;
    /// Lane `i ^ J` in lane `i`.
    fn exchange<const J: usize>(self) -> Self;
    /// `high` in the lanes whose index has the bit `BIT`, else `self`.
    fn blend<const BIT: usize>(self, high: Self) -> Self;
    /// The lanes of both interleaved: those of the lower halves, and those of the upper halves.
    fn interleave(self, other: Self) -> (Self, Self);
    /// A bit for each lane that is less than the other's.
    fn less(self, other: Self) -> u32;
    /// The lanes whose bit is set, moved to the front in order; the others are unspecified.
    fn compress(self, mask: u32) -> Self;
}

/// A bit for each of 16 lanes whose index has the bit `bit`.
const fn lanes_with(bit: usize) -> u32 {
    let (mut mask, mut i) = (0, 0);
    while i < 16 {
        mask |= ((i & bit != 0) as u32) << i;
        i += 1;
    }
    mask
}
/// `i ^ j` for each lane, as a permutation of 32-bit words; `words` of them make a lane.
const fn exchanged<const N: usize>(j: usize, words: usize) -> [i32; N] {
    let (mut at, mut i) = ([0; N], 0);
    while i < N {
        at[i] = (((i / words) ^ j) * words + i % words) as i32;
        i += 1;
    }
    at
}
/// The lanes of two vectors of `N` words interleaved, from lane `first` on, as a permutation of the
/// words of both.
const fn interleaved<const N: usize>(first: usize, words: usize) -> [i32; N] {
    let (mut at, mut i) = ([0; N], 0);
    while i < N {
        let lane = i / words;
        at[i] = ((lane / 2 + first) * words + i % words + lane % 2 * N) as i32;
        i += 1;
    }
    at
}
/// Applies two permutations of 32-bit words to a pair of vectors.
///
/// # Safety
/// The CPU has AVX-512 (VECTOR1).
#[inline(always)]
unsafe fn permuted(
    x: __m512i,
    low: &[i32; 16],
    high: &[i32; 16],
    y: __m512i,
) -> (__m512i, __m512i) {
    // SAFETY: VECTOR1, by the caller's promise; arrays of 16 words are as long as the vector.
    unsafe {
        let (low, high) = (
            _mm512_loadu_si512((&raw const *low).cast()),
            _mm512_loadu_si512((&raw const *high).cast()),
        );
        (
            _mm512_permutex2var_epi32(x, low, y),
            _mm512_permutex2var_epi32(x, high, y),
        )
    }
}
/// For each mask of `lanes` lanes, the permutation of eight 32-bit words that compresses by it.
const fn compressing<const N: usize>(lanes: usize) -> [[i32; 8]; N] {
    let (mut table, mut mask, words) = ([[0; 8]; N], 0, 8 / lanes);
    while mask < N {
        let (mut lane, mut to) = (0, 0);
        while lane < lanes {
            if mask >> lane & 1 == 1 {
                let mut w = 0;
                while w < words {
                    table[mask][to * words + w] = (lane * words + w) as i32;
                    w += 1;
                }
                to += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
}
static COMPRESS_32: [[i32; 8]; 256] = compressing(8);
static COMPRESS_64: [[i32; 8]; 16] = compressing(4);

// Methods wrap instructions: first those that access memory or make a vector, then those on
// existing vectors.
macro_rules! vector {
    ($(#[$doc:meta])* $V:ident($R:ty) of $K:ty, $lanes:literal lanes, $registers:literal registers;
     $(unsafe fn $promised:ident($($in:tt)*) $(-> $made:ty)? $promise:block)*
     $(fn $method:ident $(<const $N:ident: usize>)? ($($operands:tt)*) -> $out:ty $body:block)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $V($R);
        impl Vector for $V {
            type Key = $K;
            const LANES: usize = $lanes;
            const REGISTERS: usize = $registers;
            const MAX: $K = <$K>::MAX;
            $(
                #[inline(always)]
                unsafe fn $promised($($in)*) $(-> $made)? {
                    // SAFETY: VECTOR1 and the lanes' memory, by the caller's promise.
                    unsafe { $promise }
                }
            )*
            $(
                #[inline(always)]
                fn $method $(<const $N: usize>)? ($($operands)*) -> $out {
                    // SAFETY: VECTOR1, since `self` exists; loads read tables as long as a vector.
                    unsafe { $body }
                }
            )*
        }
    };
}

vector! { /// AVX-512, 32 bits.
    I32x16(__m512i) of i32, 16 lanes, 16 registers;
    unsafe fn load(p: *const i32) -> Self { Self(_mm512_loadu_si512(p.cast())) }
    unsafe fn store(self, p: *mut i32) { _mm512_storeu_si512(p.cast(), self.0) }
    unsafe fn load_first(p: *const i32, n: usize) -> Self { Self(_mm512_mask_loadu_epi32(_mm512_set1_epi32(i32::MAX), _bzhi_u32(0xffff, n as u32) as u16, p)) }
    unsafe fn store_first(self, p: *mut i32, n: usize) { _mm512_mask_storeu_epi32(p, _bzhi_u32(0xffff, n as u32) as u16, self.0) }
    unsafe fn splat(key: i32) -> Self { Self(_mm512_set1_epi32(key)) }
    fn min(self, other: Self) -> Self { Self(_mm512_min_epi32(self.0, other.0)) }
    fn max(self, other: Self) -> Self { Self(_mm512_max_epi32(self.0, other.0)) }
    fn exchange<const J: usize>(self) -> Self {
        Self(_mm512_permutexvar_epi32(_mm512_loadu_si512((&raw const *const { &exchanged::<16>(J, 1) }).cast()), self.0))
    }
    fn blend<const BIT: usize>(self, high: Self) -> Self { Self(_mm512_mask_mov_epi32(self.0, const { lanes_with(BIT) as u16 }, high.0)) }
    fn interleave(self, other: Self) -> (Self, Self) {
        let (low, high) = permuted(self.0, const { &interleaved(0, 1) }, const { &interleaved(8, 1) }, other.0);
        (Self(low), Self(high))
    }
    fn less(self, other: Self) -> u32 { _mm512_cmplt_epi32_mask(self.0, other.0) as u32 }
    fn compress(self, mask: u32) -> Self { Self(_mm512_maskz_compress_epi32(mask as u16, self.0)) }
}
vector! { /// AVX-512, 64 bits.
    I64x8(__m512i) of i64, 8 lanes, 16 registers;
    unsafe fn load(p: *const i64) -> Self { Self(_mm512_loadu_si512(p.cast())) }
    unsafe fn store(self, p: *mut i64) { _mm512_storeu_si512(p.cast(), self.0) }
    unsafe fn load_first(p: *const i64, n: usize) -> Self { Self(_mm512_mask_loadu_epi64(_mm512_set1_epi64(i64::MAX), _bzhi_u32(0xff, n as u32) as u8, p)) }
    unsafe fn store_first(self, p: *mut i64, n: usize) { _mm512_mask_storeu_epi64(p, _bzhi_u32(0xff, n as u32) as u8, self.0) }
    unsafe fn splat(key: i64) -> Self { Self(_mm512_set1_epi64(key)) }
    fn min(self, other: Self) -> Self { Self(_mm512_min_epi64(self.0, other.0)) }
    fn max(self, other: Self) -> Self { Self(_mm512_max_epi64(self.0, other.0)) }
    fn exchange<const J: usize>(self) -> Self {
        Self(_mm512_permutexvar_epi32(_mm512_loadu_si512((&raw const *const { &exchanged::<16>(J, 2) }).cast()), self.0))
    }
    fn blend<const BIT: usize>(self, high: Self) -> Self { Self(_mm512_mask_mov_epi64(self.0, const { lanes_with(BIT) as u8 }, high.0)) }
    fn interleave(self, other: Self) -> (Self, Self) {
        let (low, high) = permuted(self.0, const { &interleaved(0, 2) }, const { &interleaved(4, 2) }, other.0);
        (Self(low), Self(high))
    }
    fn less(self, other: Self) -> u32 { _mm512_cmplt_epi64_mask(self.0, other.0) as u32 }
    fn compress(self, mask: u32) -> Self { Self(_mm512_maskz_compress_epi64(mask as u8, self.0)) }
}
/// All bits of the first `n` of eight 32-bit words.
///
/// # Safety
/// The CPU has AVX2 (VECTOR1).
#[inline(always)]
unsafe fn first_words(n: usize) -> __m256i {
    // SAFETY: VECTOR1, by the caller's promise.
    unsafe {
        _mm256_cmpgt_epi32(
            _mm256_set1_epi32(n as i32),
            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        )
    }
}
vector! { /// AVX2, 32 bits.
    I32x8(__m256i) of i32, 8 lanes, 8 registers;
    unsafe fn load(p: *const i32) -> Self { Self(_mm256_loadu_si256(p.cast())) }
    unsafe fn store(self, p: *mut i32) { _mm256_storeu_si256(p.cast(), self.0) }
    unsafe fn load_first(p: *const i32, n: usize) -> Self {
        let first = first_words(n);
        Self(_mm256_blendv_epi8(_mm256_set1_epi32(i32::MAX), _mm256_maskload_epi32(p, first), first))
    }
    unsafe fn store_first(self, p: *mut i32, n: usize) { _mm256_maskstore_epi32(p, first_words(n), self.0) }
    unsafe fn splat(key: i32) -> Self { Self(_mm256_set1_epi32(key)) }
    fn min(self, other: Self) -> Self { Self(_mm256_min_epi32(self.0, other.0)) }
    fn max(self, other: Self) -> Self { Self(_mm256_max_epi32(self.0, other.0)) }
    fn exchange<const J: usize>(self) -> Self {
        Self(_mm256_permutevar8x32_epi32(self.0, _mm256_loadu_si256((&raw const *const { &exchanged::<8>(J, 1) }).cast())))
    }
    fn blend<const BIT: usize>(self, high: Self) -> Self {
        Self(match BIT {
            1 => _mm256_blend_epi32::<0b1010_1010>(self.0, high.0),
            2 => _mm256_blend_epi32::<0b1100_1100>(self.0, high.0),
            _ => _mm256_blend_epi32::<0b1111_0000>(self.0, high.0),
        })
    }
    fn interleave(self, other: Self) -> (Self, Self) {
        let (low, high) = (_mm256_unpacklo_epi32(self.0, other.0), _mm256_unpackhi_epi32(self.0, other.0));
        (Self(_mm256_permute2x128_si256::<0x20>(low, high)), Self(_mm256_permute2x128_si256::<0x31>(low, high)))
    }
    fn less(self, other: Self) -> u32 { _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(other.0, self.0))) as u32 }
    fn compress(self, mask: u32) -> Self {
        Self(_mm256_permutevar8x32_epi32(self.0, _mm256_loadu_si256((&raw const COMPRESS_32[mask as usize & 255]).cast())))
    }
}
vector! { /// AVX2, 64 bits.
    I64x4(__m256i) of i64, 4 lanes, 8 registers;
    unsafe fn load(p: *const i64) -> Self { Self(_mm256_loadu_si256(p.cast())) }
    unsafe fn store(self, p: *mut i64) { _mm256_storeu_si256(p.cast(), self.0) }
    unsafe fn load_first(p: *const i64, n: usize) -> Self {
        let first = first_words(2 * n);
        Self(_mm256_blendv_epi8(_mm256_set1_epi64x(i64::MAX), _mm256_maskload_epi64(p, first), first))
    }
    unsafe fn store_first(self, p: *mut i64, n: usize) { _mm256_maskstore_epi64(p, first_words(2 * n), self.0) }
    unsafe fn splat(key: i64) -> Self { Self(_mm256_set1_epi64x(key)) }
    fn min(self, other: Self) -> Self { Self(_mm256_blendv_epi8(self.0, other.0, _mm256_cmpgt_epi64(self.0, other.0))) }
    fn max(self, other: Self) -> Self { Self(_mm256_blendv_epi8(other.0, self.0, _mm256_cmpgt_epi64(self.0, other.0))) }
    fn exchange<const J: usize>(self) -> Self {
        Self(match J {
            1 => _mm256_permute4x64_epi64::<0b10_11_00_01>(self.0),
            2 => _mm256_permute4x64_epi64::<0b01_00_11_10>(self.0),
            _ => _mm256_permute4x64_epi64::<0b00_01_10_11>(self.0),
        })
    }
    fn blend<const BIT: usize>(self, high: Self) -> Self {
        Self(match BIT {
            1 => _mm256_blend_epi32::<0b1100_1100>(self.0, high.0),
            _ => _mm256_blend_epi32::<0b1111_0000>(self.0, high.0),
        })
    }
    fn interleave(self, other: Self) -> (Self, Self) {
        let (low, high) = (_mm256_unpacklo_epi64(self.0, other.0), _mm256_unpackhi_epi64(self.0, other.0));
        (Self(_mm256_permute2x128_si256::<0x20>(low, high)), Self(_mm256_permute2x128_si256::<0x31>(low, high)))
    }
    fn less(self, other: Self) -> u32 { _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(other.0, self.0))) as u32 }
    fn compress(self, mask: u32) -> Self {
        Self(_mm256_permutevar8x32_epi32(self.0, _mm256_loadu_si256((&raw const COMPRESS_64[mask as usize & 15]).cast())))
    }
}
