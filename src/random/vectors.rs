//! Distributions of vectors: multinomial, Dirichlet and multivariate normal. Each vector is a row of
//! the result, and takes the bits of a counter of its own.

use super::floats::check_float;
use super::further::{FEW, is_few};
use super::parameter::Values;
use super::shaped::{COUNT, check_probabilities, is_count};
use super::{Generator, floats};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::random::{Draws, narrow};
use crate::layout::{IntoShape, Shape};
use crate::ops::draw::DRAWN;
use crate::ops::elementwise::Arg;
use crate::par::{self, Cost};
use crate::scalar::Shown;
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// The values of a parameter with one dimension, at least one of them.
fn vector(op: &'static str, name: &'static str, x: &Tensor) -> Result<Vec<f64>> {
    if x.rank() != 1 || x.is_empty() {
        let message = message!("{name} must have one dimension, of at least one element");
        return Err(Error::shape_of(
            op,
            message,
            &[(name, x.shape(), x.dtype())],
        ));
    }
    values(op, name, x)
}
fn values(op: &'static str, name: &'static str, x: &Tensor) -> Result<Vec<f64>> {
    match Values::new(
        op,
        name,
        &Arg::Ref(x),
        x.shape(),
        f64::is_finite,
        "be finite",
    )? {
        Values::One(x) => fallible::filled(x, 1),
        Values::Each(all) => Ok(all),
    }
}

