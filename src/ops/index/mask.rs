//! Masks: nonzero elements and their positions.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::chunks::{Chunks, READ};
use crate::exec::nest::{LoopOperand, Nest};
use crate::exec::rows;
use crate::fallible;
use crate::kernel::elementwise::rows::Where;
use crate::kernel::index::mask as kernel;
use crate::layout;
use crate::ops::elementwise::{Arg, apply};
use crate::ops::methods::method;
use crate::par::{self, Cost};
use crate::scalar::Scalar;
use crate::simd::{self, copy_once};
use crate::tensor::Tensor;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Bytes of a mask that are copied, then applied.
const TILE: usize = if simd::MICROCONTROLLER { 64 } else { 4096 };

/// A contiguous mask in chunks, with the number of true elements before each chunk.
struct Counted {
    mask: Tensor,
    chunks: Chunks,
    starts: Vec<usize>,
}

impl Counted {
    fn new(mask: &Tensor) -> Result<Counted> {
        let mask = mask.contiguous()?;
        let chunks = Chunks::new(mask.len(), mask.len(), READ);
        let mut starts = fallible::filled(0, chunks.len() + 1)?;
        let (cost, bytes) = (
            Cost {
                bytes: READ,
                flops: 0,
            },
            mask.as_bytes(),
        );
        chunks.run(&mut starts[1..], &mut [(); 0], cost, |c, count, _| {
            *count = kernel::count(&bytes[c.range])
        });
        for k in 1..starts.len() {
            starts[k] += starts[k - 1];
        }
        Ok(Counted {
            mask,
            chunks,
            starts,
        })
    }
    /// The number of true elements.
    fn total(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }
    /// Calls `f` with each tile: its part of the mask, copied (READ1), the start of that part, and
    /// what is left of its chunk's part of the result. `f` returns the number of elements that it
    /// has filled in. `cost` is that of an element. Errors if that is less than was counted, because
    /// others have written to the mask since.
    fn each<T: Send>(
        &self,
        op: &'static str,
        out: &mut [T],
        cost: Cost,
        f: impl Fn(&[u8], usize, &mut [T]) -> usize + Sync,
    ) -> Result<()> {
        let (out, short) = (par::Out::new(out), AtomicBool::new(false));
        par::chunks(self.chunks.len(), cost.times(READ), |k| {
            let range = self.chunks.get(k).range;
            // SAFETY: OUT1: the chunks' results are consecutive.
            let part = unsafe { out.part(self.starts[k]..self.starts[k + 1]) };
            let (mut tile, mut found) = ([const { MaybeUninit::uninit() }; TILE], 0);
            for first in range.clone().step_by(TILE) {
                let room = &mut tile[..TILE.min(range.end - first)];
                // SAFETY: bytes of the contiguous mask (TENSOR1).
                let own = unsafe { copy_once(self.mask.as_ptr().add(first), 1, room) };
                found += f(own, first, &mut part[found..]);
            }
            if found < part.len() {
                short.store(true, Relaxed);
            }
        });
        if short.into_inner() {
            Err(changed(op))
        } else {
            Ok(())
        }
    }
    /// The positions of the true elements, in row-major order.
    fn flat(&self, op: &'static str) -> Result<Tensor> {
        let mut out = Tensor::empty([self.total()], DType::I64)?;
        // the function's lifetimes are not general enough without a closure
        #[allow(clippy::redundant_closure)]
        self.each(
            op,
            out.as_mut_slice::<i64>()?,
            Cost { bytes: 9, flops: 4 },
            |mask, start, out| kernel::positions(mask, start, out),
        )?;
        Ok(out)
    }
}

/// The error for a mask that others have written to between two reads (READ1).
#[cold]
pub fn changed(op: &'static str) -> Error {
    Error::value(op, "the mask was changed while it was read")
}

/// The positions of the true elements, one tensor per dimension of `mask`, which is bool.
pub fn positions(op: &'static str, mask: &Tensor) -> Result<Vec<Tensor>> {
    let flat = Counted::new(mask)?.flat(op)?;
    if mask.rank() == 1 {
        return Ok(alloc::vec![flat]);
    }
    (0..mask.rank())
        .map(|k| {
            let mut out = Tensor::empty(flat.shape(), DType::I64)?;
            coordinates(&flat, mask.shape(), k, out.as_mut_slice::<i64>()?, 1)?;
            Ok(out)
        })
        .collect()
}

