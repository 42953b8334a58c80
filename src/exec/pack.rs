//! Copies of strided rectangles into contiguous tiles and back. All in bytes: an element is its width.

/// A rectangle of memory: its first element, its rows and columns, and their distances in bytes.
#[derive(Clone, Copy)]
pub struct Rect {
    /// First element.
    pub ptr: *const u8,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// From one row to the next.
    pub row_step: isize,
    /// From one column to the next.
    pub col_step: isize,
}

/// Copies a rectangle of elements of `size` bytes to `d`, row after row without gaps.
///
/// # Safety
/// P1: every element of the rectangle is readable and aligned for its size (16-byte ones for 8); `d` holds
/// `rows * cols` elements, aligned likewise, and overlaps none of them.
pub unsafe fn pack(d: *mut u8, x: Rect, size: usize) {
    // SAFETY: P1.
    dispatch_width!(size, |U| unsafe { pack_of::<U>(d as *mut U, x) })
}

/// # Safety
/// P1, with `U` as wide as an element.
unsafe fn pack_of<U: Copy>(d: *mut U, x: Rect) {
    let size = size_of::<U>() as isize;
    let Rect { ptr, rows, cols, row_step, col_step } = x;
    // SAFETY: P1 for every element that the steps reach.
    unsafe {
        let row = |j: usize| ptr.offset(row_step * j as isize) as *const U;
        if col_step == size {
            for j in 0..rows {
                core::ptr::copy_nonoverlapping(row(j), d.add(j * cols), cols);
            }
        } else if col_step == 0 {
            for j in 0..rows {
                core::slice::from_raw_parts_mut(d.add(j * cols), cols).fill(*row(j));
            }
        } else if col_step == -size {
            for j in 0..rows {
                let src = core::slice::from_raw_parts(row(j).sub(cols - 1), cols);
                for (d, s) in core::slice::from_raw_parts_mut(d.add(j * cols), cols).iter_mut().zip(src.iter().rev()) {
                    *d = *s;
                }
            }
        } else if row_step == size && rows >= 8 {
            pack_columns(d, x);
        } else {
            for j in 0..rows {
                let src = row(j) as *const u8;
                for i in 0..cols {
                    *d.add(j * cols + i) = *(src.offset(col_step * i as isize) as *const U);
                }
            }
        }
    }
}

/// Columns are contiguous: whole cache lines are read, 16 rows at a time.
///
/// # Safety
/// P1, with `row_step` one element.
unsafe fn pack_columns<U: Copy>(d: *mut U, x: Rect) {
    let Rect { ptr, rows, cols, col_step, .. } = x;
    let mut j = 0;
    // SAFETY: P1 for every element reached; the 8 x 8 blocks lie inside the rectangle.
    unsafe {
        let column = |i: usize, j: usize| (ptr.offset(col_step * i as isize) as *const U).add(j);
        #[cfg(all(feature = "std", feature = "simd", target_arch = "x86_64"))]
        if size_of::<U>() == 4 && super::isa::level() >= super::isa::Level::Avx2 {
            while j + 8 <= rows {
                let mut i = 0;
                while i + 8 <= cols {
                    x86::transpose_8x8(column(i, j) as *const u32, col_step, d.add(j * cols + i) as *mut u32, cols);
                    i += 8;
                }
                for i in i..cols {
                    for r in 0..8 {
                        *d.add((j + r) * cols + i) = *column(i, j + r);
                    }
                }
                j += 8;
            }
        }
        while j < rows {
            let block = (rows - j).min(16);
            for i in 0..cols {
                for r in 0..block {
                    *d.add((j + r) * cols + i) = *column(i, j + r);
                }
            }
            j += block;
        }
    }
}

/// Stores a contiguous tile of `rows * cols` elements to a rectangle, which is written.
///
/// # Safety
/// P2: as P1 with the roles exchanged; no two elements of the rectangle overlap.
pub unsafe fn unpack(s: *const u8, x: Rect, size: usize) {
    // SAFETY: P2.
    dispatch_width!(size, |U| unsafe { unpack_of::<U>(s as *const U, x) })
}

/// # Safety
/// P2, with `U` as wide as an element.
unsafe fn unpack_of<U: Copy>(s: *const U, x: Rect) {
    let Rect { ptr, rows, cols, row_step, col_step } = x;
    let size = size_of::<U>() as isize;
    // SAFETY: P2 for every element that the steps reach.
    unsafe {
        let at = |j: usize, i: usize| ptr.offset(row_step * j as isize + col_step * i as isize) as *mut U;
        if col_step == size {
            for j in 0..rows {
                core::ptr::copy_nonoverlapping(s.add(j * cols), at(j, 0), cols);
            }
        } else if row_step == size {
            // columns are contiguous: whole cache lines are written, 16 rows at a time
            for j in (0..rows).step_by(16) {
                let block = (rows - j).min(16);
                for i in 0..cols {
                    let (d, s) = (at(j, i), s.add(j * cols + i));
                    for r in 0..block {
                        *d.add(r) = *s.add(r * cols);
                    }
                }
            }
        } else {
            for j in 0..rows {
                for i in 0..cols {
                    *at(j, i) = *s.add(j * cols + i);
                }
            }
        }
    }
}

#[cfg(all(feature = "std", feature = "simd", target_arch = "x86_64"))]
pub(crate) mod x86 {
    use core::arch::x86_64::*;

    /// Eight columns of eight elements, `step` bytes apart, to eight rows, `ld` elements apart.
    ///
    /// # Safety
    /// The CPU has AVX2 (I1); P1 for the 64 elements.
    #[target_feature(enable = "avx2")]
    pub unsafe fn transpose_8x8(p: *const u32, step: isize, d: *mut u32, ld: usize) {
        // SAFETY: P1; unaligned loads and stores of eight elements each.
        unsafe {
            let load = |k: isize| _mm256_loadu_ps(p.byte_offset(step * k) as *const f32);
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
                _mm256_storeu_ps(d.add(k * ld) as *mut f32, _mm256_permute2f128_ps(c[k], c[k + 4], 0x20));
                _mm256_storeu_ps(d.add((k + 4) * ld) as *mut f32, _mm256_permute2f128_ps(c[k], c[k + 4], 0x31));
            }
        }
    }
}
