//! LU factorisation with partial pivoting: `P A = L U`, right-looking, by panels (LAPACK's getrf).

use super::blocks::{add_product, blocks, copied, pair, pair_mut, panel};
use super::field::Field;
use super::qr::transposed;
use super::substitution::{Panel, Triangle};
use crate::error::{Error, Result};
use crate::exec::failure::try_split;
use crate::fallible;
use crate::kernel::gemm::{Mat, Scratch, parts};
use crate::kernel::linalg::{axpy, dot};
use crate::kernel::math::{Number, Real};
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
    let (steps, mut zero) = (rows.min(cols), 0);
    let size = panel(steps);
    for start in (0..steps).step_by(size) {
        let end = steps.min(start + size);
        let column = factor_panel(a, rows, cols, start..end, pivots)?;
        zero = if zero == 0 { column } else { zero };
        if end == cols {
            break;
        }
        // the rows of U beside the panel: L11 U12 = A12
        let block = Panel::new(a, cols, start..end, Triangle::UnitLower)?;
        block.solve(&mut a[start * cols..], cols, end..cols)?;
        if end < rows {
            let left = copied(a, cols, end..rows, start..end, |x| -x)?;
            let left = Mat::from_slice(&left, rows - end, end - start);
            let (above, below) = a.split_at_mut(end * cols);
            let right = Mat::from_slice(above, end, cols).block(start..end, end..cols);
            add_product(below, cols, end..cols, left, right)?;
        }
    }
    Ok(zero)
}

