//! Sorting, the order of positions, the first k, and searches. NaN comes last, ascending and
//! descending.

use crate::dtype::{DType, Element, Pod};
use crate::error::{Error, Result};
use crate::exec::lines::Lines;
use crate::kernel::sort::pack::{self, Packing};
use crate::kernel::sort::{self as kernel, Key, Ordered, Pair, Part};
use crate::layout;
use crate::par::{self, Cost};
use crate::tensor::Tensor;
use alloc::vec;
use alloc::vec::Vec;

/// Along which axis to sort, and which way. Made by `into` from the axis alone: ascending then.
///
/// ```
/// use flex::ops::Sort;
/// assert_eq!(Sort::from(-1), Sort { axis: -1, descending: false });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// The axis; negative ones count from the end.
    pub axis: isize,
    /// The largest first.
    pub descending: bool,
}
impl From<isize> for Sort {
    fn from(axis: isize) -> Sort {
        Sort {
            axis,
            descending: false,
        }
    }
}

/// The values of each line along an axis in ascending or descending order, of the shape and dtype
/// of `x`.
///
/// NaN comes last in both; -0 before +0 in ascending order. Equal values are alike, so every sort
/// is a stable one. Errors where the axis is out of range; complex dtypes have no order.
///
/// ```
/// use flex::{Tensor, ops::{self, Sort}};
/// let x = Tensor::from_slice(&[3.0f32, f32::NAN, 1.0, 2.0], 4)?;
/// assert_eq!(ops::sort(&x, -1)?.to_vec::<f32>()?[..3], [1.0, 2.0, 3.0]);
/// let y = ops::sort(&x, Sort { axis: -1, descending: true })?.to_vec::<f32>()?;
/// assert!(y[..3] == [3.0, 2.0, 1.0] && y[3].is_nan());
/// # Ok::<(), flex::Error>(())
/// ```
pub fn sort(x: &Tensor, how: impl Into<Sort>) -> Result<Tensor> {
    sort_of(x, how.into())
}

fn sort_of(x: &Tensor, how: Sort) -> Result<Tensor> {
    let Sort { axis, descending } = how;
    let (axis, _) = line("sort", x, axis)?;
    dispatch!(ordered x.dtype(), |T| sort_lines::<T>(x, axis, descending), else Err(Error::unsupported("sort", x.dtype())))
}

/// The positions that sort each line along an axis, as int64 of the shape of `x`: equal values (and
/// both zeros) keep their order, in descending order too, and NaN comes last.
///
/// Errors where the axis is out of range; complex dtypes have no order.
///
/// ```
/// use flex::{Tensor, ops::{self, Sort}};
/// let x = Tensor::from_slice(&[2, 1, 2, 3], 4)?;
/// assert_eq!(ops::argsort(&x, 0)?.to_vec::<i64>()?, [1, 0, 2, 3]);
/// assert_eq!(ops::argsort(&x, Sort { axis: 0, descending: true })?.to_vec::<i64>()?, [3, 0, 2, 1]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn argsort(x: &Tensor, how: impl Into<Sort>) -> Result<Tensor> {
    argsort_of(x, how.into())
}

fn argsort_of(x: &Tensor, how: Sort) -> Result<Tensor> {
    let Sort { axis, descending } = how;
    let (axis, k) = line("argsort", x, axis)?;
    Ok(Request {
        op: "argsort",
        axis,
        k,
        sorted: true,
        descending,
    }
    .run(x, false)?
    .1)
}

/// The sorted values and their positions: [`sort`] and [`argsort`] in one. -0 and +0 keep their
/// order.
///
/// ```
/// use flex::{Tensor, ops};
/// let x = Tensor::from_slice(&[2.0f32, 1.0], 2)?;
/// let (values, indices) = ops::sort_with_indices(&x, 0)?;
/// assert_eq!((values.to_vec::<f32>()?, indices.to_vec::<i64>()?), (vec![1.0, 2.0], vec![1, 0]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn sort_with_indices(x: &Tensor, how: impl Into<Sort>) -> Result<(Tensor, Tensor)> {
    sort_with_indices_of(x, how.into())
}

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

