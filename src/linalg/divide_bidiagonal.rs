//! Singular vectors of real bidiagonal matrices by divide and conquer: a row is taken out, and joins the
//! halves above and below it (Gu, Eisenstat 1995; LAPACK's bdsdc). What grows with the cube of the size
//! are products; implicit QR rotates two whole matrices for each number that it removes.

use super::field::{abs, hypot};
use super::golub_kahan::iterate;
use super::merge::{self, Block, LEAF, LEFT, RIGHT, Split};
use super::precise::{Precise, multiply, widened};
use super::rotations::{Rotations, rotation};
use crate::error::Result;
use crate::fallible;
use crate::kernel::gemm::Scratch;
use crate::kernel::math::Real;
use crate::par::{Cost, Out};
use alloc::vec::Vec;

/// The rows of U^T and of V^T.
pub(super) type Vectors = (Scratch<Precise>, Scratch<Precise>);

/// Replaces the diagonal `d` of an upper bidiagonal matrix, whose numbers above it are `e`, by its
/// singular values, in no order, none negative. `tolerance` is what is negligible beside 1; with
/// `relative`, small values are as accurate as large ones. None if the iterations do not converge.
pub(super) fn singular_vectors(
    d: &mut [Precise],
    e: &mut [Precise],
    tolerance: Precise,
    relative: bool,
) -> Result<Option<Vectors>> {
    let n = d.len();
    let mut vectors = (Scratch::new(n * n)?, Scratch::new(n * n)?);
    vectors.0.fill(0.0);
    vectors.1.fill(0.0);
    if n == 0 {
        return Ok(Some(vectors));
    }
    if !relative {
        let (mut first, mut second) = (widened(d)?, widened(e)?);
        if solve(&mut first, &mut second, &mut vectors, tolerance)? {
            d.copy_from_slice(&first);
            return Ok(Some(vectors));
        }
    }
    let block = |rows| Block {
        rows,
        stride: n,
        columns: 0..n,
    };
    let (mut u, mut v) = (block(&mut vectors.0), block(&mut vectors.1));
    let done = leaf(d, e, &mut u, &mut v)?;
    Ok(done.then_some(vectors))
}

/// Rows that are a problem of their own, `start..end`, whose matrix has as many columns, or one more.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    end: usize,
    more: usize,
}
impl Part {
    fn middle(self) -> usize {
        (self.start + self.end) / 2
    }
}

