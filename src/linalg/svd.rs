//! The singular value decomposition, and what follows from it.

use super::batch::{Batch, dtypes, each, prepared};
use super::bidiagonal::reduce;
use super::blocks::copied;
use super::divide_bidiagonal::{self, singular_vectors};
use super::dqds;
use super::field::{Field, abs, field};
use super::golub_kahan::iterate;
use super::precise::{
    Precise, fill_nan, multiply, nan, narrow, normalize, order, precise, resolution, widened,
};
use super::qr::{factor, transpose_into, transposed};
use super::reflect::unit_rows;
use super::rotations::Rotations;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::gemm::Scratch;
use crate::par::Cost;
use crate::tensor::Tensor;

/// The parts of U and V^H that are wanted, and the sizes of their matrices.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Vectors {
    None,
    Reduced,
    Full,
}

/// The singular values of a matrix of `m x n`, descending, and U and V^H. What grows with the cube of
/// sizes is computed in `T`, the bidiagonal problem in [`Precise`]; `tolerance` is what is negligible
/// beside 1 there. Returns 0, or 1 if they do not converge.
fn one<T: Field>(
    a: &[T],
    (m, n): (usize, usize),
    vectors: Vectors,
    u: &mut [T],
    s: &mut [Precise],
    vh: &mut [T],
    tolerance: Precise,
) -> Result<usize> {
    // the rows of `w` are the columns of the matrix or its adjoint, whichever has more rows
    let (tall, rows, cols) = (m >= n, m.max(n), m.min(n));
    let mut w = match tall {
        true => transposed(a, m, n, |x| x)?,
        false => copied(a, n, 0..m, 0..n, |x| x.conj())?,
    };
    let Some(exponent) = normalize(T::parts(&mut w)) else {
        s.fill(nan());
        fill_nan(u);
        fill_nan(vh);
        return Ok(0);
    };
    let outer = match rows > cols {
        true => Some(factor(&mut w, rows, cols)?),
        false => None,
    };
    let square = copied(&w, rows, 0..cols, 0..cols, |x| x)?;
    let mut square = transposed(&square, cols, cols, |x| x)?;
    let mut d = Scratch::<T::Real>::new(cols)?;
    let mut e = Scratch::<T::Real>::new(cols)?;
    let (q, p) = reduce(&mut square, cols, &mut d, &mut e)?;
    let (mut d, mut e) = (widened(&d)?, widened(&e)?);
    let wanted = vectors != Vectors::None;
    let above = &mut e[..cols.saturating_sub(1)];
    let found = match wanted {
        // what was bidiagonal has small values that are accurate
        true => singular_vectors(&mut d, above, tolerance, q.none() && p.none())?,
        false => only_values(&mut d, above, tolerance)?,
    };
    let Some((left, right)) = found else {
        return Ok(1);
    };
    let order = order(&d, true)?;
    for (to, k) in s.iter_mut().zip(&order) {
        *to = d[*k];
    }
    multiply(s, exponent);
    if !wanted {
        return Ok(0);
    }
    // rows of U^T and V^T
    for (row, k) in square.chunks_exact_mut(cols.max(1)).zip(&order) {
        narrow(&left[*k * cols..], row);
    }
    q.apply(&mut square)?;
    let count = if vectors == Vectors::Full { rows } else { cols };
    let mut long = unit_rows::<T>(count, rows)?;
    for (long, row) in long
        .chunks_exact_mut(rows.max(1))
        .zip(square.chunks_exact(cols.max(1)))
    {
        long[..cols].copy_from_slice(row);
    }
    if let Some(outer) = outer {
        outer.apply(&mut long)?;
    }
    for (row, k) in square.chunks_exact_mut(cols.max(1)).zip(&order) {
        narrow(&right[*k * cols..], row);
    }
    p.apply(&mut square)?;
    let adjoint = |from: &[T], to: &mut [T]| {
        for (to, x) in to.iter_mut().zip(from) {
            *to = x.conj();
        }
    };
    if tall {
        transpose_into(&long, rows, [count, rows], (u, count, 0), |x| x);
        adjoint(&square, vh);
    } else {
        transpose_into(&square, cols, [cols, cols], (u, cols, 0), |x| x);
        adjoint(&long, vh);
    }
    Ok(0)
}

/// Replaces the diagonal of a bidiagonal matrix by its singular values, in no order, without vectors.
fn only_values(
    d: &mut [Precise],
    above: &mut [Precise],
    tolerance: Precise,
) -> Result<Option<divide_bidiagonal::Vectors>> {
    if !dqds::iterate(d, above, tolerance)? {
        let mut none = (
            Rotations::new(d.len(), false)?,
            Rotations::new(d.len(), false)?,
        );
        if !iterate(d, above, &mut none.0, &mut none.1) {
            return Ok(None);
        }
    }
    d.iter_mut().for_each(|d| *d = abs(*d));
    Ok(Some((Scratch::new(0)?, Scratch::new(0)?)))
}

