//! Positions along an axis as byte offsets.

use crate::dtype::Element;

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
    /// Adds the offsets of contiguous positions along an axis of `size` elements, `stride` bytes
    /// apart, to `out`; negative positions count from the end. False if one is out of range.
    fn contiguous<'a, T: Position>(positions: &'a [T], size: i64, stride: i64, out: &'a mut [i64]) -> bool { |I|
        let mut bad = false;
        for (p, out) in positions.iter().zip(out) {
            let p = p.to_i64();
            let p = p + (size & (p >> 63));
            bad |= p as u64 >= size as u64;
            *out = out.wrapping_add(p.wrapping_mul(stride));
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
    // SAFETY: `n` positions, and room for as many offsets, by the caller's promise.
    unsafe {
        if !more {
            out.write_bytes(0, n);
        }
        let out = core::slice::from_raw_parts_mut(out, n);
        if step == size_of::<T>() as isize {
            return contiguous(core::slice::from_raw_parts(p, n), size, stride, out);
        }
        // repeated, or strided
        let mut block = [T::default(); 64];
        let mut good = true;
        for (b, out) in out.chunks_mut(block.len()).enumerate() {
            let block = &mut block[..out.len()];
            for (i, position) in block.iter_mut().enumerate() {
                *position = *p.byte_offset((64 * b + i) as isize * step);
            }
            good &= contiguous(block, size, stride, out);
        }
        good
    }
}

/// The first position out of range.
pub fn first_outside<T: Position>(positions: &[T], size: i64) -> Option<i64> {
    positions
        .iter()
        .map(|p| p.to_i64())
        .find(|p| !(-size..size).contains(p))
}
