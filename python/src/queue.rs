//! `flex.stream`: queued operations, which run together when a value is needed.

use super::cell::{Held, PyTensor};
use super::convert::{Operand, OperandRef};
use super::entered;
use crate::convert::error::Raise;
use flex::kernel::elementwise::Row;
use flex::op::Op;
use flex::ops::Reduction;
use flex::ops::elementwise::fit_target;
use flex::storage::LongWrite;
use flex::stream::{self, Argument, Kind, Layer, Plans, ViewOp};
use flex::{DType, Layout, Result};
use pyo3::exceptions::{PyRuntimeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock};

/// The plans shared by all streams.
static PLANS: LazyLock<Arc<Plans>> = LazyLock::new(Arc::default);

thread_local! {
    /// The streams that this thread has entered, innermost last.
    static ENTERED: RefCell<Vec<Arc<stream::Stream>>> = const { RefCell::new(Vec::new()) };
}

/// The stream that queues this thread's operations.
#[inline(always)]
fn current() -> Option<Arc<stream::Stream>> {
    if !entered::is_any() {
        return None;
    }
    ENTERED.with_borrow(|all| all.last().cloned())
}
/// The content of operands.
enum OperandContent {
    Held(Held),
    Operand(Operand),
}
fn given(x: &OperandRef) -> OperandContent {
    match x {
        OperandRef::Object(t) => OperandContent::Held(t.get().held()),
        OperandRef::Number(x) => OperandContent::Operand(Operand::Scalar(x.look())),
        OperandRef::Operand(x) => OperandContent::Operand(x.clone()),
    }
}
fn argument(x: &OperandContent) -> Argument<'_> {
    match x {
        OperandContent::Held(Held::Tensor(t)) | OperandContent::Operand(Operand::Tensor(t)) => {
            t.into()
        }
        OperandContent::Held(Held::Lazy(x)) => x.into(),
        OperandContent::Operand(Operand::Scalar(s)) => Argument::Number(*s),
    }
}
/// Calls `f` with the stream, after making room for an operation.
fn with_room<R>(
    stream: &stream::Stream,
    f: impl FnOnce(&stream::Stream) -> Result<R>,
) -> PyResult<R> {
    if stream.is_full() {
        run(stream)?;
    }
    f(stream).raise()
}
fn run(stream: &stream::Stream) -> PyResult<()> {
    let run = || {
        let _write = LongWrite::begin();
        stream.run()
    };
    Python::attach(|py| py.detach(run)).raise()?;
    Ok(())
}

