//! What a traced function uses from outside, and where (`flex/_places.py` finds it): tensors that are
//! read anew at each call, and other objects that must be as they were.

use super::kept::Kept;
use crate::cell::{FromOutside, PyTensor};
use crate::convert::Operand;
use crate::convert::error::Raise;
use crate::interop::bytes::as_bytes;
use flex::layout::Shape;
use flex::{DType, Tensor};
use pyo3::PyTraverseError;
use pyo3::exceptions::PyTypeError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyDict, PyFloat, PyFrozenSet, PyList, PyString, PyTuple};
use smallvec::SmallVec;

/// How a value is reached.
enum Access {
    Root(Py<PyAny>),
    /// An object among the arguments, by its number.
    Argument(usize),
    Attribute(usize, Py<PyString>),
    Item(usize, Py<PyAny>),
    Index(usize, usize),
    Call(usize),
}

/// What must hold for it.
enum Check {
    Any,
    /// A tensor; whether it is an array of NumPy.
    Tensor(Box<Expected>, bool),
    Equal(Py<PyAny>),
    Is(Kept),
    Type(Py<PyAny>),
    Sized(Py<PyAny>, usize),
    /// The same object as at another place.
    Same(usize),
    Absent,
    /// A dict without these keys.
    Lacks(Py<PyTuple>),
}

/// A tensor at a place.
struct Expected {
    dtype: DType,
    shape: Shape,
    /// The elements that the program holds for, if the function has read them.
    elements: Option<Tensor>,
}

struct Place {
    access: Access,
    check: Check,
}

/// The places of a function, each after the one that it is reached from.
#[derive(Default)]
pub struct Places(Vec<Place>);

/// What is at the places.
pub enum Read {
    /// The tensors, in the order of their places.
    Tensors(Vec<Tensor>),
    /// Something is not as it was.
    Changed,
    /// A tensor belongs to a function that this thread is tracing.
    Enclosing,
}

/// A place as `flex/_places.py` has it.
type Found<'py> = (
    isize,
    Bound<'py, PyString>,
    Bound<'py, PyAny>,
    Bound<'py, PyString>,
    Bound<'py, PyAny>,
    usize,
);

/// The objects at places, as far as they are there.
type Values<'py> = SmallVec<[Option<Bound<'py, PyAny>>; 8]>;

/// A tensor that a trace takes as an input.
pub struct Candidate<'py> {
    pub tensor: Tensor,
    /// Its object, unless that is an array of NumPy.
    pub object: Option<Bound<'py, PyTensor>>,
}

