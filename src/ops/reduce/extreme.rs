//! The largest and the smallest elements, and their indices.

use super::{Reduced, ReductionAxes, elements};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::chunks::{Chunks, READ};
use crate::exec::lines::Lines;
use crate::fallible;
use crate::kernel::reduce::{Extreme, Key, Max, Min, is_better, positions, positions_of_columns};
use crate::layout::Shape;
use crate::ops::methods::method;
use crate::ops::take_along_axis;
use crate::par::{self, Cost};
use crate::tensor::Tensor;
use core::marker::PhantomData;

/// Finds extremes of elements passed as bytes, so that one driver serves all dtypes. The bytes are
/// aligned elements of its dtype.
trait Finder: Sync {
    /// The index of the first extreme of each line of `n > 0` elements.
    fn positions(&self, x: &[u8], n: usize, at: &mut [i64]);
    /// The same for columns of `n > 0` rows, `step` elements apart.
    fn positions_of_columns(&self, x: &[u8], n: usize, step: usize, at: &mut [i64]);
    /// Whether element `b` is more extreme than element `a`, or is NaN and `a` is not.
    fn beats(&self, x: &[u8], a: usize, b: usize) -> bool;
}
/// By the largest of keys with these bits flipped.
struct KeyFinder<K> {
    bits: i64,
    key: PhantomData<fn(K)>,
}
impl<K: Key> KeyFinder<K> {
    const fn new(bits: i64) -> KeyFinder<K> {
        KeyFinder {
            bits,
            key: PhantomData,
        }
    }
}
impl<K: Key> Finder for KeyFinder<K> {
    fn positions(&self, x: &[u8], n: usize, at: &mut [i64]) {
        positions::<K>(bytemuck::cast_slice(x), n, self.bits, at)
    }
    fn positions_of_columns(&self, x: &[u8], n: usize, step: usize, at: &mut [i64]) {
        positions_of_columns::<K>(bytemuck::cast_slice(x), n, step, self.bits, at)
    }
    fn beats(&self, x: &[u8], a: usize, b: usize) -> bool {
        is_better::<K>(bytemuck::cast_slice(x), a, b, self.bits)
    }
}
/// `finder!(op, R, x)`: the [`Finder`] for the dtype of `x`.
macro_rules! finder {
    ($op:expr, $R:ident, $x:expr) => {
        dispatch!(ordered $x.dtype(), |T| &const { KeyFinder::<<$R as Extreme<T>>::Key>::new(<$R as Extreme<T>>::FLIP) } as &dyn Finder,
            else return Err(Error::unsupported($op, $x.dtype())))
    };
}
method!(
    /// The largest element over axes (all for `()`), in the dtype of `x`; NaN propagates.
    ///
    /// Reduced axes are dropped, or kept with size 1: see [`ReductionAxes`]. Errors for complex
    /// numbers, over an axis of size 0 (unless the result is empty), and if an axis is out of range
    /// or repeated.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[3, 1], [2, 5]]);
    /// assert_eq!(x.max(1)?.to_vec::<i32>()?, [3, 5]);
    /// assert_eq!(ops::max(&x, ())?.item::<i32>()?, 5);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("amax", "max_dim", "max_all"))]
    pub fn max(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        max_of(x, over.into())
    }
);

fn max_of(x: &Tensor, over: ReductionAxes) -> Result<Tensor> {
    let axes = Reduced::new("max", x, over)?;
    axes.expect_elements(x.shape(), x.dtype())?;
    elements!(ordered, Max, axes, x, x.dtype())
}

method!(
    /// The smallest element; otherwise like [`max`].
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[3.0f32, f32::NAN], [2.0, 5.0]]);
    /// assert_eq!(x.min(0)?.to_vec::<f32>()?[0], 2.0);
    /// assert!(ops::min(&x, ())?.item::<f32>()?.is_nan());
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("amin", "min_dim", "min_all"))]
    pub fn min(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        min_of(x, over.into())
    }
);

fn min_of(x: &Tensor, over: ReductionAxes) -> Result<Tensor> {
    let axes = Reduced::new("min", x, over)?;
    axes.expect_elements(x.shape(), x.dtype())?;
    elements!(ordered, Min, axes, x, x.dtype())
}

