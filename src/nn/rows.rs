//! Normalisation of a tensor's lines: contiguous lines in place, long ones in chunks on all
//! threads, any others packed or as columns.

use crate::dtype::{Element, Pod};
use crate::error::Result;
use crate::exec::chunks::Chunks;
use crate::exec::lines::{HAS_COLUMNS, Line, Lines};
use crate::fallible;
use crate::kernel::gemm::MatElement;
use crate::kernel::math::Real;
use crate::kernel::norm::{self, CHUNK, OfColumns, RowNorm, load, store};
use crate::ops;
use crate::par::{self, Cost};
use crate::simd::MICROCONTROLLER;
use crate::tensor::Tensor;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Elements of several rows that are converted together.
const CONVERTED: usize = if MICROCONTROLLER { 32 } else { 1024 };

/// Normalises `x` along an axis, in the accumulator type. How lines are distributed over threads
/// doesn't affect the bits.
pub(super) fn normalize<T, N>(x: &Tensor, axis: usize, norm: &N) -> Result<Tensor>
where
    T: Element + Pod + MatElement,
    T::Acc: Element + Pod + Real + MatElement<Acc = T::Acc>,
    N: RowNorm<T::Acc>,
{
    if widens::<T>(x, axis) {
        return normalize::<T::Acc, N>(&x.astype(T::Acc::DTYPE)?, axis, norm)?.astype(T::DTYPE);
    }
    let mut y = Tensor::empty(x.shape(), x.dtype())?;
    normalize_into::<T, N>(x, axis, norm, &mut y)?;
    Ok(y)
}

/// The length of the lines along an axis, their chunks if they are cut, and whether they are
/// contiguous.
fn lines(x: &Tensor, axis: usize) -> (usize, Option<Chunks>, bool) {
    let n = x.shape().get(axis).copied().unwrap_or(1);
    (
        n,
        Chunks::of_few(x.len(), n, CHUNK, 2),
        x.shape().iter().skip(axis + 1).all(|n| *n == 1),
    )
}
/// Whether the lines are cut: they are contiguous, and too few for the threads.
pub(super) fn is_cut(x: &Tensor, axis: usize) -> bool {
    let (_, cut, last) = lines(x, axis);
    cut.is_some() && last
}
/// Whether all of `x` is widened first: lines that are cut must be in the accumulator type in
/// memory.
fn widens<T: MatElement>(x: &Tensor, axis: usize) -> bool {
    !T::SAME && is_cut(x, axis)
}

/// The cost of a line of `n` elements.
fn cost<T: MatElement, N: RowNorm<T::Acc>>(n: usize) -> Cost
where
    T::Acc: Real,
{
    Cost {
        bytes: 2 * n * size_of::<T>(),
        flops: n.saturating_mul(N::FLOPS),
    }
}

/// [`normalize`] into `y`, which is contiguous and has the shape and dtype of `x`.
pub(super) fn normalize_into<T, N>(x: &Tensor, axis: usize, norm: &N, y: &mut Tensor) -> Result<()>
where
    T: Element + Pod + MatElement,
    T::Acc: Element + Pod + Real + MatElement<Acc = T::Acc>,
    N: RowNorm<T::Acc>,
{
    if widens::<T>(x, axis) {
        return y.copy_from(&normalize::<T, N>(x, axis, norm)?);
    }
    if y.is_empty() {
        return Ok(());
    }
    let (n, cut, last) = lines(x, axis);
    let cost = cost::<T, N>(n);
    if T::SAME && last && (cut.is_some() || x.is_contiguous()) {
        let x = x.contiguous()?;
        let (from, to) = (x.as_slice::<T::Acc>()?, y.as_mut_slice::<T::Acc>()?);
        return match cut {
            Some(chunks) => normalize_chunks(norm, n, chunks, from, to, cost),
            None => {
                // lines are not cut here
                par::split(to, n, 1, cost, |r, to| {
                    norm::rows(norm, n, &from[r.start * n..r.end * n], to)
                });
                Ok(())
            }
        };
    }
    if last && n <= CONVERTED && x.is_contiguous() {
        let (from, to) = (x.as_slice::<T>()?, y.as_mut_slice::<T>()?);
        let len = CONVERTED / n * n;
        par::split(to, n, 1, cost, |r, to| {
            let mut wide = [[T::Acc::default(); CONVERTED]; 2];
            let from = from[r.start * n..r.end * n].chunks(len);
            for (x, y) in from.zip(to.chunks_mut(len)) {
                let [a, b] = wide.each_mut().map(|wide| &mut wide[..x.len()]);
                load::<T>(x, a);
                norm::rows(norm, n, a, b);
                store::<T>(b, y);
            }
        });
        return Ok(());
    }
    let columns = norm.columns().filter(|_| HAS_COLUMNS);
    let lost = AtomicBool::new(false);
    normalize_lines::<T, N>(x, axis, norm, columns, &lost, y)?;
    match lost.load(Relaxed) {
        // rows find their own scale; the others have the same bits that way
        true => normalize_lines::<T, N>(x, axis, norm, None, &lost, y),
        false => Ok(()),
    }
}

