//! Programs made by tracing calls, and the calls that they serve.

use super::arguments::{Arguments, ProgramKey};
use super::form::{ResultFinder, ResultForm};
use super::kept::Kept;
use super::number::FloatArguments;
use super::places::{Candidate, Places, Read};
use crate::convert::error::Raise;
use crate::deferred::trace::{self, Captures, Outside, Trace};
use flex::stream::{Program, Rounding};
use flex::{Error, Scalar, Tensor};
use pyo3::PyTraverseError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Tensors from outside a function, in the order of their places.
pub type OutsideTensors = Vec<Tensor>;

/// A program made by tracing a call.
pub struct TracedProgram {
    /// The arguments it serves.
    key: ProgramKey,
    /// Whether it serves only these shapes.
    by_shape: bool,
    /// Whether it serves only arguments whose memory others see alike.
    by_memory: bool,
    /// The floats for which it serves only these values.
    pub specialized: Vec<usize>,
    /// Objects that the key identifies by address.
    kept: Vec<Kept>,
    /// What the function uses from outside.
    places: Places,
    program: Program,
    /// The program for row-major tensors, if there are views.
    row_major: Option<Program>,
    /// The functions that compute the program's parameters from the float arguments.
    numbers: Vec<Py<PyAny>>,
    /// The inputs that follow the arguments; tensors from outside are numbered by their places.
    outside: Vec<Outside>,
    pub result: ResultForm,
    pub results: usize,
}

/// Whether a program serves a call.
pub enum Serves {
    /// With these tensors from outside.
    Yes(OutsideTensors),
    No,
    /// It is a part of a function that this thread is tracing.
    Enclosing,
}

/// What tracing a call gives.
pub enum Traced {
    Program(Box<TracedProgram>, OutsideTensors),
    /// It is a part of a function that this thread is tracing.
    Enclosing,
}

impl TracedProgram {
    /// Whether it may serve arguments with this key.
    pub fn fits(&self, key: &ProgramKey) -> bool {
        let own = &self.key;
        let same = |k: &usize| own.floats[*k].to_bits() == key.floats[*k].to_bits();
        own.form == key.form
            && own.pattern[..] == key.pattern[..]
            && (!self.by_shape || own.sizes == key.sizes)
            && (!self.by_memory || own.shared == key.shared)
            && self.specialized.iter().all(same)
    }
    /// Whether it serves a call whose arguments have a key that fits.
    pub fn serves(&self, py: Python<'_>, other: &mut Arguments) -> PyResult<Serves> {
        if self.is_dead(py) {
            return Ok(Serves::No);
        }
        if self.places.is_empty() {
            return Ok(Serves::Yes(Vec::new()));
        }
        Ok(match self.places.read(py, &other.kept)? {
            Read::Tensors(tensors) if self.takes(&tensors, &mut other.key) => Serves::Yes(tensors),
            Read::Tensors(_) | Read::Changed => Serves::No,
            Read::Enclosing => Serves::Enclosing,
        })
    }
    /// Whether it takes tensors of these shapes from outside, beside arguments with this key.
    fn takes(&self, tensors: &[Tensor], key: &mut ProgramKey) -> bool {
        let shapes = self.places.shapes().zip(tensors);
        if self.by_shape {
            return shapes.into_iter().all(|(own, t)| own == t.shape());
        }
        let (own, count) = (&self.key.sizes, key.sizes.len());
        // sizes are equal where they were equal, as those of arguments are
        let mut before: SmallVec<[usize; 8]> = own.clone();
        let alike = shapes.into_iter().all(|(own, t)| {
            own.iter().zip(t.shape()).all(|(n, m)| {
                before.push(*n);
                key.sizes.push(*m);
                let first = |all: &[usize], n: usize| all.iter().position(|m| *m == n);
                match (n, m) {
                    (0 | 1, _) | (_, 0 | 1) => n == m,
                    _ => first(&before, *n) == first(&key.sizes, *m),
                }
            })
        });
        key.sizes.truncate(count);
        alike
    }
    /// Whether no call can be served any more, since an argument is gone.
    pub fn is_dead(&self, py: Python<'_>) -> bool {
        !self.kept.iter().all(|x| x.is_alive(py))
    }
    /// The program's parameters for these float arguments.
    pub fn numbers_of(&self, floats: &Bound<'_, PyAny>) -> PyResult<Vec<Scalar>> {
        let number = |compute: &Py<PyAny>| {
            let x = compute.bind(floats.py()).call1((floats,))?;
            Ok(Scalar::Float(x.extract()?))
        };
        self.numbers.iter().map(number).collect()
    }
    /// The tensors that follow the arguments.
    pub fn outside<'a>(&'a self, tensors: &'a [Tensor]) -> impl Iterator<Item = &'a Tensor> {
        self.outside.iter().map(|x| match x {
            Outside::Constant(t) => t,
            Outside::Captured(k) => &tensors[*k],
        })
    }
    /// The program for these arguments and tensors from outside.
    pub fn program_for(&self, arguments: &[Tensor], outside: &[Tensor]) -> &Program {
        let mut all = arguments.iter().chain(self.outside(outside));
        match &self.row_major {
            Some(program) if all.all(Tensor::is_contiguous) => program,
            _ => &self.program,
        }
    }
    /// The same with these numbers.
    pub fn program_of(
        &self,
        arguments: &[Tensor],
        outside: &[Tensor],
        numbers: &[Scalar],
    ) -> PyResult<Cow<'_, Program>> {
        let program = self.program_for(arguments, outside);
        Ok(match numbers {
            [] => Cow::Borrowed(program),
            _ => Cow::Owned(program.with_numbers(numbers).raise()?),
        })
    }
    /// Visits the objects that it holds.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.places.traverse(visit)?;
        self.numbers.iter().try_for_each(|x| visit.call(x))?;
        self.kept.iter().try_for_each(|x| x.traverse(visit))?;
        self.result.traverse(visit)
    }
}

