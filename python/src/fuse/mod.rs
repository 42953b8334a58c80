//! `flex.fuse`: functions that are traced once and run as programs.

mod arguments;
mod form;

use super::cell::PyTensor;
use super::convert::{is_short, kind};
use super::number;
use super::trace::{self, Trace};
use super::whole;
use crate::convert::error::Raise;
use arguments::{Arguments, ProgramKey};
use flex::layout::Shape;
use flex::stream::{Program, Rounding};
use flex::{Error, Scalar, Tensor};
use form::{ResultFinder, ResultForm};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

/// The most programs that a function keeps; the oldest is dropped.
const KEPT: usize = 256;

/// A function that runs fused: see `flex.fuse`.
#[pyclass(frozen, dict, weakref, name = "Fused", module = "flex")]
pub struct Fused {
    f: Py<PyAny>,
    donate: Vec<usize>,
    rounding: Rounding,
    traced: Mutex<Vec<Arc<TracedProgram>>>,
}

/// A program made by tracing a call.
struct TracedProgram {
    /// The arguments it serves.
    key: ProgramKey,
    /// Whether it serves only these shapes.
    by_shape: bool,
    /// Whether it serves only arguments whose memory others see alike.
    by_memory: bool,
    /// The floats for which it serves only these values.
    looked_at: Vec<usize>,
    /// Objects that the key identifies by address, kept alive.
    _kept: Vec<Py<PyAny>>,
    program: Program,
    /// The program for row-major tensors, if there are views.
    row_major: Option<Program>,
    /// The functions that compute the program's parameters from the float arguments.
    numbers: Vec<Py<PyAny>>,
    constants: Vec<Tensor>,
    result: ResultForm,
}

impl TracedProgram {
    /// Whether it serves arguments with this key.
    fn serves(&self, other: &ProgramKey) -> bool {
        let own = &self.key;
        let same = |k: &usize| own.floats[*k].to_bits() == other.floats[*k].to_bits();
        own.form == other.form
            && own.pattern == other.pattern
            && (!self.by_shape || own.sizes == other.sizes)
            && (!self.by_memory || own.shared == other.shared)
            && self.looked_at.iter().all(same)
    }
    /// The program's parameters for these float arguments.
    fn numbers_of(&self, floats: &Bound<'_, PyAny>) -> PyResult<Vec<Scalar>> {
        let number = |compute: &Py<PyAny>| {
            let x = compute.bind(floats.py()).call1((floats,))?;
            Ok(Scalar::Float(x.extract()?))
        };
        self.numbers.iter().map(number).collect()
    }
    /// The program for these tensors and the constants.
    fn program_for(&self, tensors: &[Tensor]) -> &Program {
        let mut all = tensors.iter().chain(&self.constants);
        match &self.row_major {
            Some(program) if all.all(Tensor::is_contiguous) => program,
            _ => &self.program,
        }
    }
    fn program_of(&self, tensors: &[Tensor], numbers: &[Scalar]) -> PyResult<Cow<'_, Program>> {
        let program = self.program_for(tensors);
        Ok(match numbers {
            [] => Cow::Borrowed(program),
            _ => Cow::Owned(program.with_numbers(numbers).raise()?),
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
        let mut arguments = Arguments::default();
        let Some(mut entry) = self.entry(py, args, kwargs.as_ref(), &mut arguments, false)? else {
            return self.f.bind(py).call(args, kwargs.as_ref()); // recorded as part of the enclosing function
        };
        let floats = PyTuple::new(py, &arguments.key.floats)?.into_any();
        let mut numbers = entry.numbers_of(&floats);
        if numbers.is_err() {
            arguments = Arguments::default();
            if let Some(own) = self.entry(py, args, kwargs.as_ref(), &mut arguments, true)? {
                // arithmetic may fail for these floats, as the function may expect: trace it for
                // their values
                entry = own;
                numbers = entry.numbers_of(&floats);
            }
        }
        let program = entry.program_of(&arguments.tensors, &numbers?)?;
        let inputs = self.inputs(&entry, &mut arguments)?;
        let work: usize = inputs.iter().map(Tensor::len).max().unwrap_or(0);
        let outputs = match is_short(work) {
            true => program.run_owned(inputs),
            false => py.detach(|| program.run_owned(inputs)),
        };
        let outputs = outputs.map_err(whole::error)?;
        match out {
            Some(out) => fill(&out, outputs),
            None => entry.result.build(&outputs, &floats),
        }
    }
    /// Binds the function to an object, for functions in classes.
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
    /// Whether the function has a parameter named `out`.
    fn takes_out(&self, py: Python<'_>) -> PyResult<bool> {
        let signature = py.import("inspect")?.call_method1("signature", (&self.f,));
        match signature {
            Ok(s) => s.getattr("parameters")?.contains("out"),
            Err(_) => Ok(false),
        }
    }
    /// The entry for these arguments, traced now if there is none; `None` if an argument belongs to
    /// a trace. `arguments` is empty, and receives them.
    fn entry<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        arguments: &mut Arguments<'py>,
        own: bool,
    ) -> PyResult<Option<Arc<TracedProgram>>> {
        args.iter().try_for_each(|x| arguments.push(&x))?;
        if let Some(kwargs) = kwargs {
            arguments.push(kwargs.as_any())?;
        }
        if arguments.traced {
            return Ok(None);
        }
        arguments.find_pattern();
        let fits = |e: &&Arc<TracedProgram>| !own && e.serves(&arguments.key);
        // entries for specific float values take precedence
        let all = self.lock();
        let found = all.iter().filter(fits).max_by_key(|e| e.looked_at.len());
        let found = found.cloned();
        drop(all);
        let entry = match found {
            Some(entry) => entry,
            None => {
                let entry = Arc::new(self.trace(py, args, kwargs, arguments, own)?);
                let mut traced = self.lock();
                if traced.len() == KEPT {
                    traced.remove(0);
                }
                traced.push(entry.clone());
                entry
            }
        };
        Ok(Some(entry))
    }
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<TracedProgram>>> {
        self.traced.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn trace<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        arguments: &mut Arguments<'py>,
        own: bool,
    ) -> PyResult<TracedProgram> {
        let mut compiled = None;
        let floats = number::FloatArguments::new(py)?;
        let seen = floats.seen()?;
        let shared = arguments.key.shared.to_vec();
        let call = || {
            trace::with_innermost(|trace| trace.set_arguments(seen.clone().unbind(), shared));
            let args = args
                .iter()
                .map(|x| Arguments::traced(&x, &floats))
                .collect::<PyResult<Vec<_>>>()?;
            let kwargs = match kwargs {
                Some(kwargs) => Some(Arguments::traced(kwargs.as_any(), &floats)?),
                None => None,
            };
            let kwargs = kwargs.as_ref().map(|k| k.cast::<PyDict>()).transpose()?;
            // through Python, since PyO3 doesn't return the panic of a function that unwinds
            let call = py.import("flex._tracing")?.getattr("call")?;
            call.call1((&self.f, PyTuple::new(py, args)?, kwargs))
        };
        Trace::record(call, |trace, result| {
            if own {
                floats.look()?;
            }
            let mut results = ResultFinder {
                trace,
                floats: &floats,
                outputs: Vec::new(),
            };
            let form = results.form(result)?;
            let compile = |row_major| {
                let graph = &trace.graph;
                graph.compile_for(&results.outputs, self.rounding, row_major)
            };
            let program = compile(false).raise()?;
            let views = trace.graph.has_views();
            let row_major = views.then(|| compile(true)).transpose().raise()?;
            let looked_at = seen.try_iter()?.map(|k| k?.extract());
            compiled = Some(TracedProgram {
                key: core::mem::take(&mut arguments.key),
                by_shape: trace.is_by_shape(),
                by_memory: trace.by_memory,
                looked_at: looked_at.collect::<PyResult<_>>()?,
                _kept: core::mem::take(&mut arguments.kept),
                program,
                row_major,
                numbers: trace.numbers.iter().map(|x| x.clone_ref(py)).collect(),
                constants: trace.constants.clone(),
                result: form,
            });
            Ok(())
        })?;
        let entry = compiled
            .ok_or_else(|| Error::value("fuse", "nothing was traced"))
            .raise()?;
        arguments.key.floats.clone_from(&entry.key.floats);
        Ok(entry)
    }
    /// The program's inputs; donated tensors are taken from their objects.
    fn inputs(&self, entry: &TracedProgram, arguments: &mut Arguments) -> PyResult<Vec<Tensor>> {
        let objects = &arguments.objects;
        let mut tensors = core::mem::take(&mut arguments.tensors);
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

/// Moves results into the tensors given as `out`.
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
            return Err(Error::dtype("fuse", message).raise());
        }
        if &shape[..] != y.shape() {
            let operands = [("out", &shape[..], dtype), ("result", y.shape(), y.dtype())];
            let what = "out does not have the result's shape";
            return Err(Error::shape_of("fuse", what, &operands).raise());
        }
    }
    for (t, y) in targets.iter().zip(outputs) {
        t.get().compute_queued(t.py())?;
        drop(t.get().replace(y));
    }
    Ok(out.clone())
}