/// Any lines, packed, or as columns where there is a function for these, which notes whether
/// statistics were lost.
fn normalize_lines<T, N>(
    x: &Tensor,
    axis: usize,
    norm: &N,
    columns: Option<OfColumns<N, T::Acc>>,
    lost: &AtomicBool,
    y: &mut Tensor,
) -> Result<()>
where
    T: Element + Pod + MatElement,
    T::Acc: Element + Pod + Real + MatElement<Acc = T::Acc>,
    N: RowNorm<T::Acc>,
{
    let (n, ..) = lines(x, axis);
    let cost = cost::<T, N>(n);
    let lines = Lines::new(x.shape(), axis)
        .together()
        .columns(if columns.is_some() { CHUNK } else { 0 })
        .input(x.elements())
        .output(y.elements_mut()?);
    let normalized = |line: &Line<'_>, x: &[T::Acc], y: &mut [T::Acc]| match columns {
        Some(columns) if line.columns() => {
            if columns(norm, n, x, y) {
                lost.store(true, Relaxed);
            }
        }
        _ => norm::rows(norm, n, x, y),
    };
    if T::SAME {
        return lines.run(cost, |line| {
            normalized(line, line.input::<T::Acc>(0), line.output(0))
        });
    }
    lines
        .scratch(n, T::Acc::DTYPE)
        .scratch(n, T::Acc::DTYPE)
        .run(cost, |line| {
            let (from, to) = (line.scratch::<T::Acc>(0), line.scratch(1));
            load::<T>(line.input(0), from);
            normalized(line, from, to);
            store::<T>(to, line.output(0));
        })
}

/// `x + residual`, and the sum normalised along an axis, with the bits of an addition followed by
/// [`normalize`], but while the sum is in cache. Both operands have the same shape and dtype.
pub(super) fn add_and_normalize<T, N>(
    x: &Tensor,
    residual: &Tensor,
    axis: usize,
    norm: &N,
) -> Result<(Tensor, Tensor)>
where
    T: Element + Pod + MatElement,
    T::Acc: Element + Pod + Real + MatElement<Acc = T::Acc>,
    N: RowNorm<T::Acc>,
{
    let (n, cut, _) = lines(x, axis);
    if cut.is_some() || x.is_empty() {
        let sum = ops::add(x, residual)?;
        return Ok((normalize::<T, N>(&sum, axis, norm)?, sum));
    }
    let cost = Cost {
        bytes: 4 * n * size_of::<T>(),
        flops: n.saturating_mul(N::FLOPS),
    };
    let (mut sum, mut y) = (
        Tensor::empty(x.shape(), x.dtype())?,
        Tensor::empty(x.shape(), x.dtype())?,
    );
    let lines = Lines::new(x.shape(), axis)
        .together()
        .input(x.elements())
        .input(residual.elements())
        .output(sum.elements_mut()?)
        .output(y.elements_mut()?);
    if T::SAME {
        lines.run(cost, |line| {
            let sum = line.output::<T::Acc>(0);
            norm::add(line.input::<T::Acc>(0), line.input(1), sum);
            norm::rows(norm, n, sum, line.output(1));
        })?;
    } else {
        let lines = (0..3).fold(lines, |lines, _| lines.scratch(n, T::Acc::DTYPE));
        lines.run(cost, |line| {
            let (sum, from, to) = (
                line.output::<T>(0),
                line.scratch::<T::Acc>(0),
                line.scratch(1),
            );
            load::<T>(line.input(0), from);
            load::<T>(line.input(1), to);
            let exact = line.scratch(2);
            norm::add(from, to, exact);
            store::<T>(exact, sum);
            // normalises the rounded sum, which the caller sees
            load::<T>(sum, from);
            norm::rows(norm, n, from, to);
            store::<T>(to, line.output(1));
        })?;
    }
    Ok((y, sum))
}

/// Normalises rows of `n` elements, with their chunks on all threads. `cost` is that of a row.
fn normalize_chunks<F: Real, N: RowNorm<F>>(
    norm: &N,
    n: usize,
    chunks: Chunks,
    x: &[F],
    y: &mut [F],
    cost: Cost,
) -> Result<()> {
    let per_row = chunks.per_line();
    let cost = Cost {
        bytes: cost.bytes / per_row,
        flops: cost.flops / per_row / 2,
    };
    let mut parts = fallible::filled([F::default(); 2], chunks.len())?;
    chunks.run(&mut parts, y, cost, |c, part, y| {
        *part = norm::part(norm, &x[c.range], y)
    });
    for row in parts.chunks_mut(per_row) {
        norm::join(norm, row, n);
    }
    chunks.run(&mut parts, y, cost, |c, part, y| {
        norm::write(norm, *part, c.first, &x[c.range], y)
    });
    let rows = x.chunks_exact(n).zip(y.chunks_exact_mut(n));
    for (parts, (x, y)) in parts.chunks_mut(per_row).zip(rows) {
        if norm.is_lost(parts[0]) {
            norm::scaled_row(norm, x, y, parts);
        }
    }
    Ok(())
}
