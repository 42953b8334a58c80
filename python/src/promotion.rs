//! The limits of dtypes and their promotion: `finfo`, `iinfo`, `isdtype`, `can_cast`,
//! `result_type`.

use super::cell::PyTensor;
use super::convert::{Operand, kind};
use super::default;
use super::dtype::{self, DTypeArg, PyDType, lookup};
use crate::convert::error::Raise;
use flex::dtype::Class;
use flex::{DType, Error, Scalar};
use flex::{dispatch, dispatch_class};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// The limits of a float dtype, or of the parts of a complex one, as Python floats.
#[pyclass(frozen, get_all, name = "finfo_object", module = "flex")]
struct FloatInfo {
    /// The number of bits.
    bits: usize,
    /// The distance from 1 to the next larger number.
    eps: f64,
    /// The largest finite number.
    max: f64,
    /// The smallest finite number.
    min: f64,
    /// The smallest positive number with full precision.
    smallest_normal: f64,
    dtype: Py<PyDType>,
}

/// The limits of an integer dtype.
#[pyclass(frozen, get_all, name = "iinfo_object", module = "flex")]
struct IntInfo {
    /// The number of bits.
    bits: usize,
    /// The largest value.
    max: i128,
    /// The smallest value.
    min: i128,
    dtype: Py<PyDType>,
}

#[pymethods]
impl FloatInfo {
    fn __repr__(&self) -> String {
        let FloatInfo {
            bits,
            eps,
            max,
            min,
            smallest_normal,
            dtype,
        } = self;
        format!(
            "finfo(bits={bits}, eps={eps:e}, max={max:e}, min={min:e}, \
                smallest_normal={smallest_normal:e}, dtype={})",
            dtype.get().get()
        )
    }
}
#[pymethods]
impl IntInfo {
    fn __repr__(&self) -> String {
        format!(
            "iinfo(bits={}, max={}, min={}, dtype={})",
            self.bits,
            self.max,
            self.min,
            self.dtype.get().get()
        )
    }
}

/// The dtype of a tensor, or the one named by an object.
fn dtype_of(x: &Bound<PyAny>) -> PyResult<DType> {
    if let Ok(t) = x.cast_exact::<PyTensor>() {
        return Ok(t.get().dtype_of());
    }
    if let Some(d) = lookup(x)? {
        return Ok(d);
    }
    match x.getattr("dtype") {
        Ok(d) => d.extract::<DTypeArg>().map(|d| d.0),
        Err(_) => x.extract::<DTypeArg>().map(|d| d.0),
    }
}

