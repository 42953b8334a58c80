//! The windows that follow from the options of a pool.

use super::super::spatial::{PerAxis, option};
use crate::error::{Error, Result};
use crate::fallible;
use crate::kernel::conv::Three;
use crate::kernel::pool::{Steady, Windows};
use alloc::vec::Vec;
use core::ops::Range;

/// The options common to all pools.
pub(super) struct Options<'a> {
    pub kernel_size: &'a PerAxis,
    pub stride: Option<&'a PerAxis>,
    pub padding: &'a PerAxis,
    pub dilation: &'a PerAxis,
    pub ceil_mode: bool,
}

/// The options as numbers for depth, height and width.
pub(super) struct WindowNumbers {
    pub kernel: Three,
    pub stride: Three,
    pub padding: Three,
    pub dilation: Three,
}

impl Options<'_> {
    /// Errors if an option doesn't have one number for each axis, one is too small, or the padding
    /// is more than half a window.
    pub fn numbers(&self, op: &'static str, rank: usize) -> Result<WindowNumbers> {
        let kernel = option(op, "kernel_size", self.kernel_size, rank, 1)?;
        let stride = match self.stride {
            Some(stride) => option(op, "stride", stride, rank, 1)?,
            None => kernel,
        };
        let padding = option(op, "padding", self.padding, rank, 0)?;
        let dilation = option(op, "dilation", self.dilation, rank, 1)?;
        for k in 0..3 {
            let seen = (kernel[k] - 1)
                .saturating_mul(dilation[k])
                .saturating_add(1);
            if padding[k] > seen / 2 {
                let message = message!(
                    "padding is {}, more than half of the {seen} elements that the kernel spans",
                    padding[k]
                );
                return Err(Error::value(op, message));
            }
        }
        Ok(WindowNumbers {
            kernel,
            stride,
            padding,
            dilation,
        })
    }
    /// The windows on images of `sizes`, and their number along each axis.
    ///
    /// Errors also if a window is larger than the padded image; with `ceil_mode`, if it is larger by
    /// a stride.
    pub fn windows(
        &self,
        op: &'static str,
        rank: usize,
        sizes: Three,
    ) -> Result<([Windows; 3], Three)> {
        let n = self.numbers(op, rank)?;
        let mut output_size = [1; 3];
        for k in 3 - rank..3 {
            let large = || {
                let message = message!("kernel_size, stride, padding or dilation is too large");
                Error::value(op, message)
            };
            let seen = (n.kernel[k] - 1)
                .checked_mul(n.dilation[k])
                .and_then(|n| n.checked_add(1));
            let padded = n.padding[k]
                .checked_mul(2)
                .and_then(|p| p.checked_add(sizes[k]));
            let (seen, padded) = (seen.ok_or_else(large)?, padded.ok_or_else(large)?);
            // how far the last window may reach beyond the padded image
            let beyond = if self.ceil_mode { n.stride[k] - 1 } else { 0 };
            let reach = padded.checked_add(beyond).ok_or_else(large)?;
            let Some(free) = reach.checked_sub(seen) else {
                let message = message!(
                    "the kernel spans {seen} elements of {padded}, padding included, along spatial axis {} of {:?}",
                    k + rank - 3,
                    &sizes[3 - rank..]
                );
                return Err(Error::shape(op, message));
            };
            let last = free / n.stride[k];
            // a window must not begin in the padding behind the image
            let behind = self.ceil_mode && last * n.stride[k] >= sizes[k] + n.padding[k];
            output_size[k] = last + !behind as usize;
        }
        let windows = |k: usize| {
            let steady = Steady {
                kernel: n.kernel[k],
                stride: n.stride[k],
                dilation: n.dilation[k],
                padding: n.padding[k],
            };
            within(steady, sizes[k], output_size[k])
        };
        Ok(([windows(0)?, windows(1)?, windows(2)?], output_size))
    }
}

/// The windows along an axis of `size`. Work and scratch grow with the span of steady ones, so those
/// of more than twice the image are listed, by what they see of it.
fn within(steady: Steady, size: usize, output_size: usize) -> Result<Windows> {
    let windows = Windows::Steady(steady);
    if (steady.kernel - 1) * steady.dilation / 2 < size.max(1) {
        return Ok(windows);
    }
    let seen = |output: usize| {
        let taps = windows.taps(output, size);
        Ok(match taps.count {
            0 => 0..0,
            n => taps.first..taps.first + (n - 1) * taps.step + 1,
        })
    };
    let all = fallible::collect((0..output_size).map(seen))?;
    Ok(Windows::Listed(all, steady.dilation))
}

/// For each element of an axis of `size`, the range of windows that contain it. These are
/// consecutive, provided windows have all elements between their ends.
pub(in crate::nn) fn seen_by(
    windows: &Windows,
    size: usize,
    output_size: usize,
) -> Result<Vec<Range<usize>>> {
    let ends = |output: usize| {
        let taps = windows.taps(output, size);
        (taps.first, taps.first + taps.count)
    };
    let (mut first, mut end) = (0, 0);
    fallible::collect((0..size).map(|element| {
        while first < output_size && ends(first).1 <= element {
            first += 1;
        }
        while end < output_size && ends(end).0 <= element {
            end += 1;
        }
        Ok(first..end.max(first))
    }))
}
