//! Singular values of square matrices: reduction to a real bidiagonal matrix.

use super::field::Field;
use super::reflect::Reflections;
use crate::error::Result;
use crate::kernel::gemm::Scratch;
use crate::kernel::linalg::{axpy, dot};
use crate::par::{self, Cost};

/// Columns of a piece of a product with all rows: a few cache lines.
const COLUMNS: usize = 64;

/// Reduces a square matrix of `n` to the upper bidiagonal matrix `Q^H A P` with `diagonal` and
/// `above` (LAPACK's gebd2). Destroys `a`.
pub(super) fn reduce<T: Field>(
    a: &mut [T],
    n: usize,
    diagonal: &mut [T::Real],
    above: &mut [T::Real],
) -> Result<(Reflections<T>, Reflections<T>)> {
    let mut q = Reflections::new(n, n, 0)?;
    let mut p = Reflections::new(n.saturating_sub(1), n, 1)?;
    let mut sums = Scratch::<T>::new(n)?;
    let mut conj = Scratch::<T>::new(n)?;
    for j in 0..n {
        diagonal[j] = q.set(j, (j..n).map(|i| a[i * n + j]));
        if j + 1 == n {
            break;
        }
        let (v, tau) = q.get(j);
        let left = n - j - 1;
        let cost = Cost {
            bytes: size_of::<T>() * left,
            flops: left,
        };
        // y = v^H A, by columns
        let y = &mut sums[j + 1..];
        y.fill(T::ZERO);
        let rows = &a[j * n..];
        par::split(y, 1, COLUMNS, cost, |range, y| {
            for (row, v) in rows.chunks_exact(n).zip(v) {
                axpy(v.conj(), &row[j + 1..][range.clone()], y);
            }
        });
        let y = &sums[j + 1..n];
        let (row, below) = a[j * n..].split_at_mut(n);
        axpy(-(tau.conj() * v[0]), y, &mut row[j + 1..]);
        above[j] = p.set(j, row[j + 1..].iter().map(|x| x.conj()));
        let (u, right) = p.get(j);
        for (to, x) in conj[j + 1..n].iter_mut().zip(u) {
            *to = x.conj();
        }
        // A - conj(tau) v y, and then the reflection from the right, row by row
        let (conj, v) = (&conj[j + 1..n], &v[1..]);
        let cost = Cost {
            bytes: 2 * size_of::<T>() * left,
            flops: 3 * left,
        };
        par::split(below, n, 1, cost, |range, rows| {
            for (row, v) in rows.chunks_exact_mut(n).zip(&v[range]) {
                let row = &mut row[j + 1..];
                axpy(-(tau.conj() * *v), y, row);
                let sum = dot(row, u);
                axpy(-(right * sum), conj, row);
            }
        });
    }
    Ok((q, p))
}
