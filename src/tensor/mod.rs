//! The tensor: storage, layout, dtype. Constructors and accessors; no arithmetic.

use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::layout::{IntoShape, Layout};
use crate::par::{self, Cost};
use crate::scalar::Scalar;
use crate::storage::Bytes;
use alloc::boxed::Box;
#[cfg(target_has_atomic = "ptr")]
use alloc::sync::Arc;
use core::any::Any;
#[cfg(not(target_has_atomic = "ptr"))]
use portable_atomic_util::Arc;

mod contents;
mod copy;
mod from;
mod views;

#[cfg(any(feature = "bindings", feature = "quant", feature = "stream"))]
pub use copy::resolve_shape;

/// An n-dimensional array whose dtype is known at run time.
///
/// A clone shares the storage and is cheap; a write copies shared storage first, so a write to one
/// tensor is never seen in another. Views (`permute`, `slice`, `flip`, `broadcast_to` ..) share the
/// storage too and move no element. Once a write had to copy because of such a view, later views of
/// a small part are copies themselves, so that a loop that reads one row and writes the next
/// doesn't copy the whole tensor each time.
///
/// Invariants, checked in the constructors:
/// - TENSOR1. Every element that the layout reaches lies inside the storage.
/// - TENSOR2. The storage begins at an address that is a multiple of the element's size, or of 8
///   (the alignment of `u64`) for larger elements; so does every element, and integers of its width
///   may be read and written there.
///
/// ```
/// use flex::{DType, Tensor};
/// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
/// let t = x.transpose(0, 1)?;
/// assert_eq!((t.shape(), t.dtype()), (&[3, 2][..], DType::F32));
/// assert_eq!(t.to_vec::<f32>()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// # Ok::<(), flex::Error>(())
/// ```
///
/// ```
/// use flex::Tensor;
/// let x = Tensor::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
/// assert_eq!((x.rank(), x.len(), x.strides()), (2, 6, &[3, 1][..]));
/// assert!(x.is_contiguous() && !x.is_empty());
/// let column = x.select(1, 2)?;
/// assert!(column.shares_storage(&x) && column.storage().same(x.storage()));
/// assert_eq!((column.layout().offset(), column.strides()), (2, &[3][..]));
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone)]
pub struct Tensor {
    data: Bytes,
    /// Shared, since the result of an operation often has its operand's layout.
    layout: Arc<Layout>,
    dtype: DType,
}

