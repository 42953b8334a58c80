//! Tensors from vectors, numbers, arrays, slices and iterators, and back to vectors.

use super::Tensor;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::layout::{IntoShape, Layout};
use crate::storage::Bytes;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::ManuallyDrop;

/// Vectors of fewer bytes are copied: that takes no longer than adopting them.
const KEPT: usize = 32 << 10;

/// A vector in parts: its elements are reached by the tensor's pointer alone.
struct VecParts<T> {
    first: *mut T,
    len: usize,
    capacity: usize,
}
// SAFETY: a vector, which is Send if its elements are.
unsafe impl<T: Send> Send for VecParts<T> {}
// SAFETY: a shared reference reaches no element.
unsafe impl<T: Send> Sync for VecParts<T> {}
impl<T> VecParts<T> {
    fn new(values: Vec<T>) -> VecParts<T> {
        let mut values = ManuallyDrop::new(values);
        VecParts {
            first: values.as_mut_ptr(),
            len: values.len(),
            capacity: values.capacity(),
        }
    }
    fn into_vec(self) -> Vec<T> {
        let parts = ManuallyDrop::new(self);
        // SAFETY: the parts of a vector, used once, since neither is dropped.
        unsafe { Vec::from_raw_parts(parts.first, parts.len, parts.capacity) }
    }
}
impl<T> Drop for VecParts<T> {
    fn drop(&mut self) {
        // SAFETY: the parts of a vector, which `into_vec` has not taken. Elements are `Copy`: no
        // value is read.
        drop(unsafe { Vec::from_raw_parts(self.first, 0, self.capacity) })
    }
}

impl Tensor {
    /// A tensor of the values of a vector, in row-major order. A long vector is not copied: the
    /// tensor adopts it, and writes to it in place. [`into_vec`](Tensor::into_vec) gives it back.
    ///
    /// Errors if the shape has another number of elements.
    ///
    /// ```
    /// use flex::Tensor;
    /// let values: Vec<f32> = vec![0.5; 1 << 20];
    /// let address = values.as_ptr();
    /// let x = Tensor::from_vec(values, (1024, 1024))?;
    /// assert_eq!(x.as_slice::<f32>()?.as_ptr(), address);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("from_shape_vec", "from_data"))]
    pub fn from_vec<T: Element>(values: Vec<T>, shape: impl IntoShape) -> Result<Tensor> {
        let layout = Layout::contiguous(shape.into_shape().as_ref())?;
        if layout.len() != values.len() {
            let message = message!(
                "{} values do not fill shape {:?}, which has {}",
                values.len(),
                layout.shape(),
                layout.len()
            );
            return Err(Error::shape("from_vec", message));
        }
        let len = size_of_val(values.as_slice());
        if len < KEPT || !values.as_ptr().addr().is_multiple_of(T::DTYPE.align()) {
            return Tensor::from_slice(&values, layout.shape());
        }
        let values = VecParts::new(values);
        let first = values.first as *mut u8;
        // SAFETY: `len` initialised bytes without padding (`Element`), which lie where they are
        // until the parts are dropped, and which nobody else can reach.
        let bytes = unsafe { Bytes::adopted(first, len, Box::new(values)) };
        Tensor::from_parts(bytes, layout, T::DTYPE)
    }
    /// The values in row-major order. A vector that the tensor adopted is given back without a
    /// copy, if nobody shares it and the tensor begins with its first element.
    ///
    /// Errors if `T` is not the dtype.
    ///
    /// ```
    /// use flex::Tensor;
    /// let values: Vec<f32> = vec![0.5; 1 << 20];
    /// let address = values.as_ptr();
    /// let mut x = Tensor::from_vec(values, (1024, 1024))?;
    /// x *= 2; // in place
    /// let values = x.into_vec::<f32>()?;
    /// assert_eq!((values.as_ptr(), values[0]), (address, 1.0));
    /// assert_eq!(Tensor::from([[1, 2], [3, 4]]).transpose(0, 1)?.into_vec::<i32>()?, [1, 3, 2, 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("into_raw_vec", "into_raw_vec_and_offset"))]
    pub fn into_vec<T: Element>(self) -> Result<Vec<T>> {
        self.expect_dtype::<T>("into_vec")?;
        if !self.is_contiguous() || self.layout.offset() != 0 {
            return self.to_vec();
        }
        let n = self.as_slice::<T>()?.len(); // the bytes are values of `T`
        let Tensor {
            data,
            layout,
            dtype,
        } = self;
        match data.into_owner::<VecParts<T>>() {
            Ok(parts) => {
                let mut values = parts.into_vec();
                values.truncate(n);
                Ok(values)
            }
            Err(data) => Tensor {
                data,
                layout,
                dtype,
            }
            .to_vec(),
        }
    }
}

/// Unwraps a conversion that can fail only for lack of memory.
#[track_caller]
fn shaped<T: Element>(values: &[T], shape: impl IntoShape) -> Tensor {
    match Tensor::from_slice(values, shape) {
        Ok(x) => x,
        Err(e) => panic!("{e}"),
    }
}

