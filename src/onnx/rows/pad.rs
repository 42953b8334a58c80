//! Padding.

use super::super::call::{Call, Node, number, one};
use super::{Attribute, Kind, Row, float, make, required, text};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout;
use crate::ops;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use alloc::vec::Vec;

const OP: &str = "Pad";
const MODE: &[Attribute] = &[text("mode", "constant")];
pub(super) const ROWS: &[Row] = &[
    make(
        "Pad",
        2,
        1..=1,
        &[
            text("mode", "constant"),
            required("pads", Kind::Ints),
            float("value", 0.0),
        ],
        |node| {
            let (mode, value) = (mode(node)?, node.float("value"));
            let pads = node.maybe_ints("pads").map(Vec::from).unwrap_or_default();
            one(move |x| padded(x.get(0)?, &pads, None, mode, value.into()))
        },
    ),
    make("Pad", 11, 2..=3, MODE, by_input),
    make("Pad", 18, 2..=4, MODE, by_input),
];

/// What lies beyond the ends.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Constant,
    Edge,
    Reflect,
    Wrap,
}
fn mode(node: &Node) -> Result<Mode> {
    use Mode::*;
    node.choice(
        "mode",
        &[
            ("constant", Constant),
            ("edge", Edge),
            ("reflect", Reflect),
            ("wrap", Wrap),
        ],
    )
}
fn by_input(node: &Node) -> Result<Call> {
    let mode = mode(node)?;
    one(move |x| {
        let value = match x.maybe(2) {
            Some(value) => number(value)?,
            None => Scalar::Bool(false),
        };
        padded(
            x.get(0)?,
            &x.ints(1)?,
            x.maybe_ints(3)?.as_deref(),
            mode,
            value,
        )
    })
}

/// `pads` are the numbers before each axis, then those after; negative ones crop.
fn padded(
    x: &Tensor,
    pads: &[i64],
    axes: Option<&[i64]>,
    mode: Mode,
    value: Scalar,
) -> Result<Tensor> {
    let axes: Vec<usize> = match axes {
        Some(axes) => axes
            .iter()
            .map(|a| layout::axis(OP, *a as isize, x.rank()))
            .collect::<Result<_>>()?,
        None => (0..x.rank()).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return Err(Error::value(
            OP,
            message!("{} widths for {} axes", pads.len(), axes.len()),
        ));
    }
    let mut widths: Vec<(usize, usize)> = x.shape().iter().map(|_| (0, 0)).collect();
    let mut y = x.clone();
    for (i, k) in axes.iter().enumerate() {
        let (before, after) = (pads[i], pads[axes.len() + i]);
        let cut = |n: i64| usize::try_from(n.saturating_neg()).unwrap_or(0);
        let size = y.shape()[*k];
        let Some(kept) = size
            .checked_sub(cut(before))
            .and_then(|n| n.checked_sub(cut(after)))
        else {
            return Err(Error::value(
                OP,
                message!("widths {before} and {after} of {size} elements"),
            ));
        };
        y = y.narrow(*k, cut(before), kept)?;
        widths[*k] = (
            usize::try_from(before).unwrap_or(0),
            usize::try_from(after).unwrap_or(0),
        );
    }
    if mode == Mode::Constant {
        return ops::pad(&y, &widths, value);
    }
    for (k, (before, after)) in widths.into_iter().enumerate() {
        let size = y.shape()[k];
        if before + after == 0 {
            continue;
        }
        if size == 0 {
            return Err(Error::shape(
                OP,
                message!("axis {k} has no elements to repeat"),
            ));
        }
        let end = size.checked_add(after).and_then(|n| i64::try_from(n).ok());
        let (Some(end), Ok(first)) = (end, i64::try_from(before)) else {
            return Err(Error::value(
                OP,
                message!("widths {before} and {after} overflow"),
            ));
        };
        let at = ops::arange(-first, end, 1, DType::I64)?;
        let n = size as i64;
        let at = match mode {
            Mode::Wrap => ops::remainder(at, n)?,
            Mode::Reflect if n > 1 => {
                // 0 .. n - 1, and back without the ends
                let turn = ops::remainder(at, 2 * (n - 1))?;
                ops::minimum(&turn, ops::subtract(2 * (n - 1), &turn)?)?
            }
            _ => ops::clip(at, 0, n - 1)?,
        };
        y = ops::take(&y, &at, k)?;
    }
    Ok(y)
}
