//! The body of an operation: an `impl` of [`Unary`], [`Binary`] or [`Ternary`] for its type, for a
//! family of numbers or for all types with the traits it needs.

use crate::kernel::math::Number;
use crate::simd::Isa;
use core::mem::MaybeUninit;

/// bool.
pub struct Boolean;
/// Integers, each by its own type.
pub struct Integer;
/// Integers in two's complement: signed and unsigned ones as [`Wrapping`](core::num::Wrapping)
/// unsigned ones of their width.
pub struct SignAgnostic;
/// float32 and float64; the 16-bit floats in float32, rounded once.
pub struct Float;
/// 16-bit floats by the body of [`Float`] in one loop, which takes tensors only: scalars and
/// operands of other dtypes need the loop of `Float`.
pub struct FusedHalf;
/// 16-bit floats as they are.
pub struct Half;
/// Complex numbers.
pub struct Complex;
/// Complex numbers as twice as many of [`Float`], for operations on each part separately.
pub struct Parts;
/// Every dtype, moved by its width.
pub struct Bits;

/// A row of the table, as a type.
pub trait Operation {
    /// The type of the result, by the row's rule.
    type Out<T: Number>: Copy;
}

/// An operation of one operand, for elements `T` of the family of numbers `F`.
///
/// Bodies are `#[inline(always)]` methods, never closures: LLVM may outline a closure, which then
/// loses the instruction set.
///
/// If there is a fast path, the loop runs it for every element and then `eval`, the slow path, for
/// the elements that need it. The bits are those of `eval` in any case.
pub trait Unary<F, T: Number>: Operation {
    /// The result, for every operand.
    fn eval<I: Isa>(x: T) -> Self::Out<T>;
    /// Whether there is a fast path.
    const HAS_FAST_PATH: bool = false;
    /// The bits of `eval` for operands that don't need it; anything for those that do.
    #[inline(always)]
    fn fast<I: Isa>(x: T) -> Self::Out<T> {
        Self::eval::<I>(x)
    }
    /// Whether the operand needs `eval`.
    #[inline(always)]
    fn needs_slow_path<I: Isa>(_: T) -> bool {
        false
    }
}
/// Scalar masks that a loop of two operands takes: bit m is mask m, whose bit k says that operand k
/// is a single value. Each mask is another loop; without it the value is repeated in a tile.
pub type ScalarMasks = u8;
/// Neither operand is a single value, or one of them.
pub const EITHER: ScalarMasks = 0b111;
/// Neither operand is a single value, or the second, which parameters, divisors and limits are.
pub const SECOND: ScalarMasks = 0b101;
/// Neither operand is a single value.
pub const NEITHER: ScalarMasks = 0b001;

/// An operation of two operands, as [`Unary`].
pub trait Binary<F, T: Number>: Operation {
    /// The scalar masks of its loops.
    const SCALARS: ScalarMasks = EITHER;
    /// The result, for all operands.
    fn eval<I: Isa>(a: T, b: T) -> Self::Out<T>;
    /// Whether there is a fast path.
    const HAS_FAST_PATH: bool = false;
    /// The bits of `eval` for operands that don't need it; anything for those that do.
    #[inline(always)]
    fn fast<I: Isa>(a: T, b: T) -> Self::Out<T> {
        Self::eval::<I>(a, b)
    }
    /// Whether the operands need `eval`.
    #[inline(always)]
    fn needs_slow_path<I: Isa>(_: T, _: T) -> bool {
        false
    }
    /// Computes all results for a second operand that is a single value, with the bits of `eval`, if
    /// it is one that has a loop of its own. Whether it is.
    #[inline(always)]
    fn by_number<I: Isa>(_d: &mut [MaybeUninit<Self::Out<T>>], _a: &[T], _b: T) -> bool {
        false
    }
}
/// An operation of three operands.
pub trait Ternary<F, T: Number>: Operation {
    /// The result.
    fn eval<I: Isa>(a: T, b: T, c: T) -> Self::Out<T>;
}

/// `functions!(Family<T: Trait>: Name function, Name function or fast unless condition, ..)`:
/// bodies that are a method of numbers, with a fast path if one is named.
macro_rules! functions {
    ($F:ident<T: $Trait:ident>: $($Name:ident $function:ident $(or $fast:ident unless $slow:ident)?),*) => { $(
        impl<T: $Trait> Unary<$F, T> for $Name {
            #[inline(always)]
            fn eval<I: Isa>(x: T) -> T {
                x.$function::<I>()
            }
            $(const HAS_FAST_PATH: bool = true;
            #[inline(always)]
            fn fast<I: Isa>(x: T) -> T {
                x.$fast::<I>()
            }
            #[inline(always)]
            fn needs_slow_path<I: Isa>(x: T) -> bool {
                x.$slow()
            })?
        }
    )* };
}
