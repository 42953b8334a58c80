//! Memory lent to other code, and how it is recognised when it comes back.
//!
//! - **BORROW1.** A [`Loan`] holds a handle to its memory, so that copy-on-write sees the loan and
//!   the memory stays alive (STORAGE2). All loans of the process are in one list by address, under
//!   a lock of [`fork`](super::fork).
//! - **BORROW2.** Borrowing memory inside a lent block borrows from that block, whoever passed the
//!   memory on: the borrower gets a handle to the block, not to an intermediate owner. So owners
//!   never form chains, which would take deep recursion to drop.
//!
//! Borrowed memory may change at any moment, and so may lent memory: torch writes to memory it was
//! told is read-only. So an address or a length that others' memory decides is decided by a private
//! copy (READ1): `simd::copy_once` reads each element once, by instructions that the compiler
//! neither sees into nor repeats; the copy is checked, and the copy is used. Arrays of positions
//! and masks are copied tile by tile in L1, which costs a few percent of a gather; the indices of
//! layers as a whole (`Tensor::copy_once`).
//!
//! An index found bad is an error even if the next copy has nothing wrong; a loop over a mask stops
//! at the count taken before; a sort moves pairs, so positions stay valid whatever happens to the
//! keys. `tests/python/test_changing_memory.py` runs against a process that flips elements.
//!
//! Nothing packed from contents is cached while they are lent (PACKED1): packed weights are dropped
//! when a loan begins and cached again after it ends.

use super::Bytes;
use super::fork::CACHES;
use alloc::collections::BTreeMap;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering::*};

/// A loan of memory to foreign code, such as a library that reads a tensor in place. While it
/// lasts, nothing computed from the contents is cached, and no stream queues operations on them, so
/// that results are right even if the borrower writes to the memory, which it must not. Operations
/// that a stream has queued before read the memory when they run.
///
/// ```
/// let t = flex::Tensor::from_slice(&[1.0f32, 2.0], [2])?;
/// let loan = t.storage().lend();
/// // the other library may read at t.as_ptr() until here
/// drop(loan);
/// # Ok::<(), flex::Error>(())
/// ```
#[must_use]
pub struct Loan(LoanKey);

/// The key of a loan: its first byte, and a number that distinguishes loans of the same memory.
type LoanKey = (usize, usize);

struct LoanList(UnsafeCell<BTreeMap<LoanKey, Bytes>>);
// SAFETY: BORROW1: touched under the lock alone.
unsafe impl Sync for LoanList {}

/// The loans that have not ended.
static LIST: LoanList = LoanList(UnsafeCell::new(BTreeMap::new()));
/// Their number: there are mostly none, which a borrower can see without the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Calls `f` with the list, under the lock. Nothing is dropped there.
fn list<R>(f: impl FnOnce(&mut BTreeMap<LoanKey, Bytes>) -> R) -> R {
    super::fork::register_atfork();
    // SAFETY: BORROW1.
    CACHES.with(|| f(unsafe { &mut *LIST.0.get() }))
}

impl Bytes {
    /// Lends the memory until the result is dropped.
    ///
    /// Example: [`Loan`].
    pub fn lend(&self) -> Loan {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let key = (self.as_ptr() as usize, NEXT.fetch_add(1, Relaxed));
        self.begin_loan();
        let bytes = self.clone();
        list(|list| list.insert(key, bytes));
        COUNT.fetch_add(1, Release);
        Loan(key)
    }
    /// Whether the memory is lent.
    #[cfg(feature = "std")]
    pub(crate) fn is_lent(&self) -> bool {
        COUNT.load(Acquire) > 0 && self.has_loans()
    }
    /// The lent memory that contains `len > 0` bytes at `p` (BORROW2), and their offset in it.
    #[cfg_attr(
        not(feature = "bindings"),
        allow(dead_code, reason = "only Python's module borrows by pointer")
    )]
    #[doc(hidden)]
    pub fn lent_at(p: *const u8, len: usize) -> Option<(Bytes, usize)> {
        if COUNT.load(Acquire) == 0 {
            return None;
        }
        list(|list| {
            let (key, bytes) = list.range(..=(p as usize, usize::MAX)).next_back()?;
            let first = p as usize - key.0;
            (first.checked_add(len)? <= bytes.len()).then(|| (bytes.clone(), first))
        })
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Release);
        if let Some(bytes) = list(|list| list.remove(&self.0)) {
            bytes.end_loan();
        }
    }
}
