//! Window functions, which frames of signals are multiplied by.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::math::Real;
use crate::ops::reduce::slice_mut;
use crate::scalar::Shown;
use crate::tensor::Tensor;
use core::f64::consts::PI;

/// A window function; `x` runs from -1 to 1 along the window.
///
/// ```
/// use flex::{DType, signal::{self, Ends, Window}};
/// let five = |w| signal::window(5, w, Ends::Symmetric, DType::F32)?.to_vec::<f32>();
/// assert_eq!(five(Window::Hann)?, [0.0, 0.5, 1.0, 0.5, 0.0]);
/// assert_eq!(five(Window::Kaiser(0.0))?, [1.0; 5]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// `0.5 + 0.5 cos(pi x)`, a raised cosine.
    Hann,
    /// `0.54 + 0.46 cos(pi x)`.
    Hamming,
    /// `0.42 + 0.5 cos(pi x) + 0.08 cos(2 pi x)`.
    Blackman,
    /// `I0(beta sqrt(1 - x^2)) / I0(beta)`, with the modified Bessel function of order 0. A larger
    /// `beta` is narrower.
    Kaiser(f64),
    /// `exp(-(k / std)^2 / 2)`, `k` samples from the middle.
    Gaussian(f64),
}

impl Window {
    /// The value at `x`; `half` is the number of samples from the middle to `x = 1`.
    fn at(self, x: f64, half: f64) -> f64 {
        match self {
            Window::Hann => 0.5 + 0.5 * libm::cos(PI * x),
            Window::Hamming => 0.54 + 0.46 * libm::cos(PI * x),
            Window::Blackman => 0.42 + 0.5 * libm::cos(PI * x) + 0.08 * libm::cos(2.0 * PI * x),
            Window::Kaiser(beta) => {
                let inside = (1.0 - x * x).max(0.0);
                bessel_i0(beta * libm::sqrt(inside)) / bessel_i0(beta)
            }
            Window::Gaussian(std) => {
                let k = x * half / std;
                libm::exp(-0.5 * k * k)
            }
        }
    }
}

/// The modified Bessel function of the first kind and order 0, by its power series (Abramowitz and
/// Stegun, 9.6.12), whose terms are all positive.
fn bessel_i0(x: f64) -> f64 {
    let (quarter, mut term, mut sum, mut k) = (x * x / 4.0, 1.0, 1.0, 1.0);
    while term > 1e-17 * sum && k < 2000.0 {
        term *= quarter / (k * k);
        sum += term;
        k += 1.0;
    }
    sum
}

/// Where the end of a window lies.
///
/// ```
/// use flex::{DType, signal::{self, Ends, Window}};
/// let hann = |ends| signal::window(3, Window::Hann, ends, DType::F32)?.to_vec::<f32>();
/// assert_eq!(hann(Ends::Symmetric)?, [0.0, 1.0, 0.0]);
/// assert!((hann(Ends::Periodic)?[1] - 0.75).abs() < 1e-6); // of 0, 3/4, 3/4, 0
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ends {
    /// The last sample is the end, as for filter design.
    #[default]
    Symmetric,
    /// The end is one sample after the last, where the next period begins: as for spectral
    /// analysis.
    Periodic,
}

/// A window of `n` samples, float32 or float64.
///
/// Errors for other dtypes, and if a parameter is not finite, `beta` is above 700 or `std` not
/// positive.
///
/// ```
/// use flex::{DType, signal::{self, Ends, Window}};
/// let periodic = signal::window(4, Window::Hann, Ends::Periodic, DType::F32)?;
/// assert_eq!(periodic.to_vec::<f32>()?, [0.0, 0.5, 1.0, 0.5]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn window(n: usize, shape: Window, ends: Ends, dtype: DType) -> Result<Tensor> {
    match shape {
        Window::Kaiser(beta) if !(beta.is_finite() && beta.abs() <= 700.0) => {
            let message = message!("beta is {}; it must be from -700 to 700", Shown(beta));
            return Err(Error::value("kaiser", message));
        }
        Window::Gaussian(std) if !(std.is_finite() && std > 0.0) => {
            let message = message!("std is {std}; it must be positive and finite");
            return Err(Error::value("gaussian", message));
        }
        _ => {}
    }
    let mut y = Tensor::empty([n], dtype)?;
    let half = (n - (ends == Ends::Symmetric && n > 0) as usize) as f64 / 2.0;
    dispatch!(float dtype, |T| {
        for (k, y) in slice_mut::<T>(&mut y)?.iter_mut().enumerate() {
            // measured from the nearer end, so that the window is symmetric to the bit
            let k = k as f64;
            let distance = (half - k).abs();
            let x = if half == 0.0 { 0.0 } else { distance / half };
            *y = Real::from_f64(if n == 1 { 1.0 } else { shape.at(x, half) });
        }
        Ok(y)
    }, else Err(Error::unsupported("window", dtype)))
}
