//! Convolutions.

use super::super::call::{Call, Inputs, Node, Outputs, many, one, sizes};
use super::windows::{AUTO_PAD, AutoPad, DILATIONS, KERNEL, PADS, STRIDES, Windows};
use super::{Attribute, Kind, Row, int, make, maybe, text};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{Shape, SmallVec};
use crate::nn::{self, Conv, ConvTranspose, DeformConv, Padding};
use crate::ops;
use crate::tensor::Tensor;
use alloc::vec::Vec;

const GROUP: Attribute = int("group", 1);
const CONV: &[Attribute] = &[AUTO_PAD, DILATIONS, GROUP, KERNEL, PADS, STRIDES];
const TRANSPOSED: &[Attribute] = &[
    AUTO_PAD,
    DILATIONS,
    GROUP,
    KERNEL,
    PADS,
    STRIDES,
    maybe("output_padding", Kind::Ints),
    maybe("output_shape", Kind::Ints),
];

pub(super) const ROWS: &[Row] = &[
    make("Conv", 1, 2..=3, CONV, |node| {
        let conv = Convolution::new(node)?;
        one(move |x| conv.of(x.get(0)?, x.get(1)?, x.maybe(2)))
    }),
    make("ConvTranspose", 1, 2..=3, TRANSPOSED, transposed),
    make(
        "DeformConv",
        19,
        3..=5,
        &[
            DILATIONS,
            GROUP,
            KERNEL,
            int("offset_group", 1),
            PADS,
            STRIDES,
        ],
        |node| {
            let conv = Convolution::new(node)?;
            one(move |x| conv.deformed(x))
        },
    ),
    make("ConvInteger", 10, 2..=4, CONV, |node| {
        let conv = Convolution::new(node)?;
        one(move |x| conv.integers(x.get(0)?, x.maybe(2), x.get(1)?, x.maybe(3)))
    }),
    make("QLinearConv", 10, 8..=9, CONV, |node| {
        let conv = Convolution::new(node)?;
        one(move |x| conv.quantized(x))
    }),
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

struct Convolution {
    op: &'static str,
    windows: Windows,
    groups: usize,
}

impl Convolution {
    fn new(node: &Node) -> Result<Convolution> {
        Ok(Convolution {
            op: node.op,
            windows: Windows::new(node)?,
            groups: node.size("group")?,
        })
    }
    fn options<'a>(
        &self,
        x: &Tensor,
        weight: &Tensor,
        bias: Option<&'a Tensor>,
    ) -> Result<(usize, Conv<'a>)> {
        let rank = spatial(self.op, x, weight)?;
        let kernel = self.windows.kernel(rank, Some(&weight.shape()[2..]))?;
        let axes = self.windows.on(&x.shape()[2..], &kernel)?;
        let list = |f: fn(&super::windows::Axis) -> usize| -> SmallVec<[usize; 3]> {
            axes.iter().map(f).collect()
        };
        let options = Conv {
            bias,
            stride: list(|a| a.stride)[..].into(),
            padding: Padding::Pairs(axes.iter().map(|a| (a.before, a.after)).collect()),
            dilation: list(|a| a.dilation)[..].into(),
            groups: self.groups,
            ..Default::default()
        };
        Ok((rank, options))
    }
    fn of(&self, x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
        let (rank, options) = self.options(x, weight, bias)?;
        match rank {
            1 => nn::conv1d(x, weight, options),
            2 => nn::conv2d(x, weight, options),
            _ => nn::conv3d(x, weight, options),
        }
    }
    fn deformed(&self, x: &Inputs) -> Result<Tensor> {
        let (weight, offset) = (x.get(1)?, x.get(2)?);
        let (rank, options) = self.options(x.get(0)?, weight, None)?;
        if rank != 2 {
            return Err(Error::shape(
                "DeformConv",
                message!("{rank} spatial axes: 2 are supported"),
            ));
        }
        let options = DeformConv {
            bias: x.maybe(3),
            stride: options.stride,
            padding: options.padding,
            dilation: options.dilation,
            mask: x.maybe(4),
        };
        nn::deform_conv2d(x.get(0)?, offset, weight, options)
    }
    /// Exact sums of products in int32.
    fn integers(
        &self,
        x: &Tensor,
        x_zero: Option<&Tensor>,
        w: &Tensor,
        w_zero: Option<&Tensor>,
    ) -> Result<Tensor> {
        // a zero point is a number, or one for each output channel
        let centred = |t: &Tensor, zero: Option<&Tensor>| {
            let t32 = t.astype(DType::I32)?;
            let Some(zero) = zero else { return Ok(t32) };
            let zero = zero.astype(DType::I32)?;
            match zero.len() {
                1 => ops::subtract(t32, &zero.reshape(())?),
                n => {
                    let shape: Shape = [n]
                        .into_iter()
                        .chain(t.shape().iter().skip(1).map(|_| 1))
                        .collect();
                    ops::subtract(t32, &zero.reshape(shape)?)
                }
            }
        };
        self.of(&centred(x, x_zero)?, &centred(w, w_zero)?, None)
    }
    fn quantized(&self, x: &Inputs) -> Result<Tensor> {
        let (input, weight) = (x.get(0)?, x.get(3)?);
        let sums = self.integers(input, x.maybe(2), weight, x.maybe(5))?;
        let channels = |t: &Tensor| {
            let shape: Shape = [1, t.len()]
                .into_iter()
                .chain(sums.shape().iter().skip(2).map(|_| 1))
                .collect();
            match t.len() {
                1 => t.reshape(()),
                _ => t.reshape(shape),
            }
        };
        let sums = match x.maybe(8) {
            Some(bias) => ops::add(&sums, &channels(bias)?)?,
            None => sums.clone(),
        };
        let scale = ops::divide(ops::multiply(x.get(1)?, &channels(x.get(4)?)?)?, x.get(6)?)?;
        let y = ops::multiply(sums.astype(DType::F32)?, &scale)?;
        super::quant::rounded(y, x.get(7)?)
    }
}

