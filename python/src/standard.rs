//! Requirements of the array API standard on a namespace besides functions: constants, the version,
//! inspection.

use super::convert::{CPU, Device, Ints};
use super::default;
use super::dtype;
use crate::convert::error::Raise;
use flex::DType;
use flex::layout;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The version of the standard that flex follows.
const API_VERSION: &str = "2025.12";

/// The shape to which these shapes broadcast. ShapeError if they don't.
///
/// >>> flex.broadcast_shapes((3, 1), (4,))
/// (3, 4)
#[function(*shapes: "_Shape" -> "tuple[int, ...]")]
fn broadcast_shapes<'py>(py: Python<'py>, shapes: Vec<Ints>) -> PyResult<Bound<'py, PyTuple>> {
    let shapes = shapes
        .iter()
        .map(|shape| shape.shape("broadcast_shapes", "a shape"))
        .collect::<PyResult<Vec<_>>>()?;
    let shapes: Vec<&[usize]> = shapes.iter().map(|s| s.as_slice()).collect();
    PyTuple::new(
        py,
        layout::broadcast("broadcast_shapes", &shapes)
            .raise()?
            .as_slice(),
    )
}

/// The standard's inspection functions for this namespace.
#[pyclass(frozen, module = "flex")]
struct Info;

#[pymethods]
impl Info {
    /// The optional capabilities of the standard that flex has.
    fn capabilities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let d = PyDict::new(py);
        d.set_item("boolean indexing", true)?;
        d.set_item("data-dependent shapes", true)?;
        d.set_item("max dimensions", py.None())?;
        Ok(d)
    }
    /// The default device: `"cpu"`.
    fn default_device(&self) -> &'static str {
        CPU
    }
    /// The default dtypes, by kind. ValueError for another device than the CPU.
    #[pyo3(signature = (*, device = None))]
    fn default_dtypes<'py>(
        &self,
        py: Python<'py>,
        device: Option<Device>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let _ = device;
        let d = PyDict::new(py);
        d.set_item("real floating", dtype::object(py, default::float())?)?;
        d.set_item(
            "complex floating",
            dtype::object(py, default::float().complex())?,
        )?;
        d.set_item("integral", dtype::object(py, DType::DEFAULT_INT)?)?;
        d.set_item("indexing", dtype::object(py, DType::DEFAULT_INT)?)?;
        Ok(d)
    }
    /// The standard's dtypes by name, without the floats of 16 and 8 bits; `kind` is that of
    /// `isdtype`. ValueError for another kind or device.
    #[pyo3(signature = (*, device = None, kind = None))]
    fn dtypes<'py>(
        &self,
        py: Python<'py>,
        device: Option<Device>,
        kind: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let _ = device;
        let found = PyDict::new(py);
        for d in DType::ALL {
            let standard = !d.is_storage() && !matches!(d, DType::F16 | DType::BF16);
            if standard
                && kind.map_or(Ok(true), |k| {
                    super::promotion::isdtype(dtype::DTypeArg(d), k)
                })?
            {
                found.set_item(d.name(), dtype::object(py, d)?)?;
            }
        }
        Ok(found)
    }
    /// The devices: `("cpu",)`.
    fn devices(&self) -> (&'static str,) {
        (CPU,)
    }
}

/// Inspects this namespace: dtypes, devices, defaults.
#[function(-> "_Info")]
fn __array_namespace_info__() -> Info {
    Info
}

pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    m.add("e", std::f64::consts::E)?;
    m.add("inf", f64::INFINITY)?;
    m.add("nan", f64::NAN)?;
    m.add("newaxis", m.py().None())?;
    m.add("pi", std::f64::consts::PI)?;
    m.add("__array_api_version__", API_VERSION)
}
