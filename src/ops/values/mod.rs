//! Elements as values of Rust types: a single one, all in turn, and the caller's functions applied
//! to them.

mod iter;

pub use iter::Iter;

use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::layout::Ints;
use crate::ops::ewise::{ewise_as, update_as};
use crate::scalar::ElementBytes;
use crate::tensor::Tensor;

impl Tensor {
    /// The element at a position; negative indices count from the end.
    ///
    /// Errors if `T` is not the dtype, the position doesn't have one index for each dimension, or
    /// an index is out of range.
    ///
    /// ```
    /// let x = flex::Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.at::<f32>([1, 0])?, 3.0);
    /// assert_eq!(x.at::<f32>((0, -1))?, 2.0);
    /// assert!(x.at::<f32>([2, 0]).is_err());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn at<T: Element>(&self, position: impl Into<Ints>) -> Result<T> {
        self.expect_dtype::<T>("at")?;
        let p = self
            .as_ptr()
            .wrapping_offset(self.offset_of("at", position.into().values())?);
        // SAFETY: an element inside the shape (TENSOR1).
        unsafe { ElementBytes::read(p, size_of::<T>()) }
            .get::<T>()
            .ok_or_else(|| {
                Error::value(
                    "at",
                    "the memory holds a byte other than 0 and 1: read it as flex::Bool",
                )
            })
    }
    /// Writes the element at a position; shared storage is copied first. Errors like
    /// [`at`](Tensor::at).
    ///
    /// ```
    /// let mut x = flex::Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// x.set_at([1, 0], 7.0f32)?;
    /// assert_eq!(x.to_vec::<f32>()?, [1.0, 2.0, 7.0, 4.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn set_at<T: Element>(&mut self, position: impl Into<Ints>, value: T) -> Result<()> {
        self.expect_dtype::<T>("set_at")?;
        let position = position.into();
        self.offset_of("set_at", position.values())?;
        let first = self.as_mut_ptr()?;
        // a copy may have changed the strides
        let p = first.wrapping_offset(self.offset_of("set_at", position.values())?) as *mut T;
        // SAFETY: an element inside the shape (TENSOR1), aligned (TENSOR2), in unshared storage
        // (STORAGE3).
        unsafe { p.write(value) };
        Ok(())
    }
    /// The distance in bytes from the first element to the one at a position.
    fn offset_of(&self, op: &'static str, position: &[isize]) -> Result<isize> {
        if position.len() != self.rank() {
            return Err(Error::subscript(
                op,
                message!(
                    "{} indices for {} dimensions (shape {:?})",
                    position.len(),
                    self.rank(),
                    self.shape()
                ),
            ));
        }
        let mut at = 0;
        for (axis, (index, (size, stride))) in position
            .iter()
            .zip(self.shape().iter().zip(self.strides()))
            .enumerate()
        {
            let k = if *index < 0 {
                index.wrapping_add(*size as isize)
            } else {
                *index
            };
            if !(0..*size as isize).contains(&k) {
                return Err(Error::Index {
                    op,
                    index: *index as i64,
                    axis,
                    size: *size,
                });
            }
            at += k * stride; // LAYOUT3
        }
        Ok(at * self.dtype().size() as isize)
    }

    /// Applies `f` to each element and returns a new tensor of this shape, with the dtype of `f`'s
    /// results: [`ewise`](crate::ops::ewise()) of one tensor.
    ///
    /// `f` is called once for each element, in any order and on any thread; its result should
    /// depend on the element alone.
    ///
    /// Errors if `T` is not the dtype. Panics if `f` panics.
    ///
    /// ```
    /// let x = flex::Tensor::from([[1.0f32, -2.0], [3.0, -4.0]]);
    /// let y = x.map(|x: f32| if x < 0.0 { 0.1 * x } else { x })?;
    /// assert_eq!(y.to_vec::<f32>()?, [1.0, -0.2, 3.0, -0.4]);
    /// assert_eq!(x.map(|x: f32| x > 0.0)?.dtype(), flex::DType::Bool);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("mapv"))]
    pub fn map<T: Element, R: Element>(&self, f: impl Fn(T) -> R + Sync) -> Result<Tensor> {
        ewise_as::<(T,), _, _>("map", self, f)
    }
    /// Applies `f` to each pair of elements of two tensors, which broadcast, like
    /// [`map`](Tensor::map) to single elements; [`ewise`](crate::ops::ewise()) takes more tensors.
    ///
    /// Errors if `A` and `B` are not the dtypes, or the shapes don't broadcast.
    ///
    /// ```
    /// use flex::Tensor;
    /// let (x, n) = (Tensor::from([[1.5f32, 2.5], [3.5, 4.5]]), Tensor::from([1i32, 2]));
    /// let y = x.zip_with(&n, |x: f32, n: i32| x.powi(n))?;
    /// assert_eq!(y.to_vec::<f32>()?, [1.5, 6.25, 3.5, 20.25]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn zip_with<A: Element, B: Element, R: Element>(
        &self,
        other: &Tensor,
        f: impl Fn(A, B) -> R + Sync,
    ) -> Result<Tensor> {
        ewise_as::<(A, B), _, _>("zip_with", (self, other), f)
    }
    /// Replaces each element by the result of `f`; shared storage is copied first, so that no other
    /// tensor changes. `f` is called as by [`map`](Tensor::map).
    ///
    /// Errors if `T` is not the dtype. If `f` panics, some elements may have been replaced.
    ///
    /// ```
    /// let mut x = flex::Tensor::from([1.0f32, 4.0, 9.0]);
    /// x.map_inplace(|x: f32| x.sqrt() + 1.0)?;
    /// assert_eq!(x.to_vec::<f32>()?, [2.0, 3.0, 4.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("mapv_inplace"))]
    pub fn map_inplace<T: Element>(&mut self, f: impl Fn(T) -> T + Sync) -> Result<()> {
        update_as::<(T,), (), _, _, _>("map_inplace", self, (), |x: &mut T| *x = f(*x))
    }
}
