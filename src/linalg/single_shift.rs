//! The Schur form of complex matrices, by QR iterations with one shift (LAPACK's lahqr), and its
//! eigenvectors.

use super::blocks::pair_mut;
use super::double_shift::STUBBORN;
use super::field::{Field, epsilon, hypot, sqrt, tiny};
use crate::error::Result;
use crate::kernel::gemm::Scratch;
use crate::kernel::linalg::dot;
use crate::kernel::math::Real;

/// The rotation `[[c, s], [-conj(s), c]]` that maps `(x, y)` to `(r, 0)`: c, s and r.
fn rotation<T: Field>(x: T, y: T) -> (T::Real, T, T) {
    let (a, b) = (x.abs(), y.abs());
    if b == T::Real::ZERO {
        return (T::Real::ONE, T::ZERO, x);
    }
    if a == T::Real::ZERO {
        let sign = T::new(y.re() / b, -(y.im() / b));
        return (T::Real::ZERO, sign, T::real(b));
    }
    let size = hypot(a, b);
    let sign = T::new(x.re() / a, x.im() / a);
    let s = sign * T::new(y.re() / size, -(y.im() / size));
    (a / size, s, sign.scale(size))
}

/// The square root with a real part that is not negative.
fn root<T: Field>(z: T) -> T {
    let size = z.abs();
    if size == T::Real::ZERO {
        return T::ZERO;
    }
    let half = T::Real::from_f64(0.5);
    let large = sqrt((size + super::field::abs(z.re())) * half);
    let small = super::field::abs(z.im()) * half / large;
    let (re, im) = if z.re() < T::Real::ZERO {
        (small, large)
    } else {
        (large, small)
    };
    T::new(re, if z.im() < T::Real::ZERO { -im } else { im })
}

/// Wilkinson's shift: the eigenvalue of the last 2 x 2 block that is closer to the last number.
fn wilkinson<T: Field>(h: &[T], n: usize, end: usize) -> T {
    let (a, b) = (h[(end - 1) * n + end - 1], h[(end - 1) * n + end]);
    let (c, d) = (h[end * n + end - 1], h[end * n + end]);
    // of square roots, the product of numbers beside the diagonal does not overflow
    let u = root(b) * root(c);
    let x = (a - d).scale(T::Real::from_f64(0.5));
    let size = if x.magnitude() > u.magnitude() {
        x.magnitude()
    } else {
        u.magnitude()
    };
    if u == T::ZERO || size == T::Real::ZERO {
        return d;
    }
    let (p, q) = (x.scale(T::Real::ONE / size), u.scale(T::Real::ONE / size));
    let y = root(p * p + q * q).scale(size);
    let y = if x.re() * y.re() + x.im() * y.im() < T::Real::ZERO {
        -y
    } else {
        y
    };
    d - u * u.divide(x + y)
}

/// Makes the Hessenberg matrix `h` of `n` upper triangular, by unitary transformations that are also
/// applied to the rows of `z`, the columns of a matrix, if they are wanted. False if there are more
/// than 30 max(10, n) iterations.
pub(super) fn iterate<T: Field>(h: &mut [T], n: usize, mut z: Option<&mut [T]>) -> bool {
    let eps = epsilon::<T::Real>();
    let norm = h.iter().fold(T::Real::ZERO, |all, x| all + x.magnitude());
    // products with a number below this underflow
    let least = tiny::<T::Real>() / eps;
    let (mut end, mut count, mut left) = (n, 0, 30 * n.max(10));
    while end > 1 {
        let last = end - 1;
        // the block start..end does not split
        let mut start = last;
        while start > 0 {
            let beside = h[start * n + start - 1].magnitude();
            let around =
                h[(start - 1) * n + start - 1].magnitude() + h[start * n + start].magnitude();
            let around = if around == T::Real::ZERO || count > STUBBORN {
                norm
            } else {
                around
            };
            if beside <= eps * around || beside <= least {
                h[start * n + start - 1] = T::ZERO;
                break;
            }
            start -= 1;
        }
        if start == last {
            (end, count) = (last, 0);
            continue;
        }
        if left == 0 {
            return false;
        }
        (left, count) = (left - 1, count + 1);
        let shift = if count % 10 == 0 {
            let size = T::Real::from_f64(0.75) * h[last * n + last - 1].abs();
            h[last * n + last] + T::real(size)
        } else {
            wilkinson(h, n, last)
        };
        let mut from = (h[start * n + start] - shift, h[(start + 1) * n + start]);
        for k in start..last {
            if k > start {
                from = (h[k * n + k - 1], h[(k + 1) * n + k - 1]);
            }
            let (c, s, r) = rotation(from.0, from.1);
            if k > start {
                h[k * n + k - 1] = r;
                h[(k + 1) * n + k - 1] = T::ZERO;
            }
            let (x, y) = pair_mut(h, n, k, k + 1);
            turn(c, s, &mut x[k..], &mut y[k..]);
            for row in h.chunks_exact_mut(n).take(end.min(k + 3)) {
                let (x, y) = (row[k], row[k + 1]);
                row[k] = x.scale(c) + s.conj() * y;
                row[k + 1] = y.scale(c) - s * x;
            }
            if let Some(z) = &mut z {
                let (x, y) = pair_mut(z, n, k, k + 1);
                turn(c, s.conj(), x, y);
            }
        }
    }
    true
}

/// `(x, y) = (c x + s y, c y - conj(s) x)`.
fn turn<T: Field>(c: T::Real, s: T, x: &mut [T], y: &mut [T]) {
    for (x, y) in x.iter_mut().zip(y) {
        let (a, b) = (*x, *y);
        *x = a.scale(c) + s * b;
        *y = b.scale(c) - s.conj() * a;
    }
}

/// The eigenvectors of an upper triangular matrix, as rows.
pub(super) fn vectors<T: Field>(t: &[T], n: usize) -> Result<Scratch<T>> {
    let eps = epsilon::<T::Real>();
    let norm = t.iter().fold(T::Real::ZERO, |all, x| all + x.magnitude());
    let mut rows = Scratch::new(n * n)?;
    rows.fill(T::ZERO);
    let least = if norm * eps > tiny::<T::Real>() {
        norm * eps
    } else {
        tiny::<T::Real>()
    };
    for (k, x) in rows.chunks_exact_mut(n.max(1)).enumerate() {
        x[k] = T::ONE;
        for i in (0..k).rev() {
            let sum = dot(&t[i * n + i + 1..i * n + k + 1], &x[i + 1..k + 1]);
            let gap = t[i * n + i] - t[k * n + k];
            let gap = if gap.magnitude() < least {
                T::real(least)
            } else {
                gap
            };
            x[i] = -sum.divide(gap);
            let size = x[i].magnitude();
            if eps * size * size > T::Real::ONE {
                for x in &mut x[i..=k] {
                    *x = x.scale(T::Real::ONE / size);
                }
            }
        }
    }
    Ok(rows)
}