/// Queues an elementwise operation.
#[inline(always)]
pub fn apply(row: &'static Row, operands: &[OperandRef]) -> Option<PyResult<PyTensor>> {
    current().and_then(|stream| apply_on(&stream, row, operands))
}
fn apply_on(
    stream: &stream::Stream,
    row: &'static Row,
    operands: &[OperandRef],
) -> Option<PyResult<PyTensor>> {
    let given: SmallVec<[OperandContent; 3]> = operands.iter().map(given).collect();
    let arguments: SmallVec<[Argument; 3]> = given.iter().map(argument).collect();
    if !stream::takes(row.op, &arguments) {
        return None;
    }
    let y = with_room(stream, |s| s.apply(row.op, &arguments));
    Some(y.map(PyTensor::queued))
}
/// Queues the operation that `f` applies to one operand.
fn unary(
    x: &OperandRef,
    f: impl FnOnce(&stream::Stream, &Argument) -> Result<stream::Lazy>,
) -> Option<PyResult<PyTensor>> {
    let stream = current()?;
    let given = given(x);
    let x = argument(&given);
    if !stream::is_stable(&[x]) {
        return None;
    }
    Some(with_room(&stream, |s| f(s, &x)).map(PyTensor::queued))
}
/// Queues a conversion.
pub fn convert(x: &OperandRef, dtype: DType) -> Option<PyResult<PyTensor>> {
    unary(x, |s, x| match x.dtype() {
        Some(own) if own == dtype && stream::copies(dtype) => s.apply(Op::Positive, &[*x]),
        _ => s.convert(x, dtype),
    })
}
/// Queues a reduction of the operand converted by `before`.
pub fn reduce(
    kind: Kind,
    x: &OperandRef,
    over: &Reduction,
    before: impl Fn(DType) -> Result<Option<DType>>,
    after: Option<DType>,
) -> Option<PyResult<PyTensor>> {
    unary(x, |s, x| {
        let y = match x.dtype().map_or(Ok(None), before)? {
            Some(dtype) => s.reduce(kind, &(&s.convert(x, dtype)?).into(), over.clone())?,
            None => s.reduce(kind, x, over.clone())?,
        };
        match after {
            Some(dtype) if dtype != y.dtype() => s.convert(&(&y).into(), dtype),
            _ => Ok(y),
        }
    })
}
/// Queues a matrix product.
pub fn matmul(a: &OperandRef, b: &OperandRef, dtype: Option<DType>) -> Option<PyResult<PyTensor>> {
    let stream = current()?;
    let given = [given(a), given(b)];
    let [a, b] = given.each_ref().map(argument);
    let numbers = [a, b].iter().any(|x| matches!(x, Argument::Number(_)));
    if numbers || !stream::is_stable(&[a, b]) {
        return None;
    }
    Some(with_room(&stream, |s| s.matmul(&a, &b, dtype)).map(PyTensor::queued))
}
/// Queues a layer.
pub fn layer(layer: &Layer, operands: &[OperandRef]) -> Option<PyResult<PyTensor>> {
    let stream = current()?;
    let given: SmallVec<[OperandContent; 4]> = operands.iter().map(given).collect();
    let arguments: SmallVec<[Argument; 4]> = given.iter().map(argument).collect();
    let is_number = |x: &Argument| matches!(x, Argument::Number(_));
    if arguments.iter().any(is_number) || !stream::is_stable(&arguments) {
        return None;
    }
    Some(with_room(&stream, |s| s.layer(layer, &arguments)).map(PyTensor::queued))
}
/// Queues a view of a value that is queued in this stream; `None` also for one that may copy more
/// than memory holds.
pub fn view(
    x: &OperandRef,
    make: &dyn Fn(&Layout, DType) -> Result<Option<ViewOp>>,
) -> Option<PyResult<PyTensor>> {
    let stream = current()?;
    let OperandRef::Object(t) = x else {
        return None;
    };
    let lazy = t.get().waiting()?;
    match make(lazy.layout(), lazy.dtype()) {
        Ok(view) => {
            let view = view.filter(|view| view.fits_memory(lazy.dtype()))?;
            let y = with_room(&stream, |s| s.queue_view(&(&lazy).into(), view));
            Some(y.map(PyTensor::queued))
        }
        Err(e) => Some(Err(e.raise())),
    }
}
/// Queues an in-place operation.
#[inline(always)]
pub fn apply_in_place(
    row: &'static Row,
    t: &Bound<'_, PyTensor>,
    other: &OperandRef,
) -> Option<PyResult<()>> {
    let stream = current()?;
    let operands = [given(&OperandRef::Object(t.clone())), given(other)];
    let arguments = operands.each_ref().map(argument);
    let [target, other] = &arguments;
    if !stream::takes(row.op, &arguments) || !stream.takes_in_place(target, other) {
        return None;
    }
    let shape = target.shape();
    let y = with_room(&stream, |s| {
        let y = s.apply(row.op, &arguments)?;
        let target = (shape, t.get().dtype_of());
        let dtype = fit_target(row.op.name(), (y.shape(), y.dtype()), target)?;
        match dtype == y.dtype() {
            true => Ok(y),
            false => s.convert(&(&y).into(), dtype),
        }
    });
    Some(y.map(|y| t.get().become_other(PyTensor::queued(y))))
}
/// Runs the queues of this thread that read the tensor's memory: a write in place would copy it, and
/// the copy is row-major.
pub fn before_write(py: Python<'_>, t: &PyTensor) -> PyResult<()> {
    t.compute_queued(py)?;
    if !entered::is_any() {
        return Ok(());
    }
    for stream in ENTERED.with_borrow(Vec::clone) {
        if stream.holds(&t.get()) {
            run(&stream)?;
        }
    }
    Ok(())
}

