//! Elements at given positions.

use super::super::call::{ints, one};
use super::{Row, function, int, make};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fallible;
use crate::layout::{self, Shape};
use crate::ops;
use crate::tensor::Tensor;
use alloc::vec::Vec;

pub(super) const ROWS: &[Row] = &[
    make("Gather", 1, 2..=2, &[int("axis", 0)], |node| {
        let axis = node.int("axis");
        match node.constant(1) {
            Some(at) if at.rank() == 0 => {
                let at = ints(at)?[0];
                one(move |x| x.get(0)?.select(axis, at))
            }
            _ => one(move |x| ops::take(x.get(0)?, x.get(1)?, axis)),
        }
    }),
    make("GatherElements", 11, 2..=2, &[int("axis", 0)], |node| {
        let axis = node.int("axis");
        one(move |x| {
            let (x, at) = (x.get(0)?, x.get(1)?);
            ops::take_along_axis(&part(x, at, axis)?, at, axis)
        })
    }),
    function("GatherND", 11, 2..=2, |x| {
        gather_nd(x.get(0)?, x.get(1)?, 0)
    }),
    make("GatherND", 12, 2..=2, &[int("batch_dims", 0)], |node| {
        let batch = node.size("batch_dims")?;
        one(move |x| gather_nd(x.get(0)?, x.get(1)?, batch))
    }),
];

/// The beginning of `x` that has the sizes of `at`, but for the axis.
pub(super) fn part(x: &Tensor, at: &Tensor, axis: i64) -> Result<Tensor> {
    const OP: &str = "GatherElements";
    let axis = layout::axis(OP, axis as isize, x.rank())?;
    if x.rank() != at.rank() {
        let operands = [
            ("data", x.shape(), x.dtype()),
            ("indices", at.shape(), at.dtype()),
        ];
        return Err(Error::shape_of(
            OP,
            "data and indices differ in rank",
            &operands,
        ));
    }
    let mut part = x.clone();
    for (k, (have, want)) in x.shape().iter().zip(at.shape()).enumerate() {
        if k != axis && have != want {
            part = part.narrow(k, 0, *want)?;
        }
    }
    Ok(part)
}

/// The rows that tuples of indices name: `at` is `[batch.., .., k]`, and the rows of `x` are those
/// of its axes after the first `batch + k`. Returns the numbers of rows, counted in a list of all.
pub(super) fn row_numbers(
    op: &'static str,
    x: &Tensor,
    at: &Tensor,
    batch: usize,
) -> Result<(Tensor, usize)> {
    let wrong = |message| {
        let operands = [
            ("data", x.shape(), x.dtype()),
            ("indices", at.shape(), at.dtype()),
        ];
        Error::shape_of(op, message, &operands)
    };
    let k = at.shape().last().copied().unwrap_or(0);
    if at.rank() <= batch || batch + k > x.rank() || at.shape()[..batch] != x.shape()[..batch] {
        return Err(wrong(message!("indices of {batch} batch axes don't fit")));
    }
    let sizes = &x.shape()[batch..batch + k];
    let examples: usize = x.shape()[..batch].iter().product();
    let each: usize = sizes.iter().product();
    let values = ints(at)?;
    let tuples: usize = at.shape()[..at.rank() - 1].iter().product();
    let per_example = tuples / examples.max(1);
    let mut rows: Vec<i64> = fallible::with_capacity(tuples)?;
    for i in 0..tuples {
        let mut row = (i / per_example.max(1)) as i64;
        for (axis, (n, size)) in values[i * k..(i + 1) * k].iter().zip(sizes).enumerate() {
            let size = *size as i64;
            let index = if *n < 0 { n + size } else { *n };
            if !(0..size).contains(&index) {
                let (index, axis, size) = (*n, batch + axis, size as usize);
                return Err(Error::Index {
                    op,
                    index,
                    axis,
                    size,
                });
            }
            row = row * size + index;
        }
        rows.push(row);
    }
    Ok((Tensor::from_vec(rows, tuples)?, examples * each))
}

fn gather_nd(x: &Tensor, at: &Tensor, batch: usize) -> Result<Tensor> {
    let (rows, count) = row_numbers("GatherND", x, at, batch)?;
    let k = at.shape()[at.rank() - 1];
    let rest = &x.shape()[batch + k..];
    let flat: Shape = [count].iter().chain(rest).copied().collect();
    let taken = ops::take(&x.reshape(flat)?, &rows.astype(DType::I64)?, 0)?;
    let shape: Shape = at.shape()[..at.rank() - 1]
        .iter()
        .chain(rest)
        .copied()
        .collect();
    taken.reshape(shape)
}
