//! What was made of a block's contents and is kept with it: weights in the order in which matrix
//! products read them.
//!
//! - **DERIVED1.** What is kept was made of the contents as they are: it is dropped before a
//!   pointer for writing is handed out (STORAGE3), when the memory is lent to others
//!   ([`lent`](super::lent)), who may write to it although they should not, and with the block;
//!   while a loan lasts nothing is kept. Foreign memory keeps nothing, for its owner may write to
//!   it, unless it is said to last, as a mapped file is whose loader has been told that nobody may
//!   write to it; static memory has no header to keep it in.
//! - **DERIVED2.** A block's record is made by who asks first, and lives until the block ends or is
//!   written to, which every handle prevents. Its fields are touched under the lock of [`fork`]
//!   alone, and nothing is dropped there.

use super::Bytes;
use super::fork::KEPT;
use crate::dtype::DType;
use crate::error::Result;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// Of which part of the contents, seen how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    /// Bytes from the block's first to the first element's.
    pub first: usize,
    pub sizes: [usize; 2],
    pub strides: [isize; 2],
    /// Of the other operand, and of this one.
    pub dtypes: [DType; 2],
}

/// All that is known of a block beside its memory.
#[derive(Default)]
pub(super) struct Record {
    /// What is kept; a key without a value was asked for once.
    kept: Vec<(Key, Option<Bytes>)>,
    /// Loans that last, and all that there were.
    loans: usize,
    ever: usize,
}
pub(super) struct Derived(UnsafeCell<Record>);

/// Parts of one block that are remembered.
const MOST: usize = 64;

static ON: AtomicBool = AtomicBool::new(true);

/// Sets whether weights that are used again and again are kept in the order in which matrix
/// products read them (at first, yes): those of float32, float64, int8 and uint8 in
/// [`nn::linear`](crate::nn::linear), those of int8 and uint8 on the right of
/// [`ops::matmul`](crate::ops::matmul) too. Products of few rows take less time then, and each such
/// weight its memory once more, counted as in use. Results of floats may differ in their last bits.
/// What is kept already goes with its weight.
///
/// A weight whose memory is lent to another library (an array or a tensor there that shares it) is
/// packed anew for each product, with the same results, until that lets go of it.
///
/// ```
/// flex::set_weight_packing(false);
/// # flex::set_weight_packing(true);
/// ```
pub fn set_weight_packing(on: bool) {
    ON.store(on, Ordering::Relaxed);
}

/// What is found of a part of the contents.
enum Found {
    Kept(Bytes),
    /// Worth making, and kept unless the memory is lent meanwhile: how often it was before.
    Make(usize),
    Nothing,
}

impl Bytes {
    /// Whether what is made of the contents may be kept with them. It follows from the kind of
    /// memory, not from what happens to it.
    pub(crate) fn keeps(&self) -> bool {
        ON.load(Ordering::Relaxed) && self.slot().is_some()
    }
    /// What was made of a part of the contents. Made by the second call for it, which `make` says
    /// is worth it; errors of `make`, for which there was no memory, are as if nobody had asked.
    /// None while the memory is lent.
    pub(crate) fn derived(
        &self,
        key: Key,
        worth: bool,
        make: impl FnOnce() -> Result<Bytes>,
    ) -> Option<Bytes> {
        let found = self.record(|record| {
            if record.loans > 0 {
                return Found::Nothing;
            }
            match record.kept.iter().find(|(k, _)| *k == key) {
                Some((_, Some(made))) => Found::Kept(made.clone()),
                Some((_, None)) if worth => Found::Make(record.ever),
                Some(_) => Found::Nothing,
                None => {
                    if record.kept.len() < MOST && record.kept.try_reserve(1).is_ok() {
                        record.kept.push((key, None));
                    }
                    Found::Nothing
                }
            }
        })?;
        let before = match found {
            Found::Kept(made) => return Some(made),
            Found::Make(before) => before,
            Found::Nothing => return None,
        };
        // not under the lock: it takes long, and may use other threads
        let made = make().ok()?;
        let other = self.record(|record| {
            if record.ever != before {
                return None; // made of what a borrower may have been writing to
            }
            let (_, value) = record.kept.iter_mut().find(|(k, _)| *k == key)?;
            value.replace(made.clone())
        });
        drop(other);
        Some(made)
    }
    /// Counts a loan of the memory, and drops what is kept.
    pub(super) fn begin_loan(&self) {
        let kept = self.record(|record| {
            record.loans += 1;
            record.ever += 1;
            core::mem::take(&mut record.kept)
        });
        drop(kept);
    }
    /// Counts a loan as ended.
    pub(super) fn end_loan(&self) {
        self.record(|record| record.loans -= 1);
    }
    /// Calls `f` with the block's record, under the lock (DERIVED2); none for memory without one.
    fn record<R>(&self, f: impl FnOnce(&mut Record) -> R) -> Option<R> {
        super::fork::survive();
        let slot = self.slot()?;
        let mut record = slot.load(Ordering::Acquire);
        if record.is_null() {
            let fresh = Box::into_raw(Box::new(Derived(UnsafeCell::default())));
            match slot.compare_exchange(record, fresh, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => record = fresh,
                Err(other) => {
                    // SAFETY: made above, and nobody else has it.
                    drop(unsafe { Box::from_raw(fresh) });
                    record = other;
                }
            }
        }
        // SAFETY: DERIVED2: alive, for this handle is borrowed, and only here under the lock.
        Some(KEPT.with(|| f(unsafe { &mut *(*record).0.get() })))
    }
}
