//! Activations in parts.

use super::super::super::call::{Call, Value};
use super::{Found, Made, Make, Row, by};
use crate::error::Result;
use crate::op::Op;

const fn to(pattern: &'static str, name: &'static str, op: Op) -> Row {
    Row {
        pattern,
        make: Make::Elementwise(name, op),
    }
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    to("Mul(x, 0.5, Add(Erf([Div(x, 1.41421356) | Mul(x, 0.70710678)]), 1))", "Gelu", Op::Gelu),
    to("Mul(x, 0.5, Add(Tanh(Mul(0.79788456, Add(x, Mul(0.044715, [Pow(x, 3) | Mul(x, x, x)])))), 1))",
        "Gelu", Op::GeluTanh),
    to("Mul(x, 0.5, Add(Tanh(Mul(x, 0.79788456, Add(Mul(0.044715, [Pow(x, 2) | Mul(x, x)]), 1))), 1))",
        "Gelu", Op::GeluTanh),
    to("Mul(x, Sigmoid(x))", "Swish", Op::Silu),
    to("Mul(x, Tanh(Softplus(x)))", "Mish", Op::Mish),
    to("Mul(x, Div(Clip(Add(x, 3), 0, 6), 6))", "HardSwish", Op::Hardswish),
    to("Div(Mul(x, Clip(Add(x, 3), 0, 6)), 6)", "HardSwish", Op::Hardswish),
    to("Mul(x, Clip(Add(x, 3), 0, 6), 0.16666667)", "HardSwish", Op::Hardswish),
    by("Mul(x, s=HardSigmoid(x))", |found| sixths(found, "HardSwish", Op::Hardswish)),
    to("Div(Clip(Add(x, 3), 0, 6), 6)", "HardSigmoid", Op::Hardsigmoid),
    by("s=HardSigmoid(x)", |found| sixths(found, "HardSigmoid", Op::Hardsigmoid)),
    to("Clip(x, 0, 6)", "Clip", Op::Relu6),
    by("c=Clip(x)", relu6),
];

/// The number of an attribute.
fn float(found: &Found, step: &str, name: &str) -> Option<f64> {
    match found.attribute(step, name)? {
        Value::Float(x) => Some(f64::from(*x)),
        _ => None,
    }
}

/// Of torch's hard sigmoid, which a layer may have as its activation.
fn sixths(found: &Found, name: &'static str, op: Op) -> Result<Option<Made>> {
    let fits = float(found, "s", "alpha").is_some_and(|a| (a - 1.0 / 6.0).abs() < 1e-6)
        && float(found, "s", "beta") == Some(0.5);
    let x = found.operand("x").filter(|_| fits);
    Ok(x.map(|x| Made::always(name, &[x], Call::Elementwise(op))))
}

/// Limits that are attributes.
fn relu6(found: &Found) -> Result<Option<Made>> {
    let fits = float(found, "c", "min") == Some(0.0) && float(found, "c", "max") == Some(6.0);
    let x = found.operand("x").filter(|_| fits);
    Ok(x.map(|x| Made::always("Clip", &[x], Call::Elementwise(Op::Relu6))))
}
