//! Batches of matrices: operands as contiguous matrices of a field, work on each of them on all
//! threads, and the first that failed.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::failure::try_chunks;
use crate::fallible;
use crate::layout::Shape;
use crate::par::{self, Cost, Out};
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// A batch of matrices of one size.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    /// The dimensions before the last two.
    pub lead: Shape,
    /// The number of matrices.
    pub len: usize,
    /// Rows of each.
    pub rows: usize,
    /// Columns of each.
    pub cols: usize,
}
impl Batch {
    /// The matrices of `x`. Errors if it has fewer than two dimensions.
    pub fn of(op: &'static str, x: &Tensor) -> Result<Batch> {
        let [lead @ .., rows, cols] = x.shape() else {
            return Err(Error::shape_of(
                op,
                "a matrix has two dimensions",
                &[("x", x.shape(), x.dtype())],
            ));
        };
        Ok(Batch {
            lead: Shape::from_slice(lead),
            len: lead.iter().product(),
            rows: *rows,
            cols: *cols,
        })
    }
    /// The same, of square matrices.
    pub fn square(op: &'static str, x: &Tensor) -> Result<Batch> {
        let batch = Batch::of(op, x)?;
        if batch.rows != batch.cols {
            return Err(Error::shape_of(
                op,
                "the matrices are not square",
                &[("x", x.shape(), x.dtype())],
            ));
        }
        Ok(batch)
    }
    /// The shape of a tensor with these dimensions for each matrix.
    pub fn shape(&self, each: &[usize]) -> Shape {
        self.lead.iter().chain(each).copied().collect()
    }
    /// The index of matrix `k` in the leading dimensions.
    pub fn index(&self, k: usize) -> Vec<usize> {
        index(&self.lead, k)
    }
}
/// The index of element `k` of a shape.
pub(super) fn index(shape: &[usize], mut k: usize) -> Vec<usize> {
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|size| {
            let i = k % size;
            k /= size;
            i
        })
        .collect();
    index.reverse();
    index
}

/// The dtype of results for operands of `dtype`, and the one that they are computed in. Errors if
/// it has no arithmetic.
pub(super) fn dtypes(op: &'static str, dtype: DType) -> Result<(DType, DType)> {
    if dtype.is_storage() || !dtype.inexact().is_available() {
        return Err(Error::unsupported(op, dtype));
    }
    let result = dtype.inexact();
    Ok((result, result.wide()))
}
/// A contiguous tensor of `dtype` to work in. (Writing to it copies it if it is `x` itself.)
pub(super) fn prepared(x: &Tensor, dtype: DType) -> Result<Tensor> {
    x.astype(dtype)?.contiguous()
}

/// Results of a batch: the elements of all matrices, and how many each has.
pub(super) type Results<'a, T> = (&'a mut [T], usize);
/// No results.
pub(super) fn none<'a>() -> Results<'a, u8> {
    (&mut [], 0)
}

/// Calls `f` with each of `0..n`, on all threads: few in turn, so that each has all threads.
pub(super) fn all(n: usize, cost: Cost, f: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    if par::are_few(n, cost) {
        return (0..n).try_for_each(f);
    }
    try_chunks(n, cost, f)
}

/// Calls `f` with the number of each matrix and its part of the results, as [`all`] does. `f` returns
/// 0, or what failed; the result is the first matrix that failed, and what it returned.
pub(super) fn each<A: Send, B: Send, C: Send>(
    n: usize,
    cost: Cost,
    (a, b, c): (Results<A>, Results<B>, Results<C>),
    f: impl Fn(usize, &mut [A], &mut [B], &mut [C]) -> Result<usize> + Sync,
) -> Result<Option<(usize, usize)>> {
    let mut status = fallible::filled(0usize, n)?;
    {
        let parts = (Out::new(a.0), Out::new(b.0), Out::new(c.0));
        let state = Out::new(&mut status);
        let one = |k: usize| {
            // SAFETY: OUT1: each matrix has parts of its own, and each call another matrix.
            let (x, y, z, state) = unsafe {
                (
                    parts.0.part(k * a.1..(k + 1) * a.1),
                    parts.1.part(k * b.1..(k + 1) * b.1),
                    parts.2.part(k * c.1..(k + 1) * c.1),
                    state.part(k..k + 1),
                )
            };
            state[0] = f(k, x, y, z)?;
            Ok(())
        };
        all(n, cost, one)?;
    }
    Ok(status.iter().position(|s| *s != 0).map(|k| (k, status[k])))
}
