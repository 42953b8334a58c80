//! Copies in which lines of the source become columns of the target: whole cache lines are read and written, in blocks that are
//! transposed in registers.

use super::nest::{Nest, Operand};
use super::pack::Rect;
use super::par::{self, Cost};

/// Lines of the target that are written together: as many columns of the source, so that some of its cache lines are neighbours.
const STRIP: usize = 64;
/// The side of a block.
const SIDE: usize = 16;

/// Copies, if the source's contiguous dimension is another one than the target's; else false, and nothing is done.
///
/// # Safety
/// N1 of [`tile::run`](super::tile::run) for operands of this shape, of one element size, that don't overlap.
pub unsafe fn copy(shape: &[usize], from: Operand, to: Operand) -> bool {
    let nest = Nest::new(shape, &[from], &[to]);
    let size = nest.sizes[0] as isize;
    let (columns, rest) = nest.dims.split_at(1);
    let columns = columns[0];
    let Some(e) = rest.iter().position(|d| d.steps[0] == size && d.n >= SIDE) else { return false };
    if columns.steps[1] != size || columns.steps[0] == size || columns.steps[0] == 0 || columns.n < SIDE {
        return false;
    }
    let lines = rest[e];
    let strips = lines.n.div_ceil(STRIP);
    let outer: usize = nest.total / (lines.n * columns.n);
    let cost = Cost { bytes: 4 * size as usize * STRIP * columns.n, flops: 0 };
    let ptrs = (nest.ptrs[0] as usize, nest.ptrs[1] as usize);
    par::ranges(strips * outer, 1, cost, |r| {
        for s in r {
            let (mut o, first) = (s / strips, s % strips * STRIP);
            let (mut from, mut to) = (ptrs.0 as *const u8, ptrs.1 as *mut u8);
            let mut advance = |steps: &[isize], i: usize| {
                from = from.wrapping_offset(steps[0] * i as isize);
                to = to.wrapping_offset(steps[1] * i as isize);
            };
            advance(&lines.steps, first);
            for (_, d) in rest.iter().enumerate().filter(|(k, _)| *k != e) {
                advance(&d.steps, o % d.n);
                o /= d.n;
            }
            let part = Rect { ptr: from, rows: STRIP.min(lines.n - first), cols: columns.n, row_step: size, col_step: columns.steps[0] };
            // SAFETY: P3: elements of both (N1), which don't overlap; strips are disjoint.
            dispatch_width!(size as usize, |U| unsafe { transpose::<U>(to as *mut U, lines.steps[1], part) });
        }
    });
    true
}

/// Copies a rectangle whose columns are contiguous to contiguous rows, `step` bytes apart.
///
/// # Safety
/// P3: P1 of [`pack`](super::pack::pack) for the rectangle, with `row_step` one element, and for rows of that step in place of those
/// without gaps.
pub unsafe fn transpose<U: Copy>(to: *mut U, step: isize, x: Rect) {
    for j in (0..x.rows).step_by(STRIP) {
        for i in (0..x.cols).step_by(SIDE) {
            for j in (j..x.rows.min(j + STRIP)).step_by(SIDE) {
                let (rows, cols) = (SIDE.min(x.rows - j), SIDE.min(x.cols - i));
                // SAFETY: P3; the block lies inside the rectangle.
                unsafe {
                    let from = (x.ptr.offset(x.col_step * i as isize) as *const U).add(j);
                    block(from, x.col_step, to.byte_offset(step * j as isize).add(i), step, rows, cols);
                }
            }
        }
    }
}

/// One block: `cols` contiguous columns of `rows` elements.
///
/// # Safety
/// P3.
#[inline(always)]
unsafe fn block<U: Copy>(from: *const U, from_step: isize, to: *mut U, to_step: isize, rows: usize, cols: usize) {
    #[allow(unused_mut)]
    let (mut done_rows, mut done_cols) = (0, 0);
    // SAFETY: P3 for every element reached.
    unsafe {
        #[cfg(all(feature = "std", feature = "simd", target_arch = "x86_64"))]
        if size_of::<U>() == 4 {
            use super::isa::{Level, blocks, level};
            if level() == Level::Avx512 && rows == SIDE && cols == SIDE {
                return blocks::transpose_16x16(from.cast(), from_step, to.cast(), to_step);
            }
            if level() >= Level::Avx2 {
                (done_rows, done_cols) = (rows / 8 * 8, cols / 8 * 8);
                for i in (0..done_cols).step_by(8) {
                    for j in (0..done_rows).step_by(8) {
                        let from = from.byte_offset(from_step * i as isize).add(j);
                        blocks::transpose_8x8(from.cast(), from_step, to.byte_offset(to_step * j as isize).add(i).cast(), to_step);
                    }
                }
            }
        }
        for i in 0..cols {
            for j in if i < done_cols { done_rows } else { 0 }..rows {
                *to.byte_offset(to_step * j as isize).add(i) = *from.byte_offset(from_step * i as isize).add(j);
            }
        }
    }
}