/// Factors the columns `panel` from their first row on, and exchanges whole rows. Returns the number
/// of the first pivot that is zero, or 0.
fn factor_panel<T: Field>(
    a: &mut [T],
    rows: usize,
    cols: usize,
    panel: Range<usize>,
    pivots: &mut [usize],
) -> Result<usize> {
    let (start, m) = (panel.start, rows - panel.start);
    // column by column: updates run along columns, and are made when a column is reached
    let columns = copied(&a[start * cols..], cols, 0..m, panel.clone(), |x| x)?;
    let mut columns = transposed(&columns, m, panel.len(), |x| x)?;
    let mut zero = 0;
    for k in 0..panel.len() {
        let (before, column) = columns.split_at_mut(k * m);
        let column = &mut column[..m];
        for (j, before) in before.chunks_exact(m).enumerate() {
            axpy(-column[j], &before[j + 1..], &mut column[j + 1..]);
        }
        let with = k + largest(&column[k..]);
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
    for (row, k) in a[start * cols..].chunks_exact_mut(cols).zip(0..) {
        for (to, column) in row[panel.clone()].iter_mut().zip(columns.chunks_exact(m)) {
            *to = column[k];
        }
    }
    Ok(zero)
}

/// The position of the largest number: the first of several, or of NaN.
fn largest<T: Field>(x: &[T]) -> usize {
    let (mut best, mut at) = (T::Real::NEG_INFINITY, 0);
    for (i, x) in x.iter().enumerate() {
        let size = x.magnitude();
        if size.isnan() {
            return i;
        }
        if size > best {
            (best, at) = (size, i);
        }
    }
    at
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
    forward(lu, n, b, width, Sides::Any, true)?;
    backward(lu, n, b, width)
}

/// Writes the inverse of a square matrix of `n` without zero pivots, by its factors.
pub(super) fn inverse<T: Field>(lu: &[T], pivots: &[usize], n: usize, x: &mut [T]) -> Result<()> {
    x.fill(T::ZERO);
    x.iter_mut().step_by(n + 1).for_each(|x| *x = T::ONE);
    forward(lu, n, x, n, Sides::Lower, true)?;
    backward(lu, n, x, n)?;
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

/// What is known of right-hand sides.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sides {
    /// Nothing.
    Any,
    /// They are a lower triangular matrix, and so is the solution.
    Lower,
}

/// Solves `L X = B` in place, for the lower triangle of a matrix of `n`.
pub(super) fn forward<T: Field>(
    l: &[T],
    n: usize,
    b: &mut [T],
    width: usize,
    sides: Sides,
    unit: bool,
) -> Result<()> {
    if width == 1 {
        for i in 0..n {
            let sum = b[i] - dot(&l[i * n..i * n + i], &b[..i]);
            b[i] = if unit { sum } else { sum.divide(l[i * n + i]) };
        }
        return Ok(());
    }
    let triangle = match unit {
        true => Triangle::UnitLower,
        false => Triangle::Lower,
    };
    // columns of the rows before row `k` that are not zero
    let cols = |k: usize| if sides == Sides::Lower { k } else { width };
    for block in blocks(n) {
        let known = 0..block.start;
        subtract(l, n, b, width, block.clone(), known, cols(block.start))?;
        for panel in parts(block.clone(), panel(n)) {
            let Range { start, end } = panel;
            subtract(
                l,
                n,
                b,
                width,
                panel.clone(),
                block.start..start,
                cols(start),
            )?;
            let panel = Panel::new(l, n, panel, triangle)?;
            if panel.is_finite() {
                panel.solve(&mut b[start * width..], width, 0..cols(end))?;
                continue;
            }
            for i in start..end {
                for k in start..i {
                    let (row, above) = pair(b, width, i, k);
                    axpy(-l[i * n + k], above, row);
                }
                if !unit {
                    divide(&mut b[i * width..(i + 1) * width], l[i * n + i]);
                }
            }
        }
    }
    Ok(())
}

/// Solves `U X = B` in place, for the upper triangle of a matrix of `n`.
pub(super) fn backward<T: Field>(u: &[T], n: usize, b: &mut [T], width: usize) -> Result<()> {
    if width == 1 {
        for i in (0..n).rev() {
            let sum = b[i] - dot(&u[i * n + i + 1..(i + 1) * n], &b[i + 1..]);
            b[i] = sum.divide(u[i * n + i]);
        }
        return Ok(());
    }
    for block in blocks(n).rev() {
        subtract(u, n, b, width, block.clone(), block.end..n, width)?;
        for panel in parts(block.clone(), panel(n)).rev() {
            let Range { start, end } = panel;
            subtract(u, n, b, width, panel.clone(), end..block.end, width)?;
            let panel = Panel::new(u, n, panel, Triangle::Upper)?;
            if panel.is_finite() {
                panel.solve(&mut b[start * width..], width, 0..width)?;
                continue;
            }
            for i in (start..end).rev() {
                for k in i + 1..end {
                    let (row, below) = pair(b, width, i, k);
                    axpy(-u[i * n + k], below, row);
                }
                divide(&mut b[i * width..(i + 1) * width], u[i * n + i]);
            }
        }
    }
    Ok(())
}

/// Subtracts from the first `cols` columns of the rows `rows` of `b` their product: those elements of
/// the triangular matrix times the rows `known`, which are solutions.
fn subtract<T: Field>(
    triangle: &[T],
    n: usize,
    b: &mut [T],
    width: usize,
    rows: Range<usize>,
    known: Range<usize>,
    cols: usize,
) -> Result<()> {
    if known.is_empty() {
        return Ok(());
    }
    let left = copied(triangle, n, rows.clone(), known.clone(), |x| -x)?;
    let left = Mat::from_slice(&left, rows.len(), known.len());
    let (to, from) = if known.start >= rows.end {
        let (low, high) = b.split_at_mut(rows.end * width);
        let from = (known.start - rows.end) * width;
        (&mut low[rows.start * width..], &high[from..])
    } else {
        let (low, high) = b.split_at_mut(rows.start * width);
        let to = rows.len() * width;
        (&mut high[..to], &low[known.start * width..])
    };
    let from = Mat::from_slice(&from[..known.len() * width], known.len(), width);
    let from = from.block(0..known.len(), 0..cols);
    add_product(to, width, 0..cols, left, from)
}

/// Divides a row by a number.
fn divide<T: Field>(row: &mut [T], by: T) {
    for x in row {
        *x = x.divide(by);
    }
}
