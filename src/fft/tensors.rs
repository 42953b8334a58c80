//! Transforms of a tensor's lines: along any axis, in any layout, truncated or padded to a length.

use super::job::{Transform, TransformJob};
use super::line::TransformKind;
use super::memory::{LinePointers, Work};
use super::together;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::failure::try_ranges;
use crate::exec::lines::Lines;
use crate::kernel::fft::Float;
use crate::layout::Shape;
use crate::ops;
use crate::ops::reduce::{slice, slice_mut};
use crate::par;
use crate::tensor::Tensor;

/// Truncates `axis` to length `n`, or pads it with zeros.
pub(super) fn resized(x: &Tensor, axis: usize, n: usize) -> Result<Tensor> {
    let size = x.shape()[axis];
    if size >= n {
        return x.narrow(axis as isize, 0, n);
    }
    let mut shape = Shape::from_slice(x.shape());
    shape[axis] = n - size;
    ops::concat(&[x, &Tensor::zeros(&shape[..], x.dtype())?], axis as isize)
}

/// Transforms the lines of `x` along `axis`, which have the right length already; `x` has the dtype
/// that `kind` takes.
pub(super) fn along(
    x: &Tensor,
    axis: usize,
    kind: TransformKind,
    n: usize,
    inverse: bool,
    scale: f64,
) -> Result<Tensor> {
    if n > usize::MAX / 4 {
        return Err(Error::memory::<f64>(n)); // the number of scalars overflows
    }
    let transform = Transform {
        kind,
        n,
        inverse,
        scale,
    };
    let real = x.dtype().real();
    dispatch!(float real, |T| typed::<T>(x, axis, transform), else Err(Error::unsupported("fft", x.dtype())))
}

/// The number of elements before an axis, and after it.
fn around(x: &Tensor, axis: usize) -> (usize, usize) {
    let product = |sizes: &[usize]| sizes.iter().product();
    (product(&x.shape()[..axis]), product(&x.shape()[axis + 1..]))
}

/// [`along`] for complex numbers, in place.
pub(super) fn along_in_place(x: &mut Tensor, axis: usize, inverse: bool, scale: f64) -> Result<()> {
    let (real, n) = (x.dtype().real(), x.shape()[axis]);
    if x.is_empty() {
        return Ok(());
    }
    let transform = Transform {
        kind: TransformKind::Complex,
        n,
        inverse,
        scale,
    };
    dispatch!(float real, |T| {
        if x.is_contiguous() {
            let around = around(x, axis);
            let y = numbers_mut::<T>(x)?.as_mut_ptr();
            // SAFETY: the same memory, mutably borrowed.
            if unsafe { together::lines(LinePointers { x: y, y }, transform, around)? } {
                return Ok(());
            }
        }
        let job = TransformJob::<T>::new(transform)?;
        if axis + 1 == x.rank() && x.is_contiguous() {
            let lines = x.len() / n;
            let y = numbers_mut::<T>(x)?.as_mut_ptr();
            // SAFETY: the same memory, mutably borrowed.
            unsafe { rows(&job, LinePointers { x: y, y }, lines) }
        } else if par::are_few(x.len() / n, job.cost()) {
            *x = typed::<T>(x, axis, transform)?;
            Ok(())
        } else {
            let work = job.work_len();
            let shape = Shape::from_slice(x.shape());
            Lines::new(&shape, axis)
                .update(x.elements_mut()?)
                .scratch(work, real)
                .run(job.cost(), |line| {
                    let (x, work): (&mut [[T; 2]], &mut [T]) = (line.output(0), line.scratch(0));
                    let x = x.as_flattened_mut().as_mut_ptr();
                    // SAFETY: a line of the job's length, in place, and scratch as it asks for.
                    let done = unsafe { job.run(x, x, Some(work.as_mut_ptr())) };
                    debug_assert!(done.is_ok(), "a line with scratch allocates nothing");
                })
        }
    }, else Err(Error::unsupported("fft", x.dtype())))
}

