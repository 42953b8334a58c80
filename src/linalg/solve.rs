//! Linear systems, inverses and determinants, by LU factorisation.

use super::batch::{Batch, Results, dtypes, each, none, prepared};
use super::field::{Field, field};
use super::scaled::Scaled;
use super::sides::RightSides;
use super::{lu, small};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::math::{Number, Real};
use crate::par::Cost;
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// The LU factorisation with partial pivoting of each matrix of a batch: `P A = L U`. It solves any
/// number of systems.
///
/// Computed by panels, like LAPACK's `getrf`; float16 and bfloat16 in float32. Complex pivots are
/// chosen by `|re| + |im|`.
///
/// ```
/// use flex::{Tensor, linalg::Lu};
/// let a = Tensor::from([[0.0f64, 2.0], [1.0, 1.0]]);
/// let lu = Lu::new(&a)?;
/// assert_eq!(lu.solve(&Tensor::from([4.0f64, 3.0]))?.to_vec::<f64>()?, [1.0, 2.0]);
/// assert_eq!(lu.det()?.item::<f64>()?, -2.0);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lu {
    /// U, and below its diagonal L, contiguous.
    pub(super) factors: Tensor,
    /// The row that each row was exchanged with, for all matrices.
    pub(super) pivots: Vec<usize>,
    /// The first matrix with a pivot of zero, and which it is, counted from 1.
    pub(super) singular: Option<(usize, usize)>,
    /// The dtype of results.
    pub(super) dtype: DType,
    pub(super) batch: Batch,
}

/// The cost of factoring a matrix, or of solving with `width` right-hand sides.
pub(super) fn cost(n: usize, width: usize, size: usize) -> Cost {
    let elements = n.saturating_mul(width);
    Cost {
        bytes: elements.saturating_mul(size),
        flops: elements.saturating_mul(n),
    }
}

