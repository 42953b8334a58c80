//! Matrices turned, mirrored and divided, and their diagonals.

use crate::error::{Error, Result};
use crate::fallible;
use crate::layout::{self, Int, Layout, unique_axes};
use crate::ops::methods::method;
use crate::tensor::Tensor;
use alloc::vec::Vec;

method!(
    /// The elements in row-major order, as a vector; a view if strides allow it.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.ravel()?, Tensor::from([1, 2, 3, 4]));
    /// assert!(ops::ravel(&x)?.shares_storage(&x));
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("flatten"))]
    pub fn ravel(x: &Tensor) -> Result<Tensor> {
        x.reshape(-1)
    }
);

/// The layout reversed along an axis that exists for so many dimensions or more.
#[doc(hidden)]
pub fn mirrored(op: &'static str, x: &Layout, axis: usize) -> Result<Layout> {
    if x.rank() <= axis {
        let message = message!(
            "shape {:?} has fewer than {} dimensions",
            x.shape(),
            axis + 1
        );
        return Err(Error::shape(op, message));
    }
    x.flip(op, &[axis as isize])
}

method!(
    /// Reverses the second axis: columns from left to right; a view.
    ///
    /// Errors if there are fewer than two dimensions.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.fliplr()?, Tensor::from([[2, 1], [4, 3]]));
    /// assert!(ops::fliplr(&Tensor::from([1, 2])).is_err());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn fliplr(x: &Tensor) -> Result<Tensor> {
        Ok(x.view(mirrored("fliplr", x.layout(), 1)?))
    }
);

method!(
    /// Reverses the first axis: rows from top to bottom; a view.
    ///
    /// Errors if there is no dimension.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.flipud()?, Tensor::from([[3, 4], [1, 2]]));
    /// assert_eq!(ops::flipud(&Tensor::from([1, 2]))?, Tensor::from([2, 1]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn flipud(x: &Tensor) -> Result<Tensor> {
        Ok(x.view(mirrored("flipud", x.layout(), 0)?))
    }
);

/// The layout of [`rot90`].
#[doc(hidden)]
pub fn rotated(x: &Layout, k: i64, axes: [isize; 2]) -> Result<Layout> {
    const OP: &str = "rot90";
    let axes = unique_axes(OP, &axes, x.rank())?;
    let [a, b] = [axes[0] as isize, axes[1] as isize];
    match k.rem_euclid(4) {
        0 => Ok(x.clone()),
        1 => x.flip(OP, &[b])?.swap_axes(OP, a, b),
        2 => x.flip(OP, &[a, b]),
        _ => x.swap_axes(OP, a, b)?.flip(OP, &[b]),
    }
}

method!(
    /// Rotates by 90 degrees, `k` times, in the plane of two axes, from the first towards the
    /// second; a view.
    ///
    /// Errors if an axis is out of range, or both are the same.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.rot90(1, [0, 1])?, Tensor::from([[2, 4], [1, 3]]));
    /// assert_eq!(ops::rot90(&x, -1, [0, 1])?, Tensor::from([[3, 1], [4, 2]]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn rot90(x: &Tensor, k: i64, axes: [isize; 2]) -> Result<Tensor> {
        Ok(x.view(rotated(x.layout(), k, axes)?))
    }
);

method!(
    /// Diagonal `k` of a matrix, as a view; of a vector, the square matrix with its elements on that
    /// diagonal, and zeros elsewhere. Diagonals above the main one have a positive `k`.
    ///
    /// Errors for other numbers of dimensions.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.diag(0)?, Tensor::from([1, 4]));
    /// assert_eq!(ops::diag(&x.diag(-1)?, 1)?, Tensor::from([[0, 3], [0, 0]]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn diag(x: &Tensor, k: i64) -> Result<Tensor> {
        const OP: &str = "diag";
        match (x.shape(), x.layout().diagonal(k)) {
            ([_, _], Some(diagonal)) => Ok(x.view(diagonal)),
            ([n], _) => {
                let shift = usize::try_from(k.unsigned_abs()).ok();
                let side = shift.and_then(|shift| n.checked_add(shift));
                let side = side.ok_or_else(|| {
                    Error::shape(OP, message!("diagonal {k} exceeds the address space"))
                })?;
                let mut out = Tensor::zeros([side, side], x.dtype())?;
                if let Some(diagonal) = out.layout().diagonal(k) {
                    out.write(&diagonal, x)?;
                }
                Ok(out)
            }
            _ => Err(Error::shape_of(
                OP,
                "x must have one dimension or two",
                &[("x", x.shape(), x.dtype())],
            )),
        }
    }
);

