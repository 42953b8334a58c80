//! Sorting, argsort, the k largest, and searches. NaN comes last, in ascending and descending
//! order.

mod lines;
mod parallel;
mod search;

pub use search::{Side, searchsorted};
pub(in crate::ops) use search::{are_floats_among_integers, limits};

use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::fallible;
use crate::layout::{self, Int, defaults};
use crate::ops::methods::method;
use crate::tensor::Tensor;
use lines::{Request, partition_lines, sort_lines};

/// The axis and the order of a sort. `into` makes it from the axis alone, for ascending order.
///
/// ```
/// use flex::ops::Sort;
/// assert_eq!(Sort::from(-1), Sort { axis: -1, descending: false });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// The axis; negative numbers count from the end.
    pub axis: isize,
    /// Whether the largest comes first.
    pub descending: bool,
}
impl Default for Sort {
    /// The last axis, in ascending order.
    fn default() -> Sort {
        Sort {
            axis: -1,
            descending: false,
        }
    }
}
impl<T: Int> From<T> for Sort {
    fn from(axis: T) -> Sort {
        Sort {
            axis: axis.wide(),
            descending: false,
        }
    }
}

method!(
    /// The values of each line along an axis in ascending or descending order, in the shape and
    /// dtype of `x`.
    ///
    /// NaN comes last in both orders. Every sort is stable: zeros of both signs are equal, and keep
    /// their order. Errors if the axis is out of range, and for complex numbers, which have no
    /// order.
    ///
    /// ```
    /// use flex::{Tensor, ops::{self, Sort}};
    /// let x = Tensor::from([3.0f32, f32::NAN, 1.0, 2.0]);
    /// assert_eq!(x.sort(-1)?.to_vec::<f32>()?[..3], [1.0, 2.0, 3.0]);
    /// let y = ops::sort(&x, Sort { axis: -1, descending: true })?.to_vec::<f32>()?;
    /// assert!(y[..3] == [3.0, 2.0, 1.0] && y[3].is_nan());
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("sort_last_dim"))]
    pub fn sort(x: &Tensor, how: impl Into<Sort>) -> Result<Tensor> {
        sort_of(x, how.into())
    }
);

fn sort_of(x: &Tensor, how: Sort) -> Result<Tensor> {
    let Sort { axis, descending } = how;
    let (axis, _) = line("sort", x, axis)?;
    dispatch!(ordered x.dtype(), |T| sort_lines::<T>(x, axis, descending), else Err(Error::unsupported("sort", x.dtype())))
}

method!(
    /// The positions that sort each line along an axis, as int64 in the shape of `x`: equal values
    /// (and zeros of both signs) keep their order, also in descending order, and NaN comes last.
    ///
    /// Errors if the axis is out of range, and for complex numbers, which have no order.
    ///
    /// ```
    /// use flex::{Tensor, ops::{self, Sort}};
    /// let x = Tensor::from([2, 1, 2, 3]);
    /// assert_eq!(x.argsort(0)?.to_vec::<i64>()?, [1, 0, 2, 3]);
    /// assert_eq!(ops::argsort(&x, Sort { axis: 0, descending: true })?.to_vec::<i64>()?, [3, 0, 2, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("arg_sort_last_dim"))]
    pub fn argsort(x: &Tensor, how: impl Into<Sort>) -> Result<Tensor> {
        argsort_of(x, how.into())
    }
);

fn argsort_of(x: &Tensor, how: Sort) -> Result<Tensor> {
    let Sort { axis, descending } = how;
    let (axis, k) = line("argsort", x, axis)?;
    Request {
        op: "argsort",
        axis,
        k,
        sorted: true,
        descending,
    }
    .indices(x)
}

method!(
    /// The sorted values and their positions: [`sort`] and [`argsort`] in one, with their errors.
    /// -0 and +0 keep their order.
    ///
    /// ```
    /// use flex::{Tensor, ops::{self, Sort}};
    /// let x = Tensor::from([3, 1, 2]);
    /// let (values, indices) = x.sort_with_indices(-1)?;
    /// assert_eq!((values.to_vec::<i32>()?, indices.to_vec::<i64>()?), (vec![1, 2, 3], vec![1, 2, 0]));
    /// let (values, indices) = ops::sort_with_indices(&x, Sort { axis: 0, descending: true })?;
    /// assert_eq!((values.to_vec::<i32>()?, indices.to_vec::<i64>()?), (vec![3, 2, 1], vec![0, 2, 1]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn sort_with_indices(x: &Tensor, how: impl Into<Sort>) -> Result<(Tensor, Tensor)> {
        sort_with_indices_of(x, how.into())
    }
);