impl Tensor {
    /// A tensor of this storage, layout and dtype. Errors if an element would lie outside the
    /// storage (TENSOR1) or be misaligned (TENSOR2).
    ///
    /// ```
    /// use flex::{Bytes, DType, Layout, Tensor};
    /// let bytes = Bytes::zeroed(24)?;
    /// let x = Tensor::from_parts(bytes.clone(), Layout::contiguous(&[2, 3])?, DType::F32)?;
    /// assert!(x.storage().same(&bytes));
    /// assert!(Tensor::from_parts(bytes, Layout::contiguous(&[7])?, DType::F32).is_err());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn from_parts(data: Bytes, layout: Layout, dtype: DType) -> Result<Tensor> {
        let size = dtype.size();
        if let Some((_, last)) = layout.span() {
            if (last as u128 + 1) * size as u128 > data.len() as u128 {
                let message = message!(
                    "shape {:?} of {dtype} needs {} bytes; there are {}",
                    layout.shape(),
                    (last as u128 + 1) * size as u128,
                    data.len()
                );
                return Err(Error::shape("from_parts", message));
            }
            if !(data.as_ptr() as usize).is_multiple_of(dtype.align()) {
                return Err(Error::value(
                    "from_parts",
                    message!("memory at {:p} is not aligned for {dtype}", data.as_ptr()),
                ));
            }
        }
        Ok(Tensor {
            data,
            layout: Arc::new(layout),
            dtype,
        })
    }
    /// A new contiguous tensor with unspecified values. Errors if there is no memory for it.
    ///
    /// ```
    /// let x = flex::Tensor::empty((2, 3), flex::DType::F32)?;
    /// assert_eq!((x.shape(), x.len()), (&[2, 3][..], 6));
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline]
    pub fn empty(shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
        Tensor::fresh(shape.into_shape().as_ref(), dtype)
    }
    fn fresh(shape: &[usize], dtype: DType) -> Result<Tensor> {
        let layout = Layout::contiguous(shape)?;
        let data = Bytes::new(byte_len(&layout, dtype)?)?;
        Ok(Tensor {
            data,
            layout: Arc::new(layout),
            dtype,
        }) // TENSOR1, TENSOR2: sized by the layout
    }
    /// A new tensor with the layout of `x`, which is dense.
    #[inline]
    pub(crate) fn empty_like(x: &Tensor, dtype: DType) -> Result<Tensor> {
        Tensor::empty_of(x.layout_at_zero(), dtype)
    }
    /// Its layout, moved to offset 0.
    #[inline]
    pub(crate) fn layout_at_zero(&self) -> Arc<Layout> {
        match self.layout.offset() {
            0 => self.layout.clone(),
            _ => Arc::new(self.layout.at_zero()),
        }
    }
    /// A new tensor for the elementwise result of operands that broadcast to `shape`, laid out by
    /// [`Layout::of_result`].
    pub(crate) fn empty_result<'a>(
        shape: &[usize],
        operands: impl Iterator<Item = &'a Tensor> + Clone,
        dtype: DType,
    ) -> Result<Tensor> {
        if let Some(x) = operands
            .clone()
            .find(|x| x.is_contiguous() && x.shape() == shape)
        {
            return Tensor::empty_like(x, dtype); // row-major, as `of_result` would choose
        }
        Tensor::empty_of(
            Layout::of_result(shape, operands.map(Tensor::layout))?,
            dtype,
        )
    }
    /// A new tensor with this layout, which is dense from offset 0.
    pub(crate) fn empty_of(layout: impl Into<Arc<Layout>>, dtype: DType) -> Result<Tensor> {
        let layout = layout.into();
        debug_assert!(layout.is_dense() && layout.offset() == 0);
        let data = Bytes::new(byte_len(&layout, dtype)?)?;
        Ok(Tensor {
            data,
            layout,
            dtype,
        }) // TENSOR1, TENSOR2: dense from 0, sized by the layout
    }
    /// A new tensor filled with zeros (or false). Errors if there is no memory for it.
    ///
    /// ```
    /// let x = flex::Tensor::zeros(3, flex::DType::I64)?;
    /// assert_eq!(x.to_vec::<i64>()?, [0, 0, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn zeros(shape: impl IntoShape, dtype: DType) -> Result<Tensor> {
        Tensor::zeroed(shape.into_shape().as_ref(), dtype)
    }
    fn zeroed(shape: &[usize], dtype: DType) -> Result<Tensor> {
        let layout = Layout::contiguous(shape)?;
        let len = byte_len(&layout, dtype)?;
        let (mut data, zeroed) = Bytes::owned(len)?;
        if !zeroed && let Some(p) = data.get_mut() {
            // SAFETY: `len` bytes of the fresh storage, initialised (STORAGE1), which nobody else
            // has (STORAGE3).
            let bytes = unsafe { core::slice::from_raw_parts_mut(p, len) };
            let cost = Cost { bytes: 1, flops: 0 };
            par::split(bytes, 1, 64, cost, |_, part| part.fill(0));
        }
        Ok(Tensor {
            data,
            layout: Arc::new(layout),
            dtype,
        }) // TENSOR1, TENSOR2: sized by the layout
    }
    /// A copy of values in row-major order, of their type's dtype. Errors if their number is not that
    /// of the shape's elements.
    ///
    /// ```
    /// let x = flex::Tensor::from_slice(&[true, false], [2, 1])?;
    /// assert_eq!(x.dtype(), flex::DType::Bool);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn from_slice<T: Element>(values: &[T], shape: impl IntoShape) -> Result<Tensor> {
        let shape = shape.into_shape();
        let shape = shape.as_ref();
        let mut t = Tensor::empty(shape, T::DTYPE)?;
        if t.len() != values.len() {
            return Err(Error::shape(
                "from_slice",
                message!(
                    "{} values do not fill shape {shape:?}, which has {}",
                    values.len(),
                    t.len()
                ),
            ));
        }
        if let Some(p) = t.data.get_mut() {
            // SAFETY: the fresh storage has room for these values (TENSOR1) and nobody else has it
            // (STORAGE3).
            unsafe { core::ptr::copy_nonoverlapping(values.as_ptr(), p as *mut T, values.len()) };
        }
        Ok(t)
    }
    /// A 0-dimensional tensor. Errors if the number doesn't fit the dtype.
    ///
    /// ```
    /// use flex::{DType, Tensor};
    /// assert_eq!(Tensor::scalar(3, DType::I8)?.item::<i8>()?, 3);
    /// assert!(Tensor::scalar(300, DType::I8).is_err());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn scalar(x: impl Into<Scalar>, dtype: DType) -> Result<Tensor> {
        let v = x.into().value(dtype, "scalar")?;
        let mut t = Tensor::empty([], dtype)?;
        if let Some(p) = t.data.get_mut() {
            // SAFETY: one element of storage (TENSOR1), unshared (STORAGE3); a Value holds one
            // element.
            unsafe { core::ptr::copy_nonoverlapping(v.as_ptr(), p, dtype.size()) };
        }
        Ok(t)
    }
    /// Values in static memory, such as weights in flash; nothing is copied until the tensor is
    /// written to. Errors if there are too few bytes, or if they are misaligned for the dtype:
    /// their address must be a multiple of its size, or of 8 for complex numbers of either
    /// precision.
    ///
    /// ```
    /// static WEIGHTS: [u8; 3] = [1, 2, 3];
    /// let w = flex::Tensor::from_static(&WEIGHTS, 3, flex::DType::U8)?;
    /// assert_eq!(w.as_slice::<u8>()?.as_ptr(), WEIGHTS.as_ptr());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn from_static(
        bytes: &'static [u8],
        shape: impl IntoShape,
        dtype: DType,
    ) -> Result<Tensor> {
        Tensor::from_parts(
            Bytes::from_static(bytes),
            Layout::contiguous(shape.into_shape().as_ref())?,
            dtype,
        )
    }
    /// Values in foreign memory, which `owner` keeps alive and which is never written to. Errors like
    /// [`from_parts`](Tensor::from_parts).
    ///
    /// # Safety
    /// As [`Bytes::foreign`], for `len` bytes from `ptr`.
    ///
    /// ```
    /// use flex::{DType, Layout, Tensor};
    /// let owner = vec![1.0f32, 2.0, 3.0];
    /// let ptr = owner.as_ptr().cast();
    /// // SAFETY: nobody writes to the vector, which the tensor keeps alive.
    /// let x = unsafe {
    ///     Tensor::from_foreign(ptr, 12, Box::new(owner), Layout::contiguous(&[3])?, DType::F32)?
    /// };
    /// assert_eq!(x.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub unsafe fn from_foreign(
        ptr: *const u8,
        len: usize,
        owner: Box<dyn Any + Send + Sync>,
        layout: Layout,
        dtype: DType,
    ) -> Result<Tensor> {
        // SAFETY: the caller's promise about the memory and its owner is the one that `foreign`
        // requires.
        Tensor::from_parts(unsafe { Bytes::foreign(ptr, len, owner) }, layout, dtype)
    }

    /// The sizes of the dimensions.
    #[doc(alias("dims"))]
    #[inline(always)]
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }
    /// The strides of the dimensions, in elements.
    #[inline(always)]
    pub fn strides(&self) -> &[isize] {
        self.layout.strides()
    }
    /// Number of dimensions.
    #[doc(alias("ndim"))]
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.layout.rank()
    }
    /// Number of elements.
    #[doc(alias("elem_count", "numel", "num_elements"))]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.layout.len()
    }
    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }
    /// The type of the elements.
    #[inline(always)]
    pub fn dtype(&self) -> DType {
        self.dtype
    }
    /// The layout: shape, strides and offset.
    #[inline(always)]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }
    /// The storage.
    #[inline(always)]
    pub fn storage(&self) -> &Bytes {
        &self.data
    }
    /// Whether the elements are adjacent in row-major order.
    #[inline(always)]
    pub fn is_contiguous(&self) -> bool {
        self.layout.is_contiguous()
    }
    /// A pointer to the element of index 0, 0, .., valid for reads of all elements by the layout's
    /// strides.
    ///
    /// ```
    /// let x = flex::Tensor::from([1u8, 2, 3]).flip(0)?;
    /// // SAFETY: the first element, initialised.
    /// assert_eq!(unsafe { x.as_ptr().read() }, 3);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[inline(always)]
    pub fn as_ptr(&self) -> *const u8 {
        // the offset of an empty tensor is arbitrary
        self.data
            .as_ptr()
            .wrapping_add(self.layout.offset().wrapping_mul(self.dtype.size()))
    }
    /// The same for writing, if the storage is not shared and no two indices address the same
    /// element; otherwise `None`, and [`Tensor::as_mut_ptr`] would copy.
    ///
    /// ```
    /// let mut x = flex::Tensor::from([1u8, 2]);
    /// // SAFETY: the first of two elements, valid for writes.
    /// unsafe { x.get_mut_ptr().unwrap().write(7) };
    /// assert_eq!(x.to_vec::<u8>()?, [7, 2]);
    /// let copy = x.clone();
    /// assert!(x.get_mut_ptr().is_none() && copy.len() == 2);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn get_mut_ptr(&mut self) -> Option<*mut u8> {
        let offset = self.layout.offset().wrapping_mul(self.dtype.size());
        if !self.layout.is_injective() {
            return None;
        }
        self.data.get_mut().map(|p| p.wrapping_add(offset))
    }
    /// Whether both tensors share their storage.
    pub fn shares_storage(&self, other: &Tensor) -> bool {
        self.data.same(&other.data)
    }
    /// Another layout of the same storage, never a copy: copies are themselves made from it.
    pub(crate) fn share(&self, layout: Layout) -> Tensor {
        Tensor {
            data: self.data.clone(),
            layout: Arc::new(layout),
            dtype: self.dtype,
        }
    }
    /// Another layout of the same storage. TENSOR1 holds because the layout is derived from this
    /// one. A small part of contended storage is copied instead, see [`Bytes::is_contended`].
    #[doc(hidden)]
    pub fn view(&self, layout: Layout) -> Tensor {
        /// A view of less than this fraction of its storage is small: copying it costs little
        /// beside the copy that it may save.
        const SMALL_PART: usize = 8;
        let view = self.share(layout);
        if self.data.is_contended()
            && view.len().saturating_mul(self.dtype.size() * SMALL_PART) <= self.data.len()
        {
            return view.copy().unwrap_or(view);
        }
        view
    }
}

/// The size of a new tensor in bytes. Errors if it exceeds `isize::MAX`.
pub(crate) fn byte_len(layout: &Layout, dtype: DType) -> Result<usize> {
    match layout.len().checked_mul(dtype.size()) {
        Some(bytes) if bytes <= isize::MAX as usize => Ok(bytes),
        _ => Err(Error::Memory {
            bytes: layout.len() as u128 * dtype.size() as u128,
            limit: 0,
        }),
    }
}

impl Default for Tensor {
    /// A float32 tensor of shape `[0]`; nothing is allocated.
    fn default() -> Tensor {
        Tensor {
            data: Bytes::from_static(&[]),
            layout: Arc::new(Layout::empty()),
            dtype: DType::F32,
        } // TENSOR1, TENSOR2: no element
    }
}
