//! Sorting, the order of positions, the first k, and searches. NaN comes last, ascending and descending.

use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::exec::lines::Lines;
use crate::exec::par::{self, Cost};
use crate::kernel::sort::{self as kernel, Ordered, Pair};
use crate::layout;
use crate::tensor::Tensor;
use alloc::format;

/// The values of each line along `axis` in ascending or descending order.
///
/// NaN comes last in both; -0 before +0 in ascending order. `stable` changes nothing: equal values are alike.
/// Errors: complex dtypes have no order.
///
/// ```
/// use flex::{Tensor, ops};
/// let x = Tensor::from_slice(&[3.0f32, f32::NAN, 1.0, 2.0], [4])?;
/// let y = ops::sort(&x, -1, true, false)?.to_vec::<f32>()?;
/// assert!(y[..3] == [3.0, 2.0, 1.0] && y[3].is_nan());
/// # Ok::<(), flex::Error>(())
/// ```
pub fn sort(x: &Tensor, axis: isize, descending: bool, _stable: bool) -> Result<Tensor> {
    let (axis, _) = line("sort", x, axis)?;
    let mut out = Tensor::empty(x.shape(), x.dtype())?;
    dispatch!(ordered x.dtype(), |T| sort_lines::<T>(x, axis, descending, &mut out)?, else return Err(Error::unsupported("sort", x.dtype())));
    Ok(out)
}

/// The positions that sort each line along `axis`: equal values (and both zeros) keep their order, in descending order too, and
/// NaN comes last. `index_dtype` is an integer dtype that holds the positions.
///
/// Errors: complex dtypes have no order; an index dtype too small for the line.
///
/// ```
/// use flex::{DType, Tensor, ops};
/// let x = Tensor::from_slice(&[2, 1, 2, 3], [4])?;
/// assert_eq!(ops::argsort(&x, 0, true, true, DType::I64)?.to_vec::<i64>()?, [3, 0, 2, 1]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn argsort(x: &Tensor, axis: isize, descending: bool, _stable: bool, index_dtype: DType) -> Result<Tensor> {
    let (axis, k) = line("argsort", x, axis)?;
    Ok(Request { op: "argsort", axis, k, sorted: true, descending }.run(x, false, index_dtype)?.1)
}

/// The sorted values and their positions: [`sort`] and [`argsort`] in one. -0 and +0 keep their order.
///
/// ```
/// use flex::{DType, Tensor, ops};
/// let x = Tensor::from_slice(&[2.0f32, 1.0], [2])?;
/// let (values, indices) = ops::sort_with_indices(&x, 0, false, true, DType::I64)?;
/// assert_eq!((values.to_vec::<f32>()?, indices.to_vec::<i64>()?), (vec![1.0, 2.0], vec![1, 0]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn sort_with_indices(x: &Tensor, axis: isize, descending: bool, _stable: bool, index_dtype: DType) -> Result<(Tensor, Tensor)> {
    let (axis, k) = line("sort", x, axis)?;
    Request { op: "sort", axis, k, sorted: true, descending }.values_and_indices(x, index_dtype)
}

/// The `k` largest (or smallest) values of each line along `axis` and their positions; with `sorted`, the best first. Of equal
/// values the one that comes earlier is better. NaN is taken last, as [`sort`] puts it, whether the largest or the smallest are asked for.
///
/// Errors: `k` beyond the size of the axis; complex dtypes have no order.
///
/// ```
/// use flex::{DType, Tensor, ops};
/// let x = Tensor::from_slice(&[1, 5, 3, 5], [4])?;
/// let (values, indices) = ops::topk(&x, 3, -1, true, true, DType::I64)?;
/// assert_eq!((values.to_vec::<i32>()?, indices.to_vec::<i64>()?), (vec![5, 5, 3], vec![1, 3, 2]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn topk(x: &Tensor, k: usize, axis: isize, largest: bool, sorted: bool, index_dtype: DType) -> Result<(Tensor, Tensor)> {
    let (axis, n) = line("topk", x, axis)?;
    if k > n {
        return Err(Error::value("topk", format!("k is {k}, but axis {axis} has {n} elements")));
    }
    Request { op: "topk", axis, k, sorted, descending: largest }.values_and_indices(x, index_dtype)
}

