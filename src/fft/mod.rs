//! Discrete Fourier transforms: of tensors, along any axes, with the names and meaning of the [array
//! API standard](https://data-apis.org/array-api/)'s extension `fft`.
//!
//! ```
//! use flex::{Tensor, fft, ops};
//! let x = Tensor::from([0.0f32, 1.0, 0.0, -1.0]); // one period of a sine
//! let spectrum = fft::rfft(&x, ())?;
//! assert_eq!(ops::abs(&spectrum)?.to_vec::<f32>()?, [0.0, 2.0, 0.0]);
//! # Ok::<(), flex::Error>(())
//! ```
//!
//! Without complex dtypes, and without an operating system, there are transforms of slices: [`RealPlan`] and
//! [`ComplexPlan`] of any length, [`RealTable`] and [`ComplexTable`] of a length that the program names, whose tables
//! the compiler makes.
//!
//! How a length is factored is decided by a plan, whose tables are kept from call to call: the
//! 32 that were used last, up to 64 MiB. Results are the same bits for any number of threads.

#[cfg(feature = "complex")]
mod cache;
#[cfg(feature = "complex")]
mod cosine;
mod factors;
mod frequencies;
#[cfg(feature = "complex")]
mod job;
mod line;
mod make;
#[cfg(feature = "complex")]
mod many;
mod memory;
#[cfg(feature = "complex")]
mod one;
#[cfg(feature = "complex")]
mod options;
mod plan;
mod real;
mod run;
mod slices;
mod table;
#[cfg(feature = "complex")]
mod tensors;
#[cfg(feature = "complex")]
mod together;

pub use crate::kernel::fft::Float;
#[cfg(feature = "complex")]
pub use cosine::{Dct, dct, idct};
pub use factors::next_fast_len;
pub use frequencies::{fftfreq, fftshift, ifftshift, rfftfreq};
#[cfg(feature = "complex")]
pub use many::{fft2, fftn, ifft2, ifftn, irfft2, irfftn, rfft2, rfftn};
#[cfg(feature = "complex")]
pub use one::{fft, hfft, ifft, ihfft, irfft, rfft};
#[cfg(feature = "complex")]
pub use options::{Fft, FftN, Norm};
pub use slices::{ComplexPlan, RealPlan};
pub use table::{ComplexTable, RealTable};
