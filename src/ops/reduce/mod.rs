//! Reductions over any set of axes: the functions, and what they share.

#[cfg(feature = "bindings")]
mod chosen;
mod extreme;
mod logsumexp;
mod nan;
mod quantile;
mod sum;
mod variance;

#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use chosen::Chosen;
pub use extreme::{argmax, argmin, max, max_with_indices, min, min_with_indices};
pub use logsumexp::logsumexp;
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use logsumexp::{logsumexp_signed, logsumexp_weighted};
pub use nan::{NanToNum, nan_to_num, nanmax, nanmean, nanmin, nanstd, nansum, nanvar};
pub use quantile::{Interpolation, median, nanmedian, nanquantile, ptp, quantile};
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use sum::converted_before;
#[cfg(feature = "stream")]
pub(crate) use sum::truth;
pub(crate) use sum::{accumulated, accumulator, sum_end};
pub use sum::{all, any, count_nonzero, mean, prod, prod_as, sum, sum_as};
pub(crate) use variance::{Statistics, moments};
pub use variance::{std, var};

use crate::dtype::DType;
use crate::dtype::Pod;
use crate::error::{Error, Result};
use crate::exec::fold::{End, Fold, FoldRef, fold, fold_computed};
use crate::exec::program::TileProgram;
use crate::kernel::reduce::Reduce;
use crate::layout::{Axes, Layout, Shape};
use crate::tensor::Tensor;
use core::marker::PhantomData;
use smallvec::SmallVec;

/// The axes of a reduction, and whether the result keeps them with size 1. `into` makes it from
/// anything that converts to [`Axes`], without keepdims.
///
/// ```
/// use flex::{Axes, Tensor, ops::{self, ReductionAxes}};
/// let x = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
/// assert_eq!(ops::mean(&x, 0)?.to_vec::<f32>()?, [2.0, 3.0]);
/// assert_eq!(ops::mean(&x, Axes::from(0).keepdims())?.shape(), [1, 2]);
/// assert_eq!(ops::mean(&x, ReductionAxes { axes: Axes::ALL, keepdims: true })?.shape(), [1, 1]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReductionAxes {
    /// The axes to reduce.
    pub axes: Axes,
    /// Whether they are kept with size 1, so that the result broadcasts against the operand.
    pub keepdims: bool,
}
impl<A: Into<Axes>> From<A> for ReductionAxes {
    fn from(axes: A) -> ReductionAxes {
        ReductionAxes {
            axes: axes.into(),
            keepdims: false,
        }
    }
}
impl Axes {
    /// A reduction over these axes that keeps them with size 1.
    ///
    /// Example: [`ReductionAxes`].
    pub fn keepdims(self) -> ReductionAxes {
        ReductionAxes {
            axes: self,
            keepdims: true,
        }
    }
}

/// The reduced axes of a tensor.
pub(crate) struct Reduced {
    op: &'static str,
    reduced: SmallVec<[bool; 6]>,
    keepdims: bool,
    /// The shape with size 1 for reduced axes.
    shape: Shape,
    /// The number of elements that are reduced to one.
    n: usize,
}

