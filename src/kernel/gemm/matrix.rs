//! Matrices where they lie: a pointer with bounds and signed strides.

use core::{marker::PhantomData, ops::Range};

/// A matrix to read: any strides, so transposed, flipped, stepped and broadcast operands are read
/// in place.
///
/// Invariant MAT1: for all `i < rows`, `j < cols` the element at `ptr + i * rs + j * cs` is an
/// initialised `T`, readable for `'a`.
#[derive(Clone, Copy)]
pub struct Mat<'a, T> {
    ptr: *const T,
    rows: usize,
    cols: usize,
    rs: isize,
    cs: isize,
    _data: PhantomData<&'a [T]>,
}
// SAFETY: a `Mat` is a shared reference to its elements (MAT1).
unsafe impl<T: Sync> Send for Mat<'_, T> {}
// SAFETY: a `Mat` is a shared reference to its elements (MAT1), and gives out nothing but copies of
// them.
unsafe impl<T: Sync> Sync for Mat<'_, T> {}

impl<'a, T> Mat<'a, T> {
    /// A matrix at `ptr`, with strides in elements.
    ///
    /// # Safety
    /// MAT1.
    #[inline]
    pub unsafe fn new(ptr: *const T, rows: usize, cols: usize, rs: isize, cs: isize) -> Self {
        Mat {
            ptr,
            rows,
            cols,
            rs,
            cs,
            _data: PhantomData,
        }
    }
    /// `data` as rows of `cols`. Panics if they don't fill it.
    #[inline]
    pub fn from_slice(data: &'a [T], rows: usize, cols: usize) -> Self {
        assert_eq!(rows.checked_mul(cols), Some(data.len()));
        Mat {
            ptr: data.as_ptr(),
            rows,
            cols,
            rs: cols as isize,
            cs: 1,
            _data: PhantomData,
        }
    }
    /// A pointer to the first element; only for reads within the bounds.
    #[inline(always)]
    pub fn as_ptr(&self) -> *const T {
        self.ptr
    }
    /// The number of rows.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// The number of columns.
    #[inline(always)]
    pub fn cols(&self) -> usize {
        self.cols
    }
    /// The stride between rows.
    #[inline(always)]
    pub fn rs(&self) -> isize {
        self.rs
    }
    /// The stride between columns.
    #[inline(always)]
    pub fn cs(&self) -> isize {
        self.cs
    }
    /// The transposed matrix.
    #[inline]
    pub fn t(self) -> Self {
        Mat {
            rows: self.cols,
            cols: self.rows,
            rs: self.cs,
            cs: self.rs,
            ..self
        }
    }
    /// A block of rows and columns. Panics if out of bounds.
    #[inline]
    pub fn block(self, rows: Range<usize>, cols: Range<usize>) -> Self {
        assert!(
            rows.start <= rows.end
                && rows.end <= self.rows
                && cols.start <= cols.end
                && cols.end <= self.cols
        );
        let ptr = self
            .ptr
            .wrapping_offset(rows.start as isize * self.rs + cols.start as isize * self.cs);
        Mat {
            ptr,
            rows: rows.len(),
            cols: cols.len(),
            ..self
        }
    }
    /// Element `(i, j)`.
    ///
    /// # Safety
    /// `i < rows`, `j < cols`.
    #[inline(always)]
    pub unsafe fn get(&self, i: usize, j: usize) -> T
    where
        T: Copy,
    {
        // SAFETY: MAT1: the caller promises `i < rows` and `j < cols`.
        unsafe { *self.ptr.offset(i as isize * self.rs + j as isize * self.cs) }
    }
    /// The address of element `(i, j)`; one past the end is allowed, for an empty remainder.
    #[inline(always)]
    pub(super) fn at(&self, i: usize, j: usize) -> *const T {
        self.ptr
            .wrapping_offset(i as isize * self.rs + j as isize * self.cs)
    }
}