impl Lu {
    /// Factors the matrices of `a`, `[.., n, n]`.
    ///
    /// Singular matrices have a factorisation too; solving with one is an error. Errors if the
    /// matrices are not square, and for float8.
    ///
    /// Example: [`Lu`].
    pub fn new(a: &Tensor) -> Result<Lu> {
        Lu::named("lu", a)
    }
    pub(super) fn named(op: &'static str, a: &Tensor) -> Result<Lu> {
        let batch = Batch::square(op, a)?;
        let (dtype, wide) = dtypes(op, a.dtype())?;
        let mut factors = prepared(a, wide)?;
        let n = batch.rows;
        let count = batch.len.saturating_mul(n);
        let mut pivots = fallible::filled(0usize, count)?;
        let singular = field!(op, wide, |T| {
            let a = factors.as_mut_slice::<T>()?;
            let results = ((a, n * n), (&mut pivots[..], n), none());
            each(
                batch.len,
                cost(n, n, size_of::<T>()),
                results,
                |_, a, pivots, _| lu::factor(a, n, n, pivots),
            )?
        });
        Ok(Lu {
            factors,
            pivots,
            singular,
            dtype,
            batch,
        })
    }
    /// An error if some matrix is singular.
    fn regular(&self, op: &'static str) -> Result<()> {
        match self.singular {
            None => Ok(()),
            Some((k, pivot)) => Err(Error::Singular {
                op,
                matrix: self.batch.index(k),
                pivot: pivot - 1,
            }),
        }
    }
    /// The solutions X of `A X = B`: see [`solve`].
    ///
    /// Errors if a matrix is singular ([`Error::Singular`]), or the shapes don't fit.
    ///
    /// Example: [`Lu`].
    pub fn solve(&self, b: &Tensor) -> Result<Tensor> {
        const OP: &str = "solve";
        let n = self.batch.rows;
        let mut sides = RightSides::new(OP, &self.batch, self.dtype, b)?;
        self.regular(OP)?;
        let (count, width) = (sides.count, sides.width);
        let factors = self.factors.astype(sides.wide)?;
        let lead = sides.lead.clone();
        let which = sources(&lead, &self.batch.lead);
        field!(OP, sides.wide, |T| {
            let lu = factors.as_slice::<T>()?;
            let results = ((sides.x.as_mut_slice::<T>()?, n * width), none(), none());
            each(
                count,
                cost(n, width, size_of::<T>()),
                results,
                |k, x, _, _| {
                    let k = which(k);
                    let (lu, pivots) = (&lu[k * n * n..][..n * n], &self.pivots[k * n..][..n]);
                    lu::solve(lu, pivots, n, x, width)?;
                    Ok(0)
                },
            )?
        });
        sides.solution()
    }
    /// The inverses: see [`inv`].
    ///
    /// Errors if a matrix is singular ([`Error::Singular`]).
    ///
    /// ```
    /// use flex::{Tensor, linalg::Lu};
    /// let lu = Lu::new(&Tensor::from([[0.0f64, 2.0], [1.0, 0.0]]))?;
    /// assert_eq!(lu.inv()?.to_vec::<f64>()?, [0.0, 1.0, 0.5, 0.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn inv(&self) -> Result<Tensor> {
        const OP: &str = "inv";
        self.regular(OP)?;
        let n = self.batch.rows;
        let wide = self.factors.dtype();
        let mut x = Tensor::empty(self.factors.shape(), wide)?;
        field!(OP, wide, |T| {
            let lu = self.factors.as_slice::<T>()?;
            let results = ((x.as_mut_slice::<T>()?, n * n), none(), none());
            each(
                self.batch.len,
                cost(n, n, size_of::<T>()),
                results,
                |k, x, _, _| {
                    let (lu, pivots) = (&lu[k * n * n..][..n * n], &self.pivots[k * n..][..n]);
                    lu::inverse(lu, pivots, n, x)?;
                    Ok(0)
                },
            )?
        });
        x.into_dtype(self.dtype)
    }
    /// The determinants: see [`det`].
    ///
    /// Example: [`Lu`].
    pub fn det(&self) -> Result<Tensor> {
        let wide = self.factors.dtype();
        let mut det = Tensor::empty(&self.batch.lead[..], wide)?;
        field!("det", wide, |T| {
            let results = ((det.as_mut_slice::<T>()?, 1), none(), none());
            self.products::<T, _, _>(results, |product, det, _| {
                let (re, im) = product.value();
                let part = <T as Number>::Real::from_f64;
                det[0] = T::new(part(re), part(im));
            })?
        });
        det.into_dtype(self.dtype)
    }
    /// The signs of the determinants, and the logarithms of their magnitudes: see [`slogdet`].
    ///
    /// ```
    /// use flex::{Tensor, linalg::Lu};
    /// let (sign, log) = Lu::new(&Tensor::from([[0.0f64, 1.0], [1.0, 0.0]]))?.slogdet()?;
    /// assert_eq!((sign.item::<f64>()?, log.item::<f64>()?), (-1.0, 0.0));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn slogdet(&self) -> Result<(Tensor, Tensor)> {
        let wide = self.factors.dtype();
        let mut sign = Tensor::empty(&self.batch.lead[..], wide)?;
        let mut log = Tensor::empty(&self.batch.lead[..], wide.real())?;
        field!("slogdet", wide, |T| {
            type R = <T as Number>::Real;
            let signs = (sign.as_mut_slice::<T>()?, 1);
            let logs = (log.as_mut_slice::<R>()?, 1);
            self.products::<T, _, _>((signs, logs, none()), |product, sign, log| {
                let ((re, im), size) = product.polar();
                sign[0] = T::new(R::from_f64(re), R::from_f64(im));
                log[0] = R::from_f64(size);
            })?
        });
        Ok((
            sign.into_dtype(self.dtype)?,
            log.into_dtype(self.dtype.real())?,
        ))
    }
    /// Calls `f` with the determinant of each matrix.
    fn products<T: Field, A: Send, B: Send>(
        &self,
        results: (Results<A>, Results<B>, Results<u8>),
        f: impl Fn(Scaled, &mut [A], &mut [B]) + Sync,
    ) -> Result<()> {
        let n = self.batch.rows;
        let lu = self.factors.as_slice::<T>()?;
        let cost = Cost {
            bytes: n * 64,
            flops: 20 * n,
        };
        each(self.batch.len, cost, results, |k, a, b, _| {
            let pivots = &self.pivots[k * n..][..n];
            let odd = pivots.iter().enumerate().filter(|(i, p)| i != *p).count() % 2 == 1;
            let mut product = Scaled::new(if odd { -1.0 } else { 1.0 });
            for i in 0..n {
                let x = lu[k * n * n + i * n + i];
                product.multiply(x.re().to_f64(), x.im().to_f64());
            }
            f(product, a, b);
            Ok(0)
        })?;
        Ok(())
    }
}

/// The number of the matrix, of a batch of dimensions `from`, that matrix `k` of the broadcast
/// dimensions `to` is.
pub(super) fn sources<'a>(to: &'a [usize], from: &'a [usize]) -> impl Fn(usize) -> usize + use<'a> {
    move |mut k| {
        let (mut step, mut at) = (1, 0);
        for (axis, size) in to.iter().enumerate().rev() {
            let i = k % size;
            k /= size;
            let Some(own) = (axis + from.len()).checked_sub(to.len()) else {
                continue;
            };
            if from[own] != 1 {
                at += i * step;
            }
            step *= from[own];
        }
        at
    }
}

