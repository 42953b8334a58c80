//! The operations: validate, promote and broadcast, pick a kernel, hand it to `exec`.

pub mod copy;
pub mod elementwise;

pub use elementwise::*;
