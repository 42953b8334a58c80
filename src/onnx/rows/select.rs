//! Slices, choices, order.

use super::super::call::{Call, Inputs, Node, Outputs, int as int_of, many, number, one, size};
use super::{Kind, Row, float, function, int, ints, make, maybe, required};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{self, Shape};
use crate::ops::{self, TopK};
use crate::tensor::Tensor;
use alloc::vec::Vec;

pub(super) const ROWS: &[Row] = &[
    make(
        "Slice",
        1,
        1..=1,
        &[
            ints("axes"),
            required("starts", Kind::Ints),
            required("ends", Kind::Ints),
        ],
        |node| {
            let list = |name| node.maybe_ints(name).map(Vec::from);
            let (starts, ends) = (
                list("starts").unwrap_or_default(),
                list("ends").unwrap_or_default(),
            );
            let axes = list("axes");
            one(move |x| slice(x.get(0)?, &starts, &ends, axes.as_deref(), None))
        },
    ),
    make("Slice", 10, 3..=5, &[], |node| {
        let constant = |i: usize| node.constants.len() <= i || node.constant(i).is_some();
        if !(1..5).all(constant) {
            return one(|x| {
                let (starts, ends) = (x.ints(1)?, x.ints(2)?);
                let (axes, steps) = (x.maybe_ints(3)?, x.maybe_ints(4)?);
                slice(x.get(0)?, &starts, &ends, axes.as_deref(), steps.as_deref())
            });
        }
        let list = |i| node.constant(i).map(super::super::call::ints).transpose();
        let (starts, ends) = (list(1)?.unwrap_or_default(), list(2)?.unwrap_or_default());
        let (axes, steps) = (list(3)?, list(4)?);
        one(move |x| slice(x.get(0)?, &starts, &ends, axes.as_deref(), steps.as_deref()))
    }),
    make(
        "Clip",
        6,
        1..=1,
        &[float("max", f32::MAX), float("min", f32::MIN)],
        |node| {
            let (min, max) = (node.float("min"), node.float("max"));
            let has = |limit: f64| limit.abs() < f64::from(f32::MAX);
            one(move |x| {
                let mut y = x.take_tensor(0)?;
                if has(min) {
                    y = ops::maximum(y, min)?;
                }
                if has(max) {
                    y = ops::minimum(y, max)?;
                }
                Ok(y)
            })
        },
    ),
    function("Clip", 11, 1..=3, |x| {
        let mut y = x.take_tensor(0)?;
        for (i, f) in [(1, crate::op::Op::Maximum), (2, crate::op::Op::Minimum)] {
            if let Some(limit) = x.maybe(i) {
                let limit = number(limit)?;
                y = ops::elementwise::apply(f.row(), [y.into(), limit.into()])?;
            }
        }
        Ok(y)
    }),
    make("TopK", 10, 2..=2, &[int("axis", -1)], |node| {
        topk(node, true, true)
    }),
    make(
        "TopK",
        11,
        2..=2,
        &[int("axis", -1), int("largest", 1), int("sorted", 1)],
        |node| topk(node, node.flag("largest"), node.flag("sorted")),
    ),
    make(
        "Unique",
        11,
        1..=1,
        &[maybe("axis", Kind::Int), int("sorted", 1)],
        |node| {
            let (axis, sorted) = (node.maybe_int("axis"), node.flag("sorted"));
            many(move |x| unique(x.get(0)?, axis, sorted))
        },
    ),
    function("NonZero", 9, 1..=1, |x| {
        let x = x.get(0)?;
        let x = if x.rank() == 0 {
            x.reshape(1)?
        } else {
            x.clone()
        };
        ops::argwhere(&x)?.transpose(0, 1)
    }),
    make("Compress", 9, 2..=2, &[maybe("axis", Kind::Int)], |node| {
        let axis = node.maybe_int("axis");
        one(move |x| {
            let (x, condition) = (x.get(0)?, x.get(1)?);
            let at = ops::argwhere(condition)?.reshape(-1)?;
            match axis {
                Some(axis) => ops::take(x, &at, axis),
                None => ops::take(&x.reshape(-1)?, &at, 0),
            }
        })
    }),
    make(
        "ReverseSequence",
        10,
        2..=2,
        &[int("batch_axis", 1), int("time_axis", 0)],
        |node| {
            let (batch, time) = (node.int("batch_axis"), node.int("time_axis"));
            one(move |x| reversed(x.get(0)?, x.get(1)?, batch, time))
        },
    ),
    make("OneHot", 9, 3..=3, &[int("axis", -1)], |node| {
        let axis = node.int("axis");
        one(move |x| one_hot(x, axis))
    }),
    make(
        "Dropout",
        6,
        1..=1,
        &[float("ratio", 0.5), int("is_test", 0)],
        |node| dropout(node, 1),
    ),
    make("Dropout", 7, 1..=1, &[float("ratio", 0.5)], |node| {
        dropout(node, 1)
    }),
    make("Dropout", 12, 1..=3, &[maybe("seed", Kind::Int)], |node| {
        dropout(node, node.maybe_int("seed").unwrap_or(1))
    }),
];

