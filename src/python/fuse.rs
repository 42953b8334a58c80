//! `flex.fuse`: functions that are traced once and run as programs.

use super::cell::PyTensor;
use super::convert::{Operand, is_short, kind};
use super::trace::{self, Trace};
use super::whole;
use crate::layout::Shape;
use crate::stream::{Program, Rounding};
use crate::{DType, Error, Scalar, Tensor};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use std::sync::{Arc, Mutex, PoisonError};

/// Programs that a function keeps; the oldest goes.
const KEPT: usize = 256;

/// A function that runs fused: see `flex.fuse`.
#[pyclass(frozen, dict, weakref, name = "Fused", module = "flex")]
pub struct Fused {
    f: Py<PyAny>,
    donate: Vec<usize>,
    rounding: Rounding,
    traced: Mutex<Vec<Arc<Entry>>>,
}

/// What a call of some arguments was traced to.
struct Entry {
    /// What arguments it serves.
    key: Key,
    /// Whether it serves these shapes alone.
    by_shape: bool,
    /// Objects that the key knows by their address.
    _kept: Vec<Py<PyAny>>,
    program: Program,
    constants: Vec<Tensor>,
    result: Form,
}

/// Arguments, but for the elements of tensors.
#[derive(Default, PartialEq)]
struct Key {
    /// How they are nested, dtypes, ranks, what is no tensor.
    form: Vec<u64>,
    sizes: Vec<usize>,
    /// Sizes by number: which are equal; 0 and 1 are themselves.
    pattern: Vec<usize>,
}

/// How results are nested.
enum Form {
    Output(usize),
    Object(Py<PyAny>),
    Tuple(Vec<Form>),
    List(Vec<Form>),
    Dict(Vec<(Py<PyAny>, Form)>),
}

/// The arguments of a call.
#[derive(Default)]
struct Arguments<'py> {
    key: Key,
    tensors: Vec<Tensor>,
    /// Objects in which tensors came, by number.
    objects: Vec<Option<Bound<'py, PyTensor>>>,
    kept: Vec<Py<PyAny>>,
    /// Whether one belongs to a function that is being traced.
    traced: bool,
}

