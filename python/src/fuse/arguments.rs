//! The arguments of a call: the part that identifies a program, and the part that is passed to it.

use crate::cell::PyTensor;
use crate::convert::Operand;
use crate::deferred::trace;
use crate::number::{self, TracedNumber};
use flex::{DType, Scalar, Tensor};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyString, PyTuple};
use smallvec::SmallVec;

/// The part of the arguments that identifies a program: everything but the elements of tensors.
#[derive(Default)]
pub struct ProgramKey {
    /// The nesting, dtypes and ranks, and all other objects.
    pub form: SmallVec<[u64; 12]>,
    pub sizes: SmallVec<[usize; 8]>,
    /// Sizes replaced by numbers, equal for equal sizes; 0 and 1 stay as they are.
    pub pattern: SmallVec<[usize; 8]>,
    /// Floats.
    pub floats: Vec<f64>,
    /// Whether others see the memory of each tensor, so that a write makes a copy.
    pub shared: SmallVec<[bool; 4]>,
}

/// The deepest nesting of arguments and results.
const DEEPEST: usize = 200;

/// How much deeper arguments or results may be nested.
#[derive(Clone, Copy)]
pub struct Depth(usize);

impl Depth {
    /// At arguments or results themselves.
    pub const TOP: Depth = Depth(DEEPEST);
    /// One level deeper. Errors if that is too deep, as it is for a list that contains itself.
    pub fn deeper(self) -> PyResult<Depth> {
        self.0.checked_sub(1).map(Depth).ok_or_else(|| {
            PyValueError::new_err(format!(
                "fuse: arguments and results are tuples, lists and dicts nested up to {DEEPEST} deep; this one is nested \
                 deeper, or contains itself"
            ))
        })
    }
}

/// The arguments of a call.
#[derive(Default)]
pub struct Arguments<'py> {
    pub key: ProgramKey,
    pub tensors: Vec<Tensor>,
    /// The objects that the tensors came in, by index.
    pub objects: SmallVec<[Option<Bound<'py, PyTensor>>; 4]>,
    pub kept: Vec<Py<PyAny>>,
    /// Whether one belongs to a function that is being traced.
    pub traced: bool,
}

