//! `t[...]` and `t[...] = value`.

use super::cell::PyTensor;
use super::convert::{self, Operand, kind};
use super::deferred::{self, trace};
use super::{values, whole};
use crate::convert::error::Raise;
use flex::layout::slice_bounds;
use flex::ops::{self, Index};
use flex::{DType, Tensor};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PyList, PyRange, PySlice, PyTuple};
use smallvec::{SmallVec, smallvec};

type Items = SmallVec<[Index; 4]>;

#[pymethods]
impl PyTensor {
    fn __getitem__(slf: &Bound<'_, Self>, key: &Bound<PyAny>) -> PyResult<PyTensor> {
        // the most common key, without a list of items
        if let Ok(key) = key.cast::<PySlice>() {
            let item = slice(key)?;
            return PyTensor::view(slf, move |t, dtype| match &item {
                Index::Slice { start, stop, step } if t.rank() > 0 && *step != 0 => {
                    let (first, count) = slice_bounds(*start, *stop, *step, t.shape()[0]);
                    Ok(t.slice(0, first, *step as isize, count))
                }
                item => ops::index::basic_view(t, dtype, core::slice::from_ref(item)),
            });
        }
        if let Some(positions) = integers(key) {
            return PyTensor::view(slf, move |t, dtype| {
                ops::index::view_at(t, dtype, &positions)
            });
        }
        if is_traced(key)
            && let Some(y) = whole::method(slf, "__getitem__", core::slice::from_ref(key))
        {
            return y;
        }
        let items = parse(key)?;
        if !items
            .iter()
            .any(|i| matches!(i, Index::Mask(_) | Index::Array(_)))
        {
            // no elements are moved
            return PyTensor::view(slf, move |t, dtype| {
                ops::index::basic_view(t, dtype, &items)
            });
        }
        if let Some(y) = whole::method(slf, "__getitem__", core::slice::from_ref(key)) {
            return y;
        }
        let t = slf.get().tensor(key.py())?;
        convert::compute(key.py(), t.len(), || ops::get(&t, &items))
    }
    fn __setitem__(slf: &Bound<Self>, key: &Bound<PyAny>, value: &Bound<PyAny>) -> PyResult<()> {
        // SAFETY: a live object, with the interpreter attached.
        if unsafe { ffi::Py_REFCNT(slf.as_ptr()) } == 1 {
            warn_of_lost_write(slf)?;
        }
        if let Some(done) = whole::assign(slf, key, value) {
            return done;
        }
        let this = slf.get();
        let dtype = this.dtype_of();
        if let Some(positions) = integers(key)
            && let Some(number) = convert::python_number(value)
        {
            let value = number.value(dtype, "set").raise()?;
            deferred::stream::before_write(key.py(), this)?;
            return this.update(
                key.py(),
                |t| written(t, positions.len()),
                |t| ops::index::set_number(t, &positions, &value),
            );
        }
        let items = parse(key)?;
        let value = match convert::values_for(value, dtype)? {
            Some(t) => t,
            None => match value.extract()? {
                Operand::Tensor(t) => t,
                Operand::Scalar(s) => {
                    Tensor::filled(&[], dtype, &s.value(dtype, "set").raise()?).raise()?
                }
            },
        };
        deferred::stream::before_write(key.py(), this)?;
        this.update(
            key.py(),
            |t| {
                let is_integer = |item: &&Index| matches!(item, Index::Int(_));
                written(t, items.iter().take_while(is_integer).count())
            },
            |t| ops::set(t, &items, &value),
        )
    }
    fn __delitem__(&self, _key: &Bound<PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "the elements of a tensor can't be deleted",
        ))
    }
}

/// The most elements that setting items writes of which the first are so many integers: those of a
/// slice, unless the whole tensor is copied.
fn written(t: &mut Tensor, integers: usize) -> usize {
    let leading = t.shape().iter().take(integers);
    let n = leading.fold(t.len(), |n, size| n / (*size).max(1));
    if convert::is_short(n) && t.get_mut_ptr().is_none() {
        t.len()
    } else {
        n
    }
}

/// Warns that a write to a tensor is lost if the interpreter's stack holds its only reference, as
/// in `t[0][1] = 5`. From Python 3.14 on the stack borrows the references of local variables, which
/// are searched first.
#[cold]
fn warn_of_lost_write(t: &Bound<PyTensor>) -> PyResult<()> {
    let py = t.py();
    if py.version_info() >= (3, 14) {
        let frame = py.import("sys")?.getattr("_getframe")?.call0()?;
        for local in frame
            .getattr("f_locals")?
            .call_method0("values")?
            .try_iter()?
        {
            if local?.is(t) {
                return Ok(());
            }
        }
    }
    let message = c"this write is lost: tensors are values, and it changes a temporary that nothing else refers to. \
        Write t[0, 1] = 5 for t[0][1] = 5; give other views, such as t.T, a name, write to that, and use it";
    PyErr::warn(
        py,
        &py.get_type::<convert::error::ChainedAssignmentWarning>(),
        message,
        1,
    )
}