impl<'py> Arguments<'py> {
    fn push(&mut self, x: &Bound<'py, PyAny>) -> PyResult<()> {
        const TENSOR: u64 = 1;
        let form = &mut self.key.form;
        if let Ok(t) = x.cast_exact::<PyTensor>() {
            if trace::is_traced(t.get()) {
                self.traced = true;
                return Ok(());
            }
            let tensor = t.get().get();
            form.extend([TENSOR, tensor.dtype() as u64, tensor.rank() as u64]);
            self.key.sizes.extend_from_slice(tensor.shape());
            self.tensors.push(tensor);
            self.objects.push(Some(t.clone()));
        } else if let Ok(items) = x.cast::<PyTuple>() {
            form.extend([2, items.len() as u64]);
            items.iter().try_for_each(|x| self.push(&x))?;
        } else if let Ok(items) = x.cast::<PyList>() {
            form.extend([3, items.len() as u64]);
            items.iter().try_for_each(|x| self.push(&x))?;
        } else if let Ok(items) = x.cast::<PyDict>() {
            form.extend([4, items.len() as u64]);
            for (key, x) in items {
                self.push(&key)?;
                self.push(&x)?;
            }
        } else if x.is_none() {
            form.push(5);
        } else if let Ok(s) = x.cast::<PyString>() {
            let bytes = s.to_str()?.as_bytes();
            form.extend([6, bytes.len() as u64]);
            form.extend(bytes.iter().map(|b| *b as u64));
        } else {
            match Operand::of(x)? {
                Some(Operand::Tensor(tensor)) => {
                    form.extend([TENSOR, tensor.dtype() as u64, tensor.rank() as u64]);
                    self.key.sizes.extend_from_slice(tensor.shape());
                    self.tensors.push(tensor);
                    self.objects.push(None);
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
    fn find_pattern(&mut self) {
        let sizes = &self.key.sizes;
        let number = |n: &usize| match n {
            0 | 1 => *n,
            n => 2 + sizes.iter().position(|m| m == n).unwrap_or(0),
        };
        self.key.pattern = sizes.iter().map(number).collect();
    }
    /// `x` with objects that are traced in the place of tensors.
    fn traced(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = x.py();
        let all = |items: &mut dyn Iterator<Item = Bound<'py, PyAny>>| {
            items
                .map(|x| Arguments::traced(&x))
                .collect::<PyResult<Vec<_>>>()
        };
        let object = |shape: &[usize], dtype: DType| -> PyResult<Bound<'py, PyAny>> {
            Ok(Bound::new(py, trace::argument(shape, dtype)?)?.into_any())
        };
        if let Ok(t) = x.cast_exact::<PyTensor>() {
            let t = t.get().get();
            return object(t.shape(), t.dtype());
        }
        if let Ok(items) = x.cast::<PyTuple>() {
            let items = PyTuple::new(py, all(&mut items.iter())?)?;
            let class = x.get_type();
            // a named tuple
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
                dict.set_item(key, Arguments::traced(&x)?)?;
            }
            return Ok(dict.into_any());
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

impl Form {
    /// The form of a result, whose values go to `outputs`.
    fn of(
        x: &Bound<'_, PyAny>,
        trace: &Trace,
        outputs: &mut Vec<crate::stream::Value>,
    ) -> PyResult<Form> {
        if let Ok(t) = x.cast_exact::<PyTensor>()
            && let Some(value) = trace.value_of(t.get())
        {
            outputs.push(value);
            return Ok(Form::Output(outputs.len() - 1));
        }
        if let Ok(items) = x.cast_exact::<PyTuple>() {
            let forms = items.iter().map(|x| Form::of(&x, trace, outputs));
            return Ok(Form::Tuple(forms.collect::<PyResult<_>>()?));
        }
        if let Ok(items) = x.cast_exact::<PyList>() {
            let forms = items.iter().map(|x| Form::of(&x, trace, outputs));
            return Ok(Form::List(forms.collect::<PyResult<_>>()?));
        }
        if let Ok(items) = x.cast_exact::<PyDict>() {
            let form = |(key, x): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
                Ok((key.unbind(), Form::of(&x, trace, outputs)?))
            };
            return Ok(Form::Dict(items.iter().map(form).collect::<PyResult<_>>()?));
        }
        Ok(Form::Object(x.clone().unbind()))
    }
    /// The result of these tensors.
    fn build<'py>(&self, py: Python<'py>, outputs: &[Tensor]) -> PyResult<Bound<'py, PyAny>> {
        let all = |forms: &[Form]| {
            forms
                .iter()
                .map(|f| f.build(py, outputs))
                .collect::<PyResult<Vec<_>>>()
        };
        Ok(match self {
            Form::Output(k) => Bound::new(py, PyTensor::new(outputs[*k].clone()))?.into_any(),
            Form::Object(x) => x.bind(py).clone(),
            Form::Tuple(forms) => PyTuple::new(py, all(forms)?)?.into_any(),
            Form::List(forms) => PyList::new(py, all(forms)?)?.into_any(),
            Form::Dict(items) => {
                let dict = PyDict::new(py);
                for (key, form) in items {
                    dict.set_item(key, form.build(py, outputs)?)?;
                }
                dict.into_any()
            }
        })
    }
}

#[pymethods]
impl Fused {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let out = match kwargs.map(|k| k.get_item("out")).transpose()?.flatten() {
            Some(out) if !self.takes_out(py)? => Some(out),
            _ => None,
        };
        let kwargs = match (&out, kwargs) {
            (Some(_), Some(kwargs)) => {
                let rest = kwargs.copy()?;
                rest.del_item("out")?;
                Some(rest)
            }
            (_, kwargs) => kwargs.cloned(),
        };
        let Some((entry, arguments)) = self.entry(py, args, kwargs.as_ref())? else {
            return self.f.bind(py).call(args, kwargs.as_ref()); // a part of the function around it
        };
        let inputs = self.inputs(&entry, arguments)?;
        let work: usize = inputs.iter().map(Tensor::len).max().unwrap_or(0);
        let outputs = match is_short(work) {
            true => entry.program.run_owned(inputs),
            false => py.detach(|| entry.program.run_owned(inputs)),
        };
        let outputs = outputs.map_err(whole::error)?;
        match out {
            Some(out) => fill(&out, outputs),
            None => entry.result.build(py, &outputs),
        }
    }
    /// A method of an object, for functions in classes.
    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        object: &Bound<'py, PyAny>,
        _class: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if object.is_none() {
            return Ok(slf.clone().into_any());
        }
        let method = slf.py().import("types")?.getattr("MethodType")?;
        method.call1((slf, object))
    }
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("flex.fuse({})", self.f.bind(py).repr()?))
    }
}

