//! Batches of small matrices, one in each lane of vectors. What needs care, such as a matrix that is
//! singular, is left to the algorithms for matrices of any size.

use super::field::{Field, abs, epsilon, sqrt, tiny};
use super::precise::nan;
use crate::error::Result;
use crate::exec::failure::try_split;
use crate::exec::pack::pack;
use crate::exec::rect::Rect;
use crate::kernel::gemm::Scratch;
use crate::kernel::math::Real;
use crate::kernel::small::{self, LANES, cholesky, determinants, eliminate};
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

/// Copies `count` matrices of `m` elements each, at most one a lane, to the lanes: element `i` of all of
/// them to `to[i]`. `which(lane)` is the matrix of a lane in `from`. Lanes without one get the first.
fn load<T: Copy>(from: &[T], which: impl Fn(usize) -> usize, count: usize, to: &mut [[T; LANES]]) {
    let (m, first) = (to.len(), which(0));
    if count == LANES && (1..LANES).all(|lane| which(lane) == first + lane) {
        let from = &from[first * m..][..LANES * m];
        // SAFETY: PACK1: `LANES` columns of `m` elements, and room for as many, borrowed mutably.
        return unsafe { transposed(from.as_ptr(), to.as_mut_ptr().cast(), m, LANES) };
    }
    for lane in 0..LANES {
        let k = which(if lane < count { lane } else { 0 });
        for (to, x) in to.iter_mut().zip(&from[k * m..][..m]) {
            to[lane] = *x;
        }
    }
}
/// The reverse of [`load`], of all matrices of `to`.
fn store<T: Copy>(from: &[[T; LANES]], to: &mut [T]) {
    let m = from.len();
    if to.len() == LANES * m {
        // SAFETY: PACK1: `m` columns of `LANES` elements, and room for as many, borrowed mutably.
        return unsafe { transposed(from.as_ptr().cast(), to.as_mut_ptr(), LANES, m) };
    }
    for (lane, to) in to.chunks_exact_mut(m).enumerate() {
        for (to, x) in to.iter_mut().zip(from) {
            *to = x[lane];
        }
    }
}
/// Copies `cols` contiguous columns of `rows` elements to contiguous rows.
///
/// # Safety
/// PACK1 for so many elements.
unsafe fn transposed<T: Copy>(from: *const T, to: *mut T, rows: usize, cols: usize) {
    let size = size_of::<T>();
    let columns = Rect {
        ptr: from.cast(),
        rows,
        cols,
        row_step: size as isize,
        col_step: (rows * size) as isize,
    };
    // SAFETY: by the caller.
    unsafe { pack(to.cast(), columns, size) }
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
/// inverses. `which(k)` is the matrix of the k-th in `a`. False if a matrix is singular.
pub(super) fn solve<T: Field<Real = T> + Real>(
    a: &[T],
    which: impl Fn(usize) -> usize + Sync,
    n: usize,
    x: &mut [T],
    width: usize,
    inverse: bool,
) -> Result<bool> {
    let cols = n + width;
    let cost = cost(n, width, size_of::<T>());
    let room = n * (cols + n.max(width));
    blocks(x, n * width, cost, room, |range, x, scratch| {
        let (system, rest) = scratch.split_at_mut(n * cols);
        let matrix = &mut rest[..n * n];
        load(a, |lane| which(range.start + lane), range.len(), matrix);
        for (to, row) in system.chunks_exact_mut(cols).zip(matrix.chunks_exact(n)) {
            to[..n].copy_from_slice(row);
        }
        let sides = &mut rest[..n * width];
        if inverse {
            sides.fill([<T as Field>::ZERO; LANES]);
            for x in sides.iter_mut().step_by(n + 1) {
                *x = [<T as Field>::ONE; LANES];
            }
        } else {
            load(x, |lane| lane, range.len(), sides);
        }
        for (to, row) in system.chunks_exact_mut(cols).zip(sides.chunks_exact(width)) {
            to[n..].copy_from_slice(row);
        }
        eliminate(system, n, width, &mut [<T as Field>::ONE; LANES]);
        for (to, row) in sides.chunks_exact_mut(width).zip(system.chunks_exact(cols)) {
            to.copy_from_slice(&row[n..]);
        }
        store(sides, x);
        system
            .iter()
            .step_by(cols + 1)
            .all(|u| u.iter().all(|u| *u != <T as Field>::ZERO && !u.isnan()))
    })
}

/// The determinants. False if one is so large or small that its factors may have overflowed.
pub(super) fn det<T: Field<Real = T> + Real>(a: &[T], n: usize, det: &mut [T]) -> Result<bool> {
    let least = tiny::<T>() / epsilon::<T>();
    let cost = cost(n, 0, size_of::<T>());
    blocks(det, 1, cost, n * n, |range, det, scratch| {
        load(a, |lane| range.start + lane, range.len(), scratch);
        let mut product = [<T as Field>::ONE; LANES];
        eliminate(scratch, n, 0, &mut product);
        let sound = determinants(scratch, n, &mut product, least);
        det.copy_from_slice(&product[..det.len()]);
        sound
    })
}

/// Replaces matrices by their lower Cholesky factors, with zeros above. False if one is not positive
/// definite.
pub(super) fn factor<T: Field<Real = T> + Real>(a: &mut [T], n: usize) -> Result<bool> {
    let cost = cost(n, 0, size_of::<T>());
    blocks(a, n * n, cost, n * n, |range, a, scratch| {
        load(a, |lane| lane, range.len(), scratch);
        let mut least = [<T as Field>::ONE; LANES];
        cholesky(scratch, n, &mut least);
        if !least
            .iter()
            .all(|x| *x > <T as Field>::ZERO && x.isfinite())
        {
            return false; // before the matrices are overwritten
        }
        for i in 0..n {
            scratch[i * n + i + 1..(i + 1) * n].fill([<T as Field>::ZERO; LANES]);
        }
        store(scratch, a);
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
