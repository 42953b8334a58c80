//! Convolution and correlation of whole tensors.

use crate::error::{Error, Result};
use crate::fft::{self, FftN};
use crate::nn::{self, Conv};
use crate::ops;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Which part of a convolution is returned.
///
/// ```
/// use flex::{Tensor, signal::{self, Extent, Method}};
/// let (x, h) = (Tensor::from([1.0f32, 2.0, 3.0]), Tensor::from([1.0f32, 1.0]));
/// let part = |e| signal::convolve(&x, &h, e, Method::Auto)?.to_vec::<f32>();
/// assert_eq!(part(Extent::Full)?, [1.0, 3.0, 5.0, 3.0]);
/// assert_eq!(part(Extent::Same)?, [1.0, 3.0, 5.0]);
/// assert_eq!(part(Extent::Valid)?, [3.0, 5.0]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// All positions where the operands overlap.
    #[default]
    Full,
    /// The middle part, as large as the first operand.
    Same,
    /// The positions where one operand lies entirely inside the other.
    Valid,
}

/// How a convolution is computed.
///
/// ```
/// use flex::{Tensor, signal::{self, Extent, Method}};
/// let x = Tensor::from([1.0f32, 2.0, 3.0]);
/// let sums = signal::convolve(&x, &x, Extent::Full, Method::Direct)?;
/// assert_eq!(sums.to_vec::<f32>()?, [1.0, 4.0, 10.0, 12.0, 9.0]);
/// let fast = signal::convolve(&x, &x, Extent::Full, Method::Fft)?;
/// assert!((fast - sums).to_vec::<f32>()?.iter().all(|e| e.abs() < 1e-5));
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Whichever is likely to be faster; direct for integers, which are exact.
    #[default]
    Auto,
    /// Sums of products.
    Direct,
    /// Fourier transforms.
    Fft,
}

crate::layout::defaults! { Extent, Method }

/// The most elements of the smaller operand for which direct sums are faster than transforms.
const SHORT: usize = 64;

/// The convolution of `x1` with `x2`, of the same rank: along each axis, the sums of `x1[j] x2[k -
/// j]`, as defined by scipy.signal.convolve. `extent` selects the part returned, `method` how it is
/// computed.
///
/// The result has the common dtype; 16-bit floats are computed in float32. The errors of transforms
/// are relative to the largest sums.
///
/// Errors for bool, without a common dtype, for ranks that differ or are 0, if an operand is empty,
/// if for [`Extent::Valid`] neither lies inside the other, and for direct sums along more than
/// three axes and transforms of integers.
///
/// ```
/// use flex::{Tensor, signal::{self, Extent, Method}};
/// let (x, h) = (Tensor::from([1.0f32, 2.0, 3.0]), Tensor::from([1.0f32, 1.0]));
/// let y = signal::convolve(&x, &h, (), ())?;
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 3.0, 5.0, 3.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn convolve(
    x1: &Tensor,
    x2: &Tensor,
    extent: impl Into<Extent>,
    method: impl Into<Method>,
) -> Result<Tensor> {
    convolved("convolve", x1, x2, extent.into(), method.into())
}

/// [`convolve`] by transforms, under Python's name for it.
#[cfg(feature = "bindings")]
pub fn fftconvolve(x1: &Tensor, x2: &Tensor, extent: Extent) -> Result<Tensor> {
    convolved("fftconvolve", x1, x2, extent, Method::Fft)
}

/// The correlation of `x1` with `x2`: along each axis, the sums of `x1[j + k] conj(x2[j])`, which
/// is the convolution with the conjugate of `x2` reversed. Defined like scipy.signal.correlate;
/// otherwise like [`convolve`].
///
/// ```
/// use flex::{Tensor, signal::{self, Extent, Method}};
/// let (x, h) = (Tensor::from([1.0f32, 2.0, 3.0]), Tensor::from([1.0f32, 2.0]));
/// let y = signal::correlate(&x, &h, Extent::Valid, Method::Auto)?;
/// assert_eq!(y.to_vec::<f32>()?, [5.0, 8.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn correlate(
    x1: &Tensor,
    x2: &Tensor,
    extent: impl Into<Extent>,
    method: impl Into<Method>,
) -> Result<Tensor> {
    let flipped = x2.flip(())?;
    let flipped = if x2.dtype().is_complex() {
        ops::conj(&flipped)?
    } else {
        flipped
    };
    convolved("correlate", x1, &flipped, extent.into(), method.into())
}