/// Which end of a run of equal values a position is looked for at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Before the first that is equal.
    Left,
    /// After the last that is equal.
    Right,
}

/// For each of `values`, the position in `sorted` (one dimension, ascending, NaN last) where it would be put in; int64.
/// `sorter` holds the positions that sort it, where it is not sorted itself, as [`argsort`] gives them.
///
/// Errors: `sorted` not of one dimension, a sorter of another length, dtypes without an order or a common dtype.
///
/// ```
/// use flex::{Tensor, ops::{self, Side}};
/// let sorted = Tensor::from_slice(&[1.0f32, 2.0, 2.0, 4.0], [4])?;
/// let values = Tensor::from_slice(&[2.0f32, 5.0], [2])?;
/// assert_eq!(ops::searchsorted(&sorted, &values, Side::Left, None)?.to_vec::<i64>()?, [1, 4]);
/// assert_eq!(ops::searchsorted(&sorted, &values, Side::Right, None)?.to_vec::<i64>()?, [3, 4]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn searchsorted(sorted: &Tensor, values: &Tensor, side: Side, sorter: Option<&Tensor>) -> Result<Tensor> {
    const OP: &str = "searchsorted";
    if sorted.rank() != 1 {
        return Err(Error::shape(OP, format!("the sorted tensor has shape {:?}; it must have one dimension", sorted.shape())));
    }
    let dtype = sorted.dtype().promote(values.dtype(), OP)?;
    if let Some(s) = sorter.filter(|s| s.shape() != sorted.shape()) {
        return Err(Error::shape(OP, format!("a sorter of shape {:?} for {:?} values", s.shape(), sorted.shape())));
    }
    let sorted = match sorter {
        Some(s) => super::take(sorted, s, Some(0))?,
        None => sorted.clone(),
    };
    let (sorted, values) = (sorted.astype(dtype)?.contiguous()?, values.astype(dtype)?.contiguous()?);
    let mut out = Tensor::empty(values.shape(), DType::I64)?;
    let cost = Cost { bytes: dtype.size() + 8, flops: 8 * (sorted.len().max(1).ilog2() as usize + 1) };
    let to = par::Out::new(out.as_mut_slice::<i64>()?);
    dispatch!(ordered dtype, |T| {
        let (sorted, values) = (sorted.as_slice::<T>()?, values.as_slice::<T>()?);
        par::ranges(values.len(), 64, cost, |r| {
            // SAFETY: O1: ranges are disjoint.
            let out = unsafe { to.part(r.clone()) };
            kernel::search(sorted, &values[r], side == Side::Right, out)
        });
    }, else return Err(Error::unsupported(OP, dtype)));
    Ok(out)
}

/// Errors where the dtype holds no positions of a line of `n`.
pub(super) fn check_index_dtype(op: &'static str, dtype: DType, n: usize) -> Result<()> {
    if !dtype.is_integer() {
        return Err(Error::dtype(op, format!("positions are integers, not {dtype}")));
    }
    let bits = 8 * dtype.size() as u32 - dtype.is_signed() as u32;
    if n > 0 && (n as u64 - 1).checked_shr(bits).is_some_and(|over| over > 0) {
        return Err(Error::value(op, format!("{dtype} does not hold the positions of {n} elements")));
    }
    Ok(())
}

/// The axis and its size. Errors where it is out of range, or the dtype has no order.
fn line(op: &'static str, x: &Tensor, axis: isize) -> Result<(usize, usize)> {
    let axis = layout::axis(op, axis, x.rank())?;
    if !dispatch!(ordered x.dtype(), |T| T::DTYPE == x.dtype(), else false) {
        return Err(Error::unsupported(op, x.dtype()));
    }
    Ok((axis, x.shape()[axis]))
}

