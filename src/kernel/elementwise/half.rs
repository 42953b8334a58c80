//! Loops over 16-bit floats that widen, compute by the float32 body and narrow, without a tile in
//! between: twice as fast for short bodies.

use super::loops::{operand, result};
use super::operation::{Binary, Float, Unary};
use crate::dtype::Bool;
use crate::kernel::convert::Widen;
use crate::simd::{Isa, Loop};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::slice::from_raw_parts_mut;

/// The result of a float32 body, as a 16-bit operation's result.
pub trait Narrow: Copy + Default {
    /// The 16-bit type itself, or bool.
    type To<T: Widen>: Copy;
    /// Rounds.
    fn narrow<T: Widen>(self) -> Self::To<T>;
    /// Rounds a slice into another of the same length.
    fn narrow_all<I: Isa, T: Widen>(x: &[Self], y: &mut [MaybeUninit<Self::To<T>>]);
}
impl Narrow for f32 {
    type To<T: Widen> = T;
    #[inline(always)]
    fn narrow<T: Widen>(self) -> T {
        T::narrow(self)
    }
    #[inline(always)]
    fn narrow_all<I: Isa, T: Widen>(x: &[f32], y: &mut [MaybeUninit<T>]) {
        T::narrow_all::<I>(x, y)
    }
}
impl Narrow for Bool {
    type To<T: Widen> = Bool;
    #[inline(always)]
    fn narrow<T: Widen>(self) -> Bool {
        self
    }
    #[inline(always)]
    fn narrow_all<I: Isa, T: Widen>(x: &[Bool], y: &mut [MaybeUninit<Bool>]) {
        for (y, x) in y.iter_mut().zip(x) {
            y.write(*x);
        }
    }
}
/// Elements widened, computed and narrowed at a time: they stay in L1, and their loops have no
/// remainder.
const BLOCK: usize = 128;
/// A block of elements as float32.
#[inline(always)]
fn widened<I: Isa, T: Widen>(x: &[T], y: &mut [f32; BLOCK]) {
    let y = &mut y[..x.len()];
    // SAFETY: the same type, and initialised memory may be passed as uninitialised to be written.
    T::widen_all::<I>(x, unsafe {
        from_raw_parts_mut(y.as_mut_ptr().cast(), y.len())
    })
}

/// The loop of one 16-bit operand by the float32 body: twice as fast as three loops through a tile
/// if the body is short.
pub struct FusedUnaryLoop<O, T>(PhantomData<(O, T)>);
impl<T: Widen, O: Unary<Float, f32, Out<f32>: Narrow>> Loop for FusedUnaryLoop<O, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(d: *mut u8, a: *const u8, _: *const u8, _: *const u8, n: usize, _: u32) {
        // SAFETY: LOOP1: `n` elements of the operand; room for `n` results.
        let (d, a) = unsafe {
            (
                result::<<O::Out<f32> as Narrow>::To<T>>(d, n),
                operand::<T>(a, n),
            )
        };
        if T::IN_LOOPS {
            for (d, a) in d.iter_mut().zip(a) {
                d.write(O::eval::<I>(a.widen()).narrow::<T>());
            }
            return;
        }
        let (mut x, mut y) = ([0.0; BLOCK], [O::Out::<f32>::default(); BLOCK]);
        for (d, a) in d.chunks_mut(BLOCK).zip(a.chunks(BLOCK)) {
            widened::<I, T>(a, &mut x);
            for k in 0..BLOCK {
                y[k] = O::eval::<I>(x[k]);
            }
            O::Out::<f32>::narrow_all::<I, T>(&y[..a.len()], d);
        }
    }
}
/// The loop of two 16-bit operands.
pub struct FusedBinaryLoop<O, T>(PhantomData<(O, T)>);
impl<T: Widen, O: Binary<Float, f32, Out<f32>: Narrow>> Loop for FusedBinaryLoop<O, T> {
    #[inline(always)]
    unsafe fn run<I: Isa>(d: *mut u8, a: *const u8, b: *const u8, _: *const u8, n: usize, _: u32) {
        // SAFETY: LOOP1: `n` elements of each operand; room for `n` results.
        let (d, a, b) = unsafe {
            (
                result::<<O::Out<f32> as Narrow>::To<T>>(d, n),
                operand::<T>(a, n),
                operand::<T>(b, n),
            )
        };
        if T::IN_LOOPS {
            for (d, (a, b)) in d.iter_mut().zip(a.iter().zip(b)) {
                d.write(O::eval::<I>(a.widen(), b.widen()).narrow::<T>());
            }
            return;
        }
        let (mut x, mut y, mut z) = (
            [0.0; BLOCK],
            [0.0; BLOCK],
            [O::Out::<f32>::default(); BLOCK],
        );
        for ((d, a), b) in d
            .chunks_mut(BLOCK)
            .zip(a.chunks(BLOCK))
            .zip(b.chunks(BLOCK))
        {
            widened::<I, T>(a, &mut x);
            widened::<I, T>(b, &mut y);
            for k in 0..BLOCK {
                z[k] = O::eval::<I>(x[k], y[k]);
            }
            O::Out::<f32>::narrow_all::<I, T>(&z[..a.len()], d);
        }
    }
}