/// A matrix to write, whose rows are contiguous. (For contiguous columns, compute the transposed
/// product.)
///
/// Invariant MAT2: for all `i < rows` the `cols` elements from `ptr + i * rs` are initialised,
/// readable and writable for `'a`, by nobody else, and rows don't overlap.
pub struct MatMut<'a, T> {
    ptr: *mut T,
    rows: usize,
    cols: usize,
    rs: isize,
    _data: PhantomData<&'a mut [T]>,
}
// SAFETY: a `MatMut` is a unique reference to its elements (MAT2).
unsafe impl<T: Send> Send for MatMut<'_, T> {}
// SAFETY: a shared `MatMut` gives access through `part` alone, whose caller promises disjointness.
unsafe impl<T: Send> Sync for MatMut<'_, T> {}

impl<'a, T> MatMut<'a, T> {
    /// A matrix at `ptr`, with rows `rs` elements apart.
    ///
    /// # Safety
    /// MAT2.
    #[inline]
    pub unsafe fn new(ptr: *mut T, rows: usize, cols: usize, rs: isize) -> Self {
        MatMut {
            ptr,
            rows,
            cols,
            rs,
            _data: PhantomData,
        }
    }
    /// `data` as rows of `cols`. Panics if they don't fill it.
    #[inline]
    pub fn from_slice(data: &'a mut [T], rows: usize, cols: usize) -> Self {
        assert_eq!(rows.checked_mul(cols), Some(data.len()));
        MatMut {
            ptr: data.as_mut_ptr(),
            rows,
            cols,
            rs: cols as isize,
            _data: PhantomData,
        }
    }
    /// The number of rows.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// The number of columns.
    #[inline(always)]
    pub fn cols(&self) -> usize {
        self.cols
    }
    /// The stride between rows.
    #[inline(always)]
    pub fn rs(&self) -> isize {
        self.rs
    }
    /// A pointer to the first element, valid for the whole matrix.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.ptr
    }
    /// Row `i`. Panics out of bounds.
    #[inline(always)]
    pub fn row(&mut self, i: usize) -> &mut [T] {
        assert!(i < self.rows);
        // SAFETY: MAT2: `cols` contiguous elements of a row within bounds; `self` is borrowed while
        // the slice lives.
        unsafe { core::slice::from_raw_parts_mut(self.at(i, 0), self.cols) }
    }
    /// Reborrows the matrix for a shorter lifetime.
    #[inline]
    pub fn reborrow(&mut self) -> MatMut<'_, T> {
        MatMut {
            _data: PhantomData,
            ..*self
        }
    }
    /// A single column as a row, or a single row as a column. Panics if it is neither, or not
    /// contiguous.
    #[inline]
    pub fn into_transposed(self) -> Self {
        assert!(self.rows == 1 || self.cols == 1 && self.rs == 1);
        let rs = if self.rows == 1 {
            1
        } else {
            self.rows as isize
        };
        MatMut {
            rows: self.cols,
            cols: self.rows,
            rs,
            ..self
        } // MAT2: the same elements, contiguous
    }
    /// A block of rows and columns, while others use other blocks. Panics if out of bounds.
    ///
    /// # Safety
    /// No two live parts overlap.
    #[inline]
    pub unsafe fn part(&self, rows: Range<usize>, cols: Range<usize>) -> MatMut<'_, T> {
        let whole = MatMut {
            _data: PhantomData,
            ..*self
        };
        whole.into_part(rows, cols)
    }
    /// A block of rows and columns alone. Panics if out of bounds.
    #[inline]
    pub fn into_part(self, rows: Range<usize>, cols: Range<usize>) -> Self {
        assert!(
            rows.start <= rows.end
                && rows.end <= self.rows
                && cols.start <= cols.end
                && cols.end <= self.cols
        );
        MatMut {
            ptr: self.at(rows.start, cols.start),
            rows: rows.len(),
            cols: cols.len(),
            ..self
        }
    }
    /// The address of element `(i, j)`.
    #[inline(always)]
    pub(super) fn at(&self, i: usize, j: usize) -> *mut T {
        self.ptr.wrapping_offset(i as isize * self.rs + j as isize)
    }
}

/// The operands of each product of a batch: a trait object, since all products of a dtype are to
/// share their code.
pub type ProductOperands<'f, 'a, A, B, C> =
    &'f (dyn Fn(usize) -> (Mat<'a, A>, Mat<'a, B>, MatMut<'a, C>) + Sync);
