//! Results that are stored in tensors of the caller.

use super::PyTensor;
use super::arguments::Arguments;
use crate::convert::error::Raise;
use crate::convert::sequence::items;
use flex::layout::Shape;
use flex::{Error, Tensor};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The tensors given as `out`, for a call with these arguments. Errors if they are not `count`
/// different tensors, or if one is donated.
pub fn targets<'py>(
    out: &Bound<'py, PyAny>,
    count: usize,
    arguments: &Arguments<'py>,
    donate: &[usize],
) -> PyResult<Vec<Bound<'py, PyTensor>>> {
    let expected = || {
        PyTypeError::new_err(format!(
            "fuse: out must be {count} tensors, one for each result"
        ))
    };
    let targets: Vec<Bound<'py, PyTensor>> = match out.cast::<PyTensor>() {
        Ok(t) => vec![t.clone()],
        Err(_) => match items(out, |x| Ok(x.cast::<PyTensor>()?.clone().unbind())) {
            Ok(Some(all)) => all.into_iter().map(|x| x.into_bound(out.py())).collect(),
            _ => return Err(expected()),
        },
    };
    if targets.len() != count {
        return Err(expected());
    }
    for (k, t) in targets.iter().enumerate() {
        if let Some(j) = targets[..k].iter().position(|x| x.is(t)) {
            return Err(PyValueError::new_err(format!(
                "fuse: out has the same tensor for results {j} and {k}"
            )));
        }
        let is_donated = |k: &&usize| {
            let object = arguments.objects.get(**k).and_then(Option::as_ref);
            object.is_some_and(|x| x.is(t))
        };
        if let Some(k) = donate.iter().find(is_donated) {
            return Err(PyValueError::new_err(format!(
                "fuse: tensor {k} is donated, so it can't be out as well: out is enough"
            )));
        }
    }
    Ok(targets)
}

/// Moves results into these tensors.
pub fn fill(targets: &[Bound<'_, PyTensor>], outputs: Vec<Tensor>) -> PyResult<()> {
    for (t, y) in targets.iter().zip(&outputs) {
        t.get().compute_queued(t.py())?;
        let (shape, dtype) = t
            .get()
            .about(|layout, dtype| (Shape::from_slice(layout.shape()), dtype));
        if dtype != y.dtype() {
            let message = format!("out has dtype {dtype}, the result {}", y.dtype());
            return Err(Error::dtype("fuse", message).raise());
        }
        if &shape[..] != y.shape() {
            let operands = [("out", &shape[..], dtype), ("result", y.shape(), y.dtype())];
            let what = "out does not have the result's shape";
            return Err(Error::shape_of("fuse", what, &operands).raise());
        }
    }
    for (t, y) in targets.iter().zip(outputs) {
        drop(t.get().replace(y));
    }
    Ok(())
}
