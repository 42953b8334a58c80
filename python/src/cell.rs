//! The Python object and the tensor in it, which in-place syntax changes while other threads may
//! read it.
//!
//! - **C1, nobody waits attached.** The lock is held only for short work, by threads attached to
//!   the interpreter, and for a few stores within a [`LongWrite`]. So a fork, which waits for long
//!   writes, never finds it held by another thread. Python code never runs under it.
//! - **C2, long writes take the tensor out**, and leave its layout and dtype behind: attributes can
//!   be read at any time. Threads that need the elements meanwhile wait detached, without holding a
//!   lock.
//! - **C3, traced values have no elements.** Operations that can be recorded use the value in the
//!   graph. Any other access to elements unwinds, and `flex._tracing` turns that into an error that
//!   names the line. Tensors that a traced function uses from outside are such values for the thread
//!   that traces it, and as ever for all others.
//! - **C4, queued values are computed on demand.** Operations of a stream use the queued value as
//!   it is. Any other access to elements computes it first, detached and without the lock.

use super::convert::{OperandRef, is_short};
use super::deferred;
use super::deferred::traced::{self, CapturedTensor, TraceMark, Traced};
use crate::convert::error::Raise;
use flex::layout::Layout;
use flex::storage::LongWrite;
use flex::stream::Lazy;
use flex::{DType, Tensor};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// An n-dimensional array of numbers of one dtype.
///
/// A tensor is a value: in-place syntax (`t += 1`, `t[0] = 2`) changes this tensor and no other,
/// even if they share memory. It may be used from any number of threads.
#[pyclass(frozen, weakref, name = "Tensor", module = "flex")]
pub struct PyTensor(TensorCell, usize);

/// Wraps a result in a Python object.
impl From<Tensor> for PyTensor {
    fn from(t: Tensor) -> PyTensor {
        PyTensor::new(t)
    }
}

/// A tensor, or its metadata while a thread writes to it.
struct TensorCell(Mutex<CellState>);

/// Whether any object has ever held a value of a stream, or a traced value after its function has
/// returned.
static LATE: AtomicBool = AtomicBool::new(false);

/// Notes that there may be objects of a function that was traced.
pub fn note_escaped() {
    LATE.store(true, Relaxed);
}

enum CellState {
    There(Tensor),
    Away(Arc<Away>),
    /// A value of a function that is being traced.
    Traced(Box<(Layout, DType, Traced)>),
    /// A tensor that a function uses which is being traced.
    Captured(Box<CapturedTensor>),
    /// A value of a stream.
    Queued(Lazy),
}

impl CellState {
    /// The elements of a tensor that a function uses from outside.
    #[cold]
    #[inline(never)]
    fn captured(&mut self) -> &mut Tensor {
        match self {
            CellState::Captured(x) => x.elements().unwrap_or_else(|| refuse_captured()),
            _ => unreachable!("elements are there, or captured"),
        }
    }
}

/// The content of an object, for operations that can defer work.
pub enum Held {
    Tensor(Tensor),
    Lazy(Lazy),
}

/// Unwinds when the elements of a traced value are accessed: callers can't return an error.
#[cold]
fn refuse(x: &Traced) -> ! {
    traced::note_refusal();
    let message = match x.is_over() {
        true => ESCAPED,
        false => NOT_TRACEABLE,
    };
    std::panic::resume_unwind(Box::new(String::from(message)))
}
/// The same for a tensor from outside.
#[cold]
fn refuse_captured() -> ! {
    traced::note_refusal();
    std::panic::resume_unwind(Box::new(String::from(NOT_TRACEABLE)))
}
/// The message for a function that needs elements of a traced value; `flex._tracing` adds the line.
const NOT_TRACEABLE: &str =
    "flex.fuse can't trace this function: it needs the elements of a tensor";
/// The message for a traced value that is used elsewhere.
pub const ESCAPED: &str = "this tensor belongs to a function that flex.fuse has traced, and has no elements: it was kept \
    from there, by an attribute, a variable or a list. A function must return what is used outside of it";