/// Fills matrices that are zero. False if the iterations do not converge.
fn solve(
    d: &mut [Precise],
    e: &mut [Precise],
    (u, v): &mut Vectors,
    tolerance: Precise,
) -> Result<bool> {
    let n = d.len();
    let whole = Part {
        start: 0,
        end: n,
        more: 0,
    };
    let mut levels: Vec<Vec<Part>> = alloc::vec![alloc::vec![whole]];
    while n >> (levels.len() - 1) > LEAF {
        let last = &levels[levels.len() - 1];
        let mut next = fallible::with_capacity(2 * last.len())?;
        for part in last {
            let (end, start) = (part.middle(), part.middle() + 1);
            next.push(Part {
                end,
                more: 1,
                ..*part
            });
            next.push(Part { start, ..*part });
        }
        levels.push(next);
    }
    for (level, parts) in levels.iter().enumerate().rev() {
        let (u, v) = (Out::new(u), Out::new(v));
        let (d, e) = (Out::new(d), Out::new(e));
        let one = |k: usize| {
            let Part { start, end, more } = parts[k];
            // SAFETY: OUT1: each part of a level has numbers and rows of its own.
            let (d, e, u, v) = unsafe {
                (
                    d.part(start..end),
                    e.part(start..end - 1 + more),
                    u.part(start * n..end * n),
                    v.part(start * n..(end + more) * n),
                )
            };
            let block = |rows, more| Block {
                rows,
                stride: n,
                columns: start..end + more,
            };
            let (mut u, mut v) = (block(u, 0), block(v, more));
            if level + 1 == levels.len() {
                return leaf(d, e, &mut u, &mut v);
            }
            let middle = parts[k].middle() - start;
            merge(d, e[middle], middle, &mut u, &mut v, tolerance)
        };
        let size = n >> level;
        let cost = Cost {
            bytes: 8 * size * size * size_of::<Precise>(),
            flops: 4 * size * size * size,
        };
        if !merge::level(parts.len(), cost, one)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A block that is not divided. `e` has a number for each row, if there is a column more than rows: two
/// chains of rotations make that column zero, and what they leave upper bidiagonal (LAPACK's lasdq).
fn leaf<'a>(
    d: &mut [Precise],
    e: &mut [Precise],
    u: &mut Block<'a>,
    v: &mut Block<'a>,
) -> Result<bool> {
    let (n, columns) = (d.len(), v.columns.len());
    let mut left = Rotations::new(n, true)?;
    let mut right = Rotations::new(columns, true)?;
    if columns > n {
        for (rotations, count) in [(&mut right, n), (&mut left, n - 1)] {
            for i in 0..count {
                let (c, s, r) = rotation(d[i], e[i]);
                rotations.push(i, c, s);
                d[i] = r;
                if i + 1 < n {
                    (e[i], d[i + 1]) = (s * d[i + 1], c * d[i + 1]);
                }
            }
        }
    }
    let done = iterate(d, &mut e[..n - 1], &mut left, &mut right);
    for (block, rotations, signed) in [(u, &mut left, false), (v, &mut right, true)] {
        let start = block.columns.start;
        for (k, row) in block.rows.chunks_exact_mut(block.stride).enumerate() {
            rotations.row(k, &mut row[start..], |x| x);
            if signed && k < n && d[k] < 0.0 {
                row[block.columns.clone()].iter_mut().for_each(|x| *x = -*x);
            }
        }
    }
    d.iter_mut().for_each(|d| *d = abs(*d));
    Ok(done)
}

/// Joins the rows before `middle` and those after it. Row `middle` is `d[middle]` and `beside` in the
/// last column of the first half and in the first of the second.
fn merge<'a>(
    d: &mut [Precise],
    beside: Precise,
    middle: usize,
    u: &mut Block<'a>,
    v: &mut Block<'a>,
    tolerance: Precise,
) -> Result<bool> {
    let (n, columns) = (d.len(), v.columns.len());
    let largest = d.iter().fold(abs(beside), |all, x| abs(*x).max(all));
    if largest == 0.0 {
        u.rows[middle * u.stride + u.columns.start + middle] = 1.0;
        return Ok(true);
    }
    let exponent = libm::frexp(largest.to_f64()).1;
    let mut beside = [beside];
    multiply(d, -exponent);
    multiply(&mut beside, -exponent);
    let (alpha, beta) = (d[middle], beside[0]);
    // a row z, and D below it, where the first number of D is 0
    d[middle] = 0.0;
    let mut z = Scratch::<Precise>::new(n)?;
    for (k, z) in z.iter_mut().enumerate() {
        *z = match k <= middle {
            true => alpha * v.at(k, middle),
            false => beta * v.at(k, middle + 1),
        };
    }
    let mut kind = fallible::filled(LEFT, n)?;
    kind[middle + 1..].fill(RIGHT);
    if columns > n {
        // of the two directions without a row of D, one meets the row
        let (x, y) = (z[middle], beta * v.at(n, middle + 1));
        let length = hypot(x, y);
        if length > 0.0 {
            v.rotate(middle, n, x / length, y / length);
            kind[middle] = LEFT | RIGHT;
        }
        z[middle] = length;
    }
    let least = 4.0 * tolerance; // beside numbers of magnitude 1
    if abs(z[middle]) <= least {
        z[middle] = least;
    }
    let head = Some(middle);
    let blocks = &mut [&mut *u, &mut *v];
    let split = Split::new(d, 1.0, &mut z, &mut kind, blocks, least, head)?;
    let count = split.kept.len();
    let Some((poles, mut roots)) = split.roots(d, &z, 1.0, Some(0.5 * least), tolerance)? else {
        return Ok(false);
    };
    split.numbers(d, &roots.values)?;
    multiply(d, exponent);
    let vectors = split.vectors(&roots.exact, &roots.delta, false)?;
    v.replace(&split, &vectors, (0..middle + 1, middle + 1..columns))?;
    for (x, pole) in roots.exact.iter_mut().zip(poles.iter()) {
        *x *= pole;
    }
    let vectors = split.vectors(&roots.exact, &roots.delta, true)?;
    u.replace(&split, &vectors, (0..middle, middle + 1..n))?;
    // the row taken out is a column of U
    let place = split.places.iter().position(|k| *k == 0).unwrap_or(0);
    let (stride, column) = (u.stride, u.columns.start + middle);
    for (row, vector) in u
        .rows
        .chunks_exact_mut(stride)
        .zip(vectors.chunks_exact(count))
    {
        row[column] = vector[place];
    }
    Ok(true)
}
