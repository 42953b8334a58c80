//! How callers specify axes and shapes: integers, arrays, slices, tuples, `()` and `..`.

use super::{Shape, axis, unique_axes};
use crate::error::{Error, Result};
use alloc::vec::Vec;
use core::ops::RangeFull;
use smallvec::SmallVec;

/// `()` for the defaults of each type of options.
macro_rules! defaults {
    ($($Options:ty),* $(,)?) => { $(
        impl From<()> for $Options {
            /// The defaults.
            fn from(_: ()) -> Self {
                Default::default()
            }
        }
    )* };
}
pub(crate) use defaults;

/// An integer that names an axis or a size.
///
/// ```
/// let x = flex::Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// let last = x.rank() - 1; // axes of any integer type
/// assert_eq!(x.sum(last)?.to_vec::<f32>()?, x.sum(-1)?.to_vec::<f32>()?);
/// # Ok::<(), flex::Error>(())
/// ```
pub trait Int: Copy {
    /// As `isize`; larger values, which no axis or size reaches either, saturate.
    #[doc(hidden)]
    fn wide(self) -> isize;
}
macro_rules! ints {
    ($($T:ident)*) => { $(impl Int for $T {
        #[inline(always)]
        fn wide(self) -> isize { isize::try_from(self).unwrap_or(isize::MAX) }
    })* };
}
ints!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

/// Axes of a tensor: a list, in which negative axes count from the end, or all of them. Functions
/// of exactly one axis take an [`Int`].
///
/// Made by `into` from an integer, from arrays, slices and vectors of integers, and from `()` or
/// `..`, which mean all axes.
///
/// ```
/// use flex::{Tensor, ops};
/// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// assert_eq!(ops::sum(&x, 0)?.to_vec::<f32>()?, [4.0, 6.0]);
/// assert_eq!(ops::sum(&x, [0, -1])?.item::<f32>()?, 10.0);
/// assert_eq!(ops::sum(&x, ())?.item::<f32>()?, 10.0);
/// assert_eq!(x.flip(..)?.to_vec::<f32>()?, [4.0, 3.0, 2.0, 1.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes(Option<SmallVec<[isize; 6]>>);

impl Axes {
    /// All axes.
    pub const ALL: Axes = Axes(None);

    /// The axes as given; `None` for all.
    ///
    /// ```
    /// use flex::Axes;
    /// assert_eq!((Axes::from([0, -1]).named(), Axes::ALL.named()), (Some(&[0, -1][..]), None));
    /// ```
    pub fn named(&self) -> Option<&[isize]> {
        self.0.as_deref()
    }
    /// The axes counted from the front, in the order given; in ascending order for all. Errors if
    /// one is out of range or repeated.
    ///
    /// ```
    /// use flex::Axes;
    /// assert_eq!(Axes::from([-1, 0]).resolve("sum", 3)?.as_slice(), [2, 0]);
    /// assert_eq!(Axes::ALL.resolve("sum", 2)?.as_slice(), [0, 1]);
    /// assert!(Axes::from([0, -2]).resolve("sum", 2).is_err());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn resolve(&self, op: &'static str, rank: usize) -> Result<SmallVec<[usize; 6]>> {
        match self.named() {
            Some(axes) => unique_axes(op, axes, rank),
            None => Ok((0..rank).collect()),
        }
    }
    /// The single axis, counted from the front; `None` for all. Errors if several are given, or the
    /// axis is out of range.
    ///
    /// ```
    /// use flex::Axes;
    /// assert_eq!(Axes::from(-1).one("argmax", 3)?, Some(2));
    /// assert_eq!(Axes::ALL.one("argmax", 3)?, None);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn one(&self, op: &'static str, rank: usize) -> Result<Option<usize>> {
        match self.named() {
            None => Ok(None),
            Some([a]) => axis(op, *a, rank).map(Some),
            Some(axes) => Err(Error::value(
                op,
                message!(
                    "takes one axis, not {axes:?}: pass an integer, or () for the flattened tensor"
                ),
            )),
        }
    }
}
impl<T: Int> From<T> for Axes {
    fn from(axis: T) -> Axes {
        Axes(Some(SmallVec::from_slice(&[axis.wide()])))
    }
}
impl From<()> for Axes {
    fn from(_: ()) -> Axes {
        Axes::ALL
    }
}
impl From<RangeFull> for Axes {
    fn from(_: RangeFull) -> Axes {
        Axes::ALL
    }
}
/// `None` is all axes, as in Python.
impl<A: Into<Axes>> From<Option<A>> for Axes {
    fn from(axes: Option<A>) -> Axes {
        axes.map_or(Axes::ALL, Into::into)
    }
}
impl From<&Axes> for Axes {
    fn from(axes: &Axes) -> Axes {
        axes.clone()
    }
}

