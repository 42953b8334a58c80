//! Elements rearranged within a shape, triangles of matrices, grids. Views are methods of
//! [`Tensor`].

use super::concat;
use crate::error::{Error, Result};
use crate::fallible;
use crate::layout::{self, Axes, Shape};
use crate::ops::methods::method;
use crate::par::{self, Cost};
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::borrow::Borrow;
use smallvec::SmallVec;

/// The shifts of [`roll`]; `into` makes them from an integer, an array or a slice.
///
/// ```
/// use flex::{Tensor, ops};
/// let x = Tensor::from([[1, 2], [3, 4]]);
/// assert_eq!(ops::roll(&x, [1, 1], [0, 1])?.to_vec::<i32>()?, [4, 3, 2, 1]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shifts(SmallVec<[i64; 6]>);

impl From<i64> for Shifts {
    fn from(shift: i64) -> Shifts {
        Shifts(SmallVec::from_slice(&[shift]))
    }
}

impl<const N: usize> From<[i64; N]> for Shifts {
    fn from(shifts: [i64; N]) -> Shifts {
        Shifts(SmallVec::from_slice(&shifts))
    }
}

impl<const N: usize> From<&[i64; N]> for Shifts {
    fn from(shifts: &[i64; N]) -> Shifts {
        Shifts(SmallVec::from_slice(shifts))
    }
}

impl From<&[i64]> for Shifts {
    fn from(shifts: &[i64]) -> Shifts {
        Shifts(SmallVec::from_slice(shifts))
    }
}

method!(
    /// Rolls elements by `shifts[i]` positions along `axes[i]`; those shifted beyond the end
    /// re-enter at the beginning. A single shift applies to all axes; for `()`, the flattened `x`
    /// is rolled.
    ///
    /// Errors if the number of shifts is neither one nor that of the axes, or an axis is out of
    /// range.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.roll(1, 0)?.to_vec::<i32>()?, [3, 4, 1, 2]);
    /// assert_eq!(ops::roll(&x, 1, ())?.to_vec::<i32>()?, [4, 1, 2, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn roll(x: &Tensor, shifts: impl Into<Shifts>, axes: impl Into<Axes>) -> Result<Tensor> {
        const OP: &str = "roll";
        let (Shifts(shifts), axes) = (shifts.into(), axes.into());
        let count = axes.named().map_or(1, <[isize]>::len);
        if shifts.len() != count && shifts.len() != 1 {
            return Err(Error::value(
                OP,
                message!("{} shifts for {count} axes", shifts.len()),
            ));
        }
        let Some(axes) = axes.named() else {
            return roll(&x.reshape(-1)?, &shifts[..], 0)?.reshape(x.shape());
        };
        let axes = axes
            .iter()
            .map(|a| layout::axis(OP, *a, x.rank()))
            .collect::<Result<Shape>>()?;
        let mut out = x.clone();
        for (i, k) in axes.into_iter().enumerate() {
            let n = out.shape()[k];
            let shift = if n == 0 {
                0
            } else {
                shifts[if shifts.len() == 1 { 0 } else { i }].rem_euclid(n as i64) as usize
            };
            if shift != 0 {
                let (start, end) = (
                    out.narrow(k as isize, 0, n - shift)?,
                    out.narrow(k as isize, n - shift, shift)?,
                );
                out = concat(&[end, start], k)?;
            }
        }
        Ok(out)
    }
);

method!(
    /// The lower triangles of matrices (the last two dimensions): zero above diagonal `k`, which is
    /// above the main diagonal if positive.
    ///
    /// Errors if there are fewer than two dimensions.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.tril(0)?.to_vec::<i32>()?, [1, 0, 3, 4]);
    /// assert_eq!(ops::tril(&x, -1)?.to_vec::<i32>()?, [0, 0, 3, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn tril(x: &Tensor, k: i64) -> Result<Tensor> {
        triangle("tril", x, |row, columns| {
            clamp(row.saturating_add(k).saturating_add(1), columns)..columns
        })
    }
);

method!(
    /// The upper triangles of matrices (the last two dimensions): zero below diagonal `k`, which is
    /// above the main diagonal if positive.
    ///
    /// Errors if there are fewer than two dimensions.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.triu(0)?.to_vec::<i32>()?, [1, 2, 0, 4]);
    /// assert_eq!(ops::triu(&x, 1)?.to_vec::<i32>()?, [0, 2, 0, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn triu(x: &Tensor, k: i64) -> Result<Tensor> {
        triangle("triu", x, |row, columns| {
            0..clamp(row.saturating_add(k), columns)
        })
    }
);

fn clamp(column: i64, columns: usize) -> usize {
    column.clamp(0, columns as i64) as usize
}

