//! Transforms of real signals, for burn-signal: each dtype has a function there.

use crate::FlexTensor;
use crate::convert::done;
use flex::dtype::{Complex64, Complex128};
use flex::fft::{self, Fft};
use flex::ops::{self, ewise};
use flex::{DType, Result, Tensor};

fn along(dim: usize, n: Option<usize>) -> Fft {
    Fft { n, ..dim.into() }
}

/// Real and imaginary parts of the lower half of the spectrum along an axis. 16-bit floats are
/// transformed in float32.
fn rfft(x: &Tensor, dim: usize, n: Option<usize>) -> Result<(Tensor, Tensor)> {
    let dtype = x.dtype();
    let spectrum = fft::rfft(&x.astype(wide(dtype))?, along(dim, n))?;
    let (re, im) = (ops::real(&spectrum)?, ops::imag(&spectrum)?);
    Ok((re.astype(dtype)?, im.astype(dtype)?))
}

/// The signal of a half of a spectrum.
fn irfft(re: &Tensor, im: &Tensor, dim: usize, n: Option<usize>) -> Result<Tensor> {
    let dtype = re.dtype();
    let (re, im) = (re.astype(wide(dtype))?, im.astype(wide(dtype))?);
    let spectrum = match wide(dtype) {
        DType::F64 => ewise((&re, &im), |re: f64, im: f64| Complex128::new(re, im)),
        _ => ewise((&re, &im), |re: f32, im: f32| Complex64::new(re, im)),
    };
    fft::irfft(&spectrum?, along(dim, n))?.astype(dtype)
}

fn wide(dtype: DType) -> DType {
    match dtype {
        DType::F64 => DType::F64,
        _ => DType::F32,
    }
}

macro_rules! transforms {
    ($($rfft:ident $irfft:ident),*) => { $(
        /// The lower half of the spectrum of a real signal: real and imaginary parts.
        pub fn $rfft(tensor: FlexTensor, dim: usize, n: Option<usize>) -> (FlexTensor, FlexTensor) {
            let (re, im) = done(rfft(tensor.tensor(), dim, n));
            (re.into(), im.into())
        }
        /// The real signal of the lower half of a spectrum.
        pub fn $irfft(
            spectrum_re: FlexTensor,
            spectrum_im: FlexTensor,
            dim: usize,
            n: Option<usize>,
        ) -> FlexTensor {
            done(irfft(spectrum_re.tensor(), spectrum_im.tensor(), dim, n)).into()
        }
    )* };
}
transforms! { rfft_f32 irfft_f32, rfft_f64 irfft_f64, rfft_f16 irfft_f16, rfft_bf16 irfft_bf16 }
