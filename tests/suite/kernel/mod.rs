//! Kernels by themselves, on slices.

mod attention;
mod convert;
mod gemm;
#[cfg(feature = "half")]
mod half;
mod sort;
