//! What the body of an operation is: an `impl` of [`Unary`], [`Binary`] or [`Ternary`] for its type,
//! for a family of numbers or for all that have what it asks for.

use crate::kernel::math::Number;
use crate::simd::Isa;

/// bool.
pub struct Boolean;
/// Integers, each by its own type.
pub struct Integer;
/// Integers in two's complement, signed and unsigned ones by
/// [`Wrapping`](core::num::Wrapping) unsigned ones of their width.
pub struct SignAgnostic;
/// float32 and float64; the 16-bit floats in float32, rounded once.
pub struct Float;
/// 16-bit floats by the body of [`Float`] in one loop, which takes tensors alone: for numbers beside
/// them, and for operands of other dtypes, there is the loop of `Float`.
pub struct FusedHalf;
/// 16-bit floats as they are.
pub struct Half;
/// Complex numbers.
pub struct Complex;
/// Complex numbers as twice as many of [`Float`]: where an operation takes the parts one by one.
pub struct Parts;
/// Every dtype, moved by its width.
pub struct Bits;

/// A row of the list, as a type.
pub trait Operation {
    /// The type of the result, by the row's rule.
    type Out<T: Number>: Copy;
}

/// An operation of one operand, for elements `T` of the family of numbers `F`.
///
/// Methods of bodies are `#[inline(always)]`, and no closures, which LLVM may outline: they would
/// lose the instruction set.
///
/// A fast path is computed for all elements, and what needs the slow path, which `eval` is, once
/// more by that. The bits are those of `eval` in any case.
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
/// An operation of two operands, as [`Unary`].
pub trait Binary<F, T: Number>: Operation {
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
}
/// An operation of three operands.
pub trait Ternary<F, T: Number>: Operation {
    /// The result.
    fn eval<I: Isa>(a: T, b: T, c: T) -> Self::Out<T>;
}

/// `functions!(Family<T: Trait>: Name function, Name function or fast unless condition, ..)`:
/// bodies that are a method of numbers, and where it has a fast path, those of that.
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
