//! Checks of arguments that several operations share. Their messages name the parameter, its value
//! and what it must be.

use crate::error::{Error, Result};
use crate::kernel::math::Real;
use crate::layout::{self, Shape};
use crate::ops::{self, Arg};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Errors unless a number fits.
pub(super) fn number(
    op: &'static str,
    name: &str,
    value: f64,
    fits: bool,
    must: &str,
) -> Result<()> {
    if fits {
        return Ok(());
    }
    let message = message!("{name} is {value:?}; it must be {must}");
    Err(Error::value(op, message))
}
/// Errors unless a number is finite.
pub(super) fn finite(op: &'static str, name: &str, value: f64) -> Result<()> {
    number(op, name, value, value.is_finite(), "finite")
}
/// Errors unless a number is finite and above 0.
pub(super) fn positive(op: &'static str, name: &str, value: f64) -> Result<()> {
    let fits = value > 0.0 && value.is_finite();
    number(op, name, value, fits, "positive and finite")
}
/// Errors unless a number is finite and not below 0.
pub(super) fn not_negative(op: &'static str, name: &str, value: f64) -> Result<()> {
    let fits = value >= 0.0 && value.is_finite();
    number(op, name, value, fits, "finite and not negative")
}
/// Errors if `eps`, which keeps divisors from being 0, is negative or not finite.
pub(super) fn eps(op: &'static str, eps: f64) -> Result<()> {
    not_negative(op, "eps", eps)
}
/// Errors unless a number is a share or a probability.
pub(super) fn share(op: &'static str, name: &str, value: f64) -> Result<()> {
    let fits = (0.0..=1.0).contains(&value);
    number(op, name, value, fits, "from 0 to 1")
}
/// Errors if a parameter is complex.
pub(super) fn real(op: &'static str, name: &str, t: &Tensor) -> Result<()> {
    if !t.dtype().is_complex() {
        return Ok(());
    }
    let message = message!("{name} is {}; it must be real", t.dtype());
    Err(Error::dtype(op, message))
}
/// The shape that operands broadcast to. Errors, with their names, if they don't.
pub(super) fn broadcast(op: &'static str, operands: &[(&'static str, &Tensor)]) -> Result<Shape> {
    let shapes: SmallVec<[&[usize]; 4]> = operands.iter().map(|(_, t)| t.shape()).collect();
    layout::broadcast(op, &shapes).map_err(|_| {
        let all = operands
            .iter()
            .map(|(name, t)| (*name, t.shape(), t.dtype()));
        let all: SmallVec<[_; 4]> = all.collect();
        Error::shape_of(op, "the operands do not broadcast to one shape", &all)
    })
}
/// Errors if `wrong` holds for an element of a real tensor; the message names the first one and its
/// position.
pub(super) fn elements(
    op: &'static str,
    name: &str,
    t: &Tensor,
    wrong: &Tensor,
    must: &str,
) -> Result<()> {
    if wrong.is_empty() || !ops::any(wrong, ())?.item::<bool>()? {
        return Ok(());
    }
    let at = ops::argmax(wrong, ())?.item::<i64>()?;
    let one = t.reshape([t.len()])?.select(0, at)?;
    let one = one.astype(t.dtype().inexact().wide())?;
    let value = dispatch!(float one.dtype(), |F| Real::to_f64(one.item::<F>()?), else 0.0);
    let message = message!("{name} has {value:?} at row-major position {at}; it must be {must}");
    Err(Error::value(op, message))
}
/// Errors if `wrong` holds for a parameter that is a number, in the dtype that it takes beside `x`,
/// or for an element of one that is a tensor.
pub(super) fn operand(
    op: &'static str,
    x: &Arg,
    name: &str,
    given: &Arg,
    wrong: fn(&Tensor) -> Result<Tensor>,
    must: &str,
) -> Result<()> {
    let one;
    let t = match given {
        Arg::Ref(t) => t,
        Arg::Own(t) => t,
        Arg::Scalar(s) => {
            let beside = x.tensor().map(|x| s.promote(x.dtype()));
            one = Tensor::scalar(*s, beside.unwrap_or(s.default_dtype()))?;
            &one
        }
    };
    real(op, name, t)?;
    let wrong = wrong(t)?;
    match given {
        Arg::Scalar(s) => number(op, name, s.to_f64(), !wrong.item::<bool>()?, must),
        _ => elements(op, name, t, &wrong, must),
    }
}
