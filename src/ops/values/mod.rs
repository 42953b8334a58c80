//! Elements as values of Rust's types: one, all in turn, and the caller's own functions applied to
//! them.

mod iter;

pub use iter::Iter;

use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::exec::nest::{MAX_OPERANDS, Nest, Operand};
use crate::exec::rows;
use crate::layout::{self, Ints};
use crate::par::{self, Cost, Out};
use crate::scalar::Value;
use crate::tensor::Tensor;
use core::mem::MaybeUninit;
use core::slice;

/// The assumed cost of a caller's function, in operations: such that few elements stay on one
/// thread.
const FLOPS: usize = 8;
/// Lines of fewer elements are short.
const SHORT: usize = 256;
/// Lines of fewer elements take longer in place than copies of the operands that make them longer.
const SHORTEST: usize = 4;

impl Tensor {
    /// The element at a position; negative indices count from the end.
    ///
    /// Errors if `T` is not the dtype, the position doesn't have one index for each dimension, or
    /// an index is out of range.
    ///
    /// ```
    /// let x = flex::Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(x.at::<f32>([1, 0])?, 3.0);
    /// assert_eq!(x.at::<f32>((0, -1))?, 2.0);
    /// assert!(x.at::<f32>([2, 0]).is_err());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn at<T: Element>(&self, position: impl Into<Ints>) -> Result<T> {
        self.expect_dtype::<T>("at")?;
        let p = self
            .as_ptr()
            .wrapping_offset(self.offset_of("at", position.into().values())?);
        // SAFETY: an element inside the shape (TENSOR1).
        unsafe { Value::read(p, size_of::<T>()) }
            .get::<T>()
            .ok_or_else(|| {
                Error::value(
                    "at",
                    "the memory holds a byte other than 0 and 1: read it as flex::Bool",
                )
            })
    }
    /// Writes the element at a position; shared storage is copied first. Errors as
    /// [`at`](Tensor::at).
    ///
    /// ```
    /// let mut x = flex::Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// x.set_at([1, 0], 7.0f32)?;
    /// assert_eq!(x.to_vec::<f32>()?, [1.0, 2.0, 7.0, 4.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn set_at<T: Element>(&mut self, position: impl Into<Ints>, value: T) -> Result<()> {
        self.expect_dtype::<T>("set_at")?;
        let position = position.into();
        self.offset_of("set_at", position.values())?;
        let first = self.as_mut_ptr()?;
        // a copy may have changed the strides
        let p = first.wrapping_offset(self.offset_of("set_at", position.values())?) as *mut T;
        // SAFETY: an element inside the shape (TENSOR1), aligned (TENSOR2), in storage of this
        // tensor's own (STORAGE3).
        unsafe { p.write(value) };
        Ok(())
    }
    /// Bytes from the first element to the one at a position.
    fn offset_of(&self, op: &'static str, position: &[isize]) -> Result<isize> {
        if position.len() != self.rank() {
            return Err(Error::subscript(
                op,
                message!(
                    "{} indices for {} dimensions (shape {:?})",
                    position.len(),
                    self.rank(),
                    self.shape()
                ),
            ));
        }
        let mut at = 0;
        for (axis, (index, (size, stride))) in position
            .iter()
            .zip(self.shape().iter().zip(self.strides()))
            .enumerate()
        {
            let k = if *index < 0 {
                index.wrapping_add(*size as isize)
            } else {
                *index
            };
            if !(0..*size as isize).contains(&k) {
                return Err(Error::Index {
                    op,
                    index: *index as i64,
                    axis,
                    size: *size,
                });
            }
            at += k * stride; // LAYOUT3
        }
        Ok(at * self.dtype().size() as isize)
    }

    /// Applies `f` to each element, into a new tensor of this shape whose dtype is that of `f`'s
    /// results.
    ///
    /// `f` is called once for each element, in any order, on any thread; its result should depend
    /// on the element alone. Dense tensors are read in place, others are copied first. The loop is
    /// over slices, so that the compiler vectorises a simple `f` for the target that the program is
    /// built for (`-C target-cpu=native`); the operations of [`ops`](crate::ops) choose their
    /// instruction set at run time.
    ///
    /// Errors if `T` is not the dtype. Panics if `f` panics.
    ///
    /// ```
    /// let x = flex::Tensor::from([[1.0f32, -2.0], [3.0, -4.0]]);
    /// let y = x.map(|x: f32| if x < 0.0 { 0.1 * x } else { x })?;
    /// assert_eq!(y.to_vec::<f32>()?, [1.0, -0.2, 3.0, -0.4]);
    /// assert_eq!(x.map(|x: f32| x > 0.0)?.dtype(), flex::DType::Bool);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn map<T: Element, R: Element>(&self, f: impl Fn(T) -> R + Sync) -> Result<Tensor> {
        self.expect_dtype::<T>("map")?;
        let x = if self.layout().is_dense() {
            self.clone()
        } else {
            self.copy()?
        };
        let mut out = Tensor::empty_result(x.shape(), [&x].into_iter(), R::DTYPE)?;
        assert!(x.layout().is_parallel(out.layout()));
        let from = elements::<T>("map", &x)?;
        write(&mut out, size_of::<T>(), |r, to| {
            for (y, x) in to.iter_mut().zip(&from[r]) {
                y.write(f(*x));
            }
        })?;
        Ok(out)
    }
    /// Applies `f` to each pair of elements of two tensors, which broadcast, as [`map`](Tensor::map)
    /// does to single elements. Operands that are dense, or broadcast from a dense tensor, are read
    /// in place, others (and those of very short lines) are copied first.
    ///
    /// Errors if `A` and `B` are not the dtypes, or the shapes don't broadcast.
    ///
    /// ```
    /// use flex::Tensor;
    /// let (x, n) = (Tensor::from([[1.5f32, 2.5], [3.5, 4.5]]), Tensor::from([1i32, 2]));
    /// let y = x.zip_with(&n, |x: f32, n: i32| x.powi(n))?;
    /// assert_eq!(y.to_vec::<f32>()?, [1.5, 6.25, 3.5, 20.25]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn zip_with<A: Element, B: Element, R: Element>(
        &self,
        other: &Tensor,
        f: impl Fn(A, B) -> R + Sync,
    ) -> Result<Tensor> {
        const OP: &str = "zip_with";
        self.expect_dtype::<A>(OP)?;
        other.expect_dtype::<B>(OP)?;
        let shape = layout::broadcast(OP, &[self.shape(), other.shape()])?;
        let (a, b) = (dense(self)?, dense(other)?);
        elements::<A>(OP, &a)?; // the bytes are values of `A` and `B`
        elements::<B>(OP, &b)?;
        let mut out = Tensor::empty_result(&shape, [&a, &b].into_iter(), R::DTYPE)?;
        let rank = shape.len();
        let to = Operand::new(
            out.as_mut_ptr()?,
            size_of::<R>(),
            &shape,
            out.strides(),
            rank,
        );
        let mut nest = Nest::new(&shape, &[a.operand(rank), b.operand(rank)], &[to]);
        if nest.dims.len() > 1 && nest.dims[0].n < SHORTEST {
            let whole = |x: &Tensor| x.broadcast_to(&shape)?.contiguous();
            return whole(self)?.zip_with(&whole(other)?, f);
        }
        // the driver's step from row to row would outweigh a short one: rows hold several then
        let short = nest.dims.len() > 1 && nest.dims[0].n < SHORT;
        let line = short.then(|| nest.dims.remove(0));
        let len = line.map_or(1, |line| line.n);
        nest.total /= len;
        let cost = Cost {
            bytes: (size_of::<A>() + size_of::<B>() + size_of::<R>()) * len,
            flops: FLOPS * len,
        };
        rows::run(
            &nest,
            cost,
            |_| true,
            |row| {
                let Some(line) = line else {
                    // SAFETY: ZIP1 for a row of the nest.
                    return unsafe { zip(&f, row.n, *row.ptrs, row.steps) };
                };
                let mut ptrs = *row.ptrs;
                for _ in 0..row.n {
                    // SAFETY: ZIP1 for a line of the nest.
                    unsafe { zip(&f, line.n, ptrs, &line.steps) };
                    for (p, step) in ptrs[..3].iter_mut().zip(row.steps) {
                        *p = p.wrapping_offset(*step);
                    }
                }
            },
        );
        Ok(out)
    }
    /// Replaces each element by `f` of it; shared storage is copied first, so that no other tensor
    /// changes. `f` is called as by [`map`](Tensor::map).
    ///
    /// Errors if `T` is not the dtype. If `f` panics, some elements have been replaced.
    ///
    /// ```
    /// let mut x = flex::Tensor::from([1.0f32, 4.0, 9.0]);
    /// x.map_inplace(|x: f32| x.sqrt() + 1.0)?;
    /// assert_eq!(x.to_vec::<f32>()?, [2.0, 3.0, 4.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn map_inplace<T: Element>(&mut self, f: impl Fn(T) -> T + Sync) -> Result<()> {
        self.expect_dtype::<T>("map_inplace")?;
        if !self.layout().is_dense() {
            *self = self.copy()?;
        }
        elements::<T>("map_inplace", self)?; // the bytes are values of `T`
        write::<T>(self, size_of::<T>(), |_, values| {
            for x in values {
                // SAFETY: initialised (STORAGE1), with values of `T` by the check above.
                x.write(f(unsafe { x.assume_init() }));
            }
        })
    }
}

