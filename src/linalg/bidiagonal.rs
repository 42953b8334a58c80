//! Singular values of square matrices: reduction to a real bidiagonal matrix.

use super::field::{Field, epsilon, tiny};
use super::reflect::Reflections;
use crate::error::Result;
use crate::kernel::gemm::Scratch;
use crate::kernel::linalg::{add_to_sums, axpy, axpy_twice, dot};
use crate::kernel::math::Real;
use crate::par::{self, Cost};

/// Rows of a piece of the matrix: the same ones in each step, so that they stay in the cache of the
/// thread that works on them.
const ROWS: usize = 64;

/// Reduces a square matrix of `n` to the upper bidiagonal matrix `Q^H A P` with `diagonal` and
/// `above` (LAPACK's gebd2). Destroys `a`.
///
/// A step passes over the matrix once: while a row is updated by the step's two reflections it is
/// added to the product with the column that the next step reflects, whose vector is that column but
/// for a factor (Van Zee, van de Geijn, Quintana-Orti, TOMS 39(1)). What the first reflection adds to a
/// row's product with the second one's vector is the same for all rows but for a factor, so a row is
/// written once. Sums are made of each piece, and follow from the size alone.
pub(super) fn reduce<T: Field>(
    a: &mut [T],
    n: usize,
    diagonal: &mut [T::Real],
    above: &mut [T::Real],
) -> Result<(Reflections<T>, Reflections<T>)> {
    let mut q = Reflections::new(n, n, 0)?;
    let mut p = Reflections::new(n.saturating_sub(1), n, 1)?;
    let mut sums = Scratch::<T>::new(n.div_ceil(ROWS) * n)?;
    let mut y = Scratch::<T>::new(n)?;
    let mut conj = Scratch::<T>::new(n)?;
    let least = tiny::<T::Real>() / epsilon::<T::Real>();
    for j in 0..n {
        let first = a[j * n + j];
        let beta = q.set(j, (j..n).map(|i| a[i * n + j]));
        diagonal[j] = beta;
        if j + 1 == n {
            break;
        }
        let (v, tau) = q.get(j);
        let (row, below) = a[j * n..].split_at_mut(n);
        // y = v^H A, of which the first row has the factor 1
        y[j + 1..].copy_from_slice(&row[j + 1..]);
        let reflected = tau.magnitude() > T::Real::ZERO;
        if reflected && j > 0 && beta * beta > least {
            let by = T::ONE.divide(first - T::real(beta)).conj();
            for sums in sums.chunks_exact(n).skip(j / ROWS) {
                axpy(by, &sums[j + 1..], &mut y[j + 1..]);
            }
        } else if reflected {
            // there are no sums yet, or products with a tiny column may have underflowed
            for (row, v) in below.chunks_exact(n).zip(&v[1..]) {
                axpy(v.conj(), &row[j + 1..], &mut y[j + 1..]);
            }
        }
        let y = &y[j + 1..n];
        axpy(-(tau.conj() * v[0]), y, &mut row[j + 1..]);
        above[j] = p.set(j, row[j + 1..].iter().map(|x| x.conj()));
        let (u, right) = p.get(j);
        for (to, x) in conj[j + 1..n].iter_mut().zip(u) {
            *to = x.conj();
        }
        // A - conj(tau) v y, and then the reflection from the right, row by row
        let conj = &conj[j + 1..n];
        let both = dot(y, u);
        let start = (j + 1) / ROWS;
        let left = n - j - 1;
        let cost = Cost {
            bytes: 2 * size_of::<T>() * left * ROWS,
            flops: 5 * left * ROWS,
        };
        let (a, sums) = (par::Out::new(a), par::Out::new(&mut sums));
        par::chunks(n.div_ceil(ROWS) - start, cost, |piece| {
            let piece = start + piece;
            let rows = (piece * ROWS).max(j + 1)..n.min((piece + 1) * ROWS);
            // SAFETY: OUT1: pieces have rows and sums of their own.
            let (part, sums) = unsafe {
                (
                    a.part(rows.start * n..rows.end * n),
                    sums.part(piece * n..(piece + 1) * n),
                )
            };
            let sums = &mut sums[j + 1..];
            sums.fill(T::ZERO);
            for (i, row) in rows.zip(part.chunks_exact_mut(n)) {
                let row = &mut row[j + 1..];
                let by = -(tau.conj() * v[i - j]);
                let other = -(right * (dot(row, u) + by * both));
                if i == j + 1 {
                    axpy_twice(by, y, other, conj, row); // the first row of the next step
                } else {
                    add_to_sums(by, y, other, conj, row, sums);
                }
            }
        });
    }
    Ok((q, p))
}
