//! What is written in intrinsics of x86-64, for kernels of sets that have them.

pub mod half;
pub mod mask;
pub mod transpose;
pub mod vector;
