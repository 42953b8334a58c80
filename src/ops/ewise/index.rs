//! Functions of an element's index.

use super::lines::FLOPS;
use super::outputs::{Outputs, ResultPointers, Results};
use crate::error::{Error, Result};
use crate::layout::IntoShape;
use crate::par::{self, Cost};
use crate::simd::{self, Isa, Kernel};
use crate::tensor::Tensor;
use core::marker::PhantomData;
use core::ops::Range;

/// Tensors of a shape whose elements are computed from their index, an array with as many numbers
/// as the shape has dimensions. The function is called like that of [`ewise`](super::ewise).
///
/// Errors if the rank of the shape differs from the length of the index.
///
/// ```
/// use flex::ops::iwise;
/// let distance = iwise((2, 3), |[i, j]: [usize; 2]| i.abs_diff(j) as f32)?;
/// assert_eq!(distance.to_vec::<f32>()?, [0.0, 1.0, 2.0, 1.0, 0.0, 1.0]);
///
/// let (row, column) = iwise((2, 2), |[i, j]| (i as i64, j as i64))?;
/// assert_eq!((row.to_vec::<i64>()?, column.to_vec::<i64>()?), (vec![0, 0, 1, 1], vec![0, 1, 0, 1]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn iwise<const N: usize, R: Outputs>(
    shape: impl IntoShape,
    op: impl Fn([usize; N]) -> R + Sync,
) -> Result<R::Tensors> {
    let shape = shape.into_shape();
    let shape = shape.as_ref();
    let Ok(sizes) = <[usize; N]>::try_from(shape) else {
        return Err(Error::shape(
            "iwise",
            message!(
                "shape {shape:?} has {} dimensions, and the function takes an index of {N}",
                shape.len()
            ),
        ));
    };
    let mut results = Results::new();
    for dtype in R::DTYPES {
        results.push(Tensor::empty(shape, *dtype)?);
    }
    let cost = Cost {
        bytes: R::DTYPES.iter().map(|dtype| dtype.size()).sum(),
        flops: FLOPS,
    };
    let slots = ResultPointers::of(&mut results)?;
    par::ranges(sizes.iter().product(), 64, cost, |range| {
        simd::call(RowMajorRange {
            op: &op,
            sizes,
            pointers: R::pointers(slots.get()),
            range,
            results: PhantomData::<R>,
        })
    });
    Ok(R::tensors(results))
}

/// A range of elements in row-major order, with OUTPUT1 for it.
struct RowMajorRange<'a, const N: usize, R: Outputs, F> {
    op: &'a F,
    sizes: [usize; N],
    pointers: R::Pointers,
    range: Range<usize>,
    results: PhantomData<R>,
}
impl<const N: usize, R: Outputs, F: Fn([usize; N]) -> R> Kernel for RowMajorRange<'_, N, R, F> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let RowMajorRange {
            op,
            sizes,
            pointers,
            range,
            ..
        } = self;
        let width = sizes.last().copied().unwrap_or(1);
        let mut at = range.start;
        while at < range.end {
            // the index of `at`, and the number of elements left in its row
            let (mut index, mut rest) = ([0; N], at);
            for (i, size) in index.iter_mut().zip(&sizes).rev() {
                *i = rest % size;
                rest /= size;
            }
            let column = index.last().copied().unwrap_or(0);
            let n = (width - column).min(range.end - at);
            for k in 0..n {
                if let Some(last) = index.last_mut() {
                    *last = column + k;
                }
                // SAFETY: OUTPUT1: an element of the range.
                unsafe { op(index).put(pointers, at + k) };
            }
            at += n;
        }
    }
}
