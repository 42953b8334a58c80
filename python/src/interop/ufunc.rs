//! NumPy's ufuncs on Tensors (`__array_ufunc__`, NEP 13), its other functions (`__array_function__`,
//! NEP 18, in `python/flex/_numpy.py`), and `out=` arrays.
//!
//! A plain call of tensors, arrays and numbers is flex's function of that name. Every other call is
//! computed by NumPy on the tensors' memory, which it reads in place: ufuncs and dtypes that flex
//! doesn't have (those of `scipy.special`, the square of bool), calls with `out=`, `where=` or `dtype=`, and the
//! methods `reduce`, `accumulate`, `reduceat` and `outer`. Either way results are Tensors; arrays
//! given as `out` are filled and returned.

use super::numpy;
use crate::cell::PyTensor;
use crate::convert::error::{DTypeError, ShapeError};
use crate::convert::{Ints, asarray, kind, scalar};
use crate::dtype::lookup;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

#[pymethods]
impl PyTensor {
    /// NumPy's ufuncs on Tensors: flex's functions of that name, so that `array + t` and
    /// `numpy.exp(t)` are computed by flex. Other ufuncs, calls with `out=`, `where=` or `dtype=`,
    /// and the methods `reduce`, `accumulate` and `outer` are computed by NumPy on the tensors'
    /// memory. Results are Tensors; arrays given as `out` are filled and returned.
    #[pyo3(signature = (ufunc, method, *inputs, **arguments))]
    fn __array_ufunc__<'py>(
        &self,
        ufunc: &Bound<'py, PyAny>,
        method: &str,
        inputs: &Bound<'py, PyTuple>,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let plain = method == "__call__" && arguments.is_none_or(|a| a.is_empty());
        if plain
            && let Some(function) = flex_function(ufunc)?
            && are_operands(inputs)?
        {
            return match function.call1(inputs) {
                // NumPy computes more dtypes, such as the square of bool
                Err(e) if e.is_instance_of::<DTypeError>(ufunc.py()) => {
                    on_arrays(ufunc, method, inputs, arguments).or(Err(e))
                }
                result => result,
            };
        }
        on_arrays(ufunc, method, inputs, arguments)
    }
    /// NumPy's other functions on Tensors: flex's functions of that meaning, so that
    /// `numpy.sort(t)` and `numpy.concatenate([t, array])` are computed by flex. What flex lacks is
    /// computed by NumPy on the tensors' memory. Arrays among the results are Tensors.
    fn __array_function__<'py>(
        &self,
        py: Python<'py>,
        func: &Bound<'py, PyAny>,
        types: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        py.import("flex._numpy")?
            .call_method1("dispatch", (func, types, args, kwargs))
    }
}

/// Whether all are operands of flex's functions, and none has a `__array_ufunc__` of its own to
/// defer to.
fn are_operands(inputs: &Bound<PyTuple>) -> PyResult<bool> {
    for x in inputs {
        if !(x.is_exact_instance_of::<PyTensor>()
            || numpy::is_plain_array(&x)?
            || scalar(&x)?.is_some())
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Has NumPy compute on arrays that share the tensors' memory.
fn on_arrays<'py>(
    ufunc: &Bound<'py, PyAny>,
    method: &str,
    inputs: &Bound<'py, PyTuple>,
    arguments: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = ufunc.py();
    if method == "at" && inputs.get_item(0)?.is_exact_instance_of::<PyTensor>() {
        let message = "a ufunc's at() writes to its first argument, but a Tensor is a value: write t[indices] = ..., or use \
                       flex.scatter_add";
        return Err(PyTypeError::new_err(message));
    }
    let borrowed = |x: Bound<'py, PyAny>| match x.cast_exact::<PyTensor>() {
        Ok(t) => numpy::array(py, t.get().tensor(py)?),
        Err(_) => Ok(x),
    };
    let inputs = PyTuple::new(
        py,
        inputs.iter().map(borrowed).collect::<PyResult<Vec<_>>>()?,
    )?;
    let keywords = PyDict::new(py);
    let mut given: Option<Bound<PyTuple>> = None;
    for (name, value) in arguments.into_iter().flatten() {
        if name.eq("out")? {
            let out = value.cast_into::<PyTuple>()?; // NumPy wraps it in a tuple
            out.iter().try_for_each(|x| refuse_tensor(&x))?;
            keywords.set_item(name, &out)?;
            given = Some(out);
        } else {
            keywords.set_item(name, borrowed(value)?)?;
        }
    }
    let result = ufunc.getattr(method)?.call(inputs, Some(&keywords))?;
    let is_given = |x: &Bound<PyAny>| given.iter().flatten().any(|o| o.is(x));
    let tensor = |x: Bound<'py, PyAny>| if is_given(&x) { Ok(x) } else { as_tensor(x) };
    match result.cast::<PyTuple>() {
        Ok(several) => several
            .iter()
            .map(tensor)
            .collect::<PyResult<Vec<_>>>()
            .and_then(|r| Ok(PyTuple::new(py, r)?.into_any())),
        Err(_) => tensor(result),
    }
}

