//! Memory lent to others: what it is while they have it, and how it is known again when it comes
//! back.
//!
//! - **BORROW1.** A [`Lent`] holds a handle to its memory, so that copy-on-write sees it and the
//!   memory lives (STORAGE2). Those of the process stand in one list by address while they last,
//!   under the lock of [`fork`](super::fork).
//! - **BORROW2.** Who borrows memory that lies inside of a lent block borrows from that block,
//!   whoever passed it on: he gets a handle to it rather than one to whoever did. So owners of
//!   owners never make chains, which would take as many calls deep to drop.

use super::Bytes;
use super::fork::CACHES;
use alloc::collections::BTreeMap;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering::*};

/// A loan of memory to code that is not the crate's, such as a library that reads a tensor where it
/// lies. While it lasts nothing that was made of the contents is kept, so that results are right
/// even if the borrower writes to the memory, which it must not.
///
/// ```
/// let t = flex::Tensor::from_slice(&[1.0f32, 2.0], [2])?;
/// let loan = t.storage().lend();
/// // the other library may read at t.as_ptr() until here
/// drop(loan);
/// # Ok::<(), flex::Error>(())
/// ```
#[must_use]
pub struct Lent(Place);

/// Where a loan stands in the list: its first byte, and a number that tells two of one memory
/// apart.
type Place = (usize, usize);

struct List(UnsafeCell<BTreeMap<Place, Bytes>>);
// SAFETY: BORROW1: touched under the lock alone.
unsafe impl Sync for List {}

/// Those that last.
static LIST: List = List(UnsafeCell::new(BTreeMap::new()));
/// How many they are: who borrows mostly finds none, and needs no lock for that.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Calls `f` with the list. Nothing is dropped there.
fn list<R>(f: impl FnOnce(&mut BTreeMap<Place, Bytes>) -> R) -> R {
    super::fork::survive();
    // SAFETY: BORROW1.
    CACHES.with(|| f(unsafe { &mut *LIST.0.get() }))
}

impl Bytes {
    /// Lends the memory to others, until the result is dropped.
    pub fn lend(&self) -> Lent {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let place = (self.as_ptr() as usize, NEXT.fetch_add(1, Relaxed));
        self.begin_loan();
        let bytes = self.clone();
        list(|list| list.insert(place, bytes));
        COUNT.fetch_add(1, Release);
        Lent(place)
    }
    /// The lent memory that `len > 0` bytes at `p` lie in (BORROW2), and where in it they begin.
    #[cfg_attr(
        not(feature = "python"),
        allow(dead_code, reason = "who borrows by pointer alone is Python's module")
    )]
    pub(crate) fn lent_at(p: *const u8, len: usize) -> Option<(Bytes, usize)> {
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
