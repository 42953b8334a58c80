//! One pass of a transform: Stockham's autosort algorithm, which needs no reordering at the end
//! (Cochran et al., 1967: "What is the fast Fourier transform?").

use super::Float;
use super::dft::{ComplexPair, Dft, Radix, load, store};
use super::prime;
use crate::simd::lanes::Lanes;

/// A pass of `radix` over `radix * groups * width` vectors. From pass to pass `groups` shrinks and
/// `width` grows by the radix.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    pub radix: usize,
    pub groups: usize,
    /// Offset of its twiddle factors in the table of all passes.
    pub factors: usize,
}

/// The radices, in order of preference.
pub const RADICES: [usize; 13] = [8, 4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31];
/// A bit mask of the radices too large for registers.
const PRIMES: u32 = {
    let (mut mask, mut k) = (0, 0);
    while k < prime::PRIMES.len() {
        mask |= 1 << prime::PRIMES[k];
        k += 1;
    }
    mask
};

/// Contract STAGE1: `x` and `y` are valid for `radix * groups * width` pairs of vectors and don't
/// overlap, and `w` is valid for `(groups - 1) * (radix - 1)` complex numbers.
///
/// # Safety
/// STAGE1; ISA1.
#[inline(always)]
unsafe fn pass<V: Lanes<Number: Float>, const R: usize>(
    groups: usize,
    width: usize,
    x: *const V::Number,
    y: *mut V::Number,
    w: *const V::Number,
) where
    Radix: Dft<R>,
{
    // SAFETY: STAGE1; all twiddle factors of group 0 are 1.
    unsafe {
        for q in 0..width {
            let legs = gather::<V, R>(x, q, groups * width);
            scatter(Radix::dft(legs), y, q, width);
        }
    }
    for p in 1..groups {
        // SAFETY: STAGE1: the factors of group `p`, and its values.
        unsafe {
            let w = w.add(2 * (p - 1) * (R - 1));
            let mut factors = [ComplexPair {
                re: V::splat(*w),
                im: V::splat(*w),
            }; R];
            for (k, factor) in factors.iter_mut().enumerate().skip(1) {
                *factor = ComplexPair {
                    re: V::splat(*w.add(2 * k - 2)),
                    im: V::splat(*w.add(2 * k - 1)),
                };
            }
            for q in 0..width {
                let legs = gather::<V, R>(x, q + width * p, groups * width);
                let mut legs = Radix::dft(legs);
                for k in 1..R {
                    legs[k] = legs[k].mul(factors[k]);
                }
                scatter(legs, y, q + width * R * p, width);
            }
        }
    }
}

/// Loads the pairs of vectors `first`, `first + step`, ..
///
/// # Safety
/// They are readable; ISA1.
#[inline(always)]
unsafe fn gather<V: Lanes, const R: usize>(
    x: *const V::Number,
    first: usize,
    step: usize,
) -> [ComplexPair<V>; R] {
    // SAFETY: by the caller's promise.
    unsafe {
        let mut out = [load(x, first); R];
        for (k, out) in out.iter_mut().enumerate().skip(1) {
            *out = load(x, first + step * k);
        }
        out
    }
}
/// # Safety
/// The pairs of vectors are writable; ISA1.
#[inline(always)]
unsafe fn scatter<V: Lanes, const R: usize>(
    v: [ComplexPair<V>; R],
    y: *mut V::Number,
    first: usize,
    step: usize,
) {
    for (k, v) in v.into_iter().enumerate() {
        // SAFETY: by the caller's promise.
        unsafe { store(v, y, first + step * k) }
    }
}

/// The radices that a transform may use: no code is made for others.
pub trait Used {
    /// One bit per radix.
    const RADICES: u32;
}
/// All radices.
pub struct AllRadices;
impl Used for AllRadices {
    const RADICES: u32 = u32::MAX;
}

/// Runs the passes in turn: the first reads `x` and writes `buffers[to]`, each next one writes the
/// other buffer. Returns the index of the buffer with the result.
///
/// # Safety
/// STAGE1 for each pass, with `x` as the source of the first and the buffers for all; ISA1.
#[inline(always)]
pub unsafe fn passes<V: Lanes<Number: Float>, U: Used>(
    stages: &[Stage],
    factors: *const V::Number,
    mut width: usize,
    mut x: *const V::Number,
    buffers: [*mut V::Number; 2],
    mut to: usize,
) -> usize {
    for stage in stages {
        let (groups, y) = (stage.groups, buffers[to]);
        // SAFETY: STAGE1, by the caller's promise.
        unsafe {
            let w = factors.add(stage.factors);
            match stage.radix {
                2 if const { U::RADICES >> 2 & 1 == 1 } => pass::<V, 2>(groups, width, x, y, w),
                3 if const { U::RADICES >> 3 & 1 == 1 } => pass::<V, 3>(groups, width, x, y, w),
                4 if const { U::RADICES >> 4 & 1 == 1 } => pass::<V, 4>(groups, width, x, y, w),
                5 if const { U::RADICES >> 5 & 1 == 1 } => pass::<V, 5>(groups, width, x, y, w),
                7 if const { U::RADICES >> 7 & 1 == 1 } => pass::<V, 7>(groups, width, x, y, w),
                8 if const { U::RADICES >> 8 & 1 == 1 } => pass::<V, 8>(groups, width, x, y, w),
                11 if const { U::RADICES >> 11 & 1 == 1 } => pass::<V, 11>(groups, width, x, y, w),
                13 if const { U::RADICES >> 13 & 1 == 1 } => pass::<V, 13>(groups, width, x, y, w),
                radix if const { U::RADICES & PRIMES != 0 } => {
                    prime::pass::<V>(radix, (groups, width), x, y, w)
                }
                radix => unreachable!("a pass of {radix}"),
            }
        }
        width *= stage.radix;
        x = y;
        to = 1 - to;
    }
    1 - to
}