/// Along which axis [`topk`] looks, and for what. Made by `into` from the axis alone: the largest,
/// the best first.
///
/// ```
/// use flex::ops::TopK;
/// assert_eq!(TopK::from(0), TopK { axis: 0, ..Default::default() });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopK {
    /// The axis, by default the last; negative ones count from the end.
    pub axis: isize,
    /// Whether the largest are asked for, else the smallest.
    pub largest: bool,
    /// Whether the best comes first; in any order it takes less time.
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
impl From<isize> for TopK {
    fn from(axis: isize) -> TopK {
        TopK {
            axis,
            ..Default::default()
        }
    }
}

/// The `k` largest (or smallest) values of each line along an axis and their positions (int64). Of
/// equal values the one that comes earlier is better. NaN is taken last, as [`sort`] puts it,
/// whether the largest or the smallest are asked for.
///
/// Errors: `k` beyond the size of the axis; complex dtypes have no order.
///
/// ```
/// use flex::{Tensor, ops::{self, TopK}};
/// let x = Tensor::from_slice(&[1, 5, 3, 5], 4)?;
/// let (values, indices) = ops::topk(&x, 3, -1)?;
/// assert_eq!((values.to_vec::<i32>()?, indices.to_vec::<i64>()?), (vec![5, 5, 3], vec![1, 3, 2]));
/// let (least, _) = ops::topk(&x, 1, TopK { largest: false, ..Default::default() })?;
/// assert_eq!(least.item::<i32>()?, 1);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn topk(x: &Tensor, k: usize, how: impl Into<TopK>) -> Result<(Tensor, Tensor)> {
    topk_of(x, k, how.into())
}

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

/// Which end of a run of equal values a position is looked for at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Before the first that is equal.
    Left,
    /// After the last that is equal.
    Right,
}

/// For each of `values`, the position in `sorted` (one dimension, ascending, NaN last) where it
/// would be put in; int64. `sorter` holds the positions that sort it, where it is not sorted
/// itself, as [`argsort`] gives them.
///
/// Errors: `sorted` not of one dimension, a sorter of another length, dtypes without an order or a
/// common dtype.
///
/// ```
/// use flex::{Tensor, ops::{self, Side}};
/// let sorted = Tensor::from_slice(&[1.0f32, 2.0, 2.0, 4.0], [4])?;
/// let values = Tensor::from_slice(&[2.0f32, 5.0], [2])?;
/// assert_eq!(ops::searchsorted(&sorted, &values, Side::Left, None)?.to_vec::<i64>()?, [1, 4]);
/// assert_eq!(ops::searchsorted(&sorted, &values, Side::Right, None)?.to_vec::<i64>()?, [3, 4]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn searchsorted(
    sorted: &Tensor,
    values: &Tensor,
    side: Side,
    sorter: Option<&Tensor>,
) -> Result<Tensor> {
    const OP: &str = "searchsorted";
    if sorted.rank() != 1 {
        return Err(Error::shape(
            OP,
            message!(
                "the sorted tensor has shape {:?}; it must have one dimension",
                sorted.shape()
            ),
        ));
    }
    let dtype = sorted.dtype().promote(values.dtype(), OP)?;
    if let Some(s) = sorter.filter(|s| s.shape() != sorted.shape()) {
        return Err(Error::shape(
            OP,
            message!(
                "the sorter has shape {:?}, the sorted tensor {:?}",
                s.shape(),
                sorted.shape()
            ),
        ));
    }
    let sorted = match sorter {
        Some(s) => super::take(sorted, s, 0)?,
        None => sorted.clone(),
    };
    let (sorted, values) = (
        sorted.astype(dtype)?.contiguous()?,
        values.astype(dtype)?.contiguous()?,
    );
    let mut out = Tensor::empty(values.shape(), DType::I64)?;
    let cost = Cost {
        bytes: dtype.size() + 8,
        flops: 8 * (sorted.len().max(1).ilog2() as usize + 1),
    };
    let to = par::Out::new(out.as_mut_slice::<i64>()?);
    dispatch!(ordered dtype, |T| {
        let (sorted, values) = (sorted.as_slice::<T>()?, values.as_slice::<T>()?);
        par::ranges(values.len(), 64, cost, |r| {
            // SAFETY: OUT1: the ranges of two calls are disjoint.
            let out = unsafe { to.part(r.clone()) };
            kernel::search(sorted, &values[r], side == Side::Right, out)
        });
    }, else return Err(Error::unsupported(OP, dtype)));
    Ok(out)
}