fn convolved(
    op: &'static str,
    x1: &Tensor,
    x2: &Tensor,
    extent: Extent,
    method: Method,
) -> Result<Tensor> {
    let operands = [
        ("x1", x1.shape(), x1.dtype()),
        ("x2", x2.shape(), x2.dtype()),
    ];
    let bad = |message: &'static str| Error::shape_of(op, message, &operands);
    if x1.rank() != x2.rank() || x1.rank() == 0 {
        return Err(bad(
            "the operands must have the same number of dimensions, at least one",
        ));
    }
    if x1.is_empty() || x2.is_empty() {
        return Err(bad("an operand has no elements"));
    }
    let dtype = x1.dtype().promote(x2.dtype(), op)?;
    if dtype.is_bool() || dtype.is_storage() {
        return Err(Error::unsupported(op, dtype));
    }
    let within = |a: &[usize], b: &[usize]| a.iter().zip(b).all(|(a, b)| a >= b);
    let (mut long, mut short) = (x1, x2);
    if !within(x1.shape(), x2.shape()) && within(x2.shape(), x1.shape()) {
        (long, short) = (x2, x1);
    }
    if extent == Extent::Valid && !within(long.shape(), short.shape()) {
        return Err(bad(
            "neither operand lies inside the other, as the extent \"valid\" requires",
        ));
    }
    // the first position of each axis within the full convolution, and the size
    let positions: SmallVec<[(usize, usize); 4]> = (x1.shape().iter().zip(x2.shape()))
        .map(|(a, b)| match extent {
            Extent::Full => (0, a + b - 1),
            Extent::Same => ((b - 1) / 2, *a),
            Extent::Valid => (a.min(b) - 1, a.max(b) - a.min(b) + 1),
        })
        .collect();
    let direct = match method {
        Method::Direct => true,
        Method::Fft if dtype.is_integer() => {
            return Err(Error::dtype(
                op,
                message!("transforms don't support {dtype}: use direct sums, which are exact"),
            ));
        }
        Method::Fft => false,
        Method::Auto => {
            dtype.is_integer() || !dtype.is_complex() && x1.rank() <= 3 && short.len() <= SHORT
        }
    };
    if direct {
        sums(op, &long.astype(dtype)?, &short.astype(dtype)?, &positions)
    } else {
        transforms(&x1.astype(dtype)?, &x2.astype(dtype)?, &positions)?.astype(dtype)
    }
}

/// Direct sums, by the convolutions of `nn`: these correlate, so the kernel is flipped, and the
/// operand is padded for the positions asked for.
fn sums(op: &'static str, x: &Tensor, h: &Tensor, positions: &[(usize, usize)]) -> Result<Tensor> {
    let run = match x.rank() {
        1 => nn::conv1d,
        2 => nn::conv2d,
        3 => nn::conv3d,
        rank => {
            let message = match x.dtype().is_integer() {
                true => message!(
                    "{} of {rank} dimensions: integers are convolved by direct sums, along at most three axes",
                    x.dtype()
                ),
                false => message!(
                    "direct sums take at most three axes, not {rank}; transforms take any number"
                ),
            };
            return Err(Error::value(op, message));
        }
    };
    // padding for the positions asked for
    let mut around: SmallVec<[isize; 6]> = SmallVec::new();
    for (k, (first, size)) in positions.iter().enumerate().rev() {
        let reach = h.shape()[k] - 1;
        around.push(reach as isize - *first as isize);
        around.push((first + size) as isize - x.shape()[k] as isize);
    }
    let x = nn::pad(&x.expand_dims(0)?, &around, nn::PadMode::Constant(0.into()))?;
    let h = h.flip(())?.expand_dims([0, 1])?;
    let precise = Conv {
        precise: true,
        ..Conv::default()
    };
    run(&x, &h, precise)?.squeeze(0)
}

/// By transforms of fast lengths.
fn transforms(x1: &Tensor, x2: &Tensor, positions: &[(usize, usize)]) -> Result<Tensor> {
    let lengths = (x1.shape().iter().zip(x2.shape())).map(|(a, b)| fft::next_fast_len(a + b - 1));
    let how = FftN {
        s: Some(lengths.collect()),
        ..FftN::default()
    };
    let mut y = if x1.dtype().is_complex() {
        let product = ops::multiply(&fft::fftn(x1, how.clone())?, &fft::fftn(x2, how.clone())?)?;
        fft::ifftn(&product, how)?
    } else {
        let product = ops::multiply(&fft::rfftn(x1, how.clone())?, &fft::rfftn(x2, how.clone())?)?;
        fft::irfftn(&product, how)?
    };
    for (k, (first, size)) in positions.iter().enumerate() {
        y = y.narrow(k as isize, *first, *size)?;
    }
    y.contiguous()
}
