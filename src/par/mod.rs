//! Threads: the only module that knows about them, and the only one with thresholds. Work is split
//! by its cost, never by a constant of an operation.
//!
//! - [`chunks`]: `n` pieces whose bounds the caller chose, so that a reduction's bits don't depend
//!   on the number of threads.
//! - [`ranges`]: `n` items in pieces of any size, for work whose bits don't depend on where it is
//!   cut.
//!
//! Calls from within a piece run in place, and so do calls while another thread's work is on the
//! team.

use core::ops::Range;

#[cfg(feature = "std")]
mod affinity;
#[cfg(feature = "std")]
mod count;
#[cfg(feature = "std")]
mod executor;
#[cfg(feature = "bindings")]
mod interrupt;
#[cfg(feature = "std")]
mod team;

#[cfg(feature = "bindings")]
pub use count::this_thread;
#[cfg(feature = "std")]
pub use count::{requested, set_local_threads, set_num_threads, threads, with_threads};
#[cfg(feature = "rayon")]
pub use executor::Rayon;
#[cfg(feature = "std")]
pub use executor::{Executor, set_executor};
#[cfg(feature = "bindings")]
pub(crate) use interrupt::checkpoint;
#[cfg(feature = "bindings")]
pub use interrupt::{interruptible, uninterrupted};

/// The cost of one item of work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Bytes read and written.
    pub bytes: usize,
    /// Arithmetic operations, as one lane of a vector would do them.
    pub flops: usize,
}

/// Bytes that a thread moves per nanosecond: between L1 bandwidth (100) and memory bandwidth (15).
const BYTES_PER_NS: usize = 32;
/// Operations of one lane per nanosecond: vectors of 8 to 16 lanes, with some latency.
const FLOPS_PER_NS: usize = 64;
/// Work, in nanoseconds, that is worth a thread of its own: ten times the cost of handing it over,
/// which is not the only one. Data in the caller's cache, such as results of earlier operations,
/// has to move between cores.
const WORTH_A_THREAD: usize = 7_500;
/// Pieces per thread: enough to balance threads of unequal speed, few enough for a piece to be
/// worth claiming.
#[cfg(feature = "std")]
const PIECES_PER_THREAD: usize = 4;
/// The most pieces of a job.
#[cfg(feature = "std")]
const MOST_PIECES: usize = 0x7fff;
/// The least work in a piece in nanoseconds, beyond one piece per thread. If a piece moves to
/// another thread than the last time, its memory is in the wrong core's cache, which costs more
/// than an uneven end.
#[cfg(feature = "std")]
const PIECE: usize = 20_000;

impl Cost {
    /// The cost of `n` items.
    #[inline]
    pub fn times(self, n: usize) -> Cost {
        Cost {
            bytes: self.bytes.saturating_mul(n),
            flops: self.flops.saturating_mul(n),
        }
    }
    /// The approximate time in nanoseconds of `n` items on one thread.
    #[inline]
    fn of(self, n: usize) -> usize {
        self.bytes.saturating_mul(n) / BYTES_PER_NS + self.flops.saturating_mul(n) / FLOPS_PER_NS
    }
}

/// Threads that an operation started on this thread may use.
#[cfg(not(feature = "std"))]
pub fn threads() -> usize {
    1
}

/// Calls `f(0), .., f(pieces - 1)` on up to `threads` threads: the program's own if it lent them,
/// else the team. Returns `false`, without any call, if the team is busy or would not help.
#[cfg(feature = "std")]
fn share(pieces: usize, threads: usize, ns: usize, f: &(dyn Fn(usize) + Sync)) -> bool {
    match executor::current() {
        Some(executor) => {
            executor::share(executor, pieces, f);
            true
        }
        None => team::share(pieces, threads, ns, f),
    }
}

/// Whether `n` items are worth neither a second thread nor a plan for walking them: if their
/// elements fill memory in one order, a single kernel call computes all of them. This is the only
/// threshold for small sizes.
#[inline]
pub fn is_small(n: usize, cost: Cost) -> bool {
    cost.of(n) < WORTH_A_THREAD
}

/// The number of threads that work of this cost is worth.
pub fn threads_for(cost: Cost) -> usize {
    threads().min(cost.of(1) / WORTH_A_THREAD).max(1)
}

/// Whether `n` items of this cost are done one after the other, each on all threads: they are too few
/// to keep the threads busy, or one is too long for work that may be given up.
pub fn are_few(n: usize, cost: Cost) -> bool {
    /// How much longer than a piece an item may be.
    #[cfg(feature = "bindings")]
    const LONGER: usize = 4;
    #[cfg(feature = "bindings")]
    if interrupt::pieces(cost.of(1) / LONGER) > 1 {
        return true;
    }
    n < threads_for(cost.times(n))
}

/// The number of parts for work of this cost: one for each thread that it is worth, and more of
/// long work that may be given up between them.
pub fn parts_for(cost: Cost) -> usize {
    /// Parts may share work, which more of them repeat: so they are longer than pieces.
    #[cfg(feature = "bindings")]
    const LONGER: usize = 16;
    #[cfg(feature = "bindings")]
    return threads_for(cost).max(interrupt::pieces(cost.of(1) / LONGER));
    #[cfg(not(feature = "bindings"))]
    threads_for(cost)
}

