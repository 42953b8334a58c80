//! Batches of small matrices, one in each lane of vectors. What needs care, such as a matrix that is
//! singular, is left to the algorithms for matrices of any size.

use super::field::{Field, abs, epsilon, sqrt, tiny};
use super::precise::nan;
use crate::error::Result;
use crate::exec::failure::try_split;
use crate::kernel::gemm::Scratch;
use crate::kernel::math::Real;
use crate::kernel::small::{self, LANES, cholesky, eliminate};
use crate::par::Cost;
use core::sync::atomic::{AtomicBool, Ordering};

/// The largest matrices that are computed this way.
const LARGEST: usize = 16;
/// Their columns with those of right-hand sides: in one lane all of them fit the first cache.
const COLUMNS: usize = 24;

/// Whether `count` matrices of `n`, with `width` right-hand sides, are computed this way.
pub(super) fn serves(n: usize, width: usize, count: usize) -> bool {
    (1..=LARGEST).contains(&n) && n + width <= COLUMNS && count >= LANES
}

/// The cost of a matrix.
fn cost(n: usize, width: usize, size: usize) -> Cost {
    Cost {
        bytes: 2 * n * (n + width) * size,
        flops: n * n * (n + width) / 4 + 8 * n * (n + width),
    }
}

/// Copies the rows of a matrix to a lane, into columns from `first` of rows of `cols`.
fn load<T: Copy>(
    from: &[T],
    n: usize,
    to: &mut [[T; LANES]],
    cols: usize,
    first: usize,
    lane: usize,
) {
    let width = from.len() / n;
    for (from, to) in from
        .chunks_exact(width.max(1))
        .zip(to.chunks_exact_mut(cols))
    {
        for (x, to) in from.iter().zip(&mut to[first..]) {
            to[lane] = *x;
        }
    }
}
/// The reverse of [`load`].
fn store<T: Copy>(
    from: &[[T; LANES]],
    cols: usize,
    first: usize,
    lane: usize,
    to: &mut [T],
    n: usize,
) {
    let width = to.len() / n;
    for (from, to) in from
        .chunks_exact(cols)
        .zip(to.chunks_exact_mut(width.max(1)))
    {
        for (x, to) in from[first..].iter().zip(to) {
            *to = x[lane];
        }
    }
}