/// The axis and its size. Errors where it is out of range, or the dtype has no order.
fn line(op: &'static str, x: &Tensor, axis: isize) -> Result<(usize, usize)> {
    let axis = layout::axis(op, axis, x.rank())?;
    if !dispatch!(ordered x.dtype(), |T| T::DTYPE == x.dtype(), else false) {
        return Err(Error::unsupported(op, x.dtype()));
    }
    Ok((axis, x.shape()[axis]))
}

/// About what sorting a line of `n` elements costs.
fn cost(n: usize, bytes: usize) -> Cost {
    Cost {
        bytes: n.saturating_mul(bytes),
        flops: n.saturating_mul(16 * (n.max(1).ilog2() as usize + 1)),
    }
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

fn sort_lines<T: Ordered>(x: &Tensor, axis: usize, descending: bool) -> Result<Tensor> {
    let (n, key) = (x.shape()[axis], of_size(size_of::<T::Key>()));
    let cost = cost(n, 4 * size_of::<T>());
    if are_few(x, n, cost) {
        return line_by_line(x, axis, x.dtype(), key, |from: &[T], to, scratch| {
            sort_line(from, descending, to, scratch)
        });
    }
    let mut out = Tensor::empty(x.shape(), x.dtype())?;
    let lines = Lines::new(x.shape(), axis)
        .input(x.elements())
        .output(out.elements_mut()?)
        .scratch(n, key);
    lines.run(cost, |line| {
        kernel::sort(
            line.input::<T>(0),
            descending,
            line.output::<T>(0),
            line.scratch(0),
        )
    })?;
    Ok(out)
}

/// Whether the lines are too few to keep the threads busy, so that each is better cut.
fn are_few(x: &Tensor, n: usize, cost: Cost) -> bool {
    n > 0 && x.len() / n < par::threads_for(cost)
}

/// Calls `f` with each line along the axis, its result and scratch of its length, one after the
/// other.
fn line_by_line<T: Ordered, R: Element, K: Pod>(
    x: &Tensor,
    axis: usize,
    dtype: DType,
    scratch: DType,
    f: impl Fn(&[T], &mut [R], &mut [K]),
) -> Result<Tensor> {
    let (n, last) = (x.shape()[axis], x.rank() as isize - 1);
    let x = x.moveaxis(axis, last)?.contiguous()?;
    let mut out = Tensor::empty(x.shape(), dtype)?;
    let mut scratch = Tensor::empty([n], scratch)?;
    assert!(scratch.dtype().size() == size_of::<K>());
    // SAFETY: fresh memory of `n` elements of this size (TENSOR1, STORAGE3), of which any bits are
    // values, aligned as a cache line.
    let scratch = unsafe { core::slice::from_raw_parts_mut(scratch.as_mut_ptr()? as *mut K, n) };
    for (x, out) in x
        .as_slice::<T>()?
        .chunks_exact(n)
        .zip(out.as_mut_slice::<R>()?.chunks_exact_mut(n))
    {
        f(x, out, scratch);
    }
    out.moveaxis(last, axis)?.contiguous()
}

/// Sorts one line on all threads.
fn sort_line<T: Ordered>(x: &[T], descending: bool, out: &mut [T], scratch: &mut [T::Key]) {
    let keys = kernel::as_keys(out);
    let to = par::Out::new(keys);
    par::ranges(
        x.len(),
        64,
        Cost {
            bytes: 2 * size_of::<T>(),
            flops: 4,
        },
        |r| {
            // SAFETY: OUT1: the ranges of two calls are disjoint.
            kernel::keys(&x[r.clone()], descending, unsafe { to.part(r) })
        },
    );
    sort_parts(Part::new(keys, scratch), |keys| {
        kernel::values::<T>(keys, descending)
    });
}

/// Sorts on all threads: what is partitioned is sorted by different threads. `done` gets what is
/// sorted, in parts.
fn sort_parts<K: Key>(whole: Part<K>, done: impl Fn(&mut [K]) + Sync) {
    // parts differ in size, so there are more than threads
    const PARTS: usize = 4;
    let n = whole.len();
    let threads = par::threads_for(cost(n, 4 * size_of::<K>()));
    let mut parts = vec![whole];
    while threads > 1 && parts.len() < PARTS * threads {
        let before = parts.len();
        let mut halves: Vec<_> = parts
            .iter()
            .map(|_| (Part::default(), Part::default()))
            .collect();
        let (from, to) = (par::Out::new(&mut parts), par::Out::new(&mut halves));
        par::chunks(
            before,
            Cost {
                bytes: 4 * size_of::<K>() * n / before,
                flops: 16 * n / before,
            },
            |k| {
                // SAFETY: OUT1: call `k` has part `k` of either alone.
                let (from, to) = unsafe { (from.part(k..k + 1), to.part(k..k + 1)) };
                to[0] = K::split(core::mem::take(&mut from[0]));
            },
        );
        parts = halves
            .into_iter()
            .flat_map(|(low, high)| [low, high])
            .filter(|p| !p.is_empty())
            .collect();
        if parts.len() == before {
            break;
        }
    }
    let of_part = cost(n / parts.len().max(1), 4 * size_of::<K>());
    let count = parts.len();
    let parts = par::Out::new(&mut parts);
    par::chunks(count, of_part, |k| {
        // SAFETY: OUT1: call `k` has part `k` alone.
        let part = unsafe { parts.part(k..k + 1) };
        done(core::mem::take(&mut part[0]).sort())
    });
}

/// The positions that sort one line, on all threads.
fn argsort_line<T: Ordered>(x: &[T], descending: bool, out: &mut [i64], scratch: &mut [i64]) {
    let packing = Packing::of_width(8 * size_of::<T>() as u32, x.len()).unwrap_or_else(|| {
        let (least, most) = extent(x, descending);
        Packing::new(least, most, x.len())
    });
    let cost = Cost {
        bytes: size_of::<T>() + 8,
        flops: 4,
    };
    let to = par::Out::new(&mut *out);
    par::ranges(x.len(), 64, cost, |r| {
        // SAFETY: OUT1: the ranges of two calls are disjoint.
        pack::pairs(&x[r.clone()], r.start, packing, descending, unsafe {
            to.part(r)
        })
    });
    sort_parts(Part::new(out, scratch), |_| ());
    pack::settle(x, packing, descending, out);
    let to = par::Out::new(out);
    par::ranges(x.len(), 64, cost, |r| {
        // SAFETY: OUT1: the ranges of two calls are disjoint.
        pack::positions(unsafe { to.part(r) }, packing)
    });
}

/// The least and the largest key of a line.
fn extent<T: Ordered>(x: &[T], descending: bool) -> (i64, i64) {
    const PIECES: usize = 64;
    let piece = x.len().div_ceil(PIECES).max(1 << 15);
    let mut of_pieces = [(i64::MAX, i64::MIN); PIECES];
    let to = par::Out::new(&mut of_pieces);
    par::chunks(
        x.len().div_ceil(piece),
        Cost {
            bytes: piece * size_of::<T>(),
            flops: 4 * piece,
        },
        |k| {
            // SAFETY: OUT1: call `k` has element `k` alone.
            let to = unsafe { to.part(k..k + 1) };
            to[0] = pack::extent(&x[k * piece..x.len().min((k + 1) * piece)], descending);
        },
    );
    of_pieces
        .into_iter()
        .fold((i64::MAX, i64::MIN), |(a, b), (c, d)| (a.min(c), b.max(d)))
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
    /// The positions of the first `k` of each line, in order if `sorted`, and the values there if
    /// asked for.
    fn run(&self, x: &Tensor, with_values: bool) -> Result<(Option<Tensor>, Tensor)> {
        let n = x.shape()[self.axis];
        if self.k == n && self.sorted && n > 0 {
            return dispatch!(ordered x.dtype(), |T| argsort_lines::<T>(x, self, with_values), else Err(Error::unsupported(self.op, x.dtype())));
        }
        let mut shape = layout::Shape::from_slice(x.shape());
        shape[self.axis] = self.k;
        let mut indices = Tensor::empty(&shape, DType::I64)?;
        let mut values = if with_values {
            Some(Tensor::empty(&shape, x.dtype())?)
        } else {
            None
        };
        if self.k > 0 {
            dispatch!(ordered x.dtype(), |T| if n as u64 <= 1 << 32 {
                first_lines::<T, <T as Ordered>::Pair>(x, self, values.as_mut(), &mut indices)?
            } else {
                first_lines::<T, i128>(x, self, values.as_mut(), &mut indices)?
            }, else return Err(Error::unsupported(self.op, x.dtype())));
        }
        Ok((values, indices))
    }
    /// The same with values.
    fn values_and_indices(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
        let (values, indices) = self.run(x, true)?;
        Ok((values.unwrap_or_else(|| indices.clone()), indices))
    }
}

fn argsort_lines<T: Ordered>(
    x: &Tensor,
    r: &Request,
    with_values: bool,
) -> Result<(Option<Tensor>, Tensor)> {
    let (
        n,
        Request {
            axis, descending, ..
        },
    ) = (x.shape()[r.axis], *r);
    let cost = cost(n, 4 * size_of::<T>() + 32);
    if are_few(x, n, cost) {
        let order = |from: &[T], to: &mut [i64], scratch: &mut [i64]| {
            argsort_line(from, descending, to, scratch)
        };
        let indices = line_by_line(x, axis, DType::I64, DType::I64, order)?;
        let values = if with_values {
            Some(super::take_along_axis(x, &indices, axis as isize)?)
        } else {
            None
        };
        return Ok((values, indices));
    }
    let mut indices = Tensor::empty(x.shape(), DType::I64)?;
    let mut values = if with_values {
        Some(Tensor::empty(x.shape(), x.dtype())?)
    } else {
        None
    };
    let mut lines = Lines::new(x.shape(), axis)
        .input(x.elements())
        .output(indices.elements_mut()?);
    if let Some(v) = &mut values {
        lines = lines.output(v.elements_mut()?);
    }
    lines.scratch(n, DType::I64).run(cost, |line| {
        let (from, indices) = (line.input::<T>(0), line.output::<i64>(0));
        argsort_line(from, descending, indices, line.scratch(0));
        if with_values {
            for (v, i) in line.output::<T>(1).iter_mut().zip(indices) {
                *v = from[*i as usize];
            }
        }
    })?;
    Ok((values, indices))
}

/// The first `k`, which are not all or not sorted.
fn first_lines<T: Ordered, P: Pair<T::Key>>(
    x: &Tensor,
    r: &Request,
    values: Option<&mut Tensor>,
    indices: &mut Tensor,
) -> Result<()> {
    let (
        n,
        Request {
            axis,
            k,
            sorted,
            descending,
            ..
        },
    ) = (x.shape()[r.axis], *r);
    let room = kernel::first_len(n, k);
    let with_values = values.is_some();
    let mut lines = Lines::new(x.shape(), axis)
        .input(x.elements())
        .output(indices.elements_mut()?);
    if let Some(v) = values {
        lines = lines.output(v.elements_mut()?);
    }
    let lines = lines.scratch(room.saturating_mul(2), of_size(size_of::<P>()));
    lines.run(
        Cost {
            bytes: n * size_of::<T>(),
            flops: n * 16,
        },
        |line| {
            let (from, indices) = (line.input::<T>(0), line.output::<i64>(0));
            let (pairs, scratch) = line.scratch::<P>(0).split_at_mut(room);
            kernel::first(from, k, descending, pairs, scratch);
            let best = &mut pairs[..k];
            if sorted {
                P::sort(Part::new(best, scratch));
            }
            for (p, i) in best.iter().zip(&mut *indices) {
                *i = p.position() as i64;
            }
            if with_values {
                for (v, i) in line.output::<T>(1).iter_mut().zip(indices) {
                    *v = from[*i as usize];
                }
            }
        },
    )
}
