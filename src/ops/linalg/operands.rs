//! The operands and results of matrix products, as matrices.

use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::kernel::gemm::{Mat, MatMut};
use crate::tensor::Tensor;
use alloc::borrow::Cow;

/// Whether elements may be computed as `T`. Products of integers wrap, so that their bits don't
/// depend on the sign.
fn is_of<T: Element>(tensor: &Tensor) -> bool {
    tensor.dtype().signless() == T::DTYPE.signless()
}

/// A bias in the dtype of the sums that it is added to: contiguous, and signed as [`is_of`] allows.
pub(crate) fn bias_in(bias: &Tensor, dtype: DType) -> Result<Cow<'_, Tensor>> {
    if bias.dtype() == dtype && dtype.signless() == dtype && bias.is_contiguous() {
        return Ok(Cow::Borrowed(bias));
    }
    let bias = bias.astype(dtype)?.contiguous()?;
    bias.signless().map(Cow::Owned)
}

/// A tensor's last two dimensions as matrices, one for each index of the leading dimensions.
pub(crate) struct Matrices<'a, T> {
    tensor: &'a Tensor,
    _element: core::marker::PhantomData<T>,
}
impl<'a, T: Element> Matrices<'a, T> {
    /// The matrices of a tensor of rank 2 or more, whose dtype is `T`'s, or differs in sign alone
    /// (asserted).
    pub fn new(tensor: &'a Tensor) -> Self {
        assert!(tensor.rank() >= 2 && is_of::<T>(tensor));
        Matrices {
            tensor,
            _element: core::marker::PhantomData,
        }
    }
    /// The distance of the first element of matrix `i` from that of the tensor, in elements.
    #[inline]
    fn offset(&self, mut i: usize) -> isize {
        if let [step, _, _] = self.tensor.strides() {
            return i as isize * step; // two divisions take as long as the smallest products
        }
        let mut offset = 0;
        for axis in (0..self.tensor.rank() - 2).rev() {
            let size = self.tensor.shape()[axis];
            offset += (i % size) as isize * self.tensor.strides()[axis];
            i /= size;
        }
        offset
    }
    /// Matrix `i`, in row-major order of the leading dimensions.
    #[inline]
    pub fn get(&self, i: usize) -> Mat<'a, T> {
        let (t, last) = (self.tensor, self.tensor.rank() - 2);
        let ptr = (t.as_ptr() as *const T).wrapping_offset(self.offset(i));
        // SAFETY: MAT1: elements of the tensor (TENSOR1, TENSOR2), initialised (STORAGE1), borrowed
        // for `'a`.
        unsafe {
            Mat::new(
                ptr,
                t.shape()[last],
                t.shape()[last + 1],
                t.strides()[last],
                t.strides()[last + 1],
            )
        }
    }
}

/// The matrices of a fresh tensor, for writing.
pub(crate) struct ResultMatrices<T> {
    first: *mut T,
    rows: usize,
    cols: usize,
    /// The distance between matrices, in elements.
    step: usize,
    /// The row stride, in elements.
    rs: usize,
}
// SAFETY: only `get` gives access, and its caller promises disjointness.
unsafe impl<T: Send> Sync for ResultMatrices<T> {}
impl<T: Element> ResultMatrices<T> {
    /// The matrices, of `rows x cols`, of a fresh, contiguous tensor.
    pub fn new(tensor: &mut Tensor, rows: usize, cols: usize) -> Result<Self> {
        assert!(
            tensor.is_contiguous()
                && is_of::<T>(tensor)
                && tensor.len().is_multiple_of((rows * cols).max(1))
        );
        Ok(ResultMatrices {
            first: tensor.as_mut_ptr()? as *mut T,
            rows,
            cols,
            step: rows * cols,
            rs: cols,
        })
    }
    /// The matrices of a fresh, contiguous tensor `[rows, matrices, cols]`, in which they are side
    /// by side.
    pub fn interleaved(tensor: &mut Tensor) -> Result<Self> {
        assert!(tensor.rank() == 3 && tensor.is_contiguous() && is_of::<T>(tensor));
        let (rows, cols, rs) = (
            tensor.shape()[0],
            tensor.shape()[2],
            tensor.shape()[1] * tensor.shape()[2],
        );
        Ok(ResultMatrices {
            first: tensor.as_mut_ptr()? as *mut T,
            rows,
            cols,
            step: cols,
            rs,
        })
    }
    /// Matrix `i`.
    ///
    /// # Safety
    /// The tensor is alive and nobody else uses it, it has a matrix `i`, and no two live parts of
    /// the same matrix overlap.
    #[inline]
    pub unsafe fn get<'a>(&self, i: usize) -> MatMut<'a, T> {
        // SAFETY: MAT2: elements of the tensor (TENSOR1, TENSOR2), initialised (STORAGE1),
        // exclusive (STORAGE3) by the caller's promise.
        unsafe {
            MatMut::new(
                self.first.add(i * self.step),
                self.rows,
                self.cols,
                self.rs as isize,
            )
        }
    }
}