fn slice(
    x: &Tensor,
    starts: &[i64],
    ends: &[i64],
    axes: Option<&[i64]>,
    steps: Option<&[i64]>,
) -> Result<Tensor> {
    const OP: &str = "Slice";
    let n = starts.len();
    if ends.len() != n || axes.is_some_and(|a| a.len() != n) || steps.is_some_and(|s| s.len() != n)
    {
        return Err(Error::value(
            OP,
            "starts, ends, axes and steps differ in length",
        ));
    }
    let mut y = x.clone();
    for i in 0..n {
        let axis = axes.map_or(i as i64, |a| a[i]);
        let axis = layout::axis(OP, axis as isize, x.rank())?;
        let step = steps.map_or(1, |s| s[i]);
        let size = x.shape()[axis] as i64;
        // an end below -size is, for a negative step, before the first element
        let end = match step < 0 && ends[i] < -size {
            true => None,
            false => Some(ends[i]),
        };
        y = y.slice_axis(axis, Some(starts[i]), end, step)?;
    }
    Ok(y)
}

fn topk(node: &Node, largest: bool, sorted: bool) -> Result<Call> {
    let axis = node.int("axis") as isize;
    many(move |x| {
        let k = size("TopK", "k", int_of(x.get(1)?)?)?;
        let how = TopK {
            axis,
            largest,
            sorted,
        };
        let (values, at) = ops::topk(x.get(0)?, k, how)?;
        Ok(Outputs::from_vec(alloc::vec![values, at]))
    })
}

/// The distinct elements, or slices along an axis; the first occurrence of each; which of them each
/// is; how often it occurs.
fn unique(x: &Tensor, axis: Option<i64>, sorted: bool) -> Result<Outputs> {
    let (along, codes) = match axis {
        None => {
            let flat = x.reshape(-1)?;
            (flat.clone(), flat)
        }
        Some(axis) => {
            // slices are numbered in lexicographic order, an element more at a time
            let along = x.moveaxis(axis, 0)?;
            let slices = super::shape::flattened("Unique", &along, 1)?.contiguous()?;
            let n = slices.shape()[0];
            let mut codes = Tensor::zeros(n, DType::I64)?;
            for column in 0..slices.shape()[1] {
                let (_, order) = ops::unique_inverse(&slices.select(1, column as i64)?)?;
                let both = ops::add(ops::multiply(codes, n as i64 + 1)?, &order)?;
                codes = ops::unique_inverse(&both)?.1;
            }
            (along, codes)
        }
    };
    let mut u = ops::unique_all(&codes)?;
    if !sorted {
        let order = ops::argsort(&u.indices, 0)?;
        let place = ops::argsort(&order, 0)?;
        u.indices = ops::take(&u.indices, &order, 0)?;
        u.counts = ops::take(&u.counts, &order, 0)?;
        u.inverse = ops::take(&place, &u.inverse, 0)?;
    }
    let values = ops::take(&along, &u.indices, 0)?;
    let values = match axis {
        Some(axis) => values.moveaxis(0, axis)?,
        None => values,
    };
    Ok(Outputs::from_vec(alloc::vec![
        values,
        u.indices,
        u.inverse.reshape(-1)?,
        u.counts
    ]))
}

