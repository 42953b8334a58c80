//! Runs a plan on one line, on this thread or on all threads.

use super::memory::Work;
use super::plan::{Chirp, FftPlan, Matrix, PlanForm};
use crate::error::Result;
use crate::exec::failure::try_ranges;
use crate::kernel::fft::Float;
use crate::kernel::fft::columns::{ColumnSource, Columns, Rows, Sink, Turned, columns, lanes};
use crate::kernel::fft::multiply::{multiply, multiply_in_place};
use crate::par::{self, Cost};
use core::ops::Range;

/// A line to transform.
///
/// Invariant LINE3: `x` is readable and `y` writable for the plan's length; they are the same
/// memory, both complex, or don't overlap; nobody else writes to either meanwhile.
#[derive(Clone, Copy)]
pub(super) struct TransformLine<T> {
    pub x: *const T,
    pub y: *mut T,
    /// Whether `x` holds real numbers.
    pub real: bool,
    pub inverse: bool,
    pub scale: T,
}
// SAFETY: users of the pointers uphold LINE3.
unsafe impl<T: Send> Sync for TransformLine<T> {}

/// The cost of a transform of `n` values, in operations of one lane.
pub(super) fn cost(n: usize, size: usize) -> Cost {
    Cost {
        bytes: 4 * n * size,
        flops: 6 * n * (usize::BITS - n.leading_zeros()) as usize,
    }
}

/// Scalars of scratch for a line.
pub(super) fn work_len<T: Float>(plan: &FftPlan<T>) -> usize {
    let pair = 2 * lanes::<T>();
    match &plan.form {
        PlanForm::Column(passes) => 2 * pair * passes.rows,
        PlanForm::Matrix(m) => matrix_len(m, pair) + buffers_len(m, pair),
        PlanForm::Chirp(c) => 2 * c.inner.n + work_len(&c.inner),
    }
}
/// Scalars of the intermediate matrix.
fn matrix_len<T>(m: &Matrix<T>, pair: usize) -> usize {
    let lanes = pair / 2;
    m.first.rows.div_ceil(lanes) * pair * m.second.rows.next_multiple_of(lanes)
}
/// Scalars of both buffers for a block, in either direction.
fn buffers_len<T>(m: &Matrix<T>, pair: usize) -> usize {
    2 * pair * m.first.rows.max(m.second.rows)
}

/// Transforms complex numbers in place.
pub(super) fn in_place<T: Float>(plan: &FftPlan<T>, x: &mut [T]) -> Result<()> {
    assert!(x.len() == 2 * plan.n);
    let x = x.as_mut_ptr();
    let line = TransformLine {
        x,
        y: x,
        real: false,
        inverse: false,
        scale: T::ONE,
    };
    // SAFETY: LINE3, one slice of the length that was asserted.
    unsafe { transform(plan, line, None) }
}

/// Transforms a line: on this thread with `work`, at least [`work_len`] scalars, or else on all
/// threads with scratch of their own.
///
/// # Safety
/// LINE3; `work` is valid and exclusive.
pub(super) unsafe fn transform<T: Float>(
    plan: &FftPlan<T>,
    line: TransformLine<T>,
    work: Option<*mut T>,
) -> Result<()> {
    // SAFETY: by the caller's promise.
    unsafe {
        match &plan.form {
            PlanForm::Column(passes) => {
                let mut own = None;
                let work = here(&mut own, work, work_len(plan))?;
                let (x, y) = (rows(line, 1, 0..1), target(line, 1, 0..1));
                let buffers = [work, work.add(2 * lanes::<T>() * passes.rows)];
                let size = passes.rows;
                columns(Columns::new(
                    size,
                    &passes.stages,
                    &passes.factors,
                    x,
                    buffers,
                    y,
                ));
                Ok(())
            }
            PlanForm::Matrix(m) => match work {
                Some(work) => {
                    let pair = 2 * lanes::<T>();
                    let buffers = work.add(matrix_len(m, pair));
                    down(m, line, work, buffers, 0..m.second.rows.div_ceil(pair / 2));
                    across(m, line, work, buffers, 0..m.first.rows.div_ceil(pair / 2));
                    Ok(())
                }
                None => shared(m, line),
            },
            PlanForm::Chirp(c) => convolved(plan.n, c, line, work),
        }
    }
}

/// The caller's scratch, or newly allocated scratch in `own`.
pub(super) fn here<T: Float>(
    own: &mut Option<Work<T>>,
    work: Option<*mut T>,
    len: usize,
) -> Result<*mut T> {
    match work {
        Some(work) => Ok(work),
        None => Ok(own.insert(Work::new(len)?).as_mut_ptr()),
    }
}

/// The source for columns `block` of a matrix of `all` columns, which lie in the line.
///
/// # Safety
/// LINE3.
unsafe fn rows<T: Float>(
    line: TransformLine<T>,
    all: usize,
    block: Range<usize>,
) -> ColumnSource<T> {
    let numbers = if line.real { 1 } else { 2 };
    // SAFETY: a column of the line.
    let first = unsafe { line.x.add(numbers * block.start) };
    let rows = Rows {
        first,
        step: numbers * all,
        columns: block.len(),
        room: 0,
        swapped: line.inverse,
    };
    if line.real {
        ColumnSource::Real(rows)
    } else {
        ColumnSource::Complex(rows)
    }
}
/// The sink for the same columns of the result.
///
/// # Safety
/// LINE3.
unsafe fn target<T: Float>(line: TransformLine<T>, all: usize, block: Range<usize>) -> Sink<T> {
    // SAFETY: a column of the line.
    let first = unsafe { line.y.add(2 * block.start) };
    let rows = Rows {
        first,
        step: 2 * all,
        columns: block.len(),
        room: 0,
        swapped: line.inverse,
    };
    Sink::Complex(rows, line.scale)
}

