//! A pass of a prime radix too large for its values to stay in registers: loops over sums and
//! differences of values `j` and `radix - j`, weighted by cosines and sines.

use super::Float;
use super::dft::{ComplexPair, load, store};
use super::roots::root;
use crate::kernel::math::Real;
use crate::simd::lanes::Lanes;

/// The radices.
pub const PRIMES: [usize; 5] = [17, 19, 23, 29, 31];
const MAX_PRIME: usize = 31;

/// The roots of unity of each radix.
static ROOTS: [[(f64, f64); MAX_PRIME]; PRIMES.len()] = {
    let mut roots = [[(0.0, 0.0); MAX_PRIME]; PRIMES.len()];
    let mut i = 0;
    while i < PRIMES.len() {
        let mut k = 0;
        while k < PRIMES[i] {
            roots[i][k] = root(k as u64, PRIMES[i] as u64);
            k += 1;
        }
        i += 1;
    }
    roots
};

/// One pass of `radix`, which is one of [`PRIMES`].
///
/// # Safety
/// STAGE1; ISA1.
#[inline(always)]
pub unsafe fn pass<V: Lanes<Number: Float>>(
    radix: usize,
    (groups, width): (usize, usize),
    x: *const V::Number,
    y: *mut V::Number,
    w: *const V::Number,
) {
    let half = radix / 2;
    let mut roots = [(V::Number::ZERO, V::Number::ZERO); MAX_PRIME];
    let of = PRIMES.iter().position(|p| *p == radix);
    let of = of.unwrap_or_else(|| unreachable!("a pass of {radix}"));
    for (to, (cosine, sine)) in roots.iter_mut().zip(&ROOTS[of]) {
        *to = (V::Number::from_f64(*cosine), V::Number::from_f64(*sine));
    }
    let zero = V::splat(V::Number::ZERO);
    let nothing = ComplexPair { re: zero, im: zero };
    let mut opposite = [[nothing; 2]; MAX_PRIME / 2];
    for p in 0..groups {
        for q in 0..width {
            let leg = |k: usize| q + width * (p + groups * k);
            // all twiddle factors of group 0 are 1
            let factors = if p > 0 {
                w.wrapping_add(2 * (p - 1) * (radix - 1))
            } else {
                core::ptr::null()
            };
            let to = |k: usize| q + width * (radix * p + k);
            // SAFETY: STAGE1: inputs of the group.
            let first = unsafe { load::<V>(x, leg(0)) };
            let mut sum = first;
            for (j, opposite) in opposite[..half].iter_mut().enumerate() {
                // SAFETY: as above.
                let (a, b) =
                    unsafe { (load::<V>(x, leg(j + 1)), load::<V>(x, leg(radix - 1 - j))) };
                *opposite = [a.add(b), a.sub(b)];
                sum = sum.add(opposite[0]);
            }
            // SAFETY: STAGE1: an output of the group.
            unsafe { store(sum, y, to(0)) };
            for k in 1..=half {
                let (mut even, mut odd, mut turn) = (first, nothing, 0);
                for [sum, difference] in &opposite[..half] {
                    turn += k;
                    if turn >= radix {
                        turn -= radix;
                    }
                    let (cosine, sine) = (V::splat(roots[turn].0), V::splat(roots[turn].1));
                    even.re = sum.re.multiply_add(cosine, even.re);
                    even.im = sum.im.multiply_add(cosine, even.im);
                    odd.re = difference.re.multiply_add(sine, odd.re);
                    odd.im = difference.im.multiply_add(sine, odd.im);
                }
                // i times the odd part
                let [mut a, mut b] = [even; 2];
                (a.re, a.im) = (even.re - odd.im, even.im + odd.re);
                (b.re, b.im) = (even.re + odd.im, even.im - odd.re);
                for (k, v) in [(k, a), (radix - k, b)] {
                    // SAFETY: STAGE1: an output of the group, and its factor.
                    unsafe { store(twiddled(v, factors, k), y, to(k)) };
                }
            }
        }
    }
}

/// Output `k > 0` of a group, times its twiddle factor unless `w` is null.
///
/// # Safety
/// `w` is null or has the group's factors (STAGE1); ISA1.
#[inline(always)]
unsafe fn twiddled<V: Lanes>(v: ComplexPair<V>, w: *const V::Number, k: usize) -> ComplexPair<V> {
    if w.is_null() {
        return v;
    }
    // SAFETY: by the caller's promise.
    let (re, im) = unsafe { (*w.add(2 * (k - 1)), *w.add(2 * (k - 1) + 1)) };
    v.mul(ComplexPair {
        re: V::splat(re),
        im: V::splat(im),
    })
}
