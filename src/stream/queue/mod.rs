//! Streams: operations that are queued when they are asked for, and computed together when one of
//! their values is.
//!
//! ```text
//! relative   an operation by what it has in common with those of another turn
//! pending    the queue: where its operations lead in the tree of plans, and how they are computed
//! plans      the tree: explored where an operation is new, followed where it was there before
//! file       plans as text, for the next process
//! ```
//!
//! A queue that begins like one before it is checked and planned no more: each operation is one step
//! down the tree, and at the end stands the program for the values that somebody still holds.

mod file;
mod pending;
mod plans;
mod relative;

pub use plans::Plans;

use super::fold::Kind;
use super::traffic::{Traffic, bytes};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::op::Op;
use crate::ops::elementwise::check;
use crate::ops::linalg::matmul_then;
use crate::ops::reduce::Reduced;
use crate::ops::{self, Reduction};
use crate::scalar::Scalar;
use crate::storage::expect_memory;
use crate::tensor::{Tensor, byte_len};
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use pending::Queue;
use relative::{Fixed, Rel, Step};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Operations and their operands that a queue holds, at most.
const LONGEST: usize = 256;

/// What a stream did. See [`Stream::stats`].
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Operations that were queued.
    pub operations: usize,
    /// What they would have moved one by one.
    pub eager: Traffic,
    /// What was moved.
    pub run: Traffic,
}

/// Operations that run later, together: elementwise operations, conversions, reductions and products of
/// matrices are queued, and computed in as few walks over memory as they can when a value is asked for, or the
/// queue is full. What nobody needs any more by then is never computed, or never stored.
///
/// Shapes and dtypes are checked when an operation is queued. Results have the bits that the
/// operations give one by one.
///
/// Operations that have to look at elements first (integer division) run at once, as do those on
/// foreign memory that its owner may change. A queue holds up to 256 operations and operands.
///
/// ```
/// use flex::{Tensor, op::Op, stream::{Kind, Stream}};
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

struct Inner {
    queue: Mutex<Queue>,
    plans: Arc<Plans>,
    /// Whether the queue is, to be seen without the lock.
    full: AtomicBool,
}

/// A value of a stream, which is computed when it is asked for.
#[derive(Clone)]
pub struct Lazy(Arc<Shared>);

struct Shared {
    /// Its shape, row by row: how it will lie is known when it is computed.
    layout: Layout,
    dtype: DType,
    /// Where it waits; of a value that was computed at once, nowhere.
    queued: Option<(Arc<Inner>, u64, u16)>,
    value: OnceLock<Result<Tensor>>,
}

/// An operand of an operation on a stream.
#[derive(Clone, Copy)]
pub enum Argument<'a> {
    /// A tensor.
    Tensor(&'a Tensor),
    /// A value of this stream, or of another one.
    Lazy(&'a Lazy),
    /// A number, which takes the others' dtype.
    Number(Scalar),
}
impl<'a> From<&'a Tensor> for Argument<'a> {
    fn from(x: &'a Tensor) -> Argument<'a> {
        Argument::Tensor(x)
    }
}
impl<'a> From<&'a Lazy> for Argument<'a> {
    fn from(x: &'a Lazy) -> Argument<'a> {
        Argument::Lazy(x)
    }
}
impl<S: Into<Scalar>> From<S> for Argument<'_> {
    fn from(x: S) -> Self {
        Argument::Number(x.into())
    }
}

impl<'a> Argument<'a> {
    /// The dtype that it has; numbers have none.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Argument::Tensor(x) => Some(x.dtype()),
            Argument::Lazy(x) => Some(x.dtype()),
            Argument::Number(_) => None,
        }
    }
    /// The shape that it has.
    pub fn shape(&self) -> &'a [usize] {
        match self {
            Argument::Tensor(x) => x.shape(),
            Argument::Lazy(x) => x.shape(),
            Argument::Number(_) => &[],
        }
    }
    /// The tensor, once it is there.
    fn tensor(&self) -> Option<Result<&'a Tensor>> {
        match self {
            Argument::Tensor(x) => Some(Ok(x)),
            Argument::Lazy(x) => x.0.value.get().map(|x| x.as_ref().map_err(Error::clone)),
            Argument::Number(_) => None,
        }
    }
    /// Bytes of the elements that an operation by itself would read.
    fn bytes(&self) -> usize {
        match self.tensor() {
            Some(Ok(x)) => bytes(x),
            _ => {
                let size = self.dtype().map_or(0, DType::size);
                self.shape().iter().product::<usize>().saturating_mul(size)
            }
        }
    }
    /// As an operand of an operation that runs at once.
    fn computed(&self) -> Result<ops::Arg<'a>> {
        Ok(match self {
            Argument::Tensor(x) => ops::Arg::Ref(x),
            Argument::Lazy(x) => ops::Arg::Ref(x.computed()?),
            Argument::Number(s) => ops::Arg::Scalar(*s),
        })
    }
}