/// Several integers: the sizes passed to [`reshape`](crate::Tensor::reshape), of which one may be
/// -1, and the indices of an element ([`at`](crate::Tensor::at)).
///
/// Made by `into` from one integer, and from arrays, slices, vectors and tuples of integers, which
/// may be of different types.
///
/// ```
/// use flex::Tensor;
/// let x = Tensor::zeros((2, 6), flex::DType::F32)?;
/// let rows: usize = 3;
/// assert_eq!(x.reshape((rows, -1))?.shape(), [3, 4]);
/// assert_eq!(x.reshape([2, 2, 3])?.shape(), [2, 2, 3]);
/// assert_eq!(x.reshape(-1)?.shape(), [12]);
/// assert_eq!(x.at::<f32>((1, -1))?, 0.0);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ints(SmallVec<[isize; 6]>);

impl Ints {
    /// The integers as given.
    ///
    /// ```
    /// assert_eq!(flex::layout::Ints::from((2, -1)).values(), [2, -1]);
    /// ```
    pub fn values(&self) -> &[isize] {
        &self.0
    }
}
impl<T: Int> From<T> for Ints {
    fn from(size: T) -> Ints {
        Ints(SmallVec::from_slice(&[size.wide()]))
    }
}
/// No integers: the shape of rank 0.
impl From<()> for Ints {
    fn from(_: ()) -> Ints {
        Ints(SmallVec::new())
    }
}

/// Both from lists of integers.
macro_rules! lists {
    ($([$($generic:tt)*] $List:ty;)*) => { $(
        impl<T: Int, $($generic)*> From<$List> for Axes {
            fn from(axes: $List) -> Axes { Axes(Some(axes.iter().map(|a| a.wide()).collect())) }
        }
        impl<T: Int, $($generic)*> From<$List> for Ints {
            fn from(shape: $List) -> Ints { Ints(shape.iter().map(|n| n.wide()).collect()) }
        }
    )* };
}
lists! {
    [const N: usize] [T; N];
    [const N: usize] &[T; N];
    [] &[T];
    [] Vec<T>;
    [] &Vec<T>;
    [] SmallVec<[T; 6]>;
    [] &SmallVec<[T; 6]>;
}

/// Anything that specifies a shape: an integer, a tuple, an array, a slice or a vector of sizes;
/// `()` is rank 0.
///
/// ```
/// use flex::{DType, Tensor};
/// assert_eq!(Tensor::zeros(3, DType::F32)?.shape(), [3]);
/// assert_eq!(Tensor::zeros((2, 3), DType::F32)?.shape(), [2, 3]);
/// assert_eq!(Tensor::zeros([2, 3], DType::F32)?.shape(), [2, 3]);
/// assert_eq!(Tensor::zeros(&vec![2, 3], DType::F32)?.shape(), [2, 3]);
/// assert_eq!(Tensor::zeros((), DType::F32)?.rank(), 0);
/// # Ok::<(), flex::Error>(())
/// ```
pub trait IntoShape {
    /// The type that holds the sizes: slices are not copied.
    type Sizes: AsRef<[usize]>;
    /// The sizes of the dimensions.
    ///
    /// ```
    /// use flex::layout::IntoShape;
    /// assert_eq!((2, 3).into_shape().as_ref(), [2, 3]);
    /// ```
    fn into_shape(self) -> Self::Sizes;
}
macro_rules! shapes {
    ($([$($generic:tt)*] $T:ty => $Sizes:ty, |$x:ident| $e:expr;)*) => { $(
        impl<$($generic)*> IntoShape for $T {
            type Sizes = $Sizes;
            #[inline(always)]
            fn into_shape(self) -> $Sizes { let $x = self; $e }
        }
    )* };
}
shapes! {
    [] usize => [usize; 1], |n| [n];
    [] () => [usize; 0], |_x| [];
    [const N: usize] [usize; N] => [usize; N], |x| x;
    ['a, const N: usize] &'a [usize; N] => &'a [usize; N], |x| x;
    ['a] &'a [usize] => &'a [usize], |x| x;
    [] Vec<usize> => Vec<usize>, |x| x;
    ['a] &'a Vec<usize> => &'a [usize], |x| x;
    [] Shape => Shape, |x| x;
    ['a] &'a Shape => &'a [usize], |x| x;
}

macro_rules! size {
    ($x:ident) => {
        usize
    };
}
macro_rules! tuples {
    ($($N:literal: $($x:ident $T:ident),+;)*) => { $(
        impl IntoShape for ($(size!($x),)+) {
            type Sizes = [usize; $N];
            #[inline(always)]
            fn into_shape(self) -> [usize; $N] { let ($($x,)+) = self; [$($x),+] }
        }
        impl<$($T: Int),+> From<($($T,)+)> for Ints {
            fn from(($($x,)+): ($($T,)+)) -> Ints { Ints(SmallVec::from_slice(&[$($x.wide()),+])) }
        }
    )* };
}
tuples! {
    1: a A;
    2: a A, b B;
    3: a A, b B, c C;
    4: a A, b B, c C, d D;
    5: a A, b B, c C, d D, e E;
    6: a A, b B, c C, d D, e E, f F;
}
