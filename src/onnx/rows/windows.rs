//! Windows of convolutions and pools: their attributes, and how far they reach beyond an image.

use super::super::call::Node;
use super::{Attribute, Kind, ints, required, text};
use crate::error::{Error, Result};
use crate::ops;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use alloc::vec::Vec;
use smallvec::SmallVec;

/// The attributes of convolutions, but for `group`.
pub(super) const KERNEL: Attribute = ints("kernel_shape");
pub(super) const KERNEL_REQUIRED: Attribute = required("kernel_shape", Kind::Ints);
pub(super) const AUTO_PAD: Attribute = text("auto_pad", "NOTSET");
pub(super) const PADS: Attribute = ints("pads");
pub(super) const STRIDES: Attribute = ints("strides");
pub(super) const DILATIONS: Attribute = ints("dilations");

#[derive(Clone, Copy, PartialEq)]
pub(super) enum AutoPad {
    Explicit,
    SameUpper,
    SameLower,
    Valid,
}

/// The windows of a node, whose axes may be known by the image alone.
#[derive(Clone)]
pub(super) struct Windows {
    op: &'static str,
    kernel: Option<SmallVec<[usize; 6]>>,
    strides: Option<SmallVec<[usize; 6]>>,
    dilations: Option<SmallVec<[usize; 6]>>,
    pads: Option<SmallVec<[usize; 6]>>,
    pub auto: AutoPad,
    ceil: bool,
}

/// The windows along an axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub kernel: usize,
    pub stride: usize,
    pub dilation: usize,
    pub before: usize,
    /// As the node says, or as `auto_pad` asks for.
    pub after: usize,
    /// The size of the image.
    pub size: usize,
    /// The number of windows.
    pub count: usize,
}
impl Axis {
    /// The elements from the first of a window to its last.
    pub fn reach(&self) -> usize {
        self.dilation
            .saturating_mul(self.kernel.saturating_sub(1))
            .saturating_add(1)
    }
    /// The padding after the image with which the last window ends; negative if windows leave
    /// elements out.
    pub fn tail(&self) -> isize {
        let end = (self.count.saturating_sub(1))
            .saturating_mul(self.stride)
            .saturating_add(self.reach());
        end as isize - (self.before + self.size) as isize
    }
}

