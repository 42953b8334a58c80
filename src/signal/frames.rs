//! Short-time Fourier transforms: spectra of overlapping frames.

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fft::{self, Fft, Norm};
use crate::layout::Shape;
use crate::nn::{self, PadMode};
use crate::ops;
use crate::ops::reduce::{slice, slice_mut};
use crate::par::{self, Cost};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// How [`stft`] cuts frames and [`istft`] joins them. Names and defaults are those of torch.stft.
///
/// ```
/// use flex::{DType, Tensor, signal::{self, Ends, Stft, Window}};
/// let window = signal::window(400, Window::Hann, Ends::Periodic, DType::F32)?;
/// let how = Stft {
///     hop_length: Some(160),
///     win_length: Some(400),
///     window: Some(&window),
///     ..Stft::of(512)
/// };
/// let second = Tensor::zeros(16_000, DType::F32)?;
/// assert_eq!(signal::stft(&second, &how)?.shape(), [257, 101]);
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Stft<'a> {
    /// The length of the transforms, in samples.
    pub n_fft: usize,
    /// Samples from one frame to the next. Default: a quarter of `n_fft`.
    pub hop_length: Option<usize>,
    /// The length of the window, padded with zeros to `n_fft` on both sides. Default: `n_fft`.
    pub win_length: Option<usize>,
    /// The window, `[win_length]`, that frames are multiplied by. Default: ones.
    pub window: Option<&'a Tensor>,
    /// Whether frame `t` is centred at sample `t hop_length`, with the signal padded by half a
    /// frame at both ends, rather than begins there. Default: true.
    pub center: bool,
    /// How the signal is padded. Default: by reflection.
    pub pad_mode: PadMode,
    /// Whether spectra are divided by `sqrt(n_fft)`. Default: false.
    pub normalized: bool,
    /// Whether only frequencies up to `n_fft / 2` are kept. Default: true for real signals.
    pub onesided: Option<bool>,
}
impl Stft<'_> {
    /// The defaults, for a transform length.
    ///
    /// Example: [`Stft`].
    pub fn of(n_fft: usize) -> Self {
        Stft {
            n_fft,
            hop_length: None,
            win_length: None,
            window: None,
            center: true,
            pad_mode: PadMode::Reflect,
            normalized: false,
            onesided: None,
        }
    }
    fn fft(&self) -> Fft {
        let norm = if self.normalized {
            Norm::Ortho
        } else {
            Norm::Backward
        };
        Fft {
            n: None,
            axis: -1,
            norm,
        }
    }
    /// The hop, and the window padded to `n_fft` unless it is all ones.
    fn resolve(&self, op: &'static str, dtype: DType) -> Result<(usize, Option<Tensor>)> {
        let hop = self.hop_length.unwrap_or((self.n_fft / 4).max(1));
        let length = self.win_length.unwrap_or(self.n_fft);
        if self.n_fft == 0 || hop == 0 || length == 0 || length > self.n_fft {
            let message = message!(
                "n_fft is {}, hop_length {hop} and win_length {length}: all are at least 1, and win_length at most n_fft",
                self.n_fft
            );
            return Err(Error::value(op, message));
        }
        let window = match self.window {
            Some(w) if w.shape() != [length] => {
                let message = message!("the window must have shape [{length}]");
                let operands = [("window", w.shape(), w.dtype())];
                return Err(Error::shape_of(op, message, &operands));
            }
            Some(w) if w.dtype().is_complex() => {
                return Err(Error::dtype(op, "the window is complex: it must be real"));
            }
            Some(w) => Some(w.astype(dtype)?),
            None if length < self.n_fft => Some(ops::ones([length], dtype)?),
            None => None,
        };
        let before = (self.n_fft - length) / 2;
        let around = [before as isize, (self.n_fft - length - before) as isize];
        let window = window.map(|w| nn::pad(&w, &around, PadMode::Constant(Scalar::Int(0))));
        Ok((hop, window.transpose()?))
    }
}

