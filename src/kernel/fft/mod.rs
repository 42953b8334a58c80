//! Discrete Fourier transforms of lines: butterflies in registers (`dft`), passes of them over
//! vectors (`stage`; `prime` for larger radices), transforms of a matrix's columns (`columns`),
//! real transforms (`real`), and twiddle factors (`roots`).
//!
//! ```text
//! fft/one, many, cosine  lengths, dtypes, norms; which axes
//!   fft/tensors          lines of a tensor: rows in place, others packed by exec/lines; threads
//!                        share out the lines, or each line
//!     fft/together       short or adjacent complex lines: several at once, one per lane
//!     fft/job, line      the transform of a line: complex, half or full spectrum, real; its plan
//!       fft/run          a plan's blocks in turn, or on all threads
//! kernel/fft
//!   columns              the transforms of a block of columns, one per lane: the only kernel
//!     stage, dft         passes over vectors (Stockham), butterflies of 2, 3, 4, 5, 7, 8, 11 and 13
//!                        in registers
//!   real, multiply       real transforms from half-length complex ones; products with tables
//! ```
//!
//! Everything is a transform of columns, one per lane. A length `a * b` is a matrix (the four-step
//! algorithm): its columns, of length `b`, are read in place, a vector of neighbours at a time, and
//! transformed; then the rows are transposed in registers, multiplied by the twiddle factors
//! between the two directions, and transformed as columns of length `a`, whose results are written
//! in order.
//!
//! So vectors are full whatever the radix, nothing is reordered in memory, and a block of columns
//! is what stays in a cache and what a thread takes. The intermediate matrix is stored in blocks a
//! vector wide, one after the other, so no stride is a power of two.
//!
//! `a` and `b` are the divisors that fill vectors at the least cost (`fft/factors`). Butterflies up
//! to radix 13 are held in registers; primes from 17 to 31 are loops. Lengths with larger prime
//! factors use Bluestein's algorithm: a convolution with a chirp, at a fast length. A real line of
//! even length is a complex one of half the length; an odd one is transformed as complex.
//!
//! An inverse is a forward transform with real and imaginary parts swapped as they are loaded and
//! stored, which costs nothing. The normalisation is applied as results are stored.
//!
//! Values are pairs of vectors, real and imaginary parts apart, from the first pass to the last.
//! The kernel is written in `simd::lanes`, since LLVM does not vectorise loops over more streams
//! than it checks for overlap. Codelets are instantiated once per float and instruction set.
//!
//! Twiddle factors are accurate to half an ulp: angles are reduced in integers and kept as
//! double-double sums; those of float32 are computed in float64. Those between the two directions
//! of long lines are products of two entries of short tables.
//!
//! A plan depends on the length and the instruction set, the choice between plans on the lines'
//! layout; neither depends on threads. Waiting for the lock of the cache of plans is bounded, since
//! in a forked child nobody may be left to release it.
//!
//! `fft::RealTable<N>` and `ComplexTable<N>` hold the twiddle factors of one column in static
//! memory, computed by `const fn`, and link only the radices of `N`. A pair of one-lane vectors is
//! a complex number there, so slices are transformed in place.

mod access;
pub mod columns;
mod dft;
pub mod multiply;
mod prime;
pub mod real;
pub mod roots;
pub mod stage;

use crate::kernel::math::Real;
use crate::simd::lanes::{Few, Lanes};

/// A float type that transforms are computed in.
///
/// Example: [`ComplexPlan`](crate::fft::ComplexPlan).
pub trait Float: Real + bytemuck::Pod {
    /// A vector of one lane.
    type Single: Lanes<Number = Self>;
}
impl Float for f32 {
    type Single = Few<f32, 1>;
}
impl Float for f64 {
    type Single = Few<f64, 1>;
}
