//! Batches of matrix products over the threads: everything that multiplies matrices comes through here.

use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::exec::par::{self, Cost};
use crate::kernel::gemm::{self, Grid, Mat, MatMut, Product, Stages};
use crate::tensor::Tensor;
use core::sync::atomic::{AtomicUsize, Ordering};

/// The sizes of each product of a batch: `m x k` by `k x n`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

/// `c = a b`, then the stages, for `batch` triples of operands, each cut into blocks that depend on the shape alone.
///
/// Errors where there is no memory for packing.
///
/// # Safety
/// `operands(i)` has the shapes of `sizes`, and no two results overlap.
pub(crate) unsafe fn products<'a, A, B, C>(
    sizes: Sizes,
    batch: usize,
    operands: impl Fn(usize) -> (Mat<'a, A>, Mat<'a, B>, MatMut<'a, C>) + Sync,
    stages: Stages<C>,
) -> Result<()>
where
    A: Product + Element,
    B: Product<Lane = A::Lane> + Element,
    C: Product<Lane = A::Lane> + Element,
{
    let Sizes { m, n, k } = sizes;
    // Four bytes are multiplied in the time of a number.
    let grid = Grid::new(m, n, if A::BYTE.is_some() { k.div_ceil(4) } else { k });
    let blocks = grid.len();
    let (rows, cols) = if blocks == 0 { return Ok(()) } else { grid.block(0) };
    let cost = Cost {
        bytes: k
            .saturating_mul(rows.len() * size_of::<A>() + cols.len() * size_of::<B>())
            .saturating_add(rows.len() * cols.len() * size_of::<C>()),
        flops: rows.len().saturating_mul(cols.len()).saturating_mul(k),
    };
    let failure = Failure::default();
    par::chunks(batch * blocks, cost, |task| {
        let (a, b, c) = operands(task / blocks);
        let (rows, cols) = grid.block(task % blocks);
        let stages = stages.at(rows.start, cols.start);
        // SAFETY: blocks of a grid don't overlap, nor do results by the caller's promise.
        let part = unsafe { c.part(rows.clone(), cols.clone()) };
        failure.note(gemm::product(a.block(rows, 0..k), b.block(0..k, cols), part, false, stages));
    });
    failure.result()
}

/// Memory that some piece of parallel work did not get.
#[derive(Default)]
pub(crate) struct Failure(AtomicUsize);
impl Failure {
    /// Keeps the error, of which only one kind is met in the middle of an operation.
    pub fn note(&self, result: Result<()>) {
        if let Err(Error::Memory { bytes, .. }) = result {
            self.0.store((bytes as usize).max(1), Ordering::Relaxed);
        }
    }
    /// What became of all pieces.
    pub fn result(self) -> Result<()> {
        match self.0.into_inner() {
            0 => Ok(()),
            bytes => Err(Error::Memory { bytes: bytes as u128, limit: 0 }),
        }
    }
}

/// A tensor's last two dimensions as matrices, one for each index of the dimensions before.
pub(crate) struct Matrices<'a, T> {
    tensor: &'a Tensor,
    _element: core::marker::PhantomData<T>,
}
impl<'a, T: Element> Matrices<'a, T> {
    /// Of a tensor of rank 2 or more whose dtype is `T`'s (asserted).
    pub fn new(tensor: &'a Tensor) -> Self {
        assert!(tensor.rank() >= 2 && tensor.dtype() == T::DTYPE);
        Matrices { tensor, _element: core::marker::PhantomData }
    }
    /// Distance of the first element of matrix `i` from that of the tensor, in elements.
    #[inline]
    fn offset(&self, mut i: usize) -> isize {
        let mut offset = 0;
        for axis in (0..self.tensor.rank() - 2).rev() {
            let size = self.tensor.shape()[axis];
            offset += (i % size) as isize * self.tensor.strides()[axis];
            i /= size;
        }
        offset
    }
    /// Matrix `i`, in row-major order of the dimensions before the last two.
    #[inline]
    pub fn get(&self, i: usize) -> Mat<'a, T> {
        let (t, last) = (self.tensor, self.tensor.rank() - 2);
        let ptr = (t.as_ptr() as *const T).wrapping_offset(self.offset(i));
        // SAFETY: M1: elements of the tensor (T1, T2), initialised (S1), borrowed for `'a`.
        unsafe { Mat::new(ptr, t.shape()[last], t.shape()[last + 1], t.strides()[last], t.strides()[last + 1]) }
    }
}

/// The matrices of a fresh tensor, for writing.
pub(crate) struct Results<T> {
    first: *mut T,
    rows: usize,
    cols: usize,
    /// From a matrix to the next.
    step: usize,
    /// From a row to the next.
    rs: usize,
}
// SAFETY: only `get` gives access, whose caller promises disjointness.
unsafe impl<T: Send> Sync for Results<T> {}
impl<T: Element> Results<T> {
    /// Of a fresh, contiguous tensor, as matrices of `rows x cols`.
    pub fn new(tensor: &mut Tensor, rows: usize, cols: usize) -> Result<Self> {
        assert!(tensor.is_contiguous() && tensor.dtype() == T::DTYPE && tensor.len().is_multiple_of((rows * cols).max(1)));
        Ok(Results { first: tensor.as_mut_ptr()? as *mut T, rows, cols, step: rows * cols, rs: cols })
    }
    /// Of a fresh, contiguous tensor `[rows, matrices, cols]`: the matrices lie side by side.
    pub fn interleaved(tensor: &mut Tensor) -> Result<Self> {
        assert!(tensor.rank() == 3 && tensor.is_contiguous() && tensor.dtype() == T::DTYPE);
        let (rows, cols, rs) = (tensor.shape()[0], tensor.shape()[2], tensor.shape()[1] * tensor.shape()[2]);
        Ok(Results { first: tensor.as_mut_ptr()? as *mut T, rows, cols, step: cols, rs })
    }
    /// Matrix `i`.
    ///
    /// # Safety
    /// The tensor lives and nobody else uses it, it has matrix `i`, and no two live parts of the same matrix overlap.
    #[inline]
    pub unsafe fn get<'a>(&self, i: usize) -> MatMut<'a, T> {
        // SAFETY: M2: elements of the tensor (T1, T2), initialised (S1), exclusive (S3) by the caller's promise.
        unsafe { MatMut::new(self.first.add(i * self.step), self.rows, self.cols, self.rs as isize) }
    }
}
