//! Transforms along several axes.

use super::line::TransformKind;
use super::one::{complex, floating, length, real, whole};
use super::options::FftN;
use super::tensors::{along, along_in_place, resized};
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Axes and lengths, in the order of the arguments.
type AxisLengths = SmallVec<[(usize, usize); 6]>;

/// The axes and the lengths along them. If `x` is half a spectrum, the last length is that of the
/// real result.
fn steps(op: &'static str, x: &Tensor, how: &FftN, half: bool) -> Result<AxisLengths> {
    let mut axes = how.axes.resolve(op, x.rank())?;
    if let Some(s) = &how.s {
        if how.axes.named().is_none() && s.len() < axes.len() {
            axes.drain(..axes.len() - s.len());
        }
        if axes.len() != s.len() {
            let message = message!("s has {} lengths for {} axes", s.len(), axes.len());
            return Err(Error::value(op, message));
        }
    }
    let last = axes.len().wrapping_sub(1);
    axes.into_iter()
        .enumerate()
        .map(|(i, axis)| {
            let there = match x.shape()[axis] {
                size if half && i == last => 2 * size.saturating_sub(1),
                size => size,
            };
            let n = length(op, how.s.as_ref().map(|s| s[i]), there)?;
            Ok((axis, n))
        })
        .collect()
}

/// The product of all axes' factors, applied by the last transform.
fn scale(how: &FftN, steps: &AxisLengths, inverse: bool) -> f64 {
    let scales = steps.iter().map(|(_, n)| how.norm.scale(*n, inverse));
    scales.product()
}

/// Transforms all axes but the last, from back to front, after the last one's transform.
fn others(y: &mut Tensor, steps: &AxisLengths, inverse: bool) -> Result<()> {
    let rest = steps[..steps.len() - 1].iter().rev();
    rest.into_iter().try_for_each(|(axis, n)| {
        if y.shape()[*axis] != *n {
            *y = resized(y, *axis, *n)?.contiguous()?;
        }
        along_in_place(y, *axis, inverse, 1.0)
    })
}

fn complex_to_complex(op: &'static str, x: &Tensor, how: &FftN, inverse: bool) -> Result<Tensor> {
    let x = floating(op, x)?;
    let steps = steps(op, &x, how, false)?;
    let Some((axis, n)) = steps.last() else {
        return complex(op, &x);
    };
    let scale = scale(how, &steps, inverse);
    let mut y = along(
        &resized(&x, *axis, *n)?,
        *axis,
        whole(&x),
        *n,
        inverse,
        scale,
    )?;
    others(&mut y, &steps, inverse)?;
    Ok(y)
}

/// The error for no axes, in transforms that halve one.
fn none(op: &'static str) -> Error {
    Error::value(
        op,
        "takes at least one axis, along which the numbers are real",
    )
}

fn real_to_complex(op: &'static str, x: &Tensor, how: &FftN) -> Result<Tensor> {
    let x = real(op, x)?;
    let steps = steps(op, &x, how, false)?;
    let (axis, n) = steps.last().ok_or_else(|| none(op))?;
    let scale = scale(how, &steps, false);
    let mut y = along(
        &resized(&x, *axis, *n)?,
        *axis,
        TransformKind::Half,
        *n,
        false,
        scale,
    )?;
    others(&mut y, &steps, false)?;
    Ok(y)
}

fn complex_to_real(op: &'static str, x: &Tensor, how: &FftN) -> Result<Tensor> {
    let x = complex(op, x)?;
    let steps = steps(op, &x, how, true)?;
    let (axis, n) = steps.last().ok_or_else(|| none(op))?;
    let mut y = resized(&x, *axis, n / 2 + 1)?;
    if steps.len() > 1 {
        y = y.copy()?;
        others(&mut y, &steps, true)?;
    }
    along(
        &y,
        *axis,
        TransformKind::Real,
        *n,
        true,
        scale(how, &steps, true),
    )
}

