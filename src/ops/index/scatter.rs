//! Writing by index: `t[...] = v`, along an axis, and line by line. Values for a repeated position
//! are combined in the order of the indices, for any number of threads.

use super::positions::{self, Positions};
use super::selection::Selection;
use super::{Index, gather};
use crate::error::{Error, Result};
use crate::exec::nest::{LoopOperand, Nest};
use crate::exec::rows::{self, LoopRow};
use crate::kernel::index::rows::{self as row_kernel, RowFn};
use crate::layout::{self, Int};
use crate::ops::methods::method;
use crate::par::{self, Cost};
#[cfg(feature = "bindings")]
use crate::scalar::ElementBytes;
use crate::simd::{L1, prefetch_run};
use crate::tensor::Tensor;
use core::ops::Range;

/// The length from which on combining the elements of a row takes longer than the scan of the
/// offsets by another thread.
const WIDE: usize = 64;
/// The most bytes of a row to prefetch: from there on the CPU has seen where it goes.
const AHEAD: usize = 2048;

/// How a value is combined with the element at its position.
///
/// ```
/// use flex::{Tensor, ops::{self, ScatterMode}};
/// let (x, at) = (Tensor::from([10, 10]), Tensor::from([0i64, 0]));
/// let with = |mode| ops::scatter(&x, &at, &Tensor::from([3, 4]), 0, mode)?.to_vec::<i32>();
/// assert_eq!(with(ScatterMode::Set)?, [4, 10]);
/// assert_eq!(with(ScatterMode::Add)?, [17, 10]);
/// assert_eq!(with(ScatterMode::Min)?, [3, 10]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScatterMode {
    /// It replaces the element; of several values the last wins.
    Set,
    /// It is added; integers wrap, 16-bit floats are summed in float32.
    Add,
    /// It multiplies the element.
    Multiply,
    /// The maximum; NaN propagates.
    Max,
    /// The minimum; NaN propagates.
    Min,
}

/// `x[indices] = value`. The value broadcasts to the shape of `x[indices]` and takes the dtype of
/// `x`. Only this tensor changes: shared storage is copied first, and the value may share it.
///
/// Errors, before anything is written, like [`get`](super::get), and if the value doesn't broadcast
/// or is of a higher kind than the tensor (floats into integers, complex numbers into floats).
///
/// ```
/// use flex::{Tensor, ops, s};
/// let mut x = Tensor::from_slice(&[0, 1, 2, 3, 4, 5], [2, 3])?;
/// ops::set(&mut x, &s![.., 1], &Tensor::from_slice(&[-1], [1])?)?;
/// assert_eq!(x.to_vec::<i32>()?, [0, -1, 2, 3, -1, 5]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn set(x: &mut Tensor, indices: &[Index], value: &Tensor) -> Result<()> {
    const OP: &str = "set";
    if let [Index::Mask(m)] = indices
        && m.shape() == x.shape()
        && m.rank() > 0
        && m.dtype().is_bool()
        && value.len() == 1
    {
        let value = fit(OP, x, value, &[1])?;
        x.as_mut_ptr()?;
        // SAFETY: the value is one element of the dtype (TENSOR1), and the elements written are
        // unshared (STORAGE3).
        return unsafe { super::mask::fill(x, m, value.as_ptr()) };
    }
    let mut selection = Selection::new(OP, (x.layout(), x.dtype()), indices)?;
    if let (None, [], [] | [1]) = (&selection.advanced, value.shape(), selection.layout.shape())
        && value.dtype() == x.dtype()
    {
        // a number to an element: no plan of a copy
        let (element, size) = (value.value(OP)?, x.dtype().size());
        let ahead = selection.layout.offset() as isize - x.layout().offset() as isize;
        if let Some(first) = x.get_mut_ptr() {
            // SAFETY: one of the tensor's elements (TENSOR1), unshared (STORAGE3), and the bytes of
            // a value of its dtype.
            unsafe {
                let to = first.wrapping_offset(ahead * size as isize);
                core::ptr::copy_nonoverlapping(element.as_ptr(), to, size);
            }
            return Ok(());
        }
    }
    let value = fit(OP, x, value, &selection.shape())?;
    let layout = x.layout().clone();
    x.as_mut_ptr()?;
    if *x.layout() != layout {
        selection = Selection::new(OP, (x.layout(), x.dtype()), indices)?;
        // masks have been read a second time (READ1)
        if selection.shape()[..] != *value.shape() {
            return Err(super::mask::changed(OP));
        }
    }
    let Some(advanced) = &selection.advanced else {
        return x.write(&selection.layout, &value);
    };
    let table = positions::table(OP, &advanced.arrays)?;
    let size = x.dtype().size();
    let first = x.as_mut_ptr()?.wrapping_offset(
        (selection.layout.offset() as isize - x.layout().offset() as isize) * size as isize,
    );
    let (to, offsets) = (
        selection.elements(advanced, first, size),
        selection.offsets(advanced, &table),
    );
    // SAFETY: `to` reaches elements of `x` (TENSOR1), which are exclusive since `as_mut_ptr`, by
    // offsets that were checked.
    unsafe {
        scatter_rows(
            ScatterMode::Set,
            OP,
            x.dtype(),
            &selection.shape(),
            to,
            offsets,
            extent(x),
            &value,
        )
    }
}

