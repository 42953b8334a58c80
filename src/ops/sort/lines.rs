//! Sorts along an axis: different lines on different threads or, if there are too few, each line on
//! all threads.

use super::parallel::{argsort_line, cost, sort_line};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::exec::lines::{Line, Lines};
use crate::kernel::sort::{self as kernel, KeyedPosition, Ordered, Part};
use crate::layout::Shape;
use crate::par::{self, Cost};
use crate::tensor::Tensor;

/// A dtype with elements of this size, for scratch memory.
fn of_size(bytes: usize) -> DType {
    match bytes {
        1 => DType::I8,
        2 => DType::I16,
        4 => DType::I32,
        8 => DType::I64,
        _ => DType::Complex128,
    }
}

/// Whether there are too few lines to keep the threads busy, so that each line should be cut.
fn are_few(x: &Tensor, n: usize, cost: Cost) -> bool {
    let parts = match par::threads() {
        1 => par::parts_for(cost),
        _ => par::threads_for(cost),
    };
    n > 0 && x.len() / n < parts
}

/// Sorts each line along the axis.
pub(super) fn sort_lines<T: Ordered>(x: &Tensor, axis: usize, descending: bool) -> Result<Tensor> {
    let n = x.shape()[axis];
    let mut out = Tensor::empty(x.shape(), x.dtype())?;
    let lines = Lines::new(x.shape(), axis)
        .input(x.elements())
        .output(out.elements_mut()?)
        .scratch(n, of_size(size_of::<T::Key>()));
    let cost = cost(n, 4 * size_of::<T>());
    if are_few(x, n, cost) {
        lines.run_in_order(|line| {
            let (from, to) = (line.input::<T>(0), line.output::<T>(0));
            sort_line(from, descending, to, line.scratch(0))
        })?;
    } else {
        lines.run(cost, |line| {
            let (from, to) = (line.input::<T>(0), line.output::<T>(0));
            kernel::sort(from, descending, to, line.scratch(0))
        })?;
    }
    Ok(out)
}

/// Moves the elements of each line along the axis so that those at these positions, which ascend, are
/// where the sorted line has them.
pub(super) fn partition_lines<T: Ordered>(
    x: &Tensor,
    axis: usize,
    kth: &[usize],
) -> Result<Tensor> {
    let n = x.shape()[axis];
    let mut out = Tensor::empty(x.shape(), x.dtype())?;
    let cost = Cost {
        bytes: 2 * n * size_of::<T>(),
        flops: n * 16,
    };
    Lines::new(x.shape(), axis)
        .input(x.elements())
        .output(out.elements_mut()?)
        .scratch(n, of_size(size_of::<T::Key>()))
        .run(cost, |line| {
            let (from, to) = (line.input::<T>(0), line.output::<T>(0));
            kernel::partition_line(from, kth, to, line.scratch(0));
        })?;
    Ok(out)
}

/// A request for positions in each line.
#[derive(Clone, Copy)]
pub(super) struct Request {
    pub op: &'static str,
    pub axis: usize,
    pub k: usize,
    pub sorted: bool,
    pub descending: bool,
}

impl Request {
    /// The positions of the first `k` of each line, in order if `sorted`.
    pub fn indices(&self, x: &Tensor) -> Result<Tensor> {
        self.run(x, None)
    }
    /// The same, with the values at these positions.
    pub fn values_and_indices(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
        let mut values = Tensor::empty(self.shape(x), x.dtype())?;
        let indices = self.run(x, Some(&mut values))?;
        Ok((values, indices))
    }

    fn shape(&self, x: &Tensor) -> Shape {
        let mut shape = Shape::from_slice(x.shape());
        shape[self.axis] = self.k;
        shape
    }
    fn run(&self, x: &Tensor, values: Option<&mut Tensor>) -> Result<Tensor> {
        let mut indices = Tensor::empty(self.shape(x), DType::I64)?;
        if self.k > 0 {
            dispatch!(ordered x.dtype(), |T| self.lines::<T>(x, values, &mut indices)?,
                else return Err(Error::unsupported(self.op, x.dtype())));
        }
        Ok(indices)
    }
    fn lines<T: Ordered>(
        &self,
        x: &Tensor,
        values: Option<&mut Tensor>,
        indices: &mut Tensor,
    ) -> Result<()>
    where
        i128: KeyedPosition<T::Key>,
    {
        let (n, with_values) = (x.shape()[self.axis], values.is_some());
        let mut lines = Lines::new(x.shape(), self.axis)
            .input(x.elements())
            .output(indices.elements_mut()?);
        if let Some(v) = values {
            lines = lines.output(v.elements_mut()?);
        }
        if self.k < n || !self.sorted {
            return match n as u64 <= 1 << 32 {
                true => self.first::<T, T::Pair>(lines, n, with_values),
                false => self.first::<T, i128>(lines, n, with_values),
            };
        }
        let lines = lines.scratch(n, DType::I64);
        let order = |line: &mut Line<'_>| {
            let (from, indices) = (line.input::<T>(0), line.output::<i64>(0));
            argsort_line(from, self.descending, indices, line.scratch(0));
            if with_values {
                gather(from, indices, line.output(1));
            }
        };
        let cost = cost(n, 4 * size_of::<T>() + 32);
        if are_few(x, n, cost) {
            lines.run_in_order(order)
        } else {
            lines.run(cost, order)
        }
    }
    /// The first `k` positions, if these are not all or need no order.
    fn first<T: Ordered, P: KeyedPosition<T::Key>>(
        &self,
        lines: Lines<'_>,
        n: usize,
        with_values: bool,
    ) -> Result<()> {
        let room = kernel::first_len(n, self.k);
        let lines = lines.scratch(room.saturating_mul(2), of_size(size_of::<P>()));
        let cost = Cost {
            bytes: n * size_of::<T>(),
            flops: n * 16,
        };
        lines.run(cost, |line| {
            let (from, indices) = (line.input::<T>(0), line.output::<i64>(0));
            let (pairs, scratch) = line.scratch::<P>(0).split_at_mut(room);
            kernel::first(from, self.k, self.descending, pairs, scratch);
            let best = &mut pairs[..self.k];
            if self.sorted {
                P::sort(Part::new(best, scratch));
            }
            for (p, i) in best.iter().zip(&mut *indices) {
                *i = p.position() as i64;
            }
            if with_values {
                gather(from, indices, line.output(1));
            }
        })
    }
}

/// The values at these positions.
fn gather<T: Copy + Send + Sync>(from: &[T], at: &[i64], to: &mut [T]) {
    let cost = Cost {
        bytes: 8 + 2 * size_of::<T>(),
        flops: 16,
    };
    par::split(to, 1, 64, cost, |r, to| {
        for (v, i) in to.iter_mut().zip(&at[r]) {
            *v = from[*i as usize];
        }
    });
}
