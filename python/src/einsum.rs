//! Sums of products over labelled dimensions, as `numpy.einsum` writes them.

use super::cell::PyTensor;
use super::convert::error::Raise;
use super::convert::{Ints, Operand, OperandRef, compute, integer, kind, sequence};
use super::dtype::DTypeArg;
use flex::ops::{self, EinsumOptions, EinsumOrder};
use flex::{DType, Scalar, Tensor};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyList, PyString, PyTuple};

/// The letters of labels that are integers.
const LETTERS: &[u8; 52] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The subscripts of both call forms, and the operands: `f("ij,jk", a, b)` or `f(a, [0, 1], b, [1,
/// 2])`, which may end with the labels of the output.
fn arguments<'py, T>(
    op: &str,
    subscripts: &Bound<'py, PyAny>,
    operands: &Bound<'py, PyTuple>,
    operand: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<(String, Vec<T>)> {
    let named = |k: usize, x: &Bound<'py, PyAny>| {
        operand(x).map_err(|e| match e.is_instance_of::<PyTypeError>(x.py()) {
            true => PyTypeError::new_err(format!("{op}: operand {k}: {}", e.value(x.py()))),
            false => e,
        })
    };
    if let Ok(text) = subscripts.cast::<PyString>() {
        let all = operands.iter().enumerate().map(|(k, x)| named(k, &x));
        let surrogate = |_| {
            PyValueError::new_err(format!(
                "{op}: subscripts are a string with a lone surrogate"
            ))
        };
        let text = text.to_str().map_err(surrogate)?.to_owned();
        return Ok((text, all.collect::<PyResult<_>>()?));
    }
    let (mut text, mut all) = (String::new(), Vec::new());
    let mut items = std::iter::once(subscripts.clone()).chain(operands.iter());
    while let Some(item) = items.next() {
        let Some(labels) = items.next() else {
            if all.is_empty() {
                return Err(no_labels(op, &item));
            }
            text.push_str("->");
            append_labels(op, &item, &mut text)?;
            break;
        };
        if !all.is_empty() {
            text.push(',');
        }
        all.push(named(all.len(), &item)?);
        append_labels(op, &labels, &mut text)?;
    }
    Ok((text, all))
}

/// Appends a list of integers and `...` as letters.
fn append_labels(op: &str, labels: &Bound<PyAny>, text: &mut String) -> PyResult<()> {
    let mut append = |label: &Bound<PyAny>| {
        if label.is_instance_of::<PyEllipsis>() {
            text.push_str("...");
            return Ok(());
        }
        let label = integer(label)?;
        let letter = usize::try_from(label).ok().and_then(|k| LETTERS.get(k));
        let letter = letter.ok_or_else(|| {
            PyValueError::new_err(format!("{op}: label {label} is not one of 0 to 51"))
        })?;
        text.push(*letter as char);
        Ok(())
    };
    match sequence::each(labels, &mut append)? {
        true => Ok(()),
        false => Err(no_labels(op, labels)),
    }
}

fn no_labels(op: &str, given: &Bound<PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "{op}: expected subscripts as a string, or a list of integers after each operand, got {}",
        kind(given)
    ))
}

/// `optimize`, with NumPy's values.
fn options(op: &str, optimize: &Bound<PyAny>) -> PyResult<EinsumOptions> {
    let of = |order| EinsumOptions {
        order,
        ..EinsumOptions::default()
    };
    let unknown = || {
        let given = optimize
            .repr()
            .map_or_else(|_| kind(optimize), |r| r.to_string());
        PyValueError::new_err(format!(
            "{op}: optimize is {given}; it is a bool, 'greedy', 'optimal', a pair of these and the most elements \
             of an intermediate result, or a path such as ['einsum_path', (0, 1), (0, 1)]"
        ))
    };
    let named = |name: &Bound<PyString>| match name.to_str() {
        Ok("greedy") => Ok(of(EinsumOrder::Greedy)),
        Ok("optimal") => Ok(of(EinsumOrder::Optimal)),
        _ => Err(unknown()),
    };
    if let Ok(optimize) = optimize.cast::<PyBool>() {
        return Ok(of(match optimize.is_true() {
            true => EinsumOrder::Best,
            false => EinsumOrder::Given,
        }));
    }
    if let Ok(name) = optimize.cast::<PyString>() {
        return named(name);
    }
    let mut rest: Vec<Bound<PyAny>> = match (optimize.cast::<PyList>(), optimize.cast::<PyTuple>())
    {
        (Ok(list), _) => list.iter().collect(),
        (_, Ok(tuple)) => tuple.iter().collect(),
        _ => return Err(unknown()),
    };
    let is_named = rest.first().is_some_and(|x| x.is_instance_of::<PyString>());
    let name = is_named.then(|| rest.remove(0).cast_into::<PyString>());
    match name.transpose()? {
        Some(name) if name != "einsum_path" => {
            let [limit] = &rest[..] else {
                return Err(unknown());
            };
            let limit: f64 = limit.extract().map_err(|_| unknown())?;
            Ok(EinsumOptions {
                limit: (limit >= 0.0).then_some(limit as usize),
                ..named(&name)?
            })
        }
        _ => {
            let step = |step: &Bound<PyAny>| {
                let positions = step.extract::<Ints>().map_err(|_| unknown())?.0.into_iter();
                let positions = positions.map(|k| usize::try_from(k).map_err(|_| unknown()));
                positions.collect::<PyResult<Vec<_>>>()
            };
            let path = rest.iter().map(step).collect::<PyResult<Vec<_>>>()?;
            Ok(of(EinsumOrder::Path(path)))
        }
    }
}

