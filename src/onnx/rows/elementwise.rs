//! Arithmetic, comparisons, logic.

use super::super::call::{Call, Inputs, Node, number, one};
use super::{ANY, Attribute, Kind, Row, Run, function, int, make, maybe, required, row};
use crate::dtype::DType;
use crate::error::Result;
use crate::op::Op;
use crate::ops::{self, Arg};
use crate::tensor::Tensor;

const fn unary(name: &'static str, op: Op) -> Row {
    row(name, 1, 1..=1, &[], Run::Elementwise(op))
}
const fn binary(name: &'static str, op: Op) -> Row {
    row(name, 7, 2..=2, &[], Run::Elementwise(op))
}
const OLD: &[Attribute] = &[maybe("axis", Kind::Int), int("broadcast", 0)];
/// Before opset 7, the second operand is aligned by an attribute.
const fn old(name: &'static str, f: fn(&Node) -> Result<Call>) -> Row {
    make(name, 6, 2..=2, OLD, f)
}
fn old_binary(node: &Node, op: Op) -> Result<Call> {
    let Some(axis) = node.maybe_int("axis").filter(|_| node.flag("broadcast")) else {
        return Ok(Call::Elementwise(op));
    };
    one(move |x| {
        let (a, b) = (x.get(0)?, x.get(1)?);
        let after = crate::layout::axis(op.name(), axis as isize, a.rank())? + b.rank();
        let mut shape = crate::layout::Shape::from_slice(b.shape());
        shape.extend((after..a.rank()).map(|_| 1));
        let b = b.reshape(shape)?;
        ops::elementwise::apply(op.row(), [x.take(0)?, Arg::Own(b)])
    })
}

pub(super) const ROWS: &[Row] = &[
    unary("Abs", Op::Abs),
    unary("Acos", Op::Acos),
    unary("Acosh", Op::Acosh),
    unary("Asin", Op::Asin),
    unary("Asinh", Op::Asinh),
    unary("Atan", Op::Atan),
    unary("Atanh", Op::Atanh),
    unary("BitwiseNot", Op::BitwiseInvert),
    unary("Ceil", Op::Ceil),
    unary("Cos", Op::Cos),
    unary("Cosh", Op::Cosh),
    unary("Erf", Op::Erf),
    unary("Exp", Op::Exp),
    unary("Floor", Op::Floor),
    unary("IsNaN", Op::Isnan),
    unary("Log", Op::Log),
    unary("Neg", Op::Negative),
    unary("Not", Op::LogicalNot),
    unary("Reciprocal", Op::Reciprocal),
    unary("Round", Op::Round),
    unary("Sign", Op::Sign),
    unary("Sin", Op::Sin),
    unary("Sinh", Op::Sinh),
    unary("Sqrt", Op::Sqrt),
    unary("Tan", Op::Tan),
    unary("Tanh", Op::Tanh),
    binary("Add", Op::Add),
    binary("And", Op::LogicalAnd),
    binary("BitwiseAnd", Op::BitwiseAnd),
    binary("BitwiseOr", Op::BitwiseOr),
    binary("BitwiseXor", Op::BitwiseXor),
    binary("Equal", Op::Equal),
    binary("Greater", Op::Greater),
    binary("GreaterOrEqual", Op::GreaterEqual),
    binary("Less", Op::Less),
    binary("LessOrEqual", Op::LessEqual),
    binary("Mul", Op::Multiply),
    binary("Or", Op::LogicalOr),
    binary("Sub", Op::Subtract),
    binary("Xor", Op::LogicalXor),
    old("Add", |node| old_binary(node, Op::Add)),
    old("And", |node| old_binary(node, Op::LogicalAnd)),
    old("Div", |node| old_binary(node, Op::Divide)),
    old("Equal", |node| old_binary(node, Op::Equal)),
    old("Greater", |node| old_binary(node, Op::Greater)),
    old("Less", |node| old_binary(node, Op::Less)),
    old("Mul", |node| old_binary(node, Op::Multiply)),
    old("Or", |node| old_binary(node, Op::LogicalOr)),
    old("Pow", |node| old_binary(node, Op::Pow)),
    old("Sub", |node| old_binary(node, Op::Subtract)),
    old("Xor", |node| old_binary(node, Op::LogicalXor)),
    row("Where", 9, 3..=3, &[], Run::Elementwise(Op::Where)),
    make("Div", 7, 2..=2, &[], |node| {
        let floats = |i| node.constant(i).is_some_and(|t| t.dtype().is_float());
        match floats(0) || floats(1) {
            true => Ok(Call::Elementwise(Op::Divide)),
            false => Ok(Call::Function(divide)),
        }
    }),
    function("Pow", 7, 2..=2, pow),
    make("Mod", 10, 2..=2, &[int("fmod", 0)], modulo),
    make(
        "BitShift",
        11,
        2..=2,
        &[required("direction", Kind::Text)],
        shift,
    ),
    make(
        "IsInf",
        10,
        1..=1,
        &[int("detect_negative", 1), int("detect_positive", 1)],
        is_inf,
    ),
    function("Max", 6, 1..=ANY, |x| joined(x, Op::Maximum)),
    function("Min", 6, 1..=ANY, |x| joined(x, Op::Minimum)),
    function("Sum", 6, 1..=ANY, |x| joined(x, Op::Add)),
    function("Mean", 6, 1..=ANY, |x| {
        let n = x.len() as f64;
        ops::divide(joined(x, Op::Add)?, n)
    }),
];

