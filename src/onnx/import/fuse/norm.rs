//! Normalisations in parts.

use super::super::super::call::{self, Value};
use super::super::super::plan::Operand;
use super::super::super::rows;
use super::{Found, Made, Row, by};
use crate::error::Result;
use crate::nn::{self, LayerNorm, RmsNorm};
use crate::tensor::Tensor;
use alloc::vec::Vec;

/// What is less its mean, and its deviation.
macro_rules! apart {
    () => {
        "d=Sub(x, m=ReduceMean(x, ..))"
    };
}
macro_rules! deviation {
    () => {
        "Sqrt(Add(v=ReduceMean([Pow([d | Cast(d)], 2) | Mul(d, d)], ..), #eps))"
    };
}
macro_rules! normal {
    () => {
        concat!(
            "[Div(",
            apart!(),
            ", ",
            deviation!(),
            ")",
            " | Mul(",
            apart!(),
            ", [Reciprocal(",
            deviation!(),
            ") | Div(1, ",
            deviation!(),
            ")])]"
        )
    };
}
macro_rules! root {
    () => {
        "Sqrt(Add(v=ReduceMean([Pow(x, 2) | Mul(x, x)], ..), #eps))"
    };
}

pub(super) const ROWS: &[Row] = &[
    by(concat!("Add(Mul(", normal!(), ", w), b)"), layer_norm),
    by(concat!("Mul(", normal!(), ", w)"), layer_norm),
    by(normal!(), layer_norm),
    by(concat!("Mul(w, Div(x, ", root!(), "))"), rms_norm),
    by(
        concat!(
            "Mul(w, x, [Reciprocal(",
            root!(),
            ") | Div(1, ",
            root!(),
            ")])"
        ),
        rms_norm,
    ),
];

/// The axes of a reduction that keeps its dimensions; `None` if it is another.
fn axes(found: &Found, name: &str) -> Option<Vec<i64>> {
    if found.int(name, "keepdims") != Some(1) {
        return None;
    }
    match (
        found.attribute(name, "axes"),
        found.step(name)?.inputs.get(1),
    ) {
        (Some(Value::Ints(axes)), None) => Some(axes.clone()),
        (_, Some(axes)) => call::ints(found.constant(*axes)?).ok(),
        _ => None,
    }
    .filter(|axes| !axes.is_empty())
}
/// The first of these axes, if they are the last ones of this many.
fn first(axes: &[i64], rank: usize) -> Option<usize> {
    let first = rank.checked_sub(axes.len())?;
    let has = |axis: usize| {
        let of = |a: &i64| *a == axis as i64 || *a == axis as i64 - rank as i64;
        axes.iter().any(of)
    };
    (first..rank).all(has).then_some(first)
}

fn layer_norm(found: &Found) -> Result<Option<Made>> {
    let (Some(x), Some(eps)) = (found.operand("x"), found.number("eps")) else {
        return Ok(None);
    };
    let (Some(over), same) = (axes(found, "m"), axes(found, "v")) else {
        return Ok(None);
    };
    if same.as_ref() != Some(&over) {
        return Ok(None);
    }
    let of = |name| found.operand(name).unwrap_or(Operand::Absent);
    let inputs = [x, of("w"), of("b")];
    Ok(Some(Made::suited(
        "LayerNormalization",
        &inputs,
        move |t| {
            let x = t.get(0)?;
            let Some(first) = first(&over, x.rank()) else {
                return Ok(None);
            };
            let shape = &x.shape()[first..];
            let (weight, bias) = (
                parameter(t.maybe(1), x, shape)?,
                parameter(t.maybe(2), x, shape)?,
            );
            let options = LayerNorm {
                weight: weight.as_ref(),
                bias: bias.as_ref(),
                eps,
            };
            nn::layer_norm(x, shape, options).map(Some)
        },
    )))
}

fn rms_norm(found: &Found) -> Result<Option<Made>> {
    let (Some(x), Some(w), Some(eps), Some(over)) = (
        found.operand("x"),
        found.operand("w"),
        found.number("eps"),
        axes(found, "v"),
    ) else {
        return Ok(None);
    };
    Ok(Some(Made::suited("RMSNormalization", &[x, w], move |t| {
        let x = t.get(0)?;
        let Some(first) = first(&over, x.rank()) else {
            return Ok(None);
        };
        let shape = &x.shape()[first..];
        let weight = parameter(t.maybe(1), x, shape)?;
        let options = RmsNorm {
            weight: weight.as_ref(),
            eps: Some(eps),
        };
        nn::rms_norm(x, shape, options).map(Some)
    })))
}

/// A parameter in the shape that is normalised. Errors for others.
fn parameter(t: Option<&Tensor>, x: &Tensor, shape: &[usize]) -> Result<Option<Tensor>> {
    match t {
        Some(t) if t.dtype() != x.dtype() => Err(crate::error::Error::dtype(
            "LayerNormalization",
            "a parameter of another dtype",
        )),
        Some(t) => rows::spread(t, shape).map(Some),
        None => Ok(None),
    }
}
