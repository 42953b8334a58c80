//! `flex.fft`: discrete Fourier transforms, with the names of the array API standard's extension.

use super::cell::PyTensor;
use super::convert::{Device, Ints, OperandRef, count};
use super::dtype::DTypeArg;
use crate::DType;
use crate::fft::{self as transforms, Fft, FftN, Norm};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The `norm` of a transform.
struct NormArg(Norm);

impl<'py> FromPyObject<'_, 'py> for NormArg {
    type Error = PyErr;
    fn extract(x: Borrowed<'_, 'py, PyAny>) -> PyResult<NormArg> {
        if x.is_none() {
            return Ok(NormArg(Norm::Backward));
        }
        let name = x.cast::<PyString>()?;
        let name = name.to_str()?;
        let norm = match name {
            "backward" => Norm::Backward,
            "ortho" => Norm::Ortho,
            "forward" => Norm::Forward,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "norm is {name:?}; it is \"backward\", \"ortho\" or \"forward\""
                )));
            }
        };
        Ok(NormArg(norm))
    }
}

/// The arguments of a transform along one axis.
fn one(op: &str, n: Option<isize>, axis: isize, norm: Option<NormArg>) -> PyResult<Fft> {
    Ok(Fft {
        n: n.map(|n| count(op, "n", n)).transpose()?,
        axis,
        norm: norm.map_or(Norm::Backward, |n| n.0),
    })
}
/// The same along several axes.
fn several(op: &str, s: Option<Ints>, axes: Option<Ints>, norm: Option<NormArg>) -> PyResult<FftN> {
    let lengths = |s: Ints| {
        s.0.iter()
            .map(|n| count(op, "s", *n))
            .collect::<PyResult<_>>()
    };
    Ok(FftN {
        s: s.map(lengths).transpose()?,
        axes: axes.map(|a| a.0).into(),
        norm: norm.map_or(Norm::Backward, |n| n.0),
    })
}

/// The discrete Fourier transform along an axis.
///
/// Element k of the result is the sum over j of x[j] exp(-2 pi i j k / n). n: the length to cut the axis to, or to
/// pad it to with zeros, by default its own; any length is quick, products of 2, 3, 5, 7, 11 and 13 most
/// (Stockham's algorithm, for others Bluestein's). norm: what is divided by n: the inverse ("backward"),
/// this transform ("forward"), or both by sqrt(n) ("ortho").
///
/// The result is complex64 for float32 and complex64, complex128 for float64 and complex128. float16 and
/// bfloat16 are computed in float32; integers and bool become float32, flex's default, where NumPy takes float64.
/// ValueError for a length of 0; AxisError if the axis is out of range; DTypeError for float8.
///
/// >>> flex.fft.fft(flex.asarray([1.0, 2.0, 3.0, 4.0])).tolist()
/// [(10+0j), (-2+2j), (-2+0j), (-2-2j)]
#[pyfunction]
#[pyo3(signature = (x, /, n = None, axis = -1, norm = None), text_signature = "(x, /, n=None, axis=-1, norm=\"backward\")")]
fn fft(
    py: Python<'_>,
    x: OperandRef,
    n: Option<isize>,
    axis: isize,
    norm: Option<NormArg>,
) -> PyResult<PyTensor> {
    let how = one("fft", n, axis, norm)?;
    x.compute(py, move |x| transforms::fft(x, how))
}

/// The inverse discrete Fourier transform along an axis.
///
/// Element j of the result is the sum over k of x[k] exp(2 pi i j k / n), by default divided by n. Arguments, dtypes and
/// errors are those of `fft`.
///
/// >>> flex.fft.ifft(flex.asarray([10, -2+2j, -2, -2-2j])).tolist()
/// [(1+0j), (2+0j), (3+0j), (4+0j)]
#[pyfunction]
#[pyo3(signature = (x, /, n = None, axis = -1, norm = None), text_signature = "(x, /, n=None, axis=-1, norm=\"backward\")")]
fn ifft(
    py: Python<'_>,
    x: OperandRef,
    n: Option<isize>,
    axis: isize,
    norm: Option<NormArg>,
) -> PyResult<PyTensor> {
    let how = one("ifft", n, axis, norm)?;
    x.compute(py, move |x| transforms::ifft(x, how))
}

/// The first half of the discrete Fourier transform of real numbers.
///
/// Elements 0 to n // 2 of `fft`; the others are their conjugates in reverse. Arguments, dtypes and errors are those of
/// `fft`; DTypeError for complex numbers.
///
/// >>> flex.fft.rfft(flex.asarray([0.0, 1.0, 0.0, -1.0])).tolist()
/// [0j, -2j, 0j]
#[pyfunction]
#[pyo3(signature = (x, /, n = None, axis = -1, norm = None), text_signature = "(x, /, n=None, axis=-1, norm=\"backward\")")]
fn rfft(
    py: Python<'_>,
    x: OperandRef,
    n: Option<isize>,
    axis: isize,
    norm: Option<NormArg>,
) -> PyResult<PyTensor> {
    let how = one("rfft", n, axis, norm)?;
    x.compute(py, move |x| transforms::rfft(x, how))
}

