//! `flex.fuse`: functions that are traced once and run as programs.
//!
//! A traced object stands for a value of the graph (`traced`, `trace`). Functions that can be
//! recorded check for it. Anything else that reads its elements unwinds, since reading a tensor has
//! no error to return, and `flex/_tracing.py` turns that into a TypeError that names the expression
//! and the line.
//!
//! Functions that are not operations of the graph are recorded as calls (`whole`), and so are
//! methods, indices and assignments that move elements. An operation in place keeps its target's
//! layout if no other object sees the memory (`traced::Memory`), as it does when it runs by itself.
//!
//! Tensors from outside a function are found before it runs: `flex/_places.py` follows the names in
//! its code from cells, globals and attributes, and gives a list of places, each reached from an
//! earlier one. Their objects become inputs while the function runs (`CellState::Captured`): to the
//! tracing thread they are traced values, to all others tensors as ever. An input is added when one
//! is used; if its elements are asked for by something that can't be recorded, they are read, and
//! guarded by value.
//!
//! Afterwards, places that nothing depends on are dropped, and so are the checks of what the
//! function changed itself. A call walks the rest (`places`): no code is looked at. Each object
//! knows how many traces had begun when it was made, so a tensor that is neither found nor made by
//! the function is an error.
//!
//! A float argument is an object too (`_tracing.Number`, `number`): combined with a tensor it
//! becomes a parameter of the program, arithmetic on it is redone at each call, and anything else
//! that looks at its value makes the trace valid for that value only.
//!
//! `flex.reduce` (`flex/_reduce.py`) is built on such functions: the accumulators are tensors with
//! as many lanes as fill L2, a program folds several rows of elements into them, and they are
//! joined by halves. The number of lanes follows from the shape.

mod arguments;
mod form;
mod kept;
mod out;
mod places;
mod program;

use super::cell::PyTensor;
use super::convert::{Ints, interruptible, is_short, kind};
use super::number;
use super::whole;
use arguments::Arguments;
use flex::Tensor;
use flex::stream::{Program, Rounding};
use program::{OutsideTensors, Serves, Traced, TracedProgram};
use pyo3::PyTraverseError;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most programs that a function keeps; the oldest is dropped.
const KEPT: usize = 256;

/// A function that runs fused: see `flex.fuse`.
#[pyclass(frozen, dict, weakref, name = "Fused", module = "flex")]
pub struct Fused {
    donate: Vec<usize>,
    rounding: Rounding,
    content: Mutex<Content>,
}

/// What holds other objects.
struct Content {
    /// The function; none once the garbage collector has found it in a cycle.
    f: Option<Py<PyAny>>,
    programs: Vec<Arc<TracedProgram>>,
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
        let given = (args, kwargs.as_ref());
        let Some((mut entry, mut outside)) = self.entry(py, given, &mut arguments, false)? else {
            if out.is_some() {
                return Err(PyTypeError::new_err(
                    "fuse: a call within a traced function has no out: use its results",
                ));
            }
            // recorded as part of the enclosing function
            return self.function(py)?.bind(py).call(args, kwargs.as_ref());
        };
        let floats = PyTuple::new(py, &arguments.key.floats)?.into_any();
        let mut numbers = entry.numbers_of(&floats);
        if numbers.is_err() {
            arguments = Arguments::default();
            if let Some(own) = self.entry(py, given, &mut arguments, true)? {
                // arithmetic may fail for these floats, as the function may expect: trace it for
                // their values
                (entry, outside) = own;
                numbers = entry.numbers_of(&floats);
            }
        }
        let program = entry.program_of(&arguments.tensors, &outside, &numbers?)?;
        let targets = out
            .as_ref()
            .map(|out| out::targets(out, entry.results, &arguments, &self.donate));
        let targets = targets.transpose()?;
        // a call that may fail leaves donated tensors as they are until it has not
        let donated = self.donated(&arguments)?;
        let late = !donated.is_empty() && (targets.is_some() || program.may_fail());
        let mut inputs = core::mem::take(&mut arguments.tensors);
        inputs.extend(entry.outside(&outside).cloned());
        drop(outside);
        if !late {
            donated.iter().for_each(|(k, t)| {
                inputs[*k] = Tensor::default();
                inputs[*k] = t.get().give_away();
            });
        }
        let outputs = run(py, &program, inputs, donated.is_empty() || late)?;
        let result = match (&targets, out) {
            (Some(targets), Some(out)) => {
                out::fill(targets, outputs)?;
                out
            }
            _ => entry.result.build(&outputs, &floats)?,
        };
        if late {
            donated.iter().for_each(|(_, t)| drop(t.get().give_away()));
        }
        Ok(result)
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
    /// As a function is pickled: by its name, which must find it.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.getattr("__qualname__")
    }
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "flex.fuse({})",
            self.function(py)?.bind(py).repr()?
        ))
    }
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // while it is locked, an object that is dropped may start a collection
        let Ok(content) = self.content.try_lock() else {
            return Ok(());
        };
        if let Some(f) = &content.f {
            visit.call(f)?;
        }
        content.programs.iter().try_for_each(|x| x.traverse(&visit))
    }
    fn __clear__(&self) {
        let mut content = self.lock();
        let before = (content.f.take(), core::mem::take(&mut content.programs));
        drop(content);
        drop(before);
    }
}

