//! Reductions, and sums along an axis.

use super::super::call::{Call, Node, int as int_of, one};
use super::{Attribute, Row, int, ints, make};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::Axes;
use crate::ops::{self, Cumulative, ReductionAxes};
use crate::tensor::Tensor;

type Reduce = fn(&Tensor, ReductionAxes) -> Result<Tensor>;

const BY_ATTRIBUTE: &[Attribute] = &[int("keepdims", 1), ints("axes")];
const BY_INPUT: &[Attribute] = &[int("keepdims", 1), int("noop_with_empty_axes", 0)];
const ARG: &[Attribute] = &[int("axis", 0), int("keepdims", 1)];
const ARG_12: &[Attribute] = &[
    int("axis", 0),
    int("keepdims", 1),
    int("select_last_index", 0),
];
const SCAN: &[Attribute] = &[int("exclusive", 0), int("reverse", 0)];

/// The axes are an attribute before this version, and an operand from it on.
macro_rules! reductions {
    ($($name:literal $input:literal $f:expr;)*) => { &[
        $(
            make($name, 1, 1..=1, BY_ATTRIBUTE, |node| reduction(node, $f)),
            make($name, $input, 1..=2, BY_INPUT, |node| reduction(node, $f)),
        )*
        make("ArgMax", 1, 1..=1, ARG, |node| arg(node, ops::argmax)),
        make("ArgMax", 12, 1..=1, ARG_12, |node| arg(node, ops::argmax)),
        make("ArgMin", 1, 1..=1, ARG, |node| arg(node, ops::argmin)),
        make("ArgMin", 12, 1..=1, ARG_12, |node| arg(node, ops::argmin)),
        make("CumSum", 11, 2..=2, SCAN, |node| cumulative(node, |x, how| ops::cumulative_sum(x, how))),
        make("CumProd", 26, 2..=2, SCAN, |node| cumulative(node, |x, how| ops::cumulative_prod(x, how))),
    ] };
}
pub(super) const ROWS: &[Row] = reductions! {
    "ReduceMax" 18 |x, over| extreme(x, over, false);
    "ReduceMin" 18 |x, over| extreme(x, over, true);
    "ReduceSum" 13 sum;
    "ReduceMean" 18 mean;
    "ReduceProd" 18 |x, over| ops::prod_as(x, over, x.dtype());
    "ReduceL1" 18 |x, over| sum(&ops::abs(x)?, over);
    "ReduceL2" 18 |x, over| {
        let wide = match x.dtype() {
            d if d.is_float() => d.wide(),
            _ => DType::F64,
        };
        ops::sqrt(sum(&ops::square(x.astype(wide)?)?, over)?)?.astype(x.dtype())
    };
    "ReduceSumSquare" 18 |x, over| sum(&ops::square(x)?, over);
    "ReduceLogSum" 18 |x, over| in_floats(x, |x| ops::log(sum(x, over)?));
    "ReduceLogSumExp" 18 |x, over| in_floats(x, |x| match x.is_empty() {
        true => ops::log(sum(x, over)?),
        false => ops::logsumexp(x, over),
    });
};

/// In float64 for integers, and back.
fn in_floats(x: &Tensor, f: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    match x.dtype().is_integer() {
        true => f(&x.astype(DType::F64)?)?.astype(x.dtype()),
        false => f(x),
    }
}
fn sum(x: &Tensor, over: ReductionAxes) -> Result<Tensor> {
    ops::sum_as(x, over, x.dtype())
}
fn mean(x: &Tensor, over: ReductionAxes) -> Result<Tensor> {
    in_floats(x, |x| ops::mean(x, over))
}
/// The largest or smallest element; of no elements, the lowest or highest number.
fn extreme(x: &Tensor, over: ReductionAxes, smallest: bool) -> Result<Tensor> {
    if !x.is_empty() {
        return if smallest {
            ops::min(x, over)
        } else {
            ops::max(x, over)
        };
    }
    let sums = ops::sum_as(&Tensor::zeros(x.shape(), DType::F32)?, over, DType::F32)?;
    ops::full(
        sums.shape(),
        super::pool::lowest(x.dtype(), smallest),
        x.dtype(),
    )
}

fn reduction(node: &Node, f: Reduce) -> Result<Call> {
    let keepdims = node.flag("keepdims");
    let by_input = node
        .attributes
        .iter()
        .any(|(name, _)| *name == "noop_with_empty_axes");
    if !by_input {
        let axes = Axes::from(node.maybe_ints("axes").filter(|axes| !axes.is_empty()));
        let over = ReductionAxes { axes, keepdims };
        return one(move |x| f(x.get(0)?, over.clone()));
    }
    let none = node.flag("noop_with_empty_axes");
    let over = move |axes: Option<alloc::vec::Vec<i64>>| {
        let axes = match axes.filter(|axes| !axes.is_empty()) {
            Some(axes) => Axes::from(axes),
            None if none => Axes::from([0isize; 0]),
            None => Axes::ALL,
        };
        ReductionAxes { axes, keepdims }
    };
    if node.constants.len() < 2 || node.constant(1).is_some() {
        let axes = node.constant(1).map(super::super::call::ints).transpose()?;
        let over = over(axes);
        return one(move |x| f(x.get(0)?, over.clone()));
    }
    one(move |x| f(x.get(0)?, over(x.maybe_ints(1)?)))
}

fn arg(node: &Node, f: fn(&Tensor, ReductionAxes) -> Result<Tensor>) -> Result<Call> {
    let (axis, keepdims) = (node.int("axis"), node.flag("keepdims"));
    let has_choice = node
        .attributes
        .iter()
        .any(|(name, _)| *name == "select_last_index");
    let last = has_choice && node.flag("select_last_index");
    let over = ReductionAxes {
        axes: axis.into(),
        keepdims,
    };
    one(move |x| {
        let x = x.get(0)?;
        if !last {
            return f(x, over.clone());
        }
        let size = x.shape()[crate::layout::axis("ArgMax", axis as isize, x.rank())?];
        ops::subtract(size as i64 - 1, f(&x.flip(axis)?, over.clone())?)
    })
}

fn cumulative(node: &Node, f: fn(&Tensor, Cumulative) -> Result<Tensor>) -> Result<Call> {
    let (exclusive, reverse) = (node.flag("exclusive"), node.flag("reverse"));
    one(move |x| {
        let (x, axis) = (x.get(0)?, int_of(x.get(1)?)?);
        let turned = if reverse { x.flip(axis)? } else { x.clone() };
        let how = Cumulative {
            axis: axis.into(),
            dtype: Some(x.dtype()),
            include_initial: exclusive,
        };
        let mut y = f(&turned, how)?;
        if exclusive {
            let axis = crate::layout::axis("CumSum", axis as isize, x.rank())?;
            y = y.narrow(axis, 0, x.shape()[axis])?;
        }
        if reverse { y.flip(axis) } else { Ok(y) }
    })
}
