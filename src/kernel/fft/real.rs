//! Transforms of real numbers by complex ones of half the length: even elements are the real parts,
//! odd ones the imaginary parts (Cooley, Lewis and Welch, 1970: "The fast Fourier transform
//! algorithm").

use super::Float;
use super::dft::{ComplexPair, load, store};
use crate::kernel::math::Real;
use crate::simd::lanes::Lanes;
use core::ops::Range;

/// The step between the half-length complex transform and the half spectrum of the real one, in
/// either direction.
///
/// Invariant HALVES1, the contract of [`Halves::new`]: the half spectrum is valid for complex
/// numbers 0 to `n`, the half-length transform for 0 to `n - 1`; `x` and `y` are the same memory or
/// don't overlap; nobody else writes to the numbers `k` and `n - k` of the range.
pub struct Halves<'a, T> {
    n: usize,
    x: *const T,
    y: *mut T,
    /// `-i exp(-i pi k / n)` for `k` up to half of `n`, all real parts before all imaginary ones.
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

/// The number of pairs `k`, `n - k`, without 0 and the middle.
pub const fn pairs(n: usize) -> usize {
    (n - 1) / 2
}

kernel! {
    /// Combines the pairs 1 + `range`. Forward: from the half-length transform to half the real
    /// transform's spectrum. Inverse: from that to the input of the half-length inverse.
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
    // the tail overlaps the last whole vector: computed before that is written, since `x` may be
    // `y`, and stored last
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

/// The vectors of the pairs from `k` on: numbers `k ..` and their opposites `n - k`.
///
/// # Safety
/// HALVES1; ISA1.
#[inline(always)]
unsafe fn pair<V: Lanes<Number: Float>>(
    h: &Halves<'_, V::Number>,
    k: usize,
) -> (ComplexPair<V>, ComplexPair<V>) {
    // SAFETY: HALVES1; the table covers all `k`.
    unsafe {
        let a = complex::<V>(h.x, k);
        let b = complex::<V>(h.x, h.n + 1 - k - V::LEN);
        let b = ComplexPair {
            re: b.re.reverse(),
            im: -b.im.reverse(),
        };
        let turns = h.turns.as_ptr();
        let re = V::load(turns.add(k));
        let im = V::load(turns.add(h.turns.len() / 2 + k));
        let turn = ComplexPair {
            re,
            im: if h.inverse { -im } else { im },
        };
        let (y, z) = combine(a, b, turn);
        (
            y,
            ComplexPair {
                re: z.re.reverse(),
                im: -z.im.reverse(),
            },
        )
    }
}

/// Number `k` and the conjugate of number `n - k` of one side from those of the other.
#[inline(always)]
fn combine<V: Lanes>(
    a: ComplexPair<V>,
    b: ComplexPair<V>,
    turn: ComplexPair<V>,
) -> (ComplexPair<V>, ComplexPair<V>) {
    let (even, odd) = (a.add(b), a.sub(b).mul(turn));
    (even.add(odd), even.sub(odd))
}

/// # Safety
/// HALVES1; ISA1.
#[inline(always)]
unsafe fn put<V: Lanes>(
    h: &Halves<'_, V::Number>,
    k: usize,
    (a, b): (ComplexPair<V>, ComplexPair<V>),
) {
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
unsafe fn complex<V: Lanes>(x: *const V::Number, at: usize) -> ComplexPair<V> {
    // SAFETY: by the caller's promise.
    let (re, im) = unsafe { V::load(x.add(2 * at)).unzip(V::load(x.add(2 * at + V::LEN))) };
    ComplexPair { re, im }
}

/// Combines all of columns, one per lane: from the transforms of `n` complex numbers, times `scale`,
/// to twice the spectra of `2 n` real ones. They are the first `n + 1` numbers, or, with
/// `conjugate`, all `2 n` or their conjugates.
///
/// # Safety
/// The pairs of vectors are readable and writable, and don't overlap; `turns` are those of
/// [`Halves`], for `n`; ISA1.
#[inline(always)]
pub unsafe fn forward_columns<V: Lanes<Number: Float>>(
    n: usize,
    x: *const V::Number,
    y: *mut V::Number,
    turns: &[V::Number],
    scale: V::Number,
    conjugate: Option<bool>,
) {
    let scale = V::splat(scale);
    let (zero, two) = (
        V::splat(V::Number::ZERO),
        V::splat(V::Number::from_f64(2.0)),
    );
    let ends = |re: V| ComplexPair {
        re: re * two,
        im: zero,
    };
    // SAFETY: by the caller's promise.
    unsafe {
        let first = load::<V>(x, 0).scaled(scale);
        store(ends(first.re + first.im), y, 0);
        store(ends(first.re - first.im), y, n);
        for k in 1..=pairs(n) {
            let a = load::<V>(x, k).scaled(scale);
            let b = load::<V>(x, n - k).scaled(scale).conjugate();
            let (a, b) = combine(a, b, turn(turns, k));
            store(a, y, k);
            store(b.conjugate(), y, n - k);
        }
        if n.is_multiple_of(2) {
            let middle = load::<V>(x, n / 2).scaled(scale).conjugate();
            store(middle.scaled(two), y, n / 2);
        }
        let Some(conjugate) = conjugate else { return };
        for k in 1..n {
            let v = load::<V>(y, k);
            store(v.conjugate(), y, if conjugate { k } else { 2 * n - k });
            if conjugate {
                store(v, y, 2 * n - k);
            }
        }
    }
}

/// Combines all of columns, one per lane: from the first `n + 1` numbers of the spectra to the input
/// of the inverse transforms of `n` complex numbers, real and imaginary parts swapped.
///
/// # Safety
/// As [`forward_columns`].
#[inline(always)]
pub unsafe fn inverse_columns<V: Lanes<Number: Float>>(
    n: usize,
    x: *const V::Number,
    y: *mut V::Number,
    turns: &[V::Number],
) {
    // SAFETY: by the caller's promise.
    unsafe {
        let (first, last) = (load::<V>(x, 0).re, load::<V>(x, n).re);
        let ends = ComplexPair {
            re: first + last,
            im: first - last,
        };
        store(ends.swapped(), y, 0);
        for k in 1..=pairs(n) {
            let (a, b) = (load::<V>(x, k), load::<V>(x, n - k).conjugate());
            let (a, b) = combine(a, b, turn(turns, k).conjugate());
            store(a.swapped(), y, k);
            store(b.conjugate().swapped(), y, n - k);
        }
        if n.is_multiple_of(2) {
            let two = V::splat(V::Number::from_f64(2.0));
            let middle = load::<V>(x, n / 2).conjugate().scaled(two);
            store(middle.swapped(), y, n / 2);
        }
    }
}

/// The factor of the pair `k`.
#[inline(always)]
fn turn<V: Lanes>(turns: &[V::Number], k: usize) -> ComplexPair<V> {
    ComplexPair {
        re: V::splat(turns[k]),
        im: V::splat(turns[turns.len() / 2 + k]),
    }
}