/// Queued operations that run together: see `flex.stream`.
#[pyclass(frozen, weakref, module = "flex")]
pub struct Stream(Arc<stream::Stream>);

#[pymethods]
impl Stream {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Stream> {
        load_once(py)?;
        Ok(Stream(Arc::new(stream::Stream::with_plans(PLANS.clone()))))
    }
    fn __enter__(slf: Bound<'_, Stream>) -> Bound<'_, Stream> {
        ENTERED.with_borrow_mut(|all| all.push(slf.get().0.clone()));
        entered::begin();
        slf
    }
    #[pyo3(signature = (kind, error, traceback, /))]
    fn __exit__(
        &self,
        kind: &Bound<'_, PyAny>,
        error: &Bound<'_, PyAny>,
        traceback: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let _ = (error, traceback);
        let left = ENTERED.with_borrow_mut(|all| {
            let last = all.iter().rposition(|s| Arc::ptr_eq(s, &self.0));
            last.map(|k| all.remove(k))
        });
        if left.is_none() {
            return Err(PyRuntimeError::new_err(
                "stream: this thread has not entered it",
            ));
        }
        entered::end();
        if kind.is_none() {
            run(&self.0)?; // after an error, values still in use are computed on demand
        }
        Ok(false)
    }
    /// Runs the queued operations whose results are needed.
    ///
    /// MemoryError if there is no memory for the results.
    ///
    /// >>> with flex.stream() as s:
    /// ...     y = flex.exp(flex.zeros(2)) + 1
    /// ...     s.run()
    /// >>> y.tolist()
    /// [2.0, 2.0]
    fn run(&self) -> PyResult<()> {
        run(&self.0)
    }
    /// Statistics of the stream since it was made, as a dict of numbers. operations: the number
    /// queued; kernels: the number of passes over memory. bytes_allocated, bytes_read,
    /// bytes_written: their memory traffic; eager_bytes_allocated, eager_bytes_read,
    /// eager_bytes_written: that of the operations one by one. bytes_saved: the bytes not read and
    /// written, compared with that. Operations still queued are counted, but have no traffic yet.
    ///
    /// >>> x = flex.ones((32, 32))
    /// >>> with flex.stream() as s:
    /// ...     y = (x + 1) * x
    /// >>> s.stats()["kernels"], s.stats()["bytes_written"], s.stats()["eager_bytes_written"]
    /// (1, 4096, 8192)
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.0.stats();
        let (run, eager) = (stats.run, stats.eager);
        let dict = PyDict::new(py);
        for (name, n) in [
            ("operations", stats.operations),
            ("kernels", run.kernels),
            ("bytes_allocated", run.allocated),
            ("bytes_read", run.read),
            ("bytes_written", run.written),
            ("eager_bytes_allocated", eager.allocated),
            ("eager_bytes_read", eager.read),
            ("eager_bytes_written", eager.written),
            ("bytes_saved", eager.moved().saturating_sub(run.moved())),
        ] {
            dict.set_item(name, n)?;
        }
        Ok(dict)
    }
    /// Saves the plans that streams of this process have found to a file, which another process can
    /// `load`.
    ///
    /// path: a path, whose file is replaced. OSError if it can't be written.
    ///
    /// >>> import os, tempfile
    /// >>> with tempfile.TemporaryDirectory() as folder:
    /// ...     flex.Stream().save(os.path.join(folder, "plans"))
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.plans().save(path)).raise()?;
        Ok(())
    }
    /// Adds the plans of a file written by `save`, for all streams of this process. Returns their
    /// number. A file that is damaged, of another format, or of another version of flex is ignored
    /// with a warning, and 0 is returned.
    ///
    /// path: a path. OSError if it can't be read.
    ///
    /// >>> import os, tempfile
    /// >>> with tempfile.TemporaryDirectory() as folder:
    /// ...     flex.Stream().save(os.path.join(folder, "plans"))
    /// ...     flex.Stream().load(os.path.join(folder, "plans")) >= 0
    /// True
    fn load(&self, py: Python<'_>, path: PathBuf) -> PyResult<usize> {
        load(py, path)
    }
    /// Saves the plans to `FLEX_PLAN_CACHE` if there are new ones.
    #[staticmethod]
    fn _save_at_exit(py: Python<'_>) -> PyResult<()> {
        match cache() {
            Some(path) if PLANS.is_changed() => match py.detach(|| PLANS.save(path)) {
                Ok(()) => Ok(()),
                Err(e) => warn(py, &e),
            },
            _ => Ok(()),
        }
    }
    fn __repr__(&self) -> String {
        let stats = self.0.stats();
        format!(
            "flex.Stream({} operations, {} kernels)",
            stats.operations, stats.run.kernels
        )
    }
}