/// [`set`] for integers and a number of the dtype.
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub fn set_number(x: &mut Tensor, positions: &[i64], value: &ElementBytes) -> Result<()> {
    if positions.len() == x.rank()
        && let Some(element) = x.layout().at(positions)
        && let Some(first) = x.get_mut_ptr()
    {
        let size = x.dtype().size();
        let ahead = element.offset() as isize - x.layout().offset() as isize;
        // SAFETY: one of the tensor's elements (TENSOR1), unshared (STORAGE3), and the bytes of a
        // value of its dtype.
        unsafe {
            let to = first.wrapping_offset(ahead * size as isize);
            core::ptr::copy_nonoverlapping(value.as_ptr(), to, size);
        }
        return Ok(());
    }
    let value = Tensor::filled(&[], x.dtype(), value)?;
    set(x, &super::integers(positions), &value)
}

/// The value converted to the dtype and shape of its target. Errors if it is of a higher kind than
/// the dtype, or doesn't broadcast.
fn fit(op: &'static str, x: &Tensor, value: &Tensor, shape: &[usize]) -> Result<Tensor> {
    let kind = |t: &Tensor| {
        (!t.dtype().is_bool()) as u8
            + (t.dtype().is_float() as u8)
            + 2 * (t.dtype().is_complex() as u8)
    };
    if kind(value) > kind(x) {
        return Err(Error::dtype(
            op,
            message!(
                "values of {} for a tensor of {}: convert one with astype",
                value.dtype(),
                x.dtype()
            ),
        ));
    }
    if value.shape() == shape {
        return value.astype(x.dtype());
    }
    // leading dimensions of size 1 beyond the target's rank are ignored
    let mut value = value.clone();
    while value.rank() > shape.len() && value.shape()[0] == 1 {
        value = value.squeeze(0)?;
    }
    let value = value.broadcast_to(shape).map_err(|_| {
        Error::shape_of(
            op,
            message!("values do not broadcast to the indexed shape {shape:?}"),
            &[
                ("x", x.shape(), x.dtype()),
                ("values", value.shape(), value.dtype()),
            ],
        )
    })?;
    value.into_dtype(x.dtype())
}

/// The range of byte offsets of the tensor's elements, relative to the first one.
fn extent(x: &Tensor) -> Range<i64> {
    let size = x.dtype().size() as i64;
    let ends = x
        .shape()
        .iter()
        .zip(x.strides())
        .map(|(n, s)| (n.saturating_sub(1) as i64) * *s as i64 * size);
    ends.fold(0..size, |r, end| r.start + end.min(0)..r.end + end.max(0))
}

