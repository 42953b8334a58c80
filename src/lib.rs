//! flex: a CPU tensor library.
// Unit tests have the standard library whatever is tested; that the rest does without is what the bare-metal build shows.
#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

#[macro_use]
pub mod dtype;
mod error;
#[macro_use]
pub mod exec;
mod format;
#[macro_use]
pub mod op;
pub mod io;
#[doc(hidden)]
pub mod kernel;
pub mod layout;
pub mod nn;
pub mod ops;
#[cfg(feature = "python")]
mod python;
mod scalar;
pub mod storage;
mod tensor;

pub use dtype::{Bool, DType, Element};
pub use error::{Error, Result};
pub use exec::par::threads as num_threads;
#[cfg(feature = "std")]
pub use exec::par::{set_local_threads, set_num_threads, with_threads};
pub use layout::Layout;
pub use scalar::Scalar;
pub use storage::Bytes;
#[cfg(feature = "std")]
pub use storage::{MemoryStats, empty_cache, memory_stats, set_memory_cap};
pub use tensor::Tensor;

// The tour of the README runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
