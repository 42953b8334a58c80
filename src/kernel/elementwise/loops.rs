//! The loops, one for each number of operands. An operation provides the body for one element; LLVM
//! vectorises the loop.

use super::operation::{Binary, NEITHER, ScalarMasks, Ternary, Unary};
use crate::dtype::Bool;
use crate::kernel::math::Number;
use crate::simd::{Isa, Loop, rolled};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::num::Wrapping;
use core::slice::{from_raw_parts, from_raw_parts_mut};

/// Element types whose loops of several operands take a single value for some of them: the most
/// common types, since each mask is another loop. For the others, a value is repeated in a tile.
pub trait ScalarOperands: Number {
    /// Whether they do.
    const SCALARS: bool;
}
macro_rules! scalar_operands {
    ($yes:literal: $($T:ty),*) => { $(impl ScalarOperands for $T { const SCALARS: bool = $yes; })* };
}
scalar_operands!(true: i32, i64, u32, u64, Wrapping<u32>, Wrapping<u64>, f32, f64);
scalar_operands!(false: Bool, i8, i16, u8, u16, Wrapping<u8>, Wrapping<u16>);
#[cfg(feature = "half")]
scalar_operands!(false: crate::dtype::f16, crate::dtype::bf16);
#[cfg(feature = "complex")]
scalar_operands!(false: num_complex::Complex<f32>, num_complex::Complex<f64>);

/// The scalar masks of loops of one operand.
pub const UNARY_MASKS: ScalarMasks = 0b11;
/// Those of loops of two.
pub const fn binary_masks<O: Binary<F, T>, F, T: ScalarOperands>() -> ScalarMasks {
    if T::SCALARS { O::SCALARS } else { NEITHER }
}
/// Those of loops of three.
pub const fn ternary_masks<T: ScalarOperands>() -> ScalarMasks {
    if T::SCALARS {
        NEITHER | 1 << 0b010 | 1 << 0b110
    } else {
        NEITHER
    }
}

/// # Safety
/// LOOP1 for `n` initialised, aligned elements.
#[inline(always)]
pub unsafe fn operand<'a, T>(p: *const u8, n: usize) -> &'a [T] {
    // SAFETY: LOOP1, by the caller's promise: `n` initialised, aligned elements.
    unsafe { from_raw_parts(p as *const T, n) }
}
/// # Safety
/// LOOP1, and room for `n` aligned elements that nothing else refers to.
#[inline(always)]
pub unsafe fn result<'a, T>(p: *mut u8, n: usize) -> &'a mut [MaybeUninit<T>] {
    // SAFETY: LOOP1, by the caller's promise: room for `n` that nothing else refers to.
    unsafe { from_raw_parts_mut(p as *mut MaybeUninit<T>, n) }
}

/// Elements that the fast path computes before the slow path checks them: they stay in L1.
const FAST_BLOCK: usize = 512;
/// Runs the fast path for the elements of an iterator of results and operands, then the slow path
/// for those that need it.
macro_rules! each {
    ($O:ident $I:ident $items:expr, |$d:ident, $p:pat_param| ($($x:expr),*)) => {{
        let mut any = false;
        for ($d, $p) in $items {
            rolled::<$I, T>();
            $d.write($O::fast::<$I>($($x),*));
            any |= $O::needs_slow_path::<$I>($($x),*);
        }
        if $O::HAS_FAST_PATH && any {
            for ($d, $p) in $items {
                if $O::needs_slow_path::<$I>($($x),*) {
                    $d.write($O::eval::<$I>($($x),*));
                }
            }
        }
    }};
}

