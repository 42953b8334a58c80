//! Arrays of positions: checked and converted to byte offsets, tile by tile in L1 if each element
//! of a result has a position of its own, else into a table. Positions may lie in memory that is
//! being written to: they are copied, and a copy with a position out of range is never used,
//! whatever the next one holds (READ1).
#![cfg_attr(
    not(any(feature = "i8", feature = "i32", feature = "i64")),
    allow(
        unused,
        reason = "only integers are positions, or divisors that are refused"
    )
)]

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::few::FEW;
use crate::exec::nest::{LoopOperand, Nest};
use crate::exec::rows::{self, LoopRow};
use crate::kernel::index::offsets as kernel;
use crate::kernel::index::rows::RowFn;
use crate::layout::{self, Shape};
use crate::par::Cost;
use crate::tensor::Tensor;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The number of offsets in a tile: they fit L1 together with the gathered elements.
const TILE: usize = 512;
/// The most arrays in one loop.
const ARRAYS: usize = 8;

/// Positions along an axis; negative ones count from the end.
pub struct Positions {
    /// Contiguous integers.
    array: Tensor,
    /// The axis, for messages.
    axis: usize,
    size: usize,
    /// The stride of the axis in bytes.
    stride: i64,
}

impl Positions {
    /// Errors if the positions are not integers, or their dtype is left out of this build.
    pub fn new(
        op: &'static str,
        array: &Tensor,
        axis: usize,
        size: usize,
        stride: i64,
    ) -> Result<Positions> {
        if !array.dtype().is_integer() {
            return Err(Error::dtype(
                op,
                message!("indices must be integers, not {}", array.dtype()),
            ));
        }
        if !array.dtype().is_available() {
            return Err(Error::unsupported(op, array.dtype()));
        }
        Ok(Positions {
            array: array.contiguous()?,
            axis,
            size,
            stride,
        })
    }
    /// The shape of the array.
    pub fn shape(&self) -> &[usize] {
        self.array.shape()
    }
    /// Writes the offsets of `n` positions at `p`, `step` bytes apart, to `out`, or adds them if
    /// `more`. Returns false if one is out of range.
    ///
    /// # Safety
    /// The positions are elements of the array, and `out` has room for `n`, which are initialised
    /// if `more`.
    unsafe fn offsets(
        &self,
        p: *const u8,
        step: isize,
        n: usize,
        more: bool,
        out: *mut i64,
    ) -> bool {
        dispatch!(integer self.array.dtype(), |T| {
            // SAFETY: the caller's promise; the array's elements are of this dtype (TENSOR1).
            unsafe { kernel::offsets::<T>(p as *const T, step, n, self.size as i64, self.stride, more, out) }
        }, else false)
    }
    /// Errors if a second copy has a position out of range. Even if it has none, the positions must
    /// not be used (READ1).
    fn check(&self, op: &'static str) -> Result<()> {
        let own = self.array.copy_once()?;
        let first: Option<i64> = dispatch!(integer own.dtype(), |T| {
            kernel::first_outside(own.as_slice::<T>()?, self.size as i64)
        }, else None);
        match first {
            Some(index) => Err(Error::Index {
                op,
                index,
                axis: self.axis,
                size: self.size,
            }),
            None => Ok(()),
        }
    }
}

/// The error for arrays with a position out of range. They may lie in foreign memory that has
/// changed since.
#[cold]
fn out_of_range(op: &'static str, arrays: &[Positions]) -> Error {
    let culprit = arrays.iter().find_map(|a| a.check(op).err());
    culprit.unwrap_or_else(|| Error::value(op, "indices were changed while they were read"))
}

/// The shape that index arrays broadcast to.
pub fn shape(op: &'static str, arrays: &[Positions]) -> Result<Shape> {
    let shapes: smallvec::SmallVec<[&[usize]; 4]> = arrays.iter().map(|a| a.shape()).collect();
    layout::broadcast(op, &shapes).map_err(|e| match e {
        Error::Shape { op, message, .. } => Error::Subscript { op, message },
        e => e,
    })
}

/// Computes the offsets of `n` iterations of a row, from iteration `first` on, summed over the
/// arrays, which are the row's operands from `k` on. Returns false if a position is out of range.
///
/// # Safety
/// The row is one of a nest of the arrays; `out` has room for `n` offsets, which are initialised if
/// `more`.
unsafe fn tile(
    arrays: &[Positions],
    row: &LoopRow,
    k: usize,
    first: usize,
    n: usize,
    more: bool,
    out: *mut i64,
) -> bool {
    let mut good = true;
    for (i, a) in arrays.iter().enumerate() {
        let step = row.steps[k + i];
        // SAFETY: elements of the nest; the offsets are initialised by the first array, or already
        // if `more`.
        good &= unsafe {
            a.offsets(
                row.ptrs[k + i].offset(first as isize * step),
                step,
                n,
                more || i > 0,
                out,
            )
        };
    }
    good
}

