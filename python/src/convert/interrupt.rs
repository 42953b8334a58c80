//! Ctrl-C, and other signals, during long work: Python handles signals on its main thread, which
//! looks for them between two pieces of the work.

use flex::par;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::cell::Cell;

thread_local! {
    /// What the handler of a signal raised.
    static RAISED: Cell<Option<PyErr>> = const { Cell::new(None) };
    /// Whether this is Python's main thread, once that is known.
    static IS_MAIN: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Whether this is Python's main thread, which runs the handlers of signals.
pub fn is_main(py: Python<'_>) -> bool {
    let find = || -> PyResult<bool> {
        let threading = py.import("threading")?;
        let main = threading.call_method0("main_thread")?.getattr("ident")?;
        main.eq(threading.call_method0("get_ident")?)
    };
    IS_MAIN.get().unwrap_or_else(|| {
        let found = find().unwrap_or(false);
        IS_MAIN.set(Some(found));
        found
    })
}

/// Runs the handlers of signals that have arrived; true if one raised an exception.
fn signalled() -> bool {
    Python::attach(|py| match py.check_signals() {
        Ok(()) => false,
        Err(e) => {
            RAISED.set(Some(e));
            true
        }
    })
}

/// Calls `f` without the GIL. On the main thread it is given up when the handler of a signal raises
/// an exception, which is then the error: so `f` must write to nothing that is seen afterwards, and
/// hold no lock, since handlers run meanwhile.
pub fn interruptible<T: Send>(py: Python<'_>, f: impl FnOnce() -> T + Send) -> PyResult<T> {
    let (mut f, mut result) = (Some(f), None);
    run(py, &mut || result = f.take().map(|f| f()))?;
    Ok(result.expect("a call that wasn't given up has a result"))
}

/// [`interruptible`] for all functions: the code of `f` is compiled once, with one call.
fn run(py: Python<'_>, f: &mut (dyn FnMut() + Send)) -> PyResult<()> {
    if !is_main(py) {
        py.detach(f);
        return Ok(());
    }
    py.detach(|| par::interruptible(signalled, f))
        .ok_or_else(|| {
            RAISED
                .take()
                .unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))
        })
}
