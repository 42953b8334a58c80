//! What divide and conquer of tridiagonal and of bidiagonal matrices share: rows of eigenvectors or
//! singular vectors, what joining two halves leaves as it is, and the products that make the others.

use super::batch::all;
use super::blocks::{add_product, pair_mut};
use super::field::{abs, epsilon, hypot, sqrt};
use super::precise::Precise;
use super::secular::{Roots, Secular};
use crate::error::Result;
use crate::fallible;
use crate::kernel::gemm::{Mat, Scratch};
use crate::par::{self, Cost};
use alloc::vec::Vec;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

/// The largest blocks that are not divided: iterations are faster.
pub(super) const LEAF: usize = 40;

/// Solves the problems of a level of `count`, each of which takes `cost`. False if an iteration does not
/// converge, which `one` says of its problem.
pub(super) fn level(
    count: usize,
    cost: Cost,
    one: impl Fn(usize) -> Result<bool> + Sync,
) -> Result<bool> {
    let failed = AtomicBool::new(false);
    all(count, cost, |k| {
        if !one(k)? {
            failed.store(true, Ordering::Relaxed);
        }
        Ok(())
    })?;
    Ok(!failed.into_inner())
}

/// What of a row is not zero: columns of the first half, of the second, or of both.
pub(super) const LEFT: u8 = 1;
/// See [`LEFT`].
pub(super) const RIGHT: u8 = 2;

/// Rows of a matrix, and the columns that belong to them.
pub(super) struct Block<'a> {
    pub rows: &'a mut [Precise],
    pub stride: usize,
    pub columns: Range<usize>,
}

impl Block<'_> {
    pub fn at(&self, row: usize, column: usize) -> Precise {
        self.rows[row * self.stride + self.columns.start + column]
    }
    /// `(x, y) = (c x + s y, c y - s x)` of two rows.
    pub fn rotate(&mut self, x: usize, y: usize, c: Precise, s: Precise) {
        let (x, y) = pair_mut(self.rows, self.stride, x, y);
        let columns = self.columns.clone();
        for (x, y) in x[columns.clone()].iter_mut().zip(&mut y[columns]) {
            (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
        }
    }
    /// Some columns of some rows.
    fn gather(&self, which: &[usize], columns: Range<usize>) -> Result<Scratch<Precise>> {
        let mut copy = Scratch::<Precise>::new(which.len() * columns.len())?;
        let parts = copy.chunks_exact_mut(columns.len().max(1));
        for (to, at) in parts.zip(which) {
            to.copy_from_slice(&self.rows[at * self.stride..][columns.clone()]);
        }
        Ok(copy)
    }
    /// Replaces the rows by the products of the square matrix `vectors` with those that are kept, and
    /// then those dropped. Columns are counted from the block's first; those in neither half become 0.
    pub fn replace(
        &mut self,
        split: &Split,
        vectors: &[Precise],
        (first, second): (Range<usize>, Range<usize>),
    ) -> Result<()> {
        let (stride, start, count) = (self.stride, self.columns.start, split.grouped.len());
        let columns = self.columns.clone();
        let absolute = |x: Range<usize>| start + x.start..start + x.end;
        let (first, second) = (absolute(first), absolute(second));
        let (upper, lower) = (0..count - split.right, split.left..count);
        let left = self.gather(&split.grouped[upper.clone()], first.clone())?;
        let right = self.gather(&split.grouped[lower.clone()], second.clone())?;
        let others = self.gather(&split.dropped, columns.clone())?;
        let (rows, rest) = self.rows.split_at_mut(count * stride);
        let others = others.chunks_exact(columns.len().max(1));
        for (row, from) in rest.chunks_exact_mut(stride).zip(others) {
            row[columns.clone()].copy_from_slice(from);
        }
        for row in rows.chunks_exact_mut(stride) {
            row[columns.clone()].fill(0.0);
        }
        let vectors = Mat::from_slice(vectors, count, count);
        for (from, which, columns) in [(left, upper, first), (right, lower, second)] {
            let from = Mat::from_slice(&from, which.len(), columns.len());
            let vectors = vectors.block(0..count, which);
            add_product(rows, stride, columns, vectors, from)?;
        }
        Ok(())
    }
}

/// The rows that a change of rank 1 combines, and those that it leaves as they are.
#[derive(Default)]
pub(super) struct Split {
    /// Combined rows, their numbers ascending.
    pub kept: Vec<usize>,
    pub dropped: Vec<usize>,
    /// Combined rows by halves, those of both in the middle, and where each is in `kept`.
    pub grouped: Vec<usize>,
    pub places: Vec<usize>,
    /// How many of them are of the first half alone, and of the second.
    pub left: usize,
    pub right: usize,
}