impl Default for Stream {
    fn default() -> Stream {
        Stream::new()
    }
}

impl Stream {
    /// A stream with plans of its own.
    pub fn new() -> Stream {
        Stream::with_plans(Arc::default())
    }
    /// A stream that uses these plans, and adds to them.
    pub fn with_plans(plans: Arc<Plans>) -> Stream {
        Stream(Arc::new(Inner {
            queue: Mutex::default(),
            plans,
            full: AtomicBool::new(false),
        }))
    }
    /// Its plans.
    pub fn plans(&self) -> &Arc<Plans> {
        &self.0.plans
    }
    /// What it did since it was made. A queue that waits counts with its operations.
    pub fn stats(&self) -> Stats {
        self.0.lock().stats
    }
    /// Whether the next operation finds the queue full, and computes it.
    pub fn is_full(&self) -> bool {
        self.0.full.load(Relaxed)
    }
    /// Computes what is queued and needed.
    ///
    /// Errors, for want of memory, are those of the values as well that were to be computed.
    pub fn run(&self) -> Result<()> {
        self.0.run(&mut self.0.lock())
    }

    /// An elementwise operation, by the rules of the function of that name in [`ops`].
    pub fn apply(&self, op: Op, operands: &[Argument]) -> Result<Lazy> {
        if operands.len() != op.arity() {
            let message = message!("{} operands for {}", operands.len(), op.arity());
            return Err(Error::value(op.name(), message));
        }
        if !takes(op, operands) {
            let mut given: SmallVec<[ops::Arg; 3]> = SmallVec::new();
            for x in operands {
                given.push(x.computed()?);
            }
            let row = op.row();
            return Ok(Lazy::now(match &given[..] {
                [x] => ops::apply(row, [x.clone()])?,
                [x, y] => ops::apply(row, [x.clone(), y.clone()])?,
                _ => {
                    let [x, y, z] = [0, 1, 2].map(|k| given[k].clone());
                    ops::apply(row, [x, y, z])?
                }
            }));
        }
        // the exponent of a power decides how it is computed
        let fixed = match op.row().square {
            Some(_) => operands.iter().find_map(|x| match x {
                Argument::Number(s) => Some(Box::new(Fixed(*s))),
                _ => None,
            }),
            None => None,
        };
        self.queue(operands, fixed.is_some(), |operands| Step::Apply {
            op,
            operands,
            fixed,
        })
    }
    /// Another dtype's nearest values, as [`Tensor::astype`].
    pub fn convert(&self, x: &Argument, dtype: DType) -> Result<Lazy> {
        if !is_stable(&[*x]) {
            return Ok(Lazy::now(value(x)?.astype(dtype)?));
        }
        self.queue(&[*x], false, |given| Step::Convert {
            x: at(&given),
            dtype,
        })
    }
    /// A product of matrices, by the rules of [`ops::matmul`], or where a dtype is given of
    /// [`ops::matmul_as`]. Elementwise operations that follow are computed block by block of its result.
    ///
    /// ```
    /// use flex::{Tensor, op::Op, stream::Stream};
    /// let stream = Stream::new();
    /// let (a, b) = (Tensor::from([[1.0f32, 2.0]]), Tensor::from([[3.0f32], [-4.0]]));
    /// let product = stream.matmul(&(&a).into(), &(&b).into(), None)?;
    /// let positive = stream.apply(Op::Relu, &[(&product).into()])?;
    /// assert_eq!(positive.get()?.to_vec::<f32>()?, [0.0]);
    /// # Ok::<(), flex::Error>(())
    /// ```
    pub fn matmul(&self, a: &Argument, b: &Argument, dtype: Option<DType>) -> Result<Lazy> {
        let numbers = [a, b].iter().any(|x| matches!(x, Argument::Number(_)));
        if numbers || !is_stable(&[*a, *b]) {
            return Ok(Lazy::now(matmul_then(&value(a)?, &value(b)?, dtype, None)?));
        }
        self.queue(&[*a, *b], false, |given| Step::Product {
            a: at(&given[..1]),
            b: at(&given[1..]),
            dtype,
        })
    }
    /// A reduction by the rules of the function of its name in [`ops`].
    pub fn reduce(&self, kind: Kind, x: &Argument, over: impl Into<Reduction>) -> Result<Lazy> {
        let over = over.into();
        let (rank, keepdims) = (x.shape().len(), over.keepdims);
        if !is_stable(&[*x]) || rank > 64 {
            return Ok(Lazy::now(kind.reduce(&value(x)?, over)?));
        }
        let axes = Reduced::of_shape(kind.name(), x.shape(), over)?;
        let reduced = (0..rank).filter(|k| axes.is_reduced(*k));
        let reduced = reduced.fold(0u64, |mask, k| mask | 1 << k);
        self.queue(&[*x], false, |given| Step::Reduce {
            kind,
            x: at(&given),
            reduced,
            keepdims,
        })
    }

