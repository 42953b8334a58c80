//! Kernels: slices in, slices out. Nothing here knows layouts, tensors or threads.

#[macro_use]
mod lanes;
#[cfg(feature = "nn")]
#[macro_use]
pub mod columns;

#[cfg(feature = "nn")]
pub mod attention;
#[cfg(feature = "nn")]
pub mod conv;
pub mod convert;
#[cfg(feature = "nn")]
pub mod ctc;
#[cfg(feature = "nn")]
pub mod distance;
pub mod elementwise;
#[cfg(feature = "fft")]
pub mod fft;
pub mod gemm;
#[cfg(feature = "nn")]
pub mod images;
pub mod index;
#[cfg(feature = "linalg")]
pub mod linalg;
pub mod math;
#[cfg(feature = "nn")]
pub mod norm;
#[cfg(feature = "nn")]
pub mod pool;
#[cfg(feature = "quant")]
pub mod quant;
#[cfg(any(feature = "nn", feature = "random"))]
pub mod random;
pub mod range;
#[cfg(feature = "nn")]
pub mod recurrent;
pub mod reduce;
#[cfg(feature = "nn")]
pub mod resample;
pub mod scan;
#[cfg(feature = "linalg")]
pub mod small;
pub mod sort;
