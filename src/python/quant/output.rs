//! The results of products: floats, or quantised tensors.

use super::tensor::{PyQTensor, levels};
use crate::python::cell::PyTensor;
use crate::python::convert::detached;
use crate::quant::{self, Levels, QTensor, Quantization};
use crate::{DType, Result, Tensor};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// How a result is quantised.
pub struct Output {
    levels: Levels,
    /// The scale and zero point; none if they are found from the result.
    step: Option<(Tensor, Option<Tensor>)>,
}

/// A result.
#[derive(IntoPyObject)]
pub enum Product {
    Floats(PyTensor),
    Integers(PyQTensor),
}

impl Output {
    /// The output with this name; none for floats.
    pub fn named(
        op: &str,
        output: Option<&str>,
        scale: Option<f32>,
        zero: Option<isize>,
    ) -> PyResult<Option<Output>> {
        let Some(name) = output else {
            return match scale.is_some() || zero.is_some() {
                true => Err(PyTypeError::new_err(format!(
                    "{op}: out_scale and out_zero_point are those of output=\"int8\" or \"uint8\""
                ))),
                false => Ok(None),
            };
        };
        let levels = match name {
            "int8" | "uint8" => levels(op, name)?,
            other => {
                return Err(PyValueError::new_err(format!(
                    "{op}: output is {other:?}; it is \"int8\", \"uint8\" or None"
                )));
            }
        };
        let (least, most) = match levels {
            Levels::U8 => (0, 255),
            _ => (-128, 127),
        };
        let step = match (scale, zero) {
            (None, None) => None,
            (None, Some(_)) => {
                return Err(PyTypeError::new_err(format!(
                    "{op}: out_zero_point is given, but no out_scale"
                )));
            }
            (Some(_), Some(zero)) if !(least..=most).contains(&zero) => {
                return Err(PyValueError::new_err(format!(
                    "{op}: out_zero_point is {zero}; of {name} it is from {least} to {most}"
                )));
            }
            (Some(scale), _) if !(scale > 0.0 && scale.is_finite()) => {
                return Err(PyValueError::new_err(format!(
                    "{op}: out_scale is {scale}; it must be positive and finite"
                )));
            }
            (Some(scale), zero) => {
                let zero = zero.map(|z| Tensor::scalar(z as i64, levels.dtype()));
                Some((Tensor::scalar(scale as f64, DType::F32)?, zero.transpose()?))
            }
        };
        Ok(Some(Output { levels, step }))
    }
    fn quantize(&self, y: &Tensor) -> Result<QTensor> {
        match &self.step {
            Some((scale, zero)) => quant::quantize_by(y, self.levels, scale, zero.as_ref()),
            None => {
                let how = Quantization {
                    levels: self.levels,
                    affine: self.levels == Levels::U8,
                    ..Default::default()
                };
                quant::quantize(y, how)
            }
        }
    }
}

/// Computes a product of floats `x`, quantised if there is an output for it.
pub fn product(
    py: Python<'_>,
    elements: usize,
    x: &Tensor,
    output: Option<Output>,
    f: impl FnOnce(&Tensor) -> Result<Tensor> + Send,
) -> PyResult<Product> {
    match output {
        None => Ok(Product::Floats(detached(py, elements, || f(x))?.into())),
        // the result of float32 is float32, and rounded once
        Some(output) => Ok(Product::Integers(PyQTensor(detached(
            py,
            elements,
            || output.quantize(&f(&x.astype(DType::F32)?)?),
        )?))),
    }
}
