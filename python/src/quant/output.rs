//! The results of products: floats, or quantised tensors.

use super::tensor::{PyQTensor, levels};
use crate::cell::PyTensor;
use flex::quant::{Levels, Output};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A result.
#[derive(IntoPyObject)]
pub enum QuantProduct {
    Floats(PyTensor),
    Integers(PyQTensor),
}

/// The output with this name; none for floats.
pub fn output_named(
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
        (Some(scale), zero) => Some((scale, zero.map(|zero| zero as i32))),
    };
    Ok(Some(Output { levels, step }))
}
