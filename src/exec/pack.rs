//! Packs strided rectangles into contiguous tiles, and unpacks them. An element is known by its
//! width in bytes alone.

use super::rect::Rect;
use super::transpose::transpose;
use crate::simd::copy_run;
use crate::simd::lanes::COLUMNS;
use crate::simd::{self, Isa, Kernel};

/// Copies a rectangle of elements of `size` bytes to `d`, row by row without gaps.
///
/// # Safety
/// PACK1: every element of the rectangle is readable and aligned for its size (16-byte ones to 8);
/// `d` has room for `rows * cols` elements, aligned likewise, and overlaps none of them.
pub unsafe fn pack(d: *mut u8, x: Rect, size: usize) {
    // SAFETY: PACK1, by the caller; `U` is `size` bytes wide.
    dispatch_width!(size, |U| unsafe { pack_of::<U>(d as *mut U, x) })
}

/// # Safety
/// PACK1, with `U` as wide as an element.
unsafe fn pack_of<U: Copy>(d: *mut U, x: Rect) {
    let size = size_of::<U>() as isize;
    let Rect {
        ptr,
        rows,
        cols,
        row_step,
        col_step,
    } = x;
    // SAFETY: PACK1 for every element that the steps reach.
    unsafe {
        let row = |j: usize| ptr.offset(row_step * j as isize) as *const U;
        if simd::MICROCONTROLLER {
            elements(d, x)
        } else if col_step == size {
            simd::call(CopyRows {
                from: (ptr, row_step),
                to: (d as *mut u8, cols as isize * size),
                rows,
                bytes: cols * size_of::<U>(),
            })
        } else if col_step == 0 {
            for j in 0..rows {
                core::slice::from_raw_parts_mut(d.add(j * cols), cols).fill(*row(j));
            }
        } else if col_step == -size {
            for j in 0..rows {
                let src = core::slice::from_raw_parts(row(j).sub(cols - 1), cols);
                for (d, s) in core::slice::from_raw_parts_mut(d.add(j * cols), cols)
                    .iter_mut()
                    .zip(src.iter().rev())
                {
                    *d = *s;
                }
            }
        } else if row_step == size && cols == 2 {
            simd::call(InterleaveColumns::<U, 2>(d, x))
        } else if row_step == size && cols == 3 {
            simd::call(InterleaveColumns::<U, 3>(d, x))
        } else if row_step == size && cols == 4 {
            simd::call(InterleaveColumns::<U, 4>(d, x))
        } else if row_step == size && rows >= 8 {
            transpose(d, cols as isize * size, x);
        } else if col_step == 2 * size {
            simd::call(Every::<U, 2>(d, x));
        } else if col_step == 3 * size && simd::level() > simd::Level::Base {
            simd::call(Every::<U, 3>(d, x));
        } else {
            elements(d, x)
        }
    }
}

/// Copies element by element, whatever the steps.
///
/// # Safety
/// PACK1, with `U` as wide as an element.
#[inline(always)]
unsafe fn elements<U: Copy>(d: *mut U, x: Rect) {
    for j in 0..x.rows {
        for i in 0..x.cols {
            // SAFETY: PACK1: `i` and `j` lie within the rectangle, and `d` has room for each of its
            // elements.
            unsafe {
                *d.add(j * x.cols + i) = *(x
                    .ptr
                    .offset(x.row_step * j as isize + x.col_step * i as isize)
                    as *const U)
            };
        }
    }
}

/// Contiguous rows of `bytes` bytes, each side with its distance from row to row in bytes.
struct CopyRows {
    from: (*const u8, isize),
    to: (*mut u8, isize),
    rows: usize,
    bytes: usize,
}
impl Kernel for CopyRows {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        for j in 0..self.rows as isize {
            let (from, to) = (
                self.from.0.wrapping_offset(self.from.1 * j),
                self.to.0.wrapping_offset(self.to.1 * j),
            );
            // SAFETY: PACK1 or PACK2: rows of both, which don't overlap.
            unsafe { copy_run(from, to, self.bytes) };
        }
    }
}

/// Rows whose elements are `N` apart. With a constant step LLVM loads vectors and shuffles them, two
/// to four times as fast as element by element.
struct Every<U, const N: usize>(*mut U, Rect);
impl<U: Copy, const N: usize> Kernel for Every<U, N> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Every(d, Rect { rows, cols, .. }) = self;
        for j in 0..rows {
            let s = self.1.ptr.wrapping_offset(self.1.row_step * j as isize) as *const U;
            let d = d.wrapping_add(j * cols);
            // SAFETY: PACK1 for a row of `cols` elements, `N` apart; `d` has room for as many.
            unsafe {
                // the most common width, since each is code of its own
                if N == 2 && size_of::<U>() == 4 && cols > BLOCK {
                    every_second::<U, BLOCK>(d, s, cols);
                    continue;
                }
                for i in 0..cols {
                    *d.add(i) = *s.add(i * N);
                }
            }
        }
    }
}
/// Elements that are picked at a time.
const BLOCK: usize = 16;
/// Every second of `2 * n - 1` elements, more than `B` of them, `B` at a time; the last `B` overlap.
/// A loop over elements would end with many one by one, and rows are short.
///
/// # Safety
/// PACK1 for these elements of a row; `d` has room for `n`.
#[inline(always)]
unsafe fn every_second<U: Copy, const B: usize>(d: *mut U, s: *const U, n: usize) {
    let mut at = 0;
    // SAFETY: by the caller. The first of a pair is followed by another element of the result, but
    // for the last: the last pairs begin one element earlier.
    unsafe {
        while at < n - B {
            pick::<U, B, 0>(d.add(at), s.add(2 * at));
            at += B;
        }
        pick::<U, B, 1>(d.add(n - B), s.add(2 * (n - B) - 1));
    }
}
/// Element `K` of each of `B` pairs.
///
/// # Safety
/// The pairs are readable, and `d` is writable for `B` elements, which overlap none of them.
#[inline(always)]
unsafe fn pick<U: Copy, const B: usize, const K: usize>(d: *mut U, s: *const U) {
    // SAFETY: by the caller; arrays have the alignment of their elements.
    let pairs = unsafe { *(s as *const [[U; 2]; B]) };
    let mut block = [pairs[0][K]; B];
    for l in 0..B {
        block[l] = pairs[l][K];
    }
    // SAFETY: by the caller.
    unsafe { *(d as *mut [U; B]) = block };
}