/// The loop of one operand.
pub struct UnaryLoop<O, F, T>(PhantomData<(O, F, T)>);
impl<O: Unary<F, T>, F, T: Number> Loop for UnaryLoop<O, F, T> {
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
            let d = result::<O::Out<T>>(d, n);
            if scalars & 1 == 1 {
                let x = *(a as *const T);
                return d.fill(MaybeUninit::new(O::eval::<I>(x)));
            }
            unary::<I, O, F, T>(d, operand::<T>(a, n));
        }
    }
}
/// The results of the operation for each element of `a`.
#[inline(always)]
pub fn unary<I: Isa, O: Unary<F, T>, F, T: Number>(d: &mut [MaybeUninit<O::Out<T>>], a: &[T]) {
    if !O::HAS_FAST_PATH {
        each!(O I d.iter_mut().zip(a), |d, a| (*a));
        return;
    }
    for (d, a) in d.chunks_mut(FAST_BLOCK).zip(a.chunks(FAST_BLOCK)) {
        each!(O I d.iter_mut().zip(a), |d, a| (*a));
    }
}

/// The loop of two operands.
pub struct BinaryLoop<O, F, T>(PhantomData<(O, F, T)>);
impl<O: Binary<F, T>, F, T: ScalarOperands> Loop for BinaryLoop<O, F, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(
        d: *mut u8,
        a: *const u8,
        b: *const u8,
        _: *const u8,
        n: usize,
        scalars: u32,
    ) {
        // SAFETY: LOOP1: `n` elements of each operand, or one if its bit of `scalars` is set; room
        // for `n` results.
        unsafe {
            let d = result::<O::Out<T>>(d, n);
            let part = if O::HAS_FAST_PATH {
                FAST_BLOCK
            } else {
                n.max(1)
            };
            let masks = const { binary_masks::<O, F, T>() };
            if masks >> 1 & 1 == 1 && scalars == 1 {
                let a = *(a as *const T);
                for (d, b) in d.chunks_mut(part).zip(operand::<T>(b, n).chunks(part)) {
                    each!(O I d.iter_mut().zip(b), |d, b| (a, *b));
                }
            } else if masks >> 2 & 1 == 1 && scalars == 2 {
                let (a, b) = (operand::<T>(a, n), *(b as *const T));
                if O::by_number::<I>(d, a, b) {
                    return;
                }
                for (d, a) in d.chunks_mut(part).zip(a.chunks(part)) {
                    each!(O I d.iter_mut().zip(a), |d, a| (*a, b));
                }
            } else {
                for ((d, a), b) in d
                    .chunks_mut(part)
                    .zip(operand::<T>(a, n).chunks(part))
                    .zip(operand::<T>(b, n).chunks(part))
                {
                    each!(O I d.iter_mut().zip(a.iter().zip(b)), |d, (a, b)| (*a, *b));
                }
            }
        }
    }
}

/// The loop of three operands.
pub struct TernaryLoop<O, F, T>(PhantomData<(O, F, T)>);
impl<O: Ternary<F, T>, F, T: ScalarOperands> Loop for TernaryLoop<O, F, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(
        d: *mut u8,
        a: *const u8,
        b: *const u8,
        c: *const u8,
        n: usize,
        scalars: u32,
    ) {
        // SAFETY: LOOP1: `n` elements of each operand, or one if its bit of `scalars` is set; room
        // for `n` results.
        unsafe {
            let (d, a) = (result::<O::Out<T>>(d, n), operand::<T>(a, n));
            if T::SCALARS && scalars == 0b110 {
                let (b, c) = (*(b as *const T), *(c as *const T));
                for (d, a) in d.iter_mut().zip(a) {
                    rolled::<I, T>();
                    d.write(O::eval::<I>(*a, b, c));
                }
            } else if T::SCALARS && scalars == 0b010 {
                let b = *(b as *const T);
                for ((d, a), c) in d.iter_mut().zip(a).zip(operand::<T>(c, n)) {
                    rolled::<I, T>();
                    d.write(O::eval::<I>(*a, b, *c));
                }
            } else {
                for (((d, a), b), c) in d
                    .iter_mut()
                    .zip(a)
                    .zip(operand::<T>(b, n))
                    .zip(operand::<T>(c, n))
                {
                    rolled::<I, T>();
                    d.write(O::eval::<I>(*a, *b, *c));
                }
            }
        }
    }
}
