//! Thread pools that a program already has: it lends one to flex, so that the machine has one pool.

use super::count::{set_num_threads, with_threads};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::{PoisonError, RwLock};

/// A pool of threads that flex may use instead of its own.
///
/// Results don't depend on which thread runs which piece of an operation: they have the same bits
/// as on flex's own threads.
///
/// ```
/// /// Runs everything on the caller's thread.
/// struct Inline;
/// impl flex::Executor for Inline {
///     fn threads(&self) -> usize {
///         1
///     }
///     fn run(&self, n: usize, piece: &(dyn Fn(usize) + Sync)) {
///         (0..n).for_each(piece);
///     }
/// }
/// flex::set_executor(Some(&Inline));
/// assert_eq!(flex::num_threads(), 1);
/// # flex::set_executor(None);
/// ```
pub trait Executor: Send + Sync {
    /// The number of threads, including the caller if it works too.
    fn threads(&self) -> usize;
    /// Calls `piece(0), .., piece(n - 1)`, in any order, on any threads, and returns after the last
    /// call. If a call panics, `run` must panic too.
    fn run(&self, n: usize, piece: &(dyn Fn(usize) + Sync));
}

/// Whether there is an executor, which every operation checks.
static LENT: AtomicBool = AtomicBool::new(false);
static EXECUTOR: RwLock<Option<&'static dyn Executor>> = RwLock::new(None);

/// Runs operations on the program's pool or, with `None`, on flex's own threads again. The number
/// of threads becomes the pool's ([`set_num_threads`] may lower it). Running operations finish
/// where they began.
///
/// ```
/// use flex::{Tensor, ops};
///
/// /// Threads that live for one operation.
/// struct Scoped;
/// impl flex::Executor for Scoped {
///     fn threads(&self) -> usize {
///         2
///     }
///     fn run(&self, n: usize, piece: &(dyn Fn(usize) + Sync)) {
///         std::thread::scope(|s| {
///             s.spawn(|| (0..n / 2).for_each(piece));
///             (n / 2..n).for_each(piece);
///         });
///     }
/// }
/// flex::set_executor(Some(&Scoped));
/// assert_eq!(flex::num_threads(), 2);
/// let x = Tensor::zeros(&[1 << 20], flex::DType::F32)?;
/// assert_eq!(ops::add(&x, 1.0)?.to_vec::<f32>()?, vec![1.0; 1 << 20]);
/// # flex::set_executor(None);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn set_executor(executor: Option<&'static dyn Executor>) {
    let mut current = EXECUTOR.write().unwrap_or_else(PoisonError::into_inner);
    *current = executor;
    LENT.store(executor.is_some(), Release);
    set_num_threads(executor.map_or(0, |e| e.threads().max(1)));
}

/// The program's pool, if it lent one.
#[inline]
pub(super) fn current() -> Option<&'static dyn Executor> {
    if !LENT.load(Acquire) {
        return None;
    }
    *EXECUTOR.read().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `f(0), .., f(pieces - 1)` exactly once each, whatever the executor does: each call it
/// makes takes the next piece, and this thread takes those left.
pub(super) fn share(executor: &dyn Executor, pieces: usize, f: &(dyn Fn(usize) + Sync)) {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let piece = |_| {
        let k = next.fetch_add(1, Relaxed);
        if k < pieces {
            with_threads(1, || f(k)); // nested operations run in place
            done.fetch_add(1, Release);
        }
    };
    executor.run(pieces, &piece);
    (0..pieces.saturating_sub(next.load(Relaxed))).for_each(piece);
    assert_eq!(
        done.load(Acquire),
        pieces,
        "a piece of the work panicked, and the executor went on"
    );
}

/// The current pool of rayon: that of [`rayon::ThreadPool::install`] or else the global one.
///
/// ```
/// flex::set_executor(Some(&flex::Rayon));
/// assert_eq!(flex::num_threads(), rayon::current_num_threads().min(64));
/// # flex::set_executor(None);
/// ```
#[cfg(feature = "rayon")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Rayon;
#[cfg(feature = "rayon")]
impl Executor for Rayon {
    fn threads(&self) -> usize {
        rayon::current_num_threads()
    }
    fn run(&self, n: usize, piece: &(dyn Fn(usize) + Sync)) {
        use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
        (0..n).into_par_iter().with_max_len(1).for_each(piece);
    }
}
