//! Reading by index: `t[...]`, along an axis, and line by line.

use super::Index;
use super::positions::{self, Positions};
use super::selection::Selection;
#[cfg(feature = "bindings")]
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::few::{self, FEW};
use crate::exec::nest::{LoopOperand, Nest};
use crate::exec::rows::{self, LoopRow};
use crate::kernel::index::rows as row_kernel;
#[cfg(feature = "bindings")]
use crate::layout::Layout;
use crate::layout::{self, Axes, Int, Shape};
use crate::ops::methods::method;
use crate::par::Cost;
use crate::simd;
use crate::tensor::Tensor;

/// `x[indices]` as in NumPy: a view if all indices are basic, else a copy.
///
/// Arrays and masks broadcast together; their dimensions replace the first indexed one if all
/// arrays are adjacent, else they come first. Errors if an index is out of range, there are too
/// many items, a mask has another shape, or arrays are not integers or don't broadcast.
///
/// ```
/// use flex::{Tensor, ops, s};
/// let x = Tensor::from_slice(&[0, 1, 2, 3, 4, 5], [2, 3])?;
/// let columns = Tensor::from_slice(&[2, 0], [2])?;
/// assert_eq!(ops::get(&x, &s![.., &columns])?.to_vec::<i32>()?, [2, 0, 5, 3]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn get(x: &Tensor, indices: &[Index]) -> Result<Tensor> {
    if let [Index::Mask(m)] = indices
        && m.shape() == x.shape()
        && m.rank() > 0
    {
        return super::masked_select(x, m);
    }
    let selection = Selection::new("index", (x.layout(), x.dtype()), indices)?;
    let Some(advanced) = &selection.advanced else {
        return Ok(x.view(selection.layout));
    };
    let shape = selection.shape();
    let mut out = Tensor::empty(&shape, x.dtype())?;
    let size = x.dtype().size();
    let first = x.as_ptr().wrapping_offset(
        (selection.layout.offset() as isize - x.layout().offset() as isize) * size as isize,
    );
    let from = selection.elements(advanced, first as *mut u8, size);
    // SAFETY: `from` reaches elements of `x` for each index (TENSOR1), moved by offsets along its
    // dimensions.
    unsafe {
        if selection.layout.rank() == 0
            && positions::are_dense(&advanced.arrays, &advanced.shape, out.len())
        {
            gather_dense("index", &shape, from, &advanced.arrays, &mut out)?
        } else {
            let table = positions::table("index", &advanced.arrays)?;
            gather(&shape, from, selection.offsets(advanced, &table), &mut out)?
        }
    }
    Ok(out)
}

/// The layout of the view that basic items select from a tensor of this layout and dtype.
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub fn basic_view(x: &Layout, dtype: DType, items: &[Index]) -> Result<Layout> {
    Ok(Selection::new("index", (x, dtype), items)?.layout)
}
/// [`basic_view`] for integers.
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub fn view_at(x: &Layout, dtype: DType, positions: &[i64]) -> Result<Layout> {
    match x.at(positions) {
        Some(view) => Ok(view),
        None => basic_view(x, dtype, &super::integers(positions)),
    }
}

/// Gathers into a new tensor.
///
/// # Safety
/// For each index of `shape`, the element of `from`, moved by the offset, is one of a tensor with
/// `out`'s dtype.
unsafe fn gather(
    shape: &[usize],
    from: LoopOperand,
    offsets: LoopOperand,
    out: &mut Tensor,
) -> Result<()> {
    let size = from.size;
    let to = LoopOperand::new(out.as_mut_ptr()?, size, shape, out.strides(), shape.len());
    let row_fn = dispatch_width!(size, |U| row_kernel::gather::<U> as row_kernel::RowFn);
    if out.len() <= FEW {
        let [s, table, d] = [&from, &offsets, &to].map(few::step);
        few::rows(shape, [&from, &offsets, &to], |n, [x, at, y]| {
            // SAFETY: GATHER1 by the caller; the result is fresh (STORAGE3).
            unsafe { row_fn(n, x, s, at as *const i64, table, y, d) }
        });
        return Ok(());
    }
    let nest = Nest::new(shape, &[from, offsets], &[to]);
    let prefetch = RowPrefetch::new(&nest);
    rows::run(
        &nest,
        Cost {
            bytes: 2 * size + 8,
            flops: 2,
        },
        |_| true,
        |row| {
            let (p, s) = (row.ptrs, row.steps);
            if let Some(prefetch) = &prefetch {
                // SAFETY: a row of the nest.
                unsafe { prefetch.fetch(&row) };
            }
            // SAFETY: GATHER1 by the caller; the result's rows are disjoint.
            unsafe { row_fn(row.n, p[0], s[0], p[1] as *const i64, s[1], p[2], s[2]) }
        },
    );
    Ok(())
}