/// Runs a program, without the interpreter if that takes long. `keeps`: no memory of a donated tensor
/// is lost if it is given up.
fn run(
    py: Python<'_>,
    program: &Program,
    inputs: Vec<Tensor>,
    keeps: bool,
) -> PyResult<Vec<Tensor>> {
    let work: usize = inputs.iter().map(Tensor::len).max().unwrap_or(0);
    let outputs = match is_short(work) {
        true => program.run_owned(inputs),
        false if keeps => interruptible(py, || program.run_owned(inputs))?,
        false => py.detach(|| program.run_owned(inputs)),
    };
    outputs.map_err(whole::error)
}

impl Fused {
    fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn function(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let f = self.lock().f.as_ref().map(|f| f.clone_ref(py));
        f.ok_or_else(|| PyRuntimeError::new_err("fuse: the function is gone"))
    }
    /// Whether the function has a parameter named `out`.
    fn takes_out(&self, py: Python<'_>) -> PyResult<bool> {
        let f = self.function(py)?;
        let signature = py.import("inspect")?.call_method1("signature", (f,));
        match signature {
            Ok(s) => s.getattr("parameters")?.contains("out"),
            Err(_) => Ok(false),
        }
    }
    /// The entry for these arguments and what the function uses from outside, traced now if there is
    /// none; `None` if the call is a part of a function that is being traced. `arguments` is empty,
    /// and receives them.
    fn entry<'py>(
        &self,
        py: Python<'py>,
        (args, kwargs): (&Bound<'py, PyTuple>, Option<&Bound<'py, PyDict>>),
        arguments: &mut Arguments<'py>,
        own: bool,
    ) -> PyResult<Option<(Arc<TracedProgram>, OutsideTensors)>> {
        args.iter().try_for_each(|x| arguments.push(&x))?;
        if let Some(kwargs) = kwargs {
            arguments.push(kwargs.as_any())?;
        }
        if arguments.traced {
            return Ok(None);
        }
        arguments.find_pattern();
        let mut found: Option<(Arc<TracedProgram>, OutsideTensors)> = None;
        if !own {
            let programs: SmallVec<[_; 4]> = {
                let content = self.lock();
                let all = content.programs.iter();
                all.filter(|x| x.fits(&arguments.key)).cloned().collect()
            };
            for program in programs {
                // entries for specific float values take precedence
                let better = found
                    .as_ref()
                    .is_none_or(|(x, _)| program.specialized.len() >= x.specialized.len());
                if !better {
                    continue;
                }
                match program.serves(py, arguments)? {
                    Serves::Yes(outside) => found = Some((program, outside)),
                    Serves::No => {}
                    Serves::Enclosing => return Ok(None),
                }
            }
        }
        if found.is_some() {
            return Ok(found);
        }
        let f = self.function(py)?;
        match program::trace(py, &f, self.rounding, (args, kwargs), arguments, own)? {
            Traced::Enclosing => Ok(None),
            Traced::Program(program, outside) => {
                let program = Arc::from(program);
                self.keep(py, &program);
                Ok(Some((program, outside)))
            }
        }
    }
    /// Adds a program, and drops those that are no longer of use.
    fn keep(&self, py: Python<'_>, program: &Arc<TracedProgram>) {
        // neither looks at objects nor drops them while locked: their code may use this function
        let before: Vec<_> = self.lock().programs.clone();
        let mut dropped: Vec<_> = before.into_iter().filter(|x| x.is_dead(py)).collect();
        let mut content = self.lock();
        let is_dropped = |x: &Arc<TracedProgram>| dropped.iter().any(|y| Arc::ptr_eq(x, y));
        content.programs.retain(|x| !is_dropped(x));
        if content.programs.len() >= KEPT {
            let oldest = content.programs.remove(0);
            dropped.push(oldest);
        }
        content.programs.push(program.clone());
        drop(content);
    }
    /// The donated tensors that came in objects, by number.
    fn donated<'py>(
        &self,
        arguments: &Arguments<'py>,
    ) -> PyResult<SmallVec<[(usize, Bound<'py, PyTensor>); 2]>> {
        let objects = &arguments.objects;
        let mut donated = SmallVec::new();
        for k in &self.donate {
            let given = objects.get(*k).ok_or_else(|| {
                let n = objects.len();
                PyValueError::new_err(format!("fuse: donate names tensor {k} of {n}"))
            })?;
            if let Some(object) = given {
                donated.push((*k, object.clone()));
            }
        }
        Ok(donated)
    }
}

