//! Better messages for failed calls: they name the function and the argument, and suggest what was
//! probably meant. `flex/_hints.py` has the texts. Calls with torch's names of parameters
//! (`torch_names`) are made again with flex's. Both happen only after an error, so that successful
//! calls pay two jumps.

use super::deferred::traced;
use super::torch_names::{self, TorchName};
use super::whole;
use pyo3::exceptions::{PySystemError, PyTypeError, PyUnicodeEncodeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCFunction, PyString, PyTuple};
use std::ffi::{CString, c_int};
use std::sync::OnceLock;

/// The calling convention of the module's functions, and its flags.
type FastCall = ffi::PyCFunctionFastWithKeywords;
const FLAGS: c_int = ffi::METH_FASTCALL | ffi::METH_KEYWORDS;

/// A function of the module made by PyO3.
struct BuiltinFunction {
    call: FastCall,
    /// The name that errors have, with a prefix in some modules.
    name: String,
    /// torch's names of its parameters.
    torch_names: Vec<TorchName>,
}

impl BuiltinFunction {
    /// Its name in its module.
    fn name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

/// The functions, by the index of the copy of [`call`] that wraps each.
static FUNCTIONS: [[OnceLock<BuiltinFunction>; 16]; 32] =
    [const { [const { OnceLock::new() }; 16] }; 32];

/// A copy of [`call`] for each index: CPython passes a built-in function only its module, the same
/// for all.
#[rustfmt::skip]
static CALLS: [[FastCall; 16]; 32] = [
    copies::<0>(), copies::<1>(), copies::<2>(), copies::<3>(), copies::<4>(), copies::<5>(), copies::<6>(), copies::<7>(),
    copies::<8>(), copies::<9>(), copies::<10>(), copies::<11>(), copies::<12>(), copies::<13>(), copies::<14>(), copies::<15>(),
    copies::<16>(), copies::<17>(), copies::<18>(), copies::<19>(), copies::<20>(), copies::<21>(), copies::<22>(), copies::<23>(),
    copies::<24>(), copies::<25>(), copies::<26>(), copies::<27>(), copies::<28>(), copies::<29>(), copies::<30>(), copies::<31>(),
];

#[rustfmt::skip]
const fn copies<const I: usize>() -> [FastCall; 16] {
    [
        call::<I, 0>, call::<I, 1>, call::<I, 2>, call::<I, 3>, call::<I, 4>, call::<I, 5>, call::<I, 6>, call::<I, 7>,
        call::<I, 8>, call::<I, 9>, call::<I, 10>, call::<I, 11>, call::<I, 12>, call::<I, 13>, call::<I, 14>, call::<I, 15>,
    ]
}

/// Calls the function at this index: a jump, since there are hundreds of copies.
///
/// # Safety
/// Called by CPython, by the protocol `METH_FASTCALL | METH_KEYWORDS`.
unsafe extern "C" fn call<const I: usize, const J: usize>(
    module: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the caller's promise
    unsafe { call_hinted(module, arguments, count, names, &FUNCTIONS[I][J]) }
}

/// Calls a function and improves the message if it raises.
///
/// # Safety
/// As for [`call`].
#[inline(never)]
unsafe extern "C" fn call_hinted(
    module: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
    function: &'static OnceLock<BuiltinFunction>,
) -> *mut ffi::PyObject {
    let Some(function) = function.get() else {
        return std::ptr::null_mut();
    };
    if traced::is_active() {
        // SAFETY: CPython's arguments
        return unsafe { call_traced(module, function, arguments, count, names) };
    }
    // SAFETY: `protocol` checked that the function has this protocol; it gets CPython's arguments
    let result = unsafe { (function.call)(module, arguments, count, names) };
    if result.is_null() {
        // SAFETY: by the protocol, `count` positional arguments, then one for each of `names`, a
        // tuple or null
        return unsafe { failed(module, function, arguments, count, names) };
    }
    result
}

/// The same while a function is traced: a call that needs elements of a tensor from outside is
/// recorded, or else made with the elements that it has now.
///
/// # Safety
/// As for [`call`].
#[cold]
unsafe fn call_traced(
    module: *mut ffi::PyObject,
    function: &'static BuiltinFunction,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    for recordable in [true, false] {
        let before = traced::set_recordable(recordable);
        traced::was_refused(); // of an earlier call
        // SAFETY: the caller's promises
        let result = unsafe { (function.call)(module, arguments, count, names) };
        traced::set_recordable(before);
        if !result.is_null() {
            return result;
        }
        // SAFETY: the caller's promises; an exception is set
        unsafe {
            let refused = traced::was_refused();
            let recorded = match refused {
                true => record(module, function, arguments, count, names),
                false => std::ptr::null_mut(),
            };
            if !recorded.is_null() {
                return recorded;
            }
            if !refused || !recordable || !is_panic() {
                break;
            }
            ffi::PyErr_Clear();
        }
    }
    // SAFETY: the caller's promises; an exception is set
    unsafe { failed(module, function, arguments, count, names) }
}