/// A Tensor of a NumPy array or scalar; the object itself if flex doesn't have its dtype, or it is
/// of a class derived from arrays.
fn as_tensor(x: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let numpys = numpy::is_plain_array(&x)? || numpy::is_scalar(&x)?;
    if numpys && lookup(&x.getattr("dtype")?)?.is_some() {
        asarray(&x, None, None).map(Bound::into_any)
    } else {
        Ok(x)
    }
}

/// Refuses a Tensor as `out`: a tensor is written only by itself.
fn refuse_tensor(out: &Bound<PyAny>) -> PyResult<()> {
    if out.is_exact_instance_of::<PyTensor>() {
        let message = "out is a Tensor, which is a value and can't be written to: assign the \
            result, as in t = f(x) or t[...] = f(x)";
        return Err(PyTypeError::new_err(message));
    }
    Ok(())
}

/// The result of a function with an argument `out`, which NumPy passes when it calls a method
/// (`numpy.sum(t, out=array)`): the array filled with the result, or without one the result itself.
pub fn into_out<'py>(
    py: Python<'py>,
    result: PyTensor,
    out: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let Some(out) = out else {
        return result.into_bound_py_any(py);
    };
    refuse_tensor(&out)?;
    let result = result.get();
    let shape = out.getattr("shape").and_then(|s| s.extract::<Ints>());
    let shape = shape.and_then(|s| s.shape("out", "shape")).map_err(|_| {
        PyTypeError::new_err(format!(
            "out must be a writable NumPy array, not {}",
            kind(&out)
        ))
    })?;
    if shape[..] != *result.shape() {
        return Err(ShapeError::new_err(format!(
            "out has shape {shape:?}, the result {:?}",
            result.shape()
        )));
    }
    // refuses to lower the kind of the numbers, as ufuncs do
    py.import("numpy")?
        .call_method1("copyto", (&out, numpy::array(py, result)?))?;
    Ok(out)
}

/// flex's function for a ufunc of NumPy; `None` if there is none.
fn flex_function<'py>(ufunc: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    /// NumPy's names that differ from the standard's.
    const RENAMED: [(&str, &str); 16] = [
        ("absolute", "abs"),
        ("arccos", "acos"),
        ("arccosh", "acosh"),
        ("arcsin", "asin"),
        ("arcsinh", "asinh"),
        ("arctan", "atan"),
        ("arctan2", "atan2"),
        ("arctanh", "atanh"),
        ("conjugate", "conj"),
        ("invert", "bitwise_invert"),
        ("left_shift", "bitwise_left_shift"),
        ("right_shift", "bitwise_right_shift"),
        ("power", "pow"),
        ("rint", "round"),
        ("true_divide", "divide"),
        ("mod", "remainder"),
    ];
    static FLEX: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let py = ufunc.py();
    let name: String = ufunc.getattr("__name__")?.extract()?;
    let name = RENAMED
        .iter()
        .find(|(theirs, _)| *theirs == name)
        .map_or(name.as_str(), |(_, ours)| ours);
    let flex = FLEX
        .get_or_try_init(py, || py.import("flex").map(Bound::unbind))?
        .bind(py);
    flex.getattr_opt(name)
}
