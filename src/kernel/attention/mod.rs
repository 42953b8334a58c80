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
//!
//! Keys and values are sources of the product's microkernels. Scores are panels as wide as the
//! register tile, transposed: the queries are the packed operand of the first product and the
//! softmax weights the contiguous operand of the second. bfloat16 is multiplied in pairs where
//! products do; the weights are then rounded to bfloat16 (as in FlashAttention), since pairs of
//! them are an operand.
//!
//! Causal masks, windows and the offset of queries among keys are one concept, a band of the score
//! matrix: tiles outside it are not computed. Masks and biases are packed tile by tile, as B of a
//! product is, whatever their strides.
//!
//! Decoding (up to four queries, eight where heads share keys) is bound by memory: heads that share
//! keys and values read them together, 512 keys at a time, and the partial softmax states are
//! joined in order. Sequences of unequal lengths lie one after the other (`nn::varlen_attention`),
//! so models need no padding.

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
pub use head::{AttentionElement, Head, Mask};
pub use parts::{join, part, state_len};
pub use rotary::rotate;