/// The inverse of `rfft`: real numbers from the first half of their spectrum.
///
/// n: how many real numbers, by default 2 (m - 1) for m elements along the axis, of which n // 2 + 1 are used. What is
/// imaginary in the first, and for even n in the last, is ignored. The result is float32 or float64. Other
/// arguments and errors are those of `fft`.
///
/// >>> flex.fft.irfft(flex.asarray([0, -2j, 0])).tolist()
/// [0.0, 1.0, 0.0, -1.0]
#[pyfunction]
#[pyo3(signature = (x, /, n = None, axis = -1, norm = None), text_signature = "(x, /, n=None, axis=-1, norm=\"backward\")")]
fn irfft(
    py: Python<'_>,
    x: OperandRef,
    n: Option<isize>,
    axis: isize,
    norm: Option<NormArg>,
) -> PyResult<PyTensor> {
    let how = one("irfft", n, axis, norm)?;
    x.compute(py, move |x| transforms::irfft(x, how))
}

/// The transform of a signal with Hermitian symmetry, whose spectrum is real.
///
/// x: the first half of the signal; the rest is its conjugate in reverse. n: the length of the result, by default 2 (m - 1).
/// The result is float32 or float64. Other arguments and errors are those of `fft`.
///
/// >>> flex.fft.hfft(flex.asarray([1.0, 2.0, 3.0])).tolist()
/// [8.0, -2.0, 0.0, -2.0]
#[pyfunction]
#[pyo3(signature = (x, /, n = None, axis = -1, norm = None), text_signature = "(x, /, n=None, axis=-1, norm=\"backward\")")]
fn hfft(
    py: Python<'_>,
    x: OperandRef,
    n: Option<isize>,
    axis: isize,
    norm: Option<NormArg>,
) -> PyResult<PyTensor> {
    let how = one("hfft", n, axis, norm)?;
    x.compute(py, move |x| transforms::hfft(x, how))
}

/// The inverse of `hfft`: the first half of a signal with Hermitian symmetry, from its real spectrum.
///
/// Arguments, dtypes and errors are those of `rfft`.
///
/// >>> flex.fft.ihfft(flex.asarray([8.0, -2.0, 0.0, -2.0])).tolist()
/// [(1-0j), (2-0j), (3-0j)]
#[pyfunction]
#[pyo3(signature = (x, /, n = None, axis = -1, norm = None), text_signature = "(x, /, n=None, axis=-1, norm=\"backward\")")]
fn ihfft(
    py: Python<'_>,
    x: OperandRef,
    n: Option<isize>,
    axis: isize,
    norm: Option<NormArg>,
) -> PyResult<PyTensor> {
    let how = one("ihfft", n, axis, norm)?;
    x.compute(py, move |x| transforms::ihfft(x, how))
}

/// The discrete Fourier transform along several axes, one after the other.
///
/// s: the lengths along the axes, by default their own. axes: by default all, or the last len(s). norm, dtypes and other errors are those of
/// `fft`; ValueError if s has another number of lengths than there are axes, AxisError if an axis is repeated.
///
/// >>> flex.fft.fftn(flex.asarray([[1.0, 2.0], [3.0, 4.0]])).tolist()
/// [[(10+0j), (-2+0j)], [(-4+0j), 0j]]
#[pyfunction]
#[pyo3(signature = (x, /, s = None, axes = None, norm = None), text_signature = "(x, /, s=None, axes=None, norm=\"backward\")")]
fn fftn(
    py: Python<'_>,
    x: OperandRef,
    s: Option<Ints>,
    axes: Option<Ints>,
    norm: Option<NormArg>,
) -> PyResult<PyTensor> {
    let how = several("fftn", s, axes, norm)?;
    x.compute(py, move |x| transforms::fftn(x, how.clone()))
}

/// `fftn` along the last two axes, or others.
///
/// >>> flex.fft.fft2(flex.ones((2, 2))).tolist()
/// [[(4+0j), 0j], [0j, 0j]]
#[pyfunction]
#[pyo3(signature = (x, /, s = None, axes = None, norm = None), text_signature = "(x, /, s=None, axes=(-2, -1), norm=\"backward\")")]
fn fft2(
    py: Python<'_>,
    x: OperandRef,
    s: Option<Ints>,
    axes: Option<Ints>,
    norm: Option<NormArg>,
) -> PyResult<PyTensor> {
    let how = several("fft2", s, axes, norm)?;
    x.compute(py, move |x| transforms::fft2(x, how.clone()))
}