/// Whether the exception that is set is a panic.
///
/// # Safety
/// The interpreter is attached.
unsafe fn is_panic() -> bool {
    // SAFETY: the caller's promise
    unsafe { ffi::PyErr_ExceptionMatches(ffi::PyExc_Exception) == 0 }
}

/// Returns the result of a call that failed, if it can be made otherwise; else null, with an
/// exception set whose message is improved.
///
/// # Safety
/// As for [`explain`]; `module` is the function's.
#[cold]
unsafe fn failed(
    module: *mut ffi::PyObject,
    function: &'static BuiltinFunction,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the caller's promises are those of the functions below
    unsafe {
        if !names.is_null() && uses_torch_names(function, names) {
            // the call below improves messages itself
            return call_renamed(module, function, arguments, count, names);
        }
        explain(module, &function.name, arguments, count, names);
    }
    std::ptr::null_mut()
}

/// Whether a call raised a TypeError and has a keyword by torch's name, which the function lacks.
///
/// # Safety
/// The interpreter is attached, and an exception is set; `names` is a tuple.
unsafe fn uses_torch_names(function: &BuiltinFunction, names: *mut ffi::PyObject) -> bool {
    // SAFETY: the caller's promises
    let names = unsafe {
        if ffi::PyErr_ExceptionMatches(ffi::PyExc_TypeError) == 0 {
            return false;
        }
        Bound::from_borrowed_ptr(Python::assume_attached(), names)
    };
    let is_torch_name = |n: Bound<PyAny>| {
        // comparing strings raises nothing, so the exception stays
        let n = n.cast_into::<PyString>().ok()?;
        torch_names::find(&function.torch_names, n.to_str().ok()?)
    };
    names
        .cast::<PyTuple>()
        .is_ok_and(|names| names.iter().any(|n| is_torch_name(n).is_some()))
}

/// Makes a call again with flex's names of its keywords.
///
/// # Safety
/// As for [`failed`].
unsafe fn call_renamed(
    module: *mut ffi::PyObject,
    function: &'static BuiltinFunction,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: a built-in function is called with the interpreter attached; the caller's promises
    let (py, parts) = unsafe {
        ffi::PyErr_Clear();
        let py = Python::assume_attached();
        (py, call_of(py, module, function, arguments, count, names))
    };
    let result = parts.and_then(|(callable, positional, keywords)| {
        torch_names::call(
            &function.torch_names,
            &function.name,
            &callable,
            positional,
            keywords,
        )
    });
    match result {
        Ok(y) => y.into_ptr(),
        Err(e) => {
            e.restore(py);
            std::ptr::null_mut()
        }
    }
}

