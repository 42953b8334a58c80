//! Elementwise products of complex numbers with a table.

use super::Float;
use super::dft::ComplexPair;
use crate::simd::lanes::Lanes;

kernel! {
    /// `y[k] = x[k] * w[k] * scale` for the complex numbers of `w`. `swaps` says whether real and
    /// imaginary parts are swapped in `x`, and in `y`.
    pub fn multiply<'a, T: Float>(x: &'a [T], w: &'a [T], y: &'a mut [T], scale: T, swaps: (bool, bool)) -> () { |I|
        assert!(x.len() >= w.len() && y.len() >= w.len());
        // SAFETY: `x` and `y` are at least as long as `w`.
        unsafe { run::<T::Vector<I>>(x.as_ptr(), w, y.as_mut_ptr(), scale, swaps) }
    }
}
kernel! {
    /// `y[k] = y[k] * w[k]` for complex numbers.
    pub fn multiply_in_place<'a, T: Float>(y: &'a mut [T], w: &'a [T]) -> () { |I|
        assert!(y.len() >= w.len());
        let y = y.as_mut_ptr();
        // SAFETY: `y` is at least as long as `w`.
        unsafe { run::<T::Vector<I>>(y, w, y, T::ONE, (false, false)) }
    }
}

/// # Safety
/// `x` and `y` are valid for `w.len()` scalars; ISA1.
#[inline(always)]
unsafe fn run<V: Lanes<Number: Float>>(
    x: *const V::Number,
    w: &[V::Number],
    y: *mut V::Number,
    scale: V::Number,
    swaps: (bool, bool),
) {
    let (n, scale) = (w.len(), V::splat(scale));
    let mut k = 0;
    while k < n {
        let left = n - k;
        // SAFETY: scalars `k` to `n`, an even number of them, are in bounds.
        unsafe {
            let (low, high) = (left.min(V::LEN), left.saturating_sub(V::LEN).min(V::LEN));
            let (p, q) = (x.add(k), w.as_ptr().add(k));
            let (v, f) = if high == V::LEN {
                (
                    V::load(p).unzip(V::load(p.add(V::LEN))),
                    V::load(q).unzip(V::load(q.add(V::LEN))),
                )
            } else {
                (
                    V::load_first(p, low).unzip(V::load_first(p.add(low), high)),
                    V::load_first(q, low).unzip(V::load_first(q.add(low), high)),
                )
            };
            let v = if swaps.0 { (v.1, v.0) } else { v };
            let v = ComplexPair { re: v.0, im: v.1 }
                .mul(ComplexPair { re: f.0, im: f.1 })
                .scaled(scale);
            let (a, b) = if swaps.1 {
                v.im.zip(v.re)
            } else {
                v.re.zip(v.im)
            };
            let r = y.add(k);
            if high == V::LEN {
                a.store(r);
                b.store(r.add(V::LEN));
            } else {
                a.store_first(r, low);
                b.store_first(r.add(low), high);
            }
        }
        k += 2 * V::LEN;
    }
}