/// The transform of the lines of `x` along `axis`.
fn typed<T: Float>(x: &Tensor, axis: usize, transform: Transform) -> Result<Tensor> {
    let kind = transform.kind;
    let complex = |numbers: usize, dtype: DType| {
        if dtype.is_complex() {
            numbers / 2
        } else {
            numbers
        }
    };
    let dtype = match kind {
        TransformKind::Real => x.dtype().real(),
        _ => x.dtype().complex(),
    };
    let mut shape = Shape::from_slice(x.shape());
    shape[axis] = complex(kind.output(transform.n), dtype);
    let mut y = Tensor::empty(&shape[..], dtype)?;
    if y.is_empty() {
        return Ok(y);
    }
    let ends = |y: &mut Tensor| {
        Ok::<_, Error>(LinePointers {
            x: numbers::<T>(x).as_ptr(),
            y: numbers_mut::<T>(y)?.as_mut_ptr(),
        })
    };
    // SAFETY: a fresh tensor, and another with as many lines.
    if x.is_contiguous() && unsafe { together::lines(ends(&mut y)?, transform, around(x, axis))? } {
        return Ok(y);
    }
    // the plan, only once there is memory for the result: its tables are as large as a line
    let job = TransformJob::new(transform)?;
    if axis + 1 == x.rank() && x.is_contiguous() {
        let lines = y.len() / shape[axis];
        // SAFETY: a fresh tensor, and another with as many lines.
        unsafe { rows(&job, ends(&mut y)?, lines)? };
        return Ok(y);
    }
    let lines = y.len() / shape[axis];
    if par::are_few(lines, job.cost()) {
        // few lines, each on all threads: first the tensor is copied so that the axis is the last
        // one
        let (from, last) = (axis as isize, x.rank() as isize - 1);
        let x = x.transpose(from, last)?.contiguous()?;
        drop(y);
        let y = typed::<T>(&x, x.rank() - 1, transform)?;
        return y.transpose(from, last)?.contiguous();
    }
    let real = x.dtype().real();
    let inputs = x.dtype().is_complex();
    let outputs = dtype.is_complex();
    Lines::new(x.shape(), axis)
        .input(x.elements())
        .output(y.elements_mut()?)
        .scratch(job.work_len(), real)
        .run(job.cost(), |line| {
            let x: &[T] = if inputs {
                line.input::<[T; 2]>(0).as_flattened()
            } else {
                line.input(0)
            };
            let y: &mut [T] = if outputs {
                line.output::<[T; 2]>(0).as_flattened_mut()
            } else {
                line.output(0)
            };
            let work: &mut [T] = line.scratch(0);
            assert!(x.len() == job.input() && y.len() == job.output());
            // SAFETY: lines of the job's lengths, and scratch as it asks for.
            let done = unsafe { job.run(x.as_ptr(), y.as_mut_ptr(), Some(work.as_mut_ptr())) };
            debug_assert!(done.is_ok(), "a line with scratch allocates nothing");
        })?;
    Ok(y)
}

/// The scalars of a contiguous tensor, two per complex number.
fn numbers<T: Float>(x: &Tensor) -> &[T] {
    if x.dtype().is_complex() {
        slice::<[T; 2]>(x).as_flattened()
    } else {
        slice(x)
    }
}
fn numbers_mut<T: Float>(y: &mut Tensor) -> Result<&mut [T]> {
    Ok(if y.dtype().is_complex() {
        slice_mut::<[T; 2]>(y)?.as_flattened_mut()
    } else {
        slice_mut(y)?
    })
}

/// Transforms `n` consecutive rows: each on all threads if they are few, else one row per thread at
/// a time.
///
/// # Safety
/// Both ends are valid for `n` rows, are the same memory or don't overlap, and nobody else writes
/// there.
unsafe fn rows<T: Float>(job: &TransformJob<T>, ends: LinePointers<T>, n: usize) -> Result<()> {
    let (input, output) = (job.input(), job.output());
    let cost = job.cost();
    let row = |k: usize, work: Option<*mut T>| {
        let ends = &ends;
        // SAFETY: row `k` of both belongs to one unit of work, which has scratch of its own.
        unsafe { job.run(ends.x.add(k * input), ends.y.add(k * output), work) }
    };
    if par::are_few(n, cost) {
        return (0..n).try_for_each(|k| row(k, None));
    }
    try_ranges(n, 1, cost, |mut range| {
        let mut work = Work::new(job.work_len())?;
        let work = work.as_mut_ptr();
        range.try_for_each(|k| row(k, Some(work)))
    })
}
