//! The packed-weight cache: weights in the panels that matrix products read, cached with the block
//! that they were packed from.
//!
//! - **PACKED1.** An entry was packed from the contents as they are. It is dropped before a pointer
//!   for writing is handed out (STORAGE3), with the block, and when the memory is lent to others
//!   ([`lent`](super::lent)), who may write to it although they should not; nothing is cached while
//!   a loan lasts. Foreign memory has no cache, for its owner may write to it, unless it is
//!   immutable, as a file mapped for reading is once its loader was told that nobody will change
//!   it. Static memory has no header to hold a cache.
//! - **PACKED2.** A block's cache is made by the first lookup, and lives until the block ends or is
//!   written to, which every handle prevents. Its fields are touched under the lock of [`fork`]
//!   alone, and nothing is dropped there.

use super::Bytes;
use super::fork::CACHES;
use crate::dtype::DType;
use crate::error::Result;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// Identifies a packed part of the contents, and the product it is packed for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedKey {
    /// The byte offset of the first element in the block.
    pub first: usize,
    /// Rows and columns.
    pub sizes: [usize; 2],
    /// In elements.
    pub strides: [isize; 2],
    /// The dtype of the other operand, and of this one.
    pub dtypes: [DType; 2],
    /// What it is packed into.
    pub form: PackedForm,
}

/// The form that a part of the contents is packed into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PackedForm {
    /// The panels of a matrix.
    Panels,
    /// The weights of a convolution, transformed for Winograd's algorithm.
    Winograd {
        /// Groups of channels.
        groups: usize,
        /// What the kernels of all phases follow from.
        kernels: [[isize; 3]; 5],
    },
    /// The weights of a transposed convolution of this many groups, with the channels of the image
    /// adjacent.
    Turned(usize),
    /// The rows of a convolution's weight in words, for a kernel of this many positions.
    #[cfg(any(feature = "quant", x86_bf16))]
    Words(usize),
    /// The sums of a matrix's rows, and whether bytes that are this far apart are narrow.
    #[cfg(feature = "quant")]
    Facts(usize),
    /// The panels of a matrix of narrow bytes.
    #[cfg(feature = "quant")]
    Narrow,
}

#[derive(Default)]
pub(super) struct Entries {
    /// The panels by key; `None` after the first lookup of a key.
    packed: Vec<(PackedKey, Option<Bytes>)>,
    /// Loans that have not ended.
    loans: usize,
    /// Loans ever begun: a generation number that tells whether one began meanwhile.
    loans_begun: usize,
}
/// The cache of one block.
pub(super) struct PackedCache(UnsafeCell<Entries>);

/// The most entries of one block.
const MAX_ENTRIES: usize = 64;

static ENABLED: AtomicBool = AtomicBool::new(true);

/// Sets whether weights that are used repeatedly stay packed for matrix products (the default):
/// float32, float64, int8 and uint8 weights of [`nn::linear`](crate::nn::linear), bfloat16 ones of
/// it and of convolutions where the CPU has instructions for their products, those of recurrent
/// layers, int8 and uint8 matrices on the right of [`ops::matmul`](crate::ops::matmul), and weights
/// of convolutions by Winograd's algorithm. Products with few rows take less time then. Each such
/// weight takes its memory a second time, that of Winograd's algorithm four times more, counted as
/// in use. Results of floats may differ in their last bits. Panels that were packed before are
/// freed with their weight.
///
/// A weight whose memory is lent to another library (an array or a tensor there shares it) is
/// packed anew for each product, with the same results, until that library releases it.
///
/// ```
/// flex::set_weight_packing(false);
/// # flex::set_weight_packing(true);
/// ```
pub fn set_weight_packing(on: bool) {
    ENABLED.store(on, Ordering::Relaxed);
}

/// Whether weights may stay packed.
pub(crate) fn packs_weights() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// The result of a lookup.
enum Lookup {
    Hit(Bytes),
    /// Worth packing; the result is cached unless `loans_begun` has changed from this.
    Pack(usize),
    Miss,
}

impl Bytes {
    /// Whether panels packed from the contents may be cached with them. Depends on the kind of
    /// memory, not on what happens to it.
    #[doc(hidden)]
    pub fn caches_packed(&self) -> bool {
        packs_weights() && self.packed_cache().is_some()
    }
    /// The panels packed from a part of the contents. They are packed at the second lookup if
    /// `worth`; if `pack` finds no memory, the lookup is a miss. `None` while the memory is lent.
    #[doc(hidden)]
    pub fn packed(
        &self,
        key: PackedKey,
        worth: bool,
        pack: impl FnOnce() -> Result<Bytes>,
    ) -> Option<Bytes> {
        let found = self.entries(|entries| {
            if entries.loans > 0 {
                return Lookup::Miss;
            }
            match entries.packed.iter().find(|(k, _)| *k == key) {
                Some((_, Some(panels))) => Lookup::Hit(panels.clone()),
                Some((_, None)) if worth => Lookup::Pack(entries.loans_begun),
                Some(_) => Lookup::Miss,
                None => {
                    if entries.packed.len() < MAX_ENTRIES && entries.packed.try_reserve(1).is_ok() {
                        entries.packed.push((key, None));
                    }
                    Lookup::Miss
                }
            }
        })?;
        let before = match found {
            Lookup::Hit(panels) => return Some(panels),
            Lookup::Pack(before) => before,
            Lookup::Miss => return None,
        };
        // without the lock: packing takes long, and may use other threads
        let panels = pack().ok()?;
        let replaced = self.entries(|entries| {
            if entries.loans_begun != before {
                return None; // packed from what a borrower may have been writing to
            }
            let (_, value) = entries.packed.iter_mut().find(|(k, _)| *k == key)?;
            value.replace(panels.clone())
        });
        drop(replaced);
        Some(panels)
    }
    /// Counts a loan of the memory, and empties the cache.
    pub(super) fn begin_loan(&self) {
        let dropped = self.entries(|entries| {
            entries.loans += 1;
            entries.loans_begun += 1;
            core::mem::take(&mut entries.packed)
        });
        drop(dropped);
    }
    /// Counts a loan as ended.
    pub(super) fn end_loan(&self) {
        self.entries(|entries| entries.loans -= 1);
    }
    /// Whether there are loans that have not ended.
    pub(super) fn has_loans(&self) -> bool {
        self.entries(|entries| entries.loans > 0).unwrap_or(false)
    }
    /// Calls `f` with the entries of the block's cache, under the lock (PACKED2); `None` for memory
    /// without a cache.
    fn entries<R>(&self, f: impl FnOnce(&mut Entries) -> R) -> Option<R> {
        super::fork::register_atfork();
        let slot = self.packed_cache()?;
        let mut cache = slot.load(Ordering::Acquire);
        if cache.is_null() {
            let fresh = Box::into_raw(Box::new(PackedCache(UnsafeCell::default())));
            match slot.compare_exchange(cache, fresh, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => cache = fresh,
                Err(other) => {
                    // SAFETY: made above, and nobody else has it.
                    drop(unsafe { Box::from_raw(fresh) });
                    cache = other;
                }
            }
        }
        // SAFETY: PACKED2: alive, for this handle is borrowed, and touched only here, under the
        // lock.
        Some(CACHES.with(|| f(unsafe { &mut *(*cache).0.get() })))
    }
}