impl Generator {
    /// Rows of `width` numbers below the dimensions `shape`, each drawn by `row`, which is given its
    /// index.
    fn rows(
        &mut self,
        op: &'static str,
        shape: &[usize],
        width: usize,
        dtype: DType,
        row: &(dyn Fn(&mut Draws, usize, &mut [f64]) + Sync),
    ) -> Result<Tensor> {
        let mut whole = Shape::from_slice(shape);
        whole.push(width);
        let mut y = Tensor::empty(&whole, dtype)?;
        let mut wide = fallible::filled(0.0, y.len())?;
        let source = self.take_blocks((y.len() / width) as u64);
        let cost = Cost {
            bytes: 8 * width,
            flops: DRAWN.flops.saturating_mul(width),
        };
        par::split(&mut wide, width, 1, cost, |r, part| {
            for (i, y) in r.zip(part.chunks_exact_mut(width)) {
                let block = source.first.wrapping_add(i as u64);
                row(&mut Draws::new(source.stream, block), i, y);
            }
        });
        match dtype {
            #[cfg(feature = "i64")]
            DType::I64 => {
                for (y, x) in y.as_mut_slice::<i64>()?.iter_mut().zip(&wide) {
                    *y = crate::kernel::convert::Cast::from_double(*x);
                }
            }
            _ => dispatch!(floating dtype, |T| narrow::<T>(&wide, y.as_mut_slice()?),
                else return Err(Error::unsupported(op, dtype))),
        }
        Ok(y)
    }
    /// How often each outcome of probabilities `pvals` occurs in `n` trials: int64 of shape `shape`
    /// with one more dimension, the last of `pvals`. `n` and the other dimensions of `pvals`
    /// broadcast to `shape`. Drawn as binomial numbers of the trials that are left.
    ///
    /// Errors if a number of trials is no count, or `pvals` has no outcome, a number that is no
    /// probability, or probabilities that don't sum to 1.
    ///
    /// ```
    /// use flex::{Tensor, random::default_rng};
    /// let mut rng = default_rng(7);
    /// let x = rng.multinomial(20, &Tensor::from([0.5f32, 0.25, 0.25]), 4)?;
    /// assert_eq!(x.sum(1)?.to_vec::<i64>()?, [20; 4]);
    /// let x = rng.multinomial(&Tensor::from([3, 4]), &Tensor::from([[0.5f32, 0.5], [0.0, 1.0]]), 2)?;
    /// assert_eq!(x.sum(1)?.to_vec::<i64>()?, [3, 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn multinomial<'a>(
        &mut self,
        n: impl Into<Arg<'a>>,
        pvals: &Tensor,
        shape: impl IntoShape,
    ) -> Result<Tensor> {
        self.multinomial_of(&n.into(), pvals, shape.into_shape().as_ref())
    }
    fn multinomial_of(&mut self, n: &Arg, pvals: &Tensor, shape: &[usize]) -> Result<Tensor> {
        const OP: &str = "multinomial";
        let width = pvals.shape().last().copied().unwrap_or(0);
        let p = match pvals.rank() {
            0 | 1 => vector(OP, "pvals", pvals)?,
            _ if width == 0 => vector(OP, "pvals", &pvals.reshape([0])?)?,
            _ => {
                let whole: Shape = shape.iter().copied().chain([width]).collect();
                let each = pvals.broadcast_to(&whole).map_err(|e| e.named(OP))?;
                values(OP, "pvals", &each)?
            }
        };
        // of the outcomes from each on
        let mut rest = fallible::copy(&p)?;
        for (p, rest) in p.chunks_exact(width).zip(rest.chunks_exact_mut(width)) {
            check_probabilities(OP, "pvals", p)?;
            let mut sum = 0.0;
            for x in rest.iter_mut().rev() {
                sum += *x;
                *x = sum;
            }
        }
        let n = Values::new(OP, "n", n, shape, is_count, COUNT)?;
        let row = |draws: &mut Draws, i: usize, y: &mut [f64]| {
            let mut left = n.at(i);
            let at = if p.len() == width { 0 } else { i * width };
            let (p, rest) = (&p[at..at + width], &rest[at..]);
            // the last outcome that can occur takes what is left
            let last = p.iter().rposition(|p| *p > 0.0).unwrap_or(0);
            for (k, y) in y.iter_mut().enumerate() {
                *y = match k {
                    _ if k == last => left,
                    _ if p[k] == 0.0 || left == 0.0 => 0.0,
                    _ => draws.binomial(left, (p[k] / rest[k]).min(1.0)),
                };
                left -= *y;
            }
        };
        self.rows(OP, shape, width, DType::I64, &row)
    }
    /// How many elements of each color are among `sample` ones, drawn from `colors` of each without
    /// putting any back: int64 of shape `shape` with one more dimension, that of `colors`. Drawn as
    /// hypergeometric numbers of the elements that are left.
    ///
    /// Errors if `colors` has not one dimension, a number is no integer from 0 to 10^9, their sum
    /// exceeds that, or `sample` exceeds the sum.
    ///
    /// ```
    /// use flex::{Tensor, random::default_rng};
    /// let x = default_rng(7).multivariate_hypergeometric(&Tensor::from([8, 4, 0]), 6, 3)?;
    /// assert_eq!(x.sum(1)?.to_vec::<i64>()?, [6; 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn multivariate_hypergeometric(
        &mut self,
        colors: &Tensor,
        sample: usize,
        shape: impl IntoShape,
    ) -> Result<Tensor> {
        const OP: &str = "multivariate_hypergeometric";
        let colors = vector(OP, "colors", colors)?;
        if let Some(x) = colors.iter().find(|x| !is_few(**x)) {
            let message = message!("colors has {}; it must {FEW}", Shown(*x));
            return Err(Error::value(OP, message));
        }
        let all: f64 = colors.iter().sum();
        if !is_few(all) {
            let message = message!("colors sums to {all}, more than 10^9");
            return Err(Error::value(OP, message));
        }
        let sample = sample as f64;
        if sample > all {
            let message = message!("nsample is {sample}, of {all} elements");
            return Err(Error::value(OP, message));
        }
        let row = |draws: &mut Draws, _: usize, y: &mut [f64]| {
            let (mut rest, mut left) = (all, sample);
            for (y, color) in y.iter_mut().zip(&colors) {
                rest -= color;
                *y = draws.hypergeometric(*color, rest, left);
                left -= *y;
            }
        };
        self.rows(
            OP,
            shape.into_shape().as_ref(),
            colors.len(),
            DType::I64,
            &row,
        )
    }
    /// Vectors of the Dirichlet distribution, of positive numbers that sum to 1: of shape `shape`
    /// with one more dimension, that of `alpha`. Gamma variables over their sum, in logarithms.
    ///
    /// Errors if the dtype is not a float, or `alpha` has not one dimension or a number that is not
    /// positive and finite.
    ///
    /// ```
    /// use flex::{DType, Tensor, random::default_rng};
    /// let x = default_rng(7).dirichlet(&Tensor::from([1.0f32, 2.0]), 5, DType::F64)?;
    /// assert!(x.sum(1)?.iter::<f64>()?.all(|x| (x - 1.0).abs() < 1e-12));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn dirichlet(
        &mut self,
        alpha: &Tensor,
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        const OP: &str = "dirichlet";
        floats::check_float(OP, dtype)?;
        let alpha = vector(OP, "alpha", alpha)?;
        if let Some(x) = alpha.iter().find(|x| **x <= 0.0) {
            return Err(Error::value(
                OP,
                message!("alpha has {}; it must be positive", Shown(*x)),
            ));
        }
        let row = |draws: &mut Draws, _: usize, y: &mut [f64]| draws.dirichlet(&alpha, y);
        self.rows(OP, shape.into_shape().as_ref(), alpha.len(), dtype, &row)
    }
    /// Normally distributed vectors of a mean, `[n]`, and a covariance, `[n, n]`: of shape `shape`
    /// with one more dimension, n. The mean plus the covariance's Cholesky factor times normal
    /// numbers; the covariance may be singular.
    ///
    /// Errors if the dtype is not a float, the shapes don't fit, or the covariance is not symmetric
    /// or has a negative eigenvalue.
    ///
    /// ```
    /// use flex::{DType, Tensor, random::default_rng};
    /// let (mean, covariance) = (Tensor::from([1.0f32, 2.0]), Tensor::from([[1.0f32, 1.0], [1.0, 1.0]]));
    /// let x = default_rng(7).multivariate_normal(&mean, &covariance, 3, DType::F64)?;
    /// let difference = x.narrow(1, 1, 1)? - x.narrow(1, 0, 1)?;
    /// assert!(difference.iter::<f64>()?.all(|d| (d - 1.0).abs() < 1e-12));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn multivariate_normal(
        &mut self,
        mean: &Tensor,
        covariance: &Tensor,
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        const OP: &str = "multivariate_normal";
        check_float(OP, dtype)?;
        let location = vector(OP, "mean", mean)?;
        let n = location.len();
        if covariance.shape() != [n, n] {
            let message = message!("cov must have the shape [{n}, {n}]");
            let operands = [
                ("mean", mean.shape(), mean.dtype()),
                ("cov", covariance.shape(), covariance.dtype()),
            ];
            return Err(Error::shape_of(OP, message, &operands));
        }
        let mut factor = values(OP, "cov", covariance)?;
        if !cholesky(&mut factor, n, covariance.dtype()) {
            let message = "cov must be symmetric, with eigenvalues that are not negative";
            return Err(Error::value(OP, message));
        }
        let row = |draws: &mut Draws, _: usize, y: &mut [f64]| {
            for y in y.iter_mut() {
                *y = draws.normal();
            }
            for i in (0..n).rev() {
                let products = factor[i * n..=i * n + i].iter().zip(&*y);
                let sum: f64 = products.map(|(a, b)| a * b).sum();
                y[i] = location[i] + sum;
            }
        };
        self.rows(OP, shape.into_shape().as_ref(), n, dtype, &row)
    }
}

