//! Eigenvalues of Hermitian matrices: reduction to a real tridiagonal matrix, and its implicit QL
//! iteration.

use super::field::{Field, abs, epsilon, hypot, sqrt, tiny};
use super::reflect::Reflections;
use super::rotations::Rotations;
use crate::dtype::Element;
use crate::error::Result;
use crate::kernel::gemm::{Packed, Scratch};
use crate::kernel::linalg::{axpy, axpy_twice, dot_conj, update_hermitian};
use crate::kernel::math::Real;
use crate::par::{self, Cost};

/// The pieces of about equal area that the upper triangle of a matrix of `n` is worked on in, on all
/// threads: they follow from its size alone, and so do the bits of sums over them.
fn pieces(n: usize) -> usize {
    /// Rows of a piece that are worth sums of its own.
    const ROWS: usize = 128;
    /// The most pieces.
    const MOST: usize = 8;
    (n / ROWS).clamp(1, MOST)
}
/// The row of the triangle at which piece `k` begins.
fn bound(n: usize, k: usize, pieces: usize) -> usize {
    let below = 1.0 - k as f64 / pieces as f64;
    n - (libm::sqrt(below) * n as f64) as usize
}

/// Makes the upper triangle of a matrix of `n` the adjoint of the lower one, in squares, whose lines
/// a cache holds.
fn mirror<T: Field>(a: &mut [T], n: usize) {
    const SQUARE: usize = 16;
    for row in (0..n).step_by(SQUARE) {
        for col in (row..n).step_by(SQUARE) {
            for i in row..n.min(row + SQUARE) {
                for j in col.max(i)..n.min(col + SQUARE) {
                    a[i * n + j] = a[j * n + i].conj();
                }
            }
        }
    }
    for x in a.iter_mut().step_by(n + 1) {
        *x = T::real(x.re());
    }
}

/// Reduces a Hermitian matrix of `n`, of which the lower triangle is read, to the tridiagonal matrix
/// `Q^H A Q` with `diagonal` and `beside`. Destroys `a`.
///
/// Each step updates the upper triangle by the last step's reflection and multiplies the matrix by the
/// new one in a single pass, which is bound by memory (Van Zee, van de Geijn, Quintana-Orti, TOMS
/// 39(1)).
pub(super) fn reduce<T: Field>(
    a: &mut [T],
    n: usize,
    diagonal: &mut [T::Real],
    beside: &mut [T::Real],
) -> Result<Reflections<T>> {
    mirror(a, n);
    let mut q = Reflections::new(n.saturating_sub(1), n, 1)?;
    // the vectors of the update of rank 2 that is still to be made, and their conjugates
    let mut v = Scratch::<T>::new(n)?;
    let mut w = Scratch::<T>::new(n)?;
    let mut v_conj = Scratch::<T>::new(n)?;
    let mut w_conj = Scratch::<T>::new(n)?;
    let mut p = Scratch::<T>::new(n)?;
    // of each piece of the triangle
    let mut sums = Scratch::<T>::new(pieces(n) * n)?;
    v.fill(T::ZERO);
    w.fill(T::ZERO);
    v_conj.fill(T::ZERO);
    w_conj.fill(T::ZERO);
    for j in 0..n {
        let (row, below) = a[j * n..].split_at_mut(n);
        axpy_twice(-v[j], &w_conj[j..], -w[j], &v_conj[j..], &mut row[j..]);
        diagonal[j] = row[j].re();
        if j + 1 == n {
            break;
        }
        beside[j] = q.set(j, row[j + 1..].iter().map(|x| x.conj()));
        let (next, tau) = q.get(j);
        let left = n - j - 1;
        let pieces = pieces(left);
        let cost = Cost {
            bytes: size_of::<T>() * left * left / pieces,
            flops: 4 * left * left / pieces,
        };
        {
            let (v, w, v_conj, w_conj) = (&v[..], &w[..], &v_conj[..], &w_conj[..]);
            let (rows, sums) = (par::Out::new(below), par::Out::new(&mut sums));
            par::chunks(pieces, cost, |piece| {
                let range = bound(left, piece, pieces)..bound(left, piece + 1, pieces);
                // SAFETY: OUT1: pieces have rows and sums of their own.
                let (rows, p) = unsafe {
                    (
                        rows.part(range.start * n..range.end * n),
                        sums.part(piece * n..(piece + 1) * n),
                    )
                };
                p[j + 1 + range.start..].fill(T::ZERO);
                for (i, row) in range.zip(rows.chunks_exact_mut(n)) {
                    let (u, i) = (&next[i..], j + 1 + i);
                    let (x, z) = (&w_conj[i..], &v_conj[i..]);
                    let sum = update_hermitian(&mut row[i..], -v[i], x, -w[i], z, u, &mut p[i..]);
                    p[i] = p[i] + sum;
                }
            });
        }
        p[j + 1..].fill(T::ZERO);
        for (piece, sums) in sums.chunks_exact(n).take(pieces).enumerate() {
            let first = j + 1 + bound(left, piece, pieces);
            axpy(tau, &sums[first..], &mut p[first..]);
        }
        let p = &p[j + 1..n];
        let alpha = -(tau * dot_conj(p, next)).re() * T::Real::from_f64(0.5);
        for i in j + 1..n {
            let k = i - j - 1;
            v[i] = next[k];
            w[i] = p[k] + next[k].scale(alpha);
            v_conj[i] = v[i].conj();
            w_conj[i] = w[i].conj();
        }
    }
    Ok(q)
}

