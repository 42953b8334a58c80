//! Set functions: distinct elements and membership. Several results are named tuples, whose classes
//! are in `flex/_results.py`.

use super::cell::PyTensor;
use super::convert::{Compared, Operand, TensorArg, compute, detached, operand_beside};
use super::values::tuple;
use crate::convert::error::Raise;
use flex::{Tensor, ops};
use pyo3::prelude::*;

/// The tensors as a named tuple.
fn named<'py>(py: Python<'py>, class: &str, tensors: Vec<Tensor>) -> PyResult<Bound<'py, PyAny>> {
    py.import("flex._results")?
        .getattr(class)?
        .call1(tuple(py, tensors)?)
}

/// The distinct elements, their indices, the inverse, and their counts.
///
/// x: a tensor of any shape, which is flattened (DTypeError for float8). The result is a named
/// tuple: `values`, in ascending order, of the dtype of x; `indices` of the first occurrences;
/// `inverse_indices`, of the shape of x, which reconstruct x from the values; `counts`. All but the
/// values are int64. Each NaN is distinct, and zeros of both signs are equal; complex numbers are
/// ordered by real part, then imaginary part.
///
/// >>> u = flex.unique_all(flex.asarray([3, 1, 3]))
/// >>> u.values.tolist(), u.indices.tolist(), u.inverse_indices.tolist(), u.counts.tolist()
/// ([1, 3], [1, 0], [1, 0, 1], [1, 2])
#[function(x, / -> "UniqueAllResult")]
fn unique_all<'py>(py: Python<'py>, x: TensorArg) -> PyResult<Bound<'py, PyAny>> {
    let u = detached(py, x.0.len(), || ops::unique_all(&x.0))?;
    named(
        py,
        "UniqueAllResult",
        vec![u.values, u.indices, u.inverse, u.counts],
    )
}

/// The distinct elements in ascending order, and their counts (int64): the named tuple `values`,
/// `counts`, as in `unique_all`.
///
/// >>> values, counts = flex.unique_counts(flex.asarray([3, 1, 3]))
/// >>> values.tolist(), counts.tolist()
/// ([1, 3], [1, 2])
#[function(x, / -> "UniqueCountsResult")]
fn unique_counts<'py>(py: Python<'py>, x: TensorArg) -> PyResult<Bound<'py, PyAny>> {
    let (values, counts) = detached(py, x.0.len(), || ops::unique_counts(&x.0))?;
    named(py, "UniqueCountsResult", vec![values, counts])
}

/// The distinct elements in ascending order, and for each element of x the index of its value
/// (int64, in the shape of x): the named tuple `values`, `inverse_indices`, as in `unique_all`.
///
/// >>> values, inverse = flex.unique_inverse(flex.asarray([3, 1, 3]))
/// >>> values[inverse].tolist()
/// [3, 1, 3]
#[function(x, / -> "UniqueInverseResult")]
fn unique_inverse<'py>(py: Python<'py>, x: TensorArg) -> PyResult<Bound<'py, PyAny>> {
    let (values, inverse) = detached(py, x.0.len(), || ops::unique_inverse(&x.0))?;
    named(py, "UniqueInverseResult", vec![values, inverse])
}

/// The distinct elements in ascending order, as a 1-dimensional tensor: the values of `unique_all`.
///
/// >>> flex.unique_values(flex.asarray([[3, 1], [3, 2]])).tolist()
/// [1, 2, 3]
#[function(x, /)]
fn unique_values(py: Python<'_>, x: TensorArg) -> PyResult<PyTensor> {
    compute(py, x.0.len(), || ops::unique_values(&x.0))
}

/// Whether each element of `x1` is in `x2`; with `invert`, whether it is not.
///
/// x1, x2: tensors of any shapes, or numbers; x2 may be a list. The result is bool, of the shape of
/// x1. NaN equals no element; integers are compared with floats exactly. DTypeError for complex
/// numbers, or if there is no common dtype.
///
/// >>> flex.isin(flex.asarray([1, 2, 3]), flex.asarray([3, 1])).tolist()
/// [True, False, True]
#[function(x1, x2: "_Nested", /, *, invert = false)]
fn isin(
    py: Python<'_>,
    x1: Compared<'_>,
    x2: &Bound<'_, PyAny>,
    invert: bool,
) -> PyResult<PyTensor> {
    let x1 = x1.take(py)?;
    let x2 = match operand_beside(x2, x1.dtype(), true)? {
        Some(list) => Operand::Tensor(list),
        None => x2.extract::<Compared>()?.take(py)?,
    };
    let (x1, x2) = match (x1, x2) {
        (Operand::Tensor(a), b) => (a.clone(), b.tensor_to_compare(a.dtype()).raise()?),
        (a, Operand::Tensor(b)) => (a.tensor_to_compare(b.dtype()).raise()?, b),
        (a, b) => (a.tensor().raise()?, b.tensor().raise()?),
    };
    compute(py, x1.len().saturating_add(x2.len()), || {
        let found = ops::isin(&x1, &x2)?;
        if invert {
            ops::logical_not(found)
        } else {
            Ok(found)
        }
    })
}
