//! One line's transform: the blocks of a plan in turn, or on all threads.

use super::memory::Work;
use super::plan::{Chirp, Form, Matrix, Plan};
use crate::error::Result;
use crate::exec::failure::Failure;
use crate::kernel::fft::Float;
use crate::kernel::fft::columns::{Columns, Rows, Sink, Source, Turned, columns, lanes};
use crate::kernel::fft::multiply::{multiply, multiply_in_place};
use crate::par::{self, Cost};
use core::ops::Range;

/// A line to transform.
///
/// Invariant LINE3: `x` is valid for reads of the plan's length, `y` for writes of it; they are the same
/// memory, both of complex numbers, or don't overlap, and nobody else writes to either meanwhile.
#[derive(Clone, Copy)]
pub(super) struct Line<T> {
    pub x: *const T,
    pub y: *mut T,
    /// Whether `x` is of real numbers.
    pub real: bool,
    pub inverse: bool,
    pub scale: T,
}
// SAFETY: whoever uses the pointers holds to LINE3.
unsafe impl<T: Send> Sync for Line<T> {}

/// Operations of a transform of `n` values, as one lane does them.
pub(super) fn cost(n: usize, size: usize) -> Cost {
    Cost {
        bytes: 4 * n * size,
        flops: 6 * n * (usize::BITS - n.leading_zeros()) as usize,
    }
}

/// Numbers of working memory that a line needs.
pub(super) fn work_len<T: Float>(plan: &Plan<T>) -> usize {
    let pair = 2 * lanes::<T>();
    match &plan.form {
        Form::Column(passes) => 2 * pair * passes.rows,
        Form::Matrix(m) => matrix_len(m, pair) + buffers_len(m, pair),
        Form::Chirp(c) => 2 * c.inner.n + work_len(&c.inner),
    }
}
/// Numbers of the matrix between both directions.
fn matrix_len<T>(m: &Matrix<T>, pair: usize) -> usize {
    let lanes = pair / 2;
    m.first.rows.div_ceil(lanes) * pair * m.second.rows.next_multiple_of(lanes)
}
/// Numbers of both buffers for a block of either direction.
fn buffers_len<T>(m: &Matrix<T>, pair: usize) -> usize {
    2 * pair * m.first.rows.max(m.second.rows)
}

/// The transform of complex numbers where they lie.
pub(super) fn in_place<T: Float>(plan: &Plan<T>, x: &mut [T]) -> Result<()> {
    assert!(x.len() == 2 * plan.n);
    let x = x.as_mut_ptr();
    let line = Line {
        x,
        y: x,
        real: false,
        inverse: false,
        scale: T::ONE,
    };
    // SAFETY: LINE3, one slice of the length that was asserted.
    unsafe { transform(plan, line, None) }
}