/// The limits of a float or complex dtype, or of a tensor's; DTypeError for others.
///
/// >>> flex.finfo(flex.bfloat16).eps
/// 0.0078125
#[function(r#type: "_Operand | _DType", / -> "_FloatInfo")]
fn finfo(py: Python<'_>, r#type: &Bound<PyAny>) -> PyResult<FloatInfo> {
    let dtype = dtype_of(r#type)?.real();
    let computed: Option<[f64; 3]> = dispatch!(floating dtype, |T| Some([T::EPSILON, T::MAX, T::MIN_POSITIVE].map(f64::from)), else None);
    let limits = computed.or(dispatch!(float8 dtype, |T| Some([T::EPSILON, T::MAX, T::MIN_POSITIVE].map(f64::from)), else None));
    let [eps, max, smallest_normal] = limits
        .ok_or_else(|| Error::dtype("finfo", format!("{dtype} is not a float dtype: use iinfo")))
        .raise()?;
    Ok(FloatInfo {
        bits: dtype.size() * 8,
        eps,
        max,
        min: -max,
        smallest_normal,
        dtype: dtype::object(py, dtype)?.unbind(),
    })
}

/// The limits of an integer dtype, or of a tensor's; DTypeError for others.
///
/// >>> flex.iinfo(flex.int8).max
/// 127
#[function(r#type: "_Operand | _DType", / -> "_IntInfo")]
fn iinfo(py: Python<'_>, r#type: &Bound<PyAny>) -> PyResult<IntInfo> {
    let dtype = dtype_of(r#type)?;
    let limits: Option<(i128, i128)> =
        dispatch!(integer dtype, |T| Some((T::MIN as i128, T::MAX as i128)), else None);
    let (min, max) = limits
        .ok_or_else(|| Error::dtype("iinfo", format!("{dtype} is not an integer dtype")))
        .raise()?;
    Ok(IntInfo {
        bits: dtype.size() * 8,
        max,
        min,
        dtype: dtype::object(py, dtype)?.unbind(),
    })
}

/// Whether a dtype is of a kind: `"bool"`, `"signed integer"`, `"unsigned integer"`, `"integral"`,
/// `"real floating"`, `"complex floating"`, `"numeric"`, a dtype, or one of a tuple of these.
/// ValueError for other kinds. A kind implies arithmetic: the 8-bit floats, which have none, are of
/// no kind.
///
/// >>> flex.isdtype(flex.uint8, "integral"), flex.isdtype(flex.uint8, (flex.int8, "real floating"))
/// (True, False)
#[function(dtype, kind: "str | _DType | tuple[str | _DType, ...]")]
pub fn isdtype(dtype: DTypeArg, kind: &Bound<PyAny>) -> PyResult<bool> {
    if let Ok(kinds) = kind.cast::<PyTuple>() {
        for k in kinds {
            if isdtype(dtype, &k)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    let d = dtype.0;
    if let Ok(name) = kind.cast::<PyString>() {
        let of_kind = match name.to_str()? {
            "bool" => d.is_bool(),
            "signed integer" => d.class() == Class::Signed,
            "unsigned integer" => d.class() == Class::Unsigned,
            "integral" => d.is_integer(),
            "real floating" => d.is_float(),
            "complex floating" => d.is_complex(),
            "numeric" => !d.is_bool(),
            other => {
                return Err(PyValueError::new_err(format!(
                    "isdtype: {other:?} is not a kind of dtypes: they are \"bool\", \"signed integer\", \"unsigned integer\", \"integral\", \
                     \"real floating\", \"complex floating\" and \"numeric\""
                )));
            }
        };
        return Ok(of_kind && !d.is_storage());
    }
    Ok(kind.extract::<DTypeArg>()?.0 == d)
}

/// Whether a tensor or dtype can be converted to another dtype by the rules of promotion, without
/// losing kind or range. TypeError for anything else.
///
/// >>> flex.can_cast(flex.int8, flex.int16), flex.can_cast(flex.float32, flex.int64)
/// (True, False)
#[function(from_: "_Operand | _DType", to, /)]
fn can_cast(from_: &Bound<PyAny>, to: DTypeArg) -> PyResult<bool> {
    Ok(dtype_of(from_)?
        .promote(to.0, "can_cast")
        .is_ok_and(|d| d == to.0))
}

/// The dtype of an operation on these tensors, dtypes and Python numbers; numbers take the others'
/// dtype. DTypeError if there is none.
///
/// >>> flex.result_type(flex.int8, flex.uint8), flex.result_type(flex.float16, 1)
/// (flex.int16, flex.float16)
#[function(*arrays_and_dtypes: "_Operand | _DType" -> "DType")]
fn result_type<'py>(
    py: Python<'py>,
    arrays_and_dtypes: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyDType>> {
    const OP: &str = "result_type";
    let mut strong: Option<DType> = None;
    let mut numbers: Vec<Scalar> = Vec::new();
    for x in arrays_and_dtypes {
        let dtype = match lookup(&x)? {
            Some(d) => d,
            None => match Operand::of(&x)? {
                Some(Operand::Tensor(t)) => t.dtype(),
                Some(Operand::Scalar(s)) => {
                    numbers.push(s);
                    continue;
                }
                None => {
                    return Err(PyTypeError::new_err(format!(
                        "{OP}: expected a tensor, a dtype or a number, got {}",
                        kind(&x)
                    )));
                }
            },
        };
        strong = Some(strong.map_or(Ok(dtype), |s| s.promote(dtype, OP)).raise()?);
    }
    // the number of the highest kind decides
    let number = numbers.into_iter().max_by_key(|s| s.class());
    let dtype = match (strong, number) {
        (Some(d), None) => d,
        (Some(d), Some(s)) => s.promote(d),
        (None, Some(s)) => default::of(s),
        (None, None) => {
            return Err(PyTypeError::new_err(format!(
                "{OP}: at least one tensor, dtype or number is needed"
            )));
        }
    };
    dtype::object(py, dtype)
}
