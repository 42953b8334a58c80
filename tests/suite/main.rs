//! The tests of the public interface: one program, linked once. Tests that change process-wide
//! state (the number of threads, the pool's cap) are separate programs.

mod common;

mod accuracy;
mod bodies;
mod closures;
mod complex;
mod digits;
mod dot;
mod driver;
mod elementwise;
mod ewise;
mod fft;
mod files;
mod float8;
mod gather;
mod index;
mod io;
mod linalg;
mod nn;
mod quant;
mod reduce;
mod scan;
mod set;
mod shape;
mod signal;
mod sort;
mod stream;