/// The sum of products of operands whose dimensions are named by letters (Einstein's summation), as
/// in numpy.einsum.
///
/// subscripts: the letters of each operand's dimensions, separated by commas, and after `->` those
/// of the result; other letters are summed over. A letter that one operand has twice takes its
/// diagonal. `...` stands for dimensions without letters, which broadcast. Without `->` the result
/// has the dimensions under `...` and the letters that occur once, in alphabetical order. Instead, a
/// list of integers from 0 to 51, and `...`, may follow each operand, and one for the result. dtype:
/// the dtype that operands are converted to; by default their common one. Integers wrap, 16-bit
/// floats are summed in float32 and rounded once. optimize: the order in which operands are
/// contracted, which only affects speed and rounding: True for a good one, False for that in which
/// they are given, or `'greedy'`, `'optimal'`, or a path of einsum_path. What only permutes
/// dimensions or takes diagonals is a view. ValueError if subscripts or a path are malformed;
/// ShapeError if they don't fit the shapes; DTypeError for bool, unless nothing is computed, or
/// without a common dtype.
///
/// >>> a, x = flex.asarray([[1, 2], [3, 4]]), flex.asarray([10, 1])
/// >>> flex.einsum("ij,j->i", a, x).tolist(), flex.einsum("ii", a).item()
/// ([12, 34], 5)
/// >>> flex.einsum(a, [0, 1], x, [1], [0]).tolist()
/// [12, 34]
#[function(subscripts: "str | _Operand", /, *operands: "_Operand | Sequence[SupportsIndex | EllipsisType]", dtype = None, optimize: "bool | str | Sequence[Any]" = true -> "Tensor")]
fn einsum(
    py: Python<'_>,
    subscripts: &Bound<'_, PyAny>,
    operands: &Bound<'_, PyTuple>,
    dtype: Option<DTypeArg>,
    optimize: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyTensor> {
    const OP: &str = "einsum";
    let mut options = optimize.map_or(Ok(EinsumOptions::default()), |o| options(OP, o))?;
    options.dtype = dtype.map(|d| d.0);
    let (text, given) = arguments(OP, subscripts, operands, |x| x.extract::<Operand>())?;
    // a number takes the dtype that it has beside the tensors
    let dtypes = given.iter().filter_map(|x| match x {
        Operand::Tensor(t) => Some(t.dtype()),
        Operand::Scalar(_) => None,
    });
    let beside = dtypes.reduce(|a, b| a.promote(b, OP).unwrap_or(a));
    let tensors = given.into_iter().map(|x| match beside {
        Some(dtype) => x.tensor_like(dtype),
        None => x.tensor(),
    });
    let tensors: Vec<Tensor> = tensors.collect::<flex::Result<_>>().raise()?;
    let elements = tensors.iter().map(Tensor::len);
    let work = elements.fold(1, usize::saturating_mul);
    compute(py, work, || ops::einsum_with(&text, &tensors, &options))
}

/// The order in which einsum contracts operands, and its costs: a path for its `optimize`, and a
/// text.
///
/// subscripts, operands, optimize: as for einsum; only the operands' shapes matter. The path has the
/// positions of the operands that each step contracts; these are removed from the list of operands,
/// and the result is appended. Errors as for einsum.
///
/// >>> a, x = flex.ones((3, 3)), flex.ones(3)
/// >>> path, text = flex.einsum_path("ij,jk,k->i", a, a, x)
/// >>> path
/// ['einsum_path', (1, 2), (0, 1)]
#[function(subscripts: "str | _Operand", /, *operands: "_Operand | Sequence[SupportsIndex | EllipsisType]", optimize: "bool | str | Sequence[Any]" = "greedy" -> "tuple[list[Any], str]")]
fn einsum_path<'py>(
    py: Python<'py>,
    subscripts: &Bound<'py, PyAny>,
    operands: &Bound<'py, PyTuple>,
    optimize: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyList>, String)> {
    const OP: &str = "einsum_path";
    let greedy = EinsumOptions {
        order: EinsumOrder::Greedy,
        ..EinsumOptions::default()
    };
    let options = optimize.map_or(Ok(greedy), |o| options(OP, o))?;
    // of this shape, without elements of its own
    let shaped = |x: &Bound<'py, PyAny>| {
        let shape = x.extract::<OperandRef>()?.shape();
        let one = Tensor::scalar(Scalar::Bool(false), DType::Bool);
        one.and_then(|one| one.broadcast_to(&shape)).raise()
    };
    let (text, shapes) = arguments(OP, subscripts, operands, shaped)?;
    let path = ops::einsum_path(&text, &shapes, &options)
        .map_err(|e| e.named(OP))
        .raise()?;
    let steps = PyList::new(py, ["einsum_path"])?;
    for step in path.steps() {
        steps.append(PyTuple::new(py, step)?)?;
    }
    Ok((steps, path.to_string()))
}