method!(
    /// The index of the first largest element along an axis (for `()`, among all elements in
    /// row-major order), as int64. A NaN counts as the largest.
    ///
    /// The axis is dropped, or kept with size 1: see [`ReductionAxes`]. Errors like [`max`], and if
    /// several axes are given.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[3, 1], [5, 5]]);
    /// assert_eq!(x.argmax(1)?.to_vec::<i64>()?, [0, 0]);
    /// assert_eq!(ops::argmax(&x, ())?.item::<i64>()?, 2);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("argmax_axis"))]
    pub fn argmax(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        argmax_of(x, over.into())
    }
);

fn argmax_of(x: &Tensor, over: ReductionAxes) -> Result<Tensor> {
    const OP: &str = "argmax";
    Ok(search(OP, x, &over, false, finder!(OP, Max, x))?.1)
}

method!(
    /// The index of the first smallest element along an axis; otherwise like [`argmax`]. A NaN
    /// counts as the smallest.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[3, 1], [5, 5]]);
    /// assert_eq!(x.argmin(0)?.to_vec::<i64>()?, [0, 0]);
    /// assert_eq!(ops::argmin(&x, ())?.item::<i64>()?, 1);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("argmin_axis"))]
    pub fn argmin(x: &Tensor, over: impl Into<ReductionAxes>) -> Result<Tensor> {
        argmin_of(x, over.into())
    }
);

fn argmin_of(x: &Tensor, over: ReductionAxes) -> Result<Tensor> {
    const OP: &str = "argmin";
    Ok(search(OP, x, &over, false, finder!(OP, Min, x))?.1)
}

method!(
    /// The largest elements along an axis and the indices of their first occurrences: [`max`] and
    /// [`argmax`] in one, with their errors.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[3, 1], [5, 6]]);
    /// let (values, indices) = x.max_with_indices(1)?;
    /// assert_eq!((values.to_vec::<i32>()?, indices.to_vec::<i64>()?), (vec![3, 6], vec![0, 1]));
    /// let (values, indices) = ops::max_with_indices(&x, ())?;
    /// assert_eq!((values.item::<i32>()?, indices.item::<i64>()?), (6, 3));
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("max_dim_with_indices"))]
    pub fn max_with_indices(
        x: &Tensor,
        over: impl Into<ReductionAxes>,
    ) -> Result<(Tensor, Tensor)> {
        max_with_indices_of(x, over.into())
    }
);

fn max_with_indices_of(x: &Tensor, over: ReductionAxes) -> Result<(Tensor, Tensor)> {
    const OP: &str = "max_with_indices";
    search(OP, x, &over, true, finder!(OP, Max, x))
}

method!(
    /// The smallest elements along an axis and the indices of their first occurrences: [`min`] and
    /// [`argmin`] in one, with their errors.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[3, 1], [5, 6]]);
    /// let (values, indices) = x.min_with_indices(1)?;
    /// assert_eq!((values.to_vec::<i32>()?, indices.to_vec::<i64>()?), (vec![1, 5], vec![1, 0]));
    /// let (values, indices) = ops::min_with_indices(&x, ())?;
    /// assert_eq!((values.item::<i32>()?, indices.item::<i64>()?), (1, 1));
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("min_dim_with_indices"))]
    pub fn min_with_indices(
        x: &Tensor,
        over: impl Into<ReductionAxes>,
    ) -> Result<(Tensor, Tensor)> {
        min_with_indices_of(x, over.into())
    }
);

fn min_with_indices_of(x: &Tensor, over: ReductionAxes) -> Result<(Tensor, Tensor)> {
    const OP: &str = "min_with_indices";
    search(OP, x, &over, true, finder!(OP, Min, x))
}

