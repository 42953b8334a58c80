//! Elements moved between channels and positions: views and a single copy.

use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// Moves channels to positions: `[.., channels * r * r, height, width]` becomes
/// `[.., channels, height * r, width * r]`, with `r = upscale_factor`. Any dtype.
///
/// Shi et al., Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel
/// Convolutional Neural Network, 2016.
///
/// Errors if there are fewer than three dimensions, or the number of channels is not a multiple of
/// r * r.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1, 2, 3, 4], [4, 1, 1])?;
/// assert_eq!(nn::pixel_shuffle(&x, 2)?.to_vec::<i32>()?, [1, 2, 3, 4]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn pixel_shuffle(x: &Tensor, upscale_factor: usize) -> Result<Tensor> {
    const OP: &str = "pixel_shuffle";
    let r = upscale_factor;
    let square = square(OP, "upscale_factor", x, r)?;
    let (lead, [channels, height, width]) = split(OP, x)?;
    if !channels.is_multiple_of(square) {
        let message =
            message!("upscale_factor is {r}, whose square does not divide {channels} channels");
        return Err(Error::shape_of(OP, message, &[("x", x.shape(), x.dtype())]));
    }
    let apart = x.reshape((lead, channels / square, r, r, height, width))?;
    let moved = apart.permute([0, 1, 4, 2, 5, 3])?;
    let (high, wide) = grown(OP, x, [height, width], r)?;
    reshaped(x, &moved, [channels / square, high, wide])
}

/// The inverse of [`pixel_shuffle`]: `[.., channels, height * r, width * r]` becomes
/// `[.., channels * r * r, height, width]`, with `r = downscale_factor`. Any dtype.
///
/// Errors if there are fewer than three dimensions, or height or width is not a multiple of r.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1, 2, 3, 4], [1, 2, 2])?;
/// assert_eq!(nn::pixel_unshuffle(&x, 2)?.shape(), [4, 1, 1]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn pixel_unshuffle(x: &Tensor, downscale_factor: usize) -> Result<Tensor> {
    const OP: &str = "pixel_unshuffle";
    let r = downscale_factor;
    let square = square(OP, "downscale_factor", x, r)?;
    let (lead, [channels, height, width]) = split(OP, x)?;
    if !height.is_multiple_of(r) || !width.is_multiple_of(r) {
        let message = message!("downscale_factor is {r}, which does not divide height and width");
        return Err(Error::shape_of(OP, message, &[("x", x.shape(), x.dtype())]));
    }
    let apart = x.reshape((lead, channels, height / r, r, width / r, r))?;
    let moved = apart.permute([0, 1, 3, 5, 2, 4])?;
    let (more, _) = grown(OP, x, [channels, 1], square)?;
    reshaped(x, &moved, [more, height / r, width / r])
}

/// Interleaves groups of channels: channel `g * n + c` of `groups` groups of `n` becomes channel
/// `c * groups + g`. `x` is `[batch, channels, ..]`, of any dtype.
///
/// Zhang et al., ShuffleNet: An Extremely Efficient Convolutional Neural Network for Mobile
/// Devices, 2017.
///
/// Errors if there are fewer than three dimensions, or the groups don't divide the channels.
///
/// ```
/// use flex::{Tensor, nn};
/// let x = Tensor::from_slice(&[1, 2, 3, 4], [1, 4, 1])?;
/// assert_eq!(nn::channel_shuffle(&x, 2)?.to_vec::<i32>()?, [1, 3, 2, 4]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn channel_shuffle(x: &Tensor, groups: usize) -> Result<Tensor> {
    const OP: &str = "channel_shuffle";
    if x.rank() < 3 || groups == 0 || !x.shape()[1].is_multiple_of(groups) {
        let message = message!(
            "groups is {groups}; x must be [batch, channels, ..] with a multiple of that many channels"
        );
        return Err(Error::shape_of(OP, message, &[("x", x.shape(), x.dtype())]));
    }
    let rest: usize = x.shape()[2..].iter().product();
    let apart = x.reshape((x.shape()[0], groups, x.shape()[1] / groups, rest))?;
    let shape: smallvec::SmallVec<[isize; 6]> = x.shape().iter().map(|n| *n as isize).collect();
    apart.transpose(1, 2)?.reshape(&shape[..])
}

/// The product of the dimensions before the last three, and these three.
fn split(op: &'static str, x: &Tensor) -> Result<(usize, [usize; 3])> {
    match *x.shape() {
        [ref lead @ .., channels, height, width] => {
            Ok((lead.iter().product(), [channels, height, width]))
        }
        _ => Err(Error::shape_of(
            op,
            message!("x must be [.., channels, height, width]"),
            &[("x", x.shape(), x.dtype())],
        )),
    }
}
fn square(op: &'static str, name: &str, x: &Tensor, r: usize) -> Result<usize> {
    let square = r.checked_mul(r).filter(|n| *n > 0);
    square.ok_or_else(|| {
        let message = message!("{name} is {r}; it must be at least 1, with a square in range");
        Error::shape_of(op, message, &[("x", x.shape(), x.dtype())])
    })
}
/// Sizes times a factor.
fn grown(op: &'static str, x: &Tensor, sizes: [usize; 2], r: usize) -> Result<(usize, usize)> {
    match sizes.map(|n| n.checked_mul(r)) {
        [Some(a), Some(b)] => Ok((a, b)),
        _ => Err(Error::shape_of(
            op,
            message!("the result would exceed the address space"),
            &[("x", x.shape(), x.dtype())],
        )),
    }
}
/// The elements with the leading dimensions of `x` and three others.
fn reshaped(x: &Tensor, moved: &Tensor, last: [usize; 3]) -> Result<Tensor> {
    let lead = &x.shape()[..x.rank() - 3];
    let shape: smallvec::SmallVec<[isize; 6]> =
        lead.iter().chain(&last).map(|n| *n as isize).collect();
    moved.reshape(&shape[..])
}
