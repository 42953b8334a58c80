//! Balancing, and reduction to Hessenberg form: before the eigenvalues of a general matrix.

use super::field::Field;
use super::reflect::{Reflections, length};
use crate::error::Result;
use crate::kernel::gemm::Scratch;
use crate::kernel::linalg::{axpy, dot};
use crate::kernel::math::Real;
use crate::par::{self, Cost};

/// Columns of a piece of a product with all rows: a few cache lines.
const COLUMNS: usize = 64;

/// Scales rows and columns by powers of two, `D^-1 A D`, until those of one index have about the
/// same length (James, Langou, Lowery 2014). Writes the diagonal of D.
pub(super) fn balance<T: Field>(a: &mut [T], n: usize, scales: &mut [T::Real]) -> Result<()> {
    /// Each sweep that changes anything reduces the norm by a twentieth of some row's.
    const SWEEPS: usize = 100;
    let two = T::Real::from_f64(2.0);
    let limit = T::Real::from_f64(libm::ldexp(
        1.0,
        if size_of::<T::Real>() == 4 { 60 } else { 500 },
    ));
    scales.fill(T::Real::ONE);
    let mut column = Scratch::<T>::new(n)?;
    for _ in 0..SWEEPS {
        let mut changed = false;
        for i in 0..n {
            for (k, to) in column.iter_mut().enumerate() {
                *to = a[k * n + i];
            }
            let (mut c, mut r) = (length(&column), length(&a[i * n..(i + 1) * n]));
            if !(c > T::Real::ZERO && r > T::Real::ZERO) {
                continue;
            }
            let (before, mut f) = (c + r, T::Real::ONE);
            while c < r / two && f * scales[i] < limit {
                (f, c, r) = (f * two, c * two, r / two);
            }
            while r < c / two && f * scales[i] > T::Real::ONE / limit {
                (f, c, r) = (f / two, c / two, r * two);
            }
            if f == T::Real::ONE || c + r >= before * T::Real::from_f64(0.95) {
                continue;
            }
            scales[i] = scales[i] * f;
            changed = true;
            for x in &mut a[i * n..(i + 1) * n] {
                *x = x.scale(T::Real::ONE / f);
            }
            for k in 0..n {
                a[k * n + i] = a[k * n + i].scale(f);
            }
        }
        if !changed {
            break;
        }
    }
    Ok(())
}

/// Reduces a matrix of `n` to `Q^H A Q`, which is zero below the numbers under its diagonal
/// (LAPACK's gehd2).
pub(super) fn reduce<T: Field>(a: &mut [T], n: usize) -> Result<Reflections<T>> {
    let mut q = Reflections::new(n.saturating_sub(1), n, 1)?;
    let mut sums = Scratch::<T>::new(n)?;
    let mut conj = Scratch::<T>::new(n)?;
    for j in 0..n.saturating_sub(1) {
        let beta = q.set(j, (j + 1..n).map(|i| a[i * n + j]));
        let (v, tau) = q.get(j);
        a[(j + 1) * n + j] = T::real(beta);
        for i in j + 2..n {
            a[i * n + j] = T::ZERO;
        }
        let left = n - j - 1;
        let cost = Cost {
            bytes: size_of::<T>() * left,
            flops: 2 * left,
        };
        let y = &mut sums[j + 1..];
        y.fill(T::ZERO);
        let rows = &a[(j + 1) * n..];
        par::split(y, 1, COLUMNS, cost, |range, y| {
            for (row, v) in rows.chunks_exact(n).zip(v) {
                axpy(v.conj(), &row[j + 1..][range.clone()], y);
            }
        });
        for (to, x) in conj[j + 1..n].iter_mut().zip(v) {
            *to = x.conj();
        }
        let (y, conj) = (&sums[j + 1..n], &conj[j + 1..n]);
        par::split(a, n, 1, cost, |range, rows| {
            for (i, row) in range.zip(rows.chunks_exact_mut(n)) {
                let row = &mut row[j + 1..];
                if i > j {
                    axpy(-(tau.conj() * v[i - j - 1]), y, row);
                }
                let sum = dot(row, v);
                axpy(-(tau * sum), conj, row);
            }
        });
    }
    Ok(q)
}
