//! The largest and the smallest element, and where it is.

use super::{Axes, elements, slice};
use crate::dtype::DType;
use crate::dtype::Pod;
use crate::error::{Error, Result};
use crate::exec::lines::Lines;
use crate::fallible;
use crate::kernel::reduce::{Extreme, Max, Min, position};
use crate::ops::sort::check_index_dtype;
use crate::par::{self, Cost, Out};
use crate::tensor::Tensor;
use alloc::vec;
use alloc::vec::Vec;

/// The largest element over `axes` (all where `None`), of the dtype of `x`; NaN where there is one.
///
/// Reduced axes go, or stay with size 1 with `keepdims`. Errors for complex numbers, over an axis of size 0 (where there is a result), and where an axis
/// is outside `x` or named twice.
///
/// ```
/// use flex::{Tensor, ops};
/// let x = Tensor::from_slice(&[3i32, 1, 2, 5], [2, 2])?;
/// assert_eq!(ops::max(&x, Some(&[1]), false)?.to_vec::<i32>()?, [3, 5]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn max(x: &Tensor, axes: Option<&[isize]>, keepdims: bool) -> Result<Tensor> {
    let axes = Axes::new("max", x, axes, keepdims)?;
    axes.expect_elements(x)?;
    elements!(ordered, Max, axes, x, x.dtype())
}

/// The smallest element; otherwise as [`max`].
///
/// ```
/// use flex::{Tensor, ops};
/// let x = Tensor::from_slice(&[3.0f32, f32::NAN, 2.0, 5.0], [2, 2])?;
/// let m = ops::min(&x, Some(&[1]), false)?.to_vec::<f32>()?;
/// assert!(m[0].is_nan() && m[1] == 2.0);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn min(x: &Tensor, axes: Option<&[isize]>, keepdims: bool) -> Result<Tensor> {
    let axes = Axes::new("min", x, axes, keepdims)?;
    axes.expect_elements(x)?;
    elements!(ordered, Min, axes, x, x.dtype())
}

/// Where the largest element along `axis` is first (of all elements in row-major order where `None`), as `index_dtype`, an
/// integer dtype. A NaN counts as the largest.
///
/// The axis goes (all do where it is `None`), or stays with size 1 with `keepdims`. Errors as for [`max`], and where
/// `index_dtype` is no integer dtype or cannot hold the last index.
///
/// ```
/// use flex::{DType, Tensor, ops};
/// let x = Tensor::from_slice(&[3i32, 1, 5, 5], [2, 2])?;
/// assert_eq!(ops::argmax(&x, Some(1), false, DType::I64)?.to_vec::<i64>()?, [0, 0]);
/// assert_eq!(ops::argmax(&x, None, false, DType::I32)?.item::<i32>()?, 2);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn argmax(x: &Tensor, axis: Option<isize>, keepdims: bool, index_dtype: DType) -> Result<Tensor> {
    Ok(dispatch!(ordered x.dtype(), |T| search::<T, Max>("argmax", x, axis, keepdims, index_dtype, false),
        else Err(Error::unsupported("argmax", x.dtype())))?
    .1)
}

/// Where the smallest element along `axis` is first; otherwise as [`argmax`]. A NaN counts as the smallest.
///
/// ```
/// use flex::{DType, Tensor, ops};
/// let x = Tensor::from_slice(&[3i32, 1, 5, 5], [2, 2])?;
/// assert_eq!(ops::argmin(&x, Some(0), false, DType::I64)?.to_vec::<i64>()?, [0, 0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn argmin(x: &Tensor, axis: Option<isize>, keepdims: bool, index_dtype: DType) -> Result<Tensor> {
    Ok(dispatch!(ordered x.dtype(), |T| search::<T, Min>("argmin", x, axis, keepdims, index_dtype, false),
        else Err(Error::unsupported("argmin", x.dtype())))?
    .1)
}

/// The largest elements along `axis` and where they are first: [`max`] and [`argmax`] in one.
///
/// ```
/// use flex::{DType, Tensor, ops};
/// let x = Tensor::from_slice(&[3i32, 1, 5, 6], [2, 2])?;
/// let (values, indices) = ops::max_with_indices(&x, Some(1), false, DType::I64)?;
/// assert_eq!((values.to_vec::<i32>()?, indices.to_vec::<i64>()?), (vec![3, 6], vec![0, 1]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn max_with_indices(x: &Tensor, axis: Option<isize>, keepdims: bool, index_dtype: DType) -> Result<(Tensor, Tensor)> {
    dispatch!(ordered x.dtype(), |T| search::<T, Max>("max_with_indices", x, axis, keepdims, index_dtype, true),
        else Err(Error::unsupported("max_with_indices", x.dtype())))
}