/// The eigenvalues of a real symmetric tridiagonal matrix, in place of its diagonal and in no order,
/// by QL or QR iterations (LAPACK's steqr, or sterf if no product of `rows` is wanted). `rows` becomes
/// the matrix whose rows are the eigenvectors. A number beside the diagonal is negligible if it is
/// smaller than `tolerance` times the geometric mean of its neighbours. False if there are more than
/// 30 iterations for each eigenvalue.
pub(super) fn iterate<F: Real + Element + Packed>(
    d: &mut [F],
    e: &mut [F],
    rows: &mut Rotations<F>,
    tolerance: F,
) -> bool {
    let n = d.len();
    let rooted = rows.wanted();
    if !rooted {
        e.iter_mut().for_each(|e| *e = *e * *e);
    }
    let negligible = |d: &[F], e: &[F], k: usize| {
        let square = if rooted { e[k] * e[k] } else { e[k] };
        square <= tolerance * tolerance * abs(d[k]) * abs(d[k + 1]) + tiny::<F>()
    };
    let (mut start, mut left) = (0, 30 * n);
    let mut block = (usize::MAX, usize::MAX, false);
    while start + 1 < n {
        let end = (start..n - 1).find(|k| negligible(d, e, *k));
        if let Some(k) = end {
            e[k] = F::ZERO;
        }
        let end = end.unwrap_or(n - 1);
        if end == start {
            start += 1;
            continue;
        }
        if left == 0 {
            return false;
        }
        left -= 1;
        if (block.0, block.1) != (start, end) {
            // from the smaller end to the larger, which keeps graded matrices accurate
            block = (start, end, abs(d[end]) < abs(d[start]));
        }
        match (rooted, block.2) {
            (true, _) => sweep(d, e, block, rows),
            (false, false) => rootless::<F, false>(&mut d[start..=end], &mut e[start..end]),
            (false, true) => rootless::<F, true>(&mut d[start..=end], &mut e[start..end]),
        }
    }
    true
}

/// A step with Wilkinson's shift, QL or with `REVERSED` QR, of a block that does not split, of the
/// squares of the numbers beside the diagonal (Pal, Walker and Kahan's: Parlett, The Symmetric
/// Eigenvalue Problem, 8.15). Two divisions are made at a time: a step waits for one after the other.
fn rootless<F: Real, const REVERSED: bool>(d: &mut [F], e: &mut [F]) {
    let least = tiny::<F>() / epsilon::<F>();
    let m = e.len();
    let at = |k: usize| if REVERSED { m - k } else { k };
    let beside = |k: usize| if REVERSED { m - 1 - k } else { k };
    let half = (d[at(1)] - d[at(0)]) * F::from_f64(0.5);
    let root = sqrt(half * half + e[beside(0)]);
    let root = if half < F::ZERO { -root } else { root };
    let sigma = d[at(0)] - e[beside(0)] / (half + root);
    let (mut c, mut s) = (F::ONE, F::ZERO);
    let mut gamma = d[at(m)] - sigma;
    let mut p = gamma * gamma;
    for k in (0..m).rev() {
        let square = e[beside(k)];
        let r = p + square;
        if k + 1 < m {
            e[beside(k + 1)] = s * r;
        }
        let (next, inverse) = (p / r, r / p);
        s = square / r;
        let value = d[at(k)];
        let last = gamma;
        gamma = next * (value - sigma) - s * last;
        d[at(k + 1)] = last + (value - gamma);
        p = if p <= least {
            c * square // the limit
        } else {
            gamma * gamma * inverse
        };
        c = next;
    }
    e[beside(0)] = s * p;
    d[at(0)] = sigma + gamma;
}

/// An implicit QL step with Wilkinson's shift on rows `start..=end`, or with `reversed` QR: a QL
/// step of the rows in reverse order.
fn sweep<F: Real + Element + Packed>(
    d: &mut [F],
    e: &mut [F],
    (start, end, reversed): (usize, usize, bool),
    rows: &mut Rotations<F>,
) {
    let at = |k: usize| if reversed { end - k } else { start + k };
    let beside = |k: usize| if reversed { end - k - 1 } else { start + k };
    let m = end - start;
    let two = F::from_f64(2.0);
    let g = (d[at(1)] - d[at(0)]) / (two * e[beside(0)]);
    let r = hypot(g, F::ONE);
    let r = if g < F::ZERO { -r } else { r };
    let mut g = d[at(m)] - d[at(0)] + e[beside(0)] / (g + r);
    let (mut s, mut c, mut p) = (F::ONE, F::ONE, F::ZERO);
    for i in (0..m).rev() {
        let (f, b) = (s * e[beside(i)], c * e[beside(i)]);
        let r = hypot(f, g);
        if i + 1 < m {
            e[beside(i + 1)] = r;
        }
        if r == F::ZERO {
            // the matrix splits
            d[at(i + 1)] = d[at(i + 1)] - p;
            return;
        }
        (s, c) = (f / r, g / r);
        g = d[at(i + 1)] - p;
        let r = (d[at(i)] - g) * s + two * c * b;
        p = s * r;
        d[at(i + 1)] = g + p;
        g = c * r - b;
        match reversed {
            false => rows.push(at(i), c, -s),
            true => rows.push(at(i + 1), c, s),
        }
    }
    d[at(0)] = d[at(0)] - p;
    e[beside(0)] = g;
}
