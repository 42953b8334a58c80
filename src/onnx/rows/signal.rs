//! Transforms and windows of signals.

use super::super::call::{Call, Inputs, Node, int as int_of, number, one, size};
use super::super::complex;
use super::{Attribute, Row, int, make};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::fft::{self, Fft};
use crate::layout;
use crate::ops;
use crate::signal::{self, Ends, Window};
use crate::tensor::Tensor;
use alloc::vec::Vec;

const PERIODIC: Attribute = int("periodic", 1);
const DTYPE: Attribute = int("output_datatype", 1);
const WINDOW: &[Attribute] = &[DTYPE, PERIODIC];
const INVERSE: Attribute = int("inverse", 0);
const ONESIDED: Attribute = int("onesided", 0);

pub(super) const ROWS: &[Row] = &[
    make(
        "DFT",
        17,
        1..=2,
        &[int("axis", 1), INVERSE, ONESIDED],
        |node| dft(node, Some(node.int("axis"))),
    ),
    make("DFT", 20, 1..=3, &[INVERSE, ONESIDED], |node| {
        dft(node, None)
    }),
    make("STFT", 17, 2..=4, &[int("onesided", 1)], |node| {
        let onesided = node.flag("onesided");
        one(move |x| stft(x, onesided))
    }),
    make("HannWindow", 17, 1..=1, WINDOW, |node| {
        window(node, |n, ends| {
            signal::window(n, Window::Hann, ends, DType::F64)
        })
    }),
    make("BlackmanWindow", 17, 1..=1, WINDOW, |node| {
        window(node, |n, ends| {
            signal::window(n, Window::Blackman, ends, DType::F64)
        })
    }),
    make("HammingWindow", 17, 1..=1, WINDOW, |node| {
        window(node, |n, ends| {
            // ONNX's coefficients are 25/46 and 21/46, of which 0.54 and 0.46 are rounded
            let hann = signal::window(n, Window::Hann, ends, DType::F64)?;
            ops::add(ops::multiply(hann, 42.0 / 46.0)?, 4.0 / 46.0)
        })
    }),
    make("MelWeightMatrix", 17, 5..=5, &[DTYPE], |node| {
        let dtype = node.dtype("output_datatype")?.unwrap_or(DType::F32);
        one(move |x| mel(x)?.astype(dtype))
    }),
];

fn window(node: &Node, f: fn(usize, Ends) -> Result<Tensor>) -> Result<Call> {
    let dtype = node.dtype("output_datatype")?.unwrap_or(DType::F32);
    let ends = if node.flag("periodic") {
        Ends::Periodic
    } else {
        Ends::Symmetric
    };
    one(move |x| f(size("window", "the size", int_of(x.get(0)?)?)?, ends)?.astype(dtype))
}

/// Real numbers, `[.., 1]`, or pairs, `[.., 2]`, as a complex or real tensor without that axis.
fn signal_of(op: &'static str, x: &Tensor) -> Result<Tensor> {
    match x.shape().last() {
        Some(1) if x.rank() > 1 => x.select(-1, 0),
        Some(2) if x.rank() > 1 => complex::joined(x),
        _ => Err(Error::shape_of(
            op,
            "the last axis must have size 1 or 2",
            &[("input", x.shape(), x.dtype())],
        )),
    }
}

