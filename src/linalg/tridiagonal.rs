//! Eigenvalues of Hermitian matrices: reduction to a real tridiagonal matrix, and its implicit QL
//! iteration.

use super::blocks::add_product;
use super::field::{Field, abs, epsilon, hypot, sqrt, tiny};
use super::reflect::Reflections;
use super::rotations::Rotations;
use crate::dtype::Element;
use crate::error::Result;
use crate::kernel::gemm::{Mat, Packed, Scratch};
use crate::kernel::linalg::{
    axpy, axpy_twice, dot, dot_conj, multiply_hermitian, multiply_symmetric, scale,
};
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

/// Columns of a panel of a matrix of `n`. Each of its steps corrects products by all steps before it;
/// after it a product updates what follows.
fn panel(n: usize) -> usize {
    if n <= 64 { 8 } else { 16 }
}

/// Reduces a Hermitian matrix of `n`, of which the lower triangle is read, to the tridiagonal matrix
/// `Q^H A Q` with `diagonal` and `beside`. Destroys `a`.
///
/// By panels, whose steps multiply the matrix before the panel by their reflections' vectors, and only
/// read it (LAPACK's latrd).
pub(super) fn reduce<T: Field>(
    a: &mut [T],
    n: usize,
    diagonal: &mut [T::Real],
    beside: &mut [T::Real],
) -> Result<Reflections<T>> {
    mirror(a, n);
    let mut q = Reflections::new(n.saturating_sub(1), n, 1)?;
    let size = panel(n).min(n);
    // the update `A + U^T X` that is still to be made: rows v, w of each step, and -conj(w), -conj(v)
    let mut u = Scratch::<T>::new(2 * size * n)?;
    let mut x = Scratch::<T>::new(2 * size * n)?;
    let mut p = Scratch::<T>::new(n)?;
    // of each piece of the triangle
    let mut sums = Scratch::<T::Real>::new(pieces(n) * n * room::<T>())?;
    let mut factors = Scratch::<T::Real>::new(n * room::<T>())?;
    for j in 0..n {
        let (step, first) = (j % size, j + 1);
        let (row, below) = a[j * n..].split_at_mut(n);
        for (u, x) in pairs(&u, n, step).zip(pairs(&x, n, step)) {
            axpy_twice(u.0[j], &x.0[j..], u.1[j], &x.1[j..], &mut row[j..]);
        }
        diagonal[j] = row[j].re();
        if first == n {
            break;
        }
        beside[j] = q.set(j, row[first..].iter().map(|x| x.conj()));
        let (next, tau) = q.get(j);
        let p = &mut p[first..];
        multiply(below, n, next, p, &mut sums, &mut factors);
        for (u, x) in pairs(&u, n, step).zip(pairs(&x, n, step)) {
            let (c, d) = (dot(&x.0[first..], next), dot(&x.1[first..], next));
            axpy_twice(c, &u.0[first..], d, &u.1[first..], p);
        }
        scale(tau, p);
        let alpha = -(tau * dot_conj(p, next)).re() * T::Real::from_f64(0.5);
        let (v, w) = u[2 * step * n..][..2 * n].split_at_mut(n);
        let (minus_w, minus_v) = x[2 * step * n..][..2 * n].split_at_mut(n);
        v[first..].copy_from_slice(next);
        w[first..].copy_from_slice(p);
        axpy(T::real(alpha), next, &mut w[first..]);
        // one loop for both: each is short, and compiled for each dtype
        for (to, from) in [(minus_w, &*w), (minus_v, &*v)] {
            for (to, x) in to[first..].iter_mut().zip(&from[first..]) {
                *to = -x.conj();
            }
        }
        if step + 1 == size {
            let count = 2 * size;
            let u = Mat::from_slice(&u, count, n).block(0..count, first..n);
            let x = Mat::from_slice(&x, count, n).block(0..count, first..n);
            update(below, n, u.t(), x)?;
        }
    }
    Ok(q)
}

