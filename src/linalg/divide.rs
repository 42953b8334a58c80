//! Eigenvectors of real symmetric tridiagonal matrices by divide and conquer: halves that a change of
//! rank 1 joins (Cuppen 1981; Gu, Eisenstat 1995; LAPACK's stedc). What grows with the cube of the size
//! are products; implicit QL rotates the whole matrix for each number that it removes.

use super::blocks::add_product;
use super::field::{abs, hypot, sqrt};
use super::precise::{Precise, multiply, order};
use super::rotations::Rotations;
use super::secular::Secular;
use super::tridiagonal::iterate;
use crate::error::Result;
use crate::exec::failure::try_chunks;
use crate::fallible;
use crate::kernel::gemm::{Mat, Scratch};
use crate::par::{self, Cost, Out};
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};

/// The largest blocks that are not divided: QL iterations are faster.
const LEAF: usize = 40;

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
        let exponent = libm::frexp(largest.into()).1;
        multiply(d, -exponent);
        multiply(e, -exponent);
        let mut block = Block {
            rows: &mut rows[start * n..end * n],
            stride: n,
            column: start,
        };
        if !solve(d, e, &mut block, tolerance)? {
            return Ok(None);
        }
        multiply(d, exponent);
        start = end;
    }
    Ok(Some(rows))
}

/// Rows of a matrix, of which columns from `column` on, as many as there are rows, belong to them.
struct Block<'a> {
    rows: &'a mut [Precise],
    stride: usize,
    column: usize,
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
    let failed = AtomicBool::new(false);
    let (stride, column) = (block.stride, block.column);
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
            let column = column + start;
            let mut block = Block {
                rows,
                stride,
                column,
            };
            let done = if level == levels {
                leaf(d, e, &mut block, tolerance)?
            } else {
                let middle = bound(level + 1, 2 * k + 1) - start;
                merge(d, e[middle - 1], middle, &mut block, tolerance)?
            };
            if !done {
                failed.store(true, Ordering::Relaxed);
            }
            Ok(())
        };
        let size = n >> level;
        let cost = Cost {
            bytes: 4 * size * size * size_of::<Precise>(),
            flops: 2 * size * size * size,
        };
        if par::are_few(1 << level, cost) {
            (0..1 << level).try_for_each(one)?;
        } else {
            try_chunks(1 << level, cost, one)?;
        }
        if failed.load(Ordering::Relaxed) {
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
        rotations.row(k, &mut row[block.column..], |x| x);
    }
    Ok(done)
}

/// What of a row of a block is not zero.
const LEFT: u8 = 1;
const RIGHT: u8 = 2;

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
    let (stride, column) = (block.stride, block.column);
    // D + rho z z^T, with a z of length 1
    let rho = 2.0 * abs(beside);
    let by = 1.0 / sqrt::<Precise>(2.0);
    let mut z = Scratch::<Precise>::new(n)?;
    for (k, (z, row)) in z
        .iter_mut()
        .zip(block.rows.chunks_exact(stride))
        .enumerate()
    {
        *z = by
            * match (k < middle, beside < 0.0) {
                (true, _) => row[column + middle - 1],
                (false, false) => row[column + middle],
                (false, true) => -row[column + middle],
            };
    }
    let mut kind = fallible::filled(LEFT, n)?;
    kind[middle..].fill(RIGHT);
    let (kept, dropped) = deflate(d, rho, &mut z, &mut kind, block, tolerance)?;
    let count = kept.len();
    if count == 0 {
        return Ok(true);
    }
    let mut poles = Scratch::<Precise>::new(count)?;
    let mut weights = Scratch::<Precise>::new(count)?;
    for (k, at) in kept.iter().enumerate() {
        poles[k] = d[*at];
        weights[k] = z[*at] * z[*at];
    }
    let sum: Precise = weights.iter().sum();
    let secular = Secular {
        poles: &poles,
        weights: &weights,
        squares: false,
        constant: 1.0 / rho,
        last: rho * sum * (1.0 + 8.0 * super::field::epsilon::<Precise>()),
        tolerance,
    };
    // the rows that are multiplied, those of both halves in the middle
    let mut grouped: Vec<usize> = fallible::with_capacity(count)?;
    for kinds in [LEFT, LEFT | RIGHT, RIGHT] {
        grouped.extend((0..count).filter(|k| kind[kept[*k]] == kinds));
    }
    let part = |kinds: u8| kept.iter().filter(|at| kind[**at] == kinds).count();
    let (left, right) = (part(LEFT), part(RIGHT));
    let Some((values, vectors)) = vectors(&secular, &kept, &z, &grouped)? else {
        return Ok(false);
    };
    let rows = &mut *block.rows;
    let gather = |which: &[usize], columns: core::ops::Range<usize>| {
        let mut copy = Scratch::<Precise>::new(which.len() * columns.len())?;
        for (to, at) in copy.chunks_exact_mut(columns.len()).zip(which) {
            to.copy_from_slice(&rows[at * stride..][columns.clone()]);
        }
        Result::Ok(copy)
    };
    let columns = column..column + n;
    let (first, second) = (column..column + middle, column + middle..column + n);
    let which = fallible::collect(
        grouped
            .iter()
            .map(|k| Ok::<_, crate::error::Error>(kept[*k])),
    )?;
    let upper = gather(&which[..count - right], first.clone())?;
    let lower = gather(&which[left..], second.clone())?;
    let others = gather(&dropped, columns.clone())?;
    let mut numbers = Scratch::<Precise>::new(n)?;
    numbers[..count].copy_from_slice(&values);
    for (to, at) in numbers[count..].iter_mut().zip(&dropped) {
        *to = d[*at];
    }
    d.copy_from_slice(&numbers);
    let (rows, rest) = block.rows.split_at_mut(count * stride);
    for (row, from) in rest.chunks_exact_mut(stride).zip(others.chunks_exact(n)) {
        row[columns.clone()].copy_from_slice(from);
    }
    for row in rows.chunks_exact_mut(stride) {
        row[columns.clone()].fill(0.0);
    }
    let vectors = Mat::from_slice(&vectors, count, count);
    for (from, which, columns) in [
        (upper, 0..count - right, first),
        (lower, left..count, second),
    ] {
        let from = Mat::from_slice(&from, which.len(), columns.len());
        add_product(rows, stride, columns, vectors.block(0..count, which), from)?;
    }
    Ok(true)
}