/// Writes coordinate `k` of flat positions in a tensor of this shape to every `step`-th element of
/// `out`, starting with the first.
fn coordinates(
    flat: &Tensor,
    shape: &[usize],
    k: usize,
    out: &mut [i64],
    step: usize,
) -> Result<()> {
    let (flat, inner) = (flat.as_slice::<i64>()?, shape[k + 1..].iter().product());
    let out = par::Out::new(out);
    par::ranges(
        flat.len(),
        64,
        Cost {
            bytes: 16,
            flops: 32,
        },
        |r| {
            // SAFETY: OUT1: the parts are disjoint, since ranges are; each ends with its last
            // coordinate.
            let out = unsafe { out.part(r.start * step..(r.end - 1) * step + 1) };
            kernel::coordinates(&flat[r], inner, shape[k], out, step)
        },
    );
    Ok(())
}

method!(
    /// The positions of the nonzero elements: an int64 tensor for each dimension, in row-major
    /// order. NaN is nonzero.
    ///
    /// Errors for a 0-dimensional tensor.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[0, 1], [2, 0]]);
    /// let p = x.nonzero()?;
    /// assert_eq!((p[0].to_vec::<i64>()?, p[1].to_vec::<i64>()?), (vec![0, 1], vec![1, 0]));
    /// assert_eq!(ops::nonzero(&Tensor::from([0, 7, 0, 8]))?[0].to_vec::<i64>()?, [1, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("nonzero_static"))]
    pub fn nonzero(x: &Tensor) -> Result<Vec<Tensor>> {
        if x.rank() == 0 {
            return Err(Error::shape(
                "nonzero",
                "a tensor without dimensions has no positions: reshape it to [1]",
            ));
        }
        positions("nonzero", &x.astype(DType::Bool)?)
    }
);

method!(
    /// The positions of the nonzero elements, one per row: int64 of shape `[count, rank]`. Errors
    /// if there is no memory for them.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[0.0f32, 1.0], [2.0, 0.0]]);
    /// assert_eq!(x.argwhere()?.to_vec::<i64>()?, [0, 1, 1, 0]);
    /// assert_eq!(ops::argwhere(&Tensor::from([0, 7, 0]))?.shape(), [1, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn argwhere(x: &Tensor) -> Result<Tensor> {
        let flat = Counted::new(&x.astype(DType::Bool)?)?.flat("argwhere")?;
        let mut out = Tensor::empty([flat.len(), x.rank()], DType::I64)?;
        let to = out.as_mut_slice::<i64>()?;
        for k in 0..x.rank() {
            // if nothing was found, there is nothing to write, and `k..` is out of range
            coordinates(
                &flat,
                x.shape(),
                k,
                to.get_mut(k..).unwrap_or(&mut []),
                x.rank(),
            )?;
        }
        Ok(out)
    }
);

method!(
    /// The elements of `x` where `mask` is true, in row-major order, as a 1-dimensional tensor. The
    /// two broadcast together.
    ///
    /// Errors if the mask is not bool, or shapes don't broadcast.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.masked_select(&x.greater(2)?)?.to_vec::<i32>()?, [3, 4]);
    /// let m = Tensor::from([true, false]);
    /// assert_eq!(ops::masked_select(&x, &m)?.to_vec::<i32>()?, [1, 3]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn masked_select(x: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let (shape, mask) = broadcast_mask("masked_select", x, mask)?;
        let x = x.broadcast_to(&shape)?.contiguous()?;
        let counted = Counted::new(&mask)?;
        let mut out = Tensor::empty([counted.total()], x.dtype())?;
        let to = out.as_mut_ptr()?;
        dispatch_width!(x.dtype().size(), |U| {
            // SAFETY: contiguous elements of this width (TENSOR1), aligned (TENSOR2) and initialised;
            // any bits are a valid integer. The result is fresh (STORAGE3).
            let (x, out) = unsafe {
                (
                    slice::<U>(x.as_ptr(), x.len()),
                    core::slice::from_raw_parts_mut(to as *mut U, counted.total()),
                )
            };
            let cost = Cost {
                bytes: 1 + 2 * size_of::<U>(),
                flops: 4,
            };
            counted.each("masked_select", out, cost, |mask, start, out| {
                kernel::select(&x[start..], mask, out)
            })?;
        });
        Ok(out)
    }
);

