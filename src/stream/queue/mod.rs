//! Streams: operations are queued when they are called, and computed together when one of their
//! values is needed.
//!
//! ```text
//! operations the operations of a stream: queued, or computed at once
//! argument   operands
//! relative   operations relative to their queue, to be compared with those of other turns
//! pending    the queue: where its operations lead in the tree of plans, and how they are computed
//! plans      the tree: explored where an operation is new, followed where it is known
//! file       plans as files, for the next process
//! ```
//!
//! A queue that begins like an earlier one is not planned again, and only the ranges of its numbers
//! are checked: each operation is one step down the tree, and the last node has the program for the
//! values that are still referenced.
//!
//! An operation is recorded relatively: values and numbers by their index in the queue, sizes by
//! which of them are equal. The plans of a process form a tree of such operations, and the state of
//! a queue is a node of it. An operation is handled in one of three ways:
//!
//! - **explore**, if the tree has no edge for it yet: it is added to a graph, which finds its shape
//!   and dtype or its error, and to the tree;
//! - **defer**, if there is one: only the ranges of its numbers are checked;
//! - **execute**, when a value is needed or the queue is full: the node has a program for the set
//!   of values that are still referenced (handles are counted). If it has none, the graph is
//!   compiled to one by the planner of `flex.fuse`.
//!
//! Numbers are parameters of a program (`Graph::number`), and of sizes only the pattern of equal
//! ones matters, so a loop over other data finds its plan.
//!
//! Operands are handles, so a write to one in place runs the queue first: a copy would be
//! row-major, and later sums would round otherwise. (A write by another thread copies.) An operand
//! that only the queue still references lends its memory to a result. An operation in place of two
//! tensors is queued only if its target is known to be row-major, since it is not known yet who
//! will share the target's memory.
//!
//! Memory that others may write to, borrowed or lent, is never queued, and lending it runs the
//! queues of all streams that read it. If memory doesn't suffice, each value is computed alone.
//!
//! A plan file holds steps, which are checked as new ones are; programs are compiled when they are
//! first used.
//!
//! # Views
//!
//! A view of a queued value is a node of the graph too, and data (`stream/view`): for each axis,
//! the axis it runs along, its start and its step, or a new shape. The form is part of the plan;
//! the numbers are parameters, like those of operations. A view of a stored value is a step that
//! moves no elements.
//!
//! Before planning, the graph is rewritten (`stream/sink`): an elementwise operation whose result
//! is only viewed becomes one on views of its operands, down to stored values, and a view that
//! restores the axes of a reduction without `keepdims` is dropped.
//!
//! Results must have the layouts of eager execution, since these decide how later reductions round:
//! `sink` computes the layouts for row-major operands and moves a view only if they agree, and such
//! a plan is used only for row-major operands. Products (`stream/product`) are data as well;
//! `flex.fuse` records the same steps.

mod argument;
mod file;
mod operations;
mod pending;
mod plans;
mod relative;

pub use argument::Argument;
pub use plans::Plans;

use super::step::{About, Operation};
use super::traffic::Traffic;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::storage::expect_memory;
use crate::tensor::{Tensor, byte_len};
use alloc::sync::Arc;
use core::fmt;
use pending::Queue;
use relative::OperandRef;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Operations and operands of a queue, at most.
const LONGEST: usize = 256;

/// Statistics of a stream. See [`Stream::stats`].
///
/// Example: [`Stream::stats`].
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Operations that were queued.
    pub operations: usize,
    /// The traffic if they had run one by one.
    pub eager: Traffic,
    /// The actual traffic.
    pub run: Traffic,
}

/// Operations that run later, together: elementwise operations, conversions, reductions, matrix
/// products, linear layers, convolutions and views are queued, and computed in as few passes over
/// memory as possible when a value is needed or the queue is full. Values that are no longer
/// referenced by then are never computed, or never stored.
///
/// Shapes and dtypes are checked when an operation is queued. Results have the bits that the
/// operations give one by one.
///
/// Operations that must look at elements first (integer division) run at once, as do those on
/// foreign memory that its owner may change. A queue holds up to 256 operations and operands.
///
/// ```
/// use flex::{Tensor, stream::{Kind, Op, Stream}};
/// let stream = Stream::new();
/// let (x, y) = (Tensor::from([1.0f32, 2.0]), Tensor::from([3.0f32, 4.0]));
/// let sum = stream.apply(Op::Add, &[(&x).into(), (&y).into()])?;
/// let half = stream.apply(Op::Multiply, &[(&sum).into(), 0.5.into()])?;
/// let mean = stream.reduce(Kind::Mean, &(&half).into(), 0)?;
/// drop((sum, half));
/// assert_eq!(mean.shape(), []);
/// assert_eq!(mean.get()?.to_vec::<f32>()?, [2.5]); // one walk over x and y
/// assert_eq!(stream.stats().run.kernels, 1);
/// # Ok::<(), flex::Error>(())
/// ```
pub struct Stream(Arc<Inner>);

