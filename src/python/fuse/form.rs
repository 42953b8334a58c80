//! What a call gives back.

use crate::Tensor;
use crate::python::cell::PyTensor;
use crate::python::number::Number;
use crate::python::trace::Trace;
use crate::stream::Value;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// How results are nested.
pub enum Form {
    Output(usize),
    /// What computes a number of the float arguments.
    Number(Py<PyAny>),
    Object(Py<PyAny>),
    Tuple(Vec<Form>),
    List(Vec<Form>),
    Dict(Vec<(Py<PyAny>, Form)>),
}

impl Form {
    /// The form of a result, whose values go to `outputs`.
    pub fn of(x: &Bound<'_, PyAny>, trace: &Trace, outputs: &mut Vec<Value>) -> PyResult<Form> {
        if let Ok(t) = x.cast_exact::<PyTensor>()
            && let Some(value) = trace.value_of(t.get())
        {
            outputs.push(value);
            return Ok(Form::Output(outputs.len() - 1));
        }
        if let Some(number) = Number::of(x)? {
            return Ok(Form::Number(number.compute()));
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
    /// The result of these tensors and float arguments.
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
