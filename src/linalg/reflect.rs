//! Householder reflections `H = I - tau v v^H`, one at a time and in blocks (compact WY: Schreiber
//! and Van Loan 1989).

use super::blocks::{PANEL, Right, product};
use super::field::{Field, abs, epsilon, hypot, sqrt, tiny};
use crate::error::Result;
use crate::exec::failure::try_split;
use crate::kernel::gemm::{Mat, MatMut, Scratch};
use crate::kernel::linalg::{axpy, dot_conj, scale};
use crate::kernel::math::{Number, Real};
use crate::par::Cost;
use core::ops::Range;

/// The longest vectors that reflections are applied to one by one: a product would not pay.
const SMALL: usize = 24;

/// Bytes of rows that reflections are applied to together: L2 holds them.
const ROWS: usize = 256 << 10;

/// The length of a vector, without overflow.
pub(super) fn length<T: Field>(x: &[T]) -> T::Real {
    let sum = dot_conj(x, x).re();
    let least = tiny::<T::Real>() / epsilon::<T::Real>();
    if sum >= least && sum.isfinite() {
        return sqrt(sum);
    }
    x.iter().fold(T::Real::ZERO, |all, x| hypot(all, x.abs()))
}

/// Turns `x` into the vector of the reflection whose adjoint maps it to `(beta, 0, ..)`, with 1 as
/// its first element. Returns tau and beta, which is real (LAPACK's larfg).
pub(super) fn reflection<T: Field>(x: &mut [T]) -> (T, T::Real) {
    let [first, rest @ ..] = x else {
        return (T::ZERO, T::Real::ZERO);
    };
    let least = tiny::<T::Real>() / epsilon::<T::Real>();
    let mut below = length(rest);
    if below == T::Real::ZERO && first.im() == T::Real::ZERO {
        let beta = first.re();
        *first = T::ONE;
        return (T::ZERO, beta);
    }
    let size = |first: T, below: T::Real| {
        let size = hypot(first.abs(), below);
        if first.re() < T::Real::ZERO {
            size
        } else {
            -size
        }
    };
    let mut beta = size(*first, below);
    // of subnormal numbers the inverse would overflow: scaled up first
    let mut scaled = 0;
    while abs(beta) < least && scaled < 4 {
        let up = T::real(T::Real::ONE / least);
        scale(up, rest);
        *first = *first * up;
        below = length(rest);
        beta = size(*first, below);
        scaled += 1;
    }
    let tau = T::new((beta - first.re()) / beta, -first.im() / beta);
    let by = T::ONE.divide(*first - T::real(beta));
    scale(by, rest);
    *first = T::ONE;
    for _ in 0..scaled {
        beta = beta * least;
    }
    (tau, beta)
}

/// The product `Q = H0 H1 ..` of reflections, whose vectors are the rows of a matrix: vector `k` is
/// zero before element `k + shift`, which is 1.
pub(super) struct Reflections<T> {
    vectors: Scratch<T>,
    taus: Scratch<T>,
    len: usize,
    shift: usize,
}

