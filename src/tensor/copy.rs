//! Moving elements: contiguous copies, copy-on-write, reshape, conversion.

use super::Tensor;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::exec::few;
use crate::exec::nest::LoopOperand;
use crate::exec::pack::pack;
use crate::exec::program::{Opcode, TileProgram};
use crate::exec::rect::Rect;
use crate::exec::view::{View, ViewMut};
use crate::exec::{self};
use crate::fallible;
use crate::kernel::convert;
use crate::kernel::elementwise::{COPY_MASKS, Copy1};
use crate::layout::{Ints, Layout, Shape};
use crate::par::{self, Cost};
use crate::scalar::ElementBytes;
use crate::simd;
use alloc::vec::Vec;
use core::mem::MaybeUninit;

/// Whether this many contiguous bytes are moved directly, without a plan.
fn is_small(bytes: usize) -> bool {
    let cost = Cost { bytes: 2, flops: 0 };
    par::is_small(bytes, cost)
}

/// The copy loop for elements of this size.
fn copy(size: usize) -> Opcode {
    let f = dispatch_width!(size, |U| simd::pick::<Copy1<U>>());
    Opcode::unary(f, COPY_MASKS, convert::COST)
}

/// Runs a single instruction with one operand.
///
/// # Safety
/// NEST1; the loop takes elements of the operands' sizes.
unsafe fn run(program: &TileProgram, shape: &[usize], input: LoopOperand, output: LoopOperand) {
    // SAFETY: NEST1, by the caller's promise.
    unsafe { exec::run(program, shape, &[input], &[output]) }
}