/// The row function; `None` if the dtype lacks it.
fn row_fn(mode: ScatterMode, dtype: crate::DType) -> Option<RowFn> {
    use row_kernel::*;
    Some(match mode {
        ScatterMode::Set => {
            dispatch_width!(dtype.size(), |U| row_kernel::scatter::<U, Replace> as RowFn)
        }
        // 16-bit floats arrive here as float32, see `accumulate`
        ScatterMode::Add => {
            dispatch!(number dtype, |T| row_kernel::scatter::<T, Add> as RowFn, else return None)
        }
        ScatterMode::Multiply => {
            dispatch!(number dtype, |T| row_kernel::scatter::<T, Multiply> as RowFn, else return None)
        }
        ScatterMode::Max => {
            dispatch!(real dtype, |T| row_kernel::scatter::<T, Maximum> as RowFn, else return None)
        }
        ScatterMode::Min => {
            dispatch!(real dtype, |T| row_kernel::scatter::<T, Minimum> as RowFn, else return None)
        }
    })
}

/// Combines values with elements, in the order of the indices.
///
/// # Safety
/// For each index of `shape`, the element of `to`, moved by the offset, belongs to a tensor of
/// `dtype`, which nobody else uses and no two of whose indices share an element. `to` has a step of
/// 0 exactly in the dimensions in which offsets vary along the tensor. Offsets are in `extent`, and
/// different offsets lead to different elements.
unsafe fn scatter_rows(
    mode: ScatterMode,
    op: &'static str,
    dtype: crate::DType,
    shape: &[usize],
    to: LoopOperand,
    offsets: LoopOperand,
    extent: Range<i64>,
    values: &Tensor,
) -> Result<()> {
    let row_fn = row_fn(mode, dtype).ok_or_else(|| Error::unsupported(op, dtype))?;
    let values = values.contiguous()?;
    let values = LoopOperand::new(
        values.as_ptr() as *mut u8,
        dtype.size(),
        shape,
        values.strides(),
        shape.len(),
    );
    // The values come first, so that the nest keeps the order of the indices.
    let nest = Nest::new(shape, &[], &[values, to, offsets]);
    let cost = Cost {
        bytes: 3 * dtype.size() + 8,
        flops: 2,
    };
    let join = |row: LoopRow| {
        let (p, s) = (row.ptrs, row.steps);
        // SAFETY: GATHER1: the caller promises offsets inside `extent`, and the nest reaches
        // elements of `values` and of the offsets.
        unsafe { row_fn(row.n, p[1], s[1], p[2] as *const i64, s[2], p[0], s[0]) }
    };
    let inner = &nest.dims[0];
    if inner.steps[2] == 0 && inner.n >= WIDE && nest.dims[1..].iter().all(|d| d.steps[1] == 0) {
        // The rows are whole in memory: each thread combines those in its own range of the tensor,
        // since parts of rows are slower to fetch.
        let pieces = par::threads_for(Cost {
            bytes: cost.bytes.saturating_mul(nest.total),
            flops: 0,
        });
        let part = (extent.end - extent.start) / pieces as i64;
        let cost = Cost {
            bytes: cost.bytes.saturating_mul(nest.total / pieces),
            flops: 0,
        };
        par::chunks(pieces, cost, |p| {
            let first = extent.start + part * p as i64;
            let within = first..if p + 1 < pieces {
                first + part
            } else {
                extent.end
            };
            let (n, steps) = (inner.n, &inner.steps);
            // a row is joined while the next one, which may lie anywhere, is prefetched
            let mut pending = None;
            rows::each(&nest, |row| {
                // SAFETY: the offset of the whole row (GATHER1).
                let offset = unsafe { *(row.ptrs[2] as *const i64) };
                if within.contains(&offset) {
                    let to = row.ptrs[1].wrapping_offset(offset as isize);
                    for (p, step) in [(to, steps[1]), (row.ptrs[0], steps[0])] {
                        if step == dtype.size() as isize {
                            prefetch_run::<L1, _>(p, (n * dtype.size()).min(AHEAD));
                        }
                    }
                    if let Some(ptrs) = pending.replace(*row.ptrs) {
                        let ptrs = &ptrs;
                        join(LoopRow { n, ptrs, steps });
                    }
                }
            });
            if let Some(ptrs) = &pending {
                join(LoopRow { n, ptrs, steps });
            }
        });
        return Ok(());
    }
    // Pieces are cut along dimensions where the tensor has a stride of its own, so that they write
    // disjoint elements.
    rows::run(&nest, cost, |d| d.steps[1] != 0, join);
    Ok(())
}