/// A tensor whose elements are those of `x` before it was broadcast, dense: a copy if they aren't.
fn dense(x: &Tensor) -> Result<Tensor> {
    let mut x = x.clone();
    for k in 0..x.rank() {
        if x.strides()[k] == 0 && x.shape()[k] > 1 {
            x = x.narrow(k as isize, 0, 1)?;
        }
    }
    if x.layout().is_dense() {
        Ok(x)
    } else {
        x.copy()
    }
}

/// Applies `f` to `n` pairs of elements, `steps` bytes apart, from the first two pointers on, and
/// writes the results from the third on.
///
/// # Safety
/// Contract (ZIP1): the operands' elements are in bounds, aligned and valid as `A` and `B`; those of
/// the result are in bounds, aligned, and nobody else uses them.
#[inline(always)]
unsafe fn zip<A: Element, B: Element, R: Element>(
    f: impl Fn(A, B) -> R,
    n: usize,
    ptrs: [*mut u8; MAX_OPERANDS],
    steps: &[isize; MAX_OPERANDS],
) {
    let (a, b, to) = (ptrs[0] as *const A, ptrs[1] as *const B, ptrs[2] as *mut R);
    let adjacent = |i: usize, size: usize| steps[i] == size as isize;
    // SAFETY: ZIP1, by the caller's promise; a slice is made of elements that are adjacent.
    unsafe {
        if n == 0 {
        } else if adjacent(2, size_of::<R>())
            && (adjacent(0, size_of::<A>()) || steps[0] == 0)
            && (adjacent(1, size_of::<B>()) || steps[1] == 0)
        {
            let to = slice::from_raw_parts_mut(to as *mut MaybeUninit<R>, n);
            let left = slice::from_raw_parts(a, if steps[0] == 0 { 1 } else { n });
            let right = slice::from_raw_parts(b, if steps[1] == 0 { 1 } else { n });
            match (left, right) {
                ([a], right) if right.len() == n => to
                    .iter_mut()
                    .zip(right)
                    .for_each(|(y, b)| _ = y.write(f(*a, *b))),
                (left, [b]) => to
                    .iter_mut()
                    .zip(left)
                    .for_each(|(y, a)| _ = y.write(f(*a, *b))),
                (left, right) => to
                    .iter_mut()
                    .zip(left.iter().zip(right))
                    .for_each(|(y, (a, b))| _ = y.write(f(*a, *b))),
            }
        } else {
            for i in 0..n as isize {
                let a = a.byte_offset(i * steps[0]).read();
                let b = b.byte_offset(i * steps[1]).read();
                to.byte_offset(i * steps[2]).write(f(a, b));
            }
        }
    }
}