/// A stream that is kept alive by others: whoever has it or waits for one of its values.
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub struct WeakStream(alloc::sync::Weak<Inner>);

#[cfg(feature = "bindings")]
impl WeakStream {
    pub fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }
    pub fn upgrade(&self) -> Option<Stream> {
        self.0.upgrade().map(Stream)
    }
}

struct Inner {
    queue: Mutex<Queue>,
    plans: Arc<Plans>,
    /// Whether the queue is full, to be read without the lock.
    full: AtomicBool,
}

/// A value of a stream, computed when it is needed.
///
/// ```
/// use flex::{DType, Tensor, stream::{Op, Stream}};
/// let (stream, x) = (Stream::new(), Tensor::from([1.0f32, 4.0]));
/// let root = stream.apply(Op::Sqrt, &[(&x).into()])?;
/// assert_eq!((root.shape(), root.dtype(), root.is_computed()), (&[2][..], DType::F32, false));
/// assert_eq!(root.get()?.to_vec::<f32>()?, [1.0, 2.0]);
/// assert!(root.is_computed());
/// # Ok::<(), flex::Error>(())
/// ```
#[derive(Clone)]
pub struct Lazy(Arc<Shared>);

struct Shared {
    /// For a queued value, the row-major layout of its shape: the actual one is known once it is
    /// computed.
    layout: Layout,
    dtype: DType,
    /// The stream, the turn and the number of a queued value; none if it was computed at once.
    queued: Option<(Arc<Inner>, u64, u16)>,
    value: OnceLock<Result<Tensor>>,
}

impl Default for Stream {
    fn default() -> Stream {
        Stream::new()
    }
}

impl Stream {
    /// A stream with plans of its own.
    ///
    /// Example: [`Stream`].
    pub fn new() -> Stream {
        Stream::with_plans(Arc::default())
    }
    /// A stream that uses these plans, and adds to them.
    ///
    /// Example: [`Plans::save`].
    pub fn with_plans(plans: Arc<Plans>) -> Stream {
        Stream(Arc::new(Inner {
            queue: Mutex::default(),
            plans,
            full: AtomicBool::new(false),
        }))
    }
    #[cfg(feature = "bindings")]
    #[doc(hidden)]
    pub fn downgrade(&self) -> WeakStream {
        WeakStream(Arc::downgrade(&self.0))
    }
    /// Its plans.
    ///
    /// Example: [`Plans::save`].
    pub fn plans(&self) -> &Arc<Plans> {
        &self.0.plans
    }
    /// What it has done so far. Operations that are still queued are counted.
    ///
    /// ```
    /// use flex::{DType, Tensor, stream::{Op, Stream}};
    /// let (stream, x) = (Stream::new(), Tensor::zeros(1000, DType::F32)?);
    /// let cos = stream.apply(Op::Cos, &[(&x).into()])?;
    /// let y = stream.apply(Op::Sqrt, &[(&cos).into()])?;
    /// drop(cos);
    /// y.get()?;
    /// let stats = stream.stats();
    /// assert_eq!((stats.operations, stats.eager.moved(), stats.run.moved()), (2, 16_000, 8000));
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn stats(&self) -> Stats {
        self.0.lock().stats
    }
    /// Whether the queue is full, so that the next operation computes it first.
    ///
    /// ```
    /// use flex::{Tensor, stream::{Op, Stream}};
    /// let (stream, x) = (Stream::new(), Tensor::from([1.0f32]));
    /// let mut values = Vec::new();
    /// while !stream.is_full() {
    ///     values.push(stream.apply(Op::Exp, &[(&x).into()])?);
    /// }
    /// stream.run()?;
    /// assert!(!stream.is_full() && values[0].is_computed());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn is_full(&self) -> bool {
        self.0.full.load(Relaxed)
    }
    /// Computes all queued values that are still needed.
    ///
    /// An error, for lack of memory, is also the error of the values that can't be computed.
    ///
    /// ```
    /// use flex::{Tensor, stream::{Op, Stream}};
    /// let (stream, x) = (Stream::new(), Tensor::from([1.0f32, 2.0]));
    /// let y = stream.apply(Op::Negative, &[(&x).into()])?;
    /// stream.run()?;
    /// assert!(y.is_computed());
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn run(&self) -> Result<()> {
        self.0.run(&mut self.0.lock())
    }

    /// Queues an operation, which can be deferred.
    fn queue(&self, operation: Operation, operands: &[Argument]) -> Result<Lazy> {
        let about = operands.iter().map(|x| match x {
            Argument::Number(s) => About::Number(*s),
            Argument::Tensor(x) => About::Value(x.shape(), x.dtype()),
            Argument::Lazy(x) => About::Value(x.shape(), x.dtype()),
        });
        let shape = match operation.sizes_follow() {
            true => None,
            false => {
                let about: SmallVec<[About; 4]> = about.collect();
                Some(operation.outcome(&about)?.shape)
            }
        };
        // values of other streams are computed before this stream's lock is taken
        for x in operands {
            if let Argument::Lazy(x) = x
                && !x.waits_on(&self.0)
            {
                x.computed()?;
            }
        }
        let inner = &*self.0;
        let mut queue = inner.lock();
        if self.is_full() {
            inner.run(&mut queue)?;
        }
        let mark = queue.mark();
        let added = (|| {
            let mut given: SmallVec<[OperandRef; 3]> = SmallVec::new();
            for x in operands {
                given.push(match (x, x.tensor()) {
                    (Argument::Number(s), _) => queue.number(&operation, *s),
                    (_, Some(tensor)) => OperandRef::Value(queue.input(&inner.plans, tensor?)?),
                    (Argument::Lazy(x), None) => OperandRef::Value(x.at()),
                    (Argument::Tensor(x), None) => OperandRef::Value(queue.input(&inner.plans, x)?),
                });
            }
            let computes = !matches!(operation, Operation::View { .. });
            let shape = shape.as_deref();
            let (at, dtype, shape) = queue.operation(&inner.plans, operation, given, shape)?;
            let layout = Layout::contiguous(&shape)?;
            if !computes {
                return Ok((at, dtype, layout, None));
            }
            let size = byte_len(&layout, dtype)?;
            // a result that is too large for memory is an error of this operation
            expect_memory(size)?;
            Ok((at, dtype, layout, Some(size)))
        })();
        let (at, dtype, layout, size) = match added {
            Ok(added) => added,
            Err(e) => {
                queue.reset(mark);
                return Err(e);
            }
        };
        if let Some(size) = size {
            queue.stats.operations += 1;
            queue.stats.eager += Traffic {
                kernels: 1,
                allocated: size,
                read: operands.iter().map(Argument::bytes).sum(),
                written: size,
            };
        }
        let shared = Arc::new(Shared {
            layout,
            dtype,
            queued: Some((self.0.clone(), queue.turn, at)),
            value: OnceLock::new(),
        });
        queue.hand_out(at, &shared);
        if queue.is_full() {
            inner.full.store(true, Relaxed);
        }
        Ok(Lazy(shared))
    }
}

