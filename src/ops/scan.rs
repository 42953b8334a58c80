//! Scans along an axis: cumulative sum, product, maximum and minimum; and differences, which invert
//! the sum.

use super::reduce::{accumulated, accumulator, slice, slice_mut};
use crate::dtype::{DType, Pod};
use crate::error::{Error, Result};
use crate::exec::chunks::{Chunk, Chunks};
use crate::exec::lines::Lines;
use crate::fallible;
use crate::kernel::elementwise::{Row, rows};
use crate::kernel::reduce::{Max, Min, Prod, Reduce, Sum};
use crate::kernel::scan::{ByLanes, CHUNK, Exact, Scan, step};
use crate::layout::{self, Axes, Int, Shape};
use crate::ops;
use crate::ops::methods::method;
use crate::par::{self, Cost, Out};
use crate::tensor::Tensor;
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// The scan `R` for sums and products: integers and bool in 64 bits, 16-bit floats in float32.
macro_rules! numbers {
    ($R:ident, $op:literal, $x:expr, $axis:expr, $initial:expr) => {{
        let x = $x.astype(accumulator($x.dtype()).wide())?;
        let unsupported = || Err(Error::unsupported($op, x.dtype()));
        #[cfg(feature = "i64")] // integers wrap, signed and unsigned alike
        let integers = || if x.dtype().is_integer() { scan::<i64, Exact<$R>>(&x, $axis, $initial) } else { unsupported() };
        #[cfg(not(feature = "i64"))]
        let integers = unsupported;
        dispatch!(float x.dtype(), |T| scan::<T, ByLanes<$R>>(&x, $axis, $initial), else
            dispatch!(complex x.dtype(), |T| scan::<T, crate::kernel::scan::InOrder<$R>>(&x, $axis, $initial), else integers()))
    }};
}

/// The scan `R` for extremes: 16-bit floats in float32, which holds them exactly, bool as 0 and 1.
macro_rules! extremes {
    ($R:ident, $op:literal, $x:expr, $axis:expr) => {{
        let (x, dtype, axis) = ($x, $x.dtype(), $axis);
        let y = if dtype.is_bool() { x.astype(DType::U8)? } else { x.astype(dtype.wide())? };
        let y = dispatch!(float y.dtype(), |T| scan::<T, ByLanes<$R>>(&y, axis, false), else
            dispatch!(integer y.dtype(), |T| scan::<T, Exact<$R>>(&y, axis, false), else Err(Error::unsupported($op, dtype))))?;
        if dtype.is_bool() { y.bitcast(dtype) } else { y.astype(dtype) }
    }};
}

/// The axis and options of [`cumulative_sum`] and [`cumulative_prod`]. `into` makes them from the
/// axis alone.
///
/// ```
/// use flex::ops::Cumulative;
/// assert_eq!(Cumulative::from(1), Cumulative { axis: 1.into(), dtype: None, include_initial: false });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cumulative {
    /// The axis; [`Axes::ALL`] is accepted if there is only one.
    pub axis: Axes,
    /// The dtype of the result; by default that of [`sum`](crate::ops::sum()).
    pub dtype: Option<DType>,
    /// Whether the result starts with the value of no elements, so that the axis is longer by one.
    pub include_initial: bool,
}
impl<A: Into<Axes>> From<A> for Cumulative {
    fn from(axis: A) -> Cumulative {
        Cumulative {
            axis: axis.into(),
            dtype: None,
            include_initial: false,
        }
    }
}

method!(
    /// The cumulative sum along an axis: of the shape of `x`, with the dtypes of
    /// [`sum`](crate::ops::sum()). The axis may be `()` if there is only one.
    ///
    /// Sums of floats are those of adding in order, up to rounding: of numbers that are not negative
    /// they never decrease, and those of the first elements don't depend on the others.
    ///
    /// Errors if the axis is out of range, or `()` for several axes, and for a dtype of bool.
    ///
    /// ```
    /// use flex::{Tensor, ops::{self, Cumulative}};
    /// let x = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.cumulative_sum(0)?.to_vec::<i64>()?, [1, 2, 4, 6]);
    /// let from_zero = Cumulative { include_initial: true, ..1.into() };
    /// assert_eq!(ops::cumulative_sum(&x, from_zero)?.to_vec::<i64>()?, [0, 1, 3, 0, 3, 7]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("cumsum"))]
    pub fn cumulative_sum(x: &Tensor, how: impl Into<Cumulative>) -> Result<Tensor> {
        cumulative_sum_of(x, &how.into())
    }
);

