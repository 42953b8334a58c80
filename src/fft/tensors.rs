//! Lines of tensors: along any axis, in any layout, cut or padded to a length.

use super::job::Job;
use super::line::Kind;
use super::memory::{Ends, Work};
use super::together;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::failure::Failure;
use crate::exec::lines::Lines;
use crate::kernel::fft::Float;
use crate::layout::Shape;
use crate::ops;
use crate::ops::reduce::{slice, slice_mut};
use crate::par;
use crate::tensor::Tensor;

/// The length along `axis` is `n`: the end is cut off, or zeros follow.
pub(super) fn resized(x: &Tensor, axis: usize, n: usize) -> Result<Tensor> {
    let size = x.shape()[axis];
    if size >= n {
        return x.narrow(axis as isize, 0, n);
    }
    let mut shape = Shape::from_slice(x.shape());
    shape[axis] = n - size;
    ops::concat(&[x, &Tensor::zeros(&shape[..], x.dtype())?], axis as isize)
}

/// The lines of `x` along `axis`, which has their length, transformed; `x` has the dtype that `kind`
/// takes.
pub(super) fn along(
    x: &Tensor,
    axis: usize,
    kind: Kind,
    n: usize,
    inverse: bool,
    scale: f64,
) -> Result<Tensor> {
    let real = x.dtype().real();
    dispatch!(float real, |T| {
        if kind == Kind::Complex && x.is_contiguous() && !x.is_empty() {
            let mut y = Tensor::empty(x.shape(), x.dtype())?;
            let (from, to): (&[T], &mut [T]) = (numbers(x), numbers_mut(&mut y)?);
            let ends = Ends {
                x: from.as_ptr(),
                y: to.as_mut_ptr(),
            };
            // SAFETY: a fresh tensor, and another of its shape.
            if unsafe { together::lines(ends, around(x, axis), inverse, scale)? } {
                return Ok(y);
            }
        }
        if n > usize::MAX / 4 {
            return Err(Error::memory::<T>(n)); // twice as many numbers have no number
        }
        let make = || Job::<T>::new(kind, n, inverse, scale);
        typed(x, axis, (kind, kind.output(n)), &make)
    }, else Err(Error::unsupported("fft", x.dtype())))
}

/// How many elements there are before an axis, along it, and after it.
fn around(x: &Tensor, axis: usize) -> (usize, usize, usize) {
    let product = |sizes: &[usize]| sizes.iter().product();
    let shape = x.shape();
    (
        product(&shape[..axis]),
        shape[axis],
        product(&shape[axis + 1..]),
    )
}

/// The same of complex numbers where they are.
pub(super) fn along_in_place(x: &mut Tensor, axis: usize, inverse: bool, scale: f64) -> Result<()> {
    let (real, n) = (x.dtype().real(), x.shape()[axis]);
    if x.is_empty() {
        return Ok(());
    }
    dispatch!(float real, |T| {
        if x.is_contiguous() {
            let around = around(x, axis);
            let y = numbers_mut::<T>(x)?.as_mut_ptr();
            // SAFETY: one and the same memory, borrowed for writing.
            if unsafe { together::lines(Ends { x: y, y }, around, inverse, scale)? } {
                return Ok(());
            }
        }
        let job = Job::<T>::new(Kind::Complex, n, inverse, scale)?;
        if axis + 1 == x.rank() && x.is_contiguous() {
            let lines = x.len() / n;
            let y = numbers_mut::<T>(x)?.as_mut_ptr();
            // SAFETY: one and the same memory, borrowed for writing.
            unsafe { rows(&job, Ends { x: y, y }, lines) }
        } else {
            let work = job.work_len();
            let shape = Shape::from_slice(x.shape());
            Lines::new(&shape, axis)
                .update(x.elements_mut()?)
                .scratch(work, real)
                .run(job.cost(), |line| {
                    let (x, work): (&mut [[T; 2]], &mut [T]) = (line.output(0), line.scratch(0));
                    let x = x.as_flattened_mut().as_mut_ptr();
                    // SAFETY: a line of the job's length, in place; working memory as it asks for.
                    let done = unsafe { job.run(x, x, Some(work.as_mut_ptr())) };
                    debug_assert!(done.is_ok(), "a line in working memory asks for no more");
                })
        }
    }, else Err(Error::unsupported("fft", x.dtype())))
}

/// By the job that `make` makes, of which a line of the result has so many numbers. It is made once there is
/// memory for the result: its tables are as large as a line.
fn typed<T: Float>(
    x: &Tensor,
    axis: usize,
    (kind, output): (Kind, usize),
    make: &dyn Fn() -> Result<Job<T>>,
) -> Result<Tensor> {
    let complex = |numbers: usize, dtype: DType| {
        if dtype.is_complex() {
            numbers / 2
        } else {
            numbers
        }
    };
    let dtype = match kind {
        Kind::Real => x.dtype().real(),
        _ => x.dtype().complex(),
    };
    let mut shape = Shape::from_slice(x.shape());
    shape[axis] = complex(output, dtype);
    let mut y = Tensor::empty(&shape[..], dtype)?;
    if y.is_empty() {
        return Ok(y);
    }
    let job = make()?;
    if axis + 1 == x.rank() && x.is_contiguous() {
        let lines = y.len() / shape[axis];
        let ends = Ends {
            x: numbers::<T>(x).as_ptr(),
            y: numbers_mut::<T>(&mut y)?.as_mut_ptr(),
        };
        // SAFETY: a fresh tensor, and another with as many lines.
        unsafe { rows(&job, ends, lines)? };
        return Ok(y);
    }
    let lines = y.len() / shape[axis];
    if lines < par::threads_for(job.cost().times(lines)) {
        // a line is all threads' work: packed first, as the last axis
        let (from, last) = (axis as isize, x.rank() as isize - 1);
        let x = x.transpose(from, last)?.contiguous()?;
        drop(y);
        let y = typed(&x, x.rank() - 1, (kind, output), make)?;
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
            // SAFETY: lines of the job's lengths, and working memory as it asks for.
            let done = unsafe { job.run(x.as_ptr(), y.as_mut_ptr(), Some(work.as_mut_ptr())) };
            debug_assert!(done.is_ok(), "a line in working memory asks for no more");
        })?;
    Ok(y)
}

/// The numbers of a contiguous tensor, a complex one being two.
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

/// `n` rows one after the other: each on all threads where they are few, else a thread takes some of
/// them.
///
/// # Safety
/// Both ends are valid for as many rows, are the same memory or don't overlap, and nobody else writes
/// there.
unsafe fn rows<T: Float>(job: &Job<T>, ends: Ends<T>, n: usize) -> Result<()> {
    let (input, output) = (job.input(), job.output());
    let cost = job.cost();
    let row = |k: usize, work: Option<*mut T>| {
        let ends = &ends;
        // SAFETY: row `k` of both, which one piece has, in memory of its own.
        unsafe { job.run(ends.x.add(k * input), ends.y.add(k * output), work) }
    };
    if n < par::threads_for(cost.times(n)) {
        return (0..n).try_for_each(|k| row(k, None));
    }
    let failure = Failure::default();
    par::ranges(n, 1, cost, |range| {
        failure.note(Work::new(job.work_len()).and_then(|mut work| {
            let work = work.as_mut_ptr();
            range.into_iter().try_for_each(|k| row(k, Some(work)))
        }))
    });
    failure.result()
}
