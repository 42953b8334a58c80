//! 8-bit floats by the specification of the Open Compute Project, revision 1.0: bits, values, and
//! rounding.

use core::fmt;

macro_rules! formats {
    ($($(#[$doc:meta])* $T:ident: $digits:literal digits, bias $bias:literal, beyond $beyond:literal, nan $nan:literal, most $most:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $T(u8);

        impl $T {
            /// The distance from 1 to the next larger number.
            pub const EPSILON: $T = $T(($bias - $digits) << $digits);
            /// The largest number.
            pub const MAX: $T = $T($most);
            /// The smallest positive number with full precision.
            pub const MIN_POSITIVE: $T = $T(1 << $digits);
            /// Not a number, in the encoding that conversions produce; other encodings of NaN are
            /// read alike.
            pub const NAN: $T = $T($nan);

            /// The number with these bits.
            #[inline(always)]
            pub const fn from_bits(bits: u8) -> $T {
                $T(bits)
            }
            /// Its bits.
            #[inline(always)]
            pub const fn to_bits(self) -> u8 {
                self.0
            }
            /// Whether it is not a number.
            #[inline(always)]
            pub const fn is_nan(self) -> bool {
                self.to_f32().is_nan()
            }
            /// The exact value.
            #[inline(always)]
            pub const fn to_f32(self) -> f32 {
                let (sign, code) = ((self.0 as u32 & 0x80) << 24, self.0 as u32 & 0x7f);
                // With the fields in `f32`'s positions, the exponent is too small by the difference
                // of the biases, for subnormals too.
                let finite = (f32::from_bits(code << (23 - $digits)) * f32::from_bits((254 - $bias) << 23)).to_bits();
                let special = if code == $beyond && $beyond != $nan { f32::INFINITY } else { f32::NAN }.to_bits();
                f32::from_bits(sign | if code >= $beyond { special } else { finite })
            }
            /// The nearest value, ties to even. Of a NaN only the sign is kept.
            #[inline(always)]
            pub const fn from_f32(x: f32) -> $T {
                /// The number of mantissa bits dropped.
                const LOST: u32 = 23 - $digits;
                /// A number whose last bit has the value of the format's smallest subnormal.
                const UNIT: u32 = (127 + 24 - $bias - $digits) << 23;
                let (sign, a) = ((x.to_bits() >> 24) as u8 & 0x80, x.to_bits() & 0x7fff_ffff);
                // Half a unit less one, plus the last bit kept, carries exactly if the nearest even
                // value is above.
                let rounded = a + (1 << (LOST - 1)) - 1 + ((a >> LOST) & 1);
                let normal = rounded.wrapping_sub((127 - $bias) << 23) >> LOST;
                let normal = if normal < $beyond { normal } else { $beyond };
                // The addition rounds to a multiple of the smallest subnormal.
                let subnormal = (f32::from_bits(a) + f32::from_bits(UNIT)).to_bits().wrapping_sub(UNIT);
                let number = if a < (128 - $bias) << 23 { subnormal } else { normal };
                $T(sign | if a > 0x7f80_0000 { $nan } else { number as u8 })
            }
        }
        impl PartialEq for $T {
            fn eq(&self, other: &$T) -> bool {
                self.to_f32() == other.to_f32()
            }
        }
        impl fmt::Debug for $T {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.to_f32().fmt(f)
            }
        }
        impl From<$T> for f32 {
            fn from(x: $T) -> f32 {
                x.to_f32()
            }
        }
        impl From<$T> for f64 {
            fn from(x: $T) -> f64 {
                x.to_f32().into()
            }
        }
    )* };
}
formats! {
    /// An 8-bit float with three mantissa bits, for weights and activations: up to 448, without
    /// infinities; larger values become NaN.
    ///
    /// ```
    /// use flex::dtype::F8E4M3;
    /// assert_eq!(F8E4M3::from_f32(0.3).to_f32(), 0.3125);
    /// assert_eq!(F8E4M3::from_f32(1.0).to_bits(), 0x38);
    /// assert_eq!(F8E4M3::from_bits(0x40).to_f32(), 2.0);
    /// assert!(F8E4M3::from_f32(464.0) == F8E4M3::MAX && F8E4M3::from_f32(465.0).is_nan());
    /// ```
    F8E4M3: 3 digits, bias 7, beyond 0x7f, nan 0x7f, most 0x7e;
    /// An 8-bit float with two mantissa bits, for gradients: the upper byte of a float16, up to
    /// 57344; larger values become infinity.
    ///
    /// ```
    /// use flex::dtype::F8E5M2;
    /// assert_eq!(F8E5M2::from_f32(0.3).to_f32(), 0.3125);
    /// assert_eq!(F8E5M2::from_f32(61440.0).to_f32(), f32::INFINITY);
    /// ```
    F8E5M2: 2 digits, bias 15, beyond 0x7c, nan 0x7e, most 0x7b;
}
