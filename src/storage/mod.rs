//! The memory of tensors: [`Bytes`], a counted handle to a block of memory, and the pool that
//! blocks come from.
//!
//! Invariants, cited by number in `SAFETY:` comments here and wherever a tensor's memory is
//! touched:
//!
//! - **STORAGE1, initialised.** Every byte of a block has a value from the moment the block exists:
//!   fresh blocks are zeroed, reused ones hold what was last written. Writes store values of types
//!   without padding. So any bytes inside `len` may be read.
//! - **STORAGE2, alive.** A block lives while its count is above zero, and each [`Bytes`] that
//!   points to its header holds one of the count. Only whoever takes the count to zero frees the
//!   block.
//! - **STORAGE3, exclusive.** A pointer for writing is handed out only for owned memory, when the
//!   count is one, under `&mut Bytes`: then no other handle exists, and none can be made meanwhile.
//!   The count is read with acquire order, which pairs with the release order of every decrement,
//!   so all accesses by former holders happen before.
//! - **STORAGE4, in bounds.** `data .. data + len` lies inside the block; `data` is a multiple of
//!   [`ALIGN`] if the memory is the pool's.
//! - **STORAGE5, borrowed.** Foreign memory is valid for reads as long as its owner, which is
//!   dropped with the last handle and not before. It is never written to, nor is static memory. Its
//!   owner may write to it at any time, and so may the borrower of lent memory (which is forbidden,
//!   but cannot be prevented): a value read there is arbitrary, and an address or a length is
//!   decided by a private copy of it (READ1).

mod block;
mod bytes;
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod class;
#[cfg(feature = "std")]
mod fork;
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod limit;
#[cfg(feature = "std")]
mod loan;
#[cfg(feature = "std")]
mod local;
#[cfg(all(feature = "std", target_os = "linux"))]
mod mapping;
#[cfg(feature = "std")]
mod packed;
#[cfg_attr(not(feature = "std"), path = "plain.rs")]
mod pool;
#[cfg(feature = "std")]
mod shared;

pub use block::ALIGN;
pub use bytes::Bytes;
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use fork::LongWrite;
#[cfg(feature = "std")]
pub use loan::Loan;
#[cfg(feature = "std")]
pub(crate) use packed::packs_weights;
#[cfg(feature = "std")]
pub use packed::set_weight_packing;
#[cfg(feature = "std")]
#[doc(hidden)]
pub use packed::{PackedForm, PackedKey};
pub(crate) use pool::expect_memory;
pub(crate) use pool::expect_room;
#[cfg(feature = "std")]
pub use pool::{MemoryStats, empty_cache, memory_stats, set_memory_cap};

/// Atomics, also for targets without compare-and-swap.
mod atomic {
    #[cfg(target_has_atomic = "ptr")]
    pub use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    #[cfg(not(target_has_atomic = "ptr"))]
    pub use portable_atomic::{AtomicBool, AtomicUsize, Ordering};
}
