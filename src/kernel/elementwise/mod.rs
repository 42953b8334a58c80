//! Elementwise loops: contiguous operands (or single values) in, a contiguous result out. No
//! layouts, no threads.
//!
//! The table of operations (`op.rs`) names families of numbers; the bodies for them are `impl`s, in
//! files by topic.

#[macro_use]
mod operation;
mod activations;
mod arithmetic;
mod bitwise;
#[cfg(feature = "stream")]
pub mod chains;
mod comparison;
mod division;
pub mod exact;
mod family;
mod functions;
#[cfg(feature = "half")]
mod half;
mod integer;
mod loops;
mod moves;
mod table;

pub use family::ElementKernel;
pub use moves::{COPY_MASKS, Copy1};
pub use table::{KernelLookup, Row, rows};
