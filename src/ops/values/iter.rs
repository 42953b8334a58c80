//! The elements of a tensor, in turn.

use crate::dtype::Element;
use crate::error::Result;
use crate::tensor::Tensor;
use alloc::vec;
use core::iter::{Copied, FusedIterator};
use core::slice;

impl Tensor {
    /// The elements in row-major order. A tensor that is not contiguous is copied first.
    ///
    /// Errors if `T` is not the dtype.
    ///
    /// ```
    /// let x = flex::Tensor::from([[1, 2], [3, 4]]);
    /// assert!(x.transpose(0, 1)?.iter::<i32>()?.eq([1, 3, 2, 4]));
    /// let largest = x.iter::<i32>()?.rev().max();
    /// assert_eq!(largest, Some(4));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn iter<T: Element>(&self) -> Result<Iter<'_, T>> {
        self.expect_dtype::<T>("iter")?;
        Ok(Iter(if self.is_contiguous() {
            Values::Borrowed(self.as_slice::<T>()?.iter().copied())
        } else {
            Values::Own(self.to_vec()?.into_iter())
        }))
    }
}

/// An iterator over the elements of a tensor in row-major order, from [`Tensor::iter`].
///
/// Example: [`Tensor::iter`].
#[derive(Clone, Debug)]
pub struct Iter<'a, T: Element>(Values<'a, T>);

#[derive(Clone, Debug)]
enum Values<'a, T: Element> {
    Borrowed(Copied<slice::Iter<'a, T>>),
    Own(vec::IntoIter<T>),
}
macro_rules! forward {
    ($self:ident, $x:ident => $e:expr) => {
        match &$self.0 {
            Values::Borrowed($x) => $e,
            Values::Own($x) => $e,
        }
    };
    (mut $self:ident, $x:ident => $e:expr) => {
        match &mut $self.0 {
            Values::Borrowed($x) => $e,
            Values::Own($x) => $e,
        }
    };
}
impl<T: Element> Iterator for Iter<'_, T> {
    type Item = T;
    #[inline]
    fn next(&mut self) -> Option<T> {
        forward!(mut self, x => x.next())
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        forward!(self, x => x.size_hint())
    }
    fn nth(&mut self, n: usize) -> Option<T> {
        forward!(mut self, x => x.nth(n))
    }
    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, f: F) -> B {
        match self.0 {
            Values::Borrowed(x) => x.fold(init, f),
            Values::Own(x) => x.fold(init, f),
        }
    }
}
impl<T: Element> DoubleEndedIterator for Iter<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        forward!(mut self, x => x.next_back())
    }
}
impl<T: Element> ExactSizeIterator for Iter<'_, T> {}
impl<T: Element> FusedIterator for Iter<'_, T> {}
