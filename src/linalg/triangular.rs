//! Linear systems of triangular matrices.

use super::batch::{Batch, dtypes, each, none, prepared};
use super::field::{Field, field};
use super::sides::RightSides;
use super::solve::{cost, sources};
use super::substitution::{Triangle, TriangularSystem};
use crate::error::{Error, Result};
use crate::layout::defaults;
use crate::ops;
use crate::tensor::Tensor;

/// What [`solve_triangular`] solves with.
///
/// Example: [`solve_triangular`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Triangular {
    /// Reads the lower triangle, and not the upper one. Default: false.
    pub lower: bool,
    /// Takes the diagonal as ones, and does not read it. Default: false.
    pub unit_diagonal: bool,
    /// Which system is solved. Default: that of the matrix itself.
    pub turn: Turn,
}

/// A matrix as it is, or turned.
///
/// Example: [`solve_triangular`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Turn {
    /// The matrix itself.
    #[default]
    None,
    /// Its transpose.
    Transpose,
    /// The conjugate of its transpose.
    Adjoint,
}
defaults! { Triangular, Turn }

/// The solutions X of `A X = B` for the triangle of A that `how` names, or for its transpose or
/// adjoint.
///
/// `a` is `[.., n, n]`, of which only that triangle is read; `b` is a vector `[n]`, or `[.., n, k]`,
/// whose leading dimensions broadcast with those of `a`. Dtypes are those of [`solve`](super::solve()).
///
/// Errors if a number of the diagonal is zero ([`Error::Singular`]), the matrices are not square,
/// the shapes don't fit, and for float8.
///
/// ```
/// use flex::{Tensor, linalg::{self, Triangular, Turn}};
/// let (a, b) = (Tensor::from([[2.0f64, 1.0], [0.0, 4.0]]), Tensor::from([4.0f64, 8.0]));
/// assert_eq!(linalg::solve_triangular(&a, &b, ())?.to_vec::<f64>()?, [1.0, 2.0]);
/// let turned = Triangular { turn: Turn::Transpose, ..Default::default() };
/// assert_eq!(linalg::solve_triangular(&a, &b, turned)?.to_vec::<f64>()?, [2.0, 1.5]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn solve_triangular(a: &Tensor, b: &Tensor, how: impl Into<Triangular>) -> Result<Tensor> {
    solve_named("solve_triangular", a, b, how.into())
}

fn solve_named(op: &'static str, a: &Tensor, b: &Tensor, how: Triangular) -> Result<Tensor> {
    let batch = Batch::square(op, a)?;
    dtypes(op, a.dtype())?;
    let mut sides = RightSides::new(op, &batch, a.dtype(), b)?;
    let (turned, lower) = match how.turn {
        Turn::None => (a.clone(), how.lower),
        Turn::Transpose => (ops::matrix_transpose(a)?, !how.lower),
        Turn::Adjoint => (ops::conj(&ops::matrix_transpose(a)?)?, !how.lower),
    };
    let mut t = prepared(&turned, sides.wide)?;
    let (n, width, count) = (batch.rows, sides.width, sides.count);
    let lead = sides.lead.clone();
    let which = sources(&lead, &batch.lead);
    let triangle = match lower {
        true => Triangle::Lower,
        false => Triangle::Upper,
    };
    field!(op, sides.wide, |T| {
        let zero = match how.unit_diagonal {
            true => {
                let ones = t.as_mut_slice::<T>()?.chunks_exact_mut((n * n).max(1));
                for one in ones {
                    (0..n).for_each(|i| one[i * n + i] = <T as Field>::ONE);
                }
                None
            }
            false => {
                let t = t.as_slice::<T>()?;
                let diagonal = |k: usize| t[k / n * n * n + k % n * (n + 1)];
                (0..batch.len * n).find(|k| diagonal(*k) == <T as Field>::ZERO)
            }
        };
        if let Some(k) = zero {
            return Err(Error::Singular {
                op,
                matrix: batch.index(k / n),
                pivot: k % n,
            });
        }
        let t = t.as_slice::<T>()?;
        let results = ((sides.x.as_mut_slice::<T>()?, n * width), none(), none());
        each(
            count,
            cost(n, width, size_of::<T>()),
            results,
            |k, x, _, _| {
                let t = &t[which(k) * n * n..][..n * n];
                TriangularSystem::new(t, n, triangle).solve(x, width, 0..width)?;
                Ok(0)
            },
        )?
    });
    sides.solution()
}

/// The solutions X of `A X = B` for positive definite matrices given by their Cholesky factors:
/// the lower triangular L of `A = L L^H`, or with `upper` U of `A = U^H U`.
///
/// Shapes, dtypes and errors are those of [`solve_triangular`].
///
/// ```
/// use flex::{Tensor, linalg};
/// let (a, b) = (Tensor::from([[4.0f64, 2.0], [2.0, 10.0]]), Tensor::from([8.0f64, 22.0]));
/// let x = linalg::cholesky_solve(&b, &linalg::cholesky(&a, false)?, false)?;
/// assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn cholesky_solve(b: &Tensor, factor: &Tensor, upper: bool) -> Result<Tensor> {
    const OP: &str = "cholesky_solve";
    let (plain, turned) = (
        Triangular {
            lower: !upper,
            ..Triangular::default()
        },
        Triangular {
            lower: !upper,
            turn: Turn::Adjoint,
            ..Triangular::default()
        },
    );
    let (first, second) = if upper {
        (turned, plain)
    } else {
        (plain, turned)
    };
    let y = solve_named(OP, factor, b, first)?;
    solve_named(OP, factor, &y, second)
}
