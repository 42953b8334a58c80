//! The one reader of lists, tuples and other iterables among the arguments.

use crate::convert::error::Raise;
use flex::bindings::push;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

/// The most items that are read of an iterable which is neither a list nor a tuple. These are in
/// memory already; others may never end, and what they say of their length is not believed.
const MOST: usize = 1 << 18;

/// Calls `f` with each item of an iterable. `false`, without a call, if `x` is none, or a string.
/// Lists and tuples are read at the length that they have at first.
pub fn each(x: &Bound<PyAny>, f: &mut dyn FnMut(&Bound<PyAny>) -> PyResult<()>) -> PyResult<bool> {
    if let Ok(t) = x.cast::<PyTuple>() {
        t.iter_borrowed().try_for_each(|i| f(&i))?;
        return Ok(true);
    }
    if let Ok(l) = x.cast::<PyList>() {
        l.iter().try_for_each(|i| f(&i))?;
        return Ok(true);
    }
    if x.is_instance_of::<PyString>() {
        return Ok(false);
    }
    let Ok(items) = x.try_iter() else {
        return Ok(false);
    };
    let endless = || {
        PyValueError::new_err(format!(
            "an iterable of more than {MOST} items, which may never end: pass a list of them"
        ))
    };
    // a length is believed only where it saves the reading
    if x.len().is_ok_and(|n| n > MOST) {
        return Err(endless());
    }
    for (k, item) in items.enumerate() {
        if k == MOST {
            return Err(endless());
        }
        f(&item?)?;
    }
    Ok(true)
}

/// The items of an iterable, each converted by `f`; `None` if `x` is no iterable, or a string.
pub fn items<'py, T>(
    x: &Bound<'py, PyAny>,
    mut f: impl FnMut(&Bound<PyAny>) -> PyResult<T>,
) -> PyResult<Option<Vec<T>>> {
    let mut all = Vec::new();
    let found = each(x, &mut |i| push(&mut all, f(i)?).raise())?;
    Ok(found.then_some(all))
}