/// The inverse of `fftn`, with its arguments, dtypes and errors.
///
/// >>> flex.fft.ifftn(flex.asarray([[10.0, -2.0], [-4.0, 0.0]])).real.tolist()
/// [[1.0, 2.0], [3.0, 4.0]]
#[pyfunction]
#[pyo3(signature = (x, /, s = None, axes = None, norm = None), text_signature = "(x, /, s=None, axes=None, norm=\"backward\")")]
fn ifftn(
    py: Python<'_>,
    x: OperandRef,
    s: Option<Ints>,
    axes: Option<Ints>,
    norm: Option<NormArg>,
) -> PyResult<PyTensor> {
    let how = several("ifftn", s, axes, norm)?;
    x.compute(py, move |x| transforms::ifftn(x, how.clone()))
}

/// `ifftn` along the last two axes, or others.
///
/// >>> flex.fft.ifft2(flex.ones((2, 2))).real.tolist()
/// [[1.0, 0.0], [0.0, 0.0]]
#[pyfunction]
#[pyo3(signature = (x, /, s = None, axes = None, norm = None), text_signature = "(x, /, s=None, axes=(-2, -1), norm=\"backward\")")]
fn ifft2(
    py: Python<'_>,
    x: OperandRef,
    s: Option<Ints>,
    axes: Option<Ints>,
    norm: Option<NormArg>,
) -> PyResult<PyTensor> {
    let how = several("ifft2", s, axes, norm)?;
    x.compute(py, move |x| transforms::ifft2(x, how.clone()))
}

/// The discrete Fourier transform of real numbers along several axes, halved along the last of them.
///
/// Arguments, dtypes and errors are those of `fftn`; DTypeError for complex numbers, ValueError for no axes.
///
/// >>> flex.fft.rfftn(flex.ones((3, 8))).shape
/// (3, 5)
#[pyfunction]
#[pyo3(signature = (x, /, s = None, axes = None, norm = None), text_signature = "(x, /, s=None, axes=None, norm=\"backward\")")]
fn rfftn(
    py: Python<'_>,
    x: OperandRef,
    s: Option<Ints>,
    axes: Option<Ints>,
    norm: Option<NormArg>,
) -> PyResult<PyTensor> {
    let how = several("rfftn", s, axes, norm)?;
    x.compute(py, move |x| transforms::rfftn(x, how.clone()))
}

/// `rfftn` along the last two axes, or others.
///
/// >>> flex.fft.rfft2(flex.ones((2, 3, 8))).shape
/// (2, 3, 5)
#[pyfunction]
#[pyo3(signature = (x, /, s = None, axes = None, norm = None), text_signature = "(x, /, s=None, axes=(-2, -1), norm=\"backward\")")]
fn rfft2(
    py: Python<'_>,
    x: OperandRef,
    s: Option<Ints>,
    axes: Option<Ints>,
    norm: Option<NormArg>,
) -> PyResult<PyTensor> {
    let how = several("rfft2", s, axes, norm)?;
    x.compute(py, move |x| transforms::rfft2(x, how.clone()))
}

/// The inverse of `rfftn`: real numbers from half of their spectrum.
///
/// s: the lengths of the result, the last one by default 2 (m - 1) for m elements along the last axis. The result is float32 or float64. Other
/// arguments and errors are those of `fftn`; ValueError for no axes.
///
/// >>> x = flex.asarray([[1.0, 2.0], [3.0, 4.0]])
/// >>> flex.fft.irfftn(flex.fft.rfftn(x)).tolist()
/// [[1.0, 2.0], [3.0, 4.0]]
#[pyfunction]
#[pyo3(signature = (x, /, s = None, axes = None, norm = None), text_signature = "(x, /, s=None, axes=None, norm=\"backward\")")]
fn irfftn(
    py: Python<'_>,
    x: OperandRef,
    s: Option<Ints>,
    axes: Option<Ints>,
    norm: Option<NormArg>,
) -> PyResult<PyTensor> {
    let how = several("irfftn", s, axes, norm)?;
    x.compute(py, move |x| transforms::irfftn(x, how.clone()))
}

/// `irfftn` along the last two axes, or others.
///
/// >>> flex.fft.irfft2(flex.ones((2, 3, 5))).shape
/// (2, 3, 8)
#[pyfunction]
#[pyo3(signature = (x, /, s = None, axes = None, norm = None), text_signature = "(x, /, s=None, axes=(-2, -1), norm=\"backward\")")]
fn irfft2(
    py: Python<'_>,
    x: OperandRef,
    s: Option<Ints>,
    axes: Option<Ints>,
    norm: Option<NormArg>,
) -> PyResult<PyTensor> {
    let how = several("irfft2", s, axes, norm)?;
    x.compute(py, move |x| transforms::irfft2(x, how.clone()))
}