const CAPTURED_WRITE: &str = "flex.fuse can't trace this function: it writes to a tensor from outside, which would happen \
    once, and not at each call. Return the new value, and assign it where the function is called";

/// What must happen before a tensor is available.
enum Later {
    Away(Arc<Away>),
    Queued(Lazy),
}

/// Computes a queued value, detached. Forks wait, since it may write to memory that a child
/// inherits.
fn computed(lazy: &Lazy) -> flex::Result<Tensor> {
    let _write = LongWrite::begin();
    lazy.get()
}

/// The view of a tensor with the layout that `f` derives from its own.
#[inline(never)]
pub fn viewed(
    t: &Tensor,
    f: &dyn Fn(&Layout, DType) -> flex::Result<Layout>,
) -> flex::Result<Tensor> {
    Ok(t.view(f(t.layout(), t.dtype())?))
}

/// The metadata of a tensor that was taken out. Its shape and dtype don't change.
struct Away {
    layout: Layout,
    dtype: DType,
    back: Mutex<bool>,
    returned: Condvar,
}

impl Away {
    /// Waits, detached, until the tensor is back.
    fn wait(&self) {
        let mut back = self.back.lock().unwrap_or_else(PoisonError::into_inner);
        while !*back {
            back = self
                .returned
                .wait(back)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A tensor taken out by its writer; put back on drop.
struct TakenTensor<'a> {
    cell: &'a TensorCell,
    tensor: Tensor,
    away: Arc<Away>,
}

impl Drop for TakenTensor<'_> {
    fn drop(&mut self) {
        *self.cell.lock() = CellState::There(core::mem::take(&mut self.tensor));
        *self
            .away
            .back
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = true;
        self.away.returned.notify_all();
    }
}

impl TensorCell {
    #[inline(always)]
    fn lock(&self) -> MutexGuard<'_, CellState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Calls `f` with the tensor, under the lock, now or as soon as it is back.
    #[inline(always)]
    fn with<R>(&self, f: impl FnOnce(&mut Tensor) -> R) -> R {
        let mut state = self.lock();
        if !matches!(*state, CellState::There(_)) {
            state = self.lock_later(state);
        }
        f(match &mut *state {
            CellState::There(t) => t,
            other => other.captured(),
        })
    }
    /// The lock, once there are elements.
    #[cold]
    #[inline(never)]
    fn lock_later<'a>(&'a self, mut state: MutexGuard<'a, CellState>) -> MutexGuard<'a, CellState> {
        loop {
            let later = match &*state {
                CellState::There(_) | CellState::Captured(_) => return state,
                CellState::Away(away) => Later::Away(away.clone()),
                CellState::Traced(x) => refuse(&x.2), // releases the lock
                CellState::Queued(x) => Later::Queued(x.clone()),
            };
            drop(state);
            Python::attach(|py| py.detach(|| self.wait(&later)));
            state = self.lock();
        }
    }
    /// Waits, detached, for a tensor, or computes it.
    fn wait(&self, later: &Later) {
        let lazy = match later {
            Later::Away(away) => return away.wait(),
            Later::Queued(lazy) => lazy,
        };
        match computed(lazy) {
            Ok(t) => drop(self.arrived(lazy, t)),
            // this can't return an error
            Err(e) => std::panic::resume_unwind(Box::new(e.to_string())),
        }
    }
    /// Replaces a queued value by its tensor, and returns the previous state.
    fn arrived(&self, lazy: &Lazy, t: Tensor) -> Option<CellState> {
        let mut state = self.lock();
        match &*state {
            CellState::Queued(x) if x.is(lazy) => {
                Some(core::mem::replace(&mut *state, CellState::There(t)))
            }
            _ => None,
        }
    }
    /// Calls `f` with it; `None` if it is taken out, or another thread holds the lock.
    #[inline(always)]
    fn try_with<R>(&self, f: impl FnOnce(&Tensor) -> R) -> Option<R> {
        match &*self.0.try_lock().ok()? {
            CellState::There(t) => Some(f(t)),
            CellState::Away(_)
            | CellState::Traced(_)
            | CellState::Captured(_)
            | CellState::Queued(_) => None,
        }
    }
    /// Takes the tensor out for a long write. Called detached, and the writer stays detached: a
    /// fork that waits for the write may hold the interpreter.
    fn take(&self, _write: &LongWrite) -> TakenTensor<'_> {
        loop {
            let mut state = self.lock();
            let later = match &*state {
                CellState::There(t) => {
                    let about = Away {
                        layout: t.layout().clone(),
                        dtype: t.dtype(),
                        back: Mutex::new(false),
                        returned: Condvar::new(),
                    };
                    let away = Arc::new(about);
                    if let CellState::There(tensor) =
                        core::mem::replace(&mut *state, CellState::Away(away.clone()))
                    {
                        return TakenTensor {
                            cell: self,
                            tensor,
                            away,
                        };
                    }
                    continue;
                }
                CellState::Captured(_) => {
                    uncapture(&mut state);
                    continue;
                }
                CellState::Away(away) => Later::Away(away.clone()),
                CellState::Traced(x) => refuse(&x.2),
                CellState::Queued(x) => Later::Queued(x.clone()),
            };
            drop(state);
            self.wait(&later);
        }
    }
}