/// Defines the transforms of one signature, along any axes and along the last two.
macro_rules! transforms {
    ($($(#[$doc:meta])* $name:ident $(#[$doc2:meta])* $two:ident by $f:ident($($inverse:literal)?);)*) => { $(
        $(#[$doc])*
        pub fn $name(x: &Tensor, how: impl Into<FftN>) -> Result<Tensor> {
            $f(stringify!($name), x, &how.into() $(, $inverse)?)
        }
        $(#[$doc2])*
        pub fn $two(x: &Tensor, how: impl Into<FftN>) -> Result<Tensor> {
            $f(stringify!($two), x, &last_two(how.into()) $(, $inverse)?)
        }
    )* };
}

/// The last two axes by default.
fn last_two(how: FftN) -> FftN {
    match how.axes.named() {
        None => FftN {
            axes: [-2, -1].into(),
            ..how
        },
        Some(_) => how,
    }
}

transforms! {
    /// The discrete Fourier transform along several axes, one after the other. See
    /// [`fft`](fn@super::fft) for dtypes and lengths.
    ///
    /// Errors if an axis is out of range for `x` or repeated, if `s` has another number of lengths
    /// than there are axes, for a length of 0, and for float8.
    ///
    /// ```
    /// use flex::{Tensor, fft, ops};
    /// let x = Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(ops::real(&fft::fftn(&x, ())?)?.to_vec::<f32>()?, [10.0, -2.0, -4.0, 0.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    fftn
    /// [`fftn`] along the last two axes by default, with its errors.
    ///
    /// ```
    /// use flex::{Tensor, fft, ops};
    /// let x = Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(ops::real(&fft::fft2(&x, ())?)?.to_vec::<f32>()?, [10.0, -2.0, -4.0, 0.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    fft2 by complex_to_complex(false);
    /// The inverse of [`fftn`], with its errors.
    ///
    /// ```
    /// use flex::{Tensor, fft, ops};
    /// let y = fft::ifftn(&Tensor::from([[10.0f32, -2.0], [-4.0, 0.0]]), ())?;
    /// assert_eq!(ops::real(&y)?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    ifftn
    /// [`ifftn`] along the last two axes by default, with its errors.
    ///
    /// ```
    /// use flex::{Tensor, fft};
    /// assert_eq!(fft::ifft2(&Tensor::from([[1.0f32]]), ())?.shape(), [1, 1]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    ifft2 by complex_to_complex(true);
    /// The transform of real numbers along several axes: [`rfft`](super::rfft) along the last of
    /// them, which becomes half as long, and [`fft`](fn@super::fft) along the others.
    ///
    /// Errors for complex numbers, for no axes, and like [`fftn`].
    ///
    /// ```
    /// use flex::{DType, Tensor, fft};
    /// assert_eq!(fft::rfftn(&Tensor::zeros((3, 8), DType::F32)?, ())?.shape(), [3, 5]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    rfftn
    /// [`rfftn`] along the last two axes by default, with its errors.
    ///
    /// ```
    /// use flex::{DType, Tensor, fft};
    /// assert_eq!(fft::rfft2(&Tensor::zeros((2, 3, 8), DType::F32)?, ())?.shape(), [2, 3, 5]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    rfft2 by real_to_complex();
    /// The inverse of [`rfftn`]. The last length of `s` is the number of real values, by default
    /// even.
    ///
    /// Errors for no axes, and like [`fftn`].
    ///
    /// ```
    /// use flex::{DType, Tensor, fft};
    /// let x = Tensor::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(fft::irfftn(&fft::rfftn(&x, ())?, ())?.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    irfftn
    /// [`irfftn`] along the last two axes by default, with its errors.
    ///
    /// ```
    /// use flex::{DType, Tensor, fft};
    /// assert_eq!(fft::irfft2(&Tensor::zeros((2, 3, 5), DType::Complex64)?, ())?.shape(), [2, 3, 8]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    irfft2 by complex_to_real();
}
