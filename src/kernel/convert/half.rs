//! 16-bit floats to and from `f32`, by integer arithmetic that LLVM vectorises for every
//! instruction set; whole slices of float16 by the CPU's conversions, which give the same bits.

use super::widen::Widen;
use crate::dtype::{bf16, f16};
#[cfg(x86_dispatch)]
use crate::simd::{Isa, x86};
#[cfg(x86_dispatch)]
use core::mem::MaybeUninit;

impl Widen for bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits((self.to_bits() as u32) << 16)
    }
    #[inline(always)]
    fn narrow(x: f32) -> bf16 {
        let b = x.to_bits();
        // Adding half a unit minus one, plus the last bit that stays, carries exactly if the
        // nearest even value is above.
        let rounded = b.wrapping_add(0x7fff + ((b >> 16) & 1));
        let nan = b | 0x0040_0000;
        bf16::from_bits((if x.is_nan() { nan } else { rounded } >> 16) as u16)
    }
}

impl Widen for f16 {
    const IN_LOOPS: bool = false;
    #[inline(always)]
    fn widen(self) -> f32 {
        let h = self.to_bits() as u32;
        let sign = (h & 0x8000) << 16;
        let magnitude = (h & 0x7fff) << 13;
        // Infinities and NaNs get all exponent bits set; the rest, including subnormals, is 2^112
        // too small by its exponent's bias.
        let special = magnitude | 0x7f80_0000;
        let finite = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
        let quiet = if magnitude > 0x0f80_0000 {
            0x0040_0000
        } else {
            0
        };
        f32::from_bits(
            sign | if magnitude >= 0x0f80_0000 {
                special | quiet
            } else {
                finite
            },
        )
    }
    #[inline(always)]
    fn narrow(x: f32) -> f16 {
        let b = x.to_bits();
        let (sign, a) = ((b >> 16) & 0x8000, b & 0x7fff_ffff);
        let normal = a
            .wrapping_add(0x0fff + ((a >> 13) & 1))
            .wrapping_sub(0x3800_0000)
            >> 13;
        // Adding 0.5 aligns the subnormals' unit, 2^-24, with the last bit of the sum, so the
        // addition rounds.
        let subnormal = (f32::from_bits(a) + 0.5)
            .to_bits()
            .wrapping_sub(0x3f00_0000);
        let finite = if a < 0x3880_0000 { subnormal } else { normal };
        let nan = 0x7e00 | ((a >> 13) & 0x3ff);
        let r = if a >= 0x4780_0000 { 0x7c00 } else { finite };
        f16::from_bits((sign | if a > 0x7f80_0000 { nan } else { r }) as u16)
    }
    // Three times (to float32) and five times as fast as loops over the bodies above, which do the
    // remainder.
    #[cfg(x86_dispatch)]
    #[inline(always)]
    fn widen_all<I: Isa>(x: &[f16], y: &mut [MaybeUninit<f32>]) {
        // SAFETY: ISA1; f16 is two bytes that hold a float16.
        let done = unsafe {
            x86::half::widen::<I>(
                x.as_ptr().cast(),
                y.as_mut_ptr().cast(),
                x.len().min(y.len()),
            )
        };
        if done < x.len() {
            widen_rest(&x[done..], &mut y[done..]);
        }
    }
    #[cfg(x86_dispatch)]
    #[inline(always)]
    fn narrow_all<I: Isa>(x: &[f32], y: &mut [MaybeUninit<f16>]) {
        // SAFETY: ISA1; f16 is two bytes that hold a float16.
        let done = unsafe {
            x86::half::narrow::<I>(x.as_ptr(), y.as_mut_ptr().cast(), x.len().min(y.len()))
        };
        if done < x.len() {
            narrow_rest(&x[done..], &mut y[done..]);
        }
    }
}

/// What the CPU's conversions leave, in one place: the code is long, and would stand in every kernel.
#[cfg(x86_dispatch)]
#[inline(never)]
fn widen_rest(x: &[f16], y: &mut [MaybeUninit<f32>]) {
    for (y, x) in y.iter_mut().zip(x) {
        y.write(x.widen());
    }
}
/// As [`widen_rest`].
#[cfg(x86_dispatch)]
#[inline(never)]
fn narrow_rest(x: &[f32], y: &mut [MaybeUninit<f16>]) {
    for (y, x) in y.iter_mut().zip(x) {
        y.write(f16::narrow(*x));
    }
}