fn sort_with_indices_of(x: &Tensor, how: Sort) -> Result<(Tensor, Tensor)> {
    let Sort { axis, descending } = how;
    let (axis, k) = line("sort", x, axis)?;
    Request {
        op: "sort",
        axis,
        k,
        sorted: true,
        descending,
    }
    .values_and_indices(x)
}

method!(
    /// The values of each line along an axis such that those at the positions `kth` are where the
    /// sorted line has them, with none larger before and none smaller behind; all others are in any
    /// order. NaN comes last, and zeros of both signs are equal.
    ///
    /// Errors if a position is not less than the size of the axis, if the axis is out of range, and
    /// for complex numbers, which have no order.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([5, 1, 4, 2, 3]);
    /// assert_eq!(x.partition(&[2], 0)?.to_vec::<i32>()?[2], 3);
    /// assert_eq!(ops::partition(&x, &[0, 4], -1)?.to_vec::<i32>()?[4], 5);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn partition(x: &Tensor, kth: &[usize], axis: isize) -> Result<Tensor> {
        let (axis, n) = line("partition", x, axis)?;
        if let Some(k) = kth.iter().find(|k| **k >= n) {
            return Err(Error::value(
                "partition",
                message!("kth is {k}, but axis {axis} has {n} elements"),
            ));
        }
        let mut kth = fallible::collect(kth.iter().map(|k| Ok(*k)))?;
        kth.sort_unstable();
        dispatch!(ordered x.dtype(), |T| partition_lines::<T>(x, axis, &kth), else Err(Error::unsupported("partition", x.dtype())))
    }
);

/// The axis and options of [`topk`]. `into` makes them from the axis alone: the largest values, in
/// order.
///
/// ```
/// use flex::ops::TopK;
/// assert_eq!(TopK::from(0), TopK { axis: 0, ..Default::default() });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopK {
    /// The axis, by default the last; negative numbers count from the end.
    pub axis: isize,
    /// Whether the largest values are wanted, or the smallest.
    pub largest: bool,
    /// Whether the results are sorted, best first; any order takes less time.
    pub sorted: bool,
}
impl Default for TopK {
    fn default() -> TopK {
        TopK {
            axis: -1,
            largest: true,
            sorted: true,
        }
    }
}
impl<T: Int> From<T> for TopK {
    fn from(axis: T) -> TopK {
        TopK {
            axis: axis.wide(),
            ..Default::default()
        }
    }
}
defaults! { Sort, TopK }

method!(
    /// The `k` largest (or smallest) values of each line along an axis and their positions (int64).
    /// Of equal values the first is preferred. NaN is taken last, for the largest and for the
    /// smallest, as in [`sort`].
    ///
    /// Errors if `k` exceeds the size of the axis, and for complex numbers, which have no order.
    ///
    /// ```
    /// use flex::{Tensor, ops::{self, TopK}};
    /// let x = Tensor::from([1, 5, 3, 5]);
    /// let (values, indices) = x.topk(3, -1)?;
    /// assert_eq!((values.to_vec::<i32>()?, indices.to_vec::<i64>()?), (vec![5, 5, 3], vec![1, 3, 2]));
    /// let (least, _) = ops::topk(&x, 1, TopK { largest: false, ..Default::default() })?;
    /// assert_eq!(least.item::<i32>()?, 1);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("topk_with_indices", "top_k"))]
    pub fn topk(x: &Tensor, k: usize, how: impl Into<TopK>) -> Result<(Tensor, Tensor)> {
        topk_of(x, k, how.into())
    }
);

fn topk_of(x: &Tensor, k: usize, how: TopK) -> Result<(Tensor, Tensor)> {
    let TopK {
        axis,
        largest,
        sorted,
    } = how;
    let (axis, n) = line("topk", x, axis)?;
    if k > n {
        return Err(Error::value(
            "topk",
            message!("k is {k}, but axis {axis} has {n} elements"),
        ));
    }
    Request {
        op: "topk",
        axis,
        k,
        sorted,
        descending: largest,
    }
    .values_and_indices(x)
}

/// The axis and its size. Errors if it is out of range, or the dtype has no order.
fn line(op: &'static str, x: &Tensor, axis: isize) -> Result<(usize, usize)> {
    let axis = layout::axis(op, axis, x.rank())?;
    if !dispatch!(ordered x.dtype(), |T| T::DTYPE == x.dtype(), else false) {
        return Err(Error::unsupported(op, x.dtype()));
    }
    Ok((axis, x.shape()[axis]))
}
