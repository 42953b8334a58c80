//! Conversions between Python objects and the crate's types: errors, arguments, operands, nested
//! lists. All conversions are here or in `interop`, which borrows other libraries' memory.

mod args;
pub mod error;
mod interrupt;
mod nested;
mod operand;
pub mod sequence;

use super::cell::PyTensor;
use crate::convert::error::Raise;
use flex::{Result, Tensor};
use pyo3::prelude::*;

pub use args::{CPU, Device, Diagonal, Given, Ints, axis_or_dim, count, integer, kind, shown};
pub use interrupt::{interruptible, is_main};
pub use nested::{Population, ValuesArg, asarray, exact_list, is_list, operand_beside, values_for};
pub use operand::{
    Compared, NumberArg, Operand, OperandRef, TensorArg, TensorList, beyond_integers,
    python_number, scalar,
};

/// The number of elements from which on work is long enough to release the GIL.
const LONG: usize = 32 * 1024;

/// Whether work on this many elements is done with the GIL held and objects locked.
#[inline(always)]
pub fn is_short(elements: usize) -> bool {
    elements < LONG
}

/// Runs `f`, which works on about `elements` elements, without the GIL if that is long work, which a
/// signal may then interrupt.
#[inline(always)]
pub fn detached<T: Send>(
    py: Python<'_>,
    elements: usize,
    f: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    let done = if is_short(elements) {
        f()
    } else {
        interruptible(py, f)?
    };
    done.raise()
}

/// [`detached`] for work that writes to what is there already: it is never interrupted.
pub fn detached_write<T: Send>(
    py: Python<'_>,
    elements: usize,
    f: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    let done = if is_short(elements) {
        f()
    } else {
        py.detach(f)
    };
    done.raise()
}

/// [`detached`] for functions that return a tensor, all of which share their code.
#[inline(always)]
pub fn compute(
    py: Python<'_>,
    elements: usize,
    f: impl FnOnce() -> Result<Tensor> + Send,
) -> PyResult<PyTensor> {
    let mut f = Some(f);
    compute_once(py, elements, &mut || f.take().map(|f| f()))
}

/// A call that has a result the first time.
type Once<'a> = &'a mut (dyn FnMut() -> Option<Result<Tensor>> + Send);

fn compute_once(py: Python<'_>, elements: usize, f: Once) -> PyResult<PyTensor> {
    let done = if is_short(elements) {
        f()
    } else {
        interruptible(py, f)?
    };
    let done = done.expect("it is called once");
    Ok(PyTensor::new(done.raise()?))
}
