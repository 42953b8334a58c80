//! Positions along an axis as byte offsets.

use crate::dtype::Element;
use crate::simd::{self, copy_once};
use core::mem::MaybeUninit;

/// Positions that are copied, checked and converted at a time: they fit L1 together with their
/// offsets.
const TILE: usize = if simd::MICROCONTROLLER { 64 } else { 512 };

/// An integer that can be a position.
pub trait Position: Element {
    /// As int64; larger values saturate, which is out of range for any axis.
    fn to_i64(self) -> i64;
}
macro_rules! positions {
    ($($(#[$cfg:meta])* $T:ty),*) => { $(
        $(#[$cfg])* impl Position for $T { #[inline(always)] fn to_i64(self) -> i64 { self as i64 } }
    )* };
}
positions!(
    i8,
    i32,
    i64,
    u8,
    #[cfg(feature = "ints")]
    i16,
    #[cfg(feature = "ints")]
    u16,
    #[cfg(feature = "ints")]
    u32
);
#[cfg(feature = "ints")]
impl Position for u64 {
    #[inline(always)]
    fn to_i64(self) -> i64 {
        self.min(i64::MAX as u64) as i64
    }
}

kernel! {
    /// Writes the offsets of contiguous positions along an axis of `size` elements, `stride` bytes
    /// apart, to `out`, or adds them if `more`; negative positions count from the end. False if one
    /// is out of range.
    ///
    /// Invariant OFFSETS1: `out` is initialised if `more`.
    fn contiguous<'a, T: Position>(positions: &'a [T], size: i64, stride: i64, more: bool, out: &'a mut [MaybeUninit<i64>]) -> bool { |I|
        let mut bad = false;
        for (p, out) in positions.iter().zip(out) {
            let p = p.to_i64();
            let p = p + (size & (p >> 63));
            bad |= p as u64 >= size as u64;
            // SAFETY: OFFSETS1.
            let before = if more { unsafe { out.assume_init() } } else { 0 };
            out.write(before.wrapping_add(p.wrapping_mul(stride)));
        }
        !bad
    }
}

/// Offsets of `n` positions, `step` bytes apart, along an axis of `size` elements, `stride` bytes
/// apart; negative positions count from the end. They are added to what `out` holds if `more`.
/// False if one is out of range.
///
/// # Safety
/// `n` positions, `step` bytes apart, are readable; `out` has room for `n` offsets, which are
/// initialised if `more`.
pub unsafe fn offsets<T: Position>(
    p: *const T,
    step: isize,
    n: usize,
    size: i64,
    stride: i64,
    more: bool,
    out: *mut i64,
) -> bool {
    // SAFETY: room for `n` offsets, by the caller's promise.
    let out = unsafe { core::slice::from_raw_parts_mut(out as *mut MaybeUninit<i64>, n) };
    let (mut tile, mut good) = ([const { MaybeUninit::uninit() }; TILE], true);
    for (t, out) in out.chunks_mut(TILE).enumerate() {
        // SAFETY: `n` positions, by the caller's promise; any bits are an integer.
        let own = unsafe {
            let first = p.byte_offset((TILE * t) as isize * step);
            copy_once(first, step, &mut tile[..out.len()])
        };
        // OFFSETS1 by the caller's promise; READ1 for the positions
        good &= contiguous(own, size, stride, more, out);
    }
    good
}

/// Copies the elements of type `U` at `n` contiguous positions along a contiguous line of `size`
/// elements to `out`; negative positions count from the end. False if one is out of range, the results
/// are unspecified then.
///
/// Element by element, for every instruction set: a load takes less time than its share of a gather.
///
/// # Safety
/// `n` positions are readable, and `size` elements at `line`; `out` has room for `n` aligned elements.
pub unsafe fn take<U: Copy>(
    line: *const U,
    size: usize,
    positions: *const i64,
    n: usize,
    out: *mut U,
) -> bool {
    let size = size as i64;
    for k in 0..n {
        // SAFETY: one of `n` positions, which is read once (READ1).
        let at = unsafe { positions.add(k).read_volatile() };
        let at = at.wrapping_add(size & (at >> 63));
        if at as u64 >= size as u64 {
            return false;
        }
        // SAFETY: an element of the line, and room for it.
        unsafe { *out.add(k) = *line.add(at as usize) }
    }
    true
}

/// The first position out of range.
pub fn first_outside<T: Position>(positions: &[T], size: i64) -> Option<i64> {
    positions
        .iter()
        .map(|p| p.to_i64())
        .find(|p| !(-size..size).contains(p))
}
