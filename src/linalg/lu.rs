//! LU factorisation with partial pivoting: `P A = L U`, right-looking, by panels (LAPACK's getrf).

use super::blocks::{add_product, copied, pair, pair_mut, panel};
use super::field::Field;
use crate::error::Result;
use crate::kernel::gemm::Mat;
use crate::kernel::linalg::{axpy, dot};
use crate::kernel::math::{Number, Real};

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
        for k in start..end {
            pivots[k] = pivot(a, rows, cols, k);
            if pivots[k] != k {
                let (x, y) = pair_mut(a, cols, k, pivots[k]);
                x.swap_with_slice(y);
            }
            let pivot = a[k * cols + k];
            if pivot == T::ZERO {
                // the rest of the column is zero too
                zero = if zero == 0 { k + 1 } else { zero };
                continue;
            }
            for i in k + 1..rows {
                let (row, above) = pair(a, cols, i, k);
                row[k] = row[k].divide(pivot);
                axpy(-row[k], &above[k + 1..end], &mut row[k + 1..end]);
            }
        }
        if end == cols {
            break;
        }
        // the rows of U beside the panel: L11 U12 = A12
        for i in start + 1..end {
            for k in start..i {
                let (row, above) = pair(a, cols, i, k);
                axpy(-row[k], &above[end..], &mut row[end..]);
            }
        }
        if end < rows {
            let left = copied(a, cols, end..rows, start..end, |x| -x)?;
            let right = copied(a, cols, start..end, end..cols, |x| x)?;
            let left = Mat::from_slice(&left, rows - end, end - start);
            let right = Mat::from_slice(&right, end - start, cols - end);
            add_product(&mut a[end * cols..], cols, end..cols, left, right)?;
        }
    }
    Ok(zero)
}

/// The row, from `k` on, of the largest number in column `k`: the first of several, or of NaN.
fn pivot<T: Field>(a: &[T], rows: usize, cols: usize, k: usize) -> usize {
    let (mut best, mut at) = (T::Real::NEG_INFINITY, k);
    for i in k..rows {
        let size = a[i * cols + k].magnitude();
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
    forward(lu, n, b, width, true)?;
    backward(lu, n, b, width)
}

/// Solves `L X = B` in place, for the lower triangle of a matrix of `n`.
pub(super) fn forward<T: Field>(
    l: &[T],
    n: usize,
    b: &mut [T],
    width: usize,
    unit: bool,
) -> Result<()> {
    if width == 1 {
        for i in 0..n {
            let sum = b[i] - dot(&l[i * n..i * n + i], &b[..i]);
            b[i] = if unit { sum } else { sum.divide(l[i * n + i]) };
        }
        return Ok(());
    }
    let size = panel(n);
    for start in (0..n).step_by(size) {
        let end = n.min(start + size);
        if start > 0 {
            let left = copied(l, n, start..end, 0..start, |x| -x)?;
            let left = Mat::from_slice(&left, end - start, start);
            let (above, rows) = b.split_at_mut(start * width);
            let rows = &mut rows[..(end - start) * width];
            add_product(
                rows,
                width,
                0..width,
                left,
                Mat::from_slice(above, start, width),
            )?;
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
    let size = panel(n);
    for start in (0..n).step_by(size).rev() {
        let end = n.min(start + size);
        if end < n {
            let right = copied(u, n, start..end, end..n, |x| -x)?;
            let right = Mat::from_slice(&right, end - start, n - end);
            let (rows, below) = b.split_at_mut(end * width);
            let below = Mat::from_slice(below, n - end, width);
            add_product(&mut rows[start * width..], width, 0..width, right, below)?;
        }
        for i in (start..end).rev() {
            for k in i + 1..end {
                let (row, below) = pair(b, width, i, k);
                axpy(-u[i * n + k], below, row);
            }
            divide(&mut b[i * width..(i + 1) * width], u[i * n + i]);
        }
    }
    Ok(())
}

/// Divides a row by a number.
fn divide<T: Field>(row: &mut [T], by: T) {
    for x in row {
        *x = x.divide(by);
    }
}
