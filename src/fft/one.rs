//! Transforms along one axis.

use super::line::TransformKind;
use super::options::Fft;
use super::tensors::{along, resized};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::axis;
use crate::ops;
use crate::tensor::Tensor;

/// `x` in a dtype that is transformed: float32 for 16-bit floats, the default float for integers
/// and bool.
pub(super) fn floating(op: &'static str, x: &Tensor) -> Result<Tensor> {
    let dtype = x.dtype();
    if dtype.is_storage() || !DType::Complex64.is_available() {
        let missing = if dtype.is_storage() {
            dtype
        } else {
            DType::Complex64
        };
        return Err(Error::unsupported(op, missing));
    }
    x.astype(dtype.inexact().wide())
}
/// The same for operands that must be real.
pub(super) fn real(op: &'static str, x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_complex() {
        let message = message!(
            "x is {}, but this transform takes real numbers: use fft, or take the real part",
            x.dtype()
        );
        return Err(Error::dtype(op, message));
    }
    floating(op, x)
}
/// The same, converted to complex.
pub(super) fn complex(op: &'static str, x: &Tensor) -> Result<Tensor> {
    let x = floating(op, x)?;
    x.astype(x.dtype().complex())
}

/// The length of the transform: `asked`, or else the size of the axis.
pub(super) fn length(op: &'static str, asked: Option<usize>, there: usize) -> Result<usize> {
    match asked.unwrap_or(there) {
        0 => Err(Error::value(
            op,
            message!(
                "the length is {}: a transform needs at least one value",
                asked.unwrap_or(there)
            ),
        )),
        n => Ok(n),
    }
}

/// The transform along one axis, for all functions of this file.
fn transform(
    op: &'static str,
    x: &Tensor,
    how: &Fft,
    kind: TransformKind,
    inverse: bool,
) -> Result<Tensor> {
    let k = axis(op, how.axis, x.rank())?;
    let size = x.shape()[k];
    let (n, values) = match kind {
        TransformKind::Real => {
            let n = length(op, how.n, 2 * size.saturating_sub(1))?;
            (n, n / 2 + 1)
        }
        _ => {
            let n = length(op, how.n, size)?;
            (n, n)
        }
    };
    let scale = how.norm.scale(n, inverse);
    if values == size {
        return along(x, k, kind, n, inverse, scale);
    }
    along(&resized(x, k, values)?, k, kind, n, inverse, scale)
}

/// The discrete Fourier transform along an axis: element `k` is the sum over `j` of `x[j] exp(-2 pi
/// i j k / n)`, scaled as [`Norm`](super::Norm) says.
///
/// Takes any length: products of primes up to 31 by passes of these radices (Stockham's algorithm),
/// others by a convolution (Bluestein's). float32 and complex64 give complex64, float64 and
/// complex128 give complex128; 16-bit floats are computed in float32, integers and bool in the
/// default float, float32. If `n` differs from the axis's size, the axis is truncated or padded
/// with zeros at its end.
///
/// Errors if the axis is out of range for `x`, for a length of 0, and for float8.
///
/// ```
/// use flex::{Tensor, fft};
/// let x = Tensor::from([1.0f32, 2.0, 3.0, 4.0]);
/// let y = fft::fft(&x, ())?;
/// assert_eq!(flex::ops::real(&y)?.to_vec::<f32>()?, [10.0, -2.0, -2.0, -2.0]);
/// assert_eq!(flex::ops::imag(&y)?.to_vec::<f32>()?, [0.0, 2.0, 0.0, -2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn fft(x: &Tensor, how: impl Into<Fft>) -> Result<Tensor> {
    fft_by(x, &how.into())
}
fn fft_by(x: &Tensor, how: &Fft) -> Result<Tensor> {
    let x = floating("fft", x)?;
    transform("fft", &x, how, whole(&x), false)
}
/// The kind of transform from `x`, real or complex, to complex numbers.
pub(super) fn whole(x: &Tensor) -> TransformKind {
    if x.dtype().is_complex() {
        TransformKind::Complex
    } else {
        TransformKind::Whole
    }
}