/// Makes a function of tensors run as one pass over memory.
///
/// f: a Python function. Its first call for given dtypes, ranks and pattern of equal sizes traces
/// it: it runs once with tensors that have no elements yet, and the operations it performs become
/// programs that run tile by tile in cache. Later calls run these. Arguments and results are
/// tensors, arrays and floats, or tuples, lists and dicts of them. Any other argument is a constant
/// of the program, as are tensors that the function uses from outside. Floats may change from call
/// to call; one whose value the function looks at (`if a > 0`, `math.sqrt(a)`, an exponent of `**`)
/// is a constant too. Elementwise functions, conversions, reductions and views are traced.
/// `matmul`, sorts, `flex.nn` and other functions whose result is one tensor run unchanged between
/// the programs; operations that follow `matmul`, `nn.linear` or a convolution are computed on blocks
/// of its result. Whatever needs elements (`if t:`, `float(t)`, `print(t.item())`) is a TypeError
/// that names the line.
///
/// donate: positions, among all tensors of a call, of those whose memory results may reuse; they
/// are left with shape (0,). strict: whether to round 16-bit floats after each operation, as
/// without fusion; otherwise they are rounded once, when a result is stored. float32, float64 and
/// integers have the same bits as without fusion either way. Calls take an additional keyword
/// `out`: a tensor, or a tuple of them, with the results' shapes and dtypes, to store the results
/// in.
///
/// Without f, returns a decorator. Changes of a tensor in place (`t += 1`) stay within the
/// function.
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

/// The programs that a fused function runs for these arguments, as text: what each pass over memory
/// reads, computes and stores.
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
    let mut given = Arguments::default();
    match fused.get().entry(py, args, kwargs, &mut given, false)? {
        Some(entry) => Ok(entry.program_for(&given.tensors).to_string()),
        None => Ok(String::new()),
    }
}

pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(fuse, m)?)?;
    m.add_function(wrap_pyfunction!(explain, m)?)
}
