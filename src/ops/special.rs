//! Special functions: in float64, an element at a time.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::math::{Real, special};
use crate::ops::methods::method;
use crate::par::{self, Cost};
use crate::tensor::Tensor;

/// `f` of the elements of `x`, rounded to its dtype; integers become float32.
fn apply(op: &'static str, x: &Tensor, f: fn(f64) -> f64) -> Result<Tensor> {
    /// An element takes about as long as this many operations.
    const COST: Cost = Cost {
        bytes: 16,
        flops: 200,
    };
    let dtype = x.dtype().inexact();
    if !dtype.is_float() || dtype.is_storage() || !dtype.is_available() {
        return Err(Error::unsupported(op, x.dtype()));
    }
    let wide = match DType::F64.is_available() {
        true => DType::F64,
        false => DType::F32,
    };
    let mut y = x.astype(wide)?.contiguous()?;
    dispatch!(float wide, |T| {
        let y = y.as_mut_slice::<T>()?;
        par::split(y, 1, 256, COST, |_, part| {
            for x in part {
                *x = T::from_f64(f((*x).to_f64()));
            }
        });
    }, else return Err(Error::unsupported(op, wide)));
    y.into_dtype(dtype)
}

macro_rules! special {
    ($($(#[doc = $doc:literal])* $name:ident $x:literal $y:literal;)*) => { $(
        method!(
            $(#[doc = $doc])*
            ///
            /// Computed in float64 if this build has it, and rounded to the dtype of `x`; integers
            /// become float32.
            ///
            /// Errors for complex numbers and float8.
            ///
            /// ```
            /// use flex::{Tensor, ops};
            #[doc = concat!("let y = ops::", stringify!($name), "(&Tensor::from(", $x, "))?;")]
            #[doc = concat!("assert_eq!(y.to_vec::<f32>()?, ", $y, ");")]
            /// # Ok::<(), flex::Error>(())
            /// ```
            pub fn $name(x: &Tensor) -> Result<Tensor> {
                apply(stringify!($name), x, special::$name)
            }
        );
    )* };
}
special! {
    /// The logarithm of the magnitude of the gamma function of each element; infinite at 0 and at
    /// negative integers.
    lgamma "[1.0f32, 5.0, 0.0]" "[0.0, 24f32.ln(), f32::INFINITY]";
    /// The digamma function, the derivative of [`lgamma`], of each element. Minus infinity at 0
    /// (infinity at -0), NaN at negative integers.
    digamma "[1.0f32, 0.5]" "[-0.577_215_7, -1.963_51]";
    /// The inverse of the error function of each element: infinite at 1 and -1, NaN beyond.
    erfinv "[0.0f32, 0.5, 1.0]" "[0.0, 0.476_936_28, f32::INFINITY]";
    /// The modified Bessel function of the first kind of order 0 of each element.
    i0 "[1.0f32, 0.0]" "[1.266_065_8, 1.0]";
    /// [`i0`] times `exp(-|x|)`, which does not overflow.
    i0e "[1.0f32, 0.0]" "[0.465_759_6, 1.0]";
    /// The modified Bessel function of the first kind of order 1 of each element.
    i1 "[1.0f32, 0.0]" "[0.565_159_1, 0.0]";
    /// [`i1`] times `exp(-|x|)`, which does not overflow.
    i1e "[1.0f32, 0.0]" "[0.207_910_42, 0.0]";
}