/// # Safety
/// `p` points to `n` elements, which are aligned, initialised and unchanged while the slice is
/// used; if `n` is 0, `p` may be anything.
unsafe fn slice<'a, U>(p: *const u8, n: usize) -> &'a [U] {
    if n == 0 {
        &[]
    } else {
        // SAFETY: `n` aligned, initialised elements, by the caller's promise.
        unsafe { core::slice::from_raw_parts(p as *const U, n) }
    }
}

method!(
    /// `x` with `value` where `mask` is true. The two tensors broadcast together; the result has
    /// the dtype of `x`.
    ///
    /// Errors if the mask is not bool, shapes don't broadcast, or the value doesn't fit the dtype.
    ///
    /// ```
    /// use flex::{Tensor, ops};
    /// let x = Tensor::from([1.0f32, 5.0]);
    /// assert_eq!(x.masked_fill(&x.greater(2)?, 0)?.to_vec::<f32>()?, [1.0, 0.0]);
    /// let m = Tensor::from([false, true]);
    /// assert_eq!(ops::masked_fill(&x, &m, f32::NEG_INFINITY)?.to_vec::<f32>()?, [1.0, f32::NEG_INFINITY]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("mask_fill"))]
    pub fn masked_fill(x: &Tensor, mask: &Tensor, value: impl Into<Scalar>) -> Result<Tensor> {
        let (shape, mask) = broadcast_mask("masked_fill", x, mask)?;
        let value = value.into().value(x.dtype(), "masked_fill")?;
        if x.dtype().is_storage() {
            let mut out = x.broadcast_to(&shape)?.copy()?;
            // SAFETY: the value is one element of the dtype.
            unsafe { fill(&mut out, &mask, value.as_ptr())? };
            return Ok(out);
        }
        let value = Tensor::filled(&[], x.dtype(), &value)?;
        apply(
            &Where::ROW,
            [Arg::Ref(&mask), Arg::Ref(&value), Arg::Ref(x)],
        )
    }
);

/// Sets elements to one value where a mask of the same shape is true.
///
/// # Safety
/// The value is one element of the dtype.
pub unsafe fn fill(out: &mut Tensor, mask: &Tensor, value: *const u8) -> Result<()> {
    let (first, size, rank) = (out.as_mut_ptr()?, out.dtype().size(), out.rank());
    let nest = Nest::new(
        out.shape(),
        &[mask.operand(rank)],
        &[LoopOperand::new(
            first,
            size,
            out.shape(),
            out.strides(),
            rank,
        )],
    );
    dispatch_width!(size, |U| {
        // SAFETY: `value` is an element of the tensor's dtype, by the caller's promise, hence of
        // this width.
        let value = unsafe { *(value as *const U) };
        rows::run(
            &nest,
            Cost {
                bytes: 1 + 2 * size,
                flops: 1,
            },
            |_| true,
            |row| {
                let (mask, out) = (row.ptrs[0], row.ptrs[1] as *mut U);
                if (row.steps[0], row.steps[1]) == (1, size as isize) {
                    // SAFETY: as below; the row's elements are contiguous, and the mask is other
                    // memory, since the result is fresh (STORAGE3).
                    return unsafe {
                        kernel::fill(
                            core::slice::from_raw_parts_mut(out, row.n),
                            core::slice::from_raw_parts(mask, row.n),
                            value,
                        )
                    };
                }
                for i in 0..row.n as isize {
                    // SAFETY: the nest reaches elements of both tensors (TENSOR1); the result is
                    // fresh (STORAGE3) and its rows are disjoint.
                    unsafe {
                        if *row.ptrs[0].offset(i * row.steps[0]) != 0 {
                            *(row.ptrs[1].offset(i * row.steps[1]) as *mut U) = value;
                        }
                    }
                }
            },
        );
    });
    Ok(())
}

/// The shape that `x` and the mask broadcast to, and the mask broadcast to it.
fn broadcast_mask(op: &'static str, x: &Tensor, mask: &Tensor) -> Result<(layout::Shape, Tensor)> {
    if !mask.dtype().is_bool() {
        return Err(Error::dtype(
            op,
            message!("a mask must be bool, not {}", mask.dtype()),
        ));
    }
    let shape = layout::broadcast(op, &[x.shape(), mask.shape()])?;
    let mask = mask.broadcast_to(&shape)?;
    Ok((shape, mask))
}
