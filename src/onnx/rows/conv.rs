//! Convolutions.

use super::super::call::{Call, Inputs, Node, one};
use super::windows::{AUTO_PAD, AutoPad, DILATIONS, KERNEL, PADS, STRIDES, Windows};
use super::{Attribute, Kind, Row, int, make, maybe};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{Shape, SmallVec};
use crate::nn::{self, Activation, Conv, ConvTranspose, DeformConv, Padding};
use crate::ops;
#[cfg(feature = "quant")]
use crate::quant::{self, Levels, QTensor};
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
    make("Conv", 1, 2..=3, CONV, |node| convolution(node, None)),
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
];

/// The call of a convolution that an activation follows, and the sum with a fourth operand.
pub fn convolution(node: &Node, activation: Option<Activation>) -> Result<Call> {
    let conv = Convolution::new(node)?;
    one(move |x| {
        let (image, weight) = (x.get(0)?, x.get(1)?);
        let Some(residual) = x.maybe(3) else {
            return conv.of(image, weight, [x.maybe(2), None], activation);
        };
        // that is the convolution's own if it has the result's shape
        if residual.dtype() == image.dtype() && residual.rank() == image.rank() {
            let all = [x.maybe(2), Some(residual)];
            match conv.of(image, weight, all, activation) {
                Err(Error::Shape { .. }) => {}
                result => return result,
            }
        }
        ops::add(
            conv.of(image, weight, [x.maybe(2), None], activation)?,
            residual,
        )
    })
}

/// A convolution of images of bytes with one step, whose result may be quantised.
#[cfg(feature = "quant")]
pub fn convolution_of_bytes(
    node: &Node,
    weight: QTensor,
    bias: Option<Tensor>,
    activation: Option<Activation>,
    output: Option<quant::Output>,
) -> Result<impl Fn(&Tensor, f32, i32) -> Result<Tensor> + Send + Sync + 'static + use<>> {
    let conv = Convolution::new(node)?;
    Ok(move |x: &Tensor, scale: f32, zero: i32| {
        let (_, options) = conv.options(x, weight.values(), bias.as_ref())?;
        let options = Conv {
            activation,
            ..options
        };
        let levels = if x.dtype() == DType::I8 {
            Levels::I8
        } else {
            Levels::U8
        };
        let step = |t: Tensor| t.reshape([1; 4]);
        let scale = step(Tensor::scalar(f64::from(scale), DType::F32)?)?;
        let zero = step(Tensor::scalar(i64::from(zero), x.dtype())?)?;
        let x = QTensor::from_parts(x.contiguous()?, scale, Some(zero), levels, x.shape())?;
        quant::conv2d_of_bytes(&x, &weight, &options, output)
    })
}

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
    fn of(
        &self,
        x: &Tensor,
        weight: &Tensor,
        [bias, residual]: [Option<&Tensor>; 2],
        activation: Option<Activation>,
    ) -> Result<Tensor> {
        let (rank, options) = self.options(x, weight, bias)?;
        let options = Conv {
            activation,
            residual,
            ..options
        };
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
        self.of(&centred(x, x_zero)?, &centred(w, w_zero)?, [None; 2], None)
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
                // what is asked for beyond the whole result lies behind it
                _ if asked.is_some() => total.max(0) - total.max(0) / 2,
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
