//! A conversion as a rule for one element, and the loops made from it.

use crate::simd::{Isa, Loop, LoopFn, pick, rolled};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::slice::{from_raw_parts, from_raw_parts_mut};

/// A conversion of one element.
pub trait ElementConversion: 'static {
    /// The source type.
    type From: Copy + 'static;
    /// The target type.
    type To: Copy + 'static;
    /// The body; `#[inline(always)]`, branch-free.
    fn convert(x: Self::From) -> Self::To;
    /// Converts a slice into another of the same length.
    #[inline(always)]
    fn convert_all<I: Isa>(x: &[Self::From], y: &mut [MaybeUninit<Self::To>]) {
        for (y, x) in y.iter_mut().zip(x) {
            rolled::<I, Self::To>();
            y.write(Self::convert(*x));
        }
    }
    /// Converts a block. The result is new memory, so that LLVM needs no check whether it overlaps
    /// x.
    #[inline(always)]
    fn convert_block(x: &[Self::From; BLOCK]) -> [MaybeUninit<Self::To>; BLOCK] {
        let mut y = [const { MaybeUninit::uninit() }; BLOCK];
        for k in 0..BLOCK {
            y[k].write(Self::convert(x[k]));
        }
        y
    }
}

/// Elements of a block. LLVM vectorises a loop of this many iterations, without a remainder; one of
/// 32 it unrolls first and then leaves scalar.
pub const BLOCK: usize = 64;

/// [`ElementConversion::convert_all`] by blocks: twice as fast with AVX2 for results so narrow that
/// packing them costs as much as the conversion. (In a closure, a block is so long that LLVM would
/// outline it.)
#[inline(always)]
pub fn by_blocks<R: ElementConversion>(x: &[R::From], y: &mut [MaybeUninit<R::To>]) {
    let ((blocks, x), (results, y)) = (x.as_chunks(), y.as_chunks_mut());
    for (x, y) in blocks.iter().zip(results) {
        *y = R::convert_block(x);
    }
    for (y, x) in y.iter_mut().zip(x) {
        y.write(R::convert(*x));
    }
}

/// The loop of a rule.
pub struct Convert<R>(PhantomData<R>);

impl<R: ElementConversion> Loop for Convert<R> {
    #[inline(always)]
    unsafe fn run<I: Isa>(
        d: *mut u8,
        a: *const u8,
        _: *const u8,
        _: *const u8,
        n: usize,
        scalars: u32,
    ) {
        // SAFETY: LOOP1: room for `n` elements that nothing else refers to.
        let d = unsafe { from_raw_parts_mut(d as *mut MaybeUninit<R::To>, n) };
        if scalars & 1 == 1 {
            // SAFETY: LOOP1: by the bit, there is one element.
            let x = R::convert(unsafe { *(a as *const R::From) });
            for d in d {
                d.write(x);
            }
        } else {
            // SAFETY: LOOP1: by the bit, there are `n` elements.
            R::convert_all::<I>(unsafe { from_raw_parts(a as *const R::From, n) }, d);
        }
    }
}
/// The loop of one rule.
pub fn one<R: ElementConversion>() -> LoopFn {
    pick::<Convert<R>>()
}
/// The loop of two rules in sequence.
pub fn two<A: ElementConversion, B: ElementConversion<From = A::To>>() -> LoopFn {
    blockwise::<A, B>
}
/// Runs the loops of two rules on blocks that stay in L1. The rules' own loops do the work, so this
/// function is small, and the same for all instruction sets.
///
/// # Safety
/// LOOP1.
unsafe fn blockwise<A: ElementConversion, B: ElementConversion<From = A::To>>(
    d: *mut u8,
    a: *const u8,
    _: *const u8,
    _: *const u8,
    n: usize,
    scalars: u32,
) {
    /// A block is long enough that the two calls don't matter.
    const WORDS: usize = 256;
    const { assert!(align_of::<A::To>() <= align_of::<u64>()) };
    let step = const { WORDS * size_of::<u64>() / size_of::<A::To>() };
    let mut block = [0u64; WORDS];
    let (block, none) = (block.as_mut_ptr() as *mut u8, core::ptr::null());
    let (first, second) = (one::<A>(), one::<B>());
    if scalars & 1 == 1 {
        // SAFETY: LOOP1; the block holds one value, which the first loop writes and the second
        // reads.
        unsafe {
            first(block, a, none, none, 1, 0);
            second(d, block, none, none, n, 1)
        }
        return;
    }
    for k in (0..n).step_by(step) {
        let len = step.min(n - k);
        // SAFETY: LOOP1 for the elements k..k + len; the block holds as many values.
        unsafe {
            first(block, a.add(k * size_of::<A::From>()), none, none, len, 0);
            second(d.add(k * size_of::<B::To>()), block, none, none, len, 0)
        }
    }
}