impl<'py> Arguments<'py> {
    /// Adds an argument.
    pub fn push(&mut self, x: &Bound<'py, PyAny>) -> PyResult<()> {
        self.push_at(x, Depth::TOP)
    }
    fn push_at(&mut self, x: &Bound<'py, PyAny>, depth: Depth) -> PyResult<()> {
        const TENSOR: u64 = 1;
        if TracedNumber::of(x)?.is_some() {
            self.traced = true;
            return Ok(());
        }
        let form = &mut self.key.form;
        if let Ok(t) = x.cast_exact::<PyTensor>() {
            if trace::is_traced(t.get()) {
                self.traced = true;
                return Ok(());
            }
            t.get().compute_queued(x.py())?;
            let is_shared = |x: &Tensor| x.storage().is_shared() || !x.storage().is_owned();
            let (shared, tensor) = t.get().read(|x| (is_shared(x), x.clone()));
            self.key.shared.push(shared);
            form.extend_from_slice(&[TENSOR, tensor.dtype() as u64, tensor.rank() as u64]);
            self.key.sizes.extend_from_slice(tensor.shape());
            self.tensors.push(tensor);
            self.objects.push(Some(t.clone()));
        } else if let Ok(items) = x.cast::<PyTuple>() {
            let depth = depth.deeper()?;
            form.extend([2, items.len() as u64]);
            items.iter().try_for_each(|x| self.push_at(&x, depth))?;
        } else if let Ok(items) = x.cast::<PyList>() {
            let depth = depth.deeper()?;
            form.extend([3, items.len() as u64]);
            items.iter().try_for_each(|x| self.push_at(&x, depth))?;
        } else if let Ok(items) = x.cast::<PyDict>() {
            let depth = depth.deeper()?;
            form.extend([4, items.len() as u64]);
            for (key, x) in items {
                let floats = self.key.floats.len();
                self.push_at(&key, depth)?;
                // floats in a dict's key are part of the form
                let own = self.key.floats.drain(floats..);
                self.key.form.extend(own.map(f64::to_bits));
                self.push_at(&x, depth)?;
            }
        } else if let Ok(f) = x.cast_exact::<PyFloat>() {
            form.push(12);
            self.key.floats.push(f.value());
        } else if x.is_none() {
            form.push(5);
        } else if let Ok(s) = x.cast::<PyString>() {
            let bytes = s.to_str()?.as_bytes();
            form.extend([6, bytes.len() as u64]);
            form.extend(bytes.iter().map(|b| *b as u64));
        } else {
            match Operand::of(x)? {
                Some(Operand::Tensor(tensor)) => {
                    form.extend_from_slice(&[TENSOR, tensor.dtype() as u64, tensor.rank() as u64]);
                    self.key.sizes.extend_from_slice(tensor.shape());
                    self.tensors.push(tensor);
                    self.objects.push(None);
                    self.key.shared.push(true);
                }
                Some(Operand::Scalar(s)) => form.extend(match s {
                    Scalar::Bool(b) => [7, b as u64, 0],
                    Scalar::Int(i) => [8, i as u64, (i >> 64) as u64],
                    Scalar::Float(f) => [9, f.to_bits(), 0],
                    Scalar::Complex(a, b) => {
                        [10 ^ b.to_bits().rotate_left(8), a.to_bits(), b.to_bits()]
                    }
                }),
                None => {
                    form.extend([11, x.as_ptr() as u64]);
                    self.kept.push(x.clone().unbind());
                }
            }
        }
        Ok(())
    }
    /// Computes the pattern of sizes, after all arguments were added.
    pub fn find_pattern(&mut self) {
        let sizes = &self.key.sizes;
        let number = |n: &usize| match n {
            0 | 1 => *n,
            n => 2 + sizes.iter().position(|m| m == n).unwrap_or(0),
        };
        self.key.pattern = sizes.iter().map(number).collect();
    }
    /// `x` with tensors and floats replaced by traced objects.
    pub fn traced(
        x: &Bound<'py, PyAny>,
        floats: &number::FloatArguments<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = x.py();
        let all = |items: &mut dyn Iterator<Item = Bound<'py, PyAny>>| {
            items
                .map(|x| Arguments::traced(&x, floats))
                .collect::<PyResult<Vec<_>>>()
        };
        let object = |shape: &[usize], dtype: DType| -> PyResult<Bound<'py, PyAny>> {
            Ok(Bound::new(py, trace::argument(shape, dtype)?)?.into_any())
        };
        if let Ok(t) = x.cast_exact::<PyTensor>() {
            let t = t.get().tensor(py)?;
            return object(t.shape(), t.dtype());
        }
        if let Ok(items) = x.cast::<PyTuple>() {
            let items = PyTuple::new(py, all(&mut items.iter())?)?;
            let class = x.get_type();
            // named tuples
            return match class.hasattr("_make")? {
                true => class.call_method1("_make", (items,)),
                false => Ok(items.into_any()),
            };
        }
        if let Ok(items) = x.cast::<PyList>() {
            return Ok(PyList::new(py, all(&mut items.iter())?)?.into_any());
        }
        if let Ok(items) = x.cast::<PyDict>() {
            let dict = PyDict::new(py);
            for (key, x) in items {
                dict.set_item(key, Arguments::traced(&x, floats)?)?;
            }
            return Ok(dict.into_any());
        }
        if let Ok(f) = x.cast_exact::<PyFloat>() {
            return floats.add(f);
        }
        match x.is_none() || x.is_instance_of::<PyString>() {
            true => Ok(x.clone()),
            false => match Operand::of(x)? {
                Some(Operand::Tensor(t)) => object(t.shape(), t.dtype()),
                _ => Ok(x.clone()),
            },
        }
    }
}
