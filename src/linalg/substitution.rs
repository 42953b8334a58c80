//! Triangular systems: by halves down to panels, between which are products, and by substitution in
//! panels, for right-hand sides in groups that fit L1.

use super::blocks::{add_product, copied, half, pair, panel};
use super::field::Field;
use crate::error::Result;
use crate::exec::failure::{try_ranges, try_split};
use crate::kernel::gemm::{Mat, Scratch};
use crate::kernel::linalg::{LANES, axpy, dot, substitute};
use crate::par::{Cost, Out};
use core::ops::Range;

/// A triangle of a matrix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Triangle {
    /// The lower one.
    Lower,
    /// The lower one, with a diagonal of 1.
    UnitLower,
    /// The conjugate of the lower one.
    ConjLower,
    /// The upper one.
    Upper,
}

/// A triangle of a contiguous matrix of `n`, to solve systems with: any but [`Triangle::ConjLower`].
pub(super) struct TriangularSystem<'a, T> {
    matrix: &'a [T],
    n: usize,
    triangle: Triangle,
}

impl<'a, T: Field> TriangularSystem<'a, T> {
    pub fn new(matrix: &'a [T], n: usize, triangle: Triangle) -> Self {
        TriangularSystem {
            matrix,
            n,
            triangle,
        }
    }
    /// Solves `T X = B` in place, for the columns `cols` of B, whose rows have `stride` elements.
    pub fn solve(&self, b: &mut [T], stride: usize, cols: Range<usize>) -> Result<()> {
        if stride == 1 {
            self.substitute(b);
            return Ok(());
        }
        self.solve_rows(b, stride, 0..self.n, &|_| cols.clone())
    }
    /// Replaces an identity by the inverse of a lower triangle, which is one, too.
    pub fn invert(&self, x: &mut [T]) -> Result<()> {
        self.solve_rows(x, self.n, 0..self.n, &|end| 0..end)
    }
    /// Solves for one right-hand side, row by row.
    fn substitute(&self, b: &mut [T]) {
        let n = self.n;
        for k in 0..n {
            let (i, known) = match self.triangle {
                Triangle::Upper => (n - 1 - k, n - k..n),
                _ => (k, 0..k),
            };
            let row = &self.matrix[i * n..(i + 1) * n];
            let sum = b[i] - dot(&row[known.clone()], &b[known]);
            b[i] = match self.triangle {
                Triangle::UnitLower => sum,
                _ => sum.divide(row[i]),
            };
        }
    }
    /// Solves for the rows `rows`, from which all others are subtracted. `cols(end)` are the columns in
    /// which rows before row `end` are not zero.
    fn solve_rows(
        &self,
        b: &mut [T],
        stride: usize,
        rows: Range<usize>,
        cols: &dyn Fn(usize) -> Range<usize>,
    ) -> Result<()> {
        if rows.len() <= panel(self.n) {
            let cols = cols(rows.end);
            return self.solve_panel(b, stride, rows, cols);
        }
        let middle = rows.start + half(rows.len());
        let (mut first, mut second) = (rows.start..middle, middle..rows.end);
        if self.triangle == Triangle::Upper {
            (first, second) = (second, first);
        }
        self.solve_rows(b, stride, first.clone(), cols)?;
        self.subtract(b, stride, second.clone(), first.clone(), cols(first.end))?;
        self.solve_rows(b, stride, second, cols)
    }
    fn solve_panel(
        &self,
        b: &mut [T],
        stride: usize,
        rows: Range<usize>,
        cols: Range<usize>,
    ) -> Result<()> {
        let panel = Panel::new(self.matrix, self.n, rows.clone(), self.triangle)?;
        if panel.is_finite() {
            return panel.solve(&mut b[rows.start * stride..], stride, cols);
        }
        for k in 0..rows.len() {
            let (i, known) = match self.triangle {
                Triangle::Upper => (rows.end - 1 - k, rows.end - k..rows.end),
                _ => (rows.start + k, rows.start..rows.start + k),
            };
            let factors = &self.matrix[i * self.n..(i + 1) * self.n];
            for k in known {
                let (row, other) = pair(b, stride, i, k);
                axpy(-factors[k], &other[cols.clone()], &mut row[cols.clone()]);
            }
            if self.triangle != Triangle::UnitLower {
                for x in &mut b[i * stride..][cols.clone()] {
                    *x = x.divide(factors[i]);
                }
            }
        }
        Ok(())
    }
    /// Subtracts from the rows `rows` the product of those elements of the matrix with the rows `known`,
    /// which are solutions.
    fn subtract(
        &self,
        b: &mut [T],
        stride: usize,
        rows: Range<usize>,
        known: Range<usize>,
        cols: Range<usize>,
    ) -> Result<()> {
        let left = copied(self.matrix, self.n, rows.clone(), known.clone(), |x| -x)?;
        let left = Mat::from_slice(&left, rows.len(), known.len());
        let (low, high) = b.split_at_mut(rows.start.max(known.start) * stride);
        let (to, from) = match known.start < rows.start {
            true => (high, &low[known.start * stride..]),
            false => (&mut low[rows.start * stride..], &*high),
        };
        let from = &from[..known.len() * stride];
        let right = Mat::from_slice(from, known.len(), stride).block(0..known.len(), cols.clone());
        add_product(&mut to[..rows.len() * stride], stride, cols, left, right)
    }
}

