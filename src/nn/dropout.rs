//! Dropout with a seed: the fate of an element depends on the seed and its row-major position
//! alone, not on strides or threads.

use super::check;
use crate::dtype::{Element, Pod};
use crate::error::{Error, Result};
use crate::kernel::elementwise::rows;
use crate::kernel::gemm::MatElement;
use crate::kernel::math::Real;
use crate::kernel::norm::{load, store};
use crate::kernel::random::{DropoutRule, Stream, WORDS, bits, kept, words};
use crate::layout::Shape;
use crate::ops::draw;
use crate::ops::formula::Formula;
use crate::tensor::Tensor;

/// `x` with each element dropped (set to 0, whatever it was) with probability `p`, and the others
/// divided by `1 - p` (Srivastava et al. 2014).
///
/// Errors if `x` is not a float tensor, or `p` is not from 0 to 1.
///
/// ```
/// let x = flex::ops::ones([1000], flex::DType::F32)?;
/// let y = flex::nn::dropout(&x, 0.5, 7)?.to_vec::<f32>()?;
/// assert!(y.iter().all(|y| *y == 0.0 || *y == 2.0));
/// assert!((400..600).contains(&y.iter().filter(|y| **y == 0.0).count()));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn dropout(x: &Tensor, p: f64, seed: u64) -> Result<Tensor> {
    each("dropout", x, Share::new("dropout", p)?.scaled(), seed)
}

/// Dropout that preserves mean 0 and variance 1, for layers of [`selu`](super::selu) (Klambauer et
/// al. 2017): dropped elements become the limit of `selu` at minus infinity, and all are scaled and
/// shifted.
///
/// Errors as for [`dropout`].
///
/// ```
/// let x = flex::ops::ones([4], flex::DType::F32)?;
/// assert_eq!(flex::nn::alpha_dropout(&x, 0.0, 7)?.to_vec::<f32>()?, [1.0; 4]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn alpha_dropout(x: &Tensor, p: f64, seed: u64) -> Result<Tensor> {
    each(
        "alpha_dropout",
        x,
        Share::new("alpha_dropout", p)?.moved(),
        seed,
    )
}

/// [`dropout`] of whole channels of `x`, `[batch, channels, ..]`: a channel of an example is
/// dropped or kept as a whole (Tompson et al. 2015). torch's `dropout1d`, `dropout2d` and
/// `dropout3d`.
///
/// Errors as for [`dropout`], and if `x` has fewer than two axes.
///
/// ```
/// let x = flex::ops::ones([1, 4, 3], flex::DType::F32)?;
/// let y = flex::nn::feature_dropout(&x, 0.5, 7)?.to_vec::<f32>()?;
/// assert!(y.chunks(3).all(|c| c == [0.0; 3] || c == [2.0; 3]));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn feature_dropout(x: &Tensor, p: f64, seed: u64) -> Result<Tensor> {
    channels(
        "feature_dropout",
        x,
        Share::new("feature_dropout", p)?.scaled(),
        seed,
    )
}

/// [`alpha_dropout`] of whole channels, like [`feature_dropout`].
///
/// ```
/// let x = flex::ops::ones([1, 2, 2], flex::DType::F32)?;
/// assert_eq!(flex::nn::feature_alpha_dropout(&x, 0.0, 7)?.to_vec::<f32>()?, [1.0; 4]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn feature_alpha_dropout(x: &Tensor, p: f64, seed: u64) -> Result<Tensor> {
    const OP: &str = "feature_alpha_dropout";
    channels(OP, x, Share::new(OP, p)?.moved(), seed)
}

/// The probability of dropping an element.
struct Share(f64);
impl Share {
    fn new(op: &'static str, p: f64) -> Result<Share> {
        check::share(op, "p", p)?;
        Ok(Share(p))
    }
    /// How many of the 2^32 random values drop an element.
    fn limit(&self) -> u64 {
        (self.0 * (1u64 << 32) as f64) as u64
    }
    fn scaled(&self) -> DropoutRule {
        DropoutRule {
            limit: self.limit(),
            factor: if self.0 < 1.0 {
                1.0 / (1.0 - self.0)
            } else {
                0.0
            },
            kept: 0.0,
            dropped: 0.0,
        }
    }
    fn moved(&self) -> DropoutRule {
        /// The limit of selu at minus infinity: minus its scale times its alpha.
        const LEAST: f64 = -1.758_099_340_847_376_6;
        let keep = 1.0 - self.0;
        let factor = match keep {
            0.0 => 0.0,
            _ => 1.0 / libm::sqrt(keep * (1.0 + self.0 * LEAST * LEAST)),
        };
        let shift = -factor * LEAST * self.0;
        DropoutRule {
            limit: self.limit(),
            factor,
            kept: shift,
            dropped: factor * LEAST + shift,
        }
    }
}

/// Drops each element by itself.
fn each(op: &'static str, x: &Tensor, rule: DropoutRule, seed: u64) -> Result<Tensor> {
    let x = x.contiguous()?;
    let mut y = Tensor::empty(x.shape(), x.dtype())?;
    dispatch!(floating x.dtype(), |T| elements::<T>(x.as_slice()?, y.as_mut_slice()?, rule, seed),
        else return Err(Error::unsupported(op, x.dtype())));
    Ok(y)
}
fn elements<T>(x: &[T], y: &mut [T], rule: DropoutRule, seed: u64)
where
    T: Element + Pod + MatElement,
    T::Acc: Real,
{
    const CHUNK: usize = WORDS * draw::GROUPS;
    let stream = Stream::new(seed);
    draw::chunks(stream.into(), WORDS, 16, y, |start, block, room, y| {
        let (mut from, mut to) = ([T::Acc::default(); CHUNK], [T::Acc::default(); CHUNK]);
        let (from, to) = (&mut from[..y.len()], &mut to[..y.len()]);
        bits(stream, block, room);
        load::<T>(&x[start..][..y.len()], from);
        kept(rule, words(room), from, to);
        store::<T>(to, y);
    });
}

/// Drops whole channels: whether each is kept is computed once and broadcast.
fn channels(op: &'static str, x: &Tensor, rule: DropoutRule, seed: u64) -> Result<Tensor> {
    if x.rank() < 2 {
        let message = "x must have the shape [batch, channels, ..]";
        return Err(Error::shape_of(op, message, &[("x", x.shape(), x.dtype())]));
    }
    if !x.dtype().is_float() {
        return Err(Error::unsupported(op, x.dtype()));
    }
    let mut shape = Shape::from_elem(1, x.rank());
    shape[..2].copy_from_slice(&x.shape()[..2]);
    let flag = DropoutRule {
        factor: 1.0,
        kept: 0.0,
        dropped: 0.0,
        ..rule
    };
    let ones = crate::ops::full(&shape[..], 1, x.dtype().wide())?;
    let flags = each(op, &ones, flag, seed)?;
    let kept = crate::ops::greater(&flags, 0)?;
    let mut f = Formula::new(op, &[x.shape()], x.dtype())?;
    let (v, kept) = (f.input(x)?, f.condition(&kept)?);
    let y = if rule.kept == 0.0 {
        // adding zero doesn't round, so a fused sum has the same bits
        f.ternary(&rows::MultiplyAdd::ROW, v, rule.factor, 0.0)?
    } else {
        let y = f.binary(&rows::Multiply::ROW, v, rule.factor)?;
        f.binary(&rows::Add::ROW, y, rule.kept)?
    };
    let y = f.ternary(&rows::Where::ROW, kept, y, rule.dropped)?;
    f.write(y, x.dtype())
}
