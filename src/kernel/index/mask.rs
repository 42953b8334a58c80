//! Masks: counting, positions, selection. A mask is bytes, true if not zero.
//!
//! A mask is read twice: counted, to make room, then applied. Others may write to it in between, so
//! what applies it takes a copy (READ1), writes no more than there is room for, and returns how many
//! it found.

use crate::dtype::Pod;
#[cfg(x86_dispatch)]
use crate::simd::x86::mask::{BLOCK, bits_256, bits_512, compress};
#[cfg(x86_dispatch)]
use crate::simd::x86::vector::{I32x8, I32x16, I64x4, I64x8};

kernel! {
    /// The number of true bytes.
    pub fn count<'a>(mask: &'a [u8]) -> usize { |I|
        let mut n = 0;
        // a byte counts to 255 without overflow
        for block in mask.chunks(128) {
            let mut k = 0u8;
            for m in block {
                k += (*m != 0) as u8;
            }
            n += k as usize;
        }
        n
    }
}

kernel! {
    /// Writes the positions of true bytes, counted from `base`, as far as `out` has room, and
    /// returns how many.
    pub fn positions<'a>(mask: &'a [u8], base: usize, out: &'a mut [i64]) -> usize { |I|
        #[allow(unused_mut)]
        let (mut i, mut n) = (0, 0);
        #[cfg(x86_dispatch)]
        if I::AVX2 {
            let (blocks, _) = mask.as_chunks::<BLOCK>();
            let mut at: [i64; BLOCK] = core::array::from_fn(|i| (base + i) as i64);
            for block in blocks {
                if n + BLOCK > out.len() {
                    break;
                }
                // SAFETY: VECTOR1 by the level; a block of positions, and room for one.
                n += unsafe {
                    let (at, out) = (at.as_ptr(), out.as_mut_ptr().add(n));
                    if I::AVX512 { compress::<I64x8>(at, bits_512(block), out) } else { compress::<I64x4>(at, bits_256(block), out) }
                };
                for at in &mut at {
                    *at += BLOCK as i64;
                }
                i += BLOCK;
            }
        }
        for (i, m) in mask.iter().enumerate().skip(i) {
            // written in any case, kept if true: no data-dependent branch
            let Some(o) = out.get_mut(n) else { return n };
            *o = (base + i) as i64;
            n += (*m != 0) as usize;
        }
        n
    }
}

kernel! {
    /// Copies the elements where the mask is true, as far as `out` has room, and returns how many.
    pub fn select<'a, U: Pod>(x: &'a [U], mask: &'a [u8], out: &'a mut [U]) -> usize { |I|
        #[allow(unused_mut)]
        let (mut i, mut n) = (0, 0);
        let x = &x[..mask.len()];
        #[cfg(x86_dispatch)]
        if I::AVX2 && (size_of::<U>() == 4 || size_of::<U>() == 8) {
            let (blocks, _) = mask.as_chunks::<BLOCK>();
            for block in blocks {
                if n + BLOCK > out.len() {
                    break;
                }
                // SAFETY: VECTOR1 by the level; a block of elements of the vector's width, and room
                // for one.
                n += unsafe {
                    let (x, out) = (x.as_ptr().add(i), out.as_mut_ptr().add(n));
                    match (I::AVX512, size_of::<U>()) {
                        (true, 4) => compress::<I32x16>(x.cast(), bits_512(block), out.cast()),
                        (true, _) => compress::<I64x8>(x.cast(), bits_512(block), out.cast()),
                        (_, 4) => compress::<I32x8>(x.cast(), bits_256(block), out.cast()),
                        _ => compress::<I64x4>(x.cast(), bits_256(block), out.cast()),
                    }
                };
                i += BLOCK;
            }
        }
        for (x, m) in x[i..].iter().zip(&mask[i..]) {
            let Some(o) = out.get_mut(n) else { return n };
            *o = *x;
            n += (*m != 0) as usize;
        }
        n
    }
}

kernel! {
    /// Writes the value where the mask is true.
    pub fn fill<'a, U: Pod>(x: &'a mut [U], mask: &'a [u8], value: U) -> () { |I|
        blend!(x, mask, |old, m| if m != 0 { value } else { old })
    }
}

/// The coordinate of each position along a dimension of `size` elements, `inner` positions apart.
/// Positions ascend.
pub fn coordinates(positions: &[i64], inner: usize, size: usize, out: &mut [i64], step: usize) {
    // Positions from `start` to `end` lie in one line of the dimension, if it is the last, or else
    // share a coordinate: one division for each such run.
    let (mut start, mut end, mut coordinate) = (0, 0, 0);
    for (p, o) in positions.iter().zip(out.iter_mut().step_by(step)) {
        let p = *p as usize;
        if p >= end {
            let unit = if inner == 1 { size } else { inner };
            start = p / unit * unit;
            end = start + unit;
            coordinate = p / inner % size;
        }
        *o = if inner == 1 { p - start } else { coordinate } as i64;
    }
}