/// The solutions, or without `b` the inverses, of a batch of small matrices; none for others, and if
/// one is singular.
fn small_systems(
    op: &'static str,
    a: &Tensor,
    dtype: DType,
    b: Option<&Tensor>,
) -> Result<Option<Tensor>> {
    let batch = Batch::square(op, a)?;
    let (dtype, wide) = dtypes(op, dtype)?;
    let n = batch.rows;
    if !wide.is_float() || !small::serves(n, 0, batch.len) {
        return Ok(None);
    }
    let Some(b) = b else {
        if !small::serves(n, n, batch.len) {
            return Ok(None);
        }
        let (a, mut x) = (prepared(a, wide)?, Tensor::empty(a.shape(), wide)?);
        let regular = dispatch!(float wide, |T| {
            let (a, x) = (a.as_slice::<T>()?, x.as_mut_slice::<T>()?);
            small::solve(a, |k| k, n, x, n, true)?
        }, else false);
        return regular.then(|| x.into_dtype(dtype)).transpose();
    };
    let mut sides = RightSides::new(op, &batch, dtype, b)?;
    if !small::serves(n, sides.width.max(1), sides.count) || sides.width == 0 {
        return Ok(None);
    }
    let a = prepared(a, wide)?;
    let lead = sides.lead.clone();
    let which = sources(&lead, &batch.lead);
    let width = sides.width;
    let regular = dispatch!(float wide, |T| {
        let (a, x) = (a.as_slice::<T>()?, sides.x.as_mut_slice::<T>()?);
        small::solve(a, which, n, x, width, false)?
    }, else false);
    regular.then(|| sides.solution()).transpose()
}

/// The solutions X of `A X = B`.
///
/// `a` is `[.., n, n]`; `b` is a vector `[n]`, or `[.., n, k]`, whose leading dimensions broadcast
/// with those of `a`. The result has the shape of `b`, broadcast, and the common dtype; integers
/// become float32. By LU factorisation with partial pivoting ([`Lu`], to solve more than once).
///
/// Errors if a matrix is singular ([`Error::Singular`]) or not square, the shapes don't fit, and
/// for float8.
///
/// ```
/// use flex::{Tensor, linalg};
/// let a = Tensor::from([[2.0f64, 1.0], [1.0, 3.0]]);
/// let x = linalg::solve(&a, &Tensor::from([4.0f64, 7.0]))?;
/// assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0]);
/// let e = linalg::solve(&Tensor::from([[1.0f32, 2.0], [2.0, 4.0]]), &x).unwrap_err();
/// assert_eq!(e.to_string(), "solve: the matrix is singular: pivot 1 is zero");
/// # Ok::<(), flex::Error>(())
/// ```
pub fn solve(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    const OP: &str = "solve";
    let dtype = a.dtype().promote(b.dtype(), OP)?;
    if let Some(x) = small_systems(OP, a, dtype, Some(b))? {
        return Ok(x);
    }
    Lu::named(OP, &a.astype(dtype)?)?.solve(b)
}

/// The inverse of each matrix.
///
/// `x` is `[.., n, n]`; integers become float32. Prefer [`solve`] for the product with an inverse:
/// it is faster, and more accurate.
///
/// Errors if a matrix is singular ([`Error::Singular`]) or not square, and for float8.
///
/// ```
/// use flex::{Tensor, linalg};
/// let x = Tensor::from([[4.0f32, 0.0], [0.0, 0.5]]);
/// assert_eq!(linalg::inv(&x)?.to_vec::<f32>()?, [0.25, 0.0, 0.0, 2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn inv(x: &Tensor) -> Result<Tensor> {
    if let Some(inverse) = small_systems("inv", x, x.dtype(), None)? {
        return Ok(inverse);
    }
    Lu::named("inv", x)?.inv()
}

/// The determinant of each matrix.
///
/// `x` is `[.., n, n]`, the result `[..]`; integers become float32. 1 for matrices without
/// elements. The product of the pivots of the LU factorisation, whose exponent is kept apart: only
/// the result itself may overflow.
///
/// Errors if the matrices are not square, and for float8.
///
/// ```
/// use flex::{Tensor, linalg};
/// let x = Tensor::from([[1.0f64, 2.0], [3.0, 4.0]]);
/// assert_eq!(linalg::det(&x)?.item::<f64>()?, -2.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn det(x: &Tensor) -> Result<Tensor> {
    const OP: &str = "det";
    let batch = Batch::square(OP, x)?;
    let (dtype, wide) = dtypes(OP, x.dtype())?;
    if small::serves(batch.rows, 0, batch.len) && wide.is_float() {
        let x = prepared(x, wide)?;
        let mut det = Tensor::empty(&batch.lead[..], wide)?;
        let sound = dispatch!(float wide, |T| {
            small::det(x.as_slice::<T>()?, batch.rows, det.as_mut_slice::<T>()?)?
        }, else false);
        if sound {
            return det.into_dtype(dtype);
        }
    }
    Lu::named("det", x)?.det()
}

/// The sign of the determinant of each matrix, and the natural logarithm of its magnitude.
///
/// `x` is `[.., n, n]`, the results are `[..]`; integers become float32. The sign of complex
/// numbers is `det / |det|`; a singular matrix has sign 0 and logarithm minus infinity. The
/// logarithm is real.
///
/// Errors if the matrices are not square, and for float8.
///
/// ```
/// use flex::{Tensor, linalg};
/// let (sign, log) = linalg::slogdet(&Tensor::from([[0.0f64, 1.0], [1.0, 0.0]]))?;
/// assert_eq!((sign.item::<f64>()?, log.item::<f64>()?), (-1.0, 0.0));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn slogdet(x: &Tensor) -> Result<(Tensor, Tensor)> {
    Lu::named("slogdet", x)?.slogdet()
}
