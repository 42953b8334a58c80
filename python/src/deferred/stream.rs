//! `flex.stream`: queued operations, which run together when a value is needed.

use super::{Recorded, Recorder};
use crate::cell::{Held, PyTensor};
use crate::convert::error::Raise;
use crate::convert::{Operand, OperandRef};
use flex::Tensor;
use flex::storage::LongWrite;
use flex::stream::{self, About, Argument, Operation, Plans, WeakStream};
use pyo3::exceptions::{PyRuntimeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The number of times that threads have entered streams and not left them yet.
static ENTRIES: AtomicUsize = AtomicUsize::new(0);
/// The plans shared by all streams.
static PLANS: LazyLock<Arc<Plans>> = LazyLock::new(Arc::default);

thread_local! {
    /// The streams that this thread has entered, innermost last.
    static ENTERED: RefCell<Vec<Arc<stream::Stream>>> = const { RefCell::new(Vec::new()) };
}

/// Whether any thread has entered a stream.
#[inline(always)]
pub fn is_entered() -> bool {
    ENTRIES.load(Relaxed) > 0
}
/// The stream that queues this thread's operations.
fn current() -> Option<Arc<stream::Stream>> {
    if !is_entered() {
        return None;
    }
    ENTERED.with_borrow(|all| all.last().cloned())
}
/// The content of operands.
enum OperandContent {
    Held(Held),
    Operand(Operand),
}
fn given(x: &OperandRef) -> PyResult<OperandContent> {
    Ok(match x {
        OperandRef::Object(t) => OperandContent::Held(t.get().held()?),
        OperandRef::Number(x) => OperandContent::Operand(Operand::Scalar(x.specialize())),
        OperandRef::Operand(x) => OperandContent::Operand(x.clone()),
    })
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
fn run(stream: &stream::Stream) -> PyResult<()> {
    let run = || {
        let _write = LongWrite::begin();
        stream.run()
    };
    Python::attach(|py| py.detach(run)).raise()?;
    Ok(())
}

/// Queues what `f` adds; `None` if this thread has entered no stream, or it can't be queued.
pub(super) fn record(
    operands: &[&OperandRef],
    f: &dyn Fn(&mut dyn Recorder) -> Recorded<usize>,
) -> Option<PyResult<PyTensor>> {
    let stream = current()?;
    let queue = || {
        let values = operands.iter().map(|x| given(x));
        let mut r = StreamRecorder {
            stream: &stream,
            values: values.collect::<PyResult<_>>()?,
        };
        let y = f(&mut r)?;
        match r.values.swap_remove(y) {
            OperandContent::Held(Held::Lazy(y)) => Ok(PyTensor::queued(y)),
            _ => Err(None),
        }
    };
    match queue() {
        Ok(y) => Some(Ok(y)),
        Err(e) => e.map(Err),
    }
}
/// Queues operations on operands.
struct StreamRecorder<'a> {
    stream: &'a stream::Stream,
    values: SmallVec<[OperandContent; 4]>,
}
impl Recorder for StreamRecorder<'_> {
    fn about(&self, x: usize) -> About<'_> {
        match argument(&self.values[x]) {
            Argument::Tensor(x) => About::Value(x.shape(), x.dtype()),
            Argument::Lazy(x) => About::Value(x.shape(), x.dtype()),
            Argument::Number(s) => About::Number(s),
        }
    }
    fn waits(&self, x: usize) -> bool {
        matches!(argument(&self.values[x]), Argument::Lazy(x) if !x.is_computed())
    }
    fn add(&mut self, operation: Operation, operands: &[usize]) -> Recorded<usize> {
        let given = operands.iter().map(|x| argument(&self.values[*x]));
        let given: SmallVec<[Argument; 4]> = given.collect();
        if !self.stream.can_defer(&operation, &given) {
            return Err(None);
        }
        if self.stream.is_full() {
            run(self.stream)?;
        }
        let y = self.stream.add(operation, &given).raise()?;
        drop(given);
        self.values.push(OperandContent::Held(Held::Lazy(y)));
        Ok(self.values.len() - 1)
    }
    fn replaces(&mut self) -> Recorded<bool> {
        let [target, other] = [0, 1].map(|x| argument(&self.values[x]));
        match self.stream.takes_in_place(&target, &other) {
            true => Ok(false),
            false => Err(None),
        }
    }
}
/// Runs the queues of this thread that read the tensor's memory: a write in place would copy it, and
/// the copy is row-major.
pub fn before_write(py: Python<'_>, t: &PyTensor) -> PyResult<()> {
    t.compute_queued(py)?;
    if !is_entered() {
        return Ok(());
    }
    for stream in ENTERED.with_borrow(Vec::clone) {
        if stream.holds(&t.get()) {
            run(&stream)?;
        }
    }
    Ok(())
}

/// All streams, those of other threads and those that nobody has entered too.
static STREAMS: Mutex<Vec<WeakStream>> = Mutex::new(Vec::new());

/// Runs the queues that read the tensor's memory, which is about to be lent.
pub fn before_loan(py: Python<'_>, t: &Tensor) -> PyResult<()> {
    let streams = STREAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let alive: Vec<stream::Stream> = streams.iter().filter_map(WeakStream::upgrade).collect();
    drop(streams);
    if alive.is_empty() {
        return Ok(());
    }
    // another thread may be running one
    let held = py.detach(|| alive.into_iter().filter(|s| s.holds(t)).collect::<Vec<_>>());
    held.iter().try_for_each(run)
}

/// Queued operations that run together: see `flex.stream`.
#[pyclass(frozen, weakref, module = "flex")]
pub struct Stream(Arc<stream::Stream>);

#[pymethods]
impl Stream {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Stream> {
        load_once(py)?;
        let stream = Arc::new(stream::Stream::with_plans(PLANS.clone()));
        let mut streams = STREAMS.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(WeakStream::is_alive);
        streams.push(stream.downgrade());
        Ok(Stream(stream))
    }
    fn __enter__(slf: Bound<'_, Stream>) -> Bound<'_, Stream> {
        ENTERED.with_borrow_mut(|all| all.push(slf.get().0.clone()));
        ENTRIES.fetch_add(1, Relaxed);
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
        ENTRIES.fetch_sub(1, Relaxed);
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
    #[pyo3(signature = () -> "dict[str, int]")]
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
/// Operations on memory that other code may change run at once: that of NumPy arrays, and of tensors
/// while they are lent (`numpy()`, `from_dlpack` of another library). Lending a tensor runs the
/// operations that read it. Plans are found once
/// and reused by all streams; the environment variable FLEX_PLAN_CACHE names a file that keeps them
/// between processes.
///
/// >>> x = flex.asarray([1.0, 2.0, 3.0])
/// >>> with flex.stream():
/// ...     y = x * 2 + 1
/// ...     z = flex.sum(y)
/// >>> z.item()
/// 15.0
#[function()]
#[pyo3(name = "stream")]
fn make(py: Python<'_>) -> PyResult<Stream> {
    Stream::new(py)
}