/// The first elements along `time` in reverse order: as many as `lengths` says for each example.
pub(super) fn reversed(x: &Tensor, lengths: &Tensor, batch: i64, time: i64) -> Result<Tensor> {
    const OP: &str = "ReverseSequence";
    let batch = layout::axis(OP, batch as isize, x.rank())?;
    let time = layout::axis(OP, time as isize, x.rank())?;
    let shaped = |k: usize| -> Shape {
        (0..x.rank())
            .map(|i| if i == k { x.shape()[k] } else { 1 })
            .collect()
    };
    let lengths = lengths.astype(DType::I64)?.reshape(shaped(batch))?;
    let steps = ops::arange(0, x.shape()[time], 1, DType::I64)?.reshape(shaped(time))?;
    let mirrored = ops::subtract(ops::subtract(&lengths, 1)?, &steps)?;
    let at = ops::where_(ops::less(&steps, &lengths)?, mirrored, &steps)?;
    ops::take_along_axis(x, &at.broadcast_to(x.shape())?, time)
}

fn one_hot(x: &Inputs, axis: i64) -> Result<Tensor> {
    let (at, depth, values) = (x.get(0)?, int_of(x.get(1)?)?, x.get(2)?);
    let depth = size("OneHot", "depth", depth)? as i64;
    let at = at.astype(DType::I64)?;
    let at = ops::where_(ops::less(&at, 0)?, ops::add(&at, depth)?, &at)?.expand_dims(axis)?;
    let axis = layout::axis("OneHot", axis as isize, at.rank())?;
    let classes: Shape = (0..at.rank())
        .map(|k| if k == axis { depth as usize } else { 1 })
        .collect();
    let classes = ops::arange(0, depth, 1, DType::I64)?.reshape(classes)?;
    if values.shape() != [2] {
        return Err(Error::shape("OneHot", "values must be two numbers"));
    }
    let (off, on) = (values.select(0, 0)?, values.select(0, 1)?);
    ops::where_(ops::equal(&at, &classes)?, &on, &off)
}

/// The input itself, unless it is told to train.
fn dropout(node: &Node, seed: i64) -> Result<Call> {
    let mask = node.wants(1);
    many(move |x| {
        let training = x
            .maybe(2)
            .map_or(Ok(false), |t| t.reshape(())?.item::<bool>())?;
        let ratio = x.maybe(1).map_or(Ok(0.5), |t| {
            t.reshape(())?.astype(DType::F64)?.item::<f64>()
        })?;
        let x = x.take_tensor(0)?;
        let shape = Shape::from_slice(x.shape());
        if !training || ratio == 0.0 {
            let mut y = Outputs::from_buf([x]);
            if mask {
                y.push(ops::full(&shape[..], true, DType::Bool)?);
            }
            return Ok(y);
        }
        let kept = crate::nn::dropout(
            &Tensor::full(&shape[..], 1.0, DType::F32)?,
            ratio,
            seed as u64,
        )?;
        let kept = ops::not_equal(kept, 0)?;
        let scaled = ops::multiply(x, 1.0 / (1.0 - ratio))?;
        Ok(Outputs::from_vec(alloc::vec![
            ops::where_(&kept, scaled, 0.0)?,
            kept
        ]))
    })
}
