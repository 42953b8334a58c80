//! Tensors from vectors, arrays, slices and iterators.

use super::Tensor;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::layout::{IntoShape, Layout};
use crate::storage::Bytes;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Vectors of fewer bytes are copied: that takes no longer than adopting them, and a copy may be
/// written in place.
const KEPT: usize = 32 << 10;

impl Tensor {
    /// A tensor of the values of a vector, in row-major order. A long vector is not copied: the
    /// tensor adopts it, and the first write to the tensor copies it.
    ///
    /// Errors if the shape has another number of elements.
    ///
    /// ```
    /// use flex::Tensor;
    /// let values: Vec<f32> = vec![0.5; 1 << 20];
    /// let place = values.as_ptr();
    /// let x = Tensor::from_vec(values, (1024, 1024))?;
    /// assert_eq!(x.as_slice::<f32>()?.as_ptr(), place);
    /// # Ok::<(), flex::Error>(())
    /// ```
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
        let (p, len) = (values.as_ptr() as *const u8, size_of_val(values.as_slice()));
        if len < KEPT || !p.addr().is_multiple_of(T::DTYPE.align()) {
            return Tensor::from_slice(&values, layout.shape());
        }
        // SAFETY: STORAGE5: `len` initialised bytes without padding (`Element`), which do not move
        // while the vector that owns them lives, and which nobody can write to, since the owner is
        // not accessible.
        let bytes = unsafe { Bytes::foreign(p, len, Box::new(values)) };
        #[cfg(feature = "std")]
        let bytes = bytes.immutable();
        Tensor::from_parts(bytes, layout, T::DTYPE)
    }
}

/// Unwraps a conversion that can fail only for lack of memory.
fn shaped<T: Element>(values: &[T], shape: impl IntoShape) -> Tensor {
    Tensor::from_slice(values, shape).unwrap_or_else(|e| panic!("{e}"))
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
    fn from(values: Vec<T>) -> Tensor {
        let n = values.len();
        Tensor::from_vec(values, n).unwrap_or_else(|e| panic!("{e}"))
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
    fn from(values: [[[T; N]; M]; L]) -> Tensor {
        shaped(values.as_flattened().as_flattened(), [L, M, N])
    }
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