/// Returns the result of a call that `flex.fuse` recorded as a whole, because it failed for a
/// traced argument; otherwise null, with an exception set.
///
/// # Safety
/// As for [`explain`]; `module` is the function's.
#[cold]
unsafe fn record(
    module: *mut ffi::PyObject,
    function: &'static BuiltinFunction,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: a built-in function is called with the interpreter attached
    let py = unsafe { Python::assume_attached() };
    let mut raised = [std::ptr::null_mut(); 3];
    let [kind, value, traceback] = &mut raised;
    // taken as raw pointers: PyErr would resume the unwinding of a panic
    // SAFETY: attached; three slots for references
    unsafe { ffi::PyErr_Fetch(kind, value, traceback) };
    // SAFETY: the caller lends `arguments`, `count` and more references, and `names`
    let recorded = unsafe { call_of(py, module, function, arguments, count, names) }
        .ok()
        .and_then(|call| whole::record(&call.0, function.name(), &call.1, &call.2));
    let Some(recorded) = recorded else {
        // SAFETY: restores what was fetched
        unsafe { ffi::PyErr_Restore(raised[0], raised[1], raised[2]) };
        return std::ptr::null_mut();
    };
    for x in raised {
        // SAFETY: references that were fetched, or null
        unsafe { ffi::Py_XDECREF(x) };
    }
    match recorded.and_then(|y| Bound::new(py, y)) {
        Ok(y) => y.into_ptr(),
        Err(e) => {
            e.restore(py);
            std::ptr::null_mut()
        }
    }
}

/// A function, and its positional and keyword arguments.
type BoundCall<'py> = (
    Bound<'py, PyAny>,
    Vec<Bound<'py, PyAny>>,
    Vec<(Bound<'py, PyString>, Bound<'py, PyAny>)>,
);

/// # Safety
/// As for [`record`].
unsafe fn call_of<'py>(
    py: Python<'py>,
    module: *mut ffi::PyObject,
    function: &BuiltinFunction,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> PyResult<BoundCall<'py>> {
    // SAFETY: the module of the function; `names` is null or a tuple; `count` and `names` give the
    // number of references: all are lent by the caller
    let (module, names, argument) = unsafe {
        let names = Bound::from_borrowed_ptr_or_opt(py, names);
        let argument = |i: usize| Bound::from_borrowed_ptr(py, *arguments.add(i));
        (Bound::from_borrowed_ptr(py, module), names, argument)
    };
    let count = count as usize;
    let positional = (0..count).map(&argument).collect();
    let mut keywords = Vec::new();
    if let Some(names) = names {
        for (i, name) in names.cast_into::<PyTuple>()?.iter().enumerate() {
            keywords.push((name.cast_into::<PyString>()?, argument(count + i)));
        }
    }
    Ok((module.getattr(function.name())?, positional, keywords))
}

/// The error, or a ValueError if an argument is a string with a lone surrogate: PyO3's error is
/// about its encoding, and printing that fails.
fn readable(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyUnicodeEncodeError>(py) || error.traceback(py).is_some() {
        return error;
    }
    let plain = PyValueError::new_err("expected text, got a string with a lone surrogate");
    if let Ok(notes) = error.value(py).getattr("__notes__") {
        let _ = plain.value(py).setattr("__notes__", notes); // they name the argument
    }
    plain
}

