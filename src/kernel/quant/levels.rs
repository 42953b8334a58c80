//! The quantised integers and what they stand for.

use crate::dtype::DType;

/// The integers that values are quantised to.
///
/// ```
/// use flex::{DType, quant::Levels};
/// let int4 = Levels::I4;
/// assert_eq!((int4.name(), int4.range(false), int4.range(true)), ("int4", [-8, 7], [-7, 7]));
/// assert_eq!((int4.dtype(), int4.stored(), int4.per_byte()), (DType::I8, DType::U8, 2));
/// assert!(int4.is_packed() && !Levels::U8.is_packed());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Levels {
    /// -128 to 127; -127 to 127 without zero points.
    I8,
    /// 0 to 255, with zero points.
    U8,
    /// -8 to 7, two in a byte, the first in its lower half; -7 to 7 where flex chooses the scales.
    I4,
    /// -2 to 1, four in a byte, the first in its lowest bits; -1 to 1 where flex chooses the
    /// scales.
    I2,
}
impl Levels {
    /// The smallest and the largest. A symmetric range has as many integers below zero as above.
    pub const fn range(self, symmetric: bool) -> [i32; 2] {
        match self {
            Levels::U8 => [0, 255],
            Levels::I8 => [-128 + symmetric as i32, 127],
            Levels::I4 => [-8 + symmetric as i32, 7],
            Levels::I2 => [-2 + symmetric as i32, 1],
        }
    }
    /// The name in Python.
    pub const fn name(self) -> &'static str {
        match self {
            Levels::I8 => "int8",
            Levels::U8 => "uint8",
            Levels::I4 => "int4",
            Levels::I2 => "int2",
        }
    }
    /// The dtype of a single unpacked integer.
    pub const fn dtype(self) -> DType {
        match self {
            Levels::U8 => DType::U8,
            Levels::I8 | Levels::I4 | Levels::I2 => DType::I8,
        }
    }
    /// The dtype of the storage.
    pub const fn stored(self) -> DType {
        match self {
            Levels::I4 | Levels::I2 => DType::U8,
            levels => levels.dtype(),
        }
    }
    /// How many are packed in a byte.
    pub const fn per_byte(self) -> usize {
        match self {
            Levels::I8 | Levels::U8 => 1,
            Levels::I4 => 2,
            Levels::I2 => 4,
        }
    }
    /// Whether a byte holds several.
    pub const fn is_packed(self) -> bool {
        self.per_byte() > 1
    }
}

/// The scale and zero point of a group: `q` stands for `scale * (q - zero)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantStep {
    /// Positive.
    pub scale: f32,
    /// One of the levels, or 0.
    pub zero: i32,
}
impl Default for QuantStep {
    fn default() -> QuantStep {
        QuantStep {
            scale: 1.0,
            zero: 0,
        }
    }
}