/// The extremes along an axis and their indices; the values are an empty tensor unless wanted.
fn search(
    op: &'static str,
    x: &Tensor,
    over: &ReductionAxes,
    with_values: bool,
    finder: &dyn Finder,
) -> Result<(Tensor, Tensor)> {
    let size = x.dtype().size();
    let axis = over.axes.one(op, x.rank())?;
    let axes = Reduced::new(op, x, over.clone())?;
    axes.expect_elements(x.shape(), x.dtype())?;
    // without an axis, all elements are one line
    let line = if axis.is_none() {
        x.reshape(-1)?
    } else {
        x.clone()
    };
    let k = axis.unwrap_or(0);
    let mut shape = Shape::from_slice(line.shape());
    if let Some(n) = shape.get_mut(k) {
        *n = 1;
    }
    let mut values = Tensor::empty(if with_values { &shape[..] } else { &[0] }, x.dtype())?;
    let mut indices = Tensor::empty(&shape, DType::I64)?;
    let cost = Cost {
        bytes: axes.n * size,
        flops: axes.n,
    };
    let contiguous = line.is_contiguous() && k + 1 >= line.rank() && !line.is_empty();
    let long = Chunks::of_few(line.len(), axes.n, READ, 2).filter(|_| contiguous);
    if let Some(chunks) = long {
        let (x, found) = (line.as_bytes(), indices.as_mut_slice::<i64>()?);
        first_of_chunks(finder, x, size, chunks, found)?;
        if with_values {
            let found = found.iter().zip(x.chunks_exact(axes.n * size));
            let values = values.as_mut_bytes()?.chunks_exact_mut(size);
            for (v, (at, x)) in values.zip(found) {
                v.copy_from_slice(&x[*at as usize * size..][..size]);
            }
        }
    } else if contiguous && !with_values {
        let (x, n) = (line.as_bytes(), axes.n * size);
        par::split(indices.as_mut_slice::<i64>()?, 1, 1, cost, |r, found| {
            finder.positions(&x[r.start * n..r.end * n], axes.n, found)
        });
    } else if let Some(inner) = columns(&line, k, axes.n) {
        let x = line.as_bytes();
        par::split(
            indices.as_mut_slice::<i64>()?,
            1,
            ROW,
            cost,
            |r, mut found| {
                let mut first = r.start;
                while first < r.end {
                    let (outer, column) = (first / inner, first % inner);
                    let here = found
                        .split_off_mut(..(inner - column).min(r.end - first))
                        .unwrap_or_default();
                    let x = &x[(outer * axes.n * inner + column) * size..];
                    finder.positions_of_columns(x, axes.n, inner, here);
                    first += here.len();
                }
            },
        );
        if with_values {
            values = take_along_axis(&line, &indices, k as isize)?;
        }
    } else {
        let lines = Lines::new(line.shape(), k)
            .input(line.elements())
            .output(indices.elements_mut()?);
        dispatch_width!(size, |U| if with_values {
            lines.output(values.elements_mut()?).run(cost, |line| {
                let x: &[U] = line.input(0);
                let at = line.output::<i64>(0);
                finder.positions(bytemuck::cast_slice(x), x.len(), at);
                line.output::<U>(1)[0] = x[at[0] as usize];
            })?;
        } else {
            lines.run(cost, |line| {
                let x: &[U] = line.input(0);
                finder.positions(bytemuck::cast_slice(x), x.len(), line.output::<i64>(0))
            })?;
        })
    }
    let finish = |t: Tensor| -> Result<Tensor> {
        axes.squeeze(if axis.is_none() {
            t.reshape(&axes.shape)?
        } else {
            t
        })
    };
    let values = if with_values { finish(values)? } else { values };
    Ok((values, finish(indices)?))
}

/// The fewest elements of a row, and those that threads don't share, for columns to be searched side
/// by side.
const ROW: usize = 64;

/// The elements of a row, if lines along axis `k`, of `n` elements, are columns of long rows.
fn columns(x: &Tensor, k: usize, n: usize) -> Option<usize> {
    let inner = x.shape().get(k + 1..)?.iter().product();
    (x.is_contiguous() && inner >= ROW && !x.is_empty() && u32::try_from(n).is_ok())
        .then_some(inner)
}

/// The index of the first extreme of each contiguous line, by fixed chunks; an element has `size`
/// bytes.
fn first_of_chunks(
    finder: &dyn Finder,
    x: &[u8],
    size: usize,
    chunks: Chunks,
    to: &mut [i64],
) -> Result<()> {
    let mut found = fallible::filled(0i64, chunks.len())?;
    let cost = Cost {
        bytes: READ * size,
        flops: READ,
    };
    chunks.run(&mut found, &mut [(); 0], cost, |c, at, _| {
        let bytes = c.range.start * size..c.range.end * size;
        finder.positions(&x[bytes], c.range.len(), core::slice::from_mut(at));
        *at += c.range.start as i64;
    });
    let n = x.len() / size / to.len();
    let lines = found.chunks(chunks.per_line());
    let better = |a: i64, b: i64| {
        if finder.beats(x, a as usize, b as usize) {
            b
        } else {
            a
        }
    };
    for (k, (line, to)) in lines.zip(to).enumerate() {
        let best = line.iter().copied().reduce(better);
        *to = best.map_or(0, |at| at - (k * n) as i64);
    }
    Ok(())
}
