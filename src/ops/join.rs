//! Joining, repeating and padding tensors. All of these copy.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::index::pad::{PadRows, PaddedAxis};
use crate::layout::{self, Axes, Int, IntoShape, Layout, Shape};
use crate::ops::methods::method;
use crate::par::{self, Cost};
use crate::scalar::Scalar;
use crate::simd::{self, stream};
use crate::tensor::Tensor;
use core::borrow::Borrow;
use smallvec::SmallVec;

/// The common dtype of all. Errors if there are no tensors, or no common dtype.
fn promoted<T: Borrow<Tensor>>(op: &'static str, tensors: &[T]) -> Result<DType> {
    let first = tensors
        .first()
        .ok_or_else(|| Error::value(op, "at least one tensor is needed"))?;
    tensors.iter().try_fold(first.borrow().dtype(), |d, t| {
        d.promote(t.borrow().dtype(), op)
    })
}

/// Joins tensors along an axis; for `()`, the flattened tensors. The result has their common dtype.
///
/// Errors if there are no tensors, sizes differ outside the axis, or there is no common dtype.
///
/// ```
/// use flex::{Tensor, ops};
/// let a = Tensor::from_slice(&[1, 2], [1, 2])?;
/// let b = Tensor::from_slice(&[3, 4, 5, 6], [2, 2])?;
/// assert_eq!(ops::concat(&[&a, &b], 0)?.to_vec::<i32>()?, [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), flex::Error>(())
/// ```
#[doc(alias("cat", "concatenate"))]
pub fn concat<T: Borrow<Tensor>>(tensors: &[T], axis: impl Into<Axes>) -> Result<Tensor> {
    const OP: &str = "concat";
    let dtype = promoted(OP, tensors)?;
    let first = tensors[0].borrow();
    match axis.into().one(OP, first.rank())? {
        Some(k) => joined(OP, tensors, k, dtype),
        None => joined(
            OP,
            &fallible::collect(tensors.iter().map(|t| t.borrow().reshape(-1)))?,
            0,
            dtype,
        ),
    }
}

/// Joins at least one tensor along dimension `k` of the first, in a dtype to which all convert.
fn joined<T: Borrow<Tensor>>(
    op: &'static str,
    tensors: &[T],
    k: usize,
    dtype: DType,
) -> Result<Tensor> {
    let first = tensors[0].borrow();
    let mut shape = Shape::from_slice(first.shape());
    shape[k] = 0;
    for t in tensors {
        let t: &Tensor = t.borrow();
        if t.rank() != first.rank() || (0..t.rank()).any(|d| d != k && t.shape()[d] != shape[d]) {
            let message = message!(
                "shapes {:?} and {:?} must be equal except along axis {k}",
                first.shape(),
                t.shape()
            );
            return Err(Error::shape(op, message));
        }
        shape[k] = shape[k]
            .checked_add(t.shape()[k])
            .ok_or_else(|| Error::shape(op, "the sum of the sizes exceeds the address space"))?;
    }
    let mut out = Tensor::empty(&shape, dtype)?;
    let rows: usize = shape[..k].iter().product();
    if rows > 1 && copy_rows(tensors, rows, &mut out)? {
        return Ok(out);
    }
    let (whole, mut start) = (out.layout().clone(), 0);
    for t in tensors {
        let t: &Tensor = t.borrow();
        let n = t.shape()[k];
        let part = whole.slice(k, start, 1, n);
        if t.dtype() == dtype {
            out.write(&part, t)?
        } else {
            out.write(&part, &t.astype(dtype)?)?
        }
        start += n;
    }
    Ok(out)
}

/// Fills `out` with `rows > 1` rows, each one of every tensor's rows after the other, so that it is
/// written from end to end. Returns false, with nothing done, for tensors that are not contiguous or of
/// other dtypes, rows that are few bytes, and results that are better written around caches.
fn copy_rows<T: Borrow<Tensor>>(tensors: &[T], rows: usize, out: &mut Tensor) -> Result<bool> {
    /// Shorter runs are copied by strides.
    const LEAST: usize = 64;
    let (dtype, len) = (out.dtype(), out.len() * out.dtype().size());
    let run = |t: &T| t.borrow().len() / rows * dtype.size();
    let fits = |t: &T| {
        let x: &Tensor = t.borrow();
        x.dtype() == dtype && x.is_contiguous() && run(t) >= LEAST
    };
    if !tensors.iter().all(fits) || stream::pays(len) {
        return Ok(false);
    }
    let parts: SmallVec<[&[u8]; 8]> = tensors.iter().map(|t| t.borrow().as_bytes()).collect();
    let row = len / rows;
    let cost = Cost {
        bytes: 2 * row,
        flops: 0,
    };
    par::split(out.as_mut_bytes()?, row, 1, cost, |range, mut to| {
        for k in range {
            for part in &parts {
                let n = part.len() / rows;
                let (here, rest) = to.split_at_mut(n);
                here.copy_from_slice(&part[k * n..][..n]);
                to = rest;
            }
        }
    });
    Ok(true)
}

