//! LU factorisation with partial pivoting: `P A = L U`, by halves of the columns down to panels (Toledo
//! 1997, "Locality of Reference in LU Decomposition with Partial Pivoting"; LAPACK's getrf2).

use super::blocks::{add_product, copied, half, pair_mut, panel};
use super::field::Field;
use super::qr::transpose_into;
use super::substitution::{Triangle, TriangularSystem};
use crate::error::{Error, Result};
use crate::exec::failure::try_split;
use crate::fallible;
use crate::kernel::gemm::{Mat, Scratch};
use crate::kernel::linalg::{axpy, axpy_four, largest};
use crate::par::Cost;
use core::ops::Range;

/// Factors a contiguous matrix of `rows x cols` in place: U, and below its diagonal L, whose
/// diagonal is 1. Row `k` was exchanged with row `pivots[k]`. Returns the number of the first pivot
/// that is zero, counted from 1, or 0; the factorisation is complete in any case.
pub(super) fn factor<T: Field>(
    a: &mut [T],
    rows: usize,
    cols: usize,
    pivots: &mut [usize],
) -> Result<usize> {
    let steps = rows.min(cols);
    let zero = factor_columns(a, [rows, cols], 0..steps, panel(steps), pivots)?;
    eliminate(a, [rows, cols], 0..steps, steps..cols)?;
    Ok(zero)
}

/// Factors columns from their first row on: the left half, and the right one after its elimination.
/// So most of the work are products of large blocks.
fn factor_columns<T: Field>(
    a: &mut [T],
    shape: [usize; 2],
    columns: Range<usize>,
    panel: usize,
    pivots: &mut [usize],
) -> Result<usize> {
    if columns.len() <= panel {
        return factor_panel(a, shape, columns, pivots);
    }
    let middle = columns.start + half(columns.len());
    let left = columns.start..middle;
    let zero = factor_columns(a, shape, left.clone(), panel, pivots)?;
    eliminate(a, shape, left, middle..columns.end)?;
    let later = factor_columns(a, shape, middle..columns.end, panel, pivots)?;
    Ok(if zero == 0 { later } else { zero })
}

/// Eliminates the factored columns `left` from the columns `right`: `L11 U12 = A12`, and
/// `A22 -= L21 U12`.
fn eliminate<T: Field>(
    a: &mut [T],
    [rows, cols]: [usize; 2],
    left: Range<usize>,
    right: Range<usize>,
) -> Result<()> {
    if left.is_empty() || right.is_empty() {
        return Ok(());
    }
    let l = copied(a, cols, left.clone(), left.clone(), |x| x)?;
    let (above, below) = a.split_at_mut(left.end * cols);
    let system = TriangularSystem::new(&l, left.len(), Triangle::UnitLower);
    system.solve(&mut above[left.start * cols..], cols, right.clone())?;
    let l = copied(below, cols, 0..rows - left.end, left.clone(), |x| -x)?;
    let l = Mat::from_slice(&l, rows - left.end, left.len());
    let u = Mat::from_slice(above, left.end, cols).block(left, right.clone());
    add_product(below, cols, right, l, u)
}