    /// Adds the operation that `step` makes of its operands. Where a number `decides`, another one is
    /// another operation.
    fn queue(
        &self,
        operands: &[Argument],
        decides: bool,
        step: impl FnOnce(SmallVec<[Rel; 3]>) -> Step,
    ) -> Result<Lazy> {
        // what waits on another stream is computed before this one's lock is taken
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
            let mut given: SmallVec<[Rel; 3]> = SmallVec::new();
            for x in operands {
                given.push(match (x, x.tensor()) {
                    (Argument::Number(_), _) if decides => Rel::Fixed,
                    (Argument::Number(s), _) => queue.number(*s),
                    (_, Some(tensor)) => Rel::Value(queue.input(&inner.plans, tensor?)?),
                    (Argument::Lazy(x), None) => Rel::Value(x.at()),
                    (Argument::Tensor(x), None) => Rel::Value(queue.input(&inner.plans, x)?),
                });
            }
            let (at, dtype, shape) = queue.operation(&inner.plans, step(given))?;
            let layout = Layout::contiguous(&shape)?;
            let size = byte_len(&layout, dtype)?;
            // a result that there can be no memory for is an error of this operation
            expect_memory(size)?;
            Ok((at, dtype, layout, size))
        })();
        let (at, dtype, layout, size) = match added {
            Ok(added) => added,
            Err(e) => {
                queue.reset(mark);
                return Err(e);
            }
        };
        queue.stats.operations += 1;
        queue.stats.eager += Traffic {
            kernels: 1,
            allocated: size,
            read: operands.iter().map(Argument::bytes).sum(),
            written: size,
        };
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

/// Whether the operation is one that waits.
pub(crate) fn takes(op: Op, operands: &[Argument]) -> bool {
    let dtypes = || operands.iter().filter_map(Argument::dtype);
    let integers = !dtypes().any(|d| d.is_float() || d.is_complex());
    !(integers && check::looks_at_elements(op) || check::is_mixed_comparison(op, dtypes()))
        && is_stable(operands)
}
/// The value that is the only operand.
fn at(given: &[Rel]) -> u16 {
    match given {
        [Rel::Value(x)] => *x,
        _ => unreachable!("an operand that is no number is a value"),
    }
}
/// The operand as a tensor.
fn value(x: &Argument) -> Result<Tensor> {
    match x.computed()? {
        ops::Arg::Ref(x) => Ok(x.clone()),
        ops::Arg::Own(x) => Ok(x),
        ops::Arg::Scalar(s) => Tensor::scalar(s, s.default_dtype()),
    }
}
/// Whether nobody else writes to the operands: they are the same when the queue runs. A number by
/// itself is computed with at once.
pub(crate) fn is_stable(operands: &[Argument]) -> bool {
    let stable = |x: &Argument| match x.tensor() {
        Some(Ok(x)) => !x.storage().may_change(),
        _ => true,
    };
    operands.iter().all(stable) && operands.iter().any(|x| !matches!(x, Argument::Number(_)))
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
        // a value is computed once: by the run that empties its queue
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
    /// The shape that it has.
    pub fn shape(&self) -> &[usize] {
        self.0.layout.shape()
    }
    #[cfg(feature = "python")]
    pub(crate) fn layout(&self) -> &Layout {
        &self.0.layout
    }
    /// Whether both are the same value.
    #[cfg(feature = "python")]
    pub(crate) fn is(&self, other: &Lazy) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
    /// The dtype that it has.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }
    /// Whether it was computed.
    pub fn is_computed(&self) -> bool {
        self.0.value.get().is_some()
    }
    /// The tensor, which is computed now with all that its stream has queued, if it wasn't before.
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
            // it may have run meanwhile
            if queue.turn == *turn {
                let _ = inner.run(&mut queue); // the value has the error
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
