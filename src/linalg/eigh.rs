//! Eigenvalues and eigenvectors of symmetric and Hermitian matrices.

use super::batch::{Batch, dtypes, each, prepared};
use super::blocks::copied;
use super::divide::eigenvectors;
use super::field::{Field, field};
use super::precise::{
    Precise, fill_nan, multiply, nan, narrow, normalize, order, precise, resolution, widened,
};
use super::qr::transpose_into;
use super::rotations::Rotations;
use super::small::{eigenvalues, serves};
use super::svd::epsilon_of;
use super::tridiagonal::{iterate, reduce};
use crate::error::{Error, Result};
use crate::kernel::gemm::Scratch;
use crate::par::Cost;
use crate::tensor::Tensor;

/// The eigenvalues of a matrix of `n`, ascending, and with `vectors` its eigenvectors as columns.
/// What grows with the cube of `n` is computed in `T`, the tridiagonal problem in [`Precise`].
/// `tolerance` is what its iteration neglects. Returns 0, or 1 if they do not converge.
fn one<T: Field>(
    a: &[T],
    n: usize,
    values: &mut [Precise],
    vectors: Option<&mut [T]>,
    tolerance: Precise,
) -> Result<usize> {
    let mut work = copied(a, n, 0..n, 0..n, |x| x)?;
    for (i, row) in work.chunks_exact_mut(n.max(1)).enumerate() {
        // only the lower triangle counts
        row[i + 1..].fill(T::ZERO);
        row[i] = T::real(row[i].re());
    }
    let Some(exponent) = normalize(T::parts(&mut work)) else {
        values.fill(nan());
        if let Some(vectors) = vectors {
            fill_nan(vectors);
        }
        return Ok(0);
    };
    let mut d = Scratch::<T::Real>::new(n)?;
    let mut e = Scratch::<T::Real>::new(n)?;
    let q = reduce(&mut work, n, &mut d, &mut e)?;
    let (mut d, mut e) = (widened(&d)?, widened(&e)?);
    let Some(rows) = eigen(
        &mut d,
        &mut e[..n.saturating_sub(1)],
        vectors.is_some(),
        tolerance,
    )?
    else {
        return Ok(1);
    };
    let order = order(&d, false)?;
    for (to, k) in values.iter_mut().zip(&order) {
        *to = d[*k];
    }
    multiply(values, exponent);
    if let Some(vectors) = vectors {
        for (row, k) in work.chunks_exact_mut(n.max(1)).zip(&order) {
            narrow(&rows[*k * n..], row);
        }
        q.apply(&mut work)?;
        transpose_into(&work, n, [n, n], (vectors, n, 0), |x| x);
    }
    Ok(0)
}

/// Replaces the diagonal `d` of a tridiagonal matrix by its eigenvalues, in no order. The rows of the
/// result are its eigenvectors, if they are wanted. None if the iterations do not converge.
fn eigen(
    d: &mut [Precise],
    e: &mut [Precise],
    vectors: bool,
    tolerance: Precise,
) -> Result<Option<Scratch<Precise>>> {
    let n = d.len();
    if vectors {
        let (mut first, mut second) = (widened(d)?, widened(e)?);
        if let Some(rows) = eigenvectors(&mut first, &mut second, tolerance)? {
            d.copy_from_slice(&first);
            return Ok(Some(rows));
        }
    }
    // without vectors; or with them, should a secular equation resist
    let mut rotations = Rotations::new(n, vectors)?;
    if !iterate(d, e, &mut rotations, tolerance) {
        return Ok(None);
    }
    let mut rows = Scratch::new(if vectors { n * n } else { 0 })?;
    for (k, row) in rows.chunks_exact_mut(n.max(1)).enumerate() {
        rotations.row(k, row, |x| x);
    }
    Ok(Some(rows))
}

