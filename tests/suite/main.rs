//! The tests of the public interface, and of internals by themselves (`exec`, `kernel`, `storage`): one
//! program, linked once. Tests that change process-wide state (the number of threads, the pool's
//! cap) are separate programs.

mod common;

mod accuracy;
mod arrange;
mod bodies;
mod closures;
mod complex;
mod digits;
mod dot;
mod driver;
mod dtype;
#[cfg(all(feature = "ints", feature = "f64", feature = "half"))]
mod einsum;
mod elementwise;
mod ewise;
mod exec;
mod fft;
mod files;
mod float8;
mod format;
mod gather;
mod index;
#[cfg(all(feature = "std", feature = "f64", feature = "complex"))]
mod interface;
mod io;
mod kernel;
mod layout;
mod linalg;
#[cfg(feature = "linalg")]
mod matrices;
#[cfg(all(feature = "f64", feature = "half"))]
mod nan;
mod nn;
#[cfg(all(feature = "ints", feature = "f64"))]
mod numbers;
#[cfg(all(feature = "onnx", feature = "std", feature = "messages"))]
mod onnx;
#[cfg(feature = "std")]
mod packed;
#[cfg(feature = "std")]
mod post_op;
mod prefixes;
mod quant;
#[cfg(all(feature = "ints", feature = "f64", feature = "half"))]
mod quantile;
#[cfg(all(feature = "random", feature = "f64", feature = "ints"))]
mod random;
#[cfg(feature = "f64")]
mod range;
mod reduce;
#[cfg(feature = "f64")]
mod relations;
mod scalar;
mod scan;
mod set;
mod shape;
mod signal;
mod sort;
#[cfg(all(feature = "ints", feature = "f64"))]
mod spacing;
#[cfg(feature = "f64")]
mod special;
#[cfg(feature = "linalg")]
mod spectra;
#[cfg(feature = "std")]
mod storage;
mod stream;
mod sums;
#[cfg(all(feature = "linalg", feature = "f64"))]
mod systems;
#[cfg(feature = "ints")]
mod tiny;
