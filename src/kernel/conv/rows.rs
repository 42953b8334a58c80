//! Rows of an image as kernels read them: contiguous elements, with zeros past the ends.

use crate::kernel::gemm::{MatElement, Packed};
use crate::simd::Isa;
use core::ops::Range;

/// Elements copied at a time.
pub const BLOCK: usize = 16;

/// `len` positions: the first reads column `first`, the others are `stride` columns apart.
#[derive(Clone, Copy)]
pub struct StridedColumns {
    pub first: isize,
    pub stride: usize,
    pub len: usize,
}
impl StridedColumns {
    /// The positions that read one of `columns` columns.
    #[inline(always)]
    pub fn inside(&self, columns: usize) -> Range<usize> {
        // most strides are 1 or 2, and a division takes longer than what follows
        let positions = |columns: usize| match self.stride {
            1 => columns,
            2 => columns.div_ceil(2),
            stride => columns.div_ceil(stride),
        };
        let start = positions((-self.first).max(0) as usize).min(self.len);
        let end = positions((columns as isize - self.first).max(0) as usize);
        start..end.clamp(start, self.len)
    }
}

/// Writes what positions read of a row of `columns` elements, `step` apart, to `d`, with zeros
/// outside the row.
///
/// # Safety
/// The row at `from` is one of an image (IMAGE1), `columns` and `step` are its width and stride.
#[inline(always)]
pub unsafe fn load<I: Isa, T: MatElement>(
    from: *const T,
    step: isize,
    columns: usize,
    positions: StridedColumns,
    d: &mut [T::Acc],
) {
    let d = &mut d[..positions.len];
    let last = positions.first + (positions.len.max(1) - 1) as isize * positions.stride as isize;
    let inside = if positions.first >= 0 && last < columns as isize {
        0..d.len()
    } else {
        clear(d);
        positions.inside(columns)
    };
    if inside.is_empty() {
        return;
    }
    let column = positions.first + (inside.start * positions.stride) as isize;
    let from = from.wrapping_offset(column * step);
    // SAFETY: IMAGE1: each position of `inside` reads one of the row's columns, the first one
    // `column`.
    unsafe { run::<I, T>(from, step, positions.stride, &mut d[inside]) }
}

/// Writes every `stride`th element of a row from `from` on, whose elements are `step` apart.
///
/// # Safety
/// They are elements of a row of an image (IMAGE1), at least one.
#[inline(always)]
pub unsafe fn run<I: Isa, T: MatElement>(
    from: *const T,
    step: isize,
    stride: usize,
    d: &mut [T::Acc],
) {
    // SAFETY: IMAGE1: as many columns of the row as `d` has elements, `stride * step` apart.
    unsafe {
        match step * stride as isize {
            1 => neighbours::<I, T>(core::slice::from_raw_parts(from, d.len()), d),
            2 if step == 1 => {
                let s = core::slice::from_raw_parts(from, 2 * d.len() - 1);
                every_second::<I, T>(s, d)
            }
            step => {
                for (t, d) in d.iter_mut().enumerate() {
                    *d = (*from.offset(t as isize * step)).widen();
                }
            }
        }
    }
}

/// Writes zeros by whole blocks: rows are short, and calling `memset` takes longer than writing
/// some of them twice.
#[inline(always)]
pub fn clear<T: Copy + Default>(d: &mut [T]) {
    match d.len() {
        BLOCK.. => zeros::<T, BLOCK>(d),
        8.. => zeros::<T, 8>(d),
        4.. => zeros::<T, 4>(d),
        _ => {
            for d in d {
                *d = T::default();
            }
        }
    }
}

/// At least `N` zeros, `N` at a time; the last `N` overlap.
#[inline(always)]
fn zeros<T: Copy + Default, const N: usize>(d: &mut [T]) {
    for d in d.as_chunks_mut::<N>().0 {
        *d = [T::default(); N];
    }
    if let Some(d) = d.last_chunk_mut::<N>() {
        *d = [T::default(); N];
    }
}

/// Copies contiguous elements: rows are short, and calling `memcpy` takes long.
#[inline(always)]
pub fn neighbours<I: Isa, T: MatElement>(s: &[T], d: &mut [T::Acc]) {
    match d.len() {
        BLOCK.. => blocks::<I, T, BLOCK>(s, d),
        8.. => blocks::<I, T, 8>(s, d),
        4.. => blocks::<I, T, 4>(s, d),
        _ => {
            for (s, d) in s.iter().zip(d) {
                *d = s.widen();
            }
        }
    }
}

