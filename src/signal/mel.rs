//! Mel filter banks, which sum a spectrum in bands of equal perceived width.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::kernel::math::Real;
use crate::ops::reduce::slice_mut;
use crate::scalar::Shown;
use crate::tensor::Tensor;

/// The bands of [`mel_filters`].
///
/// ```
/// use flex::{DType, signal::{self, Mel}};
/// let speech = Mel { n_mels: 80, fmin: 20.0, fmax: Some(7600.0), htk: true, ..Mel::of(16e3, 512) };
/// let filters = signal::mel_filters(&speech, DType::F32)?;
/// assert_eq!(filters.shape(), [80, 257]);
/// assert_eq!(filters.select(1, 0)?.sum(())?.item::<f32>()?, 0.0); // nothing below 20 Hz
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mel {
    /// Samples per second.
    pub sample_rate: f64,
    /// Samples per frame; its spectrum has `n_fft / 2 + 1` elements.
    pub n_fft: usize,
    /// The number of bands. Default: 128.
    pub n_mels: usize,
    /// The lowest frequency in hertz. Default: 0.
    pub fmin: f64,
    /// The highest frequency in hertz. Default: half the sample rate.
    pub fmax: Option<f64>,
    /// Whether frequencies are converted to mels by HTK's formula, `2595 log10(1 + f / 700)`,
    /// instead of Slaney's, which is linear below 1 kHz. Default: false.
    pub htk: bool,
    /// Whether bands are divided by their width in hertz, so that white noise gives each the same
    /// energy, instead of peaking at 1. Default: true.
    pub normalized: bool,
}
impl Mel {
    /// The defaults, for a sample rate and frame length.
    ///
    /// Example: [`Mel`].
    pub fn of(sample_rate: f64, n_fft: usize) -> Mel {
        Mel {
            sample_rate,
            n_fft,
            n_mels: 128,
            fmin: 0.0,
            fmax: None,
            htk: false,
            normalized: true,
        }
    }
    /// Converts hertz to mels.
    fn mel(&self, f: f64) -> f64 {
        if self.htk {
            2595.0 * libm::log10(1.0 + f / 700.0)
        } else if f < KNEE {
            f / STEP
        } else {
            KNEE / STEP + libm::log(f / KNEE) / RATE
        }
    }
    /// Converts mels to hertz.
    fn hertz(&self, mel: f64) -> f64 {
        if self.htk {
            700.0 * (libm::pow(10.0, mel / 2595.0) - 1.0)
        } else if mel < KNEE / STEP {
            mel * STEP
        } else {
            KNEE * libm::exp((mel - KNEE / STEP) * RATE)
        }
    }
}

/// Slaney's scale (1998: "Auditory Toolbox"): 3 mels for every 200 Hz up to 1 kHz, then 27 mels for
/// every factor of 6.4.
const KNEE: f64 = 1000.0;
const STEP: f64 = 200.0 / 3.0;
const RATE: f64 = 1.856_297_990_365_626_2 / 27.0; // ln 6.4

/// Triangular filters `[n_mels, n_fft / 2 + 1]`, float32 or float64, to multiply spectra by. Band
/// `m` rises from the centre of the band below to its own and falls to that of the band above;
/// centres are evenly spaced in mels. Defined like librosa.
///
/// Errors for other dtypes, for no bands or frames without samples, and if frequencies are
/// negative, not ascending, or not finite.
///
/// ```
/// use flex::{DType, signal::{self, Mel}};
/// let filters = signal::mel_filters(&Mel { n_mels: 40, ..Mel::of(16000.0, 512) }, DType::F32)?;
/// assert_eq!(filters.shape(), [40, 257]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn mel_filters(how: &Mel, dtype: DType) -> Result<Tensor> {
    const OP: &str = "mel_filters";
    let (low, high) = (how.fmin, how.fmax.unwrap_or(how.sample_rate / 2.0));
    if how.n_mels == 0 || how.n_fft == 0 {
        let message = message!(
            "{} bands for frames of {} samples; both must be at least 1",
            how.n_mels,
            how.n_fft
        );
        return Err(Error::value(OP, message));
    }
    if !(how.sample_rate > 0.0
        && how.sample_rate.is_finite()
        && 0.0 <= low
        && low < high
        && high.is_finite())
    {
        let message = message!(
            "frequencies from {} to {} at a sample rate of {}: they must be ascending, finite and not negative",
            Shown(low),
            Shown(high),
            Shown(how.sample_rate)
        );
        return Err(Error::value(OP, message));
    }
    let n = how.n_fft / 2 + 1;
    let mut y = Tensor::empty([how.n_mels, n], dtype)?;
    let (first, last) = (how.mel(low), how.mel(high));
    let step = (last - first) / (how.n_mels + 1) as f64;
    let edge = |k: usize| how.hertz(first + step * k as f64);
    if !(0..=how.n_mels).all(|k| edge(k) < edge(k + 1)) {
        let message = message!(
            "frequencies from {} to {}: {} bands have no width",
            Shown(low),
            Shown(high),
            how.n_mels
        );
        return Err(Error::value(OP, message));
    }
    dispatch!(float dtype, |T| {
        let y = slice_mut::<T>(&mut y)?;
        for (band, row) in y.chunks_exact_mut(n).enumerate() {
            let (a, b, c) = (edge(band), edge(band + 1), edge(band + 2));
            let height = if how.normalized { 2.0 / (c - a) } else { 1.0 };
            for (k, y) in row.iter_mut().enumerate() {
                let f = k as f64 * how.sample_rate / how.n_fft as f64;
                let rise = (f - a) / (b - a);
                let fall = (c - f) / (c - b);
                *y = Real::from_f64(rise.min(fall).max(0.0) * height);
            }
        }
        Ok(())
    }, else Err(Error::unsupported(OP, dtype)))?;
    Ok(y)
}