impl Places {
    /// The places that a function can reach, by itself and through these arguments, and the tensors
    /// there. `None` if one belongs to a function that this thread is tracing.
    pub fn find<'py>(
        py: Python<'py>,
        f: &Py<PyAny>,
        arguments: &[Py<PyAny>],
    ) -> PyResult<Option<(Places, Vec<Candidate<'py>>)>> {
        let find = py.import("flex._places")?.getattr("find")?;
        let given: Vec<_> = arguments.iter().map(|x| x.bind(py)).collect();
        let found: Vec<Found> = find.call1((f, PyList::new(py, given)?))?.extract()?;
        let (mut places, mut tensors) = (Places::default(), Vec::new());
        let mut values = Values::new();
        for (parent, access, key, check, value, size) in found {
            let from = parent.unsigned_abs();
            let access = match access.to_str()? {
                "root" => Access::Root(key.unbind()),
                "argument" => Access::Argument(key.extract()?),
                "attribute" => Access::Attribute(from, key.cast_into::<PyString>()?.unbind()),
                "item" => Access::Item(from, key.unbind()),
                "index" => Access::Index(from, key.extract()?),
                _ => Access::Call(from),
            };
            let at = access.value(py, arguments, &values);
            let check = match check.to_str()? {
                "equal" => Check::Equal(value.unbind()),
                "is" => Check::Is(Kept::new(&value)),
                "type" => Check::Type(value.unbind()),
                "sized" => Check::Sized(value.unbind(), size),
                "same" => Check::Same(size),
                "absent" => Check::Absent,
                "lacks" => Check::Lacks(value.cast_into::<PyTuple>()?.unbind()),
                "any" => Check::Any,
                "tensor" | "array" => match candidate(at.as_ref())? {
                    Some(Some(x)) => {
                        let check = Check::of(&x.tensor, x.object.is_none());
                        tensors.push(x);
                        check
                    }
                    Some(None) => return Ok(None),
                    None => Check::Any, // its use is an error
                },
                other => unreachable!("the check {other}"),
            };
            values.push(at);
            places.0.push(Place { access, check });
        }
        Ok(Some((places, tensors)))
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// What is at the places.
    pub fn read(&self, py: Python<'_>, arguments: &[Py<PyAny>]) -> PyResult<Read> {
        let (mut values, mut tensors) = (Values::new(), Vec::new());
        for place in &self.0 {
            let value = place.access.value(py, arguments, &values);
            if let Check::Tensor(expected, is_array) = &place.check {
                let tensor = match &value {
                    Some(x) => match x.cast_exact::<PyTensor>() {
                        Ok(t) if !is_array => match t.get().outside(py)? {
                            FromOutside::Tensor(t) => Some(t),
                            FromOutside::Enclosing => return Ok(Read::Enclosing),
                            FromOutside::Escaped => None,
                        },
                        Err(_) if *is_array => array(x)?,
                        _ => None,
                    },
                    None => None,
                };
                match tensor {
                    Some(t) if expected.fits(&t)? => tensors.push(t),
                    _ => return Ok(Read::Changed),
                }
            } else if !place.check.holds(py, value.as_ref(), &values) {
                return Ok(Read::Changed);
            }
            values.push(value);
        }
        Ok(Read::Tensors(tensors))
    }
    /// The shapes of the tensors.
    pub fn shapes(&self) -> impl Iterator<Item = &[usize]> {
        self.0.iter().filter_map(|place| match &place.check {
            Check::Tensor(expected, _) => Some(&expected.shape[..]),
            _ => None,
        })
    }
    /// The places that matter to a program, after the function has run: what it changed itself is not
    /// checked, and tensors that it has not used are left out. `uses` says for each tensor whether it
    /// is used and whether its elements were read; `elements` are those. Also returns the numbers
    /// of the tensors that remain.
    pub fn settle(
        mut self,
        py: Python<'_>,
        arguments: &[Py<PyAny>],
        uses: impl Fn(usize) -> [bool; 2],
        elements: impl Fn(usize) -> flex::Result<Tensor>,
    ) -> PyResult<(Places, Vec<usize>)> {
        let (mut values, mut number) = (Values::new(), 0);
        let mut remain = Vec::new();
        let mut dropped = vec![false; self.0.len()];
        for at in 0..self.0.len() {
            let value = self.0[at].access.value(py, arguments, &values);
            let traced = |x: &Bound<PyTensor>| x.get().traced_value(|x| x.mark.is_here());
            if let Some(t) = value.as_ref().and_then(|x| x.cast_exact::<PyTensor>().ok())
                && traced(t) == Some(true)
            {
                return Err(self.assigned(py, at));
            }
            let holds = self.0[at].check.holds(py, value.as_ref(), &values);
            let place = &mut self.0[at];
            match &mut place.check {
                Check::Tensor(expected, is_array) => {
                    let [used, looked] = uses(number);
                    if looked {
                        expected.elements = Some(elements(number).raise()?);
                    }
                    if used || looked {
                        remain.push(number);
                    } else if matches!(place.access, Access::Attribute(..) | Access::Item(..)) {
                        let kind = match is_array {
                            true => value.as_ref().map(|x| x.get_type()),
                            false => Some(py.get_type::<PyTensor>()),
                        };
                        place.check = match kind {
                            Some(kind) => Check::Type(kind.into_any().unbind()),
                            None => Check::Any,
                        };
                    } else {
                        (place.check, dropped[at]) = (Check::Any, true);
                    }
                    number += 1;
                }
                Check::Same(k) if dropped[*k] => place.check = Check::Any,
                _ if !holds => place.check = Check::Any,
                _ => {}
            }
            values.push(value);
        }
        self.prune();
        Ok((self, remain))
    }
    /// Drops places that nothing depends on.
    fn prune(&mut self) {
        let mut needed = vec![false; self.0.len()];
        for at in (0..self.0.len()).rev() {
            let Place { access, check } = &self.0[at];
            needed[at] |= !matches!(check, Check::Any);
            if needed[at] {
                let same = match check {
                    Check::Same(k) => Some(*k),
                    _ => None,
                };
                access
                    .parent()
                    .into_iter()
                    .chain(same)
                    .for_each(|k| needed[k] = true);
            }
        }
        let mut count = 0;
        let to: Vec<usize> = needed
            .iter()
            .map(|n| {
                count += *n as usize;
                count.saturating_sub(1)
            })
            .collect();
        let all = core::mem::take(&mut self.0);
        for (mut place, _) in all.into_iter().zip(&needed).filter(|(_, needed)| **needed) {
            if let Some(k) = place.access.parent_mut() {
                *k = to[*k];
            }
            if let Check::Same(k) = &mut place.check {
                *k = to[*k];
            }
            self.0.push(place);
        }
    }
    /// The error for a function that assigns a value without elements to a place.
    fn assigned(&self, py: Python<'_>, at: usize) -> PyErr {
        let what = match &self.0[at].access {
            Access::Attribute(_, name) if name.bind(py) == "cell_contents" => {
                String::from("a variable of an enclosing function")
            }
            Access::Attribute(_, name) => format!("the attribute {}", name.bind(py)),
            Access::Item(_, key) => format!("{:?}", key.bind(py)),
            Access::Index(_, k) => format!("entry {k} of a list"),
            _ => String::from("an object from outside"),
        };
        PyTypeError::new_err(format!(
            "flex.fuse can't trace this function: it assigns a tensor that it computes to {what}, which would happen once, and \
             not at each call. Return the tensor, and assign it where the function is called"
        ))
    }
    /// Visits the objects that are held.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        for Place { access, check } in &self.0 {
            match access {
                Access::Root(x) | Access::Item(_, x) => visit.call(x)?,
                _ => {}
            }
            match check {
                Check::Equal(x) | Check::Type(x) | Check::Sized(x, _) => visit.call(x)?,
                Check::Is(x) => x.traverse(visit)?,
                _ => {}
            }
        }
        Ok(())
    }
}