/// Calls `f` with the numbers of the matrices of each block, their parts of `out`, of which each
/// matrix has `per`, and scratch of `size` elements a lane. False if one call returns false.
fn blocks<T: Field>(
    out: &mut [T],
    per: usize,
    cost: Cost,
    size: usize,
    f: impl Fn(core::ops::Range<usize>, &mut [T], &mut [[T; LANES]]) -> bool + Sync,
) -> Result<bool> {
    let done = AtomicBool::new(true);
    try_split(out, per, LANES, cost, |range, out| {
        let mut scratch = Scratch::<T>::new(size * LANES)?;
        let (scratch, _) = scratch.as_chunks_mut::<LANES>();
        let parts = out.chunks_mut(per * LANES);
        for (part, first) in parts.zip(range.clone().step_by(LANES)) {
            if !f(first..(first + LANES).min(range.end), part, scratch) {
                done.store(false, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    Ok(done.into_inner())
}

/// Replaces `x`, `width` right-hand sides for each matrix, by the solutions, or fills it with the
/// inverses. `a(k)` is the matrix of the k-th. False if a matrix is singular.
pub(super) fn solve<'a, T: Field<Real = T> + Real>(
    a: impl Fn(usize) -> &'a [T] + Sync,
    n: usize,
    x: &mut [T],
    width: usize,
    inverse: bool,
) -> Result<bool> {
    let cols = n + width;
    let cost = cost(n, width, size_of::<T>());
    blocks(x, n * width, cost, n * cols, |range, x, scratch| {
        // lanes without a matrix compute that of the first
        for lane in 0..LANES {
            let k = if lane < range.len() { lane } else { 0 };
            load(a(range.start + k), n, scratch, cols, 0, lane);
            match inverse {
                true => (0..n * width).for_each(|at| {
                    let (i, j) = (at / width, at % width);
                    scratch[i * cols + n + j][lane] = if i == j {
                        <T as Field>::ONE
                    } else {
                        <T as Field>::ZERO
                    };
                }),
                false => load(&x[k * n * width..][..n * width], n, scratch, cols, n, lane),
            }
        }
        eliminate(scratch, n, width, &mut [<T as Field>::ONE; LANES]);
        for lane in 0..range.len() {
            store(
                scratch,
                cols,
                n,
                lane,
                &mut x[lane * n * width..][..n * width],
                n,
            );
        }
        (0..n).all(|i| {
            scratch[i * cols + i]
                .iter()
                .all(|u| *u != <T as Field>::ZERO && !u.isnan())
        })
    })
}

/// The determinants. False if one is so large or small that its factors may have overflowed.
pub(super) fn det<T: Field<Real = T> + Real>(a: &[T], n: usize, det: &mut [T]) -> Result<bool> {
    let least = tiny::<T>() / epsilon::<T>();
    let most = <T as Field>::ONE / least;
    let cost = cost(n, 0, size_of::<T>());
    blocks(det, 1, cost, n * n, |range, det, scratch| {
        for lane in 0..LANES {
            let k = range.start + if lane < range.len() { lane } else { 0 };
            load(&a[k * n * n..][..n * n], n, scratch, n, 0, lane);
        }
        let mut signs = [<T as Field>::ONE; LANES];
        eliminate(scratch, n, 0, &mut signs);
        let mut sound = true;
        for (lane, to) in det.iter_mut().enumerate() {
            let (mut product, mut zero) = (signs[lane], false);
            for i in 0..n {
                let factor = scratch[i * n + i][lane];
                zero |= factor == <T as Field>::ZERO;
                product = product * factor;
                let size = abs(product);
                sound &= zero || (size > least && size < most);
            }
            *to = product;
        }
        sound
    })
}

/// Replaces matrices by their lower Cholesky factors, with zeros above. False if one is not positive
/// definite.
pub(super) fn factor<T: Field<Real = T> + Real>(a: &mut [T], n: usize) -> Result<bool> {
    let cost = cost(n, 0, size_of::<T>());
    blocks(a, n * n, cost, n * n, |range, a, scratch| {
        for lane in 0..LANES {
            let k = if lane < range.len() { lane } else { 0 };
            load(&a[k * n * n..][..n * n], n, scratch, n, 0, lane);
        }
        let mut least = [<T as Field>::ONE; LANES];
        cholesky(scratch, n, &mut least);
        if !least
            .iter()
            .all(|x| *x > <T as Field>::ZERO && x.isfinite())
        {
            return false; // before the matrices are overwritten
        }
        for lane in 0..range.len() {
            let a = &mut a[lane * n * n..][..n * n];
            store(scratch, n, 0, lane, a, n);
            for i in 0..n {
                a[i * n + i + 1..(i + 1) * n].fill(<T as Field>::ZERO);
            }
        }
        true
    })
}

/// The eigenvalues of symmetric matrices, ascending, of whose elements the lower triangles are read;
/// NaN where a matrix needs care: if its numbers are not finite, or of sizes whose squares are not, or
/// the iteration does not converge. False if one does. `tolerance` is what the iteration neglects.
pub(super) fn eigenvalues<S: Real, T: Field<Real = T> + Real>(
    a: &[S],
    n: usize,
    values: &mut [T],
    tolerance: T,
) -> Result<bool> {
    let least = tiny::<T>() / epsilon::<T>();
    // the fourth power of a number between these is a normal number
    let low = sqrt(sqrt(least));
    let high = <T as Field>::ONE / low;
    let flops = n * n * (n + 24);
    let cost = Cost {
        flops,
        ..cost(n, 0, size_of::<T>())
    };
    blocks(values, n, cost, (n + 2) * n, |range, values, scratch| {
        let (lower, rest) = scratch.split_at_mut(n * n);
        let (d, e) = rest.split_at_mut(n);
        let mut done = [<T as Field>::ONE; LANES];
        for (lane, done) in done.iter_mut().enumerate() {
            let k = range.start + if lane < range.len() { lane } else { 0 };
            let mut largest = <T as Field>::ZERO;
            for i in 0..n {
                for j in 0..=i {
                    let x = T::from_f64(a[k * n * n + i * n + j].to_f64());
                    let size = abs(x);
                    largest = if size > largest || size.isnan() {
                        size
                    } else {
                        largest
                    };
                    lower[i * n + j][lane] = x;
                }
            }
            let fits = largest == <T as Field>::ZERO || (largest > low && largest < high);
            if !fits {
                *done = <T as Field>::ZERO;
                for x in lower.iter_mut() {
                    x[lane] = <T as Field>::ZERO;
                }
            }
        }
        small::eigenvalues(lower, n, d, e, tolerance, least, &mut done);
        let mut all = true;
        for ((lane, values), done) in values.chunks_exact_mut(n).enumerate().zip(done) {
            let converged = done > <T as Field>::ZERO;
            all &= converged;
            for (to, x) in values.iter_mut().zip(&*d) {
                *to = if converged { x[lane] } else { nan() };
            }
        }
        all
    })
}
