//! Elementwise loops: contiguous operands (or one value each) in, a contiguous result out. No layout, no threads.

use crate::exec::isa::{Isa, Loop};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::slice::{from_raw_parts, from_raw_parts_mut};

/// Copies elements of the width of `U`.
pub struct Copy1<U>(PhantomData<U>);
impl<U: Copy> Loop for Copy1<U> {
    #[inline(always)]
    unsafe fn run<I: Isa>(d: *mut u8, a: *const u8, _: *const u8, _: *const u8, n: usize, scalars: u32) {
        // SAFETY: E1.
        unsafe {
            if scalars & 1 == 1 {
                from_raw_parts_mut(d as *mut MaybeUninit<U>, n).fill(MaybeUninit::new(*(a as *const U)))
            } else {
                core::ptr::copy_nonoverlapping(a as *const U, d as *mut U, n)
            }
        }
    }
}
/// The scalar masks that [`Copy1`] takes.
pub const COPY_FORMS: u8 = 0b11;

/// A slice of operand elements.
///
/// # Safety
/// E1: `n` initialised aligned elements.
#[inline(always)]
pub unsafe fn operand<'a, T>(p: *const u8, n: usize) -> &'a [T] {
    // SAFETY: E1.
    unsafe { from_raw_parts(p as *const T, n) }
}
/// The slice of result elements.
///
/// # Safety
/// E1: room for `n` aligned elements, which nothing else refers to.
#[inline(always)]
pub unsafe fn result<'a, T>(p: *mut u8, n: usize) -> &'a mut [MaybeUninit<T>] {
    // SAFETY: E1.
    unsafe { from_raw_parts_mut(p as *mut MaybeUninit<T>, n) }
}