/// A block of the diagonal of a triangular matrix, ready for substitution: rows in the order in
/// which they are solved, without their signs, and the inverses of the diagonal.
pub(super) struct Panel<T> {
    factor: Scratch<T>,
    size: usize,
    upper: bool,
}

impl<T: Field> Panel<T> {
    /// The block `range` of a triangle of a matrix with rows of `stride` elements.
    pub fn new(t: &[T], stride: usize, range: Range<usize>, triangle: Triangle) -> Result<Self> {
        let (size, upper) = (range.len(), triangle == Triangle::Upper);
        let mut factor = Scratch::new(size * size)?;
        factor.fill(T::ZERO);
        let at = |k: usize| match upper {
            true => range.end - 1 - k,
            false => range.start + k,
        };
        for (j, to) in factor.chunks_exact_mut(size.max(1)).enumerate() {
            let row = &t[at(j) * stride..][..stride];
            for (k, to) in to[..j].iter_mut().enumerate() {
                *to = -row[at(k)];
            }
            to[j] = match triangle {
                Triangle::UnitLower => T::ONE,
                _ => T::ONE.divide(row[at(j)]),
            };
            if triangle == Triangle::ConjLower {
                to[..=j].iter_mut().for_each(|x| *x = x.conj());
            }
        }
        Ok(Panel {
            factor,
            size,
            upper,
        })
    }
    /// Whether the inverses of the diagonal are finite, without which there is no solution by them.
    pub fn is_finite(&self) -> bool {
        let mut inverses = self.factor.iter().step_by(self.size + 1);
        inverses.all(|inverse| inverse.isfinite())
    }
    /// What the right-hand sides cost, for each.
    fn cost(&self) -> Cost {
        Cost {
            bytes: 2 * size_of::<T>() * self.size,
            flops: self.size * self.size,
        }
    }
    /// Solves `P X = B` in place, for the columns `cols` of B, whose rows have `stride` elements.
    pub fn solve(&self, b: &mut [T], stride: usize, cols: Range<usize>) -> Result<()> {
        let b = Out::new(&mut b[..self.size * stride]);
        try_ranges(cols.len(), LANES, self.cost(), |groups| {
            let mut tile = Scratch::new(self.size * LANES)?;
            tile.fill(T::ZERO);
            for first in groups.clone().step_by(LANES) {
                let group = first..groups.end.min(first + LANES);
                let row = |k: usize| {
                    let row = if self.upper { self.size - 1 - k } else { k };
                    let start = row * stride + cols.start;
                    // SAFETY: OUT1: no two groups have a column in common, and one row of a
                    // group is borrowed at a time.
                    unsafe { b.part(start + group.start..start + group.end) }
                };
                for (k, line) in tile.chunks_exact_mut(LANES).enumerate() {
                    line[..group.len()].copy_from_slice(row(k));
                }
                substitute(&self.factor, self.size, &mut tile);
                for (k, line) in tile.chunks_exact(LANES).enumerate() {
                    row(k).copy_from_slice(&line[..group.len()]);
                }
            }
            Ok(())
        })
    }
    /// Solves `X P^T = B` in place, for a lower triangle P and the columns `cols` of B.
    pub fn solve_rows(&self, b: &mut [T], stride: usize, cols: Range<usize>) -> Result<()> {
        try_split(b, stride, LANES, self.cost(), |_, rows| {
            let mut tile = Scratch::new(self.size * LANES)?;
            tile.fill(T::ZERO);
            for rows in rows.chunks_mut(LANES * stride) {
                for (lane, row) in rows.chunks_exact(stride).enumerate() {
                    for (line, x) in tile.chunks_exact_mut(LANES).zip(&row[cols.clone()]) {
                        line[lane] = *x;
                    }
                }
                substitute(&self.factor, self.size, &mut tile);
                for (lane, row) in rows.chunks_exact_mut(stride).enumerate() {
                    for (line, x) in tile.chunks_exact(LANES).zip(&mut row[cols.clone()]) {
                        *x = line[lane];
                    }
                }
            }
            Ok(())
        })
    }
}