/// At least `N` elements, `N` at a time; the last `N` overlap.
#[inline(always)]
fn blocks<I: Isa, T: MatElement, const N: usize>(s: &[T], d: &mut [T::Acc]) {
    let s = &s[..d.len()];
    let whole = s.as_chunks::<N>().0.iter().zip(d.as_chunks_mut::<N>().0);
    for (s, d) in whole {
        *d = widened::<I, T, N>(s);
    }
    if !d.len().is_multiple_of(N)
        && let (Some(s), Some(d)) = (s.last_chunk::<N>(), d.last_chunk_mut::<N>())
    {
        *d = widened::<I, T, N>(s);
    }
}
/// Through registers: LLVM copies slices that may overlap one by one.
#[inline(always)]
fn widened<I: Isa, T: MatElement, const N: usize>(s: &[T; N]) -> [T::Acc; N] {
    let mut block = [T::Acc::default(); N];
    T::widen_all::<I>(s, &mut block);
    block
}

/// Every second element of `s`, which has `2 * d.len() - 1`.
#[inline(always)]
fn every_second<I: Isa, T: MatElement>(s: &[T], d: &mut [T::Acc]) {
    const MORE: usize = BLOCK + 1;
    match d.len() {
        MORE.. => firsts::<I, T, BLOCK>(s, d),
        9.. => firsts::<I, T, 8>(s, d),
        5.. => firsts::<I, T, 4>(s, d),
        _ => {
            for (s, d) in s.iter().step_by(2).zip(d) {
                *d = s.widen();
            }
        }
    }
}

/// More than `N` elements, `N` at a time; the last `N` overlap.
#[inline(always)]
fn firsts<I: Isa, T: MatElement, const N: usize>(s: &[T], d: &mut [T::Acc]) {
    let len = d.len();
    let mut at = 0;
    while at < len - N {
        d[at..at + N].copy_from_slice(&pairs::<I, T, N>(&s[2 * at..])[0]);
        at += N;
    }
    // from one element earlier, since there is none after the last
    let last = &s[2 * (len - N) - 1..];
    d[len - N..].copy_from_slice(&pairs::<I, T, N>(last)[1]);
}

/// Deinterleaves the first `2 * N` elements.
#[inline(always)]
pub fn pairs<I: Isa, T: MatElement, const N: usize>(s: &[T]) -> [[T::Acc; N]; 2] {
    let mut both = [[T::Acc::default(); N]; 2];
    T::widen_all::<I>(&s[..2 * N], both.as_flattened_mut());
    deinterleave(&both)
}

/// Deinterleaves elements. Those of 32 bits as halves of 64-bit ones, which LLVM vectorises.
#[inline(always)]
pub fn deinterleave<F: Packed, const N: usize>(s: &[[F; N]; 2]) -> [[F; N]; 2] {
    let mut d = [[F::default(); N]; 2];
    if size_of::<F>() == size_of::<u32>() && cfg!(target_endian = "little") {
        for l in 0..N {
            // SAFETY: LANE1: two plain elements of 4 bytes each, any bits of which are a value.
            unsafe {
                let both = (s.as_ptr() as *const u64).wrapping_add(l).read_unaligned();
                d[0].as_mut_ptr()
                    .add(l)
                    .cast::<u32>()
                    .write_unaligned(both as u32);
                d[1].as_mut_ptr()
                    .add(l)
                    .cast::<u32>()
                    .write_unaligned((both >> 32) as u32);
            }
        }
        return d;
    }
    for l in 0..N {
        let s = s.as_flattened();
        (d[0][l], d[1][l]) = (s[2 * l], s[2 * l + 1]);
    }
    d
}

/// Interleaves elements: the inverse of [`deinterleave`].
#[inline(always)]
pub fn interleave<F: Packed>(s: [&[F; BLOCK]; 2]) -> [F; 2 * BLOCK] {
    let mut d = [F::default(); 2 * BLOCK];
    if size_of::<F>() == size_of::<u32>() && cfg!(target_endian = "little") {
        for l in 0..BLOCK {
            // SAFETY: LANE1: plain elements of 4 bytes, any bits of which are a value.
            unsafe {
                let low = s[0].as_ptr().add(l).cast::<u32>().read_unaligned() as u64;
                let high = s[1].as_ptr().add(l).cast::<u32>().read_unaligned() as u64;
                let to = (d.as_mut_ptr() as *mut u64).wrapping_add(l);
                to.write_unaligned(low | high << 32);
            }
        }
        return d;
    }
    for l in 0..BLOCK {
        (d[2 * l], d[2 * l + 1]) = (s[0][l], s[1][l]);
    }
    d
}