/// Lets `flex/_hints.py` improve the exception that is set, if it is about the arguments.
///
/// # Safety
/// The interpreter is attached; `module` is the function's; there are `count` arguments, and one
/// more for each of `names`.
#[cold]
unsafe fn explain(
    module: *mut ffi::PyObject,
    name: &str,
    arguments: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) {
    static EXPLAIN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    // SAFETY: a built-in function is called with the interpreter attached, and has set an exception
    let (py, usual) = unsafe {
        (
            Python::assume_attached(),
            ffi::PyErr_ExceptionMatches(ffi::PyExc_Exception) != 0,
        )
    };
    // not a panic: fetching it would unwind into CPython
    let Some(error) = usual.then(|| PyErr::take(py)).flatten() else {
        return;
    };
    let error = readable(py, error);
    // raised by code of this module, of a class without a message of its own
    let ours = error.get_type(py).is(py.get_type::<PyTypeError>())
        || error.value(py).hasattr("__notes__").unwrap_or(false);
    if ours && error.traceback(py).is_none() {
        // SAFETY: a module; null, or a tuple: lent by the caller
        let (module, names) = unsafe {
            (
                Bound::from_borrowed_ptr(py, module),
                Bound::from_borrowed_ptr_or_opt(py, names),
            )
        };
        let names = names.and_then(|n| n.cast_into::<PyTuple>().ok());
        let count = count as usize + names.as_ref().map_or(0, |n| n.len());
        // SAFETY: the caller lends `count` references in `arguments`
        let given = (0..count).map(|i| unsafe { Bound::from_borrowed_ptr(py, *arguments.add(i)) });
        let given = PyTuple::new(py, given.collect::<Vec<_>>());
        let explain = EXPLAIN.import(py, "flex._hints", "explain");
        // a failure here must not hide the error itself
        let _ = explain.and_then(|f| f.call1((error.value(py), module, name, given?, names)));
    }
    error.restore(py);
}

/// Wraps the functions of a module with [`call`]. Functions with another protocol take no arguments
/// and stay as they are.
pub fn register(modules: &[Bound<PyModule>]) -> PyResult<()> {
    let mut cells = FUNCTIONS.iter().flatten().zip(CALLS.iter().flatten());
    for module in modules {
        let path = module.name()?;
        if path.to_str()?.starts_with("flex._flex.") {
            continue; // called by files of `flex/` alone
        }
        // errors of gradients and quantised functions have these prefixes
        let within = match path.to_str()? {
            "flex.nn.grad" => "grad.",
            "flex.quant" => "quant.",
            _ => "",
        };
        for name in module.index()? {
            let name = name.extract::<String>()?;
            let Ok(f) = module.getattr(&name)?.cast_into::<PyCFunction>() else {
                continue;
            };
            let Some(before) = protocol(&f) else { continue };
            let (cell, call) = cells.next().ok_or_else(|| {
                PySystemError::new_err("hints: more functions than there are copies of `call`")
            })?;
            let signature = f.getattr("__text_signature__")?.extract::<String>()?;
            let doc = format!("{name}{signature}\n--\n\n{}", f.getattr("__doc__")?);
            let doc = CString::new(doc)?;
            // CPython keeps the address for as long as the function lives
            let definition = Box::leak(Box::new(ffi::PyMethodDef {
                ml_name: CString::new(&name[..])?.into_raw(),
                ml_meth: ffi::PyMethodDefPointer {
                    PyCFunctionFastWithKeywords: *call,
                },
                ml_flags: FLAGS,
                ml_doc: doc.into_raw(),
            }));
            // SAFETY: `definition`, its name and its doc live for ever, and `call` has the protocol
            // of FLAGS
            let hinted = unsafe {
                let hinted = ffi::PyCFunction_NewEx(
                    definition,
                    module.as_ptr(),
                    f.getattr("__module__")?.as_ptr(),
                );
                Bound::from_owned_ptr_or_err(module.py(), hinted)?
            };
            module.setattr(&name, hinted)?;
            let torch_names = torch_names::of(path.to_str()?, &name, &signature);
            cell.get_or_init(|| BuiltinFunction {
                call: before,
                name: format!("{within}{name}"),
                torch_names,
            });
        }
    }
    Ok(())
}

/// The C function of `f`, if its protocol is `FLAGS`.
fn protocol(f: &Bound<PyCFunction>) -> Option<FastCall> {
    // SAFETY: `f` is a built-in function; the flags say which type the pointer was cast from
    unsafe {
        let call = ffi::PyCFunction_GetFunction(f.as_ptr())?;
        (ffi::PyCFunction_GetFlags(f.as_ptr()) == FLAGS)
            .then(|| std::mem::transmute::<ffi::PyCFunction, FastCall>(call))
    }
}
