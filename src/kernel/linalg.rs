//! Operations on the rows of matrices that are being factored (level 1 of the BLAS).

use super::gemm::Packed;
use super::math::{Number, Real};

/// Sums of a dot product, joined by pairs: as many as keep multiply-adds of a vector busy.
const SUMS: usize = 16;

/// A number of a matrix that is factored.
pub trait Entry: Packed + Number {}
impl<T: Packed + Number> Entry for T {}

kernel! {
    /// `y += a x`.
    pub fn axpy<'a, T: Packed>(a: T, x: &'a [T], y: &'a mut [T]) -> () { |I|
        for (y, x) in y.iter_mut().zip(x) {
            *y = T::mul_add::<I>(a, *x, *y);
        }
    }
}

kernel! {
    /// `x *= a`.
    pub fn scale<'a, T: Packed>(a: T, x: &'a mut [T]) -> () { |I|
        for x in x.iter_mut() {
            *x = T::mul(a, *x);
        }
    }
}

/// The sum of `x y`.
pub fn dot<T: Entry>(x: &[T], y: &[T]) -> T {
    sum_of_products(x, y, false)
}
/// The sum of `conj(x) y`.
pub fn dot_conj<T: Entry>(x: &[T], y: &[T]) -> T {
    sum_of_products(x, y, true)
}

kernel! {
    /// The sum of `x y`, or of `conj(x) y`.
    fn sum_of_products<'a, T: Entry>(x: &'a [T], y: &'a [T], conj: bool) -> T { |I|
        let n = x.len().min(y.len());
        let (xs, x) = x[..n].as_chunks::<SUMS>();
        let (ys, y) = y[..n].as_chunks::<SUMS>();
        let mut sums = [T::default(); SUMS];
        for (x, y) in xs.iter().zip(ys) {
            for k in 0..SUMS {
                let x = if conj { x[k].conj() } else { x[k] };
                sums[k] = T::mul_add::<I>(x, y[k], sums[k]);
            }
        }
        for k in 0..x.len() {
            let x = if conj { x[k].conj() } else { x[k] };
            sums[k] = T::mul_add::<I>(x, y[k], sums[k]);
        }
        let mut n = SUMS;
        while n > 1 {
            n /= 2;
            for k in 0..n {
                sums[k] = T::add(sums[k], sums[k + n]);
            }
        }
        sums[0]
    }
}

kernel! {
    /// `y += a x + b z`.
    pub fn axpy_twice<'a, T: Packed>(a: T, x: &'a [T], b: T, z: &'a [T], y: &'a mut [T]) -> () { |I|
        for ((y, x), z) in y.iter_mut().zip(x).zip(z) {
            *y = T::mul_add::<I>(b, *z, T::mul_add::<I>(a, *x, *y));
        }
    }
}

/// A plane rotation: `(x, y) = (c x + s y, c y - s x)` of rows `row` and `row + 1`.
#[derive(Clone, Copy, Default)]
pub struct Rotation<F> {
    pub row: usize,
    pub c: F,
    pub s: F,
}
/// Columns that are rotated together: they stay in the second cache for many rotations.
pub const ROTATED: usize = 32;

kernel! {
    /// Applies rotations, one after the other, to a matrix of [`ROTATED`] columns.
    pub fn rotate_all<'a, F: Real>(rotations: &'a [Rotation<F>], x: &'a mut [[F; ROTATED]]) -> () { |I|
        for Rotation { row, c, s } in rotations {
            let [a, b] = &mut x[*row..*row + 2] else {
                continue;
            };
            for k in 0..ROTATED {
                let (p, q) = (a[k], b[k]);
                a[k] = c.multiply_add::<I>(p, *s * q);
                b[k] = c.multiply_add::<I>(q, -(*s * p));
            }
        }
    }
}