/// About what sorting `n` elements costs.
fn cost(n: usize, bytes: usize) -> Cost {
    Cost { bytes: n.saturating_mul(bytes), flops: n.saturating_mul(n.max(1).ilog2() as usize + 1) }
}

/// A dtype of this size, for scratch.
fn of_size(bytes: usize) -> DType {
    match bytes {
        1 => DType::I8,
        2 => DType::I16,
        4 => DType::I32,
        8 => DType::I64,
        _ => DType::Complex128,
    }
}

fn sort_lines<T: Ordered>(x: &Tensor, axis: usize, descending: bool, out: &mut Tensor) -> Result<()> {
    let n = x.shape()[axis];
    let room = n.saturating_add(kernel::scratch_len(n));
    let lines = Lines::new(x.shape(), axis).input(x).output(out)?.scratch(room, of_size(size_of::<T::Key>()));
    lines.run(cost(n, 2 * size_of::<T>()), |line| {
        let (keys, scratch) = line.scratch::<T::Key>(0).split_at_mut(n);
        kernel::sort(line.input::<T>(0), descending, line.output::<T>(0), keys, scratch)
    })
}

/// Which positions of each line are asked for.
#[derive(Clone, Copy)]
struct Request {
    op: &'static str,
    axis: usize,
    k: usize,
    sorted: bool,
    descending: bool,
}

impl Request {
    /// The positions of the first `k` of each line, in order if `sorted`, and the values there if asked for.
    fn run(&self, x: &Tensor, with_values: bool, index_dtype: DType) -> Result<(Option<Tensor>, Tensor)> {
        let n = x.shape()[self.axis];
        check_index_dtype(self.op, index_dtype, n)?;
        let mut shape = layout::Shape::from_slice(x.shape());
        shape[self.axis] = self.k;
        let mut indices = Tensor::empty(&shape, DType::I64)?;
        let mut values = if with_values { Some(Tensor::empty(&shape, x.dtype())?) } else { None };
        if self.k > 0 {
            dispatch!(ordered x.dtype(), |T| if n as u64 <= 1 << 32 {
                order_lines::<T, <T as Ordered>::Pair>(x, self, values.as_mut(), &mut indices)?
            } else {
                order_lines::<T, i128>(x, self, values.as_mut(), &mut indices)?
            }, else return Err(Error::unsupported(self.op, x.dtype())));
        }
        Ok((values, indices.astype(index_dtype)?))
    }
    /// The same with values.
    fn values_and_indices(&self, x: &Tensor, index_dtype: DType) -> Result<(Tensor, Tensor)> {
        let (values, indices) = self.run(x, true, index_dtype)?;
        Ok((values.unwrap_or_else(|| indices.clone()), indices))
    }
}

fn order_lines<T: Ordered, P: Pair<T::Key>>(x: &Tensor, r: &Request, values: Option<&mut Tensor>, indices: &mut Tensor) -> Result<()> {
    let (n, Request { axis, k, sorted, descending, .. }) = (x.shape()[r.axis], *r);
    let whole = k == n && sorted;
    let room = if whole { n } else { kernel::first_len(n, k) };
    let with_values = values.is_some();
    let mut lines = Lines::new(x.shape(), axis).input(x).output(indices)?;
    if let Some(v) = values {
        lines = lines.output(v)?;
    }
    let lines = lines.scratch(room.saturating_add(kernel::scratch_len(k)), of_size(size_of::<P>()));
    lines.run(cost(n, size_of::<T>() + size_of::<P>()), |line| {
        let (from, indices) = (line.input::<T>(0), line.output::<i64>(0));
        let (pairs, scratch) = line.scratch::<P>(0).split_at_mut(room);
        if whole {
            kernel::pairs(from, descending, pairs);
        } else {
            kernel::first(from, 0, k, descending, pairs);
        }
        let best = &mut pairs[..k];
        if sorted {
            P::sort(best, scratch);
        }
        kernel::positions::<T::Key, P>(best, indices);
        if with_values {
            for (v, i) in line.output::<T>(1).iter_mut().zip(indices) {
                *v = from[*i as usize];
            }
        }
    })
}
