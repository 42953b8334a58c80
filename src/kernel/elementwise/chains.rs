//! Chains of products and sums as one instruction: intermediate results stay in registers, where a
//! program would store and reload each. Every operation rounds, so that the bits are those of
//! separate operations: none becomes a multiply-add of the CPU.

use super::loops::{operand, result};
use crate::dtype::DType;
use crate::kernel::math::Number;
use crate::scalar::ElementBytes;
use crate::simd::{self, Isa, Loop, LoopFn};
use core::marker::PhantomData;
use core::ops;

/// Numbers with products and sums.
pub trait Ring: Number + ops::Add<Output = Self> + ops::Mul<Output = Self> {}
impl<T: Number + ops::Add<Output = T> + ops::Mul<Output = T>> Ring for T {}

/// Any operand of the loops here may be a single value.
pub const MASKS: u8 = u8::MAX;

/// Operand `k` at element `i`.
///
/// # Safety
/// LOOP1 for the operand and the mask.
#[inline(always)]
unsafe fn at<T: Copy>(p: *const u8, k: u32, i: usize, scalars: u32) -> T {
    let i = if scalars >> k & 1 == 1 { 0 } else { i };
    // SAFETY: one element, or more than `i`, by the caller's promise.
    unsafe { *(p as *const T).add(i) }
}

/// `a * b + c`.
struct MultiplyAdd<T>(PhantomData<T>);
impl<T: Ring> Loop for MultiplyAdd<T> {
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
            let d = result::<T>(d, n);
            match scalars {
                0b000 => {
                    let (a, b, c) = (operand::<T>(a, n), operand::<T>(b, n), operand::<T>(c, n));
                    for (((d, a), b), c) in d.iter_mut().zip(a).zip(b).zip(c) {
                        d.write(*a * *b + *c);
                    }
                }
                0b100 => {
                    let (a, b, c) = (operand::<T>(a, n), operand::<T>(b, n), *(c as *const T));
                    for ((d, a), b) in d.iter_mut().zip(a).zip(b) {
                        d.write(*a * *b + c);
                    }
                }
                0b010 => {
                    let (a, b, c) = (operand::<T>(a, n), *(b as *const T), operand::<T>(c, n));
                    for ((d, a), c) in d.iter_mut().zip(a).zip(c) {
                        d.write(*a * b + *c);
                    }
                }
                0b110 => {
                    let (a, b, c) = (operand::<T>(a, n), *(b as *const T), *(c as *const T));
                    for (d, a) in d.iter_mut().zip(a) {
                        d.write(*a * b + c);
                    }
                }
                _ => {
                    for (i, d) in d.iter_mut().enumerate() {
                        let (a, b): (T, T) = (at(a, 0, i, scalars), at(b, 1, i, scalars));
                        d.write(a * b + at(c, 2, i, scalars));
                    }
                }
            }
        }
    }
}

/// Horner's rule: `a` times `b` plus the first of the coefficients `c`, times `b` plus the second,
/// and so on. The `K` coefficients are one value.
struct Horner<T, const K: usize>(PhantomData<T>);
impl<T: Ring, const K: usize> Loop for Horner<T, K> {
    #[inline(always)]
    unsafe fn run<I: Isa>(
        d: *mut u8,
        a: *const u8,
        b: *const u8,
        c: *const u8,
        n: usize,
        scalars: u32,
    ) {
        // SAFETY: LOOP1: `n` elements of the first two operands, or one if its bit of `scalars` is
        // set, and one of the third, which is `K` coefficients; room for `n` results.
        unsafe {
            let (d, c) = (result::<T>(d, n), *(c as *const [T; K]));
            match scalars & 0b011 {
                0b00 => {
                    let (a, b) = (operand::<T>(a, n), operand::<T>(b, n));
                    for ((d, a), b) in d.iter_mut().zip(a).zip(b) {
                        d.write(steps(*a, *b, &c));
                    }
                }
                0b01 => {
                    let (a, b) = (*(a as *const T), operand::<T>(b, n));
                    for (d, b) in d.iter_mut().zip(b) {
                        d.write(steps(a, *b, &c));
                    }
                }
                _ => {
                    for (i, d) in d.iter_mut().enumerate() {
                        d.write(steps(at(a, 0, i, scalars), at(b, 1, i, scalars), &c));
                    }
                }
            }
        }
    }
}
#[inline(always)]
fn steps<T: Ring, const K: usize>(a: T, b: T, c: &[T; K]) -> T {
    let mut x = a;
    for c in c {
        x = x * b + *c;
    }
    x
}

/// The most coefficients of an instruction: as many as fit a constant.
pub fn most_coefficients(dtype: DType) -> usize {
    size_of::<ElementBytes>() / dtype.size()
}

/// The loop that multiplies and adds in this dtype, if there is one.
pub fn multiply_add(dtype: DType) -> Option<LoopFn> {
    match dtype {
        DType::F32 => Some(simd::pick::<MultiplyAdd<f32>>()),
        #[cfg(feature = "f64")]
        DType::F64 => Some(simd::pick::<MultiplyAdd<f64>>()),
        _ => None,
    }
}
/// The loop of Horner's rule for `k` coefficients in this dtype, if there is one.
pub fn horner(dtype: DType, k: usize) -> Option<LoopFn> {
    match (dtype, k) {
        (DType::F32, 2) => Some(simd::pick::<Horner<f32, 2>>()),
        (DType::F32, 3) => Some(simd::pick::<Horner<f32, 3>>()),
        (DType::F32, 4) => Some(simd::pick::<Horner<f32, 4>>()),
        #[cfg(feature = "f64")]
        (DType::F64, 2) => Some(simd::pick::<Horner<f64, 2>>()),
        _ => None,
    }
}