/// The elements of a dense tensor in memory order. Errors if bytes are not valid as `T`.
fn elements<'a, T: Element>(op: &'static str, x: &'a Tensor) -> Result<&'a [T]> {
    assert!(x.layout().is_dense() && x.dtype() == T::DTYPE);
    if x.is_empty() {
        return Ok(&[]);
    }
    // SAFETY: dense elements from the first on (TENSOR1), initialised (STORAGE1).
    let bytes = unsafe { slice::from_raw_parts(x.as_ptr(), x.len() * size_of::<T>()) };
    if !T::valid(bytes) {
        return Err(Error::value(
            op,
            "the memory holds bytes other than 0 and 1: read it as flex::Bool",
        ));
    }
    // SAFETY: as above, aligned (TENSOR2), valid as `T`.
    Ok(unsafe { slice::from_raw_parts(x.as_ptr() as *const T, x.len()) })
}

/// Calls `f` with ranges of the elements of a dense tensor in memory order, which it writes;
/// `bytes` are read for each.
fn write<R: Element>(
    out: &mut Tensor,
    bytes: usize,
    f: impl Fn(core::ops::Range<usize>, &mut [MaybeUninit<R>]) + Sync,
) -> Result<()> {
    let p = out.as_mut_ptr()?;
    let n = out.len();
    assert!(out.layout().is_dense() && out.dtype() == R::DTYPE);
    if n == 0 {
        return Ok(());
    }
    // SAFETY: dense elements from the first on (TENSOR1), aligned (TENSOR2), exclusive while `out`
    // is borrowed (STORAGE3).
    let to = Out::new(unsafe { slice::from_raw_parts_mut(p as *mut MaybeUninit<R>, n) });
    par::ranges(
        n,
        64,
        Cost {
            bytes: bytes + size_of::<R>(),
            flops: FLOPS,
        },
        |r| {
            // SAFETY: OUT1: the ranges of two calls are disjoint.
            f(r.clone(), unsafe { to.part(r) })
        },
    );
    Ok(())
}