/// The frequencies of the elements of `fft`.
///
/// 0, 1, .. and then -(n // 2), .., -1, each divided by n d. d: the distance of samples. dtype: float32 by default, or
/// float64. ValueError if n is less than 1; DTypeError for other dtypes.
///
/// >>> flex.fft.fftfreq(4, d=0.25).tolist()
/// [0.0, 1.0, -2.0, -1.0]
#[pyfunction]
#[pyo3(signature = (n, /, d = 1.0, *, dtype = None, device = None), text_signature = "(n, /, d=1.0, *, dtype=None, device=None)")]
fn fftfreq(
    n: isize,
    d: f64,
    dtype: Option<DTypeArg>,
    device: Option<Device>,
) -> PyResult<PyTensor> {
    let _ = device;
    let dtype = dtype.map_or(DType::DEFAULT_FLOAT, |d| d.0);
    Ok(PyTensor::new(transforms::fftfreq(
        count("fftfreq", "n", n)?,
        d,
        dtype,
    )?))
}

/// The frequencies of the elements of `rfft`: 0 to n // 2, each divided by n d.
///
/// Arguments and errors are those of `fftfreq`.
///
/// >>> flex.fft.rfftfreq(4, d=0.25).tolist()
/// [0.0, 1.0, 2.0]
#[pyfunction]
#[pyo3(signature = (n, /, d = 1.0, *, dtype = None, device = None), text_signature = "(n, /, d=1.0, *, dtype=None, device=None)")]
fn rfftfreq(
    n: isize,
    d: f64,
    dtype: Option<DTypeArg>,
    device: Option<Device>,
) -> PyResult<PyTensor> {
    let _ = device;
    let dtype = dtype.map_or(DType::DEFAULT_FLOAT, |d| d.0);
    Ok(PyTensor::new(transforms::rfftfreq(
        count("rfftfreq", "n", n)?,
        d,
        dtype,
    )?))
}

/// Shifts frequency 0 to the middle of axes.
///
/// x: of any dtype. axes: by default all. AxisError if one is out of range or repeated.
///
/// >>> flex.fft.fftshift(flex.fft.fftfreq(5, d=0.2)).tolist()
/// [-2.0, -1.0, 0.0, 1.0, 2.0]
#[pyfunction]
#[pyo3(signature = (x, /, axes = None))]
fn fftshift(py: Python<'_>, x: OperandRef, axes: Option<Ints>) -> PyResult<PyTensor> {
    let axes = axes.map(|a| a.0);
    x.compute(py, move |x| transforms::fftshift(x, axes.clone()))
}

/// The inverse of `fftshift`, with its arguments and errors.
///
/// >>> flex.fft.ifftshift(flex.asarray([-2, -1, 0, 1, 2])).tolist()
/// [0, 1, 2, -2, -1]
#[pyfunction]
#[pyo3(signature = (x, /, axes = None))]
fn ifftshift(py: Python<'_>, x: OperandRef, axes: Option<Ints>) -> PyResult<PyTensor> {
    let axes = axes.map(|a| a.0);
    x.compute(py, move |x| transforms::ifftshift(x, axes.clone()))
}

/// A module of its own, from which `flex/fft.py` takes its functions; their `__module__` is `flex.fft`.
pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    let module = PyModule::new(m.py(), "flex.fft")?;
    module.add_function(wrap_pyfunction!(fft, &module)?)?;
    module.add_function(wrap_pyfunction!(ifft, &module)?)?;
    module.add_function(wrap_pyfunction!(rfft, &module)?)?;
    module.add_function(wrap_pyfunction!(irfft, &module)?)?;
    module.add_function(wrap_pyfunction!(hfft, &module)?)?;
    module.add_function(wrap_pyfunction!(ihfft, &module)?)?;
    module.add_function(wrap_pyfunction!(fftn, &module)?)?;
    module.add_function(wrap_pyfunction!(fft2, &module)?)?;
    module.add_function(wrap_pyfunction!(ifftn, &module)?)?;
    module.add_function(wrap_pyfunction!(ifft2, &module)?)?;
    module.add_function(wrap_pyfunction!(rfftn, &module)?)?;
    module.add_function(wrap_pyfunction!(rfft2, &module)?)?;
    module.add_function(wrap_pyfunction!(irfftn, &module)?)?;
    module.add_function(wrap_pyfunction!(irfft2, &module)?)?;
    module.add_function(wrap_pyfunction!(fftfreq, &module)?)?;
    module.add_function(wrap_pyfunction!(rfftfreq, &module)?)?;
    module.add_function(wrap_pyfunction!(fftshift, &module)?)?;
    module.add_function(wrap_pyfunction!(ifftshift, &module)?)?;
    m.setattr("_fft", module)
}
