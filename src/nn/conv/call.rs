//! The sizes of a convolution, from the operands' shapes and the options.

use super::{Conv, Padding};
use crate::dtype::Element;
use crate::error::{Error, NamedOperand, Result};
use crate::kernel::conv::{Geometry, Image, Images, Three};
use crate::layout::Shape;
use crate::nn::spatial::{option, three};
use crate::tensor::Tensor;
use core::ops::Range;
use smallvec::SmallVec;

/// The sizes of a convolution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConvCall {
    pub rank: usize,
    pub batched: bool,
    pub batch: usize,
    /// In all groups.
    pub in_channels: usize,
    pub out_channels: usize,
    pub groups: usize,
    pub image: Three,
    pub geometry: Geometry,
}
impl ConvCall {
    /// The sizes for operands of these shapes, `x` and `weight`. Errors if they or the options
    /// don't match.
    pub fn new(
        op: &'static str,
        rank: usize,
        operands: &[NamedOperand; 2],
        options: &Conv,
    ) -> Result<ConvCall> {
        let (x, weight) = (operands[0].1, operands[1].1);
        let bad = |message| Err(Error::shape_of(op, message, operands));
        if weight.len() != rank + 2 || ![rank + 1, rank + 2].contains(&x.len()) {
            return bad(message!(
                "x has {} dimensions or a batch of those, and weight {}",
                rank + 1,
                rank + 2
            ));
        }
        let batched = x.len() == rank + 2;
        let batch = if batched { x[0] } else { 1 };
        let (in_channels, out_channels) = (x[x.len() - rank - 1], weight[0]);
        let groups = options.groups;
        if groups == 0
            || !in_channels.is_multiple_of(groups)
            || !out_channels.is_multiple_of(groups)
        {
            return bad(message!(
                "groups is {groups}, which must divide in_channels = {in_channels} and out_channels = {out_channels}"
            ));
        }
        if weight[1] != in_channels / groups {
            return bad(message!(
                "weight.shape[1] is {}, expected in_channels / groups = {}",
                weight[1],
                in_channels / groups
            ));
        }
        let image = three(&x[x.len() - rank..], rank, 1);
        let kernel = three(&weight[2..], rank, 1);
        if kernel.contains(&0) {
            return bad(message!("a kernel of size 0"));
        }
        let stride = option(op, "stride", &options.stride, rank, 1)?;
        let dilation = option(op, "dilation", &options.dilation, rank, 1)?;
        let (before, after) = padding(op, rank, kernel, stride, dilation, &options.padding)?;
        let mut output_size = [0; 3];
        for k in 0..3 {
            let span = (kernel[k] - 1)
                .checked_mul(dilation[k])
                .and_then(|n| n.checked_add(1));
            let padded = image[k]
                .checked_add(before[k])
                .and_then(|n| n.checked_add(after[k]))
                .filter(|n| *n <= isize::MAX as usize);
            let (Some(span), Some(padded)) = (span, padded) else {
                return bad(message!("padding or dilation is too large"));
            };
            if span > padded {
                return bad(message!(
                    "the kernel spans {span} elements of {padded}, padding included, along axis {}",
                    x.len() + k - 3
                ));
            }
            output_size[k] = (padded - span) / stride[k] + 1;
        }
        Ok(ConvCall {
            rank,
            batched,
            batch,
            in_channels,
            out_channels,
            groups,
            image,
            geometry: Geometry {
                kernel,
                stride,
                dilation,
                padding: before.map(|n| n as isize),
                output_size,
            },
        })
    }
    /// How many of the last axes have one element in the image, the kernel and the result, if there
    /// is one before them that has more.
    pub fn trailing(&self) -> usize {
        let g = &self.geometry;
        let is_single = |k: &usize| {
            [self.image[*k], g.kernel[*k], g.output_size[*k]] == [1; 3] && g.padding[*k] == 0
        };
        let count = (0..3).rev().take_while(is_single).count();
        if count < self.rank { count } else { 0 }
    }
    /// The options without those of the last axes.
    pub fn without<'a>(&self, last: usize, options: &Conv<'a>) -> Conv<'a> {
        let (g, axes) = (&self.geometry, 3 - self.rank..3 - last);
        // as many elements after the image as positions reach
        let pair = |k: usize| {
            let span = (g.kernel[k] - 1) * g.dilation[k] + 1;
            let seen = (g.output_size[k].max(1) - 1) * g.stride[k] + span;
            let before = g.padding[k].max(0) as usize;
            (before, seen.saturating_sub(before + self.image[k]))
        };
        Conv {
            stride: g.stride[axes.clone()].into(),
            dilation: g.dilation[axes.clone()].into(),
            padding: Padding::Pairs(axes.map(pair).collect()),
            ..options.clone()
        }
    }
    /// An operand with a batch axis.
    pub fn with_batch(&self, x: &Tensor) -> Result<Tensor> {
        if self.batched {
            Ok(x.clone())
        } else {
            x.expand_dims(0)
        }
    }
    /// The shape of the result.
    pub fn shape(&self) -> Shape {
        let all = [self.batch, self.out_channels];
        let lead = if self.batched { &all[..] } else { &all[1..] };
        let output_size = &self.geometry.output_size[3 - self.rank..];
        lead.iter().chain(output_size).copied().collect()
    }
    /// The image as it is read: if channels are convolved one by one, each must have contiguous
    /// elements.
    pub fn aligned(&self, x: Tensor) -> Result<Tensor> {
        if self.in_channels_per_group() == 1 {
            x.contiguous()
        } else {
            Ok(x)
        }
    }
    /// The channels of image `n` of `x`, `[batch, channels, ..]`, that a group reads.
    pub fn image_of<'a, T: Element>(&self, x: &'a Tensor, n: usize, group: usize) -> Image<'a, T> {
        let channels = self.in_channels_per_group();
        let whole = self.whole_of(x, n);
        whole.channels_of(group * channels..(group + 1) * channels)
    }
    /// The same of several images.
    pub fn images_of<'a, T: Element>(
        &self,
        x: &'a Tensor,
        some: Range<usize>,
        group: usize,
    ) -> Images<'a, T> {
        assert!(some.start <= some.end && some.end <= self.batch);
        let first = self.image_of(x, some.start, group);
        // SAFETY: IMAGE2: images of `x`, as in `whole_of`.
        unsafe { Images::new(first, x.strides()[0], some.len()) }
    }
    /// Image `n` of `x`.
    pub fn whole_of<'a, T: Element>(&self, x: &'a Tensor, n: usize) -> Image<'a, T> {
        let s = x.strides();
        let mut strides = [0; 3];
        strides[3 - self.rank..].copy_from_slice(&s[2..]);
        let at = (x.as_ptr() as *const T).wrapping_offset(n as isize * s[0]);
        // SAFETY: IMAGE1: an image of `x` (TENSOR1, TENSOR2), initialised (STORAGE1).
        unsafe { Image::new(at, (self.in_channels, s[1]), self.image, strides) }
    }
    /// The channels that a group reads.
    pub fn in_channels_per_group(&self) -> usize {
        self.in_channels / self.groups
    }
    /// The channels of the result that a group produces.
    pub fn out_channels_per_group(&self) -> usize {
        self.out_channels / self.groups
    }
}

