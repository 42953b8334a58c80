//! `flex.signal`: windows, short-time Fourier transforms, mel filters, convolution.

use super::cell::PyTensor;
use super::convert::{Device, TensorArg, ValuesArg, compute, count, detached};
use super::default;
use super::dtype::DTypeArg;
use super::values::tuple;
use flex::Tensor;
use flex::nn::PadMode;
use flex::signal::{self, Ends, Extent, Mel, Method, Stft, Window};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A window of `n` samples.
fn window(
    py: Python<'_>,
    op: &str,
    n: isize,
    shape: Window,
    sym: bool,
    dtype: Option<DTypeArg>,
) -> PyResult<PyTensor> {
    let dtype = default::or_float(dtype);
    let n = count(op, "n", n)?;
    let ends = match sym {
        true => Ends::Symmetric,
        false => Ends::Periodic,
    };
    compute(py, n, || signal::window(n, shape, ends, dtype))
}

/// Defines windows given by a single formula.
macro_rules! windows {
    ($($(#[$doc:meta])* $name:ident $($parameter:ident)? => $Shape:ident;)*) => { $(
        windows!(@ $(#[$doc])* $name $($parameter)? => $Shape);
    )* };
    (@ $(#[$doc:meta])* $name:ident => $Shape:ident) => {
        $(#[$doc])*
        #[function(n, /, *, sym = true, dtype = None, device = None)]
        fn $name(py: Python<'_>, n: isize, sym: bool, dtype: Option<DTypeArg>, device: Option<Device>) -> PyResult<PyTensor> {
            let _ = device;
            window(py, stringify!($name), n, Window::$Shape, sym, dtype)
        }
    };
    (@ $(#[$doc:meta])* $name:ident $parameter:ident => $Shape:ident) => {
        $(#[$doc])*
        #[function(n, /, $parameter, *, sym = true, dtype = None, device = None)]
        fn $name(py: Python<'_>, n: isize, $parameter: f64, sym: bool, dtype: Option<DTypeArg>, device: Option<Device>) -> PyResult<PyTensor> {
            let _ = device;
            window(py, stringify!($name), n, Window::$Shape($parameter), sym, dtype)
        }
    };
}
windows! {
    /// The Hann window of n samples, a raised cosine: 0.5 + 0.5 cos(pi x) for x from -1 to 1.
    ///
    /// sym: symmetric, as for filter design; False for one period of a periodic window, as for
    /// spectral analysis. dtype: float32 by default, or float64 (DTypeError for others). ValueError
    /// if n is negative.
    ///
    /// >>> flex.signal.hann(4, sym=False).tolist()
    /// [0.0, 0.5, 1.0, 0.5]
    hann => Hann;
    /// The Hamming window of n samples: 0.54 + 0.46 cos(pi x) for x from -1 to 1.
    ///
    /// Other arguments and errors are those of `hann`.
    ///
    /// >>> flex.signal.hamming(3)[1].item()
    /// 1.0
    hamming => Hamming;
    /// The Blackman window of n samples: 0.42 + 0.5 cos(pi x) + 0.08 cos(2 pi x) for x from -1 to
    /// 1.
    ///
    /// Other arguments and errors are those of `hann`.
    ///
    /// >>> flex.signal.blackman(5)[2].item()
    /// 1.0
    blackman => Blackman;
    /// The Kaiser window of n samples: I0(beta sqrt(1 - x^2)) / I0(beta) for x from -1 to 1.
    ///
    /// I0: the modified Bessel function of order 0. beta: a larger one is narrower; up to 700
    /// (ValueError). Other arguments and errors are those of `hann`.
    ///
    /// >>> flex.signal.kaiser(3, 0.0).tolist()
    /// [1.0, 1.0, 1.0]
    kaiser beta => Kaiser;
    /// The Gaussian window of n samples: exp(-(k / std)^2 / 2), k samples from the middle.
    ///
    /// std: positive (ValueError). Other arguments and errors are those of `hann`.
    ///
    /// >>> flex.signal.gaussian(3, 1.0, dtype=flex.float64).tolist()
    /// [0.6065306597126334, 1.0, 0.6065306597126334]
    gaussian std => Gaussian;
}

/// Triangular mel filters, `[n_mels, n_fft // 2 + 1]`, which sum spectra in bands of equal
/// perceived width.
///
/// Band m rises from the centre of the band below to its own and falls to that of the band above;
/// centres are evenly spaced in mels from fmin to fmax, by default half the sample rate. htk: mels
/// by HTK's formula, 2595 log10(1 + f / 700), instead of Slaney's, which is linear below 1 kHz.
/// norm: "slaney" to divide bands by their width in hertz, or None. Defined like librosa. dtype:
/// float32 by default, or float64 (DTypeError for others). ValueError if frequencies are not
/// ascending, or there are no bands or samples.
///
/// >>> flex.signal.mel_filters(16000, 512, n_mels=40).shape
/// (40, 257)
#[function(sample_rate, n_fft, *, n_mels = 128, fmin = 0.0, fmax = None, htk = false, norm: "Literal['slaney'] | None" = Some("slaney"), dtype = None, device = None)]
fn mel_filters(
    py: Python<'_>,
    sample_rate: f64,
    n_fft: isize,
    n_mels: isize,
    fmin: f64,
    fmax: Option<f64>,
    htk: bool,
    norm: Option<&str>,
    dtype: Option<DTypeArg>,
    device: Option<Device>,
) -> PyResult<PyTensor> {
    let _ = device;
    if norm.is_some_and(|n| n != "slaney") {
        let message = format!(
            "mel_filters: norm is {:?}; it is \"slaney\" or None",
            norm.unwrap_or_default()
        );
        return Err(PyValueError::new_err(message));
    }
    let how = Mel {
        sample_rate,
        n_fft: count("mel_filters", "n_fft", n_fft)?,
        n_mels: count("mel_filters", "n_mels", n_mels)?,
        fmin,
        fmax,
        htk,
        normalized: norm.is_some(),
    };
    let dtype = default::or_float(dtype);
    let elements = how.n_fft.saturating_mul(how.n_mels);
    compute(py, elements, || signal::mel_filters(&how, dtype))
}

/// The options of both directions.
fn frames<'a>(
    op: &str,
    n_fft: isize,
    hop_length: Option<isize>,
    win_length: Option<isize>,
    window: &'a Option<TensorArg>,
) -> PyResult<Stft<'a>> {
    let given = |name: &str, n: Option<isize>| n.map(|n| count(op, name, n)).transpose();
    Ok(Stft {
        hop_length: given("hop_length", hop_length)?,
        win_length: given("win_length", win_length)?,
        window: window.as_ref().map(|w| &w.0),
        ..Stft::of(count(op, "n_fft", n_fft)?)
    })
}

/// The short-time Fourier transform: spectra of overlapping frames of signals along the last axis.
///
/// Element [.., k, t] of the result is the sum over j of window[j] x[.., t hop_length + j] exp(-2
/// pi i j k / n_fft). x: `[.., samples]`, real or complex. hop_length: by default n_fft // 4, at
/// least 1. window: `[win_length]`, by default ones, zero-padded to n_fft. center: whether to pad
/// the signal by half a frame at both ends, by pad_mode, so that frame t is centred at sample t
/// hop_length. normalized: whether to divide by sqrt(n_fft). onesided: whether to keep only
/// frequencies up to n_fft / 2, by default for real signals. The result is `[.., frequencies,
/// frames]`, with the dtypes of `flex.fft.fft`. Defined like torch.stft.
///
/// ValueError if n_fft, hop_length and win_length don't fit each other; ShapeError if the window or
/// the signal doesn't fit them.
///
/// >>> flex.signal.stft(flex.zeros((2, 100)), 16, window=flex.signal.hann(16, sym=False)).shape
/// (2, 9, 26)
#[function(x, /, n_fft, hop_length = None, win_length = None, window = None, center = true, pad_mode: "_PadMode" = "reflect", normalized = false, onesided = None)]
fn stft(
    py: Python<'_>,
    x: TensorArg,
    n_fft: isize,
    hop_length: Option<isize>,
    win_length: Option<isize>,
    window: Option<TensorArg>,
    center: bool,
    pad_mode: &str,
    normalized: bool,
    onesided: Option<bool>,
) -> PyResult<PyTensor> {
    let pad_mode = match pad_mode {
        "reflect" => PadMode::Reflect,
        "constant" => PadMode::Constant(0.into()),
        "replicate" => PadMode::Replicate,
        "circular" => PadMode::Circular,
        other => {
            return Err(PyValueError::new_err(format!(
                "stft: pad_mode is {other:?}; it is \"reflect\", \"constant\", \"replicate\" or \"circular\""
            )));
        }
    };
    let how = Stft {
        center,
        pad_mode,
        normalized,
        onesided,
        ..frames("stft", n_fft, hop_length, win_length, &window)?
    };
    compute(py, 4 * x.0.len(), || signal::stft(&x.0, &how))
}

/// The inverse of `stft`: signals from the spectra of overlapping frames.
///
/// Overlap-add of the frames' inverse transforms times the window, divided by the sum of the
/// squared windows. x: `[.., frequencies, frames]`. length: the number of samples, by default as
/// many as the frames cover. onesided: whether x has only frequencies up to n_fft / 2, by default
/// True; the result is then real. Other arguments are those that `stft` was called with. Defined
/// like torch.istft.
///
/// ShapeError for another number of frequencies; ValueError if n_fft, hop_length and win_length
/// don't fit each other, and if no window covers a sample.
///
/// >>> x = flex.asarray([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
/// >>> flex.signal.istft(flex.signal.stft(x, 4), 4, length=8).round().tolist()
/// [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
#[function(x, /, n_fft, hop_length = None, win_length = None, window = None, center = true, normalized = false, onesided = None, length = None)]
fn istft(
    py: Python<'_>,
    x: TensorArg,
    n_fft: isize,
    hop_length: Option<isize>,
    win_length: Option<isize>,
    window: Option<TensorArg>,
    center: bool,
    normalized: bool,
    onesided: Option<bool>,
    length: Option<isize>,
) -> PyResult<PyTensor> {
    let how = Stft {
        center,
        normalized,
        onesided,
        ..frames("istft", n_fft, hop_length, win_length, &window)?
    };
    let length = length.map(|n| count("istft", "length", n)).transpose()?;
    compute(py, 4 * x.0.len(), || signal::istft(&x.0, &how, length))
}

/// The part of a convolution, by its name.
fn extent(op: &str, mode: &str) -> PyResult<Extent> {
    match mode {
        "full" => Ok(Extent::Full),
        "same" => Ok(Extent::Same),
        "valid" => Ok(Extent::Valid),
        other => Err(PyValueError::new_err(format!(
            "{op}: mode is {other:?}; it is \"full\", \"same\" or \"valid\""
        ))),
    }
}
fn method(op: &str, method: &str) -> PyResult<Method> {
    match method {
        "auto" => Ok(Method::Auto),
        "direct" => Ok(Method::Direct),
        "fft" => Ok(Method::Fft),
        other => Err(PyValueError::new_err(format!(
            "{op}: method is {other:?}; it is \"auto\", \"direct\" or \"fft\""
        ))),
    }
}

/// The convolution of two signals or images: along each axis, the sums of x1[j] x2[k - j].
///
/// x1, x2: with the same number of dimensions (ShapeError). mode: "full" for all positions where
/// they overlap; "same" for the middle part, as large as x1; "valid" for the positions where one
/// lies inside the other. method: "direct" for sums of products, along up to three axes; "fft" for
/// Fourier transforms; "auto" for whichever is likely to be faster, and direct, which is exact, for
/// integers. The result has the common dtype (DTypeError for bool). Defined like
/// scipy.signal.convolve.
///
/// >>> flex.signal.convolve(flex.asarray([1.0, 2.0, 3.0]), flex.asarray([1.0, 1.0])).tolist()
/// [1.0, 3.0, 5.0, 3.0]
#[function(x1, x2, /, mode: "Literal['full', 'same', 'valid']" = "full", method: "Literal['auto', 'direct', 'fft']" = "auto")]
fn convolve(
    py: Python<'_>,
    x1: TensorArg,
    x2: TensorArg,
    mode: &str,
    method: &str,
) -> PyResult<PyTensor> {
    let (mode, method) = (extent("convolve", mode)?, self::method("convolve", method)?);
    compute(py, 4 * (x1.0.len() + x2.0.len()), || {
        signal::convolve(&x1.0, &x2.0, mode, method)
    })
}

/// `convolve` by Fourier transforms, of float or complex tensors, with its arguments and errors;
/// DTypeError for integers, whose direct sums are exact.
///
/// >>> flex.signal.fftconvolve(flex.asarray([1.0, 2.0, 3.0]), flex.asarray([1.0, 1.0])).round().tolist()
/// [1.0, 3.0, 5.0, 3.0]
#[function(x1, x2, /, mode: "Literal['full', 'same', 'valid']" = "full")]
fn fftconvolve(py: Python<'_>, x1: TensorArg, x2: TensorArg, mode: &str) -> PyResult<PyTensor> {
    let mode = extent("fftconvolve", mode)?;
    compute(py, 4 * (x1.0.len() + x2.0.len()), || {
        signal::fftconvolve(&x1.0, &x2.0, mode)
    })
}

/// The correlation of two signals or images: along each axis, the sums of x1[j + k] conj(x2[j]).
///
/// Arguments, dtypes and errors are those of `convolve`. Defined like scipy.signal.correlate.
///
/// >>> flex.signal.correlate(flex.asarray([1.0, 2.0, 3.0]), flex.asarray([1.0, 2.0]), mode="valid").tolist()
/// [5.0, 8.0]
#[function(x1, x2, /, mode: "Literal['full', 'same', 'valid']" = "full", method: "Literal['auto', 'direct', 'fft']" = "auto")]
fn correlate(
    py: Python<'_>,
    x1: TensorArg,
    x2: TensorArg,
    mode: &str,
    method: &str,
) -> PyResult<PyTensor> {
    let (mode, method) = (
        extent("correlate", mode)?,
        self::method("correlate", method)?,
    );
    compute(py, 4 * (x1.0.len() + x2.0.len()), || {
        signal::correlate(&x1.0, &x2.0, mode, method)
    })
}

/// The filtered tensor, or with states the pair of it and the last ones.
fn filtered<'py>(
    py: Python<'py>,
    work: usize,
    f: impl FnOnce() -> flex::Result<(Tensor, Option<Tensor>)> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    match detached(py, work, f)? {
        (y, None) => PyTensor::new(y).into_bound_py_any(py),
        (y, Some(state)) => Ok(tuple(py, vec![y, state])?.into_any()),
    }
}

/// Filters lines along an axis by a rational transfer function: `a[0] y[n] = b[0] x[n] + b[1] x[n-1] +
/// .. - a[1] y[n-1] - ..`
///
/// b, a: real vectors of coefficients, or lists or single numbers; `a[0]` is not 0 (ValueError). zi:
/// the states of the delays before the first sample, of the shape of x, but `max(len(a), len(b)) - 1` at
/// the axis, or one that broadcasts to it; then the result is the pair of the filtered tensor and the
/// last states. Computed in float64; integers become float32. ShapeError if shapes don't fit; DTypeError
/// for complex coefficients and float8; AxisError.
///
/// >>> b, a = flex.asarray([1.0]), flex.asarray([1.0, -0.5])
/// >>> flex.signal.lfilter(b, a, flex.asarray([1.0, 0.0, 4.0])).tolist()
/// [1.0, 0.5, 4.25]
#[function(b, a, x, /, axis = -1, zi = None)]
fn lfilter<'py>(
    py: Python<'py>,
    b: ValuesArg,
    a: ValuesArg,
    x: TensorArg,
    axis: isize,
    zi: Option<ValuesArg>,
) -> PyResult<Bound<'py, PyAny>> {
    let work = x.0.len().saturating_mul(b.0.len().max(a.0.len()));
    filtered(py, work, || {
        signal::lfilter(&b.0, &a.0, &x.0, axis, zi.as_ref().map(|z| &z.0))
    })
}

/// Filters lines along an axis by sections of order two, one after another.
///
/// sos: `[sections, 6]`, of each section `b[0:3]` and `a[0:3]`, whose `a[0]` is 1 (ValueError). zi: the
/// states before the first sample, `[sections, ..]` with the shape of x behind, but 2 at the axis, or
/// one that broadcasts to it; then the result is the pair of the filtered tensor and the last states.
/// Dtypes and other errors are those of `lfilter`.
///
/// >>> sos = flex.asarray([[1.0, 0.0, 0.0, 1.0, -0.5, 0.0]])
/// >>> flex.signal.sosfilt(sos, flex.asarray([1.0, 0.0, 4.0])).tolist()
/// [1.0, 0.5, 4.25]
#[function(sos, x, /, axis = -1, zi = None)]
fn sosfilt<'py>(
    py: Python<'py>,
    sos: ValuesArg,
    x: TensorArg,
    axis: isize,
    zi: Option<ValuesArg>,
) -> PyResult<Bound<'py, PyAny>> {
    let work = x.0.len().saturating_mul(sos.0.len());
    filtered(py, work, || {
        signal::sosfilt(&sos.0, &x.0, axis, zi.as_ref().map(|z| &z.0))
    })
}
