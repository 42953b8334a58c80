//! Packs rectangles whose columns are contiguous: whole cache lines are read and written, in blocks
//! that are transposed in registers.

use super::rect::Rect;
use crate::simd::{self, Isa, Kernel};

/// Rows of a strip. As many elements of each column are read together, so that some of its cache
/// lines are adjacent.
const STRIP: usize = 64;
/// Side of a block of four-byte elements. Its lines are whole cache lines, so each is fetched once
/// although the rows of a matrix of 2048 columns all compete for a few sets of the cache. Blocks of
/// narrower elements are as wide in bytes, so they have more elements.
const SIDE: usize = 16;

/// Copies a rectangle with contiguous columns to contiguous rows, `step` bytes apart.
///
/// # Safety
/// PACK3: PACK1 of [`pack`](super::pack::pack) for the rectangle, with a `row_step` of one element,
/// and with destination rows `step` bytes apart instead of without gaps.
pub unsafe fn transpose<U: Copy>(to: *mut U, step: isize, x: Rect) {
    simd::call(Transpose(to, step, x))
}

/// PACK3 holds.
struct Transpose<U>(*mut U, isize, Rect);
impl<U: Copy> Kernel for Transpose<U> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let Transpose(to, step, x) = self;
        let whole = SIDE * size_of::<u32>() / size_of::<U>();
        let side = [whole, SIDE, 8]
            .into_iter()
            .find(|s| x.rows.min(x.cols) >= *s)
            .unwrap_or(x.rows.min(x.cols));
        // If the side doesn't divide the rectangle, the last blocks overlap those before and write
        // some elements again.
        for j in (0..x.rows).step_by(STRIP) {
            for i in (0..x.cols).step_by(side) {
                for j in (j..x.rows.min(j + STRIP)).step_by(side) {
                    let (j, i) = (j.min(x.rows - side), i.min(x.cols - side));
                    // SAFETY: PACK3; the block lies inside the rectangle.
                    unsafe {
                        let from = (x.ptr.offset(x.col_step * i as isize) as *const U).add(j);
                        block::<I, U>(
                            from,
                            x.col_step,
                            to.byte_offset(step * j as isize).add(i),
                            step,
                            side,
                        );
                    }
                }
            }
        }
    }
}

/// Transposes one block: `side` contiguous columns of as many elements.
///
/// # Safety
/// PACK3.
#[inline(always)]
unsafe fn block<I: Isa, U: Copy>(
    from: *const U,
    from_step: isize,
    to: *mut U,
    to_step: isize,
    side: usize,
) {
    // SAFETY: PACK3: every element reached is one of the block's `side` rows and columns.
    unsafe {
        match (size_of::<U>(), side) {
            (1, 64) => return grouped::<I, 4>(from.cast(), from_step, to.cast(), to_step),
            (2, 32) => return grouped::<I, 2>(from.cast(), from_step, to.cast(), to_step),
            #[cfg(x86_dispatch)]
            (4, SIDE) if I::AVX2 => {
                return simd::x86::transpose::transpose_16::<I>(
                    from.cast(),
                    from_step,
                    to.cast(),
                    to_step,
                );
            }
            #[cfg(x86_dispatch)]
            (4, 8) if I::AVX2 => {
                return simd::x86::transpose::transpose_8x8(
                    from.cast(),
                    from_step,
                    to.cast(),
                    to_step,
                );
            }
            _ => {}
        }
        for i in 0..side {
            for j in 0..side {
                *to.byte_offset(to_step * j as isize).add(i) =
                    *from.byte_offset(from_step * i as isize).add(j);
            }
        }
    }
}

/// Four bytes of no particular alignment.
type Four = [u8; 4];

/// A block of elements of `4 / N` bytes. Groups of `N` adjacent elements are transposed as elements
/// of four bytes, then the elements within groups are exchanged between `N` columns.
///
/// # Safety
/// PACK3 for `SIDE * N` columns of as many elements.
#[inline(always)]
unsafe fn grouped<I: Isa, const N: usize>(
    from: *const Four,
    from_step: isize,
    to: *mut u8,
    to_step: isize,
) {
    /// Exchanges the second halves of `a` with the first halves of `b`, in groups of `2 * bits`
    /// bits whose lower half is `low`.
    #[inline(always)]
    fn exchange(a: &mut [u32; SIDE], b: &mut [u32; SIDE], bits: u32, low: u32) {
        let (a, b) = if cfg!(target_endian = "big") {
            (b, a)
        } else {
            (a, b)
        };
        for (a, b) in a.iter_mut().zip(b) {
            (*a, *b) = (
                (*a & low) | (*b & low) << bits,
                (*a >> bits & low) | (*b & !low),
            );
        }
    }
    let mut groups = [[[0; SIDE]; N]; SIDE];
    let step = size_of_val(&groups[0]) as isize;
    for k in 0..N {
        // SAFETY: PACK3; line `k` of each group has room for a row of the transposed block.
        unsafe {
            let from = from.byte_offset(from_step * k as isize);
            block::<I, Four>(
                from,
                from_step * N as isize,
                groups.as_mut_ptr().cast::<Four>().add(SIDE * k),
                step,
                SIDE,
            );
        }
    }
    for (g, group) in groups.iter_mut().enumerate() {
        if let [a, b, c, d] = &mut group[..] {
            exchange(a, b, 8, 0x00ff_00ff);
            exchange(c, d, 8, 0x00ff_00ff);
            exchange(a, c, 16, 0xffff);
            exchange(b, d, 16, 0xffff);
        } else if let [a, b] = &mut group[..] {
            exchange(a, b, 16, 0xffff);
        }
        for (k, line) in group.iter().enumerate() {
            // SAFETY: PACK3; a row is `SIDE` times four bytes.
            unsafe {
                (to.byte_offset(to_step * (g * N + k) as isize) as *mut [u32; SIDE])
                    .write_unaligned(*line)
            };
        }
    }
}