fn cumulative_sum_of(x: &Tensor, how: &Cumulative) -> Result<Tensor> {
    let (x, axis, dtype) = prepare("cumulative_sum", x, how)?;
    if let Some(y) = narrow_columns(&rows::Add::ROW, &x, axis, how, dtype)? {
        return Ok(y);
    }
    numbers!(Sum, "cumulative_sum", &x, axis, how.include_initial)?.astype(dtype)
}

method!(
    /// The cumulative product along an axis; otherwise like [`cumulative_sum`]. The initial value
    /// is 1.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([1.0f32, 2.0, 3.0]);
    /// assert_eq!(x.cumulative_prod(0)?.to_vec::<f32>()?, [1.0, 2.0, 6.0]);
    /// assert_eq!(ops::cumulative_prod(&x, ())?.to_vec::<f32>()?, [1.0, 2.0, 6.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("cumprod"))]
    pub fn cumulative_prod(x: &Tensor, how: impl Into<Cumulative>) -> Result<Tensor> {
        cumulative_prod_of(x, &how.into())
    }
);

fn cumulative_prod_of(x: &Tensor, how: &Cumulative) -> Result<Tensor> {
    let (x, axis, dtype) = prepare("cumulative_prod", x, how)?;
    if let Some(y) = narrow_columns(&rows::Multiply::ROW, &x, axis, how, dtype)? {
        return Ok(y);
    }
    numbers!(Prod, "cumulative_prod", &x, axis, how.include_initial)?.astype(dtype)
}

method!(
    /// The cumulative maximum along an axis, of the shape and dtype of `x`; NaN from the first NaN
    /// on. The axis may be `()` if there is only one.
    ///
    /// Errors for complex numbers, and if the axis is out of range, or `()` for several axes.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([1i8, 3, 2]);
    /// assert_eq!(x.cumulative_max(0)?.to_vec::<i8>()?, [1, 3, 3]);
    /// assert_eq!(ops::cumulative_max(&x, ())?.to_vec::<i8>()?, [1, 3, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("cummax"))]
    pub fn cumulative_max(x: &Tensor, axis: impl Into<Axes>) -> Result<Tensor> {
        cumulative_max_of(x, &axis.into())
    }
);

fn cumulative_max_of(x: &Tensor, axis: &Axes) -> Result<Tensor> {
    extremes!(
        Max,
        "cumulative_max",
        x,
        the_axis("cumulative_max", x, axis)?
    )
}

method!(
    /// The cumulative minimum along an axis; otherwise like [`cumulative_max`].
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// assert_eq!(Tensor::from([3, 1, 2]).cumulative_min(0)?.to_vec::<i32>()?, [3, 1, 1]);
    /// let x = Tensor::from([2.0f32, f32::NAN, 1.0]);
    /// assert!(ops::cumulative_min(&x, ())?.to_vec::<f32>()?[2].is_nan());
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("cummin"))]
    pub fn cumulative_min(x: &Tensor, axis: impl Into<Axes>) -> Result<Tensor> {
        cumulative_min_of(x, &axis.into())
    }
);

fn cumulative_min_of(x: &Tensor, axis: &Axes) -> Result<Tensor> {
    extremes!(
        Min,
        "cumulative_min",
        x,
        the_axis("cumulative_min", x, axis)?
    )
}

/// Differences of adjacent elements along an axis, taken `n` times: each element minus the one
/// before it. `prepend` and `append` are first joined to `x` at the start and the end; a
/// 0-dimensional one is used for each line. The axis is shorter by `n`, or empty. The dtype is the
/// common one of `x`, `prepend` and `append`.
///
/// Errors for bool, if the axis is out of range, and if the shape of `prepend` or `append` differs
/// from that of `x` outside the axis.
///
/// ```
/// use flex::{Tensor, ops};
/// let x = Tensor::from_slice(&[1i32, 4, 9, 16], [4])?;
/// assert_eq!(ops::diff(&x, 1, -1, None, None)?.to_vec::<i32>()?, [3, 5, 7]);
/// assert_eq!(ops::diff(&x, 2, -1, None, None)?.to_vec::<i32>()?, [2, 2]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn diff(
    x: &Tensor,
    n: usize,
    axis: impl Int,
    prepend: Option<&Tensor>,
    append: Option<&Tensor>,
) -> Result<Tensor> {
    diff_of(x, n, axis.wide(), prepend, append)
}