/// Prefetches the rows gathered next: no CPU predicts where a table points.
struct RowPrefetch {
    /// The distance in bytes, in the table, from a row's offset to that of the row to prefetch.
    offset: isize,
    ahead: isize,
    /// The last offset.
    last: usize,
}
impl RowPrefetch {
    /// The number of rows between the copied one and the prefetched one.
    const ROWS: isize = 3;
    /// The number of bytes of a row to prefetch; beyond that the CPU reads ahead by itself.
    const BYTES: usize = 4096;

    /// `None` if the offset varies within a row.
    fn new(nest: &Nest) -> Option<RowPrefetch> {
        let outer = nest.dims.get(1)?;
        if nest.dims[0].steps[1] != 0 || outer.steps[1] == 0 {
            return None;
        }
        let reach = nest
            .dims
            .iter()
            .map(|d| d.steps[1].max(0) * (d.n as isize - 1))
            .sum();
        Some(RowPrefetch {
            offset: Self::ROWS * outer.steps[1],
            ahead: Self::ROWS * outer.steps[0],
            last: nest.ptrs[1].wrapping_offset(reach).addr(),
        })
    }
    /// # Safety
    /// A row of the nest of [`gather`], whose table is contiguous.
    #[inline(always)]
    unsafe fn fetch(&self, row: &LoopRow) {
        let offset = row.ptrs[1].wrapping_offset(self.offset);
        if self.offset < 0 || offset.addr() > self.last {
            return;
        }
        // SAFETY: between the row's own offset and the last one, and a contiguous table has an
        // offset every eight bytes.
        let ahead = row.ptrs[0]
            .wrapping_offset(self.ahead)
            .wrapping_offset(unsafe { *(offset as *const i64) } as isize);
        let bytes = (row.n * row.steps[0].unsigned_abs()).min(Self::BYTES);
        simd::prefetch_run::<{ simd::L1 }, _>(ahead, bytes);
    }
}

/// [`gather`] for a result in which each element has a position of its own.
///
/// # Safety
/// As for [`gather`], with the offsets of positions in range.
unsafe fn gather_dense(
    op: &'static str,
    shape: &[usize],
    from: LoopOperand,
    arrays: &[Positions],
    out: &mut Tensor,
) -> Result<()> {
    let size = from.size;
    let to = LoopOperand::new(out.as_mut_ptr()?, size, shape, out.strides(), shape.len());
    let row_fn = dispatch_width!(size, |U| row_kernel::gather::<U> as row_kernel::RowFn);
    // SAFETY: the caller's promise; the result is fresh (STORAGE3).
    unsafe { positions::gather(op, row_fn, shape, from, arrays, to) }
}

method!(
    /// Takes the elements at positions `indices` along `axis`, whose dimension is replaced by those
    /// of `indices`. For `()` it takes from the flattened `x`.
    ///
    /// Errors if indices are not integers, or are out of range (negative ones count from the end).
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[0, 1, 2], [3, 4, 5]]);
    /// let i = Tensor::from([-1, 0]);
    /// assert_eq!(x.take(&i, 1)?.to_vec::<i32>()?, [2, 0, 5, 3]);
    /// assert_eq!(ops::take(&x, &i, ())?.to_vec::<i32>()?, [5, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("index_select"))]
    pub fn take(x: &Tensor, indices: &Tensor, axis: impl Into<Axes>) -> Result<Tensor> {
        match axis.into().one("take", x.rank())? {
            Some(k) => take_along(x, indices, k),
            None => take_along(&x.reshape(-1)?, indices, 0),
        }
    }
);

/// [`take`] along dimension `k`.
fn take_along(x: &Tensor, indices: &Tensor, k: usize) -> Result<Tensor> {
    let (size, stride) = (x.shape()[k], x.strides()[k]);
    let along = [Positions::new(
        "take",
        indices,
        k,
        size,
        stride as i64 * x.dtype().size() as i64,
    )?];
    let shape = taken(x.shape(), k, indices.shape());
    let mut out = Tensor::empty(&shape, x.dtype())?;
    // SAFETY: positions along the axis are checked, and the other dimensions are those of `x`
    // (TENSOR1).
    unsafe {
        if x.rank() == 1 && positions::are_dense(&along, indices.shape(), out.len()) {
            let mut from = x.operand(1);
            from.strides = smallvec::SmallVec::from_elem(0, shape.len());
            gather_dense("take", &shape, from, &along, &mut out)?
        } else {
            let offsets = positions::table("take", &along)?;
            let (from, table) = taken_operands(x.operand(x.rank()), &offsets, k);
            gather(&shape, from, table, &mut out)?
        }
    }
    Ok(out)
}

