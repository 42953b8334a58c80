//! Memory lent to other code, and how it is recognised when it comes back.
//!
//! - **BORROW1.** A [`Lent`] holds a handle to its memory, so that copy-on-write sees the loan and
//!   the memory stays alive (STORAGE2). All loans of the process are in one list by address, under
//!   a lock of [`fork`](super::fork).
//! - **BORROW2.** Borrowing memory inside a lent block borrows from that block, whoever passed the
//!   memory on: the borrower gets a handle to the block, not to an intermediate owner. So owners
//!   never form chains, which would take deep recursion to drop.

use super::Bytes;
use super::fork::CACHES;
use alloc::collections::BTreeMap;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering::*};

/// A loan of memory to foreign code, such as a library that reads a tensor in place. While it
/// lasts, nothing computed from the contents is cached, so that results are right even if the
/// borrower writes to the memory, which it must not.
///
/// ```
/// let t = flex::Tensor::from_slice(&[1.0f32, 2.0], [2])?;
/// let loan = t.storage().lend();
/// // the other library may read at t.as_ptr() until here
/// drop(loan);
/// # Ok::<(), flex::Error>(())
/// ```
#[must_use]
pub struct Lent(LoanKey);

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
    super::fork::survive();
    // SAFETY: BORROW1.
    CACHES.with(|| f(unsafe { &mut *LIST.0.get() }))
}

impl Bytes {
    /// Lends the memory until the result is dropped.
    ///
    /// Example: [`Lent`].
    pub fn lend(&self) -> Lent {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let place = (self.as_ptr() as usize, NEXT.fetch_add(1, Relaxed));
        self.begin_loan();
        let bytes = self.clone();
        list(|list| list.insert(place, bytes));
        COUNT.fetch_add(1, Release);
        Lent(place)
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
            let (place, bytes) = list.range(..=(p as usize, usize::MAX)).next_back()?;
            let first = p as usize - place.0;
            (first.checked_add(len)? <= bytes.len()).then(|| (bytes.clone(), first))
        })
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Release);
        if let Some(bytes) = list(|list| list.remove(&self.0)) {
            bytes.end_loan();
        }
    }
}