fn diff_of(
    x: &Tensor,
    n: usize,
    axis: isize,
    prepend: Option<&Tensor>,
    append: Option<&Tensor>,
) -> Result<Tensor> {
    let k = layout::axis("diff", axis, x.rank())?;
    if x.dtype().is_bool() {
        return Err(Error::unsupported("diff", x.dtype()));
    }
    let axis = k as isize;
    // a single value is used for each line
    let mut one = Shape::from_slice(x.shape());
    one[k] = 1;
    let beside = |t: Option<&Tensor>| {
        t.map(|t| {
            if t.rank() == 0 {
                t.broadcast_to(&one)
            } else {
                Ok(t.clone())
            }
        })
        .transpose()
    };
    let (prepend, append) = (beside(prepend)?, beside(append)?);
    let parts: Vec<&Tensor> = [prepend.as_ref(), Some(x), append.as_ref()]
        .into_iter()
        .flatten()
        .collect();
    let mut out = if parts.len() > 1 {
        ops::concat(&parts, axis)?
    } else {
        x.clone()
    };
    for _ in 0..n.min(out.shape()[k]) {
        let rest = out.shape()[k] - 1;
        out = ops::subtract(&out.narrow(axis, 1, rest)?, &out.narrow(axis, 0, rest)?)?;
    }
    Ok(out)
}

/// The tensor converted to accumulate to the requested dtype, the axis, and that dtype.
fn prepare<'a>(
    op: &'static str,
    x: &'a Tensor,
    how: &Cumulative,
) -> Result<(Cow<'a, Tensor>, usize, DType)> {
    let axis = the_axis(op, x, &how.axis)?;
    let (x, dtype) = accumulated(op, x, how.dtype)?;
    Ok((x, axis, dtype))
}

fn the_axis(op: &'static str, x: &Tensor, axis: &Axes) -> Result<usize> {
    match axis.one(op, x.rank())? {
        Some(k) => Ok(k),
        None if x.rank() == 1 => Ok(0),
        None => Err(Error::value(
            op,
            message!(
                "give the axis, or flatten x with reshape: its shape is {:?}, and only one dimension needs no axis",
                x.shape()
            ),
        )),
    }
}

/// The number of columns from which on whole rows are scanned.
const COLUMNS: usize = 16;

/// The scan along `axis` of `x`, whose elements have the width of `T`. If `initial`, the identity
/// comes first.
///
/// The order of joins that round follows from the sizes of the axis and of those behind it, never
/// from the layout: so the scan of a part of a line is that part of the line's scan.
fn scan<T: Pod, S: Scan<T>>(x: &Tensor, axis: usize, initial: bool) -> Result<Tensor> {
    let n = x.shape()[axis];
    let mut shape = Shape::from_slice(x.shape());
    shape[axis] += initial as usize;
    let mut y = Tensor::empty(&shape, x.dtype())?;
    if y.is_empty() {
        return Ok(y);
    }
    let outer: usize = shape[..axis].iter().product();
    let inner: usize = shape[axis + 1..].iter().product();
    let first = initial.then(|| S::Reduction::finish(S::Reduction::IDENTITY, 0));
    let long = if inner == 1 && par::threads() > 1 {
        Chunks::of_few(outer * n, n, CHUNK, 4)
    } else {
        None
    };
    if let Some(chunks) = long {
        scan_chunks::<T, S>(slice(&x.contiguous()?), chunks, first, slice_mut(&mut y)?)?;
    } else if inner >= COLUMNS && (S::ROUNDS || x.is_contiguous()) {
        let x = x.contiguous()?;
        let join = |above: &[T], x: &[T], y: &mut [T]| step::<T, S::Reduction>(above, x, y);
        columns(slice(&x), [n, inner, 1], first, slice_mut(&mut y)?, join);
    } else {
        let cost = Cost {
            bytes: 2 * n * size_of::<T>(),
            flops: 4 * n,
        };
        Lines::new(x.shape(), axis)
            .input(x.elements())
            .output(y.elements_mut()?)
            .run(cost, |line| {
                let (x, y): (&[T], &mut [T]) = (line.input(0), line.output(0));
                S::line(x, after(y, first), None)
            })?;
    }
    Ok(y)
}

/// Writes the initial value, if any, and returns the elements after it.
fn after<T>(y: &mut [T], first: Option<T>) -> &mut [T] {
    match first {
        Some(v) => {
            y[0] = v;
            &mut y[1..]
        }
        None => y,
    }
}