/// The first direction: blocks of columns, from the line to the intermediate `matrix`.
///
/// # Safety
/// LINE3; `matrix` and `buffers` have the sizes of the plan and are exclusive, of `matrix` the rows
/// of these blocks.
unsafe fn down<T: Float>(
    m: &Matrix<T>,
    line: TransformLine<T>,
    matrix: *mut T,
    buffers: *mut T,
    blocks: Range<usize>,
) {
    let (lanes, all) = (lanes::<T>(), m.second.rows);
    let n = all * m.first.rows * if line.real { 1 } else { 2 };
    for block in blocks {
        let first = block * lanes;
        // SAFETY: by the caller's promise.
        unsafe {
            let mut source = rows(line, all, first..all.min(first + lanes));
            if let ColumnSource::Complex(rows) | ColumnSource::Real(rows) = &mut source {
                rows.room = n - first * if line.real { 1 } else { 2 };
            }
            let sink = Sink::Turned(Turned {
                y: matrix,
                height: all.next_multiple_of(lanes),
                first,
                coarse: m.coarse.as_ptr(),
                fine: if m.fine.is_empty() {
                    core::ptr::null()
                } else {
                    m.fine.as_ptr()
                },
            });
            let buffers = [buffers, buffers.add(2 * lanes * m.first.rows)];
            let size = m.first.rows;
            columns(Columns::new(
                size,
                &m.first.stages,
                &m.first.factors,
                source,
                buffers,
                sink,
            ));
        }
    }
}

/// The second direction: blocks of columns of the transposed matrix, to the line's result.
///
/// # Safety
/// LINE3; `matrix` and `buffers` as for [`down`]; these blocks of the result are exclusive.
unsafe fn across<T: Float>(
    m: &Matrix<T>,
    line: TransformLine<T>,
    matrix: *const T,
    buffers: *mut T,
    blocks: Range<usize>,
) {
    let (lanes, all) = (lanes::<T>(), m.first.rows);
    let height = m.second.rows.next_multiple_of(lanes);
    for block in blocks {
        let first = block * lanes;
        // SAFETY: by the caller's promise.
        unsafe {
            let source = ColumnSource::Pairs(matrix.add(2 * lanes * height * block));
            let sink = target(line, all, first..all.min(first + lanes));
            let buffers = [buffers, buffers.add(2 * lanes * m.second.rows)];
            let size = m.second.rows;
            columns(Columns::new(
                size,
                &m.second.stages,
                &m.second.factors,
                source,
                buffers,
                sink,
            ));
        }
    }
}

/// Both directions of a matrix, each on all threads.
///
/// # Safety
/// LINE3.
unsafe fn shared<T: Float>(m: &Matrix<T>, line: TransformLine<T>) -> Result<()> {
    let pair = 2 * lanes::<T>();
    let mut matrix = Work::<T>::new(matrix_len(m, pair))?;
    let out = par::Out::new(matrix.as_mut_slice());
    let cost = |rows: usize| cost(rows * pair / 2, size_of::<T>());
    let line = &line;
    for turned in [false, true] {
        let (rows, all) = match turned {
            false => (m.first.rows, m.second.rows),
            true => (m.second.rows, m.first.rows),
        };
        try_ranges(all.div_ceil(pair / 2), 1, cost(rows), |blocks| {
            let mut buffers = Work::new(buffers_len(m, pair))?;
            let (matrix, buffers) = (out.as_mut_ptr(), buffers.as_mut_ptr());
            // SAFETY: LINE3; each block belongs to one thread.
            unsafe {
                match turned {
                    false => down(m, *line, matrix, buffers, blocks),
                    true => across(m, *line, matrix, buffers, blocks),
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Bluestein's algorithm.
///
/// # Safety
/// As for [`transform`].
unsafe fn convolved<T: Float>(
    n: usize,
    c: &Chirp<T>,
    line: TransformLine<T>,
    work: Option<*mut T>,
) -> Result<()> {
    let m = c.inner.n;
    let mut own = None;
    let a = here(&mut own, work, 2 * m)?;
    // SAFETY: the caller's promise; `a` holds `m` complex numbers, and the rest of the scratch
    // follows.
    unsafe {
        let rest = work.map(|work| work.add(2 * m));
        let all = || core::slice::from_raw_parts_mut(a, 2 * m);
        let (head, tail) = all().split_at_mut(2 * n);
        if line.real {
            let x = core::slice::from_raw_parts(line.x, n);
            for ((y, x), w) in head.chunks_exact_mut(2).zip(x).zip(c.chirp.chunks_exact(2)) {
                let (re, im) = (*x * w[0], *x * w[1]);
                // the inverse is the forward transform with real and imaginary parts swapped
                (y[0], y[1]) = if line.inverse { (-im, re) } else { (re, im) };
            }
        } else {
            let x = core::slice::from_raw_parts(line.x, 2 * n);
            multiply(x, &c.chirp, head, T::ONE, (line.inverse, false));
        }
        par::checkpoint();
        tail.fill(T::ZERO);
        let mut inner = TransformLine {
            x: a.cast_const(),
            y: a,
            real: false,
            inverse: false,
            scale: T::ONE,
        };
        transform(&c.inner, inner, rest)?;
        par::checkpoint();
        multiply_in_place(all(), &c.spectrum);
        inner.inverse = true;
        transform(&c.inner, inner, rest)?;
        par::checkpoint();
        let y = core::slice::from_raw_parts_mut(line.y, 2 * n);
        multiply(all(), &c.chirp, y, line.scale, (false, line.inverse));
        Ok(())
    }
}