impl<T: Field> Reflections<T> {
    /// `count` reflections of vectors of `len`, all of them identities at first.
    pub fn new(count: usize, len: usize, shift: usize) -> Result<Self> {
        let mut vectors = Scratch::new(count.saturating_mul(len))?;
        let mut taus = Scratch::new(count)?;
        vectors.fill(T::ZERO);
        taus.fill(T::ZERO);
        Ok(Reflections {
            vectors,
            taus,
            len,
            shift,
        })
    }
    /// Makes reflection `k` the one of `x`, its elements from `k + shift` on. Returns beta.
    pub fn set(&mut self, k: usize, x: impl Iterator<Item = T>) -> T::Real {
        let vector = &mut self.vectors[k * self.len..][..self.len][k + self.shift..];
        for (to, x) in vector.iter_mut().zip(x) {
            *to = x;
        }
        let (tau, beta) = reflection(vector);
        self.taus[k] = tau;
        beta
    }
    /// Whether all reflections are identities.
    pub fn none(&self) -> bool {
        self.taus.iter().all(|tau| tau.magnitude() == T::Real::ZERO)
    }
    /// Vector `k` from element `k + shift` on, and tau.
    pub fn get(&self, k: usize) -> (&[T], T) {
        let vector = &self.vectors[k * self.len..][..self.len];
        (&vector[k + self.shift..], self.taus[k])
    }
    /// Applies reflection `k`, or its adjoint, to a vector of `len` elements.
    pub fn reflect(&self, k: usize, x: &mut [T], adjoint: bool) {
        let (v, tau) = self.get(k);
        let tau = if adjoint { tau.conj() } else { tau };
        let x = &mut x[k + self.shift..];
        let sum = dot_conj(v, x);
        axpy(-(tau * sum), v, x);
    }
    /// Applies the product of reflections `which`, or its adjoint, to each row of `c`.
    pub fn apply_block(&self, which: Range<usize>, c: &mut [T], adjoint: bool) -> Result<()> {
        let (count, rows) = (which.len(), c.len() / self.len.max(1));
        let first = which.start + self.shift;
        if count == 0 || rows == 0 || first >= self.len {
            return Ok(());
        }
        if self.len <= SMALL {
            for row in c.chunks_exact_mut(self.len) {
                for k in 0..count {
                    let k = if adjoint { k } else { count - 1 - k };
                    self.reflect(which.start + k, row, adjoint);
                }
            }
            return Ok(());
        }
        let width = self.len - first;
        let mut v = Scratch::new(count * width)?;
        let mut conj = Scratch::new(count * width)?;
        for (k, which) in which.clone().enumerate() {
            let from = &self.vectors[which * self.len..][..self.len][first..];
            v[k * width..][..width].copy_from_slice(from);
            for (to, x) in conj[k * width..][..width].iter_mut().zip(from) {
                *to = x.conj();
            }
        }
        let v = Mat::from_slice(&v, count, width);
        let conj = Mat::from_slice(&conj, count, width);
        // I - V T V^H is the product, T upper triangular
        let gram = product(conj, v.t())?;
        let mut t = Scratch::new(count * count)?;
        t.fill(T::ZERO);
        for j in 0..count {
            let tau = self.taus[which.start + j];
            for i in 0..j {
                let mut sum = T::ZERO;
                for k in i..j {
                    sum = sum + t[i * count + k] * gram[k * count + j];
                }
                t[i * count + j] = -(tau * sum);
            }
            t[j * count + j] = tau;
        }
        // of rows, which are transposed columns: C -= C conj(V) conj(T) V^T, or C conj(V) T^T V^T
        let mut factor = Scratch::new(count * count)?;
        for i in 0..count {
            for j in 0..count {
                factor[i * count + j] = if adjoint {
                    -t[i * count + j].conj()
                } else {
                    -t[j * count + i]
                };
            }
        }
        let by = [
            Right::new(conj.t())?,
            Right::new(Mat::from_slice(&factor, count, count))?,
            Right::new(v)?,
        ];
        let cost = Cost {
            bytes: 2 * size_of::<T>() * width,
            flops: 4 * count * width,
        };
        // rows by rows, each of which stays in L2 for all products
        let most = (ROWS / (self.len * size_of::<T>())).clamp(12, 96);
        try_split(c, self.len, most, cost, |_, c| {
            let mut scratch = Scratch::new(2 * most * count)?;
            for c in c.chunks_mut(most * self.len) {
                let rows = c.len() / self.len;
                let (sums, products) = scratch.split_at_mut(most * count);
                let (sums, products) = (&mut sums[..rows * count], &mut products[..rows * count]);
                let block = Mat::from_slice(&*c, rows, self.len).block(0..rows, first..self.len);
                by[0].product(block, MatMut::from_slice(sums, rows, count), false)?;
                let sums = Mat::from_slice(&*sums, rows, count);
                by[1].product(sums, MatMut::from_slice(products, rows, count), false)?;
                let products = Mat::from_slice(&*products, rows, count);
                let block = MatMut::from_slice(c, rows, self.len);
                by[2].product(products, block.into_part(0..rows, first..self.len), true)?;
            }
            Ok(())
        })
    }
    /// `Q x` of each row x of `c`.
    pub fn apply(&self, c: &mut [T]) -> Result<()> {
        let count = self.taus.len();
        for start in (0..count).step_by(PANEL).rev() {
            self.apply_block(start..count.min(start + PANEL), c, false)?;
        }
        Ok(())
    }
    /// `Q e` of the first `count` unit vectors e, row by row.
    pub fn units(&self, count: usize) -> Result<Scratch<T>> {
        let mut rows = unit_rows(count, self.len)?;
        let all = self.taus.len();
        for start in (0..all).step_by(PANEL).rev() {
            // earlier unit vectors are zero where the vectors of these reflections are not
            let first = (start + self.shift).min(count);
            let which = start..all.min(start + PANEL);
            self.apply_block(which, &mut rows[first * self.len..], false)?;
        }
        Ok(rows)
    }
}

/// The first `count` rows of the identity of `len`.
pub(super) fn unit_rows<T: Field>(count: usize, len: usize) -> Result<Scratch<T>> {
    let mut rows = Scratch::new(count.saturating_mul(len))?;
    rows.fill(T::ZERO);
    for k in 0..count.min(len) {
        rows[k * len + k] = T::ONE;
    }
    Ok(rows)
}
