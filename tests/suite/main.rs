//! The tests of the public interface, and of internals by themselves (`exec`, `kernel`, `storage`): one
//! program, linked once. Tests that change process-wide state (the number of threads, the pool's
//! cap) are separate programs.

mod common;

mod accuracy;
mod arrange;
mod bodies;
mod closures;
mod complex;
#[cfg(all(feature = "io", feature = "quant"))]
mod digits;
mod dot;
mod driver;
mod dtype;
#[cfg(all(feature = "ints", feature = "f64", feature = "half"))]
mod einsum;
mod elementwise;
mod ewise;
mod exec;
#[cfg(feature = "fft")]
mod fft;
#[cfg(feature = "io")]
mod files;
mod float8;
mod format;
mod gather;
mod index;
#[cfg(all(
    feature = "stream",
    feature = "signal",
    feature = "quant",
    feature = "f64",
    feature = "complex"
))]
mod interface;
#[cfg(feature = "io")]
mod io;
mod kernel;
mod layout;
mod linalg;
#[cfg(feature = "linalg")]
mod matrices;
#[cfg(all(feature = "f64", feature = "half"))]
mod nan;
mod nn;
#[cfg(all(feature = "stream", feature = "ints", feature = "f64"))]
mod numbers;
#[cfg(all(feature = "onnx", feature = "std", feature = "messages"))]
mod onnx;
mod operands;
#[cfg(feature = "std")]
mod packed;
#[cfg(feature = "std")]
mod post_op;
mod prefixes;
#[cfg(feature = "quant")]
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
#[cfg(feature = "signal")]
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
#[cfg(feature = "stream")]
mod stream;
mod sums;
#[cfg(all(feature = "linalg", feature = "f64"))]
mod systems;
#[cfg(feature = "ints")]
mod tiny;