/// The shape with dimension `k` replaced by the dimensions of the indices.
pub fn taken(shape: &[usize], k: usize, indices: &[usize]) -> Shape {
    let mut out = Shape::from_slice(shape);
    out.remove(k);
    out.insert_from_slice(k, indices);
    out
}
/// The operands of a loop over [`taken`]: the tensor's elements, with stride 0 along the dimensions
/// of the indices, and the offsets.
pub fn taken_operands(
    mut x: LoopOperand,
    offsets: &Tensor,
    k: usize,
) -> (LoopOperand, LoopOperand) {
    let inner = x.strides.len() - k - 1;
    x.strides.remove(k);
    x.strides.insert_many(k, offsets.shape().iter().map(|_| 0));
    let mut table = offsets.operand(offsets.rank());
    table
        .strides
        .insert_many(offsets.rank(), (0..inner).map(|_| 0));
    table.strides.insert_many(0, (0..k).map(|_| 0));
    (x, table)
}

method!(
    /// Takes, from each line of `x` along `axis`, the elements at the positions in the same line of
    /// `indices`. The other dimensions broadcast.
    ///
    /// Errors if the ranks differ, or indices are not integers or are out of range.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[3, 1, 2], [6, 5, 4]]);
    /// let order = x.argsort(1)?;
    /// assert_eq!(x.take_along_axis(&order, 1)?.to_vec::<i32>()?, [1, 2, 3, 4, 5, 6]);
    /// let last = Tensor::from([[-1], [-1]]);
    /// assert_eq!(ops::take_along_axis(&x, &last, 1)?.to_vec::<i32>()?, [2, 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("gather", "take_along_dim"))]
    pub fn take_along_axis(x: &Tensor, indices: &Tensor, axis: impl Int) -> Result<Tensor> {
        take_along_axis_of(x, indices, axis.wide())
    }
);

fn take_along_axis_of(x: &Tensor, indices: &Tensor, axis: isize) -> Result<Tensor> {
    let along = Along::new("take_along_axis", x, indices, axis)?;
    let mut out = Tensor::empty(&along.shape, x.dtype())?;
    let rank = along.shape.len();
    let mut from = x.operand(rank);
    from.strides[along.axis] = 0;
    // SAFETY: positions along the axis are checked, and the other dimensions broadcast from those
    // of `x` (TENSOR1).
    unsafe {
        if positions::are_dense(&along.positions, indices.shape(), out.len()) {
            gather_dense(
                "take_along_axis",
                &along.shape,
                from,
                &along.positions,
                &mut out,
            )?
        } else {
            let table = positions::table("take_along_axis", &along.positions)?;
            gather(&along.shape, from, table.operand(rank), &mut out)?
        }
    }
    Ok(out)
}

/// Positions along an axis, one line of indices for each line of elements.
pub struct Along {
    /// The axis.
    pub axis: usize,
    /// The shape that `indices` and `x` broadcast to, where the size of the axis is that of
    /// `indices`.
    pub shape: Shape,
    /// The positions in `indices`, in its shape.
    pub positions: [Positions; 1],
}

impl Along {
    /// Errors if ranks or sizes don't fit, or indices are not integers.
    pub fn new(op: &'static str, x: &Tensor, indices: &Tensor, axis: isize) -> Result<Along> {
        let axis = layout::axis(op, axis, x.rank())?;
        let operands = [
            ("x", x.shape(), x.dtype()),
            ("indices", indices.shape(), indices.dtype()),
        ];
        if x.rank() != indices.rank() {
            return Err(Error::shape_of(op, "the ranks differ", &operands));
        }
        let mut around = Shape::from_slice(x.shape());
        around[axis] = indices.shape()[axis];
        // the size of the axis itself is not broadcast
        let mut shape = layout::broadcast(op, &[&around, indices.shape()]).map_err(|_| {
            Error::shape_of(
                op,
                message!("sizes must be equal, or one of them 1, except along axis {axis}"),
                &operands,
            )
        })?;
        shape[axis] = indices.shape()[axis];
        let stride = x.strides()[axis] as i64 * x.dtype().size() as i64;
        Ok(Along {
            axis,
            shape,
            positions: [Positions::new(op, indices, axis, x.shape()[axis], stride)?],
        })
    }
}
