//! Discrete Fourier transforms of tensors along any axes, with the names and semantics of the `fft`
//! extension of the [array API standard](https://data-apis.org/array-api/).
//!
//! ```
//! use flex::{Tensor, fft, ops};
//! let x = Tensor::from([0.0f32, 1.0, 0.0, -1.0]); // one period of a sine
//! let spectrum = fft::rfft(&x, ())?;
//! assert_eq!(ops::abs(&spectrum)?.to_vec::<f32>()?, [0.0, 2.0, 0.0]);
//! # Ok::<(), flex::Error>(())
//! ```
//!
//! For builds without complex dtypes or an operating system, there are transforms of slices:
//! [`RealPlan`] and [`ComplexPlan`] for any length, [`RealTable`] and [`ComplexTable`] for lengths
//! known at compile time, whose tables the compiler computes.
//!
//! A length is factored once, in a plan. Plans and their tables are cached from call to call: the
//! 32 most recently used, up to 64 MiB. Results have the same bits for any number of threads.

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
#[cfg(feature = "bindings")]
#[doc(hidden)]
pub use cosine::{dct_as, idct_as};
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