/// The transform of a line, in `work` of at least [`work_len`] numbers on this thread, or on all
/// threads, with memory of their own.
///
/// # Safety
/// LINE3; of `work`, that it is valid and nobody else's.
pub(super) unsafe fn transform<T: Float>(
    plan: &Plan<T>,
    line: Line<T>,
    work: Option<*mut T>,
) -> Result<()> {
    // SAFETY: the caller's.
    unsafe {
        match &plan.form {
            Form::Column(passes) => {
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
            Form::Matrix(m) => match work {
                Some(work) => {
                    let pair = 2 * lanes::<T>();
                    let buffers = work.add(matrix_len(m, pair));
                    down(m, line, work, buffers, 0..m.second.rows.div_ceil(pair / 2));
                    across(m, line, work, buffers, 0..m.first.rows.div_ceil(pair / 2));
                    Ok(())
                }
                None => shared(m, line),
            },
            Form::Chirp(c) => convolved(plan.n, c, line, work),
        }
    }
}

/// Working memory, that of the caller or `own`.
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

/// The columns `block` of a matrix with so many of them, as they lie in the line.
///
/// # Safety
/// LINE3.
unsafe fn rows<T: Float>(line: Line<T>, all: usize, block: Range<usize>) -> Source<T> {
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
        Source::Real(rows)
    } else {
        Source::Complex(rows)
    }
}
/// The same of the result.
///
/// # Safety
/// LINE3.
unsafe fn target<T: Float>(line: Line<T>, all: usize, block: Range<usize>) -> Sink<T> {
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

/// Blocks of columns of a matrix, from the line to `matrix`.
///
/// # Safety
/// LINE3; `matrix` and `buffers` are as large as the plan says, and nobody else's, of `matrix` the rows
/// of these blocks.
unsafe fn down<T: Float>(
    m: &Matrix<T>,
    line: Line<T>,
    matrix: *mut T,
    buffers: *mut T,
    blocks: Range<usize>,
) {
    let (lanes, all) = (lanes::<T>(), m.second.rows);
    let n = all * m.first.rows * if line.real { 1 } else { 2 };
    for block in blocks {
        let first = block * lanes;
        // SAFETY: the caller's.
        unsafe {
            let mut source = rows(line, all, first..all.min(first + lanes));
            if let Source::Complex(rows) | Source::Real(rows) = &mut source {
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

/// Blocks of columns of the turned matrix, from there to the line's result.
///
/// # Safety
/// LINE3; `matrix` and `buffers` as for [`down`], of the line's result these blocks.
unsafe fn across<T: Float>(
    m: &Matrix<T>,
    line: Line<T>,
    matrix: *const T,
    buffers: *mut T,
    blocks: Range<usize>,
) {
    let (lanes, all) = (lanes::<T>(), m.first.rows);
    let height = m.second.rows.next_multiple_of(lanes);
    for block in blocks {
        let first = block * lanes;
        // SAFETY: the caller's.
        unsafe {
            let source = Source::Pairs(matrix.add(2 * lanes * height * block));
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
unsafe fn shared<T: Float>(m: &Matrix<T>, line: Line<T>) -> Result<()> {
    let pair = 2 * lanes::<T>();
    let mut matrix = Work::<T>::new(matrix_len(m, pair))?;
    let out = par::Out::new(matrix.as_mut_slice());
    let failure = Failure::default();
    let cost = |rows: usize| cost(rows * pair / 2, size_of::<T>());
    let line = &line;
    for turned in [false, true] {
        let (rows, all) = match turned {
            false => (m.first.rows, m.second.rows),
            true => (m.second.rows, m.first.rows),
        };
        par::ranges(all.div_ceil(pair / 2), 1, cost(rows), |blocks| {
            failure.note(Work::new(buffers_len(m, pair)).map(|mut buffers| {
                let (matrix, buffers) = (out.as_mut_ptr(), buffers.as_mut_ptr());
                // SAFETY: LINE3; blocks are of one thread each.
                unsafe {
                    match turned {
                        false => down(m, *line, matrix, buffers, blocks),
                        true => across(m, *line, matrix, buffers, blocks),
                    }
                }
            }))
        });
    }
    failure.result()
}

/// By Bluestein's algorithm.
///
/// # Safety
/// As [`transform`].
unsafe fn convolved<T: Float>(
    n: usize,
    c: &Chirp<T>,
    line: Line<T>,
    work: Option<*mut T>,
) -> Result<()> {
    let m = c.inner.n;
    let mut own = None;
    let a = here(&mut own, work, 2 * m)?;
    // SAFETY: the caller's; `a` is of `m` complex numbers, behind which is the rest of the working memory.
    unsafe {
        let rest = work.map(|work| work.add(2 * m));
        let all = || core::slice::from_raw_parts_mut(a, 2 * m);
        let (head, tail) = all().split_at_mut(2 * n);
        if line.real {
            let x = core::slice::from_raw_parts(line.x, n);
            for ((y, x), w) in head.chunks_exact_mut(2).zip(x).zip(c.chirp.chunks_exact(2)) {
                let (re, im) = (*x * w[0], *x * w[1]);
                // the line's inverse is that of numbers whose parts have changed places
                (y[0], y[1]) = if line.inverse { (-im, re) } else { (re, im) };
            }
        } else {
            let x = core::slice::from_raw_parts(line.x, 2 * n);
            multiply(x, &c.chirp, head, T::ONE, (line.inverse, false));
        }
        tail.fill(T::ZERO);
        let mut inner = Line {
            x: a.cast_const(),
            y: a,
            real: false,
            inverse: false,
            scale: T::ONE,
        };
        transform(&c.inner, inner, rest)?;
        multiply_in_place(all(), &c.spectrum);
        inner.inverse = true;
        transform(&c.inner, inner, rest)?;
        let y = core::slice::from_raw_parts_mut(line.y, 2 * n);
        multiply(all(), &c.chirp, y, line.scale, (false, line.inverse));
        Ok(())
    }
}
