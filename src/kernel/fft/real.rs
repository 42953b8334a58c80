//! Transforms of real numbers by complex ones of half the length: even elements are real parts, odd
//! ones imaginary parts (Cooley, Lewis and Welch, 1970: "The fast Fourier transform algorithm").

use super::Float;
use super::dft::Pair;
use crate::simd::lanes::Lanes;
use core::ops::Range;

/// The one half's transform, or what it is inverted from, and the other way round.
///
/// Invariant HALVES1, which [`Halves::new`] asks for: `x` and `y` are valid for complex numbers 0 to
/// `n`, or from 0 to `n - 1` where they are the transform of half the length; they are the same memory or
/// don't overlap; nobody else writes to the numbers `k` and `n - k` of the range.
pub struct Halves<'a, T> {
    n: usize,
    x: *const T,
    y: *mut T,
    /// `-i exp(-i pi k / n)` for each `k` up to half of `n`, real parts and then imaginary ones.
    turns: &'a [T],
    inverse: bool,
    range: Range<usize>,
}

impl<'a, T> Halves<'a, T> {
    /// # Safety
    /// HALVES1.
    pub unsafe fn new(
        n: usize,
        x: *const T,
        y: *mut T,
        turns: &'a [T],
        inverse: bool,
        range: Range<usize>,
    ) -> Self {
        assert!(range.end <= pairs(n) && turns.len() >= 2 * (pairs(n) + 1));
        Halves {
            n,
            x,
            y,
            turns,
            inverse,
            range,
        }
    }
}

/// How many pairs of numbers `k` and `n - k` there are, other than 0 and the middle one.
pub const fn pairs(n: usize) -> usize {
    (n - 1) / 2
}

kernel! {
    /// Of the pairs 1 + `range`, forwards: from half of the transform of half the length to the transform
    /// of the real numbers; backwards: to what that length's inverse is to be taken of.
    pub fn halves<'a, T: Float>(h: Halves<'a, T>) -> () { |I|
        // SAFETY: HALVES1.
        unsafe {
            if h.range.len() >= <T::Vector<I> as Lanes>::LEN {
                run::<T::Vector<I>>(h)
            } else {
                run::<T::Single>(h)
            }
        }
    }
}

/// # Safety
/// HALVES1; ISA1.
#[inline(always)]
unsafe fn run<V: Lanes<Number: Float>>(h: Halves<'_, V::Number>) {
    if h.range.is_empty() {
        return;
    }
    let (first, len) = (h.range.start + 1, h.range.len());
    // what is left over is computed with others before these are written, and written last
    let last = (first + len).saturating_sub(V::LEN);
    // SAFETY: HALVES1.
    unsafe {
        let rest = if len % V::LEN > 0 {
            Some(pair::<V>(&h, last))
        } else {
            None
        };
        for k in 0..len / V::LEN {
            let k = first + k * V::LEN;
            put(&h, k, pair::<V>(&h, k));
        }
        if let Some(rest) = rest {
            put(&h, last, rest);
        }
    }
}

/// The numbers from `k` on and those opposite them.
///
/// # Safety
/// HALVES1; ISA1.
#[inline(always)]
unsafe fn pair<V: Lanes<Number: Float>>(h: &Halves<'_, V::Number>, k: usize) -> (Pair<V>, Pair<V>) {
    // SAFETY: HALVES1; the table has all `k`.
    unsafe {
        let a = complex::<V>(h.x, k);
        let b = complex::<V>(h.x, h.n + 1 - k - V::LEN);
        let b = Pair {
            re: b.re.reverse(),
            im: -b.im.reverse(),
        };
        let turns = h.turns.as_ptr();
        let re = V::load(turns.add(k));
        let im = V::load(turns.add(h.turns.len() / 2 + k));
        let turn = Pair {
            re,
            im: if h.inverse { -im } else { im },
        };
        let (even, odd) = (a.add(b), a.sub(b).mul(turn));
        let (y, z) = (even.add(odd), even.sub(odd));
        (
            y,
            Pair {
                re: z.re.reverse(),
                im: -z.im.reverse(),
            },
        )
    }
}

/// # Safety
/// HALVES1; ISA1.
#[inline(always)]
unsafe fn put<V: Lanes>(h: &Halves<'_, V::Number>, k: usize, (a, b): (Pair<V>, Pair<V>)) {
    for (v, at) in [(a, k), (b, h.n + 1 - k - V::LEN)] {
        let (low, high) = v.re.zip(v.im);
        // SAFETY: HALVES1.
        unsafe {
            low.store(h.y.add(2 * at));
            high.store(h.y.add(2 * at + V::LEN));
        }
    }
}

/// # Safety
/// The numbers are readable; ISA1.
#[inline(always)]
unsafe fn complex<V: Lanes>(x: *const V::Number, at: usize) -> Pair<V> {
    // SAFETY: the caller's.
    let (re, im) = unsafe { V::load(x.add(2 * at)).unzip(V::load(x.add(2 * at + V::LEN))) };
    Pair { re, im }
}