fn dft(node: &Node, axis: Option<i64>) -> Result<Call> {
    let (inverse, onesided) = (node.flag("inverse"), node.flag("onesided"));
    one(move |x: &mut Inputs| {
        const OP: &str = "DFT";
        let length = x.maybe(1).map(int_of).transpose()?;
        let axis = match (axis, x.maybe(2)) {
            (Some(axis), _) => axis,
            (None, Some(axis)) => int_of(axis)?,
            (None, None) => -2,
        };
        let x = x.get(0)?;
        let axis = layout::axis(OP, axis as isize, x.rank())?;
        if axis + 1 == x.rank() {
            return Err(Error::value(
                OP,
                "the last axis holds real and imaginary parts",
            ));
        }
        let n = length.map(|n| size(OP, "dft_length", n)).transpose()?;
        let how = Fft {
            n,
            axis: axis as isize,
            ..Default::default()
        };
        let dtype = x.dtype();
        let wide = |t: &Tensor| signal_of(OP, &t.astype(DType::F64)?);
        let y = match (inverse, onesided) {
            (false, true) => complex::split(&fft::rfft(&wide(x)?, how)?)?,
            (false, false) => complex::split(&fft::fft(&wide(x)?, how)?)?,
            (true, true) => fft::irfft(&signal_of(OP, x)?, how)?.expand_dims(-1)?,
            (true, false) => complex::split(&fft::ifft(&signal_of(OP, x)?, how)?)?,
        };
        y.astype(dtype)
    })
}

fn stft(x: &Inputs, onesided: bool) -> Result<Tensor> {
    const OP: &str = "STFT";
    let t = x.get(0)?;
    let step = size(OP, "frame_step", int_of(x.get(1)?)?)?;
    let window = x.maybe(2);
    let length = match (x.maybe(3), window) {
        (Some(n), _) => size(OP, "frame_length", int_of(n)?)?,
        (None, Some(w)) => w.len(),
        (None, None) => {
            return Err(Error::value(
                OP,
                "neither a window nor frame_length is given",
            ));
        }
    };
    let s = match t.rank() {
        2 => t.clone(),
        _ => signal_of(OP, t)?,
    };
    let mut frames = s.unfold(1, length, step)?;
    if let Some(window) = window {
        frames = ops::multiply(&frames, window)?;
    }
    let y = match onesided && !frames.dtype().is_complex() {
        true => fft::rfft(&frames, -1)?,
        false => {
            let y = fft::fft(&frames, -1)?;
            if onesided {
                y.narrow(-1, 0, length / 2 + 1)?
            } else {
                y
            }
        }
    };
    complex::split(&y)?.astype(t.dtype())
}

/// Triangles over the bins of a transform, `[bins, bands]`, whose corners are on the mel scale.
fn mel(x: &Inputs) -> Result<Tensor> {
    const OP: &str = "MelWeightMatrix";
    let count = |i: usize, what| size(OP, what, int_of(x.get(i)?)?);
    let (bands, length) = (count(0, "num_mel_bins")?, count(1, "dft_length")?);
    let float = |i: usize| Ok::<f64, Error>(number(x.get(i)?)?.to_f64());
    let (rate, low, high) = (float(2)?, float(3)?, float(4)?);
    let to_mel = |hz: f64| 2595.0 * libm::log10(1.0 + hz / 700.0);
    let (low, high) = (to_mel(low), to_mel(high));
    // there are two corners more than bands, which ONNX divides the scale by
    let step = (high - low) / (bands as f64 + 2.0);
    let corners: Vec<i64> =
        crate::fallible::collect::<_, Error>((0..bands.saturating_add(2)).map(|i| {
            let hz = 700.0 * (libm::pow(10.0, (i as f64 * step + low) / 2595.0) - 1.0);
            Ok(libm::floor((length as f64 + 1.0) * hz / rate) as i64)
        }))?;
    let bins = length / 2 + 1;
    let mut y = Tensor::zeros([bins, bands], DType::F64)?;
    let values = y.as_mut_slice::<f64>()?;
    for band in 0..bands {
        let [lower, centre, higher] = [corners[band], corners[band + 1], corners[band + 2]];
        for bin in 0..bins as i64 {
            let up = centre - lower;
            let rising = if up == 0 {
                f64::from(bin == centre)
            } else {
                (bin - lower) as f64 / up as f64
            };
            let value = match bin {
                _ if bin == centre => 1.0,
                _ if (lower..centre).contains(&bin) => rising,
                _ if (centre..higher).contains(&bin) => {
                    (higher - bin) as f64 / (higher - centre) as f64
                }
                _ => 0.0,
            };
            values[bin as usize * bands + band] = value;
        }
    }
    Ok(y)
}