method!(
    /// A copy of `x` with `values` put along `axis`: in each line, at the positions in the same
    /// line of `indices`. The values broadcast to the shape of `indices`.
    ///
    /// Errors if `axis` is out of range, if the shape of `indices` differs from that of `x` outside
    /// the axis, if indices are not integers or are out of range, if values don't broadcast or are
    /// of a higher kind than the dtype, and if the dtype doesn't support the mode (bool supports
    /// only `Set`, complex dtypes lack `Max` and `Min`).
    ///
    /// ```
    /// use flex::{Tensor, ops::{self, ScatterMode}};
    /// let x = Tensor::from([[0, 0], [3, 0]]);
    /// let i = Tensor::from([[1], [0]]);
    /// let v = Tensor::from([[5], [6]]);
    /// assert_eq!(x.scatter(&i, &v, 1, ScatterMode::Set)?.to_vec::<i32>()?, [0, 5, 6, 0]);
    /// assert_eq!(ops::scatter(&x, &i, &v, 1, ScatterMode::Add)?.to_vec::<i32>()?, [0, 5, 9, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("scatter_elements", "scatter_set", "put_along_axis"))]
    pub fn scatter(
        x: &Tensor,
        indices: &Tensor,
        values: &Tensor,
        axis: impl Int,
        mode: ScatterMode,
    ) -> Result<Tensor> {
        put("scatter", x.clone(), indices, values, axis.wide(), mode)
    }
);

method!(
    /// A copy of `x` with `values` added along `axis`: [`scatter`] with
    /// [`ScatterMode::Add`], and its errors. Positions may repeat; the bits are the same for any
    /// number of threads.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([0.0f32, 1.0]);
    /// let i = Tensor::from([1, 1, 0]);
    /// let v = Tensor::from([1.0f32, 2.0, 4.0]);
    /// assert_eq!(x.scatter_add(&i, &v, 0)?.to_vec::<f32>()?, [4.0, 4.0]);
    /// assert_eq!(ops::scatter_add(&x, &i, &Tensor::from([1.0f32]), 0)?.to_vec::<f32>()?, [1.0, 3.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("scatter_reduce"))]
    pub fn scatter_add(
        x: &Tensor,
        indices: &Tensor,
        values: &Tensor,
        axis: impl Int,
    ) -> Result<Tensor> {
        let own = x.clone();
        put(
            "scatter_add",
            own,
            indices,
            values,
            axis.wide(),
            ScatterMode::Add,
        )
    }
);

/// [`scatter`] under the name of another operation, in the memory of `x` if nobody shares
/// it.
fn put(
    op: &'static str,
    x: Tensor,
    indices: &Tensor,
    values: &Tensor,
    axis: isize,
    mode: ScatterMode,
) -> Result<Tensor> {
    let k = layout::axis(op, axis, x.rank())?;
    let differ = |d: usize| d != k && x.shape()[d] != indices.shape()[d];
    if x.rank() != indices.rank() || (0..x.rank()).any(differ) {
        let operands = [
            ("x", x.shape(), x.dtype()),
            ("indices", indices.shape(), indices.dtype()),
        ];
        return Err(Error::shape_of(
            op,
            message!("the shapes must be equal except along axis {k}"),
            &operands,
        ));
    }
    accumulate(op, x, values, indices.shape(), mode, |y, first| {
        let along = gather::Along::new(op, y, indices, axis)?;
        let mut to = LoopOperand::new(first, y.dtype().size(), y.shape(), y.strides(), y.rank());
        to.strides[k] = 0;
        let offsets = positions::table(op, &along.positions)?;
        let table = offsets.operand(y.rank());
        Ok((offsets, to, table))
    })
}

