//! Parameters of distributions: numbers or tensors, whose values are checked before anything is
//! drawn.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::convert::Cast;
use crate::ops::elementwise::Arg;
use crate::scalar::{Scalar, Shown};
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// The values of a parameter, of the elements of a result.
pub enum Values {
    /// The same for all.
    One(f64),
    /// One for each, in row-major order.
    Each(Vec<f64>),
}
impl Values {
    /// The values of a parameter that broadcasts to `shape`. Errors if one is not accepted: `must`
    /// says what all must be.
    pub fn new(
        op: &'static str,
        name: &'static str,
        x: &Arg<'_>,
        shape: &[usize],
        accepted: fn(f64) -> bool,
        must: &str,
    ) -> Result<Values> {
        let values = match x.tensor() {
            None => Values::One(number(op, name, x)?),
            Some(t) => of_tensor(op, name, t, shape)?,
        };
        let wrong = match &values {
            Values::One(x) => Some(*x).filter(|x| !accepted(*x)),
            Values::Each(all) => all.iter().copied().find(|x| !accepted(*x)),
        };
        match wrong {
            None => Ok(values),
            Some(x) => {
                let message = message!("{name} is {}; it must {must}", Shown(x));
                Err(Error::value(op, message))
            }
        }
    }
    /// The value of element `i`.
    #[inline]
    pub fn at(&self, i: usize) -> f64 {
        match self {
            Values::One(x) => *x,
            Values::Each(all) => all[i],
        }
    }
    /// How many elements differ, at most, by these parameters.
    pub fn count(all: &[&Values]) -> usize {
        all.iter()
            .find_map(|x| match x {
                Values::One(_) => None,
                Values::Each(all) => Some(all.len()),
            })
            .unwrap_or(1)
    }
}

/// The number of an argument that is no tensor.
fn number(op: &'static str, name: &str, x: &Arg<'_>) -> Result<f64> {
    match x {
        Arg::Scalar(Scalar::Complex(..)) => Err(complex(op, name)),
        Arg::Scalar(x) => Ok(x.to_f64()),
        _ => Ok(0.0),
    }
}
fn complex(op: &'static str, name: &str) -> Error {
    Error::dtype(op, message!("{name} is complex; it must be real"))
}
fn of_tensor(op: &'static str, name: &str, t: &Tensor, shape: &[usize]) -> Result<Values> {
    if t.dtype().is_complex() {
        return Err(complex(op, name));
    }
    let whole = match t.len() {
        1 if t.rank() <= shape.len() => t.reshape(())?,
        _ => t.broadcast_to(shape).map_err(|_| {
            let message = message!("{name} does not broadcast to the shape {shape:?}");
            Error::shape_of(op, message, &[("parameter", t.shape(), t.dtype())])
        })?,
    };
    let whole = whole.contiguous()?;
    let mut all: Vec<f64> = fallible::with_capacity(whole.len())?;
    dispatch!(ordered t.dtype(), |T| all.extend(whole.as_slice::<T>()?.iter().map(|x| Cast::double(*x))),
        else return Err(Error::unsupported(op, t.dtype())));
    Ok(match all[..] {
        [x] => Values::One(x),
        _ => Values::Each(all),
    })
}

/// The argument as a tensor: a number becomes one of `dtype`. Errors if it doesn't fit.
pub fn tensor(op: &'static str, x: &Arg<'_>, dtype: DType) -> Result<Tensor> {
    match x {
        Arg::Ref(t) => Ok((*t).clone()),
        Arg::Own(t) => Ok(t.clone()),
        Arg::Scalar(s) => Tensor::scalar(*s, dtype).map_err(|e| e.named(op)),
    }
}