/// Fills `values` with the eigenvalues of small matrices, or NaN where [`one`] is needed; whether it
/// is nowhere.
fn in_lanes(
    op: &'static str,
    x: &Tensor,
    n: usize,
    values: &mut Tensor,
    epsilon: f64,
) -> Result<bool> {
    let tolerance = resolution::<Precise>(epsilon);
    let values = values.as_mut_slice::<Precise>()?;
    dispatch!(float x.dtype(), |S| eigenvalues(x.as_slice::<S>()?, n, values, tolerance), else {
        Err(Error::unsupported(op, x.dtype()))
    })
}

fn decompose(op: &'static str, x: &Tensor, vectors: bool) -> Result<(Tensor, Tensor)> {
    let batch = Batch::square(op, x)?;
    let (dtype, narrow) = dtypes(op, x.dtype())?;
    let n = batch.rows;
    let each_vector = if vectors { n * n } else { 0 };
    let mut values = Tensor::empty(batch.shape(&[n]), precise(narrow).real())?;
    let mut q = Tensor::empty(batch.shape(&[n, if vectors { n } else { 0 }]), narrow)?;
    let epsilon = epsilon_of(dtype);
    let small = !vectors && !narrow.is_complex() && serves(n, 0, batch.len);
    if small && in_lanes(op, &prepared(x, narrow)?, n, &mut values, epsilon)? {
        return Ok((values.into_dtype(dtype)?, q));
    }
    let x = prepared(x, narrow)?;
    let failed = field!(op, narrow, |T| {
        let tolerance = resolution::<Precise>(epsilon);
        let a = x.as_slice::<T>()?;
        let results = (
            (values.as_mut_slice::<Precise>()?, n),
            (q.as_mut_slice::<T>()?, each_vector),
            super::batch::none(),
        );
        let cost = Cost {
            bytes: 4 * size_of::<T>() * n * n,
            flops: (n * n).saturating_mul(if vectors { 9 * n } else { 2 * n }),
        };
        each(batch.len, cost, results, |k, values, q, _| {
            if small && !values[0].is_nan() {
                return Ok(0);
            }
            one(
                &a[k * n * n..][..n * n],
                n,
                values,
                vectors.then_some(q),
                tolerance,
            )
        })?
    });
    if let Some((k, _)) = failed {
        let matrix = batch.index(k);
        return Err(Error::NoConvergence { op, matrix });
    }
    Ok((values.into_dtype(dtype.real())?, q.into_dtype(dtype)?))
}

/// The eigenvalues of each symmetric or Hermitian matrix, ascending, and its eigenvectors:
/// `x V = V diag(values)`, with orthonormal columns in V.
///
/// `x` is `[.., n, n]`, of which only the lower triangle is read; the values are `[.., n]`, real, and
/// the vectors `[.., n, n]`. Integers become float32. By reduction to a tridiagonal matrix, and divide
/// and conquer, this in float64 also for float32 (Cuppen 1981; Gu, Eisenstat 1995). A matrix with NaN
/// or infinities has NaN in all results.
///
/// Errors if the matrices are not square, an iteration does not converge
/// ([`Error::NoConvergence`]), and for float8.
///
/// ```
/// use flex::{Tensor, linalg, ops};
/// let x = Tensor::from([[2.0f64, 1.0], [1.0, 2.0]]);
/// let (values, vectors) = linalg::eigh(&x)?;
/// assert!(ops::allclose(&values, &Tensor::from([1.0f64, 3.0]), ())?);
/// assert!(ops::allclose(&x.matmul(&vectors)?, &(&vectors * &values), ())?);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn eigh(x: &Tensor) -> Result<(Tensor, Tensor)> {
    decompose("eigh", x, true)
}

/// The eigenvalues of each symmetric or Hermitian matrix, ascending: the first result of [`eigh`],
/// with its errors, by iterations without square roots (Pal, Walker and Kahan's), which may differ
/// from it by roundings.
///
/// ```
/// use flex::{Tensor, linalg};
/// let x = Tensor::from([[5.0f32, 0.0], [0.0, -2.0]]);
/// assert_eq!(linalg::eigvalsh(&x)?.to_vec::<f32>()?, [-2.0, 5.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn eigvalsh(x: &Tensor) -> Result<Tensor> {
    Ok(decompose("eigvalsh", x, false)?.0)
}