impl Windows {
    pub fn new(node: &Node) -> Result<Windows> {
        use AutoPad::*;
        let has = |name: &str| node.attributes.iter().any(|(n, _)| *n == name);
        let auto = [
            ("NOTSET", Explicit),
            ("", Explicit),
            ("SAME_UPPER", SameUpper),
            ("SAME_LOWER", SameLower),
            ("VALID", Valid),
        ];
        let maybe = |name: &str| {
            if has(name) {
                node.maybe_sizes(name)
            } else {
                Ok(None)
            }
        };
        let windows = Windows {
            op: node.op,
            kernel: maybe("kernel_shape")?,
            strides: maybe("strides")?,
            dilations: maybe("dilations")?,
            pads: maybe("pads")?,
            auto: if has("auto_pad") {
                node.choice("auto_pad", &auto)?
            } else {
                Explicit
            },
            ceil: has("ceil_mode") && node.flag("ceil_mode"),
        };
        let positive = |n: &Option<SmallVec<[usize; 6]>>| n.iter().flatten().all(|n| *n > 0);
        if !(positive(&windows.kernel)
            && positive(&windows.strides)
            && positive(&windows.dilations))
        {
            return Err(node.wrong("kernel_shape, strides and dilations must be positive"));
        }
        Ok(windows)
    }
    /// The padding at both ends of each axis, if the node says it.
    pub fn pad(&self, k: usize, rank: usize) -> (usize, usize) {
        match &self.pads {
            Some(pads) if self.auto == AutoPad::Explicit => (pads[k], pads[rank + k]),
            _ => (0, 0),
        }
    }
    fn checked(&self, rank: usize, kernel: &[usize]) -> Result<()> {
        let fits =
            |n: &Option<SmallVec<[usize; 6]>>, len| n.as_ref().is_none_or(|n| n.len() == len);
        if !(fits(&self.strides, rank)
            && fits(&self.dilations, rank)
            && fits(&self.pads, 2 * rank)
            && kernel.len() == rank)
        {
            let message = message!(
                "kernel_shape, strides, dilations or pads are not for {rank} spatial axes"
            );
            return Err(Error::value(self.op, message));
        }
        Ok(())
    }
    pub fn stride(&self, k: usize) -> usize {
        self.strides.as_ref().map_or(1, |s| s[k])
    }
    pub fn dilation(&self, k: usize) -> usize {
        self.dilations.as_ref().map_or(1, |d| d[k])
    }
    /// The sizes of a kernel: the attribute's, which must be the weight's if there is one. Errors
    /// unless all attributes are for as many axes.
    pub fn kernel(&self, rank: usize, weight: Option<&[usize]>) -> Result<SmallVec<[usize; 6]>> {
        let kernel = match (&self.kernel, weight) {
            (Some(kernel), Some(weight)) if kernel[..] != *weight => {
                let message = message!(
                    "kernel_shape is {:?}, but the weight's is {weight:?}",
                    kernel.as_slice()
                );
                return Err(Error::value(self.op, message));
            }
            (_, Some(weight)) => SmallVec::from_slice(weight),
            (Some(kernel), None) => kernel.clone(),
            (None, None) => return Err(Error::value(self.op, "kernel_shape is missing")),
        };
        self.checked(rank, &kernel)?;
        Ok(kernel)
    }
    /// The windows on an image of these sizes.
    pub fn on(&self, sizes: &[usize], kernel: &[usize]) -> Result<SmallVec<[Axis; 3]>> {
        let rank = sizes.len();
        let axes = sizes.iter().enumerate().map(|(k, size)| {
            let (before, after) = self.pad(k, rank);
            let mut axis = Axis { kernel: kernel[k], stride: self.stride(k), dilation: self.dilation(k), before, after, size: *size, count: 0 };
            let reach = axis.reach();
            match self.auto {
                AutoPad::SameUpper | AutoPad::SameLower => {
                    axis.count = size.div_ceil(axis.stride);
                    let end = axis.count.saturating_sub(1).saturating_mul(axis.stride).saturating_add(reach);
                    let total = end.saturating_sub(*size);
                    axis.before = if self.auto == AutoPad::SameUpper { total / 2 } else { total.div_ceil(2) };
                    axis.after = total - axis.before;
                }
                _ => {
                    let room = size.saturating_add(before).saturating_add(after).checked_sub(reach).ok_or_else(|| {
                        let message = message!("a window of {reach} elements does not fit {size} elements with padding {before} and {after}");
                        Error::shape(self.op, message)
                    })?;
                    axis.count = room / axis.stride + 1;
                    if self.ceil {
                        axis.count = room.div_ceil(axis.stride) + 1;
                        // a window begins in the image or the padding before it
                        if (axis.count - 1) * axis.stride >= size + before {
                            axis.count -= 1;
                        }
                    }
                }
            }
            Ok(axis)
        });
        axes.collect()
    }
}

/// The image with a value around it, as windows reach: `[batch, channels, ..]`.
pub(super) fn padded(x: &Tensor, axes: &[Axis], value: Scalar) -> Result<Tensor> {
    let mut widths: Vec<(usize, usize)> = alloc::vec![(0, 0); 2];
    let mut y = x.clone();
    for (k, axis) in axes.iter().enumerate() {
        let tail = axis.tail();
        if tail < 0 {
            y = y.narrow(2 + k, 0, axis.size.saturating_sub(tail.unsigned_abs()))?;
        }
        widths.push((axis.before, tail.max(0) as usize));
    }
    match widths.iter().all(|(a, b)| a + b == 0) {
        true => Ok(y),
        false => ops::pad(&y, &widths, value),
    }
}

/// Views of windows as further axes, after the places of windows.
pub(super) fn unfolded(padded: &Tensor, axes: &[Axis]) -> Result<Tensor> {
    let mut y = padded.clone();
    for (k, axis) in axes.iter().enumerate() {
        y = y.unfold(2 + k, axis.reach(), axis.stride)?;
        y = y.slice_axis(-1, None, None, axis.dilation as i64)?;
    }
    Ok(y)
}