/// Traces a call of `f`. `own`: for the values of its floats only.
pub fn trace<'py>(
    py: Python<'py>,
    f: &Py<PyAny>,
    rounding: Rounding,
    (args, kwargs): (&Bound<'py, PyTuple>, Option<&Bound<'py, PyDict>>),
    arguments: &mut Arguments<'py>,
    own: bool,
) -> PyResult<Traced> {
    let Some((places, candidates)) = Places::find(py, f, &arguments.kept)? else {
        return Ok(Traced::Enclosing);
    };
    let mut compiled = None;
    let floats = FloatArguments::new(py)?;
    let seen = floats.seen()?;
    let shared = arguments.key.shared.to_vec();
    let mut captures = Captures::default();
    let outside = |x: Candidate| (x.tensor, x.object.map(Bound::unbind));
    let begin = &mut captures;
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
        begin.begin(candidates.into_iter().map(outside).collect())?;
        // through Python, since PyO3 doesn't return the panic of a function that unwinds
        let call = py.import("flex._tracing")?.getattr("call")?;
        call.call1((f, PyTuple::new(py, args)?, kwargs))
    };
    Trace::record(call, |trace, result| {
        if own {
            floats.specialize()?;
        }
        let mut results = ResultFinder {
            trace,
            floats: &floats,
            outputs: Vec::new(),
        };
        let result = results.form(result)?;
        let ResultFinder { trace, outputs, .. } = results;
        let uses = |k| trace.uses(k);
        let (places, remain) = places.settle(py, &arguments.kept, uses, |k| trace.elements(k))?;
        let compile = |row_major| trace.graph.compile_for(&outputs, rounding, row_major);
        let program = compile(false).raise()?;
        let views = trace.graph.has_views();
        let row_major = views.then(|| compile(true)).transpose().raise()?;
        let tensors = remain.iter().map(|k| trace.captured(*k)).collect();
        let renumbered = |x: &Outside| match x {
            Outside::Constant(t) => Outside::Constant(t.clone()),
            Outside::Captured(k) => {
                Outside::Captured(remain.iter().position(|j| j == k).unwrap_or_default())
            }
        };
        let specialized = seen.try_iter()?.map(|k| k?.extract());
        let kept = arguments.kept.iter().map(|x| Kept::new(x.bind(py)));
        let program = TracedProgram {
            key: core::mem::take(&mut arguments.key),
            by_shape: trace.is_by_shape(),
            by_memory: trace.by_memory,
            specialized: specialized.collect::<PyResult<_>>()?,
            kept: kept.collect(),
            places,
            program,
            row_major,
            numbers: trace.numbers.iter().map(|x| x.clone_ref(py)).collect(),
            outside: trace.outside.iter().map(renumbered).collect(),
            result,
            results: outputs.len(),
        };
        compiled = Some((program, tensors));
        Ok(())
    })?;
    drop(captures);
    let (program, tensors) = compiled
        .ok_or_else(|| Error::value("fuse", "nothing was traced"))
        .raise()?;
    arguments.key.floats.clone_from(&program.key.floats);
    Ok(Traced::Program(Box::new(program), tensors))
}