/// Makes a function of tensors run as one pass over memory.
///
/// f: a Python function. Its first call for given dtypes, ranks and pattern of equal sizes traces
/// it: it runs once with tensors that have no elements yet, and the operations it performs become
/// programs that run tile by tile in cache. Later calls run these. Arguments and results are
/// tensors, arrays and floats, or tuples, lists and dicts of them, up to 200 deep. Any other argument is
/// a constant of the program. Tensors that the function uses from outside, by variables, attributes
/// and entries that its code names, are read anew at each call; if a number or another object there
/// changes, it is traced again, and what can't be followed is a TypeError. Floats among arguments may
/// change from call to call; one whose value the function looks at (`if a > 0`, `math.sqrt(a)`, an exponent of `**`)
/// is a constant too. Elementwise functions, conversions, reductions and views are traced.
/// `matmul`, sorts, `flex.nn` and other functions whose result is one tensor run unchanged between
/// the programs; operations that follow `matmul`, `nn.linear` or a convolution are computed on blocks
/// of its result. Whatever needs elements (`if t:`, `float(t)`, `print(t.item())`) is a TypeError
/// that names the line.
///
/// donate: positions, among all tensors of a call, of those whose memory results may reuse; they
/// are left with shape (0,), unless the call fails. strict: whether to round 16-bit floats after each operation, as
/// without fusion; otherwise they are computed in float32 and rounded where a result is stored, and where a function that
/// runs unchanged reads or returns them. float32, float64 and integers have the same bits as without fusion either way. Calls take an additional keyword
/// `out`: a tensor, or a tuple of different ones, with the results' shapes and dtypes, to store the
/// results in.
///
/// Without f, returns a decorator. Changes of an argument in place (`t += 1`) stay within the
/// function; changes of a tensor from outside are a TypeError. Methods are traced for each instance,
/// which is held weakly.
///
/// >>> @flex.fuse
/// ... def gelu(x):
/// ...     return 0.5 * x * (1 + flex.erf(x / 2**0.5))
/// >>> gelu(flex.asarray([0.0, 8.0])).tolist()
/// [0.0, 8.0]
#[function(f: "Callable[..., Any] | None" = None, /, *, donate = None, strict = false -> "Callable[..., _R]")]
fn fuse<'py>(
    py: Python<'py>,
    f: Option<Bound<'py, PyAny>>,
    donate: Option<Ints>,
    strict: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let donate = donate.unwrap_or_default().0;
    if let Some(k) = donate.iter().find(|k| **k < 0) {
        return Err(PyValueError::new_err(format!(
            "fuse: donate is {k}, but positions begin at 0"
        )));
    }
    let Some(f) = f else {
        let arguments = PyDict::new(py);
        arguments.set_item("donate", &donate[..])?;
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
        donate: donate.into_iter().map(isize::unsigned_abs).collect(),
        rounding,
        content: Mutex::new(Content {
            f: Some(f.clone().unbind()),
            programs: Vec::new(),
        }),
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
/// reduce v0 of x0: square, add; sum over [0]
/// returns v0
#[function(f: "Callable[..., Any]", /, *args: "Any", **kwargs: "Any" -> "str")]
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
    match fused.get().entry(py, (args, kwargs), &mut given, false)? {
        Some((entry, outside)) => Ok(entry.program_for(&given.tensors, &outside).to_string()),
        None => Ok(String::new()),
    }
}