/// The decomposition, computed in `wide`; S is in the dtype of iterations.
fn decompose(
    op: &'static str,
    x: &Tensor,
    wide: DType,
    vectors: Vectors,
) -> Result<(Tensor, Tensor, Tensor)> {
    let batch = Batch::of(op, x)?;
    let epsilon = epsilon_of(dtypes(op, x.dtype())?.0);
    let (m, n) = (batch.rows, batch.cols);
    let k = m.min(n);
    let (left, right) = match vectors {
        Vectors::None => ([0, 0], [0, 0]),
        Vectors::Reduced => ([m, k], [k, n]),
        Vectors::Full => ([m, m], [n, n]),
    };
    let x = prepared(x, wide)?;
    let mut u = Tensor::empty(batch.shape(&left), wide)?;
    let mut s = Tensor::empty(batch.shape(&[k]), precise(wide).real())?;
    let mut vh = Tensor::empty(batch.shape(&right), wide)?;
    let failed = field!(op, wide, |T| {
        let tolerance = resolution::<Precise>(epsilon);
        let a = x.as_slice::<T>()?;
        let results = (
            (u.as_mut_slice::<T>()?, left[0] * left[1]),
            (s.as_mut_slice::<Precise>()?, k),
            (vh.as_mut_slice::<T>()?, right[0] * right[1]),
        );
        let cost = Cost {
            bytes: 4 * size_of::<T>() * m * n,
            flops: (m * n).saturating_mul(if vectors == Vectors::None { 3 } else { 20 } * k),
        };
        each(batch.len, cost, results, |i, u, s, vh| {
            one(
                &a[i * m * n..][..m * n],
                (m, n),
                vectors,
                u,
                s,
                vh,
                tolerance,
            )
        })?
    });
    match failed {
        None => Ok((u, s, vh)),
        Some((k, _)) => Err(Error::NoConvergence {
            op,
            matrix: batch.index(k),
        }),
    }
}

/// The singular value decomposition of each matrix: `x = U diag(S) V^H`, with orthonormal columns
/// in U and rows in V^H, and S descending: the tuple `(U, S, V^H)`.
///
/// `x` is `[.., m, n]`. S is `[.., k]`, real, with `k = min(m, n)`; U is `[.., m, k]` and V^H
/// `[.., k, n]`, or with `full_matrices` `[.., m, m]` and `[.., n, n]`. Integers become float32. By
/// QR factorisation (if the matrix is not square), reduction to a bidiagonal matrix, and divide and
/// conquer (Gu, Eisenstat 1995), this in float64 also for float32. A matrix that is bidiagonal itself is
/// iterated on (Demmel, Kahan 1990): its small values are as accurate as large ones. A matrix with NaN
/// or infinities has NaN in all results.
///
/// Errors if there are fewer than two dimensions, an iteration does not converge
/// ([`Error::NoConvergence`]), and for float8.
///
/// ```
/// use flex::{Tensor, linalg, ops};
/// let x = Tensor::from([[3.0f64, 0.0], [4.0, 5.0]]);
/// let (u, s, vh) = linalg::svd(&x, false)?;
/// assert!(ops::allclose(&(&u * &s).matmul(&vh)?, &x, ())?);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn svd(x: &Tensor, full_matrices: bool) -> Result<(Tensor, Tensor, Tensor)> {
    const OP: &str = "svd";
    let (dtype, narrow) = dtypes(OP, x.dtype())?;
    let vectors = match full_matrices {
        true => Vectors::Full,
        false => Vectors::Reduced,
    };
    let (u, s, vh) = decompose(OP, x, narrow, vectors)?;
    Ok((
        u.into_dtype(dtype)?,
        s.into_dtype(dtype.real())?,
        vh.into_dtype(dtype)?,
    ))
}

/// The singular values of each matrix, descending: the second result of [`svd`], with its errors, by
/// quotient-difference iterations (dqds: Fernando and Parlett 1994), which may differ from it by
/// roundings.
///
/// ```
/// use flex::{Tensor, linalg};
/// let x = Tensor::from([[0.0f32, -2.0], [5.0, 0.0], [0.0, 0.0]]);
/// assert_eq!(linalg::svdvals(&x)?.to_vec::<f32>()?, [5.0, 2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn svdvals(x: &Tensor) -> Result<Tensor> {
    const OP: &str = "svdvals";
    let (dtype, narrow) = dtypes(OP, x.dtype())?;
    let values = decompose(OP, x, narrow, Vectors::None)?.1;
    values.into_dtype(dtype.real())
}
/// The singular values, all of it in the dtype of iterations: what is small beside the largest, and
/// decides ranks and inverses, has no error of float32.
pub(super) fn values(op: &'static str, x: &Tensor) -> Result<Tensor> {
    let wide = precise(dtypes(op, x.dtype())?.1);
    Ok(decompose(op, x, wide, Vectors::None)?.1)
}
/// `(U, S, V^H)` without what meets no singular value, likewise.
pub(super) fn reduced(op: &'static str, x: &Tensor) -> Result<(Tensor, Tensor, Tensor)> {
    let wide = precise(dtypes(op, x.dtype())?.1);
    decompose(op, x, wide, Vectors::Reduced)
}

/// The distance from 1 to the next number of a float or complex dtype.
pub(super) fn epsilon_of(dtype: DType) -> f64 {
    match dtype.real() {
        DType::F16 => 9.765_625e-4,
        DType::BF16 => 7.812_5e-3,
        DType::F64 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    }
}