/// Scans lines that are cut into chunks: the totals of chunks give what comes before each, for a
/// second pass.
fn scan_chunks<T: Pod, S: Scan<T>>(
    x: &[T],
    chunks: Chunks,
    first: Option<T>,
    y: &mut [T],
) -> Result<()> {
    let cost = Cost {
        bytes: 2 * CHUNK * size_of::<T>(),
        flops: 4 * CHUNK,
    };
    let identity = S::Reduction::IDENTITY;
    let mut parts = fallible::filled((identity, true), chunks.len())?;
    let own = |c: &Chunk| first.filter(|_| c.first == 0);
    chunks.run(&mut parts, y, cost, |c, part, y| {
        let y = after(y, own(&c));
        *part = S::first(&x[c.range], y);
    });
    for line in parts.chunks_mut(chunks.per_line()) {
        let mut before = identity;
        for (total, _) in line {
            let total = core::mem::replace(total, before);
            before = S::Reduction::join(before, total);
        }
    }
    chunks.run(&mut parts, y, cost, |c, (before, done), y| {
        let y = after(y, own(&c));
        *done = *done && S::second(&x[c.range], y, *before);
    });
    // what follows a chunk that needs its elements in order isn't known before it
    for (k, line) in parts.chunks(chunks.per_line()).enumerate() {
        let Some(at) = line.iter().position(|(_, done)| !done) else {
            continue;
        };
        let (start, rest) = (
            chunks.get(k * line.len() + at),
            chunks.get((k + 1) * line.len() - 1),
        );
        let (from, end) = (start.range.start, rest.range.end);
        let more = if first.is_some() { k + 1 } else { 0 };
        S::line(
            &x[from..end],
            &mut y[from + more..end + more],
            Some(line[at].0),
        );
    }
    Ok(())
}

/// The scan of columns of integers into integers of fewer than 64 bits, which wrap to the same
/// results as wider sums and products: by the operation that joins two rows, in their own dtype.
/// None for others.
fn narrow_columns(
    join: &Row,
    x: &Tensor,
    axis: usize,
    how: &Cumulative,
    dtype: DType,
) -> Result<Option<Tensor>> {
    let inner: usize = x.shape()[axis + 1..].iter().product();
    let exact = x.dtype().is_integer() || x.dtype().is_bool();
    let narrow = dtype.is_integer() && dtype.size() < 8 && exact;
    if !narrow || inner < COLUMNS || x.is_empty() || how.include_initial {
        return Ok(None);
    }
    let Some(join) = (join.lookup)(dtype) else {
        return Ok(None);
    };
    let x = x.astype(dtype)?.contiguous()?;
    let mut y = Tensor::empty(x.shape(), dtype)?;
    let (size, bytes) = (dtype.size(), x.len() * dtype.size());
    // SAFETY: TENSOR1: all bytes of contiguous tensors; `y` is fresh (STORAGE3).
    let (from, to) = unsafe {
        let to = y.as_mut_ptr()?;
        (
            core::slice::from_raw_parts(x.as_ptr(), bytes),
            core::slice::from_raw_parts_mut(to, bytes),
        )
    };
    let sizes = [x.shape()[axis], inner * size, size];
    columns(from, sizes, None, to, |above, x, y| {
        let (d, n) = (y.as_mut_ptr(), y.len() / size);
        // SAFETY: LOOP1: parts of rows, in whole elements of the loop's dtype, that don't overlap.
        unsafe { (join.f)(d, above.as_ptr(), x.as_ptr(), core::ptr::null(), n, 0) }
    });
    Ok(Some(y))
}

/// Scans the middle axis of a contiguous `[outer, n, inner]`, strip by strip: each row of the
/// result is the row above joined with a row of `x`. An element is `unit` consecutive `T`.
fn columns<T: Pod>(
    x: &[T],
    [n, inner, unit]: [usize; 3],
    first: Option<T>,
    y: &mut [T],
    join: impl Fn(&[T], &[T], &mut [T]) + Sync,
) {
    let extra = first.is_some() as usize;
    let outer = y.len() / ((n + extra) * inner);
    let width = (inner / unit)
        .div_ceil(2 * par::threads())
        .next_multiple_of(64)
        .clamp(64, 2048)
        * unit;
    let strips = inner.div_ceil(width);
    let out = Out::new(y);
    par::chunks(
        outer * strips,
        Cost {
            bytes: 2 * n * width.min(inner) * size_of::<T>(),
            flops: n * width,
        },
        |k| {
            let (block, strip) = (k / strips, k % strips);
            let columns = strip * width..inner.min((strip + 1) * width);
            let at = |row: usize| row * inner + columns.start..row * inner + columns.end;
            // SAFETY: OUT1: strips don't overlap, nor do the rows of a strip.
            let target = |row: usize| unsafe { out.part(at(block * (n + extra) + row)) };
            if let Some(v) = first {
                target(0).fill(v);
            }
            for r in 0..n {
                let source = &x[at(block * n + r)];
                match r {
                    0 => target(extra).copy_from_slice(source),
                    _ => join(target(r + extra - 1), source, target(r + extra)),
                }
            }
        },
    );
}