/// The smallest elements along `axis` and where they are first: [`min`] and [`argmin`] in one.
///
/// ```
/// use flex::{DType, Tensor, ops};
/// let x = Tensor::from_slice(&[3i32, 1, 5, 6], [2, 2])?;
/// let (values, indices) = ops::min_with_indices(&x, None, false, DType::I64)?;
/// assert_eq!((values.item::<i32>()?, indices.item::<i64>()?), (1, 1));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn min_with_indices(x: &Tensor, axis: Option<isize>, keepdims: bool, index_dtype: DType) -> Result<(Tensor, Tensor)> {
    dispatch!(ordered x.dtype(), |T| search::<T, Min>("min_with_indices", x, axis, keepdims, index_dtype, true),
        else Err(Error::unsupported("min_with_indices", x.dtype())))
}

/// A single line of at least two such chunks is searched on all threads.
const CHUNK: usize = 1 << 15;

/// The extremes along an axis and their indices; the values are left empty where they are not wanted.
fn search<T: Pod, R: Extreme<T>>(
    op: &'static str,
    x: &Tensor,
    axis: Option<isize>,
    keepdims: bool,
    index_dtype: DType,
    with_values: bool,
) -> Result<(Tensor, Tensor)> {
    let named = axis.map(|a| [a]);
    let axes = Axes::new(op, x, named.as_ref().map(|a| &a[..]), keepdims)?;
    check_index_dtype(op, index_dtype, axes.n)?;
    axes.expect_elements(x)?;
    // all elements are one line
    let line = if axis.is_none() { x.reshape(&[-1])? } else { x.clone() };
    let k = (0..line.rank()).find(|k| axis.is_none() || axes.reduced[*k]).unwrap_or(0);
    let mut shape = crate::layout::Shape::from_slice(line.shape());
    if let Some(n) = shape.get_mut(k) {
        *n = 1;
    }
    let mut values = Tensor::empty(if with_values { &shape } else { &[0] }, x.dtype())?;
    let mut indices = Tensor::empty(&shape, DType::I64)?;
    let cost = Cost { bytes: axes.n * size_of::<T>(), flops: axes.n };
    if line.len() == axes.n && axes.n >= 2 * CHUNK && line.is_contiguous() {
        let at = first_of_chunks::<T, R>(&line, cost)?;
        indices.as_mut_slice::<i64>()?[0] = at as i64;
        if with_values {
            values = line.reshape(&[-1])?.narrow(0, at, 1)?.copy()?.reshape(&vec![1; line.rank()])?;
        }
    } else if !with_values && line.is_contiguous() && k + 1 == line.rank() && !line.is_empty() {
        let (x, n, found) = (slice::<T>(&line), axes.n, Out::new(indices.as_mut_slice::<i64>()?));
        par::ranges(x.len() / n, 1, cost, |r| {
            let lines = x[r.start * n..r.end * n].chunks_exact(n);
            // SAFETY: OUT1: ranges don't overlap.
            unsafe { found.part(r) }.iter_mut().zip(lines).for_each(|(i, x)| *i = position::<T, R>(x) as i64);
        });
    } else {
        let lines = Lines::new(line.shape(), k).input(line.elements()).output(indices.elements_mut()?);
        if with_values {
            lines.output(values.elements_mut()?).run(cost, |line| {
                let x: &[T] = line.input(0);
                let at = position::<T, R>(x);
                line.output::<i64>(0)[0] = at as i64;
                line.output::<T>(1)[0] = x[at];
            })?;
        } else {
            lines.run(cost, |line| line.output::<i64>(0)[0] = position::<T, R>(line.input(0)) as i64)?;
        }
    }
    let finish = |t: Tensor| -> Result<Tensor> {
        let shape: Vec<isize> = axes.shape.iter().map(|n| *n as isize).collect();
        axes.squeeze(if axis.is_none() { t.reshape(&shape)? } else { t })
    };
    let values = if with_values { finish(values)? } else { values };
    Ok((values, finish(indices)?.into_dtype(index_dtype)?))
}

/// Where the extreme of a contiguous line is first, by fixed chunks.
fn first_of_chunks<T: Pod, R: Extreme<T>>(line: &Tensor, cost: Cost) -> Result<usize> {
    let x: &[T] = slice(line);
    let n = x.len().div_ceil(CHUNK);
    let mut found = fallible::filled(0, n)?;
    let out = Out::new(&mut found);
    par::chunks(n, Cost { bytes: cost.bytes / n, flops: cost.flops / n }, |k| {
        let chunk = &x[k * CHUNK..x.len().min((k + 1) * CHUNK)];
        // SAFETY: OUT1: each chunk has its own element.
        unsafe { out.part(k..k + 1)[0] = k * CHUNK + position::<T, R>(chunk) }
    });
    let best = found.iter().copied().reduce(|a, b| if R::beats(R::lift(x[b]), R::lift(x[a])) { b } else { a });
    Ok(best.unwrap_or(0))
}
