//! Counter-based random numbers: each is a function of a key and of its position alone, so any part
//! of a sequence can be made on its own, on any thread and by any instruction set, with the same
//! bits.
//!
//! [`philox()`] makes the bits; the other modules make numbers of them. Everything that rounds is
//! computed in float64 by [`Portable`](crate::simd::Portable), which fuses no multiply-adds.

mod draws;
#[cfg(feature = "nn")]
mod dropout;
mod further;
mod philox;
mod range;
mod transform;

pub use draws::Draws;
#[cfg(feature = "nn")]
pub use dropout::{DropoutRule, kept};
pub use philox::{BLOCKS, GROUP, Group, Stream, WORDS, as_words, bits, philox, seed_key, words};
pub use range::{Range, Truncated, lemire, offset};
pub use transform::{Transform, Unary, doubles, narrow, singles, transformed};