impl Split {
    /// Finds what the change by `rho z z^T` of the diagonal matrix `d` leaves as it is: rows whose
    /// element of `z` is negligible, and one of two with almost the same number, after a rotation of
    /// both in all `blocks`. `least` is the largest negligible number; `head` is kept in any case, as
    /// the first.
    pub fn new(
        d: &mut [Precise],
        rho: Precise,
        z: &mut [Precise],
        kind: &mut [u8],
        blocks: &mut [&mut Block],
        least: Precise,
        head: Option<usize>,
    ) -> Result<Split> {
        let n = d.len();
        let mut split = Split {
            kept: fallible::with_capacity(n)?,
            dropped: fallible::with_capacity(n)?,
            grouped: fallible::with_capacity(n)?,
            places: fallible::with_capacity(n)?,
            ..Split::default()
        };
        split.kept.extend(head);
        let mut last: Option<usize> = None;
        for at in super::precise::order(d, false)? {
            if Some(at) == head {
                continue;
            }
            if rho * abs(z[at]) <= least {
                split.dropped.push(at);
                continue;
            }
            if let Some(before) = last {
                let length = hypot(z[at], z[before]);
                let (c, s) = (z[at] / length, -z[before] / length);
                let (x, y) = (d[before], d[at]);
                if abs((y - x) * c * s) <= least {
                    (z[at], z[before]) = (length, 0.0);
                    kind[at] |= kind[before];
                    d[before] = x * (c * c) + y * (s * s);
                    d[at] = x * (s * s) + y * (c * c);
                    for block in blocks.iter_mut() {
                        block.rotate(before, at, c, s);
                    }
                    split.dropped.push(before);
                } else {
                    split.kept.push(before);
                }
            }
            last = Some(at);
        }
        split.kept.extend(last);
        for kinds in [LEFT, LEFT | RIGHT, RIGHT] {
            for (place, at) in split.kept.iter().enumerate() {
                if kind[*at] == kinds {
                    split.grouped.push(*at);
                    split.places.push(place);
                    split.left += usize::from(kinds == LEFT);
                    split.right += usize::from(kinds == RIGHT);
                }
            }
        }
        Ok(split)
    }
    /// The poles and roots of the combined rows' equation, with the signs of `z`. With `squares`, poles are
    /// squares, the first of them 0, and this is the smallest number that the second may stand for. None
    /// if an iteration does not converge.
    pub fn roots(
        &self,
        d: &[Precise],
        z: &[Precise],
        rho: Precise,
        squares: Option<Precise>,
        tolerance: Precise,
    ) -> Result<Option<(Scratch<Precise>, Roots)>> {
        let count = self.kept.len();
        let mut poles = Scratch::<Precise>::new(count)?;
        let mut weights = Scratch::<Precise>::new(count)?;
        let mut sum = 0.0;
        for (k, at) in self.kept.iter().enumerate() {
            poles[k] = d[*at];
            weights[k] = z[*at] * z[*at];
            sum += weights[k];
        }
        if let (Some(least), Some(second)) = (squares, poles.get_mut(1)) {
            *second = second.max(least);
        }
        let secular = Secular {
            poles: &poles,
            weights: &weights,
            squares: squares.is_some(),
            constant: 1.0 / rho,
            last: rho * sum * (1.0 + 8.0 * epsilon::<Precise>()),
            tolerance,
        };
        let Some(mut roots) = secular.roots()? else {
            return Ok(None);
        };
        for (x, at) in roots.exact.iter_mut().zip(&self.kept) {
            *x = if z[*at] < 0.0 { -*x } else { *x };
        }
        Ok(Some((poles, roots)))
    }
    /// Replaces numbers by those of the combined rows, and then of the others.
    pub fn numbers(&self, d: &mut [Precise], values: &[Precise]) -> Result<()> {
        let mut others: Vec<Precise> = fallible::with_capacity(self.dropped.len())?;
        others.extend(self.dropped.iter().map(|at| d[*at]));
        let (first, rest) = d.split_at_mut(values.len());
        first.copy_from_slice(values);
        rest.copy_from_slice(&others);
        Ok(())
    }
    /// Vectors of length 1, one a row: `numerators / delta` of a root, in the order of `grouped`. With
    /// `head`, -1 in place of the first of `kept`.
    pub fn vectors(
        &self,
        numerators: &[Precise],
        delta: &[Precise],
        head: bool,
    ) -> Result<Scratch<Precise>> {
        let n = self.kept.len();
        let mut vectors = Scratch::<Precise>::new(n * n)?;
        let cost = Cost {
            bytes: n * size_of::<Precise>(),
            flops: 16 * n,
        };
        par::split(&mut vectors, n, 1, cost, |range, part| {
            for (j, row) in range.zip(part.chunks_exact_mut(n)) {
                let delta = &delta[j * (n + 1)..];
                let mut sum = 0.0;
                for (to, k) in row.iter_mut().zip(&self.places) {
                    let x = numerators[*k] / delta[*k];
                    *to = if head && *k == 0 { -1.0 } else { x };
                    sum += *to * *to;
                }
                let by = 1.0 / sqrt::<Precise>(sum);
                row.iter_mut().for_each(|x| *x *= by);
            }
        });
        Ok(vectors)
    }
}
