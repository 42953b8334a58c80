//! Tensors joined with NumPy's rules for those with few dimensions, and such dimensions added.

use super::concat;
use crate::error::{Error, Result};
use crate::fallible;
use crate::layout::Layout;
use crate::ops::methods::method;
use crate::tensor::Tensor;
use core::borrow::Borrow;

/// The layout with at least so many dimensions, 1 to 3: new ones go in front, except the third,
/// which is the last.
#[doc(hidden)]
pub fn at_least(x: &Layout, rank: usize) -> Result<Layout> {
    let new: &[isize] = match (rank, x.rank()) {
        (1, 0) => &[0],
        (2, 0) => &[0, 1],
        (2, 1) => &[0],
        (3, 0) => &[0, 1, 2],
        (3, 1) => &[0, 2],
        (3, 2) => &[2],
        _ => return Ok(x.clone()),
    };
    x.expand_dims("atleast", new)
}

method!(
    /// A view with at least one dimension.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 2]]);
    /// assert_eq!(x.atleast_1d()?.shape(), [1, 2]);
    /// assert_eq!(ops::atleast_1d(&x.sum(())?)?.shape(), [1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn atleast_1d(x: &Tensor) -> Result<Tensor> {
        Ok(x.view(at_least(x.layout(), 1)?))
    }
);

method!(
    /// A view with at least two dimensions: a vector becomes a row.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([1, 2]);
    /// assert_eq!(x.atleast_2d()?.shape(), [1, 2]);
    /// assert_eq!(ops::atleast_2d(&x.sum(())?)?.shape(), [1, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn atleast_2d(x: &Tensor) -> Result<Tensor> {
        Ok(x.view(at_least(x.layout(), 2)?))
    }
);

method!(
    /// A view with at least three dimensions: a vector of `n` has the shape `[1, n, 1]`, a matrix
    /// `[m, n, 1]`.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([1, 2]);
    /// assert_eq!(x.atleast_3d()?.shape(), [1, 2, 1]);
    /// assert_eq!(ops::atleast_3d(&x.reshape((2, 1))?)?.shape(), [2, 1, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn atleast_3d(x: &Tensor) -> Result<Tensor> {
        Ok(x.view(at_least(x.layout(), 3)?))
    }
);

/// Joins tensors, as views of at least so many dimensions, along an axis.
fn joined<T: Borrow<Tensor>>(
    op: &'static str,
    tensors: &[T],
    rank: usize,
    axis: usize,
) -> Result<Tensor> {
    let views = tensors.iter().map(|t| {
        let t: &Tensor = t.borrow();
        Ok::<_, Error>(t.view(at_least(t.layout(), rank)?))
    });
    concat(&fallible::collect(views)?, axis).map_err(|e| e.named(op))
}

/// Joins tensors along the second axis, vectors and numbers along the first.
///
/// Errors like [`concat()`].
///
/// ```
/// use flex::{Tensor, ops};
/// let (a, b) = (Tensor::from([[1], [2]]), Tensor::from([[3], [4]]));
/// assert_eq!(ops::hstack(&[&a, &b])?, Tensor::from([[1, 3], [2, 4]]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn hstack<T: Borrow<Tensor>>(tensors: &[T]) -> Result<Tensor> {
    let lines = tensors.first().is_none_or(|t| t.borrow().rank() < 2);
    joined("hstack", tensors, 1, usize::from(!lines))
}

/// Joins tensors along the first axis; vectors are rows.
///
/// Errors like [`concat()`].
///
/// ```
/// use flex::{Tensor, ops};
/// let (a, b) = (Tensor::from([1, 2]), Tensor::from([[3, 4]]));
/// assert_eq!(ops::vstack(&[&a, &b])?, Tensor::from([[1, 2], [3, 4]]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn vstack<T: Borrow<Tensor>>(tensors: &[T]) -> Result<Tensor> {
    joined("vstack", tensors, 2, 0)
}

/// Joins tensors along the third axis, after [`atleast_3d`].
///
/// Errors like [`concat()`].
///
/// ```
/// use flex::{Tensor, ops};
/// let (a, b) = (Tensor::from([1, 2]), Tensor::from([3, 4]));
/// assert_eq!(ops::dstack(&[&a, &b])?, Tensor::from([[[1, 3], [2, 4]]]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn dstack<T: Borrow<Tensor>>(tensors: &[T]) -> Result<Tensor> {
    joined("dstack", tensors, 3, 2)
}

/// Joins tensors along the second axis; vectors are columns.
///
/// Errors like [`concat()`].
///
/// ```
/// use flex::{Tensor, ops};
/// let (a, b) = (Tensor::from([1, 2]), Tensor::from([3, 4]));
/// assert_eq!(ops::column_stack(&[&a, &b])?, Tensor::from([[1, 3], [2, 4]]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn column_stack<T: Borrow<Tensor>>(tensors: &[T]) -> Result<Tensor> {
    let columns = tensors.iter().map(|t| {
        let t: &Tensor = t.borrow();
        let t = t.view(at_least(t.layout(), 1)?);
        if t.rank() == 1 {
            t.expand_dims(1)
        } else {
            Ok(t)
        }
    });
    concat(&fallible::collect(columns)?, 1).map_err(|e| e.named("column_stack"))
}
