//! Conversions.

use super::super::call::{Call, Node, one};
use super::{Kind, Row, int, make, required, text};
use crate::dtype::DType;
use crate::error::Result;
use crate::ops;
use crate::tensor::Tensor;

pub(super) const ROWS: &[Row] = &[
    make("Cast", 6, 1..=1, &[required("to", Kind::Int)], cast),
    make(
        "Cast",
        19,
        1..=1,
        &[required("to", Kind::Int), int("saturate", 1)],
        cast,
    ),
    make(
        "Cast",
        24,
        1..=1,
        &[
            required("to", Kind::Int),
            int("saturate", 1),
            text("round_mode", "up"),
        ],
        cast,
    ),
    make("CastLike", 15, 2..=2, &[], cast_like),
    make("CastLike", 19, 2..=2, &[int("saturate", 1)], cast_like),
    make(
        "CastLike",
        24,
        2..=2,
        &[int("saturate", 1), text("round_mode", "up")],
        cast_like,
    ),
    make("BitCast", 26, 1..=1, &[required("to", Kind::Int)], |node| {
        let to = target(node)?;
        one(move |x| x.get(0)?.bitcast(to))
    }),
];

fn target(node: &Node) -> Result<DType> {
    node.dtype("to")?
        .ok_or_else(|| node.wrong("the attribute to is 0"))
}
/// Whether a number beyond float8's range becomes the largest one; only rows from 19 on have a
/// choice, and float8.
fn saturates(node: &Node) -> bool {
    !node.attributes.iter().any(|(name, _)| *name == "saturate") || node.flag("saturate")
}
fn cast(node: &Node) -> Result<Call> {
    let (to, saturate) = (target(node)?, saturates(node));
    one(move |x| converted(x.get(0)?, to, saturate))
}
fn cast_like(node: &Node) -> Result<Call> {
    let saturate = saturates(node);
    one(move |x| converted(x.get(0)?, x.get(1)?.dtype(), saturate))
}

/// `x` in another dtype. With `saturate`, numbers beyond the range of float8 become its ends.
pub(super) fn converted(x: &Tensor, to: DType, saturate: bool) -> Result<Tensor> {
    let largest = match to {
        DType::F8E4M3 => 448.0,
        DType::F8E5M2 => 57344.0,
        _ => return x.astype(to),
    };
    if !saturate || !x.dtype().is_float() || x.dtype().is_storage() {
        return x.astype(to);
    }
    let x = x.astype(x.dtype().wide())?;
    ops::clip(x, -largest, largest)?.astype(to)
}
