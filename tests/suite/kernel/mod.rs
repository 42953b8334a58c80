//! Kernels by themselves, on slices.

mod attention;
mod convert;
mod copy;
mod gemm;
#[cfg(feature = "half")]
mod half;
mod sort;