impl Reduced {
    fn new(op: &'static str, x: &Tensor, over: ReductionAxes) -> Result<Reduced> {
        Reduced::of_shape(op, x.shape(), over)
    }
    /// The reduced axes of tensors of this shape.
    pub fn of_shape(op: &'static str, shape: &[usize], over: ReductionAxes) -> Result<Reduced> {
        let ReductionAxes { axes, keepdims } = over;
        let mut reduced = SmallVec::from_elem(false, shape.len());
        for k in axes.resolve(op, shape.len())? {
            reduced[k] = true;
        }
        let mut shape = Shape::from_slice(shape);
        let mut n = 1;
        for (size, _) in shape.iter_mut().zip(&reduced).filter(|(_, r)| **r) {
            n *= *size;
            *size = 1;
        }
        Ok(Reduced {
            op,
            reduced,
            keepdims,
            shape,
            n,
        })
    }
    /// Errors if the result has elements, but each would be chosen from none.
    pub fn expect_elements(&self, x: &[usize], dtype: DType) -> Result<()> {
        if self.n > 0 || self.shape.contains(&0) {
            return Ok(());
        }
        let empty = (0..x.len())
            .find(|k| self.reduced[*k] && x[*k] == 0)
            .unwrap_or(0);
        Err(Error::shape_of(
            self.op,
            message!("no identity for an empty reduction: axis {empty} has size 0"),
            &[("x", x, dtype)],
        ))
    }
    /// The number of elements that are reduced to one.
    pub fn n(&self) -> usize {
        self.n
    }
    pub fn is_reduced(&self, axis: usize) -> bool {
        self.reduced[axis]
    }
    /// The shape of the result.
    pub fn result_shape(&self) -> Shape {
        let mut shape = Shape::from_slice(&self.shape);
        if !self.keepdims {
            let mut reduced = self.reduced.iter();
            shape.retain(|_| reduced.next() == Some(&false));
        }
        shape
    }
    /// A tensor for the result, with unspecified values.
    pub fn result(&self, dtype: DType) -> Result<Tensor> {
        match self.keepdims {
            true => Tensor::empty(&self.shape, dtype),
            false => Tensor::empty(self.result_shape(), dtype),
        }
    }
    /// The result of a reduction whose values are of `dtype`.
    fn fold<F: Fold>(&self, x: &Tensor, dtype: DType, f: &F) -> Result<Tensor> {
        self.fold_of(None, x, dtype, f.into())
    }
    /// [`fold`](Reduced::fold) of the values that a program, if any, computes from the elements.
    fn fold_of(
        &self,
        program: Option<&TileProgram>,
        x: &Tensor,
        dtype: DType,
        f: FoldRef,
    ) -> Result<Tensor> {
        let mut out = self.result(dtype)?;
        let reduced = |k: usize| self.is_reduced(k);
        match program {
            None => fold(f, x.elements(), reduced, out.elements_mut()?)?,
            Some(p) => fold_computed(
                p,
                &[x.elements()],
                &Layout::of_result(x.shape(), [x.layout()].into_iter())?,
                reduced,
                &mut [End::new(f, out.elements_mut()?)],
            )?,
        }
        Ok(out)
    }
    /// Drops the reduced axes unless they are kept.
    fn squeeze(&self, out: Tensor) -> Result<Tensor> {
        if self.keepdims {
            return Ok(out);
        }
        let reduced = (0..self.reduced.len()).filter(|k| self.reduced[*k]);
        out.squeeze(reduced.collect::<SmallVec<[usize; 6]>>())
    }
}

/// A reduction of elements as a fold.
pub(crate) struct ElementFold<T, R>(pub PhantomData<(T, R)>);

// SAFETY: it holds no value of these types.
unsafe impl<T, R> Sync for ElementFold<T, R> {}

impl<T: Pod, R: Reduce<T>> Fold for ElementFold<T, R> {
    type In = T;
    type Acc = R::Acc;
    type Out = R::Out;
    fn runs(&self, x: &[T], n: usize, acc: &mut [R::Acc]) {
        R::runs_of_tile(x, n, acc)
    }
    fn rows(&self, x: &[T], stride: usize, rows: usize, acc: &mut [R::Acc]) {
        R::columns_of_tile(x, stride, rows, acc)
    }
    fn join(&self, a: &mut [R::Acc], b: &[R::Acc]) {
        R::join_tiles(a, b)
    }
    fn finish(&self, acc: &R::Acc, n: usize) -> R::Out {
        R::finish(*acc, n)
    }
}

/// `elements!(set, R, axes, x, dtype)`: the reduction `R` of a tensor whose dtype is in the set, to
/// values of `dtype`. With `program => from` before `x`, it reduces the values of dtype `from` that
/// the program, if any, computes from `x`.
macro_rules! elements {
    ($set:ident, $R:ident, $axes:expr, $x:expr, $dtype:expr) => {
        elements!($set, $R, $axes, None => $x.dtype(), $x, $dtype)
    };
    ($set:ident, $R:ident, $axes:expr, $program:expr => $from:expr, $x:expr, $dtype:expr) => {
        dispatch!($set $from, |T| $axes.fold_of($program, $x, $dtype, (&$crate::ops::reduce::ElementFold::<T, $R>(core::marker::PhantomData)).into()),
            else Err($crate::error::Error::unsupported($axes.op, $from)))
    };
}
use elements;

/// The elements of a contiguous tensor.
pub(crate) fn slice<T: Pod>(x: &Tensor) -> &[T] {
    assert!(x.dtype().size() == size_of::<T>());
    // an empty tensor's pointer need not be aligned
    if x.is_empty() {
        &[]
    } else {
        bytemuck::cast_slice(x.as_bytes())
    }
}

/// The elements of a contiguous tensor, for writing.
pub(crate) fn slice_mut<T: Pod>(y: &mut Tensor) -> Result<&mut [T]> {
    assert!(y.dtype().size() == size_of::<T>());
    Ok(if y.is_empty() {
        &mut []
    } else {
        bytemuck::cast_slice_mut(y.as_mut_bytes()?)
    })
}