/// Factors the columns `panel` from their first row on, and exchanges whole rows. Returns the number
/// of the first pivot that is zero, or 0.
fn factor_panel<T: Field>(
    a: &mut [T],
    [rows, cols]: [usize; 2],
    panel: Range<usize>,
    pivots: &mut [usize],
) -> Result<usize> {
    let (start, m) = (panel.start, rows - panel.start);
    // column by column: updates run along columns, and are made when a column is reached
    let mut columns = Scratch::new(m * panel.len())?;
    let part = &a[start * cols + panel.start..];
    transpose_into(part, cols, [m, panel.len()], (&mut columns, m, 0), |x| x);
    let mut zero = 0;
    for k in 0..panel.len() {
        let (before, column) = columns.split_at_mut(k * m);
        subtract_columns(before, &mut column[..m]);
        let with = k + largest(&column[k..m]);
        pivots[start + k] = start + with;
        columns.chunks_exact_mut(m).for_each(|c| c.swap(k, with));
        let (pivot, below) = columns[k * m + k..(k + 1) * m].split_at_mut(1);
        if pivot[0] == T::ZERO {
            // the rest of the column is zero too
            zero = if zero == 0 { start + k + 1 } else { zero };
            continue;
        }
        below.iter_mut().for_each(|x| *x = x.divide(pivot[0]));
    }
    for k in panel.clone().filter(|k| pivots[*k] != *k) {
        let (x, y) = pair_mut(a, cols, k, pivots[k]);
        x.swap_with_slice(y);
    }
    let whole = (&mut a[start * cols..], cols, panel.start);
    transpose_into(&columns, m, [panel.len(), m], whole, |x| x);
    Ok(zero)
}

/// Subtracts from a column the multiples of the columns `before` it that its elements beside their
/// diagonals say, one after the other: four at a time, which read and write it once.
fn subtract_columns<T: Field>(before: &[T], column: &mut [T]) {
    let m = column.len();
    let fours = before.chunks_exact(4 * m);
    let rest = fours.remainder();
    for (j, four) in (0..).step_by(4).zip(fours) {
        let four: [&[T]; 4] = core::array::from_fn(|i| &four[i * m + j..(i + 1) * m]);
        let column = &mut column[j..];
        for i in 1..4 {
            for k in 0..i {
                column[i] = column[i] - four[k][i] * column[k];
            }
        }
        let by = [0, 1, 2, 3].map(|i| -column[i]);
        axpy_four(by, four.map(|c| &c[4..]), &mut column[4..]);
    }
    for (one, j) in rest.chunks_exact(m).zip(before.len() / (4 * m) * 4..) {
        axpy(-column[j], &one[j + 1..], &mut column[j + 1..]);
    }
}

/// Solves `A X = B` in place for the factors of a square matrix of `n` without zero pivots. `b` has
/// `n` rows of `width`.
pub(super) fn solve<T: Field>(
    lu: &[T],
    pivots: &[usize],
    n: usize,
    b: &mut [T],
    width: usize,
) -> Result<()> {
    for (k, with) in pivots.iter().enumerate() {
        if *with != k {
            let (x, y) = pair_mut(b, width, k, *with);
            x.swap_with_slice(y);
        }
    }
    TriangularSystem::new(lu, n, Triangle::UnitLower).solve(b, width, 0..width)?;
    TriangularSystem::new(lu, n, Triangle::Upper).solve(b, width, 0..width)
}

/// Writes the inverse of a square matrix of `n` without zero pivots, by its factors.
pub(super) fn inverse<T: Field>(lu: &[T], pivots: &[usize], n: usize, x: &mut [T]) -> Result<()> {
    x.fill(T::ZERO);
    x.iter_mut().step_by(n + 1).for_each(|x| *x = T::ONE);
    TriangularSystem::new(lu, n, Triangle::UnitLower).invert(x)?;
    TriangularSystem::new(lu, n, Triangle::Upper).solve(x, n, 0..n)?;
    // rows were exchanged from the left, so columns are from the right, the last first
    let mut from = fallible::collect((0..n).map(Ok::<_, Error>))?;
    for (k, with) in pivots.iter().enumerate().rev() {
        from.swap(k, *with);
    }
    let cost = Cost {
        bytes: 4 * size_of::<T>() * n,
        flops: n,
    };
    try_split(x, n, 1, cost, |_, rows| {
        let mut copy = Scratch::new(n)?;
        for row in rows.chunks_exact_mut(n) {
            copy.copy_from_slice(row);
            for (to, k) in row.iter_mut().zip(&from) {
                *to = copy[*k];
            }
        }
        Ok(())
    })
}
