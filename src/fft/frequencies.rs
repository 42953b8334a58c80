//! The frequencies of a spectrum's elements, and their order.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::math::Real;
use crate::layout::Axes;
use crate::ops;
use crate::ops::reduce::slice_mut;
use crate::tensor::Tensor;

/// `len` frequencies divided by `n d`: 0, 1, .. for the first `positive`, then from `-(n / 2)`
/// upwards.
fn frequencies(
    op: &'static str,
    n: usize,
    d: f64,
    dtype: DType,
    (len, positive): (usize, usize),
) -> Result<Tensor> {
    if n == 0 {
        return Err(Error::value(
            op,
            "n is 0: a transform needs at least one value",
        ));
    }
    if d == 0.0 || !d.is_finite() {
        let message = message!("d is {d:?}; it must be finite and not 0");
        return Err(Error::value(op, message));
    }
    let mut y = Tensor::empty([len], dtype)?;
    dispatch!(float dtype, |T| {
        for (k, y) in slice_mut::<T>(&mut y)?.iter_mut().enumerate() {
            let k = if k < positive { k as f64 } else { k as f64 - n as f64 };
            *y = Real::from_f64(k / (n as f64 * d));
        }
        Ok(y)
    }, else Err(Error::unsupported(op, dtype)))
}

/// The frequencies of the elements of [`fft`](fn@super::fft): 0, 1, .. and then -(n / 2), .. -1,
/// divided by `n d`, where `d` is the sample spacing. In cycles per unit of `d`, as float32 or
/// float64.
///
/// Errors for other dtypes, if `n` is 0, and if `d` is 0 or not finite.
///
/// ```
/// use flex::{DType, fft};
/// assert_eq!(fft::fftfreq(5, 0.1, DType::F32)?.to_vec::<f32>()?, [0.0, 2.0, 4.0, -4.0, -2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn fftfreq(n: usize, d: f64, dtype: DType) -> Result<Tensor> {
    frequencies("fftfreq", n, d, dtype, (n, n.div_ceil(2)))
}

/// The frequencies of the elements of [`rfft`](super::rfft): 0 to `n / 2`, divided by `n d`.
/// Otherwise like [`fftfreq`].
///
/// ```
/// use flex::{DType, fft};
/// assert_eq!(fft::rfftfreq(4, 0.25, DType::F32)?.to_vec::<f32>()?, [0.0, 1.0, 2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn rfftfreq(n: usize, d: f64, dtype: DType) -> Result<Tensor> {
    let len = n / 2 + 1;
    frequencies("rfftfreq", n, d, dtype, (len, len))
}

/// Shifts frequency 0 from the front of the axes to their middle, for tensors of any dtype.
///
/// Errors if an axis is out of range for `x`, or repeated.
///
/// ```
/// use flex::{DType, fft};
/// let x = fft::fftshift(&fft::fftfreq(5, 0.2, DType::F32)?, ())?;
/// assert_eq!(x.to_vec::<f32>()?, [-2.0, -1.0, 0.0, 1.0, 2.0]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn fftshift(x: &Tensor, axes: impl Into<Axes>) -> Result<Tensor> {
    shifted("fftshift", x, &axes.into(), |n| n / 2)
}

/// The inverse of [`fftshift`], with its errors.
///
/// ```
/// use flex::{Tensor, fft};
/// let x = Tensor::from([-2, -1, 0, 1, 2]);
/// assert_eq!(fft::ifftshift(&x, 0)?.to_vec::<i32>()?, [0, 1, 2, -2, -1]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn ifftshift(x: &Tensor, axes: impl Into<Axes>) -> Result<Tensor> {
    shifted("ifftshift", x, &axes.into(), |n| -(n / 2))
}

fn shifted(op: &'static str, x: &Tensor, axes: &Axes, shift: fn(i64) -> i64) -> Result<Tensor> {
    let axes = axes.resolve(op, x.rank())?;
    let shifts: smallvec::SmallVec<[i64; 6]> =
        axes.iter().map(|k| shift(x.shape()[*k] as i64)).collect();
    if axes.is_empty() {
        return Ok(x.clone());
    }
    let axes: smallvec::SmallVec<[isize; 6]> = axes.iter().map(|k| *k as isize).collect();
    ops::roll(x, &shifts[..], axes)
}