/// Replaces a tensor that traces use by the tensor.
fn uncapture(state: &mut CellState) {
    if let CellState::Captured(x) = state {
        let tensor = core::mem::take(&mut x.tensor);
        *state = CellState::There(tensor);
    }
}

/// What a traced function finds in an object from outside.
pub enum FromOutside {
    Tensor(Tensor),
    /// It belongs to another function that this thread is tracing.
    Enclosing,
    /// It belongs to a function that was traced.
    Escaped,
}

impl PyTensor {
    /// An object for a tensor.
    #[inline(always)]
    pub fn new(t: Tensor) -> PyTensor {
        PyTensor(TensorCell(Mutex::new(CellState::There(t))), traced::begun())
    }
    /// Whether the object was made since that number of traces had begun.
    pub fn is_made_since(&self, begun: usize) -> bool {
        self.1 >= begun
    }
    /// The tensor, for a function that is to be traced or run.
    pub fn outside(&self, py: Python<'_>) -> PyResult<FromOutside> {
        match &*self.0.lock() {
            CellState::There(t) => return Ok(FromOutside::Tensor(t.clone())),
            CellState::Captured(x) if x.is_here() => return Ok(FromOutside::Enclosing),
            CellState::Captured(x) => return Ok(FromOutside::Tensor(x.tensor.clone())),
            CellState::Traced(x) if x.2.mark.is_here() => return Ok(FromOutside::Enclosing),
            CellState::Traced(_) => return Ok(FromOutside::Escaped),
            CellState::Away(_) | CellState::Queued(_) => {}
        }
        Ok(FromOutside::Tensor(self.tensor(py)?))
    }
    /// Makes the object an input of a trace, with this index. Returns whether it is one: not if it
    /// has no tensor at the moment.
    pub fn capture(&self, mark: &Arc<TraceMark>, index: usize, layout: Layout) -> bool {
        let mut state = self.0.lock();
        if let CellState::There(t) = &mut *state {
            let tensor = core::mem::take(t);
            *state = CellState::Captured(Box::new(CapturedTensor::new(tensor)));
        }
        match &mut *state {
            CellState::Captured(x) => x.add(mark, index, layout),
            _ => return false,
        }
        true
    }
    /// Ends what `capture` has begun.
    pub fn release(&self, mark: &Arc<TraceMark>) {
        let mut state = self.0.lock();
        if let CellState::Captured(x) = &mut *state
            && x.remove(mark)
        {
            uncapture(&mut state);
        }
    }
    /// Its index in a trace that uses it.
    pub fn index_in(&self, mark: &Arc<TraceMark>) -> Option<usize> {
        match &*self.0.lock() {
            CellState::Captured(x) => x.index_in(mark),
            _ => None,
        }
    }
    /// Errors if a function that this thread is tracing uses the tensor from outside: it can't be
    /// written to.
    pub fn refuse_write(&self) -> PyResult<()> {
        if traced::is_active()
            && let CellState::Captured(x) = &*self.0.lock()
            && x.is_here()
        {
            return Err(PyTypeError::new_err(CAPTURED_WRITE));
        }
        Ok(())
    }
    /// A clone of the current tensor, which shares its storage.
    #[inline(always)]
    pub fn get(&self) -> Tensor {
        self.read(Tensor::clone)
    }
    /// Reads from the tensor. `f` must not use the object again, nor Python.
    #[inline(always)]
    pub fn read<R>(&self, f: impl FnOnce(&Tensor) -> R) -> R {
        self.0.with(|t| f(t))
    }
    /// Reads from the layout and dtype, which are available at any time.
    #[inline(always)]
    pub fn about<R>(&self, f: impl FnOnce(&Layout, DType) -> R) -> R {
        match &*self.0.lock() {
            CellState::There(t) => f(t.layout(), t.dtype()),
            CellState::Away(away) => f(&away.layout, away.dtype),
            CellState::Traced(x) => {
                x.2.mark.note_shape();
                f(&x.0, x.1)
            }
            CellState::Captured(x) => {
                let (layout, dtype) = x.about();
                f(layout, dtype)
            }
            CellState::Queued(x) => f(x.layout(), x.dtype()),
        }
    }
    /// The dtype, which is available at any time.
    #[inline(always)]
    pub fn dtype_of(&self) -> DType {
        match &*self.0.lock() {
            CellState::There(t) => t.dtype(),
            CellState::Away(away) => away.dtype,
            CellState::Traced(x) => x.1,
            CellState::Captured(x) => x.dtype(),
            CellState::Queued(x) => x.dtype(),
        }
    }
    /// An object for a value of a traced function.
    pub fn traced(layout: Layout, dtype: DType, value: Traced) -> PyTensor {
        let state = CellState::Traced(Box::new((layout, dtype, value)));
        PyTensor(TensorCell(Mutex::new(state)), traced::begun())
    }
    /// Calls `f` with the traced value of the object; `None` if it has elements.
    pub fn traced_value<R>(&self, f: impl FnOnce(&Traced) -> R) -> Option<R> {
        match &*self.0.lock() {
            CellState::Traced(x) => Some(f(&x.2)),
            _ => None,
        }
    }
    /// Gives the object the content of another one.
    pub fn become_other(&self, other: PyTensor) {
        let state = other
            .0
            .0
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let before = core::mem::replace(&mut *self.0.lock(), state);
        drop(before); // without the lock
    }
    /// An object for a value of a stream.
    pub fn queued(x: Lazy) -> PyTensor {
        LATE.store(true, Relaxed);
        PyTensor(
            TensorCell(Mutex::new(CellState::Queued(x))),
            traced::begun(),
        )
    }
    /// The content; a value of a stream is not computed. Errors for a traced value outside of its
    /// function.
    pub fn held(&self) -> PyResult<Held> {
        match &*self.0.lock() {
            CellState::Queued(x) => return Ok(Held::Lazy(x.clone())),
            CellState::Traced(x) if !x.2.mark.is_here() => {
                return Err(PyTypeError::new_err(ESCAPED));
            }
            _ => {}
        }
        Ok(Held::Tensor(self.get()))
    }
    /// Computes a value of a stream, so that an error can be reported; so is a traced value outside of
    /// its function.
    #[inline(always)]
    pub fn compute_queued(&self, py: Python<'_>) -> PyResult<()> {
        match LATE.load(Relaxed) || traced::is_active() {
            true => self.compute_now(py),
            false => Ok(()),
        }
    }
    /// A clone of the tensor; a value of a stream is computed first, and its error reported.
    #[inline(always)]
    pub fn tensor(&self, py: Python<'_>) -> PyResult<Tensor> {
        self.compute_queued(py)?;
        Ok(self.get())
    }
    fn compute_now(&self, py: Python<'_>) -> PyResult<()> {
        let lazy = match &*self.0.lock() {
            CellState::Queued(x) => x.clone(),
            CellState::Traced(x) if !x.2.mark.is_here() => {
                return Err(PyTypeError::new_err(ESCAPED));
            }
            _ => return Ok(()),
        };
        let tensor = py.detach(|| computed(&lazy)).raise()?;
        drop(self.0.arrived(&lazy, tensor));
        Ok(())
    }
    /// Puts another tensor in its place, and returns what was there.
    pub fn replace(&self, other: Tensor) -> Tensor {
        self.0.with(|t| core::mem::replace(t, other))
    }
    /// Takes the tensor out, and leaves one without elements.
    pub fn give_away(&self) -> Tensor {
        self.0.with(core::mem::take)
    }
    /// The view of the object's tensor with the layout that `f` derives from that of the tensor.
    #[inline(always)]
    pub fn view(
        slf: &Bound<'_, PyTensor>,
        f: impl Fn(&Layout, DType) -> flex::Result<Layout> + Send + Sync + 'static,
    ) -> PyResult<PyTensor> {
        if deferred::is_any() {
            return OperandRef::Object(slf.clone()).view(f);
        }
        slf.get().compute_queued(slf.py())?;
        // no `?` inside: exceptions are created after the lock is released
        Ok(PyTensor::new(slf.get().read(|t| viewed(t, &f)).raise()?))
    }
    /// The object's value of a stream, unless that is computed.
    pub fn waiting(&self) -> Option<Lazy> {
        match &*self.0.lock() {
            CellState::Queued(x) if !x.is_computed() => Some(x.clone()),
            _ => None,
        }
    }
    /// Reads from the tensors of two objects, which may be identical; `None` if one is not
    /// available at once, since waiting for it while holding the other could deadlock.
    #[inline(always)]
    pub fn read_both<R>(
        a: &PyTensor,
        b: &PyTensor,
        f: impl FnOnce(&Tensor, &Tensor) -> R,
    ) -> Option<R> {
        if std::ptr::eq(a, b) {
            return a.0.try_with(|t| f(t, t));
        }
        a.0.try_with(|x| b.0.try_with(|y| f(x, y)))?
    }
    /// The same for three distinct objects.
    pub fn read_three<R>(
        a: &PyTensor,
        b: &PyTensor,
        c: &PyTensor,
        f: impl FnOnce(&Tensor, &Tensor, &Tensor) -> R,
    ) -> Option<R> {
        a.0.try_with(|x| b.0.try_with(|y| c.0.try_with(|z| f(x, y, z))))??
    }
    /// Changes owned memory with short work that reads another tensor. `None` if `change` returns
    /// it, or if one of the tensors is not available at once.
    pub fn update_with<R>(
        &self,
        other: &PyTensor,
        change: impl FnOnce(&mut Tensor, &Tensor) -> Option<R>,
    ) -> Option<R> {
        if std::ptr::eq(self, other) {
            return None;
        }
        match &mut *self.0.lock() {
            CellState::There(t) if t.storage().is_owned() => {
                other.0.try_with(|other| change(t, other))?
            }
            _ => None,
        }
    }
    /// Changes the tensor in place, which touches about `work(t)` elements; other threads see it
    /// before or after the change. If `change` errors, it leaves the tensor unchanged. It must not
    /// use the object again (`t += t` takes its operand beforehand), nor Python: long work runs
    /// detached.
    pub fn update<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Tensor) -> usize,
        change: impl FnOnce(&mut Tensor) -> flex::Result<R> + Send,
    ) -> PyResult<R> {
        self.refuse_write()?;
        // foreign memory is released after the lock: its owner's code may run then and use this
        // object
        let borrowed = |t: &Tensor| (!t.storage().is_owned()).then(|| t.clone());
        let mut change = Some(change);
        let now = self.0.with(|t| {
            let change = if is_short(work(t)) {
                change.take()
            } else {
                None
            };
            change.map(|change| (borrowed(t), change(t)))
        });
        let result = match (now, change) {
            (Some((borrowed, result)), _) => {
                drop(borrowed);
                result
            }
            (None, Some(change)) => py.detach(|| {
                let write = LongWrite::begin();
                let mut taken = self.0.take(&write);
                let borrowed = borrowed(&taken.tensor);
                let result = change(&mut taken.tensor);
                drop((taken, write, borrowed));
                result
            }),
            (None, None) => unreachable!("a change that was taken has a result"),
        };
        result.raise()
    }
}
