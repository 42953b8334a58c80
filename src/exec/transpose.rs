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
            use super::isa::{Level, level};
            if level() == Level::Avx512 && rows == SIDE && cols == SIDE {
                return x86::transpose_16x16(from.cast(), from_step, to.cast(), to_step);
            }
            if level() >= Level::Avx2 {
                (done_rows, done_cols) = (rows / 8 * 8, cols / 8 * 8);
                for i in (0..done_cols).step_by(8) {
                    for j in (0..done_rows).step_by(8) {
                        let from = from.byte_offset(from_step * i as isize).add(j);
                        x86::transpose_8x8(from.cast(), from_step, to.byte_offset(to_step * j as isize).add(i).cast(), to_step);
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

#[cfg(all(feature = "std", feature = "simd", target_arch = "x86_64"))]
pub(crate) mod x86 {
    use core::arch::x86_64::*;

    /// Sixteen columns of sixteen elements, `from_step` bytes apart, to sixteen rows, `to_step` bytes apart.
    ///
    /// # Safety
    /// The CPU has AVX-512 (I1); P3 for the 256 elements.
    #[target_feature(enable = "avx512f")]
    pub unsafe fn transpose_16x16(from: *const u32, from_step: isize, to: *mut u32, to_step: isize) {
        // SAFETY: P3; unaligned loads and stores of sixteen elements each.
        unsafe {
            let mut v = [_mm512_setzero_si512(); 16];
            for (i, v) in v.iter_mut().enumerate() {
                *v = _mm512_loadu_si512(from.byte_offset(from_step * i as isize).cast());
            }
            let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            let high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
            // Each round moves a bit of the column's number to the front of the lane's, and the lane's last bit to the register's.
            for _ in 0..4 {
                let mut next = v;
                for i in 0..8 {
                    next[2 * i] = _mm512_permutex2var_epi32(v[i], low, v[i + 8]);
                    next[2 * i + 1] = _mm512_permutex2var_epi32(v[i], high, v[i + 8]);
                }
                v = next;
            }
            for (j, v) in v.into_iter().enumerate() {
                _mm512_storeu_si512(to.byte_offset(to_step * j as isize).cast(), v);
            }
        }
    }

    /// Eight columns of eight elements, `from_step` bytes apart, to eight rows, `to_step` bytes apart.
    ///
    /// # Safety
    /// The CPU has AVX2 (I1); P3 for the 64 elements.
    #[target_feature(enable = "avx2")]
    pub unsafe fn transpose_8x8(from: *const u32, from_step: isize, to: *mut u32, to_step: isize) {
        // SAFETY: P3; unaligned loads and stores of eight elements each.
        unsafe {
            let load = |k: isize| _mm256_loadu_ps(from.byte_offset(from_step * k).cast());
            let a = [load(0), load(1), load(2), load(3), load(4), load(5), load(6), load(7)];
            let b = [
                _mm256_unpacklo_ps(a[0], a[1]),
                _mm256_unpackhi_ps(a[0], a[1]),
                _mm256_unpacklo_ps(a[2], a[3]),
                _mm256_unpackhi_ps(a[2], a[3]),
                _mm256_unpacklo_ps(a[4], a[5]),
                _mm256_unpackhi_ps(a[4], a[5]),
                _mm256_unpacklo_ps(a[6], a[7]),
                _mm256_unpackhi_ps(a[6], a[7]),
            ];
            let c = [
                _mm256_shuffle_ps(b[0], b[2], 0x44),
                _mm256_shuffle_ps(b[0], b[2], 0xee),
                _mm256_shuffle_ps(b[1], b[3], 0x44),
                _mm256_shuffle_ps(b[1], b[3], 0xee),
                _mm256_shuffle_ps(b[4], b[6], 0x44),
                _mm256_shuffle_ps(b[4], b[6], 0xee),
                _mm256_shuffle_ps(b[5], b[7], 0x44),
                _mm256_shuffle_ps(b[5], b[7], 0xee),
            ];
            for k in 0..4 {
                _mm256_storeu_ps(to.byte_offset(to_step * k as isize).cast(), _mm256_permute2f128_ps(c[k], c[k + 4], 0x20));
                _mm256_storeu_ps(to.byte_offset(to_step * (k as isize + 4)).cast(), _mm256_permute2f128_ps(c[k], c[k + 4], 0x31));
            }
        }
    }
}