impl Fused {
    /// Whether the function has a parameter of its own named `out`.
    fn takes_out(&self, py: Python<'_>) -> PyResult<bool> {
        let signature = py.import("inspect")?.call_method1("signature", (&self.f,));
        match signature {
            Ok(s) => s.getattr("parameters")?.contains("out"),
            Err(_) => Ok(false),
        }
    }
    /// What these arguments are traced to; `None` where one belongs to a trace.
    fn entry<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<(Arc<Entry>, Arguments<'py>)>> {
        let mut arguments = Arguments::default();
        args.iter().try_for_each(|x| arguments.push(&x))?;
        if let Some(kwargs) = kwargs {
            arguments.push(kwargs.as_any())?;
        }
        if arguments.traced {
            return Ok(None);
        }
        arguments.find_pattern();
        let fits = |e: &&Arc<Entry>| {
            let (a, b) = (&e.key, &arguments.key);
            a.form == b.form && a.pattern == b.pattern && (!e.by_shape || a.sizes == b.sizes)
        };
        let found = self.lock().iter().find(fits).cloned();
        let entry = match found {
            Some(entry) => entry,
            None => {
                let entry = Arc::new(self.trace(py, args, kwargs, &mut arguments)?);
                let mut traced = self.lock();
                if traced.len() == KEPT {
                    traced.remove(0);
                }
                traced.push(entry.clone());
                entry
            }
        };
        Ok(Some((entry, arguments)))
    }
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Entry>>> {
        self.traced.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn trace<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        arguments: &mut Arguments<'py>,
    ) -> PyResult<Entry> {
        let mut compiled = None;
        let call = || {
            let args = args
                .iter()
                .map(|x| Arguments::traced(&x))
                .collect::<PyResult<Vec<_>>>()?;
            let kwargs = match kwargs {
                Some(kwargs) => Some(Arguments::traced(kwargs.as_any())?),
                None => None,
            };
            let kwargs = kwargs.as_ref().map(|k| k.cast::<PyDict>()).transpose()?;
            // in Python, for PyO3 doesn't hand over what a refused function unwinds with
            let call = py.import("flex._tracing")?.getattr("call")?;
            call.call1((&self.f, PyTuple::new(py, args)?, kwargs))
        };
        Trace::record(call, |trace, result| {
            let mut outputs = Vec::new();
            let form = Form::of(result, trace, &mut outputs)?;
            let program = trace.graph.compile(&outputs, self.rounding)?;
            compiled = Some((program, form, trace.constants.clone(), trace.is_by_shape()));
            Ok(())
        })?;
        let (program, result, constants, by_shape) =
            compiled.ok_or_else(|| Error::value("fuse", "nothing was traced"))?;
        let key = Key {
            form: arguments.key.form.clone(),
            sizes: arguments.key.sizes.clone(),
            pattern: arguments.key.pattern.clone(),
        };
        let _kept = core::mem::take(&mut arguments.kept);
        Ok(Entry {
            key,
            by_shape,
            _kept,
            program,
            constants,
            result,
        })
    }
    /// The program's inputs, those that are donated without another handle.
    fn inputs(&self, entry: &Entry, arguments: Arguments) -> PyResult<Vec<Tensor>> {
        let Arguments {
            mut tensors,
            objects,
            ..
        } = arguments;
        for k in &self.donate {
            let given = objects.get(*k).ok_or_else(|| {
                let n = objects.len();
                PyValueError::new_err(format!("fuse: donate names tensor {k} of {n}"))
            })?;
            if let Some(object) = given {
                tensors[*k] = Tensor::default();
                tensors[*k] = object.get().give_away();
            }
        }
        tensors.extend(entry.constants.iter().cloned());
        Ok(tensors)
    }
}

/// Puts results into the tensors that are to have them.
fn fill<'py>(out: &Bound<'py, PyAny>, outputs: Vec<Tensor>) -> PyResult<Bound<'py, PyAny>> {
    let expected = || {
        let message = format!(
            "fuse: out must be {} tensors, one for each result",
            outputs.len()
        );
        PyTypeError::new_err(message)
    };
    let targets: Vec<Bound<'py, PyTensor>> = match out.cast::<PyTensor>() {
        Ok(t) => vec![t.clone()],
        Err(_) => out.extract().map_err(|_| expected())?,
    };
    if targets.len() != outputs.len() {
        return Err(expected());
    }
    for (t, y) in targets.iter().zip(&outputs) {
        let (shape, dtype) = t
            .get()
            .about(|layout, dtype| (Shape::from_slice(layout.shape()), dtype));
        if dtype != y.dtype() {
            let message = format!("out has dtype {dtype}, the result {}", y.dtype());
            return Err(Error::dtype("fuse", message).into());
        }
        if &shape[..] != y.shape() {
            let operands = [("out", &shape[..], dtype), ("result", y.shape(), y.dtype())];
            let what = "out does not have the result's shape";
            return Err(Error::shape_of("fuse", what, &operands).into());
        }
    }
    for (t, y) in targets.iter().zip(outputs) {
        drop(t.get().replace(y));
    }
    Ok(out.clone())
}

