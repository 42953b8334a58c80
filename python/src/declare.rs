//! What the module contains. A function is declared by `#[function(..)]`, which has its signature in
//! Python, and nowhere else: it is found here, becomes one of the Python module that [`MODULES`] has
//! for its file, gets its hints and torch's names (`hints`), and is a method of Tensor if it takes one
//! first (`methods`). `scripts/make_stubs.py` reads its types from a build with the feature `stubs`.

use super::{convert, io, nn, onnx, quant, random};
use pyo3::prelude::*;
use pyo3::types::PyCFunction;

/// A function that `#[function(..)]` declares.
pub struct Function {
    /// The Rust module that it stands in.
    pub module: &'static str,
    /// Makes the object.
    pub wrap: for<'py> fn(&Bound<'py, PyModule>) -> PyResult<Bound<'py, PyCFunction>>,
}
inventory::collect!(Function);

/// A module of Python within `_flex`, from which a file of `flex/` takes its names.
struct Module {
    /// The Rust module whose functions it has.
    path: &'static str,
    attribute: &'static str,
    /// The `__module__` of its functions.
    name: &'static str,
    /// Adds what else it has.
    classes: fn(&Bound<PyModule>) -> PyResult<()>,
}

/// The first that has a function's path is its module; other functions are `_flex`'s own.
#[rustfmt::skip]
const MODULES: [Module; 9] = [
    Module { path: "nn::grad", attribute: "_grad", name: "flex.nn.grad", classes: |_| Ok(()) },
    Module { path: "nn", attribute: "_nn", name: "flex.nn", classes: |m| m.add_class::<nn::PyKvCache>() },
    Module { path: "fft", attribute: "_fft", name: "flex.fft", classes: |_| Ok(()) },
    Module { path: "linalg", attribute: "_linalg", name: "flex.linalg", classes: |m| m.add("LinAlgError", convert::error::linalg_error(m.py())) },
    Module { path: "quant", attribute: "_quant", name: "flex.quant", classes: |m| m.add_class::<quant::PyQTensor>() },
    Module { path: "random", attribute: "_random", name: "flex.random", classes: |m| m.add_class::<random::PyGenerator>() },
    Module { path: "signal", attribute: "_signal", name: "flex.signal", classes: |_| Ok(()) },
    Module { path: "io", attribute: "_io", name: "flex._flex._io", classes: |m| m.add_class::<io::PyReplacement>() },
    Module { path: "onnx", attribute: "_onnx", name: "flex._flex._onnx", classes: |m| m.add_class::<onnx::PyModel>() },
];

/// Adds all functions, and the modules within `m`. Returns the modules, `m` first.
pub fn register<'py>(m: &Bound<'py, PyModule>) -> PyResult<Vec<Bound<'py, PyModule>>> {
    let mut modules = vec![m.clone()];
    for row in &MODULES {
        let module = PyModule::new(m.py(), row.name)?;
        (row.classes)(&module)?;
        m.setattr(row.attribute, &module)?;
        modules.push(module);
    }
    let mut functions = Vec::new();
    for f in inventory::iter::<Function> {
        let path = f.module.trim_start_matches("_flex::");
        let has = |row: &Module| {
            path.strip_prefix(row.path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        let index = MODULES.iter().position(has).map_or(0, |i| i + 1);
        let function = (f.wrap)(&modules[index])?;
        functions.push((
            function.getattr("__name__")?.extract::<String>()?,
            index,
            function,
        ));
    }
    functions.sort_by(|a, b| a.0.cmp(&b.0)); // the linker's order is any
    for (_, index, function) in functions {
        modules[index].add_function(function)?;
    }
    Ok(modules)
}

/// In an `impl FromPyObject`: the type of such a parameter in the stubs, made of names that
/// `scripts/stub_classes.py` has.
macro_rules! stub_type {
    ($type:literal) => {
        #[cfg(feature = "stubs")]
        const INPUT_TYPE: pyo3::inspect::PyStaticExpr = pyo3::inspect::PyStaticExpr::Constant {
            value: pyo3::inspect::PyStaticConstant::Str($type),
        };
    };
}
