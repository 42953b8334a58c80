//! A method for each row of the table of elementwise operations.
//!
//! `add` has the name of an operator's method, but takes `&self` and needs no import. If
//! `std::ops::Add` is imported, `x.add(..)` on a tensor by value is the operator, as the type
//! shows: it returns a `Tensor`, not a `Result`.

use crate::error::Result;
use crate::ops::elementwise::documentation::{
    aliased, contract, element, elements, example, type_of,
};
use crate::ops::{self, Arg};
use crate::tensor::Tensor;

macro_rules! method {
    ([$($doc:literal)*] $function:ident 1 $rule:ident => nn) => {
        aliased! { $function
            $(#[doc = $doc])*
            ///
            #[doc = contract!(1 $rule)]
            ///
            #[doc = concat!("The method of [`nn::", stringify!($function), "`](fn@crate::nn::", stringify!($function), ").")]
            ///
            /// ```
            #[doc = concat!("let x = flex::Tensor::from(", example!(x $function), ");")]
            #[doc = concat!("assert_eq!(x.", stringify!($function), "()?.to_vec::<", example!(T $function), ">()?, ", example!(z $function), ");")]
            /// # Ok::<(), flex::Error>(())
            /// ```
            #[cfg(feature = "nn")]
            #[inline]
            pub fn $function(&self) -> Result<Tensor> {
                ops::activations::$function(self)
            }
        }
    };
    // functions of `nn` with several operands are not methods
    ([$($doc:literal)*] $function:ident $n:tt $rule:ident => nn) => {};
    ([$($doc:literal)*] $function:ident 1 $rule:ident) => {
        aliased! { $function
            $(#[doc = $doc])*
            ///
            #[doc = contract!(1 $rule)]
            ///
            #[doc = concat!("The method of [`ops::", stringify!($function), "`](fn@crate::ops::", stringify!($function), ").")]
            ///
            /// ```
            #[doc = concat!("let x = flex::Tensor::from(", example!(x $function), ");")]
            #[doc = concat!("assert_eq!(x.", stringify!($function), "()?.to_vec::<", example!(T $function), ">()?, ", example!(z $function), ");")]
            /// # Ok::<(), flex::Error>(())
            /// ```
            #[inline]
            pub fn $function(&self) -> Result<Tensor> {
                ops::$function(self)
            }
        }
    };
    ([$($doc:literal)*] $function:ident 2 $rule:ident) => {
        aliased! { $function
            $(#[doc = $doc])*
            ///
            /// The second operand is a tensor (borrowed, or passed by value to reuse its buffer) or a
            /// number.
            #[doc = contract!(2 $rule)]
            ///
            #[doc = concat!("The method of [`ops::", stringify!($function), "`](fn@crate::ops::", stringify!($function), ").")]
            ///
            /// ```
            #[doc = concat!("let x = flex::Tensor::from(", example!(x $function), ");")]
            #[doc = concat!("let y = flex::Tensor::from(", example!(y $function), ");")]
            #[doc = concat!("assert_eq!(x.", stringify!($function), "(&y)?.to_vec::<", example!(T $function), ">()?, ", example!(z $function), ");")]
            /// # Ok::<(), flex::Error>(())
            /// ```
            #[inline]
            pub fn $function<'b>(&self, b: impl Into<Arg<'b>>) -> Result<Tensor> {
                ops::$function(self, b)
            }
        }
    };
    ([$($doc:literal)*] $function:ident 3 $rule:ident) => {
        aliased! { $function
            $(#[doc = $doc])*
            ///
            /// The other operands are tensors (borrowed, or passed by value to reuse their buffers) or
            /// numbers.
            #[doc = contract!(3 $rule)]
            ///
            #[doc = concat!("The method of [`ops::", stringify!($function), "`](fn@crate::ops::", stringify!($function), ").")]
            ///
            /// ```
            /// let x = flex::Tensor::from([1i32, 2, 3]);
            /// assert_eq!(x.clip(2, 5)?.to_vec::<i32>()?, [2, 2, 3]);
            /// assert_eq!(x.less(2)?.where_(0, &x)?.to_vec::<i32>()?, [0, 2, 3]);
            /// # Ok::<(), flex::Error>(())
            /// ```
            #[inline]
            pub fn $function<'b, 'c>(&self, b: impl Into<Arg<'b>>, c: impl Into<Arg<'c>>) -> Result<Tensor> {
                ops::$function(self, b, c)
            }
        }
    };
}
macro_rules! make {
    ($($(#[doc = $doc:literal])* $Name:ident $function:ident $n:tt $rule:ident $cost:literal [$($family:ident)*] $(=> $module:ident)?)*) => {
        impl Tensor { $(method!([$($doc)*] $function $n $rule $(=> $module)?);)* }
    };
}
operations!(make! {});
