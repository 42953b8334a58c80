//! Substitution: triangular systems of a panel, for right-hand sides in groups that fit L1.

use super::field::Field;
use crate::error::Result;
use crate::exec::failure::{try_ranges, try_split};
use crate::kernel::gemm::Scratch;
use crate::kernel::linalg::{LANES, substitute};
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
