//! Eigenvectors of real symmetric tridiagonal matrices by divide and conquer: halves that a change of
//! rank 1 joins (Cuppen 1981; Gu, Eisenstat 1995; LAPACK's stedc). What grows with the cube of the size
//! are products; implicit QL rotates the whole matrix for each number that it removes.

use super::field::{abs, sqrt};
use super::merge::{self, Block, LEAF, LEFT, RIGHT, Split};
use super::precise::{Precise, multiply};
use super::rotations::Rotations;
use super::tridiagonal::iterate;
use crate::error::Result;
use crate::fallible;
use crate::kernel::gemm::Scratch;
use crate::kernel::math::Real;
use crate::par::{Cost, Out};

/// Replaces the diagonal `d` of a symmetric tridiagonal matrix, whose numbers beside it are `e`, by its
/// eigenvalues, in no order; the rows of the result are the eigenvectors. `tolerance` is what is
/// negligible beside 1. None if the iterations do not converge.
pub(super) fn eigenvectors(
    d: &mut [Precise],
    e: &mut [Precise],
    tolerance: Precise,
) -> Result<Option<Scratch<Precise>>> {
    let n = d.len();
    let mut rows = Scratch::new(n.saturating_mul(n))?;
    rows.fill(0.0);
    let mut start = 0;
    while start < n {
        let negligible = |k: &usize| {
            let size = sqrt(abs(d[*k])) * sqrt(abs(d[*k + 1]));
            abs(e[*k]) <= tolerance * size
        };
        let end = (start..n - 1).find(negligible).map_or(n, |k| k + 1);
        let (d, e) = (&mut d[start..end], &mut e[start..end - 1]);
        // blocks may differ in size by many orders, and each is accurate by itself
        let largest = d.iter().chain(e.iter()).fold(0.0, |all, x| {
            if abs(*x) > all || x.is_nan() {
                abs(*x)
            } else {
                all
            }
        });
        let exponent = libm::frexp(largest.to_f64()).1;
        multiply(d, -exponent);
        multiply(e, -exponent);
        let mut block = Block {
            rows: &mut rows[start * n..end * n],
            stride: n,
            columns: start..end,
        };
        if !solve(d, e, &mut block, tolerance)? {
            return Ok(None);
        }
        multiply(d, exponent);
        start = end;
    }
    Ok(Some(rows))
}

/// Fills a block, which is zero, with the eigenvectors. False if the iterations do not converge.
fn solve(
    d: &mut [Precise],
    e: &mut [Precise],
    block: &mut Block,
    tolerance: Precise,
) -> Result<bool> {
    let n = d.len();
    let mut levels = 0;
    while n >> levels > LEAF {
        levels += 1;
    }
    let bound = |level: usize, k: usize| (k * n) >> level;
    for k in 1..1 << levels {
        let at = bound(levels, k);
        d[at - 1] -= abs(e[at - 1]);
        d[at] -= abs(e[at - 1]);
    }
    let (stride, column) = (block.stride, block.columns.start);
    for level in (0..=levels).rev() {
        let (d, rows, e) = (Out::new(d), Out::new(block.rows), Out::new(e));
        let one = |k: usize| {
            let (start, end) = (bound(level, k), bound(level, k + 1));
            // SAFETY: OUT1: each part of a level has numbers and rows of its own.
            let (d, rows, e) = unsafe {
                (
                    d.part(start..end),
                    rows.part(start * stride..end * stride),
                    e.part(start..end - 1),
                )
            };
            let mut block = Block {
                rows,
                stride,
                columns: column + start..column + end,
            };
            if level == levels {
                return leaf(d, e, &mut block, tolerance);
            }
            let middle = bound(level + 1, 2 * k + 1) - start;
            merge(d, e[middle - 1], middle, &mut block, tolerance)
        };
        let size = n >> level;
        let cost = Cost {
            bytes: 4 * size * size * size_of::<Precise>(),
            flops: 2 * size * size * size,
        };
        if !merge::level(1 << level, cost, one)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A block that is not divided.
fn leaf(
    d: &mut [Precise],
    e: &mut [Precise],
    block: &mut Block,
    tolerance: Precise,
) -> Result<bool> {
    let mut rotations = Rotations::new(d.len(), true)?;
    let done = iterate(d, e, &mut rotations, tolerance);
    for (k, row) in block.rows.chunks_exact_mut(block.stride).enumerate() {
        rotations.row(k, &mut row[block.columns.start..], |x| x);
    }
    Ok(done)
}

/// Joins the first `middle` eigenvalues and eigenvectors of a block with the others, whose matrices the
/// number `beside` connects.
fn merge(
    d: &mut [Precise],
    beside: Precise,
    middle: usize,
    block: &mut Block,
    tolerance: Precise,
) -> Result<bool> {
    let n = d.len();
    // D + rho z z^T, with a z of length 1
    let rho = 2.0 * abs(beside);
    let by = 1.0 / sqrt::<Precise>(2.0);
    let mut z = Scratch::<Precise>::new(n)?;
    for (k, z) in z.iter_mut().enumerate() {
        *z = by
            * match (k < middle, beside < 0.0) {
                (true, _) => block.at(k, middle - 1),
                (false, false) => block.at(k, middle),
                (false, true) => -block.at(k, middle),
            };
    }
    let mut kind = fallible::filled(LEFT, n)?;
    kind[middle..].fill(RIGHT);
    let largest = |x: &[Precise]| x.iter().fold(0.0, |all, x| abs(*x).max(all));
    let least = 4.0 * tolerance * largest(d).max(largest(&z));
    let blocks = &mut [&mut *block];
    let split = Split::new(d, rho, &mut z, &mut kind, blocks, least, None)?;
    if split.kept.is_empty() {
        return Ok(true);
    }
    let Some((_, roots)) = split.roots(d, &z, rho, None, tolerance)? else {
        return Ok(false);
    };
    let vectors = split.vectors(&roots.exact, &roots.delta, false)?;
    split.numbers(d, &roots.values)?;
    block.replace(&split, &vectors, (0..middle, middle..n))?;
    Ok(true)
}
