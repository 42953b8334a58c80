//! Attention without a matrix of all scores: keys and values in tiles, with the running maximum and
//! sum of an online softmax (Milakov and Gimelshein, 2018), in the order of FlashAttention-2 (Dao,
//! 2023).
//!
//! - [`block()`]: many queries, which compute: products by the microkernel, a panel of scores in L1
//!   between them.
//! - [`part`] and [`join`]: few queries by many keys, which read: heads that share keys and values
//!   pass them together, some of the keys at a time, and parts are joined in their order.
//!
//! Both take what keys a query sees from its [`Band`], so that what no query of a panel sees is not
//! computed, and masks and biases by their strides. 16-bit floats are widened tile by tile.

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
pub use blocking::{PART, cost, few, rows};
pub use head::{Attended, Head, Mask};
pub use parts::{join, part, state_len};
pub use rotary::rotate;