/// The file that keeps plans between processes.
fn cache() -> Option<PathBuf> {
    std::env::var_os("FLEX_PLAN_CACHE")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
}
fn warn(py: Python<'_>, e: &flex::Error) -> PyResult<()> {
    let message = std::ffi::CString::new(format!("plans are ignored: {e}")).unwrap_or_default();
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1)
}
fn load(py: Python<'_>, path: PathBuf) -> PyResult<usize> {
    match py.detach(|| PLANS.load(path)) {
        Ok(n) => Ok(n),
        Err(e @ flex::Error::File { .. }) => warn(py, &e).map(|()| 0),
        Err(e) => Err(e.raise()),
    }
}
/// Loads the plans of `FLEX_PLAN_CACHE`, once, and registers the saving of new ones.
fn load_once(py: Python<'_>) -> PyResult<()> {
    static LOADED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
    let Some(path) = cache() else { return Ok(()) };
    if LOADED.swap(true, Relaxed) {
        return Ok(());
    }
    let save = py.get_type::<Stream>().getattr("_save_at_exit")?;
    py.import("atexit")?.call_method1("register", (save,))?;
    if path.exists() {
        load(py, path)?;
    }
    Ok(())
}

/// Runs the operations of a block together: `with flex.stream():`.
///
/// Within the block, elementwise functions, operators, `astype`, reductions, products (`matmul`,
/// `nn.linear`, convolutions) and views of queued values of this thread are queued instead of run.
/// Whatever needs elements (`tolist`, `item`, printing, NumPy, any other function), the end of the
/// block, and a full queue run the queued operations in as few passes over memory as possible, and
/// only those whose results are still referenced. Shapes and dtypes are checked at once, so errors
/// name the right line. Results have the same bits as without a stream.
///
/// Operations on memory that other code may change (NumPy arrays) run at once. Plans are found once
/// and reused by all streams; the environment variable FLEX_PLAN_CACHE names a file that keeps them
/// between processes.
///
/// >>> x = flex.asarray([1.0, 2.0, 3.0])
/// >>> with flex.stream():
/// ...     y = x * 2 + 1
/// ...     z = flex.sum(y)
/// >>> z.item()
/// 15.0
#[pyfunction]
#[pyo3(name = "stream")]
fn make(py: Python<'_>) -> PyResult<Stream> {
    Stream::new(py)
}

pub(super) fn register(m: &Bound<PyModule>) -> PyResult<()> {
    m.add_class::<Stream>()?;
    m.add_function(wrap_pyfunction!(make, m)?)
}