/// Where [`array_split`] divides an axis; `into` makes it from a number, a list or an array.
///
/// Example: [`array_split`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sections {
    /// Into so many pieces of nearly equal size, of which the first are larger by one.
    Count(usize),
    /// Before these indices, bounds of slices: negative ones count from the end.
    At(Vec<i64>),
}
impl From<usize> for Sections {
    fn from(count: usize) -> Sections {
        Sections::Count(count)
    }
}
impl<const N: usize> From<[i64; N]> for Sections {
    fn from(indices: [i64; N]) -> Sections {
        Sections::At(indices.to_vec())
    }
}

impl Sections {
    /// The start and the length of each piece of an axis of this size. Errors if there are none, or
    /// if they must be equal and can't.
    #[doc(hidden)]
    pub fn pieces(
        &self,
        op: &'static str,
        size: usize,
        equal: bool,
    ) -> Result<Vec<(usize, usize)>> {
        match self {
            Sections::Count(0) => Err(Error::value(op, "0 sections; it must be at least 1")),
            Sections::Count(n) if equal && !size.is_multiple_of(*n) => Err(Error::shape(
                op,
                message!("size {size} is not divisible by {n}: array_split allows unequal pieces"),
            )),
            Sections::Count(n) => {
                let (each, more) = (size / n, size % n);
                fallible::collect((0..*n).map(|k| {
                    let start = k * each + k.min(more);
                    Ok((start, each + usize::from(k < more)))
                }))
            }
            Sections::At(indices) => {
                let starts = core::iter::once(Some(0)).chain(indices.iter().copied().map(Some));
                let stops = indices.iter().copied().map(Some).chain([None]);
                fallible::collect(
                    starts
                        .zip(stops)
                        .map(|(start, stop)| Ok(layout::slice_bounds(start, stop, 1, size))),
                )
            }
        }
    }
}

/// The axis that [`hsplit`] and [`vsplit`] divide. Errors if there are too few dimensions.
#[doc(hidden)]
pub fn split_axis(op: &'static str, shape: &[usize]) -> Result<usize> {
    match (op, shape.len()) {
        ("hsplit", 1) => Ok(0),
        ("hsplit", 2..) => Ok(1),
        ("vsplit", 2..) => Ok(0),
        _ => Err(Error::shape(
            op,
            message!("shape {shape:?} has too few dimensions"),
        )),
    }
}

fn split(
    op: &'static str,
    x: &Tensor,
    sections: &Sections,
    axis: usize,
    equal: bool,
) -> Result<Vec<Tensor>> {
    let pieces = sections.pieces(op, x.shape()[axis], equal)?.into_iter();
    // the views' layouts are allocated one by one
    fallible::room::<(Layout, [usize; 3])>(pieces.len())?;
    let view = |(start, count)| Ok::<_, Error>(x.view(x.layout().slice(axis, start, 1, count)));
    fallible::collect(pieces.map(view))
}

method!(
    /// Pieces along an axis, as views: of nearly equal size, or between indices.
    ///
    /// Errors for 0 sections, and if the axis is out of range.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([1, 2, 3, 4, 5]);
    /// let sizes = |pieces: Vec<Tensor>| pieces.iter().map(Tensor::len).collect::<Vec<_>>();
    /// assert_eq!(sizes(x.array_split(3, 0)?), [2, 2, 1]);
    /// assert_eq!(sizes(ops::array_split(&x, [1, -1], 0)?), [1, 3, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn array_split(
        x: &Tensor,
        sections: impl Into<Sections>,
        axis: impl Int,
    ) -> Result<Vec<Tensor>> {
        let axis = layout::axis("array_split", axis.wide(), x.rank())?;
        split("array_split", x, &sections.into(), axis, false)
    }
);

method!(
    /// Pieces along the second axis, of vectors along the first, as views: of equal size, or between
    /// indices.
    ///
    /// Errors if the size isn't divisible, or there is no dimension.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.hsplit(2)?[1], Tensor::from([[2], [4]]));
    /// assert_eq!(ops::hsplit(&x, [1])?[0], Tensor::from([[1], [3]]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn hsplit(x: &Tensor, sections: impl Into<Sections>) -> Result<Vec<Tensor>> {
        let axis = split_axis("hsplit", x.shape())?;
        split("hsplit", x, &sections.into(), axis, true)
    }
);

method!(
    /// Pieces along the first axis of two or more, as views: of equal size, or between indices.
    ///
    /// Errors if the size isn't divisible, or there are fewer than two dimensions.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.vsplit(2)?[1], Tensor::from([[3, 4]]));
    /// assert_eq!(ops::vsplit(&x, [1])?[0], Tensor::from([[1, 2]]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn vsplit(x: &Tensor, sections: impl Into<Sections>) -> Result<Vec<Tensor>> {
        let axis = split_axis("vsplit", x.shape())?;
        split("vsplit", x, &sections.into(), axis, true)
    }
);