/// Replaces the lower half of a symmetric matrix by its Cholesky factor. A pivot that is 0 up to
/// rounding gives a column of zeros. Returns whether there is a factor.
fn cholesky(a: &mut [f64], n: usize, dtype: DType) -> bool {
    let precision = match dtype {
        DType::F64 => f64::EPSILON,
        DType::F16 => 9.8e-4,
        DType::BF16 => 7.9e-3,
        _ => f32::EPSILON as f64,
    };
    let largest = (0..n).map(|i| a[i * n + i].abs()).fold(0.0, f64::max);
    let tolerance = 8.0 * n as f64 * precision * largest;
    for i in 0..n {
        for j in 0..i {
            if (a[i * n + j] - a[j * n + i]).abs() > tolerance {
                return false;
            }
        }
    }
    for j in 0..n {
        let dot =
            |a: &[f64], i: usize| -> f64 { (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum() };
        let pivot = a[j * n + j] - dot(a, j);
        if pivot < -tolerance {
            return false;
        }
        let root = if pivot > tolerance {
            libm::sqrt(pivot)
        } else {
            0.0
        };
        for i in j..n {
            let rest = a[i * n + j] - dot(a, i);
            // beside a pivot of 0 there are only zeros
            if root == 0.0 && i > j && rest.abs() > libm::sqrt(tolerance * largest) {
                return false;
            }
            a[i * n + j] = match root {
                0.0 => 0.0,
                root if i == j => root,
                root => rest / root,
            };
        }
    }
    true
}