/// The inverse of [`fft`](fn@fft): element `j` is the sum over `k` of `x[k] exp(2 pi i j k / n)`, by
/// default divided by `n`. Arguments, dtypes and errors are those of `fft`.
///
/// ```
/// use flex::{Tensor, fft, ops};
/// let x = Tensor::from([1.0f32, 2.0, 3.0]);
/// let y = fft::ifft(&fft::fft(&x, ())?, ())?;
/// assert!((ops::real(&y)? - &x).to_vec::<f32>()?.iter().all(|e| e.abs() < 1e-6));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn ifft(x: &Tensor, how: impl Into<Fft>) -> Result<Tensor> {
    ifft_by(x, &how.into())
}
fn ifft_by(x: &Tensor, how: &Fft) -> Result<Tensor> {
    let x = floating("ifft", x)?;
    transform("ifft", &x, how, whole(&x), true)
}

/// The first half of the transform of real numbers, elements 0 to `n / 2`; the others are their
/// conjugates. Otherwise like [`fft`](fn@fft).
///
/// Errors for complex numbers, and like `fft`.
///
/// ```
/// use flex::{Tensor, fft::{self, Fft}};
/// let x = Tensor::from([1.0f32, 0.0, 0.0, 0.0]);
/// assert_eq!(fft::rfft(&x, ())?.shape(), [3]);
/// assert_eq!(fft::rfft(&x, Fft { n: Some(8), ..().into() })?.shape(), [5]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn rfft(x: &Tensor, how: impl Into<Fft>) -> Result<Tensor> {
    rfft_by(x, &how.into())
}
fn rfft_by(x: &Tensor, how: &Fft) -> Result<Tensor> {
    transform("rfft", &real("rfft", x)?, how, TransformKind::Half, false)
}

/// The inverse of [`rfft`]: `n` real numbers, by default `2 (m - 1)` for `m` complex ones, of which
/// `n / 2 + 1` are used. The imaginary part of the first, and for even `n` of the last, is ignored.
///
/// Errors like [`fft`](fn@fft).
///
/// ```
/// use flex::{Tensor, fft::{self, Fft}};
/// let x = Tensor::from([1.0f32, 2.0, 3.0]);
/// let y = fft::irfft(&fft::rfft(&x, ())?, Fft { n: Some(3), ..().into() })?;
/// assert!((y - &x).to_vec::<f32>()?.iter().all(|e| e.abs() < 1e-6));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn irfft(x: &Tensor, how: impl Into<Fft>) -> Result<Tensor> {
    irfft_by(x, &how.into())
}
fn irfft_by(x: &Tensor, how: &Fft) -> Result<Tensor> {
    transform(
        "irfft",
        &complex("irfft", x)?,
        how,
        TransformKind::Real,
        true,
    )
}

/// The transform of a Hermitian-symmetric signal, given its first half: `n` real numbers, with `n`
/// as in [`irfft`].
///
/// Errors like [`fft`](fn@fft).
///
/// ```
/// use flex::{Tensor, fft};
/// let x = Tensor::from([1.0f32, 2.0, 3.0]); // of 1, 2, 3, 2
/// assert_eq!(fft::hfft(&x, ())?.to_vec::<f32>()?, [8.0, -2.0, 0.0, -2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn hfft(x: &Tensor, how: impl Into<Fft>) -> Result<Tensor> {
    hfft_by(x, &how.into())
}
fn hfft_by(x: &Tensor, how: &Fft) -> Result<Tensor> {
    let x = ops::conj(&complex("hfft", x)?)?;
    transform("hfft", &x, how, TransformKind::Real, false)
}

/// The inverse of [`hfft`]: the first half of a Hermitian-symmetric signal, from its spectrum of
/// `n` real numbers.
///
/// Errors like [`rfft`].
///
/// ```
/// use flex::{Tensor, fft, ops};
/// let y = fft::ihfft(&Tensor::from([8.0f32, -2.0, 0.0, -2.0]), ())?;
/// assert_eq!(ops::real(&y)?.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn ihfft(x: &Tensor, how: impl Into<Fft>) -> Result<Tensor> {
    ihfft_by(x, &how.into())
}
fn ihfft_by(x: &Tensor, how: &Fft) -> Result<Tensor> {
    ops::conj(&transform(
        "ihfft",
        &real("ihfft", x)?,
        how,
        TransformKind::Half,
        true,
    )?)
}