impl Access {
    fn parent(&self) -> Option<usize> {
        match self {
            Access::Root(_) | Access::Argument(_) => None,
            Access::Attribute(k, _)
            | Access::Item(k, _)
            | Access::Index(k, _)
            | Access::Call(k) => Some(*k),
        }
    }
    fn parent_mut(&mut self) -> Option<&mut usize> {
        match self {
            Access::Root(_) | Access::Argument(_) => None,
            Access::Attribute(k, _)
            | Access::Item(k, _)
            | Access::Index(k, _)
            | Access::Call(k) => Some(k),
        }
    }
    /// The object there, given those at earlier places.
    fn value<'py>(
        &self,
        py: Python<'py>,
        arguments: &[Py<PyAny>],
        values: &Values<'py>,
    ) -> Option<Bound<'py, PyAny>> {
        let from = |k: usize| values[k].as_ref();
        match self {
            Access::Root(x) => Some(x.bind(py).clone()),
            Access::Argument(k) => arguments.get(*k).map(|x| x.bind(py).clone()),
            Access::Attribute(k, name) => from(*k)?.getattr_opt(name.bind(py)).ok()?,
            Access::Item(k, key) => from(*k)?
                .cast::<PyDict>()
                .ok()?
                .get_item(key.bind(py))
                .ok()?,
            Access::Index(k, at) => match from(*k)? {
                x if let Ok(x) = x.cast::<PyList>() => x.get_item(*at).ok(),
                x if let Ok(x) = x.cast::<PyTuple>() => x.get_item(*at).ok(),
                x => x.get_item(*at).ok(),
            },
            Access::Call(k) => from(*k)?.call0().ok(),
        }
    }
}