/// Joins tensors of the same shape along a new axis, at this position of the result. The result has
/// their common dtype.
///
/// Errors if there are no tensors, shapes differ, or there is no common dtype.
///
/// ```
/// use flex::{Tensor, ops};
/// let a = Tensor::from_slice(&[1, 2], [2])?;
/// let b = Tensor::from_slice(&[3, 4], [2])?;
/// assert_eq!(ops::stack(&[a, b], -1)?.to_vec::<i32>()?, [1, 3, 2, 4]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn stack<T: Borrow<Tensor>>(tensors: &[T], axis: impl Int) -> Result<Tensor> {
    let axis = axis.wide();
    promoted("stack", tensors)?;
    let first = tensors[0].borrow().shape();
    if let Some(t) = tensors
        .iter()
        .map(Borrow::borrow)
        .find(|t: &&Tensor| t.shape() != first)
    {
        return Err(Error::shape(
            "stack",
            message!("shapes {first:?} and {:?} differ", t.shape()),
        ));
    }
    let axis = layout::axis("stack", axis, first.len() + 1)? as isize;
    let parts = fallible::collect(tensors.iter().map(|t| t.borrow().expand_dims(axis)))?;
    concat(&parts, axis)
}

method!(
    /// Repeats each element `count` times along an axis; for `()`, elements of the flattened `x`.
    /// Errors if the axis is out of range, or there is no memory.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.repeat(2, 0)?.to_vec::<i32>()?, [1, 2, 1, 2, 3, 4, 3, 4]);
    /// assert_eq!(ops::repeat(&x, 2, ())?.to_vec::<i32>()?, [1, 1, 2, 2, 3, 3, 4, 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("repeat_interleave"))]
    pub fn repeat(x: &Tensor, count: usize, axis: impl Into<Axes>) -> Result<Tensor> {
        match axis.into().one("repeat", x.rank())? {
            Some(k) => repeated(x, count, k),
            None => repeated(&x.reshape(-1)?, count, 0),
        }
    }
);

/// Repeats each element `count` times along dimension `k`.
fn repeated(x: &Tensor, count: usize, k: usize) -> Result<Tensor> {
    let mut shape = Shape::from_slice(x.shape());
    shape.insert(k + 1, count);
    Layout::contiguous(&shape)?; // a size beyond the address space is a memory error
    let repeated = x.expand_dims(k + 1)?.broadcast_to(&shape)?;
    shape.remove(k + 1);
    shape[k] *= count; // can't overflow: the layout above has as many elements
    repeated.reshape(shape)
}

method!(
    /// Repeats element `i` along an axis `counts[i]` times; a single count applies to all. For
    /// `()`, repeats elements of the flattened `x`.
    ///
    /// Errors if counts are not integers, are negative, have more than one dimension, or differ in
    /// number from the elements of the axis.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([1, 2, 3]);
    /// let counts = Tensor::from([2, 0, 1]);
    /// assert_eq!(x.repeat_counts(&counts, 0)?.to_vec::<i32>()?, [1, 1, 3]);
    /// assert_eq!(ops::repeat_counts(&x, &Tensor::from([2]), ())?.to_vec::<i32>()?, [1, 1, 2, 2, 3, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn repeat_counts(x: &Tensor, counts: &Tensor, axis: impl Into<Axes>) -> Result<Tensor> {
        const OP: &str = "repeat";
        let Some(k) = axis.into().one(OP, x.rank())? else {
            return repeat_counts(&x.reshape(-1)?, counts, 0);
        };
        let n = x.shape()[k];
        if !counts.dtype().is_integer() {
            return Err(Error::dtype(
                OP,
                message!("counts must be integers, not {}", counts.dtype()),
            ));
        }
        if counts.rank() > 1 || counts.len() != 1 && counts.len() != n {
            return Err(Error::shape(
                OP,
                message!(
                    "counts of shape {:?} for axis {k} of size {n}",
                    counts.shape()
                ),
            ));
        }
        let counts = counts.copy_once()?.into_dtype(DType::I64)?; // READ1
        let counts = counts.as_slice::<i64>()?;
        let sizes = counts.iter().map(|c| {
            usize::try_from(*c).map_err(|_| Error::value(OP, message!("count {c} is negative")))
        });
        let sizes = fallible::collect(sizes)?;
        if let [count] = sizes[..] {
            return repeated(x, count, k);
        }
        let total = sizes.iter().try_fold(0usize, |n, c| n.checked_add(*c));
        let mut positions = Tensor::empty([total.unwrap_or(usize::MAX)], DType::I64)?;
        let mut to = positions.as_mut_slice::<i64>()?;
        for (i, count) in sizes.into_iter().enumerate() {
            let (part, rest) = to.split_at_mut(count);
            part.fill(i as i64);
            to = rest;
        }
        super::take(x, &positions, k)
    }
);

