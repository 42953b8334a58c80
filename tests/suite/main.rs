//! The tests of the public interface: one program, which is linked once. Those that change what
//! belongs to the process (the number of threads, the pool's cap) are programs of their own beside
//! it.

mod common;

mod accuracy;
mod bodies;
mod closures;
mod complex;
mod digits;
mod driver;
mod elementwise;
mod files;
mod float8;
mod gather;
mod index;
mod io;
mod linalg;
mod nn;
mod reduce;
mod scan;
mod set;
mod shape;
mod sort;
