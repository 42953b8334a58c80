//! The operations: validate, promote and broadcast, pick a kernel, hand it to `exec`.

pub mod copy;
pub mod elementwise;
pub mod index;
pub mod linalg;
pub mod sort;

pub use elementwise::*;
pub use index::*;
pub use linalg::{TensordotAxes, cross, matmul, matrix_transpose, outer, tensordot, vecdot};
pub use sort::*;