/// A rectangle of `N` contiguous columns. As for [`Every`], the constant makes vectors of it.
struct InterleaveColumns<U, const N: usize>(*mut U, Rect);
impl<U: Copy, const N: usize> Kernel for InterleaveColumns<U, N> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let InterleaveColumns(d, x) = self;
        // SAFETY: PACK1: `N` columns of adjacent elements, and room for as many, which overlap none
        // of them.
        let (columns, d) = unsafe {
            let column = |i: usize| x.ptr.offset(x.col_step * i as isize) as *const U;
            let columns: [&[U]; N] =
                core::array::from_fn(|i| core::slice::from_raw_parts(column(i), x.rows));
            (
                columns,
                core::slice::from_raw_parts_mut(d as *mut [U; N], x.rows),
            )
        };
        for (j, d) in d.iter_mut().enumerate() {
            for i in 0..N {
                d[i] = columns[i][j];
            }
        }
    }
}

/// Copies a contiguous tile of `rows * cols` elements to the rectangle `x`.
///
/// # Safety
/// PACK2: PACK1 with the roles exchanged, and no two elements of the rectangle overlap.
pub unsafe fn unpack(s: *const u8, x: Rect, size: usize) {
    // SAFETY: PACK2, by the caller; `U` is `size` bytes wide.
    dispatch_width!(size, |U| unsafe { unpack_of::<U>(s as *const U, x) })
}

/// # Safety
/// PACK2, with `U` as wide as an element.
unsafe fn unpack_of<U: Copy>(s: *const U, x: Rect) {
    let Rect {
        ptr,
        rows,
        cols,
        row_step,
        col_step,
    } = x;
    let size = size_of::<U>() as isize;
    // SAFETY: PACK2 for every element that the steps reach.
    unsafe {
        let at = |j: usize, i: usize| {
            ptr.offset(row_step * j as isize + col_step * i as isize) as *mut U
        };
        if !simd::MICROCONTROLLER && col_step == size {
            simd::call(CopyRows {
                from: (s as *const u8, cols as isize * size),
                to: (at(0, 0) as *mut u8, row_step),
                rows,
                bytes: cols * size_of::<U>(),
            })
        } else if !simd::MICROCONTROLLER && row_step == size {
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

/// How many rectangles ahead [`columns`] prefetches, as neighbours are copied one after the other: a
/// rectangle has many short rows far apart, which the CPU does not fetch ahead, nor those that are
/// about to be written.
const AHEAD: usize = 2;

/// Whether [`columns`] copies elements of so many bytes.
pub fn is_column(size: usize) -> bool {
    matches!(size, 2 | 4 | 8)
}
/// Copies a rectangle whose columns are contiguous (a `row_step` of one element) to matrices of
/// [`COLUMNS`] rows of it each, one after the other, which are their columns; or back if `store`.
/// Columns of the last matrix beyond the rectangle are left as they are.
///
/// # Safety
/// PACK1, or PACK2 if `store`, with `packed` as the tile, which has room for whole matrices; and
/// [`is_column`] holds for the size.
pub unsafe fn columns(packed: *mut u8, x: Rect, size: usize, store: bool) {
    match size {
        2 => simd::call(CopyColumns(packed as *mut u16, x, store)),
        4 => simd::call(CopyColumns(packed as *mut u32, x, store)),
        _ => simd::call(CopyColumns(packed as *mut u64, x, store)),
    }
}

/// The contract of [`columns`] holds.
struct CopyColumns<U>(*mut U, Rect, bool);
impl<U: Copy> Kernel for CopyColumns<U> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let CopyColumns(packed, x, store) = self;
        for i in 0..x.cols {
            for j in (0..x.rows).step_by(COLUMNS) {
                // SAFETY: PACK1 or PACK2: `i` and `j` lie within the rectangle, and so do the
                // `rest` elements from there on; whole matrices fit the tile.
                unsafe {
                    let memory = (x.ptr.offset(x.col_step * i as isize) as *mut U).add(j);
                    let tile = packed.add(j * x.cols + i * COLUMNS);
                    let next = memory.wrapping_add(AHEAD * x.rows);
                    for line in (0..COLUMNS * size_of::<U>()).step_by(64) {
                        simd::prefetch::<{ simd::L2 }, _>(next.wrapping_byte_add(line));
                    }
                    let (from, to) = if store {
                        (tile, memory)
                    } else {
                        (memory, tile)
                    };
                    let rest = x.rows - j;
                    if rest >= COLUMNS {
                        *(to as *mut [U; COLUMNS]) = *(from as *const [U; COLUMNS]);
                    } else {
                        core::ptr::copy_nonoverlapping(from, to, rest);
                    }
                }
            }
        }
    }
}
