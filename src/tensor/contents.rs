//! Reading a tensor's contents in place, as a slice, a single element, or the same bits of another
//! dtype; and preparing a tensor to receive a result.

use super::Tensor;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::scalar::ElementBytes;
#[cfg(feature = "std")]
use crate::storage::{Bytes, PackedForm, PackedKey};

impl Tensor {
    /// What `pack` makes of a matrix for products with another dtype, kept with its storage from
    /// the second use on; `None` if it is not kept. Panics unless the tensor has two dimensions.
    #[cfg(feature = "std")]
    pub(crate) fn kept(
        &self,
        other: DType,
        form: PackedForm,
        pack: impl FnOnce() -> Result<Bytes>,
    ) -> Option<Bytes> {
        if !self.storage().caches_packed() {
            return None;
        }
        let key = PackedKey {
            first: self.layout().offset().wrapping_mul(self.dtype().size()),
            sizes: [self.shape()[0], self.shape()[1]],
            strides: [self.strides()[0], self.strides()[1]],
            dtypes: [other, self.dtype()],
            form,
        };
        self.storage().packed(key, true, pack)
    }
    /// The elements of a contiguous tensor, without a copy. Errors if it is not contiguous, or `T`
    /// is not its dtype.
    ///
    /// ```
    /// let x = flex::Tensor::from_slice(&[1i32, 2], [2])?;
    /// assert_eq!(x.as_slice::<i32>()?, [1, 2]);
    /// assert!(x.as_slice::<f32>().is_err());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        self.expect_dtype::<T>("as_slice")?;
        if !self.is_contiguous() {
            return Err(Error::shape(
                "as_slice",
                "the tensor is not contiguous: take contiguous() of it first",
            ));
        }
        let bytes = self.as_bytes();
        if !T::valid(bytes) {
            return Err(Error::value(
                "as_slice",
                "the memory holds bytes other than 0 and 1: read it as flex::Bool",
            ));
        }
        if bytes.is_empty() {
            return Ok(&[]);
        }
        // SAFETY: elements inside the storage (TENSOR1), aligned (TENSOR2), initialised (STORAGE1),
        // valid as `T`.
        Ok(unsafe { core::slice::from_raw_parts(bytes.as_ptr() as *const T, self.len()) })
    }
    /// The bytes of the elements of a contiguous tensor; they may be read as any `Pod` of the
    /// dtype's width.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        assert!(self.is_contiguous(), "the tensor is not contiguous");
        match self.len() {
            0 => &[],
            // SAFETY: contiguous elements inside the storage (TENSOR1), initialised (STORAGE1); the
            // borrow of `self` keeps others from writing (STORAGE3).
            n => unsafe { core::slice::from_raw_parts(self.as_ptr(), n * self.dtype.size()) },
        }
    }
    /// Errors if `T` is not the tensor's dtype.
    pub(crate) fn expect_dtype<T: Element>(&self, op: &'static str) -> Result<()> {
        if T::DTYPE == self.dtype {
            Ok(())
        } else {
            Err(Error::dtype(
                op,
                message!(
                    "the tensor is {}, not {}: convert it with astype",
                    self.dtype,
                    T::DTYPE
                ),
            ))
        }
    }
    /// The element of a tensor with exactly one. Errors if there are more or fewer, or `T` is not
    /// its dtype.
    ///
    /// ```
    /// assert_eq!(flex::Tensor::from_slice(&[7u8], [1, 1])?.item::<u8>()?, 7);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("to_scalar", "into_scalar"))]
    pub fn item<T: Element>(&self) -> Result<T> {
        self.expect_dtype::<T>("item")?;
        self.value("item")?.get::<T>().ok_or_else(|| {
            Error::value(
                "item",
                "the memory holds a byte other than 0 and 1: read it as flex::Bool",
            )
        })
    }
    /// The bytes of the only element.
    #[doc(hidden)]
    pub fn value(&self, op: &'static str) -> Result<ElementBytes> {
        if self.len() != 1 {
            return Err(Error::shape(
                op,
                message!(
                    "a tensor of shape {:?} has {} elements, not one",
                    self.shape(),
                    self.len()
                ),
            ));
        }
        // SAFETY: one element at the layout's offset (TENSOR1).
        Ok(unsafe { ElementBytes::read(self.as_ptr(), self.dtype.size()) })
    }
    /// The same bits as another dtype of the same size. Errors if the sizes differ.
    ///
    /// ```
    /// use flex::{DType, Tensor};
    /// assert_eq!(Tensor::from_slice(&[1.0f32], [1])?.bitcast(DType::I32)?.to_vec::<i32>()?, [0x3f80_0000]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn bitcast(&self, dtype: DType) -> Result<Tensor> {
        if dtype.size() != self.dtype.size() {
            return Err(Error::dtype(
                "bitcast",
                message!("{} and {dtype} differ in size", self.dtype),
            ));
        }
        Tensor::from_parts(self.data.clone(), Layout::clone(&self.layout), dtype)
    }
    /// The same bits in the dtype of [`DType::signless`].
    pub(crate) fn signless(&self) -> Result<Tensor> {
        self.bitcast(self.dtype.signless())
    }
    /// The same storage with another dtype of the same size, for a result that replaces it.
    pub(crate) fn retyped(mut self, dtype: DType) -> Tensor {
        // TENSOR1; TENSOR2: owned storage is aligned for all dtypes
        debug_assert_eq!(dtype.size(), self.dtype.size());
        self.dtype = dtype;
        self
    }
    /// Makes it ready to receive a result of this shape and dtype: contiguous, with unshared
    /// storage. Its contents are lost.
    ///
    /// Errors, leaving it unchanged, if it has another shape or dtype.
    pub(crate) fn make_result(
        &mut self,
        op: &'static str,
        shape: &[usize],
        dtype: DType,
    ) -> Result<()> {
        if self.shape() != shape || self.dtype != dtype {
            let message = message!(
                "the result is {shape:?} of {dtype}, its destination {:?} of {}",
                self.shape(),
                self.dtype
            );
            return Err(Error::shape(op, message));
        }
        if !self.is_contiguous() || self.get_mut_ptr().is_none() {
            *self = Tensor::empty(shape, dtype)?;
        }
        Ok(())
    }
}
