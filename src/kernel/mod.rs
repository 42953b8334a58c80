//! Kernels: slices in, slices out. Nothing here knows layouts, tensors or threads.

#[macro_use]
mod lanes;
#[macro_use]
pub mod columns;

pub mod attention;
pub mod conv;
pub mod convert;
pub mod ctc;
pub mod distance;
pub mod elementwise;
pub mod fft;
pub mod gemm;
pub mod images;
pub mod index;
pub mod math;
pub mod norm;
pub mod pool;
#[cfg(feature = "i8")]
pub mod quant;
pub mod random;
pub mod recurrent;
pub mod reduce;
pub mod resample;
pub mod scan;
pub mod sort;
