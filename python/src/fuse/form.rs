//! The structure of a call's results.

use super::arguments::Depth;
use crate::cell::{ESCAPED, PyTensor};
use crate::deferred::trace::Trace;
use crate::number::{FloatArguments, TracedNumber};
use flex::Tensor;
use flex::stream::Value;
use pyo3::PyTraverseError;
use pyo3::exceptions::PyTypeError;
use pyo3::gc::PyVisit;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The nesting of results.
pub enum ResultForm {
    Output(usize),
    /// A function that computes a number from the float arguments.
    Number(Py<PyAny>),
    Object(Py<PyAny>),
    Tuple(Vec<ResultForm>),
    /// A named tuple, and the function that makes one from a tuple.
    Named(Py<PyAny>, Vec<ResultForm>),
    List(Vec<ResultForm>),
    Dict(Vec<(Py<PyAny>, ResultForm)>),
}

/// Finds the values in results.
pub struct ResultFinder<'a, 'py> {
    /// The trace that the values belong to.
    pub trace: &'a mut Trace,
    /// Its float arguments.
    pub floats: &'a FloatArguments<'py>,
    /// The values found so far.
    pub outputs: Vec<Value>,
}

impl<'py> ResultFinder<'_, 'py> {
    /// The form of a result.
    pub fn form(&mut self, x: &Bound<'py, PyAny>) -> PyResult<ResultForm> {
        self.form_at(x, Depth::TOP)
    }
    fn form_at(&mut self, x: &Bound<'py, PyAny>, depth: Depth) -> PyResult<ResultForm> {
        if let Ok(t) = x.cast_exact::<PyTensor>() {
            let value = match self.trace.value_of(t.get()) {
                Some(value) => value,
                None if t.get().traced_value(|_| ()).is_some() => {
                    return Err(PyTypeError::new_err(ESCAPED));
                }
                None => {
                    let tensor = t.get().tensor(t.py())?;
                    self.trace.expect_made(t.get())?;
                    self.trace.constant(tensor)
                }
            };
            self.outputs.push(value);
            return Ok(ResultForm::Output(self.outputs.len() - 1));
        }
        if let Some(number) = TracedNumber::of(x)? {
            return Ok(match self.trace.has(&number) {
                true => ResultForm::Number(number.compute()),
                false => ResultForm::Object(number.specialized()),
            });
        }
        if let Ok(items) = x.cast::<PyTuple>() {
            let depth = depth.deeper()?;
            let forms = items.iter().map(|x| self.form_at(&x, depth));
            let forms = forms.collect::<PyResult<_>>()?;
            let class = x.get_type();
            return Ok(match class.hasattr("_make")? {
                true => ResultForm::Named(class.getattr("_make")?.unbind(), forms),
                false => ResultForm::Tuple(forms),
            });
        }
        if let Ok(items) = x.cast_exact::<PyList>() {
            let depth = depth.deeper()?;
            let forms = items.iter().map(|x| self.form_at(&x, depth));
            return Ok(ResultForm::List(forms.collect::<PyResult<_>>()?));
        }
        if let Ok(items) = x.cast_exact::<PyDict>() {
            let depth = depth.deeper()?;
            let mut forms = Vec::new();
            for (key, x) in items {
                let key = match TracedNumber::of(&key)? {
                    Some(number) => number.specialized(),
                    None => key.unbind(),
                };
                forms.push((key, self.form_at(&x, depth)?));
            }
            return Ok(ResultForm::Dict(forms));
        }
        let plain = x.is_none()
            || x.is_instance_of::<PyString>()
            || x.is_instance_of::<PyInt>()
            || x.is_instance_of::<PyFloat>();
        if !plain {
            self.floats.specialize()?; // it may contain some
        }
        Ok(ResultForm::Object(x.clone().unbind()))
    }
}

impl ResultForm {
    /// Builds the result from these tensors and float arguments.
    pub fn build<'py>(
        &self,
        outputs: &[Tensor],
        floats: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = floats.py();
        let all = |forms: &[ResultForm]| {
            forms
                .iter()
                .map(|f| f.build(outputs, floats))
                .collect::<PyResult<Vec<_>>>()
        };
        Ok(match self {
            ResultForm::Output(k) => Bound::new(py, PyTensor::new(outputs[*k].clone()))?.into_any(),
            ResultForm::Number(x) => x.bind(py).call1((floats,))?,
            ResultForm::Object(x) => x.bind(py).clone(),
            ResultForm::Tuple(forms) => PyTuple::new(py, all(forms)?)?.into_any(),
            ResultForm::Named(make, forms) => {
                make.bind(py).call1((PyTuple::new(py, all(forms)?)?,))?
            }
            ResultForm::List(forms) => PyList::new(py, all(forms)?)?.into_any(),
            ResultForm::Dict(items) => {
                let dict = PyDict::new(py);
                for (key, form) in items {
                    dict.set_item(key, form.build(outputs, floats)?)?;
                }
                dict.into_any()
            }
        })
    }
    /// Visits the objects that it holds.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let all = |forms: &[ResultForm]| forms.iter().try_for_each(|f| f.traverse(visit));
        match self {
            ResultForm::Output(_) => Ok(()),
            ResultForm::Number(x) | ResultForm::Object(x) => visit.call(x),
            ResultForm::Tuple(forms) | ResultForm::List(forms) => all(forms),
            ResultForm::Named(make, forms) => visit.call(make).and_then(|()| all(forms)),
            ResultForm::Dict(items) => items.iter().try_for_each(|(key, form)| {
                visit.call(key)?;
                form.traverse(visit)
            }),
        }
    }
}