method!(
    /// A copy of `x` with `values` added to the slices at positions `indices` along `axis` (torch's
    /// `index_add`, the inverse of [`take`](super::take)). The values have the shape that `take`
    /// would give, or broadcast to it. Positions may repeat; the bits are the same for any number
    /// of threads.
    ///
    /// Errors if `axis` is out of range, if indices are not integers or are out of range, if values
    /// are of a higher kind than the dtype or don't broadcast, and for bool.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[0, 0], [0, 0]]);
    /// let i = Tensor::from([1, 1]);
    /// let v = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.index_add(&i, &v, 0)?.to_vec::<i32>()?, [0, 0, 4, 6]);
    /// assert_eq!(ops::index_add(&x, &i, &v, 1)?.to_vec::<i32>()?, [0, 3, 0, 7]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("select_assign", "select_add"))]
    pub fn index_add(
        x: &Tensor,
        indices: &Tensor,
        values: &Tensor,
        axis: impl Int,
    ) -> Result<Tensor> {
        add_at("index_add", x.clone(), indices, values, axis.wide())
    }
);

/// [`index_add`] under the name of another operation, in the memory of `x` if nobody shares it.
pub(crate) fn add_at(
    op: &'static str,
    x: Tensor,
    indices: &Tensor,
    values: &Tensor,
    axis: isize,
) -> Result<Tensor> {
    let k = layout::axis(op, axis, x.rank())?;
    let shape = gather::taken(x.shape(), k, indices.shape());
    accumulate(op, x, values, &shape, ScatterMode::Add, |y, first| {
        let size = y.dtype().size();
        let (n, step) = (y.shape()[k], y.strides()[k] as i64 * size as i64);
        let offsets = positions::table(op, &[Positions::new(op, indices, k, n, step)?])?;
        let to = LoopOperand::new(first, size, y.shape(), y.strides(), y.rank());
        let (to, table) = gather::taken_operands(to, &offsets, k);
        Ok((offsets, to, table))
    })
}

/// Combines values of the given shape with `x`, in its memory if nobody shares it; 16-bit floats in
/// float32. `operands` is called with the result and its first element, and returns the operands of
/// [`scatter_rows`] and the tensor that keeps the offsets alive.
fn accumulate(
    op: &'static str,
    x: Tensor,
    values: &Tensor,
    shape: &[usize],
    mode: ScatterMode,
    operands: impl FnOnce(&Tensor, *mut u8) -> Result<(Tensor, LoopOperand, LoopOperand)>,
) -> Result<Tensor> {
    let values = fit(op, &x, values, shape)?;
    let sums = matches!(mode, ScatterMode::Add | ScatterMode::Multiply);
    let result = x.dtype();
    let dtype = if sums { result.wide() } else { result };
    let mut x = x.into_dtype(dtype)?;
    let mut y = match x.is_contiguous() && x.get_mut_ptr().is_some() {
        true => x,
        false => x.copy()?,
    };
    let values = values.astype(dtype)?;
    let first = y.as_mut_ptr()?;
    let (_offsets, to, table) = operands(&y, first)?;
    // SAFETY: `y` is unshared (STORAGE3), contiguous and used only by this function; its offsets
    // were checked.
    unsafe { scatter_rows(mode, op, dtype, shape, to, table, extent(&y), &values)? };
    y.into_dtype(result)
}