/// Makes a function of tensors run as one pass over memory.
///
/// f: a Python function. Its first call for given dtypes, ranks and sizes that are equal traces it: it
/// runs once with tensors that have no elements yet, and what it asks for becomes programs that compute
/// tile by tile in the caches. Later calls run these. Arguments and results are tensors, arrays and
/// numbers, or tuples, lists and dicts of them; whatever else is an argument is a part of the program, as
/// are tensors that the function takes from outside. Elementwise functions, conversions, reductions and
/// views are traced; `matmul`, sorts, `flex.nn` and other functions whose result is one tensor run as they
/// are between the programs. What needs elements (`if t:`, `float(t)`, `print(t.item())`) is a TypeError
/// that names the line.
///
/// donate: positions, among all tensors of a call, of those whose memory results may take; they are left
/// with shape (0,). strict: round 16-bit floats after each operation, as it is done one by one; else they are
/// rounded once, where a result is stored. float32, float64 and integers have the bits of the operations
/// one by one either way. A call's own keyword `out`: a tensor, or a tuple of them, of the results'
/// shapes and dtypes, which takes the results.
///
/// Without f, returns a decorator. Changes of a tensor in place (`t += 1`) stay within the function.
///
/// >>> @flex.fuse
/// ... def gelu(x):
/// ...     return 0.5 * x * (1 + flex.erf(x / 2**0.5))
/// >>> gelu(flex.asarray([0.0, 1.0])).tolist()
/// [0.0, 0.8413447141647339]
#[pyfunction]
#[pyo3(signature = (f = None, /, *, donate = None, strict = false))]
fn fuse<'py>(
    py: Python<'py>,
    f: Option<Bound<'py, PyAny>>,
    donate: Option<Vec<isize>>,
    strict: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let donate = donate.unwrap_or_default();
    if let Some(k) = donate.iter().find(|k| **k < 0) {
        return Err(PyValueError::new_err(format!(
            "fuse: donate is {k}, but positions begin at 0"
        )));
    }
    let Some(f) = f else {
        let arguments = PyDict::new(py);
        arguments.set_item("donate", donate)?;
        arguments.set_item("strict", strict)?;
        let fuse = py.import("flex")?.getattr("fuse")?;
        let partial = py.import("functools")?.getattr("partial")?;
        return partial.call((fuse,), Some(&arguments));
    };
    if !f.is_callable() {
        return Err(PyTypeError::new_err(format!(
            "fuse: f is {}, not a function",
            kind(&f)
        )));
    }
    let rounding = if strict {
        Rounding::Each
    } else {
        Rounding::Once
    };
    let fused = Fused {
        f: f.clone().unbind(),
        donate: donate.into_iter().map(isize::unsigned_abs).collect(),
        rounding,
        traced: Mutex::default(),
    };
    let fused = Bound::new(py, fused)?.into_any();
    py.import("functools")?
        .call_method1("update_wrapper", (&fused, f))?;
    Ok(fused)
}

/// The programs that a fused function runs for these arguments, as text: what is read, computed and
/// stored in each walk over elements.
///
/// f: a function, or one that `flex.fuse` made. args, kwargs: as for a call; nothing is computed.
///
/// >>> print(flex.explain(lambda x: flex.sum(x * x + 1), flex.ones(4)))
/// reduce v0 of x0: multiply, add; sum over [0]
/// returns v0
#[pyfunction]
#[pyo3(signature = (f, /, *args, **kwargs))]
fn explain<'py>(
    py: Python<'py>,
    f: Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<String> {
    let fused = match f.cast::<Fused>() {
        Ok(f) => f.clone(),
        Err(_) => fuse(py, Some(f), None, false)?.cast_into::<Fused>()?,
    };
    match fused.get().entry(py, args, kwargs)? {
        Some((entry, _)) => Ok(entry.program.to_string()),
        None => Ok(String::new()),
    }
}

pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(fuse, m)?)?;
    m.add_function(wrap_pyfunction!(explain, m)?)
}