/// The table of the summed offsets, in the shape that the arrays broadcast to: int64, contiguous,
/// in a new tensor, so that nobody changes the offsets after the check. Errors if a position is out
/// of range.
pub fn table(op: &'static str, arrays: &[Positions]) -> Result<Tensor> {
    let shape = shape(op, arrays)?;
    let mut out = Tensor::empty(&shape, DType::I64)?;
    let first = out.as_mut_ptr()?;
    if out.is_empty() {
        // if one array is empty, the others broadcast to no position, but are still checked
        arrays.iter().try_for_each(|a| a.check(op))?;
        return Ok(out);
    }
    if let ([one], true) = (arrays, out.len() <= FEW) {
        let (p, step) = (one.array.as_ptr(), one.array.dtype().size() as isize);
        // SAFETY: contiguous positions (TENSOR1), and as many offsets of the fresh table (STORAGE3).
        return match unsafe { one.offsets(p, step, out.len(), false, first as *mut i64) } {
            true => Ok(out),
            false => Err(out_of_range(op, arrays)),
        };
    }
    let bad = AtomicBool::new(false);
    for (g, group) in arrays.chunks(ARRAYS).enumerate() {
        let operands: smallvec::SmallVec<[LoopOperand; 4]> =
            group.iter().map(|a| a.array.operand(shape.len())).collect();
        let nest = Nest::new(
            &shape,
            &operands,
            &[LoopOperand::new(
                first,
                8,
                &shape,
                out.strides(),
                shape.len(),
            )],
        );
        let cost = Cost {
            bytes: 16 * group.len(),
            flops: 4 * group.len(),
        };
        rows::run(
            &nest,
            cost,
            |_| true,
            |row| {
                // SAFETY: the nest reaches elements of all tensors (TENSOR1). The table is fresh
                // (STORAGE3), initialised (STORAGE1) and contiguous, so its innermost step is one
                // element, except in a row of one; rows are disjoint.
                if !unsafe {
                    tile(
                        group,
                        &row,
                        0,
                        0,
                        row.n,
                        g > 0,
                        row.ptrs[group.len()] as *mut i64,
                    )
                } {
                    bad.store(true, Relaxed);
                }
            },
        );
    }
    if bad.into_inner() {
        Err(out_of_range(op, arrays))
    } else {
        Ok(out)
    }
}

/// Whether to use [`gather`]: each of `total` elements has a position of its own, so a table would
/// be as large as the result.
pub fn are_dense(arrays: &[Positions], shape: &[usize], total: usize) -> bool {
    arrays.len() <= ARRAYS && total > 0 && shape.iter().product::<usize>() == total
}

/// Gathers from `x` to `y` by calling a row function with the offsets of each tile. Errors if a
/// position is out of range; the contents of `y` are then unspecified.
///
/// # Safety
/// For each index of `shape`, the element of `x`, moved by the offset of positions in range,
/// belongs to a tensor; the elements of `y` are writable, and nobody else uses them.
pub unsafe fn gather(
    op: &'static str,
    f: RowFn,
    shape: &[usize],
    x: LoopOperand,
    arrays: &[Positions],
    y: LoopOperand,
) -> Result<()> {
    let (rank, size) = (shape.len(), x.size);
    let operands: smallvec::SmallVec<[LoopOperand; 4]> = core::iter::once(x)
        .chain(arrays.iter().map(|a| a.array.operand(rank)))
        .collect();
    let nest = Nest::new(shape, &operands, &[y]);
    let bad = AtomicBool::new(false);
    let cost = Cost {
        bytes: 4 * size + 8 * arrays.len(),
        flops: 4 * arrays.len(),
    };
    rows::run(
        &nest,
        cost,
        |_| true,
        |row| {
            let (from, to) = (0, arrays.len() + 1);
            if let [a] = arrays
                && a.array.dtype() == DType::I64
                && a.stride == size as i64
                && (row.steps[from], row.steps[1], row.steps[to]) == (0, 8, size as isize)
            {
                // positions along a contiguous line
                let (p, n) = (row.ptrs, row.n);
                // SAFETY: the nest reaches the positions (TENSOR1) and the results; the elements are
                // those that any position in range leads to, by the caller.
                let good = dispatch_width!(size, |U| unsafe {
                    kernel::take(
                        p[from] as *const U,
                        a.size,
                        p[1] as *const i64,
                        n,
                        p[to] as *mut U,
                    )
                });
                if !good {
                    bad.store(true, Relaxed);
                }
                return;
            }
            let mut offsets = [const { MaybeUninit::<i64>::uninit() }; TILE];
            let offsets = offsets.as_mut_ptr() as *mut i64;
            for first in (0..row.n).step_by(TILE) {
                let n = TILE.min(row.n - first);
                let at = |k: usize| row.ptrs[k].wrapping_offset(first as isize * row.steps[k]);
                // SAFETY: the nest reaches elements of the arrays (TENSOR1); a tile has room for
                // `n` offsets.
                if !unsafe { tile(arrays, &row, 1, first, n, false, offsets) } {
                    return bad.store(true, Relaxed);
                }
                // SAFETY: GATHER1 by the caller: the offsets are those of positions in range, and
                // private to this thread; rows are disjoint.
                unsafe {
                    f(
                        n,
                        at(from),
                        row.steps[from],
                        offsets,
                        8,
                        at(to),
                        row.steps[to],
                    )
                };
            }
        },
    );
    if bad.into_inner() {
        Err(out_of_range(op, arrays))
    } else {
        Ok(())
    }
}
