//! `+ - * / % & | ^ << >> - !` on tensors and numbers, and their compound assignments.
//!
//! Operators panic if the function of the same name would return an error, with its message: shapes
//! that don't broadcast, dtypes without a common one, an integer divided by zero. For a `Result`
//! use the functions of [`crate::ops`].

use super::{Arg, apply, apply_in_place};
use crate::kernel::elementwise::rows;
use crate::tensor::Tensor;
use core::ops::*;

fn unwrap(r: crate::error::Result<Tensor>) -> Tensor {
    r.unwrap_or_else(|e| panic!("{e}"))
}

macro_rules! binary {
    ($($Trait:ident $method:ident $Assign:ident $assign:ident $Row:ident;)*) => { $(
        impl<'b, B: Into<Arg<'b>>> $Trait<B> for &Tensor {
            type Output = Tensor;
            fn $method(self, b: B) -> Tensor { unwrap(apply(&rows::$Row::ROW, [Arg::Ref(self), b.into()])) }
        }
        impl<'b, B: Into<Arg<'b>>> $Trait<B> for Tensor {
            type Output = Tensor;
            fn $method(self, b: B) -> Tensor { unwrap(apply(&rows::$Row::ROW, [Arg::Own(self), b.into()])) }
        }
        impl<'b, B: Into<Arg<'b>>> $Assign<B> for Tensor {
            fn $assign(&mut self, b: B) { apply_in_place(&rows::$Row::ROW, self, Some(b.into())).unwrap_or_else(|e| panic!("{e}")) }
        }
        binary!(@number $Trait $method $Row: f64 i64); // one float and one integer type, so that the type of a literal is inferred, even in (2.0 * &x).exp()
    )* };
    (@number $Trait:ident $method:ident $Row:ident: $($T:ident)*) => { $(
        impl $Trait<&Tensor> for $T {
            type Output = Tensor;
            fn $method(self, b: &Tensor) -> Tensor { unwrap(apply(&rows::$Row::ROW, [self.into(), Arg::Ref(b)])) }
        }
        impl $Trait<Tensor> for $T {
            type Output = Tensor;
            fn $method(self, b: Tensor) -> Tensor { unwrap(apply(&rows::$Row::ROW, [self.into(), Arg::Own(b)])) }
        }
    )* };
}
binary! {
    Add add AddAssign add_assign Add;
    Sub sub SubAssign sub_assign Subtract;
    Mul mul MulAssign mul_assign Multiply;
    Div div DivAssign div_assign Divide;
    Rem rem RemAssign rem_assign Remainder;
    BitAnd bitand BitAndAssign bitand_assign BitwiseAnd;
    BitOr bitor BitOrAssign bitor_assign BitwiseOr;
    BitXor bitxor BitXorAssign bitxor_assign BitwiseXor;
    Shl shl ShlAssign shl_assign BitwiseLeftShift;
    Shr shr ShrAssign shr_assign BitwiseRightShift;
}
macro_rules! unary {
    ($($Trait:ident $method:ident $Row:ident;)*) => { $(
        impl $Trait for &Tensor {
            type Output = Tensor;
            fn $method(self) -> Tensor { unwrap(apply(&rows::$Row::ROW, [Arg::Ref(self)])) }
        }
        impl $Trait for Tensor {
            type Output = Tensor;
            fn $method(self) -> Tensor { unwrap(apply(&rows::$Row::ROW, [Arg::Own(self)])) }
        }
    )* };
}
unary! { Neg neg Negative; Not not BitwiseInvert; }
