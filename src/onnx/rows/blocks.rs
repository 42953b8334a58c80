//! Convolutions of a stream, and sums of blocks.

use super::super::call::{Call, Node, Outputs, many, one, sizes};
use super::windows::{DILATIONS, PADS, STRIDES, Windows};
use super::{Row, make, text};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::Shape;
use crate::nn::{self, Conv};
use crate::ops;
use crate::tensor::Tensor;

pub(super) const ROWS: &[Row] = &[
    make(
        "CausalConvWithState",
        27,
        2..=4,
        &[text("activation", "none")],
        causal,
    ),
    make("Col2Im", 18, 3..=3, &[DILATIONS, PADS, STRIDES], |node| {
        let windows = Windows::new(node)?;
        one(move |x| col2im(&windows, x.get(0)?, &x.ints(1)?, &x.ints(2)?))
    }),
];

/// A depthwise convolution of a signal that goes on from call to call.
fn causal(node: &Node) -> Result<Call> {
    let silu = node.choice(
        "activation",
        &[("none", false), ("silu", true), ("swish", true)],
    )?;
    many(move |x| {
        const OP: &str = "CausalConvWithState";
        let (input, weight) = (x.get(0)?, x.get(1)?);
        let (&[batch, channels, len], &[_, _, kernel]) = (input.shape(), weight.shape()) else {
            return Err(Error::shape(
                OP,
                "input and weight must have three dimensions",
            ));
        };
        let past = match x.maybe(3) {
            Some(past) => past.clone(),
            None => Tensor::zeros([batch, channels, kernel.saturating_sub(1)], input.dtype())?,
        };
        let all = ops::concat(&[&past, input], -1)?;
        let options = Conv {
            bias: x.maybe(2),
            groups: channels,
            ..Default::default()
        };
        let y = nn::conv1d(&all, weight, options)?;
        let y = if silu { ops::silu(y)? } else { y };
        let present = all.narrow(2, len, past.shape()[2])?;
        Ok(Outputs::from_vec(alloc::vec![y, present]))
    })
}

/// Sums of overlapping blocks: `[batch, channels * elements of a block, blocks]` to images.
fn col2im(windows: &Windows, x: &Tensor, image: &[i64], block: &[i64]) -> Result<Tensor> {
    const OP: &str = "Col2Im";
    let (image, block) = (
        sizes(OP, "a size", image)?,
        sizes(OP, "a block's size", block)?,
    );
    let rank = image.len();
    let kernel = windows.kernel(rank, Some(&block))?;
    let axes = windows.on(&image, &kernel)?;
    let taps: usize = kernel.iter().product();
    let blocks: usize = axes.iter().map(|a| a.count).product();
    let &[batch, rows, columns] = x.shape() else {
        return Err(Error::shape(OP, "the input must have three dimensions"));
    };
    if taps == 0 || !rows.is_multiple_of(taps) || columns != blocks {
        let message = message!("{blocks} blocks of {taps} elements");
        return Err(Error::shape_of(
            OP,
            message,
            &[("input", x.shape(), x.dtype())],
        ));
    }
    // the place of each element in the padded image, an axis at a time
    let mut at = Tensor::zeros((), DType::I64)?;
    let mut padded: Shape = Shape::new();
    for (k, axis) in axes.iter().enumerate() {
        let end = (axis.count.max(1) - 1) * axis.stride + axis.reach();
        let size = end.max(axis.size + axis.before + axis.after);
        padded.push(size);
        let spread = |n: usize, place: usize| -> Shape {
            (0..2 * rank)
                .map(|i| if i == place { n } else { 1 })
                .collect()
        };
        let range = |n: usize, step: usize, place| {
            ops::multiply(ops::arange(0, n, 1, DType::I64)?, step as i64)?.reshape(spread(n, place))
        };
        let along = ops::add(
            range(axis.kernel, axis.dilation, k)?,
            &range(axis.count, axis.stride, rank + k)?,
        )?;
        at = ops::add(ops::multiply(at, size as i64)?, &along)?;
    }
    let whole: usize = padded.iter().product();
    let channels = rows / taps;
    let values = x.reshape([batch * channels, taps * blocks])?;
    let zeros = Tensor::zeros([batch * channels, whole], x.dtype())?;
    let y = ops::index_add(&zeros, &at.reshape(-1)?, &values, 1)?;
    let shape: Shape = [batch, channels].into_iter().chain(padded).collect();
    let mut y = y.reshape(shape)?;
    for (k, axis) in axes.iter().enumerate() {
        y = y.narrow(2 + k, axis.before, axis.size)?;
    }
    Ok(y)
}
