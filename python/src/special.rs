//! Special functions.

use super::cell::PyTensor;
use super::convert::OperandRef;
use flex::{Tensor, ops};
use pyo3::prelude::*;

/// One type, so that the calls of all are one.
type Function = fn(&Tensor) -> flex::Result<Tensor>;

macro_rules! special {
    ($($(#[doc = $doc:literal])* $name:ident;)*) => {
        $(
            $(#[doc = $doc])*
            #[function(x, /)]
            fn $name(py: Python<'_>, x: OperandRef) -> PyResult<PyTensor> {
                x.compute(py, ops::$name as Function)
            }
        )*
    };
}
special! {
    /// The logarithm of the magnitude of the gamma function; infinite at 0 and at negative integers.
    ///
    /// Computed in float64 and rounded to the dtype of x; integers become float32. DTypeError for
    /// complex numbers and float8.
    ///
    /// >>> flex.lgamma(flex.asarray([1.0, 2.0, 0.0])).tolist()
    /// [0.0, 0.0, inf]
    lgamma;
    /// The digamma function, the derivative of `lgamma`: minus infinity at 0, NaN at negative integers.
    /// Dtypes and errors are those of `lgamma`.
    ///
    /// >>> round(flex.digamma(flex.asarray(1.0)).item(), 5)
    /// -0.57722
    digamma;
    /// The inverse of the error function: infinite at 1 and -1, NaN beyond. Dtypes and errors are those
    /// of `lgamma`.
    ///
    /// >>> flex.erfinv(flex.asarray([0.0, 1.0])).tolist()
    /// [0.0, inf]
    erfinv;
    /// The modified Bessel function of the first kind of order 0. Dtypes and errors are those of
    /// `lgamma`.
    ///
    /// >>> round(flex.i0(flex.asarray(1.0)).item(), 5)
    /// 1.26607
    i0;
    /// `i0` times `exp(-abs(x))`, which does not overflow. Dtypes and errors are those of `lgamma`.
    ///
    /// >>> round(flex.i0e(flex.asarray(1.0)).item(), 5)
    /// 0.46576
    i0e;
    /// The modified Bessel function of the first kind of order 1. Dtypes and errors are those of
    /// `lgamma`.
    ///
    /// >>> round(flex.i1(flex.asarray(-1.0)).item(), 5)
    /// -0.56516
    i1;
    /// `i1` times `exp(-abs(x))`, which does not overflow. Dtypes and errors are those of `lgamma`.
    ///
    /// >>> round(flex.i1e(flex.asarray(1.0)).item(), 5)
    /// 0.20791
    i1e;
}