/// A copy with the columns `zeros(row, columns)` of each row set to zero.
fn triangle(
    op: &'static str,
    x: &Tensor,
    zeros: impl Fn(i64, usize) -> core::ops::Range<usize> + Sync,
) -> Result<Tensor> {
    let [.., rows, columns] = *x.shape() else {
        return Err(Error::shape(
            op,
            message!("shape {:?} has fewer than two dimensions", x.shape()),
        ));
    };
    let mut out = x.copy()?;
    let size = x.dtype().size();
    if x.is_empty() {
        return Ok(out);
    }
    let bytes = par::Out::new(out.as_mut_bytes()?); // zero bytes are zero in every dtype
    par::ranges(
        x.len() / columns,
        1,
        Cost {
            bytes: columns * size,
            flops: 0,
        },
        |r| {
            for row in r {
                let zeros = zeros((row % rows) as i64, columns);
                let start = row * columns;
                // SAFETY: OUT1: each row is in one range, and a call touches only its own rows.
                unsafe { bytes.part((start + zeros.start) * size..(start + zeros.end) * size) }
                    .fill(0);
            }
        },
    );
    Ok(out)
}

/// Broadcasts all tensors to their common shape; views. Errors if there is none.
///
/// ```
/// use flex::{DType, Tensor, ops};
/// let views = ops::broadcast_arrays(&[Tensor::zeros(&[3, 1], DType::F32)?, Tensor::zeros(&[4], DType::I64)?])?;
/// assert!(views.iter().all(|v| v.shape() == [3, 4]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn broadcast_arrays<T: Borrow<Tensor>>(tensors: &[T]) -> Result<Vec<Tensor>> {
    let shapes = fallible::collect(tensors.iter().map(|t| Ok::<_, Error>(t.borrow().shape())))?;
    let shape = layout::broadcast("broadcast_arrays", &shapes)?;
    fallible::collect(tensors.iter().map(|t| t.borrow().broadcast_to(&shape)))
}

/// The dimension along which the first tensor of [`meshgrid`] varies.
///
/// Example: [`meshgrid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexing {
    /// The second, like the x coordinate of a plot.
    Xy,
    /// The first, like the row index of a matrix.
    Ij,
}

/// The coordinates of a grid: result `i` has the values of tensor `i`, of rank 1 or 0, along
/// dimension `i`; views. [`Indexing::Xy`] swaps the first two dimensions.
///
/// Errors if a tensor has more than one dimension.
///
/// ```
/// use flex::{Tensor, ops::{self, Indexing}};
/// let (x, y) = (Tensor::from_slice(&[1, 2, 3], [3])?, Tensor::from_slice(&[4, 5], [2])?);
/// let grid = ops::meshgrid(&[x, y], Indexing::Xy)?;
/// assert_eq!(grid[0].to_vec::<i32>()?, [1, 2, 3, 1, 2, 3]);
/// assert_eq!(grid[1].to_vec::<i32>()?, [4, 4, 4, 5, 5, 5]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn meshgrid<T: Borrow<Tensor>>(tensors: &[T], indexing: Indexing) -> Result<Vec<Tensor>> {
    let open = open_meshgrid(tensors, indexing)?;
    let mut shape = Shape::from_elem(1, open.len());
    for t in &open {
        for (to, size) in shape.iter_mut().zip(t.shape()) {
            if *size != 1 {
                *to = *size;
            }
        }
    }
    fallible::collect(open.iter().map(|t| t.broadcast_to(&shape)))
}

/// [`meshgrid`] before it is broadcast: result `i` has size 1 in all dimensions but its own. Views.
///
/// Errors if a tensor has more than one dimension.
///
/// ```
/// use flex::{Tensor, ops::{self, Indexing}};
/// let (x, y) = (Tensor::from([1, 2, 3]), Tensor::from([4, 5]));
/// let grid = ops::open_meshgrid(&[x, y], Indexing::Xy)?;
/// assert_eq!((grid[0].shape(), grid[1].shape()), (&[1, 3][..], &[2, 1][..]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn open_meshgrid<T: Borrow<Tensor>>(tensors: &[T], indexing: Indexing) -> Result<Vec<Tensor>> {
    const OP: &str = "meshgrid";
    let axis_of = |i: usize| {
        if indexing == Indexing::Xy && i < 2 && tensors.len() > 1 {
            1 - i
        } else {
            i
        }
    };
    for (i, t) in tensors.iter().enumerate() {
        let t: &Tensor = t.borrow();
        if t.rank() > 1 {
            return Err(Error::shape(
                OP,
                message!(
                    "tensor {i} has shape {:?}; it must have one dimension",
                    t.shape()
                ),
            ));
        }
    }
    let along = |(i, t): (usize, &T)| {
        let t: &Tensor = t.borrow();
        let mut one = Shape::from_elem(1, tensors.len());
        one[axis_of(i)] = t.len();
        t.reshape(one)
    };
    fallible::collect(tensors.iter().enumerate().map(along))
}