/// Finds what the change of rank 1 leaves as it is: rows whose element of `z` is negligible, and one of
/// two with almost the same eigenvalue, after a rotation of both. The others, by eigenvalue, and these.
fn deflate(
    d: &mut [Precise],
    rho: Precise,
    z: &mut [Precise],
    kind: &mut [u8],
    block: &mut Block,
    tolerance: Precise,
) -> Result<(Vec<usize>, Vec<usize>)> {
    let n = d.len();
    let (stride, columns) = (block.stride, block.column..block.column + n);
    let largest = |x: &[Precise]| x.iter().fold(0.0, |all, x| abs(*x).max(all));
    let least = 4.0 * tolerance * largest(d).max(largest(z));
    let (mut kept, mut dropped) = (fallible::with_capacity(n)?, fallible::with_capacity(n)?);
    let mut last: Option<usize> = None;
    for at in order(d, false)? {
        if rho * abs(z[at]) <= least {
            dropped.push(at);
            continue;
        }
        if let Some(before) = last {
            let length = hypot(z[at], z[before]);
            let (c, s) = (z[at] / length, -z[before] / length);
            if abs((d[at] - d[before]) * c * s) <= least {
                (z[at], z[before]) = (length, 0.0);
                kind[at] |= kind[before];
                let (x, y) = (d[before], d[at]);
                d[before] = x * (c * c) + y * (s * s);
                d[at] = x * (s * s) + y * (c * c);
                let (x, y) = super::blocks::pair_mut(block.rows, stride, before, at);
                for (x, y) in x[columns.clone()].iter_mut().zip(&mut y[columns.clone()]) {
                    (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
                }
                dropped.push(before);
            } else {
                kept.push(before);
            }
        }
        last = Some(at);
    }
    kept.extend(last);
    Ok((kept, dropped))
}

/// The roots, and for each a row of the eigenvector of `D + rho z z^T`, its elements in the order
/// `grouped`. None if an iteration does not converge.
fn vectors(
    secular: &Secular,
    kept: &[usize],
    z: &[Precise],
    grouped: &[usize],
) -> Result<Option<(Scratch<Precise>, Scratch<Precise>)>> {
    let n = kept.len();
    let mut values = Scratch::<Precise>::new(n)?;
    let mut delta = Scratch::<Precise>::new(n * (n + 1))?;
    let mut vectors = Scratch::<Precise>::new(n * n)?;
    let failed = AtomicBool::new(false);
    let cost = Cost {
        bytes: n * size_of::<Precise>(),
        flops: 60 * n,
    };
    {
        let values = Out::new(&mut values);
        par::split(&mut delta, n + 1, 1, cost, |range, part| {
            // SAFETY: OUT1: the ranges of two calls are disjoint.
            let values = unsafe { values.part(range.clone()) };
            for ((j, row), value) in range.zip(part.chunks_exact_mut(n + 1)).zip(values) {
                match secular.root(j, row) {
                    Some((base, tau)) => *value = secular.at(base, tau),
                    None => failed.store(true, Ordering::Relaxed),
                }
            }
        });
    }
    if failed.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mut exact = Scratch::<Precise>::new(n)?;
    exact.fill(1.0);
    for (j, row) in delta.chunks_exact(n + 1).enumerate() {
        secular.loewner(j, row, &mut exact);
    }
    for (x, at) in exact.iter_mut().zip(kept) {
        *x = if z[*at] < 0.0 { -sqrt(*x) } else { sqrt(*x) };
    }
    let cost = Cost {
        bytes: n * size_of::<Precise>(),
        flops: 16 * n,
    };
    let (delta, exact) = (&delta, &exact);
    par::split(&mut vectors, n, 1, cost, |range, part| {
        for (j, row) in range.zip(part.chunks_exact_mut(n)) {
            let delta = &delta[j * (n + 1)..];
            let mut sum = 0.0;
            for (to, k) in row.iter_mut().zip(grouped) {
                *to = exact[*k] / delta[*k];
                sum += *to * *to;
            }
            let by = 1.0 / sqrt::<Precise>(sum);
            row.iter_mut().for_each(|x| *x *= by);
        }
    });
    Ok(Some((values, vectors)))
}
