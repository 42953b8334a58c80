//! torch's names of the parameters of `flex.nn` and `flex.nn.grad`, where they differ from flex's.
//! Signatures have flex's only (and `dim`, where it is most usual): a call that fails and uses one
//! of these is made again with flex's.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// The functions (none for all), torch's name, and flex's. A row applies to functions that have a
/// parameter by the second name and none by the first.
const NAMES: [(&[&str], &str, &str); 9] = [
    (&[], "dim", "axis"),
    (&[], "input", "x"),
    (&["embedding", "embedding_bag"], "input", "indices"),
    (
        &["cosine_embedding_loss", "margin_ranking_loss"],
        "input1",
        "x1",
    ),
    (
        &["cosine_embedding_loss", "margin_ranking_loss"],
        "input2",
        "x2",
    ),
    (&["one_hot"], "tensor", "x"),
    // the operators that autograd calls
    (&["embedding"], "num_weights", "num_embeddings"),
    (&[], "grad_output", "grad"),
    (&[], "output", "y"),
];

/// The functions of `flex` that `flex.nn` has too.
const SHARED: [&str; 4] = ["relu", "sigmoid", "silu", "tanh"];

/// torch's name of a parameter of a function.
pub struct TorchName {
    torch: &'static str,
    flex: &'static str,
    /// The parameter's index in the signature.
    index: usize,
    /// Whether the parameter has no keyword.
    by_position: bool,
}

/// torch's names for the function of a module with this signature, such as `"(x, /, axis=-1)"`.
pub fn of(module: &str, function: &str, signature: &str) -> Vec<TorchName> {
    if !module.starts_with("flex.nn") && !SHARED.contains(&function) {
        return Vec::new();
    }
    let mut parameters: Vec<&str> = signature
        .trim_matches(['(', ')'])
        .split(", ")
        .filter_map(|p| p.split('=').next())
        .collect();
    let slash = parameters.iter().position(|p| *p == "/").unwrap_or(0);
    parameters.retain(|p| *p != "/");
    let index = |name: &str| parameters.iter().position(|p| *p == name);
    let names = NAMES.iter().filter_map(|(functions, torch, flex)| {
        let applies = functions.is_empty() || functions.contains(&function);
        let at = index(flex).filter(|_| applies && index(torch).is_none())?;
        Some(TorchName {
            torch,
            flex,
            index: at,
            by_position: at < slash,
        })
    });
    names.collect()
}

/// The parameter that torch calls `name`.
pub fn find<'a>(names: &'a [TorchName], name: &str) -> Option<&'a TorchName> {
    names.iter().find(|n| n.torch == name)
}

/// Calls the function `op` with flex's names for these keywords.
pub fn call<'py>(
    names: &[TorchName],
    op: &str,
    callable: &Bound<'py, PyAny>,
    mut positional: Vec<Bound<'py, PyAny>>,
    keywords: Vec<(Bound<'py, PyString>, Bound<'py, PyAny>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, given) = (callable.py(), positional.len());
    let renamed = PyDict::new(py);
    for (keyword, value) in &keywords {
        let Some(name) = find(names, keyword.to_str()?) else {
            renamed.set_item(keyword, value)?;
            continue;
        };
        let is_flex = |k: &Bound<PyString>| k.to_str().is_ok_and(|k| k == name.flex);
        if name.index < given || keywords.iter().any(|(k, _)| is_flex(k)) {
            return Err(PyTypeError::new_err(format!(
                "{op}: {} and {}, another name of it, are both given; pass one of them",
                name.flex, name.torch
            )));
        }
        if name.by_position {
            positional.push(value.clone());
        } else {
            renamed.set_item(name.flex, value)?;
        }
    }
    callable.call(PyTuple::new(py, positional)?, Some(&renamed))
}