/// The first `count` pairs of rows.
fn pairs<T>(x: &[T], n: usize, count: usize) -> impl Iterator<Item = (&[T], &[T])> {
    x.chunks_exact(2 * n)
        .take(count)
        .map(move |x| x.split_at(n))
}

/// Real numbers that [`multiply`] works in, for each of a vector: those of a piece's sums, and factors.
fn room<T: Field>() -> usize {
    if T::COMPLEX { 4 } else { 1 }
}

/// The product of a Hermitian matrix, the upper triangle of the last columns of rows of `stride`
/// elements, with `y`. `sums` has [`room`] for as many elements for each piece, `factors` for one.
fn multiply<T: Field>(
    a: &[T],
    stride: usize,
    y: &[T],
    p: &mut [T],
    sums: &mut [T::Real],
    factors: &mut [T::Real],
) {
    let n = y.len();
    let (pieces, size) = (pieces(n), room::<T>() * stride);
    let (re, im) = factors.split_at_mut(factors.len() / 2);
    if T::COMPLEX {
        for (k, y) in y.iter().enumerate() {
            re[2 * k..2 * k + 2].fill(y.re());
            im[2 * k..2 * k + 2].fill(y.im());
        }
    }
    let cost = Cost {
        bytes: size_of_val(y) * n / (2 * pieces),
        flops: 2 * n * n / pieces,
    };
    {
        let sums = par::Out::new(sums);
        let (re, im) = (&*re, &*im);
        par::chunks(pieces, cost, |piece| {
            let rows = bound(n, piece, pieces)..bound(n, piece + 1, pieces);
            let (first, count) = (rows.start, rows.len());
            // SAFETY: OUT1: pieces have sums of their own.
            let sums = unsafe { sums.part(piece * size..(piece + 1) * size) };
            let a = T::as_parts(&a[first * stride + stride - n + first..]);
            if T::COMPLEX {
                let (p, q) = sums.split_at_mut(2 * stride);
                let (p, q) = (&mut p[2 * first..2 * n], &mut q[2 * first..2 * n]);
                p.fill(T::Real::ZERO);
                q.fill(T::Real::ZERO);
                let (re, im) = (&re[2 * first..2 * n], &im[2 * first..2 * n]);
                multiply_hermitian(a, stride, count, re, im, p, q);
            } else {
                let p = &mut sums[first..n];
                p.fill(T::Real::ZERO);
                multiply_symmetric(a, stride, count, T::as_parts(&y[first..]), p);
            }
        });
    }
    p.fill(T::ZERO);
    for (piece, sums) in sums.chunks_exact(size).take(pieces).enumerate() {
        let first = bound(n, piece, pieces);
        if T::COMPLEX {
            let (s, t) = sums.split_at(2 * stride);
            let pairs = s.chunks_exact(2).zip(t.chunks_exact(2)).skip(first);
            for (p, (s, t)) in p[first..].iter_mut().zip(pairs) {
                *p = *p + T::new(s[0] + t[1], t[0] - s[1]);
            }
        } else {
            axpy(T::Real::ONE, &sums[first..n], &mut T::parts(p)[first..]);
        }
    }
}

/// Adds the product to the upper triangle of the last columns of rows of `stride` elements, in bands,
/// and where these cross the diagonal to what is below it.
fn update<T: Field>(a: &mut [T], stride: usize, u: Mat<T>, x: Mat<T>) -> Result<()> {
    let (n, depth) = (x.cols(), u.cols());
    let size = (n / 4).next_multiple_of(48).max(48);
    for first in (0..n).step_by(size) {
        let rows = first..n.min(first + size);
        let u = u.block(rows.clone(), 0..depth);
        let x = x.block(0..depth, first..n);
        let band = &mut a[first * stride..rows.end * stride];
        add_product(band, stride, stride - n + first..stride, u, x)?;
    }
    Ok(())
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