/// Integers are divided towards zero.
fn divide(x: &mut Inputs) -> Result<Tensor> {
    let (a, b) = (x.get(0)?, x.get(1)?);
    if !a.dtype().is_integer() || !b.dtype().is_integer() {
        return ops::divide(x.take(0)?, x.take(1)?);
    }
    let floor = ops::floor_divide(a, b)?;
    if !a.dtype().is_signed() {
        return Ok(floor);
    }
    // the remainder has the divisor's sign: the quotient was rounded down past zero where the
    // dividend's sign is the other, unless nothing remains
    let rest = ops::subtract(a, ops::multiply(&floor, b)?)?;
    let apart = ops::less(ops::bitwise_xor(a, b)?, 0)?;
    let up = ops::logical_and(ops::not_equal(rest, 0)?, apart)?;
    ops::add(floor, up.astype(a.dtype())?)
}

/// The result has the dtype of the base.
fn pow(x: &mut Inputs) -> Result<Tensor> {
    let (base, exponent) = (x.get(0)?, x.get(1)?);
    let dtype = base.dtype();
    if exponent.dtype() == dtype || (dtype.is_float() && exponent.len() == 1) {
        // a number is weak, and powers by small numbers are faster
        if dtype.is_float() && exponent.len() == 1 && exponent.rank() <= base.rank() {
            let exponent = number(exponent)?;
            return ops::pow(x.take(0)?, exponent);
        }
        return ops::pow(x.take(0)?, x.take(1)?);
    }
    let wide = |t: &Tensor| match dtype.is_integer() && exponent.dtype().is_integer() {
        true => t.astype(DType::I64),
        false => t.astype(DType::F64),
    };
    ops::pow(wide(base)?, wide(exponent)?)?.astype(dtype)
}

fn modulo(node: &Node) -> Result<Call> {
    let op = if node.flag("fmod") {
        Op::Fmod
    } else {
        Op::Remainder
    };
    Ok(Call::Elementwise(op))
}

fn shift(node: &Node) -> Result<Call> {
    let op = [
        ("LEFT", Op::BitwiseLeftShift),
        ("RIGHT", Op::BitwiseRightShift),
    ];
    node.choice("direction", &op).map(Call::Elementwise)
}

fn is_inf(node: &Node) -> Result<Call> {
    match (node.flag("detect_negative"), node.flag("detect_positive")) {
        (true, true) => Ok(Call::Elementwise(Op::Isinf)),
        (false, false) => one(|x| Tensor::zeros(x.get(0)?.shape(), DType::Bool)),
        (_, positive) => one(move |x| {
            let limit = if positive {
                f64::INFINITY
            } else {
                f64::NEG_INFINITY
            };
            ops::equal(x.get(0)?, limit)
        }),
    }
}

/// All operands, joined from left to right.
fn joined(x: &mut Inputs, op: Op) -> Result<Tensor> {
    let mut all = x.take_tensor(0)?;
    for i in 1..x.len() {
        all = ops::elementwise::apply(op.row(), [Arg::Own(all), x.take(i)?])?;
    }
    Ok(all)
}