impl Check {
    /// The check for this tensor.
    fn of(t: &Tensor, is_array: bool) -> Check {
        let expected = Expected {
            dtype: t.dtype(),
            shape: Shape::from_slice(t.shape()),
            elements: None,
        };
        Check::Tensor(Box::new(expected), is_array)
    }
    /// Whether it holds for an object, given those at earlier places. Tensors are checked elsewhere.
    fn holds(&self, py: Python<'_>, x: Option<&Bound<'_, PyAny>>, values: &Values) -> bool {
        let Some(x) = x else {
            return matches!(self, Check::Absent | Check::Any);
        };
        match self {
            Check::Any | Check::Tensor(..) => true,
            Check::Equal(y) => is_equal(x, y.bind(py)),
            Check::Is(y) => y.is(x),
            Check::Type(kind) => x.get_type().is(kind),
            Check::Sized(kind, n) => x.get_type().is(kind) && x.len().is_ok_and(|m| m == *n),
            Check::Same(k) => values[*k].as_ref().is_some_and(|y| x.is(y)),
            Check::Absent => false,
            Check::Lacks(keys) => x.cast::<PyDict>().is_ok_and(|x| {
                let has = |key: Bound<'_, PyAny>| x.contains(key).unwrap_or(true);
                !keys.bind(py).iter().any(has)
            }),
        }
    }
}

impl Expected {
    /// Whether a tensor can take its place; of shapes only the ranks are compared.
    fn fits(&self, t: &Tensor) -> PyResult<bool> {
        Ok(t.dtype() == self.dtype
            && t.rank() == self.shape.len()
            && match &self.elements {
                Some(own) => has_elements(t, own).raise()?,
                None => true,
            })
    }
}

/// Whether two objects are the same value of the same type, with the sign of zeros.
fn is_equal(x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> bool {
    if x.is(y) {
        return true;
    }
    if let (Ok(x), Ok(y)) = (x.cast_exact::<PyFloat>(), y.cast_exact::<PyFloat>()) {
        return x.value().to_bits() == y.value().to_bits();
    }
    if let (Ok(x), Ok(y)) = (x.cast_exact::<PyTuple>(), y.cast_exact::<PyTuple>()) {
        return x.len() == y.len() && x.iter().zip(y.iter()).all(|(x, y)| is_equal(&x, &y));
    }
    // a set is compared with what it contained
    let same_type = x.get_type().is(y.get_type()) || y.is_instance_of::<PyFrozenSet>();
    // the parts of complex numbers have signs, too, which their text shows
    let same_text = || !y.is_instance_of::<PyComplex>() || x.to_string() == y.to_string();
    same_type && x.eq(y).unwrap_or(false) && same_text()
}

/// Whether a tensor has these elements. As tensors are values, one that shares their memory does,
/// unless others may write to that.
fn has_elements(t: &Tensor, own: &Tensor) -> flex::Result<bool> {
    if t.shape() != own.shape() {
        return Ok(false);
    }
    let same_memory = t.as_ptr() == own.as_ptr() && t.layout() == own.layout();
    if same_memory && t.storage().is_owned() {
        return Ok(true);
    }
    let bytes = |t: &Tensor| as_bytes(&t.contiguous()?)?.to_vec::<u8>();
    Ok(bytes(t)? == bytes(own)?)
}

/// The tensor that an array of NumPy is borrowed as.
fn array(x: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    Ok(match Operand::of(x) {
        Ok(Some(Operand::Tensor(t))) => Some(t),
        _ => None, // of another dtype
    })
}

/// The object at a place of a tensor: `Some(None)` if it belongs to a function that this thread is
/// tracing.
fn candidate<'py>(x: Option<&Bound<'py, PyAny>>) -> PyResult<Option<Option<Candidate<'py>>>> {
    let Some(x) = x else { return Ok(None) };
    let Ok(t) = x.cast_exact::<PyTensor>() else {
        return Ok(array(x)?.map(|tensor| {
            Some(Candidate {
                tensor,
                object: None,
            })
        }));
    };
    Ok(match t.get().outside(x.py())? {
        FromOutside::Tensor(tensor) => {
            let object = Some(t.clone());
            Some(Some(Candidate { tensor, object }))
        }
        FromOutside::Enclosing => Some(None),
        FromOutside::Escaped => None,
    })
}