/// Whether a traced tensor is among the items between the brackets, and none of bools, which would
/// decide the result's shape.
fn is_traced(key: &Bound<PyAny>) -> bool {
    let dtype = |x: &Bound<PyAny>| {
        let t = x.cast_exact::<PyTensor>().ok()?.get();
        trace::is_traced(t).then(|| t.dtype_of())
    };
    let mut dtypes: SmallVec<[DType; 4]> = SmallVec::new();
    match key.cast::<PyTuple>() {
        Ok(keys) => dtypes.extend(keys.iter().filter_map(|x| dtype(&x))),
        Err(_) => dtypes.extend(dtype(key)),
    }
    !dtypes.is_empty() && !dtypes.contains(&DType::Bool)
}

/// The integers between the brackets, if there is nothing else: the most common keys, which need no
/// list of items.
#[inline]
fn integers(key: &Bound<PyAny>) -> Option<SmallVec<[i64; 6]>> {
    let integer = |x: &Bound<PyAny>| {
        // bool is a subclass
        x.cast_exact::<PyInt>().ok()?;
        let mut overflow = 0;
        // SAFETY: a live integer, with the interpreter attached, and a number to write to.
        let i = unsafe { ffi::PyLong_AsLongLongAndOverflow(x.as_ptr(), &mut overflow) };
        (overflow == 0).then_some(i)
    };
    match key.cast_exact::<PyTuple>() {
        Ok(keys) if keys.is_empty() => None,
        Ok(keys) => keys.iter_borrowed().map(|k| integer(&k)).collect(),
        Err(_) => integer(key).map(|i| smallvec![i]),
    }
}

/// The items between the brackets.
fn parse(key: &Bound<PyAny>) -> PyResult<Items> {
    let mut items = Items::new();
    match key.cast::<PyTuple>() {
        Ok(keys) => keys
            .iter_borrowed()
            .try_for_each(|k| item(&k).map(|i| items.push(i)))?,
        Err(_) => items.push(item(key)?),
    }
    Ok(items)
}

fn item(x: &Bound<PyAny>) -> PyResult<Index> {
    if let Ok(s) = x.cast::<PySlice>() {
        return slice(s);
    }
    if let Ok(b) = x.cast::<PyBool>() {
        return Ok(Index::Mask(
            Tensor::scalar(b.is_true(), DType::Bool).raise()?,
        ));
    }
    if x.is_instance_of::<PyInt>() {
        return position(x);
    }
    if x.is_none() {
        return Ok(Index::NewAxis);
    }
    if x.is_instance_of::<PyEllipsis>() {
        return Ok(Index::Ellipsis);
    }
    if x.is_instance_of::<PyList>() || x.is_instance_of::<PyRange>() {
        let dtype = (x.len()? == 0).then_some(DType::DEFAULT_INT);
        return array(x, convert::asarray(x, dtype, None)?.get().tensor(x.py())?);
    }
    match Operand::of(x)? {
        Some(Operand::Tensor(t)) => array(x, t),
        Some(Operand::Scalar(flex::Scalar::Int(_))) => position(x),
        Some(Operand::Scalar(flex::Scalar::Bool(b))) => {
            Ok(Index::Mask(Tensor::scalar(b, DType::Bool).raise()?))
        }
        _ => x
            .call_method0("__index__")
            .map_err(|_| no_index(kind(x)))
            .and_then(|i| position(&i)),
    }
}

fn no_index(what: String) -> PyErr {
    let message = "a tensor is indexed by integers, slices (:), ellipsis (...), None, and tensors \
        or lists of integers or bools";
    PyIndexError::new_err(format!("{message}, not by {what}"))
}

/// A tensor of integers or bools; a single integer is an index.
fn array(x: &Bound<PyAny>, t: Tensor) -> PyResult<Index> {
    if t.dtype().is_bool() {
        Ok(Index::Mask(t))
    } else if !t.dtype().is_integer() {
        Err(no_index(format!("{} of {}", kind(x), t.dtype())))
    } else if t.rank() == 0 {
        position(&values::item(x.py(), &t, "index")?)
    } else {
        Ok(Index::Array(t))
    }
}

/// An integer as an index: beyond 64 bits it is out of range for every axis.
fn position(x: &Bound<PyAny>) -> PyResult<Index> {
    x.extract::<i64>().map(Index::Int).map_err(|_| {
        let x = convert::shown(x);
        PyIndexError::new_err(format!("index {x} is out of range for every axis"))
    })
}

/// A slice. Its bounds are clamped to 64 bits, like those of Python's lists; absent ones are beyond
/// the end of any tensor.
fn slice(x: &Bound<PySlice>) -> PyResult<Index> {
    let (mut start, mut stop, mut step) = (0, 0, 0);
    // SAFETY: a live slice, with the GIL held, and three numbers to write to.
    match unsafe { ffi::PySlice_Unpack(x.as_ptr(), &mut start, &mut stop, &mut step) } {
        0 => Ok(Index::Slice {
            start: Some(start as i64),
            stop: Some(stop as i64),
            step: step as i64,
        }),
        _ => Err(PyErr::fetch(x.py())),
    }
}
