//! The tests of the public interface, and of internals by themselves (`exec`, `kernel`, `storage`): one
//! program, linked once. Tests that change process-wide state (the number of threads, the pool's
//! cap) are separate programs.

mod common;

mod accuracy;
mod bodies;
mod closures;
mod complex;
mod digits;
mod dot;
mod driver;
mod dtype;
mod elementwise;
mod ewise;
mod exec;
mod fft;
mod files;
mod float8;
#[cfg(feature = "std")]
mod follow;
mod format;
mod gather;
mod index;
mod io;
mod kernel;
mod layout;
mod linalg;
mod nn;
#[cfg(feature = "std")]
mod packed;
mod quant;
mod reduce;
#[cfg(any(feature = "half", feature = "float8"))]
mod scalar;
mod scan;
mod set;
mod shape;
mod signal;
mod sort;
#[cfg(feature = "std")]
mod storage;
mod stream;
