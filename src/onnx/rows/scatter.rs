//! Elements put at given positions.

use super::super::call::{Call, Node, ints, one};
use super::gather::{part, row_numbers};
use super::{Row, function, int, make, text};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{self, Shape};
use crate::ops::{self, Index, ScatterMode};
use crate::tensor::Tensor;
use alloc::vec::Vec;

const MODES: &[(&str, ScatterMode)] = &[
    ("none", ScatterMode::Set),
    ("add", ScatterMode::Add),
    ("mul", ScatterMode::Multiply),
    ("max", ScatterMode::Max),
    ("min", ScatterMode::Min),
];

pub(super) const ROWS: &[Row] = &[
    make("Scatter", 9, 3..=3, &[int("axis", 0)], |node| {
        elements(node, ScatterMode::Set)
    }),
    make("ScatterElements", 11, 3..=3, &[int("axis", 0)], |node| {
        elements(node, ScatterMode::Set)
    }),
    make(
        "ScatterElements",
        16,
        3..=3,
        &[int("axis", 0), text("reduction", "none")],
        |node| elements(node, node.choice("reduction", MODES)?),
    ),
    function("ScatterND", 11, 3..=3, |x| {
        scatter_nd(x.get(0)?, x.get(1)?, x.get(2)?, ScatterMode::Set)
    }),
    make(
        "ScatterND",
        16,
        3..=3,
        &[text("reduction", "none")],
        |node| {
            let mode = node.choice("reduction", MODES)?;
            one(move |x| scatter_nd(x.get(0)?, x.get(1)?, x.get(2)?, mode))
        },
    ),
    make(
        "TensorScatter",
        24,
        2..=3,
        &[int("axis", -2), text("mode", "linear")],
        |node| {
            let axis = node.int("axis");
            let circular = node.choice("mode", &[("linear", false), ("circular", true)])?;
            one(move |x| tensor_scatter(x.get(0)?, x.get(1)?, x.maybe(2), axis, circular))
        },
    ),
];

fn elements(node: &Node, mode: ScatterMode) -> Result<Call> {
    let axis = node.int("axis");
    one(move |x| {
        let (data, at, updates) = (x.get(0)?, x.get(1)?, x.get(2)?);
        let part = part(data, at, axis)?;
        if part.shape() == data.shape() {
            return scatter(data, at, updates, axis, mode);
        }
        let changed = scatter(&part, at, updates, axis, mode)?;
        let place: Vec<Index> = changed
            .shape()
            .iter()
            .map(|n| Index::Slice {
                start: Some(0),
                stop: Some(*n as i64),
                step: 1,
            })
            .collect();
        let mut y = data.clone();
        ops::index::set(&mut y, &place, &changed)?;
        Ok(y)
    })
}

/// `ops::scatter`; sums of bools are their disjunction, products their conjunction.
fn scatter(
    x: &Tensor,
    at: &Tensor,
    updates: &Tensor,
    axis: i64,
    mode: ScatterMode,
) -> Result<Tensor> {
    if !x.dtype().is_bool() || mode == ScatterMode::Set {
        return ops::scatter(x, at, updates, axis, mode);
    }
    let mode = match mode {
        ScatterMode::Add | ScatterMode::Max => ScatterMode::Max,
        _ => ScatterMode::Min,
    };
    let (x, updates) = (x.astype(DType::U8)?, updates.astype(DType::U8)?);
    ops::scatter(&x, at, &updates, axis, mode)?.astype(DType::Bool)
}

fn scatter_nd(x: &Tensor, at: &Tensor, updates: &Tensor, mode: ScatterMode) -> Result<Tensor> {
    let (rows, count) = row_numbers("ScatterND", x, at, 0)?;
    let k = at.shape()[at.rank() - 1];
    let rest: usize = x.shape()[k..].iter().product();
    let n = rows.len();
    let flat = x.reshape([count, rest])?;
    let rows = rows.reshape([n, 1])?.broadcast_to([n, rest])?;
    scatter(&flat, &rows, &updates.reshape([n, rest])?, 0, mode)?.reshape(x.shape())
}

/// `update` at positions of `axis` that begin at an index for each example, and with `circular`
/// wrap around.
fn tensor_scatter(
    cache: &Tensor,
    update: &Tensor,
    first: Option<&Tensor>,
    axis: i64,
    circular: bool,
) -> Result<Tensor> {
    const OP: &str = "TensorScatter";
    let axis = layout::axis(OP, axis as isize, cache.rank())?;
    if update.rank() != cache.rank() || axis == 0 {
        return Err(Error::shape(
            OP,
            "the update must have the cache's rank, and axis not be the batch",
        ));
    }
    let (batch, len, size) = (
        cache.shape()[0],
        update.shape()[axis],
        cache.shape()[axis] as i64,
    );
    let first = match first {
        Some(first) => ints(first)?,
        None => alloc::vec![0; batch],
    };
    if first.len() != batch {
        return Err(Error::shape(
            OP,
            "write_indices must be one for each example",
        ));
    }
    let first = Tensor::from_vec(first, batch)?;
    let spread = |n: usize, k: usize| -> Shape {
        (0..cache.rank())
            .map(|i| if i == k { n } else { 1 })
            .collect()
    };
    let steps = ops::arange(0, len, 1, DType::I64)?.reshape(spread(len, axis))?;
    let mut at = ops::add(first.reshape(spread(batch, 0))?, &steps)?;
    if circular && size > 0 {
        at = ops::remainder(at, size)?;
    }
    ops::scatter(
        cache,
        &at.broadcast_to(update.shape())?,
        update,
        axis,
        ScatterMode::Set,
    )
}