/// The number of spatial axes.
fn spatial(op: &'static str, x: &Tensor, weight: &Tensor) -> Result<usize> {
    match x.rank() {
        3..=5 if weight.rank() == x.rank() => Ok(x.rank() - 2),
        _ => {
            let operands = [
                ("X", x.shape(), x.dtype()),
                ("W", weight.shape(), weight.dtype()),
            ];
            let message = "X and W must be [batch, channels, ..] and [out, channels, ..] with one to three spatial axes";
            Err(Error::shape_of(op, message, &operands))
        }
    }
}

fn transposed(node: &Node) -> Result<Call> {
    let windows = Windows::new(node)?;
    let groups = node.size("group")?;
    let extra = node.maybe_sizes("output_padding")?;
    let shape = node.maybe_sizes("output_shape")?;
    one(move |x| {
        const OP: &str = "ConvTranspose";
        let (image, weight, bias) = (x.get(0)?, x.get(1)?, x.maybe(2));
        let rank = spatial(OP, image, weight)?;
        let kernel = windows.kernel(rank, Some(&weight.shape()[2..]))?;
        let wrong = || {
            Error::value(
                OP,
                "output_padding or output_shape is not for the spatial axes",
            )
        };
        if extra.as_ref().is_some_and(|n| n.len() != rank)
            || shape
                .as_ref()
                .is_some_and(|n| n.len() != rank && n.len() != rank + 2)
        {
            return Err(wrong());
        }
        // where the result lies in that without padding: its first element, and its size
        let mut parts: SmallVec<[(isize, usize); 3]> = SmallVec::new();
        for k in 0..rank {
            let stride = windows.stride(k);
            let reach = windows
                .dilation(k)
                .saturating_mul(kernel[k].saturating_sub(1))
                .saturating_add(1);
            let extra = extra.as_ref().map_or(0, |n| n[k]);
            let whole = image.shape()[2 + k]
                .saturating_sub(1)
                .saturating_mul(stride)
                .saturating_add(reach)
                .saturating_add(extra);
            let asked = shape.as_ref().map(|n| n[n.len() - rank + k]);
            let (before, after) = windows.pad(k, rank);
            let explicit = whole.checked_sub(before + after).ok_or_else(wrong)?;
            let size = match (asked, windows.auto) {
                (Some(size), _) => size,
                (None, AutoPad::SameUpper | AutoPad::SameLower) => {
                    image.shape()[2 + k].saturating_mul(stride)
                }
                _ => explicit,
            };
            let total = whole as isize - size as isize;
            let first = match windows.auto {
                AutoPad::SameUpper => total.div_euclid(2),
                AutoPad::SameLower => total - total.div_euclid(2),
                _ if asked.is_some() => total - total.div_euclid(2),
                _ => before as isize,
            };
            parts.push((first, size));
        }
        let list =
            |f: &dyn Fn(usize) -> usize| -> SmallVec<[usize; 3]> { (0..rank).map(f).collect() };
        let options = ConvTranspose {
            stride: list(&|k| windows.stride(k))[..].into(),
            dilation: list(&|k| windows.dilation(k))[..].into(),
            groups,
            ..Default::default()
        };
        let f = match rank {
            1 => |x: &Tensor, w: &Tensor, o: ConvTranspose| nn::conv_transpose1d(x, w, o),
            2 => |x: &Tensor, w: &Tensor, o: ConvTranspose| nn::conv_transpose2d(x, w, o),
            _ => |x: &Tensor, w: &Tensor, o: ConvTranspose| nn::conv_transpose3d(x, w, o),
        };
        // the common case: as much padding on both sides
        let even = (0..rank).all(|k| {
            let (before, after) = windows.pad(k, rank);
            before == after
        });
        if even
            && shape.is_none()
            && extra.iter().flatten().all(|n| *n == 0)
            && matches!(windows.auto, AutoPad::Explicit | AutoPad::Valid)
        {
            let options = ConvTranspose {
                bias,
                padding: list(&|k| windows.pad(k, rank).0)[..].into(),
                ..options
            };
            return f(image, weight, options);
        }
        let mut y = f(image, weight, options)?;
        for (k, (first, size)) in parts.into_iter().enumerate() {
            let have = y.shape()[2 + k];
            let start = first.max(0) as usize;
            let kept = have
                .saturating_sub(start)
                .min((size as isize + first.min(0)).max(0) as usize);
            y = y.narrow(2 + k, start.min(have), kept)?;
            let before = first.min(0).unsigned_abs().min(size);
            let mut widths: Vec<(usize, usize)> = alloc::vec![(0, 0); y.rank()];
            widths[2 + k] = (before, size - before - kept);
            if widths[2 + k] != (0, 0) {
                y = ops::pad(&y, &widths, 0)?;
            }
        }
        let Some(bias) = bias else { return Ok(y) };
        let shape: Shape = [1, bias.len()]
            .into_iter()
            .chain((0..rank).map(|_| 1))
            .collect();
        ops::add(y, &bias.reshape(shape)?)
    })
}

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