/// One-dimensional; see [`Tensor::from_vec`].
///
/// Panics if there is no memory for the copy of a short vector.
///
/// ```
/// let x = flex::Tensor::from(vec![1i64, 2, 3]);
/// assert_eq!((x.shape(), x.dtype()), (&[3][..], flex::DType::I64));
/// ```
impl<T: Element> From<Vec<T>> for Tensor {
    #[track_caller]
    fn from(values: Vec<T>) -> Tensor {
        let n = values.len();
        match Tensor::from_vec(values, n) {
            Ok(x) => x,
            Err(e) => panic!("{e}"),
        }
    }
}
/// One-dimensional. Panics if there is no memory for the copy; [`Tensor::from_slice`] returns an
/// error.
///
/// ```
/// let values = [1.0f32, 2.0, 3.0];
/// assert_eq!(flex::Tensor::from(&values[..2]).shape(), [2]);
/// ```
impl<T: Element> From<&[T]> for Tensor {
    #[track_caller]
    fn from(values: &[T]) -> Tensor {
        shaped(values, values.len())
    }
}
/// One-dimensional. Panics if there is no memory for the copy.
///
/// ```
/// assert_eq!(flex::Tensor::from([true, false]).dtype(), flex::DType::Bool);
/// ```
impl<T: Element, const N: usize> From<[T; N]> for Tensor {
    #[track_caller]
    fn from(values: [T; N]) -> Tensor {
        shaped(&values, [N])
    }
}
/// Two-dimensional. Panics if there is no memory for the copy.
///
/// ```
/// assert_eq!(flex::Tensor::from([[1, 2, 3], [4, 5, 6]]).shape(), [2, 3]);
/// ```
impl<T: Element, const M: usize, const N: usize> From<[[T; N]; M]> for Tensor {
    #[track_caller]
    fn from(values: [[T; N]; M]) -> Tensor {
        shaped(values.as_flattened(), [M, N])
    }
}
/// Three-dimensional. Panics if there is no memory for the copy.
///
/// ```
/// assert_eq!(flex::Tensor::from([[[1u8, 2]], [[3, 4]]]).shape(), [2, 1, 2]);
/// ```
impl<T: Element, const L: usize, const M: usize, const N: usize> From<[[[T; N]; M]; L]> for Tensor {
    #[track_caller]
    fn from(values: [[[T; N]; M]; L]) -> Tensor {
        shaped(values.as_flattened().as_flattened(), [L, M, N])
    }
}
/// Four-dimensional. Panics if there is no memory for the copy.
///
/// ```
/// assert_eq!(flex::Tensor::from([[[[1.0f32], [2.0]]], [[[3.0], [4.0]]]]).shape(), [2, 1, 2, 1]);
/// ```
impl<T: Element, const K: usize, const L: usize, const M: usize, const N: usize>
    From<[[[[T; N]; M]; L]; K]> for Tensor
{
    #[track_caller]
    fn from(values: [[[[T; N]; M]; L]; K]) -> Tensor {
        let values = values.as_flattened().as_flattened().as_flattened();
        shaped(values, [K, L, M, N])
    }
}
macro_rules! from_numbers {
    ($($(#[$cfg:meta])* $T:ty),* $(,)?) => { $(
        /// Zero-dimensional. Panics if there is no memory for it.
        ///
        /// ```
        /// let x = flex::Tensor::from(2.5f32);
        /// assert_eq!((x.rank(), x.item::<f32>()?), (0, 2.5));
        /// # Ok::<(), flex::Error>(())
        /// ```
        $(#[$cfg])*
        impl From<$T> for Tensor {
            #[track_caller]
            fn from(value: $T) -> Tensor {
                shaped(&[value], [])
            }
        }
    )* };
}
from_numbers! {
    bool, i8, i32, i64, u8, f32,
    #[cfg(feature = "ints")] i16,
    #[cfg(feature = "ints")] u16,
    #[cfg(feature = "ints")] u32,
    #[cfg(feature = "ints")] u64,
    #[cfg(feature = "f64")] f64,
    #[cfg(feature = "half")] crate::dtype::f16,
    #[cfg(feature = "half")] crate::dtype::bf16,
    #[cfg(feature = "complex")] crate::dtype::Complex64,
    #[cfg(all(feature = "complex", feature = "f64"))] crate::dtype::Complex128,
}
/// One-dimensional. Panics if there is no memory for the values.
///
/// ```
/// let x: flex::Tensor = (0..5i32).map(|i| i * i).collect();
/// assert_eq!(x.to_vec::<i32>()?, [0, 1, 4, 9, 16]);
/// # Ok::<(), flex::Error>(())
/// ```
impl<T: Element> FromIterator<T> for Tensor {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Tensor {
        values.into_iter().collect::<Vec<T>>().into()
    }
}
