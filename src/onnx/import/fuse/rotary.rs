//! Rotary embeddings by halves, as transformers' Llama has them.

use super::super::super::call::{self, Value};
use super::super::super::plan::Operand;
use super::pattern::attribute;
use super::{Found, Made, Row, by};
use crate::error::Result;
use crate::nn::{self, Rotary};
use crate::ops;
use crate::tensor::Tensor;

pub(super) const ROWS: &[Row] = &[by(
    "Add(Mul(x, c), Mul(h=Concat(Neg(b=Slice(x, #half, #end, ..)), a=Slice(x, 0, #half, ..)), s))",
    rotary,
)];

fn rotary(found: &Found) -> Result<Option<Made>> {
    let (Some(x), Some(c), Some(s)) = (found.operand("x"), found.operand("c"), found.operand("s"))
    else {
        return Ok(None);
    };
    let (Some(half), Some(end)) = (found.number("half"), found.number("end")) else {
        return Ok(None);
    };
    let along = [
        found.int("h", "axis"),
        slice_axis(found, "a"),
        slice_axis(found, "b"),
    ];
    let ([Some(joined), Some(low), Some(high)], true) = (along, half >= 1.0) else {
        return Ok(None);
    };
    let axes = [joined, low, high];
    if !has_halves(found, c, 8) || !has_halves(found, s, 8) {
        return Ok(None);
    }
    Ok(Some(Made::suited(
        "RotaryEmbedding",
        &[x, c, s],
        move |t| {
            let (x, c, s) = (t.get(0)?, t.get(1)?, t.get(2)?);
            let size = x.shape().last().copied().unwrap_or(0);
            let fits = size as f64 == 2.0 * half
                && end >= size as f64
                && axes.iter().all(|a| *a == -1 || *a == x.rank() as i64 - 1)
                && [c, s]
                    .iter()
                    .all(|t| t.shape().last() == Some(&size) && t.dtype() == x.dtype());
            if !fits || c.rank() > x.rank() || c.rank() < 2 {
                return Ok(None);
            }
            let rows = |t: &Tensor| -> Result<Tensor> {
                let mut t = t.narrow(-1, 0, size / 2)?;
                while t.rank() < x.rank() {
                    t = t.expand_dims(0)?;
                }
                Ok(t)
            };
            nn::rotary_embedding(x, &rows(c)?, &rows(s)?, Rotary::default()).map(Some)
        },
    )))
}

/// The axis of a slice of all elements in a row along one.
fn slice_axis(found: &Found, name: &str) -> Option<i64> {
    let step = found.step(name)?;
    let known = |i: usize| call::ints(found.constant(*step.inputs.get(i)?)?).ok();
    match (known(3)?[..].first(), step.inputs.len()) {
        (Some(axis), 4) => Some(*axis),
        (Some(axis), _) if known(4)?[..] == [1] => Some(*axis),
        _ => None,
    }
}

/// Whether the two halves of the last axis are alike: a concatenation of one value with itself, and
/// what follows it one by one.
fn has_halves(found: &Found, operand: Operand, depth: usize) -> bool {
    if let Some(t) = found.constant(operand) {
        return same_halves(t).unwrap_or(false);
    }
    let Some((_, step)) = found.maker(operand).filter(|_| depth > 0) else {
        return false;
    };
    let first = step.inputs.first().copied().unwrap_or(Operand::Absent);
    match step.op {
        "Concat" => {
            let last = matches!(attribute(step, "axis"), Some(Value::Int(-1)));
            last && step.inputs.len() == 2 && step.inputs[0] == step.inputs[1]
        }
        "Cos" | "Sin" | "Cast" | "Gather" => has_halves(found, first, depth - 1),
        "Unsqueeze" => {
            let axes = step.inputs.get(1).and_then(|i| found.constant(*i));
            let inner = axes.is_some_and(|t| {
                call::ints(t).is_ok_and(|a| a.iter().all(|a| (0..=1).contains(a)))
            });
            inner && has_halves(found, first, depth - 1)
        }
        "Mul" => {
            step.inputs.iter().any(|i| has_halves(found, *i, depth - 1))
                && step
                    .inputs
                    .iter()
                    .any(|i| found.constant(*i).is_some_and(|t| t.len() == 1))
        }
        _ => false,
    }
}
fn same_halves(t: &Tensor) -> Result<bool> {
    let size = t.shape().last().copied().unwrap_or(0);
    if size == 0 || size % 2 != 0 {
        return Ok(false);
    }
    let (a, b) = (
        t.narrow(-1, 0, size / 2)?,
        t.narrow(-1, size / 2, size / 2)?,
    );
    ops::all(&ops::equal(&a, &b)?, ())?.item::<bool>()
}
