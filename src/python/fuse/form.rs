//! The structure of a call's results.

use crate::Tensor;
use crate::python::cell::PyTensor;
use crate::python::number::{Arguments as Floats, Number};
use crate::python::trace::Trace;
use crate::stream::Value;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

/// The nesting of results.
pub enum Form {
    Output(usize),
    /// A function that computes a number from the float arguments.
    Number(Py<PyAny>),
    Object(Py<PyAny>),
    Tuple(Vec<Form>),
    /// A named tuple, and the function that makes one from a tuple.
    Named(Py<PyAny>, Vec<Form>),
    List(Vec<Form>),
    Dict(Vec<(Py<PyAny>, Form)>),
}

/// Finds the values in results.
pub struct Results<'a, 'py> {
    /// The trace that the values belong to.
    pub trace: &'a Trace,
    /// Its float arguments.
    pub floats: &'a Floats<'py>,
    /// The values found so far.
    pub outputs: Vec<Value>,
}

impl<'py> Results<'_, 'py> {
    /// The form of a result.
    pub fn form(&mut self, x: &Bound<'py, PyAny>) -> PyResult<Form> {
        if let Ok(t) = x.cast_exact::<PyTensor>()
            && let Some(value) = self.trace.value_of(t.get())
        {
            self.outputs.push(value);
            return Ok(Form::Output(self.outputs.len() - 1));
        }
        if let Some(number) = Number::of(x)? {
            return Ok(match self.trace.has(&number) {
                true => Form::Number(number.compute()),
                false => Form::Object(number.looked_at()),
            });
        }
        if let Ok(items) = x.cast::<PyTuple>() {
            let forms = items.iter().map(|x| self.form(&x));
            let forms = forms.collect::<PyResult<_>>()?;
            let class = x.get_type();
            return Ok(match class.hasattr("_make")? {
                true => Form::Named(class.getattr("_make")?.unbind(), forms),
                false => Form::Tuple(forms),
            });
        }
        if let Ok(items) = x.cast_exact::<PyList>() {
            let forms = items.iter().map(|x| self.form(&x));
            return Ok(Form::List(forms.collect::<PyResult<_>>()?));
        }
        if let Ok(items) = x.cast_exact::<PyDict>() {
            let mut forms = Vec::new();
            for (key, x) in items {
                let key = match Number::of(&key)? {
                    Some(number) => number.looked_at(),
                    None => key.unbind(),
                };
                forms.push((key, self.form(&x)?));
            }
            return Ok(Form::Dict(forms));
        }
        let plain = x.is_none()
            || x.is_instance_of::<PyString>()
            || x.is_instance_of::<PyInt>()
            || x.is_instance_of::<PyFloat>()
            || x.is_instance_of::<PyTensor>();
        if !plain {
            self.floats.look()?; // it may contain some
        }
        Ok(Form::Object(x.clone().unbind()))
    }
}

impl Form {
    /// Builds the result from these tensors and float arguments.
    pub fn build<'py>(
        &self,
        outputs: &[Tensor],
        floats: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = floats.py();
        let all = |forms: &[Form]| {
            forms
                .iter()
                .map(|f| f.build(outputs, floats))
                .collect::<PyResult<Vec<_>>>()
        };
        Ok(match self {
            Form::Output(k) => Bound::new(py, PyTensor::new(outputs[*k].clone()))?.into_any(),
            Form::Number(x) => x.bind(py).call1((floats,))?,
            Form::Object(x) => x.bind(py).clone(),
            Form::Tuple(forms) => PyTuple::new(py, all(forms)?)?.into_any(),
            Form::Named(make, forms) => make.bind(py).call1((PyTuple::new(py, all(forms)?)?,))?,
            Form::List(forms) => PyList::new(py, all(forms)?)?.into_any(),
            Form::Dict(items) => {
                let dict = PyDict::new(py);
                for (key, form) in items {
                    dict.set_item(key, form.build(outputs, floats)?)?;
                }
                dict.into_any()
            }
        })
    }
}