/// The short-time Fourier transform: spectra of the frames of signals along the last axis. Element
/// `[.., k, t]` is the sum over `j` of `window[j] x[.., t hop_length + j] exp(-2 pi i j k /
/// n_fft)`.
///
/// `x` is `[.., samples]`, real or complex; the result is `[.., frequencies, frames]`, complex.
/// Dtypes are those of [`fft`](fn@crate::fft::fft). Defined like torch.stft.
///
/// Errors for a rank of 0, if `n_fft`, hop or window don't fit each other or the signal, and for a
/// one-sided spectrum of complex numbers.
///
/// ```
/// use flex::{DType, Tensor, signal::{self, Stft}};
/// let x = Tensor::zeros((2, 100), DType::F32)?;
/// assert_eq!(signal::stft(&x, &Stft::of(16))?.shape(), [2, 9, 26]);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn stft(x: &Tensor, how: &Stft) -> Result<Tensor> {
    const OP: &str = "stft";
    if x.rank() == 0 {
        return Err(Error::shape(
            OP,
            "x has rank 0: a signal has at least one dimension",
        ));
    }
    if x.dtype().is_storage() {
        return Err(Error::unsupported(OP, x.dtype()));
    }
    let x = x.astype(x.dtype().inexact().wide())?;
    let complex = x.dtype().is_complex();
    let onesided = how.onesided.unwrap_or(!complex);
    if onesided && complex {
        return Err(Error::value(
            OP,
            "onesided is for real signals: the spectrum of complex ones has two sides",
        ));
    }
    let (hop, window) = how.resolve(OP, x.dtype().real())?;
    let shape = Shape::from_slice(x.shape());
    let samples = shape[shape.len() - 1];
    // padding takes a channel axis before the padded one
    let signals = shape[..shape.len() - 1].iter().product::<usize>();
    let mut x = x.reshape([signals, samples])?;
    if how.center {
        x = continued(&x, how.n_fft / 2, how.pad_mode).map_err(|e| e.named(OP))?;
    }
    if x.shape()[1] < how.n_fft {
        let message = message!(
            "a signal of {} samples is shorter than a frame of {}",
            x.shape()[1],
            how.n_fft
        );
        return Err(Error::shape(OP, message));
    }
    let mut frames = x.unfold(1, how.n_fft, hop)?;
    if let Some(window) = &window {
        frames = ops::multiply(&frames, window)?;
    }
    let spectra = if onesided {
        fft::rfft(&frames, how.fft())?
    } else {
        fft::fft(&frames, how.fft())?
    };
    let [count, frequencies] = [spectra.shape()[1], spectra.shape()[2]];
    let mut out = shape;
    out.pop();
    out.extend([count, frequencies]);
    let out: SmallVec<[isize; 6]> = out.iter().map(|n| *n as isize).collect();
    spectra.reshape(&out)?.transpose(-1, -2)
}

/// Signals `[signals, samples]`, padded by `half` samples at both ends.
fn continued(x: &Tensor, half: usize, mode: PadMode) -> Result<Tensor> {
    let samples = x.shape()[1];
    if mode != PadMode::Reflect || samples <= half {
        return nn::pad(x, &[half as isize, half as isize], mode);
    }
    // the default mode has a fast path
    let before = x.narrow(1, 1, half)?.flip(1)?;
    let after = x.narrow(1, samples - 1 - half, half)?.flip(1)?;
    ops::concat(&[&before, x, &after], 1)
}