method!(
    /// Repeats the whole of `x`, `counts[k]` times along dimension `k`. If shape and counts differ
    /// in length, the shorter is padded with ones in front. Errors if there is no memory.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([1, 2]);
    /// assert_eq!(x.tile(2)?.to_vec::<i32>()?, [1, 2, 1, 2]);
    /// assert_eq!(ops::tile(&x, (3, 2))?.shape(), [3, 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("repeat_dim"))]
    pub fn tile(x: &Tensor, counts: impl IntoShape) -> Result<Tensor> {
        let counts = counts.into_shape();
        let counts = counts.as_ref();
        let rank = x.rank().max(counts.len());
        let size = |k: usize| (k + x.rank()).checked_sub(rank).map_or(1, |k| x.shape()[k]);
        let count = |k: usize| {
            (k + counts.len())
                .checked_sub(rank)
                .map_or(1, |k| counts[k])
        };
        let once: Shape = (0..rank).flat_map(|k| [1, size(k)]).collect();
        let many: Shape = (0..rank).flat_map(|k| [count(k), size(k)]).collect();
        Layout::contiguous(&many)?;
        let repeated = x.reshape(once)?.broadcast_to(&many)?;
        repeated.reshape((0..rank).map(|k| count(k) * size(k)).collect::<Shape>())
    }
);

method!(
    /// Pads `x` with `widths[k]` elements of `value` before and after it along dimension `k`.
    ///
    /// Errors if there is not one pair of widths per dimension, or the value doesn't fit the dtype.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 2]]);
    /// assert_eq!(x.pad(&[(0, 0), (1, 2)], 9)?.to_vec::<i32>()?, [9, 1, 2, 9, 9]);
    /// assert_eq!(ops::pad(&x, &[(0, 1), (0, 0)], 0)?.to_vec::<i32>()?, [1, 2, 0, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn pad(x: &Tensor, widths: &[(usize, usize)], value: impl Into<Scalar>) -> Result<Tensor> {
        const OP: &str = "pad";
        let value = value.into().value(x.dtype(), OP)?;
        if widths.len() != x.rank() {
            return Err(Error::shape(
                OP,
                message!("{} pairs of widths for shape {:?}", widths.len(), x.shape()),
            ));
        }
        let sizes = x
            .shape()
            .iter()
            .zip(widths)
            .map(|(n, (a, b))| n.checked_add(*a).and_then(|n| n.checked_add(*b)));
        let shape = sizes
            .collect::<Option<Shape>>()
            .ok_or_else(|| Error::shape(OP, "the sum of the widths exceeds the address space"))?;
        let Some(last) = widths.iter().rposition(|w| *w != (0, 0)) else {
            return x.copy();
        };
        if x.is_empty() || shape.contains(&0) {
            return Tensor::filled(&shape, x.dtype(), &value);
        }
        // of a size that fits memory, so that no product of sizes below overflows
        let mut out = Tensor::empty(&shape[..], x.dtype())?;
        let inner: usize = x.shape()[last + 1..].iter().product();
        let axis = |k: usize, inner: usize| PaddedAxis {
            inside: x.shape()[k] * inner,
            before: widths[k].0 * inner,
            size: shape[k] * inner,
        };
        let row = axis(last, inner);
        let mut outer: SmallVec<[PaddedAxis; 6]> = SmallVec::new();
        for (k, pair) in widths[..last].iter().enumerate() {
            match outer.last_mut() {
                Some(around) if *pair == (0, 0) && around.size == around.inside => {
                    *around = PaddedAxis {
                        inside: around.inside * x.shape()[k],
                        before: 0,
                        size: around.size * x.shape()[k],
                    };
                }
                _ => outer.push(axis(k, 1)),
            }
        }
        let x = x.contiguous()?;
        dispatch_width!(x.dtype().size(), |U| {
            // SAFETY: a value holds an element of this width, aligned to 16 bytes; any bits are a
            // valid integer.
            let value = unsafe { (value.as_ptr() as *const U).read() };
            let x = bytemuck::cast_slice::<u8, U>(x.as_bytes());
            let y = bytemuck::cast_slice_mut::<u8, U>(out.as_mut_bytes()?);
            let cost = Cost {
                bytes: (row.inside + row.size) * size_of::<U>(),
                flops: row.size,
            };
            par::split(y, row.size, 1, cost, |rows, y| {
                simd::call(PadRows {
                    x,
                    y,
                    first: rows.start,
                    outer: &outer,
                    row,
                    value,
                })
            });
        });
        Ok(out)
    }
);
