//! A function for each row of the table.

use super::documentation::{aliased, contract, element, elements, example, type_of};
use super::{Arg, apply};
use crate::error::Result;
use crate::kernel::elementwise::rows;
use crate::tensor::Tensor;

macro_rules! function {
    // see `function_of_nn`
    ([$($doc:literal)*] $Name:ident $function:ident $n:tt $rule:ident => nn) => {};
    ([$($doc:literal)*] $Name:ident $function:ident 1 $rule:ident) => {
        aliased! { $function
            $(#[doc = $doc])*
            ///
            /// The operand is a tensor (borrowed, or passed by value to reuse its buffer) or a number.
            #[doc = contract!(1 $rule)]
            ///
            /// ```
            #[doc = concat!("let x = flex::Tensor::from(", example!(x $function), ");")]
            #[doc = concat!("let y = flex::ops::", stringify!($function), "(&x)?;")]
            #[doc = concat!("assert_eq!(y.to_vec::<", example!(T $function), ">()?, ", example!(z $function), ");")]
            /// # Ok::<(), flex::Error>(())
            /// ```
            pub fn $function<'a>(x: impl Into<Arg<'a>>) -> Result<Tensor> {
                apply(&rows::$Name::ROW, [x.into()])
            }
        }
    };
    ([$($doc:literal)*] $Name:ident $function:ident 2 $rule:ident) => {
        aliased! { $function
            $(#[doc = $doc])*
            ///
            /// Each operand is a tensor (borrowed, or passed by value to reuse its buffer) or a number.
            #[doc = contract!(2 $rule)]
            ///
            /// ```
            #[doc = concat!("let x = flex::Tensor::from(", example!(x $function), ");")]
            #[doc = concat!("let y = flex::Tensor::from(", example!(y $function), ");")]
            #[doc = concat!("let z = flex::ops::", stringify!($function), "(&x, &y)?;")]
            #[doc = concat!("assert_eq!(z.to_vec::<", example!(T $function), ">()?, ", example!(z $function), ");")]
            /// # Ok::<(), flex::Error>(())
            /// ```
            pub fn $function<'a, 'b>(a: impl Into<Arg<'a>>, b: impl Into<Arg<'b>>) -> Result<Tensor> {
                apply(&rows::$Name::ROW, [a.into(), b.into()])
            }
        }
    };
    ([$($doc:literal)*] $Name:ident $function:ident 3 $rule:ident) => {
        aliased! { $function
            $(#[doc = $doc])*
            ///
            /// Each operand is a tensor (borrowed, or passed by value to reuse its buffer) or a number.
            #[doc = contract!(3 $rule)]
            ///
            /// ```
            /// let x = flex::Tensor::from_slice(&[1i32, 2, 3], [3])?;
            /// let c = flex::ops::clip(&x, 2, 5)?;
            /// assert_eq!(c.to_vec::<i32>()?, [2, 2, 3]);
            /// let w = flex::ops::where_(flex::ops::less(&x, 2)?, 0, &x)?;
            /// assert_eq!(w.to_vec::<i32>()?, [0, 2, 3]);
            /// # Ok::<(), flex::Error>(())
            /// ```
            pub fn $function<'a, 'b, 'c>(a: impl Into<Arg<'a>>, b: impl Into<Arg<'b>>, c: impl Into<Arg<'c>>) -> Result<Tensor> {
                apply(&rows::$Name::ROW, [a.into(), b.into(), c.into()])
            }
        }
    };
}
/// Functions of `nn`; those with several operands are written out there.
macro_rules! function_of_nn {
    ([$($doc:literal)*] $Name:ident $function:ident 1 => nn) => {
        aliased! { $function
            $(#[doc = $doc])*
            ///
            /// The operand is a tensor (borrowed, or passed by value to reuse its buffer) or a number;
            /// the result has its shape. 16-bit floats are computed in float32. Errors for complex
            /// numbers.
            ///
            /// ```
            #[doc = concat!("let x = flex::Tensor::from(", example!(x $function), ");")]
            #[doc = concat!("let y = flex::nn::", stringify!($function), "(&x)?;")]
            #[doc = concat!("assert_eq!(y.to_vec::<", example!(T $function), ">()?, ", example!(z $function), ");")]
            /// # Ok::<(), flex::Error>(())
            /// ```
            pub fn $function<'a>(x: impl Into<Arg<'a>>) -> Result<Tensor> {
                apply(&rows::$Name::ROW, [x.into()])
            }
        }
    };
    ($($row:tt)*) => {};
}
macro_rules! make {
    ($($(#[doc = $doc:literal])* $Name:ident $function:ident $n:tt $rule:ident $cost:literal [$($family:ident)*] $(=> $module:ident)?)*) => {
        $(function!([$($doc)*] $Name $function $n $rule $(=> $module)?);)*

        /// The functions with one operand that are public in `nn`.
        #[cfg(feature = "nn")]
        pub(crate) mod activations {
            use super::*;
            $(function_of_nn!([$($doc)*] $Name $function $n $(=> $module)?);)*
        }
    };
}
operations!(make! {});
