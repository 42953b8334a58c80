//! What was made of a block's contents and is kept with it: weights in the order in which matrix products read them.
//!
//! - **D1.** What is kept was made of the contents as they are: it is dropped before a pointer for writing is handed out (S3), and
//!   with the block. Foreign memory keeps nothing, for its owner may write to it, unless it is said to last; static memory has no
//!   header to keep it in.

use super::Bytes;
use crate::dtype::DType;
use crate::error::Result;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

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

/// All that is kept with a block; a key without a value was asked for once.
pub(super) struct Derived(Mutex<Vec<(Key, Option<Bytes>)>>);

/// Parts of one block that are remembered.
const MOST: usize = 64;

static ON: AtomicBool = AtomicBool::new(true);

/// Sets whether weights that are used again and again are kept in the order in which matrix products read them (at first, yes):
/// those of float32, float64, int8 and uint8 in [`nn::linear`](crate::nn::linear), those of int8 and uint8 on the right of
/// [`ops::matmul`](crate::ops::matmul) too. Products of few rows take less time then, and each such weight its memory once more, counted
/// as in use. Results of floats may differ in their last bits. What is kept already goes with its weight.
///
/// ```
/// flex::set_weight_packing(false);
/// # flex::set_weight_packing(true);
/// ```
pub fn set_weight_packing(on: bool) {
    ON.store(on, Ordering::Relaxed);
}

impl Bytes {
    /// Whether what is made of the contents may be kept with them.
    pub(crate) fn keeps(&self) -> bool {
        ON.load(Ordering::Relaxed) && self.slot().is_some()
    }
    /// What was made of a part of the contents. Made by the second call for it, which `make` says is worth it; errors of `make`, for which
    /// there was no memory, are as if nobody had asked.
    pub(crate) fn derived(&self, key: Key, worth: bool, make: impl FnOnce() -> Result<Bytes>) -> Option<Bytes> {
        let slot = self.slot()?;
        let mut list = slot.load(Ordering::Acquire);
        if list.is_null() {
            let fresh = Box::into_raw(Box::new(Derived(Mutex::new(Vec::new()))));
            match slot.compare_exchange(list, fresh, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => list = fresh,
                Err(other) => {
                    // SAFETY: made above, and nobody else has it.
                    drop(unsafe { Box::from_raw(fresh) });
                    list = other;
                }
            }
        }
        // SAFETY: lives until the block ends or is written to, which this handle, borrowed here, prevents (D1).
        let list = unsafe { &(*list).0 };
        {
            let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
            match list.iter().find(|(k, _)| *k == key) {
                Some((_, Some(made))) => return Some(made.clone()),
                Some((_, None)) if worth => {}
                Some(_) => return None,
                None => {
                    if list.len() < MOST {
                        list.push((key, None));
                    }
                    return None;
                }
            }
        }
        // not under the lock: it takes long, and may use other threads
        let made = make().ok()?;
        let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = list.iter_mut().find(|(k, _)| *k == key) {
            *value = Some(made.clone());
        }
        Some(made)
    }
}
