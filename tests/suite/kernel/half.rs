//! Conversions of 16-bit floats, of all bits.

use flex::dtype::{bf16, f16};
use flex::kernel::convert::Widen;

#[test]
fn widen_is_exact_and_narrow_its_inverse() {
    for bits in 0..=u16::MAX {
        let (h, b) = (f16::from_bits(bits), bf16::from_bits(bits));
        assert!(
            h.widen().to_bits() == h.to_f32().to_bits() || h.is_nan() && h.widen().is_nan(),
            "f16 {bits:#x}"
        );
        assert!(
            b.widen().to_bits() == b.to_f32().to_bits() || b.is_nan() && b.widen().is_nan(),
            "bf16 {bits:#x}"
        );
        assert!(
            f16::narrow(h.widen()).to_bits() == bits
                || h.is_nan() && f16::narrow(h.widen()).is_nan()
        );
        assert!(
            bf16::narrow(b.widen()).to_bits() == bits
                || b.is_nan() && bf16::narrow(b.widen()).is_nan()
        );
    }
}

#[test]
fn narrow_rounds_to_nearest_even() {
    // Every exponent and sign with mantissas around each rounding boundary, and a stride over
    // all patterns.
    let boundaries = (0..=0x1ffu32).flat_map(|e| {
        [
            0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x3000, 0x7fff, 0x8000, 0x8001, 0x7fffff,
        ]
        .map(|m| e << 23 | m)
    });
    for bits in boundaries.chain((0..=u32::MAX).step_by(4093)) {
        let x = f32::from_bits(bits);
        let (h, b) = (f16::narrow(x), bf16::narrow(x));
        assert!(
            h.to_bits() == f16::from_f32_const(x).to_bits() || x.is_nan() && h.is_nan(),
            "f16 {bits:#x}"
        );
        assert!(
            b.to_bits() == bf16::from_f32_const(x).to_bits() || x.is_nan() && b.is_nan(),
            "bf16 {bits:#x}"
        );
    }
}