impl Inner {
    fn run(&self, queue: &mut Queue) -> Result<()> {
        self.full.store(false, Relaxed);
        queue.run(&self.plans)
    }
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn set(&self, value: Result<Tensor>) {
        // a value is set once, by the run that empties its queue
        let _ = self.value.set(value);
    }
}

impl Lazy {
    fn now(x: Tensor) -> Lazy {
        Lazy(Arc::new(Shared {
            layout: x.layout().clone(),
            dtype: x.dtype(),
            queued: None,
            value: OnceLock::from(Ok(x)),
        }))
    }
    /// Its shape.
    pub fn shape(&self) -> &[usize] {
        self.0.layout.shape()
    }
    #[cfg(feature = "bindings")]
    #[doc(hidden)]
    pub fn layout(&self) -> &Layout {
        &self.0.layout
    }
    /// Whether both are the same value.
    #[cfg(feature = "bindings")]
    #[doc(hidden)]
    pub fn is(&self, other: &Lazy) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
    /// Its dtype.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }
    /// Whether it was computed.
    pub fn is_computed(&self) -> bool {
        self.0.value.get().is_some()
    }
    /// The tensor. If it is not computed yet, everything that its stream has queued is computed
    /// now.
    ///
    /// Errors if there is no memory for it.
    pub fn get(&self) -> Result<Tensor> {
        self.computed().cloned()
    }
    fn computed(&self) -> Result<&Tensor> {
        let shared = &*self.0;
        if shared.value.get().is_none()
            && let Some((inner, turn, _)) = &shared.queued
        {
            let mut queue = inner.lock();
            // the queue may have run meanwhile
            if queue.turn == *turn {
                let _ = inner.run(&mut queue); // the value holds the error
            }
        }
        match shared.value.get() {
            Some(value) => value.as_ref().map_err(Error::clone),
            None => Err(Error::value("stream", "a value was lost with its queue")),
        }
    }
    fn waits_on(&self, inner: &Arc<Inner>) -> bool {
        self.is_computed() || matches!(&self.0.queued, Some((x, ..)) if Arc::ptr_eq(x, inner))
    }
    fn at(&self) -> u16 {
        self.0.queued.as_ref().map_or(0, |x| x.2)
    }
}

impl fmt::Debug for Lazy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.value.get() {
            Some(Ok(x)) => x.fmt(f),
            _ => write!(f, "Lazy({}, shape {:?})", self.dtype(), self.shape()),
        }
    }
}
