//! Tensors as text.

use super::cell::PyTensor;
use super::values;
use crate::convert::error::Raise;
use flex::bindings::{Style, elements};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::{Mutex, PoisonError};

/// How the elements are written: what `set_printoptions` sets.
static STYLE: Mutex<Style> = Mutex::new(Style {
    bools: ["False", "True"],
    ..Style::PLAIN
});

fn style() -> Style {
    *STYLE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl PyTensor {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        if self.traced_value(|_| ()).is_some() {
            let shape = self.about(|layout, _| PyTuple::new(py, layout.shape()))?;
            return Ok(format!(
                "Tensor(traced, shape={shape}, dtype={})",
                self.dtype_of()
            ));
        }
        let t = self.tensor(py)?;
        let data = elements(
            &t,
            Style {
                indent: "Tensor(".len(),
                ..style()
            },
        )
        .raise()?;
        Ok(format!(
            "Tensor({data}, shape={}, dtype={})",
            PyTuple::new(py, t.shape())?,
            t.dtype()
        ))
    }
    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        elements(&self.tensor(py)?, style()).raise()
    }
    /// Without a format specification, `str`; with one, the number so formatted, for tensors with
    /// one element.
    fn __format__<'py>(
        &self,
        py: Python<'py>,
        spec: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let t = self.tensor(py)?;
        if spec.len()? == 0 {
            return Ok(self.__str__(py)?.into_pyobject(py)?.into_any());
        }
        if t.len() != 1 {
            let message = format!(
                "a tensor of shape {:?} takes no format: format its elements, such as those of t.tolist()",
                t.shape()
            );
            return Err(PyTypeError::new_err(message));
        }
        values::item(py, &t, "format")?.call_method1("__format__", (spec,))
    }
}

/// The most that `precision` can be: Rust's formatting takes no more.
const MOST_DIGITS: usize = u16::MAX as usize;

/// Sets how tensors are written as text, in the whole process; what is None stays as it is.
///
/// precision: the most digits after the point of a float (8); fewer are written where they
/// round-trip. threshold: tensors of more elements are summarised (1000). edgeitems: the elements at
/// each end of an axis in a summary (3). linewidth: the columns of a line (75). suppress: whether
/// floats have no exponent (False). `printoptions` sets them in a block. ValueError for negative
/// numbers, and for a precision above 65535.
///
/// >>> flex.set_printoptions(precision=3)
/// >>> print(flex.asarray([1 / 3, 0.5]))
/// [0.333, 0.5  ]
/// >>> flex.set_printoptions(precision=8)
#[function(precision = None, threshold = None, edgeitems = None, linewidth = None, suppress = None)]
fn set_printoptions(
    precision: Option<isize>,
    threshold: Option<isize>,
    edgeitems: Option<isize>,
    linewidth: Option<isize>,
    suppress: Option<bool>,
) -> PyResult<()> {
    let size = |name: &str, n: Option<isize>, now: usize| match n.map(usize::try_from) {
        None => Ok(now),
        Some(Ok(n)) if name != "precision" || n <= MOST_DIGITS => Ok(n),
        _ => Err(PyValueError::new_err(format!(
            "set_printoptions: {name} is {}; it must be from 0 to {MOST_DIGITS}",
            n.unwrap_or_default()
        ))),
    };
    let now = style();
    let new = Style {
        digits: size("precision", precision, now.digits)?,
        threshold: size("threshold", threshold, now.threshold)?,
        edge: size("edgeitems", edgeitems, now.edge)?,
        width: size("linewidth", linewidth, now.width)?,
        suppress: suppress.unwrap_or(now.suppress),
        ..now
    };
    *STYLE.lock().unwrap_or_else(PoisonError::into_inner) = new;
    Ok(())
}

/// What `set_printoptions` has set, by name.
///
/// >>> flex.get_printoptions()["edgeitems"]
/// 3
#[function(-> "_PrintOptions")]
fn get_printoptions(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let now = style();
    let options = PyDict::new(py);
    for (name, value) in [
        ("precision", now.digits),
        ("threshold", now.threshold),
        ("edgeitems", now.edge),
        ("linewidth", now.width),
    ] {
        options.set_item(name, value)?;
    }
    options.set_item("suppress", now.suppress)?;
    Ok(options)
}