/// The inverse of [`stft`], `[.., samples]`: overlap-add of the frames' inverse transforms times
/// the window, divided by the sum of squared windows (Griffin and Lim, 1984: "Signal estimation
/// from modified short-time Fourier transform").
///
/// `x` is `[.., frequencies, frames]`. `length` is the number of samples, by default as many as the
/// frames cover. The result is real unless `onesided` is `Some(false)`, else complex.
///
/// Errors for a rank below 2, if the number of frequencies doesn't fit `n_fft`, if hop or window
/// don't fit, and if no window covers a sample.
///
/// ```
/// use flex::{Tensor, signal::{self, Stft}};
/// let x = Tensor::from([1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
/// let how = Stft::of(4);
/// let y = signal::istft(&signal::stft(&x, &how)?, &how, Some(8))?;
/// assert!((y - x).to_vec::<f32>()?.iter().all(|e| e.abs() < 1e-5));
/// # Ok::<(), flex::Error>(())
/// ```
pub fn istft(x: &Tensor, how: &Stft, length: Option<usize>) -> Result<Tensor> {
    const OP: &str = "istft";
    let onesided = how.onesided.unwrap_or(true);
    let want = if onesided {
        how.n_fft / 2 + 1
    } else {
        how.n_fft
    };
    if x.rank() < 2 || x.shape()[x.rank() - 2] != want {
        let message = message!("x must be [.., {want}, frames]");
        return Err(Error::shape_of(OP, message, &[("x", x.shape(), x.dtype())]));
    }
    if x.dtype().is_storage() {
        return Err(Error::unsupported(OP, x.dtype()));
    }
    let dtype = x.dtype().inexact().wide().real();
    let (hop, window) = how.resolve(OP, dtype)?;
    let window = match window {
        Some(window) => window,
        None => ops::ones([how.n_fft], dtype)?,
    };
    let mut shape = Shape::from_slice(x.shape());
    let count = shape.pop().unwrap_or(0);
    shape.pop();
    let spectra = x.transpose(-1, -2)?;
    let frames = if onesided {
        let n = Some(how.n_fft);
        fft::irfft(&spectra, Fft { n, ..how.fft() })?
    } else {
        fft::ifft(&spectra, how.fft())?
    };
    let frames = ops::multiply(&frames, &window)?.contiguous()?;
    let covered = match count.checked_sub(1) {
        None => Some(0),
        Some(later) => hop
            .checked_mul(later)
            .and_then(|n| n.checked_add(how.n_fft)),
    };
    let covered = covered.ok_or_else(|| Error::memory::<f32>(usize::MAX))?;
    let cut = if how.center { how.n_fft / 2 } else { 0 };
    let samples = match length {
        Some(n) => n,
        None => covered.saturating_sub(2 * cut),
    };
    let used = samples.min(covered.saturating_sub(cut));
    let squares = ops::multiply(&window, &window)?;
    let squares = squares.expand_dims(0)?.broadcast_to([count, how.n_fft])?;
    let weights = added(&squares.contiguous()?, 1, hop, covered)?
        .reshape(covered)?
        .narrow(0, cut.min(covered), used)?;
    let least = if used == 0 {
        None
    } else {
        Some(ops::min(&weights, ())?.astype(DType::F32)?.item::<f32>()?)
    };
    if least.is_some_and(|least| least < 1e-11) {
        return Err(Error::value(
            OP,
            "there are samples that no window covers: take a shorter hop or another window",
        ));
    }
    let signals: usize = shape.iter().product();
    let mut y = ops::divide(
        &added(&frames, signals, hop, covered)?
            .reshape([signals, covered])?
            .narrow(1, cut.min(covered), used)?,
        &weights,
    )?;
    if used < samples {
        let zeros = Tensor::zeros([signals, samples - used], y.dtype())?;
        y = ops::concat(&[y, zeros], 1)?;
    }
    shape.push(samples);
    let shape: SmallVec<[isize; 6]> = shape.iter().map(|n| *n as isize).collect();
    y.contiguous()?.reshape(&shape)
}

/// Overlap-adds the frames `[.., count, n]` of each signal into `covered` samples.
fn added(frames: &Tensor, signals: usize, hop: usize, covered: usize) -> Result<Tensor> {
    let [count, n] = [
        frames.shape()[frames.rank() - 2],
        frames.shape()[frames.rank() - 1],
    ];
    let mut y = Tensor::zeros([signals, covered], frames.dtype())?;
    if y.is_empty() {
        return Ok(y);
    }
    // complex numbers are added as pairs of real ones
    let parts = if frames.dtype().is_complex() { 2 } else { 1 };
    let real = frames.dtype().real();
    dispatch!(float real, |T| {
        let (x, y) = if parts == 2 {
            (slice::<[T; 2]>(frames).as_flattened(), slice_mut::<[T; 2]>(&mut y)?.as_flattened_mut())
        } else {
            (slice::<T>(frames), slice_mut::<T>(&mut y)?)
        };
        let cost = Cost { bytes: 3 * count * n * parts * size_of::<T>(), flops: count * n * parts };
        par::split(y, covered * parts, 1, cost, |signals, y| {
            for (y, signal) in y.chunks_exact_mut(covered * parts).zip(signals) {
                let frames = &x[signal * count * n * parts..][..count * n * parts];
                for (t, frame) in frames.chunks_exact(n * parts).enumerate() {
                    let target = &mut y[t * hop * parts..][..n * parts];
                    target.iter_mut().zip(frame).for_each(|(y, x)| *y += *x);
                }
            }
        });
        Ok(())
    }, else Err(Error::unsupported("istft", frames.dtype())))?;
    Ok(y)
}
