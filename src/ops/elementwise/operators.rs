//! `+ - * / % & | ^ << >> - !` on tensors and numbers, and their compound assignments.
//!
//! Operators panic if the function of the same name would return an error, with its message: shapes
//! that don't broadcast, dtypes without a common one, an integer divided by zero. For a `Result`
//! use the functions of [`crate::ops`].
//!
//! Numbers on the right are of any type, those on the left literals, `f64`, `i64` or a
//! [`Scalar`](crate::Scalar).

use super::{Arg, apply, apply_in_place};
use crate::kernel::elementwise::rows;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use core::ops::*;

/// The result of an operator, whose caller is the one who is told of an error.
#[track_caller]
fn unwrap<T>(r: crate::error::Result<T>) -> T {
    match r {
        Ok(x) => x,
        Err(e) => panic!("{e}"),
    }
}

macro_rules! binary {
    ($($Trait:ident $method:ident $Assign:ident $assign:ident $Row:ident;)*) => { $(
        impl<'b, B: Into<Arg<'b>>> $Trait<B> for &Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $method(self, b: B) -> Tensor { unwrap(apply(&rows::$Row::ROW, [Arg::Ref(self), b.into()])) }
        }
        impl<'b, B: Into<Arg<'b>>> $Trait<B> for Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $method(self, b: B) -> Tensor { unwrap(apply(&rows::$Row::ROW, [Arg::Own(self), b.into()])) }
        }
        impl<'b, B: Into<Arg<'b>>> $Assign<B> for Tensor {
            #[track_caller]
            fn $assign(&mut self, b: B) { unwrap(apply_in_place(&rows::$Row::ROW, self, Some(b.into()))) }
        }
        // one float and one integer type, so that the type of a literal is inferred, even in
        // (2.0 * &x).exp(): with f32 beside f64 that would need an annotation
        binary!(@number $Trait $method $Row: f64 i64 Scalar);
    )* };
    (@number $Trait:ident $method:ident $Row:ident: $($T:ident)*) => { $(
        impl $Trait<&Tensor> for $T {
            type Output = Tensor;
            #[track_caller]
            fn $method(self, b: &Tensor) -> Tensor { unwrap(apply(&rows::$Row::ROW, [self.into(), Arg::Ref(b)])) }
        }
        impl $Trait<Tensor> for $T {
            type Output = Tensor;
            #[track_caller]
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
            #[track_caller]
            fn $method(self) -> Tensor { unwrap(apply(&rows::$Row::ROW, [Arg::Ref(self)])) }
        }
        impl $Trait for Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $method(self) -> Tensor { unwrap(apply(&rows::$Row::ROW, [Arg::Own(self)])) }
        }
    )* };
}
unary! { Neg neg Negative; Not not BitwiseInvert; }
