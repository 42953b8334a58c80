//! Whether tensors are equal, or nearly.

use super::cell::PyTensor;
use super::convert::{TensorArg, compute, detached};
use flex::ops::{self, Allclose};
use pyo3::prelude::*;

/// Whether each element of x1 is within `atol + rtol * abs(x2)` of that of x2, in float64.
///
/// x1, x2: of any dtypes with a common one (DTypeError), which broadcast (ShapeError). equal_nan:
/// whether NaN is close to NaN. Infinities are close to themselves alone.
///
/// >>> flex.isclose(flex.asarray([1.0, 2.0]), flex.asarray([1.0 + 1e-7, 2.1])).tolist()
/// [True, False]
#[function(x1, x2, /, rtol = 1e-5, atol = 1e-8, equal_nan = false)]
fn isclose(
    py: Python<'_>,
    x1: TensorArg,
    x2: TensorArg,
    rtol: f64,
    atol: f64,
    equal_nan: bool,
) -> PyResult<PyTensor> {
    let within = Allclose {
        rtol,
        atol,
        equal_nan,
    };
    let work = x1.0.len().max(x2.0.len());
    compute(py, work, || ops::isclose(&x1.0, &x2.0, within))
}

/// Whether all elements are close, as with `isclose`: a Python bool. Arguments and errors are those
/// of `isclose`.
///
/// >>> flex.allclose(flex.asarray([1.0, 2.0]), flex.asarray([1.0, 2.0 + 1e-7]))
/// True
#[function(x1, x2, /, rtol = 1e-5, atol = 1e-8, equal_nan = false)]
fn allclose(
    py: Python<'_>,
    x1: TensorArg,
    x2: TensorArg,
    rtol: f64,
    atol: f64,
    equal_nan: bool,
) -> PyResult<bool> {
    let within = Allclose {
        rtol,
        atol,
        equal_nan,
    };
    let work = x1.0.len().max(x2.0.len());
    detached(py, work, || ops::allclose(&x1.0, &x2.0, within))
}

/// Whether the shapes and all elements are equal, as numbers of any dtypes: a Python bool.
///
/// equal_nan: whether NaN equals NaN. DTypeError for float8.
///
/// >>> flex.array_equal(flex.asarray([1, 2]), flex.asarray([1.0, 2.0]))
/// True
#[function(x1, x2, /, equal_nan = false)]
fn array_equal(py: Python<'_>, x1: TensorArg, x2: TensorArg, equal_nan: bool) -> PyResult<bool> {
    detached(py, x1.0.len(), || ops::array_equal(&x1.0, &x2.0, equal_nan))
}