impl Tensor {
    /// The elements, as drivers of loops read them.
    #[doc(hidden)]
    #[inline]
    pub fn elements(&self) -> View<'_> {
        // SAFETY: VIEW1 by TENSOR1, TENSOR2 and STORAGE1.
        unsafe { View::new(self.as_ptr(), self.dtype().size(), self.layout()) }
    }
    /// The elements, as drivers of loops write them; copied first if the storage is shared.
    #[doc(hidden)]
    #[inline]
    pub fn elements_mut(&mut self) -> Result<ViewMut<'_>> {
        let p = self.as_mut_ptr()?;
        // SAFETY: VIEW2 by TENSOR1, TENSOR2, and STORAGE3 after the line above, which also ensures
        // that no two indices share an element.
        Ok(unsafe { ViewMut::new(p, self.dtype().size(), self.layout()) })
    }
    /// This tensor as an operand of loops over a shape of `rank` dimensions, to which it
    /// broadcasts.
    pub(crate) fn operand(&self, rank: usize) -> LoopOperand {
        self.elements().operand(rank)
    }
    /// A row-major copy with storage of its own. Errors if there is no memory for it.
    ///
    /// ```
    /// let x = flex::Tensor::from_slice(&[1i32, 2], [2])?;
    /// let y = x.copy()?;
    /// assert!(!y.shares_storage(&x) && y.to_vec::<i32>()? == [1, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("to_owned"))]
    pub fn copy(&self) -> Result<Tensor> {
        if self.is_contiguous() && is_small(self.len() * self.dtype().size()) {
            let mut out = Tensor::empty_like(self, self.dtype())?;
            let p = out.as_mut_ptr()?;
            // SAFETY: contiguous elements of both (TENSOR1), the result's unshared (STORAGE3).
            unsafe {
                core::ptr::copy_nonoverlapping(self.as_ptr(), p, self.len() * self.dtype().size())
            };
            return Ok(out);
        }
        let mut out = Tensor::empty(self.shape(), self.dtype())?;
        let bytes = self.len() * self.dtype().size();
        match (self.shape(), self.strides()) {
            // a plan would take longer than a small matrix
            (&[rows, cols], &[row_step, col_step]) if !self.is_empty() && is_small(bytes) => {
                let size = self.dtype().size();
                let matrix = Rect {
                    ptr: self.as_ptr(),
                    rows,
                    cols,
                    row_step: row_step * size as isize,
                    col_step: col_step * size as isize,
                };
                // SAFETY: PACK1: the elements of this tensor (TENSOR1, TENSOR2), and as many of a
                // fresh one (STORAGE3).
                unsafe { pack(out.as_mut_ptr()?, matrix, size) }
            }
            _ => out.copy_from(self)?,
        }
        Ok(out)
    }
    /// The tensor itself if it is contiguous, else a contiguous copy. Errors if there is no memory
    /// for that.
    ///
    /// ```
    /// let x = flex::Tensor::from_slice(&[1i32, 2, 3, 4], [2, 2])?;
    /// assert!(x.contiguous()?.shares_storage(&x));
    /// assert_eq!(x.transpose(0, 1)?.contiguous()?.as_slice::<i32>()?, [1, 3, 2, 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("as_standard_layout"))]
    pub fn contiguous(&self) -> Result<Tensor> {
        if self.is_contiguous() {
            Ok(self.clone())
        } else {
            self.copy()
        }
    }
    /// A row-major copy of elements that others may be writing to, each read once (READ1), to be
    /// checked and then used. Errors if there is no memory for it.
    pub(crate) fn copy_once(&self) -> Result<Tensor> {
        let x = self.contiguous()?;
        let mut out = Tensor::empty(x.shape(), x.dtype())?;
        let to = out.as_mut_ptr()?;
        dispatch_width!(x.dtype().size(), |U| {
            // SAFETY: contiguous elements of this width (TENSOR1), aligned (TENSOR2), unshared
            // (STORAGE3).
            let to = unsafe { core::slice::from_raw_parts_mut(to as *mut MaybeUninit<U>, x.len()) };
            let cost = Cost {
                bytes: 2 * size_of::<U>(),
                flops: 0,
            };
            par::split(to, 1, 64, cost, |range, to| {
                let from = (x.as_ptr() as *const U).wrapping_add(range.start);
                // SAFETY: as many elements of `x`, contiguous and aligned likewise. Any bits are a
                // valid integer.
                unsafe { simd::copy_once(from, size_of::<U>() as isize, to) };
            });
        });
        Ok(out)
    }
    /// The values in row-major order. Errors if `T` is not the dtype.
    ///
    /// ```
    /// assert_eq!(flex::Tensor::zeros(&[2], flex::DType::U8)?.to_vec::<u8>()?, [0, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("to_vec1", "to_vec2", "into_data"))]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.expect_dtype::<T>("to_vec")?;
        fallible::copy(self.contiguous()?.as_slice::<T>()?)
    }
    /// A pointer to the first element, for writing; all others are reached by the layout's strides.
    /// If the storage is shared, or indices share elements, the tensor is copied first, so that no
    /// other tensor sees the writes. Errors if there is no memory for the copy.
    ///
    /// ```
    /// let x = flex::Tensor::from([1u8, 2]);
    /// let mut y = x.clone();
    /// // SAFETY: the first of two elements, valid for writes.
    /// unsafe { y.as_mut_ptr()?.write(7) };
    /// assert_eq!((x.to_vec::<u8>()?, y.to_vec::<u8>()?), (vec![1, 2], vec![7, 2]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn as_mut_ptr(&mut self) -> Result<*mut u8> {
        if let Some(p) = self.get_mut_ptr() {
            return Ok(p);
        }
        let shared = self.storage().is_owned();
        *self = self.copy()?;
        if shared {
            self.storage().set_contended();
        }
        self.get_mut_ptr()
            .ok_or_else(|| Error::value("as_mut_ptr", "fresh storage is shared"))
    }
    /// The bytes of the elements of a contiguous tensor, for writing; copied first if the storage
    /// is shared.
    pub(crate) fn as_mut_bytes(&mut self) -> Result<&mut [u8]> {
        assert!(self.is_contiguous(), "the tensor is not contiguous");
        let (p, n) = (self.as_mut_ptr()?, self.len() * self.dtype().size());
        Ok(if n == 0 {
            &mut []
        } else {
            // SAFETY: as `as_bytes`, and exclusive while `self` is borrowed (STORAGE3).
            unsafe { core::slice::from_raw_parts_mut(p, n) }
        })
    }
    /// The values for writing, row-major; copied first if the storage is shared or the tensor is
    /// not contiguous. Errors if `T` is not the dtype.
    ///
    /// ```
    /// let mut x = flex::Tensor::from_slice(&[1i32, 2], [2])?;
    /// let y = x.clone();
    /// x.as_mut_slice::<i32>()?[0] = 5;
    /// assert_eq!((x.to_vec::<i32>()?, y.to_vec::<i32>()?), (vec![5, 2], vec![1, 2]));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn as_mut_slice<T: Element>(&mut self) -> Result<&mut [T]> {
        self.expect_dtype::<T>("as_mut_slice")?;
        if !self.is_contiguous() {
            *self = self.copy()?;
        }
        self.as_slice::<T>()?; // the bytes are values of `T`
        let (p, n) = (self.as_mut_ptr()?, self.len());
        Ok(if n == 0 {
            &mut []
        } else {
            // SAFETY: contiguous elements inside the storage (TENSOR1), aligned (TENSOR2),
            // initialised (STORAGE1) and valid by the line above, exclusive while `self` is
            // borrowed (STORAGE3).
            unsafe { core::slice::from_raw_parts_mut(p as *mut T, n) }
        })
    }
    /// Writes the values of `source`, which has this dtype and broadcasts to this shape, to the
    /// elements of `self`; in place if the storage is unshared. Errors if the dtypes differ or the
    /// shapes don't broadcast.
    ///
    /// ```
    /// let mut x = flex::Tensor::zeros(&[2, 2], flex::DType::I32)?;
    /// x.copy_from(&flex::Tensor::from_slice(&[1i32, 2], [2])?)?;
    /// assert_eq!(x.to_vec::<i32>()?, [1, 2, 1, 2]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn copy_from(&mut self, source: &Tensor) -> Result<()> {
        if source.dtype() != self.dtype() {
            return Err(Error::dtype(
                "copy_from",
                message!(
                    "the source is {}, the target {}",
                    source.dtype(),
                    self.dtype()
                ),
            ));
        }
        self.as_mut_ptr()?;
        self.write(&self.layout().clone(), source)
    }
    /// Writes the values of `source`, which has this dtype and broadcasts to `part`, to the
    /// elements that `part` reaches: a view of the layout that this tensor has after
    /// [`Tensor::as_mut_ptr`].
    pub(crate) fn write(&mut self, part: &Layout, source: &Tensor) -> Result<()> {
        let (size, offset) = (self.dtype().size(), self.layout().offset());
        let first = self
            .as_mut_ptr()?
            .wrapping_offset((part.offset() as isize - offset as isize) * size as isize);
        // SAFETY: both reach only elements of their own storages (TENSOR1); the target's is
        // unshared (STORAGE3), so they are disjoint.
        unsafe { source.write_at(first, part) }
    }
    /// Writes the values, which broadcast to `part`, to memory: `part` with its first element at
    /// `first`.
    ///
    /// # Safety
    /// `part` reaches only elements from `first` on that may be written, nobody else uses
    /// meanwhile, and are none of this tensor's.
    pub(crate) unsafe fn write_at(&self, first: *mut u8, part: &Layout) -> Result<()> {
        let (size, rank) = (self.dtype().size(), part.rank());
        let (alike, bytes) = (self.shape() == part.shape(), part.len() * size);
        if alike && self.is_contiguous() && part.is_contiguous() && is_small(bytes) {
            // SAFETY: equally many contiguous elements on both sides, which don't overlap, by the
            // caller.
            unsafe { core::ptr::copy_nonoverlapping(self.as_ptr(), first, bytes) };
            return Ok(());
        }
        let source = self.share(self.layout().broadcast_to("broadcast_to", part.shape())?);
        let target = LoopOperand::new(first, size, part.shape(), part.strides(), rank);
        if part.len() <= few::FEW {
            // SAFETY: PACK1: the source reaches elements of its storage (TENSOR1, TENSOR2), the
            // target those of `part`, which are disjoint, by the caller.
            unsafe { few::copy(part.shape(), &source.operand(rank), &target) };
            return Ok(());
        }
        // SAFETY: the source reaches elements of its storage (TENSOR1), the target those of
        // `part`, which are disjoint, by the caller.
        unsafe {
            run(
                &TileProgram::copy(copy(size), size),
                part.shape(),
                source.operand(rank),
                target,
            )
        };
        Ok(())
    }
    /// Converts to another dtype; the tensor itself if it already has it. Floats are truncated
    /// toward zero and saturate for integer dtypes, NaN becomes 0; integers wrap; conversions to
    /// floats and complex numbers round; for bool everything becomes `x != 0`.
    ///
    /// Errors for complex numbers to a real dtype, which would lose the imaginary parts
    /// ([`ops::real`](crate::ops::real) takes the real ones).
    ///
    /// ```
    /// use flex::{DType, Tensor};
    /// let x = Tensor::from_slice(&[1.9f32, -2.9, 300.0, f32::NAN], [4])?;
    /// assert_eq!(x.astype(DType::I8)?.to_vec::<i8>()?, [1, -2, 127, 0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("to_dtype", "cast", "mapv_into_any"))]
    pub fn astype(&self, dtype: DType) -> Result<Tensor> {
        if dtype == self.dtype() {
            return Ok(self.clone());
        }
        let f = convert::cast_loop("astype", self.dtype(), dtype)?;
        let mut out = Tensor::empty_result(self.shape(), core::iter::once(self), dtype)?;
        let (p, rank) = (out.as_mut_ptr()?, self.rank());
        if self.is_contiguous() && is_small(self.len() * self.dtype().size().max(dtype.size())) {
            let x = self.as_ptr();
            // SAFETY: LOOP1: contiguous elements of both dtypes (TENSOR1), the result's unshared
            // (STORAGE3).
            unsafe { f(p, x, x, x, self.len(), 0) };
            return Ok(out);
        }
        let target = LoopOperand::new(p, dtype.size(), out.shape(), out.strides(), rank);
        let cast = Opcode::unary(f, 1, convert::COST);
        let cast = TileProgram::of(cast, &[self.dtype().size()], dtype.size());
        // SAFETY: as in `copy_from`; the loop converts between these dtypes.
        unsafe { run(&cast, self.shape(), self.operand(rank), target) };
        Ok(out)
    }
    /// A copy with storage of its own, laid out like an elementwise result.
    #[cfg(feature = "bindings")]
    #[doc(hidden)]
    pub fn copy_laid_out(&self) -> Result<Tensor> {
        let mut out = Tensor::empty_result(self.shape(), core::iter::once(self), self.dtype())?;
        out.copy_from(self)?;
        Ok(out)
    }
    /// [`Tensor::astype`] of a tensor that is no longer needed.
    pub(crate) fn into_dtype(self, dtype: DType) -> Result<Tensor> {
        if dtype == self.dtype() {
            Ok(self)
        } else {
            self.astype(dtype)
        }
    }
    /// A tensor filled with one value of the dtype.
    #[doc(hidden)]
    pub fn filled(shape: &[usize], dtype: DType, value: &ElementBytes) -> Result<Tensor> {
        let mut out = Tensor::empty(shape, dtype)?;
        let p = out.as_mut_ptr()?;
        let (size, rank, fill) = (dtype.size(), out.rank(), copy(dtype.size()));
        if is_small(out.len() * size) {
            let x = value.as_ptr();
            // SAFETY: LOOP1: contiguous elements of the fresh tensor (TENSOR1, STORAGE3), and one
            // value of their dtype.
            unsafe { (fill.f)(p, x, x, x, out.len(), 1) };
            return Ok(out);
        }
        let value = LoopOperand::value(value.as_ptr(), size, rank);
        let target = LoopOperand::new(p, size, out.shape(), out.strides(), rank);
        // SAFETY: as above; the value is one element and outlives the run.
        unsafe { run(&TileProgram::copy(fill, size), out.shape(), value, target) };
        Ok(out)
    }
    /// The elements in row-major order in another shape; one size may be -1, and is inferred. A
    /// view if strides allow it, else a copy. Errors if the number of elements differs.
    ///
    /// ```
    /// let x = flex::Tensor::zeros(&[2, 6], flex::DType::F32)?;
    /// assert_eq!(x.reshape((3, -1))?.shape(), [3, 4]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    #[doc(alias("view", "to_shape", "flatten", "ravel"))]
    #[inline]
    pub fn reshape(&self, shape: impl Into<Ints>) -> Result<Tensor> {
        self.reshaped(shape.into().values())
    }
    fn reshaped(&self, shape: &[isize]) -> Result<Tensor> {
        let shape = resolve_shape("reshape", shape, self.layout())?;
        if let Some(l) = self.layout().reshape(&shape) {
            return Ok(self.view(l));
        }
        let copy = self.copy()?;
        let layout = Layout::contiguous(&shape)?;
        Ok(copy.view(layout))
    }
    /// [`Tensor::reshape`] without a copy; `None` if elements would have to move.
    ///
    /// Errors if the number of elements differs.
    ///
    /// ```
    /// let x = flex::Tensor::from([[1, 2], [3, 4]]);
    /// assert!(x.view_as(-1)?.is_some_and(|v| v.shares_storage(&x)));
    /// assert!(x.transpose(0, 1)?.view_as(-1)?.is_none());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn view_as(&self, shape: impl Into<Ints>) -> Result<Option<Tensor>> {
        let shape = resolve_shape("reshape", shape.into().values(), self.layout())?;
        Ok(self.layout().reshape(&shape).map(|l| self.view(l)))
    }
}

/// Replaces a -1; errors if the number of elements differs.
pub fn resolve_shape(op: &'static str, shape: &[isize], x: &Layout) -> Result<Shape> {
    let fail = || {
        Error::shape(
            op,
            message!(
                "shape {:?} has {} elements; {shape:?} does not",
                x.shape(),
                x.len()
            ),
        )
    };
    let known = shape.iter().filter(|d| **d != -1).try_fold(1usize, |n, d| {
        usize::try_from(*d).ok().and_then(|d| n.checked_mul(d))
    });
    let known = known.ok_or_else(fail)?;
    let rest = match shape.iter().filter(|d| **d == -1).count() {
        0 if known == x.len() => 1,
        1 if known > 0 && x.len().is_multiple_of(known) => x.len() / known,
        0 | 1 => return Err(fail()),
        _ => {
            return Err(Error::shape(
                op,
                message!("{shape:?} has -1 more than once"),
            ));
        }
    };
    Ok(shape
        .iter()
        .map(|d| if *d == -1 { rest } else { *d as usize })
        .collect())
}