/// Zeros before and after the image, along each axis.
fn padding(
    op: &'static str,
    rank: usize,
    kernel: Three,
    stride: Three,
    dilation: Three,
    padding: &Padding,
) -> Result<(Three, Three)> {
    match padding {
        Padding::Valid => Ok(([0; 3], [0; 3])),
        Padding::Both(n) => {
            let n = option(op, "padding", n, rank, 0)?;
            Ok((n, n))
        }
        Padding::Pairs(n) => {
            if n.len() != rank {
                let message = message!("padding has {} pairs: give {rank}", n.len());
                return Err(Error::value(op, message));
            }
            let of = |f: fn(&(usize, usize)) -> usize| {
                three(&n.iter().map(f).collect::<SmallVec<[usize; 3]>>(), rank, 0)
            };
            // for one axis, `three` takes the number as that axis's
            Ok((of(|p| p.0), of(|p| p.1)))
        }
        Padding::Same => {
            if stride != [1; 3] {
                let message = message!("padding \"same\" needs a stride of 1, not {stride:?}");
                return Err(Error::value(op, message));
            }
            let total = |k: usize| (kernel[k] - 1).saturating_mul(dilation[k]);
            let before = [0, 1, 2].map(|k| total(k) / 2);
            Ok((before, [0, 1, 2].map(|k| total(k) - before[k])))
        }
    }
}
