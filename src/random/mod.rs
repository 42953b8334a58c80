//! Random numbers, with the methods of NumPy's `Generator`.
//!
//! ```
//! use flex::{DType, random::default_rng};
//! let mut rng = default_rng(7);
//! let x = rng.standard_normal((2, 3), DType::F32)?;
//! assert_eq!(x.shape(), [2, 3]);
//! let dice = rng.integers(1, 7, 1000, DType::U8)?;
//! assert!(dice.iter::<u8>()?.all(|n| (1..7).contains(&n)));
//! # Ok::<(), flex::Error>(())
//! ```
//!
//! Bits are those of Philox 4x32-10, a bijection of a counter: a seed gives the same numbers on
//! every machine, instruction set and number of threads. Element `i` of a result depends on the
//! generator's state and on `i` alone, not on the number of elements: a longer result begins with
//! the shorter one.
//!
//! A `shape` is that of the result, which parameters broadcast to: each is a number or a tensor. A
//! method errors before the state changes: for a dtype that its numbers have no form in, parameters
//! out of their domain, and a lack of memory.

mod choice;
mod floats;
mod further;
mod integers;
mod order;
mod parameter;
mod shaped;
mod standard;
mod vectors;

pub use choice::Choice;

use crate::error::Result;
use crate::kernel::random::{BLOCKS, Stream, seed_key};
use crate::ops::draw::Source;

/// The generator of a seed: of as many sequences as there are seeds, each unrelated to the others.
///
/// ```
/// use flex::{DType, random::default_rng};
/// let x = default_rng(7).random(4, DType::F32)?;
/// assert_eq!(default_rng(7).random(10, DType::F32)?.narrow(0, 0, 4)?.to_vec::<f32>()?, x.to_vec::<f32>()?);
/// # Ok::<(), flex::Error>(())
/// ```
pub fn default_rng(seed: u64) -> Generator {
    Generator::from_words(&[seed])
}

/// Draws random numbers. Made by [`default_rng`]; a clone draws the same numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generator {
    stream: Stream,
    /// The next block of the stream.
    block: u64,
    /// How many generators were spawned.
    children: u64,
}

impl Generator {
    /// The generator of a seed of several words, such as one with more than 64 bits.
    ///
    /// ```
    /// use flex::random::{Generator, default_rng};
    /// assert_eq!(Generator::from_words(&[7]), default_rng(7));
    /// assert_ne!(Generator::from_words(&[7, 0]), default_rng(7));
    /// ```
    pub fn from_words(seed: &[u64]) -> Generator {
        Generator {
            stream: Stream {
                key: seed_key(seed),
                id: 0,
            },
            block: 0,
            children: 0,
        }
    }
    /// The state: the key, the highest word of the counter, the next block, and how many generators
    /// were spawned.
    #[doc(hidden)]
    pub fn state(&self) -> ([u32; 2], u32, u64, u64) {
        (self.stream.key, self.stream.id, self.block, self.children)
    }
    /// The generator of a state.
    #[doc(hidden)]
    pub fn from_state((key, id, block, children): ([u32; 2], u32, u64, u64)) -> Generator {
        Generator {
            stream: Stream { key, id },
            block,
            children,
        }
    }
    /// Calls `f`, and restores the state if it fails.
    fn attempt<T>(&mut self, f: impl FnOnce(&mut Generator) -> Result<T>) -> Result<T> {
        let before = self.block;
        let done = f(self);
        if done.is_err() {
            self.block = before;
        }
        done
    }
    /// Takes the blocks of `n` numbers, `per_group` of each group.
    fn take(&mut self, n: usize, per_group: usize) -> Source {
        self.take_blocks((n.div_ceil(per_group) * BLOCKS) as u64)
    }
    fn take_blocks(&mut self, blocks: u64) -> Source {
        let first = self.block;
        self.block = first.wrapping_add(blocks);
        Source {
            stream: self.stream,
            first,
        }
    }
}
