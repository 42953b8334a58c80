//! Transforms of a few values in registers: the butterflies of all passes.

use super::Float;
use super::roots::root;
use crate::kernel::math::Real;
use crate::simd::lanes::Lanes;

/// Complex numbers in the lanes of two vectors.
#[derive(Clone, Copy)]
pub struct ComplexPair<V> {
    pub re: V,
    pub im: V,
}

impl<V: Lanes> ComplexPair<V> {
    #[inline(always)]
    pub fn add(self, other: Self) -> Self {
        ComplexPair {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }
    #[inline(always)]
    pub fn sub(self, other: Self) -> Self {
        ComplexPair {
            re: self.re - other.re,
            im: self.im - other.im,
        }
    }
    /// The complex product.
    #[inline(always)]
    pub fn mul(self, w: Self) -> Self {
        ComplexPair {
            re: self.re.multiply_subtract(w.re, self.im * w.im),
            im: self.re.multiply_add(w.im, self.im * w.re),
        }
    }
    /// The product with `-i`: a quarter turn in the direction of the transform.
    #[inline(always)]
    fn mul_neg_i(self) -> Self {
        ComplexPair {
            re: self.im,
            im: -self.re,
        }
    }
    /// Swaps real and imaginary parts.
    #[inline(always)]
    pub fn swapped(self) -> Self {
        ComplexPair {
            re: self.im,
            im: self.re,
        }
    }
    /// The imaginary parts are negated.
    #[inline(always)]
    pub fn conjugate(self) -> Self {
        ComplexPair {
            re: self.re,
            im: -self.im,
        }
    }
    #[inline(always)]
    pub fn scaled(self, by: V) -> Self {
        ComplexPair {
            re: self.re * by,
            im: self.im * by,
        }
    }
}

/// # Safety
/// The pair of vectors is readable; ISA1.
#[inline(always)]
pub unsafe fn load<V: Lanes>(x: *const V::Number, at: usize) -> ComplexPair<V> {
    // SAFETY: by the caller's promise.
    unsafe {
        let x = x.add(2 * V::LEN * at);
        ComplexPair {
            re: V::load(x),
            im: V::load(x.add(V::LEN)),
        }
    }
}
/// # Safety
/// The pair of vectors is writable; ISA1.
#[inline(always)]
pub unsafe fn store<V: Lanes>(v: ComplexPair<V>, y: *mut V::Number, at: usize) {
    // SAFETY: by the caller's promise.
    unsafe {
        let y = y.add(2 * V::LEN * at);
        v.re.store(y);
        v.im.store(y.add(V::LEN));
    }
}

/// The transform of `R` values: `y[k]` is the sum of `x[j] exp(-2 pi i j k / R)`.
pub trait Dft<const R: usize> {
    fn dft<V: Lanes<Number: Float>>(x: [ComplexPair<V>; R]) -> [ComplexPair<V>; R];
}

/// Carries the implementations for each radix.
pub struct Radix;

impl Dft<2> for Radix {
    #[inline(always)]
    fn dft<V: Lanes<Number: Float>>([a, b]: [ComplexPair<V>; 2]) -> [ComplexPair<V>; 2] {
        [a.add(b), a.sub(b)]
    }
}

impl Dft<4> for Radix {
    #[inline(always)]
    fn dft<V: Lanes<Number: Float>>([a, b, c, d]: [ComplexPair<V>; 4]) -> [ComplexPair<V>; 4] {
        let (even, odd) = ([a.add(c), a.sub(c)], [b.add(d), b.sub(d).mul_neg_i()]);
        [
            even[0].add(odd[0]),
            even[1].add(odd[1]),
            even[0].sub(odd[0]),
            even[1].sub(odd[1]),
        ]
    }
}

impl Dft<8> for Radix {
    #[inline(always)]
    fn dft<V: Lanes<Number: Float>>(x: [ComplexPair<V>; 8]) -> [ComplexPair<V>; 8] {
        let half = V::splat(V::Number::from_f64(core::f64::consts::FRAC_1_SQRT_2));
        let even = Self::dft([x[0], x[2], x[4], x[6]]);
        let odd = Self::dft([x[1], x[3], x[5], x[7]]);
        // twiddle factors exp(-i pi / 4), exp(-i pi / 2) and exp(-3 i pi / 4)
        let [a, b, c, d] = odd;
        let b = ComplexPair {
            re: (b.re + b.im) * half,
            im: (b.im - b.re) * half,
        };
        let d = ComplexPair {
            re: (d.im - d.re) * half,
            im: -(d.re + d.im) * half,
        };
        let c = c.mul_neg_i();
        [
            even[0].add(a),
            even[1].add(b),
            even[2].add(c),
            even[3].add(d),
            even[0].sub(a),
            even[1].sub(b),
            even[2].sub(c),
            even[3].sub(d),
        ]
    }
}

/// Odd sizes: sums and differences of values `j` and `R - j`, weighted by cosines and sines.
macro_rules! odd {
    ($($R:literal)*) => { $(
        impl Dft<$R> for Radix {
            #[inline(always)]
            fn dft<V: Lanes<Number: Float>>(x: [ComplexPair<V>; $R]) -> [ComplexPair<V>; $R] {
                const HALF: usize = $R / 2;
                const ROOTS: [(f64, f64); $R] = {
                    let (mut roots, mut k) = ([(0.0, 0.0); $R], 0);
                    while k < $R {
                        roots[k] = root(k as u64, $R);
                        k += 1;
                    }
                    roots
                };
                let (mut y, mut sums, mut differences) = (x, [x[0]; HALF], [x[0]; HALF]);
                for j in 0..HALF {
                    sums[j] = x[j + 1].add(x[$R - 1 - j]);
                    differences[j] = x[j + 1].sub(x[$R - 1 - j]);
                    y[0] = y[0].add(sums[j]);
                }
                for k in 1..=HALF {
                    let mut even = x[0];
                    let sine = V::splat(V::Number::from_f64(ROOTS[k].1));
                    let mut odd = differences[0].scaled(sine);
                    for j in 0..HALF {
                        let (cosine, sine) = ROOTS[(j + 1) * k % $R];
                        let (cosine, sine) = (V::splat(V::Number::from_f64(cosine)), V::splat(V::Number::from_f64(sine)));
                        even.re = sums[j].re.multiply_add(cosine, even.re);
                        even.im = sums[j].im.multiply_add(cosine, even.im);
                        if j > 0 {
                            odd.re = differences[j].re.multiply_add(sine, odd.re);
                            odd.im = differences[j].im.multiply_add(sine, odd.im);
                        }
                    }
                    // i times the odd part
                    y[k] = ComplexPair { re: even.re - odd.im, im: even.im + odd.re };
                    y[$R - k] = ComplexPair { re: even.re + odd.im, im: even.im - odd.re };
                }
                y
            }
        }
    )* };
}
odd!(3 5 7 11 13);
