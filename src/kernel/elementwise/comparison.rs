//! Comparisons, special values, logic, and the parts of complex numbers: one body for all numbers.

use super::operation::*;
use super::rows::*;
use crate::dtype::Bool;
use crate::kernel::math::Number;
use crate::simd::Isa;

impl<F, T: Number> Binary<F, T> for Equal {
    const SCALARS: ScalarMasks = SECOND;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> Bool {
        Bool::from(a.equal(b))
    }
}
impl<F, T: Number> Binary<F, T> for NotEqual {
    const SCALARS: ScalarMasks = SECOND;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> Bool {
        Bool::from(!a.equal(b))
    }
}
impl<F, T: Number + PartialOrd> Binary<F, T> for Less {
    const SCALARS: ScalarMasks = SECOND;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> Bool {
        Bool::from(a < b)
    }
}
impl<F, T: Number + PartialOrd> Binary<F, T> for LessEqual {
    const SCALARS: ScalarMasks = SECOND;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> Bool {
        Bool::from(a <= b)
    }
}
impl<F, T: Number + PartialOrd> Binary<F, T> for Greater {
    const SCALARS: ScalarMasks = SECOND;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> Bool {
        Bool::from(a > b)
    }
}
impl<F, T: Number + PartialOrd> Binary<F, T> for GreaterEqual {
    const SCALARS: ScalarMasks = SECOND;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> Bool {
        Bool::from(a >= b)
    }
}

impl<F, T: Number> Unary<F, T> for Isfinite {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> Bool {
        Bool::from(x.isfinite())
    }
}
impl<F, T: Number> Unary<F, T> for Isinf {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> Bool {
        Bool::from(x.isinf())
    }
}
impl<F, T: Number> Unary<F, T> for Isnan {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> Bool {
        Bool::from(x.isnan())
    }
}

impl<F, T: Number> Binary<F, T> for LogicalAnd {
    const SCALARS: ScalarMasks = NEITHER;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> Bool {
        Bool::from(a.nonzero() & b.nonzero())
    }
}
impl<F, T: Number> Binary<F, T> for LogicalOr {
    const SCALARS: ScalarMasks = NEITHER;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> Bool {
        Bool::from(a.nonzero() | b.nonzero())
    }
}
impl<F, T: Number> Binary<F, T> for LogicalXor {
    const SCALARS: ScalarMasks = NEITHER;
    #[inline(always)]
    fn eval<I: Isa>(a: T, b: T) -> Bool {
        Bool::from(a.nonzero() ^ b.nonzero())
    }
}
impl<F, T: Number> Unary<F, T> for LogicalNot {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> Bool {
        Bool::from(!x.nonzero())
    }
}

impl<F, T: Number> Unary<F, T> for Conj {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T {
        x.conj()
    }
}
impl<F, T: Number> Unary<F, T> for RealPart {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T::Real {
        x.re()
    }
}
impl<F, T: Number> Unary<F, T> for ImagPart {
    #[inline(always)]
    fn eval<I: Isa>(x: T) -> T::Real {
        x.im()
    }
}