/// Calls `f(0), .., f(n - 1)`, each once, in any order, on any thread. `cost` is that of one call.
///
/// # Panics
/// If one of the calls panics, with its panic; other calls may then be skipped.
///
/// ```
/// use flex::par::{Cost, Out, chunks};
/// let mut squares = vec![0; 1000];
/// let out = Out::new(&mut squares);
/// // SAFETY: each call has an element of its own, so no two parts overlap (OUT1).
/// chunks(1000, Cost { bytes: 4000, flops: 1000 }, |k| unsafe { out.part(k..k + 1)[0] = k * k });
/// assert_eq!(squares[999], 998_001);
/// ```
pub fn chunks(n: usize, cost: Cost, f: impl Fn(usize) + Sync) {
    // calls may differ a lot in cost, so there are more pieces than for `ranges`
    cut(n, 1, cost, 2, &|r: Range<usize>| r.for_each(&f))
}

/// Calls `f` with ranges that partition `0..n`; all but the last end on a multiple of `unit`.
/// `cost` is that of one item.
///
/// # Panics
/// If one of the calls panics, with its panic; other calls may then be skipped.
///
/// ```
/// use flex::par::{Cost, Out, ranges};
/// let mut ones = vec![0u8; 1 << 20];
/// let out = Out::new(&mut ones);
/// // SAFETY: the ranges of two calls never overlap (OUT1).
/// ranges(1 << 20, 64, Cost { bytes: 1, flops: 0 }, |r| unsafe { out.part(r).fill(1) });
/// assert!(ones.iter().all(|x| *x == 1));
/// ```
pub fn ranges(n: usize, unit: usize, cost: Cost, f: impl Fn(Range<usize>) + Sync) {
    cut(n, unit.max(1), cost, 1, &f)
}

/// Where a thread may give up long work: nowhere, unless a binding asks for that.
#[cfg(not(feature = "bindings"))]
#[inline(always)]
pub(crate) fn checkpoint() {}

/// Calls `f` with ranges that partition `0..n`, at most `finer` times as many as needed. `f` is a
/// trait object, so that dispatch to the threads is compiled once, and work is compiled once for
/// one thread and for many.
#[cfg(feature = "std")]
fn cut(n: usize, unit: usize, cost: Cost, finer: usize, f: &(dyn Fn(Range<usize>) + Sync)) {
    checkpoint();
    let ns = cost.of(n);
    #[cfg(feature = "bindings")]
    let most = interrupt::pieces(ns);
    #[cfg(not(feature = "bindings"))]
    let most = 1;
    let threads = threads().min(ns / WORTH_A_THREAD).min(n.div_ceil(unit));
    if threads > 1 {
        let pieces = threads * (finer * ns / threads / PIECE).clamp(1, finer * PIECES_PER_THREAD);
        // lengths differ by a unit at most: a short last piece would leave its thread waiting
        let units = n.div_ceil(unit);
        let pieces = pieces.max(most.min(MOST_PIECES)).min(units);
        let (whole, rest) = (units / pieces, units % pieces);
        let end = |p: usize| (p * whole + p * rest / pieces) * unit;
        let piece = |p: usize| f(end(p)..n.min(end(p + 1)));
        if share(pieces, threads, ns, &piece) {
            return;
        }
    }
    if most == 1 || n == 0 {
        if n > 0 {
            f(0..n)
        }
        return;
    }
    let size = n.div_ceil(most).next_multiple_of(unit);
    for start in (0..n).step_by(size) {
        checkpoint();
        f(start..n.min(start.saturating_add(size)))
    }
}
/// Without `std` there is a single thread.
#[cfg(not(feature = "std"))]
#[inline(always)]
fn cut(n: usize, _unit: usize, _cost: Cost, _finer: usize, f: &(impl Fn(Range<usize>) + Sync)) {
    if n > 0 {
        f(0..n)
    }
}

/// Calls `f` with each element of `out` and its index, like [`chunks`].
pub fn each<T: Send>(out: &mut [T], cost: Cost, f: impl Fn(usize, &mut T) + Sync) {
    let (n, out) = (out.len(), Out::new(out));
    // SAFETY: OUT1: each call has an element of its own.
    chunks(n, cost, |k| f(k, unsafe { &mut out.part(k..k + 1)[0] }))
}

/// Calls `f` with ranges of items, like [`ranges`], and their part of `out`, `per_item` elements
/// each.
pub fn split<T: Send>(
    out: &mut [T],
    per_item: usize,
    unit: usize,
    cost: Cost,
    f: impl Fn(Range<usize>, &mut [T]) + Sync,
) {
    let (n, out) = (out.len() / per_item.max(1), Out::new(out));
    ranges(n, unit, cost, |r| {
        // SAFETY: OUT1: the ranges of two calls are disjoint, and so are their parts.
        let part = unsafe { out.part(r.start * per_item..r.end * per_item) };
        f(r, part)
    })
}

/// A mutable slice of which several units of work write disjoint parts.
pub struct Out<'a, T> {
    ptr: *mut T,
    len: usize,
    _slice: core::marker::PhantomData<&'a mut [T]>,
}
// SAFETY: parts are handed out by `part`, whose caller promises that no two live ones overlap
// (OUT1).
unsafe impl<T: Send> Sync for Out<'_, T> {}
impl<'a, T> Out<'a, T> {
    /// The whole slice.
    pub fn new(s: &'a mut [T]) -> Self {
        Out {
            ptr: s.as_mut_ptr(),
            len: s.len(),
            _slice: core::marker::PhantomData,
        }
    }
    /// The pointer to the first element, for parts that are not contiguous. Writes through it are
    /// subject to the contract of [`part`](Out::part).
    pub fn as_mut_ptr(&self) -> *mut T {
        self.ptr
    }
    /// One part.
    ///
    /// # Safety
    /// OUT1: no two live parts overlap.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn part(&self, r: Range<usize>) -> &mut [T] {
        assert!(r.start <= r.end && r.end <= self.len);
        // SAFETY: inside the slice by the line above; exclusive by OUT1.
        unsafe { core::slice::from_raw_parts_mut(self.ptr.add(r.start), r.end - r.start) }
    }
}
