//! The items between the brackets of `t[...]`.

use super::selection::Selection;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use core::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// One item of `t[...]`. Numbers and ranges convert to it; [`s!`](crate::s) makes a list of them.
///
/// ```
/// use flex::{Tensor, ops::{self, Index}, s};
/// let x = Tensor::from([[1, 2, 3], [4, 5, 6]]);
/// let every_other = Index::Slice { start: None, stop: None, step: 2 };
/// assert_eq!(x.get(&[Index::Int(-1), every_other])?.to_vec::<i32>()?, [4, 6]);
/// let mask = Index::Mask(ops::greater(&x, 4)?);
/// assert_eq!(x.get(&[mask])?.to_vec::<i32>()?, [5, 6]);
/// assert_eq!(x.get(s![.., 0])?.to_vec::<i32>()?, [1, 4]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Index {
    /// An integer index, negative from the end; removes the dimension.
    Int(i64),
    /// `start:stop:step` with Python's rules.
    Slice {
        /// The first element; `None` for the beginning (the end if the step is negative).
        start: Option<i64>,
        /// The element to stop before; `None` for the end (past the beginning if the step is
        /// negative).
        stop: Option<i64>,
        /// The distance between consecutive elements; negative to go backwards, never 0.
        step: i64,
    },
    /// All dimensions that the other items don't index; at most once.
    Ellipsis,
    /// A new dimension of size 1.
    NewAxis,
    /// The elements where a bool tensor is true; it indexes as many dimensions as it has.
    Mask(Tensor),
    /// The elements at these positions.
    Array(Tensor),
}

impl Index {
    /// All of a dimension.
    pub const ALL: Index = Index::Slice {
        start: None,
        stop: None,
        step: 1,
    };

    /// The same slice with another step.
    ///
    /// ```
    /// use flex::ops::Index;
    /// assert!(matches!(Index::ALL.step_by(-1), Index::Slice { start: None, stop: None, step: -1 }));
    /// ```
    pub fn step_by(self, step: i64) -> Index {
        match self {
            Index::Slice { start, stop, .. } => Index::Slice { start, stop, step },
            other => other,
        }
    }
}

macro_rules! from_ints {
    ($($T:ty),*) => { $(
        impl From<$T> for Index {
            fn from(i: $T) -> Index { Index::Int(wide(i)) }
        }
        impl From<Range<$T>> for Index {
            fn from(r: Range<$T>) -> Index { Index::Slice { start: Some(wide(r.start)), stop: Some(wide(r.end)), step: 1 } }
        }
        impl From<RangeFrom<$T>> for Index {
            fn from(r: RangeFrom<$T>) -> Index { Index::Slice { start: Some(wide(r.start)), stop: None, step: 1 } }
        }
        impl From<RangeTo<$T>> for Index {
            fn from(r: RangeTo<$T>) -> Index { Index::Slice { start: None, stop: Some(wide(r.end)), step: 1 } }
        }
        impl From<RangeInclusive<$T>> for Index {
            fn from(r: RangeInclusive<$T>) -> Index { Index::Slice { start: Some(wide(*r.start())), stop: after(wide(*r.end())), step: 1 } }
        }
        impl From<RangeToInclusive<$T>> for Index {
            fn from(r: RangeToInclusive<$T>) -> Index { Index::Slice { start: None, stop: after(wide(r.end)), step: 1 } }
        }
    )* };
}
from_ints!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

/// Converts a number to int64. Numbers beyond int64 saturate, since no dimension reaches them
/// either.
fn wide<T: TryInto<i64>>(i: T) -> i64 {
    i.try_into().unwrap_or(i64::MAX) // only unsigned numbers can be out of range
}
/// The stop of a slice that includes `last`, where -1 is the last element.
fn after(last: i64) -> Option<i64> {
    if last == -1 {
        None
    } else {
        last.checked_add(1)
    }
}
impl From<RangeFull> for Index {
    fn from(_: RangeFull) -> Index {
        Index::ALL
    }
}
/// A mask if the tensor is bool, else positions.
impl From<Tensor> for Index {
    fn from(t: Tensor) -> Index {
        if t.dtype().is_bool() {
            Index::Mask(t)
        } else {
            Index::Array(t)
        }
    }
}
impl From<&Tensor> for Index {
    fn from(t: &Tensor) -> Index {
        t.clone().into()
    }
}

/// A list of [`Index`]: `s![1..3, .., -1]` is Python's `[1:3, :, -1]`.
///
/// Items are integers, ranges (`..` is all of one dimension), a range and a step after a semicolon
/// (`..; -1` is `::-1`), tensors, or an `Index`, such as `Ellipsis` and `NewAxis`, which are in the
/// [`prelude`](crate::prelude).
///
/// ```
/// use flex::{Tensor, ops::Index, s};
/// let x = Tensor::from_slice(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], [3, 4])?;
/// assert_eq!(x.slice(s![1.., 2])?.to_vec::<i32>()?, [6, 10]);
/// assert_eq!(x.slice(s![-1, ..; -2])?.to_vec::<i32>()?, [11, 9]);
/// assert_eq!(x.slice(s![Index::Ellipsis, Index::NewAxis, 0..=1])?.shape(), [3, 1, 2]);
/// # Ok::<(), flex::Error>(())
/// ```
#[macro_export]
macro_rules! s {
    (@ [$($done:expr,)*]) => { [$($done),*] };
    (@ [$($done:expr,)*] $i:expr; $step:expr $(, $($rest:tt)*)?) => {
        $crate::s!(@ [$($done,)* $crate::ops::Index::step_by($crate::ops::Index::from($i), $step as i64),] $($($rest)*)?)
    };
    (@ [$($done:expr,)*] $i:expr $(, $($rest:tt)*)?) => {
        $crate::s!(@ [$($done,)* $crate::ops::Index::from($i),] $($($rest)*)?)
    };
    ($($items:tt)*) => { $crate::s!(@ [] $($items)*) };
}

impl Tensor {
    /// The view that basic indices select. Errors for masks and arrays, which
    /// [`get`](crate::ops::get) accepts, and for an index out of range, too many items, or a step
    /// of 0.
    ///
    /// ```
    /// use flex::{Tensor, s};
    /// let x = Tensor::from_slice(&[0, 1, 2, 3, 4, 5], [2, 3])?;
    /// let row = x.slice(s![1])?;
    /// assert_eq!(row.to_vec::<i32>()?, [3, 4, 5]);
    /// assert!(row.shares_storage(&x));
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("index"))]
    pub fn slice(&self, indices: impl AsRef<[Index]>) -> Result<Tensor> {
        let indices = indices.as_ref();
        if indices
            .iter()
            .any(|i| matches!(i, Index::Mask(_) | Index::Array(_)))
        {
            return Err(Error::value(
                "slice",
                "masks and arrays don't give a view: use ops::get",
            ));
        }
        Ok(self.view(Selection::new("slice", (self.layout(), self.dtype()), indices)?.layout))
    }
}
