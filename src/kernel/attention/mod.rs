//! Attention without materialising the score matrix: tiles of keys and values, with the running
//! maximum and sum of an online softmax (Milakov and Gimelshein, 2018), in the loop order of
//! FlashAttention-2 (Dao, 2023).
//!
//! - [`block()`]: many queries, compute-bound. The microkernel computes the products; a panel of
//!   scores stays in L1 between them.
//! - [`part`] and [`join`]: few queries by many keys, memory-bound. Heads that share keys and
//!   values process them together, a part of the keys at a time; parts are joined in order.
//!
//! Both skip the keys that no query of a panel sees by its [`Band`], and read masks and biases by
//! their strides. 16-bit floats are widened tile by tile.

mod band;
mod block;
mod blocking;
mod head;
mod parts;
mod rotary;
mod scores;
mod softmax;

pub use band::Band;
pub use block::block;
pub use blocking::{PART, cost, has_few_queries, rows};
pub use head::{Attended, Head, Mask};
pub use parts::{join, part, state_len};
pub use rotary::rotate;
