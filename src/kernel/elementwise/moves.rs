//! Loops that move elements by their width, whatever their dtype.

use super::loops::{UNARY_MASKS, operand, result};
use super::operation::ScalarMasks;
use crate::simd::{Isa, Loop, copy_run};
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// An unsigned integer that stands for the bits of any dtype of its width.
pub trait Bits: Copy {
    /// `a` if the condition's byte is not zero, else `b`. By masks: below AVX-512 LLVM makes a
    /// branch of an `if` here, which is ten times slower.
    fn select(c: u8, a: Self, b: Self) -> Self;
}
macro_rules! bits {
    ($($T:ident),*) => { $(impl Bits for $T {
        #[inline(always)]
        fn select(c: u8, a: $T, b: $T) -> $T {
            let m = (0 as $T).wrapping_sub((c != 0) as $T);
            (a & m) | (b & !m)
        }
    })* };
}
bits!(u8, u16, u32, u64);
impl Bits for [u64; 2] {
    #[inline(always)]
    fn select(c: u8, a: Self, b: Self) -> Self {
        [u64::select(c, a[0], b[0]), u64::select(c, a[1], b[1])]
    }
}

/// The scalar masks that [`Select`] takes.
pub const SELECT_MASKS: ScalarMasks = 1 | 1 << 0b010 | 1 << 0b100 | 1 << 0b110;
/// The loop of `where`.
pub struct Select<U>(PhantomData<U>);
impl<U: Bits> Loop for Select<U> {
    #[inline(always)]
    unsafe fn run<I: Isa>(
        d: *mut u8,
        c: *const u8,
        a: *const u8,
        b: *const u8,
        n: usize,
        scalars: u32,
    ) {
        // SAFETY: LOOP1: `n` elements of each operand, or one if its bit of `scalars` is set; room
        // for `n` results.
        unsafe {
            let (d, c) = (result::<U>(d, n), operand::<u8>(c, n));
            let (x, y) = (a as *const U, b as *const U);
            match scalars {
                0b010 => {
                    for ((d, c), b) in d.iter_mut().zip(c).zip(operand::<U>(b, n)) {
                        d.write(U::select(*c, *x, *b));
                    }
                }
                0b100 => {
                    for ((d, c), a) in d.iter_mut().zip(c).zip(operand::<U>(a, n)) {
                        d.write(U::select(*c, *a, *y));
                    }
                }
                0b110 => {
                    let (a, b) = (*x, *y);
                    for (d, c) in d.iter_mut().zip(c) {
                        d.write(U::select(*c, a, b));
                    }
                }
                _ => {
                    for (((d, c), a), b) in d
                        .iter_mut()
                        .zip(c)
                        .zip(operand::<U>(a, n))
                        .zip(operand::<U>(b, n))
                    {
                        d.write(U::select(*c, *a, *b));
                    }
                }
            }
        }
    }
}

/// The scalar masks that [`Copy1`] takes.
pub const COPY_MASKS: ScalarMasks = UNARY_MASKS;
/// Copies elements of the width of `U`.
pub struct Copy1<U>(PhantomData<U>);
impl<U: Copy> Loop for Copy1<U> {
    #[inline(always)]
    unsafe fn run<I: Isa>(
        d: *mut u8,
        a: *const u8,
        _: *const u8,
        _: *const u8,
        n: usize,
        scalars: u32,
    ) {
        // SAFETY: LOOP1: `n` elements of each operand, or one if its bit of `scalars` is set; room
        // for `n` results.
        unsafe {
            if scalars & 1 == 1 {
                result::<U>(d, n).fill(MaybeUninit::new(*(a as *const U)))
            } else {
                copy_run(a as *const U, d as *mut U, n)
            }
        }
    }
}
