//! Attention: two products with a softmax between them.

use super::super::super::call::{self, Inputs};
use super::super::super::plan::Operand;
use super::{Found, Made, Row, by, node};
use crate::error::Result;
use crate::nn;
use crate::ops;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Keys, transposed, of which several heads of queries may share one.
macro_rules! keys {
    () => {
        "[turn=Transpose(Reshape(Expand(Unsqueeze(kv, $kx), ke), kr)) | k]"
    };
}
/// The scores, scaled before the product or after it, or on both sides of it by roots.
macro_rules! scores {
    () => {
        concat!(
            "[Div(MatMul(q, ",
            keys!(),
            "), %over) | Mul(MatMul(q, ",
            keys!(),
            "), %by)",
            " | MatMul([Mul(q, %byq) | Div(q, %overq)], [Mul(",
            keys!(),
            ", %byk) | Div(",
            keys!(),
            ", %overk) | ",
            keys!(),
            "])",
            " | MatMul(q, [Mul(",
            keys!(),
            ", %byk) | Div(",
            keys!(),
            ", %overk)])",
            " | MatMul(q, ",
            keys!(),
            ")]"
        )
    };
}
/// Those of some keys are replaced by a number.
macro_rules! chosen {
    () => {
        concat!(
            "[Where(seen, ",
            scores!(),
            ", #low) | Where(unseen, #low, ",
            scores!(),
            ") | ",
            scores!(),
            "]"
        )
    };
}
macro_rules! weights {
    () => {
        concat!("s=Softmax([Add(", chosen!(), ", mask) | ", chosen!(), "])")
    };
}

macro_rules! values {
    () => {
        "[Reshape(Expand(Unsqueeze(vv, $vx), ve), vr) | v]"
    };
}

pub(super) const ROWS: &[Row] = &[
    by(
        concat!(
            "MatMul(Where(IsNaN(w=",
            weights!(),
            "), 0, w), ",
            values!(),
            ")"
        ),
        attention,
    ),
    by(
        concat!("MatMul(", weights!(), ", ", values!(), ")"),
        attention,
    ),
];

/// Factors and divisors of the scores, by name.
const FACTORS: &[(&str, bool)] = &[
    ("by", false),
    ("byq", false),
    ("byk", false),
    ("over", true),
    ("overq", true),
    ("overk", true),
];
/// Scores that are replaced by a number below this one count for nothing.
const LOW: f64 = -65504.0;

fn attention(found: &Found) -> Result<Option<Made>> {
    let either = |a, b| found.operand(a).or(found.operand(b));
    let (Some(q), Some(k), Some(v)) = (found.operand("q"), either("k", "kv"), either("v", "vv"))
    else {
        return Ok(None);
    };
    // keys and values are repeated together
    let repeated = found.operand("kv").is_some();
    if repeated != found.operand("vv").is_some() || repeated && !repeats_heads(found) {
        return Ok(None);
    }
    let low = found.number("low");
    let (Some(axis), true) = (found.int("s", "axis"), low.is_none_or(|low| low <= LOW)) else {
        return Ok(None);
    };
    let of = |name| found.operand(name).unwrap_or(Operand::Absent);
    let mut inputs: SmallVec<[Operand; 12]> =
        SmallVec::from_slice(&[q, k, v, of("mask"), of("seen"), of("unseen")]);
    inputs.extend(["ke", "kr", "ve", "vr"].map(of));
    let mut factors: SmallVec<[(usize, bool); 2]> = SmallVec::new();
    for (name, divides) in FACTORS {
        if let Some(factor) = found.operand(name) {
            factors.push((inputs.len(), *divides));
            inputs.push(factor);
        }
    }
    Ok(Some(Made::suited("Attention", &inputs, move |x| {
        let (q, k, v) = (x.get(0)?, x.get(1)?, x.get(2)?);
        let mut scale = 1.0;
        for (at, divides) in &factors {
            let factor = x.get(*at)?;
            if factor.len() != 1 || factor.rank() > 1 {
                return Ok(None);
            }
            let factor = call::floats(factor)?[0];
            scale *= if *divides { 1.0 / factor } else { factor };
        }
        let rank = q.rank().max(k.rank());
        if k.rank() < 2 || (axis != -1 && axis != rank as i64 - 1) {
            return Ok(None);
        }
        let mask = mask(x, low)?;
        if mask.as_ref().is_some_and(|m| m.rank() > rank) {
            return Ok(None);
        }
        if repeated && !(repeats(x, q, k, 6)? && repeats(x, q, v, 8)?) {
            return Ok(None);
        }
        let k = if repeated {
            k.clone()
        } else {
            k.transpose(-1, -2)?
        };
        let options = nn::Attention {
            mask: mask.as_ref(),
            scale: Some(scale),
            grouped: repeated,
            ..Default::default()
        };
        nn::scaled_dot_product_attention(q, &k, v, options).map(Some)
    })))
}

/// Whether a new axis after the heads is expanded, and keys are transposed after that.
fn repeats_heads(found: &Found) -> bool {
    let axis = |name| found.known(name).and_then(|t| call::ints(t).ok());
    let perm = found.step("turn").and_then(node);
    [axis("kx"), axis("vx")]
        .iter()
        .all(|a| matches!(a.as_deref(), Some([2])))
        && perm.is_some_and(|p| p.maybe_ints("perm") == Some(&[0, 1, 3, 2]))
}
/// Whether heads of `t` are repeated for those of the queries: operands `at` and `at + 1` are the
/// shapes of the expansion and of the result.
fn repeats(x: &Inputs, q: &Tensor, t: &Tensor, at: usize) -> Result<bool> {
    let (&[batch, heads, _, _], &[b, own, tokens, size]) = (q.shape(), t.shape()) else {
        return Ok(false);
    };
    if own == 0 || !heads.is_multiple_of(own) || batch != b {
        return Ok(false);
    }
    let all = [b, own, heads / own, tokens, size].map(|n| n as i64);
    let expanded = x.ints(at)?;
    let grows = expanded.len() == 5
        && expanded
            .iter()
            .zip(all)
            .enumerate()
            .all(|(k, (e, n))| *e == n || *e == 1 && k != 2);
    let (whole, made) = ([b, heads, tokens, size].map(|n| n as i64), x.ints(at + 1)?);
    let unknown = made.iter().filter(|n| **n == -1).count();
    let fits = made.len() == 4
        && unknown <= 1
        && made
            .iter()
            .zip(whole)
            .enumerate()
            .all(|(k, (m, n))| *m == n || *m == -1 || *m == 0 && k == 0);
    Ok(grows && fits)
}

/// What is added to the scores. A number that replaces some is added instead: it is so low that
/// nothing remains of them.
fn mask(x: &Inputs, low: Option<f64>) -> Result<Option<Tensor>> {
    let added = x.maybe(3);
    let Some(low) = low else {
        return Ok(added.cloned());
    };
    let dtype = x.get(0)?.dtype();
    let number = |n: f64| Tensor::full((), n, dtype);
    let low = match (x.maybe(4), x.maybe(5)) {
        (Some(seen), _) => ops::where_(seen, &number(0.0)?, &number(low)?)?,
        (_, Some(unseen)) => ops::where_(unseen, &number(low)?, &number(0.0)?)?,
        _ => number(low)?,
    };
    match added {
        Some(added) => ops::add(&low, added).map(Some),
        None => Ok(Some(low)),
    }
}
